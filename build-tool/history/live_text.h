/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the running kernel: its text history (/dev/pokepatch_history), its text (/proc/kcore) and
 * its symbols (/proc/kallsyms).
 */
#ifndef POKEPATCH_LIVE_TEXT_H
#define POKEPATCH_LIVE_TEXT_H

#include "history/text_history.h"

/* ---- the device ----- */

/* live_open - open the device.  Errors: the core is not loaded, or we lack the permission. */
struct error *live_open(int *ret_fd);
/*
 * live_read - add the records that one read() of the device gives.
 * @wait_ms: how long to wait for the first record; -1: until it comes or a signal interrupts us
 * @ret_more: the read() gave records
 * @ret_gone: the core has been removed, and no more records will come
 */
struct error *live_read(int fd, struct history *history, int wait_ms, bool *ret_more,
			bool *ret_gone);
/*
 * live_drain - add all records that are there.  No record of a time before history->end is missing
 * afterwards.
 */
struct error *live_drain(int fd, struct history *history);

/* ---- text ----------- */

struct kcore_part {
	uint64_t address, size, offset;
};
struct kcore {
	int fd;
	VEC(struct kcore_part) parts; /* by address */
};
/* kcore_open - open a core file of the kernel.  @path: NULL: /proc/kcore */
struct error *kcore_open(const char *path, struct kcore *ret);
/* kcore_read - read text.  Errors: no part has the address, or the kernel refuses the read. */
struct error *kcore_read(const struct kcore *kcore, uint64_t address, void *bytes, size_t size);
void kcore_close(struct kcore *kcore);

/* ---- symbols, sights  */

/*
 * live_symbols - add the symbols of all functions and the ranges of modules' text from kallsyms.
 * @path: NULL: /proc/kallsyms
 */
struct error *live_symbols(const char *path, struct history *history);

/* A range of text to read. */
struct live_range {
	uint64_t address, size;
	bool failed; /* it could not be read: it is gone, or changes too often */
};
/*
 * live_sights - read the text of the ranges, and again those that records changed meanwhile.  Adds
 * each range that was read without a change to the history, as a sight.
 */
struct error *live_sights(int fd, struct history *history, struct live_range *ranges,
			  size_t count);

#endif /* POKEPATCH_LIVE_TEXT_H */
