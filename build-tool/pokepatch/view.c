// SPDX-License-Identifier: GPL-2.0-or-later
/* A history for subcommands; see view.h. */
#include <string.h>
#include <unistd.h>

#include "history/export.h"
#include "history/live_text.h"
#include "pokepatch/view.h"

static const char *const clock_names[] = {
	[HISTORY_MONOTONIC] = "monotonic",
	[HISTORY_PERF] = "perf",
};

static struct error *read_clock(const struct cli_call *call, enum history_clock *ret)
{
	const char *name = cli_value(call, "clock");

	*ret = HISTORY_MONOTONIC;
	for (size_t i = 0; name && i < ARRAY_SIZE(clock_names); i++) {
		if (strcmp(name, clock_names[i]) == 0) {
			*ret = i;
			return NULL;
		}
	}
	return name ? error_new(STATUS_FAILED, "unknown clock '%s': give monotonic or perf", name)
		    : NULL;
}

const char *view_clock_name(const struct view *view)
{
	return clock_names[view->clock];
}

struct error *view_open(const struct cli_call *call, struct view *ret)
{
	const char *from = cli_value(call, "from");

	*ret = (struct view){.fd = -1};
	TRY(read_clock(call, &ret->clock));
	if (from) {
		TRY(history_read(from, &ret->history));
	} else {
		TRY(live_open(&ret->fd));
		TRY(live_drain(ret->fd, &ret->history));
		TRY(live_symbols(NULL, &ret->history));
	}
	view_settle(ret);
	return NULL;
}

void view_settle(struct view *view)
{
	past_deinit(&view->past);
	symbol_list_deinit(&view->symbols);
	history_past(&view->history, view->clock, &view->past);
	history_symbols(&view->history, view->clock, &view->past, &view->symbols);
}

void view_deinit(struct view *view)
{
	past_deinit(&view->past);
	symbol_list_deinit(&view->symbols);
	history_deinit(&view->history);
	if (view->fd >= 0)
		close(view->fd);
}
