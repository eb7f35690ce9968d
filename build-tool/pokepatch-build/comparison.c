// SPDX-License-Identifier: GPL-2.0-or-later
/* Phase: compare the original and the patched object of every unit (build-tool/diff does it). */
#include "pokepatch-build/comparison.h"
#include "pokepatch-build/callers.h"
#include "pokepatch-build/exports.h"
#include "pokepatch-build/format.h"
#include "pokepatch-build/leave_out.h"
#include "pokepatch-build/lines.h"
#include "pokepatch-build/modules.h"
#include "pokepatch-build/changes.h"
#include "pokepatch-build/touched.h"
#include "pokepatch-build/units.h"

#include <stdlib.h>
#include <string.h>

bool comparison_escapes(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->count; i++)
		if (comparison->results[i].escapes)
			return true;
	return false;
}

void comparison_destroy(struct comparison *comparison)
{
	if (!comparison)
		return;
	symvers_deinit(&comparison->symvers);
	parent_close(comparison->vmlinux);
	for (size_t i = 0; i < comparison->modules.count; i++)
		parent_close(comparison->modules.list[i]);
	vec_deinit(&comparison->modules);
	map_deinit(&comparison->modules_by_name);
	externals_deinit(&comparison->externals);
	for (size_t i = 0; i < comparison->count; i++) {
		diff_result_deinit(&comparison->results[i]);
		free(comparison->outputs[i]);
	}
	for (size_t i = 0; i < comparison->changed_exports.count; i++) {
		free(comparison->changed_exports.list[i]->name);
		free(comparison->changed_exports.list[i]->types);
		free(comparison->changed_exports.list[i]);
	}
	vec_deinit(&comparison->changed_exports);
	map_deinit(&comparison->changed_exports_by_name);
	for (size_t i = 0; i < comparison->early.count; i++) {
		unit_deinit(comparison->early.list[i]);
		free(comparison->early.list[i]);
	}
	vec_deinit(&comparison->early);
	for (size_t i = 0; i < comparison->early_texts.count; i++)
		free(comparison->early_texts.list[i]);
	vec_deinit(&comparison->early_texts);
	map_deinit(&comparison->early_crcs);
	for (size_t i = 0; i < comparison->nr_texts; i++)
		buffer_deinit(&comparison->texts[i]);
	free(comparison->texts);
	free(comparison->results);
	free(comparison->outputs);
	free(comparison);
}

void comparison_keep_types(struct comparison *comparison, const struct unit *unit,
			   const char *name, const char *types)
{
	struct changed_export *export = xcalloc(1, sizeof(*export));

	*export = (struct changed_export){unit, xstrdup(name), xstrdup(types)};
	*vec_push(&comparison->changed_exports) = export;
	*map_slot(&comparison->changed_exports_by_name, export->name) = export;
}

void comparison_keep_crcs(struct comparison *comparison, const char *source, const char *crcs)
{
	char *key = xstrdup(source), *text = xstrdup(crcs);

	*vec_push(&comparison->early_texts) = key;
	*vec_push(&comparison->early_texts) = text;
	*map_slot(&comparison->early_crcs, key) = text;
}

const char *comparison_crcs(const struct comparison *comparison, const struct unit *unit)
{
	return unit->outside ? NULL : map_get(&comparison->early_crcs, unit->source);
}

bool symvers_provide(const struct symvers *kernel, const struct symvers *core, const char *name)
{
	const struct export *export = symvers_find(kernel, name);

	return (export && !strcmp(export->module, "vmlinux")) || symvers_find(core, name);
}

struct error *comparison_open_module(struct build *build, const char *name, const char *path,
				     struct parent **ret)
{
	struct comparison *comparison = build->comparison;
	struct parent *parent = map_get(&comparison->modules_by_name, name);

	if (!parent) {
		TRY(parent_open(name, path, &parent));
		*vec_push(&comparison->modules) = parent;
		*map_slot(&comparison->modules_by_name, parent->name) = parent;
	}
	*ret = parent;
	return NULL;
}

/* Module.symvers names a module by its path: "net/netfilter/nf_conntrack". */
static struct error *open_exporter(void *context, const char *path, struct parent **ret)
{
	struct build *build = context;
	const char *slash = strrchr(path, '/');
	char *name _free_ = xstrdup(slash ? slash + 1 : path);
	/* A build folder has no kernel/ in front. */
	char *file _free_ = xasprintf("%s/%s.ko", build->files.modules_dbg, path);

	if (!file_exists(file)) {
		char *inside _free_ = xasprintf("kernel/%s.ko", path);

		free(take_pointer(file));
		TRY(modules_file(build, inside, &file));
	}
	module_name_of_file(name);
	return comparison_open_module(build, name, file, ret);
}

static int number_order(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/*
 * The lines of all changed files that the unit compiles, together: a line of one file that has the
 * number of one that the author wrote in another is only compared more strictly.
 */
static void find_authored(const struct build *build, const struct unit *unit,
			  struct authored_lines *ret)
{
	for (size_t i = 0; i < unit->nr_changed_files; i++) {
		const struct changed_file *file =
			changes_find(build->changes, unit->changed_files[i]);

		if (file)
			text_lines_authored(&file->new_lines, ret);
	}
	if (ret->numbers.count)
		qsort(ret->numbers.list, ret->numbers.count, sizeof(*ret->numbers.list),
		      number_order);
}

static struct error *unit_options(struct build *build, size_t index, struct diff_options *ret)
{
	struct comparison *comparison = build->comparison;
	const struct unit *unit = &build->units[index];

	*ret = (struct diff_options){
		.unit = unit->source,
		.orig = unit->orig_object,
		.patched = unit->patched_object,
		.parent = comparison->vmlinux,
		.vmlinux = comparison->vmlinux,
		.symvers = &comparison->symvers,
		.open_module = open_exporter,
		.is_touched = function_is_touched,
		.context = build,
		.externals = &comparison->externals,
		.mode = build->options.mode,
		.live = build->options.transition == POKEPATCH_TRANSITION_LIVE ||
			build->options.format->gradual,
		.withdraws = build->options.format->needs_core,
		.livepatch = !build->options.format->needs_core,
		.explain = build->options.explain || build->options.html,
		.list_code = build->options.html != NULL,
	};

	if (!unit->parent_path)
		return NULL;
	char *path _free_ = NULL;
	TRY(modules_file(build, unit->parent_path, &path));
	return comparison_open_module(build, unit->parent, path, &ret->parent);
}

static struct error *compare_unit(struct build *build, size_t index)
{
	struct comparison *comparison = build->comparison;
	const struct unit *unit = &build->units[index];
	char *out = xasprintf("%s/carried-%zu.o", build->work, index);
	struct diff_options options;

	comparison->outputs[index] = out;
	TRY(unit_options(build, index, &options));
	options.out = out;
	struct authored_lines authored = {0};
	find_authored(build, unit, &authored);
	options.authored = &authored;
	const size_t before = build->refusals.count;
	struct error *error = diff_run(&options, &build->refusals, &comparison->results[index]);
	vec_deinit(&authored.numbers);
	TRY(error);
	/* The original has what the kernel has not: then the reason is the source. */
	for (size_t i = before; unit->edited && i < build->refusals.count; i++)
		if (!strcmp(build->refusals.list[i].code, "symbol-missing")) {
			unit_refuse_edited(&build->refusals, unit);
			break;
		}
	if (!comparison->results[index].has_output) {
		free(out);
		comparison->outputs[index] = NULL;
	}
	return NULL;
}

/*
 * Compare those units again that need a static which a later one has made global.  The differ finds
 * no others then, because it notes these before it follows references.
 */
static struct error *compare_late_units(struct build *build)
{
	struct comparison *comparison = build->comparison;

	for (size_t i = 0; comparison->externals.promoted_list.count && i < build->nr_units; i++) {
		struct diff_result *result = &comparison->results[i];
		struct diff_options options;
		bool lends = result->lends;

		TRY(unit_options(build, i, &options));
		if (!diff_is_late(&options, result))
			continue;
		diff_result_deinit(result);
		free(comparison->outputs[i]);
		TRY(compare_unit(build, i));
		result->lends |= lends;
	}
	return NULL;
}

/* A parent may have one callback of each kind, so its units must not bring two of a kind. */
static void refuse_second_callbacks(struct build *build)
{
	struct map seen = {0};
	VEC(char *) keys = {0};

	for (size_t i = 0; i < build->nr_units; i++) {
		const struct diff_result *result = &build->comparison->results[i];
		const char *parent = build->units[i].parent;

		for (size_t j = 0; j < result->callbacks.count; j++) {
			const struct diff_callback *callback = &result->callbacks.list[j];
			const char *kind = diff_callback_name(callback->kind);
			char *key = *vec_push(&keys) = xasprintf("%s:%s", parent, kind);
			void **slot = map_slot(&seen, key);

			if (*slot)
				refusals_add(&build->refusals, "callback-twice",
					     callback->location, callback->function,
					     "'%s' would be a second %s callback of %s, beside '%s'; "
					     "an object has one: call both from it",
					     callback->function, kind, parent,
					     ((struct diff_callback *)*slot)->function);
			*slot = (void *)callback;
		}
	}
	map_deinit(&seen);
	for (size_t i = 0; i < keys.count; i++)
		free(keys.list[i]);
	vec_deinit(&keys);
}

static bool any_callbacks(const struct build *build)
{
	for (size_t i = 0; i < build->nr_units; i++)
		if (build->comparison->results[i].callbacks.count)
			return true;
	return false;
}

/* Without a changed function, no code of the kernel would reach new code and data. */
static bool any_changed(const struct build *build)
{
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct diff_result *result = &build->comparison->results[i];

		for (size_t j = 0; j < result->functions.count; j++)
			if (result->functions.list[j].change == DIFF_CHANGED)
				return true;
	}
	return false;
}

static struct error *read_kernel(const struct build *build, struct comparison *comparison)
{
	char *symvers _free_ = xasprintf("%s/Module.symvers", build->files.kbuild);

	TRY(symvers_read(symvers, &comparison->symvers));
	return parent_open("vmlinux", build->files.vmlinux, &comparison->vmlinux);
}

struct error *comparison_start(struct build *build)
{
	struct comparison *comparison;

	if (build->comparison)
		return NULL;
	comparison = xcalloc(1, sizeof(*comparison));
	struct error *error = read_kernel(build, comparison);
	if (error) {
		comparison_destroy(comparison);
		return error;
	}
	build->comparison = comparison;
	return NULL;
}

struct error *compare_units(struct build *build)
{
	struct comparison *comparison;

	TRY(comparison_start(build));
	comparison = build->comparison;
	comparison->count = build->nr_units;
	comparison->results = xcalloc(build->nr_units, sizeof(*comparison->results));
	comparison->outputs = xcalloc(build->nr_units, sizeof(*comparison->outputs));
	for (size_t i = 0; i < build->nr_units; i++)
		TRY(compare_unit(build, i));
	TRY(compare_late_units(build));
	refuse_second_callbacks(build);
	TRY(exports_check(build));
	TRY(callers_check(build));
	refusals_disallow(&build->refusals, 0, "--allow");
	TRY(build_check_refusals(build));
	TRY(confirm_units(build));
	commits_judge(build);
	if (!any_changed(build))
		return error_new(STATUS_NOTHING,
				 "nothing to do: no existing function differs in the %zu compiled "
				 "unit%s%s",
				 build->nr_units, build->nr_units == 1 ? "" : "s",
				 any_callbacks(build) ? "; callbacks alone make no patch"
				 : build->options.instrument
					 ? ", and there is no marker in a function; add markers "
					   "with --mark-functions, or POKEPATCH_MARK() in a diff"
					 : "");
	return NULL;
}
