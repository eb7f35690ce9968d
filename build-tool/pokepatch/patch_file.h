/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the file of a patch module: its modinfo, tables and report. */
#ifndef POKEPATCH_CLI_PATCH_FILE_H
#define POKEPATCH_CLI_PATCH_FILE_H

#include <json-c/json.h>

#include "common/util.h"

/* A function that the patch replaces, from the tables (pokepatch_format.h). */
struct patch_function {
	char *name;
	char *parent;
	uint32_t pos;                /* as in struct patch_symbol */
	uint64_t old_size, new_size; /* bytes */
	const char *mode;            /* static */
	bool overwritten;            /* it has no entry; a jump overwrites its first instructions */
};

/* A function that the core calls before or after a switch. */
struct patch_callback {
	const char *kind; /* "pre-patch"; static */
	char *parent;
};

/* A parent: vmlinux or a module, of which the patch uses functions or symbols. */
struct patch_object {
	char *name;
	char *build_id; /* in hexadecimal */
};

/* A symbol of a parent that the core looks up when the patch is loaded. */
struct patch_symbol {
	char *name;
	char *parent;
	uint64_t offset; /* from _stext, for vmlinux */
	uint32_t pos;    /* among the parent's symbols of that name, from 1; 0: not in kallsyms */
	bool absolute;   /* offset is the symbol's value */
};

struct patch_file {
	char *path;
	char *modinfo; /* strings "key=value", each with its NUL */
	size_t modinfo_length;
	char *report; /* JSON text, or NULL */
	char *name;   /* of the patch, as in sysfs */
	char *build_id; /* of the module itself, in hexadecimal, or NULL */
	uint32_t nr_relocs;
	const char *transition; /* static */
	bool livepatch; /* it is for the kernel's own livepatch core (kernel_livepatch.h) */
	VEC(struct patch_object) objects;
	VEC(struct patch_symbol) symbols;
	VEC(struct patch_function) functions;
	VEC(struct patch_callback) callbacks;
};

/*
 * patch_file_read - read and check a file.  Errors: STATUS_FAILED: it cannot be read, is not an ELF
 * file, is cut off or damaged, or is a module but not a patch.  STATUS_REFUSED: it has another
 * format than ours.
 */
struct error *patch_file_read(const char *path, struct patch_file *ret);
void patch_file_deinit(struct patch_file *file);

/* patch_file_modinfo - the value of a modinfo key, or NULL; borrowed from file. */
const char *patch_file_modinfo(const struct patch_file *file, const char *key);

/*
 * patch_file_check_kernel - Errors: the patch was not made for the running kernel: the release in
 * its vermagic or the build id differs (STATUS_REFUSED).
 */
struct error *patch_file_check_kernel(const struct patch_file *file, const char *running_release);

/*
 * patch_file_json - the contents as JSON, owned by the caller.  Member "functions" has the
 * functions of the tables, and those that only the report has.
 */
struct error *patch_file_json(const struct patch_file *file, json_object **ret);

#endif /* POKEPATCH_CLI_PATCH_FILE_H */
