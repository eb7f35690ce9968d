/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of one unit in the self-check, which cases.c, token.c and explain.c share. */
#ifndef POKEPATCH_SELFCHECK_UNIT_H
#define POKEPATCH_SELFCHECK_UNIT_H

#include "selfcheck.h"

/* A file of the unit: itself, and what it includes that ends with .c. */
struct file {
	const char *label, *path;
	char *text;
};

struct unit_check {
	struct selfcheck *check;
	const struct target *target;
	struct kbuild_unit *answer;
	char *folder, *orig;
	const char *debug; /* how much debugging data */
	VEC(struct file) files;
	struct image image;
	struct functions functions;
	struct parent *parent, *module;
	const char *flag; /* for the compiler, beside the kernel's; or NULL */
	struct buffer *results;
};

/* ---- cases.c --------------------------------------------------------------------- */

/*
 * compile_variant - folder/VARIANT.o from the texts, one for each file, unless it was made
 * from just that.  *ret_ok: it is there; otherwise the compiler's output.
 */
struct error *compile_variant(struct unit_check *unit, const char *variant, char *const *texts,
			      bool *ret_ok, struct buffer *ret_output);
struct error *compile_original_as(struct unit_check *unit, const char *variant, bool *ret_ok);

void problem(struct unit_check *unit, const char *what, const char *kind, const char *subject,
	     const char *text);
extern const char *const change_names[]; /* by enum diff_change */

struct comparison_result {
	struct diff_result result;
	struct refusals refusals;
	struct externals externals;
};
struct error *compare(struct unit_check *unit, const char *patched, const char *out,
		      struct comparison_result *ret);
void comparison_deinit(struct comparison_result *comparison);

/* ---- token.c --------------------------------------------------------------------- */

struct choice {
	uint64_t order;
	size_t place, file;
	struct token_change token;
};

/* The object with a changed token, and what is said about its functions. */
struct token_check {
	struct image image;
	struct functions functions;
	struct map reported;     /* names, as primary symbols */
	struct map expected;     /* those that hold a copy of the changed function */
	VEC(const char *) extra; /* differ, and hold none */
	struct comparison_result comparison;
};

struct error *check_token(struct unit_check *unit);
struct error *compile_choice(struct unit_check *unit, const struct choice *choice,
			     const char *variant, bool *ret_ok);
/* expect_from - note the functions that hold a copy of the changed one. */
void expect_from(const struct functions *functions, const struct image *image,
		 const struct place *changed, struct map *expected);

/* ---- explain.c ------------------------------------------------------------------- */

/* explain_extra - say why functions differ that hold no copy of the changed one. */
struct error *explain_extra(struct unit_check *unit, struct token_check *token,
			    const struct choice *choice);

#endif /* POKEPATCH_SELFCHECK_UNIT_H */
