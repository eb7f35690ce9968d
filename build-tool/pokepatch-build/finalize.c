// SPDX-License-Identifier: GPL-2.0-or-later
/* Adding the tables of pokepatch_format.h to the linked object; see finalize.h. */
#include "pokepatch-build/finalize.h"

#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "pokepatch-build/about.h"
#include "pokepatch-build/section_layout.h"
#include "pokepatch-build/series.h"
#include "diff/diff_rows.h"
#include "object/atoms.h"
#include "object/object.h"
#include "pokepatch_mark.h"
#include "object/sections.h"

#define PERCPU_SECTION ".data..percpu"

/* A piece of code that the module loader rewrites before our relocations are made. */
struct site {
	const struct section *section;
	uint64_t start;
	uint64_t end; /* once sorted: the maximum of this site's end and those of earlier sites */
};

struct finalizer {
	struct build *build;
	struct object object;
	const struct externals *externals;
	struct section *strings, *symbols, *objects, *relocs, *funcs, *callbacks, *texts, *image;
	struct section *early_keys; /* see early_key(); or NULL */
	struct map string_offsets; /* from string to offset in strings, + 1 */
	uint32_t *symbol_numbers;  /* for each external: row in symbols, + 1, or 0 */
	uint32_t symbol_count, object_count, reloc_count;
	struct map object_numbers; /* from a parent's name to row in objects, + 1 */
	struct symvers core_symvers;
	VEC(struct site) sites;
	bool kallsyms_all;
};

/* ---- rows of the tables --------------------------------------------------------- */

static uint32_t add_string(struct finalizer *finalizer, const char *text)
{
	void **slot = map_slot(&finalizer->string_offsets, text);

	if (!*slot) {
		uint64_t offset =
			section_append(finalizer->strings, text, strlen(text) + 1, 1);
		*slot = (void *)(uintptr_t)(offset + 1);
	}
	return (uintptr_t)*slot - 1;
}

static unsigned char *add_row(struct section *table, uint64_t size)
{
	uint64_t offset = section_append(table, NULL, size, 8);

	return table->data + offset;
}

#define PUT32(finalizer, row, type, field, value)                                                  \
	object_put32(&(finalizer)->object, (row) + offsetof(type, field), value)
#define GET32(finalizer, row, type, field)                                                         \
	object_get32(&(finalizer)->object, (row) + offsetof(type, field))
#define PUT64(finalizer, row, type, field, value)                                                  \
	object_put64(&(finalizer)->object, (row) + offsetof(type, field), value)

static uint32_t add_object(struct finalizer *finalizer, const struct parent *parent)
{
	void **slot = map_slot(&finalizer->object_numbers, parent->name);

	if (*slot)
		return (uintptr_t)*slot - 1;

	unsigned char *row = add_row(finalizer->objects, sizeof(struct pokepatch_object));
	PUT32(finalizer, row, struct pokepatch_object, name, add_string(finalizer, parent->name));
	PUT32(finalizer, row, struct pokepatch_object, build_id_len, parent->build_id_length);
	memcpy(row + offsetof(struct pokepatch_object, build_id), parent->build_id,
	       parent->build_id_length);
	*slot = (void *)(uintptr_t)++finalizer->object_count;
	return finalizer->object_count - 1;
}

/* The row of an external in the table of symbols, which is added at the first use. */
static uint32_t add_symbol(struct finalizer *finalizer, uint32_t external_index)
{
	uint32_t *number = &finalizer->symbol_numbers[external_index];

	if (*number)
		return *number - 1;

	const struct external *external = finalizer->externals->list.list[external_index];
	const struct parent *parent = external->parent;
	const struct parent_symbol *symbol = external->symbol;
	bool vmlinux = parent == finalizer->build->comparison->vmlinux;
	bool absolute = vmlinux && (symbol->percpu || !*symbol->section);
	bool listed = symbol->function || finalizer->kallsyms_all;
	uint32_t object = add_object(finalizer, parent);
	unsigned char *row = add_row(finalizer->symbols, sizeof(struct pokepatch_symbol));

	PUT64(finalizer, row, struct pokepatch_symbol, offset,
	      vmlinux && !absolute ? symbol->value - parent->base : symbol->value);
	PUT64(finalizer, row, struct pokepatch_symbol, size, symbol->size);
	PUT32(finalizer, row, struct pokepatch_symbol, object, object);
	PUT32(finalizer, row, struct pokepatch_symbol, name, add_string(finalizer, symbol->name));
	PUT32(finalizer, row, struct pokepatch_symbol, section,
	      add_string(finalizer, vmlinux ? "" : symbol->section));
	PUT32(finalizer, row, struct pokepatch_symbol, pos,
	      listed ? parent_position(parent, symbol) : 0);
	PUT32(finalizer, row, struct pokepatch_symbol, flags,
	      (symbol->function ? POKEPATCH_SYM_FUNC : 0) |
		      (absolute ? POKEPATCH_SYM_ABS : 0));
	*number = ++finalizer->symbol_count;
	return *number - 1;
}

/* ---- relocations ------------------------------------------------------------------ */

static int site_order(const void *left, const void *right)
{
	const struct site *a = left, *b = right;

	if (a->section != b->section)
		return a->section->index < b->section->index ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

static void collect_sites(struct finalizer *finalizer)
{
	for (const struct site_table *table = finalizer->object.arch->loader.site_tables;
	     table && table->section; table++) {
		struct section *section = object_find_section(&finalizer->object, table->section);

		if (!section || section->size % table->entry)
			continue;
		for (size_t j = 0; j < section->relocs.count; j++) {
			const struct reloc *reloc = &section->relocs.list[j];

			uint64_t at = reloc->offset % table->entry, entry = reloc->offset - at;

			if ((at && at != table->piece_at) || !reloc->symbol->section)
				continue;
			uint64_t start = reloc->symbol->value + reloc->addend;
			uint8_t length_at = at ? table->piece_length_at : table->length_at;
			uint64_t length = length_at ? section->data[entry + length_at]
						    : table->length;
			*vec_push(&finalizer->sites) = (struct site){
				.section = reloc->symbol->section,
				.start = start,
				.end = start + length,
			};
		}
	}
	if (finalizer->sites.count)
		qsort(finalizer->sites.list, finalizer->sites.count, sizeof(struct site),
		      site_order);
	/* Sites nest: an alternative of several instructions may contain the site of a call. */
	for (size_t i = 1; i < finalizer->sites.count; i++) {
		struct site *site = &finalizer->sites.list[i];

		if (site->section == site[-1].section && site->end < site[-1].end)
			site->end = site[-1].end;
	}
}

static bool is_rewritten(const struct finalizer *finalizer, const struct section *section,
			 uint64_t offset)
{
	const struct site key = {.section = section, .start = offset};
	const struct site *list = finalizer->sites.list;
	const char *replacements = finalizer->object.arch->loader.replacement_section;

	if (replacements && !strcmp(section->name, replacements))
		return true;
	size_t behind = first_index(i, finalizer->sites.count, site_order(&list[i], &key) > 0);
	return behind && list[behind - 1].section == section && offset < list[behind - 1].end;
}

/* The function at a place, or else the section, for messages. */
static const char *function_at(const struct finalizer *finalizer, const struct section *section,
			       uint64_t offset)
{
	for (size_t i = 1; i < finalizer->object.symbols.count; i++) {
		const struct symbol *symbol = finalizer->object.symbols.list[i];

		if (symbol && symbol->section == section && symbol->type == STT_FUNC &&
		    offset >= symbol->value && offset - symbol->value < symbol->size)
			return symbol->name;
	}
	return section->name;
}

/*
 * Refuse addresses in the per-CPU section.  The loader makes no relocations there, as it has
 * cleared the section's SHF_ALLOC (kernel/module/main.c, layout_and_allocate() and
 * apply_relocations()), and copies it for every processor before any notifier runs.
 */
static void refuse_in_percpu(struct finalizer *finalizer, const struct section *section)
{
	for (size_t i = 0; i < section->relocs.count; i++) {
		const struct symbol *symbol = section->relocs.list[i].symbol;
		const char *name = symbol->type == STT_SECTION ? symbol->section->name : symbol->name;

		refusals_add(&finalizer->build->refusals, "relocation-in-percpu", NULL, name,
			     "a new per-CPU variable holds the address of '%s', and the module "
			     "loader would leave it NULL; set it at run time, in code",
			     name);
	}
}

/* Refuse a place that the loader rewrites before the core makes its relocations. */
static void refuse_place(struct finalizer *finalizer, const struct section *section,
			 uint64_t offset, const char *name)
{
	struct refusals *refusals = &finalizer->build->refusals;

	if (is_rewritten(finalizer, section, offset))
		refusals_add(refusals, "relocation-in-alternative", NULL, name,
			     "%s() refers to '%s', which is not exported, from an instruction "
			     "that the kernel rewrites when it loads a module; leave the function "
			     "out of the patch",
			     function_at(finalizer, section, offset), name);
}

/*
 * Refuse types that may not reach the kernel from the module: the distance is not known before the
 * module is loaded.  Refuse also those that section_layout.c could not move to an allowed place.
 */
static void refuse_type(struct finalizer *finalizer, const struct section *section,
			const struct reloc *reloc, const char *name)
{
	const struct arch *arch = finalizer->object.arch;
	const struct reloc_kind *kind = arch_reloc(arch, reloc->type);
	struct refusals *refusals = &finalizer->build->refusals;

	if (!section_is_text(section))
		return;
	if (kind && kind->near)
		refusals_add(refusals, "relocation-out-of-reach", NULL, name,
			     "%s() refers to '%s', which is not exported, by an instruction that "
			     "does not reach as far as the kernel may be; leave the function out "
			     "of the patch",
			     function_at(finalizer, section, reloc->offset), name);
	else if (!late_limit_allows(arch->loader.late_limit, reloc->type, reloc->offset))
		refusals_add(refusals, "relocation-out-of-reach", NULL, name,
			     "%s() takes the address of '%s' at the end of a page, where this "
			     "processor's erratum forbids it, and no other layout of the patch "
			     "avoids that; make the patch smaller",
			     function_at(finalizer, section, reloc->offset), name);
}

static void add_reloc(struct finalizer *finalizer, struct section *section,
		      const struct reloc *reloc, uint32_t external)
{
	struct object *object = &finalizer->object;
	const struct late_limit *limit = object->arch->loader.late_limit;
	uint32_t symbol = add_symbol(finalizer, external);
	unsigned char *row = add_row(finalizer->relocs, sizeof(struct pokepatch_reloc));
	uint64_t place = row - finalizer->relocs->data;

	PUT64(finalizer, row, struct pokepatch_reloc, addend, reloc->addend);
	PUT32(finalizer, row, struct pokepatch_reloc, symbol, symbol);
	PUT32(finalizer, row, struct pokepatch_reloc, type, reloc->type);
	if (section_is_text(section) && late_limit_applies(limit, reloc->type) &&
	    section->align < limit->align)
		section->align = limit->align;
	section_add_address(object, finalizer->relocs,
			    place + offsetof(struct pokepatch_reloc, where),
			    object_section_symbol(object, section), reloc->offset);
	finalizer->reloc_count++;
	refuse_place(finalizer, section, reloc->offset,
		     finalizer->externals->list.list[external]->name);
	refuse_type(finalizer, section, reloc, finalizer->externals->list.list[external]->name);
}

/* struct static_key in include/linux/jump_label.h, of 64-bit kernels. */
#define KEY_SIZE 16
#define KEY_TYPE 8 /* offset of the field that tells if the key is initially on */

/*
 * A reference to a static key that the core relocates later, on a machine whose loader reads the
 * keys of a module's branches before that (jump_label_apply_nops()).
 *
 * Until the core makes the relocation, let the reference lead to a key of our own, in a state with
 * which the loader takes the instruction for a jump and leaves it as it is.  That is a key that is
 * off for a branch compiled as the likely one (JUMP_ENTRY_BRANCH), and a key that is on for others.
 */
static struct reloc early_key(struct finalizer *finalizer, const struct reloc *reloc)
{
	struct object *object = &finalizer->object;
	struct section **keys = &finalizer->early_keys;

	if (!*keys) {
		*keys = object_add_section(object, ".data.early_keys", SHT_PROGBITS,
					   SHF_ALLOC | SHF_WRITE, 16, 0);
		section_append(*keys, NULL, 2 * KEY_SIZE, 16);
	}
	if (!(reloc->addend & JUMP_ENTRY_BRANCH))
		object_put64(object, (*keys)->data + KEY_SIZE + KEY_TYPE, 1);
	return (struct reloc){
		.offset = reloc->offset,
		.type = reloc->type,
		.symbol = object_section_symbol(object, *keys),
		.addend = (reloc->addend & JUMP_ENTRY_BRANCH ? 0 : KEY_SIZE) +
			  (reloc->addend & JUMP_ENTRY_FLAGS),
	};
}

/* Move references that the loader cannot resolve from a section into our table. */
static void convert_section(struct finalizer *finalizer, struct section *section,
			    const struct section_rules *rules)
{
	const struct section_rule *rule = section_rule_find(rules, section->name);
	size_t kept = 0;

	if (has_prefix(section->name, PERCPU_SECTION))
		refuse_in_percpu(finalizer, section);
	for (size_t i = 0; i < section->relocs.count; i++) {
		const struct reloc *reloc = &section->relocs.list[i];
		void *index = reloc->symbol->section
				      ? NULL
				      : map_get(&finalizer->externals->by_link_name,
						reloc->symbol->name);

		if (index)
			add_reloc(finalizer, section, reloc, (uintptr_t)index - 1);
		if (!index)
			section->relocs.list[kept++] = *reloc;
		else if (finalizer->object.arch->loader.reads_keys &&
			 section_rule_key(rule, reloc->offset))
			section->relocs.list[kept++] = early_key(finalizer, reloc);
	}
	section->relocs.count = kept;
}

/* Sections that the module does not need: for objtool alone, or the glue's debug information. */
static bool is_discarded(const struct section *section)
{
	return has_prefix(section->name, ".discard") || has_prefix(section->name, ".debug") ||
	       has_prefix(section->name, ".comment");
}

/*
 * With call depth tracking the loader reads where each listed call leads, and would warn about the
 * calls that the core relocates only afterwards.  Take those out of the table.  The depth is then
 * counted as one less, which is on the safe side.
 */
static void drop_late_calls(struct finalizer *finalizer)
{
	const struct arch_loader *loader = &finalizer->object.arch->loader;
	struct section *table = loader->call_table
					? object_find_section(&finalizer->object, loader->call_table)
					: NULL;
	size_t kept = 0, entry = table && table->relocs.count
					 ? table->size / table->relocs.count
					 : 0;

	for (size_t i = 0; entry && i < table->relocs.count; i++) {
		struct reloc reloc = table->relocs.list[i];
		uint64_t call = reloc.symbol->value + reloc.addend;
		size_t count;
		const struct reloc *field =
			reloc.symbol->section ? section_relocs(reloc.symbol->section, call,
							       call + loader->call_length, &count)
					      : NULL;

		if (field && count && !field->symbol->section &&
		    map_get(&finalizer->externals->by_link_name, field->symbol->name))
			continue;
		reloc.offset = kept * entry;
		table->relocs.list[kept++] = reloc;
	}
	if (entry) {
		table->relocs.count = kept;
		table->size = kept * entry;
	}
}

static void convert_relocs(struct finalizer *finalizer)
{
	struct object *object = &finalizer->object;
	size_t section_count = object->sections.count;
	struct section_rules rules;

	drop_late_calls(finalizer);

	collect_sites(finalizer);
	section_rules_init(&rules, object->arch);
	for (size_t i = 1; i < section_count; i++)
		if (!is_discarded(object->sections.list[i]))
			convert_section(finalizer, object->sections.list[i], &rules);
	section_rules_deinit(&rules);
}

/* Free those sections, and the symbols that nothing refers to any more; their slots become NULL. */
static void drop_discarded(struct finalizer *finalizer)
{
	struct object *object = &finalizer->object;

	for (size_t i = 1; i < object->symbols.count; i++) {
		struct symbol *symbol = object->symbols.list[i];
		bool external = !symbol->section &&
				map_get(&finalizer->externals->by_link_name, symbol->name);

		if (external || (symbol->section && is_discarded(symbol->section))) {
			free(symbol);
			object->symbols.list[i] = NULL;
		}
	}
	for (size_t i = 1; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];

		if (!is_discarded(section))
			continue;
		vec_deinit(&section->relocs);
		if (section->own_data)
			free(section->data);
		free(section);
		object->sections.list[i] = NULL;
	}
}

/* ---- tables ------------------------------------------------------------------------- */

/* Add an external's code, as verify.c has verified it.  Return: its offset in texts. */
static uint32_t add_text(struct finalizer *finalizer, uint32_t external)
{
	const struct buffer *text = &finalizer->build->comparison->texts[external];

	return section_append(finalizer->texts, text->text, text->length, 1);
}

/* Where the image has an old function, or the .cold part of one. */
struct old_code {
	uint32_t symbol; /* row of symbols, or POKEPATCH_NONE: there is no such part */
	uint32_t text;	 /* its code in texts, likewise */
};

static struct old_code add_old_code(struct finalizer *finalizer, uint32_t external)
{
	struct old_code ret = {POKEPATCH_NONE, POKEPATCH_NONE};

	if (external == POKEPATCH_NONE)
		return ret;
	ret.symbol = add_symbol(finalizer, external);
	ret.text = add_text(finalizer, external);
	return ret;
}

/*
 * Replace the differ's row of a function by the image's.  The addresses of the new code stay: the
 * section's relocations write them.
 */
static void finish_function(struct finalizer *finalizer, unsigned char *row)
{
	uint32_t new_size = GET32(finalizer, row, struct diff_func_row, new_size);
	uint32_t new_cold_size = GET32(finalizer, row, struct diff_func_row, new_cold_size);
	uint32_t old = GET32(finalizer, row, struct diff_func_row, old);
	uint32_t old_cold = GET32(finalizer, row, struct diff_func_row, old_cold);
	uint32_t mode = GET32(finalizer, row, struct diff_func_row, mode);
	uint32_t flags = GET32(finalizer, row, struct diff_func_row, flags);
	struct old_code hot = add_old_code(finalizer, old);
	struct old_code cold = add_old_code(finalizer, old_cold);

	PUT32(finalizer, row, struct pokepatch_func, new_size, new_size);
	PUT32(finalizer, row, struct pokepatch_func, new_cold_size, new_cold_size);
	PUT32(finalizer, row, struct pokepatch_func, symbol, hot.symbol);
	PUT32(finalizer, row, struct pokepatch_func, cold, cold.symbol);
	PUT32(finalizer, row, struct pokepatch_func, mode, mode);
	PUT32(finalizer, row, struct pokepatch_func, flags, flags);
	PUT32(finalizer, row, struct pokepatch_func, text, hot.text);
	PUT32(finalizer, row, struct pokepatch_func, cold_text, cold.text);
}

/* Replace the differ's row of a callback by the image's; the callback's address stays. */
static void finish_callback(struct finalizer *finalizer, unsigned char *row)
{
	uint32_t parent = GET32(finalizer, row, struct diff_callback_row, parent);
	uint32_t kind = GET32(finalizer, row, struct diff_callback_row, kind);

	PUT32(finalizer, row, struct pokepatch_callback, object,
	      add_object(finalizer, finalizer->externals->parents.list[parent]));
	PUT32(finalizer, row, struct pokepatch_callback, kind, kind);
}

static void finish_rows(struct finalizer *finalizer)
{
	struct section *funcs = finalizer->funcs, *callbacks = finalizer->callbacks;
	uint64_t at;

	for (at = 0; at + sizeof(struct diff_func_row) <= funcs->size;
	     at += sizeof(struct diff_func_row))
		finish_function(finalizer, funcs->data + at);
	for (at = 0; callbacks && at + sizeof(struct diff_callback_row) <= callbacks->size;
	     at += sizeof(struct diff_callback_row))
		finish_callback(finalizer, callbacks->data + at);
}

static struct section *add_table(struct finalizer *finalizer, const char *name)
{
	return object_add_section(&finalizer->object, name, SHT_PROGBITS, SHF_ALLOC, 8, 0);
}

static void put_pointer(struct finalizer *finalizer, uint64_t field, struct section *table)
{
	struct object *object = &finalizer->object;

	if (table && table->size)
		section_add_address(object, finalizer->image, field,
				    object_section_symbol(object, table), 0);
}

#define IMAGE(field) offsetof(struct pokepatch_image, field)

/* Point the image to the glue's stubs, if it has any; make_glue() made one for each function. */
static void put_stubs(struct finalizer *finalizer)
{
	struct object *object = &finalizer->object;

	for (size_t i = 1; i < object->symbols.count; i++) {
		struct symbol *symbol = object->symbols.list[i];

		if (!symbol || !symbol->section || strcmp(symbol->name, POKEPATCH_STUBS_SYMBOL))
			continue;
		section_add_address(object, finalizer->image, IMAGE(stubs),
				    object_section_symbol(object, symbol->section), symbol->value);
		PUT32(finalizer, finalizer->image->data, struct pokepatch_image, nr_stubs,
		      finalizer->funcs->size / sizeof(struct pokepatch_func));
		return;
	}
}

/* Point the image to the section that the linker made of all markers. */
static void put_markers(struct finalizer *finalizer)
{
	struct section *markers =
		object_find_section(&finalizer->object, POKEPATCH_SECTION_MARKERS);

	if (!markers)
		return;
	put_pointer(finalizer, IMAGE(markers), markers);
	PUT32(finalizer, finalizer->image->data, struct pokepatch_image, nr_markers,
	      markers->size / sizeof(struct pokepatch_marker));
}

static struct error *fill_image(struct finalizer *finalizer)
{
	struct object *object = &finalizer->object;
	struct section *image = finalizer->image;
	char *name _free_ = underscored(finalizer->build->name);

	section_append(image, NULL, sizeof(struct pokepatch_image), 8);
	PUT64(finalizer, image->data, struct pokepatch_image, magic, POKEPATCH_MAGIC);
	PUT32(finalizer, image->data, struct pokepatch_image, format, POKEPATCH_FORMAT);
	PUT32(finalizer, image->data, struct pokepatch_image, size,
	      sizeof(struct pokepatch_image));
	PUT32(finalizer, image->data, struct pokepatch_image, transition,
	      finalizer->build->options.transition);
	PUT32(finalizer, image->data, struct pokepatch_image, level,
	      finalizer->build->options.level);
	PUT32(finalizer, image->data, struct pokepatch_image, least_level,
	      finalizer->build->options.least_level);
	PUT32(finalizer, image->data, struct pokepatch_image, nr_objects, finalizer->object_count);
	PUT32(finalizer, image->data, struct pokepatch_image, nr_symbols, finalizer->symbol_count);
	PUT32(finalizer, image->data, struct pokepatch_image, nr_funcs,
	      finalizer->funcs->size / sizeof(struct pokepatch_func));
	PUT32(finalizer, image->data, struct pokepatch_image, nr_relocs, finalizer->reloc_count);
	PUT32(finalizer, image->data, struct pokepatch_image, nr_callbacks,
	      finalizer->callbacks
		      ? finalizer->callbacks->size / sizeof(struct pokepatch_callback)
		      : 0);
	PUT32(finalizer, image->data, struct pokepatch_image, name, add_string(finalizer, name));
	PUT32(finalizer, image->data, struct pokepatch_image, strings_size,
	      finalizer->strings->size);
	PUT32(finalizer, image->data, struct pokepatch_image, texts_size, finalizer->texts->size);
	PUT32(finalizer, image->data, struct pokepatch_image, flags,
	      comparison_escapes(finalizer->build->comparison) ? POKEPATCH_IMAGE_PINNED : 0);
	put_pointer(finalizer, IMAGE(objects), finalizer->objects);
	put_pointer(finalizer, IMAGE(symbols), finalizer->symbols);
	put_pointer(finalizer, IMAGE(funcs), finalizer->funcs);
	put_pointer(finalizer, IMAGE(relocs), finalizer->relocs);
	put_pointer(finalizer, IMAGE(callbacks), finalizer->callbacks);
	put_pointer(finalizer, IMAGE(strings), finalizer->strings);
	put_pointer(finalizer, IMAGE(texts), finalizer->texts);
	put_stubs(finalizer);
	put_markers(finalizer);

	for (size_t i = 1; i < object->symbols.count; i++) {
		struct symbol *symbol = object->symbols.list[i];

		if (!symbol || symbol->section || strcmp(symbol->name, POKEPATCH_IMAGE_SYMBOL))
			continue;
		symbol->section = image;
		symbol->type = STT_OBJECT;
		symbol->size = sizeof(struct pokepatch_image);
		return NULL;
	}
	return error_new(STATUS_FAILED, "the glue does not refer to %s; is %s the glue of this "
					"version?",
			 POKEPATCH_IMAGE_SYMBOL, finalizer->build->glue_object);
}

/*
 * Refuse undefined symbols that the module loader will not find.  By now the image is defined, and
 * the core's relocations are in our table.
 */
static void refuse_missing(struct finalizer *finalizer)
{
	struct build *build = finalizer->build;

	for (size_t i = 1; i < finalizer->object.symbols.count; i++) {
		const struct symbol *symbol = finalizer->object.symbols.list[i];

		if (!symbol || symbol->section || symbol->special != SHN_UNDEF ||
		    !strcmp(symbol->name, "__this_module") || /* comes with .mod.o */
		    symvers_provide(&build->comparison->symvers, &finalizer->core_symvers,
				    symbol->name))
			continue;
		refusals_add(&build->refusals, "symbol-missing", NULL, symbol->name,
			     "the new code uses '%s', which neither this kernel nor the patch "
			     "defines; check its spelling, and that this configuration has it",
			     symbol->name);
	}
}

/* ---- modinfo, report -------------------------------------------------------------------- */

static void add_modinfo(struct section *modinfo, const char *key, const char *value)
{
	char *line _free_ = xasprintf("%s=%s", key, value);

	section_append(modinfo, line, strlen(line) + 1, 1);
}

static void fill_modinfo(struct finalizer *finalizer)
{
	struct object *object = &finalizer->object;
	struct build *build = finalizer->build;
	struct section *modinfo = object_find_section(object, ".modinfo");
	struct map seen = {0};
	char *source _free_ = patches_sum(build);
	struct buffer build_id = {0};
	struct args about = {0};

	if (!modinfo)
		modinfo = object_add_section(object, ".modinfo", SHT_PROGBITS, SHF_ALLOC, 1, 0);
	const struct parent *vmlinux = build->comparison->vmlinux;
	for (uint32_t i = 0; i < vmlinux->build_id_length; i++)
		buffer_printf(&build_id, "%02x", vmlinux->build_id[i]);

	char *format _free_ = xasprintf("%u", POKEPATCH_FORMAT);
	add_modinfo(modinfo, "pokepatch", format);
	add_modinfo(modinfo, "pokepatch_kernel", build->release);
	add_modinfo(modinfo, "pokepatch_build_id", build_id.text);
	add_modinfo(modinfo, "pokepatch_source", source);
	about_lines(build, &about);
	for (size_t i = 0; i < about.count; i++)
		section_append(modinfo, about.list[i], strlen(about.list[i]) + 1, 1);
	args_deinit(&about);
	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];
		const struct export *export =
			symbol && !symbol->section
				? symvers_find(&build->comparison->symvers, symbol->name)
				: NULL;

		if (!export || !*export->namespace || map_has(&seen, export->namespace))
			continue;
		*map_slot(&seen, export->namespace) = NULL;
		add_modinfo(modinfo, "import_ns", export->namespace);
	}
	map_deinit(&seen);
	buffer_deinit(&build_id);
}

static struct error *finalize(struct finalizer *finalizer, const char *report)
{
	struct object *object = &finalizer->object;

	finalizer->funcs = object_find_section(object, DIFF_SECTION_FUNCS);
	finalizer->callbacks = object_find_section(object, DIFF_SECTION_CALLBACKS);
	finalizer->strings = add_table(finalizer, POKEPATCH_SECTION_STRINGS);
	finalizer->strings->align = 1;
	finalizer->texts = add_table(finalizer, POKEPATCH_SECTION_TEXTS);
	finalizer->texts->align = 1;
	finalizer->objects = add_table(finalizer, POKEPATCH_SECTION_TABLES);
	finalizer->symbols = add_table(finalizer, POKEPATCH_SECTION_TABLES);
	finalizer->relocs = add_table(finalizer, POKEPATCH_SECTION_TABLES);
	finalizer->image = add_table(finalizer, POKEPATCH_SECTION_IMAGE);
	if (!finalizer->funcs)
		return error_new(STATUS_FAILED, "the linked object has no table of functions");

	add_string(finalizer, ""); /* offset 0 */
	add_object(finalizer, finalizer->build->comparison->vmlinux); /* always row 0 */
	convert_relocs(finalizer);
	finish_rows(finalizer);
	drop_discarded(finalizer);
	TRY(fill_image(finalizer));
	refuse_missing(finalizer);
	fill_modinfo(finalizer);

	/* SHT_LOUSER, for programs' own use (gABI): modpost rejects PROGBITS without SHF_ALLOC. */
	struct section *json =
		object_add_section(object, POKEPATCH_SECTION_REPORT, SHT_LOUSER, 0, 1, 0);
	section_append(json, report, strlen(report) + 1, 1);
	return NULL;
}

static struct error *config_has(const char *path, const char *line, bool *ret)
{
	char *text _free_ = NULL;

	TRY(file_read(path, &text, NULL));
	char *wanted _free_ = xasprintf("\n%s\n", line);
	*ret = strstr(text, wanted) != NULL;
	return NULL;
}

struct error *finalize_object(struct build *build, const char *in, const char *out,
			      const char *report)
{
	struct finalizer finalizer = {.build = build, .externals = &build->comparison->externals};

	TRY(config_has(build->files.config, "CONFIG_KALLSYMS_ALL=y", &finalizer.kallsyms_all));
	TRY(symvers_read(build->core.symvers, &finalizer.core_symvers));
	struct error *error = object_read(in, &finalizer.object);
	if (error) {
		symvers_deinit(&finalizer.core_symvers);
		return error;
	}
	finalizer.symbol_numbers =
		xcalloc(finalizer.externals->list.count, sizeof(*finalizer.symbol_numbers));

	error = finalize(&finalizer, report);
	if (!error)
		error = build_check_refusals(build);
	if (!error)
		error = object_write(&finalizer.object, out);
	free(finalizer.symbol_numbers);
	vec_deinit(&finalizer.sites);
	map_deinit(&finalizer.string_offsets);
	map_deinit(&finalizer.object_numbers);
	object_deinit(&finalizer.object);
	symvers_deinit(&finalizer.core_symvers);
	return error;
}
