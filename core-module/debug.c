// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switches of the debug build, as module parameters debug_NAME.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "debug.h"

#define DEFINE(type, param, name, text)                                   \
	type pp_debug_##name;                                            \
	module_param_named(debug_##name, pp_debug_##name, param, 0600);  \
	MODULE_PARM_DESC(debug_##name, text);
#define DEFINE_SWITCH(name, text) DEFINE(bool, bool, name, text)
#define DEFINE_NUMBER(name, text) DEFINE(unsigned int, uint, name, text)

PP_DEBUG_SWITCHES(DEFINE_SWITCH)
PP_DEBUG_NUMBERS(DEFINE_NUMBER)

static atomic_t paused = ATOMIC_INIT(0);
module_param_named(debug_paused, paused.counter, int, 0400);
MODULE_PARM_DESC(debug_paused, "how many tasks wait at a debug_pause_NAME");

void pp_debug_pause(const bool *on)
{
	if (!READ_ONCE(*on))
		return;
	atomic_inc(&paused);
	while (READ_ONCE(*on))
		msleep(10);
	atomic_dec(&paused);
}
