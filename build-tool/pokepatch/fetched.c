// SPDX-License-Identifier: GPL-2.0-or-later
/* Which kernel releases are complete in the cache; see fetched.h. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "common/cache.h"
#include "pokepatch/compiler_packages.h"
#include "pokepatch/fetched.h"
#include "pokepatch/kbuild_programs.h"
#include "pokepatch/programs.h"
#include "pokepatch/stamp.h"
#include "pokepatch/unpack.h"

char *fetched_key(const struct apt_packages *packages, enum kernel_part part)
{
	VEC(const char *) keys = {0};
	struct buffer text = {0};

	for (size_t i = 0; i < packages->count; i++) {
		if (kernel_part_of(packages->list[i].name) == part)
			*vec_push(&keys) = packages->list[i].sha256;
	}
	if (keys.count)
		qsort(keys.list, keys.count, sizeof(*keys.list), order_strings);
	for (size_t i = 0; i < keys.count; i++)
		buffer_printf(&text, "%s%s", i ? " " : "", keys.list[i]);
	vec_deinit(&keys);
	if (part == PART_HEADERS && kernel_lacks_kbuild(packages)) {
		_free_ char *source = fetched_key(packages, PART_SOURCE);

		buffer_printf(&text, " programs %d of %s", KBUILD_PROGRAMS_FORMAT, source);
	} else if (part == PART_HEADERS && kernel_wraps_kbuild(packages)) {
		buffer_printf(&text, " wrapped %d", PROGRAMS_FORMAT);
	} else if (part == PART_COMPILER) {
		buffer_printf(&text, " format %d", PROGRAMS_FORMAT);
	}
	return text.text ? text.text : xstrdup("none");
}

bool fetched_has(const struct apt_packages *packages, enum kernel_part part)
{
	for (size_t i = 0; i < packages->count; i++)
		if (kernel_part_of(packages->list[i].name) == part)
			return true;
	return false;
}

char *fetched_vmlinux_key(const char *key)
{
	return xasprintf("%s vmlinux", key);
}

bool fetched_has_vmlinux(const char *folder, const char *key)
{
	_free_ char *partial = fetched_vmlinux_key(key);

	return unpack_is_whole(folder, partial);
}

/* Are vmlinux and its package there? */
static bool dbg_is_partial(const char *folder, const char *dir, const char *key)
{
	struct kernel_files files;
	struct error *error;
	bool there;

	if (!fetched_has_vmlinux(folder, key))
		return false;
	error = kernel_files_find(strrchr(dir, '/') + 1, &files);
	there = !error && files.dbg_package && deb_is_whole(files.dbg_package);
	if (error)
		error_destroy(error);
	else
		kernel_files_deinit(&files);
	return there;
}

bool fetched_is_whole(const char *dir, const struct apt_packages *packages, enum kernel_part part)
{
	_free_ char *folder = xasprintf("%s/%s", dir, kernel_part_names[part]);
	_free_ char *key = fetched_key(packages, part);

	if (!fetched_has(packages, part) && (part == PART_COMPILER || part == PART_PATCHES))
		return !file_exists(folder); /* not needed, or not to be had */
	return unpack_is_whole(folder, key) ||
	       (part == PART_DBG && dbg_is_partial(folder, dir, key));
}

bool fetched_has_modules(const char *release)
{
	struct apt_packages stamp;
	_free_ char *dir = NULL, *folder = NULL, *key = NULL;
	bool all;

	error_destroy(cache_kernel_dir(release, &dir));
	if (!dir)
		return false;
	stamp_read(dir, &stamp);
	folder = xasprintf("%s/%s", dir, kernel_part_names[PART_DBG]);
	key = fetched_key(&stamp, PART_DBG);
	all = stamp.count && unpack_is_whole(folder, key);
	apt_packages_deinit(&stamp);
	return all;
}

/*
 * Is there a .deb of this package that is cut off?  Its name is NAME_VERSION_ARCH.deb, where the
 * version has no epoch ("2:").  'pokepatch cache prune' removes packages that are unpacked, so a
 * missing one is in order.
 */
static bool has_damaged_deb(const char *dir, const struct apt_package *package)
{
	_free_ char *folder = xasprintf("%s/packages", dir);
	const char *epoch = strchr(package->version, ':');
	_free_ char *prefix =
		xasprintf("%s_%s_", package->name, epoch ? epoch + 1 : package->version);
	DIR *list = opendir(folder);
	bool damaged = false;

	if (!list)
		return false;
	for (struct dirent *entry; !damaged && (entry = readdir(list));) {
		_free_ char *path = xasprintf("%s/%s", folder, entry->d_name);

		damaged = has_prefix(entry->d_name, prefix) && has_suffix(entry->d_name, ".deb") &&
			  !deb_is_whole(path);
	}
	closedir(list);
	return damaged;
}

bool fetched_has_files(const char *release)
{
	struct kernel_files files;
	struct error *error = kernel_files_find(release, &files);
	bool all;

	if (error) {
		error_destroy(error);
		return false;
	}
	all = files.config && files.vmlinuz && files.vmlinux && files.modules &&
	      files.modules_dbg && files.kbuild && files.source;
	kernel_files_deinit(&files);
	return all;
}

/* "gcc-14" for the compiler in the configuration; NULL: there is none.  The caller frees it. */
static char *configured_compiler(const struct kernel_files *files)
{
	static const char symbol[] = "\nCONFIG_CC_VERSION_TEXT=\"";
	_free_ char *path = files->kbuild ? xasprintf("%s/.config", files->kbuild) : NULL;
	_free_ char *text = NULL;
	const char *found, *gcc;

	if (path && file_exists(path))
		error_destroy(file_read(path, &text, NULL));
	found = text ? strstr(text, symbol) : NULL;
	if (!found)
		return NULL;
	_free_ char *name = xstrndup(found + strlen(symbol), strcspn(found + strlen(symbol), " \""));
	gcc = strstr(name, "gcc-");
	return gcc ? xstrdup(gcc) : NULL;
}

/* Has neither the cache nor this machine the kernel's compiler? */
static bool lacks_compiler(const char *release, const struct apt_packages *stamp)
{
	_free_ char *compiler = NULL, *native = NULL;
	struct kernel_files files;

	if (fetched_has(stamp, PART_COMPILER))
		return false;
	if (kernel_is_foreign(release))
		return true;
	error_destroy(kernel_files_find(release, &files));
	compiler = configured_compiler(&files);
	kernel_files_deinit(&files);
	error_destroy(apt_native(&native));
	return compiler && native && !compiler_on_path(native, compiler, NULL);
}

bool fetched_matches(const char *release, const char *dir, const struct apt_packages *stamp)
{
	if (!stamp->count || !fetched_has_files(release))
		return false;
	if (lacks_compiler(release, stamp))
		return false; /* an older version of this program fetched none */
	for (size_t i = 0; i < stamp->count; i++) {
		if (has_damaged_deb(dir, &stamp->list[i]))
			return false;
	}
	for (int part = 0; part < PART_COUNT; part++) {
		if (!fetched_is_whole(dir, stamp, part))
			return false;
	}
	return true;
}

bool fetched_is_complete(const char *release)
{
	struct apt_packages stamp;
	_free_ char *dir = NULL;
	struct error *error = cache_kernel_dir(release, &dir);
	bool complete;

	if (error) {
		error_destroy(error);
		return false;
	}
	stamp_read(dir, &stamp);
	complete = fetched_matches(release, dir, &stamp);
	apt_packages_deinit(&stamp);
	return complete;
}

char *fetched_newest(const char *flavour)
{
	_free_ char *root = NULL;
	_free_ char *kernels = NULL;
	struct error *error = cache_root(&root);
	char *newest = NULL;
	DIR *list;

	if (error) {
		error_destroy(error);
		return NULL;
	}
	kernels = xasprintf("%s/kernels", root);
	list = opendir(kernels);
	for (struct dirent *entry; list && (entry = readdir(list));) {
		/* strverscmp(3): 6.1.0-10 after 6.1.0-9, 6.12 after 6.1. */
		if (!kernel_has_flavour(entry->d_name, flavour) ||
		    (newest && strverscmp(entry->d_name, newest) < 0) ||
		    !fetched_is_complete(entry->d_name))
			continue;
		free(newest);
		newest = xstrdup(entry->d_name);
	}
	if (list)
		closedir(list);
	return newest;
}
