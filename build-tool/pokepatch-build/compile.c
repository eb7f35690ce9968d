// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Phase: compile each unit twice, original and patched.  We run the compiler with kbuild's flags
 * and have it make one section for each function and object.  objtool does not run, because the
 * differ compares the compiler's own output.
 *
 * The original does not depend on the patch, so it is kept in the tree for the next build.  So is
 * what is compiled from the patched files, for builds in which these files are the same: those
 * after a change of another file of the patch, and those without commits that were left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/blame.h"
#include "pokepatch-build/build.h"
#include "pokepatch-build/compile_jobs.h"
#include "pokepatch-build/format.h"
#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/changes.h"
#include "pokepatch-build/comparison.h"
#include "pokepatch-build/module_source.h"
#include "pokepatch-build/modules.h"
#include "pokepatch-build/object_cache.h"
#include "pokepatch-build/shadow_tree.h"
#include "common/proc.h"
#include "proof/proof.h"

static const char *const side_names[SIDES] = {"original", "patched"};

/*
 * Since Linux 6.11 a few variables that never change after boot (the hash table of dentries) are
 * immediate values in the kernel's own code, which the kernel fills in while it boots.  It does not
 * do so for modules.  This header has the macros that read the variables instead, and keeps the
 * machine's header out.
 */
static void add_runtime_const(const struct build *build, struct args *ret)
{
	static const char header[] = "include/asm-generic/runtime-const.h";
	_free_ char *path = xasprintf("%s/%s", build->tree, header);

	if (!file_exists(path))
		return;
	args_add(ret, "-include");
	args_add(ret, header);
}

/*
 * Types are judged by the debug information, whatever of it the kernel or a module is built with:
 * CONFIG_DEBUG_INFO_REDUCED leaves out types of headers, and CONFIG_DEBUG_INFO_SPLIT has all of it
 * in another file.
 */
static const char *const debug_options[] = {"-g", "-gno-split-dwarf", "-gz=none"};

void compile_add_options(const struct build *build, const char *object, struct args *ret)
{
	args_add(ret, "-ffunction-sections");
	args_add(ret, "-fdata-sections");
	for (size_t i = 0; i < ARRAY_SIZE(debug_options); i++)
		args_add(ret, debug_options[i]);
	if (!build->clang)
		args_add(ret, "-femit-struct-debug-detailed=any");
	/* The numbers of the lines are the original's: the compiler would quote others. */
	args_add(ret, build->clang ? "-fno-caret-diagnostics" : "-fno-diagnostics-show-caret");
	args_add(ret, "-c");
	args_add(ret, "-o");
	args_add(ret, object);
}

void unit_add_command(const struct build *build, char *const *argv, const char *source,
		      const char *folder, const char *object, struct args *ret)
{
	args_add_clean_environment(ret, build->work);
	args_add_all(ret, argv);
	if (build->core.sources) {
		args_add(ret, "-idirafter"); /* pokepatch_patch.h */
		args_addf(ret, "%s/include", build->core.sources);
	}
	add_runtime_const(build, ret);
	/* Keep the shadow's name, which differs in each run, out of the object. */
	args_addf(ret, "-fdebug-prefix-map=%s=%s", folder, build->tree);
	compile_add_options(build, object, ret);
	args_add(ret, source);
}

void preprocess_add_option(const struct build *build, struct args *ret)
{
	if (!build->clang)
		args_add(ret, "-ftrack-macro-expansion=0");
}

/*
 * An instrumented build defines POKEPATCH_INSTRUMENT and the user's macros, and includes the
 * markers' header, so that the source need not.  These flags follow the kernel's, whose -include
 * files must come first.
 */
static void add_instrumentation(const struct build *build, struct args *ret)
{
	args_add(ret, "-DPOKEPATCH_INSTRUMENT");
	if (!build->options.format->needs_core)
		args_add(ret, "-DPOKEPATCH_MARK_HITS");
	for (size_t i = 0; i < build->options.defines.count; i++)
		args_addf(ret, "-D%s", build->options.defines.list[i]);
	args_add(ret, "-include");
	args_addf(ret, "%s/include/pokepatch_mark.h", build->core.sources);
	if (build->marks_header) {
		args_add(ret, "-include");
		args_add(ret, build->marks_header);
	}
}

const char *side_folder(const struct build *build, enum side side)
{
	return side == SIDE_PATCHED ? build->shadow->folder : build->tree;
}

/* Make the command for the original of a source that the diffs add: an empty file. */
static struct error *add_empty(const struct build *build, const struct unit *unit,
			       const char *object, struct args *ret)
{
	_free_ char *source = xasprintf("%s/empty.c", build->work);

	TRY(file_write_scratch(source, "", 0));
	unit_add_command(build, unit->argv, source, build->tree, object, ret);
	return NULL;
}

/* Make the command that compiles one side of a unit. */
static struct error *make_command(const struct build *build, const struct unit *unit,
				  enum side side, struct args *ret, char **ret_object)
{
	_free_ char *name = xstrndup(unit->object, strlen(unit->object) - strlen(".o"));
	_free_ char *folder = NULL;

	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = ':';
	folder = xasprintf("%s/%s/%s%s", build->work, side_names[side],
			   unit->outside ? "module:" : "", name);
	TRY(make_dirs(folder));
	*ret_object = xasprintf("%s/unit.o", folder);
	if (unit->is_new && side == SIDE_ORIGINAL)
		return add_empty(build, unit, *ret_object, ret);
	if (unit->outside)
		module_source_add_command(build, unit, side == SIDE_PATCHED, *ret_object, ret);
	else
		unit_add_command(build, unit->argv, unit->source, side_folder(build, side),
				 *ret_object, ret);
	if (side == SIDE_PATCHED) {
		args_addf(ret, "-Wp,-MMD,%s.d", *ret_object);
		if (build->options.instrument)
			add_instrumentation(build, ret);
	}
	return NULL;
}

/* ---- new files -------------------------------------------------------------- */

typedef VEC(const struct changed_file *) changed_list;

/*
 * A path with ".." leads out of the shadow unless shadow_follow() has prepared it: then the
 * compiler has read the file as it was.
 */
static bool is_in_shadow(const struct build *build, const char *way)
{
	_free_ char *path = xasprintf("%s/%s", build->shadow->folder, way);
	_free_ char *real = realpath(path, NULL);

	return real && has_prefix(real, build->shadow->folder) &&
	       real[strlen(build->shadow->folder)] == '/';
}

/*
 * Append the changed files that the compiler has read for a unit's patched side.  It has written
 * what it read as a rule for make: "unit.o: fs/a.c include/b.h \", with lines that go on.
 * @ret_past: if not NULL, set to whether it went past the changed text of one
 */
static struct error *find_read(const struct build *build, const struct unit *unit,
			       changed_list *ret, bool *ret_past)
{
	_free_ char *path = xasprintf("%s.d", unit->patched_object);
	_free_ char *text = NULL;
	char *rest, *word;
	size_t length;

	TRY(file_read(path, &text, &length));
	rest = text;
	while ((word = strsep(&rest, " \\\n"))) {
		_free_ char *name = path_normalise(module_source_name(build, word));
		const struct changed_file *file = name ? changes_find(build->changes, name) : NULL;

		if (unit->outside)
			TRY(module_source_check_read(build, unit, word));
		if (!file)
			continue;
		*vec_push(ret) = file;
		if (ret_past)
			*ret_past |= !is_in_shadow(build, word);
	}
	return NULL;
}

/*
 * Add the new files that the unit's patched side has read to its changed files.
 * @read: gets the new files, which changes owns
 */
static struct error *add_new_files(const struct build *build, struct unit *unit, struct map *read)
{
	changed_list files = {};
	struct error *error = find_read(build, unit, &files, NULL);

	for (size_t i = 0; !error && i < files.count; i++) {
		if (!files.list[i]->created)
			continue;
		map_slot(read, files.list[i]->path);
		unit->changed_files = xreallocarray(unit->changed_files, unit->nr_changed_files + 1,
						    sizeof(*unit->changed_files));
		unit->changed_files[unit->nr_changed_files++] = xstrdup(files.list[i]->path);
	}
	vec_deinit(&files);
	return error;
}

static bool any_created(const struct build *build)
{
	for (size_t i = 0; i < build->changes->files.count; i++)
		if (build->changes->files.list[i].created)
			return true;
	return false;
}

/*
 * Add the new files to the units that read them; refuse source files that no unit reads.
 * Those whose patched objects are kept read none (key_has_all()).
 */
static struct error *find_new_files(struct build *build)
{
	const bool any = any_created(build);
	struct error *error = NULL;
	struct map read = {};

	for (size_t i = 0; any && !error && i < build->nr_units; i++)
		if (!build->units[i].patched_key)
			error = add_new_files(build, &build->units[i], &read);
	for (size_t i = 0; any && !error && i < build->changes->files.count; i++) {
		const struct changed_file *file = &build->changes->files.list[i];

		if (file->created && !file->renamed && has_suffix(file->path, ".c") &&
		    !map_has(&read, file->path))
			build_refuse_new(build, file);
	}
	map_deinit(&read);
	return error ? error : build_check_refusals(build);
}

/* ---- what the compiler says -------------------------------------------------- */

/* Remember all units that the change breaks: of a series, each may be another commit's. */
static void note_failures(struct build *build, const struct jobs *jobs,
			  const struct proc_result *results)
{
	for (size_t i = 0; i < jobs->units.count; i++)
		if (results[i * SIDES + SIDE_PATCHED].status &&
		    !results[i * SIDES + SIDE_ORIGINAL].status) {
			blame_failure(build, jobs->units.list[i],
				      results[i * SIDES + SIDE_PATCHED].out.text ?: "");
			string_set_add(&build->failed, jobs->units.list[i]->source);
		}
}

/* Report the first unit that did not compile, with the compiler's messages. */
static struct error *check_results(struct build *build, const struct jobs *jobs,
				   const struct proc_result *results)
{

	for (size_t i = 0; i < jobs->units.count * SIDES; i++) {
		const struct unit *unit = jobs->units.list[i / SIDES];
		const char *output = results[i].out.text ? results[i].out.text : "";

		if (!results[i].status)
			continue;
		if (strstr(output, strerror(ENOSPC)))
			return error_new(STATUS_FAILED,
					 "no space left on the device of %s or of the compiler's "
					 "temporary files; name another folder in TMPDIR",
					 build->work);
		if (i % SIDES == SIDE_PATCHED)
			note_failures(build, jobs, results);
		if (i % SIDES == SIDE_PATCHED)
			return error_new(STATUS_FAILED, "%s does not compile with the change:\n%s",
					 unit->source, output);
		return error_new(STATUS_FAILED, "%s does not compile even without the change:\n%s",
				 unit->source, output);
	}
	return NULL;
}

/* Show the author the warnings that the change causes, but not those of the original. */
static void note_warnings(struct build *build, size_t count, const struct proc_result *results)
{
	for (size_t i = 0; i < count; i++) {
		const struct buffer *original = &results[i * SIDES + SIDE_ORIGINAL].out;
		const struct buffer *patched = &results[i * SIDES + SIDE_PATCHED].out;

		if (patched->length && (original->length != patched->length ||
					memcmp(original->text, patched->text, patched->length)))
			buffer_add(&build->notes, patched->text, patched->length);
	}
}

/* ---- kept objects ----------------------------------------------------------- */

/*
 * Whether a unit's patched object can be kept.  The header with markers is in the work folder.  New
 * files become files of units by what the compiler read (find_new_files()), so an object whose unit
 * may have read a new file is not kept.
 */
static bool keeps_patched(const struct build *build, const struct unit *unit, bool any_new)
{
	return !build->options.instrument &&
	       (!any_new || map_has(&build->changes->reached, unit->source));
}

/* Whether a file's text is a part of the keys of all patched objects, as that of a header is. */
static bool is_common(const char *path)
{
	return !has_suffix(path, ".c");
}

/* The sums of the changed files that are part of all patched objects' keys. */
static void common_sums(const struct build *build, struct buffer *ret)
{
	for (size_t i = 0; i < build->changes->files.count; i++) {
		const struct changed_file *file = &build->changes->files.list[i];

		if (is_common(file->path) && file->sum)
			buffer_add_string(ret, file->sum);
	}
}

/* Files of --module-source are the user's, who changes them: they are not kept. */
static bool is_kept(const struct unit *unit)
{
	return !unit->outside && !unit->is_new;
}

/* @common: the sums for units of which it is not known what they may include */
static void patched_key(const struct build *build, const struct unit *unit,
			const struct args *command, const struct buffer *common, char *ret)
{
	const struct changed_paths *reached = map_get(&build->changes->reached, unit->source);
	struct buffer sums = {};

	buffer_add_string(&sums, "patched\n");
	if (!reached)
		buffer_add(&sums, common->text, common->length);
	for (size_t i = 0; reached && i < reached->list.count; i++)
		changes_add_sum(build->changes, reached->list.list[i], &sums);
	for (size_t i = 0; i < unit->nr_changed_files; i++)
		if (!is_common(unit->changed_files[i]))
			changes_add_sum(build->changes, unit->changed_files[i], &sums);
	object_cache_key(build, command, sums.text, ret);
	buffer_deinit(&sums);
}

void jobs_make_keys(const struct build *build, struct jobs *jobs)
{
	const bool any_new = any_created(build);
	struct buffer common = {};
	char key[65];

	common_sums(build, &common);
	for (size_t i = 0; i < jobs->units.count; i++) {
		const struct unit *unit = jobs->units.list[i];
		struct job *job = &jobs->list[i * SIDES];

		if (!is_kept(unit))
			continue;
		object_cache_key(build, &job[SIDE_ORIGINAL].args, "", key);
		job[SIDE_ORIGINAL].key = xstrdup(key);
		if (!keeps_patched(build, unit, any_new))
			continue;
		patched_key(build, unit, &job[SIDE_PATCHED].args, &common, key);
		job[SIDE_PATCHED].key = xstrdup(key);
	}
	buffer_deinit(&common);
}

const char *job_object(const struct jobs *jobs, size_t job)
{
	const struct unit *unit = jobs->units.list[job / SIDES];

	return job % SIDES == SIDE_ORIGINAL ? unit->orig_object : unit->patched_object;
}

void job_note_kept(const struct jobs *jobs, size_t place)
{
	if (place % SIDES == SIDE_PATCHED)
		jobs->units.list[place / SIDES]->patched_key = xstrdup(jobs->list[place].key);
}

/* Take the objects that earlier builds kept, with what the compiler said about them. */
static struct error *load_kept(const struct build *build, struct jobs *jobs,
			       struct proc_result *results)
{
	_free_ char *folder = object_cache_folder(build);

	jobs_make_keys(build, jobs);
	for (size_t i = 0; i < jobs->units.count * SIDES; i++) {
		if (!jobs->list[i].key)
			continue;
		TRY(object_cache_load(folder, jobs->list[i].key, job_object(jobs, i),
				      &results[i].out, &jobs->list[i].done));
		if (jobs->list[i].done)
			job_note_kept(jobs, i);
	}
	return NULL;
}

/*
 * Whether the key of a patched object has all changed files that the compiler read for it, as they
 * are changed, and none of them is new.  A diff may have a unit include another one's source, which
 * the key does not have.
 */
static bool key_has_all(const struct build *build, const struct unit *unit)
{
	const struct changed_paths *reached = map_get(&build->changes->reached, unit->source);
	changed_list files = {};
	bool past = false;
	struct error *error = find_read(build, unit, &files, &past);
	bool has = !error && !past;
	struct map own = {};

	error_destroy(error);
	for (size_t i = 0; i < unit->nr_changed_files; i++)
		if (!is_common(unit->changed_files[i]))
			map_slot(&own, unit->changed_files[i]);
	for (size_t i = 0; reached && i < reached->list.count; i++)
		map_slot(&own, reached->list.list[i]);
	for (size_t i = 0; has && i < files.count; i++)
		has = !files.list[i]->created && ((!reached && is_common(files.list[i]->path)) ||
						  map_has(&own, files.list[i]->path));
	map_deinit(&own);
	vec_deinit(&files);
	return has;
}

bool job_keep(const struct build *build, const struct jobs *jobs, size_t place,
	      const struct proc_result *result)
{
	_free_ char *folder = object_cache_folder(build);
	const struct job *job = &jobs->list[place];

	if (!job->key || result->status ||
	    (place % SIDES == SIDE_PATCHED && !key_has_all(build, jobs->units.list[place / SIDES])))
		return false;
	object_cache_store(folder, job->key, job_object(jobs, place), &result->out);
	job_note_kept(jobs, place);
	return true;
}

/* ---- running the compiler --------------------------------------------------- */

/*
 * While the compilers run, read the kernel's symbols, and extract its modules, which later phases
 * need.  If that fails, the later phase tries again and has the error.
 */
static void read_ahead(void *data)
{
	struct build *build = data;

	error_destroy(comparison_start(build));
	for (size_t i = 0; build->comparison && i < build->nr_units; i++)
		if (!build->units[i].parent_path)
			parent_read_ahead(build->comparison->vmlinux, build->units[i].source);
	if (!build->proof_vmlinux)
		error_destroy(proof_read_vmlinux(build->files.vmlinux, &build->proof_vmlinux));
	modules_read_ahead(build);
}

struct error *jobs_run(struct build *build, const struct jobs *jobs, const size_t *places,
		       size_t count, bool first, struct proc_result *results)
{
	struct proc_command commands[COMPILE_BATCH] = {};
	struct proc_result done[COMPILE_BATCH] = {};
	struct error *error;

	for (size_t i = 0; i < count; i++) {
		const struct unit *unit = jobs->units.list[places[i] / SIDES];

		commands[i].argv = (const char *const *)jobs->list[places[i]].args.list;
		commands[i].options.dir = unit->outside ? module_source_cwd(build)
							: side_folder(build, places[i] % SIDES);
		commands[i].options.ended = build_step;
		commands[i].options.ended_data = build;
	}
	error = first ? proc_run_all_while(commands, count, build->options.jobs, read_ahead, build,
					   done)
		      : proc_run_all(commands, count, build->options.jobs, done);
	for (size_t i = 0; !error && i < count; i++)
		results[places[i]] = done[i];
	return error;
}

/*
 * List the jobs that are not done.  Units that did not compile before come first: without a commit,
 * one that needs it does not compile either, and so on, so that they may fail several times.
 * Return: how many jobs these units have
 */
static size_t list_jobs(const struct build *build, const struct jobs *jobs, size_t *places,
			size_t *ret_count)
{
	size_t count = 0, first = 0;

	for (int failed = 1; failed >= 0; failed--) {
		for (size_t i = 0; i < jobs->units.count * SIDES; i++)
			if (!jobs->list[i].done &&
			    string_set_has(&build->failed, jobs->units.list[i / SIDES]->source) ==
				    failed)
				places[count++] = i;
		if (failed)
			first = count;
	}
	*ret_count = count;
	return first;
}

static bool any_failed(const size_t *places, size_t count, const struct proc_result *results)
{
	for (size_t i = 0; i < count; i++)
		if (results[places[i]].status)
			return true;
	return false;
}

/*
 * Run the jobs that are not done, and keep their objects, also if others do not compile.  If a unit
 * that did not compile before still does not, the rest has to wait for the next run of the phases.
 */
static struct error *run_jobs(struct build *build, const struct jobs *jobs,
			      struct proc_result *results)
{
	_free_ size_t *places = xcalloc(jobs->units.count * SIDES + 1, sizeof(*places));
	_free_ char *folder = object_cache_folder(build);
	struct error *error = NULL;
	bool kept = false, stop = false;
	size_t count, first = list_jobs(build, jobs, places, &count), at = 0, batch;

	build_expect(build, count);
	/* One batch at least: what is read meanwhile is needed in any case. */
	do {
		batch = (at < first ? first : count) - at;
		if (batch > COMPILE_BATCH)
			batch = COMPILE_BATCH;
		error = jobs_run(build, jobs, places + at, batch, !at, results);
		for (size_t i = at; !error && i < at + batch; i++)
			kept |= job_keep(build, jobs, places[i], &results[places[i]]);
		at += batch;
		stop = !error && at == first && any_failed(places, first, results);
	} while (!error && !stop && at < count);
	if (kept)
		object_cache_trim(build, folder);
	return error;
}

static struct error *run_compilers(struct build *build, struct jobs *jobs)
{
	size_t count = jobs->units.count * SIDES;
	struct proc_result *results = xcalloc(count, sizeof(*results));
	struct error *error = load_kept(build, jobs, results);

	if (!error)
		error = run_jobs(build, jobs, results);
	if (!error)
		error = check_results(build, jobs, results);
	if (!error)
		note_warnings(build, jobs->units.count, results);
	for (size_t i = 0; i < count; i++)
		proc_result_deinit(&results[i]);
	free(results);
	return error;
}

struct error *jobs_make(struct build *build, struct jobs *jobs)
{
	const size_t count = jobs->units.count * SIDES;

	jobs->list = xcalloc(count + 1, sizeof(*jobs->list));
	for (size_t i = 0; i < count; i++) {
		struct unit *unit = jobs->units.list[i / SIDES];
		enum side side = i % SIDES;
		char **object = side == SIDE_ORIGINAL ? &unit->orig_object : &unit->patched_object;

		TRY(make_command(build, unit, side, &jobs->list[i].args, object));
	}
	return NULL;
}

void jobs_deinit(struct jobs *jobs)
{
	for (size_t i = 0; jobs->list && i < jobs->units.count * SIDES; i++) {
		args_deinit(&jobs->list[i].args);
		free(jobs->list[i].key);
	}
	free(jobs->list);
	vec_deinit(&jobs->units);
}

struct error *unit_follow_ways(const struct build *build, const struct unit *unit)
{
	TRY(shadow_follow(build->shadow, unit->source));
	for (char *const *word = unit->argv; *word; word++)
		if (has_prefix(*word, "-I"))
			TRY(shadow_follow(build->shadow, *word + strlen("-I")));
	return NULL;
}

struct error *compile_units(struct build *build)
{
	struct jobs jobs = {};
	struct error *error;

	for (size_t i = 0; i < build->nr_units; i++)
		if (!build->units[i].shares)
			*vec_push(&jobs.units) = &build->units[i];
	error = module_source_write(build);
	if (!error)
		error = build_fill_shadow(build);
	for (size_t i = 0; !error && i < jobs.units.count; i++)
		error = unit_follow_ways(build, jobs.units.list[i]);
	if (!error)
		error = jobs_make(build, &jobs);
	if (!error)
		error = run_compilers(build, &jobs);
	jobs_deinit(&jobs);
	for (size_t i = 0; !error && i < build->nr_units; i++) {
		struct unit *unit = &build->units[i];

		if (unit->shares) {
			unit->orig_object = xstrdup(unit[-1].orig_object);
			unit->patched_object = xstrdup(unit[-1].patched_object);
			if (unit[-1].patched_key)
				unit->patched_key = xstrdup(unit[-1].patched_key);
		}
		if (unit->is_new) /* what the kernel has of it is nothing */
			unit->exact_object = xstrdup(unit->orig_object);
	}
	return error ? error : find_new_files(build);
}
