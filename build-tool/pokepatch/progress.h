/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Progress of long work, on standard error: on a terminal one line that is
 * rewritten with bytes and percent, otherwise one plain line for each step.
 */
#ifndef POKEPATCH_CLI_PROGRESS_H
#define POKEPATCH_CLI_PROGRESS_H

#include "common/util.h"

struct progress {
	char *what;     /* owned */
	uint64_t total; /* bytes */
	double start;   /* now_seconds() */
	double shown;   /* when the line was written last */
	bool terminal;
};

/* progress_begin - a step that will take total bytes. */
void progress_begin(struct progress *progress, uint64_t total, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* progress_set - so many bytes of it are done. */
void progress_set(struct progress *progress, uint64_t done);
/* progress_end - it is over; what failed is told by its error. */
void progress_end(struct progress *progress, bool success);
/* progress_note - a line of its own. */
void progress_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* size_text - "283.3 MB", in units of 1000 as apt has them; the caller's. */
char *size_text(uint64_t bytes);

#endif /* POKEPATCH_CLI_PROGRESS_H */
