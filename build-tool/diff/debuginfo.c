// SPDX-License-Identifier: GPL-2.0-or-later
#include "debuginfo.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdwfl.h>

#include "util.h"

struct debuginfo {
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct map declarations; /* "file:line", by name */
	struct map inlined;	 /* struct debuginfo_names *, by name of the inlined function */
	VEC(struct debuginfo_names *) name_lists;
	VEC(char *) strings;
	bool walked;
};

static int no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			const char *file, const char *debuglink, GElf_Word crc, char **ret)
{
	/* Never search other places: what is asked about is in the object itself. */
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)debuglink, (void)crc;
	(void)ret;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

struct debuginfo *debuginfo_open(const char *path)
{
	struct debuginfo *debuginfo = xcalloc(1, sizeof(*debuginfo));

	debuginfo->dwfl = dwfl_begin(&callbacks);
	if (!debuginfo->dwfl)
		return debuginfo;
	debuginfo->module = dwfl_report_offline(debuginfo->dwfl, "object", path, -1);
	dwfl_report_end(debuginfo->dwfl, NULL, NULL);
	return debuginfo;
}

void debuginfo_close(struct debuginfo *debuginfo)
{
	if (!debuginfo)
		return;
	map_deinit(&debuginfo->declarations);
	map_deinit(&debuginfo->inlined);
	for (size_t i = 0; i < debuginfo->name_lists.count; i++) {
		vec_deinit(debuginfo->name_lists.list[i]);
		free(debuginfo->name_lists.list[i]);
	}
	vec_deinit(&debuginfo->name_lists);
	for (size_t i = 0; i < debuginfo->strings.count; i++)
		free(debuginfo->strings.list[i]);
	vec_deinit(&debuginfo->strings);
	if (debuginfo->dwfl)
		dwfl_end(debuginfo->dwfl);
	free(debuginfo);
}

/* Paths as the kernel's own: relative to the top of the tree. */
static const char *tree_path(const char *path, const char *top)
{
	size_t length = top ? strlen(top) : 0;

	if (length && !strncmp(path, top, length) && path[length] == '/')
		path += length + 1;
	return has_prefix(path, "./") ? path + 2 : path;
}

char *debuginfo_line(struct debuginfo *debuginfo, size_t section, uint64_t offset)
{
	GElf_Addr bias;
	GElf_Shdr header;
	Elf *elf = debuginfo->module ? dwfl_module_getelf(debuginfo->module, &bias) : NULL;
	Elf_Scn *scn = elf ? elf_getscn(elf, section) : NULL;

	/* dwfl gives each section of a relocatable object an address of its own. */
	if (!scn || !gelf_getshdr(scn, &header))
		return NULL;
	Dwfl_Line *line = dwfl_module_getsrc(debuginfo->module, header.sh_addr + bias + offset);
	if (!line)
		return NULL;
	int number;
	const char *file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
	if (!file || number <= 0)
		return NULL;
	return xasprintf("%s:%d", tree_path(file, dwfl_line_comp_dir(line)), number);
}

static void note_declaration(struct debuginfo *debuginfo, Dwarf_Die *die, const char *top)
{
	const char *name = dwarf_diename(die), *file = dwarf_decl_file(die);
	int line;

	/* A header's declaration is not where it can be changed. */
	if (dwarf_hasattr(die, DW_AT_declaration))
		return;
	if (!name || !file || dwarf_decl_line(die, &line) || map_has(&debuginfo->declarations, name))
		return;
	char *text = *vec_push(&debuginfo->strings) =
		xasprintf("%s:%d", tree_path(file, top), line);
	*map_slot(&debuginfo->declarations, name) = text;
}

static void note_inlined(struct debuginfo *debuginfo, const char *name, const char *into)
{
	void **slot = map_slot(&debuginfo->inlined, name);
	struct debuginfo_names *names = *slot;

	if (!names)
		*slot = *vec_push(&debuginfo->name_lists) = names = xcalloc(1, sizeof(*names));
	/* One function is walked at a time, so a second copy in it follows the first. */
	if (!names->count || strcmp(names->list[names->count - 1], into))
		*vec_push(names) = into;
}

static bool has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

/*
 * Functions, variables, the static variables inside functions, and what is
 * inlined into function, if the walk is inside of one.
 */
static void walk(struct debuginfo *debuginfo, Dwarf_Die *parent, const char *top,
		 const char *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Die die;
	const char *name;

	if (dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			note_declaration(debuginfo, &die, top);
			break;
		case DW_TAG_subprogram:
			note_declaration(debuginfo, &die, top);
			/* Through the abstract origin: a function that is also inlined has its
			 * name there. */
			name = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_name, &attribute));
			walk(debuginfo, &die, top, has_code(&die) ? name : NULL);
			break;
		case DW_TAG_inlined_subroutine:
			name = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_name, &attribute));
			if (name && function)
				note_inlined(debuginfo, name, function);
			walk(debuginfo, &die, top, function);
			break;
		case DW_TAG_lexical_block:
			walk(debuginfo, &die, top, function);
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

static void walk_all(struct debuginfo *debuginfo)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	if (debuginfo->walked || !debuginfo->module)
		return;
	debuginfo->walked = true;
	while ((unit = dwfl_module_nextcu(debuginfo->module, unit, &bias))) {
		Dwarf_Attribute attribute;

		walk(debuginfo, unit,
		     dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute)), NULL);
	}
}

/* "count.12", "foo.isra.0": the source has what stands before the dot. */
static char *source_name(const char *name)
{
	return xstrndup(name, strcspn(name, "."));
}

const char *debuginfo_declaration(struct debuginfo *debuginfo, const char *name)
{
	char *plain _free_ = source_name(name);

	walk_all(debuginfo);
	return map_get(&debuginfo->declarations, plain);
}

const struct debuginfo_names *debuginfo_inlined_into(struct debuginfo *debuginfo, const char *name)
{
	char *plain _free_ = source_name(name);

	walk_all(debuginfo);
	return map_get(&debuginfo->inlined, plain);
}
