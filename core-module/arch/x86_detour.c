// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: detours.  A jump of five bytes overwrites the first instructions of a function that has
 * no entry.  Its detour has these instructions, and then a jump to the one behind them.
 *
 * The build tool lets no call and no jump be overwritten, and at most one operand that counts from
 * %rip.  So the instructions do the same in the detour once the distance in that operand is
 * corrected.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "arch/pp_arch.h"
#include "compat.h"
#include "site.h"
#include "x86.h"
#include "x86_detour.h"

static_assert(X86_DETOUR_SIZE <= PP_DETOUR_MAX && X86_DETOURS <= PP_DETOURS_MAX);

extern u8 x86_detours[X86_DETOURS][X86_DETOUR_SIZE]; /* x86_detours.S */

unsigned long x86_detour_at(unsigned int nr)
{
	return (unsigned long)x86_detours[nr];
}

static bool x86_is_endbr(const u8 *insn)
{
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return !memcmp(insn, endbr64, sizeof(endbr64));
}

/* Have the distance at @field count from the copy of its instruction, @moved bytes further on. */
static int x86_detour_move(u8 *field, long moved)
{
	const s64 distance = (s64)get_unaligned((s32 *)field) - moved;

	put_unaligned((s32)distance, (s32 *)field);
	return distance == (s32)distance ? 0 : -ERANGE;
}

int x86_detour_code(unsigned long at, const struct pp_site *site, const u8 *insns, u8 *code)
{
	/*
	 * For the handler of breakpoints the first two would be the core's own, and an indirect
	 * call must find its ENDBR.
	 */
	if (insns[0] == JMP_REL32 || insns[0] == INT3_INSN_OPCODE || x86_is_endbr(insns) ||
	    site->first + JMP_SIZE > X86_DETOUR_SIZE)
		return -EINVAL;
	memset(code, INT3_INSN_OPCODE, X86_DETOUR_SIZE);
	memcpy(code, insns, site->first);
	if (site->field && x86_detour_move(code + site->field, at - site->ip))
		return -ERANGE;
	return x86_entry_insn(at + site->first, site->ip + site->first, code + site->first);
}
