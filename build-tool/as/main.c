// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pokepatch-as: the assembler in front of the assembler; see pokepatch-as(1).
 *
 * A compiler that gets -B with the folder where a link "as" leads here runs us in place of GNU
 * as, with its options.  We read the source, move the patchable entries, and become the real
 * one: no process more, and its status, messages and signals are what the compiler sees.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "entries.h"
#include "libexec.h"
#include "version.h"

static const char usage[] =
	"usage: pokepatch-as --build [--slots N] make ARGUMENT...\n"
	"       pokepatch-as --check [--slots N] VMLINUX\n"
	"       as ARGUMENT...        (by a compiler; a link that -B finds)\n"
	"\n"
	"Patchable MIPS kernels with GCC 8 to 12, which put the NOPs of\n"
	"-fpatchable-function-entry before the label of the function.\n"
	"\n"
	"  --build     run make, for a kernel whose functions all begin with NOPs\n"
	"  --check     is every entry of a kernel inside its function?\n"
	"  --slots N   NOPs of an entry: 4, or 3 for release 6 (default: 4)\n"
	"  --help      this text (as \"as\": the assembler's)\n"
	"  --version   the version (as \"as\": the assembler's)\n"
	"\n"
	"Exit status: 0 done, 1 usage or environment, 2 an entry is outside its function;\n"
	"that of make, or of the assembler.\n";

/* ---- which assembler ------------------------------------------------------- */

/* Is the file at path this very program? */
static bool is_us(const char *path)
{
	struct stat ours, theirs;

	return stat("/proc/self/exe", &ours) || stat(path, &theirs) ||
	       (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino);
}

/* The first folder of a list with colons that has a program of the name which is not us. */
static char *find_in(const char *list, const char *name)
{
	for (const char *p = list; p && *p;) {
		size_t length = strcspn(p, ":");
		char *path _free_ = xasprintf("%.*s/%s", (int)length, p, name);

		if (length && !access(path, X_OK) && !is_us(path))
			return take_pointer(path);
		p += length + (p[length] == ':');
	}
	return NULL;
}

/* "mips64el-linux-gnuabi64-as" for a compiler .../mips64el-linux-gnuabi64-gcc-12. */
static char *named_after(const char *compiler)
{
	const char *slash = strrchr(compiler, '/');
	const char *base = slash ? slash + 1 : compiler, *end = NULL;

	for (const char *p = base; (p = strstr(p, "gcc")); p++)
		end = p;
	return end ? xasprintf("%.*sas", (int)(end - base), base) : xstrdup("as");
}

/*
 * The assembler that the compiler would have run without us: GCC tells its programs where it
 * looks (COMPILER_PATH, in which -B comes first) and how it was called (COLLECT_GCC).
 */
static struct error *find_assembler(char **ret)
{
	const char *wanted = getenv("POKEPATCH_REAL_AS"), *compiler = getenv("COLLECT_GCC");

	if (wanted) {
		if (is_us(wanted))
			return error_new(STATUS_FAILED,
					 "POKEPATCH_REAL_AS=%s is not there, or is pokepatch-as; "
					 "name the assembler", wanted);
		*ret = xstrdup(wanted);
		return NULL;
	}
	*ret = find_in(getenv("COMPILER_PATH"), "as");
	if (!*ret) {
		char *name _free_ = named_after(compiler ? compiler : "as");

		*ret = find_in(getenv("PATH"), name);
		if (!*ret)
			return error_new(STATUS_FAILED,
					 "there is no assembler %s; install binutils for the "
					 "machine, or set POKEPATCH_REAL_AS", name);
	}
	return NULL;
}

/* ---- as the assembler ------------------------------------------------------ */

struct command {
	VEC(int) inputs; /* indexes into argv; none: standard input */
	bool asks;	 /* --version and the like: no source is read */
};

/* Options of GNU as whose value is the next argument. */
static bool takes_value(const char *option)
{
	static const char *const options[] = {"-o", "-I", "--MD", "--defsym", "-G"};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(option, options[i]))
			return true;
	return false;
}

static struct error *parse_command(int argc, char **argv, struct command *ret)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (word[0] == '@')
			return error_new(STATUS_FAILED,
					 "%s: files of options are not read; pass the options "
					 "themselves", word);
		if (!strcmp(word, "--version") || has_suffix(word, "-help") ||
		    !strcmp(word, "-version"))
			ret->asks = true;
		else if (takes_value(word))
			i++;
		else if (word[0] != '-' || !strcmp(word, "-") || !strcmp(word, "--"))
			*vec_push(&ret->inputs) = i;
	}
	return NULL;
}

/* Standard input becomes the text: a file in memory, from its beginning. */
static struct error *feed(const char *text, size_t length)
{
	int fd = memfd_create("pokepatch-as", 0);
	size_t done = 0;

	if (fd < 0)
		return error_errno("cannot make a file in memory");
	while (done < length) {
		ssize_t wrote = write(fd, text + done, length - done);

		if (wrote < 0 && errno != EINTR)
			return error_errno("cannot write a file in memory");
		if (wrote > 0)
			done += wrote;
	}
	if (lseek(fd, 0, SEEK_SET) || dup2(fd, STDIN_FILENO) < 0)
		return error_errno("cannot turn a file in memory into standard input");
	if (fd != STDIN_FILENO)
		close(fd);
	return NULL;
}

/* Reads the source, moves its entries, and changes argv and standard input so that as sees that. */
static struct error *prepare(struct command *command, char **argv)
{
	bool from_stdin = !command->inputs.count;
	char *path = from_stdin ? NULL : argv[command->inputs.list[0]];
	struct buffer moved = {0};
	char *moved_text _free_ = NULL, *text _free_ = NULL;
	struct error *error;
	size_t length, count;

	if (path && (!strcmp(path, "-") || !strcmp(path, "--")))
		from_stdin = true;
	_failed_(file_read(from_stdin ? "/dev/stdin" : path, &text, &length));
	error = entries_move(from_stdin ? "{standard input}" : path, text, length, &moved, &count);
	moved_text = moved.text;
	if (error)
		return error;
	if (count) {
		if (command->inputs.count > 1)
			return error_new(STATUS_FAILED,
					 "%s: has patchable entries and is not the only source; "
					 "assemble one at a time", path);
		if (path)
			argv[command->inputs.list[0]] = "-";
		return feed(moved_text, moved.length);
	}
	return from_stdin ? feed(text, length) : NULL;
}

static struct error *assemble(int argc, char **argv)
{
	struct command command = {0};
	char *program _free_ = NULL;
	struct error *error;

	_failed_(find_assembler(&program));
	error = parse_command(argc, argv, &command);
	if (!error && !command.asks)
		error = prepare(&command, argv);
	vec_deinit(&command.inputs);
	if (error)
		return error;
	argv[0] = program;
	execv(program, argv);
	return error_errno("cannot run %s", program);
}

/* ---- for users ------------------------------------------------------------- */

/* Adds to an environment variable that kbuild takes more flags from. */
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
		return error_new(STATUS_FAILED, "--build: which command? Try 'pokepatch-as --help'");
	_failed_(libexec_find("as", &link));
	if (strpbrk(link, " \t'\"$#"))
		return error_new(STATUS_FAILED,
				 "%s: kbuild cannot take flags with such a path; install elsewhere",
				 link);
	/*
	 * compiler_types.h gives notrace functions no entry only where this is defined; without
	 * ftrace nothing else defines it.
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
		return error_new(STATUS_FAILED, "--check: give one vmlinux; try 'pokepatch-as --help'");
	error = entries_check(files[0], slots, &found, &bad);
	if (bad.length)
		fwrite(bad.text, 1, bad.length, stdout);
	*ret = bad.length ? STATUS_REFUSED : STATUS_DONE;
	buffer_deinit(&bad);
	if (error)
		return error;
	printf("%zu entries: %zu at the start of their function, %zu listed twice, %zu of functions "
	       "that were left out; %zu functions\n",
	       found.entries, found.at_start, found.duplicate, found.discarded, found.functions);
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

static struct error *serve_user(int argc, char **argv, enum exit_status *ret)
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
		_failed_(parse_slots(argv[next + 1], &slots));
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
	const char *slash = strrchr(argv[0], '/');
	enum exit_status status = STATUS_DONE;
	struct error *error;

	if (!strcmp(slash ? slash + 1 : argv[0], "as"))
		error = assemble(argc, argv);
	else
		error = serve_user(argc, argv, &status);
	if (error) {
		status = error->status;
		fprintf(stderr, "pokepatch-as: %s\n", error->text);
		error_destroy(error);
	}
	return status;
}
