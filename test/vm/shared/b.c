// SPDX-License-Identifier: GPL-2.0-or-later
/* The other object of pp_shared_b. */
#include <linux/module.h>
#include "pp_shared.h"

static int pp_shared_get_own(char *buffer, const struct kernel_param *param)
{
	return pp_shared_value(buffer, 10);
}

static const struct kernel_param_ops pp_shared_own_ops = { .get = pp_shared_get_own };
module_param_cb(own, &pp_shared_own_ops, NULL, 0444);
