// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of pokepatch-build. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pokepatch-build/about.h"
#include "pokepatch-build/build.h"
#include "pokepatch-build/format.h"
#include "pokepatch-build/return_value.h"
#include "pokepatch_format.h"
#include "common/version.h"

enum {
	OPTION_KBUILD = 256,
	OPTION_ARCH,
	OPTION_CROSS_COMPILE,
	OPTION_MODE,
	OPTION_TRANSITION,
	OPTION_REPORT,
	OPTION_EXPLAIN,
	OPTION_HTML,
	OPTION_DRY_RUN,
	OPTION_FORMAT,
	OPTION_FUZZ,
	OPTION_KEEP,
	OPTION_ALLOW,
	OPTION_FETCH,
	OPTION_MODULE_SOURCE,
	OPTION_SERIES,
	OPTION_LEAVE_OUT,
	OPTION_INSTRUMENT,
	OPTION_MARK_FUNCTIONS,
	OPTION_LEVEL,
	OPTION_DEB,
	OPTION_REVOKE_BELOW,
	OPTION_SIGN,
	OPTION_UNTIL,
	OPTION_CVE,
	OPTION_UNFIXED,
	OPTION_RETURN,
	OPTION_VERSION,
};

/* One row for each option, for getopt and for --help; the manual page must agree. */
static const struct option_row {
	int value; /* the short option's letter, or one of the above */
	const char *name;
	const char *argument; /* NULL: it takes none */
	const char *help;
} rows[] = {
	{'k', "kernel", "RELEASE",
	 "the kernel to patch (default: that of --kbuild, or the running one)"},
	{OPTION_FETCH, "fetch", NULL, "run 'pokepatch fetch' if the cache lacks a part of it"},
	{'s', "source", "PATH", "its source, a folder or a tarball; never written to"},
	{'c', "config", "FILE", "its configuration"},
	{'v', "vmlinux", "FILE", "its vmlinux, with DWARF"},
	{'m', "modules", "DIR", "its modules, with DWARF"},
	{OPTION_KBUILD, "kbuild", "DIR",
	 "its build folder (headers, Module.symvers); has all of it, if it was built there"},
	{OPTION_MODULE_SOURCE, "module-source", "DIR",
	 "patch an out-of-tree module too, which was built in this folder"},
	{'o', "output", "FILE.ko", "the module to write (default: pokepatch-NAME.ko)"},
	{'n', "name", "NAME", "the patch's name (default: from the first PATCH)"},
	{'j', "jobs", "N", "programs to run at the same time (default: one for each processor)"},
	{OPTION_FORMAT, "format", "pokepatch|livepatch",
	 "livepatch: a module for the kernel's own livepatch core (default: pokepatch)"},
	{OPTION_MODE, "mode", "auto|ftrace|direct|entry",
	 "how the core reroutes calls (default: auto)"},
	{OPTION_TRANSITION, "transition", "stop|live",
	 "how the core switches (default: stop; with --instrument live, if possible)"},
	{OPTION_SERIES, "series", "DIR|FILE",
	 "patch with the commits of a quilt series, of git format-patch, or of a mailbox"},
	{OPTION_LEAVE_OUT, "leave-out", NULL,
	 "with --series: leave out the commits that cannot be live, and do the rest"},
	{OPTION_INSTRUMENT, "instrument", NULL,
	 "compile with markers: POKEPATCH_MARK() in the files"},
	{'D', "define", "NAME[=V]", "with --instrument: define this macro"},
	{OPTION_MARK_FUNCTIONS, "mark-functions", "NAME,...",
	 "with --instrument: mark entry and return of these functions"},
	{OPTION_LEVEL, "level", "N",
	 "the patch is cumulative: it replaces those of other levels"},
	{OPTION_DEB, "deb", NULL,
	 "with --level: write a package linux-livepatch-RELEASE; of level 0, without PATCH"},
	{OPTION_REVOKE_BELOW, "revoke-below", "N",
	 "with --level: the core switches no lower level than N on any more"},
	{OPTION_UNTIL, "until", "DATE", "with --level: it is meant to last until this day"},
	{OPTION_CVE, "cve", "CVE-...,...", "with --level: it fixes these, and those of the commits"},
	{OPTION_UNFIXED, "unfixed", "CVE-...,...", "with --level: it does not fix these"},
	{OPTION_SIGN, "sign", "KEY,CERT|dkms",
	 "sign module and core with a key (PEM) and its certificate; dkms: with the key of dkms"},
	{OPTION_RETURN, "return", "FUNCTION=VALUE",
	 "have this function return at once; needs no source"},
	{OPTION_ARCH, "arch", "ARCH", "its architecture (default: from its vmlinux)"},
	{OPTION_CROSS_COMPILE, "cross-compile", "PREFIX",
	 "prefix of the cross compiler and its tools (default: Debian's)"},
	{OPTION_REPORT, "report", "FILE", "write a report in JSON; - is standard output"},
	{OPTION_EXPLAIN, "explain", NULL, "print why each function, type and commit is in the patch"},
	{OPTION_HTML, "html", "FILE", "write a page for browsers: the same, with source and code"},
	{OPTION_ALLOW, "allow", "CODE[:SUBJECT]", "leave out changes refused with this code"},
	{OPTION_FUZZ, "fuzz", "N", "let N lines of context differ at each end of a hunk (default: 0)"},
	{OPTION_DRY_RUN, "dry-run", NULL, "do everything, but write no module"},
	{OPTION_KEEP, "keep", "DIR", "keep the work files in this folder"},
	{'q', "quiet", NULL, "print no progress and no summary"},
	{'V', "verbose", NULL, "print each command that runs"},
	{'h', "help", NULL, "show this text"},
	{OPTION_VERSION, "version", NULL, "show the version"},
};

static const struct mode_name {
	const char *name;
	uint32_t mode;
} modes[] = {
	{"auto", POKEPATCH_MODE_AUTO},
	{"ftrace", POKEPATCH_MODE_FTRACE},
	{"direct", POKEPATCH_MODE_DIRECT},
	{"entry", POKEPATCH_MODE_ENTRY},
};

const char *mode_name(uint32_t mode)
{
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (modes[i].mode == mode)
			return modes[i].name;
	return "unknown";
}

static const struct mode_name transitions[] = {
	{"stop", POKEPATCH_TRANSITION_STOP},
	{"live", POKEPATCH_TRANSITION_LIVE},
};

static void print_help(void)
{
	printf("Usage: pokepatch-build [options] PATCH...\n"
	       "       pokepatch-build --series DIR|FILE [options]\n"
	       "       pokepatch-build --instrument [options] FILE.c|PATCH...\n"
	       "       pokepatch-build --return [MODULE:][FILE:]FUNCTION=VALUE... [options]\n"
	       "Make a live patch module for a stock kernel from source diffs (-p1), or a module\n"
	       "with instrumented copies of functions that have markers (pokepatch_patch(7)).\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_free_ char *left = xasprintf("--%s%s%s", rows[i].name, rows[i].argument ? " " : "",
					      rows[i].argument ? rows[i].argument : "");

		if (rows[i].value < 256)
			printf("  -%c, %-24s %s\n", rows[i].value, left, rows[i].help);
		else
			printf("      %-24s %s\n", left, rows[i].help);
	}
	printf("\nThe cache, which 'pokepatch fetch RELEASE' or --fetch fills, has the parts of the\n"
	       "kernel that no option names.\n"
	       "Exit status: 0 done, 1 usage or environment, 2 refused, 3 nothing to do.\n");
}

static struct error *usage(const char *what, const char *subject)
{
	return error_new(STATUS_FAILED, "%s%s%s; 'pokepatch-build --help' lists the options", what,
			 subject ? " " : "", subject ? subject : "");
}

static struct error *parse_name(const char *what, const struct mode_name *names, size_t count,
				const char *text, uint32_t *ret)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(names[i].name, text)) {
			*ret = names[i].mode;
			return NULL;
		}
	}
	return error_new(STATUS_FAILED,
			 "--%s %s: unknown value; 'pokepatch-build --help' lists the known ones",
			 what, text);
}

static struct error *parse_number(const char *option, const char *text, unsigned int least,
				  unsigned int most, unsigned int *ret)
{
	_free_ char *what = xasprintf("%s wants a number from %u to %u, not", option, least, most);
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < least || value > most)
		return usage(what, text);
	*ret = (unsigned int)value;
	return NULL;
}

/* Check the argument of -D: the compiler takes it as it is, so accept nothing but a macro. */
static struct error *parse_define(const char *text, struct build_options *options)
{
	size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz_0123456789");

	if (!length || (text[0] >= '0' && text[0] <= '9') || (text[length] && text[length] != '='))
		return usage("-D wants NAME or NAME=VALUE, not", text);
	*vec_push(&options->defines) = text;
	return NULL;
}

static struct error *set_option(int value, const char *argument, struct build_options *options)
{
	struct string_option {
		int value;
		const char **field;
	} strings[] = {
		{'k', &options->kernel},           {'s', &options->source},
		{'c', &options->config},           {'v', &options->vmlinux},
		{'m', &options->modules},          {OPTION_KBUILD, &options->kbuild},
		{'o', &options->output},           {'n', &options->name},
		{OPTION_REPORT, &options->report}, {OPTION_KEEP, &options->keep},
		{OPTION_ARCH, &options->arch},     {OPTION_CROSS_COMPILE, &options->cross},
		{OPTION_SERIES, &options->series}, {OPTION_MODULE_SOURCE, &options->module_source},
		{OPTION_UNTIL, &options->until},   {OPTION_SIGN, &options->sign},
		{OPTION_HTML, &options->html},
	};

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		if (strings[i].value != value)
			continue;
		if (!*argument)
			return usage("an option has an empty argument:", "");
		*strings[i].field = argument;
		return NULL;
	}
	switch (value) {
	case 'j':
		return parse_number("-j", argument, 1, 4096, &options->jobs);
	case OPTION_FORMAT:
		options->format = output_format_find(argument);
		return options->format ? NULL
				       : usage("--format is pokepatch or livepatch, not", argument);
	case OPTION_MODE:
		return parse_name("mode", modes, ARRAY_SIZE(modes), argument, &options->mode);
	case OPTION_TRANSITION:
		return parse_name("transition", transitions, ARRAY_SIZE(transitions), argument,
				  &options->transition);
	case OPTION_ALLOW:
		*vec_push(&options->allow) = argument;
		return NULL;
	case OPTION_EXPLAIN:
		options->explain = true;
		return NULL;
	case OPTION_FETCH:
		options->fetch = true;
		return NULL;
	case OPTION_LEAVE_OUT:
		options->leave_out = true;
		return NULL;
	case OPTION_INSTRUMENT:
		options->instrument = true;
		return NULL;
	case 'D':
		return parse_define(argument, options);
	case OPTION_MARK_FUNCTIONS:
		*vec_push(&options->mark_functions) = argument;
		return NULL;
	case OPTION_RETURN:
		*vec_push(&options->returns) = argument;
		return NULL;
	case OPTION_FUZZ:
		return parse_number("--fuzz", argument, 0, PATCH_FUZZ_MAX, &options->fuzz);
	case OPTION_LEVEL:
		options->level_given = true;
		return parse_number("--level", argument, 0, UINT32_MAX, &options->level);
	case OPTION_REVOKE_BELOW:
		return parse_number("--revoke-below", argument, 1, UINT32_MAX,
				    &options->least_level);
	case OPTION_DEB:
		options->deb = true;
		return NULL;
	case OPTION_CVE:
		return about_parse_cves("--cve", argument, &options->cves);
	case OPTION_UNFIXED:
		return about_parse_cves("--unfixed", argument, &options->unfixed);
	case OPTION_DRY_RUN:
		options->dry_run = true;
		return NULL;
	case 'q':
		options->quiet = true;
		return NULL;
	case 'V':
		options->verbose = true;
		return NULL;
	default:
		return usage("unknown option, or an option without its argument", NULL);
	}
}

static void make_getopt_tables(struct option *long_options, char *letters)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		long_options[i] = (struct option){
			.name = rows[i].name,
			.has_arg = rows[i].argument ? required_argument : no_argument,
			.val = rows[i].value,
		};
		if (rows[i].value >= 256)
			continue;
		*letters++ = (char)rows[i].value;
		if (rows[i].argument)
			*letters++ = ':';
	}
	*letters = '\0';
}

bool options_no_patch(const struct build_options *options)
{
	return options->deb && !options->level;
}

/* Check --level, and what goes with it alone. */
static struct error *check_level(const struct build_options *options)
{
	const bool patched = options->nr_patches || options->series || options->returns.count;

	if (options->deb && !options->level_given)
		return usage("--deb needs --level", NULL);
	/* No two modules have one name: an upgrade loads the next level before this one goes. */
	if (options->deb && options->name)
		return usage("--deb names the patch by its level; leave out --name", NULL);
	if (options->level_given && !options->level && (!options->deb || patched))
		return usage("--level 0 is for --deb without any PATCH", NULL);
	if (!options->level_given && (options->until || options->cves.count || options->unfixed.count))
		return usage("--until, --cve and --unfixed need --level", NULL);
	if (options->least_level > options->level)
		return usage("--revoke-below takes no number above --level's", NULL);
	return options->until ? about_check_date(options->until) : NULL;
}

/* Check each --return before anything is read, and that there is nothing else to build. */
static struct error *check_returns(const struct build_options *options)
{
	if (options->nr_patches || options->series || options->instrument ||
	    options->module_source || options->defines.count || options->mark_functions.count)
		return usage("--return makes the whole patch: no PATCH, --series, --instrument and "
			     "--module-source go with it",
			     NULL);
	for (size_t i = 0; i < options->returns.count; i++) {
		struct return_request request;
		struct error *error = return_request_parse(options->returns.list[i], &request);

		return_request_deinit(&request);
		TRY(error);
	}
	return NULL;
}

/* Which options go together. */
static struct error *check_together(const struct build_options *options)
{
	if (options->series && (options->nr_patches || options->instrument))
		return usage(options->instrument ? "--series and --instrument do not go together"
					     : "--series has all patches; no PATCH goes with it:",
			     options->instrument ? NULL : options->patches[0]);
	if (options->explain && options->report && !strcmp(options->report, "-"))
		return usage("--explain and --report - both write to standard output", NULL);
	if (options->leave_out && !options->series)
		return usage("--leave-out needs --series", NULL);
	const char *bare = options->format->bare_option(options);

	if (bare)
		return usage("--format livepatch has no equivalent of", bare);
	TRY(check_level(options));
	if (options->returns.count)
		return check_returns(options);
	if (!options->series && !options->nr_patches && !options_no_patch(options))
		return usage(options->instrument ? "no FILE.c and no PATCH given" : "no PATCH given",
			     NULL);
	if (!options->instrument && (options->defines.count || options->mark_functions.count))
		return usage(options->defines.count ? "-D needs --instrument"
						: "--mark-functions needs --instrument",
			     NULL);
	return NULL;
}

struct error *options_parse(int argc, char **argv, struct build_options *ret, bool *ret_done)
{
	struct option long_options[ARRAY_SIZE(rows) + 1] = {};
	char letters[2 * ARRAY_SIZE(rows) + 1];
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	int value;

	*ret_done = false;
	*ret = (struct build_options){
		.jobs = processors > 0 ? (unsigned int)processors : 1,
		.format = &format_pokepatch,
		.mode = POKEPATCH_MODE_AUTO,
		.transition = TRANSITION_DEFAULT,
	};
	make_getopt_tables(long_options, letters);
	optind = 0;
	opterr = 0;
	while ((value = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
		if (value == 'h') {
			print_help();
			*ret_done = true;
			return NULL;
		}
		if (value == OPTION_VERSION) {
			printf("pokepatch-build %s\n", POKEPATCH_VERSION);
			*ret_done = true;
			return NULL;
		}
		if (value == '?')
			return usage("unknown option, or an option without its argument:",
				     argv[optind - 1]);
		TRY(set_option(value, optarg, ret));
	}
	ret->patches = argv + optind;
	ret->nr_patches = (size_t)(argc - optind);
	return check_together(ret);
}
