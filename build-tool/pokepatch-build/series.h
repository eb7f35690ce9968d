/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Series of commits: a folder or a file of patches in order, each with the identity that its author
 * gave it.  A commit is in the module as a whole, or left out as a whole.
 */
#ifndef POKEPATCH_SERIES_H
#define POKEPATCH_SERIES_H

#include "common/util.h"
#include "pokepatch-build/patch.h"

struct build;

/* A commit of the series; its diff is in the struct patch_file that owns it. */
struct commit {
	char *id;      /* SHA in hexadecimal; or the name of its file, if nothing tells the SHA */
	char *subject; /* one line; the file's name if it has none */
	char *file;    /* path of the file that has it, as messages name it */
	VEC(char *) cves;    /* "CVE-2024-1234", sorted, each once */
	size_t diff; /* where its diff begins in the patch's text */
	unsigned int number, total; /* of "[PATCH 3/40]"; 0: none */
	VEC(char *) functions; /* "fs/file.c:name" of those that it changes (commit_functions.c) */
	struct map functions_by_name;
	bool noted; /* they are complete: its whole diff was applied once */
	/* What became of it. */
	bool left_out; /* it is not applied */
	bool idle;     /* it is applied, and no code that the kernel runs differs by it */
	VEC(char *) reasons; /* why it is left out, refused, or idle */
	VEC(size_t) needs;   /* indexes of the commits whose lines its hunks touch */
};
/* commit_label - 'SHA ("SUBJECT")', with a short SHA, for messages; the caller frees it. */
char *commit_label(const struct commit *commit);
/* commit_is_live - is it in the module, as far as is known? */
bool commit_is_live(const struct commit *commit);
/* commit_add_reason - add a reason, unless it is there already. */
void commit_add_reason(struct commit *commit, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void commit_destroy(struct commit *commit); /* NULL is allowed */

/*
 * commit_note_functions - note the functions whose text a diff has changed, except those marked
 * __init or __exit.  Functions that the diff removes do not count, nor do those that change by a
 * macro or by inlining.
 * @lines: the file's text with the diff; path is in the tree, and places are those of its hunks in
 *	the text before
 */
void commit_note_functions(struct commit *commit, const char *path, const struct text_lines *lines,
			   const struct patch_entry *entry, const struct hunk_place *places);

/*
 * series_read - append a patch to build->patches for each commit of a series.
 * @path: a folder with a file "series" (quilt(1)) or with *.patch files in the order of their names
 *	(git format-patch); a file "series"; a mailbox; or one patch
 * Mails without a diff, such as cover letters, are noted and passed over.  Errors: STATUS_FAILED if
 * a file is damaged or there is no commit, with file and line.
 */
struct error *series_read(struct build *build, const char *path);

/*
 * patches_sum - pokepatch_source in modinfo: the SHA-256 of each diff, with commas between; or, of
 * a series, one of the diffs of all live commits, one after the other.  Their messages do not
 * count: "[PATCH 3/40]" would tell how many others there were.  The caller frees it.
 */
char *patches_sum(const struct build *build);

#endif /* POKEPATCH_SERIES_H */
