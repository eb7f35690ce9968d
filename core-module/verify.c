// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is live code what the patch was made for?
 *
 * The build id says which kernel this is; this file, that nobody has changed the functions
 * since: each byte of them that nobody may change is compared with the original build's.
 * The build tool has left out what may be anything (build/texts.c): fields that the linker
 * or the loader fills in, and the places that the kernel itself rewrites, when it boots or
 * later (alternatives, static branches and calls, paravirt, retpolines, return thunks,
 * lock prefixes, ftrace's sites).  Those at the entry are also where live patches, and
 * ours, are.  Kprobes can be anywhere: of what they replaced they keep a copy, which is
 * what is compared.
 *
 * Code is changed under text_mutex, so that holding it nothing is met half-way.  A probe is
 * in kprobes' hash before its breakpoint is written, and after it was taken out, so each
 * that can be seen in the code can be found.
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
#include "kernel_symbols.h"
#include "module.h"
#include "pp_patch.h"
#include "verify.h"

#define SHOWN 8

/* Put into @live, read from @at, what probes have replaced. */
static void undo_probes(unsigned long at, u8 *live, unsigned int size)
{
	unsigned long addr;

	/* With preemption off none of them is freed. */
	preempt_disable();
	for (addr = at - PP_PROBE_MAX + 1; addr < at + size; addr++) {
		const struct kprobe *probe = pp_kernel.get_kprobe((void *)addr);
		u8 was[PP_PROBE_MAX];
		unsigned int i, nr = probe ? pp_arch.probe.was(probe, was) : 0;

		for (i = 0; i < nr; i++)
			if (addr + i >= at && addr + i < at + size)
				live[addr + i - at] = was[i];
	}
	preempt_enable();
}

static unsigned int first_difference(const u8 *a, const u8 *b, unsigned int size)
{
	unsigned int i = 0;

	while (i < size && a[i] == b[i])
		i++;
	return i;
}

/* One run's bytes, at @offset of the code at @addr. */
static int compare(const struct pp_patch *patch, const char *name, unsigned long addr,
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
	undo_probes(addr + offset, live, size);
	i = first_difference(live, want, size);
	if (i == size)
		return 0;
	shown = min_t(unsigned int, size - i, SHOWN);
	pr_err("%s is refused: the code of %s at +%#lx is %*ph, not %*ph as in the kernel that it was made for\n",
	       patch->name, name, offset + i, (int)shown, live + i, (int)shown, want + i);
	return -EIO;
}

/* image.c has checked that the runs cover exactly the symbol. */
static int verify_symbol(const struct pp_patch *patch, u32 symbol, u32 text)
{
	const struct pokepatch_symbol *sym = &patch->symbols[symbol];
	const u8 *run = (const u8 *)pp_pointer(patch->image->texts) + text;
	unsigned long offset = 0;
	int ret = 0;

	mutex_lock(pp_kernel.text_mutex);
	while (offset < sym->size && !ret) {
		offset += run[0];
		ret = compare(patch, pp_string(patch, sym->name), patch->addr[symbol], offset,
			      run + 2, run[1]);
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

/* Parents that come after this are looked at then. */
int pp_verify_again(const struct pp_patch *patch)
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
