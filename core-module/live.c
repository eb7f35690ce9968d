// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live transitions: writing the text of sites and stubs while all CPUs run. This is for patches
 * whose functions do not depend on each other, so that a mix of old and new functions is
 * harmless for a moment.
 *
 * Where a site or stub is an instruction, the core writes it by the architecture's protocol for
 * text that CPUs may be executing (pp_arch.h). It writes all instructions of a patch in
 * batches, so that what makes the CPUs notice the change is done once for the whole batch.
 * Until the last step of the protocol each instruction as a whole has its old effect, and from
 * then on its new effect. So a call in any context, an NMI too, goes either the old way or the
 * new way. In ftrace mode no text is written: the store of the site's target is the switch.
 *
 * A task that was interrupted in front of such an instruction continues with the instruction
 * that it finds when it resumes. A task that was behind it is in the new function or in the old
 * one. Both functions stay in memory for long enough: the old one for ever, and the new one
 * until drain.c has found no task in it.
 */
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "arch/pp_arch.h"
#include "claim.h"
#include "core_print.h"
#include "debug.h"
#include "entry.h"
#include "kernel_symbols.h"
#include "live.h"
#include "module.h"
#include "others.h"
#include "pp_patch.h"
#include "record.h"
#include "text.h"

const char *pp_live_missing(void)
{
	return pp_arch.live.missing ? pp_arch.live.missing() : "protocol for this architecture";
}

void pp_live_init(void)
{
	if (pp_live_missing())
		return;
	pp_text_lock();
	if (pp_arch.live.init)
		pp_arch.live.init();
	pp_text_unlock();
}

static bool live_holds(const struct pp_poke *poke, const u8 *bytes)
{
	return !memcmp((void *)poke->at, bytes, poke->size);
}

/* Sort by address: the protocol of x86 looks places up by binary search. */
static int live_compare_pokes(const void *a, const void *b)
{
	const struct pp_poke *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* The batch that is being collected.  pp_mutex guards it, so there is one at a time. */
static struct {
	struct pp_poke *poke[PP_LIVE_MAX];
	unsigned int nr;
	bool back;
} batch;

static void live_write_batch(void)
{
	if (batch.nr) {
		pp_others_mute(NULL);
		pp_arch.live.write(batch.poke, batch.nr, batch.back);
		pp_others_unmute();
	}
	batch.nr = 0;
}

static void live_add_to_batch(struct pp_poke *poke, bool back)
{
	if (batch.nr == PP_LIVE_MAX)
		live_write_batch();
	batch.poke[batch.nr++] = poke;
	batch.back = back;
}

static void live_write_pokes(struct pp_text *text)
{
	unsigned int i;

	for (i = 0; i < text->nr; i++)
		live_add_to_batch(&text->poke[i], false);
	live_write_batch();
}

/* Leave alone any word that no longer holds what we wrote: another writer has changed it since. */
static void live_put_back(struct pp_text *text)
{
	unsigned int i;

	for (i = 0; i < text->nr && !pp_debug_stuck_text; i++)
		if (live_holds(&text->poke[i], text->poke[i].new))
			live_add_to_batch(&text->poke[i], true);
	live_write_batch();
}

/* Record the changes, and copy their times to the flips that wait for them (pp_poke.route). */
static void live_record(struct pp_text *text)
{
	unsigned int i;

	for (i = 0; i < text->nr; i++)
		if (text->poke[i].route)
			*text->poke[i].route = text->poke[i].when;
	pp_record_text(text, NULL, pp_arch.live.method, 0, false);
}

static bool live_holds_old(const struct pp_poke *poke)
{
	return !PP_FAULT("poke") && live_holds(poke, poke->old);
}

static bool live_holds_new(const struct pp_poke *poke)
{
	return !PP_FAULT("read back") && !pp_debug_stuck_text && live_holds(poke, poke->new);
}

/*
 * The first poke whose place does not hold the old bytes or, if @after, the new bytes.
 * Return: NULL if all places do.
 */
static const struct pp_poke *live_first_mismatch(const struct pp_text *text, bool after)
{
	unsigned int i;

	if (after ? pp_debug_skip_read_back : pp_debug_skip_compare)
		return NULL;
	for (i = 0; i < text->nr; i++) {
		const struct pp_poke *poke = &text->poke[i];

		if (!(after ? live_holds_new(poke) : live_holds_old(poke)))
			return poke;
	}
	return NULL;
}

static void live_report_mismatch(const struct pp_poke *bad, const u8 *found, const u8 *expected,
				 const struct pp_patch *patch, const char *outcome)
{
	pr_err("%s: the code at %pS is %*ph, expected %*ph: another writer has changed it; %s\n",
	       patch->name, (void *)bad->at, (int)bad->size, found, (int)bad->size, expected,
	       outcome);
}

/*
 * The caller holds the hotplug lock and text_mutex, so no other writer of text is at work, as
 * long as it takes text_mutex as the kernel's rules demand.
 */
static int live_write_all(struct pp_text *text, const struct pp_patch *patch)
{
	u8 found[PP_TEXT_WORD_MAX];
	unsigned int i;

	for (i = 0; i < text->nr; i++) {
		int ret = pp_arch.live.check(&text->poke[i]);

		if (WARN_ON(ret))
			return ret;
	}
	text->bad = live_first_mismatch(text, false);
	if (text->bad) {
		live_report_mismatch(text->bad, (void *)text->bad->at, text->bad->old, patch, "nothing is switched");
		return -EIO;
	}

	text->written = true;
	live_write_pokes(text);
	text->bad = live_first_mismatch(text, true);
	if (!text->bad)
		return 0;

	memcpy(found, (void *)text->bad->at, text->bad->size);
	/* The new bytes were there for a moment, so both changes are recorded: there and back. */
	live_record(text);
	live_put_back(text);
	pp_record_text(text, NULL, pp_arch.live.method, 0, true);
	live_report_mismatch(text->bad, found, text->bad->new, patch, "everything is put back");
	text->stuck = live_first_mismatch(text, false);
	if (text->stuck)
		live_report_mismatch(text->stuck, (void *)text->stuck->at, text->stuck->old, patch,
		      "this one cannot be put back");
	return -EIO;
}

/*
 * The hotplug lock is held because a CPU that is just coming up executes code, and the protocol
 * would not make it notice what is written.
 */
int pp_text_write_live(struct pp_text *text, const struct pp_patch *patch)
{
	unsigned long probe;
	int ret;

	text->written = false;
	text->bad = text->stuck = NULL;
	if (!text->nr)
		return 0;
	if (pp_live_missing())
		return -EOPNOTSUPP;
	sort(text->poke, text->nr, sizeof(*text->poke), live_compare_pokes, NULL);
	probe = pp_claim_write_begin(text, 0, 0);
	if (probe)
		return pp_entry_report_probe(patch, probe);
	pp_text_lock();
	ret = live_write_all(text, patch);
	pp_text_unlock();
	pp_claim_write_end();
	if (!ret)
		live_record(text);
	return ret;
}
