/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors and refusals as values.  A function that can fail returns NULL or a struct error that the
 * caller owns, and gives its results through its last parameters.  No function below main() prints
 * an error or exits.
 */
#ifndef POKEPATCH_ERROR_H
#define POKEPATCH_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* The exit statuses of all programs. */
enum exit_status {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,  /* usage or environment */
	STATUS_REFUSED = 2, /* the change cannot be applied safely */
	STATUS_NOTHING = 3, /* nothing to do */
};

struct error {
	enum exit_status status;
	char *text; /* one line without the newline; several if it quotes a program's output */
};

/*
 * error_new - make an error from a printf format.  The text says what failed, where, and what the
 * user can do about it.
 */
struct error *error_new(enum exit_status status, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/* error_errno - an error "TEXT: strerror(errno)" with STATUS_FAILED. */
struct error *error_errno(const char *format, ...)
	__attribute__((format(printf, 1, 2), warn_unused_result));

/* error_prefix - put "TEXT: " in front of an error's text, and return it; @error may be NULL. */
struct error *error_prefix(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/* error_destroy - free an error; @error may be NULL. */
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
 * A refusal: one reason why a change cannot be applied.  A run collects all refusals that it finds
 * and prints them together.
 */
struct refusal {
	const char *code; /* static: lower-case words joined by hyphens, see refusal.c */
	char *subject;	  /* function, variable, file or section */
	char *location;	  /* "file.c:120", "file.c" or NULL where unknown */
	char *text;	  /* what is wrong, and what the author can do */
	bool warning;	  /* printed and reported, but does not stop the build */
	bool allowed;	  /* would stop the build if the author had not allowed it */
};

/* The author allows a refusal ("code" or "code:subject"): it does not stop the build. */
struct allowance {
	const char *code;
	char *subject; /* NULL: every subject */
	bool used;
};

struct refusals {
	struct refusal *list; /* owned */
	size_t count;
	struct allowance *allowances; /* owned */
	size_t nr_allowances;
};

/* refusals_add - add a refusal.  Strings are copied; @code must be in refusal_codes. */
void refusals_add(struct refusals *refusals, const char *code, const char *location,
		  const char *subject, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* refusals_warn - refusals_add() for a warning, which does not stop the build. */
void refusals_warn(struct refusals *refusals, const char *code, const char *location,
		   const char *subject, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/*
 * refusals_allow - make refusals with this "code" or "code:subject" warnings from now on.  The
 * caller leaves out the part of the change that is refused.  Errors: there is no such code, or it
 * cannot be allowed.
 */
struct error *refusals_allow(struct refusals *refusals, const char *text)
	__attribute__((warn_unused_result));
/* refusals_allowed - has the author allowed this refusal?  If so, the allowance counts as used. */
bool refusals_allowed(struct refusals *refusals, const char *code, const char *subject);
/* refusals_disallow - drop the allowances from index @first on, with a warning for unused ones. */
void refusals_disallow(struct refusals *refusals, size_t first, const char *location);
/* refusals_fatal - the number of refusals that are not warnings. */
size_t refusals_fatal(const struct refusals *refusals);
/* refusals_sort - sort by location, code, subject and text, and drop duplicates. */
void refusals_sort(struct refusals *refusals);
/* refusals_forget - drop those from index @first on: what found them runs again. */
void refusals_forget(struct refusals *refusals, size_t first);
void refusals_deinit(struct refusals *refusals);

/* refusal_codes - every code with its meaning, sorted by code; the last row has a NULL code. */
struct refusal_code {
	const char *code;
	const char *meaning;
	bool allowable; /* the change is sound without the part that is refused */
};
extern const struct refusal_code refusal_codes[];

#endif /* POKEPATCH_ERROR_H */
