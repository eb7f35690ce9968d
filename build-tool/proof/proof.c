// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The proof as a whole: open what does not depend on the module, then make all checks of a module.
 * At the end every byte of every loaded section must belong to something.
 */
#include "proof/proof.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "proof/proof_check.h"
#include "proof/proof_constants.h"
#include "proof/proof_image.h"
#include "proof/proof_match.h"
#include "proof/proof_modinfo.h"
#include "proof/proof_notes.h"
#include "proof/proof_seals.h"
#include "proof/proof_sites.h"
#include "proof/proof_tables.h"
#include "proof/proof_unwind.h"

struct error *wrong(const struct check *check, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	char *text _free_ = xvasprintf(format, arguments);
	va_end(arguments);
	return error_new(STATUS_FAILED,
			 "%s: the finished module is wrong: %s; this is a bug in pokepatch-build",
			 check->object.path, text);
}

/* ---- what does not depend on the module --------------------------------------------- */

struct symtab *proof_parent(const struct proof *proof, const char *name)
{
	return map_get(&proof->parents_by_name, name);
}

bool proof_provides(const struct proof *proof, const char *name)
{
	const struct export *export = symvers_find(&proof->symvers, name);

	return (export && !strcmp(export->module, "vmlinux")) ||
	       symvers_find(&proof->core_symvers, name);
}

static void add_global(struct proof *proof, const char *name, struct source *source)
{
	*map_slot(&proof->globals, name) = source;
	if (source->unit)
		*map_slot(&proof->globals, *vec_push(&proof->keys) = xasprintf(
				  "%s:%s", source->unit->parent, name)) = source;
}

struct source *proof_definer(const struct proof *proof, const struct source *from,
			     const char *name)
{
	char *own _free_ = from->unit ? xasprintf("%s:%s", from->unit->parent, name) : NULL;
	struct source *source = own ? map_get(&proof->globals, own) : NULL;

	return source ?: map_get(&proof->globals, name);
}

static struct error *add_source(struct proof *proof, const struct proof_unit *unit,
				const char *name, const char *path, const char *unwound)
{
	struct source *source = xcalloc(1, sizeof(*source));

	*vec_push(&proof->sources) = source;
	TRY(source_open(source, unit, name, path, unwound));
	if (proof->arch && proof->arch != source->object.arch)
		return error_new(STATUS_FAILED, "%s: of another machine than %s", path,
				 proof->sources.list[0]->object.path);
	proof->arch = source->object.arch;
	proof->rules = source->rules;
	for (size_t i = 1; i < source->object.symbols.count; i++) {
		const struct symbol *symbol = source->object.symbols.list[i];

		if (symbol->section && symbol->bind != STB_LOCAL)
			add_global(proof, symbol->name, source);
	}
	if (!unit)
		return NULL;
	source->parent = proof_parent(proof, unit->parent);
	if (!source->parent)
		return error_new(STATUS_FAILED, "%s: no symbol table of %s", unit->name,
				 unit->parent);
	const char *slash = strrchr(unit->name, '/');
	symtab_blocks(source->parent, slash ? slash + 1 : unit->name, &source->orig_by_name,
		      &source->blocks);
	return NULL;
}

static struct error *open_all(struct proof *proof)
{
	const struct proof_input *input = proof->input;

	TRY(symvers_read(input->symvers, &proof->symvers));
	TRY(symvers_read(input->core_symvers, &proof->core_symvers));
	for (size_t i = 0; i < input->parents.count; i++) {
		const struct proof_parent *parent = &input->parents.list[i];
		struct symtab *symtab = i ? NULL : input->vmlinux;

		if (!symtab)
			TRY(symtab_open(parent->name, parent->path, &symtab));
		*vec_push(&proof->parents) = symtab;
		*map_slot(&proof->parents_by_name, parent->name) = symtab;
	}
	for (size_t i = 0; i < input->units.count; i++)
		TRY(add_source(proof, &input->units.list[i], input->units.list[i].name,
			       input->units.list[i].patched, input->units.list[i].unwound));
	TRY(add_source(proof, NULL, "the glue", input->glue, input->glue_unwound));
	TRY(add_source(proof, NULL, "modpost's part", input->mod, NULL));
	return input->common ? add_source(proof, NULL, "the kernel's part", input->common, NULL)
			     : NULL;
}

struct error *proof_read_vmlinux(const char *path, struct symtab **ret)
{
	return symtab_open("vmlinux", path, ret);
}

void proof_free_vmlinux(struct symtab *symtab)
{
	symtab_close(symtab);
}

struct error *proof_open(const struct proof_input *input, struct proof **ret)
{
	struct proof *proof = xcalloc(1, sizeof(*proof));

	proof->input = input;
	struct error *error = open_all(proof);
	if (error) {
		proof_close(proof);
		return error;
	}
	*ret = proof;
	return NULL;
}

void proof_close(struct proof *proof)
{
	if (!proof)
		return;
	for (size_t i = 0; i < proof->sources.count; i++)
		source_close(proof->sources.list[i]);
	vec_deinit(&proof->sources);
	for (size_t i = 0; i < proof->parents.count; i++)
		if (proof->parents.list[i] != proof->input->vmlinux)
			symtab_close(proof->parents.list[i]);
	vec_deinit(&proof->parents);
	map_deinit(&proof->parents_by_name);
	map_deinit(&proof->globals);
	for (size_t i = 0; i < proof->keys.count; i++)
		free(proof->keys.list[i]);
	vec_deinit(&proof->keys);
	symvers_deinit(&proof->symvers);
	symvers_deinit(&proof->core_symvers);
	free(proof);
}

/* ---- every byte --------------------------------------------------------------------- */

struct error *extent_add(struct check *check, const struct section *section, uint64_t start,
		    uint64_t length, uint64_t align, enum extent_kind kind, const char *name)
{
	if (start > section->size || length > section->size - start)
		return wrong(check, "'%s' reaches beyond section %s", name, section->name);
	if (align > 1 && (start % align || section->align < align))
		return wrong(check, "'%s' is not aligned to %" PRIu64 " bytes", name, align);
	*vec_push(&check->extents[section->index]) = (struct extent){
		.start = start, .end = start + length, .align = align, .kind = kind, .name = name};
	return NULL;
}

struct error *check_constant(const struct check *check, const struct section *section)
{
	if ((section->flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)) == SHF_ALLOC)
		return NULL;
	return wrong(check, "section %s has flags %#" PRIx64, section->name, section->flags);
}

static int extent_order(const void *left, const void *right)
{
	const struct extent *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/*
 * Where padding begins in a gap between functions, if not at its start: pokepatch puts an
 * instruction behind a call that does not return, so that objtool follows the code no further.
 */
static uint64_t padding_start(const struct check *check, const struct section *section,
			      uint64_t start, uint64_t end)
{
	const struct proof_rules *rules = check->proof->rules;
	uint64_t length = rules->dead_end ? rules->dead_end_length : 0;

	if (!start || !length || !section_is_text(section) || end - start < length ||
	    memcmp(section->data + start, rules->dead_end, length))
		return start;
	return start + length;
}

static bool is_padding(const struct check *check, const struct section *section, uint64_t start,
		       uint64_t end)
{
	const struct proof_rules *rules = check->proof->rules;

	for (uint64_t i = padding_start(check, section, start, end); section->data && i < end; i++)
		if (section->data[i] &&
		    (!section_is_text(section) ||
		     !memchr(rules->padding, section->data[i], rules->padding_length)))
			return false;
	struct cursor cursor = cursor_at((struct check *)check, section, start);
	struct fixup fixup;
	return !cursor_next(&cursor, end, &fixup);
}

static bool may_overlap(const struct extent *a, const struct extent *b)
{
	if (a->kind != b->kind || a->kind == PLACED)
		return false;
	return a->kind == SHARED || (a->start == b->start && a->end == b->end);
}

static struct error *check_covered(struct check *check, const struct section *section)
{
	struct extent *list = check->extents[section->index].list;
	size_t count = check->extents[section->index].count;
	uint64_t end = 0;
	const struct extent *before = NULL;

	if (count)
		qsort(list, count, sizeof(*list), extent_order);
	for (size_t i = 0; i <= count; i++) {
		uint64_t start = i < count ? list[i].start : section->size;
		uint64_t align = i < count && end ? list[i].align : section->align;

		if (i < count && list[i].start == list[i].end)
			continue;
		if (start < end && !may_overlap(before, &list[i]))
			return wrong(check, "'%s' and '%s' overlap in section %s", before->name,
				     list[i].name, section->name);
		/*
		 * A section of code may begin with less padding than its alignment
		 * (pokepatch-build/section_layout.c).
		 */
		if (start > end && (start - end >= (align > 64 ? align : 64) ||
				    !is_padding(check, section, end, start)))
			return wrong(check, "bytes %#" PRIx64 " to %#" PRIx64
					    " of section %s belong to nothing",
				     end, start, section->name);
		if (start > end)
			TRY(unwind_check_gap(check, section, end,
					     padding_start(check, section, end, start), start));
		if (i < count && list[i].end >= end) {
			end = list[i].end;
			before = &list[i];
		}
	}
	return NULL;
}

static struct error *check_all_covered(struct check *check)
{
	for (size_t i = 1; i < check->object.sections.count; i++) {
		const struct section *section = check->object.sections.list[i];

		if (section_is_loaded(section))
			TRY(check_covered(check, section));
	}
	return NULL;
}

/* ---- things that nothing refers to -------------------------------------------------- */

static bool is_taken(const struct check *check, const struct section *section, uint64_t start,
		       uint64_t end)
{
	for (size_t i = 0; i < check->extents[section->index].count; i++) {
		const struct extent *extent = &check->extents[section->index].list[i];

		if (extent->start < end && start < extent->end)
			return true;
	}
	return false;
}

/* Units of several modules may define one of that name: then it is NAME.MODULE. */
static bool is_named(const struct symbol *symbol, const struct thing *thing)
{
	const char *name = thing->symbol->name;
	size_t length = strlen(name);

	return !strncmp(symbol->name, name, length) &&
	       (!symbol->name[length] ||
		(symbol->name[length] == '.' &&
		 !strcmp(symbol->name + length + 1, thing->source->unit->parent)));
}

/*
 * Nothing in the patch refers to this new function or datum; another patch may.  The module has it
 * under its name.
 */
static struct error *place_reported(struct check *check, struct thing *thing)
{
	for (size_t i = 1; i < check->object.symbols.count; i++) {
		const struct symbol *symbol = check->object.symbols.list[i];

		if (symbol->section && symbol->type == thing->symbol->type &&
		    is_named(symbol, thing) && symbol->size == thing->symbol->size &&
		    !is_taken(check, symbol->section, symbol->value,
				symbol->value + symbol->size))
			return place_thing(check, thing, symbol->section, symbol->value);
	}
	return wrong(check, "'%s' is not in it", thing_name(thing));
}

/* A piece of the glue or of modpost's part: it takes the first free place in its section. */
static struct error *place_loose(struct check *check, struct thing *thing)
{
	const struct section *section =
		object_find_section(&check->object, thing->section->name);
	uint64_t size = thing->end - thing->start, align = thing->section->align;

	if (!section)
		return wrong(check, "it has no section %s", thing->section->name);
	for (uint64_t at = 0; at + size <= section->size; at += align)
		if (!is_taken(check, section, at, at + size))
			return place_thing(check, thing, section, at);
	return wrong(check, "section %s of %s is not in it", section->name, thing->source->name);
}

static bool is_linkers(const struct proof_rules *rules, const struct section *section)
{
	for (const char *const *name = rules->linkers; name && *name; name++)
		if (!strcmp(*name, section->name))
			return true;
	return false;
}

/*
 * modinfo.c checks modinfo.  Loaders of programs read the property note; module.lds drops it, and
 * the sections that are for the build alone.  In .init.data and .exit.data are the pointers by
 * which module_init() shows objtool that its function is used.  If anything refers to these, they
 * are compared in any case; and what is left of them without that belongs to nothing.
 */
static bool is_left_out(const struct thing *thing)
{
	static const char *const names[] = {".modinfo", ".note.gnu.property", ".init.data",
					    ".exit.data"};
	const char *name = thing->section->name;

	if (is_linkers(thing->source->rules, thing->section))
		return true;
	for (size_t i = 0; thing->source->whole && i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return thing->source->whole && has_prefix(name, ".discard.");
}

static struct error *place_rest(struct check *check)
{
	for (size_t i = 0; i < check->proof->sources.count; i++) {
		struct source *source = check->proof->sources.list[i];

		for (size_t j = 0; j < source->things.count; j++) {
			struct thing *thing = source->things.list[j];

			if (thing->at)
				continue;
			if (is_left_out(thing))
				continue;
			if (source->whole)
				TRY(place_loose(check, thing));
			else if (thing->reported)
				TRY(place_reported(check, thing));
			TRY(match_todo(check));
		}
	}
	return NULL;
}

/* ---- sections that belong to no unit ------------------------------------------------ */

/*
 * The linker makes the build id: a hash of the file, which the proof has nothing to compare with.
 */
static struct error *check_build_id(struct check *check)
{
	const struct section *section = object_find_section(&check->object, ".note.gnu.build-id");
	struct note_contents id;

	if (!section)
		return NULL;
	const struct note_bytes notes = {
		.data = section->data,
		.size = section->size,
		.align = section->align,
		.big = check->object.header.e_ident[EI_DATA] == ELFDATA2MSB,
	};
	/* One note: its header of 12 bytes, "GNU", the hash. */
	if (!note_find(&notes, NT_GNU_BUILD_ID, &id) || id.data != section->data + 16 ||
	    id.size != section->size - 16 || section->relocs.count)
		return wrong(check, "its build id is malformed");
	TRY(check_constant(check, section));
	return extent_add(check, section, 0, section->size, 4, PLACED, section->name);
}

/* The linker sums up which processor its input needs.  Nothing in the kernel reads that. */
static struct error *check_linkers(struct check *check)
{
	for (size_t i = 1; i < check->object.sections.count; i++) {
		const struct section *section = check->object.sections.list[i];

		if (!section_is_loaded(section) || !is_linkers(check->proof->rules, section))
			continue;
		if (section->relocs.count)
			return wrong(check, "section %s is relocated", section->name);
		TRY(check_constant(check, section));
		TRY(extent_add(check, section, 0, section->size, 1, PLACED, section->name));
	}
	return NULL;
}

/*
 * object_read() clears the fields that are relocated, so this check reads the file again.  The
 * object's map is a map of the file, so a section is at the same offset in both.
 */
static struct error *check_fields(struct check *check, const char *path)
{
	char *file _free_ = NULL;
	size_t size;

	if (!check->proof->rules->zero_fields)
		return NULL;
	TRY(file_read(path, &file, &size));
	for (size_t i = 1; i < check->object.sections.count; i++) {
		const struct section *section = check->object.sections.list[i];
		static const unsigned char zeroes[8];
		struct cursor cursor;
		struct fixup fixup;

		if (!section_is_loaded(section) || !section->data)
			continue;
		cursor = cursor_at(check, section, 0);
		uint64_t base = section->data - (const unsigned char *)check->object.map;
		while (cursor_next(&cursor, section->size, &fixup)) {
			const struct reloc_kind *kind = arch_reloc(check->object.arch, fixup.type);

			if (!kind || kind->size > sizeof(zeroes) ||
			    base + fixup.place + kind->size > size ||
			    memcmp(file + base + fixup.place, zeroes, kind->size))
				return wrong(check, "the field at %s+%#" PRIx64
						    " is not 0 before it is relocated",
					     section->name, fixup.place);
		}
	}
	return NULL;
}

/* ---- the whole ---------------------------------------------------------------------- */

static void forget(struct proof *proof)
{
	for (size_t i = 0; i < proof->sources.count; i++) {
		proof->sources.list[i]->inert = NULL;
		for (size_t j = 0; j < proof->sources.list[i]->things.count; j++) {
			struct thing *thing = proof->sources.list[i]->things.list[j];

			thing->at = NULL;
			thing->replaced = thing->carried = false;
		}
	}
}

static bool is_function(const struct thing *thing)
{
	return section_is_text(thing->section) && thing->symbol && thing->function == thing;
}

/* The module has all that the differ reports, and no other function of the units. */
static struct error *check_reported(struct check *check)
{
	for (size_t i = 0; i < check->proof->sources.count; i++) {
		const struct source *source = check->proof->sources.list[i];

		for (size_t j = 0; !source->whole && j < source->things.count; j++) {
			const struct thing *thing = source->things.list[j];
			bool cold = thing->function != thing;

			if (thing->reported && !thing->at)
				return wrong(check, "'%s' is not in it", thing_name(thing));
			if (thing->reported == REPORTED_CHANGED && is_function(thing) &&
			    !thing->replaced)
				return wrong(check, "'%s' is in no row of the table of functions",
					     thing_name(thing));
			if (thing->at && section_is_text(thing->section) && thing->symbol &&
			    !cold && !thing->reported)
				return wrong(check, "'%s' is in it, but is not reported",
					     thing_name(thing));
			if (thing->at && thing->cold && !thing->cold->at)
				return wrong(check, "'%s' is without its cold part",
					     thing_name(thing));
		}
	}
	return NULL;
}

static struct error *check_all(struct check *check, const char *path)
{
	const struct section *this_module =
		object_find_section(&check->object, ".gnu.linkonce.this_module");
	const struct symbol *symbol = map_get(&check->by_name, "__this_module");

	if (!this_module || !symbol || symbol->section != this_module || symbol->value)
		return wrong(check, "it has no struct module");
	TRY(image_check(check));
	TRY(tables_read(check));
	TRY(match_todo(check));
	TRY(place_rest(check));
	TRY(check_reported(check));
	TRY(constants_check(check));
	TRY(image_check_used(check));
	TRY(tables_check_used(check));
	TRY(sites_check(check));
	TRY(seals_check(check));
	TRY(seals_check_taken(check));
	TRY(unwind_check(check));
	TRY(modinfo_check(check));
	TRY(versions_check(check));
	TRY(check_build_id(check));
	TRY(check_linkers(check));
	TRY(check_fields(check, path));
	return check_all_covered(check);
}

static void index_names(struct check *check)
{
	for (size_t i = 1; i < check->object.symbols.count; i++) {
		struct symbol *symbol = check->object.symbols.list[i];

		if (symbol->section && symbol->bind != STB_LOCAL)
			*map_slot(&check->by_name, symbol->name) = symbol;
	}
}

struct error *proof_check(struct proof *proof, const char *path)
{
	struct check check = {.proof = proof};

	struct error *error = object_read(path, &check.object);
	if (error) {
		error->status = STATUS_FAILED;
		return error;
	}
	check.extents = xcalloc(check.object.sections.count, sizeof(*check.extents));
	forget(proof);
	index_names(&check);
	error = check.object.arch == proof->arch ? check_all(&check, path)
						 : wrong(&check, "it is for another machine");
	for (size_t i = 0; i < check.object.sections.count; i++)
		vec_deinit(&check.extents[i]);
	free(check.extents);
	for (size_t i = 0; i < check.tables.count; i++)
		vec_deinit(&check.tables.list[i].entries);
	vec_deinit(&check.tables);
	vec_deinit(&check.rows);
	vec_deinit(&check.symbols);
	vec_deinit(&check.parents);
	vec_deinit(&check.todo);
	vec_deinit(&check.veneers);
	unwind_deinit(&check);
	map_deinit(&check.by_name);
	object_deinit(&check.object);
	return error;
}
