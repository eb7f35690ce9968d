// SPDX-License-Identifier: GPL-2.0-or-later
/* The files of patches and of the core; see find_modules.h. */
#include "pokepatch/find_modules.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libkmod.h>

#include "pokepatch/cli.h"
#include "pokepatch/install.h"

#define HERE "./"

bool patch_is_path(const char *what)
{
	return strchr(what, '/') || has_suffix(what, ".ko");
}

/* The first path that exists, or NULL.  Frees all other paths. */
static char *first_file(char **paths, size_t count)
{
	char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!found && file_exists(paths[i]))
			found = paths[i];
		else
			free(paths[i]);
	}
	return found;
}

/* Is this user root, the caller, or the one who called sudo (sudo(8), SUDO_UID)? */
static bool is_trusted(uid_t user)
{
	const char *sudo = getenv("SUDO_UID");

	return user == 0 || user == geteuid() || (sudo && user == strtoul(sudo, NULL, 10));
}

/*
 * Root may be in a folder in which anyone makes files, such as /tmp.  So a file there that was not
 * asked for by its path must belong to a user whom is_trusted() names.
 */
static struct error *check_owner(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return error_errno("cannot read '%s'", path);
	if (is_trusted(st.st_uid))
		return NULL;
	return error_new(STATUS_FAILED,
			 "'%s' belongs to user %u and is not loaded by its name; if you trust it, "
			 "give the path",
			 path, (unsigned int)st.st_uid);
}

struct error *patch_find_file(const char *what, const char *release, char **ret)
{
	_free_ char *name = installed_name(what);
	char *paths[3];

	if (patch_is_path(what)) {
		if (!file_exists(what))
			return error_errno("cannot read '%s'", what);
		*ret = xstrdup(what);
		return NULL;
	}
	paths[0] = xasprintf(HERE "pokepatch-%s.ko", what);
	paths[1] = xasprintf("/lib/modules/%s/pokepatch/pokepatch-%s.ko", release, what);
	paths[2] = xasprintf("/lib/modules/%s/pokepatch/%s", release, name);
	*ret = first_file(paths, ARRAY_SIZE(paths));
	if (!*ret)
		return error_new(STATUS_FAILED,
				 "no patch '%s': neither this folder nor /lib/modules/%s/pokepatch "
				 "has a pokepatch-%s.ko; give the file's path",
				 what, release, what);
	return has_prefix(*ret, HERE) ? check_owner(*ret) : NULL;
}

/*
 * The same for the core module beside a patch, for which the user has not asked by its path either.
 * The owner of the patch, which was accepted, may own the core as well.
 */
static struct error *check_core_owner(const char *path, const char *patch)
{
	struct stat core, st;

	if (lstat(path, &core) < 0)
		return error_errno("cannot read '%s'", path);
	if (is_trusted(core.st_uid) || (!lstat(patch, &st) && st.st_uid == core.st_uid))
		return NULL;
	return error_new(STATUS_FAILED,
			 "the core module '%s' belongs to user %u, and the patch beside it does not; "
			 "if you trust it, name it with --core",
			 path, (unsigned int)core.st_uid);
}

/* The core module that modprobe would find, if depmod has listed it; or NULL. */
static char *lookup_core(struct kmod_ctx *kmod)
{
	struct kmod_list *list = NULL;
	char *found = NULL;

	if (kmod_module_new_from_lookup(kmod, "pokepatch", &list) == 0 && list) {
		struct kmod_module *module = kmod_module_get_module(list);
		const char *path = kmod_module_get_path(module);

		/* modules.dep may list a file that has been removed. */
		found = path && file_exists(path) ? xstrdup(path) : NULL;
		kmod_module_unref(module);
	}
	kmod_module_unref_list(list);
	return found;
}

struct error *core_find(struct kmod_ctx *kmod, const char *given, const char *patch,
			const char *modules, char **ret)
{
	const char *slash = strrchr(patch, '/');
	char *paths[4];

	if (given) {
		if (!file_exists(given))
			return error_errno("cannot read the core module '%s'", given);
		*ret = xstrdup(given);
		return NULL;
	}
	*ret = xasprintf("%.*s" CORE_FILE, slash ? (int)(slash - patch) + 1 : 0, patch);
	if (file_exists(*ret))
		return check_core_owner(*ret, patch);
	free(*ret);
	paths[0] = xasprintf("%s/pokepatch/" CORE_FILE, modules);
	paths[1] = xasprintf("%s/extra/" CORE_FILE, modules);
	/* Debian's DKMS packs it if the kernel's own modules are packed; libkmod unpacks it. */
	paths[2] = xasprintf("%s/updates/dkms/" CORE_FILE, modules);
	paths[3] = xasprintf("%s/updates/dkms/" CORE_FILE ".xz", modules);
	*ret = first_file(paths, ARRAY_SIZE(paths));
	if (!*ret && kmod)
		*ret = lookup_core(kmod);
	if (!*ret)
		return error_new(STATUS_FAILED,
				 "there is no core module, " CORE_FILE
				 ", beside '%s' or in '%s'; name it with --core FILE",
				 patch, modules);
	return NULL;
}
