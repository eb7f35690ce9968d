/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef POKEPATCH_FINALIZE_H
#define POKEPATCH_FINALIZE_H

#include "pokepatch-build/comparison.h"

/*
 * finalize_object - from the carried code and the glue, linked and seen by
 * objtool, make the object that modpost gets: references that the module
 * loader cannot resolve become rows of our own table, and the tables of
 * pokepatch_format.h are filled in.  report: JSON text for .pokepatch.report.
 */
struct error *finalize_object(struct build *build, const char *in, const char *out,
			      const char *report);

#endif /* POKEPATCH_FINALIZE_H */
