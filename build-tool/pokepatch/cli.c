// SPDX-License-Identifier: GPL-2.0-or-later
/* Parsing of the command line, and help; see cli.h. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "pokepatch/cli.h"

#define HELP_COLUMN 26 /* the column at which explanations begin */

/* The index of the command's option, or -1. */
static int find_option(const struct cli_call *call, const char *name)
{
	const struct cli_option *options = call->command->options;

	for (int i = 0; options && options[i].name; i++) {
		if (strcmp(options[i].name, name) == 0)
			return i;
	}
	return -1;
}

const char *cli_value(const struct cli_call *call, const char *name)
{
	const int index = find_option(call, name);

	return index < 0 ? NULL : call->values[index];
}

int cli_times(const struct cli_call *call, const char *name)
{
	const int index = find_option(call, name);

	return index < 0 ? 0 : call->times[index];
}

struct error *cli_flush(struct cli_call *call)
{
	if (call->out.length)
		fwrite(call->out.text, 1, call->out.length, stdout);
	buffer_deinit(&call->out);
	call->out = (struct buffer){0};
	if (fflush(stdout) != 0 || ferror(stdout))
		return error_errno("cannot write to standard output");
	return NULL;
}

static void add_help_row(struct buffer *out, const char *what, const char *help)
{
	buffer_printf(out, "  %-*s%s\n", HELP_COLUMN - 2, what, help);
}

static void add_program_help(struct buffer *out, const struct cli_command *commands)
{
	buffer_add_string(out,
			  "usage: pokepatch COMMAND [OPTION]... [ARGUMENT]...\n"
			  "Fetch kernels to patch, load patch modules and manage them.\n\n");
	for (const struct cli_command *c = commands; c->name; c++) {
		_free_ char *what =
			xasprintf("%s%s%s", c->name, c->arguments[0] ? " " : "", c->arguments);

		add_help_row(out, what, c->summary);
	}
	buffer_add_string(out,
			  "\n'pokepatch COMMAND --help' explains a command, pokepatch(8) all of them.\n"
			  "Exit status: 0 done, 1 usage or environment, 2 refused as unsafe, "
			  "3 nothing to do.\n");
}

/* Can the option be given both with a value ("--name=value") and without? */
static bool value_is_optional(const struct cli_option *option)
{
	return option->argument && option->argument[0] == '[';
}

static void add_command_help(struct buffer *out, const struct cli_command *command)
{
	const struct cli_option *options = command->options;

	buffer_printf(out, "usage: pokepatch %s%s%s%s\n%s.\n", command->name,
		      options && options[0].name ? " [OPTION]..." : "",
		      command->arguments[0] ? " " : "", command->arguments, command->summary);
	if (command->help[0])
		buffer_printf(out, "\n%s", command->help);
	buffer_add_string(out, "\n");
	for (size_t i = 0; options && options[i].name; i++) {
		const char *argument = options[i].argument;
		char letter[] = "-x, ";
		_free_ char *what = NULL;

		letter[1] = options[i].letter;
		what = xasprintf("%s--%s%s%s", options[i].letter ? letter : "    ", options[i].name,
				 argument && !value_is_optional(&options[i]) ? " " : "",
				 argument ? argument : "");
		add_help_row(out, what, options[i].help);
	}
	add_help_row(out, "-h, --help", "show this help");
}

static struct error *unknown_command(const struct cli_command *commands, const char *name)
{
	struct buffer names = {0};
	struct error *error;

	for (const struct cli_command *c = commands; c->name; c++)
		buffer_printf(&names, " %s", c->name);
	error = error_new(STATUS_FAILED, "unknown command '%s'; the commands are:%s", name,
			  names.text);
	buffer_deinit(&names);
	return error;
}

static const struct cli_command *find_command(const struct cli_command *commands, const char *name)
{
	for (const struct cli_command *c = commands; c->name; c++) {
		if (strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

/* Make the two tables of getopt_long() from ours; help is always the last long option. */
static void make_getopt_tables(const struct cli_command *command, struct option *longs,
			       char *letters)
{
	const struct cli_option *options = command->options;
	size_t i = 0;

	*letters++ = ':'; /* getopt_long() returns ':' for a missing value, and prints nothing */
	*letters++ = 'h';
	for (; options && options[i].name; i++) {
		longs[i] = (struct option){
			.name = options[i].name,
			.has_arg = value_is_optional(&options[i]) ? optional_argument
				   : options[i].argument          ? required_argument
								  : no_argument,
		};
		if (options[i].letter)
			*letters++ = options[i].letter;
		if (options[i].letter && options[i].argument)
			*letters++ = ':';
	}
	*letters = '\0';
	longs[i] = (struct option){.name = "help", .has_arg = no_argument, .val = 'h'};
	longs[i + 1] = (struct option){0};
}

static int option_of_letter(const struct cli_option *options, int letter)
{
	for (int i = 0; options && options[i].name; i++) {
		if (options[i].letter == letter)
			return i;
	}
	return -1;
}

/* Parse the words behind the subcommand's name into call; *ret_help: --help was among them. */
static struct error *parse(const struct cli_command *command, int argc, char **argv,
			   struct cli_call *call, bool *ret_help)
{
	struct option longs[CLI_OPTIONS_MAX + 2];
	char letters[2 * CLI_OPTIONS_MAX + 3];
	int found, index;

	make_getopt_tables(command, longs, letters);
	opterr = 0;
	optind = 0; /* glibc starts afresh, so that tests can parse many times */
	*ret_help = false;
	for (;;) {
		const char *current;

		index = -1;
		found = getopt_long(argc, argv, letters, longs, &index);
		if (found < 0)
			break;
		current = argv[optind - 1];
		if (found == 'h') {
			*ret_help = true;
			return NULL;
		}
		if (found == ':')
			return error_new(STATUS_FAILED,
					 "option '%s' needs a value; 'pokepatch %s --help' says "
					 "which",
					 current, command->name);
		if (found != 0)
			index = option_of_letter(command->options, found);
		if (found == '?' || index < 0)
			return error_new(STATUS_FAILED,
					 "unknown option '%s'; 'pokepatch %s --help' lists them",
					 current, command->name);
		/* An empty value ("--replace=$list") is a mistake, and does not mean "no value". */
		if (optarg && !optarg[0] && value_is_optional(&command->options[index]))
			return error_new(STATUS_FAILED, "option '%s' has an empty value", current);
		call->values[index] = optarg ? optarg : "";
		call->times[index]++;
	}
	call->arguments = (const char *const *)argv + optind;
	call->count = argc - optind;
	return NULL;
}

struct error *cli_run(const struct cli_command *commands, int argc, char **argv,
		      struct buffer *ret_out)
{
	struct cli_call call = {0};
	struct error *error;
	bool help;

	*ret_out = (struct buffer){0};
	if (argc < 2)
		return error_new(STATUS_FAILED, "no command given; 'pokepatch --help' lists them");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		add_program_help(ret_out, commands);
		return NULL;
	}
	call.command =
		find_command(commands, strcmp(argv[1], "--version") == 0 ? "version" : argv[1]);
	if (!call.command)
		return unknown_command(commands, argv[1]);

	TRY(parse(call.command, argc - 1, argv + 1, &call, &help));
	if (help) {
		add_command_help(ret_out, call.command);
		return NULL;
	}
	if (call.count < call.command->min_arguments || call.count > call.command->max_arguments)
		return error_new(STATUS_FAILED, "%s; usage: pokepatch %s%s%s",
				 call.count < call.command->min_arguments ? "too few arguments"
									  : "too many arguments",
				 call.command->name, call.command->arguments[0] ? " " : "",
				 call.command->arguments);
	error = call.command->run(&call);
	*ret_out = call.out;
	return error;
}
