// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The proof of a module for the kernel's livepatch core.  It was made of a module of pokepatch's
 * own format, which proof_check() has accepted.  Both are compared here, section by section, symbol
 * by symbol and relocation by relocation.  They may differ in nothing but this:
 *
 * - The table of relocations for pokepatch's core is gone.  Each of its rows is a relocation that
 *   the livepatch core makes instead (the kernel's Documentation/livepatch/module-elf-format.rst):
 *   of the same field, type and addend, to a symbol by whose name that core finds the same one.
 * - The old functions' code is gone, and the image says so.  The rows of functions tell instead how
 *   many bytes of code there are from the new function to the end of its section.  The glue has the
 *   livepatch core look for tasks in all of these; so no other code may stand before the functions.
 * - The glue's memory for the livepatch core's structures is as large as these are.
 * - A symbol whose name nothing else in its object has is at position 0, and not 1.
 * - The image has another name, by which pokepatch's core does not know it.
 */
#include "proof/proof.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pokepatch_format.h"
#include "proof/proof_check.h"

#define LIVEPATCH_FLAGS (SHF_ALLOC | SHF_INFO_LINK | SHF_RELA_LIVEPATCH)

/* One of the image's tables in the proved module. */
struct place_of_table {
	struct section *section;
	uint64_t at, count;
};

/* A relocation of the livepatch core, as a row of the proved module or as it is in the new one. */
struct late {
	size_t section; /* index of the section in the proved module */
	uint64_t place;
	uint32_t type;
	int64_t addend;
	const char *object; /* whose arrival it waits for, as in the section's name; rows: NULL */
	uint32_t symbol;    /* rows: index into symbols */
	const char *name;   /* else: of the symbol */
};
typedef VEC(struct late) late_list;

struct comparison_of_two {
	struct check check; /* of the new module, for wrong() */
	struct object old;  /* the proved module */
	char *file;	    /* the new module's bytes, in which no field is cleared */
	struct place_of_table objects, symbols, funcs, relocs, callbacks, strings;
	struct section *image, *texts;
	struct symbol *room; /* the memory for livepatch's structures, as the glue has it */
	uint64_t room_at, room_size; /* where the new module must have it; bytes */
	struct section **pairs; /* by index of the old section: the new one, or NULL */
	size_t *old_index;	/* by index of the new section: the old one's */
	struct symbol **symbol_pairs; /* likewise */
	bool *patched;		/* for each row of objects: it has functions or callbacks */
	const char *only;	/* the only module of these, or NULL */
};

#define GET32(two, row, type, field) object_get32(&(two)->old, (row) + offsetof(type, field))
#define IMAGE(field) offsetof(struct pokepatch_image, field)

/* ---- the proved module's tables ----------------------------------------------------- */

static const struct reloc *address_at(const struct comparison_of_two *two,
				      const struct section *section, uint64_t field)
{
	uint64_t offset = arch_wide_address(two->old.arch, field);
	size_t first = section_first_reloc(section, offset);

	return first < section->relocs.count && section->relocs.list[first].offset == offset
		       ? &section->relocs.list[first]
		       : NULL;
}

static struct place_of_table find_table(const struct comparison_of_two *two, uint64_t pointer,
					uint64_t count)
{
	const struct reloc *reloc = address_at(two, two->image, pointer);

	return (struct place_of_table){
		.section = reloc ? reloc->symbol->section : NULL,
		.at = reloc ? reloc->symbol->value + reloc->addend : 0,
		.count = object_get32(&two->old, two->image->data + count),
	};
}

static const unsigned char *row_at(const struct place_of_table *table, uint64_t i, size_t size)
{
	return table->section->data + table->at + i * size;
}

static const char *text_at(const struct comparison_of_two *two, uint32_t offset)
{
	return (const char *)two->strings.section->data + two->strings.at + offset;
}

static const char *object_at(const struct comparison_of_two *two, uint32_t i)
{
	return text_at(two, GET32(two,
				  row_at(&two->objects, i, sizeof(struct pokepatch_object)),
				  struct pokepatch_object, name));
}

/* Does livepatch switch this row's function, or only those that call it? */
static bool is_switched(const struct comparison_of_two *two, uint64_t row)
{
	const unsigned char *func = row_at(&two->funcs, row, sizeof(struct pokepatch_func));

	return !(GET32(two, func, struct pokepatch_func, flags) & POKEPATCH_FUNC_CARRIED);
}

static struct error *read_tables(struct comparison_of_two *two)
{
	two->image = object_find_section(&two->old, POKEPATCH_SECTION_IMAGE);
	two->texts = object_find_section(&two->old, POKEPATCH_SECTION_TEXTS);
	if (!two->image)
		return wrong(&two->check, "the module that it was made of has no image");
	two->objects = find_table(two, IMAGE(objects), IMAGE(nr_objects));
	two->symbols = find_table(two, IMAGE(symbols), IMAGE(nr_symbols));
	two->funcs = find_table(two, IMAGE(funcs), IMAGE(nr_funcs));
	two->relocs = find_table(two, IMAGE(relocs), IMAGE(nr_relocs));
	two->callbacks = find_table(two, IMAGE(callbacks), IMAGE(nr_callbacks));
	two->strings = find_table(two, IMAGE(strings), IMAGE(strings_size));
	two->patched = xcalloc(two->objects.count, sizeof(*two->patched));
	for (uint64_t i = 0; i < two->funcs.count; i++) {
		const unsigned char *func = row_at(&two->funcs, i, sizeof(struct pokepatch_func));
		const unsigned char *symbol =
			row_at(&two->symbols, GET32(two, func, struct pokepatch_func, symbol),
			       sizeof(struct pokepatch_symbol));

		if (is_switched(two, i))
			two->patched[GET32(two, symbol, struct pokepatch_symbol, object)] = true;
	}
	for (uint64_t i = 0; i < two->callbacks.count; i++) {
		const unsigned char *row =
			row_at(&two->callbacks, i, sizeof(struct pokepatch_callback));

		two->patched[GET32(two, row, struct pokepatch_callback, object)] = true;
	}
	size_t modules = 0;
	for (uint64_t i = 1; i < two->objects.count; i++)
		if (two->patched[i] && !modules++)
			two->only = object_at(two, i);
	if (modules > 1)
		two->only = NULL;
	return NULL;
}

/*
 * Sizes that the glue notes (sizes in patches/module/livepatch.c), behind those of two buffers:
 * of struct klp_patch, and what each object in a list, each function and each object of the image
 * take.  Both lists end with one more, and each object has a list of functions.
 */
static struct error *measure_room(struct comparison_of_two *two)
{
	enum { PATCH = 2, OBJECT, FUNC, PART, COUNT };
	uint32_t sizes[COUNT] = {0};
	struct object glue;

	for (size_t i = 1; i < two->old.symbols.count; i++)
		if (!strcmp(two->old.symbols.list[i]->name, POKEPATCH_LIVEPATCH_ROOM))
			two->room = two->old.symbols.list[i];
	if (!two->room || !two->room->section || two->room->section->type != SHT_NOBITS)
		return wrong(&two->check, "the module that it was made of has no room for livepatch");
	TRY(object_read(two->check.proof->input->glue, &glue));
	const struct section *noted = object_find_section(&glue, POKEPATCH_SECTION_LIVEPATCH_SIZES);
	for (size_t i = 0; noted && noted->size == sizeof(sizes) && i < COUNT; i++)
		sizes[i] = object_get32(&glue, noted->data + i * sizeof(*sizes));
	object_deinit(&glue);
	if (!sizes[PATCH])
		return wrong(&two->check, "its glue does not tell the sizes of livepatch's structures");
	two->room_at = (two->room->section->size + 7) & ~7ull;
	two->room_size = sizes[PATCH] + sizes[OBJECT] * (two->objects.count + 1) +
			 sizes[FUNC] * (two->funcs.count + two->objects.count) +
			 sizes[PART] * two->objects.count;
	return NULL;
}

/* The position by which the livepatch core finds a symbol; it takes 0 for "the only one". */
static uint32_t position_of(const struct comparison_of_two *two, uint32_t number)
{
	const unsigned char *row = row_at(&two->symbols, number, sizeof(struct pokepatch_symbol));
	const char *name = text_at(two, GET32(two, row, struct pokepatch_symbol, name));
	struct symtab *parent = proof_parent(
		two->check.proof, object_at(two, GET32(two, row, struct pokepatch_symbol, object)));

	symtab_load(parent, &name, 1);
	const struct known_symbol *known = symtab_get(parent, name);
	return known && !known->next ? 0 : GET32(two, row, struct pokepatch_symbol, pos);
}

/* ---- sections ----------------------------------------------------------------------- */

/* Sections that only say how the file is organised, and those that are allowed to differ. */
static bool is_passed(const struct comparison_of_two *two, const struct section *section)
{
	return section->target || section == two->texts || section->type == SHT_RELA ||
	       section->type == SHT_SYMTAB || section->type == SHT_SYMTAB_SHNDX ||
	       (section->type == SHT_STRTAB && !(section->flags & SHF_ALLOC));
}

/* The next section from *i on that is compared, or NULL. */
static struct section *next_section(const struct comparison_of_two *two,
				    const struct object *object, size_t *i)
{
	while (*i < object->sections.count) {
		struct section *section = object->sections.list[(*i)++];

		if (!is_passed(two, section))
			return section;
	}
	return NULL;
}

static struct error *pair_sections(struct comparison_of_two *two)
{
	struct section *old, *new;
	size_t i = 1, j = 1;

	two->pairs = xcalloc(two->old.sections.count, sizeof(struct section *));
	two->old_index = xcalloc(two->check.object.sections.count, sizeof(*two->old_index));
	do {
		old = next_section(two, &two->old, &i);
		new = next_section(two, &two->check.object, &j);
		if (!old && !new)
			return NULL;
		if (!old || !new || strcmp(old->name, new->name))
			return wrong(&two->check, "section %s is not in %s", old ? old->name : new->name,
				     old ? "it" : "the module that it was made of");
		if (old->type != new->type || old->flags != new->flags ||
		    old->align != new->align || old->entsize != new->entsize)
			return wrong(&two->check, "section %s is of another kind", old->name);
		two->pairs[old->index] = new;
		two->old_index[new->index] = old->index;
	} while (true);
}

/* Where the address of a row's new function leads. */
static const struct reloc *new_function(const struct comparison_of_two *two, uint64_t i)
{
	return address_at(two, two->funcs.section,
			  two->funcs.at + i * sizeof(struct pokepatch_func) +
				  offsetof(struct pokepatch_func, new_addr));
}

/* Put a number into a copy of the bytes, at a field of a row of a table. */
static void expect32(const struct comparison_of_two *two, unsigned char *bytes,
		     const struct place_of_table *table, uint64_t row, size_t size, size_t field,
		     uint32_t value)
{
	object_put32(&two->old, bytes + table->at + row * size + field, value);
}

/* Make of a copy of the old section's bytes those that the new section must have. */
static void expect_bytes(const struct comparison_of_two *two, const struct section *old,
			 unsigned char *bytes)
{
	const size_t func = sizeof(struct pokepatch_func), symbol = sizeof(struct pokepatch_symbol);

	if (old == two->image) {
		object_put32(&two->old, bytes + IMAGE(nr_relocs), 0);
		object_put32(&two->old, bytes + IMAGE(texts_size), 0);
	}
	for (uint64_t i = 0; old == two->funcs.section && i < two->funcs.count; i++) {
		const struct reloc *entry = new_function(two, i);

		expect32(two, bytes, &two->funcs, i, func, offsetof(struct pokepatch_func, text),
			 entry->symbol->section->size - (entry->symbol->value + entry->addend));
		expect32(two, bytes, &two->funcs, i, func,
			 offsetof(struct pokepatch_func, cold_text), POKEPATCH_NONE);
	}
	for (uint64_t i = 0; old == two->symbols.section && i < two->symbols.count; i++)
		expect32(two, bytes, &two->symbols, i, symbol,
			 offsetof(struct pokepatch_symbol, pos), position_of(two, i));
}

static struct error *compare_bytes(struct comparison_of_two *two, const struct section *old)
{
	const struct section *new = two->pairs[old->index];
	bool cut = two->relocs.section == old;
	uint64_t size = cut ? two->relocs.at : old->size;

	if (old == two->room->section)
		size = two->room_at + two->room_size;

	if (cut && two->relocs.at + two->relocs.count * sizeof(struct pokepatch_reloc) != old->size)
		return wrong(&two->check, "the table of relocations is not the last of section %s",
			     old->name);
	if (new->size != size || !new->data != !old->data)
		return wrong(&two->check, "section %s has %" PRIu64 " bytes, not %" PRIu64,
			     old->name, new->size, size);
	if (!size || !old->data)
		return NULL;
	unsigned char *bytes _free_ = xmalloc(old->size);
	memcpy(bytes, old->data, old->size);
	expect_bytes(two, old, bytes);
	const unsigned char *map = two->check.object.map;
	const char *found = two->file + (new->data - map);
	for (uint64_t i = 0; i < size; i++)
		if ((unsigned char)found[i] != bytes[i])
			return wrong(&two->check, "byte %" PRIu64 " of section %s is %#x, not %#x", i,
				     old->name, (unsigned char)found[i], bytes[i]);
	return NULL;
}

/* ---- symbols ------------------------------------------------------------------------ */

static bool same_symbol(const struct comparison_of_two *two, const struct symbol *old,
			const struct symbol *new)
{
	const char *name = !strcmp(old->name, POKEPATCH_IMAGE_SYMBOL) ? POKEPATCH_LIVEPATCH_SYMBOL
								      : old->name;

	const bool room = old == two->room;

	return !strcmp(name, new->name) && new->value == (room ? two->room_at : old->value) &&
	       new->size == (room ? two->room_size : old->size) &&
	       old->type == new->type && old->bind == new->bind && old->other == new->other &&
	       old->special == new->special && !old->section == !new->section &&
	       (!old->section || two->pairs[old->section->index] == new->section);
}

static struct error *pair_symbols(struct comparison_of_two *two)
{
	const struct object *new = &two->check.object;
	size_t j = 1;

	two->symbol_pairs = xcalloc(two->old.symbols.count, sizeof(struct symbol *));
	for (size_t i = 1; i < two->old.symbols.count; i++) {
		const struct symbol *old = two->old.symbols.list[i];

		if (old->section && old->section == two->texts)
			continue;
		if (j >= new->symbols.count || !same_symbol(two, old, new->symbols.list[j]))
			return wrong(&two->check, "symbol '%s' is not in it as it was", old->name);
		two->symbol_pairs[i] = new->symbols.list[j++];
	}
	for (; j < new->symbols.count; j++) {
		const struct symbol *symbol = new->symbols.list[j];

		if (symbol->section || symbol->special != SHN_LIVEPATCH || symbol->value ||
		    symbol->size || symbol->type != STT_NOTYPE || symbol->bind != STB_GLOBAL)
			return wrong(&two->check, "symbol '%s' is no symbol for livepatch",
				     symbol->name);
	}
	return NULL;
}

/* If addresses of the new code may outlive the patch, struct module must name no exit function. */
static struct error *check_exit(const struct comparison_of_two *two)
{
	const struct section *module = object_find_section(&two->old, ".gnu.linkonce.this_module");

	if (!(object_get32(&two->old, two->image->data + IMAGE(flags)) & POKEPATCH_IMAGE_PINNED))
		return NULL;
	for (size_t i = 0; module && i < module->relocs.count; i++)
		if (!strcmp(module->relocs.list[i].symbol->name, "cleanup_module"))
			return wrong(&two->check, "it can be unloaded, but addresses of its code may "
						  "outlive the patch");
	return NULL;
}

/* ---- the order of the code ----------------------------------------------------------- */

/*
 * Sections of code besides .text.  The first two run while the module is loaded or unloaded.  No
 * task comes to the others: the kernel writes static calls and alternatives into the code before it
 * runs, and the loader fills in arm64's.
 */
static const char *const passed_code[] = {
	".init.text", ".exit.text", ".static_call.text", ".altinstr_replacement", ".altinstr_aux",
	".plt", ".text.ftrace_trampoline",
};

static struct error *check_sections_of_code(const struct comparison_of_two *two,
					    const struct section *text)
{
	for (size_t i = 1; i < two->old.sections.count; i++) {
		const struct section *section = two->old.sections.list[i];
		size_t j = 0;

		if (!(section->flags & SHF_EXECINSTR) || !section->size || section == text)
			continue;
		while (j < ARRAY_SIZE(passed_code) && strcmp(section->name, passed_code[j]))
			j++;
		if (j == ARRAY_SIZE(passed_code))
			return wrong(&two->check, "section %s is code in which livepatch does not "
						  "look for tasks",
				     section->name);
	}
	return NULL;
}

static int place_order(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The switched functions: where they begin in .text, sorted, and by name. */
struct entries {
	VEC(uint64_t) places;
	struct map by_name; /* struct symbol * */
};

static bool is_entry(const struct entries *entries, uint64_t place)
{
	return bsearch(&place, entries->places.list, entries->places.count, sizeof(place),
		       place_order);
}

static struct error *find_entries(const struct comparison_of_two *two, const struct section *text,
				  struct entries *ret)
{
	for (uint64_t i = 0; i < two->funcs.count; i++) {
		const struct reloc *reloc = new_function(two, i);

		if (reloc->symbol->section != text)
			return wrong(&two->check, "new function '%s' is not in section .text",
				     reloc->symbol->name);
		if (is_switched(two, i))
			*vec_push(&ret->places) = reloc->symbol->value + reloc->addend;
	}
	if (!ret->places.count)
		return NULL;
	qsort(ret->places.list, ret->places.count, sizeof(*ret->places.list), place_order);
	for (size_t i = 1; i < two->old.symbols.count; i++) {
		struct symbol *symbol = two->old.symbols.list[i];

		if (symbol->type == STT_FUNC && symbol->section == text &&
		    is_entry(ret, symbol->value))
			*map_slot(&ret->by_name, symbol->name) = symbol;
	}
	return NULL;
}

/* Is this code that is no switched function, or the prefix of one, and stands before the last? */
static bool is_in_front(const struct entries *entries, const struct symbol *symbol)
{
	const char *name = symbol_prefixed_name(symbol);
	const struct symbol *behind = name ? map_get(&entries->by_name, name) : NULL;
	uint64_t last = entries->places.count ? entries->places.list[entries->places.count - 1] : 0;

	return symbol->value < last && !is_entry(entries, symbol->value) &&
	       !(behind && behind->value >= symbol->value + symbol->size);
}

/*
 * Do the functions that the patch switches stand in front of all other code of .text, and is there
 * code in no other section?  The livepatch core looks only in functions of objects that are there;
 * so those of each object must reach to the rest.
 */
static struct error *check_order(const struct comparison_of_two *two)
{
	const struct section *text = object_find_section(&two->old, ".text");
	struct entries entries = {0};
	struct error *error = check_sections_of_code(two, text);

	if (!error)
		error = find_entries(two, text, &entries);
	for (size_t i = 1; !error && i < two->old.symbols.count; i++) {
		const struct symbol *symbol = two->old.symbols.list[i];

		if (symbol->type == STT_FUNC && symbol->section == text && text &&
		    is_in_front(&entries, symbol))
			error = wrong(&two->check,
				      "'%s' is code in which livepatch does not look for tasks",
				      symbol->name);
	}
	vec_deinit(&entries.places);
	map_deinit(&entries.by_name);
	return error;
}

/* ---- relocations of the module loader ----------------------------------------------- */

/* Is this an address of the image's that the new module has no more? */
static bool is_gone(const struct comparison_of_two *two, const struct section *section,
		    uint64_t offset)
{
	uint64_t relocs = arch_wide_address(two->old.arch, IMAGE(relocs));
	uint64_t texts = arch_wide_address(two->old.arch, IMAGE(texts));

	return (section == two->image && (offset == relocs || offset == texts)) ||
	       (section == two->relocs.section && offset >= two->relocs.at);
}

static struct error *compare_relocs(struct comparison_of_two *two, const struct section *old)
{
	const struct section *new = two->pairs[old->index];
	size_t j = 0;

	for (size_t i = 0; i < old->relocs.count; i++) {
		const struct reloc *was = &old->relocs.list[i], *is = &new->relocs.list[j];

		if (is_gone(two, old, was->offset))
			continue;
		if (j++ >= new->relocs.count || was->offset != is->offset ||
		    was->type != is->type || was->addend != is->addend ||
		    two->symbol_pairs[was->symbol->index] != is->symbol)
			return wrong(&two->check, "the relocation at %s+%#" PRIx64 " is another one",
				     old->name, was->offset);
	}
	if (j != new->relocs.count)
		return wrong(&two->check, "section %s has %zu relocations, not %zu", old->name,
			     new->relocs.count, j);
	return NULL;
}

/* ---- relocations of the livepatch core ---------------------------------------------- */

static int late_order(const void *left, const void *right)
{
	const struct late *a = left, *b = right;

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

static void read_rows(const struct comparison_of_two *two, late_list *ret)
{
	const size_t size = sizeof(struct pokepatch_reloc);

	for (uint64_t i = 0; i < two->relocs.count; i++) {
		const unsigned char *row = row_at(&two->relocs, i, size);
		const struct reloc *where =
			address_at(two, two->relocs.section,
				   two->relocs.at + i * size +
					   offsetof(struct pokepatch_reloc, where));

		*vec_push(ret) = (struct late){
			.section = where->symbol->section->index,
			.place = where->symbol->value + where->addend,
			.type = GET32(two, row, struct pokepatch_reloc, type),
			.addend = (int64_t)object_get64(
				&two->old, row + offsetof(struct pokepatch_reloc, addend)),
			.symbol = GET32(two, row, struct pokepatch_reloc, symbol),
		};
	}
}

/* Read the sections ".klp.rela.OBJECT.SECTION". */
static struct error *read_late(const struct comparison_of_two *two, late_list *ret)
{
	static const char prefix[] = ".klp.rela.";

	for (size_t i = 1; i < two->check.object.sections.count; i++) {
		const struct section *section = two->check.object.sections.list[i];
		const char *object = section->name + strlen(prefix), *dot;

		if (!section->target)
			continue;
		dot = has_prefix(section->name, prefix) ? strchr(object, '.') : NULL;
		if (!dot || strcmp(dot + 1, section->target->name) ||
		    section->flags != LIVEPATCH_FLAGS || section->type != SHT_RELA)
			return wrong(&two->check, "section %s is no section for livepatch",
				     section->name);
		for (size_t j = 0; j < section->relocs.count; j++) {
			const struct reloc *reloc = &section->relocs.list[j];

			if (reloc->symbol->section || reloc->symbol->special != SHN_LIVEPATCH)
				return wrong(&two->check, "'%s' in section %s is no symbol for "
							  "livepatch",
					     reloc->symbol->name, section->name);
			*vec_push(ret) = (struct late){
				.section = two->old_index[section->target->index],
				.place = reloc->offset,
				.type = reloc->type,
				.addend = reloc->addend,
				.object = object,
				.name = reloc->symbol->name,
			};
		}
	}
	return NULL;
}

/*
 * Does the livepatch core make the relocation before any code can run that needs it?  It makes
 * those of vmlinux when the patch is loaded, and those of a module that the patch has functions of
 * when that module comes.  A symbol of another module is there by then if the patch's module
 * depends on it, which the differ has checked ([symbol-in-module]).
 */
static bool waits_for(const struct comparison_of_two *two, const char *object, uint32_t number)
{
	const char *wanted = !number || two->patched[number] ? object_at(two, number) : two->only;

	return wanted && strlen(wanted) == strcspn(object, ".") && has_prefix(object, wanted);
}

static struct error *compare_late(struct comparison_of_two *two, const struct late *row,
				  const struct late *late)
{
	const unsigned char *symbol =
		row_at(&two->symbols, row->symbol, sizeof(struct pokepatch_symbol));
	uint32_t number = GET32(two, symbol, struct pokepatch_symbol, object);
	char *name _free_ =
		xasprintf(".klp.sym.%s.%s,%u", object_at(two, number),
			  text_at(two, GET32(two, symbol, struct pokepatch_symbol, name)),
			  position_of(two, row->symbol));
	const struct section *target = two->old.sections.list[row->section];
	const uint8_t align = two->old.arch->loader.live_align;
	const char *section = target->name;

	if (late_order(row, late) || row->type != late->type || row->addend != late->addend ||
	    strcmp(name, late->name))
		return wrong(&two->check,
			     "livepatch's relocation at %s+%#" PRIx64 " leads to '%s', not to '%s'",
			     section, row->place, late->name, name);
	if (!GET32(two, symbol, struct pokepatch_symbol, pos))
		return wrong(&two->check, "kallsyms does not list '%s'", name);
	if (number && align && (row->place % align || target->align < align))
		return wrong(&two->check, "livepatch's relocation at %s+%#" PRIx64
					  " is at a place that the loader does not write later",
			     section, row->place);
	if (!waits_for(two, late->object, number))
		return wrong(&two->check, "livepatch's relocation at %s+%#" PRIx64
					  " to '%s' waits for %.*s",
			     section, row->place, name, (int)strcspn(late->object, "."),
			     late->object);
	return NULL;
}

static struct error *compare_all_late(struct comparison_of_two *two)
{
	late_list rows = {0}, lates = {0};
	struct error *error = read_late(two, &lates);

	read_rows(two, &rows);
	if (rows.count)
		qsort(rows.list, rows.count, sizeof(*rows.list), late_order);
	if (lates.count)
		qsort(lates.list, lates.count, sizeof(*lates.list), late_order);
	if (!error && rows.count != lates.count)
		error = wrong(&two->check, "it has %zu relocations for livepatch, not %zu",
			      lates.count, rows.count);
	for (size_t i = 0; !error && i < rows.count; i++)
		error = compare_late(two, &rows.list[i], &lates.list[i]);
	vec_deinit(&rows);
	vec_deinit(&lates);
	return error;
}

/* ---- the whole ---------------------------------------------------------------------- */

static struct error *compare(struct comparison_of_two *two)
{
	if (two->old.arch != two->check.object.arch)
		return wrong(&two->check, "it is for another machine");
	TRY(read_tables(two));
	TRY(measure_room(two));
	TRY(pair_sections(two));
	TRY(pair_symbols(two));
	TRY(check_exit(two));
	TRY(check_order(two));
	for (size_t i = 1; i < two->old.sections.count; i++) {
		const struct section *section = two->old.sections.list[i];

		if (!two->pairs[section->index])
			continue;
		TRY(compare_bytes(two, section));
		TRY(compare_relocs(two, section));
	}
	return compare_all_late(two);
}

struct error *proof_check_livepatch(struct proof *proof, const char *proved, const char *path)
{
	struct comparison_of_two two = {.check = {.proof = proof}};
	size_t length;

	TRY(object_read(proved, &two.old));
	struct error *error = object_read_livepatch(path, &two.check.object);
	if (error) {
		object_deinit(&two.old);
		return error;
	}
	error = file_read(path, &two.file, &length);
	if (!error)
		error = compare(&two);
	free(two.file);
	free(two.pairs);
	free(two.old_index);
	free(two.symbol_pairs);
	free(two.patched);
	object_deinit(&two.check.object);
	object_deinit(&two.old);
	return error;
}
