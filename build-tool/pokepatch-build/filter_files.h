/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that the units of a name filter may include, for name_filter.c and moved_includes.c. */
#ifndef POKEPATCH_FILTER_FILES_H
#define POKEPATCH_FILTER_FILES_H

#include "pokepatch-build/name_filter.h"

/* A file that units may include. */
struct filter_file {
	const char *path;
	bool is_header, loaded;
	bool changed;        /* no header, and a diff changes it */
	bool incomplete;     /* it includes a file that the tree does not have, by "name" */
	bool sure_known;     /* sure is valid */
	uint32_t headers[2]; /* in the index: as it was, and as the diffs make it; or INDEX_NONE */
	uint32_t unit;       /* the last unit that includes it */
	uint32_t search;     /* the last search that met it (moved_includes.c) */
	VEC(uint32_t) includes; /* files */
	VEC(uint32_t) sure;     /* of these, those that it includes whatever the unit is */
	VEC(uint32_t) names;    /* of a file that is no header: all that it has */
};

/*
 * moved_include - whether a changed #include of a header changes nothing but when the names of a
 * few headers are declared.
 *
 * An #include that is added or removed has the units get a header sooner, later, or for the first
 * time.  As C refuses what declares a name otherwise, this matters only where a name of it means
 * something else without it.  It may be a macro that a condition asks for, or one that a file
 * mentions which does not include the header by itself.
 *
 * @file: the header's number in filter->files
 * @item: the #include
 * @ret: gets the macros; a unit of which a file that is no header mentions one is kept
 */
bool moved_include(struct name_filter *filter, uint32_t file, uint32_t item, name_list *ret);

#endif /* POKEPATCH_FILTER_FILES_H */
