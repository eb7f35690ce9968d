// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stopped section: every CPU looks at its own stack, one looks at all the others and
 * decides, and if nobody is in the way it switches everything.
 *
 * In here nothing allocates, sleeps, prints or looks up symbols: what it needs is laid
 * out before (layout.c), what it finds is written down for later.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>

#include <pokepatch_history.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "debug.h"
#include "entry.h"
#include "history.h"
#include "kernel_symbols.h"
#include "pp_patch.h"
#include "pp_time.h"
#include "record.h"
#include "site.h"
#include "stack.h"
#include "stop.h"
#include "text.h"
#include "transition_state.h"

/*
 * Nothing that this CPU fetched before the text was written may run: neither what
 * follows this nor, when interrupts are on again, anything else.
 */
static notrace void serialise(struct transition *tr)
{
	if (!tr->text.nr || pp_debug_skip_serialise)
		return;
	pp_arch.text.serialise(&tr->text);
	atomic_inc(&tr->serialised);
}

/*
 * One CPU decides, when all the others have looked at their own stacks: a stopper
 * runs, and a running task's stack can be walked by nobody but itself.
 */
static notrace enum verdict decide(struct transition *tr)
{
	bool clear = true;
	unsigned int i;
	int cpu;

	for_each_online_cpu(cpu) {
		tr->stoppers[cpu] = tr->cpus[cpu].stopper;
		tr->scan.frames += tr->cpus[cpu].walk.frames;
		if (!tr->cpus[cpu].clear) {
			pp_scan_add(&tr->scan, tr->cpus[cpu].stopper, &tr->cpus[cpu].walk);
			clear = false;
		}
	}
	if (!pp_scan_stopped(&tr->scan, tr->stoppers))
		clear = false;
	if (!clear || tr->nr_stops < pp_debug_refuse_stops)
		return REFUSED;

	/*
	 * Sites and stubs: who holds text_mutex for this is in pp_stop().  The moments are for the
	 * history: all other CPUs wait for the verdict meanwhile, so that no call is in between
	 * but from an NMI.
	 */
	tr->decided_on = smp_processor_id();
	tr->when.begin = pp_now();
	if (!pp_text_write(&tr->text)) {
		serialise(tr);
		tr->when.end = pp_now();
		return BROKEN;
	}
	/*
	 * No handler is between its lookup and its decision (it holds preemption
	 * off), but one in an NMI: that one sees each function as it was or as it
	 * is going to be.  All other calls see all functions switched, or none.
	 */
	for (i = 0; i < tr->nr_flips; i++)
		pp_site_set_target(tr->flips[i].site, tr->flips[i].target);
	serialise(tr);
	/* The stores, and then the clock. */
	smp_mb();
	tr->when.end = pp_now();
	return SWITCHED;
}

/* On every CPU, interrupts off. */
static notrace int stopped(void *data)
{
	struct transition *tr = data;
	const int cpu = smp_processor_id();
	struct stop_cpu *this = &tr->cpus[cpu];
	u64 first = ~0ULL;
	enum verdict verdict;
	int other;

	this->entered = ktime_get_mono_fast_ns();
	this->cycles = get_cycles();
	this->stopper = current;
	this->clear = pp_debug_skip_stoppers || pp_stack_clear(&tr->busy, current, &this->walk);
	/* Release: who sees all arrived, sees what they found. */
	atomic_inc_return_release(&tr->arrived);

	if (cpu != cpumask_first(cpu_online_mask)) {
		/* Acquire: calls on this CPU see the targets. */
		while (smp_load_acquire(&tr->verdict) == UNDECIDED)
			cpu_relax();
		serialise(tr);
		return 0;
	}

	/* No CPU comes or goes: stop_machine() holds the hotplug lock. */
	while (atomic_read_acquire(&tr->arrived) < num_online_cpus())
		cpu_relax();
	/* Release: the targets, for those who acquire the verdict. */
	verdict = decide(tr);
	smp_store_release(&tr->verdict, verdict);
	if (verdict == REFUSED)
		serialise(tr);

	for_each_online_cpu(other)
		first = min(first, tr->cpus[other].entered);
	tr->stop_cycles = get_cycles() - this->cycles;
	while (pp_debug_stop_us &&
	       ktime_get_mono_fast_ns() - first < (u64)pp_debug_stop_us * NSEC_PER_USEC)
		cpu_relax();
	tr->stop_ns = ktime_get_mono_fast_ns() - first;
	return 0;
}

NOKPROBE_SYMBOL(decide);
NOKPROBE_SYMBOL(serialise);
NOKPROBE_SYMBOL(stopped);

void pp_hold_if_stuck(struct transition *tr)
{
	struct pp_patch *patch = tr->patch;

	if (!tr->text.stuck || !tr->enable || patch->led_to || pp_debug_skip_hold)
		return;
	__module_get(patch->mod);
	patch->led_to = true;
	pr_err("%s: its module stays loaded until the next boot: %pS leads there, and cannot be put back\n",
	       patch->name, (void *)tr->text.stuck->at);
}

void pp_record_way_and_back(const struct transition *tr, unsigned int nr,
			    const struct pp_when *there, const struct pp_when *back,
			    unsigned int method)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const struct pp_poke *poke = &tr->text.poke[i];
		const struct flip *flip;

		/* Of a site's pokes the one that decides. */
		if (!poke->route)
			continue;
		flip = container_of(poke->route, struct flip, when);
		pp_record_route(flip->func, flip->from, flip->target, there ?: &flip->when, method);
		if (!memcmp((void *)poke->at, poke->old, poke->size))
			pp_record_route(flip->func, flip->target, flip->from, back ?: &poke->when,
					method);
	}
}

/* In a stop only an NMI can have met it. */
static void record_put_back(struct transition *tr)
{
	struct pp_when there = tr->when, back = tr->when;

	there.end = there.after = tr->text.turned;
	back.begin = back.before = tr->text.turned;
	pp_record_put_back(&tr->text, &tr->when, POKEPATCH_HISTORY_STOP_MACHINE, 0);
	pp_record_way_and_back(tr, tr->text.put_back, &there, &back,
			       POKEPATCH_HISTORY_STOP_MACHINE);
}

/* What was switched in the stop, or put back; before the books are brought into line. */
static void record_stop(struct transition *tr)
{
	struct pp_when *when = &tr->when;
	const cycles_t cycles = get_cycles();
	unsigned int i;

	when->before = when->begin;
	when->after = when->end;
	when->cpu = tr->decided_on;
	if (tr->verdict == BROKEN) {
		record_put_back(tr);
		return;
	}
	pp_record_text(&tr->text, when, POKEPATCH_HISTORY_STOP_MACHINE, 0, false);
	pp_history_hold();
	for (i = 0; i < tr->nr_flips; i++)
		pp_record_route(tr->flips[i].func, tr->flips[i].from, tr->flips[i].target, when,
				tr->flips[i].site->mode == &pp_ftrace_mode ?
					POKEPATCH_HISTORY_FTRACE : POKEPATCH_HISTORY_STOP_MACHINE);
	pp_history_release();
	/* test/bench/history reads it. */
	pr_debug("%s: recorded %u sites, %llu cycles\n", tr->patch->name, tr->nr_flips,
		 (u64)(get_cycles() - cycles));
}

int pp_stop(struct transition *tr)
{
	int ret = pp_text_map(&tr->text);

	if (ret)
		return ret;
	atomic_set(&tr->arrived, 0);
	atomic_set(&tr->serialised, 0);
	tr->verdict = UNDECIDED;
	/* The stopper of a CPU that went since the last attempt has not looked at itself. */
	memset(tr->stoppers, 0, nr_cpu_ids * sizeof(*tr->stoppers));
	tr->last_stop = ktime_get_ns();
	cpus_read_lock();
	mutex_lock(pp_kernel.text_mutex);
	pp_stop_machine_cpuslocked(stopped, tr, cpu_online_mask);
	mutex_unlock(pp_kernel.text_mutex);
	cpus_read_unlock();
	pp_text_unmap(&tr->text);

	tr->nr_stops++;
	tr->last_stop_ns = tr->stop_ns;
	tr->stopped_ns += tr->stop_ns;
	if (!tr->look_only)
		WRITE_ONCE(tr->patch->stop_ns, tr->stop_ns);
	/* test/bench/stopped reads it. */
	pr_debug("%s: stopped %llu ns, %llu cycles, walked %u stacks, %u had not run, %u frames, %u sites, %u words, serialised %d processors\n",
		 tr->patch->name, tr->stop_ns, (u64)tr->stop_cycles, tr->scan.walked,
		 tr->scan.skipped, tr->scan.frames, tr->nr_flips, tr->text.nr,
		 atomic_read(&tr->serialised));
	if (tr->verdict == BROKEN) {
		record_stop(tr);
		pp_hold_if_stuck(tr);
		return pp_text_report(&tr->text, tr->patch);
	}
	if (pp_debug_record_wait_ms)
		msleep(pp_debug_record_wait_ms);
	if (tr->verdict == SWITCHED && !tr->look_only)
		record_stop(tr);
	return tr->verdict == SWITCHED ? 0 : -EAGAIN;
}

#ifndef CONFIG_TASKS_RUDE_RCU
static int nothing(void *unused)
{
	return 0;
}

/*
 * Each CPU has gone to its stopper thread, which it does where it could schedule; with one CPU alone
 * nobody who has preemption off is there when we run.
 */
void pp_synchronize_rude(void)
{
	stop_machine(nothing, NULL, NULL);
}
#endif
