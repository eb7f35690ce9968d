// SPDX-License-Identifier: GPL-2.0-or-later
/* Splits an object into atoms, by the rules of its sections and by its symbols. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "object/names.h"
#include "object/split.h"

#define LONGEST_FIELD 8 /* bytes that a relocation writes at most */

/* Names of ATOM_PRIVATE data, as the kernel's macros and the compilers make them. */
static const struct private_name {
	const char *name;
	const char *section; /* only there; NULL: anywhere */
	bool constant;       /* only where it cannot be written */
} private_names[] = {
	{.name = "__func__"}, /* C11 6.4.2.2; static, one per function */
	{.name = "__FUNCTION__"},
	{.name = "__PRETTY_FUNCTION__"},
	{.name = "CSWTCH", .constant = true},       /* gcc: a switch turned into a table */
	{.name = "switch.table", .constant = true}, /* clang: the same */
	{.name = "reltable", .constant = true},     /* clang: the same, of distances to strings */
	{.name = "C", .constant = true}, /* gcc: the initial value of a local array, "C.3.0" */
	{.name = "__key"},               /* lockdep class keys, mutex_init() and friends */
	{.name = "__srcu_key"},          /* init_srcu_struct() */
	{.name = "__warned"},            /* rcu_lockdep_assert, WARN_*_ONCE of older kernels */
	{.name = "__already_done"},      /* DO_ONCE_LITE: printk_once, WARN_ONCE */
	{.name = "__print_once"},
	{.name = "_rs"}, /* ratelimit states */
	{.name = "descriptor",
	 .section = "__dyndbg"}, /* DEFINE_DYNAMIC_DEBUG_METADATA with a fixed name */
	{.name = "__UNIQUE_ID_ddebug",
	 .section = "__dyndbg"},              /* the same with DYNAMIC_DEBUG's own name */
	{.name = "_entry", .constant = true}, /* printk index */
	{.name = "trace_printk_fmt", .section = "__trace_printk_fmt"},
	{.name = "___tp_str", .section = "__tracepoint_str"}, /* tracepoint_string() */
};

/*
 * Only a local variable of a function counts: a variable of the file with one of these names exists
 * once, and its state matters.  DO_ONCE()'s ___done is not in the list, for a copy of it would let
 * the code that must run once run again.
 */
static bool is_private(const struct section *section, const struct symbol *symbol)
{
	struct source_name name = source_name_of(symbol->name);
	/* s390's code is position-independent: constants with addresses are in .data.rel.ro. */
	bool writable = section->flags & SHF_WRITE && !has_prefix(section->name, ".data.rel.ro");

	if (symbol->bind != STB_LOCAL || !name.local)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(private_names); i++) {
		const struct private_name *private = &private_names[i];

		if (*private->name == *name.text && strlen(private->name) == name.length &&
		    !strncmp(private->name, name.text, name.length))
			return (!private->section || !strcmp(private->section, section->name)) &&
			       !(private->constant && writable);
	}
	return false;
}

/* clang puts constants that it has labelled into a section of variables. */
static bool is_constant(const struct section *section, const struct symbol *symbol)
{
	return section->rule && section->rule->constants && has_prefix(symbol->name, ".LCPI");
}

static enum atom_class class_of(const struct section *section, const struct symbol *symbol)
{
	switch (section->rule->policy) {
	case SECTION_CODE:
		return ATOM_CODE;
	case SECTION_DATA:
		if (symbol && is_constant(section, symbol))
			return ATOM_CONST;
		return symbol && is_private(section, symbol) ? ATOM_PRIVATE : ATOM_DATA;
	case SECTION_RODATA:
		/* riscv's objects keep clang's own names: .Lswitch.table.mode_show */
		return !symbol || has_prefix(symbol->name, ".L") || is_private(section, symbol)
			       ? ATOM_PRIVATE
			       : ATOM_RODATA;
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

struct atom *add_atom(struct object *object, struct section *section, struct symbol *symbol,
		      uint64_t start, uint64_t end)
{
	struct atom *atom = xcalloc(1, sizeof(*atom));

	atom->index = object->atoms.count;
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

/* ---- rules ---------------------------------------------------------------- */

/* The flags tell a mergeable section; gcc names it after the function that uses it. */
static const struct section_rule merge_strings = {.name = "mergeable strings",
						  .policy = SECTION_STRINGS};
static const struct section_rule merge_constants = {.name = "mergeable constants",
						    .policy = SECTION_CONST};

/* The differ reads contents, so a section must have some, unless it is plain data (.bss). */
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
		if (section->rule->policy == SECTION_INIT && section->type == SHT_INIT_ARRAY)
			return true;
		/* fall through */
	default:
		return section->type == SHT_PROGBITS;
	}
}

/* Whether a symbol names a thing of its own, and not a place within one. */
static bool names_a_thing(const struct arch *arch, const struct symbol *symbol)
{
	if (is_constant(symbol->section, symbol))
		return true;
	if (symbol->type == STT_FUNC || symbol->type == STT_OBJECT)
		return true;
	if (arch_symbol_mark(arch, symbol) != MARK_NONE)
		return false;
	return symbol->type == STT_NOTYPE && symbol->section->rule && symbol->section->rule->labels;
}

static void assign_rules(struct object *object, const char *unit, struct refusals *refusals)
{
	struct section_rules rules;

	section_rules_init(&rules, object->arch);
	for (size_t i = 1; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];

		if (section->rule)
			continue; /* the author wants it ignored */
		section->rule = section_rule_find(&rules, section->name);
		if (section->rule && section->rule->policy == SECTION_RODATA &&
		    section->flags & SHF_MERGE)
			section->rule =
				section->flags & SHF_STRINGS ? &merge_strings : &merge_constants;
		if (section->rule && section->rule->constants)
			section->entsize = section->rule->constants;
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
				     "section '%s' has type %u, which such a section never has",
				     section->name, section->type);
	}
	section_rules_deinit(&rules);
}

/* Such a section is not split by symbols: of its pieces only some have one (clang's ".L.str.4"). */
static bool has_contents(const struct section *section)
{
	return section->rule->policy == SECTION_STRINGS || section->rule->policy == SECTION_CONST;
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

/* A variable without bytes: "atomic_long_t vm_numa_event[0]" without CONFIG_NUMA (mm/vmstat.c). */
static bool is_empty(const struct symbol *symbol)
{
	return symbol->type == STT_OBJECT && !symbol->size;
}

static int bind_rank(const struct symbol *symbol)
{
	return symbol->bind == STB_GLOBAL ? 0 : symbol->bind == STB_WEAK ? 1 : 2;
}

static int symbol_order(const void *left, const void *right)
{
	const struct symbol *a = *(struct symbol *const *)left, *b = *(struct symbol *const *)right;

	if (a->section->index != b->section->index)
		return a->section->index < b->section->index ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	/* A symbol without bytes comes before the thing that begins at its place. */
	if (is_empty(a) != is_empty(b))
		return is_empty(a) ? -1 : 1;
	/* A label comes before what it spans. */
	if (a->section->rule->labels && a->type != b->type)
		return a->type == STT_NOTYPE ? -1 : 1;
	/* The largest at a place is its primary symbol, a global one before an alias of it. */
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	if (is_device_table_name(a->name) != is_device_table_name(b->name))
		return is_device_table_name(a->name) ? 1 : -1;
	if (a->bind != b->bind)
		return bind_rank(a) < bind_rank(b) ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

const char *symbol_prefixed_name(const struct symbol *symbol)
{
	static const char *const prefixes[] = {"__cfi_", "__pfx_"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (symbol->type == STT_FUNC && symbol->size && has_prefix(symbol->name, prefixes[i]))
			return symbol->name + strlen(prefixes[i]);
	return NULL;
}

static bool names_prefix_of(const struct symbol *symbol, const struct symbol *function)
{
	const char *name = symbol_prefixed_name(symbol);

	return name && function->type == STT_FUNC && !strcmp(name, function->name);
}

/*
 * Whether the symbol in front of next names the prefix of the function there.  NOPs may lie between
 * them, and the function may have aliases at the same place.
 */
static bool is_prefix(struct symbol *const *next, struct symbol *const *end)
{
	const struct symbol *symbol = next[-1];
	uint64_t place = next < end ? (*next)->value : 0;

	if (next == end || place < symbol->value + symbol->size)
		return false;
	for (; next < end && (*next)->section == symbol->section && (*next)->value == place; next++)
		if (names_prefix_of(symbol, *next))
			return true;
	return false;
}

/* The end of what a symbol without a size names: the next symbol that is not a part of it. */
static uint64_t end_of_label(const struct section *section, struct symbol *const *next,
			     struct symbol *const *end)
{
	while (section->rule->labels && next < end && (*next)->section == section &&
	       (*next)->type == STT_OBJECT)
		next++;
	return next < end && (*next)->section == section ? (*next)->value : section->size;
}

static void split_by_symbols(struct object *object)
{
	VEC(struct symbol *) order = {0};
	struct symbol *prefix = NULL;

	for (size_t i = 1; i < object->symbols.count; i++) {
		struct symbol *symbol = object->symbols.list[i];

		if (symbol->section && symbol->section->rule && is_split(symbol->section) &&
		    !has_contents(symbol->section) && names_a_thing(object->arch, symbol))
			*vec_push(&order) = symbol;
	}
	if (order.count)
		qsort(order.list, order.count, sizeof(*order.list), symbol_order);
	for (size_t i = 0; i < order.count; i++) {
		struct symbol *symbol = order.list[i];
		struct section *section = symbol->section;
		struct atom *last =
			section->atoms.count ? section->atoms.list[section->atoms.count - 1] : NULL;

		if (is_prefix(order.list + i + 1, order.list + order.count)) {
			prefix = symbol;
			continue;
		}
		if (last && section->rule->labels && symbol->value < last->end) {
			symbol->atom = last; /* an alias of the label, or what it spans */
			if (symbol->type == STT_OBJECT)
				*vec_push(&last->spanned) = symbol;
			continue;
		}
		if (last && last->start == symbol->value && !is_empty(last->symbol) &&
		    (symbol->size == last->end - last->start || symbol->size)) {
			symbol->atom = last; /* an alias of it, or a name for its first part */
			continue;
		}
		uint64_t end = symbol->value + symbol->size;
		if (is_constant(section, symbol) && section->size - end >= section->entsize)
			end += section->entsize;
		/* gcc gives no size to its s390 thunks, __s390_indirect_jump_r1 and so on. */
		if (!symbol->size && (section->rule->labels ||
				      (section->flags & SHF_GROUP && symbol->type == STT_FUNC)))
			end = end_of_label(section, order.list + i + 1, order.list + order.count);
		symbol->atom = add_atom(object, section, symbol, symbol->value, end);
		if (prefix) {
			symbol->atom->prefix_symbol = prefix;
			symbol->atom->prefix = symbol->value - prefix->value;
			prefix->atom = symbol->atom;
			prefix = NULL;
		}
	}
	vec_deinit(&order);
}

/* Only the machine knows of a prefix with relocations that it belongs to the function. */
static void find_lead_ins(struct object *object)
{
	const struct arch_symbols *symbols = &object->arch->symbols;

	for (size_t i = 0; i < object->atoms.count && symbols->lead_in; i++) {
		struct atom *atom = object->atoms.list[i];

		if (section_is_text(atom->section))
			atom->prefix = symbols->lead_in(object, atom->section, atom->start);
	}
}

/*
 * NOPs in front of a function have no symbol, but this table has their address: with "=16,16" the
 * address of the first NOP, and the function begins behind the last.
 */
static void find_prefixes(struct object *object)
{
	for (size_t i = 1; i < object->sections.count; i++) {
		const struct section *table = object->sections.list[i];

		if (strcmp(table->name, "__patchable_function_entries"))
			continue;
		for (size_t j = 0; j < table->relocs.count; j++) {
			const struct reloc *reloc = &table->relocs.list[j];
			const struct section *section = reloc->symbol->section;
			uint64_t target = reloc_target(reloc);

			if (!section || !section->rule || !section_is_text(section))
				continue;
			struct atom *atom = atom_behind(section, target);
			if (atom && atom->start - target > atom->prefix)
				atom->prefix = atom->start - target;
		}
	}
}

/*
 * Bytes in front of, between or behind atoms must be padding: code without a symbol, or whose
 * symbol has no size, would not be compared.
 */
static bool is_padding(struct object *object, const struct section *section,
		       const struct atom *before, uint64_t start, uint64_t end)
{
	const struct arch_code *code = &object->arch->code;
	size_t count;

	section_relocs(section, start, end, &count);
	if (count)
		return false;
	if (section->rule->policy != SECTION_CODE && section->rule->policy != SECTION_DATA &&
	    section->rule->policy != SECTION_RODATA)
		return true;
	if (section_is_text(section) && code->is_padding)
		return code->is_padding(object, section, start, end);
	/* clang fills gaps with NOPs in riscv's .sdata, which holds the constants of code. */
	if (!section_is_text(section) && section->type != SHT_NOBITS &&
	    !(code->is_padding && code->is_padding(object, section, start, end)))
		for (uint64_t at = start; at < end; at++)
			if (section->data[at])
				return false;
	return before && before->end > before->start && end - start < section->align;
}

static void extend(struct atom *atom, uint64_t end)
{
	atom->end = end;
	atom->relocs = section_relocs(atom->section, atom->start, end, &atom->reloc_count);
}

/*
 * Bytes behind the only function of a section belong to that function.  Behind several functions,
 * the references to them tell how to split them.
 */
static void take_tail(struct object *object, struct section *section, uint64_t start)
{
	struct atom *last = section->atoms.list[section->atoms.count - 1];

	if (section->atoms.count > 1) {
		split_tail(object, section, start);
		return;
	}
	extend(last, section->size);
}

/*
 * clang's kCFI puts the hash of a function's type, four bytes, in front of the function; they have
 * a symbol on x86 only.  Take such bytes for a hash only in front of a section's first function:
 * behind another function they could be its constants.
 *
 * On x86 a static function whose address nothing takes has NOPs instead, as many bytes as the
 * instruction with the hash, and without a symbol.  The prefix that the table of entries names
 * follows and consists of the same NOPs.
 */
static bool take_hash(const struct section *section, struct atom *first, uint64_t gap)
{
	const uint64_t nops = 5;

	if (!section_is_text(section) || first->symbol->type != STT_FUNC)
		return false;
	if (gap != 4 && (gap != nops || first->prefix < nops ||
			 memcmp(section->data, section->data + nops, nops)))
		return false;
	first->prefix += gap;
	return true;
}

static bool has_relocated_prefix(const struct object *object, const struct section *section,
				 const struct atom *atom)
{
	const struct arch_symbols *symbols = &object->arch->symbols;
	size_t count = 0;

	if (atom->prefix && !(symbols->lead_in &&
			      symbols->lead_in(object, section, atom->start) == atom->prefix))
		section_relocs(section, atom->start - atom->prefix, atom->start, &count);
	return count;
}

/*
 * A section without symbols is one atom; or each of its instructions is one, where code elsewhere
 * executes them one by one (arch_symbols.executed).
 */
static void add_unnamed(struct object *object, struct section *section)
{
	uint64_t step = object->arch->symbols.executed;

	if (!step || section->rule->policy != SECTION_CODE || section->relocs.count ||
	    section->size % step) {
		add_atom(object, section, NULL, 0, section->size);
		return;
	}
	for (uint64_t at = 0; at < section->size; at += step)
		add_atom(object, section, NULL, at, at + step)->class = ATOM_PARTNER;
}

static void check_gaps(struct object *object, const char *unit, struct refusals *refusals)
{
	for (size_t i = 1; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];
		uint64_t end = 0;

		if (!section->rule || !is_split(section) || !section->size)
			continue;
		if (!section->atoms.count) {
			add_unnamed(object, section);
			continue;
		}
		if (section->rule->policy == SECTION_EXPORT)
			continue;
		size_t symbols = section->atoms.count;
		for (size_t j = 0; j <= symbols; j++) {
			uint64_t start = j < symbols ? section->atoms.list[j]->start -
							       section->atoms.list[j]->prefix
						     : section->size;
			struct atom *before = j ? section->atoms.list[j - 1] : NULL;

			if (start > end && !is_padding(object, section, before, end, start)) {
				if (j == symbols && section_is_text(section) &&
				    object->arch->symbols.code_tails) {
					take_tail(object, section, end);
					break;
				}
				if (before && before->end == end && !section_is_text(section) &&
				    object->arch->symbols.short_sizes)
					extend(before, start);
				else if (before || j == symbols ||
					 !take_hash(section, section->atoms.list[0], start))
					refusals_add(refusals, "symbol-unknown", unit,
						     section->name,
						     "bytes %" PRIu64 " to %" PRIu64
						     " of section '%s' belong to no symbol "
						     "and are not padding",
						     end, start, section->name);
			}
			if (j < symbols && has_relocated_prefix(object, section,
								  section->atoms.list[j]))
				refusals_add(refusals, "symbol-unknown", unit, section->name,
					     "the bytes in front of '%s' have relocations",
					     section->atoms.list[j]->name);
			if (start < end)
				refusals_add(refusals, "symbol-unknown", unit, section->name,
					     "symbol '%s' begins within '%s'",
					     section->atoms.list[j]->name, before->name);
			if (j < symbols && section->atoms.list[j]->end > end)
				end = section->atoms.list[j]->end;
		}
	}
}

void check_fields(struct object *object, const struct section *section, uint64_t start,
		  uint64_t end, const char *unit, struct refusals *refusals)
{
	size_t count;
	const struct reloc *relocs = section_relocs(section, start, end, &count);

	/* Look at several: fields may overlap, so the last one need not reach furthest. */
	while (count-- && end - relocs[count].offset < LONGEST_FIELD) {
		const struct reloc_kind *kind = arch_reloc(object->arch, relocs[count].type);

		if (!kind || relocs[count].offset + kind->size <= end)
			continue;
		refusals_add(refusals, "symbol-unknown", unit, section->name,
			     "a relocation at %" PRIu64
			     " of section '%s' reaches beyond the end of "
			     "the thing that begins at %" PRIu64,
			     relocs[count].offset, section->name, start);
		return;
	}
}

/* riscv's PCREL_LO12 counts from the place of its PCREL_HI20, so both must be in one atom. */
static void check_uppers(const struct atom *atom, const char *unit, struct refusals *refusals)
{
	size_t count;
	const struct reloc *relocs = section_relocs(atom->section, atom->start, atom->end, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t place = relocs[i].offset + relocs[i].upper;

		if (relocs[i].upper && (place < atom->start || place >= atom->end))
			refusals_add(refusals, "relocation-unknown", unit, atom->name,
				     "a relocation at %" PRIu64
				     " of section '%s' has its upper part "
				     "at %" PRIu64 ", outside '%s'",
				     relocs[i].offset, atom->section->name, place, atom->name);
	}
}

static void check_atoms(struct object *object, const char *unit, struct refusals *refusals)
{
	for (size_t i = 0; i < object->atoms.count; i++) {
		const struct atom *atom = object->atoms.list[i];

		if (!atom->reloc_count)
			continue;
		check_fields(object, atom->section, atom->start, atom->end, unit, refusals);
		if (object->arch->relocs.fold)
			check_uppers(atom, unit, refusals);
	}
}

/* gcc names a cold part after any of its function's names: x86's SYSCALL_DEFINE0() has two. */
static void link_cold_parts(struct object *object)
{
	struct map functions = {0};

	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];
		struct atom *atom = symbol->atom;

		if (atom && atom->class == ATOM_CODE && atom->start == symbol->value)
			*map_slot(&functions, symbol->name) = atom;
	}
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

/*
 * The part of a name that stays when code in front of it changes.  Clones of one function share a
 * key: "foo.constprop" of "foo.constprop.1".
 */
static char *make_key(const struct atom *atom)
{
	const char *name = atom->name;

	/* A function's static variable may have the name of another function: tell them apart. */
	if (atom_is_function(atom)) {
		char *family _free_ = clone_family(name);

		return xasprintf("%s()", family);
	}
	if (!atom->symbol) /* clang: ".rodata..L__const.foo.array.3" */
		return clone_family(name);
	if (atom->symbol->bind != STB_LOCAL)
		return xstrndup(name, unpromoted_length(name));
	struct source_name source = source_name_of(name);
	return xstrndup(source.text, source.length);
}

static void make_keys(struct object *object)
{
	for (size_t i = 0; i < object->atoms.count; i++)
		object->atoms.list[i]->key = make_key(object->atoms.list[i]);
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

		if (symbol->type > STT_FILE || symbol->bind > STB_WEAK)
			refusals_add(refusals, "symbol-unknown", unit, symbol->name,
				     "symbol '%s' of type %u, binding %u is not supported",
				     symbol->name, symbol->type, symbol->bind);
	}
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

struct error *object_split(struct object *object, const char *unit, struct refusals *refusals)
{
	size_t before = refusals_fatal(refusals);

	assign_rules(object, unit, refusals);
	check_relocs(object, unit, refusals);
	if (refusals_fatal(refusals) > before)
		return NULL; /* the steps below rely on rules and known relocation types */

	split_by_symbols(object);
	find_lead_ins(object);
	find_prefixes(object);
	check_gaps(object, unit, refusals);
	link_cold_parts(object);
	for_each_policy(object, SECTION_CODE, prepare_code);
	for_each_policy(object, SECTION_INIT, prepare_code);
	for_each_policy(object, SECTION_TABLE, measure_table);
	for_each_policy(object, SECTION_PARTNER, split_partner);
	for_each_policy(object, SECTION_PARTNER, prepare_code);
	for (size_t i = 1; i < object->sections.count; i++)
		if (object->sections.list[i]->rule->policy == SECTION_TABLE)
			attach_entries(object, object->sections.list[i], unit, refusals);
	check_atoms(object, unit, refusals);
	sort_entries(object);
	make_keys(object);
	return NULL;
}

void object_unsplit(struct object *object)
{
	for (size_t i = 0; i < object->atoms.count; i++) {
		struct atom *atom = object->atoms.list[i];

		vec_deinit(&atom->entries);
		vec_deinit(&atom->short_branches);
		vec_deinit(&atom->spanned);
		free(atom->key);
		free(atom);
	}
	vec_deinit(&object->atoms);
	for (size_t i = 1; i < object->sections.count; i++)
		vec_deinit(&object->sections.list[i]->atoms);
}
