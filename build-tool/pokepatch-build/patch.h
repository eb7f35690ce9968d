/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unified diffs, as git diff, git format-patch and diff -u write them, and
 * applying them to a file's text.  The format is in GNU diffutils' manual,
 * "Detailed Description of Unified Format", and in git-diff(1), "Generating
 * patch text with -p".
 */
#ifndef POKEPATCH_PATCH_H
#define POKEPATCH_PATCH_H

#include "common/util.h"

/* A line of a hunk; text is within the patch's own copy of the diff. */
struct patch_line {
	char kind;	  /* ' ' context, '-' removed, '+' added */
	const char *text; /* without the newline */
	size_t length;
	bool no_newline; /* "\ No newline at end of file" follows it */
};

struct patch_hunk {
	size_t old_start, old_count; /* lines from 1, as the diff says; 0 in an empty file */
	size_t new_start, new_count;
	size_t diff_line; /* where the hunk's @@ line is in the diff, from 1 */
	struct patch_line *lines;
	size_t nr_lines;
};

enum patch_change {
	PATCH_MODIFY,
	PATCH_CREATE,
	PATCH_DELETE,
	PATCH_RENAME, /* perhaps with hunks */
	PATCH_COPY,
};

/* What a diff does to one file. */
struct patch_entry {
	enum patch_change change;
	char *old_path;	  /* without the first component; NULL for PATCH_CREATE */
	char *new_path;	  /* the same; NULL for PATCH_DELETE */
	size_t diff_line; /* of its first header line, from 1 */
	bool binary;
	bool mode_changed;
	struct patch_hunk *hunks;
	size_t nr_hunks;
};

struct patch {
	char *text; /* the diff itself, which the lines point into */
	struct patch_entry *entries;
	size_t nr_entries;
};

/*
 * patch_parse - read a diff.
 * @name: the diff's name for messages.
 * @text: length bytes; copied.
 *
 * Prose before, between and after the diffs is skipped.  Errors: STATUS_FAILED
 * for something that is no diff, or a diff that breaks off, with the line;
 * STATUS_NOTHING for an empty one.
 */
struct error *patch_parse(const char *name, const char *text, size_t length, struct patch *ret);
void patch_deinit(struct patch *patch);

/* Where a hunk went. */
struct hunk_place {
	size_t line;	   /* in the old text, from 1: of the hunk's first line */
	long offset;	   /* lines away from where the diff says */
	unsigned int fuzz; /* context lines left out at each end, 0 to 2 */
};

/*
 * A file's text in lines.  The texts are borrowed: from the file as it was
 * read, and from the diffs.  origin is the line's number in the file before
 * any diff, from 1, and 0 for a line that a diff added: the #line directives
 * are made from it (lines.c).
 */
struct text_line {
	const char *text; /* without the newline */
	size_t length;
	size_t origin;
};

struct text_lines {
	struct text_line *list;
	size_t count, room;
	bool no_newline; /* at the end of the last line */
};

void text_lines_split(const char *text, size_t length, struct text_lines *ret);
void text_lines_deinit(struct text_lines *lines);
bool text_lines_equal(const struct text_lines *a, const struct text_lines *b);
void text_lines_join(const struct text_lines *lines, struct buffer *ret);

/*
 * patch_apply - apply an entry's hunks, in order, as patch(1) does: at the
 * place the diff names, else the nearest one that matches, with up to two
 * lines of context left out.  Line ends may differ by a carriage return.
 * @name: the diff's name for messages.
 * @lines: the file's text; replaced by the new one, which borrows from entry.
 * @ret_places: owned by the caller, one for each hunk.
 * Errors: STATUS_FAILED, which names diff, file, hunk and line; @lines is then
 * as it was.
 */
struct error *patch_apply(const char *name, const struct patch_entry *entry,
			  struct text_lines *lines, struct hunk_place **ret_places);

#endif /* POKEPATCH_PATCH_H */
