// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switches of the debug build, as module parameters debug_NAME.
 */
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
