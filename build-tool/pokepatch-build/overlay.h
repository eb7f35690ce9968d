/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The changed source files, and the folders from which the compiler reads them instead of the
 * tree.  We write neither to the user's source nor to the prepared tree.
 */
#ifndef POKEPATCH_OVERLAY_H
#define POKEPATCH_OVERLAY_H

#include "pokepatch-build/build.h"

/* A source file that the diffs change. */
struct changed_file {
	char *path; /* in the tree */
	char *text; /* the tree's version; the lines point into it and into the diffs */
	struct text_lines old_lines, new_lines;
	bool instrument; /* compile it with markers, whether its text changes or not */
	VEC(char *) added; /* owns the text of lines in new_lines that we added ourselves */
};

struct changes {
	VEC(struct changed_file) files; /* sorted by path once all diffs are applied */
	VEC(struct changed_file) rules; /* what is not compiled but decides it: build_rules.h */
	struct map refused;		/* refused paths: skip further diffs of these */
};
void changes_destroy(struct changes *changes);
void changed_file_deinit(struct changed_file *file);
/* changes_find - the changed file at path, which changes owns; or NULL. */
struct changed_file *changes_find(struct changes *changes, const char *path);
/* source_is_special - in patches.c: is path linked into the vDSO or the boot code? */
bool source_is_special(const char *path);
/* source_is_vdso - in patches.c: is path linked into the vDSO? */
bool source_is_vdso(const char *path);
/*
 * build_refuse_uncompiled - in patches.c: refuse the changed file at path, which no unit compiles,
 * with the reason that fits source: vDSO, boot code, or not part of this kernel.
 */
void build_refuse_uncompiled(struct build *build, const char *path, const char *source);

/*
 * A file that a unit compiles from the overlay: the unit's own source, or an included file that is
 * changed or leads to a changed one.  The compiler looks for #include "x.c" first beside the
 * including file, so the files that lead to a changed one must be in the overlay as well.
 */
struct overlay_file {
	char *path;  /* in the tree, and in the overlay */
	char *label; /* __FILE__: path as the #include lines spell it: "kernel/sched/../x.c" */
};

struct overlay {
	VEC(struct overlay_file) files; /* the first is the unit's source */
};
void overlay_destroy(struct overlay *overlay);

/*
 * overlay_write - write the unit's files into folder.  Files that no diff changes come from the
 * tree; the others have their old text, or the new one if patched.  Each file begins with a line
 * marker that sets its label.
 */
struct error *overlay_write(const struct build *build, const struct unit *unit, bool patched,
			    const char *folder);

#endif /* POKEPATCH_OVERLAY_H */
