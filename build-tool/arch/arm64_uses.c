// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: finds addresses that code only loads from and stores to.
 *
 * Atomics take no offset, so "atomic_long_inc(&calls)" puts the address of the variable into a
 * register:
 *
 *	adrp x0, calls
 *	mov x1, #1
 *	add x0, x0, :lo12:calls
 *	stadd x1, [x0]		or prfm, ldxr, stxr, all with [x0]
 *	...			x0 gets another value
 *
 * and so does most code that accesses more than a word.  This does not pass the address on.  Follow
 * the register from the instruction that makes the address, on all paths, until it gets another
 * value.  Any other instruction that reads it, and any that is not known here, may pass it on.
 *
 * Instructions: Arm Architecture Reference Manual, C4.1.
 */
#include "arch/arm64_uses.h"

#include "arch/fixed.h"
#include "arch/uses.h"

/*
 * Not the frame pointer, the link register, the stack pointer or zero; and not x16 and x17, which
 * linkers' veneers and some hints (pacia1716) use.
 */
static bool is_followed(unsigned int reg)
{
	return reg < 29 && reg != 16 && reg != 17;
}

enum use {
	USE_NONE,     /* not read, or only the base of an access: go on with the next instruction */
	USE_REPLACED, /* the register gets another value */
	USE_UNSURE,   /* the address may be passed on */
};

static unsigned int rd(uint32_t insn)
{
	return insn & 31;
}

static unsigned int rn(uint32_t insn)
{
	return insn >> 5 & 31;
}

static unsigned int ra(uint32_t insn)
{
	return insn >> 10 & 31;
}

static unsigned int rm(uint32_t insn)
{
	return insn >> 16 & 31;
}

/* The instruction reads the register if one of these fields names it; else it may replace it. */
static enum use fields(uint32_t insn, unsigned int reg, bool uses_n, bool uses_m, bool uses_a)
{
	if ((uses_n && rn(insn) == reg) || (uses_m && rm(insn) == reg) ||
	    (uses_a && ra(insn) == reg))
		return USE_UNSURE;
	return rd(insn) == reg ? USE_REPLACED : USE_NONE;
}

/* Data processing, immediate. */
static enum use use_immediate(uint32_t insn, unsigned int reg)
{
	if ((insn & 0x1f000000) == 0x10000000) /* adr, adrp */
		return fields(insn, reg, false, false, false);
	if ((insn & 0x1f800000) == 0x12800000) { /* movn, movz; movk keeps the rest */
		if ((insn >> 29 & 3) == 3 && rd(insn) == reg)
			return USE_UNSURE;
		return fields(insn, reg, false, false, false);
	}
	if ((insn & 0x1f800000) == 0x13000000) /* bfm keeps the rest as well */
		return rd(insn) == reg ? USE_UNSURE : fields(insn, reg, true, false, false);
	return fields(insn, reg, true, (insn & 0x1f800000) == 0x13800000, false);
}

/* Data processing, register. */
static enum use use_register(uint32_t insn, unsigned int reg)
{
	const bool three_sources = (insn & 0x1f000000) == 0x1b000000;

	if ((insn & 0x1fe00000) == 0x1a400000) /* ccmp, ccmn: no result, but flags in that field */
		return rn(insn) == reg || rm(insn) == reg ? USE_UNSURE : USE_NONE;
	if ((insn & 0x1fe00000) == 0x1a000000 && insn & 0xfc00) /* rmif, setf8, setf16, likewise */
		return USE_UNSURE;
	return fields(insn, reg, true, true, three_sources);
}

/* "Load/store register", with an unsigned immediate, an unscaled one, or a register. */
static enum use use_access(uint32_t insn, unsigned int reg)
{
	const unsigned int size = insn >> 30, opc = insn >> 22 & 3, kind = insn >> 10 & 3;
	const bool scaled = insn & 1 << 24, wide = insn & 1 << 21;

	if (!scaled && !wide && kind & 1 && rn(insn) == reg)
		return USE_UNSURE; /* the instruction changes its base register */
	if (!scaled && wide && kind & 1)
		return USE_UNSURE; /* it authenticates the address */
	if (!scaled && wide && rm(insn) == reg)
		return USE_UNSURE; /* it adds the register to another, or is an atomic with it */
	if (size == 3 && opc == 2 && !(!scaled && wide && !kind))
		return USE_NONE; /* prfm: the field holds a hint */
	if (rd(insn) != reg)
		return USE_NONE;
	return opc || (!scaled && wide && !kind) ? USE_REPLACED : USE_UNSURE;
}

static enum use use_memory(uint32_t insn, unsigned int reg)
{
	if (insn & 1 << 26) /* vectors, which the kernel's functions do not use */
		return USE_UNSURE;
	if ((insn & 0xbfa00000) == 0x08200000) /* casp also uses registers that no field names */
		return USE_UNSURE;
	if ((insn & 0x3f000000) == 0x08000000) /* exclusive, ordered; compare and swap */
		return rd(insn) == reg || ra(insn) == reg || rm(insn) == reg ? USE_UNSURE : USE_NONE;
	if ((insn & 0x3b000000) == 0x18000000) /* literal; or prfm */
		return rd(insn) != reg ? USE_NONE : insn >> 30 == 3 ? USE_UNSURE : USE_REPLACED;
	if ((insn & 0x3a000000) == 0x28000000) { /* pair */
		if (insn & 1 << 23 && rn(insn) == reg)
			return USE_UNSURE;
		if (rd(insn) != reg && ra(insn) != reg)
			return USE_NONE;
		return insn & 1 << 22 ? USE_REPLACED : USE_UNSURE;
	}
	return (insn & 0x3a000000) == 0x38000000 ? use_access(insn, reg) : USE_UNSURE;
}

/* Instructions that neither jump nor access memory. */
static enum use use_system(uint32_t insn, unsigned int reg)
{
	/* Hints, among them NOP, BTI and pointer authentication of x30; barriers; brk. */
	if ((insn & 0xfffff01f) == 0xd503201f || (insn & 0xfffff01f) == 0xd503301f ||
	    (insn & 0xffe0001f) == 0xd4200000)
		return USE_NONE;
	if ((insn & 0xfff00000) == 0xd5300000) /* mrs */
		return rd(insn) == reg ? USE_REPLACED : USE_NONE;
	if ((insn & 0xfff00000) == 0xd5100000) /* msr */
		return rd(insn) == reg ? USE_UNSURE : USE_NONE;
	return USE_UNSURE;
}

/* The displacement of a jump that is no call and has its target in itself; false for others. */
static bool is_branch(uint32_t insn, int64_t *ret)
{
	if ((insn & 0xfc000000) == 0x14000000) /* b */
		*ret = sign_extend(insn, 26) * 4;
	else if ((insn & 0xff000010) == 0x54000000 || (insn & 0x7e000000) == 0x34000000)
		*ret = sign_extend(insn >> 5, 19) * 4; /* b.cond, cbz, cbnz */
	else if ((insn & 0x7e000000) == 0x36000000) /* tbz, tbnz */
		*ret = sign_extend(insn >> 5, 14) * 4;
	else
		return false;
	return true;
}

/*
 * Whether the function may return with the address in the register.  The result is in x0, and one
 * of 9 to 16 bytes in x1 as well (AAPCS64, "Result Return"); x19 and the registers above hold the
 * caller's values again.
 */
static bool may_stay_there(const struct walk *walk, uint64_t at, unsigned int reg)
{
	if (reg > 1)
		return reg < 19;
	const int64_t size = walk_result_size(walk, at);

	return size >= 0 && size <= 8 * (int64_t)reg;
}

static bool step(struct walk *walk, uint64_t at, unsigned int reg)
{
	const uint32_t insn = code_get32(walk->object, walk->section, at);
	int64_t displacement;
	enum use use = USE_UNSURE;

	if (is_branch(insn, &displacement)) /* a comparison with 0 does not pass the address on */
		return walk_add(walk, walk_target(walk, at, displacement), 1u << reg) &&
		       ((insn & 0xfc000000) == 0x14000000 || walk_add(walk, at + 4, 1u << reg));
	if ((insn & 0xfffffc1f) == 0xd65f0000 || insn == 0xd65f0bff || insn == 0xd65f0fff)
		return may_stay_there(walk, at, reg); /* ret, retaa, retab */
	if ((insn & 0xfc000000) == 0x94000000) /* bl: the callee keeps x19 and above, unread */
		use = reg >= 19 ? USE_NONE : USE_UNSURE;
	else if ((insn & 0x1c000000) == 0x10000000)
		use = use_immediate(insn, reg);
	else if ((insn & 0x0e000000) == 0x0a000000)
		use = use_register(insn, reg);
	else if ((insn & 0x0a000000) == 0x08000000)
		use = use_memory(insn, reg);
	else if ((insn & 0xfe000000) == 0xd4000000)
		use = use_system(insn, reg);
	return use == USE_REPLACED || (use == USE_NONE && walk_add(walk, at + 4, 1u << reg));
}

bool arm64_only_accessed(struct object *object, const struct section *section, uint64_t start,
			 uint64_t end, uint64_t at)
{
	const unsigned int reg = rd(code_get32(object, section, at));
	struct walk walk;

	walk_init(&walk, object, section, start, end);
	bool sure = is_followed(reg) && walk_add(&walk, at + 4, 1u << reg) && walk_run(&walk, step);

	walk_deinit(&walk);
	return sure;
}
