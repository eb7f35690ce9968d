// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding the source files that may be units that compile a changed file. */
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/module_source.h"
#include "pokepatch-build/units.h"

/* Deeper than the includes of any unit: two files that include each other end here. */
#define INCLUDE_DEPTH_MAX 16

static void candidate_deinit(struct candidate *candidate)
{
	free(candidate->source);
	vec_deinit(&candidate->changed);
	overlay_destroy(candidate->overlay);
}

void candidates_deinit(struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->list.count; i++)
		candidate_deinit(&candidates->list.list[i]);
	vec_deinit(&candidates->list);
}

static struct candidate *find_candidate(struct candidates *candidates, const char *source)
{
	for (size_t i = 0; i < candidates->list.count; i++)
		if (!strcmp(candidates->list.list[i].source, source))
			return &candidates->list.list[i];
	return NULL;
}

static void add_overlay_file(struct overlay *overlay, const char *path, const char *label)
{
	struct overlay_file *file;

	for (size_t i = 0; i < overlay->files.count; i++)
		if (!strcmp(overlay->files.list[i].path, path))
			return;
	file = vec_push(&overlay->files);
	file->path = xstrdup(path);
	file->label = xstrdup(label);
}

/* The #include lines that lead from a changed file up to the file that is compiled. */
struct chain {
	const struct include *links[INCLUDE_DEPTH_MAX];
	size_t length;
};

static void add_candidate(struct candidates *candidates, const struct source_index *index,
			  const char *source, char *changed, const struct chain *chain)
{
	struct candidate *candidate = find_candidate(candidates, source);

	if (!candidate) {
		candidate = vec_push(&candidates->list);
		candidate->source = xstrdup(source);
		candidate->in_vmlinux = map_has(&index->units, source);
		candidate->included = map_has(&index->included, source);
		candidate->overlay = xcalloc(1, sizeof(*candidate->overlay));
		add_overlay_file(candidate->overlay, source, source);
	}
	*vec_push(&candidate->changed) = changed;
	for (size_t i = chain->length; i-- > 0;)
		add_overlay_file(candidate->overlay, chain->links[i]->path, chain->links[i]->label);
}

/* Add the file at path, the files that include it, and so on up. */
static void add_includers(struct candidates *candidates, const struct source_index *index,
			  const char *path, char *changed, struct chain *chain)
{
	const struct include_list *includes = map_get(&index->included, path);

	if (has_suffix(path, ".c"))
		add_candidate(candidates, index, path, changed, chain);
	if (!includes || chain->length == INCLUDE_DEPTH_MAX)
		return;
	for (size_t i = 0; i < includes->list.count; i++) {
		const struct include *include = &includes->list.list[i];

		chain->links[chain->length++] = include;
		add_includers(candidates, index, include->from, changed, chain);
		chain->length--;
	}
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *first = a, *second = b;

	return strcmp(first->source, second->source);
}

void candidates_find(const struct build *build, const struct source_index *index,
		     struct candidates *ret)
{
	*ret = (struct candidates){};
	for (size_t i = 0; i < build->changes->files.count; i++) {
		char *path = build->changes->files.list[i].path;
		struct chain chain = {};

		if (module_source_has(build, path))
			continue;
		add_includers(ret, index, path, path, &chain);
	}
	if (ret->list.count)
		qsort(ret->list.list, ret->list.count, sizeof(*ret->list.list), compare_candidates);
}
