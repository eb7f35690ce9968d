/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the author changed the source of a function. */
#ifndef POKEPATCH_TOUCHED_H
#define POKEPATCH_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>

struct build;

/* The lines of a function, from the one with its name (or type) to the end of its body. */
struct function_lines {
	const struct changed_file *file;
	size_t first, last;		 /* indexes in file->new_lines */
};

enum touch {
	TOUCH_NONE,
	TOUCH_CHANGED,
	TOUCH_UNKNOWN, /* its file is changed, and its text is not understood: a macro makes it */
};
/*
 * function_touch - what the diffs do to the source of a function.
 * @location, @name: as function_is_touched() has them
 * @ret: the lines, if the answer is TOUCH_CHANGED
 */
enum touch function_touch(const struct build *build, const char *location, const char *name,
			  struct function_lines *ret);

/*
 * function_is_touched - does a diff write or remove lines of the function, from the line with its
 * name to the end of its body?  If its text cannot be understood, the answer is yes.
 * @context: the struct build; as diff_options has it
 * @location: "fs/foo.c:120" where the original defines it
 * @name: the function's name in the source
 */
bool function_is_touched(void *context, const char *location, const char *name);

#endif /* POKEPATCH_TOUCHED_H */
