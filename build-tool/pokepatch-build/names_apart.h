/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeping apart what the new code of several parents calls by one name. */
#ifndef POKEPATCH_NAMES_APART_H
#define POKEPATCH_NAMES_APART_H

#include "pokepatch-build/build.h"

/*
 * names_keep_apart - rename new global functions and variables of modules in the output objects, f
 * to f.MODULE, also in the references of that module's other units: if the units of several parents
 * define one of that name, or vmlinux has one.  vmlinux keeps its names.  Refuse a reference to a
 * new one of a module that need not be loaded when the code runs.
 */
struct error *names_keep_apart(struct build *build);

#endif /* POKEPATCH_NAMES_APART_H */
