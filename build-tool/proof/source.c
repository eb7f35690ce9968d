// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Splits the compiler's output into things by its symbols, and attaches the entries of the special
 * sections to them.
 */
#include "proof/proof_source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "proof/proof_texts.h"

char *bare_name(const char *name)
{
	char *bare = xstrdup(name), *to = bare;

	for (const char *from = name; *from;) {
		size_t digits = *from == '.' ? strspn(from + 1, "0123456789") : 0;

		if (digits && (!from[1 + digits] || from[1 + digits] == '.'))
			from += 1 + digits;
		else
			*to++ = *from++;
	}
	*to = '\0';
	/* A counter follows (compiler-gcc.h); clang: "function.__UNIQUE_ID_ddebug487" */
	if (has_prefix(bare, "__UNIQUE_ID_") || strstr(bare, ".__UNIQUE_ID_"))
		while (to > bare && isdigit((unsigned char)to[-1]))
			*--to = '\0';
	return bare;
}

const char *thing_name(const struct thing *thing)
{
	return thing->symbol ? thing->symbol->name : thing->section->name;
}

size_t section_first_reloc(const struct section *section, uint64_t offset)
{
	return first_index(i, section->relocs.count, section->relocs.list[i].offset >= offset);
}

/* ---- splitting ---------------------------------------------------------------------- */

static const struct proof_table *table_rule(const struct proof_rules *rules, const char *name)
{
	for (const struct proof_table *table = rules->tables; table->section; table++)
		if (!strcmp(table->section, name))
			return table;
	return NULL;
}

static bool is_piece_section(const struct proof_rules *rules, const char *name)
{
	for (const char *const *p = rules->piece_sections; *p; p++)
		if (!strcmp(*p, name))
			return true;
	return false;
}

static struct thing *add_thing(struct source *source, const struct section *section,
			       uint64_t start, uint64_t end, const struct symbol *symbol)
{
	struct thing *thing = xcalloc(1, sizeof(*thing));

	*thing = (struct thing){
		.source = source,
		.section = section,
		.start = start,
		.end = end,
		.symbol = symbol,
	};
	thing->function = thing;
	*vec_push(&source->things) = thing;
	*vec_push(&source->by_section[section->index]) = thing;
	return thing;
}

/* arm64's "$x" and "$d" mark where code and where data begins. */
static bool is_mark(const struct symbol *symbol)
{
	return symbol->name[0] == '$';
}

/* include/linux/btf_ids.h */
static bool is_btf(const struct section *section)
{
	return !strcmp(section->name, ".BTF_ids");
}

static bool names_a_thing(const struct symbol *symbol)
{
	if (!section_is_loaded(symbol->section) || !*symbol->name || is_mark(symbol))
		return false;
	if (is_btf(symbol->section)) /* its labels; ids are parts of lists and sets */
		return symbol->type == STT_NOTYPE;
	return symbol->type == STT_FUNC || symbol->type == STT_OBJECT ||
	       (symbol->type == STT_NOTYPE && !has_prefix(symbol->name, ".L"));
}

/* Another name that MODULE_DEVICE_TABLE() gives a table, for modpost (include/linux/module.h) */
static bool is_for_modpost(const struct symbol *symbol)
{
	return has_prefix(symbol->name, "__mod_") &&
	       (has_suffix(symbol->name, "_device_table") ||
		has_prefix(symbol->name, "__mod_device_table__"));
}

static int bind_rank(const struct symbol *symbol)
{
	return symbol->bind == STB_GLOBAL ? 0 : symbol->bind == STB_WEAK ? 1 : 2;
}

/*
 * By section and place; at one place the largest symbol first, then the global one, then a weak
 * one, and a name for modpost last.
 */
static int symbol_order(const void *left, const void *right)
{
	const struct symbol *a = *(const struct symbol *const *)left;
	const struct symbol *b = *(const struct symbol *const *)right;

	if (a->section != b->section)
		return a->section->index < b->section->index ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	if (is_for_modpost(a) != is_for_modpost(b))
		return is_for_modpost(a) ? 1 : -1;
	if (a->bind != b->bind)
		return bind_rank(a) < bind_rank(b) ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static bool is_filler(const struct section *section, uint64_t start, uint64_t end,
		      const struct proof_rules *rules)
{
	size_t first = section_first_reloc(section, start);

	if (first < section->relocs.count && section->relocs.list[first].offset < end)
		return false;
	for (uint64_t i = start; i < end; i++)
		if (section->data[i] &&
		    !memchr(rules->padding, section->data[i], rules->padding_length))
			return false;
	return true;
}

static void split_pieces(struct source *source, const struct section *pieces, uint64_t from,
			 const struct proof_rules *rules);

/* Split what follows the section's last symbol. */
static void split_rest(struct source *source, const struct section *section, uint64_t from,
		       const struct proof_rules *rules)
{
	size_t count = source->by_section[section->index].count;
	struct thing *const *list = source->by_section[section->index].list;
	bool tail = rules->tails && section_is_text(section) &&
		    !is_filler(section, from, section->size, rules);
	/* NOPs in front of the only function come first. */
	bool alone = count == 1 || (count == 2 && !list[0]->symbol);

	if (tail && alone)
		list[count - 1]->end = section->size;
	else if (tail)
		split_pieces(source, section, from, rules);
	else
		add_thing(source, section, from, section->size, NULL);
}

static void split_by_symbols(struct source *source, const struct proof_rules *rules)
{
	VEC(const struct symbol *) list = {0};

	for (size_t i = 1; i < source->object.symbols.count; i++)
		if (names_a_thing(source->object.symbols.list[i]))
			*vec_push(&list) = source->object.symbols.list[i];
	if (list.count)
		qsort(list.list, list.count, sizeof(*list.list), symbol_order);
	for (size_t i = 0; i < list.count;) {
		const struct section *section = list.list[i]->section;
		uint64_t end = 0;

		for (; i < list.count && list.list[i]->section == section; i++) {
			const struct symbol *symbol = list.list[i];
			uint64_t next = section->size, stop = symbol->value + symbol->size;

			if (source->by_section[section->index].count &&
			    (symbol->value < end ||
			     (symbol->value == list.list[i - 1]->value &&
			      list.list[i - 1]->section == section)))
				continue; /* another name for it, or a label within it */
			for (size_t j = i + 1; j < list.count; j++)
				if (list.list[j]->section != section ||
				    list.list[j]->value > symbol->value) {
					if (list.list[j]->section == section)
						next = list.list[j]->value;
					break;
				}
			if (symbol->value > end)
				add_thing(source, section, end, symbol->value, NULL);
			if (!symbol->size && (section_is_text(section) || is_btf(section)))
				stop = next; /* assembly that gives no .size */
			add_thing(source, section, symbol->value, stop, symbol);
			end = stop;
		}
		if (end < section->size)
			split_rest(source, section, end, rules);
	}
	vec_deinit(&list);
}

struct piece {
	uint64_t start, end;
};

static int piece_order(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/*
 * Split code that only tables and jumps lead to.  A table says how long a piece is.  A piece that
 * only jumps lead to ends where the next one begins.
 */
static void split_pieces(struct source *source, const struct section *pieces, uint64_t from,
			 const struct proof_rules *rules)
{
	VEC(struct piece) list = {0};

	for (size_t i = 1; i < source->object.sections.count; i++) {
		const struct section *section = source->object.sections.list[i];
		const struct proof_table *table =
			section_is_loaded(section) ? table_rule(rules, section->name) : NULL;
		uint8_t size = table ? table_entry_size(table, section) : 0;

		if (!section_is_loaded(section))
			continue;
		for (size_t j = 0; j < section->relocs.count; j++) {
			const struct reloc *reloc = &section->relocs.list[j];
			const struct reloc_kind *kind =
				arch_reloc(source->object.arch, reloc->type);
			uint64_t start = reloc->symbol->value + reloc->addend;

			if (reloc->symbol->section != pieces || !kind || start < from)
				continue;
			struct piece piece = {start, 0};
			if (table && size && reloc->offset % size == table->piece)
				piece.end = start + section->data[reloc->offset - table->piece +
								  size + table->piece_length];
			else if (section_is_text(section) && kind->pc_relative)
				piece.start += kind->size;
			*vec_push(&list) = piece;
		}
	}
	if (list.count)
		qsort(list.list, list.count, sizeof(*list.list), piece_order);
	for (size_t i = 0; i < list.count; i++) {
		uint64_t next = pieces->size, end = list.list[i].end;

		if (i && list.list[i].start == list.list[i - 1].start)
			continue; /* the first one at this place is the longest */
		for (size_t j = i + 1; j < list.count && next == pieces->size; j++)
			if (list.list[j].start > list.list[i].start)
				next = list.list[j].start;
		if (!end)
			end = next;
		if (end > list.list[i].start)
			add_thing(source, pieces, list.list[i].start, end < next ? end : next,
				  NULL);
	}
	vec_deinit(&list);
}

static void split(struct source *source, const struct proof_rules *rules)
{
	if (!source->whole)
		split_by_symbols(source, rules);
	for (size_t i = 1; i < source->object.sections.count; i++) {
		const struct section *section = source->object.sections.list[i];

		if (!section_is_loaded(section) || section_is_content(section) ||
		    table_rule(rules, section->name) || source->by_section[i].count)
			continue;
		if (is_piece_section(rules, section->name))
			split_pieces(source, section, 0, rules);
		else if (section->size)
			add_thing(source, section, 0, section->size, NULL);
	}
}

struct thing *source_at(struct source *source, const struct section *section, int64_t offset)
{
	struct thing **list = source->by_section[section->index].list;
	size_t count = source->by_section[section->index].count;
	size_t behind = first_index(i, count, (int64_t)list[i]->start > offset);

	if (behind < count && (int64_t)(list[behind]->start - list[behind]->lead) <= offset)
		return list[behind];
	if (!behind) /* the address of a table that is indexed from 1 on */
		return count == 1 ? list[0] : NULL;
	return offset <= (int64_t)list[behind - 1]->end || behind == count ? list[behind - 1]
									   : NULL;
}

/*
 * A table may have the address of NOPs in front of a function.  They lie in the gap between the
 * function and the one before it; the rest of the gap is padding.
 */
static struct error *find_lead(struct source *source, const struct reloc *reloc)
{
	const struct section *section = reloc->symbol->section;
	uint64_t place = reloc->symbol->value + reloc->addend;
	struct thing **list = section ? source->by_section[section->index].list : NULL;
	size_t count = section ? source->by_section[section->index].count : 0;
	size_t next = first_index(i, count, list[i]->start > place);

	if (!next || next == count || list[next - 1]->symbol || !list[next]->symbol ||
	    !section_is_text(section))
		return NULL;
	if (!is_filler(section, place, list[next]->start, source->rules))
		return error_new(STATUS_FAILED, "%s: there is code in front of '%s'",
				 source->object.path, thing_name(list[next]));
	if (list[next]->start - place > list[next]->lead)
		list[next]->lead = list[next]->start - place;
	return NULL;
}

static struct error *find_leads(struct source *source, const struct proof_rules *rules)
{
	for (size_t i = 1; !source->whole && i < source->object.sections.count; i++) {
		const struct section *section = source->object.sections.list[i];
		const struct proof_table *table = table_rule(rules, section->name);

		for (size_t j = 0; table && table->leads && j < section->relocs.count; j++)
			TRY(find_lead(source, &section->relocs.list[j]));
	}
	return NULL;
}

/* ---- cold parts, types, entries --------------------------------------------------------- */

const char *cold_suffix(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && strspn(cold + 5, ".0123456789") == strlen(cold + 5) ? cold : NULL;
}

static void link_cold_part(struct source *source, struct thing *thing)
{
	const char *cold = cold_suffix(thing->symbol->name);

	if (!cold)
		return;
	char *name _free_ = xstrndup(thing->symbol->name, cold - thing->symbol->name);
	struct thing *function = map_get(&source->functions, name);
	if (function) {
		thing->function = function;
		function->cold = thing;
	}
}

/* clang with -fsanitize=kcfi: "__cfi_foo" has 5 bytes in front of foo, NOPs may lie between. */
static void link_type(struct source *source, struct thing *thing)
{
	const char *prefix = source->rules->type_prefix;
	struct thing *function = prefix && has_prefix(thing->symbol->name, prefix)
					 ? map_get(&source->functions,
						   thing->symbol->name + strlen(prefix))
					 : NULL;

	if (function && function->section == thing->section && function->start >= thing->end) {
		thing->function = function;
		function->type = thing;
	}
}

static void link_parts(struct source *source)
{
	/* By all of their names: a cold part, or a report, may have any of these. */
	for (size_t i = 1; i < source->object.symbols.count; i++) {
		const struct symbol *symbol = source->object.symbols.list[i];
		const bool named = symbol->section && symbol->type != STT_SECTION &&
				   *symbol->name && section_is_text(symbol->section);
		struct thing *thing =
			named ? source_at(source, symbol->section, symbol->value) : NULL;

		if (thing && thing->symbol && thing->start == symbol->value)
			*map_slot(&source->functions, symbol->name) = thing;
	}
	for (size_t i = 0; i < source->things.count; i++) {
		struct thing *thing = source->things.list[i];

		if (!thing->symbol || !section_is_text(thing->section))
			continue;
		link_cold_part(source, thing);
		link_type(source, thing);
	}
}

/* Every entry begins with a relocation, so the right size is the one that fits them. */
uint8_t table_entry_size(const struct proof_table *table, const struct section *section)
{
	for (size_t i = 0; i < ARRAY_SIZE(table->sizes) && table->sizes[i]; i++) {
		uint64_t size = table->sizes[i], start = 0;

		for (size_t j = 0; j < section->relocs.count; j++)
			if (section->relocs.list[j].offset == start)
				start += size;
		/* The last entry may lack its padding (.parainstructions). */
		if (start >= section->size && start < section->size + size)
			return size;
	}
	return 0;
}

static int entry_order(const void *left, const void *right)
{
	const struct table_entry *a = left, *b = right;

	if (a->table != b->table)
		return a->table < b->table ? -1 : 1;
	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* The table is the compiler's, or the one that objtool adds behind the compiler's sections. */
static struct error *attach_entries(struct source *source, const struct proof_table *table,
				    const struct section *section)
{
	uint8_t size = table_entry_size(table, section);

	if (section->size && !size)
		return error_new(STATUS_FAILED, "%s: the entries of section %s have no known size",
				 source->object.path, section->name);
	for (uint64_t start = 0; size && start < section->size; start += size) {
		const size_t first = section_first_reloc(section, start);
		const struct reloc *reloc = first < section->relocs.count &&
							    section->relocs.list[first].offset < start + size
						    ? &section->relocs.list[first]
						    : NULL;
		const struct symbol *symbol = reloc ? reloc->symbol : NULL;
		int64_t code = symbol ? symbol->value + reloc->addend : 0;
		struct thing *thing = symbol && symbol->section
					      ? source_at(source, symbol->section, code)
					      : NULL;

		if (!thing)
			return error_new(STATUS_FAILED,
					 "%s: the entry at %lu of section %s points to no code",
					 source->object.path, start, section->name);
		*vec_push(&thing->entries) = (struct table_entry){
			.table = table, .section = section, .start = start, .code = code};
	}
	return NULL;
}

bool source_objtool_lists_entries(const struct source *source)
{
	const char *table = source->rules->entry_table;

	return source->have_unwound && source->rules->entry_call &&
	       !object_find_section(&source->object, table) &&
	       object_find_section(&source->unwound, table);
}

/* Do the entries in the object after objtool count? */
static bool is_objtools(const struct source *source, const struct proof_table *table)
{
	return table->unwound || (!strcmp(table->section, source->rules->entry_table) &&
				  source_objtool_lists_entries(source));
}

static struct error *attach_tables_of(struct source *source, const struct object *object,
				      const struct proof_rules *rules, bool unwound)
{
	for (size_t i = 1; i < object->sections.count; i++) {
		const struct section *section = object->sections.list[i];
		const struct proof_table *table =
			section_is_loaded(section) ? table_rule(rules, section->name) : NULL;

		if (table && is_objtools(source, table) == unwound)
			TRY(attach_entries(source, table, section));
	}
	return NULL;
}

static struct error *attach_tables(struct source *source, const struct proof_rules *rules)
{
	TRY(attach_tables_of(source, &source->object, rules, false));
	if (source->have_unwound)
		TRY(attach_tables_of(source, &source->unwound, rules, true));
	for (size_t i = 0; i < source->things.count; i++) {
		struct thing *thing = source->things.list[i];

		if (thing->entries.count)
			qsort(thing->entries.list, thing->entries.count,
			      sizeof(*thing->entries.list), entry_order);
	}
	return NULL;
}

static void index_symbols(const struct object *object, struct map *ret)
{
	for (size_t i = 1; i < object->symbols.count; i++) {
		struct symbol *symbol = object->symbols.list[i];

		if (symbol->section && symbol->type != STT_SECTION && *symbol->name &&
		    !is_mark(symbol))
			*map_slot(ret, symbol->name) = symbol;
	}
}

static void set_reported(struct source *source)
{
	const struct proof_unit *unit = source->unit;
	struct map data = {0};

	for (size_t i = 0; i < source->things.count; i++) {
		struct thing *thing = source->things.list[i];

		if (thing->symbol && !section_is_text(thing->section))
			*map_slot(&data, thing->symbol->name) = thing;
	}
	for (size_t i = 0; i < unit->functions.count + unit->data.count; i++) {
		const bool code = i < unit->functions.count;
		const struct proof_reported *reported =
			code ? &unit->functions.list[i] : &unit->data.list[i - unit->functions.count];
		struct thing *thing = map_get(code ? &source->functions : &data, reported->name);

		if (thing)
			thing->reported = reported->changed ? REPORTED_CHANGED : REPORTED_NEW;
	}
	map_deinit(&data);
}

static int place_order(const void *left, const void *right)
{
	const struct code_place *a = left, *b = right;

	if (a->section != b->section)
		return a->section->index < b->section->index ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

static void read_entries(struct source *source)
{
	const char *name = source->rules->entry_table;

	for (size_t i = 1; i < source->orig.sections.count; i++) {
		const struct section *table = source->orig.sections.list[i];

		for (size_t j = 0; !strcmp(table->name, name) && j < table->relocs.count; j++) {
			const struct reloc *entry = &table->relocs.list[j];

			if (entry->symbol->section)
				*vec_push(&source->orig_entries) =
					(struct code_place){entry->symbol->section,
							    entry->symbol->value + entry->addend};
		}
	}
	if (source->orig_entries.count)
		qsort(source->orig_entries.list, source->orig_entries.count,
		      sizeof(*source->orig_entries.list), place_order);
}

static bool is_listed(const struct source *source, const struct section *section, uint64_t place)
{
	const struct code_place key = {section, place};

	return sorted_find(source->orig_entries.list, source->orig_entries.count, &key,
			   place_order);
}

int64_t source_lead_nops(const struct source *source, const struct symbol *function)
{
	const struct proof_rules *rules = source->rules;
	const struct section *section = function->section;
	const uint64_t end = function->value + function->size;

	for (uint64_t at = function->value; rules->entry_lead && section->data;
	     at += rules->entry_behind) {
		unsigned char code[16] = {0};

		if (at + rules->entry_lead > end || at > function->value + rules->entry_behind)
			break;
		memcpy(code, section->data + at, rules->entry_lead);
		if (rules->live_length(code) == rules->entry_lead)
			return at;
	}
	return -1;
}

/*
 * Either the function's table lists it, or its first instruction calls the tracer; a landing pad
 * for indirect calls may precede the call.
 */
bool source_had_entry(const struct source *source, const struct symbol *function)
{
	const struct proof_rules *rules = source->rules;
	const struct section *section = function->section;
	size_t first = section_first_reloc(section, function->value);
	const struct reloc *call = first < section->relocs.count ? &section->relocs.list[first]
								 : NULL;
	uint64_t behind = call ? call->offset - function->value : 0;

	if (rules->entry_listed)
		return is_listed(source, section, function->value) ||
		       is_listed(source, section, function->value + rules->entry_behind) ||
		       (is_listed(source, section, function->value - rules->entry_lead) &&
			source_lead_nops(source, function) >= 0);
	if (!call || strcmp(call->symbol->name, rules->entry_call) ||
	    (behind != rules->entry_places[0] && behind != rules->entry_places[1]))
		return false;
	if (!source->orig_entries.count) /* objtool makes the table later */
		return !object_find_section(&source->orig, rules->entry_table);
	return is_listed(source, section, call->offset - rules->entry_opcode);
}

struct error *source_open(struct source *source, const struct proof_unit *unit, const char *name,
			  const char *path, const char *unwound)
{
	source->unit = unit;
	source->name = name;
	source->whole = !unit;
	TRY(object_read_code(path, &source->object));
	const struct proof_rules *rules = proof_rules_of(&source->object);
	if (!rules)
		return error_new(STATUS_FAILED, "%s: a module for %s cannot be checked yet", path,
				 source->object.arch->name);
	source->rules = rules;
	source->other_veneers =
		rules->veneer.other_in && rules->veneer.other_in(&source->object);
	source->by_section =
		xcalloc(source->object.sections.count, sizeof(*source->by_section));
	index_symbols(&source->object, &source->by_name);
	split(source, rules);
	TRY(find_leads(source, rules));
	link_parts(source);
	if (unwound) {
		TRY(object_read_code(unwound, &source->unwound));
		source->have_unwound = true;
	}
	TRY(attach_tables(source, rules));
	if (!unit)
		return NULL;
	TRY(object_read_code(unit->orig, &source->orig));
	source->have_orig = true;
	index_symbols(&source->orig, &source->orig_by_name);
	read_entries(source);
	TRY(object_read_code(unit->exact, &source->exact));
	source->have_exact = true;
	texts_read(source);
	set_reported(source);
	return NULL;
}

void source_close(struct source *source)
{
	for (size_t i = 0; i < source->things.count; i++) {
		vec_deinit(&source->things.list[i]->entries);
		vec_deinit(&source->things.list[i]->branches);
		vec_deinit(&source->things.list[i]->short_jumps);
		vec_deinit(&source->things.list[i]->nops);
		free(source->things.list[i]);
	}
	vec_deinit(&source->things);
	for (size_t i = 0; source->by_section && i < source->object.sections.count; i++)
		vec_deinit(&source->by_section[i]);
	free(source->by_section);
	vec_deinit(&source->blocks.list);
	vec_deinit(&source->orig_entries);
	vec_deinit(&source->live);
	map_deinit(&source->exact_by_name);
	map_deinit(&source->by_name);
	map_deinit(&source->orig_by_name);
	map_deinit(&source->functions);
	if (source->object.path)
		object_deinit(&source->object);
	if (source->have_orig)
		object_deinit(&source->orig);
	if (source->have_unwound)
		object_deinit(&source->unwound);
	if (source->have_exact)
		object_deinit(&source->exact);
	free(source);
}
