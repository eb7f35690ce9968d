/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of the program pokepatch: a table of subcommands, each a row with its options
 * and a function.  A subcommand adds its output to call->out, which main() prints, and returns its
 * error.  Progress of long work goes to standard error (progress.h).
 */
#ifndef POKEPATCH_CLI_H
#define POKEPATCH_CLI_H

#include "common/util.h"

/* An option.  A subcommand has at most CLI_OPTIONS_MAX; the list ends with a NULL name. */
#define CLI_OPTIONS_MAX 8
struct cli_option {
	const char *name;     /* "json" for --json */
	char letter;          /* 'q' for -q, or 0 */
	const char *argument; /* the value's name in help; "[=X]": an optional value; NULL: none */
	const char *help;
};

struct cli_call;
struct cli_command {
	const char *name;
	const char *arguments; /* for the usage line: "FILE|NAME"; "" for none */
	const char *summary;   /* one line, without a full stop */
	const char *help;      /* more lines for --help, each with a newline at its end */
	const struct cli_option *options;
	int min_arguments, max_arguments;
	struct error *(*run)(struct cli_call *call);
};

/* One call of a subcommand, with its options parsed. */
struct cli_call {
	const struct cli_command *command;
	const char *values[CLI_OPTIONS_MAX]; /* by option; NULL: not given; "": without a value */
	int times[CLI_OPTIONS_MAX];          /* by option: how often it was given */
	const char *const *arguments;        /* borrowed from argv; ends with NULL */
	int count;
	struct buffer out; /* standard output, which is printed after an error too */
};

/* cli_value - the value of an option by its name; NULL: it was not given. */
const char *cli_value(const struct cli_call *call, const char *name);

/* cli_times - how often an option was given. */
int cli_times(const struct cli_call *call, const char *name);

/* cli_flush - print call->out now and empty it, for output that grows as the user watches. */
struct error *cli_flush(struct cli_call *call);

/*
 * cli_run - find the subcommand in a table, parse its options and run it.
 * @commands: ends with a NULL name
 * @ret_out: the text for standard output, after an error too.  Owned by the caller.
 */
struct error *cli_run(const struct cli_command *commands, int argc, char **argv,
		      struct buffer *ret_out);

/* The functions of the subcommands, and their files. */
struct error *cli_fetch(struct cli_call *call);     /* fetch.c */
struct error *cli_cache(struct cli_call *call);     /* cache.c */
struct error *cli_load(struct cli_call *call);      /* load.c */
struct error *cli_unload(struct cli_call *call);    /* load.c */
struct error *cli_enable(struct cli_call *call);    /* load.c */
struct error *cli_disable(struct cli_call *call);   /* load.c */
struct error *cli_install(struct cli_call *call);   /* install.c */
struct error *cli_uninstall(struct cli_call *call); /* install.c */
struct error *cli_check(struct cli_call *call);     /* check.c */
struct error *cli_status(struct cli_call *call);    /* status.c */
struct error *cli_list(struct cli_call *call);      /* show.c */
struct error *cli_info(struct cli_call *call);      /* show.c */
struct error *cli_trace(struct cli_call *call);     /* trace.c */
struct error *cli_history(struct cli_call *call);   /* history.c */
struct error *cli_text(struct cli_call *call);	    /* text.c */
struct error *cli_version(struct cli_call *call);   /* show.c */

/* cli_commands - the table of this program (commands.c). */
extern const struct cli_command cli_commands[];

#endif /* POKEPATCH_CLI_H */
