// SPDX-License-Identifier: GPL-2.0-or-later
/* Compiling units to compare their code before they are the patch's; see compile.h. */
#include "pokepatch-build/compile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pokepatch-build/compile_jobs.h"
#include "pokepatch-build/counted_names.h"
#include "pokepatch-build/object_cache.h"

/* What a side was compiled to (counted_names.h); empty: nothing yet. */
struct fingerprint {
	char text[65];
	bool kept; /* as such, beside the objects */
};

static void fingerprint_key(const struct build *build, const struct job *job, char ret[65])
{
	object_cache_key(build, &job->args, "fingerprint 1\n", ret);
}

static struct error *read_fingerprint(const char *object, struct fingerprint *ret)
{
	_free_ char *bytes = NULL;
	size_t length;

	TRY(file_read(object, &bytes, &length));
	object_fingerprint(bytes, length, ret->text);
	return NULL;
}

/* Take the fingerprint that was kept of an original, or else make it of a kept object. */
static struct error *load_fingerprint(const struct build *build, const struct jobs *jobs,
				      size_t place, struct fingerprint *ret)
{
	_free_ char *folder = object_cache_folder(build);
	struct job *job = &jobs->list[place];
	struct buffer text = {};
	char key[65];

	if (!job->key)
		return NULL;
	if (place % SIDES == SIDE_ORIGINAL) {
		fingerprint_key(build, job, key);
		TRY(object_cache_load(folder, key, NULL, &text, &job->done));
		ret->kept = job->done = job->done && text.length == sizeof(ret->text) - 1;
		if (ret->kept)
			memcpy(ret->text, text.text, text.length);
		buffer_deinit(&text);
	}
	if (ret->kept)
		return NULL;
	TRY(object_cache_load(folder, job->key, job_object(jobs, place), NULL, &job->done));
	if (!job->done)
		return NULL;
	job_note_kept(jobs, place);
	return read_fingerprint(job_object(jobs, place), ret);
}

static void keep_fingerprint(const struct build *build, const struct job *job,
			     const struct fingerprint *print)
{
	_free_ char *folder = object_cache_folder(build);
	struct buffer text = {};
	char key[65];

	if (!job->key || print->kept || !*print->text)
		return;
	fingerprint_key(build, job, key);
	buffer_add_string(&text, print->text);
	object_cache_store(folder, key, NULL, &text);
	buffer_deinit(&text);
}

/* Compile what is not kept, and take the fingerprints. */
static struct error *make_fingerprints(struct build *build, const struct jobs *jobs,
				       struct proc_result *results, struct fingerprint *prints)
{
	size_t places[COMPILE_TRY_MAX * SIDES] = {}, count = 0;

	for (size_t i = 0; i < jobs->units.count * SIDES; i++) {
		TRY(load_fingerprint(build, jobs, i, &prints[i]));
		if (!jobs->list[i].done)
			places[count++] = i;
	}
	build_expect(build, count);
	TRY(jobs_run(build, jobs, places, count, false, results));
	for (size_t i = 0; i < count; i++)
		if (!results[places[i]].status)
			TRY(read_fingerprint(job_object(jobs, places[i]), &prints[places[i]]));
	return NULL;
}

/* Keep what compile_units() will need of a unit, and remove its files. */
static void end_trial(const struct build *build, const struct jobs *jobs, size_t unit,
		      const struct proc_result *results, const struct fingerprint *prints,
		      enum trial trial)
{
	for (size_t place = unit * SIDES; place < (unit + 1) * SIDES; place++) {
		const struct job *job = &jobs->list[place];
		_free_ char *depends = xasprintf("%s.d", job_object(jobs, place));

		if (place % SIDES == SIDE_ORIGINAL)
			keep_fingerprint(build, job, &prints[place]);
		if (!job->done && (place % SIDES == SIDE_ORIGINAL || trial == TRIAL_DIFFERS))
			job_keep(build, jobs, place, &results[place]);
		unlink(job_object(jobs, place));
		unlink(depends);
	}
}

static struct error *run_trials(struct build *build, struct jobs *jobs, struct proc_result *results,
				enum trial *ret)
{
	_free_ struct fingerprint *prints =
		xcalloc(jobs->units.count * SIDES + 1, sizeof(*prints));
	_free_ char *folder = object_cache_folder(build);

	jobs_make_keys(build, jobs);
	TRY(make_fingerprints(build, jobs, results, prints));
	for (size_t i = 0; i < jobs->units.count; i++) {
		const char *original = prints[i * SIDES + SIDE_ORIGINAL].text;
		const char *patched = prints[i * SIDES + SIDE_PATCHED].text;

		if (!*original || !*patched)
			ret[i] = TRIAL_FAILED;
		else
			ret[i] = strcmp(original, patched) ? TRIAL_DIFFERS : TRIAL_ALIKE;
		end_trial(build, jobs, i, results, prints, ret[i]);
	}
	object_cache_trim(build, folder);
	return NULL;
}

struct error *compile_try(struct build *build, struct unit *units, size_t count, enum trial *ret)
{
	struct proc_result *results = xcalloc(count * SIDES + 1, sizeof(*results));
	struct jobs jobs = {};
	struct error *error = NULL;

	for (size_t i = 0; !error && i < count; i++) {
		*vec_push(&jobs.units) = &units[i];
		error = unit_follow_ways(build, &units[i]);
	}
	if (!error)
		error = jobs_make(build, &jobs);
	if (!error)
		error = run_trials(build, &jobs, results, ret);
	for (size_t i = 0; i < count * SIDES; i++)
		proc_result_deinit(&results[i]);
	free(results);
	jobs_deinit(&jobs);
	return error;
}
