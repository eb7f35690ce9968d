/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a page of --html that show two versions of something, with what differs marked. */
#ifndef POKEPATCH_PAGE_PARTS_H
#define POKEPATCH_PAGE_PARTS_H

#include "pokepatch-build/build.h"

struct changed_file;
struct diff_function;
struct function_lines;

/* page_add_text - append text with the characters escaped that HTML gives a meaning. */
void page_add_text(struct buffer *ret, const char *text, size_t length);
/* page_addf - append a formatted text, all of which is escaped. */
void page_addf(struct buffer *ret, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* page_add_source - append what differs in lines of a changed file, with some lines around it. */
void page_add_source(struct buffer *ret, const struct function_lines *lines);
/* page_add_file - the same of the whole file. */
void page_add_file(struct buffer *ret, const struct changed_file *file);
/*
 * page_add_code - append a function's instructions, old and new.  Errors: diff(1), which pairs
 * them, cannot be run.
 */
struct error *page_add_code(struct buffer *ret, const struct build *build,
			    const struct diff_function *function);

#endif /* POKEPATCH_PAGE_PARTS_H */
