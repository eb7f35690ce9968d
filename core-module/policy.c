// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy: which modes `auto` may choose.
 *
 *	entry	the cheapest that the function allows.  A function in entry mode has no ftrace site
 *		while it is patched: tracers, probes, BPF programs and kernel live patches that
 *		come to it are refused (guard.c) or reported (watch.c).
 *	coexist	only those in which ftrace keeps the site, for machines where security agents or
 *		monitoring attach to functions at any time.  A call costs more.  (A function without
 *		a site, where only probes could come, is in entry mode all the same: detour.c.)
 *
 * It holds for patches that are enabled, and for parents that come, from then on.  A mode that is
 * asked for by name is not subject to it.  It is set in sysfs (`policy`), and when the core is
 * loaded (`modprobe pokepatch policy=coexist`).
 */
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include <pokepatch_format.h>

#include "access.h"
#include "compat.h"
#include "ftrace.h"
#include "policy.h"
#include "sysfs.h"

enum policy {
	POLICY_ENTRY,
	POLICY_COEXIST,
};

static const char *const policy_names[] = {
	[POLICY_ENTRY] = "entry",
	[POLICY_COEXIST] = "coexist",
};

static enum policy policy; /* one word, and each reader reads it once for each function */

bool pp_policy_allows(u32 mode)
{
	return READ_ONCE(policy) == POLICY_ENTRY || mode != POKEPATCH_MODE_ENTRY;
}

/* Return: 0, -EINVAL for another word, or -EOPNOTSUPP if the kernel has no such ftrace. */
static int policy_set(const char *text)
{
	const int new = sysfs_match_string(policy_names, text);

	if (new == POLICY_COEXIST && !PP_HAS_FTRACE)
		return -EOPNOTSUPP;
	if (new >= 0)
		WRITE_ONCE(policy, new);
	return min(new, 0);
}

static int policy_set_param(const char *text, const struct kernel_param *param)
{
	return policy_set(text);
}

/* Only when the core is loaded: afterwards the file below is there. */
static const struct kernel_param_ops policy_param_ops = {
	.set = policy_set_param,
};
module_param_cb(policy, &policy_param_ops, NULL, 0);
__MODULE_PARM_TYPE(policy, "entry or coexist");
MODULE_PARM_DESC(policy, "which modes `auto' may choose, as /sys/kernel/pokepatch/policy");

static ssize_t policy_read(struct file *file, struct kobject *kobj, pp_bin_attribute *attr,
			   char *buf, loff_t off, size_t count)
{
	char text[16];
	const int length = scnprintf(text, sizeof(text), "%s\n", policy_names[READ_ONCE(policy)]);

	return memory_read_from_buffer(buf, count, &off, text, length);
}

/* Binary, as all files in sysfs that can be written: sysfs.c. */
static ssize_t policy_write(struct file *file, struct kobject *kobj, pp_bin_attribute *attr,
			    char *buf, loff_t off, size_t count)
{
	/* kernfs_fop_write_iter() puts a NUL behind what is written to any file. */
	return pp_may_switch_by(file) ? policy_set(buf) ?: count : -EPERM;
}

static const struct bin_attribute policy_attribute =
	__BIN_ATTR(policy, 0644, policy_read, policy_write, 0);

int __init pp_policy_init(void)
{
	return pp_sysfs_add_file(&policy_attribute);
}

void pp_policy_exit(void)
{
	pp_sysfs_remove_file(&policy_attribute);
}
