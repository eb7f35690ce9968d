// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading kbuild's .cmd files and environment, and running scripts/Makefile.build; see kbuild.h. */
#include "pokepatch-build/kbuild.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"

/* ---- the shell's words ------------------------------------------------------ */

/* Append the word that begins at *p; *p moves to the unquoted blank or operator that ends it. */
static struct error *shell_word(const char **p, struct buffer *word)
{
	char quote = '\0';

	for (;; (*p)++) {
		char c = **p;

		if (!c) {
			if (quote)
				return error_new(STATUS_FAILED, "unfinished %c in a command",
						 quote);
			return NULL;
		}
		if (quote == '\'' ? c == '\'' : quote && c == quote) {
			quote = '\0';
		} else if (quote == '\'') {
			buffer_add(word, &c, 1);
		} else if (c == '$' || c == '`') {
			return error_new(STATUS_FAILED, "a command with a $ or ` of the shell");
		} else if (c == '\\' && (*p)[1] && (!quote || strchr("\"\\$`", (*p)[1]))) {
			(*p)++;
			buffer_add(word, *p, 1);
		} else if (!quote && (c == '\'' || c == '"')) {
			quote = c;
		} else if (!quote && (isspace((unsigned char)c) || strchr(";&|", c))) {
			return NULL;
		} else {
			buffer_add(word, &c, 1);
		}
	}
}

struct error *shell_split(const char *line, struct args *ret, const char **ret_rest)
{
	const char *p = line;

	*ret_rest = NULL;
	for (;;) {
		struct buffer word = {};
		struct error *error;

		while (isspace((unsigned char)*p))
			p++;
		if (!*p)
			return NULL;
		if (strchr(";&|", *p)) {
			*ret_rest = p + strspn(p, ";&| \t\n");
			return NULL;
		}
		buffer_add(&word, "", 0);
		error = shell_word(&p, &word);
		if (!error)
			args_add(ret, word.text ? word.text : "");
		buffer_deinit(&word);
		TRY(error);
	}
}

/* ---- .cmd files ------------------------------------------------------------- */

char *cmd_file_path(const char *dir, const char *target)
{
	const char *slash = strrchr(target, '/');
	int length = slash ? (int)(slash - target + 1) : 0;

	return xasprintf("%s%s%.*s.%s.cmd", dir ? dir : "", dir ? "/" : "", length, target,
			 slash ? slash + 1 : target);
}

/* Undo the escapes of make-cmd in scripts/Kbuild.include, which let make read the line again. */
static char *make_unescape(const char *text, size_t length)
{
	char *out = xmalloc(length + 1), *to = out;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '$' && i + 1 < length && text[i + 1] == '$')
			i++;
		else if (length - i >= 8 && !memcmp(text + i, "$(pound)", 8)) {
			*to++ = '#';
			i += 7;
			continue;
		}
		*to++ = text[i];
	}
	*to = '\0';
	return out;
}

/*
 * After "deps_X := \" each line has one file and ends with a backslash.  Skip lines of the form
 * $(wildcard include/config/Y): fixdep adds them for the options that the unit uses, and the
 * compiler did not read such a file.
 */
static char **read_depends(const char *text)
{
	struct args files = {};
	const char *p = strstr(text, "\nsource_");
	const char *list = strstr(text, "\ndeps_");

	if (p) {
		size_t end = strcspn(p + 1, "\n");
		const char *value = strstr(p + 1, " := ");

		if (value && value < p + 1 + end)
			args_addf(&files, "%.*s", (int)(p + 1 + end - value - 4), value + 4);
	}
	for (p = list ? strchr(list + 1, '\n') : NULL; p && p[1] && p[1] != '\n';) {
		const char *start = p + 1 + strspn(p + 1, " \t");
		size_t length = strcspn(start, " \\\n");

		if (length && *start != '$')
			args_addf(&files, "%.*s", (int)length, start);
		p = strchr(p + 1, '\n');
	}
	if (!files.list)
		files.list = xcalloc(1, sizeof(*files.list));
	return files.list;
}

struct error *cmd_file_read(const char *path, struct cmd_file *ret)
{
	_free_ char *text = NULL;
	const char *value, *end;
	size_t length;

	*ret = (struct cmd_file){};
	TRY(file_read(path, &text, &length));
	value = has_prefix(text, "cmd_") || has_prefix(text, "savedcmd_") ? strstr(text, " := ")
									  : NULL;
	end = value ? strchr(value, '\n') : NULL;
	if (!end)
		return error_new(STATUS_FAILED, "%s: not a .cmd file of kbuild", path);
	value += strlen(" := ");
	if (value > end)
		value = end;
	ret->command = make_unescape(value, (size_t)(end - value));
	ret->depends = read_depends(end);
	return NULL;
}

void cmd_file_deinit(struct cmd_file *cmd)
{
	free(cmd->command);
	strings_free(cmd->depends);
	*cmd = (struct cmd_file){};
}

/* ---- running make ----------------------------------------------------------- */

void args_add_machine(struct args *args, const struct build *build)
{
	if (build->cross) {
		args_addf(args, "ARCH=%s", build->arch);
		args_addf(args, "CROSS_COMPILE=%s", build->cross);
	}
	args_add_all(args, build->make_variables.list);
}

/*
 * make reads this after the kernel's Makefile.  The recipe of its target has the environment that
 * the $(MAKE) $(build)= lines of the kernel's Makefile have.
 *
 * A rule of the kernel's adds flags that depend on generated headers: stack_protector_prepare in
 * arch/arm64/Makefile takes the canary's offset in struct task_struct from one.  Our target
 * depends on it, with an empty rule for other architectures.  It depends in turn on prepare0, which
 * the kernel's packager has run already, so kbuild_read_environment() passes make -o prepare0.
 */
static const char environment_makefile[] = "stack_protector_prepare:\n"
					   "pokepatch-environment: stack_protector_prepare\n"
					   "\t@env -0 >$(POKEPATCH_ENVIRONMENT)\n";

static bool is_make_internal(const char *assignment)
{
	static const char *const names[] = {"MAKEFILES=",
					    "MAKELEVEL=",
					    "MFLAGS=",
					    "_=",
					    "OLDPWD=",
					    "SHLVL=",
					    "POKEPATCH_ENVIRONMENT=",
					    "MAKEOVERRIDES=",
					    "MAKEFLAGS=",
					    "TMPDIR="};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (has_prefix(assignment, names[i]))
			return true;
	return false;
}

static char **split_environment(const char *text, size_t length)
{
	struct args list = {};

	for (const char *p = text; p < text + length; p += strlen(p) + 1)
		if (!is_make_internal(p))
			args_add(&list, p);
	return list.list ? list.list : xcalloc(1, sizeof(*list.list));
}

/*
 * Whether the kernel was built in another folder than that of its source, as Debian's is: then
 * __FILE__ of a header is "include/linux/bitmap.h".  The prepared tree is source and build folder
 * in one, where newer Makefiles do not pass -fmacro-prefix-map.  Headers of a kernel that was built
 * in its source and packaged look the same as Debian's, and are taken for these.
 */
static bool built_apart(const struct build *build)
{
	_free_ char *source = xasprintf("%s/init/main.c", build->files.kbuild);

	return !file_exists(source);
}

struct error *kbuild_read_environment(const struct build *build, char ***ret)
{
	const char *tree = build->tree;
	_free_ char *makefile = xasprintf("%s/.pokepatch/environment.mk", tree);
	_free_ char *output = xasprintf("%s/.pokepatch/environment", tree);
	_free_ char *text = NULL;
	struct proc_options options = {.dir = tree};
	struct args args = {};
	struct error *error;
	size_t length;

	TRY(file_write(makefile, environment_makefile, strlen(environment_makefile)));
	args_add_clean_environment(&args, build->work);
	args_add(&args, "make");
	/* Without this option the Makefile would run itself again (need-sub-make). */
	args_add(&args, "--no-print-directory");
	args_add(&args, "-rR");
	args_add(&args, "-f");
	args_add(&args, "Makefile");
	args_add(&args, "-f");
	args_add(&args, makefile);
	args_add(&args, "-o");
	args_add(&args, "prepare0");
	args_addf(&args, "POKEPATCH_ENVIRONMENT=%s", output);
	args_add_machine(&args, build);
	if (build->kcflags || build->user_flags)
		args_addf(&args, "KCFLAGS=%s %s", build->kcflags ?: "", build->user_flags ?: "");
	if (built_apart(build))
		args_add(&args, "KCPPFLAGS=-fmacro-prefix-map=./=");
	args_add(&args, "pokepatch-environment");
	error = proc_check((const char *const *)args.list, &options, NULL);
	args_deinit(&args);
	if (error)
		return error_prefix(error, "the kernel's Makefile does not run in %s", tree);
	TRY(file_read(output, &text, &length));
	*ret = split_environment(text, length);
	return NULL;
}

const char *kbuild_variable(char *const *environment, const char *name)
{
	size_t length = strlen(name);

	for (; environment && *environment; environment++)
		if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

/*
 * Two of the top folder's subfolders lead to arch/x86/lib/usercopy_64.o: arch/x86, and
 * arch/x86/lib, which kbuild has from ARCH_LIB.  Two makes at a time would compile it twice, with
 * other flags, and remove each other's files.  One after the other, the right one is the last.
 */
static bool is_reached_twice(const struct build *build, const char *target)
{
	static const char *const variables[] = {"ARCH_CORE", "ARCH_LIB", "ARCH_DRIVERS"};

	target += has_prefix(target, "./") ? strlen("./") : 0;
	if (!has_prefix(target, "arch/"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		_free_ char *folders =
			xstrdup(kbuild_variable(build->make_env, variables[i]) ?: "");
		char *rest = folders, *folder;

		while ((folder = strsep(&rest, " ")))
			if (*folder && has_prefix(target, folder))
				return true;
	}
	return false;
}

static struct error *run_make(const struct build *build, const char *directory,
			      const struct args *targets, unsigned int jobs, bool *ret_ok,
			      struct buffer *ret_output)
{
	struct proc_options options = {.dir = build->tree};
	struct proc_result result = {};
	struct args args = {};
	struct error *error;

	if (!targets->count)
		return NULL;
	args_add(&args, "env");
	args_add(&args, "-i");
	args_add_all(&args, build->make_env);
	args_addf(&args, "TMPDIR=%s", build->work);
	args_add(&args, "make");
	args_add(&args, "-rRk");
	args_add(&args, "--no-print-directory");
	args_addf(&args, "-j%u", jobs);
	args_add(&args, "-f");
	args_add(&args, "scripts/Makefile.build");
	args_addf(&args, "obj=%s", directory);
	args_add(&args, "need-builtin=1");
	args_add(&args, "need-modorder=1");
	args_add_all(&args, targets->list);
	error = proc_run((const char *const *)args.list, &options, &result);
	args_deinit(&args);
	if (!error) {
		*ret_ok &= !result.status;
		buffer_add(ret_output, result.out.text ? result.out.text : "", result.out.length);
	}
	proc_result_deinit(&result);
	return error;
}

struct error *kbuild_make(const struct build *build, const char *directory, char *const *targets,
			  bool *ret_ok, struct buffer *ret_output)
{
	struct args once = {}, twice = {};
	struct error *error;

	*ret_ok = true;
	for (; *targets; targets++)
		args_add(is_reached_twice(build, *targets) ? &twice : &once, *targets);
	error = run_make(build, directory, &once, build->options.jobs, ret_ok, ret_output);
	if (!error)
		error = run_make(build, directory, &twice, 1, ret_ok, ret_output);
	args_deinit(&once);
	args_deinit(&twice);
	return error;
}
