// SPDX-License-Identifier: GPL-2.0-or-later
/* Linked into several modules, each of which has its own copy of everything here. */
#include <linux/module.h>
#include "pp_shared.h"

static int calls;

static noinline int pp_shared_scale(int value)
{
	return value * 3;
}

noinline int pp_shared_value(char *buffer, int value)
{
	calls++;
	return sprintf(buffer, "%s: %d in call %d\n", THIS_MODULE->name, pp_shared_scale(value), calls);
}

static int pp_shared_get(char *buffer, const struct kernel_param *param)
{
	return pp_shared_value(buffer, 1);
}

static const struct kernel_param_ops pp_shared_ops = { .get = pp_shared_get };
module_param_cb(shared, &pp_shared_ops, NULL, 0444);
MODULE_LICENSE("GPL");
