/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A history of the kernel or of a file, with one clock's times: for `history` and `text`. */
#ifndef POKEPATCH_VIEW_H
#define POKEPATCH_VIEW_H

#include "pokepatch/cli.h"
#include "history/text_history.h"

struct view {
	struct history history;
	enum history_clock clock;
	int fd; /* the device; -1: the history comes from a file */
	struct past past;
	struct symbol_list symbols;
};

/*
 * view_open - read all records and symbols, by the options --from and --clock.  Call view_deinit()
 * after an error too.
 */
struct error *view_open(const struct cli_call *call, struct view *ret);
/* view_settle - make past and symbols from the history, again if they were made before. */
void view_settle(struct view *view);
void view_deinit(struct view *view);

/* view_clock_name - "monotonic" or "perf". */
const char *view_clock_name(const struct view *view);

#endif /* POKEPATCH_VIEW_H */
