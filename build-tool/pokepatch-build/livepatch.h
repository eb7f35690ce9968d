/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules for the kernel's own livepatch core: from the linked module to the finished one. */
#ifndef POKEPATCH_BUILD_LIVEPATCH_H
#define POKEPATCH_BUILD_LIVEPATCH_H

#include "pokepatch-build/build.h"

/* Sizes of buffers in the kernel's livepatch core, of names with their final zeroes. */
struct livepatch_limits {
	uint32_t symbol; /* KSYM_NAME_LEN */
	uint32_t module; /* MODULE_NAME_LEN */
};

/*
 * livepatch_write - make a module for the kernel's livepatch core from a linked one of pokepatch's
 * own format.  Its table of relocations becomes sections of relocations that the livepatch core
 * makes (Documentation/livepatch/module-elf-format.rst), and what only pokepatch's core reads goes.
 * @in: path of the linked module; @out: path of the new one
 * Errors: STATUS_REFUSED if the livepatch core could not resolve a symbol or make a relocation.
 */
struct error *livepatch_write(struct build *build, const struct livepatch_limits *limits,
			      const char *in, const char *out);

#endif /* POKEPATCH_BUILD_LIVEPATCH_H */
