/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For unit tests of functions that return a struct error. */
#ifndef POKEPATCH_TEST_ERRORS_H
#define POKEPATCH_TEST_ERRORS_H

#include <string.h>

#include "common/util.h"

static inline void assert_no_error(struct error *error)
{
	if (error)
		fail_msg("unexpected error: %s", error->text);
}

/* It has this status, and this text in its own; it is destroyed. */
static inline void assert_error(struct error *error, enum exit_status status, const char *part)
{
	assert_non_null(error);
	assert_int_equal(error->status, status);
	if (!strstr(error->text, part))
		fail_msg("'%s' is not in '%s'", part, error->text);
	error_destroy(error);
}

#endif /* POKEPATCH_TEST_ERRORS_H */
