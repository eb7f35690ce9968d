/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running other programs: no shell, arguments as given, children never outlive us.
 *
 * Every child leads a process group of its own, so Ctrl-C reaches only us and
 * we end the whole group; what a child leaves running in its group is killed
 * when the child has ended.  A child also gets SIGTERM when the thread that
 * started it dies, however that happens (prctl(2), PR_SET_PDEATHSIG).
 */
#ifndef POKEPATCH_PROC_H
#define POKEPATCH_PROC_H

#include "common/util.h"

struct proc_options {
	const char *dir;          /* working folder, NULL: ours */
	const char *const *env;   /* "NAME=value" to add, ends with NULL; or NULL */
	const char *input;        /* path for standard input, NULL: /dev/null */
	const char *output;       /* path for standard output; NULL: collected */
	bool keep_stderr_apart;   /* otherwise standard error joins the output */
	bool inherit;             /* both streams are ours: nothing collected (progress shown) */
	void (*tick)(void *data); /* called about five times a second meanwhile, or NULL */
	void *tick_data;
};

struct proc_result {
	int status;        /* exit status; 128 + signal when killed */
	struct buffer out; /* what was collected; text is NULL when that is nothing */
	struct buffer err; /* only with keep_stderr_apart */
};
void proc_result_deinit(struct proc_result *result);

/* proc_verbose - print every command to standard error before it runs (-V). */
void proc_verbose(bool on);

/*
 * proc_run - run argv[0] (searched in PATH) and wait.  Errors: it could not be
 * started, or we were interrupted (see proc_interrupted).  A non-zero status
 * is not an error here; ret->status tells.
 */
struct error *proc_run(const char *const *argv, const struct proc_options *options,
		       struct proc_result *ret);
/* proc_check - proc_run, and a non-zero status is an error that quotes the output. */
struct error *proc_check(const char *const *argv, const struct proc_options *options,
			 struct buffer *ret_out /* or NULL */);

/*
 * proc_run_all - several at once: at most jobs (0: as many as there are
 * processors) run at a time, started in order; results[i] belongs to
 * commands[i].  When one cannot be started or we are interrupted, the others
 * are ended and no result is left to free; a non-zero status ends nothing.
 */
struct proc_command {
	const char *const *argv;
	struct proc_options options;
};
struct error *proc_run_all(const struct proc_command *commands, size_t count, unsigned int jobs,
			   struct proc_result *results);

/*
 * proc_catch_signals - SIGINT, SIGTERM, SIGHUP from now on only set a flag and
 * kill the children; every proc_ call then returns an error with status
 * STATUS_FAILED and the text "interrupted", and clean-up runs as for any error.
 */
void proc_catch_signals(void);
bool proc_interrupted(void);
/* proc_go_on - the signal has done what it was for: what follows must be done in any case. */
void proc_go_on(void);
/* proc_check_interrupted - that error if there was such a signal; for long loops of our own. */
struct error *proc_check_interrupted(void);
/* proc_jobs - how many processors we may use, at least 1. */
unsigned int proc_jobs(void);

#endif /* POKEPATCH_PROC_H */
