/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the body of a function in the text of a source file, for --mark-functions. */
#ifndef POKEPATCH_BODY_H
#define POKEPATCH_BODY_H

#include "pokepatch-build/patch.h"

/* Places in the text, as indexes of lines and of characters within them. */
struct body {
	size_t open_line, open_column;	 /* after the opening brace */
	size_t close_line, close_column; /* after the closing brace */
};

/*
 * body_find - find the body of the function @name.
 * @first: index of the line that has the function's name, according to DWARF.
 * Return: NULL, or the reason why the text is not understood; constant.
 */
const char *body_find(const struct text_lines *lines, size_t first, const char *name,
		      struct body *ret);

#endif /* POKEPATCH_BODY_H */
