/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running other programs: no shell, arguments as given, children never outlive us. */
#ifndef POKEPATCH_PROC_H
#define POKEPATCH_PROC_H

#include "util.h"

struct proc_options {
	const char *dir;	 /* working folder, NULL: ours */
	const char *const *env;	 /* "NAME=value" to add, ends with NULL; or NULL */
	const char *input;	 /* path for standard input, NULL: /dev/null */
	const char *output;	 /* path for standard output; NULL: collected */
	bool keep_stderr_apart;	 /* otherwise standard error joins the output */
	bool inherit;		 /* both streams are ours: nothing collected (progress shown) */
};

struct proc_result {
	int status;	  /* exit status; 128 + signal when killed */
	struct buffer out; /* what was collected */
	struct buffer err;
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

/* Several at once: at most jobs run; results[i] belongs to commands[i]. */
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

#endif /* POKEPATCH_PROC_H */
