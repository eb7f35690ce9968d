// SPDX-License-Identifier: GPL-2.0-only
/*
 * The debug build: write every entry of vmlinux at once, as entry mode would, and put all back.
 *
 * Reading the parameter debug_every_entry makes each entry that no user of ftrace has a jump to
 * the next instruction, which has the effect of the NOP, in one stop, and a NOP again in another.
 * The result is
 *
 *	entries N free N written N words N lines N pages N bad N
 *
 * entries that ftrace has a record of, other than those of functions that cannot run any more
 * (ftrace has disabled their records); those without a user; those of them that were read back as
 * jumps; how many of these lie across aligned words of 8 bytes, cache lines and pages; and how many
 * did not read back as NOPs in the end.
 *
 * ftrace's lock is held from before the first look at the records until all is put back, so ftrace
 * writes no entry meanwhile and does not compare any with its records.  No task can be within an
 * entry, which is one instruction.  So there is no code in which a task would be in the way.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "arch/pp_arch.h"
#include "claim.h"
#include "exiting.h"
#include "module.h"
#include "pp_patch.h"
#include "stack.h"
#include "stop.h"
#include "text.h"
#include "transition_state.h"

#define WORD 8		/* bytes */
#define LINE 64
#define ATTEMPTS 20	/* an exiting task may not be known yet */

struct every {
	struct transition tr;
	unsigned int max;	/* room for pokes */
	unsigned int entries, written, words, lines, pages, bad;
};

/* The entries are locked. */
static void every_entry_count(void *ctx, unsigned long ip, bool free)
{
	struct every *every = ctx;

	every->entries++;
}

static void every_entry_add(void *ctx, unsigned long ip, bool free)
{
	struct every *every = ctx;
	struct pp_text *text = &every->tr.text;
	struct pp_poke *poke = &text->poke[text->nr];

	if (!free || WARN_ON(text->nr == every->max))
		return;
	poke->at = ip;
	poke->size = pp_arch.entry.size;
	if (!pp_arch.entry.insn(ip, 0, poke->old) &&
	    !pp_arch.entry.insn(ip, ip + poke->size, poke->new))
		text->nr++;
}

static bool every_entry_crosses(const struct pp_poke *poke, unsigned long size)
{
	return (poke->at & (size - 1)) + poke->size > size;
}

static void every_entry_look(struct every *every)
{
	const struct pp_text *text = &every->tr.text;
	unsigned int i;

	for (i = 0; i < text->nr; i++) {
		const struct pp_poke *poke = &text->poke[i];

		if (memcmp((void *)poke->at, poke->new, poke->size))
			continue;
		every->written++;
		every->words += every_entry_crosses(poke, WORD);
		every->lines += every_entry_crosses(poke, LINE);
		every->pages += every_entry_crosses(poke, PAGE_SIZE);
	}
}

static void every_entry_turn_round(struct pp_text *text)
{
	unsigned int i, k;

	for (i = 0; i < text->nr; i++)
		for (k = 0; k < text->poke[i].size; k++)
			swap(text->poke[i].old[k], text->poke[i].new[k]);
}

static int every_entry_stop(struct transition *tr)
{
	unsigned int i;
	int ret = -EAGAIN;

	for (i = 0; i < ATTEMPTS && ret == -EAGAIN; i++) {
		ret = pp_scan_init(&tr->scan, &tr->busy);
		if (ret)
			return ret;
		pp_scan_running(&tr->scan);
		ret = pp_stop(tr);
		pp_scan_deinit(&tr->scan);
	}
	return ret;
}

/* The entries are locked. */
static int every_entry_there_and_back(struct every *every)
{
	struct pp_text *text = &every->tr.text;
	unsigned int i;
	int ret = every_entry_stop(&every->tr);

	if (ret)
		return ret;
	every_entry_look(every);
	every_entry_turn_round(text);
	ret = every_entry_stop(&every->tr);
	for (i = 0; i < text->nr; i++)
		every->bad += !!memcmp((void *)text->poke[i].at, text->poke[i].new,
				       text->poke[i].size);
	return ret;
}

/* The entries are locked; under pp_mutex. */
static int every_entry_run(struct every *every)
{
	struct transition *tr = &every->tr;
	int ret = -ENOMEM;

	*every = (struct every){ .tr = { .name = "every_entry", .look_only = true } };
	pp_claim_each_entry(every_entry_count, every);
	every->max = every->entries;
	tr->text.poke = kvcalloc(every->max, sizeof(*tr->text.poke), GFP_KERNEL);
	tr->cpus = kcalloc(nr_cpu_ids, sizeof(*tr->cpus), GFP_KERNEL);
	tr->stoppers = kcalloc(nr_cpu_ids, sizeof(*tr->stoppers), GFP_KERNEL);
	if (tr->text.poke && tr->cpus && tr->stoppers) {
		pp_claim_each_entry(every_entry_add, every);
		ret = every_entry_there_and_back(every);
	}
	kvfree(tr->text.poke);
	kfree(tr->cpus);
	kfree(tr->stoppers);
	return ret;
}

static int every_entry_get(char *buf, const struct kernel_param *kp)
{
	static struct every every; /* pp_mutex */
	int ret = pp_exiting_ready(true);

	if (ret)
		return ret;
	mutex_lock(&pp_mutex);
	ret = pp_claim_lock_entries() ? 0 : -EOPNOTSUPP;
	if (!ret) {
		ret = every_entry_run(&every);
		pp_claim_unlock_entries();
	}
	ret = ret ?: scnprintf(buf, PAGE_SIZE,
			       "entries %u free %u written %u words %u lines %u pages %u bad %u\n",
			       every.entries, every.tr.text.nr, every.written, every.words,
			       every.lines, every.pages, every.bad);
	mutex_unlock(&pp_mutex);
	pp_exiting_sweep();
	return ret;
}

static const struct kernel_param_ops every_entry_ops = {
	.get = every_entry_get,
};
module_param_cb(debug_every_entry, &every_entry_ops, NULL, 0400);
MODULE_PARM_DESC(debug_every_entry, "write all entries of vmlinux at once and put them back, when read");
