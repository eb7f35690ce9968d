// SPDX-License-Identifier: GPL-2.0-or-later
/* C source without comments; see item_index.h. */
#include "pokepatch-build/item_index.h"

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
