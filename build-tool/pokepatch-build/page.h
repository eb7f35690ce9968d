/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of --html: the explanation, with source and code side by side; one file, no script. */
#ifndef POKEPATCH_PAGE_H
#define POKEPATCH_PAGE_H

#include "pokepatch-build/build.h"

/*
 * page_write - write the page to the file that --html names, if there is one, atomically.  Errors:
 * the file cannot be written; diff(1) cannot be run.
 */
struct error *page_write(const struct build *build);

#endif /* POKEPATCH_PAGE_H */
