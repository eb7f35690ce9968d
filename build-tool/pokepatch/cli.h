/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program pokepatch: a table of subcommands, each a row with its options
 * and a function.  What a subcommand has to say on standard output it adds to
 * call->out, which main() prints; errors are values; progress of long work
 * goes to standard error (progress.h).
 */
#ifndef POKEPATCH_CLI_H
#define POKEPATCH_CLI_H

#include "common/util.h"

/* An option of a subcommand; at most CLI_OPTIONS_MAX each, the list ends with a NULL name. */
#define CLI_OPTIONS_MAX 8
struct cli_option {
	const char *name;     /* "json" for --json */
	char letter;          /* 'q' for -q, or 0 */
	const char *argument; /* what help calls its value, or NULL if it takes none; one that
				 need not have a value begins with a bracket: "[=X]" */
	const char *help;
};

struct cli_call;
struct cli_command {
	const char *name;
	const char *arguments; /* for the usage line: "FILE|NAME"; "" for none */
	const char *summary;   /* one line, without a full stop */
	const char *help;      /* more lines for its --help, each ends with a newline */
	const struct cli_option *options;
	int min_arguments, max_arguments;
	struct error *(*run)(struct cli_call *call);
};

/* One use of a subcommand, options taken apart. */
struct cli_call {
	const struct cli_command *command;
	const char *values[CLI_OPTIONS_MAX]; /* by index in options; NULL: not given, "": a flag */
	const char *const *arguments;        /* borrowed from argv; ends with NULL */
	int count;
	struct buffer out; /* standard output, printed also when run returns an error */
};

/* cli_value - the value of the option called name, NULL if it was not given. */
const char *cli_value(const struct cli_call *call, const char *name);

/* cli_flush - print what is in call->out now, and forget it: for what comes bit by bit. */
struct error *cli_flush(struct cli_call *call);

/*
 * cli_run - the whole program but for printing: find the subcommand in the
 * table (which ends with a NULL name), take its options apart, run it.
 * @ret_out: what belongs on standard output; the caller's, also with an error.
 */
struct error *cli_run(const struct cli_command *commands, int argc, char **argv,
		      struct buffer *ret_out);

/* The subcommands' functions, by the file that they are in. */
struct error *cli_fetch(struct cli_call *call);     /* fetch.c */
struct error *cli_load(struct cli_call *call);      /* load.c */
struct error *cli_unload(struct cli_call *call);    /* load.c */
struct error *cli_enable(struct cli_call *call);    /* load.c */
struct error *cli_disable(struct cli_call *call);   /* load.c */
struct error *cli_install(struct cli_call *call);   /* install.c */
struct error *cli_uninstall(struct cli_call *call); /* install.c */
struct error *cli_check(struct cli_call *call);     /* check.c */
struct error *cli_status(struct cli_call *call);    /* show.c */
struct error *cli_list(struct cli_call *call);      /* show.c */
struct error *cli_info(struct cli_call *call);      /* show.c */
struct error *cli_trace(struct cli_call *call);     /* trace.c */
struct error *cli_history(struct cli_call *call);   /* history.c */
struct error *cli_text(struct cli_call *call);	    /* text.c */
struct error *cli_version(struct cli_call *call);   /* show.c */

/* The rows of the table; main() has no more than this and printing (commands.c). */
extern const struct cli_command cli_commands[];

#endif /* POKEPATCH_CLI_H */
