// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the stock kernel's units in the folders of the self-check. */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include "selfcheck.h"

const char *const inventory_central[] = {"fs/", "mm/", "kernel/", "net/core/", "net/ipv4/", NULL};

static bool is_ours(const char *const *folders, const char *source)
{
	if (!has_suffix(source, ".c") || has_suffix(source, ".mod.c"))
		return false;
	for (size_t i = 0; folders && folders[i]; i++)
		if (has_prefix(source, folders[i]))
			return true;
	return !folders && *source != '/' && *source != '.';
}

/* Debian builds in a folder below the source: names are absolute, or begin with "../". */
static const char *tree_name(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	Dwarf_Attribute attribute;
	const char *folder = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));

	if (!name)
		return NULL;
	if (folder && has_prefix(name, folder) && name[strlen(folder)] == '/')
		name += strlen(folder) + 1;
	return has_prefix(name, "./") ? name + 2 : name;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* Through libdwfl: the strings of a .ko are only found by its relocations. */
static struct error *add_units(struct inventory *inventory, const char *const *folders,
			       const char *path, const char *module)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *file = dwfl ? dwfl_report_offline(dwfl, "", path, -1) : NULL;
	Dwarf_Addr bias;
	Dwarf_Die *die = NULL;

	if (!file) {
		dwfl_end(dwfl);
		return error_new(STATUS_FAILED, "%s: %s", path, dwfl_errmsg(-1));
	}
	while ((die = dwfl_module_nextcu(file, die, &bias))) {
		const char *name = tree_name(die);

		if (name && is_ours(folders, name))
			*vec_push(&inventory->list) = (struct target){
				.source = xstrdup(name),
				.module = module ? xstrdup(module) : NULL,
				.module_path = module ? xstrdup(path) : NULL,
			};
	}
	dwfl_end(dwfl);
	return NULL;
}

static struct error *add_modules(struct inventory *inventory, const char *const *folders,
				 const char *folder)
{
	char *roots[] = {(char *)folder, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	struct error *error = NULL;
	FTSENT *entry;

	if (!walk)
		return error_errno("cannot read %s", folder);
	while (!error && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_D || entry->fts_info == FTS_DP ||
		    !has_suffix(entry->fts_name, ".ko"))
			continue;
		_free_ char *name = xstrndup(entry->fts_name, strlen(entry->fts_name) - 3);
		for (char *p = name; *p; p++)
			if (*p == '-')
				*p = '_';
		error = add_units(inventory, folders, entry->fts_path, name);
	}
	fts_close(walk);
	return error;
}

static int by_source(const void *left, const void *right)
{
	const struct target *a = left, *b = right;

	return strcmp(a->source, b->source) ?: !a->module - !b->module;
}

static void target_deinit(struct target *target)
{
	free(target->source);
	free(target->module);
	free(target->module_path);
}

void inventory_deinit(struct inventory *inventory)
{
	for (size_t i = 0; i < inventory->list.count; i++)
		target_deinit(&inventory->list.list[i]);
	vec_deinit(&inventory->list);
}

/* A unit that is linked into two modules is one unit. */
static void sort_out(struct inventory *inventory)
{
	size_t kept = 0;

	if (!inventory->list.count)
		return;
	qsort(inventory->list.list, inventory->list.count, sizeof(*inventory->list.list),
	      by_source);
	for (size_t i = 1; i < inventory->list.count; i++) {
		if (strcmp(inventory->list.list[i].source, inventory->list.list[kept].source))
			inventory->list.list[++kept] = inventory->list.list[i];
		else
			target_deinit(&inventory->list.list[i]);
	}
	inventory->list.count = kept + 1;
}

static struct error *read_cached(const char *cached, struct inventory *ret)
{
	_free_ char *text = NULL;
	size_t length;

	TRY(file_read(cached, &text, &length));
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		char *module = strchr(line, '\t');
		char *path = module ? strchr(module + 1, '\t') : NULL;

		if (path)
			*module++ = *path++ = '\0';
		*vec_push(&ret->list) = (struct target){
			.source = xstrdup(line),
			.module = path ? xstrdup(module) : NULL,
			.module_path = path ? xstrdup(path) : NULL,
		};
	}
	return NULL;
}

struct error *inventory_read(struct build *build, const char *const *folders, const char *cached,
			     struct inventory *ret)
{
	struct buffer text = {};
	struct error *error;

	*ret = (struct inventory){};
	if (file_exists(cached))
		return read_cached(cached, ret);
	static const char *const all[] = {"", NULL};

	TRY(add_units(ret, folders, build->files.vmlinux, NULL));
	for (const char *const *folder = folders ?: all; *folder; folder++) {
		_free_ char *modules = xasprintf("%s/kernel/%s", build->files.modules_dbg, *folder);

		if (file_exists(modules))
			TRY(add_modules(ret, folders, modules));
	}
	sort_out(ret);
	for (size_t i = 0; i < ret->list.count; i++) {
		const struct target *target = &ret->list.list[i];

		buffer_add_string(&text, target->source);
		if (target->module)
			buffer_printf(&text, "\t%s\t%s", target->module, target->module_path);
		buffer_add_string(&text, "\n");
	}
	error = file_write(cached, text.text ?: "", text.length);
	buffer_deinit(&text);
	return error;
}
