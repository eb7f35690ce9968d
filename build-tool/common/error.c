// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors and lists of refusals; see error.h. */
#include "common/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"

struct error *error_new(enum exit_status status, const char *format, ...)
{
	struct error *error = xmalloc(sizeof(*error));
	va_list arguments;

	va_start(arguments, format);
	error->status = status;
	error->text = xvasprintf(format, arguments);
	va_end(arguments);
	return error;
}

struct error *error_errno(const char *format, ...)
{
	int number = errno;
	va_list arguments;

	va_start(arguments, format);
	char *text _free_ = xvasprintf(format, arguments);
	va_end(arguments);
	return error_new(STATUS_FAILED, "%s: %s", text, strerror(number));
}

struct error *error_prefix(struct error *error, const char *format, ...)
{
	if (!error)
		return NULL;

	va_list arguments;
	va_start(arguments, format);
	char *prefix _free_ = xvasprintf(format, arguments);
	va_end(arguments);

	char *text = xasprintf("%s: %s", prefix, error->text);
	free(error->text);
	error->text = text;
	return error;
}

void error_destroy(struct error *error)
{
	if (!error)
		return;
	free(error->text);
	free(error);
}

static void refusals_push(struct refusals *refusals, bool warning, const char *code,
			  const char *location, const char *subject, char *text)
{
	bool allowed = !warning && refusals_allowed(refusals, code, subject);

	refusals->list =
		xreallocarray(refusals->list, refusals->count + 1, sizeof(*refusals->list));
	refusals->list[refusals->count++] = (struct refusal){
		.code = code,
		.subject = one_line(xstrdup(subject)),
		.location = location ? one_line(xstrdup(location)) : NULL,
		.text = one_line(text),
		.warning = warning || allowed,
		.allowed = allowed,
	};
}

void refusals_add(struct refusals *refusals, const char *code, const char *location,
		  const char *subject, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	refusals_push(refusals, false, code, location, subject, xvasprintf(format, arguments));
	va_end(arguments);
}

void refusals_warn(struct refusals *refusals, const char *code, const char *location,
		   const char *subject, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	refusals_push(refusals, true, code, location, subject, xvasprintf(format, arguments));
	va_end(arguments);
}

size_t refusals_fatal(const struct refusals *refusals)
{
	size_t fatal = 0;

	for (size_t i = 0; i < refusals->count; i++)
		fatal += !refusals->list[i].warning;
	return fatal;
}

static int refusal_compare(const void *left, const void *right)
{
	const struct refusal *a = left, *b = right;
	/* "f.c:9" before "f.c:10" */
	int order = strverscmp(a->location ?: "", b->location ?: "");

	if (!order)
		order = strcmp(a->code, b->code);
	if (!order)
		order = strcmp(a->subject, b->subject);
	if (!order)
		order = strcmp(a->text, b->text);
	return order;
}

static void refusal_deinit(struct refusal *refusal)
{
	free(refusal->subject);
	free(refusal->location);
	free(refusal->text);
}

void refusals_sort(struct refusals *refusals)
{
	size_t kept = 0;

	if (refusals->count < 2)
		return;
	qsort(refusals->list, refusals->count, sizeof(*refusals->list), refusal_compare);
	for (size_t i = 1; i < refusals->count; i++) {
		if (refusal_compare(&refusals->list[kept], &refusals->list[i]))
			refusals->list[++kept] = refusals->list[i];
		else
			refusal_deinit(&refusals->list[i]);
	}
	refusals->count = kept + 1;
}

void refusals_forget(struct refusals *refusals, size_t first)
{
	while (refusals->count > first)
		refusal_deinit(&refusals->list[--refusals->count]);
}

void refusals_deinit(struct refusals *refusals)
{
	refusals_forget(refusals, 0);
	for (size_t i = 0; i < refusals->nr_allowances; i++)
		free(refusals->allowances[i].subject);
	free(refusals->allowances);
	free(refusals->list);
	*refusals = (struct refusals){0};
}
