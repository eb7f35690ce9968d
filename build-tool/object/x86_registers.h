/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The general registers of x86-64: which of capstone's names mean the same one, and which of them a
 * function may change (System V psABI for AMD64, 3.2.1).  The differ and the proof have it in
 * common.
 */
#ifndef POKEPATCH_X86_REGISTERS_H
#define POKEPATCH_X86_REGISTERS_H

#include <capstone/capstone.h>

#include "common/util.h"

#define X86_REGISTER_NAMES(a) X86_REG_R##a, X86_REG_R##a##D, X86_REG_R##a##W, X86_REG_R##a##B

/*
 * x86_changed_register - what is noted of an instruction that writes a register: a bit for one that
 * any function may change; 0 for one that it gives back as it was, and for flags, the stack pointer
 * and the instruction pointer.
 * Return: false for all others.
 */
static inline bool x86_changed_register(unsigned int reg, uint64_t *ret)
{
	static const struct {
		uint16_t names[5];
		bool kept;
	} registers[] = {
		{{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH}, false},
		{{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH}, false},
		{{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH}, false},
		{{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL}, false},
		{{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL}, false},
		{{X86_REGISTER_NAMES(8)}, false},
		{{X86_REGISTER_NAMES(9)}, false},
		{{X86_REGISTER_NAMES(10)}, false},
		{{X86_REGISTER_NAMES(11)}, false},
		{{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH}, true},
		{{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL}, true},
		{{X86_REGISTER_NAMES(12)}, true},
		{{X86_REGISTER_NAMES(13)}, true},
		{{X86_REGISTER_NAMES(14)}, true},
		{{X86_REGISTER_NAMES(15)}, true},
		{{X86_REG_RSP, X86_REG_ESP, X86_REG_RIP, X86_REG_EFLAGS}, true},
	};

	*ret = 0;
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		for (size_t j = 0; j < ARRAY_SIZE(registers[i].names); j++)
			if (reg && registers[i].names[j] == reg) {
				*ret = registers[i].kept ? 0 : UINT64_C(1) << i;
				return true;
			}
	return false;
}

/* May it change registers of which capstone 4 does not tell, or be longer than it says? */
static inline bool x86_is_obscure(csh handle, const cs_insn *insn)
{
	static const uint16_t names[] = {X86_INS_XLATB, X86_INS_UD2B, X86_INS_UD0};
	static const uint8_t groups[] = {X86_GRP_INT, X86_GRP_IRET, X86_GRP_VM, X86_GRP_SGX};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (insn->id == names[i])
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (cs_insn_group(handle, insn, groups[i]))
			return true;
	return false;
}

/*
 * x86_changes - add the registers that an instruction changes, of those that any function may
 * change.
 * Return: false if they are not known, or if the compiler may know better: that inline assembly
 * gives one back as it was, or which operands are only read.
 */
static inline bool x86_changes(csh handle, const cs_insn *insn, uint64_t *bits)
{
	const cs_detail *detail = insn->detail;
	bool known = !x86_is_obscure(handle, insn);
	uint64_t bit;

	for (size_t i = 0; i < detail->regs_write_count; i++) {
		known &= x86_changed_register(detail->regs_write[i], &bit);
		*bits |= bit;
	}
	for (size_t i = 0; i < detail->x86.op_count; i++) {
		const cs_x86_op *operand = &detail->x86.operands[i];

		if (operand->type != X86_OP_REG || operand->access == CS_AC_READ)
			continue;
		known &= x86_changed_register(operand->reg, &bit) &&
			 operand->access & CS_AC_WRITE && !(insn->id == X86_INS_POP && bit);
		*bits |= bit;
	}
	if (insn->id == X86_INS_CMPXCHG && x86_changed_register(X86_REG_RAX, &bit))
		*bits |= bit;
	return known;
}

#endif /* POKEPATCH_X86_REGISTERS_H */
