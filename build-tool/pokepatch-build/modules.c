// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's modules with debug information.  "pokepatch fetch" unpacks vmlinux alone; the 1,100
 * modules of a cloud kernel take up another 1.1 GB, and most patches need none.
 */
#include "pokepatch-build/modules.h"

#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/deb.h"

/* Is the file "nf-tables.ko.xz" of module nf_tables?  The loader turns dashes into underscores. */
static bool is_module_file(const char *file, const char *name)
{
	for (; *name; file++, name++)
		if (*file != *name && !(*file == '-' && *name == '_'))
			return false;
	return has_prefix(file, ".ko");
}

static struct error *find_below(const char *folder, const char *name, char **ret)
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

/* The folder dbg in the cache, if the modules' folder lies below it and their package is there. */
static char *package_root(const struct build *build)
{
	const struct kernel_files *files = &build->files;
	_free_ char *root = xasprintf("%s/dbg", files->cache ?: "");
	size_t length = strlen(root);

	return files->dbg_package && files->modules_dbg && !strncmp(files->modules_dbg, root, length) &&
			       files->modules_dbg[length] == '/'
		       ? take_pointer(root)
		       : NULL;
}

struct error *modules_find(const struct build *build, const char *name, char **ret)
{
	_free_ char *root = package_root(build);

	TRY(find_below(build->files.modules_dbg, name, ret));
	/* The image has the same modules at the same paths. */
	return *ret || !root || !build->files.modules
		       ? NULL
		       : find_below(build->files.modules, name, ret);
}

struct error *modules_file(const struct build *build, const char *path, char **ret)
{
	_free_ char *file = xasprintf("%s/%s", build->files.modules_dbg, path);
	_free_ char *root = file_exists(file) ? NULL : package_root(build);
	_free_ char *temporary = NULL;

	if (root) {
		/* prune removes folders that end in .tmp */
		temporary = xasprintf("%s/module-%d.tmp", build->files.cache, (int)getpid());
		TRY(deb_extract_file(build->files.dbg_package, file + strlen(root) + 1, root,
				     temporary));
	}
	*ret = take_pointer(file);
	return NULL;
}
