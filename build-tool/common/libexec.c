// SPDX-License-Identifier: GPL-2.0-or-later
/* The folder of our internal programs; see libexec.h. */
#include "common/libexec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"

struct error *libexec_find(const char *name, char **ret)
{
	static const char *const folders[] = {"../libexec/pokepatch", "../libexec"};
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return error_errno("cannot read /proc/self/exe");
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		_free_ char *path = xasprintf("%s/%s/%s", self, folders[i], name);

		if (file_exists(path)) {
			*ret = xasprintf("%s/%s/", self, folders[i]);
			return NULL;
		}
	}
	return error_new(STATUS_FAILED, "there is no %s/%s/%s; install pokepatch again", self,
			 folders[0], name);
}
