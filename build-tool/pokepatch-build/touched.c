// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tells functions that the author changed from those that differ because of something else in them:
 * an inlined helper, or a macro.
 */
#include "pokepatch-build/touched.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/body.h"
#include "pokepatch-build/build.h"
#include "pokepatch-build/changes.h"

/* Index of the line that has this number in the original file; the number of lines: none has. */
static size_t find_origin(const struct text_lines *lines, size_t origin)
{
	size_t i = 0;

	while (i < lines->count && lines->list[i].origin != origin)
		i++;
	return i;
}

/* Is this line the beginning of the definition whose name is in the next line? */
static bool begins_definition(const struct text_line *line)
{
	return line->length && !strchr(";}/\\#", line->text[line->length - 1]) &&
	       line->text[0] != '#' && line->text[0] != ' ' && line->text[0] != '\t';
}

bool function_is_touched(void *context, const char *location, const char *name)
{
	const struct build *build = context;
	const char *colon = strrchr(location, ':');
	char *path _free_ = colon ? xstrndup(location, (size_t)(colon - location)) : NULL;
	const struct changed_file *file = path ? changes_find(build->changes, path) : NULL;
	struct body body;

	if (!path)
		return true;
	if (!file)
		return false;
	const struct text_lines *lines = &file->new_lines;
	size_t first = find_origin(lines, strtoul(colon + 1, NULL, 10));
	if (first == lines->count || body_find(lines, first, name, &body))
		return true;
	if (first && begins_definition(&lines->list[first - 1]))
		first--;
	for (size_t i = first; i <= body.close_line; i++)
		if (!lines->list[i].origin ||
		    (i > first && lines->list[i].origin != lines->list[i - 1].origin + 1))
			return true;
	return false;
}
