// SPDX-License-Identifier: GPL-2.0-only
/* Instantiates the tracepoints that trace.h describes. */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "trace.h"
