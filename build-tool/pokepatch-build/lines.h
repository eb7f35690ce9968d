/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeping line numbers.  A change that adds or removes lines moves all later lines of the file, and
 * __LINE__ is compiled into WARN_ON's table, lockdep's names and much else, so that untouched
 * functions would differ.  #line directives restore the old numbers.
 */
#ifndef POKEPATCH_LINES_H
#define POKEPATCH_LINES_H

#include "diff/line_numbers.h"
#include "pokepatch-build/patch.h"

/*
 * text_lines_join_numbered - append a changed file's text with #line directives that give each line
 * of the original file its original number.
 *
 * A directive follows a change as early as possible, but only at the start of a line outside
 * comments, strings, continued lines and parentheses: a directive within a macro's arguments is
 * undefined behaviour (C11 6.10.3p11).  A directive in a group that #if leaves out does nothing, so
 * it is repeated after the group's #else, #elif and #endif.
 */
void text_lines_join_numbered(const struct text_lines *lines, struct buffer *ret);

/*
 * text_lines_numbers - the number that the compiler gives each line of that text, in messages and
 * in debug information.  ret has room for all lines.
 */
void text_lines_numbers(const struct text_lines *lines, size_t *ret);

/* text_lines_origin_before - the origin of the nearest line before an index that has one; or 0. */
size_t text_lines_origin_before(const struct text_lines *lines, size_t index);

/* text_lines_authored - append the numbers that the lines of the diffs have then. */
void text_lines_authored(const struct text_lines *lines, struct authored_lines *ret);

#endif /* POKEPATCH_LINES_H */
