/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeping line numbers: a change that adds or removes lines moves everything
 * behind it, and __LINE__ is compiled into WARN_ON's table, lockdep's names and
 * much else, so that untouched functions would differ.  #line directives put
 * the numbers back.
 */
#ifndef POKEPATCH_LINES_H
#define POKEPATCH_LINES_H

#include "pokepatch-build/patch.h"

/*
 * lines_mark - write a changed file's text with #line directives, so that each
 * line that was in the file before has the number that it had.
 *
 * A directive stands as early as it can behind a change, but only at the start
 * of a line outside comments, strings, continued lines and parentheses: within
 * a macro's arguments a directive is undefined (C11 6.10.3p11).  A directive in
 * a group that an #if leaves out does nothing, so it is repeated behind the
 * group's #else, #elif and #endif.
 */
void lines_mark(const struct text_lines *lines, struct buffer *ret);

#endif /* POKEPATCH_LINES_H */
