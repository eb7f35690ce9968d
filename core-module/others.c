// SPDX-License-Identifier: GPL-2.0-only
/*
 * What other writers write into the kernel's text: jump labels, static calls, kprobes, ftrace, BPF.
 *
 * All writers of running text end in one function of the kernel (pp_arch.writer.site), which they
 * call with text_mutex held.  A probe there notes which bytes are about to be written, and which
 * they replace.  It is an ordinary kprobe behind the function's ftrace site.  A kprobe at the site
 * itself would use ftrace, and kernel.ftrace_enabled=0, or an ftrace that has shut itself down,
 * would silence it.
 *
 * The probe's handler runs in a breakpoint's exception, or in the detour of an optimised kprobe,
 * but always while its task holds text_mutex.  So no two of them run at once, and none runs while
 * another task holds that mutex.  Holding it is therefore enough to take away what was noted.
 * pp_others_record_all() does that in a work item that the first note starts; before the core makes
 * records of its own, so that earlier changes have lower numbers; and before a reader is told the
 * time.  While it holds the mutex, no write is in progress.  Those that were noted are complete on
 * all CPUs, since each writer synchronises them before it releases the mutex.  So a write lies
 * within [the time when it was noted, the time when settle() held the mutex].  A reader that finds
 * no write of a place between two such times has seen what was there from the one to the other.
 *
 * A breakpoint, the bytes behind it, and the first byte are three writes; other_join() makes one
 * change of them.  All other writes are recorded as they were made.
 *
 * The core's own changes are recorded by record.c, and not noted here: pp_others_mute().
 *
 * If a task makes too many writes in one hold of text_mutex, those without room count as lost.
 * If kprobes are switched off altogether (kprobes/enabled in debugfs), the same writer restores
 * the probe's own bytes: that is the last write that the probe sees.  If the calls of the writer
 * are redirected by ftrace, the writer's site is written first.  From then on the core is deaf
 * until the probe sees a write again.  Meanwhile one number is left out after each record that
 * the core makes, and one before the record of the next write that the probe sees: a reader must
 * assume that text was written in between.
 */
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <pokepatch_history.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "history.h"
#include "kernel_symbols.h"
#include "others.h"
#include "place.h"
#include "pp_time.h"

/* The largest number of writes within one hold of text_mutex that are noted; a change has three. */
#define WRITES_MAX 4096

struct write {
	unsigned long addr;
	struct pp_time time;	/* before it */
	u8 old[PP_WRITE_MAX], new[PP_WRITE_MAX];
	u32 cpu;
	u16 nr;			/* counts the writes in the order in which they were noted */
	u8 len;			/* 0: it was joined with another one */
	bool gap;		/* the core was deaf before it */
};

/*
 * The probe fills one side while the other one is recorded.  The counts of the side that is filled
 * change under text_mutex, and pp_others_record_pending() reads them without it.
 */
static struct writes {
	struct write *write;
	unsigned int nr;
	unsigned int lost;
} sides[2];

static struct writes *noting = &sides[0]; /* text_mutex */
static struct kprobe probe;
static struct pp_time since;	/* mono is 0: no write is noted; see pp_others_since() */
static bool deaf;		/* written under text_mutex */
static unsigned int watched;	/* the bytes in front of the probe that ftrace may write */
static bool patched;		/* for good: a patch reroutes the calls of the probed function */
static unsigned long missed;	/* probe.nmissed when it was last looked at; other_record_lock */
static DEFINE_MUTEX(other_record_lock); /* under pp_mutex, outside text_mutex and history_lock */

/* --- the core's own writes: pp_mutex ------------------------------------------------------ */

static struct task_struct *muted; /* its writes are the core's own */
static struct pp_record_sites *muted_only; /* only those at these sites; NULL: all */

void pp_others_mute(struct pp_record_sites *only)
{
	WRITE_ONCE(muted_only, only);
	/*
	 * The handler acts on these two only when it interrupts this very task, so program order
	 * is enough.
	 */
	barrier();
	WRITE_ONCE(muted, current);
}

void pp_others_unmute(void)
{
	WRITE_ONCE(muted, NULL);
}

static struct pp_record_site *other_own_site(struct pp_record_sites *sites, unsigned long addr)
{
	unsigned int low = 0, high = sites->nr;

	while (low < high) {
		const unsigned int middle = low + (high - low) / 2;

		if (sites->site[middle].ip <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && addr - sites->site[low - 1].ip < pp_arch.entry.size ? &sites->site[low - 1] :
									     NULL;
}
NOKPROBE_SYMBOL(other_own_site);

/* Note one of the writes that make up the change of a site. */
static void other_note_own(struct pp_record_site *site, const struct pp_write *this)
{
	const unsigned long behind = this->addr - site->ip;

	if (!site->heard) {
		site->begin = pp_now();
		memcpy(site->old, (void *)site->ip, pp_arch.entry.size);
		memcpy(site->new, site->old, pp_arch.entry.size);
		site->heard = true;
	}
	if (this->bytes && this->len <= pp_arch.entry.size - behind)
		memcpy(site->new + behind, this->bytes, this->len);
}
NOKPROBE_SYMBOL(other_note_own);

/* Is this a write of the core's own?  If so, its site gets the note. */
static bool other_is_own(const struct pp_write *this)
{
	struct pp_record_sites *only = READ_ONCE(muted_only);
	struct pp_record_site *site;

	if (READ_ONCE(muted) != current)
		return false;
	if (!only)
		return true;
	site = other_own_site(only, this->addr);
	if (site)
		other_note_own(site, this);
	return site;
}
NOKPROBE_SYMBOL(other_is_own);

/* --- in the probe --------------------------------------------------------------------------- */

static void other_record_work(struct work_struct *work);
static DECLARE_WORK(other_recorder, other_record_work);

static void other_start_recorder(struct irq_work *work)
{
	schedule_work(&other_recorder);
}

static DEFINE_IRQ_WORK(starter, other_start_recorder);

static void other_note(const struct pp_write *this)
{
	struct writes *to = noting;
	struct write *write = &to->write[to->nr];

	if (this->len > PP_WRITE_MAX || !this->bytes || to->nr == WRITES_MAX) {
		WRITE_ONCE(to->lost, to->lost + 1);
		return;
	}
	*write = (struct write){
		.addr = this->addr,
		.time = pp_now(),
		.cpu = raw_smp_processor_id(),
		.nr = to->nr,
		.len = this->len,
		.gap = deaf,
	};
	memcpy(write->old, (void *)this->addr, this->len);
	memcpy(write->new, this->bytes, this->len);
	WRITE_ONCE(to->nr, to->nr + 1);
}
NOKPROBE_SYMBOL(other_note);

/*
 * Does this write restore the probe's own bytes?  Or does ftrace write at its site, so that the
 * writer's calls may no longer reach the probe?  ftrace's breakpoint there already sends a CPU
 * where the call will lead.
 */
static bool other_may_deafen(const struct pp_write *this)
{
	const unsigned long first = (unsigned long)probe.addr - watched;
	const unsigned long at = (unsigned long)probe.addr - this->addr;

	if (this->addr < (unsigned long)probe.addr && this->addr + this->len > first)
		return true;
	return at < this->len && this->bytes && this->bytes[at] == *(const u8 *)&probe.opcode;
}
NOKPROBE_SYMBOL(other_may_deafen);

/* The probe's handler. */
static int other_heard(struct kprobe *unused, struct pt_regs *regs)
{
	struct pp_write this;

	if (!pp_arch.writer.written(regs, &this) || other_is_own(&this))
		return 0;
	other_note(&this);
	WRITE_ONCE(deaf, other_may_deafen(&this));
	/* Queueing it again would do no harm. */
	if (noting->nr + noting->lost == 1)
		irq_work_queue(&starter);
	return 0;
}
NOKPROBE_SYMBOL(other_heard);

bool pp_others_deaf(void)
{
	return READ_ONCE(since.mono) && (READ_ONCE(deaf) || READ_ONCE(patched));
}

void pp_others_patched(unsigned long start, unsigned long size)
{
	if (!since.mono || (unsigned long)probe.addr - start >= size || patched)
		return;
	pr_notice("a patch changes %ps: from now on the history lacks what other writers do to text\n",
		  (void *)start);
	WRITE_ONCE(patched, true);
}

/* --- changes ---------------------------------------------------------------------------------- */

static int other_compare_places(const void *a, const void *b)
{
	const struct write *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static int other_compare_order(const void *a, const void *b)
{
	const struct write *x = a, *y = b;

	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static unsigned int other_end_of_place(const struct write *write, unsigned int nr,
				       unsigned int first)
{
	unsigned int end = first;

	while (end < nr && write[end].addr == write[first].addr)
		end++;
	return end;
}

/* Are these a breakpoint, the rest of the instruction, and its first byte? */
static bool other_is_protocol(const struct write *first, const struct write *rest,
			      const struct write *last)
{
	return first->len && first->len == last->len && rest->len &&
	       !rest->gap && !last->gap &&
	       rest->addr == first->addr + first->len && first->len + rest->len <= PP_WRITE_MAX &&
	       first->nr < rest->nr && rest->nr < last->nr;
}

/* Make one change of the three, in @first. */
static void other_join_writes(struct write *first, struct write *rest, struct write *last)
{
	memcpy(first->new, last->new, first->len);
	memcpy(first->old + first->len, rest->old, rest->len);
	memcpy(first->new + first->len, rest->new, rest->len);
	first->len += rest->len;
	rest->len = last->len = 0;
}

/*
 * Join the writes at one place, [i, end), with those at the place behind it, which begin at @end.
 * Both are in the order in which they were made.
 */
static void other_join_place(struct write *write, unsigned int nr, unsigned int i, unsigned int end)
{
	const unsigned int rest_end = other_end_of_place(write, nr, end);
	unsigned int rest = end;

	for (; i + 1 < end; i++) {
		while (rest < rest_end && write[rest].nr < write[i].nr)
			rest++;
		if (rest < rest_end && other_is_protocol(&write[i], &write[rest], &write[i + 1]))
			other_join_writes(&write[i], &write[rest], &write[i + 1]);
	}
}

static void other_join(struct writes *writes)
{
	struct write *write = writes->write;
	unsigned int i, end;

	sort(write, writes->nr, sizeof(*write), other_compare_places, NULL);
	for (i = 0; i < writes->nr; i = end) {
		end = other_end_of_place(write, writes->nr, i);
		other_join_place(write, writes->nr, i, end);
	}
	sort(write, writes->nr, sizeof(*write), other_compare_order, NULL);
}

/*
 * One record is enough for a change, since it is made when the change is complete.  It would be
 * too late for the tracepoints, and the writer itself has reported the change to perf.
 */
static void other_record_change(const struct write *write, const struct pp_time *over)
{
	static char name[KSYM_SYMBOL_LEN]; /* other_record_lock */
	const struct pp_place place = pp_place_look_up(write->addr, name);
	const struct pp_time end = pp_later(*over, &write->time);
	unsigned int at = sizeof(struct pokepatch_history_text);
	struct pokepatch_history_text *text =
		pp_history_begin_other(POKEPATCH_HISTORY_TEXT,
				       at + place.symbol.len + place.module.len);

	text->record.mono_ns = end.mono;
	text->record.perf_ns = end.perf;
	text->record.cpu = write->cpu;
	text->addr = write->addr;
	text->begin_ns = write->time.mono;
	text->begin_perf = write->time.perf;
	text->end_ns = end.mono;
	text->end_perf = end.perf;
	text->func = place.func;
	text->phase = POKEPATCH_HISTORY_AFTER;
	text->method = POKEPATCH_HISTORY_OTHER;
	text->len = write->len;
	text->symbol_offset = place.offset;
	text->symbol = pp_label_put(text, &at, &place.symbol);
	text->module = pp_label_put(text, &at, &place.module);
	memcpy(text->old_bytes, write->old, write->len);
	memcpy(text->new_bytes, write->new, write->len);
	pp_history_end(text, pp_others_deaf());
}

/* Record the writes, which were over at @over.  Under other_record_lock. */
static void other_record(struct writes *writes, const struct pp_time *over)
{
	unsigned long missed_now;
	unsigned int i;

	other_join(writes);
	for (i = 0; i < writes->nr; i++) {
		const struct write *write = &writes->write[i];

		if (write->gap)
			pp_history_lose(1);
		if (write->len && memcmp(write->old, write->new, write->len))
			other_record_change(write, over);
	}
	if (writes->lost)
		pp_history_lose(writes->lost);
	/*
	 * While another probe's handler ran on the same CPU, kprobes left ours out.  It may do so
	 * right now, since text_mutex is free: read the count once, so that none is passed over.
	 */
	missed_now = READ_ONCE(probe.nmissed);
	if (missed_now != missed)
		pp_history_lose(1);
	missed = missed_now;
}

/* Swap the sides.  Under text_mutex, so that no handler runs. */
static struct writes *other_take_noted(void)
{
	struct writes *noted = noting;

	WRITE_ONCE(noting, noted == &sides[0] ? &sides[1] : &sides[0]);
	WRITE_ONCE(noting->nr, 0);
	WRITE_ONCE(noting->lost, 0);
	return noted;
}

struct pp_time pp_others_record_all(void)
{
	struct writes *noted;
	struct pp_time now;

	mutex_lock(&other_record_lock);
	if (!since.mono) {
		mutex_unlock(&other_record_lock);
		return pp_now();
	}
	mutex_lock(pp_kernel.text_mutex);
	noted = other_take_noted();
	now = pp_now();
	mutex_unlock(pp_kernel.text_mutex);
	other_record(noted, &now);
	mutex_unlock(&other_record_lock);
	return now;
}

void pp_others_record_pending(void)
{
	const struct writes *writes = READ_ONCE(noting);
	bool noted;

	/* A write that is being noted right now is later than all changes before this call. */
	noted = READ_ONCE(writes->nr) || READ_ONCE(writes->lost);
	/*
	 * An empty side may be the one to which other_take_noted() has just turned.  Then the task
	 * that turned took other_record_lock before that, and still holds it: it is making records
	 * of the other side.  So read the lock after the side.
	 */
	smp_rmb();
	if (noted || mutex_is_locked(&other_record_lock))
		pp_others_record_all();
}

static void other_record_work(struct work_struct *work)
{
	pp_others_record_all();
}

/* --- setting up ------------------------------------------------------------------------ */

/*
 * Have the kernel's writer write over one of the core's instructions the same bytes.  Return: has
 * the probe seen all of that, and the same bytes?  Under text_mutex.
 */
static bool other_probe_works(void)
{
	u8 expected[PP_WRITE_MAX], found[PP_WRITE_MAX] = {};
	unsigned int i, size, covered = 0;
	unsigned long at;

	noting->nr = noting->lost = 0;
	at = pp_arch.writer.write_same(&size);
	if (WARN_ON(size > PP_WRITE_MAX) || noting->lost)
		return false;
	memcpy(expected, (void *)at, size);
	for (i = 0; i < noting->nr; i++) {
		const struct write *write = &noting->write[i];
		const unsigned long behind = write->addr - at;

		if (behind >= size || write->len > size - behind)
			return false;
		memcpy(found + behind, write->new, write->len);
		covered |= ((1 << write->len) - 1) << behind;
	}
	return covered == (1 << size) - 1 && !memcmp(found, expected, size);
}

static void other_free_sides(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		kvfree(sides[i].write);
		sides[i].write = NULL;
	}
}

static int other_listen(unsigned long writer)
{
	const unsigned long site = pp_arch.entry.site(writer);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		sides[i].write = kvmalloc_array(WRITES_MAX, sizeof(struct write), GFP_KERNEL);
		if (!sides[i].write)
			return -ENOMEM;
	}
	watched = site ? pp_arch.entry.size : 0;
	probe.addr = (void *)(site ? site + pp_arch.entry.size : writer);
	probe.pre_handler = other_heard;
	return register_kprobe(&probe);
}

static void other_stop_listening(void)
{
	unregister_kprobe(&probe);
	irq_work_sync(&starter);
	cancel_work_sync(&other_recorder);
}

/* Writes from before this returns have no records; later ones do. */
void pp_others_init(void)
{
	const unsigned long writer = pp_arch.writer.site ? pp_arch.writer.site() : 0;
	struct pp_time now;
	bool works;
	int ret;

	if (!writer) {
		pr_info("on this kernel the history lacks what other writers do to text\n");
		return;
	}
	ret = other_listen(writer);
	if (ret) {
		pr_notice("the history lacks what other writers do to text: %ps cannot be probed (%d)\n",
			  (void *)writer, ret);
		other_free_sides();
		return;
	}
	mutex_lock(&other_record_lock);
	mutex_lock(pp_kernel.text_mutex);
	works = other_probe_works();
	noting->nr = noting->lost = 0;
	missed = probe.nmissed;
	deaf = false;
	if (works) {
		now = pp_now();
		since.perf = now.perf;
		smp_store_release(&since.mono, now.mono); /* pp_others_since() */
	}
	mutex_unlock(pp_kernel.text_mutex);
	mutex_unlock(&other_record_lock);
	if (works)
		return;
	pr_notice("the history lacks what other writers do to text: a probe of %ps did not see the core's test write as it was\n",
		  (void *)writer);
	other_stop_listening();
	other_free_sides();
}

void pp_others_exit(void)
{
	if (!since.mono)
		return;
	other_stop_listening();
	mutex_lock(&other_record_lock);
	WRITE_ONCE(since.mono, 0);
	mutex_unlock(&other_record_lock);
	other_free_sides();
}

struct pp_time pp_others_since(void)
{
	/* Pairs with pp_others_init(), which has set the perf time by then, and once only. */
	const u64 mono = smp_load_acquire(&since.mono);

	return (struct pp_time){.mono = mono, .perf = since.perf};
}
