// SPDX-License-Identifier: GPL-2.0-or-later
#include "atoms.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Names of ATOM_PRIVATE data, as the kernel's macros and gcc make them. */
static const struct private_name {
	const char *name;
	const char *section; /* only there; NULL: anywhere */
	bool constant;	     /* only where it cannot be written */
} private_names[] = {
	{.name = "__func__"}, /* C11 6.4.2.2; static, one per function */
	{.name = "__FUNCTION__"},
	{.name = "__PRETTY_FUNCTION__"},
	{.name = "CSWTCH", .constant = true},	/* gcc: a switch turned into a table */
	{.name = "C", .constant = true},	/* gcc: the initial value of a local array, "C.3.0" */
	{.name = "__key"},			/* lockdep class keys, mutex_init() and friends */
	{.name = "__warned"},			/* rcu_lockdep_assert, WARN_*_ONCE of older kernels */
	{.name = "__already_done"},		/* DO_ONCE_LITE: printk_once, WARN_ONCE */
	{.name = "__print_once"},
	{.name = "_rs"},			/* ratelimit states */
	{.name = "descriptor", .section = "__dyndbg"},	/* DEFINE_DYNAMIC_DEBUG_METADATA with a fixed name */
	{.name = "__UNIQUE_ID_ddebug", .section = "__dyndbg"}, /* the same with DYNAMIC_DEBUG's own name */
	{.name = "_entry", .constant = true},	/* printk index */
};

static bool is_private(const struct section *section, const struct symbol *symbol)
{
	bool writable = section->flags & SHF_WRITE;

	if (symbol->bind != STB_LOCAL)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(private_names); i++) {
		const struct private_name *private = &private_names[i];
		if (*symbol->name != *private->name)
			continue;
		size_t length = strlen(private->name);
		const char *rest = symbol->name + length;

		/*
		 * "__key.3", "__UNIQUE_ID_ddebug412.5": a number follows.  Without one
		 * it is a variable of the file, and there is only one of it.
		 */
		if (!strncmp(symbol->name, private->name, length) && *rest &&
		    strspn(rest, ".0123456789") == strlen(rest))
			return (!private->section || !strcmp(private->section, section->name)) &&
			       !(private->constant && writable);
	}
	return false;
}

static enum atom_class class_of(const struct section *section, const struct symbol *symbol)
{
	switch (section->rule->policy) {
	case SECTION_CODE:
		return ATOM_CODE;
	case SECTION_DATA:
		return symbol && is_private(section, symbol) ? ATOM_PRIVATE : ATOM_DATA;
	case SECTION_RODATA:
		return !symbol || is_private(section, symbol) ? ATOM_PRIVATE : ATOM_RODATA;
	case SECTION_STRINGS:
		return ATOM_STRINGS;
	case SECTION_CONST:
		return ATOM_CONST;
	case SECTION_PARTNER:
		return ATOM_PARTNER;
	case SECTION_INIT:
		return ATOM_INIT;
	case SECTION_EXPORT:
		return ATOM_EXPORT;
	default:
		return ATOM_PARENT;
	}
}

static size_t first_reloc(const struct section *section, uint64_t offset)
{
	size_t low = 0, high = section->relocs.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (section->relocs.list[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct reloc *section_relocs(const struct section *section, uint64_t start, uint64_t end,
			     size_t *ret_count)
{
	size_t first = first_reloc(section, start);

	*ret_count = first_reloc(section, end) - first;
	return section->relocs.list ? section->relocs.list + first : NULL;
}

static struct atom *add_atom(struct object *object, struct section *section,
			     struct symbol *symbol, uint64_t start, uint64_t end)
{
	struct atom *atom = xcalloc(1, sizeof(*atom));

	*vec_push(&object->atoms) = atom;
	*vec_push(&section->atoms) = atom;
	atom->section = section;
	atom->symbol = symbol;
	atom->name = symbol ? symbol->name : section->name;
	atom->start = start;
	atom->end = end;
	atom->class = class_of(section, symbol);
	atom->relocs = section_relocs(section, start, end, &atom->reloc_count);
	return atom;
}

struct atom *atom_at(const struct section *section, uint64_t offset)
{
	size_t low = 0, high = section->atoms.count;

	/* An address beside the only thing in a section means that thing: gcc writes
	 * table[i - 3] and &table[N] that way. */
	if (section->atoms.count == 1)
		return section->atoms.list[0];
	while (low < high) { /* the last one that starts at or before offset */
		size_t middle = low + (high - low) / 2;

		if (section->atoms.list[middle]->start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	struct atom *atom = section->atoms.list[low - 1];
	/* Its end, where no other begins: behind a last instruction that does not return. */
	return offset <= atom->end ? atom : NULL;
}

/* ---- rules ---------------------------------------------------------------- */

/* A mergeable section is one by its flags; gcc names it after its function. */
static const struct section_rule merge_strings = {.name = "mergeable strings",
						  .policy = SECTION_STRINGS};
static const struct section_rule merge_constants = {.name = "mergeable constants",
						    .policy = SECTION_CONST};

/* What is read must have contents; only plain data may do without (.bss). */
static bool has_known_type(const struct section *section)
{
	switch (section->rule->policy) {
	case SECTION_DROP:
		return true;
	case SECTION_DATA:
	case SECTION_PARENT:
	case SECTION_INIT:
		if (section->type == SHT_NOBITS && !section_is_text(section))
			return true;
		/* fall through */
	default:
		return section->type == SHT_PROGBITS;
	}
}

static void assign_rules(struct object *object, const char *unit, struct refusals *refusals)
{
	struct section_rules rules;

	section_rules_init(&rules, object->arch);
	for (size_t i = 1; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];

		if (section->rule)
			continue; /* one that the author wants ignored */
		section->rule = section_rule_find(&rules, section->name);
		if (section->rule && section->rule->policy == SECTION_RODATA &&
		    section->flags & SHF_MERGE)
			section->rule =
				section->flags & SHF_STRINGS ? &merge_strings : &merge_constants;
		if (!section->rule)
			refusals_add(refusals, "section-unknown", unit, section->name,
				     "section '%s' is not known to pokepatch; leave the code that "
				     "makes it alone, or report it as a bug",
				     section->name);
		else if (section->rule->policy == SECTION_REFUSE)
			refusals_add(refusals, "section-unknown", unit, section->name,
				     "section '%s': %s", section->name, section->rule->advice);
		else if (!has_known_type(section))
			refusals_add(refusals, "section-unknown", unit, section->name,
				     "section '%s' has type %u, which is not expected of it",
				     section->name, section->type);
	}
	section_rules_deinit(&rules);
}

static bool is_split(const struct section *section)
{
	switch (section->rule->policy) {
	case SECTION_TABLE:
	case SECTION_DROP:
	case SECTION_REFUSE:
	case SECTION_PARTNER:
		return false;
	default:
		return section->type != SHT_GROUP;
	}
}

/* ---- splitting by symbols --------------------------------------------------- */

/* Symbols that name a thing of their own, as opposed to a place in one. */
static bool names_a_thing(const struct symbol *symbol)
{
	if (symbol->type == STT_FUNC || symbol->type == STT_OBJECT)
		return true;
	/* Assembler labels of exports: __ksymtab_foo, __kstrtab_foo */
	return symbol->type == STT_NOTYPE && symbol->section->rule &&
	       symbol->section->rule->policy == SECTION_EXPORT;
}

static int symbol_order(const void *left, const void *right)
{
	const struct symbol *a = *(struct symbol *const *)left, *b = *(struct symbol *const *)right;

	if (a->section->index != b->section->index)
		return a->section->index < b->section->index ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	/* The largest at a place is its primary symbol, a global one before an alias of it. */
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	if (a->bind != b->bind)
		return a->bind == STB_GLOBAL ? -1 : b->bind == STB_GLOBAL ? 1 : 0;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void split_by_symbols(struct object *object)
{
	VEC(struct symbol *) order = {0};

	for (size_t i = 1; i < object->symbols.count; i++) {
		struct symbol *symbol = object->symbols.list[i];

		if (symbol->section && symbol->section->rule && is_split(symbol->section) &&
		    names_a_thing(symbol))
			*vec_push(&order) = symbol;
	}
	if (order.count)
		qsort(order.list, order.count, sizeof(*order.list), symbol_order);
	for (size_t i = 0; i < order.count; i++) {
		struct symbol *symbol = order.list[i];
		struct section *section = symbol->section;
		struct atom *last = section->atoms.count
					    ? section->atoms.list[section->atoms.count - 1]
					    : NULL;

		if (last && last->start == symbol->value &&
		    (symbol->size == last->end - last->start || symbol->size)) {
			symbol->atom = last; /* an alias, or a name for its first part */
			continue;
		}
		uint64_t end = symbol->value + symbol->size;
		if (!symbol->size && section->rule->policy == SECTION_EXPORT)
			end = i + 1 < order.count && order.list[i + 1]->section == section
				      ? order.list[i + 1]->value
				      : section->size;
		symbol->atom = add_atom(object, section, symbol, symbol->value, end);
	}
	vec_deinit(&order);
}

/*
 * Bytes in front of, between or behind symbols must be padding.  Code whose
 * symbol has no size, or no symbol of its own, would not be compared.
 */
static bool is_padding(const struct section *section, const struct atom *before, uint64_t start,
		       uint64_t end)
{
	size_t count;

	section_relocs(section, start, end, &count);
	if (count)
		return false;
	if (section->rule->policy != SECTION_CODE && section->rule->policy != SECTION_DATA &&
	    section->rule->policy != SECTION_RODATA)
		return true;
	return before && before->end > before->start && end - start < section->align;
}

/* Sections without symbols are one atom. */
static void check_gaps(struct object *object, const char *unit, struct refusals *refusals)
{
	for (size_t i = 1; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];
		uint64_t end = 0;

		if (!section->rule || !is_split(section) || !section->size)
			continue;
		if (!section->atoms.count) {
			add_atom(object, section, NULL, 0, section->size);
			continue;
		}
		if (section->rule->policy == SECTION_EXPORT)
			continue;
		for (size_t j = 0; j <= section->atoms.count; j++) {
			uint64_t start = j < section->atoms.count ? section->atoms.list[j]->start
								  : section->size;
			const struct atom *before = j ? section->atoms.list[j - 1] : NULL;

			if (start > end && !is_padding(section, before, end, start))
				refusals_add(refusals, "symbol-unknown", unit, section->name,
					     "bytes %" PRIu64 " to %" PRIu64 " of section '%s' "
					     "belong to no symbol and are not padding",
					     end, start, section->name);
			if (start < end)
				refusals_add(refusals, "symbol-unknown", unit, section->name,
					     "symbol '%s' begins within '%s'",
					     section->atoms.list[j]->name, before->name);
			if (j < section->atoms.count && section->atoms.list[j]->end > end)
				end = section->atoms.list[j]->end;
		}
	}
}

/* A relocated field is a part of one thing; across its end it could not be carried. */
static void check_fields(struct object *object, const struct section *section, uint64_t start,
			 uint64_t end, const char *unit, struct refusals *refusals)
{
	size_t count;
	const struct reloc *relocs = section_relocs(section, start, end, &count);

	if (!count)
		return;
	const struct reloc_kind *kind = arch_reloc(object->arch, relocs[count - 1].type);
	if (kind && relocs[count - 1].offset + kind->size > end)
		refusals_add(refusals, "symbol-unknown", unit, section->name,
			     "a relocation at %" PRIu64 " of section '%s' reaches beyond the end of "
			     "what begins at %" PRIu64,
			     relocs[count - 1].offset, section->name, start);
}

static void check_atoms(struct object *object, const char *unit, struct refusals *refusals)
{
	for (size_t i = 0; i < object->atoms.count; i++) {
		const struct atom *atom = object->atoms.list[i];

		if (atom->reloc_count)
			check_fields(object, atom->section, atom->start, atom->end, unit, refusals);
	}
}

static void link_cold_parts(struct object *object)
{
	struct map functions = {0};

	for (size_t i = 0; i < object->atoms.count; i++)
		if (object->atoms.list[i]->class == ATOM_CODE)
			*map_slot(&functions, object->atoms.list[i]->name) = object->atoms.list[i];
	for (size_t i = 0; i < object->atoms.count; i++) {
		struct atom *atom = object->atoms.list[i];
		const char *cold = atom->class == ATOM_CODE ? strstr(atom->name, ".cold") : NULL;

		/* gcc: "foo.cold", "foo.cold.3", "foo.isra.0.cold" */
		if (!cold || strspn(cold + 5, ".0123456789") != strlen(cold + 5))
			continue;
		char *name _free_ = xstrndup(atom->name, cold - atom->name);
		atom->parent = map_get(&functions, name);
		if (atom->parent)
			atom->parent->cold = atom;
	}
	map_deinit(&functions);
}

/* ---- code ------------------------------------------------------------------- */

struct reference_search {
	struct object *object;
	struct atom *atom;
	VEC(struct reloc) found;
};

/*
 * The assembler resolves a jump or call to a local function of the same
 * section by itself (two statics in .sched.text).  Make a relocation of it
 * again, so that it is compared and carried by what it refers to.
 */
static void found_local(void *context, const struct local_reference *reference)
{
	struct reference_search *search = context;
	struct atom *atom = search->atom;
	struct section *section = atom->section;
	const struct reloc_kind *kind = arch_reloc(search->object->arch, reference->type);
	uint64_t field = reference->offset, target = reference->target;
	size_t count;

	if (target >= atom->start && target < atom->end)
		return;
	section_relocs(section, field, field + 1, &count);
	if (count || target > section->size)
		return;
	if (!reference->type || !kind) {
		memset(section->data + field, 0, reference->size);
		*vec_push(&atom->short_branches) =
			(struct short_branch){.field = field, .target = target};
		return;
	}
	reloc_clear(search->object, section, field, kind);
	*vec_push(&search->found) = (struct reloc){
		.offset = field,
		.type = reference->type,
		.symbol = object_section_symbol(search->object, section),
		.addend = (int64_t)target - kind->origin,
		.behind = kind->origin,
	};
}

static void restore_references(struct object *object, struct section *section)
{
	struct reference_search search = {.object = object};

	for (size_t i = 0; i < section->atoms.count; i++) {
		search.atom = section->atoms.list[i];
		object->arch->local_references(object, section, search.atom->start,
					       search.atom->end, found_local, &search);
	}
	for (size_t i = 0; i < search.found.count; i++)
		*vec_push(&section->relocs) = search.found.list[i];
	vec_deinit(&search.found);
	section_sort_relocs(section);
	for (size_t i = 0; i < section->atoms.count; i++) {
		struct atom *atom = section->atoms.list[i];

		atom->relocs =
			section_relocs(section, atom->start, atom->end, &atom->reloc_count);
	}
}

/*
 * A place in the section named by the symbol is meant, not the symbol itself, and what
 * is there follows from the exact place.  With -fdata-sections most sections hold one
 * thing, which is then meant whatever the place (of code, only calls and lea, with nothing
 * behind the field): no need to decode the function.
 */
static bool needs_target(const struct reloc *reloc)
{
	const struct symbol *symbol = reloc->symbol;
	const struct section *section = symbol->section;

	if (!section || symbol->atom || !section->rule)
		return false;
	if (section->atoms.count != 1)
		return true;
	const enum atom_class class = section->atoms.list[0]->class;
	return class == ATOM_STRINGS || class == ATOM_CONST || class == ATOM_PARTNER;
}

static void measure_relocs(struct object *object, struct atom *atom)
{
	bool needed = false;

	for (size_t i = 0; i < atom->reloc_count; i++) {
		struct reloc *reloc = &atom->relocs[i];
		const struct reloc_kind *kind = arch_reloc(object->arch, reloc->type);

		if (!kind || !kind->pc_relative || !kind->origin)
			continue;
		reloc->behind = kind->origin;
		needed |= needs_target(reloc) && !kind->branch;
	}
	if (needed && object->arch->measure_relocs)
		object->arch->measure_relocs(object, atom->section, atom->start, atom->end,
					     atom->relocs, atom->reloc_count);
}

static void check_relocs(struct object *object, const char *unit, struct refusals *refusals)
{
	for (size_t i = 1; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];

		if (!section->rule || section->rule->policy == SECTION_DROP)
			continue;
		for (size_t j = 0; j < section->relocs.count; j++) {
			const struct reloc *reloc = &section->relocs.list[j];

			if (!arch_reloc(object->arch, reloc->type))
				refusals_add(refusals, "relocation-unknown", unit, section->name,
					     "relocation type %u in section '%s' is not known",
					     reloc->type, section->name);
			if (reloc->symbol->special == SHN_ABS)
				refusals_add(refusals, "symbol-unknown", unit, reloc->symbol->name,
					     "symbol '%s' is absolute: a number, not a place",
					     reloc->symbol->name);
		}
	}
	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];

		if (symbol->type > STT_FILE || symbol->bind > STB_WEAK ||
		    symbol->special == SHN_COMMON)
			refusals_add(refusals, "symbol-unknown", unit, symbol->name,
				     "symbol '%s' of type %u, binding %u is not supported",
				     symbol->name, symbol->type, symbol->bind);
	}
}

/* ---- tables and their partners ------------------------------------------------ */

static uint64_t reloc_target(const struct reloc *reloc)
{
	return reloc->symbol->value + reloc->addend + reloc->behind;
}

uint64_t content_size(const struct atom *atom, uint64_t offset)
{
	static const unsigned char zeroes[sizeof(uint64_t)];
	const struct section *section = atom->section;
	uint64_t unit = section->entsize ?: 1;

	if (offset > section->size || section->size - offset < unit)
		return 0;
	if (atom->class == ATOM_CONST)
		return unit;

	uint64_t size = unit;
	/* L"..." in EFI code has characters of two bytes; an end of more is not one. */
	while (unit <= sizeof(zeroes) && section->size - offset - size >= unit &&
	       memcmp(section->data + offset + size - unit, zeroes, unit))
		size += unit;
	return size;
}

/*
 * The linker moves strings and constants one by one.  For a place beside the
 * start of one (&"text"[4], table[i - 1]) the assembler therefore keeps a symbol at the
 * start, ".LC0 + 4", instead of the section's.
 */
static void find_content(struct reference *reference, const struct reloc *reloc)
{
	const struct symbol *symbol = reloc->symbol;
	const struct section *section = symbol->section;

	reference->addend = 0;
	if (symbol->type != STT_SECTION) {
		reference->target = symbol->value;
		reference->addend = reloc->addend + reloc->behind;
	} else if (reference->atom->class == ATOM_CONST && section->entsize) {
		reference->addend = reference->target % section->entsize;
		reference->target -= reference->addend;
	}
}

struct reference reloc_reference(const struct object *object, const struct section *section,
				 const struct reloc *reloc)
{
	struct symbol *symbol = reloc->symbol;
	struct reference reference = {.symbol = symbol, .addend = reloc->addend};

	(void)object;
	(void)section;
	if (!symbol->section)
		return reference;
	reference.target = reloc_target(reloc);
	reference.atom = symbol->atom ?: atom_at(symbol->section, reference.target);
	if (!reference.atom)
		return reference;
	if (reference.atom->class == ATOM_STRINGS || reference.atom->class == ATOM_CONST)
		find_content(&reference, reloc);
	else
		reference.addend = symbol->value + reloc->addend - reference.atom->start;
	return reference;
}

/* The layout whose entries begin exactly where the relocations to code are. */
static const struct entry_layout *find_layout(const struct section *section)
{
	for (size_t i = 0; i < ENTRY_LAYOUTS; i++) {
		const struct entry_layout *layout = &section->rule->layouts[i];
		uint64_t rest = layout->size ? section->size % layout->size : 1, start = 0;

		if (rest && !(layout->size && layout->short_last))
			continue;
		for (size_t j = 0; j < section->relocs.count && start < section->size; j++)
			if (section->relocs.list[j].offset == start)
				start += layout->size;
		if (start >= section->size)
			return layout;
	}
	return NULL;
}

static void attach_entries(struct object *object, struct section *section, const char *unit,
			   struct refusals *refusals)
{
	const struct entry_layout *layout = section->size ? find_layout(section) : NULL;

	if (section->size && !layout)
		refusals_add(refusals, "section-unknown", unit, section->name,
			     "the entries of section '%s' (%" PRIu64 " bytes) have no known size",
			     section->name, section->size);
	for (uint64_t start = 0; layout && start < section->size; start += layout->size) {
		size_t count;
		struct reloc *relocs = section_relocs(section, start, start + 1, &count);
		struct reference code = reloc_reference(object, section, relocs);

		if (!code.atom) {
			refusals_add(refusals, "symbol-unknown", unit, section->name,
				     "entry at %" PRIu64 " of section '%s' points to no function",
				     start, section->name);
			continue;
		}
		check_fields(object, section, start, start + layout->size, unit, refusals);
		uint64_t rest = section->size - start;
		*vec_push(&code.atom->entries) = (struct entry){
			.section = section,
			.start = start,
			.layout = layout,
			.size = rest < layout->size ? rest : layout->size,
		};
	}
}

static int entry_order(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = strcmp(a->section->name, b->section->name);

	return order ?: a->start < b->start ? -1 : a->start > b->start;
}

/* Not in the order of the tables, which is that of their first use in the unit. */
static void sort_entries(struct object *object)
{
	for (size_t i = 0; i < object->atoms.count; i++) {
		struct atom *atom = object->atoms.list[i];

		if (atom->entries.count > 1)
			qsort(atom->entries.list, atom->entries.count,
			      sizeof(*atom->entries.list), entry_order);
	}
}

struct piece {
	uint64_t start, end;
};

static int piece_order(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/*
 * A partner section has no symbols: what is one piece follows from who points
 * to it, either an entry that has its length (.altinstructions), or code, in
 * which case it reaches to the next piece (.altinstr_aux).
 */
static void split_partner(struct object *object, struct section *partner)
{
	VEC(struct piece) pieces = {0};

	for (size_t i = 1; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];
		const struct section_rule *rule = section->rule;
		const struct entry_layout *layout =
			rule && rule->policy == SECTION_TABLE ? find_layout(section) : NULL;

		if (!rule || (rule->policy != SECTION_CODE && rule->policy != SECTION_INIT &&
			      !(layout && layout->partner)))
			continue;
		for (size_t j = 0; j < section->relocs.count; j++) {
			const struct reloc *reloc = &section->relocs.list[j];
			uint64_t start;

			if (reloc->symbol->section != partner)
				continue;
			start = reloc_target(reloc);
			if (start > partner->size)
				continue;
			uint64_t end = start;
			if (layout && reloc->offset % layout->size == layout->partner)
				end += section->data[reloc->offset - layout->partner +
						     layout->partner_length];
			else
				end = UINT64_MAX;
			*vec_push(&pieces) = (struct piece){start, end};
		}
	}
	if (pieces.count)
		qsort(pieces.list, pieces.count, sizeof(*pieces.list), piece_order);
	for (size_t i = 0; i < pieces.count; i++) {
		struct piece *piece = &pieces.list[i];
		uint64_t next = partner->size;

		if (i + 1 < pieces.count)
			next = pieces.list[i + 1].start;
		if (next == piece->start && i + 1 < pieces.count)
			continue; /* an empty one, or a second reference; the longest is last */
		if (piece->end > next)
			piece->end = next;
		add_atom(object, partner, NULL, piece->start, piece->end);
	}
	vec_deinit(&pieces);
}

static void for_each_policy(struct object *object, enum section_policy policy,
			    void (*visit)(struct object *object, struct section *section))
{
	for (size_t i = 1; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];

		if (section->rule && section->rule->policy == policy)
			visit(object, section);
	}
}

static void prepare_code(struct object *object, struct section *section)
{
	if (!section_is_text(section))
		return;
	if (section->atoms.count > 1)
		restore_references(object, section);
	for (size_t i = 0; i < section->atoms.count; i++)
		measure_relocs(object, section->atoms.list[i]);
}

struct error *object_split(struct object *object, const char *unit, struct refusals *refusals)
{
	size_t before = refusals_fatal(refusals);

	assign_rules(object, unit, refusals);
	check_relocs(object, unit, refusals);
	if (refusals_fatal(refusals) > before)
		return NULL; /* what follows relies on rules and relocation types */

	split_by_symbols(object);
	check_gaps(object, unit, refusals);
	link_cold_parts(object);
	for_each_policy(object, SECTION_CODE, prepare_code);
	for_each_policy(object, SECTION_INIT, prepare_code);
	for_each_policy(object, SECTION_PARTNER, split_partner);
	for_each_policy(object, SECTION_PARTNER, prepare_code);
	for (size_t i = 1; i < object->sections.count; i++)
		if (object->sections.list[i]->rule->policy == SECTION_TABLE)
			attach_entries(object, object->sections.list[i], unit, refusals);
	check_atoms(object, unit, refusals);
	sort_entries(object);
	return NULL;
}

void object_unsplit(struct object *object)
{
	for (size_t i = 0; i < object->atoms.count; i++) {
		struct atom *atom = object->atoms.list[i];

		vec_deinit(&atom->entries);
		vec_deinit(&atom->short_branches);
		vec_deinit(&atom->users);
		vec_deinit(&atom->carriers);
		free(atom);
	}
	vec_deinit(&object->atoms);
	for (size_t i = 1; i < object->sections.count; i++)
		vec_deinit(&object->sections.list[i]->atoms);
}
