// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads again what the differ's overwrite.c has decided, from the compiler's output of the
 * original.
 */
#include "proof/proof_first.h"

#include <string.h>

#include <capstone/capstone.h>
#include <pokepatch_format.h>

#include "object/disasm.h"
#include "proof/proof_source.h"

/* The function's first bytes, [start, end) of its section. */
struct first {
	const struct proof_rules *rules;
	const struct symbol *function, *cold; /* its cold part, or NULL */
	uint64_t start, end; /* of the instructions that are overwritten */
	uint64_t covered;    /* the end of the jump */
	uint64_t next;	     /* where the last of them that was decoded ends */
	uint64_t field;	     /* of the distance that the core is to correct */
	bool has_field;	     /* it was there */
	const char *wrong;
};

static bool is_within(const struct symbol *symbol, const struct section *section, uint64_t place)
{
	return symbol && section == symbol->section && place >= symbol->value &&
	       place - symbol->value < symbol->size;
}

/* Is the place in the function, or in its cold part? */
static bool is_own(const struct first *first, const struct section *section, uint64_t place)
{
	return is_within(first->function, section, place) || is_within(first->cold, section, place);
}

/* Does it depend on where the instruction is, apart from the distances in its operands? */
static bool stays(csh handle, const cs_insn *insn)
{
	static const unsigned int groups[] = {
		CS_GRP_JUMP, CS_GRP_CALL, CS_GRP_RET, CS_GRP_INT, CS_GRP_IRET,
		CS_GRP_BRANCH_RELATIVE,
	};

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (cs_insn_group(handle, insn, groups[i]))
			return true;
	return insn->id == X86_INS_UD2;
}

/* Where the instruction has a distance that counts from its end, as an offset of its section. */
static uint64_t distance_at(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	for (size_t i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM && x86->operands[i].mem.base == X86_REG_RIP)
			return insn->address + x86->encoding.disp_offset;
	return 0;
}

static void visit(void *context, csh handle, const cs_insn *insn)
{
	struct first *first = context;
	uint64_t distance;

	if (insn->address >= first->end)
		return;
	/* disasm() skips what is no instruction. */
	if (insn->address != first->next) {
		first->wrong = "are not known";
		return;
	}
	distance = distance_at(insn);
	if (stays(handle, insn) || (distance && distance != first->field))
		first->wrong = "cannot be moved";
	first->has_field |= distance != 0;
	/* The jump covers part of each of them, and nothing of the one behind them. */
	if (insn->address >= first->covered)
		first->wrong = "are not all covered by the jump";
	first->next = insn->address + insn->size;
}

/* Of all code of the section, since the assembler may have left branches without a relocation. */
static void visit_branch(void *context, csh handle, const cs_insn *insn)
{
	struct first *first = context;
	uint64_t target;

	if (!insn->id || !cs_insn_group(handle, insn, CS_GRP_BRANCH_RELATIVE))
		return;
	target = insn->detail->x86.operands[0].imm;
	if (target < first->end &&
	    target >= first->function->value + !is_own(first, first->function->section, insn->address))
		first->wrong = "have a branch that leads to them";
}

/* Do the section's entries have addresses of code that the kernel rewrites or looks up? */
static bool is_table(const struct proof_rules *rules, const char *section)
{
	for (const struct proof_table *table = rules->tables; table->section; table++)
		if (!strcmp(table->section, section))
			return true;
	for (const struct proof_constants *all = rules->constants; all && all->prefix; all++)
		if (has_prefix(section, all->prefix))
			return true;
	return false;
}

/* Only calls of the function, and its address in data, may lead to its first bytes. */
static const char *judge_reloc(const struct first *first, const struct section *section,
			       const struct reloc *reloc, uint64_t target)
{
	if (target >= first->end)
		return NULL;
	if (is_own(first, section, reloc->offset))
		return "are used by the function itself";
	if (!strcmp(section->name, "_kprobe_blacklist"))
		return "may have no breakpoint";
	if (is_table(first->rules, section->name))
		return "are in a table of code that the kernel rewrites or looks up";
	if (target != first->function->value && (section->flags & SHF_ALLOC))
		return "are used in their midst";
	return NULL;
}

/* All relocations of a section.  Data with places in the function may be a table of jumps. */
static void look_at_section(struct first *first, const struct section *section)
{
	bool text = section_is_text(section), beginning = false, inside = false;

	for (size_t i = 0; i < section->relocs.count && !first->wrong; i++) {
		const struct reloc *reloc = &section->relocs.list[i];
		const int64_t behind = text ? reloc->behind : 0;
		const uint64_t target = reloc->symbol->value + reloc->addend + behind;

		if (!is_within(first->function, reloc->symbol->section, target))
			continue;
		beginning |= target == first->function->value;
		inside |= target != first->function->value;
		first->wrong = judge_reloc(first, section, reloc, target);
	}
	if (!first->wrong && !text && (section->flags & SHF_ALLOC) && beginning && inside)
		first->wrong = "may be in a table of jumps";
}

static void look_at_names(struct first *first, const struct object *object)
{
	for (size_t i = 1; i < object->symbols.count && !first->wrong; i++) {
		const struct symbol *symbol = object->symbols.list[i];

		if (symbol->section == first->function->section && symbol->type != STT_SECTION &&
		    symbol->value > first->function->value && symbol->value < first->end)
			first->wrong = "have a name in their midst";
	}
}

/* May callers have been compiled by what another version changes (gcc -fipa-ra)? */
static bool changes_the_same(const struct first *first, const struct thing *thing)
{
	struct source *source = thing->source;
	uint64_t was, is;

	return first->rules->call_changes(&source->orig, first->function, first->cold, &was) &&
	       first->rules->call_changes(&source->object, thing->symbol,
					 thing->cold ? thing->cold->symbol : NULL, &is) &&
	       was == is;
}

/* Do the flags have a jump's first instructions, in a patch that may overwrite them? */
static bool is_possible(const struct check *check, const struct first *first, uint32_t flags)
{
	const struct proof_input *input = check->proof->input;
	const struct symbol *function = first->function;
	const uint64_t pad = first->start - function->value, length = first->end - first->start;
	const char *landing = first->rules->landing_pad;
	const bool lands = landing && function->size >= 4 &&
			   !memcmp(function->section->data + function->value, landing, 4);

	return flags == (POKEPATCH_FUNC_OVERWRITTEN |
			 POKEPATCH_FUNC_FIRST_FLAGS(pad, length, first->field - first->start)) &&
	       first->rules->overwriting && length >= first->rules->overwriting &&
	       pad + length <= function->size && pad == (lands ? 4 : 0) &&
	       has_prefix(function->section->name, ".text") &&
	       input->transition == POKEPATCH_TRANSITION_STOP &&
	       (input->mode == POKEPATCH_MODE_AUTO || input->mode == POKEPATCH_MODE_ENTRY);
}

struct error *check_first(const struct check *check, const struct thing *thing,
			  const struct symbol *orig, const struct symbol *cold, uint32_t flags)
{
	struct source *source = thing->source;
	struct first first = {
		.rules = source->rules,
		.function = orig,
		.cold = cold,
		.start = orig->value + POKEPATCH_FUNC_PAD(flags),
	};

	first.next = first.start;
	first.end = first.start + POKEPATCH_FUNC_FIRST(flags);
	first.field = first.start + POKEPATCH_FUNC_FIELD(flags);
	first.covered = first.start + first.rules->overwriting;
	if (!is_possible(check, &first, flags))
		return wrong(check, "the row of '%s' has first instructions that cannot be overwritten",
			     thing_name(thing));
	disasm(&source->orig, orig->section, first.start, orig->value + orig->size, visit, &first);
	disasm(&source->orig, orig->section, 0, orig->section->size, visit_branch, &first);
	if (!first.wrong && first.has_field != (first.field != first.start))
		first.wrong = "have another distance";
	if (!first.wrong && first.next != first.end)
		first.wrong = "end within another instruction";
	for (size_t i = 1; i < source->orig.sections.count && !first.wrong; i++)
		look_at_section(&first, source->orig.sections.list[i]);
	look_at_names(&first, &source->orig);
	if (!first.wrong && !changes_the_same(&first, thing))
		first.wrong = "are of a function that may change other registers than its callers know";
	if (first.wrong)
		return wrong(check, "the first instructions of '%s', %u bytes, %s", thing_name(thing),
			     (unsigned int)POKEPATCH_FUNC_FIRST(flags), first.wrong);
	return NULL;
}
