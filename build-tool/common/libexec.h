/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef POKEPATCH_LIBEXEC_H
#define POKEPATCH_LIBEXEC_H

#include "common/error.h"

/*
 * libexec_find - the folder, absolute and with a slash at its end, beside that of this program
 * (built or installed) which holds what other programs are to find there by its name.
 * Error: there is none that has it; what to do is said.
 */
struct error *libexec_find(const char *name, char **ret) __attribute__((warn_unused_result));

#endif /* POKEPATCH_LIBEXEC_H */
