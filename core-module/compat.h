/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interfaces that kernels have in different forms, in one form: the rest of the core reads as for
 * one kernel.  Kbuild has the compiler find out which form the kernel has (features.c); the
 * result is features.h.
 */
#ifndef POKEPATCH_COMPAT_H
#define POKEPATCH_COMPAT_H

#include <linux/ftrace.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sysfs.h>
#include <linux/types.h>
#include <linux/vmalloc.h>

#include "features.h"

#if __has_include(<linux/unaligned.h>)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* --- symbols ------------------------------------------------------------------------- */

/*
 * The callback's parameters of kallsyms_on_each_symbol().  Older kernels (before Linux 6.4) pass a
 * module too.  It is NULL, because they also call the callback for symbols of vmlinux only.
 */
#ifdef PP_HAS_KALLSYMS_MODULE
#define PP_SYMBOL_PARAMETERS void *ctx, const char *name, struct module *mod, unsigned long addr
#else
#define PP_SYMBOL_PARAMETERS void *ctx, const char *name, unsigned long addr
#endif

/* Since Linux 6.10 the allocators are macros, which call functions with another name. */
#ifdef __vmalloc_node_range
#define pp_vmalloc_node_range __vmalloc_node_range_noprof
#else
#define pp_vmalloc_node_range __vmalloc_node_range
#endif

/* --- RCU-tasks ----------------------------------------------------------------------- */

/*
 * Does synchronize_rcu_tasks() wait for a task that has left the task list and sleeps before the
 * end of do_exit()?  Since Linux 6.9 the kernel keeps a list of such tasks and treats their sleep
 * as a quiescent state.
 */
#if defined(CONFIG_TASKS_RCU) && !defined(PP_HAS_RCU_TASKS_EXIT_LIST)
#define PP_TASKS_RCU_COVERS_EXIT 1
#else
#define PP_TASKS_RCU_COVERS_EXIT 0
#endif

/* --- tasks --------------------------------------------------------------------------- */

/* A worker of the kernel's for a process, as vhost has them since Linux 6.4. */
#ifdef PF_USER_WORKER
#define PP_PF_USER_WORKER PF_USER_WORKER
#else
#define PP_PF_USER_WORKER 0
#endif

/* --- workqueues ---------------------------------------------------------------------- */

/* The workqueue whose workers are bound to no CPU.  Newer kernels warn of its old name. */
#ifdef PP_HAS_SYSTEM_DFL_WQ
#define pp_unbound_workqueue system_dfl_wq
#else
#define pp_unbound_workqueue system_unbound_wq
#endif

/* --- ftrace -------------------------------------------------------------------------- */

#ifdef CONFIG_DYNAMIC_FTRACE
/*
 * Have the traced function's caller go on at @target.  Without ARGS, the function of ftrace's that
 * should do that does nothing.
 */
static __always_inline void pp_ftrace_set_ip(struct ftrace_regs *fregs, unsigned long target)
{
#if !defined(CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS)
	instruction_pointer_set(ftrace_get_regs(fregs), target);
#elif defined(PP_HAS_FTRACE_REGS_SET_IP)
	ftrace_regs_set_instruction_pointer(fregs, target);
#else
	ftrace_instruction_pointer_set(fregs, target);
#endif
}
#endif

/*
 * Flags of ftrace's records that say what a site has been through, not what it is used for now:
 * ftrace never clears them.  They are constants of an enum, which the preprocessor does not see.
 */
#ifdef PP_HAS_FTRACE_FL_TOUCHED
#define PP_FTRACE_WAS_USED FTRACE_FL_TOUCHED
#else
#define PP_FTRACE_WAS_USED 0UL
#endif
#ifdef PP_HAS_FTRACE_FL_MODIFIED
#define PP_FTRACE_WAS_REDIRECTED FTRACE_FL_MODIFIED
#else
#define PP_FTRACE_WAS_REDIRECTED 0UL
#endif

/*
 * The graph tracer's stack of return addresses: pp_ret_stack_top() entries, of which
 * pp_ret_stack_entry() is, or may be, a return address.  Newer kernels have an array of words, in
 * which frames of several tracers and their data alternate.  Every word counts there: the
 * conservative look at a stack may visit too much, but nothing less.
 */
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
#ifdef PP_HAS_RET_STACK_FRAMES
static inline int pp_ret_stack_top(const struct task_struct *task)
{
	return task->ret_stack ? task->curr_ret_stack + 1 : 0;
}

static inline unsigned long pp_ret_stack_entry(const struct task_struct *task, int i)
{
	return task->ret_stack[i].ret;
}
#else
static inline int pp_ret_stack_top(const struct task_struct *task)
{
	return task->ret_stack ? task->curr_ret_stack : 0;
}

static inline unsigned long pp_ret_stack_entry(const struct task_struct *task, int i)
{
	return task->ret_stack[i];
}
#endif
#endif

/* --- sysfs --------------------------------------------------------------------------- */

/* What the callbacks of a binary file in sysfs get, and what a list of such files points to. */
#ifdef PP_HAS_CONST_BIN_ATTRIBUTE
typedef const struct bin_attribute pp_bin_attribute;
#else
typedef struct bin_attribute pp_bin_attribute;
#endif

/* --- events -------------------------------------------------------------------------- */

/*
 * Fill in a __string() of an event.  The kernel's __assign_str() has had one parameter since
 * Linux 6.10, and two before.
 */
#define pp_trace_string(field, text) memcpy(__get_str(field), text, __get_dynamic_array_len(field))

/* The parameters of a probe of sched_process_exit. */
#ifdef PP_HAS_EXIT_GROUP_DEAD
#define PP_EXIT_PARAMETERS void *data, struct task_struct *task, bool group_dead
#else
#define PP_EXIT_PARAMETERS void *data, struct task_struct *task
#endif

#endif /* POKEPATCH_COMPAT_H */
