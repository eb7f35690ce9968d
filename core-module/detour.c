// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions without an entry: the jump to the new function is written over their first
 * instructions.
 *
 * The kernel compiles some of its code without entries, such as all of kernel/trace.  If all
 * callers of such a function can be replaced, the build tool does that.  Otherwise, if it has
 * proved that nothing but a call leads to the function's first bytes
 * (build-tool/diff/overwrite.c), it lets the core overwrite as many instructions as the jump is
 * long.
 *
 * An entry's NOP is one instruction: each context is in front of it or behind it.  Several
 * instructions have places in between.  A context that stands at one of these would go on in the
 * middle of the jump.  Why none does:
 *
 * Tasks, also those that were preempted in an interrupt, and interrupts themselves.  The switch is
 * made in a stop only (a patch that is switched live is refused).  There no task has a saved
 * program counter or a return address in the old function, so none is at one of these places.
 *
 * NMIs, which the stop does not stop.  The first byte becomes a breakpoint first, and then all CPUs
 * meet (x86_stop.c).  What an NMI began before that, it has finished when its CPU comes.  An NMI
 * that calls the function later meets the breakpoint and gets no further.  So no context is behind
 * the first byte when the bytes there change.  Nor is one when the instructions are put back, since
 * the jump is one instruction.
 *
 * While the breakpoint stands, a call must still do what the old function did, or the new one,
 * each for all functions of the patch.  The kernel's handler can emulate a jump, but not any
 * instruction.  So the core has a copy of the overwritten instructions, the detour, behind which a
 * jump leads to the rest of the old function.  The handler emulates a jump to the detour, which
 * does the same as the old entry.  Only an NMI that comes during a write, and the CPU that writes,
 * execute a detour.  Both have left it before the machine goes on.  So a detour can be written
 * again as soon as no site has it.
 *
 * Probes.  A kprobe on one of these instructions has a copy of it, which it executes or restores
 * later.  A function with a probe there is not taken; and while bytes are written, the core holds
 * kprobe_mutex, under which a kprobe makes its copy (alone.c has the same rule).  While the
 * function is in entry mode the guard refuses new ones.  That is more than it does for other
 * functions: kprobes decodes a function from its start to find where its instructions begin, and
 * behind the jump it would find the rest of one that is overwritten in part.  Without the guard
 * (guard.c says when) it may accept a probe at such a wrong place, and the function would execute
 * that breakpoint when the patch is off.
 *
 * Other writers.  ftrace has no record of such a function.  The build tool refuses functions of
 * which the kernel rewrites the first instructions itself (alternatives, static branches).
 */
#include <linux/bitmap.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include <pokepatch_format.h>

#include "arch/pp_arch.h"
#include "claim.h"
#include "core_print.h"
#include "detour.h"
#include "guard.h"
#include "kernel_symbols.h"
#include "module.h"
#include "pp_patch.h"
#include "site.h"
#include "text.h"

/* The detours that sites have; under pp_mutex. */
static DECLARE_BITMAP(taken, PP_DETOURS_MAX);

struct pp_site *pp_detour_site_of(unsigned long func)
{
	struct pp_site *site = pp_site_find(func);

	if (!site && pp_arch.detour.pad)
		site = pp_site_find(func + pp_arch.detour.pad);
	return site && site->first ? site : NULL;
}
NOKPROBE_SYMBOL(pp_detour_site_of);

static unsigned long detour_refuse(const struct pp_func *func, const char *why)
{
	pr_err("%s is refused: %s has no entry, and %s\n", func->patch->name, func->name, why);
	return 0;
}

/*
 * Code in which no probe may be includes the handlers of breakpoints and all that runs while the
 * kernel is being entered or left, where a patch's text may not be mapped.
 */
static __nocfi bool detour_is_special(unsigned long addr)
{
	bool special;

	/* Under this mutex kprobes frees what it knows of modules that go. */
	mutex_lock(pp_kernel.kprobe_mutex);
	special = pp_kernel.within_kprobe_blacklist(addr);
	mutex_unlock(pp_kernel.kprobe_mutex);
	return special;
}

unsigned long pp_detour_address(const struct pp_func *func)
{
	const u32 flags = func->desc->flags;
	const struct pp_site *site;

	lockdep_assert_held(&pp_mutex);
	if (!pp_arch.detour.size)
		return detour_refuse(func, "this machine's core cannot overwrite instructions");
	if (!pp_kernel.kprobe_mutex || !pp_kernel.within_kprobe_blacklist)
		return detour_refuse(func, "this kernel does not tell where its probes are");
	if (pp_arch.entry.site(func->old_addr))
		return detour_refuse(func, "yet this kernel has one");
	if (detour_is_special(func->old_addr))
		return detour_refuse(func, "the kernel allows no breakpoint there");
	if (pp_guard_listens(func->old_addr, func->sym->size))
		return detour_refuse(func, "the core itself has a probe there");
	site = pp_detour_site_of(func->old_addr);
	if (site && site->ip != func->old_addr + POKEPATCH_FUNC_PAD(flags))
		return detour_refuse(func, "another patch overwrites other instructions");
	return func->old_addr + POKEPATCH_FUNC_PAD(flags);
}

bool pp_detour_is_restored(const struct pp_site *site)
{
	return !memcmp((void *)site->ip, site->was, pp_arch.entry.size);
}

/* Read the first instructions of @site while no probe is on them.  Return: could it? */
static bool detour_read(const struct pp_site *site, u8 *insns)
{
	bool free;

	mutex_lock(pp_kernel.kprobe_mutex);
	mutex_lock(pp_kernel.text_mutex);
	free = !pp_claim_is_probed(site->ip, site->first);
	if (free)
		memcpy(insns, (void *)site->ip, site->first);
	mutex_unlock(pp_kernel.text_mutex);
	mutex_unlock(pp_kernel.kprobe_mutex);
	return free;
}

/* Write @code to the detour at @at, which no context executes. */
static int detour_write(const struct pp_func *func, unsigned long at, const u8 *code)
{
	struct pp_poke pokes[PP_DETOUR_MAX / PP_TEXT_WORD_MAX] = {};
	struct pp_text text = { .poke = pokes };
	unsigned int i;

	for (i = 0; i < pp_arch.detour.size; i += PP_TEXT_WORD_MAX) {
		struct pp_poke *poke = &pokes[text.nr++];

		poke->at = at + i;
		poke->size = PP_TEXT_WORD_MAX;
		poke->func = func;
		memcpy(poke->old, (void *)poke->at, poke->size);
		memcpy(poke->new, code + i, poke->size);
	}
	return pp_text_write_unused(&text, func->patch);
}

const char *pp_detour_make(const struct pp_func *func)
{
	struct pp_site *site = func->site;
	u8 insns[PP_DETOUR_MAX], code[PP_DETOUR_MAX];
	unsigned long at;
	unsigned int nr;

	lockdep_assert_held(&pp_mutex);
	if (!detour_read(site, insns))
		return "a probe is on its first instructions";
	if (site->detour)
		return pp_detour_is_restored(site) ? NULL : "its first instructions have changed";
	nr = find_first_zero_bit(taken, pp_arch.detour.nr);
	if (nr >= pp_arch.detour.nr)
		return "too many functions are overwritten already";
	at = pp_arch.detour.at(nr);
	if (pp_arch.detour.code(at, site, insns, code))
		return "its first instructions cannot be moved";
	if (detour_write(func, at, code))
		return "the copy of its first instructions could not be written";
	__set_bit(nr, taken);
	memcpy(site->was, insns, pp_arch.entry.size);
	site->detour = at;
	return NULL;
}

void pp_detour_put(struct pp_site *site)
{
	lockdep_assert_held(&pp_mutex);
	if (site->detour)
		__clear_bit((site->detour - pp_arch.detour.at(0)) / pp_arch.detour.size, taken);
	site->detour = 0;
}
