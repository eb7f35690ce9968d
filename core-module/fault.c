// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults on request, in the debug build: which of the calls that fault.h wraps fail.
 *
 * fault_at selects one call: the fault_at-th since the parameter was written.  A test makes each
 * call fail in turn, until fault_site stays empty, which means that no call was left to fail.
 *
 * fault_in selects a function: all calls in it fail, without being counted.
 *
 * Exiting tasks make calls at any time, so their calls are not counted.  They all fail while
 * fault_exiting is set.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>

#include "fault.h"

static unsigned int fault_at; /* 0: none */
static atomic_t count = ATOMIC_INIT(0);
/*
 * The call that failed last: constant strings.  pp_fault() prints nothing, since it runs in stopped
 * sections too, where the core writes text.
 */
static const char *failed_what, *failed_where;
static atomic_t live = ATOMIC_INIT(0);

static char fault_in[32]; /* empty: none */
module_param_string(fault_in, fault_in, sizeof(fault_in), 0600);
MODULE_PARM_DESC(fault_in, "a function in which all these calls fail");

static bool fault_exiting;
module_param(fault_exiting, bool, 0600);
MODULE_PARM_DESC(fault_exiting, "what exiting tasks allocate fails");

/*
 * Not by strcmp(), which may be the function that is being switched.  If fault_in is written
 * meanwhile, the result is arbitrary, which is harmless.
 */
static __always_inline bool fault_is_in(const char *where)
{
	unsigned int i;

	for (i = 0; i < sizeof(fault_in) - 1 && fault_in[i] && fault_in[i] == where[i]; i++)
		;
	return i && !where[i] && (!fault_in[i] || fault_in[i] == '\n'); /* echo adds a newline */
}

notrace bool pp_fault(const char *what, const char *where)
{
	unsigned int at = READ_ONCE(fault_at);

	if (current->flags & PF_EXITING)
		return READ_ONCE(fault_exiting);
	if (!fault_is_in(where) && (!at || atomic_inc_return(&count) != at))
		return false;
	WRITE_ONCE(failed_where, where);
	WRITE_ONCE(failed_what, what);
	return true;
}
NOKPROBE_SYMBOL(pp_fault);

void *pp_fault_made(void *memory)
{
	if (memory)
		atomic_inc(&live);
	return memory;
}

void pp_fault_freed(const void *memory)
{
	if (memory)
		atomic_dec(&live);
}

static int fault_at_set(const char *text, const struct kernel_param *kp)
{
	unsigned int at;
	int ret = kstrtouint(text, 10, &at);

	if (ret)
		return ret;
	WRITE_ONCE(fault_at, 0);
	atomic_set(&count, 0);
	failed_what = NULL;
	WRITE_ONCE(fault_at, at);
	return 0;
}

static const struct kernel_param_ops fault_at_ops = {
	.set = fault_at_set,
	.get = param_get_uint,
};
module_param_cb(fault_at, &fault_at_ops, &fault_at, 0600);
MODULE_PARM_DESC(fault_at, "which allocation, registration or text write fails, counted from now; 0: none");

static int fault_site_get(char *buf, const struct kernel_param *kp)
{
	const char *what = READ_ONCE(failed_what);

	return what ? scnprintf(buf, PAGE_SIZE, "%s in %s\n", what, failed_where) : 0;
}

static const struct kernel_param_ops fault_site_ops = { .get = fault_site_get };
module_param_cb(fault_site, &fault_site_ops, NULL, 0400);
MODULE_PARM_DESC(fault_site, "what has failed since fault_at was written");

static int fault_live_get(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE, "%d\n", atomic_read(&live));
}

static const struct kernel_param_ops fault_live_ops = { .get = fault_live_get };
module_param_cb(fault_live, &fault_live_ops, NULL, 0400);
MODULE_PARM_DESC(fault_live, "how many pieces of memory the core holds");
