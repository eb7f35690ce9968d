// SPDX-License-Identifier: GPL-2.0-only
/*
 * The entry mode: the site becomes the jump itself, so that a call of a switched
 * function costs one instruction more.  The site is claimed from ftrace (claim.c)
 * while it is hooked, and is a NOP until the flip.
 *
 * Nothing is left between the jump and the new function: no handler, no word to
 * read, no return address.  A task that was stopped in front of the jump has the
 * old function's entry as its instruction pointer, and so is busy.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "core.h"

static int entry_insn(unsigned long ip, unsigned long target, u8 *insn)
{
	return pp_arch.entry_insn(ip, pp_veneer_route(ip, target), insn);
}

static int entry_poke(const struct pp_site *site, unsigned long target, struct pp_poke *poke)
{
	/* Its patch leaves, or comes, below another one. */
	if (site->target == target)
		return 0;
	poke->at = site->ip;
	poke->size = pp_arch.entry_size;
	return entry_insn(site->ip, site->target, poke->old) ?:
	       entry_insn(site->ip, target, poke->new) ?: 1;
}

/*
 * Its entry is in two words.  Live transitions can write it, stops cannot, so that as long
 * as it is in this mode no stop can switch it, not for another patch either.  So it must
 * have been asked for.
 */
static bool may_cross_words(const struct pp_func *func)
{
	return func->patch->live && func->want == POKEPATCH_MODE_ENTRY;
}

/* Why is this site not for us?  NULL: it is claimed now. */
static const char *claim(const struct pp_func *func)
{
	const unsigned long ip = func->site->ip;
	u8 insn[PP_TEXT_WORD_MAX];

	if (func->site->unsettled)
		return "it could not be given back to ftrace yet";
	if (!pp_arch.entry_size || !pp_claim_possible())
		return "this kernel does not allow it";
	if (!pp_text_fits(ip, pp_arch.entry_size) && !may_cross_words(func))
		return "its entry cannot be written in one store";
	if (!pp_veneer_make(ip, func->desc->new_addr))
		return "the new function is too far away";
	/* One that could not be given back is claimed still. */
	if (func->site->lingers)
		return NULL;
	if (pp_arch.entry_insn(ip, 0, insn) || !pp_claim(ip, insn, pp_arch.entry_size))
		return "a tracer, a probe or another live patch uses its entry";
	return NULL;
}

static int entry_hook(struct pp_func **funcs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const char *why = claim(funcs[i]);

		if (!why) {
			pp_site_unlinger(funcs[i]->site);
			funcs[i]->site->mode = &pp_entry_mode;
		} else if (funcs[i]->want == POKEPATCH_MODE_ENTRY) {
			pr_err("%s: %s cannot be switched in entry mode: %s; another mode may do\n",
			       funcs[i]->patch->name, funcs[i]->name, why);
			return -EBUSY;
		}
	}
	return 0;
}

/* Others want them by now, and ftrace writes what these need. */
static int write_given_back(struct pp_site **sites, unsigned int nr)
{
	unsigned long *ips = kvmalloc_array(nr, sizeof(*ips), GFP_KERNEL);
	unsigned int i;
	int ret;

	for (i = 0; i < nr && ips; i++)
		ips[i] = sites[i]->ip;
	ret = pp_ftrace_update(ips, nr);
	kvfree(ips);
	return ret;
}

static void entry_unhook(struct pp_site **sites, unsigned int nr, bool going)
{
	bool update = false, failed;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		/* The record goes with the module; ftrace shall not look at it until then. */
		if (!going && pp_claim_return(sites[i]->ip, &update))
			pp_site_linger(sites[i]);
		else
			sites[i]->mode = NULL;
	}
	if (!update)
		return;
	failed = write_given_back(sites, nr);
	if (failed) {
		pp_sites_unsettled(sites, nr);
		return;
	}
	for (i = 0; i < nr; i++)
		if (!sites[i]->mode)
			pp_claim_settle(sites[i]->ip);
}

const struct pp_mode pp_entry_mode = {
	.name = "entry",
	.hook = entry_hook,
	.unhook = entry_unhook,
	.pokes = entry_poke,
};
