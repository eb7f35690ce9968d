/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What verifying one unit gives, as bytes that a worker hands to us (common/worker.h). */
#ifndef POKEPATCH_VERDICT_H
#define POKEPATCH_VERDICT_H

#include "pokepatch-build/comparison.h"

/* One function that was compared with the kernel's. */
struct function_verdict {
	size_t index; /* in the unit's struct diff_result */
	enum diff_verified verified;
	struct buffer hot, cold; /* the verified bytes of both parts as runs, or empty */
};

struct unit_verdict {
	VEC(struct function_verdict) functions;
	struct refusals refusals;
};

void unit_verdict_deinit(struct unit_verdict *verdict);
/* unit_verdict_write - append the verdict as bytes. */
void unit_verdict_write(const struct unit_verdict *verdict, struct buffer *ret);
/*
 * unit_verdict_apply - take over what unit_verdict_write() wrote for the unit at @index: into the
 * functions of its result, the comparison's texts, and the refusals.
 * Errors: the bytes are not whole.
 */
struct error *unit_verdict_apply(struct build *build, size_t index, const struct buffer *bytes);

#endif /* POKEPATCH_VERDICT_H */
