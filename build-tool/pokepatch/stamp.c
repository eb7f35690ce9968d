// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of the packages that a kernel in the cache was made from; see stamp.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pokepatch/stamp.h"

char *stamp_path(const char *dir)
{
	return xasprintf("%s/fetched", dir);
}

void stamp_read(const char *dir, struct apt_packages *ret)
{
	_free_ char *path = stamp_path(dir);
	_free_ char *text = NULL;
	struct error *error;

	*ret = (struct apt_packages){0};
	if (!file_exists(path))
		return;
	error = file_read(path, &text, NULL);
	if (error) {
		error_destroy(error);
		return;
	}
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		char name[256], version[256], sha256[65];
		struct apt_package *package;

		if (sscanf(line, "%255s %255s %64[0-9a-f]", name, version, sha256) != 3 ||
		    strlen(sha256) != 64 || strchr(name, '/')) {
			apt_packages_deinit(ret);
			return;
		}
		package = vec_push(ret);
		package->name = xstrdup(name);
		package->version = xstrdup(version);
		package->sha256 = xstrdup(sha256);
	}
}

struct error *stamp_write(const char *dir, const struct apt_packages *packages)
{
	_free_ char *path = stamp_path(dir);
	struct buffer text = {0};
	struct error *error;

	for (size_t i = 0; i < packages->count; i++)
		buffer_printf(&text, "%s %s %s%s\n", packages->list[i].name,
			      packages->list[i].version, packages->list[i].sha256,
			      packages->list[i].given ? " given" : "");
	error = file_write(path, text.text, text.length);
	buffer_deinit(&text);
	return error;
}
