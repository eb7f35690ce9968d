// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kept verdicts on units; see header_verdicts.h.  One is a text of a line that is two digits,
 * "differs" and "exports", and a line for each way.
 */
#include "pokepatch-build/header_verdicts.h"

#include <string.h>

#include "pokepatch-build/object_cache.h"

/* Increment when another version would judge otherwise. */
#define VERDICT_FORMAT 1

void verdict_key(const struct build *build, const struct args *command, bool known,
		 const struct buffer *texts, char ret[65])
{
	struct buffer source = {};

	buffer_printf(&source, "verdict %d %d\n", VERDICT_FORMAT, known);
	buffer_add(&source, texts->text, texts->length);
	object_cache_key(build, command, source.text, ret);
	buffer_deinit(&source);
}

bool verdict_load(const struct build *build, const char *key, struct verdict *ret)
{
	_free_ char *folder = object_cache_folder(build);
	struct buffer text = {};
	bool found = false;

	error_destroy(object_cache_load(folder, key, NULL, &text, &found));
	found = found && text.length >= 3 && text.text[2] == '\n';
	if (found) {
		ret->differs = text.text[0] == '1';
		ret->exports = text.text[1] == '1';
		for (char *way = text.text + 3, *end; (end = strchr(way, '\n')); way = end + 1) {
			*end = '\0';
			args_add(&ret->ways, way);
		}
	}
	buffer_deinit(&text);
	return found;
}

void verdict_store(const struct build *build, const char *key, const struct verdict *verdict)
{
	_free_ char *folder = object_cache_folder(build);
	struct buffer text = {};

	buffer_printf(&text, "%d%d\n", verdict->differs, verdict->exports);
	for (size_t i = 0; i < verdict->ways.count; i++)
		buffer_printf(&text, "%s\n", verdict->ways.list[i]);
	object_cache_store(folder, key, NULL, &text);
	buffer_deinit(&text);
}
