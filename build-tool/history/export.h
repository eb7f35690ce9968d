/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histories in files; FORMAT.md is the format. */
#ifndef POKEPATCH_EXPORT_H
#define POKEPATCH_EXPORT_H

#include "history/text_history.h"

/*
 * history_write - to a file that is there whole or not at all.  The history's records must
 * have come from the device, in this machine's byte order.
 */
struct error *history_write(const struct history *history, const char *path);
/* history_read - Errors: it is no such file, or not as it was written. */
struct error *history_read(const char *path, struct history *ret);

/* Both without files, for tests. */
void history_pack(const struct history *history, struct buffer *ret);
/* @bytes become the history's; @trust: do not look at the sum (the fuzzer's files). */
struct error *history_unpack(uint8_t *bytes, size_t size, bool trust, struct history *ret);

/*
 * history_export_ranges - where text is needed that is still there: functions that records
 * are about, and patches' code; or @all of the kernel and of modules.  Sorted; they do not overlap.
 */
struct history_range {
	uint64_t address, size;
};
struct history_ranges {
	VEC(struct history_range) list;
};
void history_export_ranges(const struct history *history, bool all, struct history_ranges *ret);
/*
 * history_add_base - after the sights of the ranges' text at the end: find what was there in
 * the beginning, and add it as base.
 */
void history_add_base(struct history *history, const struct history_ranges *ranges);
/* history_prune - forget the symbols that no export needs. */
void history_prune(struct history *history, const struct history_ranges *ranges);

#endif /* POKEPATCH_EXPORT_H */
