// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a call of a function may change, as gcc knows it within the unit.
 *
 * In a unit without patchable entries gcc lets a caller keep values in registers that the function,
 * as it was compiled with it, does not change, though any function may change them (-fipa-ra).  A
 * caller that stays, or that another patch brings, was compiled with the function of another
 * version.  So each version must change the same.
 */
#include "arch/x86_call_changes.h"

#include <string.h>

#include "object/atoms.h"
#include "object/disasm.h"
#include "object/x86_calls.h"
#include "object/x86_registers.h"

#define ALL_REGISTERS UINT64_MAX

/* So far calls within the unit are followed, and so many of a function's. */
#define CALLS_DEEP 3
#define CALLEES 8

struct changes_visit {
	const struct atom *part;
	struct reloc *next_reloc, *last_reloc;
	uint64_t next; /* where the instruction before ends */
	uint64_t registers;
	bool unseen;  /* it calls what the compiler has not seen, so that all count as changed */
	bool unknown; /* what an instruction changes is not known here */
	const struct atom *callees[CALLEES]; /* of the unit */
	size_t nr_callees;
};

/* The relocation within an instruction, or NULL. */
static const struct reloc *reloc_within(struct changes_visit *visit, const cs_insn *insn)
{
	while (visit->next_reloc < visit->last_reloc && visit->next_reloc->offset < insn->address)
		visit->next_reloc++;
	return visit->next_reloc < visit->last_reloc &&
			       visit->next_reloc->offset < insn->address + insn->size
		       ? visit->next_reloc
		       : NULL;
}

/* Another object may define a weak function, so to the compiler that is one of another unit. */
static void visit_own(struct changes_visit *visit, const struct reloc *reloc)
{
	const uint64_t target = reloc->symbol->value + reloc->addend + 4; /* from the field's end */
	const struct atom *callee = atom_at(reloc->symbol->section, target);

	visit->unknown = true;
	if (reloc->symbol->bind == STB_WEAK)
		visit->unseen = true;
	else if (callee && callee->start == target && visit->nr_callees < CALLEES)
		visit->callees[visit->nr_callees++] = callee;
}

static void visit_branch(struct changes_visit *visit, csh handle, const cs_insn *insn)
{
	const struct reloc *reloc = reloc_within(visit, insn);
	const struct symbol *symbol = reloc ? reloc->symbol : NULL;

	if (!cs_insn_group(handle, insn, X86_GRP_BRANCH_RELATIVE)) {
		/* Of a pointer, or of inline assembly, that says what it changes; or a table's. */
		visit->unknown = true;
	} else if (!symbol) {
		const uint64_t target = insn->detail->x86.operands[0].imm;

		visit->unknown |= cs_insn_group(handle, insn, X86_GRP_CALL) ||
				  target < visit->part->start || target >= visit->part->end;
	} else if (symbol->section) {
		visit_own(visit, reloc);
	} else if (symbol->special != SHN_UNDEF) {
		visit->unknown = true;
	} else if (!x86_assembly_calls(symbol->name)) {
		visit->unseen = true;
	} else if (strcmp(symbol->name, "__x86_return_thunk") != 0) {
		visit->unknown = true;
	}
}

static void visit_changes(void *context, csh handle, const cs_insn *insn)
{
	struct changes_visit *visit = context;

	/* disasm() skips what is no instruction. */
	if (insn->address != visit->next || !insn->id) {
		visit->unknown = true;
		return;
	}
	visit->next = insn->address + insn->size;
	if (cs_insn_group(handle, insn, X86_GRP_CALL) || cs_insn_group(handle, insn, X86_GRP_JUMP))
		visit_branch(visit, handle, insn);
	visit->unknown |= !x86_changes(handle, insn, &visit->registers);
}

/* Was the unit compiled with entries (-pg)?  clang leaves the table of those to objtool. */
static bool has_entries(const struct object *object)
{
	if (object_find_section(object, "__mcount_loc") ||
	    object_find_section(object, "__patchable_function_entries"))
		return true;
	for (size_t i = 1; i < object->symbols.count; i++)
		if (!strcmp(object->symbols.list[i]->name, "__fentry__"))
			return true;
	return false;
}

/* Does the kernel put other instructions into the function when it boots? */
static bool has_alternatives(const struct object *object, const struct atom *function)
{
	const struct section *section = object_find_section(object, ".altinstructions");

	for (size_t i = 0; section && i < section->relocs.count; i++) {
		const struct reloc *reloc = &section->relocs.list[i];
		const uint64_t target = reloc->symbol->value + reloc->addend;

		if (reloc->symbol->section == function->section && target >= function->start &&
		    target < function->end)
			return true;
	}
	return false;
}

/* Look at a function, or at its cold part. */
static struct changes_visit look_at(struct object *object, const struct atom *part)
{
	struct changes_visit visit = {.part = part, .next = part->start};
	size_t count;

	visit.next_reloc = section_relocs(part->section, part->start, part->end, &count);
	/* A section without relocations has no list. */
	visit.last_reloc = count ? visit.next_reloc + count : visit.next_reloc;
	disasm(object, part->section, part->start, part->end, visit_changes, &visit);
	return visit;
}

/* Does a part call what the compiler has not seen, itself or by others of the unit? */
static bool calls_unseen(struct object *object, const struct atom *part, unsigned int deep)
{
	const struct changes_visit visit = look_at(object, part);
	bool unseen = visit.unseen;

	for (size_t i = 0; deep && !unseen && i < visit.nr_callees; i++)
		unseen = calls_unseen(object, visit.callees[i], deep - 1);
	return unseen;
}

bool x86_call_changes(struct object *object, const struct atom *function, uint64_t *ret)
{
	struct changes_visit visit;

	*ret = ALL_REGISTERS;
	if (has_entries(object) || calls_unseen(object, function, CALLS_DEEP) ||
	    (function->cold && calls_unseen(object, function->cold, CALLS_DEEP)))
		return true;
	visit = look_at(object, function);
	*ret = visit.registers;
	/* Tables may lead to what the cold part changes. */
	return !visit.unknown && !function->cold && visit.next == function->end &&
	       !has_alternatives(object, function);
}
