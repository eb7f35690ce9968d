/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the author changed the source of a function. */
#ifndef POKEPATCH_TOUCHED_H
#define POKEPATCH_TOUCHED_H

#include <stdbool.h>

/*
 * function_is_touched - does a diff write or remove lines of the function, from the line with its
 * name to the end of its body?  If its text cannot be understood, the answer is yes.
 * @context: the struct build; as diff_options has it
 * @location: "fs/foo.c:120" where the original defines it
 * @name: the function's name in the source
 */
bool function_is_touched(void *context, const char *location, const char *name);

#endif /* POKEPATCH_TOUCHED_H */
