// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Phase: prove the finished module (build-tool/proof).  The earlier phases left the input of the
 * proof.  write_module() gives the module its final name only if the proof accepts it.
 */
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/comparison.h"
#include "pokepatch-build/objtool.h"
#include "pokepatch-build/series.h"
#include "proof/proof.h"

/*
 * Run objtool on copies of the compiler's whole output for each unit.  That is the only other
 * source of the module's unwind table.
 */
static struct error *unwind_units(struct build *build, struct proof_input *input)
{
	size_t count = input->units.count + 1;
	char **copies _free_ = xcalloc(count, sizeof(*copies));

	if (!build->core.objtool)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		bool glue = i == input->units.count;
		char *copy = xasprintf("%s/unwound-%zu.o", build->work, i);

		copies[i] = copy;
		if (glue)
			input->glue_unwound = copy;
		else
			input->units.list[i].unwound = copy;
		TRY(file_copy_scratch(glue ? input->glue : input->units.list[i].patched, copy));
	}
	return objtool_run_all(build, OBJTOOL_MODULE, copies, count);
}

static void add_unit(struct proof_input *input, const struct unit *unit,
		     const struct diff_result *result)
{
	struct proof_unit *new = vec_push(&input->units);

	new->name = xstrdup(unit->source);
	new->parent = xstrdup(unit->parent);
	new->orig = xstrdup(unit->orig_object);
	new->patched = xstrdup(unit->patched_object);
	new->exact = xstrdup(unit->exact_object);
	for (size_t i = 0; i < result->functions.count; i++)
		if (result->functions.list[i].change != DIFF_REMOVED)
			*vec_push(&new->functions) = (struct proof_reported){
				.name = xstrdup(result->functions.list[i].name),
				.changed = result->functions.list[i].change == DIFF_CHANGED,
			};
	for (size_t i = 0; i < result->data.count; i++)
		if (result->data.list[i].change != DIFF_REMOVED)
			*vec_push(&new->data) = (struct proof_reported){
				.name = xstrdup(result->data.list[i].name),
				.changed = result->data.list[i].change == DIFF_CHANGED,
			};
}

static void add_parent(struct proof_input *input, const struct parent *parent)
{
	*vec_push(&input->parents) = (struct proof_parent){
		.name = xstrdup(parent->name), .path = xstrdup(parent->path)};
}

static struct error *fill_input(struct build *build, struct proof_input *input)
{
	const struct comparison *comparison = build->comparison;
	char *config _free_ = NULL;

	TRY(file_read(build->files.config, &config, NULL));
	*input = (struct proof_input){
		.name = xstrdup(build->name),
		.release = xstrdup(build->release),
		.source = patches_sum(build),
		.symvers = xasprintf("%s/Module.symvers", build->files.kbuild),
		.core_symvers = xstrdup(build->core.symvers),
		.glue = xstrdup(build->glue_object),
		.mod = xasprintf("%s/pokepatch-%s.mod.o", build->work, build->name),
		.common = build->core.common_object ? xstrdup(build->core.common_object) : NULL,
		.mode = build->options.mode,
		.transition = build->options.transition,
		.kallsyms_all = strstr(config, "\nCONFIG_KALLSYMS_ALL=y\n") != NULL,
	};
	add_parent(input, comparison->vmlinux);
	for (size_t i = 0; i < comparison->modules.count; i++)
		add_parent(input, comparison->modules.list[i]);
	for (size_t i = 0; i < build->nr_units; i++) {
		/* The proof needs a unit that lends a static to see which one it is. */
		if (!comparison->outputs[i] && !comparison->results[i].lends)
			continue;
		add_unit(input, &build->units[i], &comparison->results[i]);
		input->pinned |= comparison->results[i].escapes;
	}
	return unwind_units(build, input);
}

/* Copy a file into the kept work folder: the tree and the core may be removed from the cache. */
static struct error *keep_file(const struct build *build, const char *name, char **path)
{
	char *copy = xasprintf("%s/%s", build->work, name);
	struct error *error = file_copy_scratch(*path, copy);

	free(*path);
	*path = copy;
	return error;
}

static struct error *keep_input(const struct build *build, struct proof_input *input)
{
	TRY(keep_file(build, "glue.o", &input->glue));
	TRY(keep_file(build, "core.symvers", &input->core_symvers));
	if (input->common)
		TRY(keep_file(build, "module-common.o", &input->common));
	for (size_t i = 0; i < input->units.count; i++) {
		char *name _free_ = xasprintf("exact-%zu.o", i);

		TRY(keep_file(build, name, &input->units.list[i].exact));
	}

	char *path _free_ = xasprintf("%s/proof.txt", build->work);
	char *text _free_ = proof_input_write(input);
	return file_write_scratch(path, text, strlen(text));
}

static struct error *run_proof(struct build *build, struct proof_input *input)
{
	struct proof *proof;

	if (build->options.keep)
		TRY(keep_input(build, input));
	TRY(proof_open(input, &proof));
	struct error *error = proof_check(proof, build->ko);
	proof_close(proof);
	return error;
}

struct error *prove_module(struct build *build)
{
	struct proof_input input = {0};
	struct error *error = fill_input(build, &input);

	if (!error)
		error = run_proof(build, &input);
	proof_input_deinit(&input);
	return error;
}

struct error *write_module(struct build *build)
{
	return file_copy(build->ko, build->output);
}
