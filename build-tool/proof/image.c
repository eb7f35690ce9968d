// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pokepatch's own tables in the module, compared with pokepatch_format.h, with the parents' symbol
 * tables and with what the differ reports.
 */
#include "proof/proof_image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pokepatch_mark.h"
#include "proof/proof_check.h"
#include "proof/proof_first.h"
#include "proof/proof_match.h"
#include "proof/proof_sites.h"
#include "proof/proof_texts.h"

struct tables {
	struct check *check;
	const struct section *image;
	const struct section *section[7];
	uint64_t at[7];
	uint32_t count[7];
	uint32_t strings_size;
	VEC(bool) objects_used;
	bool *texts_used; /* for each byte of the texts: it belongs to one */
};

/* The tables that the image points to, in the order of its fields. */
enum { OBJECTS, SYMBOLS, FUNCS, RELOCS, CALLBACKS, STRINGS, TEXTS };
static const struct {
	const char *name;
	size_t pointer, count, size, align;
} kinds[] = {
#define KIND(field, type)                                                                          \
	{#field, offsetof(struct pokepatch_image, field),                                          \
	 offsetof(struct pokepatch_image, nr_##field), sizeof(type), _Alignof(type)}
	[OBJECTS] = KIND(objects, struct pokepatch_object),
	[SYMBOLS] = KIND(symbols, struct pokepatch_symbol),
	[FUNCS] = KIND(funcs, struct pokepatch_func),
	[RELOCS] = KIND(relocs, struct pokepatch_reloc),
	[CALLBACKS] = KIND(callbacks, struct pokepatch_callback),
	[STRINGS] = {"strings", offsetof(struct pokepatch_image, strings),
		     offsetof(struct pokepatch_image, strings_size), 1, 1},
	[TEXTS] = {"texts", offsetof(struct pokepatch_image, texts),
		   offsetof(struct pokepatch_image, texts_size), 1, 1},
#undef KIND
};

#define GET32(check, row, type, field) object_get32(&(check)->object, (row) + offsetof(type, field))
#define GET64(check, row, type, field) object_get64(&(check)->object, (row) + offsetof(type, field))

static const struct reloc *reloc_at(const struct section *section, uint64_t offset)
{
	size_t first = section_first_reloc(section, offset);

	return first < section->relocs.count && section->relocs.list[first].offset == offset
		       ? &section->relocs.list[first]
		       : NULL;
}

/*
 * Read an address in one of the tables: a relocation of the pointer's type to a place in a section
 * of the module.  ret is NULL where there is no relocation.
 */
static struct error *read_pointer(const struct check *check, const struct section *section,
				  uint64_t offset, const char *what, const struct section **ret,
				  uint64_t *ret_offset)
{
	const struct reloc *reloc =
		reloc_at(section, arch_wide_address(check->object.arch, offset));

	*ret = NULL;
	if (object_get64(&check->object, section->data + offset))
		return wrong(check, "%s is not zero before it is relocated", what);
	if (!reloc)
		return NULL;
	if (reloc->type != check->object.arch->relocs.address || !reloc->symbol->section)
		return wrong(check, "%s is not the address of a place in the module", what);
	*ret = reloc->symbol->section;
	*ret_offset = reloc->symbol->value + reloc->addend;
	if (*ret_offset > (*ret)->size)
		return wrong(check, "%s lies outside section %s", what, (*ret)->name);
	return NULL;
}

/* If the glue has stubs, the image names them, and there is one for each function. */
static struct error *check_stubs(struct tables *tables, size_t *pointers)
{
	struct check *check = tables->check;
	uint32_t count = GET32(check, tables->image->data, struct pokepatch_image, nr_stubs);
	const struct section *section;
	struct thing *thing = NULL;
	uint64_t at;

	TRY(read_pointer(check, tables->image, offsetof(struct pokepatch_image, stubs),
			 "the address of the stubs", &section, &at));
	for (size_t i = 0; i < check->proof->sources.count && !thing; i++) {
		struct source *source = check->proof->sources.list[i];
		const struct symbol *symbol = map_get(&source->by_name, POKEPATCH_STUBS_SYMBOL);

		if (source->whole && symbol)
			thing = source_at(source, symbol->section, symbol->value);
	}
	if (!thing && !section && !count)
		return NULL;
	if (!thing || !section || count != tables->count[FUNCS])
		return wrong(check, "it has %u stubs for %u functions, and %s address", count,
			     tables->count[FUNCS], section ? "an" : "no");
	*pointers += 1;
	return place_thing(check, thing, section, at);
}

/*
 * The markers fill the section of that name.  Each comes from a unit and is placed when the proof
 * follows a reference from its code, so a marker that no code refers to is found as bytes that
 * belong to nothing.
 */
static struct error *check_markers(struct tables *tables, size_t *pointers)
{
	struct check *check = tables->check;
	uint32_t count = GET32(check, tables->image->data, struct pokepatch_image, nr_markers);
	const struct section *section;
	uint64_t at = 0, size = 0;

	for (size_t i = 1; i < check->object.sections.count; i++)
		if (has_prefix(check->object.sections.list[i]->name, POKEPATCH_SECTION_MARKERS))
			size += check->object.sections.list[i]->size;
	TRY(read_pointer(check, tables->image, offsetof(struct pokepatch_image, markers),
			 "the address of the markers", &section, &at));
	*pointers += section != NULL;
	if (size != count * sizeof(struct pokepatch_marker) || !count != !section ||
	    (section && (strcmp(section->name, POKEPATCH_SECTION_MARKERS) || at ||
			 section->size != size || !(section->flags & SHF_WRITE))))
		return wrong(check, "it has %u markers in %" PRIu64 " bytes, and %s address", count,
			     size, section ? "an" : "no");
	return NULL;
}

static struct error *read_tables(struct tables *tables)
{
	struct check *check = tables->check;
	const unsigned char *image = tables->image->data;
	size_t pointers = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint32_t count = object_get32(&check->object, image + kinds[i].count);
		uint64_t size = (uint64_t)count * kinds[i].size;

		TRY(read_pointer(check, tables->image, kinds[i].pointer, kinds[i].name,
				 &tables->section[i], &tables->at[i]));
		pointers += tables->section[i] != NULL;
		if (!count != !tables->section[i])
			return wrong(check, "the table of %s has %u rows and %s address",
				     kinds[i].name, count, count ? "no" : "an");
		if (!count)
			continue;
		if (!tables->section[i]->data ||
		    size > tables->section[i]->size - tables->at[i] ||
		    !section_is_loaded(tables->section[i]) || tables->at[i] % kinds[i].align)
			return wrong(check, "the table of %s is not within section %s",
				     kinds[i].name, tables->section[i]->name);
		TRY(check_constant(check, tables->section[i]));
		tables->count[i] = count;
		TRY(extent_add(check, tables->section[i], tables->at[i], size, kinds[i].align,
			  PLACED, kinds[i].name));
	}
	TRY(check_stubs(tables, &pointers));
	TRY(check_markers(tables, &pointers));
	if (tables->image->relocs.count != pointers)
		return wrong(check, "the image has %zu relocations, not %zu",
			     tables->image->relocs.count, pointers);
	return NULL;
}

static struct error *get_string(struct tables *tables, uint32_t offset, const char **ret)
{
	const unsigned char *strings = tables->section[STRINGS]->data + tables->at[STRINGS];
	uint32_t size = tables->count[STRINGS];

	if (offset >= size || !memchr(strings + offset, 0, size - offset) ||
	    (offset && strings[offset - 1]))
		return wrong(tables->check, "a row names a string at %u, where none begins",
			     offset);
	*ret = (const char *)strings + offset;
	return NULL;
}

static struct error *check_header(struct tables *tables)
{
	struct check *check = tables->check;
	const struct proof_input *input = check->proof->input;
	const unsigned char *image = tables->image->data;
	const char *name;
	const struct {
		const char *field;
		uint64_t found, expected;
	} fields[] = {
#define FIELD(field, bits, value)                                                                  \
	{#field, GET##bits(check, image, struct pokepatch_image, field), value}
		FIELD(magic, 64, POKEPATCH_MAGIC),
		FIELD(format, 32, POKEPATCH_FORMAT),
		FIELD(size, 32, sizeof(struct pokepatch_image)),
		FIELD(transition, 32, input->transition),
		FIELD(level, 32, input->level),
		FIELD(least_level, 32, input->least_level),
		FIELD(flags, 32, input->pinned ? POKEPATCH_IMAGE_PINNED : 0),
#undef FIELD
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].found != fields[i].expected)
			return wrong(check, "the image's %s is %#" PRIx64 ", not %#" PRIx64,
				     fields[i].field, fields[i].found, fields[i].expected);
	TRY(get_string(tables, GET32(check, image, struct pokepatch_image, name), &name));
	char *expected _free_ = underscored(input->name);
	if (strcmp(name, expected))
		return wrong(check, "the image is called '%s', not '%s'", name, expected);
	return NULL;
}

static struct error *check_objects(struct tables *tables)
{
	struct check *check = tables->check;

	for (uint32_t i = 0; i < tables->count[OBJECTS]; i++) {
		const unsigned char *row = tables->section[OBJECTS]->data + tables->at[OBJECTS] +
					   i * sizeof(struct pokepatch_object);
		uint32_t length = GET32(check, row, struct pokepatch_object, build_id_len);
		const unsigned char *id = row + offsetof(struct pokepatch_object, build_id);
		static const unsigned char zeroes[POKEPATCH_BUILD_ID_MAX];
		const char *name;

		TRY(get_string(tables, GET32(check, row, struct pokepatch_object, name),
			       &name));
		struct symtab *parent = proof_parent(check->proof, name);
		if (!parent || parent->vmlinux != !i)
			return wrong(check, "parent %u is '%s'", i, name);
		for (uint32_t j = 0; j < i; j++)
			if (check->parents.list[j] == parent)
				return wrong(check, "parent '%s' is there twice", name);
		if (length != parent->build_id_length ||
		    memcmp(id, parent->build_id, parent->build_id_length) ||
		    memcmp(id + length, zeroes, POKEPATCH_BUILD_ID_MAX - length))
			return wrong(check, "the build id of parent '%s' is not that of %s", name,
				     parent->path);
		if (GET32(check, row, struct pokepatch_object, reserved))
			return wrong(check, "a reserved field of parent '%s' is used", name);
		*vec_push(&check->parents) = parent;
		*vec_push(&tables->objects_used) = !i;
	}
	return NULL;
}

/* ---- symbols ------------------------------------------------------------------------ */

static const unsigned char *symbol_row(const struct tables *tables, uint32_t number)
{
	return tables->section[SYMBOLS]->data + tables->at[SYMBOLS] +
	       number * sizeof(struct pokepatch_symbol);
}

/* Load all names from all parents, with one pass over each symbol table. */
static struct error *load_names(struct tables *tables)
{
	struct check *check = tables->check;

	for (size_t parent = 0; parent < check->parents.count; parent++) {
		VEC(const char *) names = {0};
		struct error *error = NULL;

		for (uint32_t i = 0; !error && i < tables->count[SYMBOLS]; i++) {
			const unsigned char *row = symbol_row(tables, i);
			const char *name;

			error = get_string(tables,
					   GET32(check, row, struct pokepatch_symbol, name), &name);
			if (!error)
				*vec_push(&names) = name;
		}
		/* Every name in every parent: a module's own symbol goes before vmlinux's. */
		if (!error)
			symtab_load(check->parents.list[parent], names.list, names.count);
		vec_deinit(&names);
		TRY(error);
	}
	return NULL;
}

static bool is_at(const struct symtab *parent, const struct known_symbol *known, uint64_t offset,
		  const char *section, bool absolute)
{
	if (!parent->vmlinux)
		return known->value == offset && !strcmp(known->section, section) && !absolute;
	bool expected = known->percpu || known->absolute;
	return absolute == expected && !*section &&
	       (absolute ? known->value : known->value - parent->text) == offset;
}

static struct error *check_symbol(struct tables *tables, uint32_t number)
{
	struct check *check = tables->check;
	const unsigned char *row = symbol_row(tables, number);
	uint32_t object = GET32(check, row, struct pokepatch_symbol, object);
	uint32_t flags = GET32(check, row, struct pokepatch_symbol, flags);
	uint64_t offset = GET64(check, row, struct pokepatch_symbol, offset);
	uint32_t position = GET32(check, row, struct pokepatch_symbol, pos);
	struct row_symbol *symbol = vec_push(&check->symbols);
	const char *section;

	TRY(get_string(tables, GET32(check, row, struct pokepatch_symbol, name),
		       &symbol->name));
	TRY(get_string(tables, GET32(check, row, struct pokepatch_symbol, section), &section));
	if (object >= check->parents.count ||
	    (flags & ~(POKEPATCH_SYM_FUNC | POKEPATCH_SYM_ABS)) ||
	    GET32(check, row, struct pokepatch_symbol, reserved))
		return wrong(check, "the row of symbol '%s' is malformed", symbol->name);
	symbol->parent = check->parents.list[object];
	tables->objects_used.list[object] = true;
	symbol->known = symtab_get(symbol->parent, symbol->name);
	while (symbol->known && !is_at(symbol->parent, symbol->known, offset, section,
				       flags & POKEPATCH_SYM_ABS))
		symbol->known = symbol->known->next;
	if (!symbol->known)
		return wrong(check, "%s has no '%s' at %#" PRIx64, symbol->parent->path,
			     symbol->name, offset);

	const struct known_symbol *known = symbol->known;
	bool listed = known->function || check->proof->input->kallsyms_all;
	uint32_t expected = listed ? symtab_position(symbol->parent, known) : 0;
	if (position != expected)
		return wrong(check, "'%s' is number %u of that name in %s, not %u", symbol->name,
			     expected, symbol->parent->name, position);
	if (GET64(check, row, struct pokepatch_symbol, size) != known->size ||
	    !(flags & POKEPATCH_SYM_FUNC) != !known->function)
		return wrong(check, "'%s' has another size or type in %s", symbol->name,
			     symbol->parent->path);
	for (uint32_t i = 0; i < number; i++)
		if (check->symbols.list[i].known == known)
			return wrong(check, "symbol '%s' is there twice", symbol->name);
	return NULL;
}

/* ---- relocations -------------------------------------------------------------------- */

static int row_order(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->section != b->section)
		return a->section->index < b->section->index ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

static struct error *read_rows(struct tables *tables)
{
	struct check *check = tables->check;
	const struct section *section = tables->section[RELOCS];

	for (uint32_t i = 0; i < tables->count[RELOCS]; i++) {
		uint64_t at = tables->at[RELOCS] + i * sizeof(struct pokepatch_reloc);
		const unsigned char *row = section->data + at;
		struct row *new = vec_push(&check->rows);

		TRY(read_pointer(check, section,
				 at + offsetof(struct pokepatch_reloc, where),
				 "the place of a relocation", &new->section, &new->place));
		new->addend = GET64(check, row, struct pokepatch_reloc, addend);
		new->symbol = GET32(check, row, struct pokepatch_reloc, symbol);
		new->type = GET32(check, row, struct pokepatch_reloc, type);
		if (!new->section || new->symbol >= check->symbols.count)
			return wrong(check, "relocation %u has no place or no symbol", i);
	}
	if (check->rows.count)
		qsort(check->rows.list, check->rows.count, sizeof(*check->rows.list), row_order);
	return NULL;
}

/* ---- functions ---------------------------------------------------------------------- */

/* May the parent's symbol be the one that this unit defines? */
static bool is_units_own(const struct source *source, const struct known_symbol *known)
{
	if (known->global)
		return true;
	for (size_t i = 0; i < source->blocks.list.count; i++)
		if (source->blocks.list.list[i] == known->block)
			return true;
	return false;
}

static bool same_bare_name(const char *left, const char *right)
{
	if (!strcmp(left, right))
		return true;
	char *a _free_ = bare_name(left), *b _free_ = bare_name(right);
	return !strcmp(a, b);
}

/* The changed function whose original is the row's old symbol; or NULL. */
static struct thing *find_function(const struct check *check, const struct row_symbol *old)
{
	for (size_t i = 0; i < check->proof->sources.count; i++) {
		struct source *source = check->proof->sources.list[i];
		const struct symbol *orig = source->have_orig
						    ? map_get(&source->orig_by_name, old->name)
						    : NULL;

		if (!orig || source->parent != old->parent || orig->type != STT_FUNC ||
		    (orig->bind != STB_LOCAL) != old->known->global ||
		    !is_units_own(source, old->known))
			continue;
		struct thing *thing = map_get(&source->functions, old->name);
		if (thing && thing->reported == REPORTED_CHANGED && !thing->replaced)
			return thing;
		/* foo.isra.0 may have become foo.isra.1. */
		for (size_t j = 0; j < source->things.count; j++) {
			thing = source->things.list[j];
			if (thing->reported == REPORTED_CHANGED && !thing->replaced &&
			    section_is_text(thing->section) &&
			    same_bare_name(thing->symbol->name, old->name))
				return thing;
		}
	}
	return NULL;
}

/* The cold part of the function by this name: "foo.cold" or "foo.cold.3"; or NULL. */
static const struct symbol *cold_by_name(const struct source *source, const char *function)
{
	char *name _free_ = xasprintf("%s.cold", function);
	const struct symbol *symbol = map_get(&source->orig_by_name, name);

	for (size_t i = 1; !symbol && i < source->orig.symbols.count; i++) {
		const struct symbol *other = source->orig.symbols.list[i];
		size_t length = strlen(name);

		if (other->section && !strncmp(other->name, name, length) &&
		    strspn(other->name + length, ".0123456789") == strlen(other->name + length))
			symbol = other;
	}
	return symbol;
}

/* The cold part of the original's function, which may have any of the function's names; or NULL. */
static const struct symbol *original_cold(const struct source *source, const char *function)
{
	const struct symbol *own = map_get(&source->orig_by_name, function);
	const struct symbol *cold = cold_by_name(source, function);

	for (size_t i = 1; own && !cold && i < source->orig.symbols.count; i++) {
		const struct symbol *other = source->orig.symbols.list[i];

		if (other != own && other->section == own->section && other->value == own->value &&
		    other->type == STT_FUNC)
			cold = cold_by_name(source, other->name);
	}
	return cold;
}

/* The row has the old symbol's text, and no other row has a byte of that text. */
static struct error *check_text(struct tables *tables, const struct thing *thing,
				const struct row_symbol *old, uint32_t at)
{
	struct check *check = tables->check;
	uint32_t size = tables->count[TEXTS];
	uint64_t length;

	if (at >= size)
		return wrong(check, "the row of '%s' has no text of its original",
			     thing_name(thing));
	TRY(text_check(check, thing->source, old,
		       tables->section[TEXTS]->data + tables->at[TEXTS] + at, size - at,
		       &length));
	for (uint64_t i = at; i < at + length; i++) {
		if (tables->texts_used[i])
			return wrong(check, "the text of '%s' is another's too", old->name);
		tables->texts_used[i] = true;
	}
	return NULL;
}

static struct error *check_old_cold(struct tables *tables, const struct thing *thing,
				    const char *old_name, uint32_t number, uint32_t text)
{
	struct check *check = tables->check;
	const struct symbol *cold = original_cold(thing->source, old_name);

	if (!cold != (number == POKEPATCH_NONE) || (!cold && text != POKEPATCH_NONE))
		return wrong(check, "the row of '%s' %s its original's cold part",
			     thing_name(thing), cold ? "lacks" : "has none, but names");
	if (!cold)
		return NULL;
	if (number >= check->symbols.count)
		return wrong(check, "the row of '%s' has no such cold part", thing_name(thing));
	struct row_symbol *symbol = &check->symbols.list[number];
	symbol->used = true;
	if (strcmp(symbol->name, cold->name) || symbol->parent != thing->source->parent ||
	    !is_units_own(thing->source, symbol->known))
		return wrong(check, "the row of '%s' has '%s' for its original's cold part",
			     thing_name(thing), symbol->name);
	return check_text(tables, thing, symbol, text);
}

/* Bytes of the thing and of the jumps that follow it. */
static uint64_t full_size(const struct check *check, struct thing *thing,
			  const struct section *section, uint64_t place)
{
	thing_prepare(thing);
	return thing->end - thing->start + (section ? thing_tail(check, thing, section, place) : 0);
}

static struct error *check_function(struct tables *tables, uint32_t number)
{
	struct check *check = tables->check;
	const struct section *section = tables->section[FUNCS], *hot, *cold;
	uint64_t at = tables->at[FUNCS] + number * sizeof(struct pokepatch_func);
	uint64_t hot_place = 0, cold_place = 0;
	const unsigned char *row = section->data + at;
	uint32_t old = GET32(check, row, struct pokepatch_func, symbol);

	if (old >= check->symbols.count)
		return wrong(check, "function %u has no symbol", number);
	struct row_symbol *symbol = &check->symbols.list[old];
	symbol->used = true;
	struct thing *thing = find_function(check, symbol);
	if (!thing || !symbol->known->function)
		return wrong(check, "'%s' of %s is not a function that changed", symbol->name,
			     symbol->parent->name);
	thing->replaced = true;
	TRY(read_pointer(check, section, at + offsetof(struct pokepatch_func, new_addr),
			 "a function's address", &hot, &hot_place));
	TRY(read_pointer(check, section, at + offsetof(struct pokepatch_func, new_cold_addr),
			 "a cold part's address", &cold, &cold_place));
	uint64_t size = full_size(check, thing, hot, hot_place);
	uint64_t cold_size = thing->cold ? full_size(check, thing->cold, cold, cold_place) : 0;
	const struct symbol *orig = map_get(&thing->source->orig_by_name, symbol->name);
	bool had_entry = source_had_entry(thing->source, orig);
	uint32_t flags = GET32(check, row, struct pokepatch_func, flags);
	bool overwritten = !had_entry && flags & POKEPATCH_FUNC_OVERWRITTEN;
	thing->carried = !had_entry && !overwritten;
	if (overwritten)
		TRY(check_first(check, thing, orig, original_cold(thing->source, symbol->name),
				flags));
	if (!hot || GET32(check, row, struct pokepatch_func, new_size) != size ||
	    !cold != !thing->cold ||
	    GET32(check, row, struct pokepatch_func, new_cold_size) != cold_size ||
	    GET32(check, row, struct pokepatch_func, mode) != check->proof->input->mode ||
	    (!overwritten && flags != (thing->carried ? POKEPATCH_FUNC_CARRIED : 0)))
		return wrong(check, "the row of '%s' is not what the compiler's output says",
			     thing_name(thing));
	TRY(check_text(tables, thing, symbol, GET32(check, row, struct pokepatch_func, text)));
	TRY(check_old_cold(tables, thing, symbol->name,
			   GET32(check, row, struct pokepatch_func, cold),
			   GET32(check, row, struct pokepatch_func, cold_text)));
	TRY(place_thing(check, thing, hot, hot_place));
	if (cold)
		TRY(place_thing(check, thing->cold, cold, cold_place));
	return NULL;
}

/* ---- callbacks ---------------------------------------------------------------------- */

/* struct pokepatch_callback_note (pokepatch_patch.h): an address and a number of 64 bits. */
#define NOTE_SIZE 16

/* A unit's callback note, for which the module has a row. */
struct note {
	struct source *source;
	const struct reloc *reloc;
};

static struct error *find_note(const struct check *check, const struct symtab *parent,
			       uint64_t kind, struct note *ret)
{
	*ret = (struct note){0};
	for (size_t i = 0; i < check->proof->sources.count; i++) {
		struct source *source = check->proof->sources.list[i];
		const struct section *notes =
			object_find_section(&source->object, POKEPATCH_SECTION_CALLBACK_NOTES);

		if (!notes || source->parent != parent)
			continue;
		for (size_t j = 0; j < notes->relocs.count; j++) {
			const struct reloc *reloc = &notes->relocs.list[j];

			if (reloc->offset % NOTE_SIZE || reloc->offset + NOTE_SIZE > notes->size ||
			    object_get64(&source->object, notes->data + reloc->offset + 8) != kind)
				continue;
			if (ret->source)
				return wrong(check, "%s has two callbacks of one kind",
					     parent->name);
			*ret = (struct note){source, reloc};
		}
	}
	return NULL;
}

static struct error *check_callback(struct tables *tables, uint32_t number, bool *seen)
{
	struct check *check = tables->check;
	const struct section *table = tables->section[CALLBACKS], *section;
	uint64_t at = tables->at[CALLBACKS] + number * sizeof(struct pokepatch_callback), place = 0;
	const unsigned char *row = table->data + at;
	uint32_t object = GET32(check, row, struct pokepatch_callback, object);
	uint32_t kind = GET32(check, row, struct pokepatch_callback, kind);
	struct note note;

	TRY(read_pointer(check, table, at + offsetof(struct pokepatch_callback, func),
			 "a callback's address", &section, &place));
	if (!section || object >= check->parents.count || kind >= POKEPATCH_CALLBACK_KINDS ||
	    seen[object * POKEPATCH_CALLBACK_KINDS + kind])
		return wrong(check, "callback %u is malformed", number);
	seen[object * POKEPATCH_CALLBACK_KINDS + kind] = true;
	tables->objects_used.list[object] = true;
	TRY(find_note(check, check->parents.list[object], kind, &note));
	if (!note.source)
		return wrong(check, "no unit of %s has callback %u, of kind %u",
			     check->parents.list[object]->name, number, kind);
	struct thing *thing = source_at(note.source, note.reloc->symbol->section,
					note.reloc->symbol->value + note.reloc->addend);
	if (!thing || thing->reported != REPORTED_NEW || thing->function != thing ||
	    thing->start != note.reloc->symbol->value + note.reloc->addend)
		return wrong(check, "callback %u is no new function", number);
	return place_thing(check, thing, section, place);
}

/* There is a row for each note of a unit, and no other row. */
static struct error *check_callbacks(struct tables *tables)
{
	const struct proof *proof = tables->check->proof;
	bool *seen _free_ =
		xcalloc(tables->check->parents.count * POKEPATCH_CALLBACK_KINDS + 1, sizeof(*seen));
	uint64_t size = 0;

	for (size_t i = 0; i < proof->sources.count; i++) {
		const struct section *notes = object_find_section(&proof->sources.list[i]->object,
								  POKEPATCH_SECTION_CALLBACK_NOTES);

		size += notes ? notes->size : 0;
	}
	if (size != (uint64_t)tables->count[CALLBACKS] * NOTE_SIZE)
		return wrong(tables->check, "it has %u callbacks, not %lu",
			     tables->count[CALLBACKS], size / NOTE_SIZE);
	for (uint32_t i = 0; i < tables->count[CALLBACKS]; i++)
		TRY(check_callback(tables, i, seen));
	return NULL;
}

/* ---- leftovers ---------------------------------------------------------------------- */

/* A row names each string, symbols are in each parent, and only addresses are relocated. */
static struct error *check_nothing_else(struct tables *tables)
{
	struct check *check = tables->check;
	struct map used = {0};
	static char yes;
	const char *strings = (const char *)tables->section[STRINGS]->data + tables->at[STRINGS];
	const char *lost = NULL;
	size_t relocs = 0, seen = 0, callbacks = 0;

	*map_slot(&used, "") = &yes;
	for (size_t i = 0; i < check->parents.count; i++)
		*map_slot(&used, check->parents.list[i]->name) = &yes;
	for (size_t i = 0; i < check->symbols.count; i++) {
		*map_slot(&used, check->symbols.list[i].name) = &yes;
		*map_slot(&used, check->symbols.list[i].known->section) = &yes;
	}
	char *name _free_ = underscored(check->proof->input->name);
	*map_slot(&used, name) = &yes;
	for (uint32_t i = 0; !lost && i < tables->count[STRINGS]; i += strlen(strings + i) + 1)
		if (!map_get(&used, strings + i))
			lost = strings + i;
	map_deinit(&used);
	if (lost)
		return wrong(check, "no row names the string '%s'", lost);
	for (size_t i = 0; i < tables->objects_used.count; i++)
		if (!tables->objects_used.list[i])
			return wrong(check, "no symbol is in parent '%s'",
				     check->parents.list[i]->name);

	for (size_t i = 1; i < check->object.sections.count; i++) {
		const struct section *section = check->object.sections.list[i];

		if (section == tables->section[FUNCS])
			relocs += section->relocs.count;
		else if (section == tables->section[RELOCS])
			seen += section->relocs.count;
		else if (section == tables->section[CALLBACKS])
			callbacks += section->relocs.count;
	}
	for (uint32_t i = 0; i < tables->count[FUNCS]; i++) {
		const unsigned char *row = tables->section[FUNCS]->data + tables->at[FUNCS] +
					   i * sizeof(struct pokepatch_func);

		relocs -= 1 + !!GET32(check, row, struct pokepatch_func, new_cold_size);
	}
	if (tables->section[TEXTS]->relocs.count)
		return wrong(check, "a text is relocated");
	for (uint32_t i = 0; i < tables->count[TEXTS]; i++)
		if (!tables->texts_used[i])
			return wrong(check, "no row names the text at %u", i);
	if (relocs || seen != tables->count[RELOCS] || callbacks != tables->count[CALLBACKS])
		return wrong(check, "a table has a relocation that is none of its addresses");
	return NULL;
}

static struct error *check_all(struct tables *tables)
{
	struct check *check = tables->check;

	TRY(check_constant(check, tables->image));
	TRY(extent_add(check, tables->image, 0, sizeof(struct pokepatch_image), 8, PLACED,
		  POKEPATCH_IMAGE_SYMBOL));
	TRY(read_tables(tables));
	if (!tables->count[STRINGS] || !tables->count[FUNCS] || !tables->count[TEXTS])
		return wrong(check, "it has no functions");
	tables->texts_used = xcalloc(tables->count[TEXTS], sizeof(*tables->texts_used));
	TRY(check_header(tables));
	TRY(check_objects(tables));
	TRY(load_names(tables));
	for (uint32_t i = 0; i < tables->count[SYMBOLS]; i++)
		TRY(check_symbol(tables, i));
	TRY(read_rows(tables));
	for (uint32_t i = 0; i < tables->count[FUNCS]; i++)
		TRY(check_function(tables, i));
	TRY(check_callbacks(tables));
	return check_nothing_else(tables);
}

struct error *image_check(struct check *check)
{
	struct tables tables = {.check = check};
	const struct symbol *image = map_get(&check->by_name, POKEPATCH_IMAGE_SYMBOL);

	if (!image || image->value || !image->section->data ||
	    strcmp(image->section->name, POKEPATCH_SECTION_IMAGE) ||
	    image->section->size != sizeof(struct pokepatch_image))
		return wrong(check, "it has no image");
	tables.image = image->section;
	struct error *error = check_all(&tables);
	vec_deinit(&tables.objects_used);
	free(tables.texts_used);
	return error;
}

struct error *image_check_used(struct check *check)
{
	for (size_t i = 0; i < check->rows.count; i++)
		if (!check->rows.list[i].used)
			return wrong(check, "a relocation to '%s' at %s+%#" PRIx64
					    " is not in the compiler's output",
				     check->symbols.list[check->rows.list[i].symbol].name,
				     check->rows.list[i].section->name, check->rows.list[i].place);
		else
			check->symbols.list[check->rows.list[i].symbol].used = true;
	for (size_t i = 0; i < check->symbols.count; i++)
		if (!check->symbols.list[i].used)
			return wrong(check, "nothing uses the row of symbol '%s'",
				     check->symbols.list[i].name);
	return NULL;
}
