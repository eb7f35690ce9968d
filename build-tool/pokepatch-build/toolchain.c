// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The compiler, linker and flags that built the kernel; see toolchain.h.
 *
 * A build folder says them in up to four places.  Debian's headers have .kernelvariables, which
 * names CC.  A folder in which a kernel was built has include/config/auto.conf.cmd, where Kconfig
 * writes the value of each make variable that the configuration reads (env_write_dep() in
 * scripts/kconfig/preprocess.c):
 *
 *	ifneq "$(CC)" "clang-19"
 *	include/config/auto.conf: FORCE
 *	endif
 *
 * kbuild configures again when one of them changes, so these are the values of the last build.
 * Every configuration has the first line of `CC --version` in CONFIG_CC_VERSION_TEXT.  KCFLAGS are
 * recorded nowhere by that name, but scripts/mod/.empty.o.cmd has the command for an empty unit.
 */
#include "pokepatch-build/toolchain.h"

#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "pokepatch-build/answers.h"
#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/tree.h"

/* ---- names of tools --------------------------------------------------------- */

/* Make variables that a user sets to build with other tools, and what kbuild sets without. */
static const struct {
	const char *variable, *standard; /* the standard's name follows CROSS_COMPILE */
} tools[] = {
	{"CC", "gcc"},	 {"LD", "ld"},		 {"AR", "ar"},
	{"NM", "nm"},	 {"OBJCOPY", "objcopy"}, {"OBJDUMP", "objdump"},
	{"STRIP", "strip"}, {"READELF", "readelf"},
};

/* Programs that run the compiler that follows them; not needed, and not the compiler's name. */
static const char *const launchers[] = {"ccache", "sccache", "distcc", "icecc"};

/* The compiler in a value of CC: "ccache gcc-12" is gcc-12; part of the value. */
static const char *without_launcher(const char *value)
{
	const char *slash = NULL, *end = value + strcspn(value, " ");

	for (const char *p = value; p < end; p++)
		if (*p == '/')
			slash = p;
	slash = slash ? slash + 1 : value;
	for (size_t i = 0; i < ARRAY_SIZE(launchers); i++)
		if ((size_t)(end - slash) == strlen(launchers[i]) && *end &&
		    has_prefix(slash, launchers[i]))
			return end + strspn(end, " ");
	return value;
}

/*
 * The value of a make variable in the text of auto.conf.cmd, which the caller frees; NULL: the
 * configuration did not read the variable.
 */
static char *recorded_variable(const char *text, const char *name)
{
	_free_ char *line = xasprintf("ifneq \"$(%s)\" \"", name);
	const char *found = text ? strstr(text, line) : NULL;
	const char *end;

	if (!found)
		return NULL;
	found += strlen(line);
	end = found + strcspn(found, "\n");
	while (end > found && end[-1] != '"')
		end--;
	return end - 1 > found ? xstrndup(found, (size_t)(end - 1 - found)) : NULL;
}

static char *read_record(const struct build *build)
{
	_free_ char *path = xasprintf("%s/include/config/auto.conf.cmd", build->files.kbuild);
	char *text = NULL;

	error_destroy(file_read(path, &text, NULL));
	return text;
}

char *toolchain_config(const struct build *build, const char *symbol)
{
	_free_ char *path = xasprintf("%s/.config", build->files.kbuild);
	_free_ char *line = xasprintf("\n%s=", symbol);
	_free_ char *text = NULL;
	const char *found;
	size_t length;

	error_destroy(file_read(path, &text, NULL));
	found = text ? strstr(text, line) : NULL;
	if (!found)
		return NULL;
	found += strlen(line);
	length = strcspn(found, "\n");
	if (length >= 2 && *found == '"')
		return xstrndup(found + 1, length - 2);
	return xstrndup(found, length);
}

/* ---- from the line that the compiler prints about itself --------------------- */

/*
 * The compiler's name by CONFIG_CC_VERSION_TEXT, which the caller frees; NULL: not known.  gcc
 * begins the line with the name by which it was called: "gcc-12 (Debian 12.2.0-14) 12.2.0".
 * clang does not: "Debian clang version 19.1.7 (3~deb12u1)".
 */
static char *configured_compiler(const struct build *build)
{
	static const char clang[] = "clang version ";
	_free_ char *text = toolchain_config(build, "CONFIG_CC_VERSION_TEXT");
	const char *found = text ? strstr(text, clang) : NULL;

	if (!text || !*text)
		return NULL;
	if (!found)
		return xstrndup(text, strcspn(text, " "));
	found += strlen(clang);
	return xasprintf("clang-%.*s", (int)strcspn(found, "."), found);
}

/* The length of the prefix in a cross compiler's name ("aarch64-linux-gnu-"); 0: it has none. */
static size_t cross_prefix(const char *compiler)
{
	const char *gcc = compiler ? strstr(compiler, "gcc") : NULL;

	return gcc && gcc > compiler && gcc[-1] == '-' && !strchr(compiler, '/') ? gcc - compiler
										  : 0;
}

/*
 * The prefix of the tools that "pokepatch fetch" put into the cache because this machine lacks the
 * kernel's compiler, also if it is for this machine; NULL: there are none.  The caller frees it.
 */
static char *fetched_tools(const struct build *build)
{
	_free_ char *prefix = xasprintf("%s/usr/bin/%s-", build->files.compiler ?: "",
					build->machine->tools.gnu);
	_free_ char *ld = xasprintf("%sld", prefix);

	return build->files.compiler && file_exists(ld) ? take_pointer(prefix) : NULL;
}

char *toolchain_cross(const struct build *build)
{
	_free_ char *compiler = configured_compiler(build);
	char *fetched = build->options.cross ? NULL : fetched_tools(build);
	size_t length = cross_prefix(compiler);

	if (build->options.cross || fetched)
		return fetched ?: xstrdup(build->options.cross);
	if (arch_is_native(build->machine))
		return NULL;
	return length ? xstrndup(compiler, length) : xasprintf("%s-", build->machine->tools.gnu);
}

/* ---- choosing --------------------------------------------------------------- */

static void set_variable(struct build *build, const char *name, const char *value)
{
	args_addf(&build->make_variables, "%s=%s", name, value);
}

static bool is_standard(const struct build *build, size_t tool, const char *value)
{
	_free_ char *standard = xasprintf("%s%s", build->cross ?: "", tools[tool].standard);

	return !strcmp(value, standard);
}

/* Take all tools from Kconfig's record.  False: it has no compiler. */
static bool take_record(struct build *build, const char *record)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		_free_ char *value = recorded_variable(record, tools[i].variable);
		bool compiler = !strcmp(tools[i].variable, "CC");

		if (compiler && !value)
			return false;
		if (!value)
			continue;
		if (compiler)
			build->cc = xstrdup(without_launcher(value));
		if (!is_standard(build, i, compiler ? build->cc : value))
			set_variable(build, tools[i].variable, compiler ? build->cc : value);
	}
	return true;
}

/* The build folder does not name the compiler, so take its name from the configuration. */
static void take_configured(struct build *build)
{
	_free_ char *compiler = configured_compiler(build);
	size_t skip = build->cross ? cross_prefix(compiler) : 0;
	bool clang = compiler && has_prefix(compiler, "clang");

	build->cc = xasprintf("%s%s", clang ? "" : build->cross ?: "",
			      compiler ? compiler + skip : "gcc");
	if (!is_standard(build, 0, build->cc))
		set_variable(build, "CC", build->cc);
	if (clang) { /* LLVM=-19 gives the linker the compiler's ending */
		_free_ char *lld = toolchain_config(build, "CONFIG_LD_IS_LLD");

		if (lld)
			args_addf(&build->make_variables, "LD=ld.lld%s",
				  compiler + strlen("clang"));
	}
}

/* A makefile that prints the compiler that Debian's headers name (.kernelvariables). */
static const char variables_makefile[] = "-include $(KBUILD_FOLDER)/.kernelvariables\n"
					 "print:\n"
					 "\t@echo $(CC)\n";

/* *ret: what make prints as the compiler of the headers, which the caller frees. */
static struct error *ask_make(const struct build *build, char **ret)
{
	_free_ char *makefile = xasprintf("%s/variables.mk", build->work);
	struct args args = {};
	struct buffer out = {};
	struct error *error;

	TRY(file_write_scratch(makefile, variables_makefile, strlen(variables_makefile)));
	/* When another make runs us, its MAKEFLAGS could set CC. */
	args_add_clean_environment(&args, build->work);
	args_add(&args, "make");
	args_add(&args, "-srR");
	args_add(&args, "-f");
	args_add(&args, makefile);
	args_addf(&args, "KBUILD_FOLDER=%s", build->files.kbuild);
	args_add_machine(&args, build);
	args_add(&args, "print");
	error = proc_check((const char *const *)args.list, NULL, &out);
	args_deinit(&args);
	if (error)
		return error_prefix(error, "cannot run make");
	*ret = out.text ?: xstrdup("");
	return NULL;
}

/* What that depends on. */
static struct error *headers_question(const struct build *build, struct buffer *ret)
{
	struct args args = {};

	args_add_machine(&args, build);
	for (size_t i = 0; i < args.count; i++)
		buffer_printf(ret, "%s\n", args.list[i]);
	args_deinit(&args);
	buffer_add_string(ret, variables_makefile);
	return identity_add_file(ret, build->files.kbuild, ".kernelvariables");
}

/* Set build->cc if the headers name it. */
static struct error *take_headers(struct build *build)
{
	_free_ char *variables = xasprintf("%s/.kernelvariables", build->files.kbuild);
	_free_ char *answer = NULL;
	struct buffer question = {};
	struct error *error;
	const char *name;

	if (!file_exists(variables))
		return NULL;
	error = headers_question(build, &question);
	if (!error)
		answer = answer_find(build, "headers", question.text);
	if (!error && !answer) {
		error = ask_make(build, &answer);
		if (!error)
			answer_keep(build, "headers", question.text, answer);
	}
	buffer_deinit(&question);
	TRY(error);
	name = answer + strspn(answer, " \t\n");
	/* Without a definition, make -R prints an empty line. */
	if (strcspn(name, " \t\n"))
		build->cc = xstrndup(name, strcspn(name, " \t\n"));
	return NULL;
}

/*
 * The headers name the compiler by the prefix of Debian's tools, or without one ("gcc-12"); take
 * the fetched one of that name.  Name its assembler and linker too: Debian's headers override
 * CROSS_COMPILE.
 */
static void use_fetched_tools(struct build *build)
{
	_free_ char *fetched = build->options.cross ? NULL : fetched_tools(build);
	const char *gcc = strstr(build->cc, "gcc");
	_free_ char *path = fetched && gcc ? xasprintf("%s%s", fetched, gcc) : NULL;

	if (!path || !file_exists(path))
		return;
	free(build->cc);
	build->cc = take_pointer(path);
	set_variable(build, "CC", build->cc);
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		_free_ char *tool = xasprintf("%s%s", fetched, tools[i].standard);

		if (strcmp(tools[i].variable, "CC"))
			set_variable(build, tools[i].variable, tool);
	}
}

struct error *toolchain_find(struct build *build)
{
	_free_ char *record = read_record(build);
	_free_ char *gnu_assembler = NULL;

	TRY(take_headers(build));
	if (build->cc) {
		use_fetched_tools(build);
		return NULL;
	}
	/* With another prefix than the kernel was built with, the record's names are wrong. */
	if (!record || build->options.cross || !take_record(build, record))
		take_configured(build);
	gnu_assembler = toolchain_config(build, "CONFIG_AS_IS_GNU");
	if (gnu_assembler && strstr(build->cc, "clang"))
		set_variable(build, "LLVM_IAS", "0");
	return NULL;
}

/* ---- KCFLAGS ---------------------------------------------------------------- */

#define EMPTY_UNIT "scripts/mod/empty.o"

struct error *toolchain_identity(const struct build *build, struct buffer *text)
{
	static const char record[] = "scripts/mod/.empty.o.cmd";
	_free_ char *path = xasprintf("%s/%s", build->files.kbuild, record);

	for (size_t i = 0; i < build->make_variables.count; i++)
		buffer_printf(text, "variable %s\n", build->make_variables.list[i]);
	return file_exists(path) ? identity_add_file(text, build->files.kbuild, record) : NULL;
}

/* Remove from words, once for each time that the other list has it, every word of that list. */
static void subtract(struct args *words, const struct args *other)
{
	struct map places = {};
	_free_ size_t *counts = xcalloc(other->count + 1, sizeof(*counts));
	size_t kept = 0;

	for (size_t i = 0; i < other->count; i++) {
		void **slot = map_slot(&places, other->list[i]);

		if (!*slot)
			*slot = &counts[i];
		++*(size_t *)*slot;
	}
	for (size_t i = 0; i < words->count; i++) {
		size_t *count = map_get(&places, words->list[i]);

		if (count && *count) {
			--*count;
			free(words->list[i]);
		} else {
			words->list[kept++] = words->list[i];
		}
	}
	words->count = kept;
	if (words->list)
		words->list[kept] = NULL;
	map_deinit(&places);
}

/* Does the word name a file of the source folder?  With make O= it is not kbuild's folder. */
static bool names_source(const char *word, const char *source)
{
	const char *found = strstr(word, source);

	return found && found[strlen(source)] == '/';
}

/* "'-DX=a b'" for a word with characters that have a meaning for the shell. */
static void add_quoted(struct buffer *flags, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_=+.,:/@%";

	buffer_printf(flags, "%s", flags->length ? " " : "");
	if (strspn(word, plain) == strlen(word)) {
		buffer_printf(flags, "%s", word);
		return;
	}
	buffer_printf(flags, "'");
	for (; *word; word++) {
		if (*word == '\'')
			buffer_printf(flags, "'\\''");
		else
			buffer_add(flags, word, 1);
	}
	buffer_printf(flags, "'");
}

/* The words of the command that compiles the empty unit, as kbuild would run it in our tree. */
static struct error *planned_words(const struct build *build, struct args *ret)
{
	char *const targets[] = {"-n", EMPTY_UNIT, NULL};
	static const char end[] = " -c -o " EMPTY_UNIT " ";
	struct buffer output = {};
	struct error *error;
	const char *found, *start;
	bool ok;

	error = kbuild_make(build, "scripts/mod", targets, &ok, &output);
	found = !error && output.text ? strstr(output.text, end) : NULL;
	for (start = found; found && start > output.text && !strchr("\n;", start[-1]);)
		start--;
	if (found) {
		_free_ char *line = xstrndup(start, (size_t)(found - start));
		const char *rest;

		error = shell_split(line, ret, &rest);
	}
	buffer_deinit(&output);
	return error;
}

/* The words of the command that compiled the empty unit when the kernel was built. */
static struct error *recorded_words(const struct build *build, struct args *ret)
{
	_free_ char *path = cmd_file_path(build->files.kbuild, EMPTY_UNIT);
	struct cmd_file cmd;
	struct error *error;
	const char *rest;

	if (!file_exists(path))
		return NULL;
	TRY(cmd_file_read(path, &cmd));
	error = shell_split(cmd.command, ret, &rest);
	cmd_file_deinit(&cmd);
	return error_prefix(error, "%s", path);
}

bool toolchain_has_record(const struct build *build)
{
	_free_ char *path = cmd_file_path(build->files.kbuild, EMPTY_UNIT);

	return file_exists(path);
}

/* Flags that kbuild did not plan: those of KCFLAGS and KCPPFLAGS; NULL if there are none. */
static char *extra_flags(const struct build *build, struct args *recorded,
			 const struct args *planned)
{
	_free_ char *record = read_record(build);
	_free_ char *folder = recorded_variable(record, "srctree");
	const char *source = folder && strcmp(folder, ".") ? folder : NULL;
	struct buffer flags = {};

	subtract(recorded, planned);
	for (size_t i = 0; i < recorded->count; i++) {
		const char *word = recorded->list[i];

		if (!strcmp(word, "-c"))
			break;
		/* The rest of "ccache gcc", and the compiler by another path; not a flag. */
		if (*word != '-' && (!i || (i == 1 && *recorded->list[0] != '-')))
			continue;
		if (source && names_source(word, source))
			continue;
		/* pokepatch-as; entries.c names the one that is installed here */
		if (build->machine->entries.by_as && has_prefix(word, "-B"))
			continue;
		add_quoted(&flags, word);
	}
	return flags.text;
}

struct error *toolchain_find_flags(struct build *build)
{
	struct args recorded = {}, planned = {};
	struct error *error;

	free(take_pointer(build->user_flags));
	error = recorded_words(build, &recorded);
	if (!error && recorded.count)
		error = planned_words(build, &planned);
	if (!error && recorded.count && planned.count)
		build->user_flags = extra_flags(build, &recorded, &planned);
	args_deinit(&planned);
	args_deinit(&recorded);
	return error;
}
