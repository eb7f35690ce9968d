// SPDX-License-Identifier: GPL-2.0-only
/*
 * What users may do and see.
 *
 * A file's mode is not enough, because root in a container has uid 0, but may lack capabilities.
 * So capabilities of the initial user namespace decide. CAP_SYS_MODULE decides who may switch
 * patches, as it decides who may load modules.
 */
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/kstrtox.h>
#include <linux/ratelimit.h>
#include <linux/security.h>
#include <linux/user_namespace.h>

#include "access.h"
#include "kernel_symbols.h"

/* May the current task switch patches and change how? */
static bool access_may_switch(void)
{
	return capable(CAP_SYS_MODULE);
}

static int access_set_uint(const char *text, const struct kernel_param *param)
{
	unsigned int value;
	int ret = access_may_switch() ? kstrtouint(text, 0, &value) : -EPERM;

	/* Other tasks read the parameter without a lock, which param_set_uint() does not expect. */
	if (!ret)
		WRITE_ONCE(*(unsigned int *)param->arg, value);
	return ret;
}

const struct kernel_param_ops pp_uint_ops = {
	.set = access_set_uint,
	.get = param_get_uint,
};

bool pp_may_switch_by(const struct file *file)
{
	return access_may_switch() && file_ns_capable(file, &init_user_ns, CAP_SYS_MODULE);
}

bool pp_may_trace(void)
{
	return perfmon_capable();
}

bool pp_may_trace_by(const struct file *file)
{
	return pp_may_trace() && (file_ns_capable(file, &init_user_ns, CAP_PERFMON) ||
				  file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN));
}

bool pp_may_see_tasks(const struct file *file)
{
	return file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);
}

/* As /proc/kallsyms decides, which kernel.kptr_restrict is for. */
__nocfi bool pp_may_see_addresses(const struct file *file)
{
	return pp_kernel.kallsyms_show_value && pp_kernel.kallsyms_show_value(file->f_cred);
}

int pp_may_read_text(void)
{
	return pp_may_trace() ? security_locked_down(LOCKDOWN_PERF) : -EACCES;
}

/* The name of a patch, or of a parent, has no quotation mark and no control character (image.c). */
void pp_audit(const char *name, const char *op, int ret)
{
	if (!audit_enabled)
		return;
	audit_log(audit_context(), GFP_KERNEL, AUDIT_KERNEL_OTHER,
		  "op=pokepatch-%s patch=\"%s\" res=%d", op, name, !ret);
}

void pp_audit_refused(const char *name, const char *module, int ret)
{
	/* Users without rights can have modules loaded, and so refused, as often as they like. */
	static DEFINE_RATELIMIT_STATE(limit, DEFAULT_RATELIMIT_INTERVAL, DEFAULT_RATELIMIT_BURST);

	if (!audit_enabled || (module && !__ratelimit(&limit)))
		return;
	if (module)
		audit_log(audit_context(), GFP_NOWAIT | __GFP_NOWARN, AUDIT_KERNEL_OTHER,
			  "op=pokepatch-load-parent patch=\"%s\" module=\"%s\" res=%d", name, module,
			  !ret);
	else
		audit_log(audit_context(), GFP_NOWAIT | __GFP_NOWARN, AUDIT_KERNEL_OTHER,
			  "op=pokepatch-load patch=\"%s\" res=%d", name, !ret);
}
