// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The special sections: the module must have every entry of each thing that is in it, once, and no
 * other entry.
 */
#include "proof/proof_tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "proof/proof_check.h"
#include "proof/proof_match.h"

/* ---- the module's entries ----------------------------------------------------------- */

static int module_entry_order(const void *left, const void *right)
{
	const struct module_entry *a = left, *b = right;

	if (a->section != b->section)
		return a->section->index < b->section->index ? -1 : 1;
	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

struct error *tables_check_header(const struct check *check, const struct section *section,
				  const char *name)
{
	const uint64_t kinds = SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR;

	for (size_t i = 0; i < check->proof->sources.count; i++) {
		const struct source *source = check->proof->sources.list[i];
		const struct section *made = object_find_section(&source->object, name);

		if (made && section->align < made->align)
			return wrong(check, "section %s is not aligned as the compiler's",
				     section->name);
		if (!made && source->have_unwound)
			made = object_find_section(&source->unwound, name);
		if (made && (section->flags & kinds) != (made->flags & kinds))
			return wrong(check, "section %s has flags %#" PRIx64, section->name,
				     section->flags);
	}
	return NULL;
}

static struct error *read_table(struct check *check, const struct proof_table *rule,
				const struct section *section)
{
	struct module_table *table = vec_push(&check->tables);

	TRY(tables_check_header(check, section, rule->section));
	table->rule = rule;
	table->section = section;
	table->size = table_entry_size(rule, section);
	if (!table->size || section->size % table->size || !section->data)
		return wrong(check, "the entries of section %s have no known size", section->name);
	for (uint64_t start = 0; start < section->size; start += table->size) {
		struct cursor cursor = cursor_at(check, section, start);
		struct fixup fixup;

		if (!cursor_next(&cursor, start + table->size, &fixup) || fixup.place != start ||
		    fixup.row || !fixup.symbol->section)
			return wrong(check, "the entry at %#" PRIx64 " of section %s has no code",
				     start, section->name);
		*vec_push(&table->entries) = (struct module_entry){
			.section = fixup.symbol->section,
			.code = fixup.symbol->value + fixup.addend,
			.start = start,
		};
	}
	qsort(table->entries.list, table->entries.count, sizeof(*table->entries.list),
	      module_entry_order);
	return NULL;
}

struct error *tables_read(struct check *check)
{
	for (const struct proof_table *rule = check->proof->rules->tables; rule->section; rule++) {
		const struct section *section =
			object_find_section(&check->object, rule->linked ?: rule->section);

		if (section && section->size)
			TRY(read_table(check, rule, section));
	}
	return NULL;
}

static struct module_table *find_table(struct check *check, const struct proof_table *rule)
{
	for (size_t i = 0; i < check->tables.count; i++)
		if (check->tables.list[i].rule == rule)
			return &check->tables.list[i];
	return NULL;
}

/* The entries for one place of code: the first one, and how many there are. */
static struct module_entry *entries_at(const struct module_table *table,
				       const struct section *section, uint64_t code,
				       size_t *ret_count)
{
	struct module_entry key = {.section = section, .code = code};
	struct module_entry *list = table ? table->entries.list : NULL;
	size_t count = table ? table->entries.count : 0;
	size_t first = first_index(i, count, module_entry_order(&list[i], &key) >= 0);

	*ret_count = 0;
	while (first + *ret_count < count && list[first + *ret_count].section == section &&
	       list[first + *ret_count].code == code)
		++*ret_count;
	return *ret_count ? &list[first] : NULL;
}

static struct error *use_entry(struct check *check, const struct module_table *table,
			       struct module_entry *entry)
{
	if (entry->used)
		return wrong(check, "an entry of section %s belongs to two", table->rule->section);
	entry->used = true;
	return extent_add(check, table->section, entry->start, table->size, 1, PLACED,
		     table->rule->section);
}

/* ---- entries that the compiler made ------------------------------------------------- */

/*
 * The loader sorts the jump table before the core can look up a static key of a parent module.  So
 * the branch of a module's tracepoint gets a key of the patch that stays off: zeroes that nothing
 * else uses.  The low bits of the address say how the entry branches.
 */
#define KEY_FLAGS 3
#define KEY_SIZE 16

static bool is_inert_key(struct check *check, const struct thing *thing,
			 const struct reloc *reloc, const struct fixup *fixup)
{
	static const unsigned char zeroes[KEY_SIZE];
	const struct symtab *parent = thing->source->parent;
	const struct section *section = fixup->symbol ? fixup->symbol->section : NULL;
	uint64_t place = section ? fixup->symbol->value + fixup->addend : 0;

	if (!section || !parent || !has_prefix(reloc->symbol->name, "__tracepoint_") ||
	    (place & KEY_FLAGS) != (reloc->addend & KEY_FLAGS))
		return false;
	place &= ~(uint64_t)KEY_FLAGS;
	const uint64_t kinds = SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR;
	if ((section->flags & kinds) != (SHF_ALLOC | SHF_WRITE) || place > section->size ||
	    section->size - place < KEY_SIZE ||
	    (section->data && memcmp(section->data + place, zeroes, KEY_SIZE)))
		return false;
	struct cursor cursor = cursor_at(check, section, place);
	struct fixup none;
	if (cursor_next(&cursor, place + KEY_SIZE, &none))
		return false;
	/* vmlinux's own tracepoints have no need for it. */
	struct symtab *vmlinux = proof_parent(check->proof, "vmlinux");
	symtab_load(vmlinux, &reloc->symbol->name, 1);
	return !symtab_get(vmlinux, reloc->symbol->name);
}

/* A unit has one such key for all its branches. */
static struct error *use_inert_key(struct check *check, struct source *source,
				   const struct fixup *fixup)
{
	uint64_t place = (fixup->symbol->value + fixup->addend) & ~(int64_t)KEY_FLAGS;

	if (source->inert && (source->inert != fixup->symbol->section || source->inert_at != place))
		return wrong(check, "%s has two static keys that stay off", source->name);
	source->inert = fixup->symbol->section;
	source->inert_at = place;
	return extent_add(check, fixup->symbol->section, place, KEY_SIZE, 8, WHOLE,
		     "a static key that stays off");
}

/*
 * Where the loader reads a key before the core has made its relocation, the field leads to a key of
 * the patch at first.  The loader must take the branch for a jump and not write a NOP, so the type
 * of that key (its second word) must differ from the likely direction of the branch.
 */
static struct error *check_early_key(struct check *check, const struct thing *thing,
				     const struct reloc *reloc, const struct fixup *fixup)
{
	const struct section *section = fixup->symbol ? fixup->symbol->section : NULL;
	const uint64_t kinds = SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR;
	int64_t place = section ? (int64_t)fixup->symbol->value + fixup->addend : -1;
	unsigned char type[8] = {};
	struct cursor cursor;
	struct fixup none;

	if (place < 0 || (place & KEY_FLAGS) != (reloc->addend & KEY_FLAGS) ||
	    fixup->type != reloc->type)
		return wrong(check, "a branch of '%s' has no key until its own is known",
			     thing_name(thing));
	type[check->object.header.e_ident[EI_DATA] == ELFDATA2MSB ? 7 : 0] = !(place & 1);
	place &= ~(int64_t)KEY_FLAGS;
	if ((section->flags & kinds) != (SHF_ALLOC | SHF_WRITE) ||
	    (uint64_t)place > section->size || section->size - place < KEY_SIZE ||
	    !section->data || memcmp(section->data + place + 8, type, sizeof(type)))
		return wrong(check, "the key of a branch of '%s', until its own is known, is none",
			     thing_name(thing));
	cursor = cursor_at(check, section, place);
	if (cursor_next(&cursor, place + KEY_SIZE, &none))
		return wrong(check, "the key of a branch of '%s', until its own is known, is relocated",
			     thing_name(thing));
	return extent_add(check, section, place, KEY_SIZE, 8, WHOLE,
		     "a static key until another is known");
}

static bool is_empty_piece(const struct table_entry *entry, uint64_t size, uint64_t offset)
{
	const struct proof_table *rule = entry->table;

	return rule->piece && offset == rule->piece &&
	       !entry->section->data[entry->start + size + rule->piece_length];
}

static struct error *match_entry(struct check *check, struct thing *thing,
				 const struct table_entry *entry,
				 const struct module_table *table, const struct module_entry *found)
{
	const struct section *section = entry->section;
	uint64_t size = table->size, room = section->size - entry->start;
	struct cursor cursor = cursor_at(check, table->section, found->start);
	struct fixup fixup;

	for (uint64_t i = 0; i < size; i++) {
		unsigned char want = i < room ? section->data[entry->start + i] : 0;

		if (table->section->data[found->start + i] != want)
			return wrong(check, "byte %" PRIu64 " of an entry of '%s' in section %s differs",
				     i, thing_name(thing), section->name);
	}
	for (size_t i = section_first_reloc(section, entry->start);
	     i < section->relocs.count && section->relocs.list[i].offset < entry->start + size;
	     i++) {
		const struct reloc *reloc = &section->relocs.list[i];
		uint64_t at = reloc->offset - entry->start;

		bool more = cursor_next(&cursor, found->start + size, &fixup);

		if (more && entry->table->key_is_read && at == entry->table->key && fixup.row)
			return wrong(check, "a branch of '%s' has no key until its own is known",
				     thing_name(thing));
		if (more && entry->table->key_is_read && at == entry->table->key &&
		    cursor_at_row(&cursor, fixup.place)) {
			TRY(check_early_key(check, thing, reloc, &fixup));
			more = cursor_next(&cursor, found->start + size, &fixup);
		}
		if (!more || fixup.place - found->start != at || fixup.type != reloc->type)
			return wrong(check, "the relocation at %" PRIu64
					    " of an entry of '%s' in section %s differs",
				     at, thing_name(thing), section->name);
		if (is_empty_piece(entry, size, at))
			continue; /* the kernel reads nothing at an empty piece */
		if (entry->table->key && at == entry->table->key &&
		    is_inert_key(check, thing, reloc, &fixup))
			TRY(use_inert_key(check, thing->source, &fixup));
		else
			TRY(match_target(check, thing, entry->table, reloc, false, &fixup));
	}
	if (cursor_next(&cursor, found->start + size, &fixup))
		return wrong(check, "an entry of '%s' in section %s has one relocation too many",
			     thing_name(thing), section->name);
	return NULL;
}

/* The loader reads where a listed call leads, so a call that the core relocates is not listed. */
static bool is_late(struct check *check, const struct thing *thing, uint64_t code)
{
	const unsigned char *call = thing->at->data + code;
	struct cursor cursor = cursor_at(check, thing->at, code);
	struct fixup fixup;

	return cursor_next(&cursor, code + check->proof->rules->live_length(call), &fixup) &&
	       fixup.row;
}

static struct error *match_compiled(struct check *check, struct thing *thing)
{
	for (size_t i = 0; i < thing->entries.count;) {
		const struct table_entry *first = &thing->entries.list[i];
		struct module_table *table = find_table(check, first->table);
		uint64_t code = thing->place + first->code - thing->start;
		size_t count = 0, found;
		struct module_entry *entries = entries_at(table, thing->at, code, &found);

		while (i + count < thing->entries.count &&
		       first[count].table == first->table && first[count].code == first->code)
			count++;
		size_t wanted =
			first->table->unwound && is_late(check, thing, code) ? 0 : count;

		if (found != wanted)
			return wrong(check, "'%s' has %zu entries in section %s for %#" PRIx64
					    ", not %zu",
				     thing_name(thing), found, first->table->section,
				     first->code - thing->start, wanted);
		/* Both lists are by place, so the order of the entries must be the same. */
		for (size_t j = 0; j < wanted; j++) {
			TRY(use_entry(check, table, &entries[j]));
			TRY(match_entry(check, thing, &first[j], table, &entries[j]));
		}
		i += count;
	}
	return NULL;
}

/* In a table whose later entries win, the entries of one thing must keep their order. */
static struct error *match_order(struct check *check, const struct thing *thing)
{
	uint64_t source_before = 0, module_before = 0;
	bool first = true;

	for (size_t i = 0; i < thing->entries.count; i++) {
		const struct table_entry *entry = &thing->entries.list[i];
		size_t count, nth = 0;

		if (!entry->table->ordered)
			continue;
		const struct module_entry *found =
			entries_at(find_table(check, entry->table), thing->at,
				   thing->place + entry->code - thing->start, &count);
		while (nth < i && entry[-1 - (int64_t)nth].table == entry->table &&
		       entry[-1 - (int64_t)nth].code == entry->code)
			nth++;
		if (!first && (entry->start > source_before) !=
				      (found[nth].start > module_before))
			return wrong(check, "the entries of '%s' in section %s are out of order",
				     thing_name(thing), entry->table->section);
		source_before = entry->start;
		module_before = found[nth].start;
		first = false;
	}
	return NULL;
}

/* ---- entries that objtool made ------------------------------------------------------ */

/* Where the instruction begins that has this relocation. */
static uint64_t instruction_start(const struct thing *thing, uint64_t offset)
{
	uint64_t at = offset - thing->start;
	uint64_t *ends _free_ = thing_instructions(thing);

	while (at && ends[at - 1] == ends[offset - thing->start])
		at--;
	return thing->start + at;
}

/*
 * The key of a static call is the exported one, or the trampoline if only that is exported
 * (linux/static_call.h, EXPORT_STATIC_CALL_TRAMP).  Otherwise it is the kernel's own, which the
 * core relocates.
 */
static struct error *match_key(struct check *check, struct thing *thing,
			       const struct proof_table *rule, const char *callee,
			       uint8_t flags, const struct fixup *fixup)
{
	char *key _free_ = xasprintf("__SCK__%s", callee + strlen("__SCT__"));
	const char *expected = key;
	struct symbol *own = map_get(&thing->source->by_name, key);
	const struct thing *to = own ? source_at(thing->source, own->section, own->value) : NULL;

	if (to && to->reported == REPORTED_NEW) {
		struct reloc reloc = {.symbol = own, .addend = flags};

		return match_target(check, thing, rule, &reloc, false, fixup);
	}
	if (!proof_provides(check->proof, key) && proof_provides(check->proof, callee))
		expected = callee;
	const char *found = fixup->row ? check->symbols.list[fixup->row->symbol].name
				       : fixup->symbol->name;
	if (fixup->row)
		fixup->row->used = true;
	bool exported = proof_provides(check->proof, expected);
	if (strcmp(found, expected) || fixup->addend != flags || exported != !fixup->row ||
	    (fixup->row ? !check->symbols.list[fixup->row->symbol].known->global
			: fixup->symbol->section != NULL))
		return wrong(check, "a static call of '%s' has the key '%s', not '%s'",
			     thing_name(thing), found, expected);
	return NULL;
}

/*
 * The loader would look for the key of a module's static call (cifs: trace_smb3_exit_done()) before
 * the core could look it up.  So such a call has no entry and calls the trampoline, which always
 * leads to where the static call leads.
 */
static bool calls_into_module(struct check *check, const struct thing *thing,
			      const struct proof_table *rule, const struct reloc *reloc)
{
	uint64_t place = reloc->offset - thing->start + thing->place;
	struct cursor cursor = cursor_at(check, thing->at, place);
	struct fixup fixup;

	return rule->call_key && cursor_next(&cursor, place + 1, &fixup) && fixup.row &&
	       !check->symbols.list[fixup.row->symbol].parent->vmlinux;
}

static struct error *match_call(struct check *check, struct thing *thing,
				const struct proof_table *rule, const struct reloc *reloc)
{
	struct module_table *table = find_table(check, rule);
	uint64_t start = instruction_start(thing, reloc->offset);
	static const unsigned char zeroes[32];
	size_t count;
	struct module_entry *found = entries_at(
		table, thing->at, thing->place + start - thing->start, &count);

	if (!count && calls_into_module(check, thing, rule, reloc))
		return NULL;
	if (count != 1)
		return wrong(check, "'%s' has %zu entries in section %s for %#" PRIx64 ", not 1",
			     thing_name(thing), count, rule->section, start - thing->start);
	TRY(use_entry(check, table, found));

	struct cursor cursor = cursor_at(check, table->section, found->start);
	struct fixup fixup;
	bool jump = check->proof->rules->is_jump(thing->section->data + start);
	if (memcmp(table->section->data + found->start, zeroes, table->size) ||
	    !cursor_next(&cursor, found->start + table->size, &fixup) ||
	    fixup.type != check->proof->rules->pc32)
		return wrong(check, "an entry of '%s' in section %s is malformed",
			     thing_name(thing), rule->section);
	if (rule->call_key) {
		if (!cursor_next(&cursor, found->start + table->size, &fixup) ||
		    fixup.type != check->proof->rules->pc32 || fixup.place != found->start + 4)
			return wrong(check, "a static call of '%s' has no key", thing_name(thing));
		TRY(match_key(check, thing, rule, reloc->symbol->name, jump ? rule->tail_flag : 0,
			      &fixup));
	}
	if (cursor_next(&cursor, found->start + table->size, &fixup))
		return wrong(check, "an entry of '%s' in section %s has one relocation too many",
			     thing_name(thing), rule->section);
	return NULL;
}

static struct error *match_calls(struct check *check, struct thing *thing)
{
	const struct section *section = thing->section;

	for (size_t i = section_first_reloc(section, thing->start);
	     i < section->relocs.count && section->relocs.list[i].offset < thing->end; i++) {
		const struct reloc *reloc = &section->relocs.list[i];
		const struct reloc_kind *kind = arch_reloc(check->object.arch, reloc->type);

		if (!kind || !kind->branch || reloc->symbol->type == STT_SECTION)
			continue;
		for (const struct proof_table *rule = check->proof->rules->tables; rule->section;
		     rule++)
			if (rule->callee && has_prefix(reloc->symbol->name, rule->callee))
				TRY(match_call(check, thing, rule, reloc));
	}
	return NULL;
}

struct error *tables_match(struct check *check, struct thing *thing)
{
	TRY(match_compiled(check, thing));
	TRY(match_order(check, thing));
	if (section_is_text(thing->section))
		TRY(match_calls(check, thing));
	return NULL;
}

struct error *tables_check_used(struct check *check)
{
	for (size_t i = 0; i < check->tables.count; i++) {
		const struct module_table *table = &check->tables.list[i];

		for (size_t j = 0; j < table->entries.count; j++)
			if (!table->entries.list[j].used)
				return wrong(check, "the entry at %#" PRIx64
						    " of section %s belongs to nothing",
					     table->entries.list[j].start, table->rule->section);
	}
	return NULL;
}
