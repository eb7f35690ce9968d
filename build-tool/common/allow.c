// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allowances: refusals that the author of a patch accepts.  The build leaves out what is refused
 * and goes on with the rest of the change.
 */
#include <stdlib.h>
#include <string.h>

#include "common/util.h"

static const struct refusal_code *find_code(const char *code, size_t length)
{
	for (const struct refusal_code *row = refusal_codes; row->code; row++)
		if (strlen(row->code) == length && !strncmp(row->code, code, length))
			return row;
	return NULL;
}

struct error *refusals_allow(struct refusals *refusals, const char *text)
{
	size_t length = strcspn(text, ":");
	const struct refusal_code *row = find_code(text, length);

	if (!row)
		return error_new(STATUS_FAILED,
				 "there is no code '%.*s'; pokepatch-build(1) lists them",
				 (int)length, text);
	if (!row->allowable)
		return error_new(STATUS_FAILED,
				 "'%s' cannot be allowed: the change would not be safe", row->code);
	if (text[length] && !text[length + 1])
		return error_new(STATUS_FAILED, "no subject after 'code:'");

	refusals->allowances = xreallocarray(refusals->allowances, refusals->nr_allowances + 1,
					     sizeof(*refusals->allowances));
	refusals->allowances[refusals->nr_allowances++] = (struct allowance){
		.code = row->code,
		.subject = text[length] ? xstrdup(text + length + 1) : NULL,
	};
	return NULL;
}

bool refusals_allowed(struct refusals *refusals, const char *code, const char *subject)
{
	bool allowed = false;

	for (size_t i = 0; i < refusals->nr_allowances; i++) {
		struct allowance *allowance = &refusals->allowances[i];

		if (strcmp(allowance->code, code) ||
		    (allowance->subject && strcmp(allowance->subject, subject)))
			continue;
		allowance->used = allowed = true;
	}
	return allowed;
}

void refusals_disallow(struct refusals *refusals, size_t first, const char *location)
{
	for (size_t i = first; i < refusals->nr_allowances; i++) {
		struct allowance *allowance = &refusals->allowances[i];

		if (!allowance->used)
			refusals_warn(refusals, "allow-unused", location,
				      allowance->subject ?: allowance->code,
				      "'%s%s%s' is allowed, but nothing was refused for it",
				      allowance->code, allowance->subject ? ":" : "",
				      allowance->subject ?: "");
		free(allowance->subject);
	}
	if (first < refusals->nr_allowances)
		refusals->nr_allowances = first;
}
