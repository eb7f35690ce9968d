// SPDX-License-Identifier: GPL-2.0-or-later
/* C source without comments, and its directives; see item_index.h. */
#include "pokepatch-build/item_index.h"

#include <string.h>

static const char *skip_comment(const char *at, const char *end, struct buffer *ret)
{
	buffer_add(ret, " ", 1);
	for (at += 2; at < end; at++) {
		if (*at == '*' && at + 1 < end && at[1] == '/')
			return at + 2;
		if (*at == '\n')
			buffer_add(ret, "\v", 1);
	}
	return end;
}

void source_flatten(const char *text, size_t length, struct buffer *ret)
{
	static const bool special[256] = {
		['/'] = true, ['\\'] = true, ['"'] = true, ['\''] = true, ['\n'] = true};
	const char *end = text + length, *from = text, *at = text;
	char quote = '\0';

	while (at < end) {
		if (!special[(unsigned char)*at]) {
			at++;
			continue;
		}
		char c = *at, next = at + 1 < end ? at[1] : '\0';

		if (c == '\\' &&
		    (next == '\n' || (next == '\r' && end - at > 2 && at[2] == '\n'))) {
			buffer_add(ret, from, (size_t)(at - from));
			buffer_add(ret, "\v", 1);
			at = from = at + (next == '\n' ? 2 : 3);
		} else if (c == '\n') {
			quote = '\0';
			at++;
		} else if (quote) {
			at += c == '\\' && next ? 2 : 1;
			if (c == quote)
				quote = '\0';
		} else if (c == '/' && next == '*') {
			buffer_add(ret, from, (size_t)(at - from));
			at = from = skip_comment(at, end, ret);
		} else if (c == '/' && next == '/') {
			buffer_add(ret, from, (size_t)(at - from));
			while (at < end && (*at != '\n' || at[-1] == '\\')) {
				if (*at == '\n')
					buffer_add(ret, "\v", 1);
				at++;
			}
			from = at;
		} else {
			if (c == '"' || c == '\'')
				quote = c;
			at++;
		}
	}
	buffer_add(ret, from, (size_t)(end - from));
}

/* ---- directives -------------------------------------------------------------- */

static bool begins_with_any(const char *text, size_t length, const char *const *words)
{
	for (; *words; words++)
		if (length >= strlen(*words) && !memcmp(text, *words, strlen(*words)))
			return true;
	return false;
}

void source_directives(const char *text, size_t length, const char *const *words,
			    struct buffer *ret)
{
	const char *end = text + length, *line = text;

	while (line < end) {
		const char *at = line, *stop = memchr(line, '\n', (size_t)(end - line)) ?: end;

		while (at < stop && (*at == ' ' || *at == '\t'))
			at++;
		if (at < stop && *at == '#') {
			while (stop < end && stop[-1] == '\\')
				stop = memchr(stop + 1, '\n', (size_t)(end - stop - 1)) ?: end;
			for (at++; at < stop && (*at == ' ' || *at == '\t');)
				at++;
			if (begins_with_any(at, (size_t)(stop - at), words)) {
				buffer_add(ret, line, (size_t)(stop - line));
				buffer_add(ret, "\n", 1);
			}
		}
		line = stop + 1;
	}
}
