// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing a module for the kernel's livepatch core; see livepatch.h.  The linked module has the
 * tables of pokepatch_format.h.  The glue reads the tables of objects, symbols, functions and
 * callbacks when it is loaded, and the table of functions whenever an object is patched.  So these
 * tables stay.  The rows of the table of relocations become entries of sections
 * ".klp.rela.OBJECT.SECTION", whose symbols ".klp.sym.OBJECT.NAME,POSITION" the livepatch core
 * finds by kallsyms.  That table and the old functions' code go.
 *
 * The livepatch core relocates for vmlinux before the module loader rewrites any code or reads any
 * table (apply_relocations() in kernel/module/main.c), and for a module when that module is there.
 */
#include "pokepatch-build/livepatch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "object/atoms.h"
#include "object/object.h"
#include "object/sections.h"
#include "pokepatch-build/comparison.h"
#include "pokepatch_format.h"

/* The tables as the image points to them. */
struct table {
	struct section *section; /* NULL: the table is empty */
	uint64_t at;
	uint32_t count;
};

struct converter {
	struct build *build;
	const struct livepatch_sizes *sizes;
	struct object object;
	struct section_rules rules;
	struct symbol *image_symbol, *room;
	struct section *image;
	struct table objects, symbols, funcs, relocs, callbacks, strings;
	struct symbol **klp_symbols; /* for each row of symbols, or NULL */
	struct map sections;	     /* struct section *, by name */
	bool *patched;		     /* for each row of objects: it has functions or callbacks */
	const char *only;	     /* the only module of these, or NULL */
	struct map sources;	     /* by a symbol's name: a source file that has or uses it */
	struct string_set names;     /* the keys of sources */
};

#define GET32(converter, row, type, field)                                                         \
	object_get32(&(converter)->object, (row) + offsetof(type, field))
#define PUT32(converter, row, type, field, value)                                                  \
	object_put32(&(converter)->object, (row) + offsetof(type, field), value)

/* ---- the linked module's tables ----------------------------------------------------- */

static struct reloc *reloc_at(struct section *section, uint64_t offset)
{
	size_t count;
	struct reloc *reloc = section_relocs(section, offset, offset + 1, &count);

	return count ? reloc : NULL;
}

static struct error *bad_module(const struct converter *converter, const char *what)
{
	return error_new(STATUS_FAILED, "%s: %s; this is a bug in pokepatch-build",
			 converter->object.path, what);
}

/* Where the image's pointer at an offset leads. */
static void read_table(struct converter *converter, uint64_t pointer, uint64_t count,
		       struct table *ret)
{
	struct object *object = &converter->object;
	const struct reloc *reloc =
		reloc_at(converter->image, arch_wide_address(object->arch, pointer));

	ret->count = object_get32(object, converter->image->data + count);
	if (reloc && reloc->symbol->section) {
		ret->section = reloc->symbol->section;
		ret->at = reloc->symbol->value + reloc->addend;
	}
}

#define IMAGE(field) offsetof(struct pokepatch_image, field)

static struct error *read_tables(struct converter *converter)
{
	for (size_t i = 1; i < converter->object.symbols.count; i++) {
		struct symbol *symbol = converter->object.symbols.list[i];

		if (!strcmp(symbol->name, POKEPATCH_IMAGE_SYMBOL))
			converter->image_symbol = symbol;
		else if (!strcmp(symbol->name, POKEPATCH_LIVEPATCH_ROOM))
			converter->room = symbol;
	}
	if (!converter->image_symbol || !converter->image_symbol->section)
		return bad_module(converter, "it has no image");
	converter->image = converter->image_symbol->section;
	read_table(converter, IMAGE(objects), IMAGE(nr_objects), &converter->objects);
	read_table(converter, IMAGE(symbols), IMAGE(nr_symbols), &converter->symbols);
	read_table(converter, IMAGE(funcs), IMAGE(nr_funcs), &converter->funcs);
	read_table(converter, IMAGE(relocs), IMAGE(nr_relocs), &converter->relocs);
	read_table(converter, IMAGE(callbacks), IMAGE(nr_callbacks), &converter->callbacks);
	read_table(converter, IMAGE(strings), IMAGE(strings_size), &converter->strings);
	if (!converter->objects.section || !converter->symbols.section ||
	    !converter->funcs.section || !converter->strings.section)
		return bad_module(converter, "it lacks a table");
	return NULL;
}

static unsigned char *row_of(const struct table *table, uint64_t number, uint64_t size)
{
	return table->section->data + table->at + number * size;
}

static unsigned char *symbol_row(const struct converter *converter, uint32_t number)
{
	return row_of(&converter->symbols, number, sizeof(struct pokepatch_symbol));
}

static const char *string_at(const struct converter *converter, uint32_t offset)
{
	return (const char *)converter->strings.section->data + converter->strings.at + offset;
}

static const char *symbol_name(const struct converter *converter, const unsigned char *row)
{
	return string_at(converter, GET32(converter, row, struct pokepatch_symbol, name));
}

static const char *object_name(const struct converter *converter, uint32_t number)
{
	const unsigned char *row =
		row_of(&converter->objects, number, sizeof(struct pokepatch_object));

	return string_at(converter, GET32(converter, row, struct pokepatch_object, name));
}

/* ---- positions ---------------------------------------------------------------------- */

static struct parent *find_parent(const struct converter *converter, const char *name)
{
	const struct comparison *comparison = converter->build->comparison;

	if (!strcmp(name, "vmlinux"))
		return comparison->vmlinux;
	return map_get(&comparison->modules_by_name, name);
}

/*
 * Has the module a symbol of this name that goes with its init code?  Then the symbol's position is
 * another one while the module is loaded than later: klp_find_object_symbol() counts what is there.
 */
static bool moves(const struct parent *parent, const char *name)
{
	bool several = false, early = false;

	for (const struct parent_symbol *symbol = map_get(&parent->by_name, name); symbol;
	     symbol = symbol->next) {
		several |= symbol->next != NULL;
		early |= has_prefix(symbol->section, ".init");
	}
	return several && early && !parent_is_vmlinux(parent);
}

/* Note which of the patch's source files has or uses which symbol; what cannot be read has none. */
static void find_sources(struct converter *converter)
{
	struct string_set *names = &converter->names;
	struct build *build = converter->build;

	for (size_t i = 0; i < build->nr_units; i++) {
		const char *path = build->comparison->outputs[i];
		struct object object;
		struct error *error = path ? object_read(path, &object) : NULL;
		if (!path || error) {
			error_destroy(error);
			continue;
		}
		for (size_t j = 1; j < object.symbols.count; j++)
			if (string_set_add(names, object.symbols.list[j]->name))
				*map_slot(&converter->sources,
					  names->strings.list[names->strings.count - 1]) =
					build->units[i].source;
		object_deinit(&object);
	}
}

static void refuse(struct converter *converter, const char *subject, const char *text)
{
	if (!converter->sources.count)
		find_sources(converter);
	refusals_add(&converter->build->refusals, "needs-core",
		     map_get(&converter->sources, subject), subject,
		     "'%s' %s; build without --format livepatch", subject, text);
}

/*
 * Write the position as the livepatch core wants it: 0, and not 1, if no other symbol of the object
 * has the name, so that this core checks that.
 */
static void finish_symbol(struct converter *converter, uint32_t number)
{
	unsigned char *row = symbol_row(converter, number);
	const char *name = symbol_name(converter, row);
	const char *object = object_name(converter,
					 GET32(converter, row, struct pokepatch_symbol, object));
	const struct parent *parent = find_parent(converter, object);
	const struct parent_symbol *first = parent ? map_get(&parent->by_name, name) : NULL;

	if (!GET32(converter, row, struct pokepatch_symbol, pos))
		refuse(converter, name, "is not among the symbols that this kernel lists for its "
					"livepatch core (CONFIG_KALLSYMS_ALL)");
	else if (strlen(name) >= converter->sizes->symbol_name)
		refuse(converter, name, "is a longer name than this kernel's livepatch core takes");
	else if (strchr(name, ','))
		refuse(converter, name, "has a comma, which ends a name for the livepatch core");
	else if (strlen(object) >= converter->sizes->module_name)
		refuse(converter, object,
		       "is a longer name of a module than this kernel's livepatch core takes");
	else if (strchr(object, '.'))
		refuse(converter, object,
		       "has a dot, which ends a module's name for the livepatch core");
	else if (!first)
		refuse(converter, name, "is in no symbol table of this kernel");
	else if (moves(parent, name))
		refuse(converter, name, "is the name of a function of the module's init, too, so "
					"that the livepatch core cannot tell them apart");
	else if (!first->next)
		PUT32(converter, row, struct pokepatch_symbol, pos, 0);
}

/* ---- relocations -------------------------------------------------------------------- */

static struct symbol *klp_symbol(struct converter *converter, uint32_t number)
{
	struct symbol **symbol = &converter->klp_symbols[number];
	const unsigned char *row = symbol_row(converter, number);

	if (*symbol)
		return *symbol;
	char *name _free_ = xasprintf(
		".klp.sym.%s.%s,%u",
		object_name(converter, GET32(converter, row, struct pokepatch_symbol, object)),
		symbol_name(converter, row), GET32(converter, row, struct pokepatch_symbol, pos));
	*symbol = object_add_symbol(&converter->object, name, NULL, 0, 0, STT_NOTYPE, STB_GLOBAL);
	(*symbol)->special = SHN_LIVEPATCH;
	return *symbol;
}

static struct section *klp_section(struct converter *converter, const char *object,
				   struct section *target)
{
	char *name _free_ = xasprintf(".klp.rela.%s.%s", object, target->name);
	struct section *section = map_get(&converter->sections, name);

	if (section)
		return section;
	section = object_add_section(&converter->object, name, SHT_RELA,
				     SHF_ALLOC | SHF_INFO_LINK | SHF_RELA_LIVEPATCH, 8, 0);
	section->target = target;
	*map_slot(&converter->sections, section->name) = section;
	return section;
}

/* Note which objects the glue lists: those with functions to switch, or callbacks. */
static void find_patched(struct converter *converter)
{
	size_t modules = 0;

	converter->patched = xcalloc(converter->objects.count, sizeof(*converter->patched));
	for (uint32_t i = 0; i < converter->funcs.count; i++) {
		const unsigned char *row =
			row_of(&converter->funcs, i, sizeof(struct pokepatch_func));
		const unsigned char *old = symbol_row(
			converter, GET32(converter, row, struct pokepatch_func, symbol));

		if (GET32(converter, row, struct pokepatch_func, flags) & POKEPATCH_FUNC_CARRIED)
			continue;
		converter->patched[GET32(converter, old, struct pokepatch_symbol, object)] = true;
	}
	for (uint32_t i = 0; i < converter->callbacks.count; i++) {
		const unsigned char *row =
			row_of(&converter->callbacks, i, sizeof(struct pokepatch_callback));

		converter->patched[GET32(converter, row, struct pokepatch_callback, object)] = true;
	}
	for (uint32_t i = 1; i < converter->objects.count; i++)
		if (converter->patched[i]) {
			modules++;
			converter->only = object_name(converter, i);
		}
	if (modules != 1)
		converter->only = NULL;
}

/*
 * The module whose arrival makes the livepatch core relocate for a symbol of this object.  That
 * core does so only for the objects that the glue lists (find_patched()).  A symbol may be in
 * another module, on which its unit's module depends; then that must be the only one of these.
 */
static const char *relocating_object(struct converter *converter, uint32_t object, const char *name)
{
	if (!converter->patched[object] && converter->only)
		return converter->only;
	if (!converter->patched[object])
		refuse(converter, name, "is in a module of which the patch changes no function");
	return object_name(converter, object);
}

/*
 * Refuse a place for which a module's symbol comes too late: the loader has read or rewritten it
 * when the patch itself was loaded.
 */
static bool is_too_late(const struct converter *converter, const struct section *section)
{
	const struct section_rule *rule = section_rule_find(&converter->rules, section->name);

	return rule && rule->policy == SECTION_TABLE;
}

/* Is this a place that the loader does not write to any more once the patch is live? */
static bool is_skipped(const struct converter *converter, const struct section *section,
		       uint64_t place)
{
	const uint8_t align = converter->object.arch->loader.live_align;

	return align && (place % align || section->align < align);
}

static void add_reloc(struct converter *converter, uint64_t at)
{
	struct section *table = converter->relocs.section;
	const unsigned char *row = table->data + at;
	const struct reloc *where =
		reloc_at(table, arch_wide_address(converter->object.arch,
						  at + offsetof(struct pokepatch_reloc, where)));
	uint32_t number = GET32(converter, row, struct pokepatch_reloc, symbol);
	const unsigned char *old = symbol_row(converter, number);
	uint32_t object = GET32(converter, old, struct pokepatch_symbol, object);
	const char *name = symbol_name(converter, old);
	const char *by = object ? relocating_object(converter, object, name) : "vmlinux";
	struct section *target = where->symbol->section;

	if (object && is_too_late(converter, target))
		refuse(converter, name, "is a module's, and a table of the new code refers to it "
					"that the kernel reads when it loads the patch");
	if (object && is_skipped(converter, target, where->symbol->value + where->addend))
		refuse(converter, name, "is a module's, and unaligned data of the patch refers to "
					"it, which this machine's loader does not write later");
	section_add_reloc(klp_section(converter, by, target),
			  where->symbol->value + where->addend,
			  GET32(converter, row, struct pokepatch_reloc, type),
			  klp_symbol(converter, number),
			  (int64_t)object_get64(&converter->object,
						row + offsetof(struct pokepatch_reloc, addend)));
}

static void convert_relocs(struct converter *converter)
{
	for (uint32_t i = 0; i < converter->relocs.count; i++)
		add_reloc(converter,
			  converter->relocs.at + (uint64_t)i * sizeof(struct pokepatch_reloc));
}

/* ---- what only pokepatch's core reads ----------------------------------------------- */

/* Remove the relocations of a section between two offsets. */
static void drop_relocs(struct section *section, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < section->relocs.count; i++) {
		struct reloc *reloc = &section->relocs.list[i];

		if (reloc->offset < start || reloc->offset >= end)
			section->relocs.list[kept++] = *reloc;
	}
	section->relocs.count = kept;
}

static void clear_pointer(struct converter *converter, uint64_t pointer, uint64_t count)
{
	drop_relocs(converter->image, pointer, pointer + sizeof(uint64_t));
	object_put32(&converter->object, converter->image->data + count, 0);
}

/* Cut off the table of relocations, which finalize.c put behind the others of its section. */
static struct error *drop_reloc_table(struct converter *converter)
{
	struct table *relocs = &converter->relocs;
	uint64_t end = relocs->at + (uint64_t)relocs->count * sizeof(struct pokepatch_reloc);

	clear_pointer(converter, IMAGE(relocs), IMAGE(nr_relocs));
	if (!relocs->section)
		return NULL;
	if (relocs->section->size != end)
		return bad_module(converter, "the table of relocations is not the last of its section");
	drop_relocs(relocs->section, relocs->at, end);
	relocs->section->size = relocs->at;
	return NULL;
}

/*
 * How many bytes of code there are from a new function to the end of its section, for the glue's
 * pre_patch().
 * @at: offset of the function's row in its section
 */
static uint32_t bytes_to_end(const struct converter *converter, uint64_t at)
{
	const struct reloc *entry =
		reloc_at(converter->funcs.section,
			 arch_wide_address(converter->object.arch,
					   at + offsetof(struct pokepatch_func, new_addr)));

	return entry->symbol->section->size - (entry->symbol->value + entry->addend);
}

static void drop_texts(struct converter *converter)
{
	struct object *object = &converter->object;
	struct section *texts = object_find_section(object, POKEPATCH_SECTION_TEXTS);

	clear_pointer(converter, IMAGE(texts), IMAGE(texts_size));
	for (uint32_t i = 0; i < converter->funcs.count; i++) {
		uint64_t at = converter->funcs.at + i * sizeof(struct pokepatch_func);
		unsigned char *row = converter->funcs.section->data + at;

		PUT32(converter, row, struct pokepatch_func, text, bytes_to_end(converter, at));
		PUT32(converter, row, struct pokepatch_func, cold_text, POKEPATCH_NONE);
	}
	for (size_t i = 1; texts && i < object->symbols.count; i++) {
		if (object->symbols.list[i]->section != texts)
			continue;
		free(object->symbols.list[i]);
		object->symbols.list[i] = NULL;
	}
	for (size_t i = 1; texts && i < object->sections.count; i++) {
		if (object->sections.list[i] != texts)
			continue;
		section_destroy(texts);
		object->sections.list[i] = NULL;
		return;
	}
}

/* Refuse what the code calls or has that only pokepatch's core serves. */
static struct error *refuse_core_calls(struct converter *converter)
{
	struct build *build = converter->build;
	struct symvers core;

	TRY(symvers_read(build->core.symvers, &core));
	for (size_t i = 1; i < converter->object.symbols.count; i++) {
		const struct symbol *symbol = converter->object.symbols.list[i];

		if (!symbol->section && symbol->special == SHN_UNDEF &&
		    symvers_find(&core, symbol->name))
			refuse(converter, symbol->name, "is a function of pokepatch's core");
	}
	symvers_deinit(&core);
	return NULL;
}

/*
 * In .text, the functions that the patch switches stand in front of all other code (code_order() in
 * livepatch.c).  Refuse new code in the sections whose names have a meaning, such as .kprobes.text,
 * from which nothing reaches to the rest: the livepatch core would overlook a task there, and the
 * module would go while that task runs in it.  No task comes to .static_call.text, since the kernel
 * writes the calls themselves before the code runs.
 */
static void refuse_uncovered(struct converter *converter)
{
	static const char *const passed[] = {".text", ".init.text", ".exit.text",
					     ".static_call.text"};
	const struct object *object = &converter->object;

	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];
		size_t j = 0;

		if (symbol->type != STT_FUNC || !symbol->section)
			continue;
		while (j < ARRAY_SIZE(passed) && strcmp(symbol->section->name, passed[j]))
			j++;
		if (j < ARRAY_SIZE(passed))
			continue;
		char *text _free_ = xasprintf("is in section %s, apart from the other new code, where the "
					      "livepatch core could overlook a task",
					      symbol->section->name);
		refuse(converter, symbol->name, text);
	}
}

/*
 * The glue's pokepatch_room, which init fills in: at the end of its section, and as large as the
 * structures for this patch.
 */
static struct error *make_room(struct converter *converter)
{
	const struct livepatch_sizes *sizes = converter->sizes;
	const uint64_t objects = converter->objects.count, funcs = converter->funcs.count;
	struct symbol *room = converter->room;

	if (!room || !room->section || room->section->type != SHT_NOBITS)
		return bad_module(converter, "it has no room for livepatch's structures");
	room->value = (room->section->size + 7) / 8 * 8;
	room->size = sizes->patch + (objects + 1) * sizes->object +
		     (funcs + objects) * sizes->func + objects * sizes->part;
	room->section->size = room->value + room->size;
	return NULL;
}

static struct error *convert(struct converter *converter)
{
	TRY(read_tables(converter));
	refuse_uncovered(converter);
	TRY(refuse_core_calls(converter));
	converter->klp_symbols =
		xcalloc(converter->symbols.count, sizeof(*converter->klp_symbols));
	for (uint32_t i = 0; i < converter->symbols.count; i++)
		finish_symbol(converter, i);
	find_patched(converter);
	convert_relocs(converter);
	TRY(build_check_refusals(converter->build));
	TRY(drop_reloc_table(converter));
	TRY(make_room(converter));
	drop_texts(converter);
	/* pokepatch's core takes a module for a patch of its own by the image's name. */
	converter->image_symbol->name = POKEPATCH_LIVEPATCH_SYMBOL;
	return NULL;
}

struct error *livepatch_write(struct build *build, const struct livepatch_sizes *sizes,
			      const char *in, const char *out)
{
	struct converter converter = {.build = build, .sizes = sizes};

	TRY(object_read(in, &converter.object));
	section_rules_init(&converter.rules, converter.object.arch);
	struct error *error = convert(&converter);
	if (!error)
		error = object_write(&converter.object, out);
	section_rules_deinit(&converter.rules);
	free(converter.klp_symbols);
	free(converter.patched);
	map_deinit(&converter.sections);
	map_deinit(&converter.sources);
	string_set_deinit(&converter.names);
	object_deinit(&converter.object);
	return error;
}
