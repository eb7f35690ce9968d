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
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <pokepatch_format.h>
#include <pokepatch_history.h>

#include "arch/pp_arch.h"
#include "claim.h"
#include "core_print.h"
#include "debug.h"
#include "entry.h"
#include "ftrace.h"
#include "kernel_symbols.h"
#include "module.h"
#include "pp_patch.h"
#include "pp_time.h"
#include "record.h"
#include "site.h"
#include "text.h"
#include "trace_entry.h"
#include "veneer.h"

static int entry_insn(unsigned long ip, unsigned long target, u8 *insn)
{
	return pp_arch.entry.insn(ip, pp_veneer_route(ip, target), insn);
}

/* --- entries of several words ------------------------------------------------------- */

/*
 * Where an address takes more than one instruction (pp_arch.h: entry_prepared), only one of them
 * decides, and is a NOP while calls are let through:
 *
 *	prepared		load the address of the new function into a register that is
 *	prepared		free at a function's entry
 *	deciding		NOP; or jump to where that register says
 *
 * No mix of address words may ever be jumped by.  Two things see to that.
 *
 * Order.  The address words are written while the deciding one is a NOP, when whatever they load
 * is not used; and all CPUs have been made to fetch them anew before it becomes a jump
 * (entry_prepare(), which nobody need be stopped for).  To go to another address, or
 * none, the deciding word becomes a NOP first.
 *
 * Nobody in between.  That is not enough: a context that was interrupted between the first
 * address word and the deciding one has loaded, or not loaded, what stood there then, however long
 * ago, and would jump by that when it goes on.  So whenever the deciding word becomes a jump, the
 * machine is stopped and no saved program counter, nested exception frames included, lies within
 * the entry: it is among what must be empty (layout.c), and who is there, a preempted task say,
 * is in the way as one who is inside the old function.  The look at the stacks that counts
 * (pp_scan_running(), and the stop itself) begins after the words were written and fetched. All
 * who come to the entry afterwards begin at its first word.
 *
 * From one target to another, when patches stack, calls must not go to the old function in
 * between.  So all of it is written within one stopped section: NOP, address words, jump, each
 * flushed before the next is stored.  By then the look has found nobody within the entry, and all
 * other CPUs wait with interrupts off, so there is no context at all that could have executed one
 * of these words and be about to execute the next one, nor is one made before the section ends,
 * where each CPU forgets all that it had fetched of them.
 *
 * NMIs are not stopped.  One that calls the function while the words are written meets a NOP in the
 * deciding place, and the old function. One that is itself between the words when the deciding
 * one changes would be the one context that is not seen; the architecture that has prepared words
 * has no NMI that returns (MIPS: nmi_exception_handler() dies).
 */

/* The deciding word of @site, from one target (or 0) to another.  Return: 1, or -ERANGE. */
static int entry_deciding_poke(const struct pp_site *site, unsigned long from, unsigned long to,
			       struct pp_poke *poke)
{
	poke->at = pp_entry_deciding(site);
	poke->size = pp_arch.entry.size;
	return entry_insn(site->ip, from, poke->old) ?: entry_insn(site->ip, to, poke->new) ?: 1;
}

/* The words that differ between those for what they load now and those for @target. */
static unsigned int entry_address_pokes(const struct pp_site *site, unsigned long target,
					struct pp_poke *poke)
{
	unsigned int i, nr = 0;

	for (i = 0; i < pp_arch.entry.prepared; i++) {
		poke[nr].at = site->ip + i * pp_arch.entry.size;
		poke[nr].size = pp_arch.entry.size;
		pp_arch.entry.word(i, site->prepared, poke[nr].old);
		pp_arch.entry.word(i, target, poke[nr].new);
		nr += !!memcmp(poke[nr].old, poke[nr].new, poke[nr].size);
	}
	return nr;
}

static int entry_pokes(const struct pp_site *site, unsigned long target, struct pp_poke *poke)
{
	unsigned long from = site->target;
	int ret, nr = 0;

	/* Its patch leaves, or comes, below another one. */
	if (from == target)
		return 0;
	if (target && pp_arch.entry.prepared && site->prepared != target) {
		if (from) {
			ret = entry_deciding_poke(site, from, 0, poke);
			if (ret < 0)
				return ret;
			poke[nr++].passes = true;
		}
		nr += entry_address_pokes(site, target, poke + nr);
		poke[nr].returns = from;
		from = 0;
	}
	ret = entry_deciding_poke(site, from, target, poke + nr);
	return ret < 0 ? ret : nr + 1;
}

static bool entry_lets_through(const struct pp_site *site)
{
	u8 nop[PP_TEXT_WORD_MAX];

	return !pp_arch.entry.insn(site->ip, 0, nop) &&
	       !memcmp((void *)pp_entry_deciding(site), nop, pp_arch.entry.size);
}

/*
 * In the debug build one after the other, with time in between for calls that meet them as
 * they are; and, if that is asked for, the deciding word first, which is wrong.
 */
static bool entry_write_slowly(struct pp_text *text)
{
	struct pp_text one = { .nr = 1 };
	unsigned int i;

	for (i = 0; i < text->nr; i++) {
		one.poke = &text->poke[i];
		if (!pp_text_write(&one))
			return false;
		pp_arch.text.written(one.poke->at, one.poke->at + one.poke->size);
		msleep(pp_debug_entry_ms);
	}
	return true;
}

static unsigned int entry_pokes_decide_first(const struct pp_site *site, unsigned long target,
					     struct pp_poke *poke)
{
	unsigned int nr;

	if (entry_deciding_poke(site, 0, target, poke) < 0)
		return 0;
	poke[0].passes = true;
	nr = 1 + entry_address_pokes(site, target, poke + 1);
	entry_deciding_poke(site, target, 0, poke + nr);
	poke[nr].returns = true;
	return nr + 1;
}

int pp_entry_report_probe(const struct pp_patch *patch, unsigned long probe)
{
	pr_err("%s: a probe is at %pS, where a jump is to be written or taken away; nothing is switched; remove the probe and try again\n",
	       patch->name, (void *)probe);
	return -EBUSY;
}

/*
 * Have the prepared words load @target, or be NOPs, while the deciding one is a NOP.  For the sake
 * of @func, or NULL.  Return: 0, -EBUSY if a probe is there (then *@ret_probe is where), or if
 * something is not as we left it, -EIO or -ENOMEM.
 */
static int entry_write_addresses(struct pp_site *site, const struct pp_func *func,
				 unsigned long target, struct pp_text *text,
				 unsigned long *ret_probe)
{
	struct pp_when *when = &text->when;
	unsigned int i;
	int ret;

	text->nr = pp_debug_decide_first && target
			   ? entry_pokes_decide_first(site, target, text->poke)
			   : entry_address_pokes(site, target, text->poke);
	for (i = 0; i < text->nr; i++)
		text->poke[i].func = func;
	ret = pp_text_map(text);
	if (ret)
		return ret;
	*ret_probe = pp_claim_write_begin(text, 0, 0);
	if (*ret_probe) {
		pp_text_unmap(text);
		return -EBUSY;
	}
	when->before = when->begin = pp_now();
	/* The order of all who write text; and no CPU comes that would not be told. */
	cpus_read_lock();
	mutex_lock(pp_kernel.text_mutex);
	if (!entry_lets_through(site))
		ret = -EBUSY;
	else if (!(pp_debug_entry_ms ? entry_write_slowly(text) : pp_text_write(text)))
		ret = -EIO;
	mutex_unlock(pp_kernel.text_mutex);
	pp_arch.text.written(site->ip, site->ip + pp_entry_span());
	cpus_read_unlock();
	pp_claim_write_end();
	pp_text_unmap(text);
	when->after = when->end = pp_now();
	when->cpu = raw_smp_processor_id();
	if (!ret)
		site->prepared = target;
	return ret;
}

/* Of one function. */
#define PREPARE_POKES (PP_PREPARED_MAX + 2)

static int entry_prepare(struct pp_site *site, const struct pp_func *func, unsigned long target)
{
	struct pp_poke pokes[PREPARE_POKES] = {};
	struct pp_text text = { .poke = pokes };
	unsigned long probe = 0;
	int ret;

	lockdep_assert_held(&pp_mutex);
	if (site->prepared == target || !pp_arch.entry.prepared)
		return 0;
	ret = entry_write_addresses(site, func, target, &text, &probe);
	if (probe)
		return pp_entry_report_probe(func->patch, probe);
	if (!ret)
		pp_record_text(&text, &text.when, POKEPATCH_HISTORY_STORE, 0, false);
	else if (text.bad)
		pp_record_put_back(&text, &text.when, POKEPATCH_HISTORY_STORE, 0);
	if (ret == -EIO && text.bad)
		return pp_text_report(&text, func->patch->name);
	if (ret == -EIO || ret == -EBUSY) {
		pr_err("%s: the entry of %s is not as it was left: another writer has changed it; nothing is switched\n",
		       func->patch->name, func->name);
		ret = -EIO;
	}
	return ret;
}

/* Take what was prepared from an entry that lets calls through. */
static int entry_unprepare(struct pp_site *site)
{
	struct pp_poke pokes[PREPARE_POKES] = {};
	struct pp_text text = { .poke = pokes };
	unsigned long probe;
	int ret;

	if (!pp_arch.entry.prepared || !site->prepared)
		return 0;
	pp_record_begin();
	ret = entry_write_addresses(site, NULL, 0, &text, &probe);
	if (!ret || text.bad)
		pp_record_stores(&text, &text.when, POKEPATCH_HISTORY_STORE);
	pp_record_end();
	return ret;
}

/* Tried again once a second if it fails, so that it says nothing. */
int pp_entry_release(struct pp_site *site, bool *update)
{
	lockdep_assert_held(&pp_mutex);
	return entry_unprepare(site) ?: pp_claim_release(site->ip, update);
}

/* --- the mode ------------------------------------------------------------------------ */

/*
 * Its entry is in two words.  Live transitions can write it, stops cannot, so that as long
 * as it is in this mode no stop can switch it, not for another patch either.  So it must
 * have been asked for.
 */
static bool entry_may_cross_words(const struct pp_func *func)
{
	return func->patch->live && func->want == POKEPATCH_MODE_ENTRY;
}

/* Why is this site not for us?  NULL: it is claimed now. */
static const char *entry_claim(const struct pp_func *func)
{
	const unsigned long ip = func->site->ip;
	u8 insn[PP_TEXT_WORD_MAX];

	if (func->site->unsettled)
		return "it could not be given back to ftrace yet";
	if (!pp_arch.entry.size || !pp_claim_possible())
		return "this kernel does not allow it";
	if (pp_trace_entry_has(ip))
		return "it is being traced (/sys/kernel/pokepatch/trace_entry); have that end first";
	if (!pp_text_fits(ip, pp_arch.entry.size) && !entry_may_cross_words(func))
		return "its entry cannot be written in one store";
	if (!pp_veneer_make(ip, func->desc->new_addr))
		return "the new function is too far away";
	/* One that could not be given back is claimed still. */
	if (func->site->lingers)
		return NULL;
	if (pp_arch.entry.insn(ip, 0, insn) || !pp_claim_site(ip, insn, pp_arch.entry.size))
		return "a tracer, a probe or another live patch uses its entry";
	/* Nothing but NOPs is there. */
	func->site->prepared = 0;
	return NULL;
}

static int entry_hook(struct pp_func **funcs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const char *why = entry_claim(funcs[i]);

		if (!why) {
			pp_site_linger_end(funcs[i]->site);
			funcs[i]->site->mode = &pp_entry_mode;
		} else if (funcs[i]->want == POKEPATCH_MODE_ENTRY || !PP_HAS_FTRACE) {
			pr_err("%s: %s cannot be switched in entry mode: %s%s\n",
			       funcs[i]->patch->name, funcs[i]->name, why,
			       PP_HAS_FTRACE ? "; another mode may do" : "");
			return -EBUSY;
		}
	}
	return 0;
}

/* Others want them by now, and ftrace writes what these need. */
static int entry_have_ftrace_write(struct pp_site **sites, unsigned int nr)
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
		if (!going && pp_entry_release(sites[i], &update))
			pp_site_linger(sites[i]);
		else
			sites[i]->mode = NULL;
	}
	if (!update)
		return;
	failed = entry_have_ftrace_write(sites, nr);
	if (failed) {
		pp_sites_linger_unsettled(sites, nr);
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
	.prepare = entry_prepare,
	.pokes = entry_pokes,
};
