// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_klp - a kernel livepatch of int_pow(), for comparison.  Its new function is that of
 * test/bench/int-pow.patch.  With statfs=1 it is one of security_sb_statfs(), with which statfs() of
 * everything fails with EBADE.
 */
#include <linux/errno.h>
#include <linux/livepatch.h>
#include <linux/math.h>
#include <linux/module.h>

static u64 new_int_pow(u64 base, unsigned int exp)
{
	u64 result = 2;

	while (exp) {
		if (exp & 1)
			result *= base;
		exp >>= 1;
		base *= base;
	}

	return result;
}

static int new_sb_statfs(struct dentry *dentry)
{
	return -EBADE;
}

static bool statfs;
module_param(statfs, bool, 0444);

static struct klp_func functions[] = {
	{ .old_name = "int_pow", .new_func = new_int_pow },
	{},
};

static struct klp_func statfs_functions[] = {
	{ .old_name = "security_sb_statfs", .new_func = new_sb_statfs },
	{},
};

/* Without a name, the object is vmlinux. */
static struct klp_object objects[] = {
	{ .funcs = functions },
	{},
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objects,
};

static int __init pp_klp_init(void)
{
	if (statfs)
		objects[0].funcs = statfs_functions;
	return klp_enable_patch(&patch);
}

/* Runs only after the patch was disabled through sysfs and its transition ended. */
static void __exit pp_klp_exit(void)
{
}

module_init(pp_klp_init);
module_exit(pp_klp_exit);
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("The kernel's livepatch of int_pow, for pokepatch's bench");
