/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running other programs, without a shell between, so that arguments need no quotes.
 *
 * No child outlives us.  Every child leads a process group of its own, so Ctrl-C reaches only us,
 * and we end the whole group.  When a child has ended, the processes that it left in its group are
 * killed.  A child also gets SIGTERM when the thread that started it dies in any way (prctl(2),
 * PR_SET_PDEATHSIG).
 */
#ifndef POKEPATCH_PROC_H
#define POKEPATCH_PROC_H

#include "common/util.h"

struct proc_options {
	const char *dir;          /* working folder, NULL: ours */
	const char *const *env;   /* "NAME=value" to add, ends with NULL; NULL: none */
	const char *input;        /* path for standard input, NULL: /dev/null */
	const char *output;       /* path for standard output; NULL: collected */
	bool keep_stderr_apart;   /* otherwise standard error joins the output */
	bool inherit;             /* the child writes to our streams; nothing is collected */
	void (*tick)(void *data); /* called about five times a second, or NULL */
	void *tick_data;
	void (*ended)(void *data); /* called when the command has ended, or NULL */
	void *ended_data;
};

struct proc_result {
	int status;        /* exit status; 128 + signal when killed */
	struct buffer out; /* the collected output; text is NULL if there is none */
	struct buffer err; /* only with keep_stderr_apart */
};
void proc_result_deinit(struct proc_result *result);

/* proc_verbose - print every command to standard error before it runs (-V). */
void proc_verbose(bool on);

/*
 * proc_run - run argv[0] (searched in PATH) and wait for its end.  A non-zero exit status is not an
 * error: see ret->status.  Errors: it could not be started, or a signal interrupted us (see
 * proc_interrupted()).
 */
struct error *proc_run(const char *const *argv, const struct proc_options *options,
		       struct proc_result *ret);
/* proc_check - proc_run(); a non-zero exit status is an error that quotes the output. */
struct error *proc_check(const char *const *argv, const struct proc_options *options,
			 struct buffer *ret_out /* or NULL */);

/*
 * proc_run_all - run commands in parallel, started in order, at most @jobs at a time (0: as many as
 * there are processors).  results[i] belongs to commands[i].  If one cannot be started, or a signal
 * interrupts us, the others are ended and no result is left to free.  A non-zero exit status ends
 * no other command.
 */
struct proc_command {
	const char *const *argv;
	struct proc_options options;
};
struct error *proc_run_all(const struct proc_command *commands, size_t count, unsigned int jobs,
			   struct proc_result *results);
/*
 * proc_run_all_while - the same, and call meanwhile(data) once, as soon as no further command can
 * be started.  It may run programs itself.  Until it returns, the commands' output stays in pipes.
 */
struct error *proc_run_all_while(const struct proc_command *commands, size_t count,
				 unsigned int jobs, void (*meanwhile)(void *data), void *data,
				 struct proc_result *results);

/*
 * proc_catch_signals - from now on SIGINT, SIGTERM and SIGHUP only set a flag.  While it is set,
 * calls that run programs end their children and return an error with STATUS_FAILED and the text
 * "interrupted", so that callers clean up as after any error.
 */
void proc_catch_signals(void);
/* proc_catch_broken_pipes - the same for SIGPIPE: for programs with a work folder to remove. */
void proc_catch_broken_pipes(void);
bool proc_interrupted(void);
/*
 * proc_clear_interrupted - forget the signal, which has been obeyed: the caller must now run
 * programs that finish its work.
 */
void proc_clear_interrupted(void);
/* proc_check_interrupted - the error "interrupted" if a signal came; for long loops of ours. */
struct error *proc_check_interrupted(void);
/*
 * proc_wake_fd - a descriptor that a caught signal makes readable, for poll(); -1: none are caught.
 * proc_after_fork - in a process that we have forked and that runs no other program (worker.h):
 * signals to it are its own, and the parent's no longer count.
 */
int proc_wake_fd(void);
void proc_after_fork(void);
/* proc_jobs - the number of processors that we may use, at least 1. */
unsigned int proc_jobs(void);

#endif /* POKEPATCH_PROC_H */
