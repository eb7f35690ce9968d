// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel's headers declare: probes, one behind each #line, whose file name is the probe's.
 *
 * features.sh has the compiler check this file, and defines PP_HAS_NAME for each probe that
 * compiles. compat.h says what each of these means.  So the core asks for features and never
 * for versions: distributions move features from one version to another.  A probe uses the
 * feature in the form in which compat.h uses it.
 */
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sysfs.h>
#include <linux/trace.h>
#include <linux/tracepoint.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>
#if __has_include(<asm/text-patching.h>)
#include <asm/text-patching.h>
#endif

/* The two probes by which features.sh checks itself. */
#line 1 "ALWAYS"
int features_always(void);
#line 1 "NEVER"
int features_never(void) { return pp_no_such_thing; }

#line 1 "MODULE_MEM"
void *features_module_mem(const struct module *mod);
void *features_module_mem(const struct module *mod) { return mod->mem[MOD_RO_AFTER_INIT].base; }

#line 1 "KALLSYMS_MODULE"
int features_kallsyms(int (*fn)(void *, const char *, struct module *, unsigned long));
int features_kallsyms(int (*fn)(void *, const char *, struct module *, unsigned long)) {
	_Static_assert(__builtin_types_compatible_p(typeof(&kallsyms_on_each_symbol),
						    int (*)(typeof(fn), void *)), "");
	return 0;
}

#line 1 "FTRACE_REGS_SET_IP"
void features_set_ip(struct ftrace_regs *fregs);
void features_set_ip(struct ftrace_regs *fregs) { ftrace_regs_set_instruction_pointer(fregs, 0); }

#line 1 "FTRACE_FL_TOUCHED"
unsigned long features_touched(void);
unsigned long features_touched(void) { return FTRACE_FL_TOUCHED; }

#line 1 "FTRACE_FL_MODIFIED"
unsigned long features_modified(void);
unsigned long features_modified(void) { return FTRACE_FL_MODIFIED; }

#line 1 "RET_STACK_FRAMES"
unsigned long features_ret_stack(const struct task_struct *task);
unsigned long features_ret_stack(const struct task_struct *task) { return task->ret_stack[0].ret; }

#line 1 "RCU_TASKS_EXIT_LIST"
const void *features_exit_list(const struct task_struct *task);
const void *features_exit_list(const struct task_struct *task) { return &task->rcu_tasks_exit_list; }

#line 1 "CONST_BIN_ATTRIBUTE"
ssize_t features_bin_read(struct file *file, struct kobject *kobj, const struct bin_attribute *attr,
			  char *buf, loff_t off, size_t count);
void features_bin_attribute(struct bin_attribute *attr);
void features_bin_attribute(struct bin_attribute *attr) { attr->read = features_bin_read; }

#line 1 "EXIT_GROUP_DEAD"
void features_exit(void (*probe)(void *data, struct task_struct *task, bool group_dead));
void features_exit(void (*probe)(void *data, struct task_struct *task, bool group_dead)) {
	check_trace_callback_type_sched_process_exit(probe);
}

#line 1 "TEXT_POKE_BATCH"
void features_text_poke_batch(u8 *at, const u8 *insn);
void features_text_poke_batch(u8 *at, const u8 *insn) { smp_text_poke_batch_add(at, insn, 5, insn); }

#line 1 "SYSTEM_DFL_WQ"
const void *features_dfl_wq(void);
const void *features_dfl_wq(void) { return system_dfl_wq; }

#line 1 "TRACE_ARRAY_SYSTEMS"
struct trace_array *features_instance(void);
struct trace_array *features_instance(void) { return trace_array_get_by_name("", NULL); }
