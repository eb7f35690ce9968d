// SPDX-License-Identifier: GPL-2.0-or-later
/* The preprocessed texts of units that a changed header may matter to. */
#include <string.h>

#include "pokepatch-build/declarations.h"
#include "pokepatch-build/header_search.h"

/* Copy the lines that count: of assembly those with code, of constants those with a constant. */
static void keep_lines(const struct text *text, bool constants, struct buffer *ret)
{
	for (const char *line = text->text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		end += *end == '\n';
		if (constants ? memmem(line, (size_t)(end - line), "->", 2) != NULL
			      : *line != '#' && *line != '\n')
			buffer_add(ret, line, (size_t)(end - line));
	}
}

static bool lines_differ(const struct text texts[SIDES], bool constants)
{
	struct buffer kept[SIDES] = {};
	bool differ;

	for (int side = 0; side < SIDES; side++)
		keep_lines(&texts[side], constants, &kept[side]);
	differ = kept[0].length != kept[1].length ||
		 (kept[0].length && memcmp(kept[0].text, kept[1].text, kept[0].length));
	buffer_deinit(&kept[0]);
	buffer_deinit(&kept[1]);
	return differ;
}

bool search_texts_differ(const struct user *user, const struct text texts[SIDES])
{
	if (user->kind == KIND_ASSEMBLY || user->kind == KIND_CONSTANTS)
		return lines_differ(texts, user->kind == KIND_CONSTANTS);
	return preprocessed_differs(texts[SIDE_ORIGINAL].text, texts[SIDE_ORIGINAL].length,
				    texts[SIDE_PATCHED].text, texts[SIDE_PATCHED].length) &&
	       declarations_reach_code(texts[SIDE_ORIGINAL].text, texts[SIDE_ORIGINAL].length,
				       texts[SIDE_PATCHED].text, texts[SIDE_PATCHED].length);
}

const char *search_next_marker(const char **at, size_t *ret_length)
{
	for (const char *line = *at; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		const char *quote = line + strcspn(line, "\"\n");

		if (line[0] != '#' || line[1] != ' ' || *quote != '"')
			continue;
		*ret_length = strcspn(quote + 1, "\"\n");
		*at = quote + 1 + *ret_length;
		return quote + 1;
	}
	return NULL;
}
