// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Learning from kbuild how it compiles a unit.  kbuild compiles the unit once in the prepared tree.
 * That makes the exact object and any headers that are generated for the unit, and kbuild leaves
 * the command in a .cmd file.
 */
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "pokepatch-build/units.h"

char *unit_object_name(const char *source)
{
	return xasprintf("%.*s.o", (int)strlen(source) - 2, source);
}

void kbuild_unit_deinit(struct kbuild_unit *compiled)
{
	args_deinit(&compiled->argv);
	strings_free(compiled->depends);
	free(compiled->modname);
	*compiled = (struct kbuild_unit){};
}

/* The value of -DNAME="value", the word without the shell's quotes; NULL if it is another word. */
static char *define_value(const char *word, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(word, "-D", 2) || strncmp(word + 2, name, length) ||
	    strncmp(word + 2 + length, "=\"", 2))
		return NULL;
	word += length + 4;
	return xstrndup(word, strcspn(word, "\""));
}

/*
 * Copy the compiler's command to ret->argv without -c, the output, the dependency file and the
 * source, and read the KBUILD_ macros from it.
 */
static struct error *read_command(const struct args *words, const char *source,
				  struct kbuild_unit *ret)
{
	bool found = false;

	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->list[i];
		char *value;

		if (!strcmp(word, "-c") || has_prefix(word, "-Wp,-MMD,") ||
		    has_prefix(word, "-Wp,-MD,"))
			continue;
		if (!strcmp(word, "-o")) {
			i++;
			continue;
		}
		if (!strcmp(word, source)) {
			found = true;
			continue;
		}
		value = define_value(word, "KBUILD_MODNAME");
		if (value) {
			free(ret->modname);
			ret->modname = value;
		}
		ret->module |= !strcmp(word, "-DMODULE");
		args_add(&ret->argv, word);
	}
	/* Assembly belongs to no module. */
	if (!found || !ret->argv.count || (!ret->modname && has_suffix(source, ".c")))
		return error_new(STATUS_FAILED, "its compiler command is not understood");
	return NULL;
}

/* The command after the compiler's that runs objtool, which the caller frees; or NULL. */
static char *objtool_command(const char *rest)
{
	struct error *error = NULL;
	char *found = NULL;

	while (!error && rest && !found) {
		struct args words = {};
		const char *start = rest;

		error = shell_split(start, &words, &rest);
		if (!error && words.count && has_suffix(words.list[0], "/objtool"))
			found = xstrdup(start);
		args_deinit(&words);
	}
	error_destroy(error);
	return found;
}

static struct error *parse_command(const char *command, const char *source,
				   struct kbuild_unit *ret, const char **ret_rest)
{
	struct args words = {};
	struct error *error = shell_split(command, &words, ret_rest);

	if (!error)
		error = read_command(&words, source, ret);
	args_deinit(&words);
	return error;
}

struct error *kbuild_parse_command(const char *command, const char *source,
				   struct kbuild_unit *ret)
{
	const char *rest;

	return parse_command(command, source, ret, &rest);
}

char *kbuild_cut_command(const char *output, const char *found, char **ret_source)
{
	const char *object = found + strlen(" -c -o "), *start = found;
	const char *source = object + strcspn(object, " ;\n");
	size_t length;

	if (*source != ' ')
		return NULL;
	source++;
	length = strcspn(source, " ;\n");
	if (length < 3 || (memcmp(source + length - 2, ".c", 2) &&
			   memcmp(source + length - 2, ".S", 2)))
		return NULL;
	while (start > output && start[-1] != '\n' && start[-1] != ';')
		start--;
	*ret_source = xstrndup(source, length);
	return xstrndup(start, (size_t)(source + length - start));
}

struct error *kbuild_unit_read(const char *path, const char *source, struct kbuild_unit *ret,
			       char **ret_objtool)
{
	struct cmd_file cmd;
	struct error *error;
	const char *rest;

	TRY(cmd_file_read(path, &cmd));
	error = parse_command(cmd.command, source, ret, &rest);
	if (!error && ret_objtool)
		*ret_objtool = objtool_command(rest);
	ret->objtool = strstr(cmd.command, "/objtool ") != NULL;
	ret->depends = take_pointer(cmd.depends);
	cmd_file_deinit(&cmd);
	if (error)
		kbuild_unit_deinit(ret);
	return error_prefix(error, "%s", path);
}

static struct error *read_unit(const struct build *build, const char *source,
			       struct kbuild_unit *ret)
{
	_free_ char *object = unit_object_name(source);
	_free_ char *path = cmd_file_path(build->tree, object);

	return kbuild_unit_read(path, source, ret, NULL);
}

/*
 * kbuild writes a unit's .cmd file before the unit's last step, so an interrupted run could pass
 * for a complete one.  We create this file when kbuild has finished.
 */
static char *done_path(const struct build *build, const char *object)
{
	return xasprintf("%s/.pokepatch/done/%s", build->tree, object);
}

/*
 * The name by which kbuild was asked for the object, which the caller frees; NULL: it has not been
 * made.  Names of one file may differ in "..", and have different commands then.
 */
static char *done_name(const struct build *build, const char *object)
{
	_free_ char *done = done_path(build, object);
	_free_ char *full = xasprintf("%s/%s", build->tree, object);
	char *name = NULL;

	if (!file_exists(done) || !file_exists(full))
		return NULL;
	error_destroy(file_read(done, &name, NULL)); /* not readable: as if it was not there */
	return name;
}

static bool is_done(const struct build *build, const char *source)
{
	_free_ char *object = unit_object_name(source);
	_free_ char *name = done_name(build, object);

	/* Earlier versions wrote no name. */
	return name && (!strcmp(name, object) || (!*name && !strstr(object, "../")));
}

bool kbuild_has_other_name(const struct build *build, const char *source)
{
	_free_ char *object = unit_object_name(source);
	_free_ char *name = done_name(build, object);

	return name && strstr(name, "../") && strcmp(name, object);
}

/* The checksum of an object, beside its mark; see mark_done(). */
static char *sum_path(const struct build *build, const char *object)
{
	_free_ char *done = done_path(build, object);

	return xasprintf("%s.sha256", done);
}

static struct error *sum_object(const struct build *build, const char *object, char ret[65])
{
	_free_ char *full = xasprintf("%s/%s", build->tree, object);
	_free_ char *bytes = NULL;
	size_t length;

	TRY(file_read(full, &bytes, &length));
	sha256_hex(bytes, length, ret);
	return NULL;
}

/*
 * Has the object the bytes that kbuild left?  kbuild does not sync it, so after a power failure it
 * may be empty.  Earlier versions kept no sum: as if the object were damaged.
 */
static bool is_intact(const struct build *build, const char *source)
{
	_free_ char *object = unit_object_name(source);
	_free_ char *path = sum_path(build, object);
	_free_ char *kept = NULL;
	char sum[65];
	struct error *error = NULL;

	if (!file_exists(path))
		return false;
	error = file_read(path, &kept, NULL);
	if (!error)
		error = sum_object(build, object, sum);
	bool same = !error && !strcmp(kept, sum);
	error_destroy(error);
	return same;
}

/* Mark an object as finished, unless kbuild failed and left no object or no .cmd file. */
static struct error *mark_done(const struct build *build, const char *object)
{
	_free_ char *full = xasprintf("%s/%s", build->tree, object);
	_free_ char *cmd = cmd_file_path(build->tree, object);
	_free_ char *done = done_path(build, object);
	_free_ char *sums = sum_path(build, object);
	_free_ char *folder = xstrdup(done);
	char sum[65];

	if (!file_exists(full) || !file_exists(cmd))
		return NULL;
	*strrchr(folder, '/') = '\0';
	TRY(make_dirs(folder));
	TRY(sum_object(build, object, sum));
	/* What a power failure leaves of them does not fit the object: is_intact(). */
	TRY(file_write_unsynced(sums, sum, strlen(sum)));
	return file_write_unsynced(done, object, strlen(object));
}

/* Remove what an interrupted run left, which make would take for up to date. */
static struct error *remove_object(const struct build *build, const char *source)
{
	_free_ char *object = unit_object_name(source);
	_free_ char *full = xasprintf("%s/%s", build->tree, object);
	_free_ char *cmd = cmd_file_path(build->tree, object);

	TRY(remove_tree(full));
	return remove_tree(cmd);
}

/*
 * So many units kbuild compiles at a time.  Its output is read when it ends, so this is how often
 * progress is shown, and how much an interrupted build has to do again.
 */
#define KBUILD_BATCH 50

/* Find the sources that kbuild is to compile, and remove what it left of them. */
static struct error *find_undone(const struct build *build, char *const *sources,
				 struct args *ret_targets)
{
	for (; *sources; sources++) {
		_free_ char *object = unit_object_name(*sources);

		if (is_done(build, *sources) && is_intact(build, *sources))
			continue;
		TRY(remove_object(build, *sources));
		args_addf(ret_targets, "./%s", object);
	}
	return NULL;
}

static struct error *compile_batch(struct build *build, char *const *targets, size_t count,
				   struct buffer *ret_output)
{
	struct args batch = {};
	struct error *error;
	bool ok;

	for (size_t i = 0; i < count; i++)
		args_add(&batch, targets[i]);
	error = kbuild_make(build, ".", batch.list, &ok, ret_output);
	for (size_t i = 0; !error && i < count; i++) {
		error = mark_done(build, targets[i] + strlen("./"));
		build_step(build);
	}
	args_deinit(&batch);
	return error;
}

static struct error *compile_locked(struct build *build, char *const *sources,
				    struct buffer *ret_output)
{
	struct args targets = {};
	struct error *error = find_undone(build, sources, &targets);

	if (!error)
		build_expect(build, targets.count);
	for (size_t i = 0; !error && i < targets.count; i += KBUILD_BATCH) {
		size_t rest = targets.count - i;

		error = compile_batch(build, targets.list + i,
				      rest < KBUILD_BATCH ? rest : KBUILD_BATCH, ret_output);
	}
	args_deinit(&targets);
	return error;
}

/*
 * The lock lets one kbuild run at a time in a tree.  The compilers of other builds may run at the
 * same time and read the tree: kbuild only adds objects, and generated files that their units do
 * not need, since those are finished.  It does not rewrite files that are up to date.
 */
struct error *kbuild_compile_objects(struct build *build, char *const *sources,
				     struct buffer *ret_output)
{
	_free_ char *path = xasprintf("%s/.pokepatch/kbuild", build->tree);
	_close_ int lock = -1;
	bool all_done = true;

	for (char *const *source = sources; *source; source++)
		all_done &= is_done(build, *source) && is_intact(build, *source);
	if (all_done)
		return NULL;
	TRY(cache_lock(path, false, &lock));
	return compile_locked(build, sources, ret_output);
}

struct error *kbuild_compile_units(struct build *build, char *const *sources,
				   struct kbuild_unit *ret, struct buffer *ret_output)
{
	TRY(kbuild_compile_objects(build, sources, ret_output));
	for (size_t i = 0; sources[i]; i++) {
		ret[i] = (struct kbuild_unit){};
		if (!is_done(build, sources[i]))
			continue;
		TRY(read_unit(build, sources[i], &ret[i]));
	}
	return NULL;
}

/* The compiler's command for a unit in the output of make -n; NULL if it has none. */
static char *planned_command(const char *output, const char *source)
{
	_free_ char *object = unit_object_name(source);
	_free_ char *files = xasprintf(" -c -o %s %s", object, source);
	const char *found = output ? strstr(output, files) : NULL;
	const char *start = found;

	if (!found)
		return NULL;
	while (start > output && start[-1] != '\n' && start[-1] != ';')
		start--;
	return xstrndup(start, (size_t)(found - start) + strlen(files));
}

struct error *kbuild_plan_units(const struct build *build, char *const *sources,
				struct kbuild_unit *ret)
{
	struct args targets = {};
	struct buffer output = {};
	struct error *error = NULL;
	bool ok;

	args_add(&targets, "-n");
	for (size_t i = 0; sources[i]; i++) {
		_free_ char *object = unit_object_name(sources[i]);

		ret[i] = (struct kbuild_unit){};
		if (!is_done(build, sources[i]))
			args_addf(&targets, "./%s", object);
	}
	if (targets.count > 1)
		error = kbuild_make(build, ".", targets.list, &ok, &output);
	for (size_t i = 0; !error && sources[i]; i++) {
		_free_ char *command = planned_command(output.text, sources[i]);

		if (is_done(build, sources[i]))
			error = read_unit(build, sources[i], &ret[i]);
		else if (command)
			error = kbuild_parse_command(command, sources[i], &ret[i]);
	}
	args_deinit(&targets);
	buffer_deinit(&output);
	return error;
}

bool kbuild_output_has_module(const char *output, const char *source)
{
	_free_ char *object = unit_object_name(source);
	_free_ char *line = xasprintf("CC [M]  %s", object);
	const char *found = output ? strstr(output, line) : NULL;

	return found && strchr(" \n';\"", found[strlen(line)]);
}

struct error *kbuild_is_module(const struct build *build, const char *source, bool *ret)
{
	_free_ char *object = unit_object_name(source);
	_free_ char *target = xasprintf("./%s", object);
	char *const targets[] = {"-n", target, NULL};
	struct buffer output = {};
	struct error *error;
	bool ok;

	*ret = is_done(build, source);
	if (*ret)
		return NULL;
	error = kbuild_make(build, ".", targets, &ok, &output);
	*ret = !error && kbuild_output_has_module(output.text, source);
	buffer_deinit(&output);
	return error;
}
