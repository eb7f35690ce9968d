// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which registers a call of a function changes, as far as callers of its unit may know, on x86-64:
 * what gcc -fipa-ra looks at in a unit without patchable entries.
 */
#include <string.h>

#include "object/disasm.h"
#include "object/x86_calls.h"
#include "object/x86_registers.h"
#include "proof/proof_rules.h"

/* So far calls within the unit are followed; a jump to a cold part counts as one. */
#define CALLS_DEEP 3

struct changes {
	const struct symbol *function;
	uint64_t next; /* what follows the instructions so far */
	uint64_t bits;
	bool unknown;
};

static uint64_t end_of(const struct symbol *function)
{
	return function->value + function->size;
}

/* The symbol that a field of the section is made from, or NULL. */
static const struct symbol *field_symbol(const struct section *section, uint64_t start,
					 uint64_t end)
{
	for (size_t i = 0; i < section->relocs.count; i++) {
		const struct reloc *reloc = &section->relocs.list[i];

		if (reloc->offset > start && reloc->offset < end)
			return reloc->symbol;
	}
	return NULL;
}

/* Does it end the function, or go on within it? */
static bool is_plain_jump(const struct changes *changes, csh handle, const cs_insn *insn)
{
	const struct symbol *to =
		field_symbol(changes->function->section, insn->address, insn->address + insn->size);
	const uint64_t target = insn->detail->x86.operands[0].imm;

	if (!cs_insn_group(handle, insn, CS_GRP_BRANCH_RELATIVE))
		return false;
	if (to)
		return !strcmp(to->name, "__x86_return_thunk");
	return target >= changes->function->value && target < end_of(changes->function);
}

static void visit(void *context, csh handle, const cs_insn *insn)
{
	struct changes *changes = context;

	if (!insn->id || insn->address != changes->next) {
		changes->unknown = true;
		return;
	}
	changes->next = insn->address + insn->size;
	changes->unknown |= cs_insn_group(handle, insn, CS_GRP_CALL) ||
			    (cs_insn_group(handle, insn, CS_GRP_JUMP) &&
			     !is_plain_jump(changes, handle, insn)) ||
			    !x86_changes(handle, insn, &changes->bits);
}

/* Is the symbol's function in an entry of the table that the kernel replaces code by? */
static bool is_replaced(const struct object *object, const struct symbol *function)
{
	const struct section *table = object_find_section(object, ".altinstructions");

	for (size_t i = 0; table && i < table->relocs.count; i++) {
		const struct reloc *reloc = &table->relocs.list[i];
		const uint64_t place = reloc->symbol->value + reloc->addend;

		if (reloc->symbol->section == function->section && place >= function->value &&
		    place < end_of(function))
			return true;
	}
	return false;
}

/* A call or jump: e8 or e9, or 0f 80 to 0f 8f, and a distance. */
static bool is_call(const struct symbol *part, const struct reloc *reloc)
{
	const unsigned char *field = part->section->data + reloc->offset;

	return reloc->offset > part->value && reloc->offset < end_of(part) &&
	       ((field[-1] & ~1) == 0xe8 || (reloc->offset > part->value + 1 && field[-2] == 0x0f &&
					     (field[-1] & 0xf0) == 0x80)) &&
	       (reloc->type == R_X86_64_PC32 || reloc->type == R_X86_64_PLT32);
}

/* The function or cold part of the unit to whose beginning a call or jump leads, or NULL. */
static const struct symbol *callee_of(const struct object *object, const struct reloc *reloc)
{
	const uint64_t target = reloc->symbol->value + reloc->addend + 4;

	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];

		if (symbol->type == STT_FUNC && symbol->section == reloc->symbol->section &&
		    symbol->value == target)
			return symbol;
	}
	return NULL;
}

/*
 * Does a part of a function call another unit, or by others of this one?  A weak function counts as
 * one of another.
 */
static bool calls_others(const struct object *object, const struct symbol *part, unsigned int deep)
{
	for (size_t i = 0; part && i < part->section->relocs.count; i++) {
		const struct reloc *reloc = &part->section->relocs.list[i];

		if (!is_call(part, reloc))
			continue;
		if (!reloc->symbol->section && reloc->symbol->special == SHN_UNDEF &&
		    !x86_assembly_calls(reloc->symbol->name))
			return true;
		if (!reloc->symbol->section)
			continue;
		if (reloc->symbol->bind == STB_WEAK ||
		    (deep && calls_others(object, callee_of(object, reloc), deep - 1)))
			return true;
	}
	return false;
}

/* Does any function of the unit have an entry?  Then its compiler does not look at callees. */
static bool is_traced(const struct object *object)
{
	bool traced = object_find_section(object, "__mcount_loc") ||
		      object_find_section(object, "__patchable_function_entries");

	for (size_t i = 1; i < object->symbols.count && !traced; i++)
		traced = !strcmp(object->symbols.list[i]->name, "__fentry__");
	return traced;
}

bool x86_changes_of_call(struct object *object, const struct symbol *function,
			 const struct symbol *cold, uint64_t *ret)
{
	struct changes changes = {.function = function, .next = function->value};

	*ret = UINT64_MAX; /* of any function */
	if (is_traced(object) || calls_others(object, function, CALLS_DEEP) ||
	    calls_others(object, cold, CALLS_DEEP))
		return true;
	disasm(object, function->section, function->value, end_of(function), visit, &changes);
	*ret = changes.bits;
	/* What is in the cold part, tables may lead to. */
	return !cold && !changes.unknown && changes.next == end_of(function) &&
	       !is_replaced(object, function);
}
