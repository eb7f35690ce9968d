// SPDX-License-Identifier: GPL-2.0-or-later
/* pokepatch install, uninstall: patches that are loaded at every boot; see install.h. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libkmod.h>

#include "common/args.h"
#include "pokepatch/cli.h"
#include "pokepatch/find_modules.h"
#include "pokepatch/install.h"
#include "pokepatch/kernel_livepatch.h"
#include "pokepatch/load.h"
#include "pokepatch/patch_file.h"
#include "common/proc.h"
#include "pokepatch/patch_sysfs.h"

#define PREFIX "pokepatch-"
#define SUFFIX ".ko"
#define UNIT "pokepatch.service"

/* The kernel loads these files at boot, so only their owner may change them. */
#define FILE_MODE   0644
#define FOLDER_MODE 0755

char *installed_name(const char *name)
{
	char *file = xasprintf(PREFIX "%s" SUFFIX, name);

	for (char *c = file; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return file;
}

/* ---- what is installed ------------------------------------------------------ */

struct installed {
	char *path;
	struct timespec time;
};

static int compare_installed(const void *a, const void *b)
{
	const struct installed *x = a, *y = b;

	if (x->time.tv_sec != y->time.tv_sec)
		return x->time.tv_sec < y->time.tv_sec ? -1 : 1;
	if (x->time.tv_nsec != y->time.tv_nsec)
		return x->time.tv_nsec < y->time.tv_nsec ? -1 : 1;
	return strcmp(x->path, y->path);
}

struct error *installed_files(const char *folder, char ***ret, size_t *ret_count)
{
	VEC(struct installed) files = {0};
	DIR *dir = opendir(folder);
	struct dirent *entry;

	*ret_count = 0;
	if (!dir && errno != ENOENT)
		return error_errno("cannot read '%s'", folder);
	while (dir && (entry = readdir(dir))) {
		_free_ char *path = xasprintf("%s/%s", folder, entry->d_name);
		struct stat st;

		if (has_prefix(entry->d_name, PREFIX) && has_suffix(entry->d_name, SUFFIX) &&
		    stat(path, &st) == 0 && S_ISREG(st.st_mode))
			*vec_push(&files) = (struct installed){take_pointer(path), st.st_mtim};
	}
	if (dir)
		closedir(dir);
	if (files.count)
		qsort(files.list, files.count, sizeof(*files.list), compare_installed);
	*ret = xcalloc(files.count + 1, sizeof(**ret));
	for (size_t i = 0; i < files.count; i++)
		(*ret)[(*ret_count)++] = files.list[i].path;
	vec_deinit(&files);
	return NULL;
}

/* The folders of a release with patches, in the order in which they are loaded. */
static const char *const folders[] = {"livepatch", "pokepatch"};

struct error *installed_for(const char *release, char ***ret, size_t *ret_count)
{
	struct args all = {0};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		_free_ char *folder = xasprintf("/lib/modules/%s/%s", release, folders[i]);
		char **paths = NULL;
		size_t count = 0;
		struct error *error = installed_files(folder, &paths, &count);

		if (error) {
			args_deinit(&all);
			return error;
		}
		args_add_all(&all, paths);
		strings_free(paths);
	}
	*ret_count = all.count;
	*ret = all.list;
	return NULL;
}

static bool has_patches(const char *folder)
{
	size_t count = 0;
	char **paths = NULL;
	struct error *error = installed_files(folder, &paths, &count);

	strings_free(paths);
	/* Leave a folder that cannot be read alone, as if it had patches. */
	if (error)
		count = 1;
	error_destroy(error);
	return count > 0;
}

/* Does any release have installed patches? */
static bool anything_installed(const char *root)
{
	_free_ char *modules = xasprintf("%s/lib/modules", root);
	DIR *dir = opendir(modules);
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		for (size_t i = 0; i < ARRAY_SIZE(folders) && entry->d_name[0] != '.'; i++) {
			_free_ char *folder =
				xasprintf("%s/%s/%s", modules, entry->d_name, folders[i]);

			found |= has_patches(folder);
		}
	}
	if (dir)
		closedir(dir);
	return found;
}

/* ---- the unit ---------------------------------------------------------------- */

static struct error *systemctl(struct cli_call *call, const char *verb)
{
	const char *root = cli_value(call, "root");
	_free_ char *root_option = root ? xasprintf("--root=%s", root) : NULL;
	const char *argv[] = {"systemctl", "--quiet", verb, UNIT, root_option, NULL};

	if (cli_value(call, "no-unit"))
		return NULL;
	return error_prefix(proc_check(argv, &(struct proc_options){0}, NULL),
			    "cannot %s " UNIT " (--no-unit leaves it alone)", verb);
}

/* ---- the folder of one release ------------------------------------------------ */

struct place {
	const char *root; /* of --root, or "" */
	char *release;
	char *modules; /* ROOT/lib/modules/RELEASE */
	char *folder;  /* ROOT/lib/modules/RELEASE/pokepatch */
};

static void place_deinit(struct place *place)
{
	free(place->release);
	free(place->modules);
	free(place->folder);
}

/* Takes @release over. */
static struct error *place_init(struct place *place, struct cli_call *call, char *release)
{
	const char *root = cli_value(call, "root");
	bool bad = !release[0] || release[0] == '.' || strchr(release, '/');

	*place = (struct place){.root = root ? root : "", .release = release};
	place->modules = xasprintf("%s/lib/modules/%s", place->root, release);
	place->folder = xasprintf("%s/pokepatch", place->modules);
	if (bad)
		return error_new(STATUS_FAILED, "'%s' is not a kernel release", release);
	if (!file_exists(place->modules))
		return error_new(STATUS_FAILED, "kernel %s is not installed: there is no '%s'",
				 release, place->modules);
	return NULL;
}

/*
 * If the folder has no patch left, remove the core and the folder.  If no release has one, disable
 * the unit too.
 */
static struct error *place_tidy(struct cli_call *call, const struct place *place)
{
	_free_ char *core = xasprintf("%s/" CORE_FILE, place->folder);

	if (has_patches(place->folder))
		return NULL;
	if (unlink(core) < 0 && errno != ENOENT)
		return error_errno("cannot remove '%s'", core);
	/* The user may keep other files in the folder. */
	if (rmdir(place->folder) < 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST)
		return error_errno("cannot remove '%s'", place->folder);
	return anything_installed(place->root) ? NULL : systemctl(call, "disable");
}

static bool same_contents(const char *a, const char *b)
{
	_free_ char *x = NULL, *y = NULL;
	size_t x_length, y_length;
	struct error *error = file_read(a, &x, &x_length);

	error = error ? error : file_read(b, &y, &y_length);
	if (error) {
		error_destroy(error);
		return false;
	}
	return x_length == y_length && memcmp(x, y, x_length) == 0;
}

/* ---- install ------------------------------------------------------------------- */

static struct error *find_and_check_core(struct cli_call *call, const struct place *place,
					 const char *patch, char **ret)
{
	struct kmod_ctx *kmod = NULL;
	struct error *error = quiet_kmod_new(&kmod);

	if (!error)
		error = core_find(NULL, cli_value(call, "core"), patch, place->modules, ret);
	if (!error)
		error = core_check(kmod, *ret, place->release);
	kmod_unref(kmod);
	return error;
}

/* Is @path of this type, with this mode, and ours? */
static bool has_mode(const char *path, mode_t type, mode_t mode)
{
	struct stat st;

	return lstat(path, &st) == 0 && st.st_mode == (type | mode) && st.st_uid == geteuid();
}

/* Would copying @from to @to change nothing? */
static bool is_copied(const char *from, const char *to)
{
	return has_mode(to, S_IFREG, FILE_MODE) && same_contents(from, to);
}

/* Make the folder, or take an existing one over: another user could replace the files in it. */
static struct error *make_folder(const char *path)
{
	TRY(make_dirs(path));
	if (!has_mode(path, S_IFDIR, FOLDER_MODE) &&
	    (chown(path, geteuid(), (gid_t)-1) < 0 || chmod(path, FOLDER_MODE) < 0))
		return error_errno("cannot set the owner and mode of '%s'", path);
	return NULL;
}

/*
 * Copy each file atomically.  The patch comes last: with it the patch counts as installed.  A file
 * of the wrong mode or owner is copied anew, because a process may still have it open for writing.
 */
static struct error *copy_files(const struct place *place, const char *core, const char *patch,
				const char *to)
{
	_free_ char *core_to = xasprintf("%s/" CORE_FILE, place->folder);

	TRY(make_folder(place->folder));
	if (!is_copied(core, core_to))
		TRY(file_copy_mode(core, core_to, FILE_MODE));
	return file_copy_mode(patch, to, FILE_MODE);
}

static struct error *install_at(struct cli_call *call, const struct patch_file *file,
				const struct place *place)
{
	_free_ char *name = installed_name(file->name);
	_free_ char *to = xasprintf("%s/%s", place->folder, name);
	_free_ char *core_to = xasprintf("%s/" CORE_FILE, place->folder);
	_free_ char *core = NULL;
	struct error *error, *second;

	TRY(find_and_check_core(call, place, file->path, &core));
	if (is_copied(file->path, to) && is_copied(core, core_to) &&
	    has_mode(place->folder, S_IFDIR, FOLDER_MODE)) {
		TRY(systemctl(call, "enable"));
		return error_new(STATUS_NOTHING, "patch '%s' is installed already", file->name);
	}
	error = systemctl(call, "enable");
	if (!error)
		error = copy_files(place, core, file->path, to);
	if (!error) {
		buffer_printf(&call->out, "installed: %s\n", to);
		return NULL;
	}
	second = place_tidy(call, place);
	if (second)
		error = error_prefix(error, "%s, after this failed", second->text);
	error_destroy(second);
	return error;
}

static struct error *install_file(struct cli_call *call, const struct patch_file *file)
{
	const char *vermagic = patch_file_modinfo(file, "vermagic");
	_free_ char *running = NULL;
	struct place place;
	struct error *error;

	if (!vermagic)
		return error_new(STATUS_FAILED, "'%s' does not say for which kernel it was built",
				 file->path);
	TRY(running_release(&running));
	error = place_init(&place, call, xstrndup(vermagic, strcspn(vermagic, " ")));
	/* Another kernel's build id cannot be compared before that kernel boots. */
	if (!error && !place.root[0] && strcmp(place.release, running) == 0)
		error = patch_file_check_kernel(file, running);
	if (!error && !place.root[0])
		error = require_root("install");
	if (!error)
		error = install_at(call, file, &place);
	place_deinit(&place);
	return error;
}

struct error *cli_install(struct cli_call *call)
{
	struct patch_file file;
	struct error *error;

	TRY(patch_file_read(call->arguments[0], &file));
	error = livepatch_refuse_file(&file, "install");
	if (!error)
		error = install_file(call, &file);
	patch_file_deinit(&file);
	return error;
}

/* ---- uninstall ------------------------------------------------------------------ */

static struct error *uninstall_at(struct cli_call *call, const struct place *place)
{
	_free_ char *name = installed_name(call->arguments[0]);
	_free_ char *path = xasprintf("%s/%s", place->folder, name);

	if (strchr(name, '/') || !file_exists(path))
		return error_new(STATUS_FAILED,
				 "patch '%s' is not installed for kernel %s: there is no '%s'",
				 call->arguments[0], place->release, path);
	if (!place->root[0])
		TRY(require_root("uninstall"));
	if (unlink(path) < 0)
		return error_errno("cannot remove '%s'", path);
	buffer_printf(&call->out, "removed: %s\n", path);
	return place_tidy(call, place);
}

struct error *cli_uninstall(struct cli_call *call)
{
	const char *given = cli_value(call, "kernel");
	char *release = NULL;
	struct place place;
	struct error *error;

	if (given)
		release = xstrdup(given);
	else
		TRY(running_release(&release));
	error = place_init(&place, call, release);
	if (!error)
		error = uninstall_at(call, &place);
	place_deinit(&place);
	return error;
}
