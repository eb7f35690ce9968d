// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels without an ftrace that could redirect calls: entries belong to nobody, so that there
 * is nobody to borrow them from (claim.c), and the entry mode is the only one there is.
 *
 * Kprobes alone may be at an entry.  Where one is before us the entry is not taken: if it is armed it
 * shows in the bytes, and if not it has a copy of a NOP, by which it would go on, when it is, in place of
 * a word that loads half an address.  One that comes later has a copy of the word that it is on: in front of the
 * instruction that decides it goes on working, and what is to be written over it is not what is
 * expected there, so that nothing is.
 */
#include <linux/preempt.h>
#include <linux/string.h>

#include "core.h"

bool pp_claim_possible(void)
{
	return true;
}

/* Does the whole entry hold what it does while nothing leads elsewhere? */
static bool is_free(unsigned long ip, const u8 *nop, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < pp_entry_span(); i += size)
		if (memcmp((void *)(ip + i), nop, size))
			return false;
	return true;
}

static bool is_probed(unsigned long ip, unsigned int size)
{
	bool found = false;
	unsigned int i;

	preempt_disable();
	for (i = 0; i < pp_entry_span() && !found; i += size)
		found = pp_kernel.get_kprobe((void *)(ip + i));
	preempt_enable();
	return found;
}

bool pp_claim(unsigned long ip, const u8 *nop, unsigned int size)
{
	return !PP_FAULT("claim") && is_free(ip, nop, size) && !is_probed(ip, size);
}

int pp_claim_return(unsigned long ip, bool *update)
{
	u8 nop[PP_TEXT_WORD_MAX];

	return pp_arch.entry_insn(ip, 0, nop) || !is_free(ip, nop, pp_arch.entry_size) ? -EBUSY :
											 0;
}

void pp_claim_settle(unsigned long ip)
{
}

unsigned int pp_claim_shadows(unsigned long ip)
{
	return 0;
}

bool pp_claim_shared(unsigned long ip)
{
	return false;
}

/* Those that could not be in entry mode entry.c has refused. */
static int refuse(struct pp_func **funcs, unsigned int nr)
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
	.hook = refuse,
};

const struct pp_mode pp_ftrace_mode = {
	.name = "ftrace",
	.hook = refuse,
};
