/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules for the kernel's own livepatch core: from the linked module to the finished one. */
#ifndef POKEPATCH_BUILD_LIVEPATCH_H
#define POKEPATCH_BUILD_LIVEPATCH_H

#include "pokepatch-build/build.h"

/* What the glue notes of the kernel (sizes in patches/module/livepatch.c), in this order; bytes. */
struct livepatch_sizes {
	uint32_t symbol_name; /* KSYM_NAME_LEN: longest name that livepatch takes, with its zero */
	uint32_t module_name; /* MODULE_NAME_LEN, likewise */
	uint32_t patch;	      /* in pokepatch_room, for the patch */
	uint32_t object;      /* for each object, and one more */
	uint32_t func;	      /* for each function, and one more for each object */
	uint32_t part;	      /* for each object of the image: struct calls and struct part */
};

/*
 * livepatch_write - make a module for the kernel's livepatch core from a linked one of pokepatch's
 * own format.  Its table of relocations becomes sections of relocations that the livepatch core
 * makes (Documentation/livepatch/module-elf-format.rst), and what only pokepatch's core reads goes.
 * @in: path of the linked module; @out: path of the new one
 * Errors: STATUS_REFUSED if the livepatch core could not resolve a symbol or make a relocation.
 */
struct error *livepatch_write(struct build *build, const struct livepatch_sizes *sizes,
			      const char *in, const char *out);

#endif /* POKEPATCH_BUILD_LIVEPATCH_H */
