/* SPDX-License-Identifier: GPL-2.0-only */
/* The core's version, which main.c gives the module and sysfs shows. */
#ifndef POKEPATCH_MAIN_H
#define POKEPATCH_MAIN_H

#define PP_VERSION "0.1"

#endif /* POKEPATCH_MAIN_H */
