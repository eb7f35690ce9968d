// SPDX-License-Identifier: GPL-2.0-or-later
/* The cases of one unit: compile its source unchanged and with lines shifted, and compare. */
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "pokepatch-build/shadow_tree.h"
#include "unit.h"

/* ---- compiling -------------------------------------------------------------------------- */

/* Have it compiled by kbuild, which also makes what is generated for it. */
static struct error *ask_kbuild(struct unit_check *unit, struct buffer *ret_output)
{
	char *const sources[] = {unit->target->source, NULL};

	kbuild_unit_deinit(unit->answer);
	return kbuild_compile_units(&unit->check->build, sources, unit->answer, ret_output);
}

static struct error *collect_files(struct unit_check *unit, struct buffer *output)
{
	const struct selfcheck *check = unit->check;

	*vec_push(&unit->files) =
		(struct file){.label = unit->target->source, .path = unit->target->source};
	for (size_t i = 0; i < unit->files.count; i++) {
		const char *from = unit->files.list[i].path;
		_free_ char *full = xasprintf("%s/%s", check->build.tree, from);
		size_t length;

		if (!file_exists(full)) /* made by a generator, such as asn1_compiler */
			TRY(ask_kbuild(unit, output));
		TRY(file_read(full, &unit->files.list[i].text, &length));
		for (size_t j = 0; j < check->inclusions.count; j++) {
			const struct inclusion *inclusion = &check->inclusions.list[j];

			/* kernel/locking/qspinlock.c includes itself. */
			if (!strcmp(inclusion->from, from) && strcmp(inclusion->path, from) &&
			    has_suffix(inclusion->path, ".c"))
				*vec_push(&unit->files) = (struct file){.label = inclusion->label,
									.path = inclusion->path};
		}
	}
	return NULL;
}

/* Make a shadow of the tree with these texts of the unit's files. */
static struct error *make_shadow(struct unit_check *unit, const char *folder, char *const *texts)
{
	struct shadow shadow = {};
	struct error *error = remove_tree(folder);

	if (!error)
		error = shadow_init(&shadow, unit->check->build.tree, folder);
	for (size_t i = 0; !error && i < unit->files.count; i++) {
		const struct file *file = &unit->files.list[i];

		error = shadow_follow(&shadow, file->label);
		if (!error)
			error = shadow_put(&shadow, file->path, texts[i], strlen(texts[i]));
	}
	shadow_deinit(&shadow);
	return error;
}

struct error *compile_variant(struct unit_check *unit, const char *variant, char *const *texts,
			      bool *ret_ok, struct buffer *ret_output)
{
	_free_ char *folder = xasprintf("%s/%s", unit->folder, variant);
	_free_ char *object = xasprintf("%s.o", folder);
	_free_ char *stamp = xasprintf("%s.stamp", folder);
	_free_ char *old = NULL;
	struct buffer made_from = {};
	struct args argv = {}, command = {};
	struct proc_options options = {.dir = folder};
	struct proc_result result = {};
	struct error *error = NULL;
	char hash[65];
	size_t length;

	for (size_t i = 0; i < unit->files.count; i++)
		buffer_add_string(&made_from, texts[i]);
	args_add_all(&argv, unit->answer->argv.list);
	args_add(&argv, unit->debug);
	if (unit->flag)
		args_add(&argv, unit->flag);
	unit_add_command(&unit->check->build, argv.list, unit->target->source, folder, object,
			 &command);
	for (char **word = argv.list; *word; word++)
		buffer_printf(&made_from, "%s\n", *word);
	sha256_hex(made_from.text, made_from.length, hash);
	buffer_deinit(&made_from);

	*ret_ok = false;
	if (!error && file_exists(stamp) && file_exists(object)) {
		error = file_read(stamp, &old, &length);
		*ret_ok = !error && !strcmp(old, hash);
	}
	if (!error && !*ret_ok) {
		error = remove_tree(stamp);
		if (!error)
			error = make_shadow(unit, folder, texts);
		if (!error)
			error = proc_run((const char *const *)command.list, &options, &result);
		*ret_ok = !error && !result.status;
		if (result.out.text)
			buffer_add_string(ret_output, result.out.text);
		proc_result_deinit(&result);
		if (*ret_ok)
			error = file_write(stamp, hash, strlen(hash));
	}
	if (!error)
		error = remove_tree(folder);
	args_deinit(&argv);
	args_deinit(&command);
	return error;
}

struct error *compile_original_as(struct unit_check *unit, const char *variant, bool *ret_ok)
{
	_free_ char **texts = xcalloc(unit->files.count, sizeof(*texts));
	struct buffer output = {};
	struct error *error;

	for (size_t i = 0; i < unit->files.count; i++)
		texts[i] = unit->files.list[i].text;
	error = compile_variant(unit, variant, texts, ret_ok, &output);
	if (!error && !*ret_ok && !unit->flag) {
		error = ask_kbuild(unit, &output);
		if (!error && unit->answer->argv.list)
			error = compile_variant(unit, variant, texts, ret_ok, &output);
	}
	if (!error && !*ret_ok && !unit->flag)
		error = error_new(STATUS_FAILED, "%s does not compile:\n%s", unit->target->source,
				  output.text ?: "");
	buffer_deinit(&output);
	return error;
}

/* ---- telling ------------------------------------------------------------------------------ */

void problem(struct unit_check *unit, const char *what, const char *kind, const char *subject,
	     const char *text)
{
	buffer_printf(unit->results, "problem\t%s\t%s\t%s\t%s\t%s\n", what, unit->target->source,
		      kind, subject ?: "-", text ?: "-");
}

const char *const change_names[] = {
	[DIFF_CHANGED] = "changed", [DIFF_NEW] = "new", [DIFF_REMOVED] = "removed"};

/* ---- comparing ----------------------------------------------------------------------------- */

static struct error *open_exporter(void *context, const char *path, struct parent **ret)
{
	struct unit_check *unit = context;
	const char *slash = strrchr(path, '/');
	_free_ char *name = xstrdup(slash ? slash + 1 : path);
	_free_ char *file =
		xasprintf("%s/kernel/%s.ko", unit->check->build.files.modules_dbg, path);

	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return parent_open(name, file, ret); /* lives as long as this process */
}

struct error *compare(struct unit_check *unit, const char *patched, const char *out,
		      struct comparison_result *ret)
{
	struct selfcheck *check = unit->check;
	struct diff_options options = {
		.unit = unit->target->source,
		.orig = unit->orig,
		.patched = patched,
		.out = out,
		.parent = unit->parent,
		.vmlinux = check->vmlinux,
		.symvers = &check->symvers,
		.open_module = open_exporter,
		.context = unit,
		.externals = &ret->externals,
	};

	return diff_run(&options, &ret->refusals, &ret->result);
}

void comparison_deinit(struct comparison_result *comparison)
{
	diff_result_deinit(&comparison->result);
	refusals_deinit(&comparison->refusals);
	externals_deinit(&comparison->externals);
}

/* ---- (a) shifted lines ---------------------------------------------------------------------- */

static int by_number(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

static char *shifted_text(const struct unit_check *unit, const struct file *file)
{
	VEC(int) lines = {0};
	struct buffer text = {};
	size_t kept = 0;

	for (size_t i = 0; i < unit->functions.places.count; i++)
		if (!strcmp(unit->functions.places.list[i].file, file->label))
			*vec_push(&lines) = unit->functions.places.list[i].line;
	if (lines.count)
		qsort(lines.list, lines.count, sizeof(*lines.list), by_number);
	for (size_t i = 0; i < lines.count; i++)
		if (!i || lines.list[i] != lines.list[i - 1])
			lines.list[kept++] = lines.list[i];
	text_shift(file->text, lines.list, kept, &text);
	vec_deinit(&lines);
	buffer_add(&text, "", 0);
	return text.text;
}

static void tell_shift(struct unit_check *unit, const struct comparison_result *comparison)
{
	for (size_t i = 0; i < comparison->result.functions.count; i++) {
		const struct diff_function *function = &comparison->result.functions.list[i];

		problem(unit, "shift", change_names[function->change], function->name,
			function->source);
	}
	for (size_t i = 0; i < comparison->result.data.count; i++)
		problem(unit, "shift", "data", comparison->result.data.list[i].name,
			change_names[comparison->result.data.list[i].change]);
	for (size_t i = 0; i < comparison->refusals.count; i++) /* warnings: of what differs */
		if (!comparison->refusals.list[i].warning)
			problem(unit, "shift", comparison->refusals.list[i].code,
				comparison->refusals.list[i].subject,
				comparison->refusals.list[i].text);
	buffer_printf(unit->results, "shift\t%s\t%zu\n", unit->target->source,
		      unit->functions.places.count);
}

static struct error *check_shift(struct unit_check *unit)
{
	_free_ char **texts = xcalloc(unit->files.count, sizeof(*texts));
	_free_ char *object = xasprintf("%s/shift.o", unit->folder);
	struct comparison_result comparison = {};
	struct buffer output = {};
	struct error *error;
	bool ok;

	for (size_t i = 0; i < unit->files.count; i++)
		texts[i] = shifted_text(unit, &unit->files.list[i]);
	error = compile_variant(unit, "shift", texts, &ok, &output);
	for (size_t i = 0; i < unit->files.count; i++)
		free(texts[i]);
	if (!error && !ok)
		error = error_new(STATUS_FAILED, "the shifted source does not compile:\n%s",
				  output.text ?: "");
	buffer_deinit(&output);
	TRY(error);
	error = compare(unit, object, NULL, &comparison);
	if (!error)
		tell_shift(unit, &comparison);
	comparison_deinit(&comparison);
	return error;
}

/* ---- both --------------------------------------------------------------------------------- */

static struct error *check_both(struct unit_check *unit)
{
	struct selfcheck *check = unit->check;

	TRY(make_dirs(unit->folder));
	struct buffer output = {};
	struct error *error = collect_files(unit, &output);

	buffer_deinit(&output);
	TRY(error);
	bool ok;
	TRY(compile_original_as(unit, "orig", &ok));
	TRY(image_open(unit->orig, &unit->image));
	TRY(functions_read(unit->orig, &unit->image, check->build.tree, &unit->functions));
	unit->parent = check->vmlinux;
	if (unit->target->module) {
		TRY(parent_open(unit->target->module, unit->target->module_path,
				&unit->module));
		unit->parent = unit->module;
	}
	TRY(check_shift(unit));
	return check_token(unit);
}

static struct error *check_with(struct selfcheck *check, const struct target *target,
				struct kbuild_unit *answer, const char *debug, struct buffer *ret)
{
	_free_ char *name = xstrdup(target->source);
	struct unit_check unit = {
		.check = check, .target = target, .answer = answer, .debug = debug, .results = ret};
	struct error *error;

	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = ':';
	unit.folder =
		xasprintf("%s/units/%s%s", check->folder, name, debug == check->debug ? "" : debug);
	unit.orig = xasprintf("%s/orig.o", unit.folder);
	unit.image.fd = -1;
	error = check_both(&unit);
	for (size_t i = 0; i < unit.files.count; i++)
		free(unit.files.list[i].text);
	vec_deinit(&unit.files);
	functions_deinit(&unit.functions);
	if (unit.image.fd >= 0)
		image_close(&unit.image);
	parent_close(unit.module);
	free(unit.orig);
	free(unit.folder);
	return error;
}

/*
 * With -g1 gcc does not tell static variables, nor an inlined function of which no instruction of
 * its own is left: is_partition_valid() in kernel/cgroup/cpuset.c is one comparison.
 */
struct error *check_unit(struct selfcheck *check, const struct target *target,
			 struct kbuild_unit *answer, struct buffer *ret)
{
	struct error *error = check_with(check, target, answer, check->debug, ret);

	if (error || !ret->text || !strstr(ret->text, "problem\t"))
		return error;
	buffer_deinit(ret);
	return check_with(check, target, answer, "-g", ret);
}
