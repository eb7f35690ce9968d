// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * MIPS of 32 and 64 bits, all releases: finds addresses that code only loads from and stores to.
 *
 * Release 6 has nine bits for the offset of "ll", so that "atomic_inc(&calls)" puts the address of
 * the variable into a register, as on all releases where the offset is not 0:
 *
 *	lui	v0,%hi(calls)
 *	daddiu	v0,v0,%lo(calls)
 * 1:	ll	v1,0(v0)
 *	addiu	v1,v1,1
 *	sc	v1,0(v0)
 *	beqz	v1,1b
 *	nop			the delay slot: executed before the jump takes effect
 *	jr	ra		with the address in v0, where a result would be
 *
 * Follow the register from the instruction that makes the address, on all paths, until it gets
 * another value, and follow registers whose value was made from it ("move", "daddu").  An
 * instruction that is not known here may pass the address on.
 *
 * Instructions: MIPS Architecture for Programmers, volume II-A, appendix A; registers: MIPSpro N32
 * ABI Handbook, chapter 2.
 */
#include "arch/mips_uses.h"

#include <string.h>

#include "arch/fixed.h"
#include "arch/uses.h"
#include "common/util.h"

/* The bits of e_flags that name the release, and release 6 of 32 and 64 bits. */
#define ARCH_FLAGS 0xf0000000u
#define ARCH_32R6 0x90000000u
#define ARCH_64R6 0xa0000000u

#define BREAK_BUG 0x000c000d /* "break 12" of BUG(), from which the code does not go on */

#define REG_V0 2
#define REG_V1 3
#define REG_T9 25
#define REG_RA 31
#define REG_BIT(n) (1u << (n))
/* Not followed: k0 and k1, gp (the current task), the stack pointer, the return address. */
#define UNFOLLOWED 0xbc000000u
/* Registers with arguments in either ABI, at (calls in inline assembly), static chain, t9. */
#define PASSED (0x00000ff0u | REG_BIT(1) | REG_BIT(15) | REG_BIT(REG_T9))
/* s0 to s7, and s8, which the callee restores for its caller. */
#define KEPT (0x00ff0000u | REG_BIT(30))

/* ---- instructions that do not jump ------------------------------------------------------ */

/* The fields of an instruction that name registers: rs, rt, rd. */
enum { S = 1, T = 2, D = 4 };

struct form {
	uint32_t mask, match;
	uint8_t made_of; /* registers from whose values the result may be made */
	uint8_t result;  /* register of the result */
	bool keeps;      /* the result keeps a part of that register's old value */
	uint8_t given;   /* registers whose values go to memory or coprocessors, unfollowed */
};

#define MAKES(mask, match, of, to) {mask, match, of, to, false, 0}
#define ADDS(mask, match, of, to) {mask, match, of, to, true, 0}
#define GIVES(mask, match, given, to) {mask, match, 0, to, false, given}
#define NOTHING(mask, match) {mask, match, 0, 0, false, 0}

/*
 * The first form that fits counts, once no jump fits.  The table leaves out codes that mean
 * different things in different releases, coprocessors, vectors, and other instructions that the
 * kernel's functions do not have.
 */
static const struct form forms[] = {
	/* SPECIAL */
	MAKES(0xfc00003f, 0x00000000, T, D),     /* sll; nop, ehb */
	MAKES(0xfc00003e, 0x00000002, T, D),     /* srl, sra; rotr */
	MAKES(0xfc00003f, 0x00000004, S | T, D), /* sllv */
	MAKES(0xfc00003e, 0x00000006, S | T, D), /* srlv, srav */
	MAKES(0xfc00073f, 0x00000005, S | T, D), /* lsa */
	MAKES(0xfc00073f, 0x00000015, S | T, D), /* dlsa */
	ADDS(0xfc00003e, 0x0000000a, S, D),      /* movz, movn */
	NOTHING(0xfc00003f, 0x0000000d),         /* break */
	NOTHING(0xfc00003f, 0x0000000f),         /* sync */
	MAKES(0xfc0007fd, 0x00000010, 0, D),     /* mfhi, mflo */
	GIVES(0xfc0007fd, 0x00000011, S, 0),     /* mthi, mtlo */
	MAKES(0xfc0007fc, 0x00000050, S, D),     /* clz, clo, dclz, dclo of release 6 */
	MAKES(0xfc00003f, 0x00000014, S | T, D), /* dsllv */
	MAKES(0xfc00003e, 0x00000016, S | T, D), /* dsrlv, dsrav */
	GIVES(0xfc0007f8, 0x00000018, S | T, 0), /* mult, div: to hi and lo */
	MAKES(0xfc0007b8, 0x00000098, S | T, D), /* mul, muh, div, mod of release 6 */
	MAKES(0xfc000038, 0x00000020, S | T, D), /* add, sub, and, or, xor, nor; move */
	MAKES(0xfc00003e, 0x0000002a, S | T, D), /* slt */
	MAKES(0xfc00003c, 0x0000002c, S | T, D), /* dadd, dsub */
	NOTHING(0xfc00003c, 0x00000030),         /* tge, tlt */
	NOTHING(0xfc00003f, 0x00000034),         /* teq */
	NOTHING(0xfc00003f, 0x00000036),         /* tne */
	MAKES(0xfc00003d, 0x00000035, S | T, D), /* seleqz, selnez */
	MAKES(0xfc000038, 0x00000038, T, D),     /* dsll, dsrl, dsra, by 32 and more as well */
	/* REGIMM */
	NOTHING(0xfc180000, 0x04080000), /* tgei, teqi, ... */
	NOTHING(0xfc1f0000, 0x041f0000), /* synci */
	/* Immediates; lui is release 6's "aui" of $zero. */
	MAKES(0xe0000000, 0x20000000, S, T),
	MAKES(0xf8000000, 0x60000000, S, T), /* daddi, daddiu */
	/* COP0 */
	MAKES(0xffc00000, 0x40000000, 0, T), /* mfc0, dmfc0 */
	GIVES(0xffc00000, 0x40800000, T, 0), /* mtc0, dmtc0 */
	MAKES(0xffe00000, 0x41600000, 0, T), /* di, ei */
	/* SPECIAL2 */
	GIVES(0xfc00003a, 0x70000000, S | T, 0), /* madd */
	MAKES(0xfc00003f, 0x70000002, S | T, D), /* mul */
	MAKES(0xfc00003a, 0x70000020, S, D),     /* clz, clo, dclz, dclo */
	/* SPECIAL3 */
	MAKES(0xfc00003c, 0x7c000000, S, T),     /* ext */
	ADDS(0xfc00003c, 0x7c000004, S, T),      /* ins */
	MAKES(0xfc00003b, 0x7c000020, S | T, D), /* seb, wsbh, dsbh, align, ... */
	MAKES(0xfc00003f, 0x7c00003b, 0, T),     /* rdhwr */
	GIVES(0xfc00007e, 0x7c000026, T, T),     /* sc, scd of release 6 */
	MAKES(0xfc00007e, 0x7c000036, 0, T),     /* ll, lld */
	NOTHING(0xfc00003f, 0x7c000025),         /* cache */
	NOTHING(0xfc00003f, 0x7c000035),         /* pref */
	/* Loads */
	ADDS(0xec000000, 0x88000000, 0, T),                                       /* lwl, lwr */
	ADDS(0xf8000000, 0x68000000, 0, T),                                       /* ldl, ldr */
	MAKES(0xe0000000, 0x80000000, 0, T), MAKES(0xfc000000, 0xdc000000, 0, T), /* ld */
	MAKES(0xec000000, 0xc0000000, 0, T),                                      /* ll, lld */
	NOTHING(0xfc000000, 0xcc000000),                                          /* pref */
	/* Stores */
	NOTHING(0xfc000000, 0xbc000000),                                          /* cache */
	GIVES(0xe0000000, 0xa0000000, T, 0), GIVES(0xfc000000, 0xfc000000, T, 0), /* sd */
	GIVES(0xec000000, 0xe0000000, T, T),                                      /* sc, scd */
};

/* The registers, a bit each, that the fields of an instruction name. */
static uint32_t registers(uint32_t insn, uint8_t fields)
{
	return (fields & S ? REG_BIT(insn >> 21 & 31) : 0) |
	       (fields & T ? REG_BIT(insn >> 16 & 31) : 0) |
	       (fields & D ? REG_BIT(insn >> 11 & 31) : 0);
}

static const struct form *form_of(uint32_t insn)
{
	for (const struct form *form = forms; form < forms + ARRAY_SIZE(forms); form++)
		if ((insn & form->mask) == form->match)
			return form;
	return NULL;
}

/*
 * after - update @held, the registers that hold the address, by an instruction; false: it may pass
 * the address on.
 */
static bool after(uint32_t insn, uint32_t *held)
{
	const struct form *form = form_of(insn);

	if (!form || *held & registers(insn, form->given))
		return false;
	const uint32_t result = registers(insn, form->result) & ~REG_BIT(0);
	const bool made = *held & registers(insn, form->made_of);

	if (made)
		*held |= result;
	else if (!form->keeps)
		*held &= ~result;
	return !(*held & UNFOLLOWED);
}

/* ---- jumps ------------------------------------------------------------------------------ */

enum jump_kind {
	JUMP_BRANCH = 1, /* conditional */
	JUMP_ALWAYS,
	JUMP_CALL,
	JUMP_UNKNOWN,
	/* To the address in a register: */
	JUMP_REGISTER,
	JUMP_REGISTER_CALL,
};

struct jump {
	uint32_t mask, match;
	enum jump_kind kind;
	uint8_t bits;    /* of the displacement, in instructions from the next; 0: a relocation */
	bool no_slot;    /* "compact": the jump has no delay slot */
	bool likely;     /* the CPU executes the slot only if it jumps */
	uint8_t address; /* JUMP_REGISTER, JUMP_REGISTER_CALL: field that names the register */
};

#define DELAYED(mask, match, kind, bits) {mask, match, kind, bits, false, false, 0}
#define LIKELY(mask, match, kind, bits) {mask, match, kind, bits, false, true, 0}
#define COMPACT(mask, match, kind, bits) {mask, match, kind, bits, true, false, 0}
#define REGISTER(mask, match, kind, address, no_slot)                                              \
	{mask, match, kind, 0, no_slot, false, address}

/* Jumps of all releases; a release's own table is looked up first. */
static const struct jump jumps[] = {
	REGISTER(0xfc1ff83f, 0x00000008, JUMP_REGISTER, S, false),      /* jr */
	REGISTER(0xfc1ff83f, 0x00000009, JUMP_REGISTER, S, false),      /* of release 6 */
	REGISTER(0xfc1f003f, 0x00000009, JUMP_REGISTER_CALL, S, false), /* jalr */
	DELAYED(0xfc000000, 0x08000000, JUMP_ALWAYS, 0),                /* j */
	DELAYED(0xfc000000, 0x0c000000, JUMP_CALL, 0),                  /* jal */
	DELAYED(0xffff0000, 0x10000000, JUMP_ALWAYS, 16),               /* b */
	DELAYED(0xf8000000, 0x10000000, JUMP_BRANCH, 16),               /* beq, bne */
	DELAYED(0xf81f0000, 0x18000000, JUMP_BRANCH, 16),               /* blez, bgtz */
	DELAYED(0xfc1e0000, 0x04000000, JUMP_BRANCH, 16),               /* bltz, bgez */
	DELAYED(0xffff0000, 0x04110000, JUMP_CALL, 16),                 /* bal */
	DELAYED(0xfc1c0000, 0x04100000, JUMP_UNKNOWN, 0),               /* bltzal, bgezal */
	DELAYED(0xf7000000, 0x45000000, JUMP_UNKNOWN, 0),               /* bc1f, bc2f, ... */
	{0},
};

static const struct jump jumps_before6[] = {
	LIKELY(0xf0000000, 0x50000000, JUMP_BRANCH, 16),  /* beql, ... */
	LIKELY(0xfc1e0000, 0x04020000, JUMP_BRANCH, 16),  /* bltzl, bgezl */
	DELAYED(0xfc000000, 0x74000000, JUMP_UNKNOWN, 0), /* jalx */
	{0},
};

static const struct jump jumps_of6[] = {
	DELAYED(0xf81f0000, 0x18000000, JUMP_BRANCH, 16),              /* as ever; rt is $zero */
	DELAYED(0xfbe00000, 0x18000000, JUMP_UNKNOWN, 0),              /* blezalc, bgtzalc */
	COMPACT(0xf8000000, 0x18000000, JUMP_BRANCH, 16),              /* bgeuc, bltuc; see below */
	COMPACT(0xf8000000, 0x58000000, JUMP_BRANCH, 16),              /* blezc, bgec, bltc, ... */
	DELAYED(0xffe00000, 0x20000000, JUMP_UNKNOWN, 0),              /* beqzalc */
	DELAYED(0xffe00000, 0x60000000, JUMP_UNKNOWN, 0),              /* bnezalc */
	COMPACT(0xfc000000, 0x20000000, JUMP_BRANCH, 16),              /* beqc, bovc */
	COMPACT(0xfc000000, 0x60000000, JUMP_BRANCH, 16),              /* bnec, bnvc */
	COMPACT(0xfc000000, 0xc8000000, JUMP_ALWAYS, 26),              /* bc */
	COMPACT(0xfc000000, 0xe8000000, JUMP_CALL, 26),                /* balc */
	REGISTER(0xffe0ffff, 0xd8000000, JUMP_REGISTER, T, true),      /* jrc */
	REGISTER(0xffe0ffff, 0xf8000000, JUMP_REGISTER_CALL, T, true), /* jalrc */
	DELAYED(0xffe00000, 0xd8000000, JUMP_UNKNOWN, 0),              /* jic */
	DELAYED(0xffe00000, 0xf8000000, JUMP_UNKNOWN, 0),              /* jialc */
	COMPACT(0xdc000000, 0xd8000000, JUMP_BRANCH, 21),              /* beqzc, bnezc */
	{0},
};

/* bgezalc and bltzalc have the codes of bgeuc and bltuc, with the same register twice. */
static bool links(uint32_t insn)
{
	return insn >> 27 == 3 && (insn >> 16 & 31) && (insn >> 21 & 31) == (insn >> 16 & 31);
}

static bool find_jump(uint32_t insn, const struct jump *list, struct jump *ret)
{
	while (list->mask && (insn & list->mask) != list->match)
		list++;
	*ret = *list;
	return list->mask;
}

static bool is_release6(const struct object *object)
{
	const uint32_t release = object->header.e_flags & ARCH_FLAGS;

	return release == ARCH_32R6 || release == ARCH_64R6;
}

static bool jump_of(const struct walk *walk, uint32_t insn, struct jump *ret)
{
	const bool sixth = is_release6(walk->object);

	if (!find_jump(insn, sixth ? jumps_of6 : jumps_before6, ret) &&
	    !find_jump(insn, jumps, ret))
		return false;
	if (sixth && links(insn))
		ret->kind = JUMP_UNKNOWN;
	return true;
}

/*
 * The instruction that makes the address to which the jump at @at goes (-mlong-calls, as in
 * modules), or @at if no such instruction is in front of it in straight code.  Paths that join in
 * between do not matter: no compiler shares a jump to a function with a jump into a table.
 */
static uint64_t target_made_at(const struct walk *walk, uint64_t at, const struct jump *by)
{
	const uint32_t address =
		registers(code_get32(walk->object, walk->section, at), by->address);
	struct jump jump;

	for (uint64_t made = at; address && made >= walk->start + 4;) {
		made -= 4;
		const uint32_t insn = code_get32(walk->object, walk->section, made);
		const struct form *form = form_of(insn);

		if (jump_of(walk, insn, &jump) || !form)
			return at;
		if (registers(insn, form->result) & address)
			return insn >> 26 == 9 || insn >> 26 == 25 ? made : at; /* addiu, daddiu */
	}
	return at;
}

/*
 * An external callee may clobber caller-saved registers, so they hold no address afterwards.  @at
 * is the call, or the instruction that makes the callee's address.  A callee in this file does not
 * count: gcc knows the registers that it clobbers, and may keep values in the others.  Nor do
 * __raw_copy_from_user(), __bzero() and the like: inline assembly calls them, and they leave
 * registers alone.
 */
static bool is_spoiling_call(const struct walk *walk, uint64_t at)
{
	size_t count;
	const struct reloc *relocs = walk_relocs(walk, at, &count);

	return count == 1 && !relocs->symbol->section && !has_prefix(relocs->symbol->name, "__");
}

/* The result is in v0, and in v1 as well if v0 is too small for it. */
static bool may_return_with(const struct walk *walk, uint64_t at, uint32_t held)
{
	const int word = walk->object->header.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;

	if (held & (REG_BIT(REG_V0) | REG_BIT(REG_V1))) {
		const int64_t size = walk_result_size(walk, at);

		if (size < 0 || size > (held & REG_BIT(REG_V0) ? 0 : word))
			return false;
	}
	return !(held & KEPT);
}

static bool call(struct walk *walk, uint64_t at, const struct jump *jump, uint32_t held,
		 uint32_t address)
{
	const uint64_t next = at + (jump->no_slot ? 4 : 8);

	/* t9 may hold the callee's address, as in position-independent code. */
	if (held & PASSED & ~(address & REG_BIT(REG_T9)))
		return false;
	if (is_spoiling_call(walk, target_made_at(walk, at, jump)))
		held &= KEPT;
	return walk_add(walk, next, held);
}

/* Whether the function may end in a call of another one while the registers hold the address. */
static bool tail_call(uint32_t held, uint32_t address)
{
	return !(held & ((PASSED & ~(address & REG_BIT(REG_T9))) | KEPT));
}

/*
 * Whether the jump at @at, or a jump to the address that the instruction at @at makes, calls
 * another function; a jump to this function's .cold part does not.
 */
static bool is_tail_call(const struct walk *walk, uint64_t at)
{
	size_t count;
	const struct reloc *relocs = walk_relocs(walk, at, &count);

	if (count != 1)
		return false;
	const struct reference reference = reloc_reference(walk->object, walk->section, relocs);
	const struct atom *atom = reference.atom, *own = atom_at(walk->section, walk->start);

	return !relocs->symbol->section ||
	       (atom && atom->class == ATOM_CODE && !atom->parent &&
		reference.target == atom->start && own && own->parent != atom);
}

static bool jump_away(struct walk *walk, uint64_t at, uint32_t insn, const struct jump *jump,
		      uint32_t held)
{
	const int64_t target = walk_target(
		walk, at, jump->bits ? 4 + sign_extend(insn, jump->bits) * 4 : INT64_MIN / 2);

	if (target >= (int64_t)walk->start && target < (int64_t)walk->end)
		return walk_add(walk, target, held);
	return !held || (jump->kind == JUMP_ALWAYS && is_tail_call(walk, at) && tail_call(held, 0));
}

/*
 * leave - follow the jump at @at.  @before: the registers that hold the address before the jump;
 * @in_slot: the registers into which its delay slot puts the address when it makes it.
 */
static bool leave(struct walk *walk, uint64_t at, const struct jump *jump, uint32_t before,
		  uint32_t in_slot)
{
	const uint32_t insn = code_get32(walk->object, walk->section, at);
	const uint32_t address = registers(insn, jump->address);
	const uint64_t slot = at + 4;
	struct jump other;
	uint32_t held = before;

	if (!jump->no_slot && before) {
		if (!walk_is_plain(walk, slot))
			return false;
		const uint32_t second = code_get32(walk->object, walk->section, slot);

		if (jump_of(walk, second, &other) || !after(second, &held))
			return false;
	}
	held |= in_slot;
	switch (jump->kind) {
	case JUMP_BRANCH: /* a comparison does not pass the address on */
		return jump_away(walk, at, insn, jump, held) &&
		       walk_add(walk, at + (jump->no_slot ? 4 : 8), jump->likely ? before : held);
	case JUMP_ALWAYS:
		return jump_away(walk, at, insn, jump, held);
	case JUMP_CALL:
	case JUMP_REGISTER_CALL:
		return call(walk, at, jump, held, address & before);
	case JUMP_REGISTER:
		if (address == REG_BIT(REG_RA))
			return may_return_with(walk, at, held);
		/* A tail call ends the path; a jump into a switch's table cannot be followed. */
		return (address & before || is_tail_call(walk, target_made_at(walk, at, jump))) &&
		       tail_call(held, address);
	default:
		return false;
	}
}

static bool step(struct walk *walk, uint64_t at, unsigned int reg)
{
	const uint32_t insn = code_get32(walk->object, walk->section, at);
	uint32_t held = REG_BIT(reg);
	struct jump jump;

	if (insn == BREAK_BUG)
		return true;
	if (jump_of(walk, insn, &jump))
		return leave(walk, at, &jump, held, 0);
	return after(insn, &held) && walk_add(walk, at + 4, held);
}

/* Begin behind the instruction at @at, which makes the address, maybe in a jump's delay slot. */
static bool begin(struct walk *walk, uint64_t at)
{
	const uint32_t insn = code_get32(walk->object, walk->section, at);
	const uint32_t made = registers(insn, T);
	struct jump jump;

	if ((insn >> 26 != 9 && insn >> 26 != 25) || /* addiu, daddiu */
	    made & (UNFOLLOWED | REG_BIT(0)) || !walk_is_plain(walk, at))
		return false;
	if (at >= walk->start + 4) {
		const uint32_t before = code_get32(walk->object, walk->section, at - 4);

		if (jump_of(walk, before, &jump)) {
			if (!jump.no_slot)
				return leave(walk, at - 4, &jump, 0, made);
		} else if (!form_of(before)) {
			return false; /* it may be a jump that is not known here */
		}
	}
	return walk_add(walk, at + 4, made);
}

bool mips_only_accessed(struct object *object, const struct section *section, uint64_t start,
			uint64_t end, uint64_t at)
{
	struct walk walk;

	walk_init(&walk, object, section, start, end);
	bool sure = begin(&walk, at) && walk_run(&walk, step);

	walk_deinit(&walk);
	return sure;
}
