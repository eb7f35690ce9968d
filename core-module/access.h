/* SPDX-License-Identifier: GPL-2.0-only */
/* What users may do and see, and the audit records of what they did: access.c. */
#ifndef POKEPATCH_ACCESS_H
#define POKEPATCH_ACCESS_H

#include <linux/moduleparam.h>
#include <linux/types.h>

struct file;

extern const struct kernel_param_ops pp_uint_ops;
/* As module_param(@name, uint, 0644), but only a task that may switch patches may set it. */
#define pp_param_uint(name)                                 \
	param_check_uint(name, &(name));                    \
	module_param_cb(name, &pp_uint_ops, &(name), 0644); \
	__MODULE_PARM_TYPE(name, "uint")

/*
 * May the current task switch patches and change how, and may the task that opened @file?  That may
 * have passed the file on to this one.
 */
bool pp_may_switch_by(const struct file *file);
/* May the current task trace the kernel? */
bool pp_may_trace(void);
/* The same, and may the task that opened @file? */
bool pp_may_trace_by(const struct file *file);
/* May the task that opened @file see which tasks there are, and where they are? */
bool pp_may_see_tasks(const struct file *file);
/* May the task that opened @file see addresses of the kernel? */
bool pp_may_see_addresses(const struct file *file);
/* May the current task read the kernel's text?  Return: 0, -EACCES, or what the lockdown says. */
int pp_may_read_text(void);

/*
 * Have the kernel's audit log that @op ("enable") was tried on the patch called @name, with @ret, 0
 * or a negative errno.  Does nothing if audit is off.  May sleep for long, where audit's queue is
 * full, so the caller must hold nothing that others wait for.
 */
void pp_audit(const char *name, const char *op, int ret);
/*
 * As pp_audit(), of the load of patch @name that failed with @ret, or of the load of @module, a
 * parent of that patch; or NULL.  For the notifier of modules, which others wait for: the kernel
 * counts the record as lost if audit's queue is full.
 */
void pp_audit_refused(const char *name, const char *module, int ret);

#endif /* POKEPATCH_ACCESS_H */
