/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running the compiler for both sides of units, in compile.c; also for compile_try.c. */
#ifndef POKEPATCH_COMPILE_JOBS_H
#define POKEPATCH_COMPILE_JOBS_H

#include "common/args.h"
#include "common/proc.h"
#include "pokepatch-build/build.h"
#include "pokepatch-build/kbuild.h"

/* One side of a unit. */
struct job {
	struct args args; /* compiles it */
	char *key;        /* under which its object is kept (object_cache.h); or NULL */
	bool done;        /* it was kept, so the compiler need not run */
};

/* The units to compile: those that share no other unit's object. */
struct jobs {
	VEC(struct unit *) units;
	struct job *list; /* for each unit, one for each side */
};

/*
 * So many compilers run before their objects are kept, so that an interrupted build has not
 * compiled in vain.
 */
#define COMPILE_BATCH 256

/* unit_follow_ways - have the shadow follow ".." of a unit's source and of its -I folders. */
struct error *unit_follow_ways(const struct build *build, const struct unit *unit);

/*
 * jobs_make - make the commands for both sides of jobs->units.
 * jobs_make_keys - make the keys of those whose objects can be kept.
 * jobs_deinit - free them, after errors, too.
 */
struct error *jobs_make(struct build *build, struct jobs *jobs);
void jobs_make_keys(const struct build *build, struct jobs *jobs);
void jobs_deinit(struct jobs *jobs);
/*
 * jobs_run - run some jobs.
 * @places: which; COMPILE_BATCH at most
 * @first: read meanwhile what later phases need
 * @results: results[i] belongs to job i
 */
struct error *jobs_run(struct build *build, const struct jobs *jobs, const size_t *places,
		       size_t count, bool first, struct proc_result *results);

/* job_object - the path of a job's object. */
const char *job_object(const struct jobs *jobs, size_t place);
/*
 * job_note_kept - note the key under which a patched object was kept, or would be but for a full
 * disk.
 * job_keep - keep the object of a job that the compiler ran for.  Return: whether it may be kept.
 */
void job_note_kept(const struct jobs *jobs, size_t place);
bool job_keep(const struct build *build, const struct jobs *jobs, size_t place,
	      const struct proc_result *result);

#endif /* POKEPATCH_COMPILE_JOBS_H */
