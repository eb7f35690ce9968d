// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stopped section: every CPU checks its own stack, and one CPU checks all other stacks and
 * decides. If no task is busy, that CPU switches all flips of the transition.
 *
 * Nothing in the stopped section allocates, sleeps, prints or looks up symbols: what it needs
 * was laid out before (layout.c), and what it finds is kept in the transition for later.
 * test/host/stopped.bats compares what stop_section() can call with a list.
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

#include "access.h"
#include "arch/pp_arch.h"
#include "core_print.h"
#include "debug.h"
#include "entry.h"
#include "history.h"
#include "kernel_symbols.h"
#include "layout.h"
#include "pp_patch.h"
#include "pp_time.h"
#include "record.h"
#include "site.h"
#include "stack.h"
#include "stop.h"
#include "text.h"
#include "transition_state.h"

static unsigned int max_stop_us = 10000;
pp_param_uint(max_stop_us);
MODULE_PARM_DESC(max_stop_us,
		 "how long an attempt may look at tasks while the machine is stopped, microseconds; 0: as long as it takes");

/*
 * On each CPU, interrupts off: drop the instructions that this CPU fetched before the text was
 * written, so that it executes none of them, neither here nor when interrupts are on again.
 */
static notrace void stop_serialise(struct transition *tr)
{
	if (!tr->text.nr || pp_debug_skip_serialise)
		return;
	pp_arch.text.serialise(&tr->text);
	atomic_inc(&tr->serialised);
}

/*
 * On the deciding CPU, between two steps of a write (text->meet): every CPU serialises.  All other
 * CPUs wait in stop_follow(), so none can miss a step, and only an NMI can delay one.
 */
static notrace void stop_meet(struct pp_text *text)
{
	struct transition *tr = container_of(text, struct transition, text);
	const u64 began = pp_debug_step_us ? ktime_get_mono_fast_ns() : 0;
	int met;

	text->steps++;
	/* Release: a CPU that sees the step sees what was stored in it. */
	smp_store_release(&tr->step, text->steps);
	stop_serialise(tr);
	/* Acquire: what is stored next comes after every CPU has serialised. */
	met = text->steps * (num_online_cpus() - 1);
	while (atomic_read_acquire(&tr->met) < met)
		cpu_relax();
	while (pp_debug_step_us &&
	       ktime_get_mono_fast_ns() - began < (u64)pp_debug_step_us * NSEC_PER_USEC)
		cpu_relax();
}

/* On all other CPUs: serialise in each step, until the verdict is there. */
static notrace void stop_follow(struct transition *tr)
{
	unsigned int step = 0;

	/* Acquire: calls on this CPU see the new targets from here on. */
	while (smp_load_acquire(&tr->verdict) == VERDICT_NONE) {
		if (smp_load_acquire(&tr->step) != step) {
			step++;
			stop_serialise(tr);
			/* Release: this CPU has serialised before the next store. */
			atomic_inc_return_release(&tr->met);
		}
		cpu_relax();
	}
}

/* After the verdict: serialise, unless the CPUs have done so in the last step. */
static notrace void stop_finish(struct transition *tr)
{
	if (!tr->text.steps && tr->verdict != VERDICT_BUSY)
		stop_serialise(tr);
}

/*
 * On one CPU, after all others have checked their own stacks: a stopper is running, and only
 * the running task itself can walk its stack. All other CPUs spin with interrupts off until the
 * verdict is there, so only NMIs run beside this.
 */
static notrace enum verdict stop_decide(struct transition *tr)
{
	bool clear = true;
	unsigned int i;
	int cpu;

	/* A patch whose module goes by force must be switched off, however long that takes. */
	if (tr->max_stop_ns && !tr->forced)
		tr->scan.until = ktime_get_mono_fast_ns() + tr->max_stop_ns;
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
		return VERDICT_BUSY;

	/*
	 * Write sites and stubs. pp_stop() holds text_mutex for this. The two moments are for
	 * the history: all other CPUs wait for the verdict meanwhile, so no call comes between
	 * the moments but from an NMI.
	 */
	tr->decided_on = smp_processor_id();
	tr->when.begin = pp_now();
	if (!pp_text_write(&tr->text)) {
		stop_finish(tr);
		tr->when.end = pp_now();
		return VERDICT_BROKEN;
	}
	/*
	 * No handler is between its lookup and its decision, since it holds preemption off
	 * there, unless it runs in an NMI. Such a handler sees each single function as it was
	 * or as it will be. All other calls see all functions switched, or none.
	 */
	for (i = 0; i < tr->nr_flips; i++)
		pp_site_set_target(tr->flips[i].site, tr->flips[i].target);
	stop_finish(tr);
	/* The stores above must be complete before the clock is read. */
	smp_mb();
	tr->when.end = pp_now();
	return VERDICT_SWITCHED;
}

/* Each CPU runs this in its stopper task, with interrupts off. */
static notrace int stop_section(void *data)
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
	/* Release: the CPU that sees that all have arrived also sees what they found. */
	atomic_inc_return_release(&tr->arrived);

	if (cpu != cpumask_first(cpu_online_mask)) {
		stop_follow(tr);
		stop_finish(tr);
		return 0;
	}

	/* No CPU comes or goes, since pp_stop() holds the hotplug lock. */
	while (atomic_read_acquire(&tr->arrived) < num_online_cpus())
		cpu_relax();
	/* Release: a CPU that acquires the verdict sees the targets. */
	verdict = stop_decide(tr);
	smp_store_release(&tr->verdict, verdict);

	for_each_online_cpu(other)
		first = min(first, tr->cpus[other].entered);
	tr->stop_cycles = get_cycles() - this->cycles;
	while (pp_debug_stop_us &&
	       ktime_get_mono_fast_ns() - first < (u64)pp_debug_stop_us * NSEC_PER_USEC)
		cpu_relax();
	tr->stop_ns = ktime_get_mono_fast_ns() - first;
	return 0;
}

NOKPROBE_SYMBOL(stop_decide);
NOKPROBE_SYMBOL(stop_finish);
NOKPROBE_SYMBOL(stop_follow);
NOKPROBE_SYMBOL(stop_meet);
NOKPROBE_SYMBOL(stop_serialise);
NOKPROBE_SYMBOL(stop_section);

void pp_transition_hold_stuck(struct transition *tr)
{
	struct pp_patch *patch = tr->patch;

	if (!tr->text.stuck || !tr->enable || patch->led_to || pp_debug_skip_hold)
		return;
	__module_get(patch->mod);
	patch->led_to = true;
	pr_err("%s: its module stays loaded until the next boot: %pS leads there, and cannot be put back\n",
	       patch->name, (void *)tr->text.stuck->at);
}

void pp_flips_record_put_back(const struct transition *tr, unsigned int nr,
			      const struct pp_when *there, const struct pp_when *back,
			      unsigned int method)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const struct pp_poke *poke = &tr->text.poke[i];
		const struct flip *flip;

		/* Of a site's pokes, only the one that decides where calls go has a route. */
		if (!poke->route)
			continue;
		flip = container_of(poke->route, struct flip, when);
		pp_record_route(flip->func, flip->from, flip->target, there ?: &flip->when, method);
		if (!memcmp((void *)poke->at, poke->old, poke->size))
			pp_record_route(flip->func, flip->target, flip->from, back ?: &poke->when,
					method);
	}
}

/* In a stop, only calls from NMIs can have gone the new way meanwhile. */
static void stop_record_put_back(struct transition *tr)
{
	struct pp_when there = tr->when, back = tr->when;

	there.end = there.after = tr->text.turned;
	back.begin = back.before = tr->text.turned;
	pp_record_put_back(&tr->text, &tr->when, POKEPATCH_HISTORY_STOP_MACHINE, 0);
	pp_flips_record_put_back(tr, tr->text.put_back, &there, &back,
				 POKEPATCH_HISTORY_STOP_MACHINE);
}

/* Record what the stop has switched, or put back.  Called before the bookkeeping follows. */
static void stop_record(struct transition *tr)
{
	struct pp_when *when = &tr->when;
	const cycles_t cycles = get_cycles();
	unsigned int i;

	when->before = when->begin;
	when->after = when->end;
	when->cpu = tr->decided_on;
	if (tr->verdict == VERDICT_BROKEN) {
		stop_record_put_back(tr);
		return;
	}
	pp_record_text(&tr->text, when, POKEPATCH_HISTORY_STOP_MACHINE, 0, false);
	pp_history_hold();
	for (i = 0; i < tr->nr_flips; i++)
		pp_record_route(tr->flips[i].func, tr->flips[i].from, tr->flips[i].target, when,
				tr->flips[i].site->mode == &pp_ftrace_mode ?
					POKEPATCH_HISTORY_FTRACE : POKEPATCH_HISTORY_STOP_MACHINE);
	pp_history_release();
	/* test/bench/history reads this line. */
	pr_debug("%s: recorded %u sites, %llu cycles\n", tr->name, tr->nr_flips,
		 (u64)(get_cycles() - cycles));
}

int pp_stop(struct transition *tr)
{
	int ret;

	tr->text.meet = stop_meet;
	ret = pp_text_map(&tr->text);
	if (ret)
		return ret;
	atomic_set(&tr->arrived, 0);
	atomic_set(&tr->met, 0);
	tr->step = 0;
	atomic_set(&tr->serialised, 0);
	tr->verdict = VERDICT_NONE;
	/* Of a CPU that has gone offline since the last attempt, no stopper has checked itself. */
	memset(tr->stoppers, 0, nr_cpu_ids * sizeof(*tr->stoppers));
	tr->last_stop = ktime_get_ns();
	tr->max_stop_ns = (u64)READ_ONCE(max_stop_us) * NSEC_PER_USEC;
	pp_text_lock();
	/* No CPU goes offline while the lock is held. */
	if (tr->offline && pp_layout_has_offline()) {
		pp_text_unlock();
		pp_text_unmap(&tr->text);
		return -EAGAIN;
	}
	pp_stop_machine_cpuslocked(stop_section, tr, cpu_online_mask);
	pp_text_unlock();
	pp_text_unmap(&tr->text);

	tr->nr_stops++;
	tr->last_stop_ns = tr->stop_ns;
	tr->stopped_ns += tr->stop_ns;
	if (tr->patch && !tr->look_only)
		WRITE_ONCE(tr->patch->stop_ns, tr->stop_ns);
	/* test/bench/stopped reads this line. */
	pr_debug("%s: stopped %llu ns, %llu cycles, walked %u stacks, %u had not run, %u frames, %u sites, %u words, %u steps, serialised %d times\n",
		 tr->name, tr->stop_ns, (u64)tr->stop_cycles, tr->scan.walked,
		 tr->scan.skipped, tr->scan.frames, tr->nr_flips, tr->text.nr, tr->text.steps,
		 atomic_read(&tr->serialised));
	if (tr->verdict == VERDICT_BROKEN) {
		stop_record(tr);
		pp_transition_hold_stuck(tr);
		return pp_text_report(&tr->text, tr->name);
	}
	PP_PAUSE(records);
	if (tr->verdict == VERDICT_SWITCHED && !tr->look_only)
		stop_record(tr);
	return tr->verdict == VERDICT_SWITCHED ? 0 : -EAGAIN;
}
