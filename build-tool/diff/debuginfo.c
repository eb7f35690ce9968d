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

	if (!name || !file || dwarf_decl_line(die, &line) || map_has(&debuginfo->declarations, name))
		return;
	char *text = *vec_push(&debuginfo->strings) =
		xasprintf("%s:%d", tree_path(file, top), line);
	*map_slot(&debuginfo->declarations, name) = text;
}

/* Functions, variables, and the static variables inside functions. */
static void walk(struct debuginfo *debuginfo, Dwarf_Die *parent, const char *top)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			note_declaration(debuginfo, &die, top);
			break;
		case DW_TAG_subprogram:
			note_declaration(debuginfo, &die, top);
			walk(debuginfo, &die, top);
			break;
		case DW_TAG_lexical_block:
			walk(debuginfo, &die, top);
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

const char *debuginfo_declaration(struct debuginfo *debuginfo, const char *name)
{
	/* "count.12", "foo.isra.0": the source has what stands before the dot */
	char *plain _free_ = xstrndup(name, strcspn(name, "."));

	if (!debuginfo->walked && debuginfo->module) {
		Dwarf_Die *unit = NULL;
		Dwarf_Addr bias;

		while ((unit = dwfl_module_nextcu(debuginfo->module, unit, &bias))) {
			Dwarf_Attribute attribute;
			const char *top =
				dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));

			walk(debuginfo, unit, top);
		}
		debuginfo->walked = true;
	}
	return map_get(&debuginfo->declarations, plain);
}
