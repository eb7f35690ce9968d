/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef POKEPATCH_EMIT_H
#define POKEPATCH_EMIT_H

#include "diff/select.h"

/* emit_object - write what a selection carries as a relocatable object. */
struct error *emit_object(struct selection *selection, const char *path);

#endif /* POKEPATCH_EMIT_H */
