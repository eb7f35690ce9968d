/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For x86_64.c: see struct arch_entries. */
#ifndef POKEPATCH_X86_CALL_CHANGES_H
#define POKEPATCH_X86_CALL_CHANGES_H

#include "object/arch_code.h"

bool x86_call_changes(struct object *object, const struct atom *function, uint64_t *ret);

#endif /* POKEPATCH_X86_CALL_CHANGES_H */
