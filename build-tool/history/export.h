/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exported text histories: writing and reading files of the format in FORMAT.md. */
#ifndef POKEPATCH_EXPORT_H
#define POKEPATCH_EXPORT_H

#include "history/text_history.h"

/*
 * history_write - write a history to a file, atomically.  Its records must have come from the
 * device, in this machine's byte order.
 */
struct error *history_write(const struct history *history, const char *path);
/* history_read - read such a file.  Errors: it is of another kind or version, or damaged. */
struct error *history_read(const char *path, struct history *ret);

/* history_pack, history_unpack - the same with bytes in memory instead of files. */
void history_pack(const struct history *history, struct buffer *ret);
/*
 * @bytes: owned by the history from now on, also after an error
 * @trust: do not check size and sum (the fuzzer changes its files)
 */
struct error *history_unpack(uint8_t *bytes, size_t size, bool trust, struct history *ret);

/*
 * history_export_ranges - the ranges of text to read for an export, as far as the text is still
 * there: the functions that records are about and the code of patches, or with @all the whole
 * kernel and all modules.  The ranges are sorted, do not overlap, and have at most 64 KiB each.
 */
struct history_range {
	uint64_t address, size;
};
struct history_ranges {
	VEC(struct history_range) list;
};
void history_export_ranges(const struct history *history, bool all, struct history_ranges *ret);
/*
 * history_add_base - work out the text that was in the ranges at the beginning, and add it as base.
 * The sights of their text at the end must have been added before.
 */
void history_add_base(struct history *history, const struct history_ranges *ranges);
/* history_prune - drop the symbols that lie in none of the ranges. */
void history_prune(struct history *history, const struct history_ranges *ranges);

#endif /* POKEPATCH_EXPORT_H */
