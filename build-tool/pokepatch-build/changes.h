/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that the diffs change, before and after. */
#ifndef POKEPATCH_CHANGES_H
#define POKEPATCH_CHANGES_H

#include "pokepatch-build/build.h"

/* A source file that the diffs change. */
struct changed_file {
	char *path; /* in the tree */
	char *text; /* the tree's version; the lines point into it and into the diffs */
	struct text_lines old_lines, new_lines;
	bool created;    /* the tree has no such file; its old text is empty */
	bool deleted;    /* the diffs remove it */
	bool renamed;    /* created or deleted by a diff that renames a file */
	bool outside;    /* of --module-source, not of the kernel */
	bool instrument; /* compile it with markers, whether its text changes or not */
	char *command;   /* of a new source file: what kbuild would compile it with; or NULL */
	char *sum;       /* of its text in the shadow, once it is there: see changes_add_sum() */
	VEC(char *) added; /* owns the text of lines in new_lines that we added ourselves */
};

/* The changed files that a unit may include. */
struct changed_paths {
	char *source;           /* of the unit */
	VEC(const char *) list; /* borrowed from the files */
};

struct changes {
	VEC(struct changed_file) files; /* sorted by path once all diffs are applied */
	VEC(struct changed_file) rules; /* what is not compiled but decides it: build_rules.h */
	struct map rules_by_path;       /* likewise, as by_path */
	struct map by_path;             /* from a path to 1 + the index in files */
	struct map refused;             /* refused paths: skip further diffs of these */
	struct args unused; /* folders that the configuration does not use (build_rules.c) */
	bool unused_known;
	/*
	 * From a unit's source to the changed files that it may include; of units of which that is
	 * known, because headers change (headers.c).
	 */
	struct map reached;
	VEC(struct changed_paths *) reached_lists; /* owns them */
};

void changes_destroy(struct changes *changes);
/* changes_reached - the list for a unit's source, which is made if there is none. */
struct changed_paths *changes_reached(struct changes *changes, const char *source);
/*
 * changes_add_sum - append a line for keys of kept objects: the path of a changed file that is in
 * the shadow, and the SHA-256 of its text, or "none".
 */
void changes_add_sum(const struct changes *changes, const char *path, struct buffer *ret);
/* changes_find - the changed file at path, which changes owns; or NULL. */
struct changed_file *changes_find(const struct changes *changes, const char *path);
/*
 * changes_add - add a file; the caller fills it in.  The pointer is valid until the next file is
 * added.
 */
struct changed_file *changes_add(struct changes *changes, const char *path);
/* changes_drop_unchanged - sort, and drop files whose text is equal, but those to instrument. */
void changes_drop_unchanged(struct changes *changes);

/*
 * build_make_shadow - make build->shadow, which is as the tree yet, in place of an earlier one.
 * build_fill_shadow - put the files' new texts into it, with their old line numbers.
 * build_put_changed - put one of them into it.
 * build_put_original - put its old text there, or nothing if the diffs make the file.
 * build_forget_shadow - free it, if there is one; its folder stays in the work folder.
 */
struct error *build_make_shadow(struct build *build);
struct error *build_fill_shadow(struct build *build);
struct error *build_put_changed(struct build *build, struct changed_file *file);
struct error *build_put_original(struct build *build, const struct changed_file *file);
void build_forget_shadow(struct build *build);

/* source_is_special - in patches.c: is path linked into the vDSO or the boot code? */
bool source_is_special(const char *path);
/* source_is_vdso - in patches.c: is path linked into the vDSO? */
bool source_is_vdso(const char *path);
/*
 * build_refuse_uncompiled - in patches.c: refuse the changed file at path, which no unit compiles,
 * with the reason that fits source: vDSO, boot code, or not part of this kernel.
 */
void build_refuse_uncompiled(struct build *build, const char *path, const char *source);

/* build_refuse_deleted - in patches.c: refuse that the diffs remove a file that a unit compiles. */
void build_refuse_deleted(struct build *build, const struct changed_file *file);
/* build_refuse_new - in patches.c: refuse a new source file that no unit includes. */
void build_refuse_new(struct build *build, const struct changed_file *file);

#endif /* POKEPATCH_CHANGES_H */
