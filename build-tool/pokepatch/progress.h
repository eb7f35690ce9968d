/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Progress of long work, on standard error.  A terminal gets one line that is rewritten with bytes
 * and percent, or with the seconds so far; otherwise each step gets a plain line.
 */
#ifndef POKEPATCH_CLI_PROGRESS_H
#define POKEPATCH_CLI_PROGRESS_H

#include "common/util.h"

struct progress {
	char *what;     /* owned */
	uint64_t total; /* bytes */
	double start;   /* now_seconds() */
	double shown;   /* now_seconds() when the line was written last */
	bool terminal;
};

/* progress_begin - begin a step of total bytes; 0: unknown, so the line shows the time. */
void progress_begin(struct progress *progress, uint64_t total, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* progress_set - show that so many bytes are done. */
void progress_set(struct progress *progress, uint64_t done);
/* progress_end - end the step.  After a failure the caller's error says more. */
void progress_end(struct progress *progress, bool success);
/* progress_note - print a line. */
void progress_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* size_text - "283.3 MB", in units of 1000 as in apt.  Owned by the caller. */
char *size_text(uint64_t bytes);

#endif /* POKEPATCH_CLI_PROGRESS_H */
