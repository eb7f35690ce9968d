// SPDX-License-Identifier: GPL-2.0-or-later
/* Where our programs find each other; see libexec.h. */
#include "common/libexec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"

/*
 * Look for the file @name in folders beside this program's own.
 * @ret: the folder, with a slash at its end.  The caller owns it.
 */
static struct error *find_beside(const char *name, const char *const *folders, size_t count,
				 char **ret)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return error_errno("cannot read /proc/self/exe");
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < count; i++) {
		_free_ char *path = xasprintf("%s/%s/%s", self, folders[i], name);

		if (file_exists(path)) {
			*ret = xasprintf("%s/%s/", self, folders[i]);
			return NULL;
		}
	}
	return error_new(STATUS_FAILED, "there is no %s/%s/%s; install pokepatch again", self,
			 folders[0], name);
}

struct error *libexec_find(const char *name, char **ret)
{
	static const char *const folders[] = {"../libexec/pokepatch", "../libexec"};

	return find_beside(name, folders, ARRAY_SIZE(folders), ret);
}

struct error *program_find(const char *name, char **ret)
{
	static const char *const folders[] = {"../sbin", "../bin", "."};
	_free_ char *folder = NULL;

	TRY(find_beside(name, folders, ARRAY_SIZE(folders), &folder));
	*ret = xasprintf("%s%s", folder, name);
	return NULL;
}
