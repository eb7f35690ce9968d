// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading unified diffs; see patch.h. */
#include "pokepatch-build/patch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* More than any source file has, and small enough that sums of line numbers fit into a long. */
#define LINE_NUMBER_MAX 100000000UL

/* The diff, line by line. */
struct reader {
	const char *name;
	const char *next, *end;
	const char *line; /* the current line, without the newline */
	size_t length;
	size_t number; /* of the current line, from 1 */
	unsigned int strip; /* folders in front of the names */
};

static bool reader_next(struct reader *reader)
{
	const char *newline;

	if (reader->next >= reader->end)
		return false;
	newline = memchr(reader->next, '\n', (size_t)(reader->end - reader->next));
	reader->line = reader->next;
	reader->length = (size_t)((newline ? newline : reader->end) - reader->next);
	reader->next = newline ? newline + 1 : reader->end;
	reader->number++;
	return true;
}

/* Read the line after the current one into *ret, and leave reader where it is. */
static bool reader_peek(const struct reader *reader, struct reader *ret)
{
	*ret = *reader;
	return reader_next(ret);
}

static bool starts(const struct reader *reader, const char *prefix)
{
	size_t length = strlen(prefix);

	return reader->length >= length && !memcmp(reader->line, prefix, length);
}

/* The line without its prefix, and without a carriage return at its end; the caller frees it. */
static char *line_without(const struct reader *reader, const char *prefix)
{
	size_t skip = strlen(prefix), length = reader->length;

	while (length > skip && reader->line[length - 1] == '\r')
		length--;
	return xstrndup(reader->line + skip, length - skip);
}

static struct error *fault(const struct reader *reader, const char *what)
{
	return error_new(STATUS_FAILED, "%s:%zu: %s", reader->name, reader->number, what);
}

/* ---- paths ------------------------------------------------------------------ */

static int octal_digit(char c)
{
	return c >= '0' && c <= '7' ? c - '0' : -1;
}

/*
 * Read a C-style quoted name, as git writes names with unusual bytes (core.quotePath in
 * git-config(1)).  *text points just after the opening quote, and moves past the closing one.
 * Return: the name, which the caller frees; NULL if it is malformed.
 */
static char *unquote(const char **text)
{
	static const char letters[] = "abtnvfr\"\\";
	static const char bytes[] = "\a\b\t\n\v\f\r\"\\";
	struct buffer name = {};
	const char *p = *text;

	buffer_add(&name, "", 0);
	while (*p && *p != '"') {
		char byte = *p++;

		if (byte == '\\') {
			const char *letter = *p ? strchr(letters, *p) : NULL;

			if (letter) {
				byte = bytes[letter - letters];
				p++;
			} else if (octal_digit(*p) >= 0 && octal_digit(*p) <= 3 &&
				   octal_digit(p[1]) >= 0 && octal_digit(p[2]) >= 0) {
				byte = (char)(octal_digit(*p) * 64 + octal_digit(p[1]) * 8 +
					      octal_digit(p[2]));
				p += 3;
			} else {
				break;
			}
			if (!byte)
				break;
		}
		buffer_add(&name, &byte, 1);
	}
	if (*p != '"') {
		buffer_deinit(&name);
		return NULL;
	}
	*text = p + 1;
	return name.text ? name.text : xstrdup("");
}

/*
 * Read the path in a header line: quoted, or up to a tab, which a timestamp follows.  *ret is NULL
 * for /dev/null.
 */
static struct error *header_path(const struct reader *reader, const char *text, char **ret,
				 const char **ret_after)
{
	*ret = NULL;
	if (*text == '"') {
		text++;
		*ret = unquote(&text);
		if (!*ret)
			return fault(reader, "malformed quoted file name");
		*ret_after = text;
	} else {
		size_t length = strcspn(text, "\t");

		*ret = xstrndup(text, length);
		*ret_after = text + length;
	}
	if (!strcmp(*ret, "/dev/null")) {
		free(*ret);
		*ret = NULL;
	}
	return NULL;
}

bool path_is_sound(const char *path)
{
	if (!*path || *path == '/' || strlen(path) >= PATH_MAX / 2)
		return false;
	for (const char *part = path;; part++) {
		size_t length = strcspn(part, "/");

		if (!length || (length == 1 && *part == '.') ||
		    (length == 2 && part[0] == '.' && part[1] == '.'))
			return false;
		part += length;
		if (!*part)
			return true;
	}
}

/* The path without the folders that -pN strips; or NULL if it has fewer. */
static const char *path_behind(const char *path, unsigned int strip)
{
	for (; path && strip; strip--) {
		path = strchr(path, '/');
		while (path && *path == '/')
			path++;
	}
	return path;
}

/* Remove the first components (-p1), and reject paths that leave the tree. */
static struct error *strip_path(const struct reader *reader, char **path)
{
	const char *behind = path_behind(*path, reader->strip);

	if (!*path)
		return NULL;
	if (!behind || **path == '/' || !path_is_sound(behind))
		return error_new(STATUS_FAILED,
				 "%s:%zu: '%s' is no path in a source tree; file names need %s",
				 reader->name, reader->number, *path,
				 reader->strip == 1 ? "one more folder in front, as in a/fs/file.c"
						    : "as many folders in front as -p says");
	memmove(*path, behind, strlen(behind) + 1);
	return NULL;
}

static void set_path(char **path, char *value)
{
	free(*path);
	*path = value;
}

/* ---- headers ---------------------------------------------------------------- */

/* Read a path of git's extended header lines, which has no a/ or b/ in front. */
static struct error *git_path(const struct reader *reader, const char *prefix, char **ret)
{
	_free_ char *text = line_without(reader, prefix);
	const char *after;
	char *path;

	TRY(header_path(reader, text, &path, &after));
	if (!path || !path_is_sound(path)) {
		free(path);
		return fault(reader, "a file name that is no path in a source tree");
	}
	set_path(ret, path);
	return NULL;
}

/*
 * Read "diff --git a/X b/X", for entries without another line that names the file: an empty new
 * file, a mode change, a binary file.  Both names are then the same, so split the line in the
 * middle.
 */
static struct error *git_names(const struct reader *reader, struct patch_entry *entry)
{
	_free_ char *text = line_without(reader, "diff --git ");
	_free_ char *first = NULL, *second = NULL;
	size_t length = strlen(text);

	if (*text == '"') {
		const char *after, *unused;

		TRY(header_path(reader, text, &first, &after));
		while (*after == ' ')
			after++;
		TRY(header_path(reader, after, &second, &unused));
	} else if (length % 2 && text[length / 2] == ' ') {
		first = xstrndup(text, length / 2);
		second = xstrdup(text + length / 2 + 1);
	}
	if (!first || !second)
		return NULL; /* a rename, whose own header lines follow */
	TRY(strip_path(reader, &first));
	TRY(strip_path(reader, &second));
	if (!strcmp(first, second)) {
		entry->old_path = take_pointer(first);
		entry->new_path = take_pointer(second);
	}
	return NULL;
}

static struct error *git_deleted(const struct reader *reader, struct patch_entry *entry)
{
	(void)reader;
	entry->change = PATCH_DELETE;
	return NULL;
}

static struct error *git_created(const struct reader *reader, struct patch_entry *entry)
{
	(void)reader;
	entry->change = PATCH_CREATE;
	return NULL;
}

static struct error *git_mode(const struct reader *reader, struct patch_entry *entry)
{
	(void)reader;
	entry->mode_changed = true;
	return NULL;
}

static struct error *git_rename_from(const struct reader *reader, struct patch_entry *entry)
{
	entry->change = PATCH_RENAME;
	return git_path(reader, "rename from ", &entry->old_path);
}

static struct error *git_rename_to(const struct reader *reader, struct patch_entry *entry)
{
	entry->change = PATCH_RENAME;
	return git_path(reader, "rename to ", &entry->new_path);
}

static struct error *git_copy_from(const struct reader *reader, struct patch_entry *entry)
{
	entry->change = PATCH_COPY;
	return git_path(reader, "copy from ", &entry->old_path);
}

static struct error *git_copy_to(const struct reader *reader, struct patch_entry *entry)
{
	entry->change = PATCH_COPY;
	return git_path(reader, "copy to ", &entry->new_path);
}

static struct error *git_nothing(const struct reader *reader, struct patch_entry *entry)
{
	(void)reader;
	(void)entry;
	return NULL;
}

/* "index 1111111..2222222 100644", with at least the first digits of the objects' names. */
static struct error *git_index(const struct reader *reader, struct patch_entry *entry)
{
	static const char empty[] = "e69de29"; /* the name of an empty text */
	const char *old = reader->line + strlen("index "), *new = strstr(old, "..");
	size_t length;

	if (!new || new >= reader->line + reader->length)
		return NULL;
	length = (size_t)(new - old);
	new += strlen("..");
	entry->text_differs = strncmp(old, new, length) != 0;
	entry->text_empty = has_prefix(new, empty);
	return NULL;
}

static struct error *git_binary(const struct reader *reader, struct patch_entry *entry)
{
	(void)reader;
	entry->binary = true;
	return NULL;
}

/* The lines that may follow "diff --git" (git-diff(1), extended headers). */
static const struct git_header {
	const char *prefix;
	struct error *(*read)(const struct reader *reader, struct patch_entry *entry);
} git_headers[] = {
	{"old mode ", git_mode},
	{"new mode ", git_mode},
	{"deleted file mode ", git_deleted},
	{"new file mode ", git_created},
	{"copy from ", git_copy_from},
	{"copy to ", git_copy_to},
	{"rename from ", git_rename_from},
	{"rename to ", git_rename_to},
	{"similarity index ", git_nothing},
	{"dissimilarity index ", git_nothing},
	{"index ", git_index},
	{"Binary files ", git_binary},
	{"GIT binary patch", git_binary},
};

static const struct git_header *git_header_find(const struct reader *reader)
{
	for (size_t i = 0; i < ARRAY_SIZE(git_headers); i++)
		if (starts(reader, git_headers[i].prefix))
			return &git_headers[i];
	return NULL;
}

/* Does the epoch, in any time zone, follow the name?  That is how diff -N marks a missing file. */
static bool is_epoch(const char *after)
{
	while (*after == '\t' || *after == ' ')
		after++;
	return has_prefix(after, "1970-01-01 ") || has_prefix(after, "1969-12-31 ");
}

static bool read_hunk_header(const char *line, struct patch_hunk *hunk);

/*
 * Does the old or the new file have no line in the hunk behind the names?  Where all files have the
 * epoch, as in some distributions, it marks no missing one.
 */
static bool side_is_empty(const struct reader *reader, bool new)
{
	struct patch_hunk hunk = {};
	struct reader next;

	if (!reader_peek(reader, &next))
		return false;
	_free_ char *line = xstrndup(next.line, next.length);
	return read_hunk_header(line, &hunk) && !(new ? hunk.new_count : hunk.old_count);
}

/* Is it the name of a copy that was kept of that file, as "x.c.orig" and "x.c~" are? */
static bool is_copy_of(const char *path, const char *original)
{
	return has_prefix(path, original) && path[strlen(original)] &&
	       strchr(".~", path[strlen(original)]);
}

/* Read the lines "--- OLD" (the current line) and "+++ NEW". */
static struct error *read_names(struct reader *reader, struct patch_entry *entry)
{
	_free_ char *old_text = line_without(reader, "--- ");
	_free_ char *old_path = NULL, *new_path = NULL, *new_text = NULL;
	const char *old_after = "", *new_after = "";
	bool git = entry->old_path || entry->new_path || entry->change != PATCH_MODIFY;

	TRY(header_path(reader, old_text, &old_path, &old_after));
	TRY(strip_path(reader, &old_path));
	reader_next(reader);
	new_text = line_without(reader, "+++ ");
	TRY(header_path(reader, new_text, &new_path, &new_after));
	TRY(strip_path(reader, &new_path));
	if (!old_path && !new_path)
		return fault(reader, "both file names are /dev/null");
	if (!git && entry->change == PATCH_MODIFY) {
		if (!old_path || (is_epoch(old_after) && side_is_empty(reader, false)))
			entry->change = PATCH_CREATE;
		else if (!new_path || (is_epoch(new_after) && side_is_empty(reader, true)))
			entry->change = PATCH_DELETE;
	}
	if (!git && entry->change == PATCH_MODIFY && old_path && new_path) {
		if (is_copy_of(old_path, new_path))
			set_path(&old_path, xstrdup(new_path));
		else if (is_copy_of(new_path, old_path))
			set_path(&new_path, xstrdup(old_path));
	}
	if (old_path && entry->change != PATCH_CREATE)
		set_path(&entry->old_path, take_pointer(old_path));
	if (new_path && entry->change != PATCH_DELETE)
		set_path(&entry->new_path, take_pointer(new_path));
	return NULL;
}

/* ---- hunks ------------------------------------------------------------------ */

/* Read "N" or "N,M"; a missing M is 1. */
static bool read_range(const char **text, size_t *ret_start, size_t *ret_count)
{
	size_t *numbers[2] = {ret_start, ret_count};

	*ret_count = 1;
	for (int i = 0; i < 2; i++) {
		size_t value = 0;

		if (**text < '0' || **text > '9')
			return false;
		while (**text >= '0' && **text <= '9') {
			value = value * 10 + (size_t)(*(*text)++ - '0');
			if (value > LINE_NUMBER_MAX)
				return false;
		}
		*numbers[i] = value;
		if (**text != ',')
			break;
		if (i)
			return false;
		(*text)++;
	}
	return *ret_count == 0 || *ret_start > 0;
}

/* "@@ -1,2 +3,4 @@ ..." */
static bool read_hunk_header(const char *line, struct patch_hunk *hunk)
{
	if (!has_prefix(line, "@@ -"))
		return false;
	line += strlen("@@ -");
	if (!read_range(&line, &hunk->old_start, &hunk->old_count) || !has_prefix(line, " +"))
		return false;
	line += strlen(" +");
	return read_range(&line, &hunk->new_start, &hunk->new_count) && has_prefix(line, " @@");
}

typedef VEC(struct patch_line) patch_line_vec;
typedef VEC(struct patch_hunk) patch_hunk_vec;
typedef VEC(struct patch_entry) patch_entry_vec;

/*
 * A line behind a hunk that would add or remove something, if the hunk's numbers counted it.
 * Others begin with "-" too: the names of the next file, and the signature of a mail.
 */
static bool at_stray_line(const struct reader *reader)
{
	return starts(reader, "+") || (starts(reader, "-") && !starts(reader, "--"));
}

static const char hunk_numbers_fault[] = "the hunk's lines do not fit the numbers in its @@ line; "
					 "was the diff edited by hand?";

static struct error *read_hunk_lines(struct reader *reader, struct patch_hunk *hunk,
				     patch_line_vec *lines)
{
	size_t old_left = hunk->old_count, new_left = hunk->new_count;
	struct reader next;

	while (old_left || new_left) {
		struct patch_line *line;
		char kind;

		if (!reader_next(reader))
			return error_new(STATUS_FAILED,
					 "%s:%zu: the diff ends within the hunk that starts at "
					 "line %zu",
					 reader->name, reader->number, hunk->diff_line);
		/* Mail programs remove the space of an empty context line. */
		kind = reader->length && reader->line[0] != '\r' ? reader->line[0] : ' ';
		if (!strchr(" +-", kind) || (kind != '+' && !old_left) ||
		    (kind != '-' && !new_left))
			return fault(reader, hunk_numbers_fault);
		line = vec_push(lines);
		line->kind = kind;
		line->text = reader->length ? reader->line + 1 : reader->line;
		line->length = reader->length ? reader->length - 1 : 0;
		if (reader->length && reader->line[0] == '\r')
			line->text = reader->line, line->length = reader->length;
		old_left -= kind != '+';
		new_left -= kind != '-';
		if (reader_peek(reader, &next) && starts(&next, "\\ ")) {
			line->no_newline = true;
			*reader = next;
		}
	}
	return reader_peek(reader, &next) && at_stray_line(&next) ? fault(&next, hunk_numbers_fault)
								  : NULL;
}

static struct error *read_hunks(struct reader *reader, struct patch_entry *entry)
{
	patch_hunk_vec hunks = {};
	struct error *error = NULL;
	struct reader next;

	while (!error && reader_peek(reader, &next) && starts(&next, "@@ ")) {
		_free_ char *header = NULL;
		struct patch_hunk *hunk;
		patch_line_vec lines = {};

		*reader = next;
		header = line_without(reader, "");
		hunk = vec_push(&hunks);
		hunk->diff_line = reader->number;
		if (!read_hunk_header(header, hunk))
			error = fault(reader, "malformed @@ line");
		else
			error = read_hunk_lines(reader, hunk, &lines);
		hunk->lines = lines.list;
		hunk->nr_lines = lines.count;
	}
	entry->hunks = hunks.list;
	entry->nr_hunks = hunks.count;
	if (!error && !entry->nr_hunks) {
		struct reader next = *reader;

		error = fault(reader, reader_next(&next) && starts(&next, "@@@ ")
					      ? "a diff of a merge against several commits; make it "
						"against one with git diff"
					      : "no @@ line after the file names");
	}
	return error;
}

/* ---- the whole diff --------------------------------------------------------- */

static bool at_names(const struct reader *reader)
{
	struct reader next;

	return starts(reader, "--- ") && reader_peek(reader, &next) && starts(&next, "+++ ");
}

static bool at_context_diff(const struct reader *reader)
{
	struct reader next;

	return starts(reader, "*** ") && reader_peek(reader, &next) && starts(&next, "--- ");
}

/* Read the entry that begins with the current line, "diff --git ...", to its end. */
static struct error *read_git_entry(struct reader *reader, struct patch_entry *entry)
{
	struct reader next;

	TRY(git_names(reader, entry));
	while (reader_peek(reader, &next)) {
		const struct git_header *header = git_header_find(&next);

		if (!header)
			break;
		*reader = next;
		TRY(header->read(reader, entry));
	}
	if (!entry->binary && reader_peek(reader, &next) && at_names(&next)) {
		*reader = next;
		TRY(read_names(reader, entry));
		TRY(read_hunks(reader, entry));
	}
	if (!entry->old_path && !entry->new_path)
		return fault(reader, "no file name in this part of the diff");
	/* git format-patch -D leaves out what a deleted file had. */
	if (entry->text_differs && !entry->nr_hunks && !entry->binary &&
	    entry->change != PATCH_DELETE && !(entry->change == PATCH_CREATE && entry->text_empty))
		return fault(reader, "the text changes, by the index line, and no hunk says how; the "
				     "diff has been cut off");
	if (entry->change == PATCH_CREATE)
		set_path(&entry->old_path, NULL);
	else if (entry->change == PATCH_DELETE)
		set_path(&entry->new_path, NULL);
	if ((!entry->old_path && entry->change != PATCH_CREATE) ||
	    (!entry->new_path && entry->change != PATCH_DELETE))
		return fault(reader, "a file name is missing in this part of the diff");
	return NULL;
}

static bool is_blank(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!strchr(" \t\r\n", text[i]) || !text[i])
			return false;
	return true;
}

/* "Binary files a/X and b/X differ", from diff -u without git. */
static struct error *plain_binary(const struct reader *reader)
{
	return error_new(STATUS_FAILED, "%s:%zu: a binary file differs; only text can be patched",
			 reader->name, reader->number);
}

static struct error *read_entries(struct reader *reader, patch_entry_vec *entries)
{
	while (reader_next(reader)) {
		if (starts(reader, "diff --git ")) {
			struct patch_entry *entry = vec_push(entries);

			entry->diff_line = reader->number;
			TRY(read_git_entry(reader, entry));
		} else if (at_names(reader)) {
			struct patch_entry *entry = vec_push(entries);

			entry->diff_line = reader->number;
			TRY(read_names(reader, entry));
			TRY(read_hunks(reader, entry));
		} else if (at_context_diff(reader)) {
			return fault(reader, "a context diff; make it with diff -u or git diff");
		} else if (starts(reader, "Binary files ") && reader->length > 7 &&
			   !memcmp(reader->line + reader->length - 7, " differ", 7)) {
			return plain_binary(reader);
		} else if (starts(reader, "@@ -")) {
			return fault(reader,
				     "a hunk without file names (--- and +++ lines) before it");
		} else if (entries->count && starts(reader, "@@")) {
			return fault(reader, "this line begins as a hunk does, and is none; the diff "
					     "is damaged");
		}
	}
	return NULL;
}

struct error *patch_parse(const char *name, const char *text, size_t length, struct patch *ret)
{
	return patch_parse_part(name, text, length, 1, 1, ret);
}

static void order_entries(struct patch *patch)
{
	size_t count = 0;

	patch->in_order = xcalloc(patch->nr_entries + 1, sizeof(*patch->in_order));
	for (int copies = 1; copies >= 0; copies--)
		for (size_t i = 0; i < patch->nr_entries; i++)
			if ((patch->entries[i].change == PATCH_COPY) == copies)
				patch->in_order[count++] = &patch->entries[i];
}

struct error *patch_parse_part(const char *name, const char *text, size_t length, size_t line,
			       unsigned int strip, struct patch *ret)
{
	patch_entry_vec entries = {};
	struct reader reader = {.name = name, .number = line - 1, .strip = strip};
	struct error *error;

	*ret = (struct patch){};
	if (is_blank(text, length))
		return error_new(STATUS_NOTHING, "%s: the diff is empty: nothing to do", name);
	if (memchr(text, '\0', length))
		return error_new(STATUS_FAILED, "%s: not a diff: it has binary data in it", name);
	ret->text = xmalloc(length + 1);
	memcpy(ret->text, text, length);
	ret->text[length] = '\0';
	reader.next = ret->text;
	reader.end = ret->text + length;
	error = read_entries(&reader, &entries);
	ret->entries = entries.list;
	ret->nr_entries = entries.count;
	order_entries(ret);
	if (!error && !ret->nr_entries)
		error = error_new(STATUS_FAILED,
				  "%s: not a diff: no --- and +++ lines; make it with git diff or "
				  "diff -u",
				  name);
	if (error)
		patch_deinit(ret);
	return error;
}

void patch_deinit(struct patch *patch)
{
	for (size_t i = 0; i < patch->nr_entries; i++) {
		struct patch_entry *entry = &patch->entries[i];

		for (size_t j = 0; j < entry->nr_hunks; j++)
			free(entry->hunks[j].lines);
		free(entry->hunks);
		free(entry->old_path);
		free(entry->new_path);
	}
	free(patch->entries);
	free(patch->in_order);
	free(patch->text);
	*patch = (struct patch){};
}

static void hunk_reverse(struct patch_hunk *hunk)
{
	struct patch_hunk old = *hunk;

	hunk->old_start = old.new_start;
	hunk->old_count = old.new_count;
	hunk->new_start = old.old_start;
	hunk->new_count = old.old_count;
	for (size_t i = 0; i < hunk->nr_lines; i++) {
		char *kind = &hunk->lines[i].kind;

		if (*kind != ' ')
			*kind = *kind == '+' ? '-' : '+';
	}
}

void patch_reverse(struct patch *patch)
{
	static const enum patch_change reversed[] = {
		[PATCH_MODIFY] = PATCH_MODIFY, [PATCH_CREATE] = PATCH_DELETE,
		[PATCH_DELETE] = PATCH_CREATE, [PATCH_RENAME] = PATCH_RENAME,
		[PATCH_COPY] = PATCH_DELETE,
	};

	for (size_t i = 0; i < patch->nr_entries; i++) {
		struct patch_entry *entry = &patch->entries[i];
		char *path = entry->old_path;

		if (entry->change == PATCH_COPY)
			free(take_pointer(path));
		entry->old_path = entry->new_path;
		entry->new_path = path;
		entry->change = reversed[entry->change];
		for (size_t j = 0; j < entry->nr_hunks; j++)
			hunk_reverse(&entry->hunks[j]);
	}
	/* Of several changes of one file, the last one is undone first. */
	for (size_t i = 0; i < patch->nr_entries / 2; i++) {
		struct patch_entry **other = &patch->in_order[patch->nr_entries - 1 - i];
		struct patch_entry *entry = patch->in_order[i];

		patch->in_order[i] = *other;
		*other = entry;
	}
}
