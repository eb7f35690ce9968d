/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fetching what a build finds missing in the cache (work.c). */
#ifndef POKEPATCH_BUILD_FETCH_H
#define POKEPATCH_BUILD_FETCH_H

#include "pokepatch-build/build.h"

/*
 * build_fetch - run 'pokepatch fetch', which prints its progress and its error on our standard
 * error.  The kernel's lock is dropped meanwhile, since a fetch waits until no build holds it:
 * parts of the kernel in the cache may be replaced.
 */
struct error *build_fetch(struct build *build);

#endif /* POKEPATCH_BUILD_FETCH_H */
