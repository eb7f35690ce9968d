// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's modules with debug information.  "pokepatch fetch" unpacks vmlinux alone; the 1,100
 * modules of a cloud kernel take up another 1.1 GB, and most patches need none.  A folder that the
 * user names may have packed modules, or debug information in files of its own (debug_apart.c).
 */
#include "pokepatch-build/modules.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/deb.h"
#include "common/proc.h"
#include "pokepatch-build/build_fetch.h"
#include "pokepatch-build/debug_apart.h"

/* Is the file "nf-tables.ko.xz" of module nf_tables?  The loader turns dashes into underscores. */
static bool is_module_file(const char *file, const char *name)
{
	for (; *name; file++, name++)
		if (*file != *name && !(*file == '-' && *name == '_'))
			return false;
	return has_prefix(file, ".ko");
}

struct error *modules_find_below(const char *folder, const char *name, char **ret)
{
	char *roots[] = {(char *)folder, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	FTSENT *entry;

	*ret = NULL;
	if (!walk)
		return error_errno("cannot read %s", folder);
	while (!*ret && (entry = fts_read(walk))) {
		const char *path = entry->fts_path + strlen(folder) + 1;

		if (entry->fts_info == FTS_D || entry->fts_info == FTS_DP ||
		    !is_module_file(entry->fts_name, name))
			continue;
		*ret = xstrndup(path, (size_t)(strrchr(path, '/') - path) + 1 + strlen(name) + 3);
	}
	fts_close(walk);
	return NULL;
}

/* The folder dbg in the cache, if the modules' folder lies below it. */
static char *package_root(const struct build *build)
{
	const struct kernel_files *files = &build->files;
	_free_ char *root = xasprintf("%s/dbg", files->cache ?: "");
	size_t length = strlen(root);

	return files->modules_dbg && !strncmp(files->modules_dbg, root, length) &&
			       files->modules_dbg[length] == '/'
		       ? take_pointer(root)
		       : NULL;
}

struct error *modules_find(const struct build *build, const char *name, char **ret)
{
	_free_ char *root = package_root(build);

	TRY(modules_find_below(build->files.modules_dbg, name, ret));
	/* The image has the same modules at the same paths. */
	return *ret || !root || !build->files.modules
		       ? NULL
		       : modules_find_below(build->files.modules, name, ret);
}

void module_name_of_file(char *name)
{
	for (; *name; name++)
		if (*name == '-' || *name == ',')
			*name = '_';
}

void module_names_add(const char *modname, const char *alone, struct args *ret)
{
	bool listed = !alone;

	for (size_t length; *modname; modname += length + (modname[length] == ':')) {
		length = strcspn(modname, ":");
		args_addf(ret, "%.*s", (int)length, modname);
		listed |= !strcmp(alone ?: "", ret->list[ret->count - 1]);
	}
	if (!listed)
		args_add(ret, alone);
}

/* ---- the package with debug information -------------------------------------------- */

static struct error *no_package(const struct build *build, const char *why)
{
	return error_new(STATUS_FAILED,
			 "the package linux-image-%s-dbg, from which a module is needed, %s; run "
			 "'pokepatch fetch %s'",
			 build->release, why, build->release);
}

/* Have the package fetched, if the user allowed that. */
static struct error *fetch_package(struct build *build, const char *why)
{
	struct kernel_files files;

	free(take_pointer(build->files.dbg_package));
	if (!build->options.fetch)
		return no_package(build, why);
	TRY(build_fetch(build));
	TRY(kernel_files_find(build->release, &files));
	build->files.dbg_package = take_pointer(files.dbg_package);
	kernel_files_deinit(&files);
	return build->files.dbg_package ? NULL : no_package(build, "is still not in the cache");
}

static struct error *extract(const struct build *build, const char *file, const char *root,
			     bool *ret_damaged)
{
	struct args files = {0};
	struct error *error;

	args_add(&files, file + strlen(root) + 1);
	error = deb_extract_files(build->files.dbg_package, &files, root, build->files.cache,
				  ret_damaged);
	args_deinit(&files);
	return error;
}

/*
 * Extract a module from the package.  A damaged package is removed first, because a fetch takes a
 * package for whole that is as long as it should be.
 */
static struct error *extract_module(struct build *build, const char *file, const char *root)
{
	struct error *error;
	bool damaged;

	if (!build->files.dbg_package)
		TRY(fetch_package(build, "is not in the cache"));
	error = extract(build, file, root, &damaged);
	if (!damaged)
		return error;
	error_destroy(error);
	if (unlink(build->files.dbg_package) && errno != ENOENT) /* another build did */
		return error_errno("cannot remove %s, which is damaged", build->files.dbg_package);
	TRY(fetch_package(build, "was damaged, and is removed"));
	return extract(build, file, root, &damaged);
}

/* ---- packed modules, and debug information apart from them ------------------------ */

/* How modules are packed, besides not at all. */
static const struct {
	const char *ending;
	const char *program[2];
} packings[] = {
	{".xz", {"xz", "-dc"}},
	{".zst", {"zstd", "-dqc"}},
	{".gz", {"gzip", "-dc"}},
};

/* The packed form of the module @file that is there, owned, and its row; NULL: none. */
static char *find_packed(const char *file, size_t *ret_row)
{
	for (*ret_row = 0; *ret_row < ARRAY_SIZE(packings); ++*ret_row) {
		_free_ char *packed = xasprintf("%s%s", file, packings[*ret_row].ending);

		if (file_exists(packed))
			return take_pointer(packed);
	}
	return NULL;
}

/* The module @file, or NULL; a packed one is unpacked into the work folder. */
static struct error *find_unpacked(const struct build *build, const char *file, char **ret)
{
	_free_ char *unpacked = xasprintf("%s/module-%s", build->work, strrchr(file, '/') + 1);
	const struct proc_options options = {.output = unpacked, .keep_stderr_apart = true};
	_free_ char *packed = NULL;
	size_t row;

	*ret = file_exists(file) ? xstrdup(file) : NULL;
	packed = *ret ? NULL : find_packed(file, &row);
	if (!packed)
		return NULL;
	const char *const argv[] = {packings[row].program[0], packings[row].program[1], packed,
				    NULL};
	TRY(error_prefix(proc_check(argv, &options, NULL), "cannot unpack %s", packed));
	*ret = take_pointer(unpacked);
	return NULL;
}

/*
 * Join the debug information in @debug, as RHEL has it, with the module: the one beside it, that of
 * the image in the cache, or the installed one.
 */
static struct error *join_module(const struct build *build, const char *debug, const char *path,
				 char **ret)
{
	_free_ char *joined = xasprintf("%s/joined-%s", build->work, strrchr(path, '/') + 1);
	_free_ char *installed = xasprintf("/lib/modules/%s", build->release);
	const char *const folders[] = {build->files.modules_dbg, build->files.modules, installed};
	_free_ char *module = NULL;

	for (size_t i = 0; !module && i < ARRAY_SIZE(folders); i++) {
		_free_ char *file = xasprintf("%s/%s", folders[i], path);

		if (strcmp(file, debug))
			TRY(find_unpacked(build, file, &module));
	}
	if (!module)
		return error_new(STATUS_FAILED,
				 "%s has debug information alone, and there is no module %s in %s "
				 "or %s; install the kernel's modules",
				 debug, path, build->files.modules, installed);
	if (!file_exists(joined))
		TRY(debug_join(debug, module, joined));
	*ret = take_pointer(joined);
	return NULL;
}

/* ---- modules ahead ------------------------------------------------------------------ */

/* Is the module, or its debug information, where modules_file() looks? */
static bool is_there(const char *file)
{
	_free_ char *debug = xasprintf("%s.debug", file);
	size_t row;
	_free_ char *packed = find_packed(file, &row);

	return packed || file_exists(file) || file_exists(debug);
}

void modules_read_ahead(struct build *build)
{
	_free_ char *root = package_root(build);
	struct args wanted = {0};
	struct map seen = {0};
	bool damaged;

	for (size_t i = 0; root && build->files.dbg_package && i < build->nr_units; i++) {
		const char *path = build->units[i].parent_path;
		_free_ char *file = NULL;

		if (!path || *path == '/' || map_get(&seen, path))
			continue;
		*map_slot(&seen, path) = (void *)path;
		file = xasprintf("%s/%s", build->files.modules_dbg, path);
		if (!is_there(file))
			args_add(&wanted, file + strlen(root) + 1);
	}
	if (wanted.count)
		error_destroy(deb_extract_files(build->files.dbg_package, &wanted, root,
						build->files.cache, &damaged));
	map_deinit(&seen);
	args_deinit(&wanted);
}

/* ---- one module --------------------------------------------------------------------- */

struct error *modules_file(struct build *build, const char *path, char **ret)
{
	_free_ char *file = xasprintf("%s/%s", build->files.modules_dbg, path);
	_free_ char *debug = xasprintf("%s.debug", file);
	_free_ char *root = NULL;

	if (*path == '/') {
		*ret = xstrdup(path);
		return NULL;
	}
	/* A module may lie beside its debug information; it has none itself then. */
	if (file_exists(debug))
		return join_module(build, debug, path, ret);
	TRY(find_unpacked(build, file, ret));
	root = *ret ? NULL : package_root(build);
	if (root)
		TRY(extract_module(build, file, root));
	if (!*ret)
		*ret = take_pointer(file);
	if (!debug_is_apart(*ret))
		return NULL;
	/* "make bindeb-pkg" calls it x.ko in the debug package, as the module in the image's. */
	_free_ char *alone = take_pointer(*ret);
	return join_module(build, alone, path, ret);
}
