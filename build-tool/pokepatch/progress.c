// SPDX-License-Identifier: GPL-2.0-or-later
/* Progress on standard error; see progress.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pokepatch/progress.h"

#define SHOW_SECONDS 0.2

char *size_text(uint64_t bytes)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB"};
	double size = bytes / 1e3;
	size_t unit = 0;

	while (size >= 1000 && unit + 1 < ARRAY_SIZE(units)) {
		size /= 1000;
		unit++;
	}
	return xasprintf("%.1f %s", size, units[unit]);
}

void progress_begin(struct progress *progress, uint64_t total, const char *format, ...)
{
	va_list arguments;

	*progress = (struct progress){
		.total = total,
		.start = now_seconds(),
		.terminal = isatty(STDERR_FILENO),
	};
	va_start(arguments, format);
	if (vasprintf(&progress->what, format, arguments) < 0)
		progress->what = xstrdup("working");
	va_end(arguments);
	if (progress->terminal)
		progress_set(progress, 0);
	else
		fprintf(stderr, "%s\n", progress->what);
}

void progress_set(struct progress *progress, uint64_t done)
{
	_free_ char *done_text = NULL;
	_free_ char *total_text = NULL;

	if (!progress->terminal || now_seconds() - progress->shown < SHOW_SECONDS)
		return;
	progress->shown = now_seconds();
	if (!progress->total) {
		fprintf(stderr, ERASE_LINE "%s: %.0f s", progress->what,
			now_seconds() - progress->start);
		fflush(stderr);
		return;
	}
	if (done > progress->total)
		done = progress->total;
	done_text = size_text(done);
	total_text = size_text(progress->total);
	fprintf(stderr, ERASE_LINE "%s: %s of %s (%d%%)", progress->what, done_text, total_text,
		(int)(100.0 * done / progress->total));
	fflush(stderr);
}

void progress_end(struct progress *progress, bool success)
{
	if (progress->terminal && success)
		fprintf(stderr, ERASE_LINE "%s: done in %.1f s\n", progress->what,
			now_seconds() - progress->start);
	else if (progress->terminal)
		fprintf(stderr, "\n");
	free(progress->what);
	progress->what = NULL;
}

void progress_note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}
