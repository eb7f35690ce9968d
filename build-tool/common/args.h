/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Argument lists for commands, and other lists of strings that end with NULL. */
#ifndef POKEPATCH_ARGS_H
#define POKEPATCH_ARGS_H

#include <stddef.h>

/* A growing argument list that ends with NULL once anything was added. */
struct args {
	char **list; /* owned, and its strings */
	size_t count, room;
};
void args_add(struct args *args, const char *text);
void args_addf(struct args *args, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* args_add_all - add every string of a list that ends with NULL; @list may be NULL. */
void args_add_all(struct args *args, char *const *list);
/*
 * args_add_clean_environment - start a command line with env -i and a few variables.
 *
 * The user's environment would otherwise reach the kernel's Makefiles and the compiler in many
 * ways (CPATH, GCC_EXEC_PREFIX, ...).  TMPDIR is the folder @work, which the caller removes however
 * the run ends.
 */
void args_add_clean_environment(struct args *args, const char *work);
/* args_join - the strings with a separator between them, of the caller; "" if there are none. */
char *args_join(const struct args *args, const char *separator);
void args_deinit(struct args *args);

/* strings_free - free a list that ends with NULL, and its strings; @list may be NULL. */
void strings_free(char **list);

#endif /* POKEPATCH_ARGS_H */
