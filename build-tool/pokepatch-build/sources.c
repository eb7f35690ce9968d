// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The index of units: which source files are units, and which are compiled as part of another.
 * vmlinux's DWARF has a compilation unit for each of its sources.  An index of the tree's
 * #include "x.c" lines has the others: kernel/sched/rt.c is compiled in build_policy.c, and
 * fs/binfmt_elf.c by itself and in compat_binfmt_elf.c.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pokepatch-build/dwarf_units.h"
#include "common/proc.h"
#include "pokepatch-build/shadow_tree.h"
#include "pokepatch-build/tree.h"

/* ---- #include "x.c" --------------------------------------------------------- */

/* Add a line for an #include in from, if its file is beside from or at the tree's top. */
static void add_include(const char *tree, const char *from, const char *spelled,
			struct buffer *text)
{
	const char *slash = strrchr(from, '/');
	int folder = slash ? (int)(slash - from + 1) : 0;
	_free_ char *beside = xasprintf("%.*s%s", folder, from, spelled);
	const char *labels[] = {beside, spelled};

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		_free_ char *path = path_normalise(labels[i]);
		_free_ char *full = path ? xasprintf("%s/%s", tree, path) : NULL;

		if (full && file_exists(full)) {
			buffer_printf(text, "%s\t%s\t%s\n", from, labels[i], path);
			return;
		}
	}
}

/* The name in a line `#include "NAME.c"` whose ".c" is at dot; NULL if it is another line. */
static char *included_name(const char *text, const char *dot)
{
	char close = dot[2];
	const char *start = dot, *p;

	while (start > text && start[-1] != '\n' && start[-1] != '"' && start[-1] != '<')
		start--;
	if (start == text || start[-1] != (close == '"' ? '"' : '<'))
		return NULL;
	for (p = start - 1; p > text && (p[-1] == ' ' || p[-1] == '\t'); p--)
		;
	if ((size_t)(p - text) < strlen("#include") || memcmp(p - 7, "include", 7))
		return NULL;
	for (p -= 7; p > text && (p[-1] == ' ' || p[-1] == '\t'); p--)
		;
	if (p == text || p[-1] != '#')
		return NULL;
	return xstrndup(start, (size_t)(dot + 2 - start));
}

static struct error *scan_includes(const char *tree, const char *full, const char *from,
				   struct buffer *index)
{
	_free_ char *text = NULL;
	size_t length;
	const char *p;

	TRY(file_read(full, &text, &length));
	for (p = text; (p = memmem(p, length - (size_t)(p - text), ".c", 2)); p += 2) {
		_free_ char *name = NULL;

		if (p[2] != '"' && p[2] != '>')
			continue;
		name = included_name(text, p);
		if (name)
			add_include(tree, from, name, index);
	}
	return NULL;
}

static int compare_entries(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

struct error *source_index_write(const char *tree)
{
	_free_ char *path = xasprintf("%s/.pokepatch/includes", tree);
	char *roots[] = {(char *)tree, NULL};
	size_t skip = strlen(tree) + 1;
	struct error *error = NULL;
	struct buffer index = {};
	FTSENT *entry;
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, compare_entries);

	if (!walk)
		return error_errno("cannot read %s", tree);
	while (!error && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_D || entry->fts_info == FTS_DP)
			continue;
		if (has_suffix(entry->fts_name, ".c") || has_suffix(entry->fts_name, ".h"))
			error = scan_includes(tree, entry->fts_path, entry->fts_path + skip,
					      &index);
		if (!error)
			error = proc_check_interrupted();
	}
	fts_close(walk);
	if (!error)
		error = file_write(path, index.text ? index.text : "", index.length);
	buffer_deinit(&index);
	return error;
}

/* ---- vmlinux's units -------------------------------------------------------- */

/* The unit's name, relative to the folder in which the kernel was built if it is below that. */
static const char *unit_name(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	Dwarf_Attribute attribute;
	const char *folder;

	if (!name || *name != '/')
		return name && has_prefix(name, "./") ? name + 2 : name;
	folder = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));
	if (folder && has_prefix(name, folder) && name[strlen(folder)] == '/')
		return name + strlen(folder) + 1;
	return name;
}

/*
 * The length of the source folder in a unit's name, or 0.  A kernel built with make O= has its
 * source elsewhere, and its units' names begin with that folder.  Every kernel has init/main.c, so
 * its name shows the folder.
 */
static size_t source_prefix(const char *name)
{
	static const char in_every_kernel[] = "/init/main.c";

	return has_suffix(name, in_every_kernel) ? strlen(name) - strlen(in_every_kernel) + 1 : 0;
}

/* Remove the prefix from the lines that begin with it. */
static void strip_prefix(struct buffer *lines, const char *prefix, size_t length)
{
	struct buffer stripped = {};

	for (const char *line = lines->text, *end; (end = strchr(line, '\n')); line = end + 1) {
		size_t skip = strncmp(line, prefix, length) ? 0 : length;

		buffer_add(&stripped, line + skip, (size_t)(end + 1 - line) - skip);
	}
	buffer_deinit(lines);
	*lines = stripped;
}

static struct error *list_units(const void *context, struct buffer *ret)
{
	const char *vmlinux = context;
	_free_ char *prefix = NULL;
	struct dwarf_units units;
	Dwarf_Die die;

	TRY(dwarf_units_open(vmlinux, &units));
	while (dwarf_units_next(&units, &die)) {
		const char *name = unit_name(&die);

		if (name)
			buffer_printf(ret, "%s\n", name);
		if (name && !prefix && source_prefix(name))
			prefix = xstrndup(name, source_prefix(name));
	}
	dwarf_units_close(&units);
	if (prefix && ret->length)
		strip_prefix(ret, prefix, strlen(prefix));
	if (!ret->length)
		return error_new(STATUS_FAILED,
				 "%s: no compilation units in its DWARF; was it stripped?",
				 vmlinux);
	return NULL;
}

static struct error *load_units(struct build *build, struct source_index *index)
{
	_free_ char *name = xasprintf("units-%s", build->vmlinux_build_id);

	TRY(tree_text_load(build->tree, name, "", list_units, build->files.vmlinux,
			   &index->unit_text));
	for (char *line = index->unit_text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		map_slot(&index->units, line);
		if (strstr(line, "../"))
			*vec_push(&index->upward) = line;
	}
	return NULL;
}

/* ---- loading ---------------------------------------------------------------- */

static void index_include(struct source_index *index, const char *from, const char *label,
			  const char *path)
{
	struct include_list *list = map_get(&index->included, path);
	struct include *include;

	if (!list) {
		list = xcalloc(1, sizeof(*list));
		*vec_push(&index->lists) = list;
	}
	include = vec_push(&list->list);
	include->from = xstrdup(from);
	include->label = xstrdup(label);
	include->path = xstrdup(path);
	if (list->list.count == 1)
		*map_slot(&index->included, include->path) = list;
}

static struct error *load_includes(struct build *build, struct source_index *index)
{
	_free_ char *path = xasprintf("%s/.pokepatch/includes", build->tree);
	_free_ char *text = NULL;
	size_t length;

	TRY(file_read(path, &text, &length));
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		char *label = strchr(line, '\t');
		char *target = label ? strchr(label + 1, '\t') : NULL;

		*end = '\0';
		if (!target || target > end)
			return error_new(STATUS_FAILED, "%s is damaged; remove the folder %s", path,
					 build->tree);
		*label++ = '\0';
		*target++ = '\0';
		index_include(index, line, label, target);
	}
	return NULL;
}

struct error *source_index_load(struct build *build, struct source_index *ret)
{
	struct error *error;

	*ret = (struct source_index){};
	error = load_units(build, ret);
	if (!error)
		error = load_includes(build, ret);
	if (error)
		source_index_deinit(ret);
	return error;
}

void source_index_deinit(struct source_index *index)
{
	for (size_t i = 0; i < index->lists.count; i++) {
		struct include_list *list = index->lists.list[i];

		for (size_t j = 0; j < list->list.count; j++) {
			free(list->list.list[j].from);
			free(list->list.list[j].label);
			free(list->list.list[j].path);
		}
		vec_deinit(&list->list);
		free(list);
	}
	vec_deinit(&index->lists);
	map_deinit(&index->included);
	map_deinit(&index->units);
	vec_deinit(&index->upward);
	free(index->unit_text);
	*index = (struct source_index){};
}
