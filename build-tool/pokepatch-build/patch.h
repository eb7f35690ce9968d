/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading unified diffs, as git diff, git format-patch and diff -u write them, and applying them
 * to a file's text.  The GNU diffutils manual describes the format in "Detailed Description of
 * Unified Format", and git-diff(1) in "Generating patch text with -p".
 */
#ifndef POKEPATCH_PATCH_H
#define POKEPATCH_PATCH_H

#include "common/util.h"

/* A line of a hunk; text points into the patch's own copy of the diff. */
struct patch_line {
	char kind;	  /* ' ' context, '-' removed, '+' added */
	const char *text; /* without the newline */
	size_t length;
	bool no_newline; /* "\ No newline at end of file" follows it */
};

struct patch_hunk {
	size_t old_start, old_count; /* line numbers from 1, as in the diff; 0 in an empty file */
	size_t new_start, new_count;
	size_t diff_line; /* line number of the hunk's @@ line in the diff, from 1 */
	size_t anchor; /* of a series: where it was put, for blame.c; 0: nowhere yet */
	struct patch_line *lines;
	size_t nr_lines;
};

enum patch_change {
	PATCH_MODIFY,
	PATCH_CREATE,
	PATCH_DELETE,
	PATCH_RENAME, /* with or without hunks */
	PATCH_COPY,
};

/* What a diff does to one file. */
struct patch_entry {
	enum patch_change change;
	char *old_path;	  /* without the stripped folders; NULL for PATCH_CREATE */
	char *new_path;	  /* likewise; NULL for PATCH_DELETE */
	size_t diff_line; /* line number of its first header line in the diff, from 1 */
	bool binary;
	bool mode_changed;
	bool text_differs; /* by its index line, if it has one */
	bool text_empty;   /* by its index line: the new text */
	struct patch_hunk *hunks;
	size_t nr_hunks;
};

struct patch {
	char *text; /* the diff; the lines point into it */
	struct patch_entry *entries;
	size_t nr_entries;
	/* In the order to apply them: first copies, of files as they were before the diff. */
	struct patch_entry **in_order;
};

/*
 * patch_parse - read a diff.
 * @name: the diff's name for messages.
 * @text: length bytes, which are copied.
 * @ret: the caller frees it with patch_deinit(); empty after an error.
 *
 * Prose before, between and after the diffs is skipped.  Errors: STATUS_FAILED with the line
 * number if the text is not a diff or breaks off; STATUS_NOTHING if it is empty.
 */
struct error *patch_parse(const char *name, const char *text, size_t length, struct patch *ret);
/*
 * patch_parse_part - patch_parse() for a diff within a file, such as a mailbox.
 * @line: number of the text's first line in that file, from 1
 * @strip: how many folders stand in front of the names (patch -pN); patch_parse() takes one
 */
struct error *patch_parse_part(const char *name, const char *text, size_t length, size_t line,
			       unsigned int strip, struct patch *ret);
void patch_deinit(struct patch *patch);

/*
 * patch_reverse - turn a patch into the one that takes it back: what it removed is added, and the
 * other way round.  A copy becomes a deletion of the new file.
 */
void patch_reverse(struct patch *patch);

#define PATCH_FUZZ_MAX 2 /* of three lines of context, one has to match */

/* The place at which patch_apply() has put a hunk. */
struct hunk_place {
	size_t line;	   /* the hunk's first line in the old text, from 1 */
	long offset;	   /* distance from the line that the diff names, in lines */
	unsigned int fuzz; /* context lines ignored at each end, 0 to 2 */
};

/*
 * A file's text in lines.  The texts are borrowed from the file as it was read, and from the
 * diffs.  origin is the line's number in the file before any diff, from 1, or 0 for a line that a
 * diff added; lines.c makes the #line directives from it.
 */
struct text_line {
	const char *text; /* without the newline */
	size_t length;
	size_t origin;
};

/*
 * path_is_sound - whether a path leads to a place within the folder in which it is looked for, and
 * is written as that folder's own paths are, without "." and "//".
 */
bool path_is_sound(const char *path);

struct text_lines {
	struct text_line *list;
	size_t count, room;
	bool no_newline; /* the last line does not end with one */
};

/* text_lines_split - split a text, which must outlive *ret, into lines. */
void text_lines_split(const char *text, size_t length, struct text_lines *ret);
void text_lines_deinit(struct text_lines *lines);
bool text_lines_equal(const struct text_lines *a, const struct text_lines *b);
/* text_lines_join - append the lines as one text. */
void text_lines_join(const struct text_lines *lines, struct buffer *ret);

/*
 * patch_apply - apply an entry's hunks in order, as patch(1) does: at the line that the diff names,
 * or else at the nearest place that matches.  A hunk without context applies only where the diff
 * says, moved as the hunk before it was.  Line ends may differ by a carriage return.
 * @name: the diff's name for messages.
 * @lines: the file's text; replaced by the new text, which borrows from entry.
 * @max_fuzz: ignore up to so many lines of context at each end, at most PATCH_FUZZ_MAX.  A hunk can
 *	then land in a function that its author never saw.
 * @ret_places: one for each hunk; the caller frees the array.
 * Errors: STATUS_FAILED, naming diff, file, hunk and line; @lines is then unchanged.
 */
struct error *patch_apply(const char *name, const struct patch_entry *entry,
			  struct text_lines *lines, unsigned int max_fuzz,
			  struct hunk_place **ret_places);

#endif /* POKEPATCH_PATCH_H */
