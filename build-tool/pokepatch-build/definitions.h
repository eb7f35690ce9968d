/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where functions and variables are in a source text, by the layout that the kernel's coding style
 * prescribes: a definition begins in the first column, and its last line begins with a brace or
 * ends with a semicolon.  That is enough to tell which lines a message is about.  Nothing that goes
 * into a module depends on it.
 */
#ifndef POKEPATCH_DEFINITIONS_H
#define POKEPATCH_DEFINITIONS_H

#include "pokepatch-build/patch.h"

/* Lines of a text, by index from 0. */
struct line_range {
	size_t first, last;
};

/* An identifier, in a text. */
struct word {
	const char *text;
	size_t length;
};

/* definition_around - the lines of the function or variable that the line at index is part of. */
struct line_range definition_around(const struct text_lines *lines, size_t index);

/*
 * definition_next - find the next definition of a name.
 * @index: of the first line to look at
 * Return: false if there is none; prototypes do not count, but uses in a macro such as
 * EXPORT_SYMBOL(name) do.
 */
bool definition_next(const struct text_lines *lines, const char *name, size_t index,
		     struct line_range *ret);

/*
 * definition_at - does a definition, or a #define, have its name in the line at index?
 * @ret_name: the name; of a macro call in capitals, such as SYSCALL_DEFINE1(dup, ...), the first
 *	argument
 * Return: false also for a declaration, for what a macro defines where it is expanded, and for a
 * line in which no name can be told.
 */
bool definition_at(const struct text_lines *lines, size_t index, struct line_range *ret,
		   struct word *ret_name);

/* line_has_word - does the line have this identifier? */
bool line_has_word(const struct text_line *line, const char *word);

/* word_is - is it this one? */
bool word_is(const struct word *word, const char *text);

/*
 * next_word - find the next identifier of a text, and move *at behind it.
 * Return: false if there is none before end.
 */
bool next_word(const char **at, const char *end, struct word *ret);

#endif /* POKEPATCH_DEFINITIONS_H */
