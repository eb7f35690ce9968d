// SPDX-License-Identifier: GPL-2.0-or-later
/* What is unpacked of the package linux-image-R-dbg at first; see dbg_package.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cache.h"
#include "common/deb.h"
#include "pokepatch/dbg_package.h"

/* Is it vmlinux?  Since Linux 7.2 it lies beside the modules, and a link leads to it. */
static bool is_vmlinux(const char *path, const char *release)
{
	_free_ char *boot = xasprintf("usr/lib/debug/boot/vmlinux-%s", release);
	_free_ char *beside = xasprintf("/lib/modules/%s/vmlinux", release);

	return !strcmp(path, boot) || has_suffix(path, beside);
}

struct error *dbg_package_first(const char *deb, const char *release, char ***ret)
{
	struct args files = {0}, first = {0};

	*ret = NULL;
	TRY(deb_files(deb, &files));
	for (size_t i = 0; i < files.count; i++) {
		if (is_vmlinux(files.list[i], release))
			args_add(&first, files.list[i]);
	}
	args_deinit(&files);
	if (first.count == 1)
		*ret = first.list;
	else
		args_deinit(&first);
	return NULL;
}

/* The length of what is before "/kernel/" in a module's path; 0: it is no module. */
static size_t modules_length(const char *path)
{
	static const char mark[] = "/kernel/";
	const char *found = has_suffix(path, ".ko") ? strstr(path, mark) : NULL;

	return found ? (size_t)(found - path) : 0;
}

/* The folder of the modules in the package; the caller frees it. */
static struct error *modules_folder(const char *release, char **ret)
{
	struct kernel_files files;
	struct args list = {0};
	struct error *error;

	*ret = xasprintf("usr/lib/debug/lib/modules/%s", release);
	TRY(kernel_files_find(release, &files));
	error = files.dbg_package ? deb_files(files.dbg_package, &list) : NULL;
	kernel_files_deinit(&files);
	for (size_t i = 0; i < list.count; i++) {
		size_t length = modules_length(list.list[i]);

		if (!length)
			continue;
		free(*ret);
		*ret = xstrndup(list.list[i], length);
		break;
	}
	args_deinit(&list);
	return error;
}

struct error *dbg_package_complete(const char *root, const char *release)
{
	_free_ char *boot = xasprintf("%s/usr/lib/debug/boot", root);
	_free_ char *link = xasprintf("%s/vmlinux-%s", boot, release);
	_free_ char *target = xasprintf("../lib/modules/%s/vmlinux", release);
	_free_ char *modules = NULL;
	_free_ char *folder = NULL;

	TRY(make_dirs(boot));
	if (!file_exists(link) && symlink(target, link) < 0 && errno != EEXIST)
		return error_errno("cannot make the link '%s'", link);
	TRY(modules_folder(release, &modules));
	folder = xasprintf("%s/%s", root, modules);
	return make_dirs(folder);
}
