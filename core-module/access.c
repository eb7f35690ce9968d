// SPDX-License-Identifier: GPL-2.0-only
/*
 * What users may do and see.
 *
 * A file's mode is not enough: root in a container has uid 0, but not the capabilities, and its
 * tasks are not all there are.  So the initial user namespace's capabilities decide: for switching
 * those with which modules can be loaded anyway.
 */
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/security.h>
#include <linux/user_namespace.h>

#include "access.h"
#include "kernel_symbols.h"
#include "pp_patch.h"

bool pp_may_switch(void)
{
	return capable(CAP_SYS_MODULE);
}

bool pp_may_switch_by(const struct file *file)
{
	return pp_may_switch() && file_ns_capable(file, &init_user_ns, CAP_SYS_MODULE);
}

bool pp_may_trace(void)
{
	return perfmon_capable();
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

/* A name has no character that would need quoting (image.c). */
void pp_audit(const struct pp_patch *patch, const char *op, int ret)
{
	if (!audit_enabled)
		return;
	audit_log(audit_context(), GFP_KERNEL, AUDIT_KERNEL_OTHER,
		  "op=pokepatch-%s patch=\"%s\" res=%d", op, patch->name, !ret);
}
