// SPDX-License-Identifier: GPL-2.0-or-later
/* Applying a diff's hunks to a file's text; see patch.h. */
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/patch.h"


void text_lines_split(const char *text, size_t length, struct text_lines *ret)
{
	const char *end = text + length;

	*ret = (struct text_lines){};
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		struct text_line *line = vec_push(ret);

		line->text = text;
		line->length = (size_t)((newline ? newline : end) - text);
		line->origin = ret->count;
		ret->no_newline = !newline;
		text = newline ? newline + 1 : end;
	}
}

void text_lines_deinit(struct text_lines *lines)
{
	vec_deinit(lines);
}

static bool line_equal(const struct text_line *a, const struct text_line *b)
{
	return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

bool text_lines_equal(const struct text_lines *a, const struct text_lines *b)
{
	if (a->count != b->count || a->no_newline != b->no_newline)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!line_equal(&a->list[i], &b->list[i]))
			return false;
	return true;
}

void text_lines_join(const struct text_lines *lines, struct buffer *ret)
{
	for (size_t i = 0; i < lines->count; i++) {
		buffer_add(ret, lines->list[i].text, lines->list[i].length);
		if (i + 1 < lines->count || !lines->no_newline)
			buffer_add(ret, "\n", 1);
	}
}

static size_t length_without_cr(const char *text, size_t length)
{
	return length && text[length - 1] == '\r' ? length - 1 : length;
}

static bool matches_line(const struct text_line *line, const struct patch_line *wanted)
{
	size_t length = length_without_cr(line->text, line->length);

	return length == length_without_cr(wanted->text, wanted->length) &&
	       !memcmp(line->text, wanted->text, length);
}

/* The old or the new side of a hunk: its lines without the '+' or without the '-' lines. */
struct side {
	const struct patch_line **list;
	size_t count;
};

static void side_make(const struct patch_hunk *hunk, char without, struct side *ret)
{
	ret->list = xcalloc(hunk->nr_lines + 1, sizeof(*ret->list));
	ret->count = 0;
	for (size_t i = 0; i < hunk->nr_lines; i++)
		if (hunk->lines[i].kind != without)
			ret->list[ret->count++] = &hunk->lines[i];
}

/* Does the text match the side from line at on, ignoring some lines at both ends of the side? */
static bool side_matches(const struct text_lines *lines, const struct side *side, size_t at,
			 size_t skip_head, size_t skip_tail)
{
	if (at > lines->count || side->count > lines->count - at)
		return false;
	for (size_t i = skip_head; i < side->count - skip_tail; i++)
		if (!matches_line(&lines->list[at + i], side->list[i]))
			return false;
	return true;
}

static void context_lengths(const struct patch_hunk *hunk, size_t *ret_head, size_t *ret_tail)
{
	size_t head = 0, tail = 0;

	while (head < hunk->nr_lines && hunk->lines[head].kind == ' ')
		head++;
	while (tail < hunk->nr_lines - head && hunk->lines[hunk->nr_lines - 1 - tail].kind == ' ')
		tail++;
	*ret_head = head;
	*ret_tail = tail;
}

struct search {
	const struct text_lines *lines;
	const struct side *old;
	size_t first;    /* lines before this one belong to earlier hunks */
	size_t expected; /* index of the line where the hunk should be */
	size_t head, tail; /* number of context lines at both ends */
	bool at_start, at_end; /* the context shows that the hunk is at the file's start or end */
};

/* Find the place nearest to the expected one, with this much fuzz.  Return: false if none fits. */
static bool search_place(const struct search *search, unsigned int fuzz, size_t *ret)
{
	size_t longest = search->head > search->tail ? search->head : search->tail;
	size_t short_head = longest - search->head, short_tail = longest - search->tail;
	/* Ignore lines of the longer context first, like patch(1). */
	size_t skip_head = fuzz > short_head ? fuzz - short_head : 0;
	size_t skip_tail = fuzz > short_tail ? fuzz - short_tail : 0;
	size_t last;

	if (fuzz && !skip_head && !skip_tail)
		return false;
	if (skip_head > search->head || skip_tail > search->tail)
		return false;
	if (search->old->count > search->lines->count)
		return false;
	last = search->lines->count - search->old->count;
	for (size_t away = 0; away <= search->lines->count; away++) {
		size_t places[2] = {search->expected + away, search->expected - away};

		for (int i = 0; i < (away ? 2 : 1); i++) {
			if (i && away > search->expected)
				continue;
			if (places[i] < search->first || places[i] > last)
				continue;
			if (!fuzz && search->at_start && places[i] != 0)
				continue;
			if (!fuzz && search->at_end && places[i] != last)
				continue;
			if (!side_matches(search->lines, search->old, places[i], skip_head,
					  skip_tail))
				continue;
			*ret = places[i];
			return true;
		}
	}
	return false;
}

/* Find the index of the line where the hunk applies.  Return: false if there is none. */
static bool find_place(const struct text_lines *lines, const struct patch_hunk *hunk,
		       const struct side *old, size_t first, long offset, unsigned int max_fuzz,
		       size_t *ret, unsigned int *ret_fuzz)
{
	struct search search = {.lines = lines, .old = old, .first = first};
	/* "-0,0" and, without context, "-N,0": insert the text after line N. */
	size_t start = hunk->old_count ? hunk->old_start - 1 : hunk->old_start;
	bool any_context;

	context_lengths(hunk, &search.head, &search.tail);
	/* A hunk of context alone, which changes nothing, says nothing of the file's end. */
	any_context = (search.head || search.tail) && search.head < hunk->nr_lines;
	search.at_start = any_context && start == 0 && search.head < search.tail;
	search.at_end = any_context && search.tail == 0;
	if (start > lines->count)
		start = lines->count;
	search.expected = offset < 0 && (size_t)-offset > start ? 0 : start + (size_t)offset;
	if (!old->count) { /* nothing tells where the text belongs, unless the file is empty */
		*ret = 0;
		*ret_fuzz = 0;
		return !lines->count;
	}
	if (!search.head && !search.tail) { /* the same lines may be in other places, too */
		*ret = search.expected;
		*ret_fuzz = 0;
		return search.expected >= first &&
		       side_matches(lines, old, search.expected, 0, 0);
	}
	for (unsigned int fuzz = 0; fuzz <= max_fuzz; fuzz++) {
		*ret_fuzz = fuzz;
		if (search_place(&search, fuzz, ret))
			return true;
	}
	return false;
}

/* Why a hunk does not apply; @with: it would, with this much fuzz; 0: with none. */
static struct error *does_not_apply(const char *name, const struct patch_entry *entry, size_t index,
				    const struct text_lines *lines, unsigned int with)
{
	static const char there_text[] = "the file already has the text that the hunk makes";
	static const char gone_text[] = "the lines it changes are not there; "
					"make the diff against this kernel's source";
	static const char bare_text[] = "it has no context, so nothing tells whether its line is "
					"right; make the diff with -U3";
	const struct patch_hunk *hunk = &entry->hunks[index];
	const char *path = entry->old_path ? entry->old_path : entry->new_path;
	struct side new;
	size_t head, tail;
	bool there = false, bare;

	context_lengths(hunk, &head, &tail);
	bare = !head && !tail && hunk->new_count;
	side_make(hunk, '-', &new);
	for (size_t at = 0; new.count && !there && at < lines->count; at++)
		there = side_matches(lines, &new, at, 0, 0);
	free(new.list);
	if (!there && with)
		return error_new(STATUS_FAILED,
				 "%s:%zu: hunk %zu does not apply to %s at line %zu: the lines "
				 "around its change are others; make the diff against this "
				 "kernel's source, or look whether it is right there and add "
				 "--fuzz %u",
				 name, hunk->diff_line, index + 1, path, hunk->old_start, with);
	return error_new(STATUS_FAILED, "%s:%zu: hunk %zu does not apply to %s at line %zu: %s",
			 name, hunk->diff_line, index + 1, path, hunk->old_start,
			 there ? there_text : bare ? bare_text : gone_text);
}

static void copy_lines(struct text_lines *to, const struct text_lines *from, size_t first,
		       size_t end)
{
	for (size_t i = first; i < end; i++)
		*vec_push(to) = from->list[i];
}

/*
 * Append the hunk's new side, which replaces the lines of from at index at.  Copy context lines
 * from the file, because the diff's differ from them after fuzz or with other line ends.
 */
static void put_hunk(struct text_lines *to, const struct text_lines *from, size_t at,
		     const struct patch_hunk *hunk)
{
	bool file_has_cr = from->count && from->list[0].length &&
			   from->list[0].text[from->list[0].length - 1] == '\r';

	for (size_t i = 0; i < hunk->nr_lines; i++) {
		const struct patch_line *line = &hunk->lines[i];
		struct text_line *new;

		if (line->kind == '-') {
			at++;
			continue;
		}
		new = vec_push(to);
		if (line->kind == ' ') {
			*new = from->list[at++];
		} else {
			new->text = line->text;
			new->length = file_has_cr ? line->length
						  : length_without_cr(line->text, line->length);
		}
		to->no_newline = line->no_newline;
	}
}

struct error *patch_apply(const char *name, const struct patch_entry *entry,
			  struct text_lines *lines, unsigned int max_fuzz,
			  struct hunk_place **ret_places)
{
	struct text_lines new = {};
	struct hunk_place *places = xcalloc(entry->nr_hunks + 1, sizeof(*places));
	struct error *error = NULL;
	size_t done = 0; /* lines of the old text before this one are handled */
	long offset = 0;

	for (size_t i = 0; i < entry->nr_hunks && !error; i++) {
		const struct patch_hunk *hunk = &entry->hunks[i];
		struct side old;
		size_t at = 0;

		side_make(hunk, '+', &old);
		if (find_place(lines, hunk, &old, done, offset, max_fuzz, &at, &places[i].fuzz)) {
			size_t start = hunk->old_count ? hunk->old_start - 1 : hunk->old_start;

			offset = (long)at - (long)start;
			places[i].line = at + 1;
			places[i].offset = offset;
			copy_lines(&new, lines, done, at);
			put_hunk(&new, lines, at, hunk);
			done = at + old.count;
		} else {
			unsigned int with = 0;

			if (!find_place(lines, hunk, &old, done, offset, PATCH_FUZZ_MAX, &at, &with))
				with = 0;
			error = does_not_apply(name, entry, i, lines, with);
		}
		free(old.list);
	}
	if (error) {
		text_lines_deinit(&new);
		free(places);
		return error;
	}
	if (done < lines->count) {
		copy_lines(&new, lines, done, lines->count);
		new.no_newline = lines->no_newline;
	}
	if (!new.count)
		new.no_newline = false;
	text_lines_deinit(lines);
	*lines = new;
	*ret_places = places;
	return NULL;
}
