// SPDX-License-Identifier: GPL-2.0-or-later
/* Where our own sources are that go into modules; see data.h. */
#include "pokepatch-build/data.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"

#ifndef POKEPATCH_DATADIR
#define POKEPATCH_DATADIR "/usr/share/pokepatch"
#endif

static bool has_sources(const char *folder)
{
	_free_ char *core = xasprintf("%s/core-module/Kbuild", folder);
	_free_ char *glue = xasprintf("%s/patches/module/glue.c", folder);

	return file_exists(core) && file_exists(glue);
}

struct error *data_find(char **ret)
{
	static const char *const above[] = {"../..", "../../.."};
	const char *given = getenv("POKEPATCH_DATADIR");
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (given) {
		*ret = realpath(given, NULL);
		if (*ret && has_sources(*ret))
			return NULL;
		free(take_pointer(*ret));
		return error_new(STATUS_FAILED,
				 "POKEPATCH_DATADIR=%s: no core-module and patches/module there",
				 given);
	}
	self[length > 0 ? length : 0] = '\0';
	if (strrchr(self, '/'))
		*strrchr(self, '/') = '\0';
	for (size_t i = 0; length > 0 && i < ARRAY_SIZE(above); i++) {
		_free_ char *folder = xasprintf("%s/%s", self, above[i]);

		*ret = realpath(folder, NULL);
		if (*ret && has_sources(*ret))
			return NULL;
		free(take_pointer(*ret));
	}
	*ret = xstrdup(POKEPATCH_DATADIR);
	if (has_sources(*ret))
		return NULL;
	free(take_pointer(*ret));
	return error_new(STATUS_FAILED,
			 "the core module's source is not in %s; install pokepatch there, or name "
			 "its folder in POKEPATCH_DATADIR",
			 POKEPATCH_DATADIR);
}
