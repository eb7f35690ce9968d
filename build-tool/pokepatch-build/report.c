// SPDX-License-Identifier: GPL-2.0-or-later
/* The JSON report (schema version 1), and the summary for the user. */
#include "pokepatch-build/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/build_id.h"
#include "pokepatch-build/about.h"
#include "pokepatch-build/comparison.h"
#include "pokepatch-build/format.h"
#include "pokepatch-build/page.h"
#include "pokepatch-build/series.h"
#include "diff/diff_report.h"

static void add_string(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, value ? json_object_new_string(value) : NULL);
}

static struct json_object *kernel_object(const struct build *build)
{
	struct json_object *kernel = json_object_new_object();
	const struct parent *vmlinux = build->comparison ? build->comparison->vmlinux : NULL;
	char *id _free_ = vmlinux && vmlinux->build_id_length
				  ? build_id_hex(vmlinux->build_id, vmlinux->build_id_length)
				  : NULL;

	add_string(kernel, "release", build->release);
	add_string(kernel, "build_id", id);
	add_string(kernel, "arch", build->arch);
	return kernel;
}

static struct json_object *patch_array(const struct build *build)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < build->nr_patches; i++) {
		if (build->patches[i].commit && (build->patches[i].commit->left_out ||
						build->patches[i].commit->idle))
			continue;
		struct json_object *item = json_object_new_object();
		const char *slash = strrchr(build->patches[i].path, '/');

		/* Without its folder, so that equal diffs give equal modules. */
		add_string(item, "file", build->patches[i].source ? build->patches[i].source
					 : slash			 ? slash + 1
									 : build->patches[i].path);
		add_string(item, "sha256", build->patches[i].sha256);
		json_object_array_add(array, item);
	}
	return array;
}

static struct json_object *text_array(char *const *list, size_t count)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < count; i++)
		json_object_array_add(array, json_object_new_string(list[i]));
	return array;
}

/* The commits of a series, in its order. */
static struct json_object *commit_array(const struct build *build)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < build->nr_patches; i++) {
		const struct commit *commit = build->patches[i].commit;
		struct json_object *item;

		if (!commit)
			continue;
		item = json_object_new_object();
		add_string(item, "id", commit->id);
		add_string(item, "subject", commit->subject);
		json_object_object_add(item, "cve",
				       text_array(commit->cves.list, commit->cves.count));
		add_string(item, "status", commit_is_live(commit) ? "live" : "left-out");
		json_object_object_add(item, "reasons",
				       text_array(commit->reasons.list, commit->reasons.count));
		json_object_object_add(item, "functions",
				       text_array(commit->functions.list, commit->functions.count));
		json_object_array_add(array, item);
	}
	return array;
}

/* What a cumulative patch says of itself (about.h). */
static void add_about(struct json_object *report, const struct build *build)
{
	struct args cves = {0}, unfixed = {0};

	if (!build->options.level_given)
		return;
	about_cves(build, &cves);
	about_unfixed(build, &unfixed);
	json_object_object_add(report, "level", json_object_new_int64(build->options.level));
	if (build->options.least_level)
		json_object_object_add(report, "revokes_below",
				       json_object_new_int64(build->options.least_level));
	add_string(report, "until", build->options.until);
	json_object_object_add(report, "cve", text_array(cves.list, cves.count));
	json_object_object_add(report, "unfixed", text_array(unfixed.list, unfixed.count));
	args_deinit(&cves);
	args_deinit(&unfixed);
}

/* The options of an instrumented build. */
static struct json_object *instrument_object(const struct build *build)
{
	const struct build_options *options = &build->options;
	struct json_object *object = json_object_new_object();
	struct json_object *defines = json_object_new_array(), *marks = json_object_new_array();

	for (size_t i = 0; i < options->defines.count; i++)
		json_object_array_add(defines, json_object_new_string(options->defines.list[i]));
	for (size_t i = 0; i < options->mark_functions.count; i++)
		json_object_array_add(marks,
				      json_object_new_string(options->mark_functions.list[i]));
	json_object_object_add(object, "defines", defines);
	json_object_object_add(object, "mark_functions", marks);
	return object;
}

/* What the functions of --return do, as the options say it. */
static struct json_object *return_array(const struct build *build)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < build->nr_patches; i++)
		json_object_array_add(array, json_object_new_string(build->patches[i].path));
	return array;
}

static const char *unit_status(const struct build *build, size_t index)
{
	if (!build->comparison || !build->comparison->outputs)
		return "not compared";
	return build->comparison->outputs[index] ? "changed" : "same";
}

static struct json_object *verify_array(const struct build *build)
{
	static const char *const results[] = {
		[DIFF_UNVERIFIED] = "not verified",
		[DIFF_EQUAL] = "equal",
		[DIFF_UNEQUAL] = "differs",
	};
	struct json_object *array = json_object_new_array();

	if (!build->comparison || !build->comparison->results)
		return array;
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct diff_result *result = &build->comparison->results[i];

		for (size_t j = 0; j < result->functions.count; j++) {
			const struct diff_function *function = &result->functions.list[j];
			struct json_object *item;

			if (function->change != DIFF_CHANGED)
				continue;
			item = json_object_new_object();
			add_string(item, "function", function->name);
			add_string(item, "parent", build->units[i].parent);
			add_string(item, "result", results[function->verified]);
			json_object_array_add(array, item);
		}
	}
	report_sort(array, "function", "parent");
	return array;
}

struct json_object *report_make_stable(const struct build *build)
{
	struct json_object *report = json_object_new_object();
	struct json_object *units = json_object_new_array();
	struct json_object *functions = json_object_new_array(), *data = json_object_new_array();
	struct json_object *callbacks = json_object_new_array(), *types = json_object_new_array();
	struct report_seen seen = {0};

	json_object_object_add(report, "version", json_object_new_int(1));
	add_string(report, "format", build->options.format->name);
	json_object_object_add(report, "kernel", kernel_object(build));
	json_object_object_add(report, "patch", patch_array(build));
	add_about(report, build);
	json_object_object_add(report, "commits", commit_array(build));
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct unit *unit = &build->units[i];
		struct json_object *item = json_object_new_object();

		add_string(item, "source", unit->source);
		add_string(item, "object", unit->object);
		add_string(item, "parent", unit->parent);
		add_string(item, "status", unit_status(build, i));
		json_object_array_add(units, item);
		if (!build->comparison || !build->comparison->results)
			continue;
		report_functions(functions, &build->comparison->results[i], unit->parent,
				 build->options.format->needs_core ? mode_name(build->options.mode)
								   : build->options.format->name);
		report_data(data, &build->comparison->results[i], unit->parent);
		report_callbacks(callbacks, &build->comparison->results[i], unit->parent);
		report_types(types, &seen, &build->comparison->results[i]);
	}
	report_seen_deinit(&seen);
	report_sort(types, "name", "location");
	report_sort(functions, "name", "parent");
	report_sort(data, "name", "parent");
	report_sort(callbacks, "parent", "kind");
	if (build->options.instrument)
		json_object_object_add(report, "instrument", instrument_object(build));
	if (build->options.returns.count)
		json_object_object_add(report, "returns", return_array(build));
	json_object_object_add(report, "units", units);
	json_object_object_add(report, "functions", functions);
	json_object_object_add(report, "data", data);
	json_object_object_add(report, "callbacks", callbacks);
	json_object_object_add(report, "types", types);
	json_object_object_add(report, "verify", verify_array(build));
	json_object_object_add(report, "refusals", report_refusals(&build->refusals));
	return report;
}

static struct json_object *timing_object(const struct build *build)
{
	struct json_object *timing = json_object_new_object();
	double total = 0;

	for (size_t i = 0; i < build->nr_phases; i++) {
		json_object_object_add(timing, build->phases[i].name,
				       json_object_new_double(build->phases[i].seconds));
		total += build->phases[i].seconds;
	}
	json_object_object_add(timing, "total", json_object_new_double(total));
	return timing;
}

static struct error *module_object(const struct build *build, struct json_object **ret)
{
	char *bytes _free_ = NULL;
	char digest[65];
	size_t length;

	*ret = NULL;
	if (!build->ko || build->options.dry_run)
		return NULL;
	TRY(file_read(build->ko, &bytes, &length));
	sha256_hex(bytes, length, digest);

	const char *slash = strrchr(build->output, '/');
	*ret = json_object_new_object();
	const char *file = slash ? slash + 1 : build->output;
	_free_ char *packed = xasprintf("pokepatch-%s.ko", build->name);
	add_string(*ret, "file", build->options.deb ? packed : file);
	if (build->options.deb)
		add_string(*ret, "package", file);
	add_string(*ret, "sha256", digest);
	json_object_object_add(*ret, "size", json_object_new_int64(length));
	return NULL;
}

/* Say which module's function is meant, if several link the unit's object. */
static void print_parent(const struct build *build, size_t index)
{
	if (build->units[index].shares ||
	    (index + 1 < build->nr_units && build->units[index + 1].shares))
		printf(" (%s)", build->units[index].parent);
}

static void print_functions(const struct build *build, enum diff_change change, const char *word)
{
	bool first = true;

	for (size_t i = 0; i < build->nr_units; i++) {
		const struct diff_result *result = &build->comparison->results[i];

		for (size_t j = 0; j < result->functions.count; j++) {
			if (result->functions.list[j].change != change)
				continue;
			if (first)
				printf("%s:", word);
			printf(" %s", result->functions.list[j].name);
			print_parent(build, i);
			first = false;
		}
	}
	if (!first)
		printf("\n");
}

/* Print functions without a patchable entry, and the callers that are replaced for them. */
static void print_carriers(const struct build *build)
{
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct diff_result *result = &build->comparison->results[i];

		for (size_t j = 0; j < result->functions.count; j++) {
			const struct diff_function *function = &result->functions.list[j];

			if (!function->carried_by.count)
				continue;
			printf("%s", function->name);
			print_parent(build, i);
			printf(" has no patchable entry and is carried by:");
			for (size_t k = 0; k < function->carried_by.count; k++)
				printf(" %s", function->carried_by.list[k]);
			printf("\n");
		}
	}
}

/* Print functions whose first instructions are overwritten, as they have no patchable entry. */
static void print_overwritten(const struct build *build)
{
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct diff_result *result = &build->comparison->results[i];

		for (size_t j = 0; j < result->functions.count; j++) {
			const struct diff_function *function = &result->functions.list[j];

			if (!function->overwrites)
				continue;
			printf("%s", function->name);
			print_parent(build, i);
			printf(" has no patchable entry; the jump overwrites its first %u bytes\n",
			       function->overwrites);
		}
	}
}

static void print_callbacks(const struct build *build)
{
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct diff_result *result = &build->comparison->results[i];

		for (size_t j = 0; j < result->callbacks.count; j++)
			printf("%s callback of %s: %s\n",
			       diff_callback_name(result->callbacks.list[j].kind),
			       build->units[i].parent, result->callbacks.list[j].function);
	}
}

static bool report_to_stdout(const struct build *build)
{
	return build->options.report && !strcmp(build->options.report, "-");
}

/* Say how many commits of a series are in the module; stderr has said why the others are not. */
static void print_commits(const struct build *build)
{
	size_t left_out = 0, idle = 0;

	if (!build->options.series)
		return;
	for (size_t i = 0; i < build->nr_patches; i++) {
		left_out += build->patches[i].commit->left_out;
		idle += build->patches[i].commit->idle;
	}
	printf("commits: %zu live", build->nr_patches - left_out - idle);
	if (left_out)
		printf(", %zu left out", left_out);
	if (idle)
		printf(", %zu without effect on this kernel", idle);
	printf("\n");
}

void summary_print(const struct build *build)
{
	struct stat status;

	if (build->options.quiet || report_to_stdout(build))
		return;
	print_commits(build);
	print_functions(build, DIFF_CHANGED, "changed functions");
	print_carriers(build);
	print_overwritten(build);
	print_functions(build, DIFF_NEW, "new functions");
	print_callbacks(build);
	print_functions(build, DIFF_REMOVED, "removed functions (stay in the kernel, unused)");
	if (build->options.dry_run || stat(build->output, &status))
		return;
	printf("%s: %lld bytes\n", build->output, (long long)status.st_size);
	if (build->options.format->needs_core)
		printf("core module for this kernel: %s\n", build->core.ko);
}

static struct error *write_json(const struct build *build)
{
	struct json_object *module;

	if (!build->options.report)
		return NULL;
	TRY(module_object(build, &module));
	struct json_object *report = report_make_stable(build);
	json_object_object_add(report, "timing", timing_object(build));
	json_object_object_add(report, "module", module);
	struct error *error = report_save(report, build->options.report);
	json_object_put(report);
	return error_prefix(error, "the report was not written");
}

/* Remove a regular file only: the user may have named a device or a pipe. */
static void remove_written(const char *path)
{
	struct stat status;

	if (path && !lstat(path, &status) && S_ISREG(status.st_mode))
		unlink(path);
}

static void remove_report(const struct build *build)
{
	remove_written(report_to_stdout(build) ? NULL : build->options.report);
}

struct error *report_write(struct build *build)
{
	TRY(write_json(build));
	struct error *error = page_write(build);
	if (error) /* what was at the page's path is still there */
		remove_report(build);
	return error;
}

void report_remove(const struct build *build)
{
	remove_report(build);
	remove_written(build->options.html);
}
