// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares a thing of the compiler's output with its place in the module: bytes, relocations, and
 * where each relocation leads.  Following them finds all other things.
 */
#include "proof/proof_match.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "pokepatch_mark.h"
#include "proof/proof_check.h"
#include "proof/proof_sites.h"
#include "proof/proof_tables.h"

/* ---- the module's relocations ------------------------------------------------------- */

static bool is_before(const struct row *row, const struct section *section, uint64_t place)
{
	return row->section->index < section->index ||
	       (row->section == section && row->place < place);
}

static size_t first_row(const struct check *check, const struct section *section, uint64_t place)
{
	return first_index(i, check->rows.count,
			   !is_before(&check->rows.list[i], section, place));
}

struct cursor cursor_at(struct check *check, const struct section *section, uint64_t start)
{
	return (struct cursor){
		.check = check,
		.section = section,
		.reloc = section_first_reloc(section, start),
		.row = first_row(check, section, start),
	};
}

bool cursor_next(struct cursor *cursor, uint64_t end, struct fixup *ret)
{
	struct check *check = cursor->check;
	const struct section *section = cursor->section;

	const struct reloc *reloc = cursor->reloc < section->relocs.count
					    ? &section->relocs.list[cursor->reloc]
					    : NULL;
	struct row *row = cursor->row < check->rows.count ? &check->rows.list[cursor->row] : NULL;
	if (row && row->section != section)
		row = NULL;
	if (reloc && reloc->offset < end && (!row || reloc->offset <= row->place)) {
		*ret = (struct fixup){
			.place = reloc->offset,
			.type = reloc->type,
			.addend = reloc->addend,
			.symbol = reloc->symbol,
		};
		cursor->reloc++;
		return true;
	}
	if (row && row->place < end) {
		*ret = (struct fixup){
			.place = row->place, .type = row->type, .addend = row->addend, .row = row};
		cursor->row++;
		return true;
	}
	return false;
}

bool cursor_at_row(const struct cursor *cursor, uint64_t place)
{
	const struct check *check = cursor->check;
	const struct row *row =
		cursor->row < check->rows.count ? &check->rows.list[cursor->row] : NULL;

	return row && row->section == cursor->section && row->place == place;
}

/* ---- where things may be ------------------------------------------------------------ */

/*
 * Names of sections that mean something to the module loader, or to the kernel when it reads a
 * module.  A thing from such a section must be in a section with the same meaning.
 */
static const char *const meaningful[] = {
	".data..percpu", /* a copy for each processor */
	".data..ro_after_init",
	".noinstr.text", /* no probes here: kernel/kprobes.c, populate_kprobe_blacklist() */
	".kprobes.text",
	".cpuidle.text",
	".static_call.text", /* objtool finds trampolines by this name */
	"__dyndbg_classes",
	"__dyndbg",
	"__trace_printk_fmt",
	"__tracepoint_str",
	POKEPATCH_SECTION_MARKERS,
	".init.",
	".exit.",
	".gnu.linkonce.this_module",
	"__versions",
	".note.",
};

/*
 * Sections whose contents the kernel must have only once, or that would give the module another
 * function, such as exports or parameters.
 */
static const char *const never_included[] = {
	".modinfo",	 "__mod_",   "___ksymtab",    "___kcrctab", "__ksymtab",
	".init",	 ".exit",    ".discard",      ".initcall",  "__param",
	"__tracepoints", "_ftrace",  "__bpf_raw_tp",  "__syscalls", "_kprobe_blacklist",
	"_error_inject", ".BTF_ids", ".static_call_tramp_key", "__srcu", "___srcu",
};

static const char *meaning(const char *section)
{
	for (size_t i = 0; i < ARRAY_SIZE(meaningful); i++)
		if (has_prefix(section, meaningful[i]))
			return meaningful[i];
	return NULL;
}

static bool is_never_included(const char *section)
{
	for (size_t i = 0; i < ARRAY_SIZE(never_included); i++)
		if (has_prefix(section, never_included[i]))
			return true;
	return false;
}

struct error *place_thing(struct check *check, struct thing *thing, const struct section *section,
			  int64_t place)
{
	const uint64_t kinds = SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR | SHF_TLS;
	uint64_t align = thing->section->align, size = thing->end - thing->start;

	if (thing->at) {
		if (thing->at != section || (int64_t)thing->place != place)
			return wrong(check, "'%s' is both at %s+%#" PRIx64 " and at %s+%#" PRIx64,
				     thing_name(thing), thing->at->name, thing->place,
				     section->name, (uint64_t)place);
		return NULL;
	}
	if (place < (int64_t)thing->lead || (uint64_t)place > section->size ||
	    size > section->size - place)
		return wrong(check, "'%s' would lie outside section %s", thing_name(thing),
			     section->name);
	if (!thing->source->whole && is_never_included(thing->section->name))
		return wrong(check, "'%s' of section %s must not be in a patch",
			     thing_name(thing), thing->section->name);
	if ((section->flags & kinds) != (thing->section->flags & kinds) ||
	    meaning(section->name) != meaning(thing->section->name))
		return wrong(check, "'%s' of section %s is in section %s", thing_name(thing),
			     thing->section->name, section->name);
	while (align > 1 && (thing->start & (align - 1)))
		align /= 2;
	if (align > section->align)
		return wrong(check, 
			     "'%s' needs an alignment of %" PRIu64 ", and section %s has %" PRIu64,
			     thing_name(thing), align, section->name, section->align);
	thing->at = section;
	thing->place = place;
	/* An indirect call looks for the type in front of the function. */
	if (thing->type)
		TRY(place_thing(check, thing->type, section,
				place - (int64_t)(thing->start - thing->type->start)));
	*vec_push(&check->todo) = thing;
	if (thing->lead)
		TRY(extent_add(check, section, place - thing->lead, thing->lead, 1, PLACED,
			       thing_name(thing)));
	return extent_add(check, section, place, size, align, PLACED, thing_name(thing));
}

/* ---- where a reference must lead ---------------------------------------------------- */

static bool is_code(const struct thing *thing)
{
	return section_is_text(thing->section);
}

/* Is the function new, or does it have no entry through which it could be replaced? */
static bool only_in_patch(const struct thing *function)
{
	return function->reported == REPORTED_NEW || function->carried;
}

/*
 * The compiler or a macro of the kernel makes such a datum anew for each use, so each copy is as
 * good as another.  These are local to functions: a variable of the file that has one of the names
 * exists once.
 */
static bool is_private(const struct thing *thing)
{
	static const struct {
		const char *name, *section; /* section: only there; NULL: anywhere */
		bool constant;		    /* only where it cannot be written */
	} privates[] = {
		{"__func__", NULL, false},
		{"__FUNCTION__", NULL, false},
		{"__PRETTY_FUNCTION__", NULL, false},
		{"CSWTCH", NULL, true},
		{"C", NULL, true},
		{"_entry", NULL, true},
		{"_entry_ptr", ".printk_index", false},
		{"_fmt", NULL, true},
		{"__key", NULL, false},
		{"__srcu_key", NULL, false},
		{"__warned", NULL, false},
		{"__already_done", NULL, false},
		{"__print_once", NULL, false},
		{"_rs", NULL, false},
		{"descriptor", "__dyndbg", false},
		{"__UNIQUE_ID_ddebug", "__dyndbg", false},
		{"trace_printk_fmt", "__trace_printk_fmt", false},
		{"___tp_str", "__tracepoint_str", false},
	};

	if (!thing->symbol)
		return true;
	if (thing->symbol->bind != STB_LOCAL)
		return false;
	if (has_prefix(thing->symbol->name, "switch.table.")) /* clang: of that function */
		return true;
	char *bare _free_ = bare_name(thing->symbol->name);
	const char *dot = strrchr(bare, '.'); /* clang: "function.__func__" */
	const char *name = dot && dot != bare ? dot + 1 : bare;
	const char *section = thing->section->name;
	bool writable = thing->section->flags & SHF_WRITE && !has_prefix(section, ".data.rel.ro");

	if (name == bare && !strcmp(bare, thing->symbol->name))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(privates); i++)
		if (!strcmp(name, privates[i].name))
			return (!privates[i].section || !strcmp(section, privates[i].section)) &&
			       !(privates[i].constant && writable);
	return false;
}

/* Must a reference from one thing to another lead into the module?  Else it leads to the parent. */
static bool leads_inside(const struct thing *from, bool entry, const struct thing *to,
			 bool at_entry)
{
	if (from->source->whole || to->source->whole)
		return true;
	if (!is_code(to)) /* a changed constant is carried: see constants.c */
		return to->reported != REPORTED_NOT;
	at_entry &= to == to->function; /* a cold part has no entry */
	/* A jump table leads into the code that it was made for. */
	if (!is_code(from) && !entry && !at_entry && to->function->reported == REPORTED_CHANGED)
		return true;
	return only_in_patch(to->function) ||
	       (from->function == to->function && (entry || !at_entry));
}

static struct error *judge(const struct check *check, const struct thing *from, bool entry,
			   const struct thing *to, bool at_entry, bool inside)
{
	if (leads_inside(from, entry, to, at_entry) == inside ||
	    (inside && !is_code(to) && is_private(to)))
		return NULL;
	return wrong(check, "'%s' refers to %s '%s', not to %s", thing_name(from),
		     inside ? "the module's own" : "the kernel's", thing_name(to),
		     inside ? "the kernel's" : "the module's own");
}

/* Does a relocation lead into the module?  Then ret says where to. */
static bool is_inside(const struct fixup *fixup, const struct section **ret, int64_t *ret_offset)
{
	if (!fixup->symbol || !fixup->symbol->section)
		return false;
	*ret = fixup->symbol->section;
	*ret_offset = fixup->symbol->value + fixup->addend;
	return true;
}

static const char *target_name(const struct check *check, const struct fixup *fixup)
{
	return fixup->row ? check->symbols.list[fixup->row->symbol].name : fixup->symbol->name;
}

static struct error *leads_wrong(const struct check *check, const struct thing *from,
				 const struct fixup *fixup, const char *to)
{
	return wrong(check, "the relocation at %#" PRIx64 " of '%s' leads to '%s', not to '%s'",
		     fixup->place - from->place, thing_name(from), target_name(check, fixup), to);
}

static bool has_global(const struct symtab *symtab, const char *name)
{
	symtab_load((struct symtab *)symtab, &name, 1);
	for (const struct known_symbol *known = symtab_get(symtab, name); known; known = known->next)
		if (known->global)
			return true;
	return false;
}

/* The parent with the global symbol: the unit's own, then vmlinux, then any module; or NULL. */
static const struct symtab *owner_of(const struct check *check, const struct source *source,
				     const char *name)
{
	const struct symtab *own = source->parent;
	const struct known_symbol *known = own ? symtab_get(own, name) : NULL;

	for (; known; known = known->next)
		if (known->global)
			return own;
	for (size_t i = 0; i < check->parents.count; i++)
		for (known = symtab_get(check->parents.list[i], name); known; known = known->next)
			if (known->global)
				return check->parents.list[i];
	return NULL;
}

static bool own_module_has(const struct source *source, const char *name)
{
	return source->parent && !source->parent->vmlinux && has_global(source->parent, name);
}

/* Error: a call or jump that the loader relocates may not reach as far as vmlinux. */
static struct error *check_reach(const struct check *check, const struct thing *from,
				 const struct reloc *reloc, const struct fixup *fixup)
{
	const struct reloc_kind *kind = arch_reloc(check->object.arch, reloc->type);

	if (!check->proof->rules->veneer.exported || !kind || !kind->branch ||
	    symvers_find(&check->proof->core_symvers, fixup->symbol->name))
		return NULL;
	return wrong(check, "the call at %#" PRIx64 " of '%s' does not reach '%s'",
		     fixup->place - from->place, thing_name(from), fixup->symbol->name);
}

static struct error *match_parents(struct check *check, const struct thing *from,
				   const struct thing *to, const struct reloc *reloc,
				   const struct fixup *fixup, bool is_veneer);

/* Was it static in the kernel, and does the patch make it global for its other units? */
static bool was_static(const struct source *source, const char *name)
{
	const struct symbol *orig =
		source->have_orig ? map_get(&source->orig_by_name, name) : NULL;

	/* The glue and modpost's part, which defines __this_module, were never in the kernel. */
	return !source->whole && (!orig || orig->bind == STB_LOCAL);
}

/*
 * May the unit mean what another one defines?  Of another parent, only what is new there: a
 * module's own name comes first, then vmlinux's, and a module that need not be loaded has none to
 * give.
 */
static bool may_define(const struct check *check, const struct source *from,
		       const struct source *other, const char *name)
{
	if (!from->unit || !other->unit || !from->parent || from->parent == other->parent)
		return true;
	if (own_module_has(from, name))
		return false;
	return other->parent->vmlinux || (!has_global(check->proof->parents.list[0], name) &&
					  symtab_depends_on(from->parent, other->parent->name));
}

/* The relocation's symbol is undefined in the unit. */
static struct error *match_undefined(struct check *check, struct thing *from,
				     const struct reloc *reloc, const struct fixup *fixup)
{
	const char *name = reloc->symbol->name;
	/* Another unit of the patch, the glue, or modpost's part may define it. */
	struct source *other = proof_definer(check->proof, from->source, name);

	if (other && !may_define(check, from->source, other, name))
		other = NULL;
	const struct symbol *symbol = other ? map_get(&other->by_name, name) : NULL;
	struct thing *to = symbol ? source_at(other, symbol->section, symbol->value) : NULL;
	const bool at_entry = to && symbol->value == to->start;
	const struct section *section;
	struct fixup jump;
	bool is_veneer = false;
	int64_t offset;

	/* A function that the other unit changed is called in the kernel, too. */
	if (!to || !leads_inside(from, false, to, at_entry))
		TRY(veneer_follow(check, from, reloc, fixup, &is_veneer, &jump));
	if (is_veneer)
		fixup = &jump;
	if (fixup->row && to && was_static(other, name)) {
		struct reloc moved = *reloc;

		moved.symbol = (struct symbol *)symbol;
		return match_parents(check, from, to, &moved, fixup, is_veneer);
	}
	if (fixup->row) {
		const struct row_symbol *symbol = &check->symbols.list[fixup->row->symbol];

		if (strcmp(symbol->name, name) || fixup->addend != reloc->addend ||
		    !symbol->known->global || symbol->parent != owner_of(check, from->source, name))
			return leads_wrong(check, from, fixup, name);
		return NULL;
	}
	if (!is_inside(fixup, &section, &offset)) {
		if (strcmp(fixup->symbol->name, name) || fixup->addend != reloc->addend ||
		    own_module_has(from->source, name) || !proof_provides(check->proof, name))
			return leads_wrong(check, from, fixup, name);
		return is_veneer ? NULL : check_reach(check, from, reloc, fixup);
	}
	if (from->source->whole && !strcmp(name, POKEPATCH_IMAGE_SYMBOL))
		return offset == reloc->addend && !strcmp(section->name, POKEPATCH_SECTION_IMAGE)
			       ? NULL
			       : leads_wrong(check, from, fixup, name);
	if (!to)
		return leads_wrong(check, from, fixup, name);
	TRY(judge(check, from, false, to, at_entry, true));
	int64_t delta = (int64_t)symbol->value + reloc->addend - (int64_t)to->start;
	return place_thing(check, to, section, offset - delta);
}

/* A string or constant in a section that the linker merges: compare the contents. */
static struct error *match_content(struct check *check, struct thing *from,
				   const struct reloc *reloc, bool in_code,
				   const struct fixup *fixup)
{
	const struct section *pool = reloc->symbol->section, *section;
	uint64_t unit = pool->entsize, size = unit, start = reloc->symbol->value;
	int64_t behind = in_code ? reloc->behind : 0, offset;
	int64_t beside = reloc->addend + behind; /* counts from the symbol */

	if (!is_inside(fixup, &section, &offset))
		return leads_wrong(check, from, fixup, pool->name);
	offset += behind;
	if (reloc->symbol->type == STT_SECTION) {
		start += beside;
		beside = 0;
		if (!(pool->flags & SHF_STRINGS)) {
			beside = start % unit;
			start -= beside;
		}
	}
	if (start >= pool->size || pool->size - start < unit)
		return wrong(check, "'%s' refers to a place outside section %s", thing_name(from),
			     pool->name);
	static const unsigned char zeroes[16];
	if (pool->flags & SHF_STRINGS)
		while (unit <= sizeof(zeroes) && pool->size - start - size >= unit &&
		       memcmp(pool->data + start + size - unit, zeroes, unit))
			size += unit;
	offset -= beside;
	if (offset < 0 || (uint64_t)offset > section->size ||
	    size > section->size - (uint64_t)offset || !section->data ||
	    memcmp(section->data + offset, pool->data + start, size) ||
	    (section->flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)) != SHF_ALLOC)
		return wrong(check, "'%s' refers to another string or constant at %#" PRIx64,
			     thing_name(from), fixup->place - from->place);
	struct cursor cursor = cursor_at(check, section, offset);
	struct fixup none;
	if (cursor_next(&cursor, offset + size, &none))
		return wrong(check, "a string or constant that '%s' refers to is relocated",
			     thing_name(from));
	/* An instruction that reads aligned data may fault on other data (movaps). */
	uint64_t align = pool->flags & SHF_STRINGS ? unit : pool->align;
	while (align & (align - 1))
		align &= align - 1;
	while (align > 1 && start % align)
		align /= 2;
	if (section->align < align || offset % align)
		return wrong(check, "a constant that '%s' refers to is not aligned",
			     thing_name(from));
	return extent_add(check, section, offset, size, align, SHARED, pool->name);
}

/*
 * Does the original's datum of this name hold the same as the patched unit's thing?  gcc numbers
 * the statics of one name (__msg.7, count.3), and a static that the patch adds shifts the numbers
 * of those behind it.  So a numbered name does not tell which static it is, and the contents must
 * agree, too.
 */
static bool same_datum(const struct thing *thing, const struct symbol *orig)
{
	static const char sealed[] = ".data..ro_after_init"; /* read-only in the kernel */
	const struct symbol *symbol = thing->symbol;

	if (!symbol || orig->type != STT_OBJECT || !orig->section)
		return true;
	if (orig->size != symbol->size || !orig->section->data != !thing->section->data)
		return false;
	if (!strcmp(orig->section->name, sealed) && strcmp(thing->section->name, sealed))
		return false; /* new code may write it */
	return !orig->section->data || !memcmp(orig->section->data + orig->value,
					       thing->section->data + symbol->value, orig->size);
}

static struct thing *target_thing(const struct thing *from, const struct reloc *reloc, bool in_code);

/* A table for computed gotos: the kernel's leads into the function as it was. */
static bool leads_into_replaced(const struct thing *table)
{
	const struct section *section = table->section;

	for (size_t i = section_first_reloc(section, table->start);
	     i < section->relocs.count && section->relocs.list[i].offset < table->end; i++) {
		const struct reloc *reloc = &section->relocs.list[i];
		const struct thing *to =
			reloc->symbol->section ? target_thing(table, reloc, false) : NULL;
		const uint64_t at = reloc->symbol->value + reloc->addend;

		if (to && is_code(to) && (to != to->function || at != to->start) &&
		    (to->function->reported == REPORTED_CHANGED || only_in_patch(to->function)))
			return true;
	}
	return false;
}

/* The reference leads to the parent: is the symbol that of the thing? */
static struct error *match_parents(struct check *check, const struct thing *from,
				   const struct thing *to, const struct reloc *reloc,
				   const struct fixup *fixup, bool is_veneer)
{
	const struct source *source = to->source;
	const char *name = target_name(check, fixup);
	const struct symbol *orig = map_get(&source->orig_by_name, name);
	const struct symbol *symbol = map_get(&source->by_name, name);

	/* Another name for the same place counts; so does its own name with other numbers. */
	if (!symbol || symbol->section != to->section || symbol->value < to->start ||
	    symbol->value >= to->end + (to->start == to->end)) {
		char *found _free_ = bare_name(name);
		char *expected _free_ = bare_name(thing_name(to));

		symbol = to->symbol;
		if (!symbol || strcmp(found, expected))
			return leads_wrong(check, from, fixup, thing_name(to));
	}
	if (!orig)
		return wrong(check, "'%s' refers to '%s', which the original does not have",
			     thing_name(from), name);
	if (!is_code(to) && leads_into_replaced(to))
		return wrong(check, "'%s' refers to the kernel's '%s', which leads into a function "
				    "that is replaced",
			     thing_name(from), name);
	if (!same_datum(to, orig))
		return wrong(check, "'%s' refers to '%s', which holds something else than '%s'",
			     thing_name(from), name, thing_name(to));
	if (fixup->addend != (int64_t)(reloc->symbol->value + reloc->addend - symbol->value))
		return leads_wrong(check, from, fixup, thing_name(to));
	if (!fixup->row)
		return orig->bind != STB_LOCAL && source->parent && source->parent->vmlinux &&
				       proof_provides(check->proof, name)
			       ? (is_veneer ? NULL : check_reach(check, from, reloc, fixup))
			       : leads_wrong(check, from, fixup, thing_name(to));

	if (orig->type == STT_FUNC && cold_suffix(name))
		return wrong(check, "'%s' leads into '%s', a part of a function that is not replaced",
			     thing_name(from), name);

	const struct row_symbol *row = &check->symbols.list[fixup->row->symbol];
	bool own = orig->bind != STB_LOCAL ? row->known->global : !row->known->global;
	for (size_t i = 0; own && orig->bind == STB_LOCAL && i < source->blocks.list.count; i++) {
		own = source->blocks.list.list[i] == row->known->block;
		if (own)
			break;
	}
	if (row->parent != source->parent || !own ||
	    (orig->type == STT_OBJECT && orig->size != row->known->size) ||
	    (orig->type == STT_FUNC) != row->known->function)
		return wrong(check, "'%s' refers to a '%s' that is not this unit's",
			     thing_name(from), name);
	return NULL;
}

static struct thing *target_thing(const struct thing *from, const struct reloc *reloc, bool in_code)
{
	int64_t offset = reloc->symbol->value;

	/* A symbol means its own thing.  A section means the thing at the place that is reached. */
	if (reloc->symbol->type == STT_SECTION)
		offset += reloc->addend + (in_code ? reloc->behind : 0);
	return source_at(from->source, reloc->symbol->section, offset);
}

struct error *match_target(struct check *check, struct thing *from, const struct proof_table *table,
			   const struct reloc *reloc, bool in_code, const struct fixup *fixup)
{
	const struct section *section;
	struct fixup jump;
	bool is_veneer = false, at_entry;
	int64_t offset, delta;

	if (fixup->row)
		fixup->row->used = true;
	if (!reloc->symbol->section)
		return match_undefined(check, from, reloc, fixup);
	if (section_is_content(reloc->symbol->section))
		return match_content(check, from, reloc, in_code, fixup);

	struct thing *to = target_thing(from, reloc, in_code);
	if (!to)
		return wrong(check, "'%s' refers to a place in section %s that has no name",
			     thing_name(from), reloc->symbol->section->name);
	delta = (int64_t)(reloc->symbol->value + reloc->addend) - (int64_t)to->start;
	if (!to->symbol && is_code(to) && !to->source->whole)
		to->function = from->function; /* a replacement is part of its user */
	at_entry = delta + (in_code ? reloc->behind : 0) == 0;
	if (!leads_inside(from, table != NULL, to, at_entry))
		TRY(veneer_follow(check, from, reloc, fixup, &is_veneer, &jump));
	if (is_veneer)
		fixup = &jump;
	bool inside = is_inside(fixup, &section, &offset);
	TRY(judge(check, from, table != NULL, to, at_entry, inside));
	if (inside)
		return place_thing(check, to, section, offset - delta);
	return match_parents(check, from, to, reloc, fixup, is_veneer);
}

/* ---- one thing ---------------------------------------------------------------------- */

static int by_offset(const void *left, const void *right)
{
	const struct reloc *a = left, *b = right;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* The thing's relocations, and the branches that the assembler resolved, by offset.  Owned. */
static struct reloc *expected_relocs(const struct thing *thing, size_t *ret_count)
{
	const struct section *section = thing->section;
	size_t first = section_first_reloc(section, thing->start), count = 0;

	while (first + count < section->relocs.count &&
	       section->relocs.list[first + count].offset < thing->end)
		count++;
	struct reloc *list = xcalloc(count + thing->branches.count + 1, sizeof(*list));
	for (size_t i = 0; i < count; i++)
		list[i] = section->relocs.list[first + i];
	for (size_t i = 0; i < thing->branches.count; i++)
		list[count++] = thing->branches.list[i];
	if (thing->branches.count)
		qsort(list, count, sizeof(*list), by_offset);
	*ret_count = count;
	return list;
}

static struct error *match_relocs(struct check *check, struct thing *thing,
				  const struct reloc *list, size_t count)
{
	struct cursor cursor = cursor_at(check, thing->at, thing->place);
	uint64_t end = thing->place + thing->end - thing->start;
	struct fixup fixup;

	for (size_t i = 0; i < count; i++) {
		const struct reloc *reloc = &list[i];
		uint64_t place = reloc->offset - thing->start + thing->place;

		if (thing_nop(thing, reloc->offset))
			continue; /* the table's entry has the jump's target */
		if (!cursor_next(&cursor, end, &fixup))
			return wrong(check, "'%s' lacks the relocation at %#" PRIx64,
				     thing_name(thing), reloc->offset - thing->start);
		if (fixup.place != place || fixup.type != reloc->type)
			return wrong(check,
				     "'%s' has a relocation of type %u at %#" PRIx64
				     ", and not one of type %u at %#" PRIx64,
				     thing_name(thing), fixup.type, fixup.place - thing->place,
				     reloc->type, reloc->offset - thing->start);
		TRY(match_target(check, thing, NULL, reloc, section_is_text(thing->section),
				 &fixup));
	}
	if (cursor_next(&cursor, end, &fixup))
		return wrong(check, "'%s' has a relocation at %#" PRIx64
				    " that the compiler's output has not",
			     thing_name(thing), fixup.place - thing->place);
	return NULL;
}

/*
 * The bits of this byte that hold the distance of a branch that the assembler resolved.  The field
 * has 4 bytes.
 */
static unsigned char field_bits(const struct thing *thing, const struct reloc *branch, uint64_t at)
{
	const struct arch *arch = thing->source->object.arch;
	const struct reloc_kind *kind = arch_reloc(arch, branch->type);
	const uint64_t bits = kind && kind->mask ? kind->mask : UINT32_MAX;
	const uint64_t byte = at - branch->offset;

	return bits >> 8 * (arch_is_big(arch) ? 3 - byte : byte);
}

static struct error *match_bytes(struct check *check, const struct thing *thing)
{
	const unsigned char *expected = thing->section->data;
	const unsigned char *found = thing->at->data ? thing->at->data + thing->place : NULL;
	uint64_t size = thing->end - thing->start;
	size_t branch = 0;

	for (uint64_t i = 0; i < size; i++) {
		unsigned char want = expected ? expected[thing->start + i] : 0;
		const struct nop *nop = thing_nop(thing, thing->start + i);

		if (nop) {
			if (nop->length > check->proof->rules->longest_nop || !found ||
			    size - i < nop->length ||
			    memcmp(found + i, check->proof->rules->nops[nop->length], nop->length))
				return wrong(check, "'%s' has no NOP at %#" PRIx64,
					     thing_name(thing), i);
			i += nop->length - 1;
			continue;
		}
		while (branch < thing->branches.count &&
		       thing->branches.list[branch].offset + 4 <= thing->start + i)
			branch++;
		if (branch < thing->branches.count &&
		    thing->branches.list[branch].offset <= thing->start + i)
			want &= ~field_bits(thing, &thing->branches.list[branch], thing->start + i);
		if (is_short_field(thing, thing->start + i))
			continue; /* match_tail() compares it */
		if ((found ? found[i] : 0) != want)
			return wrong(check, "byte %#" PRIx64 " of '%s' differs", i,
				     thing_name(thing));
	}
	return NULL;
}

static struct error *match_lead(struct check *check, const struct thing *thing)
{
	struct cursor cursor = cursor_at(check, thing->at, thing->place - thing->lead);
	struct fixup fixup;

	if (thing->lead &&
	    (memcmp(thing->at->data + thing->place - thing->lead,
		    thing->section->data + thing->start - thing->lead, thing->lead) ||
	     cursor_next(&cursor, thing->place, &fixup)))
		return wrong(check, "the bytes in front of '%s' differ", thing_name(thing));
	return NULL;
}

static struct error *match_thing(struct check *check, struct thing *thing)
{
	size_t count;

	thing_prepare(thing);
	TRY(match_lead(check, thing));
	struct reloc *relocs _free_ = expected_relocs(thing, &count);
	TRY(match_bytes(check, thing));
	TRY(match_relocs(check, thing, relocs, count));
	TRY(match_tail(check, thing));
	return tables_match(check, thing);
}

struct error *match_todo(struct check *check)
{
	while (check->todo.count)
		TRY(match_thing(check, check->todo.list[--check->todo.count]));
	return NULL;
}
