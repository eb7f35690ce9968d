/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads Module.symvers, which says what the kernel or a module exports. */
#ifndef POKEPATCH_SYMVERS_H
#define POKEPATCH_SYMVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util.h"

/* One exported symbol.  The strings belong to struct symvers. */
struct export {
	const char *name;
	const char *module;    /* "vmlinux" or a path */
	const char *namespace; /* "" for none */
	uint32_t crc;
	bool gpl;
};

struct symvers {
	struct map by_name; /* const struct export * */
	VEC(struct export) exports;
	char *text; /* owned */
};
/* symvers_read - errors: the file cannot be read, or a line has no known form (STATUS_FAILED). */
struct error *symvers_read(const char *path, struct symvers *ret);
void symvers_deinit(struct symvers *symvers);
/* symvers_find - NULL: the file does not name the symbol. */
const struct export *symvers_find(const struct symvers *symvers, const char *name);

#endif /* POKEPATCH_SYMVERS_H */
