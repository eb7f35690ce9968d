/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which units may mention what a change of headers changes, judged by names, before anything is
 * preprocessed.
 *
 * From the changed macros and declarations, names lead to the macros and declarations that mention
 * them, to those that mention these, and so on, among the files that a unit may include.  A unit is
 * kept if this leads to a file of its own that is no header, or to something in a header that code
 * need not mention: a variable, a macro whose expansion may declare something.  A condition (#if)
 * leads to all that is in its group.  A unit is kept also if it may include a header whose change
 * is not understood, or one with a changed #include line that is not known to do nothing in the
 * unit (include_order.h).
 */
#ifndef POKEPATCH_NAME_FILTER_H
#define POKEPATCH_NAME_FILTER_H

#include "pokepatch-build/changes.h"
#include "pokepatch-build/include_graph.h"
#include "pokepatch-build/include_order.h"
#include "pokepatch-build/item_changes.h"
#include "pokepatch-build/mention_roles.h"
#include "pokepatch-build/pasted_names.h"

struct name_filter {
	const char *tree;
	const struct changes *changes;
	const struct changes *same; /* files that are so before and after; or NULL */
	const struct include_graph *graph;
	struct item_index index;
	struct include_order order;
	struct pastes pastes;
	VEC(struct filter_file) files;     /* that units may include, and their own */
	struct map by_path;                /* from a path to 1 + the index in files */
	item_list changed;                 /* items */
	VEC(struct filter_name) roots;     /* what the change changes */
	VEC(struct filter_state) states;   /* by name */
	VEC(struct filter_header) headers; /* the index's files */
	VEC(uint32_t) waiting;             /* names */
	name_list pointers;                /* names, while a mention is followed */
	name_list gathered;                /* files of the unit */
	path_list reordered;               /* headers of the unit with changed #include lines */
	uint32_t unit;                     /* the number of the unit that is judged, from 1 */
};

/*
 * name_filter_init - compare the changed headers.  Deinit it after errors, too.
 * @same: NULL, or files that are not as in the tree, but as these are made, if they are not among
 *	changes.  Those may have been changed before, too.
 */
struct error *name_filter_init(struct name_filter *filter, const char *tree,
			       const struct changes *changes, const struct changes *same,
			       const struct include_graph *graph);
void name_filter_deinit(struct name_filter *filter);
/*
 * name_filter_any - may the changes matter to any unit?  Changed comments do not, where lines keep
 * their numbers.  The functions below are of use only if they may.
 */
static inline bool name_filter_any(const struct name_filter *filter)
{
	return filter->changed.count;
}

/*
 * name_filter_load - read what a unit may include; for all units.
 * @path: the source, or a file that the compiler's flags include; lives as long as the filter
 */
struct error *name_filter_load(struct name_filter *filter, const char *path);
/* name_filter_decide - find the changed names when all is loaded. */
void name_filter_decide(struct name_filter *filter);
/*
 * name_filter_keeps - whether the change may matter to a unit that was loaded.
 * @paths: the files that its flags include, and its source, in the order in which they are read
 */
bool name_filter_keeps(struct name_filter *filter, const char *const *paths, size_t count);

/*
 * name_filter_changed - append the changed files among those that a unit may include, which was
 * loaded.  Return: false if they are not known.
 */
bool name_filter_changed(struct name_filter *filter, const char *const *paths, size_t count,
			 path_list *ret);

#endif /* POKEPATCH_NAME_FILTER_H */
