/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a patch module's file: modinfo, tables, report. */
#ifndef POKEPATCH_CLI_PATCH_FILE_H
#define POKEPATCH_CLI_PATCH_FILE_H

#include <json-c/json.h>

#include "common/util.h"

/* A function that the patch replaces, from the tables (pokepatch_format.h). */
struct patch_function {
	char *name;
	char *parent;
	uint32_t pos;
	uint64_t old_size, new_size; /* bytes */
	const char *mode;            /* static */
};

/* A function that the core calls around a switch. */
struct patch_callback {
	const char *kind; /* "pre-patch"; static */
	char *parent;
};

/* A module (or vmlinux) that it has functions or symbols of. */
struct patch_object {
	char *name;
	char *build_id; /* in hexadecimal */
};

/* A symbol of a parent, which the core looks for when the patch is loaded. */
struct patch_symbol {
	char *name;
	char *parent;
	uint64_t offset; /* from _stext, for vmlinux */
	uint32_t pos;	 /* among those of its name; 0: kallsyms does not list it */
	bool absolute;	 /* the offset is its value */
};

struct patch_file {
	char *path;
	char *modinfo; /* "key=value", each ended by a NUL */
	size_t modinfo_length;
	char *report; /* JSON text, or NULL */
	char *name;   /* of the patch, as in sysfs */
	char *build_id; /* of the module itself, in hexadecimal, or NULL */
	uint32_t nr_relocs;
	const char *transition; /* static */
	VEC(struct patch_object) objects;
	VEC(struct patch_symbol) symbols;
	VEC(struct patch_function) functions;
	VEC(struct patch_callback) callbacks;
};

/*
 * patch_file_read - read and check a file.  STATUS_FAILED: it cannot be read,
 * is no ELF file, is cut off or damaged, or is a module but no patch;
 * STATUS_REFUSED: its format is another than ours.
 */
struct error *patch_file_read(const char *path, struct patch_file *ret);
void patch_file_deinit(struct patch_file *file);

/* patch_file_modinfo - the value of a modinfo key, or NULL; borrowed from file. */
const char *patch_file_modinfo(const struct patch_file *file, const char *key);

/*
 * patch_file_check_kernel - was it made for the running kernel?  Compares the
 * release in its vermagic and its build id; refused if one differs.
 */
struct error *patch_file_check_kernel(const struct patch_file *file, const char *running_release);

/*
 * patch_file_json - what there is to tell about it; the caller's.  Member
 * "functions" has the tables' functions and the report's others.
 */
struct error *patch_file_json(const struct patch_file *file, json_object **ret);

#endif /* POKEPATCH_CLI_PATCH_FILE_H */
