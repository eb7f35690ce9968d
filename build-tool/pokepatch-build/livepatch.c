// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The format of the kernel's own livepatch core, for --format livepatch: what it cannot do, its
 * glue, and the proof.  livepatch_module.c writes the module.
 */
#include "pokepatch-build/livepatch.h"

#include <stdlib.h>
#include <string.h>

#include "diff/diff_rows.h"
#include "object/object.h"
#include "pokepatch-build/comparison.h"
#include "pokepatch-build/format.h"
#include "proof/proof.h"

static const char *bare_option(const struct build_options *options)
{
	const struct {
		const char *name;
		bool given;
	} list[] = {
		{"--mode", options->mode != POKEPATCH_MODE_AUTO},
		{"--transition", options->transition != TRANSITION_DEFAULT},
		{"--revoke-below", options->least_level > 0},
		{"--deb", options->deb},
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		if (list[i].given)
			return list[i].name;
	return NULL;
}

/* ---- what livepatch cannot do ------------------------------------------------------- */

/* Does the new code call functions of the core whose names begin so? */
static struct error *any_call(const struct build *build, const char *prefix, bool *ret)
{
	*ret = false;
	for (size_t i = 0; !*ret && i < build->nr_units; i++) {
		const char *path = build->comparison->outputs[i];
		struct object object;

		if (!path)
			continue;
		TRY(object_read(path, &object));
		for (size_t j = 1; !*ret && j < object.symbols.count; j++)
			*ret = !object.symbols.list[j]->section &&
			       has_prefix(object.symbols.list[j]->name, prefix);
		object_deinit(&object);
	}
	return NULL;
}

/* The core's part of shadow variables (pokepatch_patch.h). */
static struct error *any_shadow(const struct build *build, bool *ret)
{
	return any_call(build, "pokepatch_shadow_", ret);
}

/* Markers (pokepatch_mark.h). */
static struct error *any_markers(const struct build *build, bool *ret)
{
	return any_call(build, "pokepatch_mark_", ret);
}

static void judge_kernel(struct build *build, bool configured)
{
	const char *why = !configured ? "has no livepatch core (CONFIG_LIVEPATCH)"
			  : !build->machine->loader.livepatch
				  ? "is for a machine whose livepatch modules are not tested yet"
				  : NULL;

	if (why)
		refusals_add(&build->refusals, "needs-core", NULL, build->release,
			     "kernel %s %s; build without --format livepatch", build->release, why);
}

/*
 * May the patch replace functions by way of their callers?  The livepatch core does not look for
 * tasks in the old one of such a function, so it may switch a task that is still there.  That task
 * finishes the old function.  This is safe if no other function changes, because the old function
 * then goes on to call what it called before, but for its own replaced callers.  Nor may anything
 * wait for the end of the old function: a callback that comes when all tasks are switched, or a
 * patch that is replaced, whose functions change back in the same switch.  In the new code the
 * livepatch core finds each task (code_order()).
 */
static bool changes_one_function(const struct build *build)
{
	size_t changed = 0, callbacks = 0;

	for (size_t i = 0; i < build->nr_units; i++) {
		const struct diff_result *result = &build->comparison->results[i];

		for (size_t j = 0; j < result->functions.count; j++)
			changed += result->functions.list[j].change == DIFF_CHANGED &&
				   !result->functions.list[j].only_carries;
		callbacks += result->callbacks.count;
	}
	return changed == 1 && !callbacks && !build->options.level_given;
}

static void judge_unit(struct build *build, size_t index, bool may_carry)
{
	const struct diff_result *result = &build->comparison->results[index];
	const char *source = build->units[index].source;

	for (size_t i = 0; i < result->functions.count; i++) {
		const struct diff_function *function = &result->functions.list[i];

		if (function->change == DIFF_CHANGED && !function->has_entry && !may_carry)
			refusals_add(&build->refusals, "needs-core", source, function->name,
				     "%s() has no entry for ftrace, and the kernel's livepatch does "
				     "not look for tasks in it, which is safe only if the patch changes "
				     "no other function, and has no callbacks and no level; build "
				     "without --format livepatch",
				     function->name);
	}
	/* A patch that another one replaces gets no callbacks: what it set up would stay. */
	for (size_t i = 0; build->options.level_given && i < result->callbacks.count; i++) {
		const struct diff_callback *callback = &result->callbacks.list[i];

		refusals_add(&build->refusals, "needs-core", callback->location,
			     callback->function,
			     "the livepatch core calls no callbacks of a patch that another level "
			     "replaces, so what %s() sees to would be left; build without --level, "
			     "or without --format livepatch",
			     callback->function);
	}
}

static struct error *judge(struct build *build)
{
	char *config _free_ = NULL;
	bool shadow = false;

	TRY(file_read(build->files.config, &config, NULL));
	judge_kernel(build, strstr(config, "\nCONFIG_LIVEPATCH=y\n") != NULL);
	/* klp_shadow_lock sleeps there, so that not every context could attach and detach. */
	if (strstr(config, "\nCONFIG_PREEMPT_RT=y\n"))
		TRY(any_shadow(build, &shadow));
	if (shadow)
		refusals_add(&build->refusals, "needs-core", NULL, build->release,
			     "on a kernel with PREEMPT_RT, livepatch's shadow variables cannot be used "
			     "in every context; build without --format livepatch");
	bool may_carry = changes_one_function(build);
	for (size_t i = 0; i < build->nr_units; i++)
		judge_unit(build, i, may_carry);
	return build_check_refusals(build);
}

/* ---- the glue ----------------------------------------------------------------------- */

static struct error *any_callbacks(const struct build *build, bool *ret)
{
	*ret = false;
	for (size_t i = 0; i < build->nr_units; i++)
		*ret |= build->comparison->results[i].callbacks.count > 0;
	return NULL;
}

static struct error *any_escape(const struct build *build, bool *ret)
{
	*ret = comparison_escapes(build->comparison);
	return NULL;
}

/*
 * Compile the glue with the parts that this patch needs, or take the object that an earlier build
 * has left.  It is the same for all modules of a kernel with these parts, and lies beside the core,
 * whose folder has a name for all that it follows from.
 */
static struct error *make_glue(struct build *build)
{
	static const struct {
		const char *name, *define;
		struct error *(*is_needed)(const struct build *build, bool *ret);
	} parts[] = {
		{"-callbacks", "-DLIVEPATCH_CALLBACKS", any_callbacks},
		{"-shadow", "-DLIVEPATCH_SHADOW", any_shadow},
		{"-markers", "-DLIVEPATCH_MARKERS", any_markers},
		{"-pinned", "-DLIVEPATCH_PINNED", any_escape},
	};
	char *defines[ARRAY_SIZE(parts) + 1] = {};
	char *object _free_ = xasprintf("%s/livepatch-glue.o", build->work);
	struct buffer kept = {};
	size_t count = 0;
	struct error *error = NULL;

	buffer_printf(&kept, "%s/../livepatch", build->core.sources);
	for (size_t i = 0; !error && i < ARRAY_SIZE(parts); i++) {
		bool needed;

		error = parts[i].is_needed(build, &needed);
		if (error || !needed)
			continue;
		buffer_add_string(&kept, parts[i].name);
		defines[count++] = (char *)parts[i].define;
	}
	buffer_add_string(&kept, ".o");
	if (!error && !file_exists(kept.text)) {
		error = core_compile_glue(build, "livepatch.c", defines, object) ?:
			file_copy(object, kept.text);
	}
	if (!error)
		build->glue_object = xstrdup(kept.text);
	buffer_deinit(&kept);
	return error;
}

/*
 * The functions that the livepatch core switches come before all other code.  The glue has each
 * reach to the end of the code, so that this core finds a task in the rest of it (pre_patch() in
 * the glue).
 */
static struct error *code_order(const struct build *build, struct buffer *ret)
{
	for (size_t i = 0; i < build->nr_units; i++) {
		const char *path = build->comparison->outputs[i];
		struct object object;

		if (!path)
			continue;
		TRY(object_read(path, &object));
		const struct section *funcs = object_find_section(&object, DIFF_SECTION_FUNCS);
		const uint64_t entry = arch_wide_address(object.arch,
							 offsetof(struct diff_func_row, new_addr));
		for (size_t j = 0; funcs && j < funcs->relocs.count; j++) {
			const struct reloc *reloc = &funcs->relocs.list[j];
			const char *section = reloc->symbol->section->name;
			const uint64_t at = reloc->offset % sizeof(struct diff_func_row);
			const uint32_t flags =
				object_get32(&object, funcs->data + reloc->offset - at +
							      offsetof(struct diff_func_row, flags));

			if (at == entry && !(flags & POKEPATCH_FUNC_CARRIED) &&
			    has_prefix(section, ".text."))
				buffer_printf(ret, "*%s(%s) ", strrchr(path, '/'), section);
		}
		object_deinit(&object);
	}
	return NULL;
}

static struct error *read_sizes(const struct build *build, struct livepatch_sizes *ret)
{
	struct object glue;

	TRY(object_read(build->glue_object, &glue));
	const struct section *section = object_find_section(&glue, POKEPATCH_SECTION_LIVEPATCH_SIZES);
	uint32_t *const fields[] = {&ret->symbol_name, &ret->module_name, &ret->patch,
				    &ret->object, &ret->func, &ret->part};
	struct error *error = NULL;
	if (section && section->data && section->size == sizeof(*ret))
		for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
			*fields[i] = object_get32(&glue, section->data + i * sizeof(uint32_t));
	else
		error = error_new(STATUS_FAILED, "%s: no section %s; is it the glue of this version?",
				  build->glue_object, POKEPATCH_SECTION_LIVEPATCH_SIZES);
	object_deinit(&glue);
	return error;
}

static struct error *convert(struct build *build, const char *linked)
{
	struct livepatch_sizes sizes;
	char *path _free_ = xasprintf("%s/livepatch.ko", build->work);

	TRY(read_sizes(build, &sizes));
	TRY(livepatch_write(build, &sizes, linked, path));
	build->ko = take_pointer(path);
	return NULL;
}

/* ---- the proof ---------------------------------------------------------------------- */

/* First the linked module, as any of pokepatch's own; then what was made of it. */
static struct error *prove(const struct build *build, struct proof *proof)
{
	char *linked _free_ = xasprintf("%s/pokepatch-%s.ko", build->work, build->name);

	TRY(proof_check(proof, linked));
	return proof_check_livepatch(proof, linked, build->ko);
}

const struct output_format format_livepatch = {
	.name = "livepatch",
	.gradual = true,
	.bare_option = bare_option,
	.judge = judge,
	.make_glue = make_glue,
	.code_order = code_order,
	.convert = convert,
	.prove = prove,
};
