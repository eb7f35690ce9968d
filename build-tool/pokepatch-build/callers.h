/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callers, in code that is not compiled here, of functions whose prototypes change or that go. */
#ifndef POKEPATCH_CALLERS_H
#define POKEPATCH_CALLERS_H

#include "pokepatch-build/build.h"

/*
 * callers_check - after the comparison of all units: refuse functions whose prototype changes while
 * other units call them as they were, and those that the changed units declare with another
 * prototype than their unit has; and functions that are removed while others use them.
 */
struct error *callers_check(struct build *build);

#endif /* POKEPATCH_CALLERS_H */
