/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The changed source files, and the folders that the compiler sees in their
 * place.  Neither the user's source nor the prepared tree is touched.
 */
#ifndef POKEPATCH_OVERLAY_H
#define POKEPATCH_OVERLAY_H

#include "pokepatch-build/build.h"

/* A source file that the diffs change. */
struct changed_file {
	char *path;
	char *text; /* as it is in the tree */
	struct text_lines old_lines, new_lines;
	bool instrument; /* to be compiled with markers, whether its text changes or not */
	VEC(char *) added; /* texts of lines of ours in new_lines */
};

struct changes {
	VEC(struct changed_file) files; /* sorted by path once all diffs are applied */
	struct map refused;		/* paths that were refused: later diffs to them too */
};
void changes_destroy(struct changes *changes);
void changed_file_deinit(struct changed_file *file);
struct changed_file *changes_find(struct changes *changes, const char *path);
/* In patches.c: code that is linked into the vDSO, or into what boots the kernel. */
bool is_special_code(const char *path);
bool is_vdso_code(const char *path);
/*
 * refuse_uncompiled_as - a changed file that no unit of this kernel compiles,
 * by the kind of code that source is.
 */
void refuse_uncompiled_as(struct build *build, const char *path, const char *source);

/*
 * A file that a unit compiles from the overlay: the unit's own source, or one
 * that it reaches by #include and that is changed or on the way to a changed
 * one.  (An #include "x.c" is first looked for beside the file that it stands
 * in, so a file that is only on the way must be in the overlay too.)
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
 * overlay_write - the unit's files into folder, from the tree and, where
 * patched, changed.  Each begins with a line marker that gives it its label.
 */
struct error *overlay_write(const struct build *build, const struct unit *unit, bool patched,
			    const char *folder);

#endif /* POKEPATCH_OVERLAY_H */
