// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pokepatch check: everything that a load of a patch's file would verify, without loading
 * anything.  What program, kernel and core would say is found out by reading: the file,
 * sysfs, kallsyms, ftrace's list of functions.
 */
#include <stdlib.h>
#include <string.h>

#include <libkmod.h>

#include "pokepatch/cli.h"
#include "pokepatch/load.h"
#include "pokepatch/patch_file.h"
#include "pokepatch/patch_sysfs.h"

#define SIGNED "~Module signature appended~\n" /* the end of a signed module */
#define VMLINUX "vmlinux"

/* One line for each reason; with any, the patch would not be loaded. */
struct findings {
	struct buffer text;
	enum exit_status status;
};

static void find(struct findings *findings, struct error *error)
{
	if (!error)
		return;
	buffer_printf(&findings->text, "%s%s", findings->text.length ? "\npokepatch: " : "",
		      error->text);
	if (findings->status == STATUS_DONE || error->status == STATUS_REFUSED)
		findings->status = error->status;
	error_destroy(error);
}

/* ---- may modules be loaded at all? ------------------------------------------------- */

static bool file_says(const char *path, const char *word)
{
	_free_ char *text = NULL;
	size_t length;
	struct error *error = file_read(path, &text, &length);
	bool said = !error && has_prefix(text, word);

	error_destroy(error);
	return said;
}

static struct error *check_allowed(const struct patch_file *file)
{
	_free_ char *enforced = sysfs_path("module/module/parameters/sig_enforce");
	_free_ char *bytes = NULL;
	size_t length;

	if (file_says("/proc/sys/kernel/modules_disabled", "1"))
		return error_new(STATUS_FAILED,
				 "loading modules is switched off until the next boot "
				 "(kernel.modules_disabled)");
	if (!file_says(enforced, "Y"))
		return NULL;
	TRY(file_read(file->path, &bytes, &length));
	if (length >= strlen(SIGNED) &&
	    memcmp(bytes + length - strlen(SIGNED), SIGNED, strlen(SIGNED)) == 0)
		return NULL;
	return error_new(STATUS_FAILED, "%s: this kernel takes only signed modules, and it is not",
			 file->path);
}

/* ---- the core ------------------------------------------------------------------------ */

static struct error *check_core_file(struct cli_call *call, const struct patch_file *file,
				     const char *release)
{
	_free_ char *modules = xasprintf("/lib/modules/%s", release);
	_free_ char *path = NULL;
	struct kmod_ctx *kmod = NULL;
	struct error *error;

	if (sysfs_core_loaded())
		return NULL;
	error = open_kmod(&kmod);
	if (!error)
		error = find_core(kmod, cli_value(call, "core"), file->path, modules, &path);
	if (!error)
		error = check_core(kmod, path, release);
	kmod_unref(kmod);
	return error;
}

/* ---- parents --------------------------------------------------------------------------- */

/* One that is not loaded is compared when it comes. */
static struct error *check_parent(const struct patch_file *file, const struct patch_object *object)
{
	_free_ char *loaded = NULL;

	if (strcmp(object->name, VMLINUX) == 0)
		return NULL;
	loaded = sysfs_module_build_id(object->name);
	if (!loaded || strcasecmp(loaded, object->build_id) == 0)
		return NULL;
	return error_new(
		STATUS_REFUSED,
		"%s: refused [wrong-kernel]: made for another build of module %s (build id "
		"%.12s..., loaded %.12s...)",
		file->path, object->name, object->build_id, loaded);
}

/* ---- symbols --------------------------------------------------------------------------- */

/* All symbols of one name in one parent, in the order of kallsyms. */
struct listed {
	VEC(uint64_t) addresses;
};

struct kallsyms {
	struct map names; /* "PARENT NAME" to struct listed: those that the patch knows */
	VEC(char *) keys;
	uint64_t text; /* _stext; 0: addresses are not shown to us */
};

static char *symbol_key(const char *parent, const char *name)
{
	return xasprintf("%s %s", parent, name);
}

static void kallsyms_deinit(struct kallsyms *kallsyms)
{
	for (size_t i = 0; i < kallsyms->keys.count; i++) {
		struct listed *listed = map_get(&kallsyms->names, kallsyms->keys.list[i]);

		vec_deinit(&listed->addresses);
		free(listed);
	}
	map_deinit(&kallsyms->names);
	for (size_t i = 0; i < kallsyms->keys.count; i++)
		free(kallsyms->keys.list[i]);
	vec_deinit(&kallsyms->keys);
}

static void want_symbol(struct kallsyms *kallsyms, const struct patch_symbol *symbol)
{
	char *key = symbol_key(symbol->parent, symbol->name);

	if (map_has(&kallsyms->names, key)) {
		free(key);
		return;
	}
	*vec_push(&kallsyms->keys) = key;
	*map_slot(&kallsyms->names, key) = xcalloc(1, sizeof(struct listed));
}

/* "ADDRESS TYPE NAME" or "ADDRESS TYPE NAME\t[MODULE]"; the line is changed. */
static void take_line(struct kallsyms *kallsyms, char *line)
{
	uint64_t address = strtoull(line, &line, 16);
	char *name = strlen(line) > 3 ? line + 3 : NULL;
	char *module = name ? strstr(name, "\t[") : NULL;
	_free_ char *key = NULL;
	struct listed *listed;

	if (!name)
		return;
	if (module) {
		*module = '\0';
		module += 2;
		module[strcspn(module, "]")] = '\0';
	} else if (strcmp(name, "_stext") == 0) {
		kallsyms->text = address;
	}
	key = symbol_key(module ? module : VMLINUX, name);
	listed = map_get(&kallsyms->names, key);
	if (listed)
		*vec_push(&listed->addresses) = address;
}

static struct error *read_kallsyms(const struct patch_file *file, struct kallsyms *ret)
{
	_free_ char *text = NULL;
	struct error *error;
	size_t length;
	char *rest, *line;

	*ret = (struct kallsyms){0};
	error = file_read("/proc/kallsyms", &text, &length);
	if (error)
		return error;
	for (size_t i = 0; i < file->symbols.count; i++)
		want_symbol(ret, &file->symbols.list[i]);
	rest = text;
	while ((line = strsep(&rest, "\n")))
		take_line(ret, line);
	return NULL;
}

static struct error *check_symbol(const struct patch_file *file, const struct kallsyms *kallsyms,
				  const struct patch_symbol *symbol)
{
	_free_ char *key = symbol_key(symbol->parent, symbol->name);
	const struct listed *listed = map_get(&kallsyms->names, key);
	bool vmlinux = strcmp(symbol->parent, VMLINUX) == 0;
	uint64_t address;

	/* pos 0: kallsyms does not list it. */
	if (!symbol->pos || (!vmlinux && !sysfs_module_loaded(symbol->parent)))
		return NULL;
	if (symbol->pos > listed->addresses.count)
		return error_new(STATUS_REFUSED,
				 "%s: refused [not-accepted]: %s has no symbol %s,%u", file->path,
				 symbol->parent, symbol->name, symbol->pos);
	address = listed->addresses.list[symbol->pos - 1];
	if (!vmlinux || symbol->absolute || !kallsyms->text ||
	    address == kallsyms->text + symbol->offset)
		return NULL;
	return error_new(STATUS_REFUSED,
			 "%s: refused [not-accepted]: %s,%u is not where the patch says: it is at "
			 "_stext+0x%llx, not at _stext+0x%llx",
			 file->path, symbol->name, symbol->pos,
			 (unsigned long long)(address - kallsyms->text),
			 (unsigned long long)symbol->offset);
}

static struct error *check_symbols(const struct patch_file *file, struct findings *findings,
				   bool *ret_addresses)
{
	struct kallsyms kallsyms;

	TRY(read_kallsyms(file, &kallsyms));
	for (size_t i = 0; i < file->symbols.count; i++)
		find(findings, check_symbol(file, &kallsyms, &file->symbols.list[i]));
	*ret_addresses = kallsyms.text;
	kallsyms_deinit(&kallsyms);
	return NULL;
}

/* ---- entries --------------------------------------------------------------------------- */

/* "NAME" or "NAME [MODULE]", one a line.  Not readable: there is nothing to compare with. */
static bool read_traceable(struct map *ret, char **ret_text)
{
	_free_ char *path = sysfs_path("kernel/tracing/available_filter_functions");
	size_t length;
	struct error *error = file_read(path, ret_text, &length);
	char *rest, *line;

	if (error) {
		error_destroy(error);
		*ret_text = NULL;
		return false;
	}
	rest = *ret_text;
	while ((line = strsep(&rest, "\n"))) {
		line[strcspn(line, " ")] = '\0';
		map_slot(ret, line);
	}
	return true;
}

static void check_entries(const struct patch_file *file, struct findings *findings)
{
	_free_ char *text = NULL;
	struct map names = {0};

	if (!read_traceable(&names, &text)) {
		map_deinit(&names);
		return;
	}
	for (size_t i = 0; i < file->functions.count; i++) {
		const struct patch_function *function = &file->functions.list[i];

		if (strcmp(function->mode, "carried") == 0 || map_has(&names, function->name) ||
		    (strcmp(function->parent, VMLINUX) != 0 &&
		     !sysfs_module_loaded(function->parent)))
			continue;
		find(findings,
		     error_new(STATUS_REFUSED,
			       "%s: refused [not-accepted]: %s has no ftrace site, it cannot be "
			       "switched",
			       file->path, function->name));
	}
	map_deinit(&names);
}

/* ---- the command ------------------------------------------------------------------------- */

static struct error *check_loaded(const struct patch_file *file)
{
	if (!sysfs_patch_exists(file->name))
		return NULL;
	TRY(check_same_build(file));
	if (!sysfs_patch_enabled(file->name))
		return NULL;
	return error_new(STATUS_NOTHING, "patch '%s' is loaded and enabled already", file->name);
}

static struct error *check_file(struct cli_call *call, const struct patch_file *file)
{
	struct findings findings = {0};
	_free_ char *release = NULL;
	bool addresses = false;
	struct error *error;

	TRY(running_release(&release));
	/* For another kernel nothing else is worth a word. */
	TRY(patch_file_check_kernel(file, release));
	TRY(check_loaded(file));
	find(&findings, check_allowed(file));
	find(&findings, check_core_file(call, file, release));
	for (size_t i = 0; i < file->objects.count; i++)
		find(&findings, check_parent(file, &file->objects.list[i]));
	find(&findings, check_symbols(file, &findings, &addresses));
	/* A symbol that is not there has no entry either. */
	if (findings.status == STATUS_DONE)
		check_entries(file, &findings);
	if (findings.status == STATUS_DONE)
		buffer_printf(&call->out, "%s: can be loaded: %zu functions, %zu symbols%s\n",
			      file->path, file->functions.count, file->symbols.count,
			      addresses ? ""
					: " (only their names were compared: root sees addresses)");
	error = findings.status == STATUS_DONE
			? NULL
			: error_new(findings.status, "%s", findings.text.text);
	buffer_deinit(&findings.text);
	return error;
}

struct error *cli_check(struct cli_call *call)
{
	struct patch_file file;
	struct error *error;

	TRY(patch_file_read(call->arguments[0], &file));
	error = check_file(call, &file);
	patch_file_deinit(&file);
	return error;
}
