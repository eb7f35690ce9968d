// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pokepatch check: verify all that a load of a patch's file would verify, without loading anything.
 * The checks of the program, the kernel and the core are repeated here with the file, sysfs,
 * kallsyms and ftrace's list of functions.
 */
#include <stdlib.h>
#include <string.h>

#include <libkmod.h>

#include "pokepatch/cli.h"
#include "pokepatch/find_modules.h"
#include "pokepatch/kernel_livepatch.h"
#include "pokepatch/load.h"
#include "pokepatch/patch_file.h"
#include "pokepatch/patch_sysfs.h"

#define SIGNED "~Module signature appended~\n" /* the end of a signed module */
#define VMLINUX "vmlinux"

/* The reasons for which the patch would not be loaded, a line for each. */
struct findings {
	struct buffer text;
	enum exit_status status;
};

/* Takes over @error, which may be NULL. */
static void findings_add(struct findings *findings, struct error *error)
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

/*
 * A locked-down kernel refuses unsigned modules, with and without module.sig_enforce.  It tells of
 * that in securityfs, which systemd mounts; where it is not mounted, only the load shows it.
 */
static bool only_signed(void)
{
	_free_ char *enforced = sysfs_path("module/module/parameters/sig_enforce");
	_free_ char *lockdown = sysfs_path("kernel/security/lockdown");

	return file_says(enforced, "Y") || file_says(lockdown, "none ");
}

static struct error *check_allowed(const struct patch_file *file)
{
	_free_ char *bytes = NULL;
	size_t length;

	if (file_says("/proc/sys/kernel/modules_disabled", "1"))
		return error_new(STATUS_FAILED,
				 "loading modules is switched off until the next boot "
				 "(kernel.modules_disabled)");
	if (!only_signed())
		return NULL;
	TRY(file_read(file->path, &bytes, &length));
	if (length >= strlen(SIGNED) &&
	    memcmp(bytes + length - strlen(SIGNED), SIGNED, strlen(SIGNED)) == 0)
		return NULL;
	return error_new(STATUS_FAILED,
			 "%s: this kernel accepts only signed modules, and this one is not signed",
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
	error = quiet_kmod_new(&kmod);
	if (!error)
		error = core_find(kmod, cli_value(call, "core"), file->path, modules, &path);
	if (!error)
		error = core_check(kmod, path, release);
	kmod_unref(kmod);
	return error;
}

/* ---- parents --------------------------------------------------------------------------- */

/* The core compares a parent that is not loaded when it is loaded. */
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

/* The addresses of all symbols of one name in one parent, in the order of kallsyms. */
struct listed {
	VEC(uint64_t) addresses;
};

struct kallsyms {
	struct map names; /* "PARENT NAME" to struct listed, for the symbols of the patch */
	VEC(char *) keys;
	uint64_t text; /* _stext; 0: the kernel hides addresses from us */
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

/* Parse "ADDRESS TYPE NAME" or "ADDRESS TYPE NAME\t[MODULE]", in place. */
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
		findings_add(findings, check_symbol(file, &kallsyms, &file->symbols.list[i]));
	*ret_addresses = kallsyms.text;
	kallsyms_deinit(&kallsyms);
	return NULL;
}

/* ---- entries --------------------------------------------------------------------------- */

/* The lines are "NAME" or "NAME [MODULE]".  Returns false if the file cannot be read. */
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

		if (strcmp(function->mode, "carried") == 0 || function->overwritten ||
		    map_has(&names, function->name) ||
		    (strcmp(function->parent, VMLINUX) != 0 &&
		     !sysfs_module_loaded(function->parent)))
			continue;
		findings_add(findings,
			     error_new(STATUS_REFUSED,
				       "%s: refused [not-accepted]: %s has no ftrace site, it "
				       "cannot be switched",
				       file->path, function->name));
	}
	map_deinit(&names);
}

/* ---- the command ------------------------------------------------------------------------- */

static struct error *check_loaded(const struct patch_file *file)
{
	if (!sysfs_patch_exists(file->name))
		return NULL;
	TRY(patch_check_loaded(file));
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
	/* A patch for another kernel needs no further check. */
	TRY(patch_file_check_kernel(file, release));
	TRY(check_loaded(file));
	findings_add(&findings, check_allowed(file));
	findings_add(&findings, check_core_file(call, file, release));
	for (size_t i = 0; i < file->objects.count; i++)
		findings_add(&findings, check_parent(file, &file->objects.list[i]));
	findings_add(&findings, check_symbols(file, &findings, &addresses));
	/* A missing symbol has no entry either: do not report it twice. */
	if (findings.status == STATUS_DONE)
		check_entries(file, &findings);
	if (findings.status == STATUS_DONE)
		buffer_printf(&call->out, "%s: can be loaded: %zu functions, %zu symbols%s\n",
			      file->path, file->functions.count, file->symbols.count,
			      addresses ? ""
					: " (only their names were compared: addresses need root)");
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
	error = livepatch_refuse_file(&file, "check");
	if (!error)
		error = check_file(call, &file);
	patch_file_deinit(&file);
	return error;
}
