// SPDX-License-Identifier: GPL-2.0-or-later
/* pokepatch status: what is on, what should be, and what is in its way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/args.h"
#include "pokepatch/cli.h"
#include "pokepatch/crash_guard.h"
#include "pokepatch/install.h"
#include "pokepatch/load.h"
#include "pokepatch/patch_file.h"
#include "pokepatch/patch_sysfs.h"
#include "pokepatch/status_export.h"
#include "pokepatch/table.h"

/* ---- the cumulative patch ------------------------------------------------------ */

/* Days from today, in UTC, until a day such as "2027-05-01"; less than 0: it is over. */
static long days_until(const char *date)
{
	struct tm day = {0};

	if (sscanf(date, "%d-%d-%d", &day.tm_year, &day.tm_mon, &day.tm_mday) != 3)
		return -1;
	day.tm_year -= 1900;
	day.tm_mon--;
	return (long)(timegm(&day) / (24 * 60 * 60) - time(NULL) / (24 * 60 * 60));
}

/* The state of the patch of a file.  A loaded patch of the same name may be another build. */
static char *state_of(const struct patch_file *file)
{
	char *state = sysfs_patch_state(file->name);
	struct error *error = state ? patch_check_loaded(file) : NULL;

	if (error) {
		free(state);
		state = xstrdup("another build is loaded");
	} else if (!sysfs_patch_enabled(file->name) && crash_guard_is_crashed(file)) {
		free(state);
		state = xstrdup("crashed");
	}
	error_destroy(error);
	return state ?: xstrdup("not loaded");
}

/* The name of the patch of an installed file, from the file's name.  Owned by the caller. */
static char *name_of(const char *path)
{
	const char *name = strrchr(path, '/') + 1 + strlen("pokepatch-");
	_free_ char *plain = xstrndup(name, strlen(name) - strlen(".ko"));

	return underscored(plain);
}

/* A level whose file cannot be read, so that its number is unknown.  Takes @error over. */
static json_object *unreadable_level(const char *path, struct error *error)
{
	_free_ char *state = xasprintf("unreadable: %s", error->text), *name = name_of(path);
	json_object *ret = json_object_new_object();

	error_destroy(error);
	json_add_text(ret, "name", name);
	json_add_text(ret, "state", state);
	return ret;
}

/*
 * What a file of a cumulative patch says, and the state of the patch; NULL: it has no level.
 * @of_package: the file is in livepatch/, where packages put levels and no other patches.
 */
static json_object *read_level(const char *path, bool of_package)
{
	static const char *const members[] = {"name", "level", "until", "cve", "unfixed"};
	_free_ char *state = NULL;
	_json_ json_object *info = NULL;
	json_object *ret = NULL, *member = NULL;
	struct patch_file file;
	struct error *error = patch_file_read(path, &file);

	if (!error) {
		error = patch_file_json(&file, &info);
		state = state_of(&file);
		patch_file_deinit(&file);
	}
	if (error && of_package)
		return unreadable_level(path, error);
	/* The list of what is installed names a damaged file too. */
	error_destroy(error);
	if (!info || !json_object_object_get_ex(info, "level", NULL))
		return NULL;
	ret = json_object_new_object();
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		json_object_object_get_ex(info, members[i], &member);
		json_object_object_add(ret, members[i], json_object_get(member));
	}
	if (json_text(ret, "until"))
		json_add_number(ret, "days_left", days_until(json_text(ret, "until")));
	json_add_text(ret, "state", state);
	return ret;
}

/* The cumulative patch that is installed for a release, with its state; NULL: there is none. */
static struct error *read_livepatch(const char *release, json_object **ret)
{
	_free_ char *of_package = xasprintf("/lib/modules/%s/livepatch/", release);
	char **paths = NULL;
	size_t count = 0;

	*ret = NULL;
	TRY(installed_for(release, &paths, &count));
	for (size_t i = 0; i < count && !*ret; i++)
		*ret = read_level(paths[i], has_prefix(paths[i], of_package));
	strings_free(paths);
	return NULL;
}

static void print_livepatch(struct buffer *out, json_object *livepatch)
{
	const char *level = json_text(livepatch, "level"), *until = json_text(livepatch, "until");
	const char *state = json_text(livepatch, "state");

	if (!level) {
		buffer_printf(out, "livepatch: %s\n", state);
		return;
	}
	buffer_printf(out, "livepatch: level %s, %s\n", level, state);
	json_print_cves(out, livepatch);
	if (until && days_until(until) >= 0)
		buffer_printf(out, "until: %s, %ld days\n", until, days_until(until));
	else if (until)
		buffer_printf(out, "until: %s, which is over\n", until);
}

/* A machine that is not as its package wants it has a status of its own, for scripts. */
static struct error *judge_livepatch(json_object *livepatch)
{
	const char *state = json_text(livepatch, "state"), *until = json_text(livepatch, "until");
	json_object *unfixed = NULL;

	if (!json_text(livepatch, "level"))
		return error_new(STATUS_REFUSED,
				 "the level that is installed is %s; install its package again",
				 state);
	if (strcmp(state, "enabled"))
		return error_new(STATUS_REFUSED, "level %s is not on: %s",
				 json_text(livepatch, "level"), state);
	if (until && days_until(until) < 0)
		return error_new(STATUS_REFUSED,
				 "level %s was to last until %s; boot a newer kernel, or install a "
				 "newer level",
				 json_text(livepatch, "level"), until);
	json_object_object_get_ex(livepatch, "unfixed", &unfixed);
	if (json_object_is_type(unfixed, json_type_array) && json_object_array_length(unfixed)) {
		_free_ char *cves = json_joined(unfixed);

		return error_new(STATUS_REFUSED,
				 "level %s does not fix %s; boot a newer kernel, or install a "
				 "newer level",
				 json_text(livepatch, "level"), cves);
	}
	return NULL;
}

/* ---- all ----------------------------------------------------------------------- */

/* Add the names of the patches that are installed for the running kernel. */
static struct error *installed_patches(const char *release, json_object *ret)
{
	char **paths = NULL;
	size_t count = 0;

	TRY(installed_for(release, &paths, &count));
	for (size_t i = 0; i < count; i++) {
		_free_ char *patch = name_of(paths[i]);

		json_object_array_add(ret, json_object_new_string(patch));
	}
	strings_free(paths);
	return NULL;
}

/*
 * The tasks that block a switch and since when, and other users of functions that the patch keeps
 * from running.
 */
static void print_troubles(struct buffer *out, json_object *patch)
{
	const char *name = json_text(patch, "name"), *since = json_text(patch, "blocked_since");
	json_object *list = NULL;

	if (since)
		buffer_printf(out, "%s: blocked since: %s\n", name, since);
	json_object_object_get_ex(patch, "blocked_by", &list);
	for (size_t i = 0; list && i < json_object_array_length(list); i++)
		buffer_printf(out, "%s: blocked by: %s\n", name,
			      json_object_get_string(json_object_array_get_idx(list, i)));
	json_object_object_get_ex(patch, "functions", &list);
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		json_object *function = json_object_array_get_idx(list, i);
		const char *mode = json_text(function, "mode");
		const char *shadows = mode ? strstr(mode, ",shadows:") : NULL;

		if (shadows)
			buffer_printf(out, "%s: without effect on %s: %s\n", name,
				      json_text(function, "name"), shadows + strlen(",shadows:"));
	}
}

static void print_status(struct buffer *out, json_object *status)
{
	const char *core = json_text(status, "core");
	json_object *patches = NULL, *installed = NULL, *livepatch = NULL;
	size_t i, count;

	buffer_printf(out, "core: %s\n", core ? core : "not loaded");
	if (json_object_object_get_ex(status, "livepatch", &livepatch) && livepatch)
		print_livepatch(out, livepatch);
	json_object_object_get_ex(status, "patches", &patches);
	json_object_object_get_ex(status, "installed", &installed);
	count = json_object_array_length(patches);
	for (i = 0; i < count; i++) {
		json_object *patch = json_object_array_get_idx(patches, i);

		buffer_printf(out, "%s: %s\n", json_text(patch, "name"), json_text(patch, "state"));
		print_troubles(out, patch);
	}
	count = json_object_array_length(installed);
	for (i = 0; i < count; i++)
		buffer_printf(out, "installed: %s\n",
			      json_object_get_string(json_object_array_get_idx(installed, i)));
}

struct error *cli_status(struct cli_call *call)
{
	_json_ json_object *status = json_object_new_object();
	json_object *patches = json_object_new_array();
	json_object *installed = json_object_new_array();
	json_object *livepatch = NULL;
	_json_ json_object *rows = NULL;
	_free_ char *core = sysfs_core_version(), *release = NULL;

	json_add_text(status, "core", core);
	json_object_object_add(status, "patches", patches);
	json_object_object_add(status, "installed", installed);
	if (!!cli_value(call, "json") + !!cli_value(call, "metrics") + !!cli_value(call, "vex") > 1)
		return error_new(STATUS_FAILED,
				 "--json, --metrics and --vex exclude each other: give one of them");
	TRY(running_release(&release));
	TRY(read_livepatch(release, &livepatch));
	if (livepatch)
		json_object_object_add(status, "livepatch", livepatch);
	TRY(sysfs_patches(&rows));
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		const char *name = json_text(json_object_array_get_idx(rows, i), "name");
		json_object *patch = NULL;
		struct error *error = sysfs_patch(name, &patch);

		if (!error)
			json_object_array_add(patches, patch);
		else if (sysfs_patch_exists(name))
			return error;
		else /* unloaded meanwhile */
			error_destroy(error);
	}
	TRY(installed_patches(release, installed));
	if (cli_value(call, "json"))
		json_print(&call->out, status);
	else if (cli_value(call, "metrics"))
		status_metrics(&call->out, status);
	else if (cli_value(call, "vex"))
		status_vex(&call->out, status, release);
	else
		print_status(&call->out, status);
	return livepatch ? judge_livepatch(livepatch) : NULL;
}
