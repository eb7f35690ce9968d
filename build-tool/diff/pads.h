/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Indirect calls of the kernel's functions, on kernels with indirect branch tracking. */
#ifndef POKEPATCH_PADS_H
#define POKEPATCH_PADS_H

#include "diff/select.h"

/*
 * pads_judge - refuse the address of a function of the kernel that cannot be called indirectly.
 * @from: included code or data, which holds or makes the address that reference names
 */
struct error *pads_judge(struct selection *selection, const struct atom *from,
			 const struct reference *reference);

#endif /* POKEPATCH_PADS_H */
