// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tells functions that the author changed from those that differ because of something else in them:
 * an inlined helper, or a macro.
 */
#include "pokepatch-build/touched.h"

#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "pokepatch-build/body.h"
#include "pokepatch-build/build.h"
#include "pokepatch-build/changes.h"
#include "pokepatch-build/lines.h"

/*
 * Index of the line that has this number in the original file; the number of lines: none has.  The
 * numbers rise, and added lines between have none.
 */
static size_t find_origin(const struct text_lines *lines, size_t origin)
{
	size_t at = first_index(i, lines->count,
				text_lines_origin_before(lines, i + 1) >= origin);

	return at < lines->count && lines->list[at].origin == origin ? at : lines->count;
}

/* Is this line the beginning of the definition whose name is in the next line? */
static bool begins_definition(const struct text_line *line)
{
	return line->length && !strchr(";}/\\#", line->text[line->length - 1]) &&
	       line->text[0] != '#' && line->text[0] != ' ' && line->text[0] != '\t';
}

/* Find the lines.  False: the text is not understood, or the place is not known. */
static bool find_lines(const struct build *build, const char *location, const char *name,
		       struct function_lines *ret)
{
	const char *colon = strrchr(location, ':');
	char *path _free_ = colon ? xstrndup(location, (size_t)(colon - location)) : NULL;
	struct body body;

	*ret = (struct function_lines){.file = path ? changes_find(build->changes, path) : NULL};
	if (!ret->file)
		return path != NULL;
	const struct text_lines *lines = &ret->file->new_lines;
	ret->first = find_origin(lines, strtoul(colon + 1, NULL, 10));
	if (ret->first == lines->count || body_find(lines, ret->first, name, &body))
		return false;
	if (ret->first && begins_definition(&lines->list[ret->first - 1]))
		ret->first--;
	ret->last = body.close_line;
	return true;
}

enum touch function_touch(const struct build *build, const char *location, const char *name,
			  struct function_lines *ret)
{
	if (!find_lines(build, location, name, ret))
		return TOUCH_UNKNOWN;
	if (!ret->file)
		return TOUCH_NONE;
	const struct text_line *lines = ret->file->new_lines.list;
	for (size_t i = ret->first; i <= ret->last; i++)
		if (!lines[i].origin ||
		    (i > ret->first && lines[i].origin != lines[i - 1].origin + 1))
			return TOUCH_CHANGED;
	return TOUCH_NONE;
}

bool function_is_touched(void *context, const char *location, const char *name)
{
	struct function_lines unused;

	return function_touch(context, location, name, &unused) != TOUCH_NONE;
}
