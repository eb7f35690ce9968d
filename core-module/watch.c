// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watch finds users of a patched function's code that have no effect while it is patched.  At a
 * claimed site these are the tracers, probes, BPF programs and live patches that ftrace has
 * accepted for it.  In every mode they are probes in the body of the old function, which no call
 * reaches.  The kernel does not tell the core when one comes.  So the watch looks after every
 * transition and once a second.  It reports what it finds in sysfs (`mode`) and in the log.
 *
 * The watch also tries again to release sites that linger, and to do what ftrace had no memory for.
 */
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "arch/pp_arch.h"
#include "claim.h"
#include "core_print.h"
#include "direct.h"
#include "entry.h"
#include "ftrace.h"
#include "guard.h"
#include "kernel_symbols.h"
#include "module.h"
#include "pp_patch.h"
#include "site.h"
#include "watch.h"

#define WATCH_PERIOD HZ

static const struct {
	unsigned int kind;
	const char *name, *text;
} kinds[] = {
	{ PP_SHADOWS_TRACER, "tracer", "a tracer" },
	{ PP_SHADOWS_KPROBE, "kprobe", "a probe" },
	{ PP_SHADOWS_BPF, "bpf", "a BPF program" },
	{ PP_SHADOWS_LIVEPATCH, "livepatch", "a kernel live patch" },
};

int pp_shadows_show(unsigned int shadows, char *buf, size_t size)
{
	int len = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (shadows & kinds[i].kind)
			len += scnprintf(buf + len, size - len, "%s%s", len ? "," : "",
					 kinds[i].name);
	return len;
}

/*
 * Is a probe within [@addr, @end)?
 *
 * An armed probe shows in the code.  So ask kprobes only about places that look like one, and not
 * about each byte of each function, every second.  A probe that is not armed has no effect anyway.
 * The watch sees a probe that is just being armed or removed now, or the next time.  The code
 * stays: its module cannot go before pp_mutex is free.
 */
static bool watch_probe_within(unsigned long addr, unsigned long end)
{
	const struct kprobe *probe;
	bool found = false;

	for (; addr < end && !found; addr++) {
		if (!pp_arch.probe.may_be((const u8 *)addr))
			continue;
		preempt_disable();
		probe = pp_get_kprobe(addr);
		found = probe && !pp_guard_is_own(probe);
		preempt_enable();
	}
	return found;
}

/*
 * Is a probe in the old function of @func, behind its entry, or in its .cold part?  (ftrace runs a
 * probe that is at the entry.)
 */
static bool watch_has_probe(const struct pp_func *func)
{
	if (watch_probe_within(func->site->ip + pp_entry_span(), func->old_addr + func->sym->size))
		return true;
	return func->old_cold &&
	       watch_probe_within(func->old_cold,
				  func->old_cold + func->patch->symbols[func->desc->cold].size);
}

static unsigned int watch_shadows_of(const struct pp_func *func)
{
	unsigned int shadows = 0;

	if (func->site->mode == &pp_entry_mode)
		shadows = pp_claim_user_kinds(func->site->ip);
	if (watch_has_probe(func))
		shadows |= PP_SHADOWS_KPROBE;
	return shadows;
}

/*
 * Look at the hooked functions of @patch, and log one line for each kind of new users.  Set *@more
 * if the patch has a hooked function.
 */
static void watch_patch(struct pp_patch *patch, bool *more)
{
	const struct pp_func *first[ARRAY_SIZE(kinds)] = {};
	unsigned int nr[ARRAY_SIZE(kinds)] = {};
	unsigned int i, k;

	for (i = 0; i < patch->nr_funcs; i++) {
		struct pp_func *func = &patch->funcs[i];
		unsigned int shadows, new;

		if (!func->hooked)
			continue;
		*more = true;
		shadows = watch_shadows_of(func);
		new = shadows & ~func->shadows;
		WRITE_ONCE(func->shadows, shadows);
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			if (!(new & kinds[k].kind))
				continue;
			first[k] = first[k] ?: func;
			nr[k]++;
		}
		cond_resched();
	}
	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		if (nr[k])
			pr_notice("%s: %s has no effect on %u function%s while the patch is enabled, the first is %s; see `mode` in sysfs\n",
				  patch->name, kinds[k].text, nr[k], pp_plural(nr[k]), first[k]->name);
}

static void watch_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(watch_work, watch_work_fn);

void pp_watch_later(void)
{
	queue_delayed_work(system_power_efficient_wq, &watch_work, WATCH_PERIOD);
}

void pp_watch_now(void)
{
	struct pp_patch *patch;
	bool more = false;

	lockdep_assert_held(&pp_mutex);
	/* This includes patches that are being enabled, which may take long. */
	list_for_each_entry(patch, &pp_patches, list)
		watch_patch(patch, &more);
	if (pp_sites_linger_retry())
		more = true;
	more |= pp_ftrace_retry();
	more |= pp_direct_retry();
	if (more)
		pp_watch_later();
}

static void watch_work_fn(struct work_struct *work)
{
	mutex_lock(&pp_mutex);
	pp_watch_now();
	mutex_unlock(&pp_mutex);
}

/* No patch is loaded, and no site lingers, so the watch has no reason to start again. */
void pp_watch_exit(void)
{
	cancel_delayed_work_sync(&watch_work);
}
