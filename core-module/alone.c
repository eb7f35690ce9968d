// SPDX-License-Identifier: GPL-2.0-only
/*
 * For kernels without an ftrace that can redirect calls; replaces claim.c, direct.c and ftrace.c.
 * Entries have no owner from which the core would have to claim them, and the entry mode is the
 * only mode.
 *
 * Only kprobes and the core's own tracing (trace_entry.c) use entries too.  A kprobe has a copy of
 * the word that it is on.  It executes that copy when it is hit, and restores it when it is
 * removed.  It makes the copy when it is registered, however much later it is armed (tracefs arms
 * an event's kprobe when the event is enabled).  So the core must not write a word that has a
 * kprobe, even if no breakpoint shows.  A stale copy of the NOP would let through calls that are
 * switched.  A stale copy of the jump would lead to a patch that is gone.  A stale copy of half an
 * address would make the jump lead to a wrong address.  Nor may a word become a jump if its delay
 * slot has a kprobe.  If a kprobe is on an entry before the patch is enabled, the core does not
 * take the entry.  A kprobe that comes later works as long as its word stays as it is, so the patch
 * stays on, or off, until the kprobe is removed.
 *
 * The core holds kprobe_mutex from the look for kprobes to the end of the write.  register_kprobe()
 * makes its copy, puts the kprobe into the table and arms it under that mutex, but only the first
 * and the last step under text_mutex.  With text_mutex alone, a kprobe between these two steps
 * would have its copy, and the look for kprobes would miss it.
 */
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include <pokepatch_format.h>

#include "arch/pp_arch.h"
#include "claim.h"
#include "core_print.h"
#include "debug.h"
#include "entry.h"
#include "kernel_symbols.h"
#include "pp_patch.h"
#include "site.h"
#include "text.h"

bool pp_claim_possible(void)
{
	return true;
}

/* Does every word of the entry at @ip hold the @size bytes of @nop? */
static bool alone_is_free(unsigned long ip, const u8 *nop, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < pp_entry_span(); i += size)
		if (memcmp((void *)(ip + i), nop, size))
			return false;
	return true;
}

bool pp_claim_is_probed(unsigned long at, unsigned int size)
{
	bool found = false;
	unsigned int i;

	preempt_disable();
	for (i = 0; i < size && !found; i += pp_arch.entry.size)
		found = pp_get_kprobe(at + i);
	preempt_enable();
	return found;
}

bool pp_claim_site(unsigned long ip, const u8 *nop, unsigned int size)
{
	return !PP_FAULT("claim") && alone_is_free(ip, nop, size) &&
	       !pp_claim_is_probed(ip, pp_entry_span());
}

int pp_claim_release(unsigned long ip, bool *update)
{
	u8 nop[PP_TEXT_WORD_MAX];

	if (pp_arch.entry.insn(ip, 0, nop) || !alone_is_free(ip, nop, pp_arch.entry.size))
		return -EBUSY;
	return 0;
}

/*
 * How many bytes, from the start of @poke, must be free of kprobes: for the deciding word the delay
 * slot behind it too, if the entry has one.  kprobes refuses a probe in the delay slot of a jump,
 * but while the deciding word is a NOP there is no delay slot.  A breakpoint in the slot of a jump
 * is reported at the address of the jump, where kprobes knows of no probe.
 */
static unsigned int alone_write_span(const struct pp_poke *poke)
{
	const struct pp_site *site = poke->func ? poke->func->site : NULL;

	if (site && poke->at == pp_entry_deciding(site))
		return site->ip + pp_entry_span() - poke->at;
	return poke->size;
}

unsigned long pp_claim_write_begin(const struct pp_text *text, unsigned long entry,
				   unsigned int size)
{
	unsigned long at = 0;
	unsigned int i;

	mutex_lock(pp_kernel.kprobe_mutex);
	if (size && pp_claim_is_probed(entry, size))
		at = entry;
	for (i = 0; i < text->nr && !at && !pp_debug_skip_probed; i++)
		if (pp_claim_is_probed(text->poke[i].at, alone_write_span(&text->poke[i])))
			at = text->poke[i].at;
	if (at)
		mutex_unlock(pp_kernel.kprobe_mutex);
	return at;
}

void pp_claim_write_end(void)
{
	mutex_unlock(pp_kernel.kprobe_mutex);
}

void pp_claim_settle(unsigned long ip)
{
}

unsigned int pp_claim_user_kinds(unsigned long ip)
{
	return 0;
}

bool pp_claim_is_shared(unsigned long ip)
{
	return false;
}

/*
 * The hook of modes that this kernel does not have.  Of functions for which no mode was asked,
 * entry.c has refused those that cannot be in entry mode.
 */
static int alone_refuse(struct pp_func **funcs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (pp_func_want(funcs[i]) == POKEPATCH_MODE_AUTO)
			continue;
		pr_err("%s: %s cannot be switched in %s mode: this kernel has no ftrace for it\n",
		       funcs[i]->patch->name, funcs[i]->name, pp_mode_name(pp_func_want(funcs[i])));
		return -EBUSY;
	}
	return 0;
}

/* No site is ever in one of these modes. */
const struct pp_mode pp_direct_mode = {
	.name = "direct",
	.hook = alone_refuse,
};

const struct pp_mode pp_ftrace_mode = {
	.name = "ftrace",
	.hook = alone_refuse,
};
