// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: NMIs on all CPUs that call the first hundred functions of pp_crowd, also in stops.
 *
 * Writing to the parameter "nmis" starts them; "bare" has them call the functions without entries.
 * A timer sends one to each CPU every half
 * millisecond.  No timer runs in a stop, so one NMI goes round as well: each CPU that gets it sends
 * one to the next CPU.  So NMIs fall into every step of a switch.
 *
 * Each NMI calls some of the functions and goes on behind them the next time.  A call must return
 * what the function returns or what the patch makes of it.  Reading "nmis" gives
 *
 *	nmis N per-second N calls N wrong N met N alignments N lines N pages N
 *
 * A call has met a breakpoint if one was in the entry's first byte before the call and after it.
 * "alignments" of 64, "lines" and "pages" count the alignments, the entries across two cache lines,
 * and those across two pages at which a call has met one.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include <asm/text-patching.h>

#include "crowd.h"
#include "test_hrtimer.h"
#include "test_nmi.h"

#define CALLED 100	/* functions */
#define AT_ONCE 10	/* calls of one NMI */
#define LINE 64		/* bytes */
#define ENTRY_SIZE 5
#define PERIOD_NS (500 * NSEC_PER_USEC)

/* Each CPU counts in its own. */
struct counts {
	u64 nmis, calls, met, wrong;
	unsigned int next;	/* function to call */
};

static DEFINE_PER_CPU(struct counts, counts);
static DECLARE_BITMAP(met, CALLED);	/* functions whose breakpoints a call has met */
static struct hrtimer timer;
static u64 started;			/* ns; 0: no timer runs */
static bool ending;			/* send no more */
static crowd_function *called = functions;

static unsigned long entry_of(unsigned int function)
{
	return (unsigned long)called[function] + ENTRY_OFFSET;
}

static bool has_breakpoint(unsigned int function)
{
	return READ_ONCE(*(const u8 *)entry_of(function)) == INT3_INSN_OPCODE;
}

static void call(struct counts *this, unsigned int function)
{
	const bool before = has_breakpoint(function);
	const unsigned int result = called[function]();

	this->calls++;
	if (before && has_breakpoint(function)) {
		this->met++;
		set_bit(function, met);
	}
	if (result != 1000 + function && result != 2000 + function)
		this->wrong++;
}

/* The CPU to which the NMI that goes round was sent; -1: none is under way. */
static int runner = -1;

static void pass_on(int cpu)
{
	unsigned int next = cpumask_next(cpu, cpu_online_mask);

	if (next >= nr_cpu_ids)
		next = cpumask_first(cpu_online_mask);
	if (READ_ONCE(ending)) {
		cmpxchg(&runner, cpu, -1);
		return;
	}
	if (next == cpu || (READ_ONCE(runner) != cpu && cmpxchg(&runner, -1, next) != -1))
		return; /* no other CPU, or another NMI is under way */
	WRITE_ONCE(runner, next);
	test_nmi_send(next);
}

static int nmi(unsigned int type, struct pt_regs *regs)
{
	struct counts *this = this_cpu_ptr(&counts);
	unsigned int i;

	if (!READ_ONCE(started))
		return NMI_DONE;
	this->nmis++;
	for (i = 0; i < AT_ONCE; i++) {
		call(this, this->next);
		this->next = (this->next + 1) % CALLED;
	}
	pass_on(smp_processor_id());
	return NMI_HANDLED;
}

static enum hrtimer_restart send_nmis(struct hrtimer *timer)
{
	apic->send_IPI_mask(cpu_online_mask, NMI_VECTOR);
	hrtimer_forward_now(timer, ns_to_ktime(PERIOD_NS));
	return HRTIMER_RESTART;
}

static int nmis_set(const char *text, const struct kernel_param *param)
{
	if (started)
		return -EBUSY;
	if (sysfs_streq(text, "bare"))
		called = bare_functions;
	WRITE_ONCE(started, ktime_get_ns());
	hrtimer_start(&timer, ns_to_ktime(PERIOD_NS), HRTIMER_MODE_REL_HARD);
	return 0;
}

static bool crosses(unsigned int function, unsigned long size)
{
	return (entry_of(function) & (size - 1)) > size - ENTRY_SIZE;
}

static int nmis_get(char *text, const struct kernel_param *param)
{
	const u64 ms = started ? div_u64(ktime_get_ns() - started, NSEC_PER_MSEC) : 0;
	DECLARE_BITMAP(alignments, LINE) = {};
	unsigned int lines = 0, pages = 0, function;
	struct counts all = {};
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct counts *this = per_cpu_ptr(&counts, cpu);

		all.nmis += READ_ONCE(this->nmis);
		all.calls += READ_ONCE(this->calls);
		all.met += READ_ONCE(this->met);
		all.wrong += READ_ONCE(this->wrong);
	}
	for_each_set_bit(function, met, CALLED) {
		__set_bit(entry_of(function) % LINE, alignments);
		lines += crosses(function, LINE);
		pages += crosses(function, PAGE_SIZE);
	}
	return scnprintf(text, PAGE_SIZE,
			 "nmis %llu per-second %llu calls %llu wrong %llu met %llu alignments %u lines %u pages %u\n",
			 all.nmis, ms ? div64_u64(all.nmis * 1000, ms) : 0, all.calls, all.wrong,
			 all.met, bitmap_weight(alignments, LINE), lines, pages);
}

static const struct kernel_param_ops nmis_ops = { .set = nmis_set, .get = nmis_get };
module_param_cb(nmis, &nmis_ops, NULL, 0600);
MODULE_PARM_DESC(nmis, "NMIs that call the functions, and what came of it");

int nmis_begin(void)
{
	test_hrtimer_setup(&timer, send_nmis, HRTIMER_MODE_REL_HARD);
	return test_nmi_register(nmi, "pp_crowd");
}

static void nothing(void *unused)
{
}

/*
 * No NMI may come that has no handler any more.  A CPU takes an NMI before a call that was sent to
 * it later.  So after the first calls all NMIs of the timer have come, and every CPU that passes
 * one on sees that this ends.  The last one that goes round clears the runner.  Another NMI on the
 * same CPU may clear it just before that one comes, hence the second calls.
 */
void nmis_end(void)
{
	hrtimer_cancel(&timer);
	WRITE_ONCE(ending, true);
	on_each_cpu(nothing, NULL, 1);
	while (READ_ONCE(runner) != -1)
		msleep(1);
	on_each_cpu(nothing, NULL, 1);
	test_nmi_unregister("pp_crowd");
}
