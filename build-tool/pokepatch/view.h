/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `history` and `text` share: a history, from the kernel or a file, seen by one clock. */
#ifndef POKEPATCH_VIEW_H
#define POKEPATCH_VIEW_H

#include "pokepatch/cli.h"
#include "history/text_history.h"

struct view {
	struct history history;
	enum history_clock clock;
	int fd; /* the device, or -1: the history is from a file */
	struct past past;
	struct symbol_list symbols;
};

/*
 * view_open - by the options --from and --clock: all records that are there, and symbols.
 * view_deinit() also after an error.
 */
struct error *view_open(const struct cli_call *call, struct view *ret);
/* view_settle - make past and symbols of the history, again if they were made before. */
void view_settle(struct view *view);
void view_deinit(struct view *view);

/* "CLOCK_MONOTONIC", "perf". */
const char *view_clock_name(const struct view *view);

#endif /* POKEPATCH_VIEW_H */
