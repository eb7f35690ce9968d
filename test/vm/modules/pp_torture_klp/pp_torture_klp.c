// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_torture_klp - a kernel livepatch of one of the functions that pp_torture calls.  The function
 * then returns 9 more, as if a patch with the number 9 were enabled.  The new functions count
 * their calls as those of the patches do (test/vm/torture.bats).
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/gcd.h>
#include <linux/livepatch.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/string.h>

#define MORE 9

static char *function = "";
module_param(function, charp, 0400);

/* The program torture reads this variable by its name. */
static atomic_long_t calls;

static unsigned long counted(void)
{
	atomic_long_inc(&calls);
	return MORE;
}

static u64 new_int_pow(u64 base, unsigned int exp)
{
	u64 result = 1 + counted();

	while (exp) {
		if (exp & 1)
			result *= base;
		exp >>= 1;
		base *= base;
	}
	return result;
}

static unsigned long new_int_sqrt(unsigned long x)
{
	unsigned long bit, root = 0;

	if (x <= 1)
		return x;
	for (bit = 1UL << (__fls(x) & ~1UL); bit; bit >>= 2) {
		const unsigned long next = root + bit;

		root >>= 1;
		if (x >= next) {
			x -= next;
			root += bit;
		}
	}
	return root + counted();
}

static unsigned long new_gcd(unsigned long a, unsigned long b)
{
	if (!a || !b)
		return (a | b) + counted();
	while (b) {
		const unsigned long rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static unsigned long new_lcm(unsigned long a, unsigned long b)
{
	return a && b ? a / gcd(a, b) * b : counted();
}

static const struct klp_func all[] = {
	{ .old_name = "int_pow", .new_func = new_int_pow },
	{ .old_name = "int_sqrt", .new_func = new_int_sqrt },
	{ .old_name = "gcd", .new_func = new_gcd },
	{ .old_name = "lcm", .new_func = new_lcm },
};

/* Init copies one of all[] to the first element. */
static struct klp_func functions[2];

/* Without a name, the object is vmlinux. */
static struct klp_object objects[] = {
	{ .funcs = functions },
	{},
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objects,
};

static int __init pp_torture_klp_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (strcmp(function, all[i].old_name))
			continue;
		functions[0] = all[i];
		return klp_enable_patch(&patch);
	}
	return -EINVAL;
}

/* Runs only after the patch was disabled through sysfs and its transition ended. */
static void __exit pp_torture_klp_exit(void)
{
}

module_init(pp_torture_klp_init);
module_exit(pp_torture_klp_exit);
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("The kernel's livepatch of one function, for the torture");
