/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding the image, its tables, modinfo and the report to the linked object. */
#ifndef POKEPATCH_FINALIZE_H
#define POKEPATCH_FINALIZE_H

#include "pokepatch-build/comparison.h"

/*
 * finalize_object - make the object that modpost gets.  Move the references that the module loader
 * cannot resolve into our own table of relocations, and fill in the tables of pokepatch_format.h.
 * @in: path of the included code and the glue, linked and processed by objtool.
 * @out: path of the object to write.
 * @report: JSON text for .pokepatch.report.
 * Errors: STATUS_REFUSED if the core could not make one of the relocations, or the new code needs a
 * symbol that does not exist; STATUS_FAILED if a file cannot be read or written.
 */
struct error *finalize_object(struct build *build, const char *in, const char *out,
			      const char *report);

#endif /* POKEPATCH_FINALIZE_H */
