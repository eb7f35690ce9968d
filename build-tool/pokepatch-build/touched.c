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

const char *function_lines(const struct build *build, const char *location, const char *name,
			   struct function_lines *ret)
{
	const char *colon = strrchr(location, ':');
	char *path _free_ = colon ? xstrndup(location, (size_t)(colon - location)) : NULL;
	struct body body;

	*ret = (struct function_lines){.file = path ? changes_find(build->changes, path) : NULL};
	if (!path)
		return "its place is not known";
	if (!ret->file)
		return NULL;
	const struct text_lines *lines = &ret->file->new_lines;
	ret->first = find_origin(lines, strtoul(colon + 1, NULL, 10));
	if (ret->first == lines->count)
		return "its line is gone";
	const char *reason = body_find(lines, ret->first, name, &body);
	if (reason)
		return reason;
	if (ret->first && begins_definition(&lines->list[ret->first - 1]))
		ret->first--;
	ret->last = body.close_line;
	return NULL;
}

enum touch function_touch(const struct build *build, const char *location, const char *name)
{
	struct function_lines function;

	if (function_lines(build, location, name, &function))
		return TOUCH_UNKNOWN;
	if (!function.file)
		return TOUCH_NONE;
	const struct text_line *lines = function.file->new_lines.list;
	for (size_t i = function.first; i <= function.last; i++)
		if (!lines[i].origin ||
		    (i > function.first && lines[i].origin != lines[i - 1].origin + 1))
			return TOUCH_CHANGED;
	return TOUCH_NONE;
}

bool function_is_touched(void *context, const char *location, const char *name)
{
	return function_touch(context, location, name) != TOUCH_NONE;
}
