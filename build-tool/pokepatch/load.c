// SPDX-License-Identifier: GPL-2.0-or-later
/* pokepatch load, unload, enable, disable: changing the running kernel. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <libkmod.h>

#include <pokepatch_format.h>

#include "common/args.h"
#include "pokepatch/cli.h"
#include "pokepatch/crash_guard.h"
#include "pokepatch/find_modules.h"
#include "pokepatch/install.h"
#include "pokepatch/kernel_livepatch.h"
#include "pokepatch/load.h"
#include "pokepatch/patch_file.h"
#include "common/proc.h"
#include "pokepatch/patch_sysfs.h"

#define REMOVE_TRIES 40
#define EVICT_MAX 2
#define REMOVE_PAUSE_US 50000

struct error *require_root(const char *command)
{
	if (geteuid() == 0)
		return NULL;
	return error_new(STATUS_FAILED,
			 "'%s' changes the running kernel, so only root may do it; "
			 "try 'sudo pokepatch %s ...'",
			 command, command);
}

struct error *running_release(char **ret)
{
	struct utsname names;

	if (uname(&names) < 0)
		return error_errno("cannot tell the running kernel");
	*ret = xstrdup(names.release);
	return NULL;
}

/* ---- kernel modules -------------------------------------------------------- */

static void cleanup_kmod(struct kmod_ctx **kmod)
{
	kmod_unref(*kmod); /* NULL is allowed */
}

static void cleanup_module(struct kmod_module **module)
{
	kmod_module_unref(*module);
}

#define _kmod_ __attribute__((cleanup(cleanup_kmod)))
#define _module_ __attribute__((cleanup(cleanup_module)))

/* Our own errors say what libkmod would print. */
static void say_nothing(void *data, int priority, const char *file, int line, const char *function,
			const char *format, va_list arguments)
{
	(void)data, (void)priority, (void)file, (void)line;
	(void)function, (void)format, (void)arguments;
}

struct error *quiet_kmod_new(struct kmod_ctx **ret)
{
	*ret = kmod_new(NULL, NULL);
	if (!*ret)
		return error_new(STATUS_FAILED, "cannot start libkmod");
	kmod_set_log_fn(*ret, say_nothing, NULL);
	return NULL;
}

#define SIGN "sign the core and the patch with one (pokepatch-build --sign)"

/* The errors of finit_module(2) for which the user can do something. */
static const struct {
	int number;
	enum exit_status status;
	const char *meaning;
} insert_errors[] = {
	{EPERM, STATUS_FAILED,
	 "not permitted: CAP_SYS_MODULE is missing, loading modules is switched off "
	 "(kernel.modules_disabled), or the kernel is locked down and accepts only modules signed "
	 "with a key that it trusts"},
	{EKEYREJECTED, STATUS_FAILED,
	 "this kernel accepts only modules signed with a key that it trusts; " SIGN},
	{ENOKEY, STATUS_FAILED,
	 "this kernel accepts only modules signed with a key that it knows; " SIGN},
	{EBADMSG, STATUS_FAILED, "its signature is damaged"},
	{ENOEXEC, STATUS_REFUSED,
	 "refused [not-accepted]: it is for another kernel or core, or damaged"},
	{EINVAL, STATUS_REFUSED, "refused [not-accepted]: its contents are wrong"},
	{ENOENT, STATUS_REFUSED,
	 "refused [not-accepted]: it needs a symbol that this kernel or core does not have"},
	{EIO, STATUS_REFUSED,
	 "refused [code-differs]: the code in memory is not what it was made for"},
	{EEXIST, STATUS_FAILED, "a module or patch of that name is loaded already"},
	{ENOMEM, STATUS_FAILED, "the kernel is out of memory"},
};

static struct error *insert_error(const char *path, int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(insert_errors); i++) {
		if (insert_errors[i].number == number)
			return error_new(insert_errors[i].status,
					 "%s: %s (%s); the kernel log (dmesg) tells more", path,
					 insert_errors[i].meaning, strerror(number));
	}
	return error_new(STATUS_FAILED,
			 "the kernel rejected '%s': %s; the kernel log (dmesg) tells more", path,
			 strerror(number));
}

struct error *load_insert(struct kmod_ctx *kmod, const char *path)
{
	_module_ struct kmod_module *module = NULL;
	int result = kmod_module_new_from_path(kmod, path, &module);

	/* Give the options that modprobe would: of modprobe.d and the kernel's command line. */
	if (!result)
		result = kmod_module_insert_module(module, 0, kmod_module_get_options(module));
	return result < 0 ? insert_error(path, -result) : NULL;
}

struct error *load_stays(const char *name)
{
	return error_new(STATUS_REFUSED,
			 "patch '%s' is disabled, but its module stays until the next boot: refused "
			 "[address-escapes]: addresses of its new code or data were stored or passed "
			 "on, and may still be used",
			 name);
}

/*
 * The core holds a patch's module until no task can be in its code any more, which may be a moment
 * after the switch.  So try for a while.
 */
struct error *load_remove(struct kmod_ctx *kmod, const char *name)
{
	_module_ struct kmod_module *module = NULL;
	int result = kmod_module_new_from_name(kmod, name, &module);

	for (int i = 0; !result && i < REMOVE_TRIES; i++) {
		result = kmod_module_remove_module(module, O_NONBLOCK);
		if ((result != -EAGAIN && result != -EBUSY) || i + 1 == REMOVE_TRIES)
			break;
		TRY(proc_check_interrupted());
		result = 0;
		usleep(REMOVE_PAUSE_US);
	}
	if (result == -ENOENT)
		return error_new(STATUS_FAILED, "module '%s' is not loaded", name);
	if (result == -EAGAIN || result == -EBUSY)
		return error_new(STATUS_FAILED, "module '%s' is still in use; try again later",
				 name);
	if (result < 0)
		return error_new(STATUS_FAILED, "cannot remove module '%s': %s", name,
				 strerror(-result));
	return NULL;
}

/* The value of a line of a module's modinfo, or NULL. */
static const char *module_info(const struct kmod_list *list, const char *key)
{
	const struct kmod_list *entry;

	kmod_list_foreach(entry, list)
		if (strcmp(kmod_module_info_get_key(entry), key) == 0)
			return kmod_module_info_get_value(entry);
	return NULL;
}

/* Is @value the first word of that line? */
static bool has_info(const struct kmod_list *list, const char *key, const char *value)
{
	const char *found = module_info(list, key);
	const size_t length = strlen(value);

	return found && strncmp(found, value, length) == 0 &&
	       (!found[length] || found[length] == ' ');
}

struct error *core_check(struct kmod_ctx *kmod, const char *path, const char *release)
{
	_module_ struct kmod_module *module = NULL;
	struct kmod_list *list = NULL;
	struct error *error = NULL;
	const char *format;

	if (kmod_module_new_from_path(kmod, path, &module) < 0 ||
	    kmod_module_get_info(module, &list) < 0 || !has_info(list, "name", "pokepatch"))
		error = error_new(STATUS_FAILED, "'%s' is not the core module", path);
	else if (!has_info(list, "vermagic", release))
		error = error_new(STATUS_FAILED, "the core module '%s' is not for kernel %s", path,
				  release);
	/* The first cores of format 7 do not tell theirs. */
	else if ((format = module_info(list, "pokepatch_format")) &&
		 strtol(format, NULL, 10) != POKEPATCH_FORMAT)
		error = error_new(STATUS_FAILED,
				  "the core module '%s' knows patch format %s, and this pokepatch "
				  "format %d; take the core of the pokepatch-build that made the patch",
				  path, format, POKEPATCH_FORMAT);
	kmod_module_info_free_list(list);
	return error;
}

static struct error *check_evict(const struct cli_call *call)
{
	const int times = cli_times(call, "evict");

	if (times <= EVICT_MAX)
		return NULL;
	return error_new(STATUS_FAILED, "--evict is given %d times; twice is to kill", times);
}

/* Switch a loaded patch on or off, with the command's --timeout, --retry and --evict. */
static struct error *switch_patch(struct cli_call *call, const char *name, bool on)
{
	const char *timeout = cli_value(call, "timeout");
	const char *retry = cli_value(call, "retry");
	const int evict = cli_times(call, "evict");
	struct error *error;

	if (timeout)
		TRY(sysfs_set_time(name, "timeout_ms", timeout));
	if (retry)
		TRY(sysfs_set_time(name, "retry_ms", retry));
	if (evict)
		TRY(sysfs_set_evict(name, evict));
	error = sysfs_switch(name, on);
	/* It is meant for this switch alone, and for those that the core makes in its place. */
	if (evict && sysfs_patch_exists(name) && !sysfs_patch_retries(name))
		error_destroy(sysfs_set_evict(name, 0));
	return error;
}

/* ---- load ------------------------------------------------------------------ */

/* What a load has done so far, to be undone if it fails. */
struct loading {
	struct kmod_ctx *kmod;
	const char *module; /* the patch's module, once inserted */
	bool core;          /* we inserted it */
};

/* Undo a load that failed with @error.  An error of undoing is put in front of its text. */
static struct error *loading_undo(struct loading *loading, struct error *error)
{
	struct error *second = NULL;

	if (loading->module)
		second = load_remove(loading->kmod, loading->module);
	if (!second && loading->core)
		second = load_remove(loading->kmod, "pokepatch");
	if (second)
		error = error_prefix(error, "%s, after this failed", second->text);
	error_destroy(second);
	return error;
}

static struct error *load_core(struct loading *loading, const char *given, const char *patch,
			       const char *release)
{
	_free_ char *modules = xasprintf("/lib/modules/%s", release);
	_free_ char *path = NULL;
	struct error *error;

	if (sysfs_core_loaded())
		return NULL;
	TRY(core_find(loading->kmod, given, patch, modules, &path));
	error = load_insert(loading->kmod, path);
	/* Another load may have been faster. */
	if (error && sysfs_core_loaded()) {
		error_destroy(error);
		return NULL;
	}
	loading->core = !error;
	return error_prefix(error, "core module");
}

/* Check that the patches to replace are loaded, before anything is changed. */
static struct error *check_replaced(const char *names)
{
	_free_ char *list = xstrdup(names ? names : "");
	char *rest = list[0] ? list : NULL;
	const char *name;

	while ((name = strsep(&rest, ","))) {
		_free_ char *found = NULL;

		TRY(sysfs_find_patch(name, &found));
	}
	return NULL;
}

static struct error *switch_on_replacing(struct cli_call *call, const char *name,
					 const char *replace)
{
	_free_ char *names = underscored(replace[0] ? replace : "*");
	struct error *error;

	TRY(sysfs_set_replace(name, names));
	error = switch_patch(call, name, true);
	/* --replace is meant for this switch alone, even if the patch stays loaded. */
	if (error && !sysfs_patch_retries(name))
		error_destroy(sysfs_set_replace(name, ""));
	return error;
}

/* Modules of replaced levels are of no use; one that is pinned stays, and does no harm. */
static void remove_levels(struct kmod_ctx *kmod, const struct args *levels)
{
	for (size_t i = 0; i < levels->count; i++) {
		_free_ char *module = xasprintf(MODULE_PREFIX "%s", levels->list[i]);

		error_destroy(load_remove(kmod, module));
	}
}

/*
 * End what the core still tries for other levels: a switch that succeeds later would replace the
 * level that the user wants now.
 */
static struct error *end_retries(const char *name)
{
	_kmod_ struct kmod_ctx *kmod = NULL;
	struct args levels = {0};
	struct error *error = sysfs_other_levels(name, false, &levels);

	for (size_t i = 0; !error && i < levels.count; i++)
		error = sysfs_switch(levels.list[i], false);
	if (!error)
		error = quiet_kmod_new(&kmod);
	if (!error)
		remove_levels(kmod, &levels);
	args_deinit(&levels);
	return error;
}

/* A patch with a level is cumulative: it replaces the one of another level, if that is on. */
static struct error *switch_on_level(struct cli_call *call, struct kmod_ctx *kmod, const char *name)
{
	struct args levels = {0};
	struct error *error = sysfs_other_levels(name, true, &levels);
	_free_ char *names = args_join(&levels, ",");

	if (!error)
		error = levels.count ? switch_on_replacing(call, name, names)
				     : switch_patch(call, name, true);
	if (!error)
		remove_levels(kmod, &levels);
	args_deinit(&levels);
	return error;
}

/* Switch on a patch that load has found or inserted, with the command's options. */
static struct error *switch_on(struct cli_call *call, struct kmod_ctx *kmod, const char *name)
{
	const char *mode = cli_value(call, "mode");
	const char *replace = cli_value(call, "replace");

	if (mode)
		TRY(sysfs_set_mode(name, mode));
	if (replace)
		return switch_on_replacing(call, name, replace);
	return sysfs_patch_level(name) ? switch_on_level(call, kmod, name)
				       : switch_patch(call, name, true);
}

static struct error *load_patch(struct loading *loading, struct cli_call *call,
				const struct patch_file *file)
{
	TRY(load_insert(loading->kmod, file->path));
	loading->module = patch_file_modinfo(file, "name");
	if (!sysfs_patch_exists(file->name))
		return error_new(STATUS_FAILED,
				 "'%s' was inserted, but the core does not show its patch '%s'; "
				 "look at the kernel log (dmesg)",
				 file->path, file->name);
	return switch_on(call, loading->kmod, file->name);
}

struct error *patch_check_loaded(const struct patch_file *file)
{
	_free_ char *loaded = sysfs_module_build_id(patch_file_modinfo(file, "name"));

	if (file->build_id && loaded ? !strcmp(file->build_id, loaded) : !file->build_id && !loaded)
		return NULL;
	return error_new(STATUS_FAILED,
			 "another build of patch '%s' is loaded; unload it first, with 'pokepatch "
			 "unload %s'",
			 file->name, file->name);
}

/* Load a patch that is not on. */
static struct error *load_disabled(struct cli_call *call, const struct patch_file *file,
				   const char *release)
{
	_kmod_ struct kmod_ctx *kmod = NULL;
	struct loading loading = {0};
	struct error *error;

	TRY(quiet_kmod_new(&kmod));
	if (sysfs_patch_exists(file->name))
		return switch_on(call, kmod, file->name);
	loading.kmod = kmod;
	error = load_core(&loading, cli_value(call, "core"), file->path, release);
	if (!error)
		error = load_patch(&loading, call, file);
	if (!error || (loading.module && sysfs_patch_pending(file->name)))
		return error;
	return loading_undo(&loading, error);
}

static struct error *load_file(struct cli_call *call, const struct patch_file *file,
			       const char *release)
{
	const bool guarded = patch_file_modinfo(file, "pokepatch_level") != NULL;
	struct error *error;

	TRY(patch_file_check_kernel(file, release));
	if (sysfs_patch_exists(file->name))
		TRY(patch_check_loaded(file));
	if (guarded && geteuid() == 0)
		TRY(end_retries(file->name));
	/* If the core tries to switch it off, the write ends that. */
	if (sysfs_patch_enabled(file->name) && !sysfs_patch_pending(file->name))
		return error_new(STATUS_NOTHING, "patch '%s' is loaded and enabled already",
				 file->name);
	TRY(check_replaced(cli_value(call, "replace")));
	TRY(require_root("load"));
	if (guarded)
		TRY(crash_guard_begin(file));
	error = load_disabled(call, file, release);
	if (guarded && error && !sysfs_patch_pending(file->name))
		crash_guard_failed(file->name);
	else if (guarded)
		crash_guard_succeeded(file->name);
	return error;
}

static struct error *livepatch_for_kernel(struct cli_call *call, const struct patch_file *file,
					  const char *release)
{
	TRY(patch_file_check_kernel(file, release));
	return livepatch_load(call, file);
}

static struct error *load_path(struct cli_call *call, const char *path, const char *release)
{
	struct patch_file file;
	struct error *error;

	TRY(patch_file_read(path, &file));
	error = file.livepatch ? livepatch_for_kernel(call, &file, release)
			       : load_file(call, &file, release);
	patch_file_deinit(&file);
	return error;
}

/* ---- temporary patches ------------------------------------------------------- */

static struct error *temporary_patch_load_file(const struct patch_file *file, const char *core,
					       const char *release, struct temporary_patch *ret)
{
	_kmod_ struct kmod_ctx *kmod = NULL;
	struct loading loading = {0};
	struct error *error;

	TRY(patch_file_check_kernel(file, release));
	ret->name = xstrdup(file->name);
	if (file->livepatch) {
		ret->livepatch = xstrdup(patch_file_modinfo(file, "name"));
		return livepatch_load_once(file, &ret->module);
	}
	if (sysfs_patch_exists(file->name))
		return patch_check_loaded(file);
	TRY(quiet_kmod_new(&kmod));
	loading.kmod = kmod;
	error = load_core(&loading, core, file->path, release);
	if (!error)
		error = load_insert(kmod, file->path);
	if (error)
		return loading_undo(&loading, error);
	ret->core = loading.core;
	ret->module = true;
	return NULL;
}

struct error *temporary_patch_load(const char *what, const char *core, struct temporary_patch *ret)
{
	_free_ char *release = NULL;
	_free_ char *path = NULL;
	struct patch_file file;
	struct error *error;

	*ret = (struct temporary_patch){0};
	TRY(running_release(&release));
	if (!patch_is_path(what)) {
		ret->name = underscored(what);
		ret->livepatch = livepatch_find(what);
		if (ret->livepatch) {
			error = livepatch_require_on(ret->livepatch);
			if (error)
				temporary_patch_deinit(ret);
			return error;
		}
		if (sysfs_patch_exists(ret->name))
			return NULL;
		temporary_patch_deinit(ret);
	}
	TRY(patch_find_file(what, release, &path));
	TRY(patch_file_read(path, &file));
	error = temporary_patch_load_file(&file, core, release, ret);
	patch_file_deinit(&file);
	if (error)
		temporary_patch_deinit(ret);
	return error;
}

struct error *temporary_patch_unload(struct temporary_patch *patch)
{
	_kmod_ struct kmod_ctx *kmod = NULL;
	_free_ char *module = xasprintf(MODULE_PREFIX "%s", patch->name);

	if (patch->enabled &&
	    (sysfs_patch_enabled(patch->name) || sysfs_patch_pending(patch->name)))
		TRY(sysfs_switch(patch->name, false));
	patch->enabled = false;
	if (!patch->module)
		return NULL;
	if (patch->livepatch) {
		TRY(livepatch_remove(patch->livepatch));
		patch->module = false;
		return NULL;
	}
	TRY(quiet_kmod_new(&kmod));
	TRY(load_remove(kmod, module));
	patch->module = false;
	if (patch->core)
		TRY(load_remove(kmod, "pokepatch"));
	patch->core = false;
	return NULL;
}

void temporary_patch_deinit(struct temporary_patch *patch)
{
	free(patch->name);
	free(patch->livepatch);
	*patch = (struct temporary_patch){0};
}

/* ---- load --installed ------------------------------------------------------- */

#define OFF_SWITCH "pokepatch=off" /* on the kernel's command line, as in the unit */

static struct error *check_off_switch(void)
{
	_free_ char *line = NULL;
	char *rest, *word;
	size_t length;

	TRY(file_read("/proc/cmdline", &line, &length));
	rest = line;
	while ((word = strsep(&rest, " \n"))) {
		if (strcmp(word, OFF_SWITCH) == 0)
			return error_new(STATUS_NOTHING, "no installed patch is loaded: " OFF_SWITCH
							 " is on the kernel's command line");
	}
	return NULL;
}

/*
 * A patch that cannot be loaded must not keep the others from being loaded.  So try all, and return
 * their errors together with the worst status.
 */
static struct error *load_all(struct cli_call *call, char *const *paths, size_t count,
			      const char *release)
{
	struct buffer text = {0};
	enum exit_status status = STATUS_DONE;
	struct error *failed = NULL;

	for (size_t i = 0; i < count && !proc_interrupted(); i++) {
		struct error *error = load_path(call, paths[i], release);

		if (!error)
			buffer_printf(&call->out, "loaded: %s\n", paths[i]);
		if (error && error->status != STATUS_NOTHING) {
			buffer_printf(&text, "%s%s", text.length ? "\npokepatch: " : "",
				      error->text);
			status = status == STATUS_DONE || error->status == STATUS_FAILED
					 ? error->status
					 : status;
		}
		error_destroy(error);
	}
	if (text.length)
		failed = error_new(status, "%s", text.text);
	buffer_deinit(&text);
	return failed ? failed : proc_check_interrupted();
}

static struct error *load_installed(struct cli_call *call, const char *release)
{
	struct error *error;
	char **paths = NULL;
	size_t count = 0;

	if (call->count || cli_value(call, "replace"))
		return error_new(
			STATUS_FAILED,
			"--installed loads all installed patches: give neither a patch nor "
			"--replace");
	TRY(check_off_switch());
	TRY(installed_for(release, &paths, &count));
	if (count)
		error = load_all(call, paths, count, release);
	else
		error = error_new(STATUS_NOTHING, "no patch is installed for kernel %s", release);
	strings_free(paths);
	return error;
}

struct error *cli_load(struct cli_call *call)
{
	_free_ char *release = NULL;
	_free_ char *path = NULL;

	TRY(check_evict(call));
	TRY(running_release(&release));
	if (cli_value(call, "installed"))
		return load_installed(call, release);
	if (!call->count)
		return error_new(STATUS_FAILED, "too few arguments; usage: pokepatch load %s",
				 call->command->arguments);
	TRY(patch_find_file(call->arguments[0], release, &path));
	return load_path(call, path, release);
}

/* ---- unload, enable, disable ----------------------------------------------- */

static bool module_is_held(struct kmod_ctx *kmod, const char *name)
{
	_module_ struct kmod_module *module = NULL;

	return !kmod_module_new_from_name(kmod, name, &module) &&
	       kmod_module_get_refcnt(module) > 0;
}

struct error *cli_unload(struct cli_call *call)
{
	_kmod_ struct kmod_ctx *kmod = NULL;
	_free_ char *module = NULL;
	_free_ char *name = NULL;

	TRY(check_evict(call));
	_free_ char *livepatch = livepatch_find(call->arguments[0]);
	if (livepatch)
		return livepatch_unload(call, livepatch);
	TRY(sysfs_find_patch(call->arguments[0], &name));
	TRY(require_root("unload"));
	/* The write also ends what the core tries now or will try again, which holds the module. */
	if (sysfs_patch_enabled(name) || sysfs_patch_pending(name))
		TRY(switch_patch(call, name, false));
	TRY(quiet_kmod_new(&kmod));
	module = xasprintf(MODULE_PREFIX "%s", name);

	struct error *error = load_remove(kmod, module);
	/* The core holds the module of a disabled patch: it keeps it until the next boot. */
	if (error && sysfs_patch_exists(name) && !sysfs_patch_enabled(name) &&
	    module_is_held(kmod, module)) {
		error_destroy(error);
		error = load_stays(name);
	}
	return error;
}

static struct error *switch_loaded(struct cli_call *call, bool on)
{
	_free_ char *name = NULL;

	TRY(check_evict(call));
	_free_ char *livepatch = livepatch_find(call->arguments[0]);
	if (livepatch)
		return on ? livepatch_enable(livepatch) : livepatch_disable(call, livepatch);
	TRY(sysfs_find_patch(call->arguments[0], &name));
	/* If the core tries to switch it the other way, the write ends that. */
	if (sysfs_patch_enabled(name) == on && !sysfs_patch_pending(name))
		return error_new(STATUS_NOTHING, "patch '%s' is %s already", name,
				 on ? "enabled" : "disabled");
	return switch_patch(call, name, on);
}

struct error *cli_enable(struct cli_call *call)
{
	return switch_loaded(call, true);
}

struct error *cli_disable(struct cli_call *call)
{
	return switch_loaded(call, false);
}
