// SPDX-License-Identifier: GPL-2.0-only
/*
 * Comparing live code with the code that the patch was made for.
 *
 * The build id identifies the kernel.  This file ensures that its functions have not been changed
 * since: it compares each byte that must not change with the original build's.  The build tool has
 * left out the bytes that may be anything (pokepatch-build/texts.c): fields that the linker or the
 * loader fills in, and places that the kernel itself rewrites, at boot or later (alternatives,
 * static branches and calls, paravirt, retpolines, return thunks, lock prefixes, ftrace's sites).
 * At the entry, live patches and this core write as well, in those same places.
 *
 * Three kinds of places are not left out, because what was there before they were written is known.
 * Kprobes can be anywhere.  They keep a copy of the bytes that they have replaced, and that copy is
 * compared.  A kernel that counts calls leads each of them to code in front of the function
 * (pp_arch_text.was).  And the core keeps the first instructions that it overwrites (detour.c).
 *
 * Writers of code hold text_mutex, so this file holds it, and finds no write half done.  A probe is
 * in kprobes' hash before its breakpoint is written, and leaves it after the breakpoint was
 * removed, so get_kprobe() finds each probe whose breakpoint can be in the code.
 */
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <pokepatch_format.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "debug.h"
#include "detour.h"
#include "kernel_symbols.h"
#include "module.h"
#include "pp_patch.h"
#include "site.h"
#include "verify.h"

/* The most bytes of a difference that a message shows. */
#define SHOWN 8

/* @live has been read from @at: put the @nr bytes of @was into it that belong to @addr. */
static void verify_put(unsigned long at, u8 *live, unsigned int size, unsigned long addr,
		       const u8 *was, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (addr + i >= at && addr + i < at + size)
			live[addr + i - at] = was[i];
}

/* @live has been read from @at: put back the bytes that probes have replaced. */
static void verify_undo_probes(unsigned long at, u8 *live, unsigned int size)
{
	unsigned long addr;

	/* With preemption off, kprobes cannot free a probe. */
	preempt_disable();
	for (addr = at - PP_PROBE_MAX + 1; addr < at + size; addr++) {
		const struct kprobe *probe = pp_get_kprobe(addr);
		u8 was[PP_PROBE_MAX];

		if (probe)
			verify_put(at, live, size, addr, was, pp_arch.probe.was(probe, was));
	}
	preempt_enable();
}

static unsigned int verify_first_difference(const u8 *a, const u8 *b, unsigned int size)
{
	unsigned int i = 0;

	while (i < size && a[i] == b[i])
		i++;
	return i;
}

/*
 * The byte at @i of @live, which has been read from @at, is not as it was built.  If it belongs to
 * an instruction that the kernel has made of the one in @want, put that one back into @live.
 * Return: whether the byte is the wanted one now.
 */
static bool verify_undo_own(unsigned long at, u8 *live, const u8 *want, unsigned int size,
			    unsigned int i)
{
	u8 insn[PP_WAS_MAX], found[POKEPATCH_RUN_MAX];
	unsigned int back;

	for (back = 0; back < PP_WAS_MAX && pp_arch.text.was; back++) {
		const unsigned long addr = at + i - back;

		if (copy_from_kernel_nofault(insn, (void *)addr, sizeof(insn)))
			continue;
		verify_undo_probes(addr, insn, sizeof(insn));
		memcpy(found, live, size);
		verify_put(at, found, size, addr, insn, pp_arch.text.was(addr, insn));
		if (found[i] == want[i] && !memcmp(found, want, i)) {
			memcpy(live, found, size);
			return true;
		}
	}
	return false;
}

/*
 * @live has been read from @at, in the function at @addr: put back the first instructions that the
 * core has overwritten for another patch.
 */
static void verify_undo_detour(unsigned long addr, unsigned long at, u8 *live, unsigned int size)
{
	const struct pp_site *site = pp_detour_site_of(addr);

	if (site && site->target)
		verify_put(at, live, size, site->ip, site->was, pp_arch.entry.size);
}

/* Compare the bytes of one run, at @offset of the code at @addr. */
static int verify_compare(const struct pp_patch *patch, const char *name, unsigned long addr,
			  unsigned long offset, const u8 *want, unsigned int size)
{
	u8 live[POKEPATCH_RUN_MAX];
	unsigned int i, shown;

	if (copy_from_kernel_nofault(live, (void *)(addr + offset), size)) {
		pr_err("%s is refused: the code of %s at +%#lx cannot be read\n", patch->name,
		       name, offset);
		return -EIO;
	}
	if (!memcmp(live, want, size))
		return 0;
	verify_undo_probes(addr + offset, live, size);
	verify_undo_detour(addr, addr + offset, live, size);
	do {
		i = verify_first_difference(live, want, size);
		if (i == size)
			return 0;
	} while (verify_undo_own(addr + offset, live, want, size, i));
	shown = min_t(unsigned int, size - i, SHOWN);
	pr_err("%s is refused: the code of %s at +%#lx is %*ph, not %*ph as in the kernel that it was made for\n",
	       patch->name, name, offset + i, (int)shown, live + i, (int)shown, want + i);
	return -EIO;
}

/*
 * Compare the code of @symbol with the runs at @text.  A run is a count of bytes that may be
 * anything, a count of bytes that must be the same, and the latter bytes.  image.c has checked that
 * the runs cover exactly the symbol.
 */
static int verify_symbol(const struct pp_patch *patch, u32 symbol, u32 text)
{
	const struct pokepatch_symbol *sym = &patch->symbols[symbol];
	const u8 *run = (const u8 *)pp_pointer(patch->image->texts) + text;
	unsigned long offset = 0;
	int ret = 0;

	mutex_lock(pp_kernel.text_mutex);
	while (offset < sym->size && !ret) {
		offset += run[0];
		ret = verify_compare(patch, pp_string(patch, sym->name), patch->addr[symbol],
				     offset, run + 2, run[1]);
		offset += run[1];
		run += 2 + run[1];
	}
	mutex_unlock(pp_kernel.text_mutex);
	return ret;
}

int pp_verify_code(const struct pp_patch *patch, unsigned int obj)
{
	unsigned int i;
	int ret = 0;

	lockdep_assert_held(&pp_mutex);
	for (i = 0; i < patch->nr_funcs && !ret; i++) {
		const struct pokepatch_func *desc = patch->funcs[i].desc;

		if (patch->funcs[i].obj != obj)
			continue;
		ret = verify_symbol(patch, desc->symbol, desc->text);
		if (!ret && desc->cold != POKEPATCH_NONE)
			ret = verify_symbol(patch, desc->cold, desc->cold_text);
		cond_resched();
	}
	return ret;
}

int pp_verify_all_code(const struct pp_patch *patch)
{
	unsigned int i;
	int ret = 0;

	if (pp_debug_skip_verify)
		return 0;
	if (mutex_lock_killable(&pp_mutex))
		return -EINTR;
	for (i = 0; i < patch->nr_objects && !ret; i++)
		if (patch->objects[i].attached)
			ret = pp_verify_code(patch, i);
	mutex_unlock(&pp_mutex);
	return ret;
}
