// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The texts that the core compares live code with.  They must be the parent's own bytes, and
 * those of the unit's object as kbuild made it.  A text must leave out every byte that the
 * running kernel may have changed, or the core would refuse a good patch, and it must leave out
 * no other.
 */
#include "proof/proof_texts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "proof/proof_check.h"
#include "proof/proof_seals.h"

/* ---- code that is rewritten --------------------------------------------------------- */

static int live_order(const void *left, const void *right)
{
	const struct live_place *a = left, *b = right;

	if (a->section != b->section)
		return a->section->index < b->section->index ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

static uint64_t length_of(const struct source *source, const struct proof_table *table,
			  const struct section *entries, uint64_t end,
			  const struct section *code, uint64_t start)
{
	unsigned char instruction[16] = {0};
	uint64_t room = code->size - start;

	switch (table->live) {
	case LIVE_BYTE:
		return 1;
	case LIVE_WORD:
		return 4;
	case LIVE_SITE:
		return end + table->site_length < entries->size
			       ? entries->data[end + table->site_length]
			       : 0;
	case LIVE_INSTRUCTION:
		memcpy(instruction, code->data + start,
		       room < sizeof(instruction) ? room : sizeof(instruction));
		return source->rules->live_length(instruction);
	case LIVE_NOTHING:
		break;
	}
	return 0;
}

static void read_table(struct source *source, const struct proof_table *table,
		       const struct section *section)
{
	uint8_t size = table_entry_size(table, section);

	for (uint64_t at = 0; size && section->data && at < section->size; at += size) {
		const struct reloc *reloc =
			&section->relocs.list[section_first_reloc(section, at)];
		const struct section *code = reloc->symbol->section;
		uint64_t start = reloc->symbol->value + reloc->addend;

		if (code && code->data && start < code->size && start >= table->live_before)
			*vec_push(&source->live) = (struct live_place){
				code, start - table->live_before,
				table->live_before +
					length_of(source, table, section, at + size, code, start),
				!strcmp(table->section, source->rules->entry_table)};
	}
}

static void read_constants(struct source *source, const struct proof_constants *rule,
			   const struct section *section)
{
	for (size_t i = 0; i < section->relocs.count; i++) {
		const struct reloc *reloc = &section->relocs.list[i];

		if (reloc->symbol->section)
			*vec_push(&source->live) = (struct live_place){
				reloc->symbol->section, reloc->symbol->value + reloc->addend,
				rule->length, false};
	}
}

static void read_all_constants(struct source *source)
{
	for (const struct proof_constants *rule = source->rules->constants; rule && rule->prefix;
	     rule++)
		for (size_t i = 1; i < source->exact.sections.count; i++) {
			const struct section *section = source->exact.sections.list[i];

			if (has_prefix(section->name, rule->prefix))
				read_constants(source, rule, section);
		}
}

void texts_read(struct source *source)
{
	const struct object *exact = &source->exact;
	const struct proof_rules *rules = source->rules;

	for (size_t i = 1; i < exact->symbols.count; i++) {
		struct symbol *symbol = exact->symbols.list[i];

		if (symbol->section && symbol->type == STT_FUNC)
			*map_slot(&source->exact_by_name, symbol->name) = symbol;
	}
	for (size_t i = 1; i < exact->sections.count; i++)
		for (const struct proof_table *table = rules->tables; table->section; table++)
			if (table->live && !strcmp(exact->sections.list[i]->name, table->section))
				read_table(source, table, exact->sections.list[i]);
	read_all_constants(source);
	if (source->live.count)
		qsort(source->live.list, source->live.count, sizeof(*source->live.list),
		      live_order);
}

/* ---- one function's text ------------------------------------------------------------ */

/* Must a byte be compared?  If not, why not. */
enum fate { COMPARED, REWRITTEN, RELOCATED };

static void set(enum fate *fates, const struct symbol *symbol, uint64_t start, uint64_t length,
		enum fate fate)
{
	for (uint64_t i = 0; i < length; i++)
		if (start + i >= symbol->value && start + i < symbol->value + symbol->size)
			fates[start + i - symbol->value] = fate;
}

/*
 * Does a relocated field stay the same when the kernel is loaded?  vmlinux moves as a whole, by a
 * number of pages, so distances within it stay.  Distances to per-CPU symbols do not: their values
 * are small numbers, and all other symbols are in the upper half.  An instruction that holds more
 * than a distance does not reach so far (arm64: 4 GB, MIPS: 128 MB).
 */
static bool stays(const struct row_symbol *old, const struct object *exact,
		  const struct reloc_kind *kind, const unsigned char *parent, uint64_t at)
{
	if (!old->parent->vmlinux || !kind || !kind->pc_relative || kind->size != 4 ||
	    at + 4 > old->known->size)
		return false;
	if (kind->mask)
		return true;
	int32_t distance = object_get32(exact, parent + at);
	return (int64_t)(old->known->value + at + distance) < 0;
}

static void find_fates(const struct source *source, const struct row_symbol *old,
		       const struct symbol *symbol, const unsigned char *parent,
		       enum fate *fates, bool *linked)
{
	const struct section *section = symbol->section;

	for (size_t i = section_first_reloc(section, symbol->value);
	     i < section->relocs.count &&
	     section->relocs.list[i].offset < symbol->value + symbol->size;
	     i++) {
		const struct reloc *reloc = &section->relocs.list[i];
		const struct reloc_kind *kind = arch_reloc(source->exact.arch, reloc->type);
		uint64_t at = reloc->offset - symbol->value, size = kind ? kind->size : 8;

		for (uint64_t j = at; j < at + size && j < symbol->size; j++)
			linked[j] = true;
		if (!stays(old, &source->exact, kind, parent, at))
			set(fates, symbol, reloc->offset, size, RELOCATED);
	}

	const uint64_t lead = source->rules->entry_lead;
	const int64_t nops = source_lead_nops(source, symbol);
	const struct live_place key = {.section = section,
				       .start = symbol->value > lead ? symbol->value - lead : 0};
	const struct live_place *list = source->live.list;
	for (size_t i = first_index(j, source->live.count, live_order(&list[j], &key) >= 0);
	     i < source->live.count && list[i].section == section &&
	     list[i].start < symbol->value + symbol->size;
	     i++)
		if (list[i].start >= symbol->value)
			set(fates, symbol, list[i].start, list[i].length, REWRITTEN);
		else if (list[i].entry && list[i].start + lead == symbol->value && nops >= 0)
			set(fates, symbol, nops, lead, REWRITTEN);
	/* What a function's pad becomes depends on the whole parent, not on its unit. */
	for (uint64_t at = 0; source->rules->seals && at < symbol->size; at++)
		if (seals_has(old->parent, source->rules, old->known, at))
			set(fates, symbol, symbol->value + at, strlen(source->rules->landing_pad),
			    REWRITTEN);
}

static struct error *compare_runs(const struct check *check, const struct row_symbol *old,
				  const enum fate *fates, const unsigned char *parent,
				  const unsigned char *runs, uint64_t room, uint64_t *ret)
{
	uint64_t size = old->known->size, at = 0, next = 0;

	while (at < size) {
		if (room - next < 2 || !(runs[next] + runs[next + 1]) ||
		    runs[next + 1] > room - next - 2 ||
		    (uint64_t)runs[next] + runs[next + 1] > size - at)
			return wrong(check, "the text of '%s' does not end with it", old->name);
		uint64_t same = at + runs[next], end = same + runs[next + 1];
		for (; at < end; at++) {
			if ((at >= same) != (fates[at] == COMPARED))
				return wrong(check, "the text of '%s' has the byte at %#" PRIx64
						    " %s, but it is %s",
					     old->name, at, at >= same ? "compared" : "left out",
					     fates[at] == COMPARED   ? "the code's own"
					     : fates[at] == REWRITTEN ? "rewritten"
								      : "relocated");
			if (at >= same && runs[next + 2 + at - same] != parent[at])
				return wrong(check, "the text of '%s' is not %s's at %#" PRIx64,
					     old->name, old->parent->name, at);
		}
		next += 2 + (end - same);
	}
	*ret = next;
	return NULL;
}

struct error *text_check(const struct check *check, const struct source *source,
			 const struct row_symbol *old, const unsigned char *runs, uint64_t room,
			 uint64_t *ret)
{
	const struct symbol *symbol = map_get(&source->exact_by_name, old->name);
	const unsigned char *parent = symtab_bytes(old->parent, old->known);

	if (!symbol || !parent || symbol->size != old->known->size || !symbol->section->data)
		return wrong(check, "'%s' is not in %s as kbuild makes it", old->name,
			     old->parent->path);
	enum fate *fates _free_ = xcalloc(symbol->size + 1, sizeof(*fates));
	bool *linked _free_ = xcalloc(symbol->size + 1, sizeof(*linked));
	find_fates(source, old, symbol, parent, fates, linked);
	for (uint64_t i = 0; i < symbol->size; i++)
		if (!linked[i] && symbol->section->data[symbol->value + i] != parent[i])
			return wrong(check, "'%s' as kbuild makes it differs from %s at %#" PRIx64,
				     old->name, old->parent->path, i);
	return compare_runs(check, old, fates, parent, runs, room, ret);
}
