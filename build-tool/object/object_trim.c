// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Making a module smaller by what nothing reads.  A linker leaves much of that in a relocatable
 * object: symbols that programs for debugging like to have, or that were needed to get there.
 */
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "object/object.h"

/* May the section go if nothing refers to it? */
static bool may_go(const struct section *section)
{
	static const struct {
		const char *name;
		bool even_full; /* or only if it is empty */
	} list[] = {
		{".comment", true},	   /* the compiler's name */
		{".note.GNU-stack", true}, /* for linkers of programs */
		{".data", false},
		{".bss", false},
		/* module_init() shows objtool here that its function is used. */
		{".init.data", true},
		{".exit.data", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		if (!strcmp(section->name, list[i].name))
			return list[i].even_full || !section->size;
	return false;
}

/* Does the loader read the section without symbols, as it is in the file? */
static bool is_read_by_offset(const struct section *section)
{
	return section->type == SHT_NOTE || !strcmp(section->name, ".modinfo") ||
	       !strcmp(section->name, "__versions");
}

/* Is this a local symbol that only a relocation could make use of?  kallsyms lists the others. */
static bool is_for_relocations(const struct symbol *symbol)
{
	if (symbol->bind != STB_LOCAL)
		return false;
	return symbol->type == STT_SECTION || symbol->type == STT_FILE ||
	       (symbol->section && is_read_by_offset(symbol->section));
}

/* What is referred to, by index in the file: sections and symbols. */
struct uses {
	bool *sections, *symbols;
};

static void find_used_sections(const struct object *object, struct uses *uses)
{
	for (size_t i = 1; i < object->sections.count; i++) {
		const struct section *section = object->sections.list[i];

		for (size_t j = 0; j < section->relocs.count; j++) {
			const struct section *to = section->relocs.list[j].symbol->section;

			if (to && to != section)
				uses->sections[to->index] = true;
		}
	}
	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];

		if (symbol->section && symbol->bind != STB_LOCAL)
			uses->sections[symbol->section->index] = true;
	}
}

static bool goes(const struct uses *uses, const struct section *section)
{
	return may_go(section) && !uses->sections[section->index];
}

static void find_used_symbols(const struct object *object, struct uses *uses)
{
	for (size_t i = 1; i < object->sections.count; i++) {
		const struct section *section = object->sections.list[i];

		if (goes(uses, section))
			continue;
		for (size_t j = 0; j < section->relocs.count; j++)
			uses->symbols[section->relocs.list[j].symbol->index] = true;
	}
}

static void drop_symbols(struct object *object, const struct uses *uses)
{
	for (size_t i = 1; i < object->symbols.count; i++) {
		struct symbol *symbol = object->symbols.list[i];
		bool placeless = symbol->section && goes(uses, symbol->section);

		if (!placeless && (uses->symbols[i] || !is_for_relocations(symbol)))
			continue;
		if (symbol->section && symbol->section->symbol == symbol)
			symbol->section->symbol = NULL;
		free(symbol);
		object->symbols.list[i] = NULL;
	}
}

void object_trim(struct object *object)
{
	struct uses uses = {
		.sections = xcalloc(object->sections.count, sizeof(bool)),
		.symbols = xcalloc(object->symbols.count, sizeof(bool)),
	};

	find_used_sections(object, &uses);
	find_used_symbols(object, &uses);
	drop_symbols(object, &uses);
	for (size_t i = 1; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];

		if (!goes(&uses, section))
			continue;
		object->sections.list[i] = NULL;
		section_destroy(section);
	}
	free(uses.sections);
	free(uses.symbols);
}
