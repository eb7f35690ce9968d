// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Joins a module and its debug information.  Distributions such as RHEL ship the module x.ko
 * without debug information, and x.ko.debug, in which code and data have no contents.  The
 * installed module lacks the names of files and most local symbols, and the debug file lacks the
 * code, so that neither tells what a unit became.  Both have the same sections: all that the debug
 * file lacks is taken from the module.
 */
#include "pokepatch-build/debug_apart.h"

#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "object/object.h"

static const char build_id_note[] = ".note.gnu.build-id";

struct join {
	struct object debug, module;
	struct map sections; /* struct section of the debug file, by name; the first of a name */
	struct map symbols;  /* struct symbol of the debug file, by symbol_key() */
	VEC(char *) keys;    /* of the map; owned */
};

/* What a symbol of a relocation has in common in both files, whose tables have other numbers. */
static char *symbol_key(const struct symbol *symbol)
{
	return xasprintf("%s%c%u:%s:%" PRIx64, symbol->name, '\n', symbol->special,
			 symbol->section ? symbol->section->name : "", symbol->value);
}

static struct error *not_of_one_build(const struct join *join, const char *what)
{
	_free_ char *line = one_line(xstrdup(what));

	return error_new(STATUS_FAILED,
			 "%s is not the debug information of %s: they differ in %s; give both from "
			 "one build of the kernel",
			 join->debug.path, join->module.path, line);
}

static void index_debug(struct join *join)
{
	struct object *debug = &join->debug;

	for (size_t i = 1; i < debug->sections.count; i++) {
		void **slot = map_slot(&join->sections, debug->sections.list[i]->name);

		*slot = *slot ?: debug->sections.list[i];
	}
	for (size_t i = 1; i < debug->symbols.count; i++) {
		char *key = *vec_push(&join->keys) = symbol_key(debug->symbols.list[i]);

		*map_slot(&join->symbols, key) = debug->symbols.list[i];
	}
}

static struct symbol *same_symbol(struct join *join, const struct symbol *symbol)
{
	struct section *section;

	if (symbol->type == STT_SECTION && symbol->section) {
		section = map_get(&join->sections, symbol->section->name);
		return section ? object_section_symbol(&join->debug, section) : NULL;
	}
	_free_ char *key = symbol_key(symbol);

	return map_get(&join->symbols, key);
}

static struct error *take_relocs(struct join *join, const struct section *from, struct section *to)
{
	vec_deinit(&to->relocs);
	vec_reserve(&to->relocs, from->relocs.count);
	for (size_t i = 0; i < from->relocs.count; i++) {
		struct reloc *reloc = vec_push(&to->relocs);

		*reloc = from->relocs.list[i];
		reloc->symbol = same_symbol(join, from->relocs.list[i].symbol);
		if (!reloc->symbol)
			return not_of_one_build(join, from->relocs.list[i].symbol->name);
	}
	return NULL;
}

static bool same_contents(const struct section *a, const struct section *b)
{
	return a->data && b->data && a->size == b->size && !memcmp(a->data, b->data, a->size);
}

/* Fill a section of the debug file, if it has no contents there and the module has them. */
static struct error *fill_section(struct join *join, const struct section *from)
{
	struct section *to = map_get(&join->sections, from->name);

	if (!to)
		return from->flags & SHF_ALLOC ? not_of_one_build(join, from->name) : NULL;
	if (!strcmp(from->name, build_id_note) && !same_contents(from, to))
		return not_of_one_build(join, "build id");
	if (to->type != SHT_NOBITS || !from->data || !(from->flags & SHF_ALLOC))
		return NULL;
	if (to->size != from->size || to->flags != from->flags)
		return not_of_one_build(join, from->name);
	to->type = from->type;
	to->data = from->data; /* in the mapping of the module, which lives until all is written */
	return take_relocs(join, from, to);
}

/*
 * elfutils' strip leaves .rela.text in the debug file as a section without contents.
 * object_write() makes the tables of relocations, so mark it as one, or there would be two of that
 * name.
 */
static void drop_empty_relocations(struct object *debug)
{
	for (size_t i = 1; i < debug->sections.count; i++) {
		struct section *section = debug->sections.list[i];

		if (section->type == SHT_NOBITS && !(section->flags & SHF_ALLOC) &&
		    has_prefix(section->name, ".rel"))
			section->type = SHT_RELA;
	}
}

static struct error *join_files(struct join *join, const char *output)
{
	if (join->debug.arch != join->module.arch)
		return not_of_one_build(join, "machine");
	index_debug(join);
	if (!map_has(&join->sections, build_id_note) ||
	    !object_find_section(&join->module, build_id_note))
		return not_of_one_build(join, "build id");
	for (size_t i = 1; i < join->module.sections.count; i++)
		TRY(fill_section(join, join->module.sections.list[i]));
	drop_empty_relocations(&join->debug);
	return object_write(&join->debug, output);
}

struct error *debug_join(const char *debug, const char *module, const char *output)
{
	struct join join = {0};
	struct error *error = object_read(debug, &join.debug);

	if (!error)
		error = object_read(module, &join.module);
	if (!error)
		error = join_files(&join, output);
	object_deinit(&join.debug);
	object_deinit(&join.module);
	map_deinit(&join.sections);
	map_deinit(&join.symbols);
	for (size_t i = 0; i < join.keys.count; i++)
		free(join.keys.list[i]);
	vec_deinit(&join.keys);
	return error;
}

static bool lacks_code(Elf *elf)
{
	GElf_Shdr header;
	Elf_Scn *scn = NULL;

	while (elf && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_NOBITS &&
		    header.sh_flags & SHF_EXECINSTR && header.sh_size)
			return true;
	return false;
}

bool debug_is_apart(const char *path)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	elf_version(EV_CURRENT);
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	bool apart = lacks_code(elf);

	elf_end(elf);
	return apart;
}
