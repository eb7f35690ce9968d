/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The prepared tree: the kernel's source with the configuration and the
 * generated files of its headers package, so that scripts/Makefile.build
 * compiles any unit as it was compiled for the shipped kernel.  One for each
 * source, configuration and folder of headers, in the cache; its own notes are
 * in .pokepatch/ there:
 *
 *   ready		written last; what the tree was made from
 *   manifest		"SIZE MTIME PATH" of every file as it was unpacked
 *   includes		every #include of a .c file (sources.c)
 *   units-BUILDID	the units of that vmlinux (sources.c)
 */
#ifndef POKEPATCH_TREE_H
#define POKEPATCH_TREE_H

#include "pokepatch-build/build.h"

/* unpack.c: copy or unpack the source into the empty folder tree. */
struct error *unpack_source(const struct build *build, const char *tree);
/* unpack.c: what changes when the source at path does: times and sizes, hashed. */
struct error *source_identity(const char *path, char ret[65]);
/*
 * unpack.c: a folder's files into another, with their times; without the
 * folders in left_out (paths from there; NULL: none) and what skip() names.
 */
struct error *copy_folder(const char *from, const char *to, char *const *left_out,
			  bool (*skip)(const char *name, bool folder));

/* manifest.c */
struct error *manifest_write(const char *tree);
/* manifest_check - are these files (NULL: all of them) as they were unpacked? */
struct error *manifest_check(const char *tree, char *const *files, bool *ret_sound);

/* kernel_check.c: is all of this one kernel?  Differences are refusals. */
struct error *check_config(struct build *build);
struct error *check_compiler(struct build *build);
struct error *check_source_version(struct build *build);
struct error *check_vmlinux(struct build *build);

/*
 * tree.c: a line that changes when a file of the kernel's build folder does: its
 * path, size and time.  Error: the folder has no such file.
 */
struct error *add_file_identity(struct buffer *text, const char *folder, const char *name);

/* tree.c: throw the tree away and prepare it anew; the lock is held throughout. */
struct error *rebuild_tree(struct build *build);

/* ---- sources.c: which units a file is compiled in --------------------------- */

/* source_index_write - find every #include of a .c file in the tree. */
struct error *source_index_write(const char *tree);

struct include {
	char *from;  /* the file with the #include */
	char *label; /* the included file as the compiler names it: from's folder and the text */
	char *path;  /* the same without . and .. */
};

struct source_index {
	struct map units;    /* keys: the sources that vmlinux is compiled from */
	struct map included; /* path to a struct include_list */
	VEC(struct include_list *) lists;
	char *unit_text;
};
struct include_list {
	VEC(struct include) list;
};
struct error *source_index_load(struct build *build, struct source_index *ret);
void source_index_deinit(struct source_index *index);

/* entries.c: build->kcflags, where a kernel has its patchable entries by these. */
struct error *find_entry_flags(struct build *build);
/* use_entry_flags - have the assembler in the tree that they name; each time. */
struct error *use_entry_flags(const struct build *build);

/* own_compiler.c: build->cc1, where the cross compiler is another than the kernel's; or a note. */
struct error *find_own_compiler(struct build *build);
/* use_own_compiler - have make_env's CC use it; in the tree. */
struct error *use_own_compiler(struct build *build);

#endif /* POKEPATCH_TREE_H */
