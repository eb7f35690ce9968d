// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * as: moves patchable entries, and then replaces itself with the assembler; see pokepatch-as(1).
 *
 * A compiler whose -B option names our folder runs this program instead of GNU as, with the same
 * options.  It reads the source, moves the patchable entries, and executes the real assembler.
 * There is no additional process, and the compiler sees the real assembler's status, messages and
 * signals.
 *
 * It is a program of its own without unneeded libraries, because the compiler runs it for each unit
 * of a kernel, and loading the other programs' libraries takes longer than reading most units.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pokepatch-as/entries.h"

/* ---- finding the real assembler -------------------------------------------- */

/* Is the file at path this program itself?  True also if that cannot be found out. */
static bool is_this_program(const char *path)
{
	struct stat ours, theirs;

	return stat("/proc/self/exe", &ours) || stat(path, &theirs) ||
	       (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino);
}

/*
 * Find another program than this one in a list of folders with colons between them.  Return: its
 * path, which the caller frees, or NULL.
 */
static char *find_program(const char *list, const char *name)
{
	for (const char *p = list; p && *p;) {
		size_t length = strcspn(p, ":");
		char *path _free_ = xasprintf("%.*s/%s", (int)length, p, name);

		if (length && !access(path, X_OK) && !is_this_program(path))
			return take_pointer(path);
		p += length + (p[length] == ':');
	}
	return NULL;
}

/* "mips64el-linux-gnuabi64-as" for a compiler .../mips64el-linux-gnuabi64-gcc-12, else "as". */
static char *assembler_name(const char *compiler)
{
	const char *slash = strrchr(compiler, '/');
	const char *base = slash ? slash + 1 : compiler, *end = NULL;

	for (const char *p = base; (p = strstr(p, "gcc")); p++)
		end = p;
	return end ? xasprintf("%.*sas", (int)(end - base), base) : xstrdup("as");
}

/*
 * Find the assembler that the compiler would have run instead of this program.  GCC passes its
 * search path to its programs in COMPILER_PATH, where -B comes first, and its own name in
 * COLLECT_GCC.
 */
static struct error *find_assembler(char **ret)
{
	const char *wanted = getenv("POKEPATCH_REAL_AS"), *compiler = getenv("COLLECT_GCC");

	if (wanted) {
		if (is_this_program(wanted))
			return error_new(STATUS_FAILED,
					 "POKEPATCH_REAL_AS=%s is not there, or is pokepatch-as; "
					 "name the assembler", wanted);
		*ret = xstrdup(wanted);
		return NULL;
	}
	*ret = find_program(getenv("COMPILER_PATH"), "as");
	if (!*ret) {
		char *name _free_ = assembler_name(compiler ? compiler : "as");

		*ret = find_program(getenv("PATH"), name);
		if (!*ret)
			return error_new(STATUS_FAILED,
					 "there is no assembler %s; install binutils for the "
					 "machine, or set POKEPATCH_REAL_AS", name);
	}
	return NULL;
}

/* ---- the command line ------------------------------------------------------ */

struct command {
	VEC(int) inputs; /* indexes into argv; none: standard input */
	bool only_prints; /* --version or --help: the assembler reads no source */
};

/*
 * Does the next argument hold the value of this option of GNU as?  These are the options of
 * gas/as.c and gas/config/tc-mips.c that take a value, if "=" does not follow them.
 * getopt_long_only() accepts one dash for two.  Abbreviated options, which compilers do not use,
 * are not recognised.
 */
static bool takes_value(const char *option)
{
	static const char *const options[] = {
		"o", "I", "G", "MD", "defsym", "debug-prefix-map", "hash-size", "itbl",
		"listing-lhs-width", "listing-lhs-width2", "listing-rhs-width",
		"listing-cont-lines", "gdwarf-cie-version", "size-check", "elf-stt-common",
		"generate-missing-build-notes", "multibyte-handling", "march", "mtune", "mabi",
		"mnan", "mfp",
	};
	const char *name = option + (option[0] == '-') + (option[0] == '-' && option[1] == '-');

	for (size_t i = 0; name > option && i < ARRAY_SIZE(options); i++)
		if (!strcmp(name, options[i]))
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
			ret->only_prints = true;
		else if (takes_value(word))
			i++;
		else if (word[0] != '-' || !strcmp(word, "-") || !strcmp(word, "--"))
			*vec_push(&ret->inputs) = i;
	}
	return NULL;
}

/* ---- the source ------------------------------------------------------------ */

/* Make the text standard input, in a file in memory. */
static struct error *set_stdin(const char *text, size_t length)
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

/* Refuse entries in several sources: the assembler would read them as one. */
static struct error *check_sources(const struct command *command, char **argv)
{
	for (size_t i = 0; i < command->inputs.count; i++) {
		const char *path = argv[command->inputs.list[i]];
		struct buffer moved = {0};
		char *text _free_ = NULL;
		struct error *error;
		size_t length, count;

		TRY(file_read(path, &text, &length));
		error = entries_move(path, text, length, &moved, &count);
		buffer_deinit(&moved);
		if (error)
			return error;
		if (count)
			return error_new(STATUS_FAILED,
					 "%s: has patchable entries and is not the only source; "
					 "assemble one at a time", path);
	}
	return NULL;
}

/*
 * Read the source and move its entries.  Where the assembler has to read the result instead, make
 * it standard input and change argv.
 */
static struct error *prepare_source(struct command *command, char **argv)
{
	bool from_stdin = !command->inputs.count;
	char *path = from_stdin ? NULL : argv[command->inputs.list[0]];
	struct buffer moved = {0};
	char *moved_text _free_ = NULL, *text _free_ = NULL;
	struct error *error;
	size_t length, count;

	if (path && (!strcmp(path, "-") || !strcmp(path, "--")))
		from_stdin = true;
	TRY(file_read(from_stdin ? "/dev/stdin" : path, &text, &length));
	error = entries_move(from_stdin ? "{standard input}" : path, text, length, &moved, &count);
	moved_text = moved.text;
	if (error)
		return error;
	if (count) {
		if (path)
			argv[command->inputs.list[0]] = "-";
		return set_stdin(moved_text, moved.length);
	}
	return from_stdin ? set_stdin(text, length) : NULL;
}

static struct error *assemble(int argc, char **argv)
{
	struct command command = {0};
	char *program _free_ = NULL;
	struct error *error;

	TRY(find_assembler(&program));
	error = parse_command(argc, argv, &command);
	if (!error && !command.only_prints)
		error = command.inputs.count > 1 ? check_sources(&command, argv)
						 : prepare_source(&command, argv);
	vec_deinit(&command.inputs);
	if (error)
		return error;
	argv[0] = program;
	execv(program, argv);
	return error_errno("cannot run %s", program);
}

int main(int argc, char **argv)
{
	struct error *error = assemble(argc, argv);
	enum exit_status status = error->status;

	fprintf(stderr, "pokepatch-as: %s\n", error->text);
	error_destroy(error);
	return status;
}
