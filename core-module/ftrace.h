/* SPDX-License-Identifier: GPL-2.0-only */
/* The ftrace mode: ftrace.c. */
#ifndef POKEPATCH_FTRACE_H
#define POKEPATCH_FTRACE_H

#include <linux/types.h>

struct ftrace_ops;
struct ftrace_regs;

/*
 * Is there an ftrace that can redirect calls?  Without it there is the entry mode alone, and
 * entries are nobody's (alone.c).
 */
#if defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS) || defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)
#define PP_HAS_FTRACE 1
#else
#define PP_HAS_FTRACE 0
#endif

/*
 * What every ops of ours asks for.  PERMANENT: kernel.ftrace_enabled=0 would switch
 * patches off behind our back.  Register access is implied where ftrace passes arguments.
 */
#ifdef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
#define PP_FTRACE_FLAGS (FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_IPMODIFY)
#else
#define PP_FTRACE_FLAGS (FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS)
#endif

/* ftrace calls it for a hooked function: in any context. */
void pp_ftrace_handler(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs);

#if PP_HAS_FTRACE
/* All under pp_mutex; may sleep. */
/*
 * Have ftrace write all sites as its records say, of which those at @ips (or NULL, if there
 * was no memory) may differ from that.  0, or an error.
 */
int pp_ftrace_update(const unsigned long *ips, unsigned int nr);
/* unregister_ftrace_function(), which does not tell if ftrace dies in it: here it is -ENODEV. */
int pp_ftrace_unregister(struct ftrace_ops *which);
/* Register the one ops, if it is not; whether it is. */
int pp_ftrace_start(void);
bool pp_ftrace_registered(void);
void pp_ftrace_stop(void);
/* Take out what could not be taken out.  Return: true if some still could not. */
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
