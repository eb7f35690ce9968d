// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an oops says of patches, and with it the log in a crash dump: in which patch it happened,
 * and which patches are enabled.
 *
 * The notifier runs in die(), in any context, NMIs included, on a machine that may be broken.  So
 * it is an RCU reader and takes no lock.  A transition on another CPU may change a patch while the
 * notifier reads it, and then the notifier prints the state before that change or after it.
 */
#include <linux/kdebug.h>
#include <linux/notifier.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>

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

static int crash_notified(struct notifier_block *unused, unsigned long event, void *data)
{
	const struct die_args *args = data;
	const struct pp_patch *patch;

	if (event != DIE_OOPS || !args->regs)
		return NOTIFY_DONE;
	rcu_read_lock();
	list_for_each_entry_rcu(patch, &pp_patches, list)
		crash_tell(patch, instruction_pointer(args->regs));
	rcu_read_unlock();
	return NOTIFY_DONE;
}

static struct notifier_block crash_notifier = { .notifier_call = crash_notified };

int __init pp_crash_init(void)
{
	return register_die_notifier(&crash_notifier);
}

void pp_crash_exit(void)
{
	unregister_die_notifier(&crash_notifier);
}
