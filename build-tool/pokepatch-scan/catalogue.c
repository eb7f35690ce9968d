// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding entries of the catalogue; see catalogue.h. */
#include "pokepatch-scan/catalogue.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/util.h"
#include "pokepatch-build/data.h"

#define COMMIT_DIGITS_MIN 8

/*
 * Does the head of a diff, which ends where the diff begins, have "FIELD: VALUE"?  @part: or a
 * value that begins so.
 */
static bool head_has(const char *text, const char *field, const char *value, bool part)
{
	size_t name = strlen(field), length = strlen(value);

	while (*text && !has_prefix(text, "diff ") && !has_prefix(text, "--- ")) {
		size_t line = strcspn(text, "\n");

		if ((part ? line >= name + 2 + length : line == name + 2 + length) &&
		    !strncmp(text, field, name) && !strncmp(text + name, ": ", 2) &&
		    !strncasecmp(text + name + 2, value, length))
			return true;
		text += line + (text[line] == '\n');
	}
	return false;
}

static bool is_path(const char *what)
{
	return strchr(what, '/') || has_suffix(what, ".patch") || has_suffix(what, ".diff");
}

/* Is this entry, the file at path, what the user means? */
static struct error *entry_matches(const char *path, const char *what, bool *ret)
{
	const char *name = strrchr(path, '/') + 1;
	size_t length = strlen(what);
	_free_ char *text = NULL;
	size_t size;

	*ret = false;
	if (has_suffix(name, ".live.patch"))
		return NULL;
	TRY(file_read(path, &text, &size));
	*ret = (has_prefix(name, what) && !strcmp(name + length, ".patch")) ||
	       head_has(text, "CVE", what, false) ||
	       (length >= COMMIT_DIGITS_MIN && strspn(what, "0123456789abcdefABCDEF") == length &&
		head_has(text, "Commit", what, true));
	return NULL;
}

struct error *catalogue_find(const char *what, struct args *ret)
{
	_free_ char *data = NULL, *pattern = NULL;
	struct error *error = NULL;
	glob_t found = {};

	if (is_path(what)) {
		if (!file_exists(what))
			return error_new(STATUS_FAILED, "%s: there is no such diff", what);
		args_add(ret, what);
		return NULL;
	}
	TRY(data_find(&data));
	pattern = xasprintf("%s/patches/catalogue/*.patch", data);
	if (glob(pattern, 0, NULL, &found) != 0)
		return error_new(STATUS_FAILED, "%s: there is no catalogue; install pokepatch again",
				 pattern);
	for (size_t i = 0; !error && i < found.gl_pathc; i++) {
		bool matches;

		error = entry_matches(found.gl_pathv[i], what, &matches);
		if (!error && matches)
			args_add(ret, found.gl_pathv[i]);
	}
	globfree(&found);
	if (!error && !ret->count)
		error = error_new(STATUS_FAILED,
				  "the catalogue has no '%s'; give the path of the fix's diff, with "
				  "a slash in it, as ./fix.patch",
				  what);
	return error;
}
