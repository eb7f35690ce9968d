// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an oops says of patches, and with it the log in a crash dump: in which patch it happened,
 * and which patches are enabled.  A panic without an oops says the latter.
 *
 * The notifiers run in die() and panic(), in any context, NMIs included, on a machine that may be
 * broken.  So they are RCU readers and take no lock.  A transition on another CPU may change a
 * patch while a notifier reads it, and then the notifier prints the state before that change or
 * after it.
 *
 * panic() calls its notifiers after it has started a crash kernel, if one is loaded: then only what
 * the core wrote about each switch is in the dump's log.
 */
#include <linux/kdebug.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "core_print.h"
#include "crash.h"
#include "module.h"
#include "pp_patch.h"

static bool crash_is_within(unsigned long addr, unsigned long start, unsigned long size)
{
	return addr - start < size;
}

/* The new function of @patch that @addr is in, or NULL. */
static const struct pp_func *crash_find_function(const struct pp_patch *patch, unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < patch->nr_funcs; i++) {
		const struct pokepatch_func *desc = patch->funcs[i].desc;

		if (crash_is_within(addr, desc->new_addr, desc->new_size) ||
		    crash_is_within(addr, desc->new_cold_addr, desc->new_cold_size))
			return &patch->funcs[i];
	}
	return NULL;
}

static void crash_tell(const struct pp_patch *patch, unsigned long addr)
{
	const bool here = crash_is_within(addr, patch->text_start,
					  patch->text_end - patch->text_start);
	const struct pp_func *func = here ? crash_find_function(patch, addr) : NULL;
	const unsigned int order = READ_ONCE(patch->stack_order);
	const unsigned int level = patch->image->level;

	if (here)
		pr_emerg("the oops is in patch %s, level %u, stack order %u%s%s\n", patch->name,
			 level, order, func ? ", function " : "", func ? func->name : "");
	else if (READ_ONCE(patch->enabled))
		pr_emerg("patch %s is enabled, level %u, stack order %u\n", patch->name, level,
			 order);
}

/* Tell of each patch that @addr is in, or that is enabled. */
static void crash_tell_all(unsigned long addr)
{
	const struct pp_patch *patch;

	rcu_read_lock();
	list_for_each_entry_rcu(patch, &pp_patches, list)
		crash_tell(patch, addr);
	rcu_read_unlock();
}

/*
 * When the task began that oopsed last: no two tasks that run began in the same nanosecond, and its
 * struct may be another's by now.  If the oops is fatal, the same task panics because of it, with
 * nothing more to tell.  Oopses on several CPUs take turns in die().
 */
static u64 crash_start_time = U64_MAX;

static int crash_oopsed(struct notifier_block *unused, unsigned long event, void *data)
{
	const struct die_args *args = data;

	if (event != DIE_OOPS || !args->regs)
		return NOTIFY_DONE;
	crash_tell_all(instruction_pointer(args->regs));
	WRITE_ONCE(crash_start_time, current->start_time);
	return NOTIFY_DONE;
}

static int crash_panicked(struct notifier_block *unused, unsigned long event, void *message)
{
	if (READ_ONCE(crash_start_time) != current->start_time)
		crash_tell_all(0); /* no patch is there */
	return NOTIFY_DONE;
}

static struct notifier_block crash_oops_notifier = { .notifier_call = crash_oopsed };
static struct notifier_block crash_panic_notifier = { .notifier_call = crash_panicked };

int __init pp_crash_init(void)
{
	int ret = register_die_notifier(&crash_oops_notifier);

	if (ret)
		return ret;
	ret = atomic_notifier_chain_register(&panic_notifier_list, &crash_panic_notifier);
	if (ret)
		unregister_die_notifier(&crash_oops_notifier);
	return ret;
}

void pp_crash_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &crash_panic_notifier);
	unregister_die_notifier(&crash_oops_notifier);
}
