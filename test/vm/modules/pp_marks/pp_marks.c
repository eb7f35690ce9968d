// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_marks - probes for the markers int_sqrt_entry and int_sqrt_return, which
 * `pokepatch-build --instrument --mark-functions int_sqrt lib/math/int_sqrt.c` makes.  Commands
 * for the parameter "do":
 *	register N NAME, unregister N NAME	attach or detach probe number N, 0 to 3; NAME may be
 *						* for all markers
 *	call N					call int_sqrt() N times
 *	storm N					attach and detach probes N times, while each CPU
 *						calls int_sqrt() in a task and in NMIs
 *	forget					set all counts of "slots" to 0
 * The log has the result of each command.  Reading "slots" gives what the probes have counted.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <pokepatch_mark.h>

#include "test_nmi.h"

#define SLOTS 4
#define MANY 64

struct slot {
	atomic_long_t entries, returns, others, nmis, wrong, late, nested;
	bool gone; /* the probe was detached, so a call of it is an error */
};

static struct slot slots[SLOTS];
static bool nest; /* the probe calls int_sqrt() itself */
static bool nmis;
module_param(nest, bool, 0600);
module_param(nmis, bool, 0600);

static typeof(pokepatch_marker_register) *do_register;
static typeof(pokepatch_marker_unregister) *do_unregister;
static typeof(pokepatch_mark_text) *mark_text;

static void probe(void *private, const struct pokepatch_mark *mark)
{
	struct slot *slot = private;
	char text[64], wanted[64];
	bool entry = !strcmp(mark->marker->name, "int_sqrt_entry");

	if (READ_ONCE(slot->gone))
		atomic_long_inc(&slot->late);
	if (in_nmi())
		atomic_long_inc(&slot->nmis);
	if (!entry && strcmp(mark->marker->name, "int_sqrt_return")) {
		atomic_long_inc(&slot->others);
		return;
	}
	atomic_long_inc(entry ? &slot->entries : &slot->returns);
	mark_text(mark, text, sizeof(text));
	snprintf(wanted, sizeof(wanted), entry ? "x=%llu" : "%llu", mark->args[0]);
	if (mark->nr_args != 1 || strcmp(mark->types, "w") || strcmp(text, wanted) ||
	    strcmp(mark->patch, "int_sqrt_marks"))
		atomic_long_inc(&slot->wrong);
	if (READ_ONCE(nest)) {
		atomic_long_inc(&slot->nested);
		if (int_sqrt(81) != 9)
			atomic_long_inc(&slot->wrong);
	}
}

static int in_an_nmi(unsigned int type, struct pt_regs *regs)
{
	return int_sqrt(25) == 5 ? NMI_HANDLED : NMI_DONE;
}

static void send_nmi(void)
{
	preempt_disable();
	test_nmi_send(raw_smp_processor_id());
	preempt_enable();
}

static void call(unsigned long count)
{
	unsigned long i;

	for (i = 0; i < count; i++)
		if (int_sqrt(i * i) != i)
			pr_err("pp_marks: the root of %lu is %lu\n", i * i, int_sqrt(i * i));
}

static int caller(void *data)
{
	while (!kthread_should_stop()) {
		call(MANY);
		if (READ_ONCE(nmis))
			send_nmi();
		cond_resched();
	}
	return 0;
}

static void storm(unsigned int rounds)
{
	struct task_struct *tasks[8] = {};
	unsigned int i, failed = 0;

	for (i = 0; i < ARRAY_SIZE(tasks) && i < num_online_cpus(); i++) {
		tasks[i] = kthread_run(caller, NULL, "pp_marks/%u", i);
		if (IS_ERR(tasks[i]))
			tasks[i] = NULL;
	}
	for (i = 0; i < rounds; i++) {
		struct slot *slot = &slots[i % SLOTS];
		const char *name = i % 3 ? (i % 3 == 1 ? "int_sqrt_entry" : NULL) : "int_sqrt_return";

		WRITE_ONCE(slot->gone, false);
		failed += do_register(name, probe, slot) != 0;
		if (i % 5)
			usleep_range(100, 2000);
		failed += do_unregister(name, probe, slot) != 0;
		WRITE_ONCE(slot->gone, true);
	}
	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		if (tasks[i])
			kthread_stop(tasks[i]);
	pr_info("pp_marks: storm: %u rounds, %u failed\n", rounds, failed);
}

static int do_set(const char *value, const struct kernel_param *param)
{
	unsigned int number;
	char name[32];
	int ret;

	if (sscanf(value, "register %u %31s", &number, name) == 2 && number < SLOTS) {
		slots[number].gone = false;
		ret = do_register(strcmp(name, "*") ? name : NULL, probe, &slots[number]);
		pr_info("pp_marks: register: %d\n", ret);
	} else if (sscanf(value, "unregister %u %31s", &number, name) == 2 && number < SLOTS) {
		ret = do_unregister(strcmp(name, "*") ? name : NULL, probe, &slots[number]);
		pr_info("pp_marks: unregister: %d\n", ret);
	} else if (sscanf(value, "call %u", &number) == 1) {
		call(number);
	} else if (sscanf(value, "storm %u", &number) == 1) {
		storm(number);
	} else if (!strncmp(value, "forget", 6)) {
		memset(slots, 0, sizeof(slots));
	} else {
		return -EINVAL;
	}
	return 0;
}

static int slots_get(char *buf, const struct kernel_param *param)
{
	int length = 0, i;

	for (i = 0; i < SLOTS; i++)
		length += scnprintf(buf + length, PAGE_SIZE - length,
				    "%d entries=%ld returns=%ld others=%ld nmis=%ld wrong=%ld late=%ld nested=%ld\n",
				    i, atomic_long_read(&slots[i].entries),
				    atomic_long_read(&slots[i].returns),
				    atomic_long_read(&slots[i].others),
				    atomic_long_read(&slots[i].nmis),
				    atomic_long_read(&slots[i].wrong),
				    atomic_long_read(&slots[i].late),
				    atomic_long_read(&slots[i].nested));
	return length;
}

static const struct kernel_param_ops do_ops = { .set = do_set };
static const struct kernel_param_ops slots_ops = { .get = slots_get };
module_param_cb(do, &do_ops, NULL, 0200);
module_param_cb(slots, &slots_ops, NULL, 0400);

static void put_symbols(void)
{
	if (do_register)
		symbol_put(pokepatch_marker_register);
	if (do_unregister)
		symbol_put(pokepatch_marker_unregister);
	if (mark_text)
		symbol_put(pokepatch_mark_text);
}

static int __init pp_marks_init(void)
{
	int ret = -ENOENT;

	do_register = symbol_get(pokepatch_marker_register);
	do_unregister = symbol_get(pokepatch_marker_unregister);
	mark_text = symbol_get(pokepatch_mark_text);
	if (do_register && do_unregister && mark_text)
		ret = test_nmi_register(in_an_nmi, "pp_marks");
	if (ret)
		put_symbols();
	return ret;
}

static void __exit pp_marks_exit(void)
{
	test_nmi_unregister("pp_marks");
	put_symbols();
}

module_init(pp_marks_init);
module_exit(pp_marks_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Probes for markers, for pokepatch's tests");
