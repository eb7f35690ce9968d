// SPDX-License-Identifier: GPL-2.0-only
/*
 * The entry mode: the site becomes the jump itself, so that a call of a switched function costs one
 * instruction more.  The core claims the site from ftrace (claim.c) while it is hooked.  The site
 * is a NOP until the flip.  Where a function has no site, the jump overwrites its first
 * instructions (detour.c).
 *
 * Between the jump and the new function there is no handler, no word to read and no return address.
 * A task that was stopped in front of the jump has the old function's entry as its instruction
 * pointer, so the old function is busy.
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
#include "detour.h"
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

/* What decides at @site, or at the first bytes that are overwritten, if calls go to @target. */
static int entry_insn(const struct pp_site *site, unsigned long target, u8 *insn)
{
	if (!target && site->first) {
		memcpy(insn, site->was, pp_arch.entry.size);
		return 0;
	}
	return pp_arch.entry.insn(site->ip, pp_veneer_route(site->ip, target), insn);
}

/* --- entries of several words ------------------------------------------------------- */

/*
 * Where an address takes more than one instruction (pp_arch.entry.prepared), only one word of the
 * entry decides, and that is a NOP while calls are let through:
 *
 *	prepared		load the address of the new function into a register that is
 *	prepared		free at a function's entry
 *	deciding		NOP; or a jump to the address in that register
 *
 * No CPU may ever jump to an address that it has loaded in part from old words and in part from new
 * ones.  Two rules ensure that.
 *
 * Order.  The core writes the address words while the deciding word is a NOP, so that the address
 * that they load is not used.  It makes all CPUs fetch them anew before the deciding word becomes a
 * jump (entry_prepare(), which need not stop any CPU).  To go to another address, or to none, it
 * first makes the deciding word a NOP.
 *
 * No context in between.  Order alone does not suffice.  A context that was interrupted between the
 * first address word and the deciding word has loaded the address that the words held then, or has
 * not loaded it yet, however long ago that was.  It would jump to that address when it goes on.  So
 * whenever the deciding word becomes a jump, the machine is stopped, and no saved program counter,
 * those in nested exception frames included, lies within the entry.  The entry is among the ranges
 * that must be empty (layout.c), so a task that was preempted within it is in the way like a task
 * inside the old function.  The look at the stacks that counts (pp_scan_running(), and the stop
 * itself) begins after the words were written and fetched.  A context that reaches the entry after
 * that begins at its first word.
 *
 * When patches stack and calls move from one target to another, no call may reach the old function
 * in between.  So one stopped section writes all of it: NOP, address words, jump, and flushes each
 * word before it stores the next.  By then the look has found no context within the entry, and all
 * other CPUs wait with interrupts off.  So no context has executed one of these words and is about
 * to execute the next one.  Nor can one appear before the section ends, where each CPU discards
 * what it has fetched of the entry.
 *
 * NMIs are not stopped.  An NMI that calls the function while the words are written meets a NOP in
 * the deciding place, and runs the old function.  An NMI that is itself between the words when the
 * deciding word changes would be the one context that the look does not see.  The only architecture
 * with prepared words has no NMI that returns (MIPS: nmi_exception_handler() dies).
 */

/*
 * Set @poke to the write of the deciding word of @site that moves calls from target @from to @to
 * (0: the old function).  Return: 1, the number of pokes, or -ERANGE.
 */
static int entry_deciding_poke(const struct pp_site *site, unsigned long from, unsigned long to,
			       struct pp_poke *poke)
{
	poke->at = pp_entry_deciding(site);
	poke->size = pp_arch.entry.size;
	poke->detour = site->detour;
	poke->unprobed = site->first;
	return entry_insn(site, from, poke->old) ?: entry_insn(site, to, poke->new) ?: 1;
}

/*
 * List the address words of @site that must change to load @target instead of the address that they
 * load now.  Return: how many.
 */
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

	/* The patch is switched below another one on the stack, which keeps the calls. */
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

/* Is the deciding word of @site a NOP? */
static bool entry_lets_through(const struct pp_site *site)
{
	u8 nop[PP_TEXT_WORD_MAX];

	return !pp_arch.entry.insn(site->ip, 0, nop) &&
	       !memcmp((void *)pp_entry_deciding(site), nop, pp_arch.entry.size);
}

/*
 * For the debug build: write one word after the other, with a pause in between, so that calls meet
 * the entry in each of these states.
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

/* For the debug build (debug_decide_first): write the deciding word first, which is wrong. */
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
 * Make the prepared words of @site load @target, or make them NOPs if it is 0, while the deciding
 * word is a NOP.  @func is the function for which this is done, or NULL.  @text describes the
 * writes afterwards.
 * Return: 0; -EBUSY if a probe is on one of the words (*@ret_probe is its address), or if the
 * deciding word is no NOP; -EIO if the words could not be written, or if another writer has changed
 * them; or -ENOMEM.
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
	/*
	 * All writers of text take these two in this order.  cpus_read_lock() keeps CPUs from
	 * coming up, which written() below would not reach.
	 */
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

/* The most pokes that entry_write_addresses() makes of one site. */
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
		pr_err("%s: the entry of %s does not hold what the core wrote there: another writer has changed it; nothing is switched\n",
		       func->patch->name, func->name);
		ret = -EIO;
	}
	return ret;
}

/* Make the prepared words of an entry that lets calls through NOPs again. */
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

/* If this fails, the watch retries it once a second, so it logs nothing. */
int pp_entry_release(struct pp_site *site, bool *update)
{
	lockdep_assert_held(&pp_mutex);
	if (site->first)
		return pp_detour_is_restored(site) ? 0 : -EBUSY;
	return entry_unprepare(site) ?: pp_claim_release(site->ip, update);
}

/* --- the mode ------------------------------------------------------------------------ */

/* Claim the site of @func from ftrace.  Return: NULL, or the reason why it cannot be claimed. */
static const char *entry_claim_site(const struct pp_func *func)
{
	const unsigned long ip = func->site->ip;
	u8 insn[PP_TEXT_WORD_MAX];

	/* A site that lingers is still claimed. */
	if (func->site->lingers)
		return NULL;
	if (pp_arch.entry.insn(ip, 0, insn) || !pp_claim_site(ip, insn, pp_arch.entry.size))
		return "a tracer, a probe or another live patch uses its entry";
	/* The claim found nothing but NOPs there. */
	func->site->prepared = 0;
	return NULL;
}

/* Claim the site of @func.  Return: NULL, or the reason why it cannot be in entry mode. */
static const char *entry_claim(const struct pp_func *func)
{
	const struct pp_site *site = func->site;

	if (site->unsettled)
		return "the core could not release it to ftrace yet";
	if (!pp_arch.entry.size || (!site->first && !pp_claim_possible()))
		return "this kernel does not allow it";
	if (pp_trace_entry_has(site->ip))
		return "it is being traced (/sys/kernel/pokepatch/trace_entry); have that end first";
	if (pp_text_missing())
		return pp_text_missing();
	if (!pp_veneer_make(site->ip, func->desc->new_addr))
		return "the new function is too far away";
	return site->first ? pp_detour_make(func) : entry_claim_site(func);
}

static int entry_hook(struct pp_func **funcs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const char *why = entry_claim(funcs[i]);

		if (!why) {
			pp_site_linger_end(funcs[i]->site);
			pp_site_set_mode(funcs[i]->site, &pp_entry_mode);
		} else if (pp_func_want(funcs[i]) == POKEPATCH_MODE_ENTRY || !PP_HAS_FTRACE ||
			   funcs[i]->site->first) {
			pr_err("%s: %s cannot be switched in entry mode: %s%s\n",
			       funcs[i]->patch->name, funcs[i]->name, why,
			       PP_HAS_FTRACE && !funcs[i]->site->first ?
				       "; another mode may do" : "");
			return -EBUSY;
		}
	}
	return 0;
}

/* Have ftrace write those of @sites, which were released, that have other users by now. */
static int entry_have_ftrace_write(struct pp_site **sites, unsigned int nr)
{
	unsigned long *ips = kvmalloc_array(nr, sizeof(*ips), GFP_KERNEL);
	unsigned int i, count = 0;
	int ret;

	for (i = 0; i < nr && ips; i++)
		if (!sites[i]->first) /* else ftrace has none there */
			ips[count++] = sites[i]->ip;
	ret = pp_ftrace_update(ips, count);
	kvfree(ips);
	return ret;
}

static void entry_unhook(struct pp_site **sites, unsigned int nr, bool going)
{
	bool update = false, failed;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		/*
		 * If the module is being unloaded, leave the site claimed: ftrace's record of it
		 * goes with the module, and until then ftrace leaves it alone.
		 */
		if (!going && pp_entry_release(sites[i], &update))
			pp_site_linger(sites[i]);
		else
			pp_site_set_mode(sites[i], NULL);
	}
	if (!update)
		return;
	failed = entry_have_ftrace_write(sites, nr);
	if (failed) {
		pp_sites_linger_unsettled(sites, nr);
		return;
	}
	for (i = 0; i < nr; i++)
		if (!sites[i]->mode && !sites[i]->first)
			pp_claim_settle(sites[i]->ip);
}

const struct pp_mode pp_entry_mode = {
	.name = "entry",
	.hook = entry_hook,
	.unhook = entry_unhook,
	.prepare = entry_prepare,
	.pokes = entry_pokes,
};
