/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the body of a function in the text of a source file. */
#ifndef POKEPATCH_BODY_H
#define POKEPATCH_BODY_H

#include "pokepatch-build/patch.h"

/* Places in the text, as indexes of lines, and of characters within them. */
struct body {
	size_t open_line, open_column;	 /* behind the opening brace */
	size_t close_line, close_column; /* behind the closing one */
};

/*
 * body_find - of the function @name, whose name stands in line number @first (an index), as
 * the compiler says.
 * Return: NULL, or why the text there is not understood; constant.
 */
const char *body_find(const struct text_lines *lines, size_t first, const char *name,
		      struct body *ret);

#endif /* POKEPATCH_BODY_H */
