// SPDX-License-Identifier: GPL-2.0-or-later
/* Which users may mention what the diffs change, judged by names; see name_filter.h. */
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/header_search.h"
#include "pokepatch-build/shadow_tree.h"

/* Add a file that a unit is compiled from, if the graph has it. */
static void add_path(const struct search *search, const char *path, struct args *ret)
{
	_free_ char *normal = path_normalise(path);

	if (normal && map_has(&search->graph.files, normal))
		args_add(ret, map_get(&search->graph.files, normal));
}

bool search_user_paths(const struct search *search, const struct user *user, struct args *ret)
{
	struct args argv = {};
	bool configured = true;

	plan_add_command(&search->plan, user->planned, &argv);
	for (size_t i = 0; i < argv.count; i++) {
		const char *arg = argv.list[i];

		if (!strcmp(arg, "-include") && i + 1 < argv.count)
			add_path(search, argv.list[i + 1], ret);
		configured &= strncmp(arg, "-DCONFIG_", strlen("-DCONFIG_")) &&
			      strncmp(arg, "-UCONFIG_", strlen("-UCONFIG_"));
	}
	add_path(search, "include/asm-generic/runtime-const.h", ret); /* unit_add_command() */
	add_path(search, user->source, ret);
	args_deinit(&argv);
	return configured;
}

/* The graph's own text of a path, which lives as long as the graph. */
static const char *graph_path(const struct search *search, const char *path)
{
	return map_get(&search->graph.files, path);
}

struct error *search_load_user(const struct search *search, struct name_filter *filter,
			       const struct user *user)
{
	struct args paths = {};
	struct error *error = NULL;

	search_user_paths(search, user, &paths);
	for (size_t i = 0; !error && i < paths.count; i++)
		error = name_filter_load(filter, graph_path(search, paths.list[i]));
	args_deinit(&paths);
	return error;
}

/* name_filter_keeps() for a user that was loaded. */
static bool is_named(const struct search *search, struct name_filter *filter,
		     const struct user *user)
{
	_free_ char *source = path_normalise(user->source);
	struct args paths = {};
	bool named;

	/* The graph leaves out the folders of other architectures, and what kbuild makes. */
	if (!source || !map_has(&search->graph.files, source))
		return true;
	named = !search_user_paths(search, user, &paths) ||
		name_filter_keeps(filter, (const char *const *)paths.list, paths.count);
	args_deinit(&paths);
	return named;
}

/* Names are followed for what is compiled only: assembly has rules of its own. */
static bool follows_names(const struct user *user)
{
	return user->kind == KIND_UNIT && !user->known;
}

struct error *search_filter_users(struct search *search)
{
	struct name_filter *filter = &search->filter;
	struct build *build = search->build;

	TRY(name_filter_init(filter, build->tree, build->changes, NULL, &search->graph));
	for (size_t i = 0; name_filter_any(filter) && i < search->users.count; i++)
		if (search->users.list[i].kind == KIND_UNIT)
			TRY(search_load_user(search, filter, &search->users.list[i]));
	name_filter_decide(filter);
	for (size_t i = 0; i < search->users.count; i++) {
		struct user *user = &search->users.list[i];

		user->named = follows_names(user) ? is_named(search, filter, user)
						  : name_filter_any(filter);
	}
	return NULL;
}
