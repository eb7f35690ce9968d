// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels without an ftrace that could redirect calls: entries belong to nobody, so that there
 * is nobody to borrow them from (claim.c), and the entry mode is the only one there is.
 *
 * Kprobes alone may be at an entry.  Each has a copy of the word that it is on, by which it goes on
 * when it is hit, and which it puts back when it goes; and it has made that copy when it was
 * registered, however much later it is armed (tracefs arms an event's when the event is enabled).  So a
 * word that has one must not be written, also if it does not show: a copy of the NOP would let
 * calls through that are switched, a copy of the jump would go to a patch that is gone, and one of
 * half an address would have the jump go nowhere.  Nor must a word become a jump whose delay slot has
 * one.  Where one is before us, the entry is not taken; where one comes later, it works as long as its
 * word stays as it is, and the patch stays on, or off, until it is removed.
 *
 * kprobe_mutex is held from the look for them to the end of the write.  register_kprobe() makes its
 * copy, puts the probe into the table and arms it under that mutex, and under text_mutex
 * only the first and the last: without it, one could be between the two, and be seen by nobody.
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

/* Does the whole entry hold what it does while nothing leads elsewhere? */
static bool alone_is_free(unsigned long ip, const u8 *nop, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < pp_entry_span(); i += size)
		if (memcmp((void *)(ip + i), nop, size))
			return false;
	return true;
}

static bool alone_is_probed(unsigned long at, unsigned int size)
{
	bool found = false;
	unsigned int i;

	preempt_disable();
	for (i = 0; i < size && !found; i += pp_arch.entry.size)
		found = pp_kernel.get_kprobe((void *)(at + i));
	preempt_enable();
	return found;
}

bool pp_claim_site(unsigned long ip, const u8 *nop, unsigned int size)
{
	return !PP_FAULT("claim") && alone_is_free(ip, nop, size) &&
	       !alone_is_probed(ip, pp_entry_span());
}

int pp_claim_release(unsigned long ip, bool *update)
{
	u8 nop[PP_TEXT_WORD_MAX];

	if (pp_arch.entry.insn(ip, 0, nop) || !alone_is_free(ip, nop, pp_arch.entry.size))
		return -EBUSY;
	return 0;
}

/*
 * How many bytes from @poke on must be free of probes: behind the word that decides its delay slot too,
 * if the entry has one.  kprobes keeps probes out of the slots of jumps, but while it is a NOP that is
 * none; a breakpoint in the slot of a jump is reported at the jump, where kprobes knows of no probe.
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
	if (size && alone_is_probed(entry, size))
		at = entry;
	for (i = 0; i < text->nr && !at && !pp_debug_skip_probed; i++)
		if (alone_is_probed(text->poke[i].at, alone_write_span(&text->poke[i])))
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

/* Those that could not be in entry mode entry.c has refused. */
static int alone_refuse(struct pp_func **funcs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (funcs[i]->want == POKEPATCH_MODE_AUTO)
			continue;
		pr_err("%s: %s cannot be switched in %s mode: this kernel has no ftrace for it\n",
		       funcs[i]->patch->name, funcs[i]->name, pp_mode_name(funcs[i]->want));
		return -EBUSY;
	}
	return 0;
}

/* No site is ever in these. */
const struct pp_mode pp_direct_mode = {
	.name = "direct",
	.hook = alone_refuse,
};

const struct pp_mode pp_ftrace_mode = {
	.name = "ftrace",
	.hook = alone_refuse,
};
