/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says in words what a patch does, and why each part of it is there: --explain, and for --html. */
#ifndef POKEPATCH_EXPLAIN_H
#define POKEPATCH_EXPLAIN_H

#include "pokepatch-build/build.h"
#include "pokepatch-build/touched.h"
#include "types/types.h"

struct diff_function;

/* explain_print - print the explanation on standard output, if --explain asks for it. */
void explain_print(const struct build *build);

/* explain_function - add sentences: why a function is in the patch, and what is done. */
void explain_function(const struct build *build, const struct diff_function *function,
		      struct args *ret);
/* explain_touch - function_touch() of the function whose symbol is @name. */
enum touch explain_touch(const struct build *build, const char *location, const char *name,
			 struct function_lines *ret);
/* explain_types - call visit for each type that changed, once; @title: "struct sock". */
typedef void (*explain_type_visit)(void *context, const char *title,
				   const struct type_change *change);
void explain_types(const struct build *build, explain_type_visit visit, void *context);
/* explain_type - what follows from a change of a type, in a few words; constant. */
const char *explain_type(const struct type_change *change);
/* explain_member - one line about a member that changed; the caller frees it. */
char *explain_member(const struct type_change *change, const struct type_member *member);
/* explain_kernel - "6.1.0-56-cloud-amd64 (x86), build id 3f..."; the caller frees it. */
char *explain_kernel(const struct build *build);

#endif /* POKEPATCH_EXPLAIN_H */
