/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors are values.  A function that can fail returns NULL or a struct error
 * that the caller owns; its results go out through last parameters.  Nothing
 * below main() prints or exits.
 */
#ifndef POKEPATCH_ERROR_H
#define POKEPATCH_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* Exit status of all programs. */
enum exit_status {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,  /* usage or environment */
	STATUS_REFUSED = 2, /* the change cannot be applied safely */
	STATUS_NOTHING = 3, /* nothing to do */
};

struct error {
	enum exit_status status;
	char *text; /* one line without the newline, unless it quotes a program's output */
};

/*
 * error_new - a failure with a printf-style text: what failed, where, and what
 * the user can do about it.
 */
struct error *error_new(enum exit_status status, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/* error_errno - "TEXT: strerror(errno)", status STATUS_FAILED; reads errno. */
struct error *error_errno(const char *format, ...)
	__attribute__((format(printf, 1, 2), warn_unused_result));

/* error_prefix - put "TEXT: " in front of an error's text; NULL stays NULL. */
struct error *error_prefix(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/* error_destroy - free; NULL is allowed. */
void error_destroy(struct error *error);

/*
 * TRY - call a function that returns a struct error; if it fails, return that error from the
 * calling function.
 */
#define TRY(call)										   \
	do {											   \
		struct error *_try_error = (call);						   \
		if (_try_error)									   \
			return _try_error;							   \
	} while (0)

/*
 * A refusal: one reason why a change cannot be applied.  All that are found in
 * one run are collected and told together.
 */
struct refusal {
	const char *code; /* static: lower-case words joined by hyphens, see refusal.c */
	char *subject;	  /* function, variable, file or section */
	char *location;	  /* "file.c:120", "file.c" or NULL where unknown */
	char *text;	  /* what is wrong; what the author can do */
	bool warning;	  /* told and reported, but not a reason to stop */
	bool allowed;	  /* a warning only because the author allowed it */
};

/* The author's word that a refusal shall not stop the build: "code" or "code:subject". */
struct allowance {
	const char *code;
	char *subject; /* NULL: any */
	bool used;
};

struct refusals {
	struct refusal *list; /* owned */
	size_t count;
	struct allowance *allowances; /* owned */
	size_t nr_allowances;
};

/* refusals_add - collect one; strings are copied, code must be in the table. */
void refusals_add(struct refusals *refusals, const char *code, const char *location,
		  const char *subject, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* refusals_warn - the same for something that does not stop the build. */
void refusals_warn(struct refusals *refusals, const char *code, const char *location,
		   const char *subject, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/*
 * refusals_allow - from now on, what is refused with this "code" or
 * "code:subject" is a warning, and left undone.  Errors: no such code, or one
 * that cannot be allowed.
 */
struct error *refusals_allow(struct refusals *refusals, const char *text)
	__attribute__((warn_unused_result));
/* refusals_allowed - is there such an allowance?  Then it counts as used. */
bool refusals_allowed(struct refusals *refusals, const char *code, const char *subject);
/* refusals_disallow - forget allowances from the first-th on; warns of those without use. */
void refusals_disallow(struct refusals *refusals, size_t first, const char *location);
/* refusals_fatal - how many are not warnings. */
size_t refusals_fatal(const struct refusals *refusals);
/* refusals_sort - by location, code, subject; equal ones become one. */
void refusals_sort(struct refusals *refusals);
void refusals_deinit(struct refusals *refusals);

/* refusal_codes - every code with its one-line meaning, ends with a NULL code. */
struct refusal_code {
	const char *code;
	const char *meaning;
	bool allowable; /* the rest of the change is sound without what is refused */
};
extern const struct refusal_code refusal_codes[];

#endif /* POKEPATCH_ERROR_H */
