/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeping apart what the new code of several parents calls by one name. */
#ifndef POKEPATCH_NAMES_APART_H
#define POKEPATCH_NAMES_APART_H

#include "pokepatch-build/build.h"

/*
 * names_keep_apart - rename new global functions and variables in the output objects if the units
 * of several parents define one of that name: f becomes f.MODULE, also in the references of that
 * module's other units.  vmlinux keeps its names.
 */
struct error *names_keep_apart(const struct build *build);

#endif /* POKEPATCH_NAMES_APART_H */
