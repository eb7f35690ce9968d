/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running kernel: its text history (/dev/pokepatch_history), its text (/proc/kcore), and
 * its symbols (/proc/kallsyms).
 */
#ifndef POKEPATCH_LIVE_H
#define POKEPATCH_LIVE_H

#include "history/text_history.h"

/* ---- the device ----- */

/* live_open - Errors: the core is not loaded, or we may not. */
struct error *live_open(int *ret_fd);
/*
 * live_read - add records that are there, one read()'s worth.  @wait_ms: how long to wait for
 * the first one (-1: until it comes or we are interrupted, 0: not at all).  @ret_more:
 * something was read; @ret_gone: the core has been removed, and no more will come.
 */
struct error *live_read(int fd, struct history *history, int wait_ms, bool *ret_more,
			bool *ret_gone);
/* live_drain - add all that is there, and say when that was (history->end). */
struct error *live_drain(int fd, struct history *history);

/* ---- text ----------- */

struct kcore_part {
	uint64_t address, size, offset;
};
struct kcore {
	int fd;
	VEC(struct kcore_part) parts; /* by address */
};
/* kcore_open - @path: NULL for /proc/kcore. */
struct error *kcore_open(const char *path, struct kcore *ret);
/* kcore_read - Errors: it is not there, or the kernel does not let us. */
struct error *kcore_read(const struct kcore *kcore, uint64_t address, void *bytes, size_t size);
void kcore_close(struct kcore *kcore);

/* ---- all of it ------ */

/*
 * live_symbols - the names of all functions, and where modules have text, as kallsyms tells.
 * @path: NULL for /proc/kallsyms.
 */
struct error *live_symbols(const char *path, struct history *history);

/* A range of text that is to be read. */
struct live_range {
	uint64_t address, size;
	bool failed; /* it could not be read: it is not there, or changes too often */
};
/*
 * live_sights - look at text, and read what records come meanwhile, until neither of both
 * changes the other; the sights are added to the history.
 */
struct error *live_sights(int fd, struct history *history, struct live_range *ranges,
			  size_t count);

#endif /* POKEPATCH_LIVE_H */
