// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pokepatch-as: run a kernel's build with the assembler that moves patchable entries (as_main.c),
 * and check the entries of a built kernel; see pokepatch-as(1).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pokepatch-as/entries.h"
#include "common/libexec.h"
#include "common/version.h"

static const char usage[] =
	"usage: pokepatch-as --build [--slots N] make ARGUMENT...\n"
	"       pokepatch-as --check [--slots N] VMLINUX\n"
	"\n"
	"Build MIPS kernels with patchable function entries.  GCC 8 to 12 write the NOPs\n"
	"of -fpatchable-function-entry before the label of a function; pokepatch-as moves\n"
	"them after it.\n"
	"\n"
	"  --build     run make so that every function of the kernel begins with NOPs\n"
	"  --check     check that every entry of a kernel is inside its function\n"
	"  --slots N   NOPs of an entry: 4, or 3 for release 6 (default: 4)\n"
	"  --help      show this text\n"
	"  --version   show the version\n"
	"\n"
	"Exit status: 0 done, 1 usage or environment, 2 an entry is outside its function;\n"
	"with --build the exit status of make.\n";

/* Append flags to an environment variable that kbuild reads additional flags from. */
static void add_flags(const char *variable, const char *flags)
{
	const char *old = getenv(variable);
	char *all _free_ = xasprintf("%s%s%s", old ? old : "", old ? " " : "", flags);

	setenv(variable, all, 1);
}

static struct error *build(unsigned int slots, char **command)
{
	char *link _free_ = NULL, *flags _free_ = NULL;

	if (!command[0])
		return error_new(STATUS_FAILED,
				 "--build: no command given; try 'pokepatch-as --help'");
	TRY(libexec_find("as", &link));
	if (strpbrk(link, " \t'\"$#"))
		return error_new(STATUS_FAILED,
				 "%s: kbuild cannot pass this path to the compiler because of a "
				 "blank, a quote, a $ or a # in it; install pokepatch elsewhere",
				 link);
	/*
	 * Only if this macro is defined does compiler_types.h give notrace functions no entry.
	 * The kernel defines it itself for ftrace alone.
	 */
	flags = xasprintf("-fpatchable-function-entry=%u -DCC_USING_PATCHABLE_FUNCTION_ENTRY -B%s",
			  slots, link);
	add_flags("KCFLAGS", flags);
	execvp(command[0], command);
	return error_errno("cannot run %s", command[0]);
}

static struct error *check(unsigned int slots, char **files, enum exit_status *ret)
{
	struct buffer bad = {0};
	struct entries_check found;
	struct error *error;

	if (!files[0] || files[1])
		return error_new(STATUS_FAILED,
				 "--check: give one vmlinux; try 'pokepatch-as --help'");
	error = entries_check(files[0], slots, &found, &bad);
	if (bad.length)
		fwrite(bad.text, 1, bad.length, stdout);
	*ret = bad.length ? STATUS_REFUSED : STATUS_DONE;
	buffer_deinit(&bad);
	if (error)
		return error;
	printf("%zu entries: %zu at the start of their function, %zu of weak functions that are "
	       "overridden, %zu listed twice, %zu of functions that were left out; %zu functions\n",
	       found.entries, found.at_start, found.overridden, found.duplicate, found.discarded,
	       found.functions);
	return NULL;
}

static struct error *parse_slots(const char *text, unsigned int *ret)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || value < 3 || value > 16)
		return error_new(STATUS_FAILED, "--slots %s: give a number from 3 to 16", text);
	*ret = value;
	return NULL;
}

static struct error *run_command(int argc, char **argv, enum exit_status *ret)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned int slots = 4;
	int next = 2;

	if (!strcmp(what, "--help")) {
		fputs(usage, stdout);
		return NULL;
	}
	if (!strcmp(what, "--version")) {
		puts("pokepatch-as " POKEPATCH_VERSION);
		return NULL;
	}
	if (argc > next + 1 && !strcmp(argv[next], "--slots")) {
		TRY(parse_slots(argv[next + 1], &slots));
		next += 2;
	}
	if (!strcmp(what, "--build"))
		return build(slots, argv + next);
	if (!strcmp(what, "--check"))
		return check(slots, argv + next, ret);
	return error_new(STATUS_FAILED, "give --build or --check; try 'pokepatch-as --help'");
}

int main(int argc, char **argv)
{
	enum exit_status status = STATUS_DONE;
	struct error *error = run_command(argc, argv, &status);

	if (error) {
		status = error->status;
		fprintf(stderr, "pokepatch-as: %s\n", error->text);
		error_destroy(error);
	}
	return status;
}
