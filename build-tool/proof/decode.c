// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes the code of a thing: its branches to neighbours, the calls and jumps that objtool
 * replaces by NOPs, and from where PC-relative fields count.
 */
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "object/disasm.h"
#include "proof/proof_source.h"

static void found_branch(void *context, const struct local_reference *reference)
{
	struct thing *thing = context;
	const struct section *section = thing->section;
	size_t first = section_first_reloc(section, reference->offset);

	if ((reference->target >= thing->start && reference->target < thing->end) ||
	    (first < section->relocs.count &&
	     section->relocs.list[first].offset == reference->offset))
		return;
	if (!reference->type) {
		*vec_push(&thing->short_jumps) =
			(struct short_jump){reference->offset, reference->target};
		return;
	}
	const struct reloc_kind *kind = arch_reloc(thing->source->object.arch, reference->type);
	*vec_push(&thing->branches) = (struct reloc){
		.offset = reference->offset,
		.type = reference->type,
		.symbol = object_section_symbol(&thing->source->object, (struct section *)section),
		.addend = (int64_t)reference->target - (kind ? kind->origin : 0),
		.behind = kind ? kind->origin : 0,
	};
}

struct ends {
	uint64_t start, end, *list;
};

static void found_instruction(void *context, csh handle, const cs_insn *insn)
{
	struct ends *ends = context;

	(void)handle;
	for (uint64_t at = insn->address; at < insn->address + insn->size && at < ends->end; at++)
		ends->list[at - ends->start] = insn->address + insn->size;
}

uint64_t *thing_instructions(const struct thing *thing)
{
	struct ends ends = {thing->start, thing->end,
			    xcalloc(thing->end - thing->start + 1, sizeof(uint64_t))};

	disasm(&thing->source->object, thing->section, thing->start, thing->end,
	       found_instruction, &ends);
	return ends.list;
}

const struct nop *thing_nop(const struct thing *thing, uint64_t offset)
{
	const struct nop *list = thing->nops.list;
	size_t behind = first_index(i, thing->nops.count, list[i].start > offset);

	return behind && offset - list[behind - 1].start < list[behind - 1].length
		       ? &list[behind - 1]
		       : NULL;
}

/* Find the jumps of static keys that their table entries tell objtool to replace by NOPs. */
static void find_nops(struct thing *thing, const uint64_t *ends)
{
	for (size_t i = 0; i < thing->entries.count; i++) {
		const struct table_entry *entry = &thing->entries.list[i];
		const struct section *section = entry->section;

		/*
		 * source_at() attaches entries to a section's only thing even from outside of it.
		 */
		if (!entry->table->nop_flag || entry->code < thing->start ||
		    entry->code >= thing->end)
			continue;
		size_t key = section_first_reloc(section, entry->start + entry->table->key);
		if (key < section->relocs.count &&
		    (section->relocs.list[key].addend & entry->table->nop_flag) &&
		    ends[entry->code - thing->start])
			*vec_push(&thing->nops) = (struct nop){
				.start = entry->code,
				.length = ends[entry->code - thing->start] - entry->code,
			};
	}
}

/* Find the calls of the tracer that objtool has replaced by NOPs. */
static void find_entry_nops(struct thing *thing)
{
	const struct source *source = thing->source;
	const struct proof_rules *rules = source->rules;
	const struct section *section = thing->section;
	const struct section *unwound = source->have_unwound &&
						section->index < source->unwound.sections.count
					? source->unwound.sections.list[section->index]
					: NULL;

	if (!source_objtool_lists_entries(source) || !unwound || !unwound->data ||
	    unwound->size != section->size)
		return;
	for (size_t i = section_first_reloc(section, thing->start);
	     i < section->relocs.count && section->relocs.list[i].offset < thing->end; i++) {
		const struct reloc *reloc = &section->relocs.list[i];
		const uint64_t start = reloc->offset - rules->entry_opcode;
		const uint64_t length = rules->live_length(section->data + start);

		if (!strcmp(reloc->symbol->name, rules->entry_call) && start >= thing->start &&
		    length <= rules->longest_nop && start + length <= section->size &&
		    !memcmp(unwound->data + start, rules->nops[length], length))
			*vec_push(&thing->nops) = (struct nop){.start = start, .length = length};
	}
}

static int nop_order(const void *left, const void *right)
{
	const struct nop *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

void thing_prepare(struct thing *thing)
{
	const struct section *section = thing->section;
	struct object *object = &thing->source->object;

	if (thing->prepared || !section_is_text(section))
		return;
	thing->prepared = true;
	/* The assembler leaves no relocation for a jump to a neighbour in the same section. */
	if (thing->source->by_section[section->index].count > 1 &&
	    object->arch->code.local_references)
		object->arch->code.local_references(object, section, thing->start, thing->end,
					       found_branch, thing);

	uint64_t *ends _free_ = thing_instructions(thing);
	find_nops(thing, ends);
	find_entry_nops(thing);
	if (thing->nops.count)
		qsort(thing->nops.list, thing->nops.count, sizeof(*thing->nops.list), nop_order);
	for (size_t i = section_first_reloc(section, thing->start);
	     i < section->relocs.count && section->relocs.list[i].offset < thing->end; i++) {
		struct reloc *reloc = &section->relocs.list[i];
		const struct reloc_kind *kind = arch_reloc(object->arch, reloc->type);
		uint64_t end = ends[reloc->offset - thing->start];

		if (kind && kind->pc_relative)
			reloc->behind = end && thing->source->rules->counts_from_end
						? (int64_t)(end - reloc->offset)
						: kind->origin;
	}
}
