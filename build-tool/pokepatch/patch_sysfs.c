// SPDX-License-Identifier: GPL-2.0-or-later
/* The core module's folder in sysfs; see patch_sysfs.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/args.h"
#include "common/build_id.h"
#include "common/proc.h"
#include "pokepatch/patch_sysfs.h"
#include "pokepatch/table.h"

#define SETTLE_POLL_US 2000

char *sysfs_path(const char *format, ...)
{
	const char *root = getenv("POKEPATCH_SYSFS");
	va_list arguments;

	va_start(arguments, format);
	_free_ char *name = xvasprintf(format, arguments);
	va_end(arguments);
	return xasprintf("%s/%s", root && root[0] ? root : "/sys", name);
}

/* An attribute's text without the newline at its end, owned by the caller; or NULL. */
char *sysfs_read(const char *path)
{
	struct error *error;
	size_t length;
	char *text;

	error = file_read(path, &text, &length);
	if (error) {
		error_destroy(error);
		return NULL;
	}
	while (length && text[length - 1] == '\n')
		text[--length] = '\0';
	return text;
}

bool sysfs_core_loaded(void)
{
	_free_ char *path = sysfs_path("kernel/pokepatch");

	return file_exists(path);
}

char *sysfs_core_version(void)
{
	_free_ char *path = sysfs_path("kernel/pokepatch/version");

	return sysfs_read(path);
}

struct error *sysfs_running_build_id(char **ret)
{
	_free_ char *path = sysfs_path("kernel/notes"); /* the kernel's section .notes */
	_free_ char *notes = NULL;
	size_t length;

	TRY(error_prefix(file_read(path, &notes, &length),
			 "cannot tell the running kernel's build id"));
	*ret = build_id_in_notes(notes, length);
	return *ret ? NULL
		    : error_new(STATUS_FAILED, "'%s' has no build id of the running kernel", path);
}

char *sysfs_module_build_id(const char *module)
{
	_free_ char *path = sysfs_path("module/%s/notes/.note.gnu.build-id", module);
	_free_ char *notes = NULL;
	size_t length;
	struct error *error = file_read(path, &notes, &length);

	if (error) {
		error_destroy(error);
		return NULL;
	}
	return build_id_in_notes(notes, length);
}

bool sysfs_module_loaded(const char *module)
{
	/* Code that is built in may have a folder too, but it has no such file. */
	_free_ char *path = sysfs_path("module/%s/initstate", module);

	return file_exists(path);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool sysfs_patch_exists(const char *name)
{
	_free_ char *path = sysfs_path("kernel/pokepatch/%s", name);

	return name[0] && name[0] != '.' && !strchr(name, '/') && is_folder(path);
}

struct error *sysfs_find_patch(const char *name, char **ret)
{
	_free_ char *plain = underscored(name);

	if (!sysfs_core_loaded())
		return error_new(STATUS_FAILED,
				 "no patch '%s': the core module is not loaded, so no patch is",
				 name);
	if (!sysfs_patch_exists(plain))
		return error_new(STATUS_FAILED,
				 "no patch '%s' is loaded; 'pokepatch list' shows those that are",
				 name);
	*ret = take_pointer(plain);
	return NULL;
}

static char *patch_attribute(const char *name, const char *attribute)
{
	_free_ char *path = sysfs_path("kernel/pokepatch/%s/%s", name, attribute);

	return sysfs_read(path);
}

bool sysfs_patch_enabled(const char *name)
{
	_free_ char *text = patch_attribute(name, "enabled");

	return text && strcmp(text, "1") == 0;
}

char *sysfs_patch_state(const char *name)
{
	return patch_attribute(name, "state");
}

unsigned int sysfs_patch_level(const char *name)
{
	_free_ char *text = patch_attribute(name, "level");

	return text ? (unsigned int)strtoul(text, NULL, 10) : 0;
}

/* ---- switching ------------------------------------------------------------- */

/* The tasks of blocked_by, each behind a newline, or else why they are unknown. */
static void add_blockers(struct buffer *lines, const char *name)
{
	_free_ char *path = sysfs_path("kernel/pokepatch/%s/blocked_by", name);
	_free_ char *tasks = NULL;
	size_t length;
	struct error *error = file_read(path, &tasks, &length);

	if (error)
		buffer_printf(lines, " %s (it takes CAP_SYS_ADMIN)", error->text);
	error_destroy(error);
	for (const char *line = tasks; line && *line;
	     line += strcspn(line, "\n"), line += *line == '\n')
		buffer_printf(lines, "\n  %.*s", (int)strcspn(line, "\n"), line);
}

static struct error *blocked_error(const char *name, bool on)
{
	_free_ char *timeout = patch_attribute(name, "timeout_ms");
	_free_ char *retry = patch_attribute(name, "retry_ms");
	_free_ char *again = NULL;
	struct buffer lines = {0};
	struct error *error;

	add_blockers(&lines, name);
	if (sysfs_patch_retries(name))
		again = xasprintf("The core tries again after %s ms, until it succeeds.", retry);
	if (lines.length)
		error = error_new(STATUS_REFUSED,
				  "patch '%s': refused [blocked]: not switched %s within %s ms, "
				  "because tasks are in functions that would change under them; "
				  "nothing was changed.  %s  In the way (PID COMMAND FUNCTION):%s",
				  name, on ? "on" : "off", timeout ? timeout : "?",
				  again ? again
					: "Try again, give it longer with --timeout MS, or have "
					  "the tasks leave with --evict.",
				  lines.text);
	else
		error = error_new(STATUS_REFUSED,
				  "patch '%s': refused [blocked]: not switched %s, because another "
				  "user holds one of its functions, or a patch that it replaces, or "
				  "a processor is offline, or the machine would be stopped for too "
				  "long; the kernel log (dmesg) says which.%s%s",
				  name, on ? "on" : "off", again ? "  " : "", again ? again : "");
	buffer_deinit(&lines);
	return error;
}

/* The errors of a write to a patch's enabled (core-module/DESIGN.md). */
static const struct {
	int number;
	enum exit_status status;
	const char *meaning;
} switch_errors[] = {
	{EIO, STATUS_REFUSED,
	 "refused [code-differs]: the code in memory is not what the patch was made for; the "
	 "kernel log (dmesg) names the function"},
	{EKEYREVOKED, STATUS_REFUSED,
	 "refused [revoked]: a patch that has been on since boot revokes its level; load a newer one"},
	{EPERM, STATUS_FAILED, "only root with CAP_SYS_MODULE may do this; try sudo"},
	{EACCES, STATUS_FAILED, "only root may do this; try sudo"},
	{EINTR, STATUS_FAILED, "interrupted"},
};

static struct error *switch_error(const char *name, bool on, int number)
{
	const char *way = on ? "on" : "off";

	if (number == EBUSY)
		return blocked_error(name, on);
	for (size_t i = 0; i < ARRAY_SIZE(switch_errors); i++) {
		if (switch_errors[i].number == number)
			return error_new(switch_errors[i].status,
					 "patch '%s' could not be switched %s: %s", name, way,
					 switch_errors[i].meaning);
	}
	return error_new(STATUS_FAILED,
			 "patch '%s' could not be switched %s: %s; look at the kernel log (dmesg)",
			 name, way, strerror(number));
}

/* A signal has ended the wait for a switch, but the core goes on with it. */
static struct error *left_error(const char *name, bool on)
{
	_free_ char *timeout = patch_attribute(name, "timeout_ms");
	_free_ char *end = sysfs_patch_retries(name)
				   ? xstrdup("it succeeds")
				   : xasprintf("its timeout of %s ms", timeout ? timeout : "?");

	return error_new(STATUS_FAILED,
			 "patch '%s': interrupted; the core goes on trying to switch it %s until "
			 "%s; to stop that: pokepatch %s %s",
			 name, on ? "on" : "off", end, on ? "disable" : "enable", name);
}

/* Write to a file; 0 or an errno. */
static int write_file(const char *path, const char *text, int flags)
{
	_close_ int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | flags);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return errno;
	return 0;
}

struct error *sysfs_write(const char *path, const char *text)
{
	errno = write_file(path, text, 0);
	return errno ? error_errno("cannot write '%s'", path) : NULL;
}

/* Write one attribute of a patch; 0 or an errno. */
static int write_attribute(const char *name, const char *attribute, const char *text, int flags)
{
	_free_ char *path = sysfs_path("kernel/pokepatch/%s/%s", name, attribute);

	return write_file(path, text, flags);
}

struct error *sysfs_check_time(const char *milliseconds)
{
	if (milliseconds[0] && !milliseconds[strspn(milliseconds, "0123456789")])
		return NULL;
	return error_new(STATUS_FAILED, "'%s' is not a number of milliseconds", milliseconds);
}

struct error *sysfs_set_time(const char *name, const char *attribute, const char *milliseconds)
{
	int number;

	TRY(sysfs_check_time(milliseconds));
	number = write_attribute(name, attribute, milliseconds, 0);
	if (number == EINVAL || number == ERANGE)
		return error_new(STATUS_FAILED, "the core does not accept a time of %s ms",
				 milliseconds);
	errno = number;
	return number ? error_errno("cannot set %s of patch '%s'", attribute, name) : NULL;
}

struct error *sysfs_set_evict(const char *name, int level)
{
	_free_ char *text = xasprintf("%d\n", level);
	int number = write_attribute(name, "evict", text, 0);

	errno = number;
	return number ? error_errno("cannot set evict of patch '%s'", name) : NULL;
}

static bool is_switching(const char *state)
{
	return !strcmp(state, "enabling") || !strcmp(state, "disabling");
}

bool sysfs_patch_pending(const char *name)
{
	_free_ char *state = patch_attribute(name, "state");

	return (state && is_switching(state)) || sysfs_patch_retries(name);
}

bool sysfs_patch_retries(const char *name)
{
	_free_ char *state = patch_attribute(name, "state");
	_free_ char *retry = patch_attribute(name, "retry_ms");

	return state && strcmp(state, "enabled") != 0 && strcmp(state, "disabled") != 0 && retry &&
	       strcmp(retry, "0") != 0;
}

struct error *sysfs_set_replace(const char *name, const char *names)
{
	_free_ char *line = xasprintf("%s\n", names);
	int number = write_attribute(name, "replace", line, 0);

	if (number == EINVAL)
		return error_new(STATUS_FAILED, "patch '%s' cannot replace itself", name);
	errno = number;
	return number ? error_errno("patch '%s' cannot be made to replace '%s'", name, names)
		      : NULL;
}

/* The error of a switch that is over; ECANCELED if another writer undid it at once. */
static int switch_errno(const char *name)
{
	_free_ char *text = patch_attribute(name, "error");
	int number = text ? atoi(text) : 0;

	return number > 0 ? number : ECANCELED;
}

/*
 * Wait until a switch is over: true; or until a signal comes: false.  The core's timeout bounds the
 * wait.
 */
static bool wait_settled(const char *name)
{
	for (;;) {
		_free_ char *state = patch_attribute(name, "state");

		if (!state || !is_switching(state))
			return true;
		if (proc_interrupted())
			return false;
		usleep(SETTLE_POLL_US);
	}
}

/*
 * With O_NONBLOCK the core switches from a worker.  A write that waits would have functions like
 * vfs_write() on its own stack, so the task that loads a patch of such a function would block it.
 * The attribute state says when the switch is over, error how it ended.  Only if another writer is
 * switching the patch at the moment, wait in the write.
 */
struct error *sysfs_switch(const char *name, bool on)
{
	const char *text = on ? "1\n" : "0\n";
	int number;

	TRY(proc_check_interrupted());
	number = write_attribute(name, "enabled", text, O_NONBLOCK);
	if (number == EBUSY) {
		number = write_attribute(name, "enabled", text, 0);
	} else if (!number) {
		if (!wait_settled(name))
			return left_error(name, on);
		if (sysfs_patch_enabled(name) != on)
			number = switch_errno(name);
	}
	return number ? switch_error(name, on, number) : NULL;
}

/* ---- reading --------------------------------------------------------------- */

/* The names of the folders in a folder, sorted; ends with NULL; for strings_free(). */
struct error *sysfs_folders(const char *path, char ***ret, size_t *ret_count)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort);
	VEC(char *) names = {0};

	if (count < 0)
		return error_errno("cannot read '%s'", path);
	for (int i = 0; i < count; i++) {
		_free_ char *inner = xasprintf("%s/%s", path, entries[i]->d_name);

		if (entries[i]->d_name[0] != '.' && is_folder(inner))
			*vec_push(&names) = xstrdup(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	*ret_count = names.count;
	vec_push(&names);
	*ret = names.list;
	return NULL;
}

static void add_attribute(json_object *object, const char *key, const char *folder, bool number)
{
	_free_ char *path = xasprintf("%s/%s", folder, key);
	_free_ char *text = sysfs_read(path);

	if (text && number)
		json_add_number(object, key, strtoll(text, NULL, 0));
	else
		json_add_text(object, key, text);
}

/* One function's folder, "NAME,POS". */
static json_object *read_function(const char *parent, const char *folder, const char *path)
{
	json_object *function = json_object_new_object();
	const char *comma = strrchr(folder, ',');
	_free_ char *name = xstrndup(folder, comma ? (size_t)(comma - folder) : strlen(folder));

	json_add_text(function, "name", name);
	json_add_text(function, "parent", parent);
	json_add_number(function, "pos", comma ? atoll(comma + 1) : 0);
	add_attribute(function, "mode", path, false);
	add_attribute(function, "old_addr", path, false);
	add_attribute(function, "new_addr", path, false);
	add_attribute(function, "old_size", path, true);
	add_attribute(function, "new_size", path, true);
	return function;
}

struct visit {
	struct error *(*function)(void *ctx, const char *parent, const char *folder,
				  const char *path);
	void *ctx;
};

/* Visit the folder of each function of a patch in one of its parents. */
static struct error *visit_parent(const char *patch, const char *parent, const struct visit *visit)
{
	_free_ char *folder = xasprintf("%s/%s", patch, parent);
	struct error *error;
	size_t count;
	char **functions;

	error = sysfs_folders(folder, &functions, &count);
	if (error)
		return error;
	for (size_t i = 0; i < count && !error; i++) {
		_free_ char *path = xasprintf("%s/%s", folder, functions[i]);

		error = visit->function(visit->ctx, parent, functions[i], path);
	}
	strings_free(functions);
	return error;
}

static struct error *visit_functions(const char *patch, const struct visit *visit)
{
	struct error *error;
	size_t count;
	char **parents;

	error = sysfs_folders(patch, &parents, &count);
	if (error)
		return error;
	for (size_t i = 0; i < count && !error; i++)
		error = visit_parent(patch, parents[i], visit);
	strings_free(parents);
	return error;
}

static struct error *add_function(void *ctx, const char *parent, const char *folder,
				  const char *path)
{
	json_object_array_add(ctx, read_function(parent, folder, path));
	return NULL;
}

static struct error *read_functions(const char *patch, json_object *ret)
{
	return visit_functions(patch, &(struct visit){add_function, ret});
}

static struct error *set_function_mode(void *ctx, const char *parent, const char *folder,
				       const char *path)
{
	const char *mode = ctx;
	_free_ char *file = xasprintf("%s/mode", path);
	int number = write_file(file, mode, 0);

	(void)parent;
	if (number == EINVAL)
		return error_new(STATUS_FAILED, "the core has no mode '%s'", mode);
	errno = number;
	return number ? error_errno("cannot set the mode of '%s'", folder) : NULL;
}

struct error *sysfs_set_mode(const char *name, const char *mode)
{
	_free_ char *path = sysfs_path("kernel/pokepatch/%s", name);

	return visit_functions(path, &(struct visit){set_function_mode, (void *)mode});
}

static json_object *read_blockers(const char *name)
{
	_free_ char *text = patch_attribute(name, "blocked_by");
	json_object *lines = json_object_new_array();

	for (const char *line = text; line && *line;
	     line += strcspn(line, "\n"), line += *line == '\n')
		json_object_array_add(lines, json_object_new_string_len(line, strcspn(line, "\n")));
	return lines;
}

/*
 * Since when and for how many seconds tasks have been in the way of a switch; null: they are not,
 * or the core is of a version that does not tell.  The core counts from the boot.
 */
static void add_blocked(json_object *patch, const char *name)
{
	_free_ char *text = patch_attribute(name, "blocked_since");
	const long long since = text ? strtoll(text, NULL, 10) : 0;
	struct timespec now;
	time_t when;
	struct tm utc;
	char date[64];

	json_object_object_add(patch, "blocked_since", NULL);
	json_object_object_add(patch, "blocked_seconds", NULL);
	if (since <= 0)
		return;
	clock_gettime(CLOCK_BOOTTIME, &now);
	when = time(NULL) - (time_t)(now.tv_sec - since);
	gmtime_r(&when, &utc);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
	json_add_text(patch, "blocked_since", date);
	json_add_number(patch, "blocked_seconds", now.tv_sec - since);
}

struct error *sysfs_patch(const char *name, json_object **ret)
{
	_free_ char *folder = sysfs_path("kernel/pokepatch/%s", name);
	json_object *patch = json_object_new_object();
	json_object *functions = json_object_new_array();
	struct error *error;

	json_add_text(patch, "name", name);
	json_object_object_add(patch, "enabled",
			       json_object_new_boolean(sysfs_patch_enabled(name)));
	add_attribute(patch, "state", folder, false);
	json_object_object_add(patch, "blocked_by", read_blockers(name));
	add_blocked(patch, name);
	add_attribute(patch, "timeout_ms", folder, true);
	add_attribute(patch, "stop_ns", folder, true);
	add_attribute(patch, "stack_order", folder, true);
	add_attribute(patch, "level", folder, true);
	add_attribute(patch, "build_id", folder, false);
	json_object_object_add(patch, "functions", functions);
	error = read_functions(folder, functions);
	if (error)
		json_object_put(patch);
	else
		*ret = patch;
	return error;
}

/* The modes of a patch's functions, each once, with commas between them; NULL: none.  Owned. */
static char *join_modes(json_object *functions)
{
	struct buffer text = {0};
	struct map seen = {0};

	for (size_t i = 0; i < json_object_array_length(functions); i++) {
		json_object *mode = NULL;
		const char *word;

		json_object_object_get_ex(json_object_array_get_idx(functions, i), "mode", &mode);
		word = mode ? json_object_get_string(mode) : NULL;
		if (!word || map_has(&seen, word))
			continue;
		map_slot(&seen, word);
		buffer_printf(&text, "%s%s", text.length ? "," : "", word);
	}
	map_deinit(&seen);
	return text.text;
}

static json_object *summary(json_object *patch)
{
	json_object *row = json_object_new_object();
	json_object *functions = NULL;
	_free_ char *modes = NULL;

	json_object_object_get_ex(patch, "functions", &functions);
	modes = join_modes(functions);
	for (const char *const *key = (const char *const[]){"name", "enabled", "state", NULL}; *key;
	     key++) {
		json_object *value = NULL;

		json_object_object_get_ex(patch, *key, &value);
		json_object_object_add(row, *key, json_object_get(value));
	}
	json_add_number(row, "functions", json_object_array_length(functions));
	json_add_text(row, "mode", modes);
	return row;
}

struct error *sysfs_patches(json_object **ret)
{
	_free_ char *folder = sysfs_path("kernel/pokepatch");
	json_object *rows = json_object_new_array();
	struct error *error = NULL;
	char **names = NULL;
	size_t count = 0;

	*ret = rows;
	if (!sysfs_core_loaded())
		return NULL;
	error = sysfs_folders(folder, &names, &count);
	for (size_t i = 0; !error && i < count; i++) {
		_json_ json_object *patch = NULL;

		error = sysfs_patch(names[i], &patch);
		if (!error) {
			json_object_array_add(rows, summary(patch));
		} else if (!sysfs_patch_exists(names[i])) { /* unloaded meanwhile */
			error_destroy(error);
			error = NULL;
		}
	}
	strings_free(names);
	if (error) {
		json_object_put(rows);
		*ret = NULL;
	}
	return error;
}

struct error *sysfs_other_levels(const char *name, bool on, struct args *ret)
{
	_free_ char *folder = sysfs_path("kernel/pokepatch");
	char **names = NULL;
	size_t count = 0;

	if (!sysfs_core_loaded())
		return NULL;
	TRY(sysfs_folders(folder, &names, &count));
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) && sysfs_patch_level(names[i]) &&
		    sysfs_patch_enabled(names[i]) == on &&
		    (on || sysfs_patch_pending(names[i])))
			args_add(ret, names[i]);
	strings_free(names);
	return NULL;
}
