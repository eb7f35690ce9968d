// SPDX-License-Identifier: GPL-2.0-only
/*
 * What others write: jump labels, static calls, kprobes, ftrace, BPF.
 *
 * All writers of running text end in one function of the kernel (pp_arch.writer.site), which they
 * call with text_mutex held.  A probe there notes what is about to be written over what; it is
 * an ordinary kprobe behind the function's ftrace site, and not on it, since then neither
 * kernel.ftrace_enabled nor an ftrace that has died silences it.
 *
 * The probe is met in a breakpoint's exception, or in the detour of a probe that was optimised,
 * always under text_mutex: two of them cannot be at work at once, and none while somebody else
 * holds that lock.  So no more is needed to take away what was noted than to hold it: drain()
 * does, when a work item has been started by the first write, before the core makes records
 * of its own (so that records that were made earlier have lower numbers), and before a
 * reader is told what time it is.  When drain() holds the lock no write is under way, and those
 * that were noted are over, on all processors, as each writer synchronises them before it lets
 * go of the lock.  So a write lies within [the moment it was noted, the moment of the drain],
 * and a reader who finds no write of a place between two such moments has seen what
 * was there from the one to the other.
 *
 * A breakpoint, what is behind it, and the first byte are three writes, which drain()
 * makes one change of.  All else is told as it was written.
 *
 * What the core itself does is recorded elsewhere, and is not noted here: pp_others_mute().
 *
 * What cannot be noted, as there are too many within one hold of the lock, is told as lost.
 * Whoever switches kprobes off altogether (kprobes/enabled in debugfs) has the probe's own
 * bytes restored by the same writer: the last that is noted.  Whoever redirects the
 * writer's calls by ftrace has its site written first.  From then on the core is deaf, until
 * something is noted again, and after each record that it makes meanwhile, and before that of
 * what is noted then, one is lost: for all that a reader can know, somebody has written in
 * between.
 */
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "history.h"
#include "kernel_symbols.h"
#include "others.h"
#include "pp_time.h"
#include "record.h"

/* So many writes are noted within one hold of text_mutex: three for each change. */
#define WRITES_MAX 4096

struct write {
	unsigned long addr;
	struct pp_time time;	/* before it */
	u8 old[PP_WRITE_MAX], new[PP_WRITE_MAX];
	u32 cpu;
	u16 nr;			/* in the order in which they were noted */
	u8 len;			/* 0: it has become part of another one */
	bool gap;		/* the core was deaf before it */
};

static struct writes {
	struct write *write;
	unsigned int nr;
	unsigned int lost;
} sides[2];

static struct writes *noting = &sides[0]; /* text_mutex */
static struct kprobe probe;
static u64 since;		/* ns, monotonic; 0: nothing is heard */
static bool deaf;		/* written under text_mutex */
static unsigned int watched;	/* how many bytes in front of the probe are ftrace's */
static bool patched;		/* for good: the probe is in a function that calls do not reach */
static unsigned long missed;	/* probe.nmissed, the last time; drain_lock */
static DEFINE_MUTEX(drain_lock); /* under pp_mutex, outside text_mutex and history_lock */

/* --- what is ours: pp_mutex --------------------------------------------------------------- */

static struct task_struct *muted;
static struct pp_record_sites *sites; /* muted: only what is written there, or NULL */

void pp_others_mute(struct pp_record_sites *only)
{
	WRITE_ONCE(sites, only);
	/* Who is interrupted by the probe is the one who wrote it. */
	barrier();
	WRITE_ONCE(muted, current);
}

void pp_others_unmute(void)
{
	WRITE_ONCE(muted, NULL);
}

static struct pp_record_site *site_at(struct pp_record_sites *sites, unsigned long addr)
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
NOKPROBE_SYMBOL(site_at);

/* One of the writes that make up the change of a site. */
static void note_site(struct pp_record_site *site, const struct pp_write *this)
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
NOKPROBE_SYMBOL(note_site);

static bool is_ours(const struct pp_write *this)
{
	struct pp_record_sites *only = READ_ONCE(sites);
	struct pp_record_site *site;

	if (READ_ONCE(muted) != current)
		return false;
	if (!only)
		return true;
	site = site_at(only, this->addr);
	if (site)
		note_site(site, this);
	return site;
}
NOKPROBE_SYMBOL(is_ours);

/* --- in the probe --------------------------------------------------------------------------- */

static void drain_work(struct work_struct *work);
static DECLARE_WORK(drainer, drain_work);

static void start_drainer(struct irq_work *work)
{
	schedule_work(&drainer);
}

static DEFINE_IRQ_WORK(starter, start_drainer);

static void note(const struct pp_write *this)
{
	struct writes *to = noting;
	struct write *write = &to->write[to->nr];

	if (this->len > PP_WRITE_MAX || !this->bytes || to->nr == WRITES_MAX) {
		to->lost++;
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
	to->nr++;
}
NOKPROBE_SYMBOL(note);

/*
 * Is this the probe's end?  Or may it be that calls of the writer come to the probe no more, as
 * ftrace writes at its site?  Who meets the breakpoint goes already where the call will lead.
 */
static bool may_deafen(const struct pp_write *this)
{
	const unsigned long first = (unsigned long)probe.addr - watched;
	const unsigned long at = (unsigned long)probe.addr - this->addr;

	if (this->addr < (unsigned long)probe.addr && this->addr + this->len > first)
		return true;
	return at < this->len && this->bytes && this->bytes[at] == *(const u8 *)&probe.opcode;
}
NOKPROBE_SYMBOL(may_deafen);

static int heard(struct kprobe *unused, struct pt_regs *regs)
{
	struct pp_write this;

	if (!pp_arch.writer.written(regs, &this) || is_ours(&this))
		return 0;
	note(&this);
	WRITE_ONCE(deaf, may_deafen(&this));
	/* It would do no harm if it was queued already. */
	if (noting->nr + noting->lost == 1)
		irq_work_queue(&starter);
	return 0;
}
NOKPROBE_SYMBOL(heard);

bool pp_others_deaf(void)
{
	return READ_ONCE(since) && (READ_ONCE(deaf) || READ_ONCE(patched));
}

void pp_others_patched(unsigned long start, unsigned long size)
{
	if (!since || (unsigned long)probe.addr - start >= size || patched)
		return;
	pr_notice("a patch changes %ps, and so what others write is not in the history any more\n",
		  (void *)start);
	WRITE_ONCE(patched, true);
}

/* --- changes ---------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
	const struct write *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static int compare_order(const void *a, const void *b)
{
	const struct write *x = a, *y = b;

	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static unsigned int end_of(const struct write *write, unsigned int nr, unsigned int first)
{
	unsigned int end = first;

	while (end < nr && write[end].addr == write[first].addr)
		end++;
	return end;
}

/* A breakpoint, the rest of the instruction, its first byte: one change. */
static bool is_protocol(const struct write *first, const struct write *rest,
			const struct write *last)
{
	return first->len && first->len == last->len && rest->len &&
	       !rest->gap && !last->gap &&
	       rest->addr == first->addr + first->len && first->len + rest->len <= PP_WRITE_MAX &&
	       first->nr < rest->nr && rest->nr < last->nr;
}

static void make_one(struct write *first, struct write *rest, struct write *last)
{
	memcpy(first->new, last->new, first->len);
	memcpy(first->old + first->len, rest->old, rest->len);
	memcpy(first->new + first->len, rest->new, rest->len);
	first->len += rest->len;
	rest->len = last->len = 0;
}

/* The writes at one place, [i, end), and what is behind them, from @end on, in their order. */
static void join_place(struct write *write, unsigned int nr, unsigned int i, unsigned int end)
{
	const unsigned int rest_end = end_of(write, nr, end);
	unsigned int rest = end;

	for (; i + 1 < end; i++) {
		while (rest < rest_end && write[rest].nr < write[i].nr)
			rest++;
		if (rest < rest_end && is_protocol(&write[i], &write[rest], &write[i + 1]))
			make_one(&write[i], &write[rest], &write[i + 1]);
	}
}

static void join(struct writes *writes)
{
	struct write *write = writes->write;
	unsigned int i, end;

	sort(write, writes->nr, sizeof(*write), compare_places, NULL);
	for (i = 0; i < writes->nr; i = end) {
		end = end_of(write, writes->nr, i);
		join_place(write, writes->nr, i, end);
	}
	sort(write, writes->nr, sizeof(*write), compare_order, NULL);
}

static void record(struct writes *writes, const struct pp_time *over)
{
	unsigned int i;

	join(writes);
	for (i = 0; i < writes->nr; i++) {
		const struct write *write = &writes->write[i];
		const struct pp_when when = {
			.before = write->time,
			.begin = write->time,
			.end = pp_later(*over, &write->time),
			.after = pp_later(*over, &write->time),
			.cpu = write->cpu,
		};

		if (write->gap)
			pp_history_lose(1);
		if (write->len && memcmp(write->old, write->new, write->len))
			pp_record_other(write->addr, write->old, write->new, write->len, &when);
	}
	if (writes->lost)
		pp_history_lose(writes->lost);
	/* Another probe was just at work here, and ours was left out. */
	if (probe.nmissed != missed)
		pp_history_lose(1);
	missed = probe.nmissed;
}

/* Nobody writes while this is called, or else text_mutex is held. */
static struct writes *take_noted(void)
{
	struct writes *noted = noting;

	noting = noted == &sides[0] ? &sides[1] : &sides[0];
	noting->nr = noting->lost = 0;
	return noted;
}

struct pp_time pp_others_settle(void)
{
	struct writes *noted;
	struct pp_time now;

	mutex_lock(&drain_lock);
	if (!since) {
		mutex_unlock(&drain_lock);
		return pp_now();
	}
	mutex_lock(pp_kernel.text_mutex);
	noted = take_noted();
	now = pp_now();
	mutex_unlock(pp_kernel.text_mutex);
	record(noted, &now);
	mutex_unlock(&drain_lock);
	return now;
}

void pp_others_drain(void)
{
	const struct writes *writes = READ_ONCE(noting);
	bool noted;

	/* Of a write that is noted just now the moment is later than all that was done before. */
	noted = READ_ONCE(writes->nr) || READ_ONCE(writes->lost);
	/*
	 * An empty side may be the one that take_noted() has just turned to: the holder of
	 * drain_lock, which it had before that, is still making records of the other one.
	 */
	smp_rmb();
	if (noted || mutex_is_locked(&drain_lock))
		pp_others_settle();
}

static void drain_work(struct work_struct *work)
{
	pp_others_settle();
}

/* --- setting up --------------------------------------------------------------------------------- */

/*
 * The kernel's writer writes over an instruction of ours what is there.  Has that been heard,
 * all of it, and the same bytes?  Under text_mutex.
 */
static bool is_heard(void)
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

static void free_sides(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		kvfree(sides[i].write);
		sides[i].write = NULL;
	}
}

static int listen(unsigned long writer)
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
	probe.pre_handler = heard;
	return register_kprobe(&probe);
}

static void stop_listening(void)
{
	unregister_kprobe(&probe);
	irq_work_sync(&starter);
	cancel_work_sync(&drainer);
}

/* What is written before this returns is not told, and what is written afterwards is. */
void pp_others_init(void)
{
	const unsigned long writer = pp_arch.writer.site ? pp_arch.writer.site() : 0;
	bool works;
	int ret;

	if (!writer) {
		pr_info("what others write is not in the history on this kernel\n");
		return;
	}
	ret = listen(writer);
	if (ret) {
		pr_notice("what others write is not in the history: no probe of %ps (%d)\n",
			  (void *)writer, ret);
		free_sides();
		return;
	}
	mutex_lock(&drain_lock);
	mutex_lock(pp_kernel.text_mutex);
	works = is_heard();
	noting->nr = noting->lost = 0;
	missed = probe.nmissed;
	deaf = false;
	if (works)
		since = ktime_get_mono_fast_ns();
	mutex_unlock(pp_kernel.text_mutex);
	mutex_unlock(&drain_lock);
	if (works)
		return;
	pr_notice("what others write is not in the history: a probe of %ps is not met, or finds something else\n",
		  (void *)writer);
	stop_listening();
	free_sides();
}

void pp_others_exit(void)
{
	if (!since)
		return;
	stop_listening();
	mutex_lock(&drain_lock);
	since = 0;
	mutex_unlock(&drain_lock);
	free_sides();
}

u64 pp_others_since(void)
{
	return READ_ONCE(since);
}
