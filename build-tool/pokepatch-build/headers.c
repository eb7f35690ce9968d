// SPDX-License-Identifier: GPL-2.0-or-later
/* The units that a changed header matters to; see headers.h. */
#include "pokepatch-build/headers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"
#include "pokepatch-build/changes.h"
#include "pokepatch-build/compile.h"
#include "pokepatch-build/header_search.h"
#include "pokepatch-build/shadow_tree.h"

/* So many units are preprocessed before their texts are compared and removed. */
#define BATCH 32

/* ---- the users -------------------------------------------------------------- */

static enum kind kind_of(const struct search *search, const struct planned *unit)
{
	/* Of the vDSO's folder, vma.c is a unit of vmlinux. */
	if (source_is_vdso(unit->source) && !map_has(&search->index->units, unit->source))
		return KIND_VDSO;
	/* Whether assembly is linked into vmlinux, its debug information does not tell alike. */
	if (has_suffix(unit->source, ".S"))
		return source_is_special(unit->source) ? KIND_OTHER : KIND_ASSEMBLY;
	return unit->module || map_has(&search->index->units, unit->source) ? KIND_UNIT
									    : KIND_OTHER;
}

/*
 * Find out which candidates are units, and by which names.  kbuild would compile others on request,
 * too, and some of them over the object of a unit: virt/kvm/eventfd.c.
 */
static struct error *plan_candidates(struct search *search, struct candidates *candidates)
{
	struct plan *plan = &search->plan;
	struct map names = {}; /* from a path to a planned unit that is called by a way with ".." */
	VEC(char *) paths = {};
	struct error *error = NULL;

	for (size_t i = 0; i < plan->units.count; i++) {
		if (!strstr(plan->units.list[i].source, "../"))
			continue;
		char *path = path_normalise(plan->units.list[i].source);
		if (!path)
			continue;
		*vec_push(&paths) = path;
		*map_slot(&names, path) = &plan->units.list[i];
	}
	for (size_t i = 0; !error && i < candidates->list.count; i++) {
		struct candidate *candidate = &candidates->list.list[i];
		const struct planned *unit = map_get(&plan->by_source, candidate->source)
						     ?: map_get(&names, candidate->source);

		candidate->planned = unit && !source_is_special(candidate->source);
		candidate->unplanned = !unit;
		if (!unit || !strcmp(unit->source, candidate->source))
			continue;
		free(candidate->source);
		candidate->source = xstrdup(unit->source);
		error = shadow_follow(search->build->shadow, candidate->source);
	}
	for (size_t i = 0; i < paths.count; i++)
		free(paths.list[i]);
	vec_deinit(&paths);
	map_deinit(&names);
	return error;
}

/* The template that kbuild makes lib/raid6/int4.c and its like from: lib/raid6/int.uc. */
static char *template_of(const char *path)
{
	size_t length = strlen(path) - (has_suffix(path, ".c") ? strlen(".c") : 0);

	while (length && isdigit((unsigned char)path[length - 1]))
		length--;
	return xasprintf("%.*s.uc", (int)length, path);
}

/*
 * Does the source include none of the changed headers?  The graph tells it of sources and templates
 * that it has.  In the others that kbuild makes there is data alone.  A source in a folder that the
 * graph leaves out, such as another architecture's, may include any.
 */
static bool is_out_of_reach(const struct search *search, const char *path)
{
	_free_ char *template = NULL;

	if (search->everywhere)
		return false;
	if (!map_has(&search->graph.files, path))
		path = template = template_of(path);
	if (map_has(&search->graph.files, path))
		return !map_has(&search->reached.files, path);
	return !include_graph_leaves_out(path, search->build->arch);
}

static void add_users(struct search *search, const struct candidates *candidates)
{
	struct map known = {};

	for (size_t i = 0; i < candidates->list.count; i++)
		map_slot(&known, candidates->list.list[i].source);
	for (size_t i = 0; i < search->plan.units.count; i++) {
		const struct planned *unit = &search->plan.units.list[i];
		_free_ char *path = path_normalise(unit->source);
		struct user user = {
			.planned = unit,
			.source = unit->source,
			.kind = kind_of(search, unit),
			.known = map_has(&known, unit->source),
		};

		if (user.kind == KIND_OTHER || !path || is_out_of_reach(search, path))
			continue;
		*vec_push(&search->users) = user;
	}
	map_deinit(&known);
}

/* A unit of the source's folder, or else one of vmlinux. */
static const struct planned *find_pattern(const struct search *search, const char *source)
{
	size_t folder = (size_t)(strrchr(source, '/') + 1 - source);

	for (size_t i = 0; i < search->plan.units.count; i++) {
		const struct planned *unit = &search->plan.units.list[i];

		if (!strncmp(unit->source, source, folder) && !strchr(unit->source + folder, '/') &&
		    has_suffix(unit->source, ".c"))
			return unit;
	}
	return map_get(&search->plan.by_source, "init/main.c");
}

static bool makes_constants(const struct search *search, const char *path)
{
	_free_ char *machine = xasprintf("arch/%s/", search->build->arch);

	return !strcmp(path, "kernel/bounds.c") ||
	       (has_prefix(path, machine) && has_suffix(path, "asm-offsets.c"));
}

/*
 * Files that kbuild compiles only for the constants in the compiler's output, for assembly.  The
 * plan has no command for them; they are compiled as the other units of their folders are.
 */
static void add_constants(struct search *search)
{
	for (size_t i = 0; i < search->reached.list.count; i++) {
		const char *file = search->reached.list.list[i];
		const struct planned *pattern =
			makes_constants(search, file) ? find_pattern(search, file) : NULL;

		if (pattern)
			*vec_push(&search->users) = (struct user){
				.planned = pattern, .source = file, .kind = KIND_CONSTANTS};
	}
}

/* ---- commands --------------------------------------------------------------- */

char *search_text_path(const struct search *search, size_t place, enum side side)
{
	return xasprintf("%s/text-%zu-%d", search->build->work, place, side);
}

void search_add_command(const struct search *search, const struct user *user, size_t place,
			enum side side, struct args *ret)
{
	_free_ char *path = search_text_path(search, place, side);
	struct args argv = {};

	plan_add_command(&search->plan, user->planned, &argv);
	if (user->kind != KIND_CONSTANTS)
		preprocess_add_option(search->build, &argv);
	if (user->kind == KIND_ASSEMBLY) {
		args_add_clean_environment(ret, search->build->work);
		args_add_all(ret, argv.list);
		args_add(ret, "-o");
		args_add(ret, path);
		args_add(ret, user->source);
	} else {
		unit_add_command(search->build, argv.list, user->source, side_folder(search->build, side),
				 path, ret);
	}
	args_add(ret, user->kind == KIND_CONSTANTS ? "-S" : "-E");
	args_deinit(&argv);
}

/* ---- running the compiler --------------------------------------------------- */

/*
 * A candidate is compiled anyway: of it only the patched side's line markers are needed, which have
 * the ways that the compiler goes.
 */
static bool needs_side(const struct user *user, enum side side)
{
	return side == SIDE_PATCHED || !user->known;
}

/* Run the commands of a batch; *ret_ok has for each user whether its sides went well. */
static struct error *run_batch(const struct search *search, struct user *const *users, size_t count,
			       bool *ret_ok)
{
	struct proc_command commands[BATCH * SIDES] = {};
	struct proc_result results[BATCH * SIDES] = {};
	struct args args[BATCH * SIDES] = {};
	size_t places[BATCH * SIDES], nr_commands = 0;
	struct error *error;

	for (size_t i = 0; i < count * SIDES; i++) {
		struct args *words = &args[nr_commands];

		ret_ok[i / SIDES] = true;
		if (!needs_side(users[i / SIDES], i % SIDES))
			continue;
		search_add_command(search, users[i / SIDES], i / SIDES, i % SIDES, words);
		commands[nr_commands].argv = (const char *const *)words->list;
		commands[nr_commands].options.dir = side_folder(search->build, i % SIDES);
		places[nr_commands++] = i;
	}
	error = proc_run_all(commands, nr_commands, search->build->options.jobs, results);
	for (size_t i = 0; i < nr_commands; i++) {
		ret_ok[places[i] / SIDES] &= !results[i].status;
		if (places[i] % SIDES == SIDE_ORIGINAL)
			users[places[i] / SIDES]->broken = results[i].status;
		proc_result_deinit(&results[i]);
		args_deinit(&args[i]);
	}
	return error;
}

/* ---- judging the texts ------------------------------------------------------ */

/*
 * Have the shadow follow the ways with ".." that the compiler went, which line markers have.
 * @ret_ways: gets them
 */
static struct error *follow_markers(const struct search *search, const struct text *text,
				    struct args *ret_ways)
{
	const char *at = text->text, *marker;
	struct map known = {};
	struct error *error = NULL;
	size_t length;

	args_deinit(ret_ways);
	while (!error && (marker = search_next_marker(&at, &length))) {
		if (!memmem(marker, length, "../", 3))
			continue;
		_free_ char *path = xstrndup(marker, length);
		if (map_has(&known, path))
			continue;
		args_add(ret_ways, path);
		map_slot(&known, ret_ways->list[ret_ways->count - 1]);
		error = shadow_follow(search->build->shadow, path);
	}
	map_deinit(&known);
	return error;
}

/* Read what was made of a user, and remove it.  The caller frees the texts, after errors, too. */
static struct error *take_texts(const struct search *search, const struct user *user, size_t place,
				struct text *ret)
{
	for (int side = 0; side < SIDES; side++) {
		if (!needs_side(user, side))
			continue;
		_free_ char *path = search_text_path(search, place, side);

		TRY(file_read(path, &ret[side].text, &ret[side].length));
		unlink(path);
	}
	return NULL;
}

static bool has_exports(const struct text *text)
{
	return text->text && (memmem(text->text, text->length, "ksymtab", strlen("ksymtab")) ||
			      memmem(text->text, text->length, "export_symbol",
				     strlen("export_symbol")));
}

/* Compare a user's texts, and remove them. */
static struct error *judge(const struct search *search, struct user *user, size_t place, bool ok)
{
	struct text texts[SIDES] = {};
	struct error *error = NULL;

	user->failed = !ok;
	user->compared = ok;
	user->verdict.differs = !ok || user->known;
	user->verdict.exports = !ok;
	if (ok)
		error = take_texts(search, user, place, texts);
	if (!error && ok)
		error = follow_markers(search, &texts[SIDE_PATCHED], &user->verdict.ways);
	if (!error && ok)
		user->verdict.exports =
			has_exports(&texts[SIDE_ORIGINAL]) || has_exports(&texts[SIDE_PATCHED]);
	if (!error && ok && !user->known)
		user->verdict.differs = search_texts_differ(user, texts);
	free(texts[SIDE_ORIGINAL].text);
	free(texts[SIDE_PATCHED].text);
	return error;
}

static struct error *try_batch(const struct search *search, struct user *const *users, size_t count)
{
	bool ok[BATCH] = {};

	TRY(run_batch(search, users, count, ok));
	for (size_t i = 0; i < count; i++)
		TRY(judge(search, users[i], i, ok[i]));
	return NULL;
}

static bool is_to_try(const struct search *search, const struct user *user)
{
	(void)search;
	return user->expected;
}

/* Assembly, its constants and the vDSO cannot be patched, so any change of them is refused. */
static bool is_fixed(const struct search *search, const struct user *user)
{
	(void)search;
	return user->kind != KIND_UNIT && user->named;
}

static bool is_to_preprocess(const struct search *search, const struct user *user)
{
	(void)search;
	return user->kind == KIND_UNIT && user->named && !user->settled && !user->compared &&
	       !user->failed;
}

/* Exports are judged as soon as these are. */
static bool is_exporter(const struct search *search, const struct user *user)
{
	return user->exporter && is_to_preprocess(search, user);
}

bool search_is_to_compile(const struct search *search, const struct user *user)
{
	/* Markers are in the patched side only. */
	return user->kind == KIND_UNIT && user->verdict.differs && !user->known &&
	       !user->verdict.exports && !user->settled && !search->build->options.instrument;
}

static struct error *preprocess_batch(const struct search *search, struct user *const *users,
				      size_t count)
{
	const struct shadow *shadow = search->build->shadow;
	size_t real = shadow->names.count, again = 0;
	struct user *passed[BATCH] = {};

	TRY(try_batch(search, users, count));
	/* The compiler went past changed files by "..", which now leads to the shadow. */
	for (size_t i = 0; i < count; i++)
		if (users[i]->verdict.ways.count || users[i]->failed ||
		    users[i]->kind == KIND_CONSTANTS) /* whose output has no markers */
			passed[again++] = users[i];
	if (shadow->names.count != real)
		TRY(try_batch(search, passed, again));
	for (size_t i = 0; i < count; i++)
		if (!search_is_to_compile(search, users[i]))
			search_keep_verdict(search, users[i]);
	return NULL;
}

/* Compare the objects of users whose texts differ: text may differ in what no code comes of. */
static struct error *compile_batch(const struct search *search, struct user *const *users,
				   size_t count)
{
	struct unit units[BATCH] = {};
	enum trial trials[BATCH];
	struct error *error;

	for (size_t i = 0; i < count; i++)
		search_make_unit(search, users[i], &units[i]);
	error = compile_try(search->build, units, count, trials);
	for (size_t i = 0; i < count; i++) {
		const bool kept = units[i].patched_key; /* the compiler read the right files */

		unit_deinit(&units[i]);
		if (error)
			continue;
		/* Only before its texts are known: after that, what the trial says holds. */
		if (users[i]->expected) {
			users[i]->expected = false;
			users[i]->settled = kept && trials[i] == TRIAL_DIFFERS;
			if (!users[i]->settled) {
				search_forget_verdict(users[i]);
				continue;
			}
		}
		users[i]->verdict.differs = trials[i] != TRIAL_ALIKE;
		users[i]->failed = trials[i] == TRIAL_FAILED;
		search_keep_verdict(search, users[i]);
	}
	return error;
}

/* Run a step for those users that it is for. */
static struct error *
for_users(struct search *search, bool (*is_for)(const struct search *, const struct user *),
	  struct error *(*run)(const struct search *, struct user *const *, size_t))
{
	struct user *batch[BATCH];
	size_t count = 0;

	for (size_t i = 0; i < search->users.count; i++)
		build_expect(search->build, is_for(search, &search->users.list[i]));
	for (size_t i = 0; i < search->users.count; i++) {
		if (!is_for(search, &search->users.list[i]))
			continue;
		batch[count++] = &search->users.list[i];
		if (count == BATCH) {
			TRY(run(search, batch, count));
			for (; count; count--)
				build_step(search->build);
		}
	}
	return count ? run(search, batch, count) : NULL;
}

/*
 * What cannot be preprocessed without the patch may include a file that kbuild makes when it first
 * compiles the unit, or another of its folder: security/selinux/flask.h, crc32table.h of lib.
 */
static bool is_unit_to_retry(const struct search *search, const struct user *user)
{
	(void)search;
	return user->failed && user->kind == KIND_UNIT && (user->known || user->broken);
}

static bool is_fixed_to_retry(const struct search *search, const struct user *user)
{
	(void)search;
	return user->failed && user->kind == KIND_ASSEMBLY;
}

/* Have kbuild make these files, and preprocess again. */
static struct error *retry_failed(struct search *search,
				  bool (*is_to_retry)(const struct search *, const struct user *))
{
	struct args sources = {};
	struct buffer output = {};
	struct error *error = NULL;

	for (size_t i = 0; i < search->users.count; i++)
		if (is_to_retry(search, &search->users.list[i]))
			args_add(&sources, search->users.list[i].source);
	if (sources.count) {
		error = kbuild_compile_objects(search->build, sources.list, &output);
		if (!error)
			error = build_fill_shadow(search->build);
		if (!error)
			error = for_users(search, is_to_retry, preprocess_batch);
	}
	buffer_deinit(&output);
	args_deinit(&sources);
	return error;
}

/* ---- the result ------------------------------------------------------------- */

/* Add all changed headers to a candidate; kbuild's list of what it read decides (units.c). */
static void add_headers(struct build *build, struct candidate *candidate)
{
	for (size_t i = 0; i < build->changes->files.count; i++) {
		struct changed_file *file = &build->changes->files.list[i];

		if (changed_is_header(file))
			*vec_push(&candidate->changed) = file->path;
	}
}

static void add_user(struct search *search, const char *source, struct candidates *candidates)
{
	struct candidate *candidate = vec_push(&candidates->list);

	candidate->source = xstrdup(source);
	candidate->in_vmlinux = map_has(&search->index->units, source);
	candidate->planned = true;
	add_headers(search->build, candidate);
}

/*
 * Tell of vmlinux's units that are reached and that make -n did not print.  Such is
 * init/version-timestamp.c, which is compiled when vmlinux is linked and has no code.
 */
static void note_unplanned(struct search *search)
{
	for (size_t i = 0; i < search->reached.list.count; i++) {
		const char *path = search->reached.list.list[i];

		if (has_suffix(path, ".c") && map_has(&search->index->units, path) &&
		    !map_has(&search->plan.by_source, path))
			build_note(
				search->build,
				"%s: it may include a changed header, and was not looked at: the "
				"kernel's build does not say how it is compiled",
				path);
	}
}

static void take_users(struct search *search, struct candidates *candidates)
{
	size_t taken = 0, named = 0, count = 0;

	for (size_t i = 0; i < candidates->list.count; i++)
		add_headers(search->build, &candidates->list.list[i]);
	for (size_t i = 0; i < search->users.count; i++) {
		const struct user *user = &search->users.list[i];

		count += user->kind == KIND_UNIT;
		named += user->kind == KIND_UNIT && user->named;
		if (user->kind != KIND_UNIT || !user->verdict.differs)
			continue;
		taken++;
		if (user->known)
			continue;
		add_user(search, user->source, candidates);
	}
	note_unplanned(search);
	build_note(search->build,
		   "changed headers may reach %zu unit%s, have names that %zu may mention, and "
		   "matter to the code of %zu",
		   count, count == 1 ? "" : "s", named, taken);
}

/*
 * leave_out() takes the refused commits out and starts again.  Until then, units would be judged
 * with the headers of these commits, in vain.
 */
static bool is_cut_short(const struct search *search)
{
	return search->build->options.leave_out && refusals_fatal(&search->build->refusals);
}

/* Find the users whose source has the word, as almost all have that export something. */
static void find_exporters(struct search *search)
{
	for (size_t i = 0; i < search->users.count; i++) {
		struct user *user = &search->users.list[i];
		_free_ char *path = NULL, *text = NULL;
		size_t length = 0;

		if (!is_to_preprocess(search, user))
			continue;
		path = xasprintf("%s/%s", side_folder(search->build, SIDE_PATCHED), user->source);
		if (!file_exists(path))
			continue;
		error_destroy(file_read(path, &text, &length));
		user->exporter = text && memmem(text, length, "EXPORT_", strlen("EXPORT_"));
	}
}

/* Judge those first that seem to export something: they have most headers refused. */
static struct error *judge_exporters(struct search *search)
{
	find_exporters(search);
	TRY(for_users(search, is_exporter, preprocess_batch));
	return search_judge_exports(search);
}

static struct error *search_users(struct search *search, struct candidates *candidates)
{
	struct build *build = search->build;
	struct changes *changes = build->changes;

	TRY(include_graph_load(build->tree, build->arch, &search->graph));
	TRY(plan_load(build, &search->plan));
	for (size_t i = 0; i < changes->files.count; i++)
		include_graph_change(&search->graph, changes->files.list[i].path,
				     &changes->files.list[i].new_lines);
	for (size_t i = 0; i < changes->files.count; i++)
		if (changed_is_header(&changes->files.list[i]))
			include_graph_reach(&search->graph, changes->files.list[i].path,
					    &search->reached, &search->everywhere);
	for (size_t i = 0; i < search->reached.upward.count; i++)
		TRY(shadow_follow(build->shadow, search->reached.upward.list[i]));
	TRY(plan_candidates(search, candidates));
	TRY(build_fill_shadow(build));
	add_users(search, candidates);
	add_constants(search);
	TRY(search_filter_users(search));
	TRY(search_take_verdicts(search));
	TRY(for_users(search, is_fixed, preprocess_batch));
	TRY(retry_failed(search, is_fixed_to_retry));
	TRY(search_refuse(search));
	build->cut_short = is_cut_short(search);
	if (build->cut_short)
		return NULL;
	TRY(for_users(search, is_to_try, compile_batch));
	if (build->options.leave_out)
		TRY(judge_exporters(search));
	if (!is_cut_short(search)) {
		TRY(for_users(search, is_to_preprocess, preprocess_batch));
		TRY(retry_failed(search, is_unit_to_retry));
		if (!build->options.instrument)
			TRY(search_judge_exports(search));
	}
	if (is_cut_short(search)) {
		search_remember_verdicts(search, false);
		return NULL;
	}
	TRY(for_users(search, search_is_to_compile, compile_batch));
	search_remember_verdicts(search, true);
	take_users(search, candidates);
	return NULL;
}

struct error *headers_add_candidates(struct build *build, const struct source_index *index,
				     struct candidates *candidates)
{
	struct search search = {.build = build, .index = index};
	struct error *error = NULL;
	bool any = false;

	for (size_t i = 0; i < build->changes->files.count; i++)
		any |= changed_is_header(&build->changes->files.list[i]);
	if (any)
		error = search_users(&search, candidates);
	for (size_t i = 0; i < search.users.count; i++) {
		free(search.users.list[i].key);
		args_deinit(&search.users.list[i].verdict.ways);
	}
	vec_deinit(&search.users);
	reached_deinit(&search.reached);
	name_filter_deinit(&search.filter);
	plan_deinit(&search.plan);
	include_graph_deinit(&search.graph);
	return error;
}
