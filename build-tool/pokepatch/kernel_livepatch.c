// SPDX-License-Identifier: GPL-2.0-or-later
/* Patches for the kernel's own livepatch core; see kernel_livepatch.h. */
#include "pokepatch/kernel_livepatch.h"

#include <libkmod.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"
#include "pokepatch/load.h"
#include "pokepatch/patch_sysfs.h"
#include "pokepatch/table.h"

#define FOLDER "kernel/livepatch"
/*
 * The core looks at the tasks that are in the way once a second, and wakes those that still are
 * after 15 seconds (SIGNALS_TIMEOUT in kernel/livepatch/transition.c).
 */
#define DEFAULT_TIMEOUT_MS 60000
#define POLL_US 20000
#define GONE_TIMEOUT_US 2000000

/* ---- what livepatch shows ----------------------------------------------------- */

static char *attribute(const char *module, const char *name)
{
	_free_ char *path = sysfs_path(FOLDER "/%s/%s", module, name);

	return sysfs_read(path);
}

static bool is_one(const char *module, const char *name)
{
	_free_ char *text = attribute(module, name);

	return text && !strcmp(text, "1");
}

static bool is_shown(const char *module)
{
	_free_ char *path = sysfs_path(FOLDER "/%s/enabled", module);

	return file_exists(path);
}

static const char *state_of(const char *module)
{
	bool enabled = is_one(module, "enabled");

	if (is_one(module, "transition"))
		return enabled ? "enabling" : "disabling";
	return enabled ? "enabled" : "disabled";
}

char *livepatch_find(const char *name)
{
	_free_ char *plain = underscored(name);
	_free_ char *module = xasprintf(MODULE_PREFIX "%s", plain);

	if (strchr(name, '/') || !*name || sysfs_patch_exists(plain))
		return NULL;
	/* Of a patch of ours that is off, only the module is left. */
	if (is_shown(module) || sysfs_module_loaded(module))
		return take_pointer(module);
	return is_shown(plain) ? take_pointer(plain) : NULL;
}

/* The patch's name: ours are without the prefix that all of our modules have. */
static const char *shown_name(const char *module)
{
	return has_prefix(module, MODULE_PREFIX) ? module + strlen(MODULE_PREFIX) : module;
}

/* Add a function's folder, "NAME,POSITION". */
static void add_function(json_object *functions, const char *parent, const char *folder)
{
	json_object *function = json_object_new_object();
	size_t length = strcspn(folder, ",");

	json_object_object_add(function, "name", json_object_new_string_len(folder, (int)length));
	json_add_text(function, "parent", parent);
	json_add_number(function, "pos",
			strtol(folder + length + (folder[length] == ','), NULL, 10));
	json_add_text(function, "mode", "livepatch");
	json_object_array_add(functions, function);
}

static struct error *add_functions(const char *module, json_object *functions)
{
	_free_ char *folder = sysfs_path(FOLDER "/%s", module);
	char **parents = NULL;
	size_t count = 0;
	struct error *error = sysfs_folders(folder, &parents, &count);

	for (size_t i = 0; !error && i < count; i++) {
		_free_ char *inner = xasprintf("%s/%s", folder, parents[i]);
		char **names = NULL;
		size_t nr_names = 0;

		error = sysfs_folders(inner, &names, &nr_names);
		for (size_t j = 0; !error && j < nr_names; j++)
			add_function(functions, parents[i], names[j]);
		strings_free(names);
	}
	strings_free(parents);
	return error;
}

struct error *livepatch_info(const char *module, json_object **ret)
{
	json_object *patch = json_object_new_object();
	json_object *functions = json_object_new_array();
	struct error *error = NULL;

	json_add_text(patch, "name", shown_name(module));
	json_add_text(patch, "module", module);
	json_add_text(patch, "core", "livepatch");
	json_object_object_add(patch, "enabled",
			       json_object_new_boolean(is_one(module, "enabled")));
	json_add_text(patch, "state", state_of(module));
	json_object_object_add(patch, "functions", functions);
	if (is_shown(module))
		error = add_functions(module, functions);
	if (error)
		json_object_put(patch);
	else
		*ret = patch;
	return error;
}

static struct error *add_row(const char *module, json_object *rows)
{
	static const char *const copied[] = {"name", "enabled", "state"};
	_json_ json_object *patch = NULL;
	json_object *value = NULL;

	TRY(livepatch_info(module, &patch));
	json_object *row = json_object_new_object();
	for (size_t i = 0; i < ARRAY_SIZE(copied); i++) {
		json_object_object_get_ex(patch, copied[i], &value);
		json_object_object_add(row, copied[i], json_object_get(value));
	}
	json_object_object_get_ex(patch, "functions", &value);
	json_add_number(row, "functions", (int64_t)json_object_array_length(value));
	json_add_text(row, "mode", "livepatch");
	json_object_array_add(rows, row);
	return NULL;
}

struct error *livepatch_add_rows(json_object *rows)
{
	_free_ char *folder = sysfs_path(FOLDER);
	char **modules = NULL;
	size_t count = 0;

	if (!file_exists(folder)) /* a kernel without livepatch */
		return NULL;
	struct error *error = sysfs_folders(folder, &modules, &count);
	for (size_t i = 0; !error && i < count; i++) {
		error = add_row(modules[i], rows);
		if (error && !is_shown(modules[i])) { /* it went meanwhile */
			error_destroy(error);
			error = NULL;
		}
	}
	strings_free(modules);
	return error;
}

/* ---- switching ---------------------------------------------------------------- */

static struct error *timeout_of(const struct cli_call *call, unsigned long *ret)
{
	const char *text = cli_value(call, "timeout");

	*ret = DEFAULT_TIMEOUT_MS;
	if (!text)
		return NULL;
	TRY(sysfs_check_time(text));
	*ret = strtoul(text, NULL, 10);
	return NULL;
}

static bool is_switched(const char *module, bool on)
{
	return on ? is_one(module, "enabled") && !is_one(module, "transition") : !is_shown(module);
}

static struct error *wait_switched(const char *module, bool on, unsigned long timeout_ms)
{
	for (uint64_t waited = 0; !is_switched(module, on); waited += POLL_US) {
		if (on && !is_shown(module))
			return error_new(STATUS_FAILED,
					 "patch '%s' went away again; look at the kernel log (dmesg)",
					 shown_name(module));
		if (waited >= (uint64_t)timeout_ms * 1000)
			return error_new(
				STATUS_REFUSED,
				"patch '%s': refused [blocked]: not switched %s within %lu ms, "
				"because some tasks stay in functions that are switched; %s",
				shown_name(module), on ? "on" : "off", timeout_ms,
				"/proc/PID/patch_state tells which");
		TRY(proc_check_interrupted());
		usleep(POLL_US);
	}
	return NULL;
}

static struct error *write_enabled(const char *module, const char *value)
{
	_free_ char *path = sysfs_path(FOLDER "/%s/enabled", module);

	return error_prefix(sysfs_write(path, value), "patch '%s' could not be switched",
			    shown_name(module));
}

/* Does `pokepatch unload` complete what a signal has interrupted?  Then say so. */
static struct error *say_left(struct error *error, const char *module, const char *left)
{
	if (!error || !proc_interrupted())
		return error;
	return error_prefix(error, "patch '%s' %s; 'pokepatch unload %s' completes it",
			    shown_name(module), left, shown_name(module));
}

static struct error *switch_off(const char *module, unsigned long timeout_ms)
{
	/* A write while the switch is under way would turn that round. */
	if (is_one(module, "enabled"))
		TRY(write_enabled(module, "0"));
	struct error *error = wait_switched(module, false, timeout_ms);
	if (error && error->status == STATUS_REFUSED)
		error_destroy(write_enabled(module, "1")); /* take it back */
	return say_left(error, module, "is still being switched off");
}

static struct error *refuse_options(const struct cli_call *call)
{
	static const char *const options[] = {"mode", "replace", "retry", "evict"};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (cli_times(call, options[i]))
			return error_new(STATUS_FAILED,
					 "--%s is for patches of pokepatch's core; this one is for the "
					 "kernel's livepatch core",
					 options[i]);
	return NULL;
}

/* ---- the commands ------------------------------------------------------------- */

/*
 * Has the module no exit function?  pokepatch-build gives none to the module of a patch whose
 * addresses escape, and the kernel refuses to remove such a module.
 */
static bool is_permanent(const char *module)
{
	char *text _free_ = NULL;
	char *name _free_ = xasprintf("%s ", module);
	bool ret = false;

	struct error *error = file_read("/proc/modules", &text, NULL);
	error_destroy(error);
	for (const char *line = text; line && *line && !ret;) {
		const char *end = strchrnul(line, '\n');

		ret = has_prefix(line, name) && memmem(line, end - line, "[permanent]", 11);
		line = end + (*end == '\n');
	}
	return ret;
}

static struct error *remove_module(struct kmod_ctx *kmod, const char *module)
{
	if (is_permanent(module))
		return load_stays(shown_name(module));
	return say_left(load_remove(kmod, module), module, "is off, and its module is still loaded");
}

static struct error *insert(struct kmod_ctx *kmod, const char *path, const char *module,
			    unsigned long timeout_ms)
{
	TRY(load_insert(kmod, path));
	struct error *error = wait_switched(module, true, timeout_ms);
	if (!error)
		return NULL;
	/*
	 * A patch that cannot be switched on is removed again, even if a signal has come.  Another
	 * signal ends that.
	 */
	proc_clear_interrupted();
	struct error *second = switch_off(module, timeout_ms);
	if (!second)
		second = remove_module(kmod, module);
	if (second)
		error = error_prefix(error, "%s, after this failed", second->text);
	error_destroy(second);
	return error;
}

/*
 * Wait until livepatch shows a patch no more that is off: a worker removes its folder, some time
 * after the switch that replaced it (klp_free_patch_async()).  False: it is on, or stays.
 */
static bool wait_gone(const char *module)
{
	for (unsigned int waited = 0; is_shown(module); waited += POLL_US) {
		if (is_one(module, "enabled") || waited >= GONE_TIMEOUT_US)
			return false;
		usleep(POLL_US);
	}
	return true;
}

/* Remove our modules among those that were shown before, and that the new patch has replaced. */
static void remove_replaced(struct kmod_ctx *kmod, char *const *modules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (has_prefix(modules[i], MODULE_PREFIX) && wait_gone(modules[i]) &&
		    !is_permanent(modules[i]))
			error_destroy(load_remove(kmod, modules[i]));
}

/* Load the module of a patch, and remove those of patches that it replaces. */
static struct error *load_replacing(struct kmod_ctx *kmod, const char *path, const char *module,
				    unsigned long timeout_ms)
{
	_free_ char *folder = sysfs_path(FOLDER);
	char **before = NULL;
	size_t count = 0;

	TRY(sysfs_folders(folder, &before, &count));
	struct error *error = insert(kmod, path, module, timeout_ms);
	if (!error)
		remove_replaced(kmod, before, count);
	strings_free(before);
	return error;
}

/* Of a patch that livepatch shows, and that is to be on: turn round a switch that takes it off. */
static struct error *keep_on(const char *module, unsigned long timeout_ms)
{
	const char *state = state_of(module);

	if (strcmp(state, "disabling") != 0)
		return error_new(STATUS_NOTHING, "patch '%s' is loaded and %s already",
				 shown_name(module), state);
	TRY(require_root("enable"));
	TRY(write_enabled(module, "1"));
	return wait_switched(module, true, timeout_ms);
}

static struct error *load_file(const struct patch_file *file, unsigned long timeout_ms)
{
	_free_ char *folder = sysfs_path(FOLDER);
	const char *module = patch_file_modinfo(file, "name");
	struct kmod_ctx *kmod = NULL;

	if (!file_exists(folder))
		return error_new(STATUS_REFUSED,
				 "%s: refused [not-accepted]: the running kernel has no livepatch "
				 "core (CONFIG_LIVEPATCH)",
				 file->path);
	if (sysfs_module_loaded(module))
		TRY(patch_check_loaded(file));
	if (is_shown(module))
		return keep_on(module, timeout_ms);
	if (sysfs_module_loaded(module) && is_permanent(module))
		return load_stays(file->name);
	if (sysfs_module_loaded(module))
		return error_new(STATUS_FAILED,
				 "the module of patch '%s' is loaded, and livepatch cannot switch it "
				 "on again; 'pokepatch unload %s' first",
				 file->name, file->name);
	TRY(require_root("load"));
	TRY(quiet_kmod_new(&kmod));
	struct error *error = load_replacing(kmod, file->path, module, timeout_ms);
	kmod_unref(kmod);
	return error;
}

struct error *livepatch_load(struct cli_call *call, const struct patch_file *file)
{
	unsigned long timeout_ms;

	TRY(refuse_options(call));
	TRY(timeout_of(call, &timeout_ms));
	return load_file(file, timeout_ms);
}

struct error *livepatch_load_once(const struct patch_file *file, bool *loaded)
{
	const char *module = patch_file_modinfo(file, "name");

	*loaded = false;
	if (is_shown(module))
		return patch_check_loaded(file);
	if (patch_file_modinfo(file, "pokepatch_level"))
		return error_new(STATUS_FAILED,
				 "'%s' has a level, and would replace all other livepatches for good; "
				 "'pokepatch load' it first",
				 file->path);
	TRY(load_file(file, DEFAULT_TIMEOUT_MS));
	*loaded = true;
	return NULL;
}

static struct error *unload(const char *module, unsigned long timeout_ms)
{
	struct kmod_ctx *kmod = NULL;

	if (is_shown(module))
		TRY(switch_off(module, timeout_ms));
	TRY(quiet_kmod_new(&kmod));
	struct error *error = remove_module(kmod, module);
	kmod_unref(kmod);
	return error;
}

struct error *livepatch_unload(struct cli_call *call, const char *module)
{
	unsigned long timeout_ms;

	TRY(refuse_options(call));
	TRY(timeout_of(call, &timeout_ms));
	TRY(require_root("unload"));
	return unload(module, timeout_ms);
}

struct error *livepatch_remove(const char *module)
{
	return unload(module, DEFAULT_TIMEOUT_MS);
}

struct error *livepatch_disable(struct cli_call *call, const char *module)
{
	unsigned long timeout_ms;

	TRY(refuse_options(call));
	TRY(timeout_of(call, &timeout_ms));
	if (!is_shown(module))
		return error_new(STATUS_NOTHING, "patch '%s' is disabled already",
				 shown_name(module));
	return switch_off(module, timeout_ms);
}

struct error *livepatch_enable(const char *module)
{
	if (is_shown(module))
		return keep_on(module, DEFAULT_TIMEOUT_MS);
	return error_new(STATUS_REFUSED,
			 "patch '%s': refused [not-accepted]: livepatch switches no patch on again; "
			 "unload it and load it",
			 shown_name(module));
}

struct error *livepatch_require_on(const char *module)
{
	return is_shown(module) ? NULL : livepatch_enable(module);
}

struct error *livepatch_refuse_file(const struct patch_file *file, const char *command)
{
	if (!file->livepatch)
		return NULL;
	return error_new(STATUS_FAILED,
			 "'%s' is for the kernel's own livepatch core; 'pokepatch %s' takes patches for "
			 "pokepatch's core",
			 file->path, command);
}
