/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The prepared tree: the kernel's source with the configuration and the generated files of its
 * headers package, so that scripts/Makefile.build compiles any unit as it was compiled for the
 * shipped kernel.  The cache has a tree for each combination of source, configuration and headers.
 * Our own files in a tree are in .pokepatch/:
 *
 *   ready		what the tree was made from; written last
 *   manifest		"SIZE MTIME PATH" of every file as it was unpacked (manifest.c)
 *   objects/KEY	the original object of a unit (object_cache.h)
 *   environment	what the top Makefile exports (kbuild.c), "NAME=VALUE" with a NUL each
 *   includes		every #include of a .c file (sources.c)
 *   graph		every #include line (include_graph.c); made when first needed
 *   commands		the compiler's command for every unit (plan.c); made when first needed
 *   units-BUILDID	the units of that vmlinux (sources.c)
 *   vmlinuz		the boot image's build id, after its size and time (kernel_check.c)
 *   kbuild.lock	the lock that one run of kbuild holds (kbuild_units.c)
 *   done/OBJECT	kbuild has finished making OBJECT (kbuild_units.c)
 *   done/OBJECT.sha256	its checksum
 *   as/as		a link to the assembler that moves patchable entries (entries.c)
 *   compiler/cc1	runs the kernel's own cc1 in an emulator (own_compiler.c)
 */
#ifndef POKEPATCH_TREE_H
#define POKEPATCH_TREE_H

#include "pokepatch-build/build.h"

/* ---- unpack.c --------------------------------------------------------------- */

/* source_prepare - copy or unpack the source to the new folder tree, and apply its patches. */
struct error *source_prepare(const struct build *build, const char *tree);
/*
 * source_hash - a hash that changes when the source at path does.
 * @ret: hexadecimal SHA-256 of the paths, sizes and times of its files.
 */
struct error *source_hash(const char *path, char ret[65]);
/*
 * folder_copy - copy a folder's files into another one, which must exist, with their times.
 * @left_out: paths of folders below from to leave out; ends with NULL; may be NULL.
 * @skip: returns true for the names of files and folders to leave out; may be NULL.
 */
struct error *folder_copy(const char *from, const char *to, char *const *left_out,
			  bool (*skip)(const char *name, bool folder));

/* ---- manifest.c ------------------------------------------------------------- */

/* manifest_write - record the size and time of every file in the tree. */
struct error *manifest_write(const char *tree);
/*
 * The manifest, open for many questions.  It is not sound if the tree has none, or a damaged one,
 * or once a file does not have the size and time that it should have.
 */
struct manifest {
	const char *tree; /* lives longer */
	bool sound;
	const char *text; /* the lines, sorted by path */
	size_t length;
	void *map;   /* the file's memory, or NULL: text is sorted */
	char *sorted; /* of an earlier version, whose file is not sorted; owned; or NULL */
	struct map checked; /* files that have been looked at */
	VEC(char *) names;  /* owns the keys */
};
/* manifest_open - the caller closes it, after errors, too. */
struct error *manifest_open(const char *tree, struct manifest *ret);
void manifest_close(struct manifest *manifest);
/*
 * manifest_check, manifest_check_files - do a file, or the files of a list that ends with NULL,
 * still have their sizes and times?  Paths in the tree; what the manifest does not have is skipped,
 * and each file is looked at once.
 * manifest_check_all - the same for every file.
 * Return: whether the manifest is still sound.
 */
bool manifest_check(struct manifest *manifest, const char *file);
bool manifest_check_files(struct manifest *manifest, char *const *files);
bool manifest_check_all(struct manifest *manifest);

/*
 * ---- kernel_check.c ----------------------------------------------------------
 *
 * Do all parts belong to one kernel?  A difference is a refusal; an error means that a part cannot
 * be read.
 */
struct error *kernel_check_config(struct build *build);
struct error *kernel_check_compiler(struct build *build);
struct error *kernel_check_source_version(struct build *build);
struct error *kernel_check_vmlinux(struct build *build); /* sets both build ids */
struct error *kernel_read_vmlinux_id(struct build *build); /* sets vmlinux's, once */

/* ---- tree.c ----------------------------------------------------------------- */

/*
 * identity_add_file - add a line that changes when folder/name does: its path, size and time.
 * Errors: the folder has no such file.
 */
struct error *identity_add_file(struct buffer *text, const char *folder, const char *name);

/*
 * tree_text_load - read a text that is kept in the tree's .pokepatch/, made first if it is missing
 * or was written in another form.
 * @header: what the text begins with; names the form
 * @make: appends what follows the header
 * @ret: the text behind the header, which the caller frees
 */
typedef struct error *(*tree_text_make)(const void *context, struct buffer *ret);
struct error *tree_text_load(const char *tree, const char *name, const char *header,
			     tree_text_make make, const void *context, char **ret);

/*
 * tree_rebuild - remove the tree and prepare it again, with the tree's lock held exclusively.
 * The caller holds the lock shared before and afterwards, but not in between.
 */
struct error *tree_rebuild(struct build *build);

/* ---- sources.c: the units that compile a file ------------------------------- */

/* source_index_write - find every #include of a .c file in the tree. */
struct error *source_index_write(const char *tree);

struct include {
	char *from;  /* the file with the #include */
	char *label; /* the included file as the compiler names it: from's folder and the text */
	char *path;  /* the label without . and .. */
};

struct include_list {
	VEC(struct include) list;
};

struct source_index {
	struct map units;    /* keys: the sources that vmlinux is compiled from */
	struct map included; /* from a path to the struct include_list of its #include lines */
	VEC(struct include_list *) lists; /* owns them */
	VEC(const char *) upward; /* those of the units with "..", as kbuild calls them */
	char *unit_text; /* holds the keys of units */
};
/* source_index_load - read both indexes; make the one of units if this vmlinux has none yet. */
struct error *source_index_load(struct build *build, struct source_index *ret);
void source_index_deinit(struct source_index *index);

/* ---- entries.c -------------------------------------------------------------- */

/*
 * entry_flags_find - set build->kcflags, for a machine whose kernels get their patchable entries
 * by pokepatch-as.  Errors: STATUS_REFUSED if the kernel has none, or cannot be patched.
 */
struct error *entry_flags_find(struct build *build);
/* entry_flags_install - make the link in the tree to the assembler that these flags name. */
struct error *entry_flags_install(const struct build *build);

/* ---- own_compiler.c --------------------------------------------------------- */

/*
 * own_compiler_find - set build->cc1 if the cross compiler is not the one that compiled the kernel
 * and the cache has that one.  Without it, a note tells the user.
 */
struct error *own_compiler_find(struct build *build);
/* own_compiler_install - make CC in build->make_env run build->cc1, by a script in the tree. */
struct error *own_compiler_install(struct build *build);

#endif /* POKEPATCH_TREE_H */
