// SPDX-License-Identifier: GPL-2.0-only
/* The glue of a module for the kernel's livepatch core whose author has callbacks. */
#define LIVEPATCH_CALLBACKS
#include "livepatch.c"
