/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiling units before it is known that they are the patch's (headers.c). */
#ifndef POKEPATCH_COMPILE_H
#define POKEPATCH_COMPILE_H

#include "pokepatch-build/build.h"

enum trial {
	TRIAL_FAILED, /* one side does not compile */
	TRIAL_ALIKE,  /* the code is the same but for the numbers in unique names */
	TRIAL_DIFFERS,
};

/*
 * compile_try - compare what both sides of files compile to, whatever their debug information says.
 * @units: source, object and argv are set; COMPILE_TRY_MAX at most
 * @ret: what comes of each
 *
 * The commands are those of compile_units(), which finds the originals and the objects that differ
 * among the kept ones (object_cache.h).  Of an original, its fingerprint is kept, too: later builds
 * compile only the patched side.
 */
#define COMPILE_TRY_MAX 128
struct error *compile_try(struct build *build, struct unit *units, size_t count, enum trial *ret);

#endif /* POKEPATCH_COMPILE_H */
