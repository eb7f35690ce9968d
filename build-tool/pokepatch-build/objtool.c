// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running objtool.  For most kernels kbuild runs it on each unit.  With IBT or KLP_BUILD
 * kbuild runs it late, on vmlinux.o and on whole modules (delay-objtool in Makefile.lib), so that a
 * unit's object lacks the NOPs of static branches and the tables that objtool makes.  The tables
 * and NOPs of a function follow from that function alone, so objtool makes the same for the unit.
 * verify.c compares both with the parent.  The one exception is .ibt_endbr_seal, which depends on
 * all references to a function; there the parent's own table counts.
 */
#include "pokepatch-build/objtool.h"

#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "pokepatch-build/comparison.h"
#include "pokepatch-build/object_cache.h"

void objtool_add_command(const struct build *build, enum objtool_kind kind, struct args *ret)
{
	args_add_clean_environment(ret, build->work);
	/* Debian's objtool is a program that starts the one for this machine. */
	args_addf(ret, "SRCARCH=%s", build->arch);
	for (char *const *word = build->core.objtool; *word; word++)
		if (kind == OBJTOOL_MODULE || strcmp(*word, "--module"))
			args_add(ret, *word);
}

struct error *objtool_run_jobs(const struct build *build, struct objtool_job *jobs, size_t count)
{
	struct args *args = xcalloc(count, sizeof(*args));
	struct proc_command *commands _free_ = xcalloc(count, sizeof(*commands));
	struct proc_result *results _free_ = xcalloc(count, sizeof(*results));

	for (size_t i = 0; i < count; i++) {
		objtool_add_command(build, jobs[i].kind, &args[i]);
		if (jobs[i].link)
			args_add(&args[i], "--link");
		args_add(&args[i], jobs[i].object);
		commands[i] = (struct proc_command){.argv = (const char *const *)args[i].list,
						    .options = {.dir = build->core.dir}};
	}
	struct error *error = proc_run_all(commands, count, build->options.jobs, results);
	for (size_t i = 0; !error && i < count; i++)
		jobs[i].said = results[i].out;
	for (size_t i = 0; !error && i < count; i++)
		if (results[i].status)
			error = error_new(STATUS_FAILED, "objtool cannot read %s: %s",
					  jobs[i].object, jobs[i].said.text ?: "");
	for (size_t i = 0; i < count; i++)
		args_deinit(&args[i]);
	free(args);
	return error;
}

char *unwound_object(const struct build *build, size_t unit)
{
	const struct comparison *comparison = build->comparison;

	if (!build->core.objtool)
		return NULL;
	if (unit == build->nr_units)
		return xasprintf("%s/unwound-glue.o", build->work);
	/* The proof needs a unit that lends a static to see which one it is. */
	return comparison->outputs[unit] || comparison->results[unit].lends
		       ? xasprintf("%s/unwound-%zu.o", build->work, unit)
		       : NULL;
}

/* Run objtool on objects of one kind, whose warnings may be about code that no patch has. */
static struct error *run_kind(const struct build *build, enum objtool_kind kind,
			      char *const *objects, size_t count)
{
	struct objtool_job *jobs _free_ = xcalloc(count, sizeof(*jobs));

	for (size_t i = 0; i < count; i++)
		jobs[i] = (struct objtool_job){.kind = kind, .object = objects[i]};
	struct error *error = objtool_run_jobs(build, jobs, count);
	for (size_t i = 0; i < count; i++)
		buffer_deinit(&jobs[i].said);
	return error;
}

/* An exact object that objtool has yet to finish. */
struct finishing {
	char *copy; /* in the work folder; the unit owns it */
	char key[65]; /* under which the tree keeps the finished object (object_cache.h) */
};

static char *finished_folder(const struct build *build)
{
	return xasprintf("%s/.pokepatch/objects", build->tree);
}

/* The finished object follows from the exact one and objtool. */
static struct error *finished_key(const struct build *build, enum objtool_kind kind,
				  const char *exact, char ret[65])
{
	char *bytes _free_ = NULL;
	struct args args = {0};
	size_t length;
	char sum[65];

	TRY(file_read(exact, &bytes, &length));
	sha256_hex(bytes, length, sum);
	objtool_add_command(build, kind, &args);
	object_cache_key(build, &args, sum, ret);
	args_deinit(&args);
	return NULL;
}

/* Have the unit name a copy of its exact object.  *ret: it was kept, finished. */
static struct error *copy_exact(struct build *build, struct unit *unit, enum objtool_kind kind,
				struct finishing *finishing, bool *ret)
{
	char *folder _free_ = finished_folder(build);
	char *exact _free_ = unit->exact_object;

	unit->exact_object = finishing->copy;
	TRY(finished_key(build, kind, exact, finishing->key));
	TRY(object_cache_load(folder, finishing->key, finishing->copy, NULL, ret));
	return *ret ? NULL : file_copy_scratch(exact, finishing->copy);
}

/* Run objtool on copies, and keep the outcome. */
static struct error *finish(const struct build *build, enum objtool_kind kind,
			    const struct finishing *list, size_t count)
{
	char *folder _free_ = finished_folder(build);
	char **copies _free_ = xcalloc(count, sizeof(*copies));

	for (size_t i = 0; i < count; i++)
		copies[i] = list[i].copy;
	TRY(run_kind(build, kind, copies, count));
	for (size_t i = 0; i < count; i++)
		object_cache_store(folder, list[i].key, list[i].copy, NULL);
	object_cache_trim(build, folder);
	return NULL;
}

/* Copy the exact objects of one kind, and run objtool on the copies. */
static struct error *finish_kind(struct build *build, enum objtool_kind kind)
{
	struct finishing *list _free_ = xcalloc(build->nr_units + 1, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < build->nr_units; i++) {
		struct unit *unit = &build->units[i];
		enum objtool_kind own = unit->parent_path ? OBJTOOL_MODULE : OBJTOOL_BUILTIN;
		bool kept;

		if (unit->objtool_ran || own != kind)
			continue;
		list[count].copy = xasprintf("%s/finished-%zu.o", build->work, i);
		TRY(copy_exact(build, unit, kind, &list[count], &kept));
		count += !kept;
	}
	return count ? finish(build, kind, list, count) : NULL;
}

struct error *objtool_finish_exact(struct build *build)
{
	if (!build->objtool_late || !build->core.objtool)
		return NULL;
	TRY(finish_kind(build, OBJTOOL_BUILTIN));
	return finish_kind(build, OBJTOOL_MODULE);
}
