/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one kernel of the cache has of a fix. */
#ifndef POKEPATCH_SCAN_SCAN_H
#define POKEPATCH_SCAN_SCAN_H

#include "common/error.h"

enum scan_state {
	SCAN_FIXED,	/* its source has the fix */
	SCAN_AFFECTED,	/* its source lacks the fix, which applies */
	SCAN_NOT_BUILT, /* nothing in this kernel is compiled from the files that the fix changes */
	SCAN_UNCLEAR,	/* its source is neither, or the kernel cannot be looked at */
};

struct scan_result {
	enum scan_state state;
	char *parents; /* "vmlinux, tun"; "" if nothing is known of them; owned */
	char *why;     /* for SCAN_UNCLEAR; or NULL; owned */
};

/*
 * scan_kernel - look whether a fix is in a kernel's source, and what is compiled from its files.
 * @release: a kernel of the cache.  Its prepared tree is used, and made if there is none, which
 *	takes half a minute.
 * @diff: the path of the fix
 * @ret: freed with scan_result_deinit(), after errors too.
 * Errors: a signal interrupted us, or a process cannot be started.  Whatever else goes wrong gives
 * the state SCAN_UNCLEAR.
 */
struct error *scan_kernel(const char *release, const char *diff, struct scan_result *ret)
	__attribute__((warn_unused_result));
void scan_result_deinit(struct scan_result *result);
/* scan_state_name - "has it", for tables; constant. */
const char *scan_state_name(enum scan_state state);

#endif /* POKEPATCH_SCAN_SCAN_H */
