// SPDX-License-Identifier: GPL-2.0-or-later
/* pokepatch-build: from source diffs to a live patch module. */
#include <stdio.h>
#include <string.h>

#include "build.h"
#include "diff_report.h"
#include "proc.h"

static const struct phase {
	const char *name;
	struct error *(*run)(struct build *build);
} phases[] = {
	{ "read the diffs", read_patches },
	{ "prepare the source", prepare_tree },
	{ "prepare the core", prepare_core },
	{ "apply the diffs", apply_patches },
	{ "find the units", find_units },
	{ "compile", compile_units },
	{ "compare", compare_units },
	{ "verify", verify_units },
	{ "link", link_module },
	{ "check", check_module },
};

static struct error *run_phases(struct build *build)
{
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
		phase_begin(build, phases[i].name);
		_failed_(phases[i].run(build));
		phase_end(build);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct build_options options;
	struct build build = { .tree_lock = -1, .core_lock = -1 };
	struct error *error;
	bool answered;
	int status = STATUS_DONE;

	error = options_parse(argc, argv, &options, &answered);
	if (!error && answered)
		return STATUS_DONE;
	if (!error) {
		proc_catch_signals();
		proc_verbose(options.verbose);
		error = build_init(&build, &options);
	}
	if (!error)
		error = run_phases(&build);
	notes_tell(&build);
	refusals_sort(&build.refusals);
	refusals_print(&build.refusals, stderr);
	/* Refusals are in the report too; a failure of the environment leaves none. */
	if (!error || error->status != STATUS_FAILED) {
		struct error *report_error = report_write(&build);

		if (!error)
			error = report_error;
		else
			error_destroy(report_error);
	}
	if (error) {
		fprintf(stderr, "pokepatch-build: %s\n", error->text);
		status = error->status;
		error_destroy(error);
	}
	build_deinit(&build);
	return status;
}
