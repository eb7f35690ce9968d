// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guard refuses tracers, probes, BPF programs and live patches of code that no call reaches.
 *
 * ftrace counts no users for a claimed site (claim.c), and tells none of them.  A kernel live
 * patch, a BPF program or a probe that comes to such a site would be told that it is attached, and
 * never run.  The same holds, in every mode, for a probe in the body of an old function.  The guard
 * has them fail with -EBUSY instead.
 *
 * The guard has a kprobe at the start of each function of the kernel through which they come,
 * behind the function's ftrace site, where nothing is on the stack yet.  Its handler makes that
 * function return -EBUSY before it has done anything.
 *
 * Function tracers do not come through these functions.  By its name they cannot select a claimed
 * function, which ftrace takes for disabled.  By its number in available_filter_functions they can
 * (`echo 14390 >set_ftrace_filter`): ftrace's add_rec_by_index() does not look at that mark.  It is
 * static, so there may be nothing to probe.  The tracer has no effect then, and the watch reports
 * it.
 *
 * The handler runs in the task that attaches, in a breakpoint's exception, with preemption off.
 * That keeps each site that pp_site_find() returns, and it takes no lock.  So a patch may claim a
 * site just after the handler has looked.  There is no guard while kprobes are switched off
 * (kprobes/enabled in debugfs), nor where kgdb has an I/O driver, nor on a machine without
 * pp_arch.probe.return_early.  In all these cases the watch still reports users that have no
 * effect.
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "detour.h"
#include "entry.h"
#include "guard.h"
#include "kernel_symbols.h"
#include "site.h"

/*
 * A longer list of sites is let through: its user does not ask for one function in particular, and
 * should not lose all of them because of one.  It also bounds the time with preemption off.
 */
#define SITES_MAX 64

/* Is the site at @ip claimed? */
static bool guard_claims(unsigned long ip)
{
	const struct pp_site *site = pp_site_find(ip);

	return site && READ_ONCE(site->mode) == &pp_entry_mode;
}
NOKPROBE_SYMBOL(guard_claims);

/* Have the probed function return -EBUSY.  Return: 1, which tells kprobes so. */
static int guard_refuse(struct pt_regs *regs, const char *what, unsigned long at)
{
	pr_notice_ratelimited("%s %pS is refused to %*pE[%d]: it would have no effect, since a patch has the calls\n",
			      what, (void *)at, (int)strnlen(current->comm, TASK_COMM_LEN),
			      current->comm, task_pid_nr(current));
	pp_arch.probe.return_early(regs, -EBUSY);
	return 1;
}
NOKPROBE_SYMBOL(guard_refuse);

/*
 * ftrace_set_filter_ip(ops, ip, remove, reset): kernel live patches and BPF programs.  kprobes
 * would warn of a failure here, so guard_heard_site_probe() has refused them before.
 */
static int guard_heard_filter(struct kprobe *probe, struct pt_regs *regs)
{
	const struct ftrace_ops *ops = (void *)regs_get_kernel_argument(regs, 0);
	const unsigned long ip = pp_arch.entry.site(regs_get_kernel_argument(regs, 1));
	const int remove = regs_get_kernel_argument(regs, 2);

	if (!ip || remove || ops == pp_kernel.kprobe_ops || ops == pp_kernel.kprobe_ipmodify_ops ||
	    !guard_claims(ip))
		return 0;
	return guard_refuse(regs, "a live patch, BPF program or tracer of", ip);
}
NOKPROBE_SYMBOL(guard_heard_filter);

/* ftrace_set_filter_ips(ops, ips, nr, remove, reset): BPF programs on several functions. */
static int guard_heard_filters(struct kprobe *probe, struct pt_regs *regs)
{
	const unsigned long *ips = (void *)regs_get_kernel_argument(regs, 1);
	const unsigned int nr = regs_get_kernel_argument(regs, 2);
	const int remove = regs_get_kernel_argument(regs, 3);
	unsigned int i;

	if (remove || nr > SITES_MAX)
		return 0;
	for (i = 0; i < nr; i++) {
		const unsigned long ip = pp_arch.entry.site(ips[i]);

		if (ip && guard_claims(ip))
			return guard_refuse(regs, "a BPF program or tracer of", ip);
	}
	return 0;
}
NOKPROBE_SYMBOL(guard_heard_filters);

#ifdef CONFIG_BPF_SYSCALL
/*
 * bpf_trampoline_link_prog(link, trampoline, ...).  Some kernels ignore what ftrace_set_filter_ip()
 * returns here, or have the filter of an earlier program still, or have another filter.
 */
static int guard_heard_trampoline(struct kprobe *probe, struct pt_regs *regs)
{
	const struct bpf_trampoline *trampoline = (void *)regs_get_kernel_argument(regs, 1);
	const unsigned long ip = pp_arch.entry.site((unsigned long)trampoline->func.addr);

	return ip && guard_claims(ip) ? guard_refuse(regs, "a BPF program of", ip) : 0;
}
NOKPROBE_SYMBOL(guard_heard_trampoline);
#endif

/* arch_prepare_kprobe_ftrace(probe): a probe at a site. */
static int guard_heard_site_probe(struct kprobe *probe, struct pt_regs *regs)
{
	const struct kprobe *new = (void *)regs_get_kernel_argument(regs, 0);
	const unsigned long at = (unsigned long)new->addr;

	return guard_claims(at) ? guard_refuse(regs, "a probe at", at) : 0;
}
NOKPROBE_SYMBOL(guard_heard_site_probe);

/* The function that @at lies in, by kallsyms, or 0. */
static __nocfi unsigned long guard_function_of(unsigned long at)
{
	unsigned long size, offset;

	return pp_kernel.kallsyms_lookup_size_offset(at, &size, &offset) ? at - offset : 0;
}
NOKPROBE_SYMBOL(guard_function_of);

/* arch_prepare_kprobe(probe): a probe anywhere else. */
static int guard_heard_probe(struct kprobe *probe, struct pt_regs *regs)
{
	const struct kprobe *new = (void *)regs_get_kernel_argument(regs, 0);
	const unsigned long at = (unsigned long)new->addr;
	const unsigned long func = guard_function_of(at);
	const unsigned long ip = func ? pp_arch.entry.site(func) : 0;
	const struct pp_site *site = NULL;

	if (ip && at >= ip + pp_entry_span())
		site = pp_site_find(ip);
	else if (func && !ip)
		site = pp_detour_site_of(func);
	/* kprobes cannot decode a function whose first instructions are overwritten (detour.c). */
	if (!site || !(site->first ? (unsigned long)READ_ONCE(site->mode) :
				     READ_ONCE(site->target)))
		return 0;
	return guard_refuse(regs, "a probe at", at);
}
NOKPROBE_SYMBOL(guard_heard_probe);

/* kprobes never optimises a probe with a post handler; a detour could not return early. */
static void guard_behind(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}
NOKPROBE_SYMBOL(guard_behind);

static struct guard {
	const unsigned long *func;	/* 0: this kernel has no such function */
	struct kprobe probe;		/* addr is NULL if it is not registered */
} guards[] = {
	{ &pp_kernel.ftrace_set_filter_ip, { .pre_handler = guard_heard_filter } },
	{ &pp_kernel.ftrace_set_filter_ips, { .pre_handler = guard_heard_filters } },
#ifdef CONFIG_BPF_SYSCALL
	{ &pp_kernel.bpf_trampoline_link_prog, { .pre_handler = guard_heard_trampoline } },
#endif
	{ &pp_kernel.arch_prepare_kprobe_ftrace, { .pre_handler = guard_heard_site_probe } },
	{ &pp_kernel.arch_prepare_kprobe, { .pre_handler = guard_heard_probe } },
};

/* The probe is behind its function's ftrace site, so that it works while ftrace is off. */
static int guard_listen(struct guard *guard)
{
	const unsigned long site = pp_arch.entry.site(*guard->func);

	guard->probe.addr = (void *)(site ? site + pp_arch.entry.size : *guard->func);
	guard->probe.post_handler = guard_behind;
	return register_kprobe(&guard->probe);
}

void pp_guard_init(void)
{
	unsigned int i;

	if (!pp_arch.probe.return_early || !pp_kernel.kallsyms_lookup_size_offset)
		return;
	if (pp_arch.probe.taken && pp_arch.probe.taken()) {
		pr_notice("some users of patched functions are reported and not refused: kgdb takes the core's probes for its own\n");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(guards); i++) {
		const int ret = *guards[i].func ? guard_listen(&guards[i]) : 0;

		if (!ret)
			continue;
		pr_notice("some users of patched functions are reported and not refused: %ps cannot be probed (%d)\n",
			  (void *)*guards[i].func, ret);
		guards[i].probe.addr = NULL;
	}
}

bool pp_guard_listens(unsigned long start, unsigned long size)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(guards); i++)
		if (guards[i].probe.addr && (unsigned long)guards[i].probe.addr - start < size)
			return true;
	return false;
}

bool pp_guard_is_own(const struct kprobe *probe)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(guards); i++)
		if (probe == &guards[i].probe)
			return true;
	return false;
}

void pp_guard_patched(unsigned long start, unsigned long size)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(guards); i++) {
		if (!guards[i].probe.addr || *guards[i].func - start >= size)
			continue;
		pr_notice("a patch changes %ps: users of patched functions that come through it are reported and not refused\n",
			  (void *)start);
	}
}

void pp_guard_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(guards); i++)
		if (guards[i].probe.addr)
			unregister_kprobe(&guards[i].probe);
}
