/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether #include lines that changed headers have more, less or elsewhere change nothing for a
 * unit: wherever the unit comes to one of them, it has included that file already.
 *
 * That is known for lines that no #if is around but those that known_conditions.h judges and a
 * header's guard (#ifndef NAME, #define NAME ... #endif).  A line in another #if is followed, too,
 * but what it includes counts as not included yet.
 */
#ifndef POKEPATCH_INCLUDE_ORDER_H
#define POKEPATCH_INCLUDE_ORDER_H

#include "pokepatch-build/include_graph.h"
#include "pokepatch-build/item_changes.h"

struct include_order {
	const struct item_index *index;
	const struct include_graph *graph;
	VEC(struct order_file) files;
	VEC(struct order_line) lines;
	VEC(uint32_t) targets;   /* of lines: files */
	VEC(uint32_t) reordered; /* files with changed lines that the unit may include */
	struct map by_path;      /* from a path to 1 + the index in files */
	bool *changed;           /* for each of the index's items: only one side has it */
	uint32_t unit;           /* the number of the unit that is judged, from 1 */
};

/* include_order_init - the index and the graph live longer. */
void include_order_init(struct include_order *order, const struct item_index *index,
			const struct include_graph *graph);
void include_order_deinit(struct include_order *order);

/*
 * include_order_add - tell of a file that the index has.
 * @sides: its numbers there, as it was and as the diffs make it; or INDEX_NONE
 */
void include_order_add(struct include_order *order, const char *path, const uint32_t sides[2]);
/* include_order_decide - when all is added.  changed: the items that only one side has */
void include_order_decide(struct include_order *order, const item_list *changed);

/*
 * include_order_same - whether the changed lines change nothing for a unit.
 * @paths: the files that the compiler reads by itself, in its order: those of -include, the source
 * @reordered: the headers with changed lines that the unit may include
 */
bool include_order_same(struct include_order *order, const char *const *paths, size_t count,
			const path_list *reordered);

#endif /* POKEPATCH_INCLUDE_ORDER_H */
