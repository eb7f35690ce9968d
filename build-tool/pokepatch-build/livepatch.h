/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules for the kernel's own livepatch core: from the linked module to the finished one. */
#ifndef POKEPATCH_BUILD_LIVEPATCH_H
#define POKEPATCH_BUILD_LIVEPATCH_H

#include "pokepatch-build/build.h"

/* What the glue knows of the kernel (limits in patches/module/livepatch.c); bytes. */
struct livepatch_limits {
	uint32_t symbol; /* KSYM_NAME_LEN */
	uint32_t module; /* MODULE_NAME_LEN */
	/* What goes into the glue's room: one patch, and for each of the others: */
	uint32_t patch, object, func, part;
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
