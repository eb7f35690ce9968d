// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * as: the assembler in front of the assembler; see pokepatch-as(1).
 *
 * A compiler that gets -B with our folder runs us in place of GNU as, with its options.  We read
 * the source, move the patchable entries, and become the real one: no process more, and its
 * status, messages and signals are what the compiler sees.
 *
 * It is a program of its own, and linked with nothing that it does not need: it is run for each
 * unit of a kernel, and the libraries of the others take longer to load than most units to read.
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

/*
 * Options of GNU as whose value is the next argument, unless "=" is behind them: those of gas/as.c and
 * gas/config/tc-mips.c.  getopt_long_only() takes one dash for two; abbreviations, which no compiler
 * writes, are not told.
 */
static bool takes_value(const char *option)
{
	static const char *const options[] = {
		"o", "I", "G", "MD", "defsym", "debug-prefix-map", "hash-size", "itbl",
		"listing-lhs-width", "listing-lhs-width2", "listing-rhs-width", "listing-cont-lines",
		"gdwarf-cie-version", "size-check", "elf-stt-common", "generate-missing-build-notes",
		"multibyte-handling", "march", "mtune", "mabi", "mnan", "mfp",
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

/* Several sources, which as reads as one: none of them may have entries. */
static struct error *look_into(const struct command *command, char **argv)
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
	TRY(file_read(from_stdin ? "/dev/stdin" : path, &text, &length));
	error = entries_move(from_stdin ? "{standard input}" : path, text, length, &moved, &count);
	moved_text = moved.text;
	if (error)
		return error;
	if (count) {
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

	TRY(find_assembler(&program));
	error = parse_command(argc, argv, &command);
	if (!error && !command.asks)
		error = command.inputs.count > 1 ? look_into(&command, argv) : prepare(&command, argv);
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
