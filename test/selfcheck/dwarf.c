// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads an object's functions from its DWARF: definitions, copies and inlined copies. */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "selfcheck.h"

static int no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			const char *file, const char *debuglink, GElf_Word crc, char **ret)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)debuglink, (void)crc;
	(void)ret;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

struct walk {
	Dwfl_Module *module;
	const struct image *image;
	const char *top;
	struct functions *functions;
	struct map by_name; /* "file:line:name" to index + 1 */
	VEC(char *) keys;
	VEC(GElf_Addr) bases; /* of sections, as libdwfl placed them */
};

static const char *tree_path(const char *path, const char *top)
{
	size_t length = strlen(top);

	if (!strncmp(path, top, length) && path[length] == '/')
		path += length + 1;
	return has_prefix(path, "./") ? path + 2 : path;
}

/* The place of a definition: that of the origin of a copy.  SIZE_MAX: it has none. */
static size_t find_place(struct walk *walk, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin = *die;

	while (dwarf_hasattr(&origin, DW_AT_abstract_origin) ||
	       dwarf_hasattr(&origin, DW_AT_specification)) {
		if (!dwarf_attr(&origin, DW_AT_abstract_origin, &attribute))
			dwarf_attr(&origin, DW_AT_specification, &attribute);
		if (!dwarf_formref_die(&attribute, &origin))
			return SIZE_MAX;
	}
	const char *name = dwarf_diename(&origin), *file = dwarf_decl_file(&origin);
	int line;
	if (!name || !file || dwarf_decl_line(&origin, &line))
		return SIZE_MAX;
	file = tree_path(file, walk->top);
	char *key = *vec_push(&walk->keys) = xasprintf("%s:%d:%s", file, line, name);
	void **slot = map_slot(&walk->by_name, key);
	if (!*slot) {
		*vec_push(&walk->functions->places) =
			(struct place){.file = xstrdup(file), .line = line, .name = xstrdup(name)};
		*slot = (void *)(uintptr_t)walk->functions->places.count;
	}
	return (uintptr_t)*slot - 1;
}

/* The function symbol at a concrete subprogram's beginning. */
static const char *find_symbol(const struct walk *walk, Dwarf_Die *die)
{
	Dwarf_Addr start, end, base;
	ptrdiff_t offset = 0;

	/* The first range is the function's own, a second one its .cold part. */
	if (dwarf_lowpc(die, &start) && (offset = dwarf_ranges(die, 0, &base, &start, &end)) <= 0)
		return NULL;
	for (size_t i = 0; i < walk->image->symbols.count; i++) {
		const struct image_symbol *symbol = &walk->image->symbols.list[i];

		if (GELF_ST_TYPE(symbol->sym.st_info) == STT_FUNC && symbol->section &&
		    walk->bases.list[symbol->section] + symbol->sym.st_value == start &&
		    !image_is_cold(symbol->name))
			return symbol->name;
	}
	return NULL;
}

static void visit(struct walk *walk, Dwarf_Die *parent, const char *symbol)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram: {
			if (dwarf_hasattr(&die, DW_AT_declaration))
				break;
			size_t place = find_place(walk, &die);
			const char *own = find_symbol(walk, &die);

			if (own && place != SIZE_MAX)
				*vec_push(&walk->functions->copies) =
					(struct copy){.place = place, .symbol = own};
			visit(walk, &die, own);
			break;
		}
		case DW_TAG_inlined_subroutine: {
			size_t place = find_place(walk, &die);

			if (symbol && place != SIZE_MAX)
				*vec_push(&walk->functions->copies) = (struct copy){
					.place = place, .symbol = symbol, .inlined = true};
			visit(walk, &die, symbol);
			break;
		}
		case DW_TAG_lexical_block:
			visit(walk, &die, symbol);
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

static struct error *place_sections(struct walk *walk, const char *object)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(walk->module, &bias);

	if (!elf)
		return error_new(STATUS_FAILED, "%s: %s", object, dwfl_errmsg(-1));
	for (size_t i = 0; i < walk->image->sections.count; i++) {
		Elf_Scn *scn = elf_getscn(elf, i);
		GElf_Shdr header = {};

		if (scn)
			gelf_getshdr(scn, &header);
		*vec_push(&walk->bases) = header.sh_addr + bias;
	}
	return NULL;
}

struct error *functions_read(const char *object, const struct image *image, const char *top,
			     struct functions *ret)
{
	struct walk walk = {.image = image, .top = top, .functions = ret};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	struct error *error = NULL;
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	*ret = (struct functions){};
	walk.module = dwfl ? dwfl_report_offline(dwfl, "object", object, -1) : NULL;
	if (!walk.module)
		error = error_new(STATUS_FAILED, "%s: %s", object, dwfl_errmsg(-1));
	if (!error) {
		dwfl_report_end(dwfl, NULL, NULL);
		error = place_sections(&walk, object);
	}
	while (!error && (unit = dwfl_module_nextcu(walk.module, unit, &bias)))
		visit(&walk, unit, NULL);
	map_deinit(&walk.by_name);
	for (size_t i = 0; i < walk.keys.count; i++)
		free(walk.keys.list[i]);
	vec_deinit(&walk.keys);
	vec_deinit(&walk.bases);
	dwfl_end(dwfl);
	return error;
}

void functions_deinit(struct functions *functions)
{
	for (size_t i = 0; i < functions->places.count; i++) {
		free(functions->places.list[i].file);
		free(functions->places.list[i].name);
	}
	vec_deinit(&functions->places);
	vec_deinit(&functions->copies);
}
