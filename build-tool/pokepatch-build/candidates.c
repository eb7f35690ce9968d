// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding the source files that may be units that compile a changed file. */
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/headers.h"
#include "pokepatch-build/module_source.h"
#include "pokepatch-build/plan.h"
#include "pokepatch-build/shadow_tree.h"
#include "pokepatch-build/units.h"

/* Deeper than the includes of any unit: two files that include each other end here. */
#define INCLUDE_DEPTH_MAX 16

static void candidate_deinit(struct candidate *candidate)
{
	free(candidate->source);
	vec_deinit(&candidate->changed);
}

void candidates_deinit(struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->list.count; i++)
		candidate_deinit(&candidates->list.list[i]);
	vec_deinit(&candidates->list);
	map_deinit(&candidates->by_source);
}

static struct candidate *find_candidate(struct candidates *candidates, const char *source)
{
	size_t place = (size_t)map_get(&candidates->by_source, source);

	return place ? &candidates->list.list[place - 1] : NULL;
}

static void add_candidate(struct candidates *candidates, const struct source_index *index,
			  const char *source, char *changed)
{
	struct candidate *candidate = find_candidate(candidates, source);

	if (!candidate) {
		candidate = vec_push(&candidates->list);
		candidate->source = xstrdup(source);
		candidate->in_vmlinux = map_has(&index->units, source);
		candidate->included = map_has(&index->included, source);
		*map_slot(&candidates->by_source, candidate->source) =
			(void *)candidates->list.count;
	}
	*vec_push(&candidate->changed) = changed;
}

/* Add the file at path, the files that include it, and so on up. */
static struct error *add_includers(struct build *build, struct candidates *candidates,
				   const struct source_index *index, const char *path,
				   char *changed, size_t depth)
{
	const struct include_list *includes = map_get(&index->included, path);

	if (has_suffix(path, ".c"))
		add_candidate(candidates, index, path, changed);
	if (!includes || depth == INCLUDE_DEPTH_MAX)
		return NULL;
	for (size_t i = 0; i < includes->list.count; i++) {
		const struct include *include = &includes->list.list[i];

		TRY(shadow_follow(build->shadow, include->label));
		TRY(add_includers(build, candidates, index, include->from, changed, depth + 1));
	}
	return NULL;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *first = a, *second = b;

	return strcmp(first->source, second->source);
}

struct error *candidates_find(struct build *build, const struct source_index *index,
			      struct candidates *ret)
{
	*ret = (struct candidates){};
	for (size_t i = 0; i < build->changes->files.count; i++) {
		char *path = build->changes->files.list[i].path;

		if (has_suffix(path, ".c") && !build->changes->files.list[i].outside)
			TRY(add_includers(build, ret, index, path, path, 0));
	}
	map_deinit(&ret->by_source); /* the order changes */
	TRY(headers_add_candidates(build, index, ret));
	if (ret->list.count)
		qsort(ret->list.list, ret->list.count, sizeof(*ret->list.list), compare_candidates);
	return NULL;
}

struct error *candidates_find_upward(const struct build *build, const struct source_index *index,
				     const struct map *lost, struct candidates *ret)
{
	struct plan plan;
	struct error *error = plan_load(build, &plan);

	*ret = (struct candidates){};
	for (size_t i = 0; !error && i < plan.units.count; i++) {
		const char *source = plan.units.list[i].source;
		_free_ char *path = strstr(source, "../") ? path_normalise(source) : NULL;
		const struct changed_file *file =
			path && map_has(lost, path) ? changes_find(build->changes, path) : NULL;

		if (!file)
			continue;
		add_candidate(ret, index, source, file->path);
		ret->list.list[ret->list.count - 1].planned = true;
		error = shadow_follow(build->shadow, source);
	}
	map_deinit(&ret->by_source);
	plan_deinit(&plan);
	return error;
}
