/* SPDX-License-Identifier: GPL-2.0-only */
/* The ftrace mode, in which ftrace's handler reroutes calls: ftrace.c. */
#ifndef POKEPATCH_FTRACE_H
#define POKEPATCH_FTRACE_H

#include <linux/types.h>

struct ftrace_ops;
struct ftrace_regs;

/*
 * Does the kernel have an ftrace that can redirect calls?  Without it the entry mode is the only
 * mode, and entries have no owner (alone.c).
 */
#if defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS) || defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)
#define PP_HAS_FTRACE 1
#else
#define PP_HAS_FTRACE 0
#endif

/*
 * The flags of every ops of the core.  Without PERMANENT, kernel.ftrace_enabled=0 would switch
 * patches off without the core noticing.  Where ftrace passes arguments, an ops may change the
 * instruction pointer without SAVE_REGS.
 */
#ifdef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
#define PP_FTRACE_FLAGS (FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_IPMODIFY)
#else
#define PP_FTRACE_FLAGS (FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS)
#endif

/* ftrace calls this at each call of a hooked function, in any context. */
void pp_ftrace_handler(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs);

#if PP_HAS_FTRACE
/* Callers of all of these hold pp_mutex; all but pp_ftrace_registered() may sleep. */
/*
 * Have ftrace write all sites as its records say.  The @nr sites at @ips may differ from their
 * records, so the history observes these (NULL: there was no memory for the list).
 * Return: 0 or an error.
 */
int pp_ftrace_update(const unsigned long *ips, unsigned int nr);
/*
 * Like unregister_ftrace_function(), but return -ENODEV if ftrace shuts itself down meanwhile,
 * which that function does not report.
 */
int pp_ftrace_unregister(struct ftrace_ops *which);
/* Register the core's ops unless it is registered.  Return: 0 or an error (logged). */
int pp_ftrace_start(void);
bool pp_ftrace_registered(void);
/* Unregister the core's ops if it is registered and no site is unsettled. */
void pp_ftrace_stop(void);
/* Try again to remove sites from the filter.  Return: true if that failed again. */
bool pp_ftrace_retry(void);
#else
static inline int pp_ftrace_update(const unsigned long *ips, unsigned int nr)
{
	return 0;
}

static inline void pp_ftrace_stop(void)
{
}

static inline bool pp_ftrace_retry(void)
{
	return false;
}
#endif

#endif /* POKEPATCH_FTRACE_H */
