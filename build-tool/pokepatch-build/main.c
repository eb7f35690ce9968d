// SPDX-License-Identifier: GPL-2.0-or-later
/* pokepatch-build: make a live patch module from source diffs. */
#include <stdio.h>
#include <string.h>

#include "pokepatch-build/build.h"
#include "pokepatch-build/explain.h"
#include "pokepatch-build/leave_out.h"
#include "pokepatch-build/returns.h"
#include "diff/diff_report.h"
#include "common/proc.h"

struct phase {
	const char *name;
	struct error *(*run)(struct build *build);
};

static const struct phase preparations[] = {
	{ "read the diffs", read_patches },
	{ "prepare the source", prepare_tree },
	{ "prepare the core", prepare_core },
};

/* They may run several times for a series (leave_out.h). */
static const struct phase phases[] = {
	{ "apply the diffs", apply_patches },
	{ "find the units", find_units },
	{ "mark the functions", mark_functions },
	{ "compile", compile_units },
	{ "compare", compare_units },
	{ "verify", verify_units },
	{ "link", link_module },
	{ "prove", prove_module },
};

/* The same for --return: nothing is read but the kernel itself, and nothing is compiled. */
static const struct phase return_preparations[] = {
	{ "read the values", read_returns },
	{ "read the kernel", prepare_kernel },
	{ "prepare the core", prepare_core },
};

static const struct phase return_phases[] = {
	{ "make the functions", make_returns },
	{ "compare", compare_returns },
	{ "verify", verify_units },
	{ "link", link_module },
	{ "prove", prove_module },
};

/* Runs after the report is written, so that a failure to write either file leaves neither. */
static const struct phase last_phase = { "write", write_module };

static struct error *run_phase(struct build *build, const struct phase *phase)
{
	phase_begin(build, phase->name);
	TRY(phase->run(build));
	phase_end(build);
	return NULL;
}

static struct error *run_phases(struct build *build, const struct phase *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		TRY(run_phase(build, &list[i]));
	return NULL;
}

static struct error *make_module(struct build *build)
{
	struct error *error;

	if (build->options.returns.count) {
		TRY(run_phases(build, return_preparations, ARRAY_SIZE(return_preparations)));
		return run_phases(build, return_phases, ARRAY_SIZE(return_phases));
	}
	TRY(run_phases(build, preparations, ARRAY_SIZE(preparations)));
	if (options_no_patch(&build->options))
		return NULL; /* a package of level 0 has the core alone */
	do
		error = run_phases(build, phases, ARRAY_SIZE(phases));
	while (leave_out(build, &error));
	return error;
}

/* Keep the first of two errors. */
static struct error *first_error(struct error *first, struct error *second)
{
	if (!first)
		return second;
	error_destroy(second);
	return first;
}

int main(int argc, char **argv)
{
	struct build_options options;
	struct build build = {.tree_lock = -1, .core_lock = -1, .kernel_lock = -1};
	struct error *error;
	bool answered;
	int status = STATUS_DONE;

	error = options_parse(argc, argv, &options, &answered);
	build.options = options; /* build_deinit() frees them, also after an error */
	if (!error && answered)
		return STATUS_DONE;
	if (!error) {
		proc_catch_signals();
		proc_catch_broken_pipes();
		proc_verbose(options.verbose);
		error = build_init(&build, &options);
	}
	if (!error)
		error = make_module(&build);
	build_print_notes(&build);
	refusals_sort(&build.refusals);
	refusals_print(&build.refusals, stderr);
	if (!error || error->status != STATUS_FAILED)
		explain_print(&build);
	/* A refused change gets a report with the refusals; a failed run gets none. */
	if (!error || error->status != STATUS_FAILED)
		error = first_error(error, report_write(&build));
	if (!error && !options.dry_run) {
		error = run_phase(&build, &last_phase);
		if (error)
			report_remove(&build);
	}
	if (!error)
		summary_print(&build);
	if ((fflush(stdout) || ferror(stdout)) && !error)
		error = error_errno("cannot write to standard output");
	if (error) {
		fprintf(stderr, "pokepatch-build: %s\n", error->text);
		status = error->status;
		error_destroy(error);
	}
	build_deinit(&build);
	return status;
}
