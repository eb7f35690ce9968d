// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Phase: prove the finished module (build-tool/proof).  The earlier phases left the input of the
 * proof.  write_module() gives the module its final name only if the proof accepts it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pokepatch-build/about.h"
#include "pokepatch-build/comparison.h"
#include "pokepatch-build/format.h"
#include "pokepatch-build/objtool.h"
#include "pokepatch-build/package.h"
#include "pokepatch-build/series.h"
#include "pokepatch-build/sign.h"
#include "proof/proof.h"

static void add_unit(const struct build *build, struct proof_input *input, size_t index)
{
	const struct unit *unit = &build->units[index];
	const struct diff_result *result = &build->comparison->results[index];
	struct proof_unit *new = vec_push(&input->units);

	new->name = xstrdup(unit->source);
	new->parent = xstrdup(unit->parent);
	new->orig = xstrdup(unit->orig_object);
	new->patched = xstrdup(unit->patched_object);
	new->exact = xstrdup(unit->exact_object);
	new->unwound = unwound_object(build, index);
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
	struct args about = {0};
	char *config _free_ = NULL;

	TRY(file_read(build->files.config, &config, NULL));
	*input = (struct proof_input){
		.name = xstrdup(build->name),
		.release = xstrdup(build->release),
		.source = patches_sum(build),
		.symvers = xasprintf("%s/Module.symvers", build->files.kbuild),
		.core_symvers = xstrdup(build->core.symvers),
		.glue = xstrdup(build->glue_object),
		.glue_unwound = unwound_object(build, build->nr_units),
		.mod = xasprintf("%s/pokepatch-%s.mod.o", build->work, build->name),
		.common = build->core.common_object ? xstrdup(build->core.common_object) : NULL,
		.vmlinux = build->proof_vmlinux,
		.mode = build->options.mode,
		.transition = build->options.transition,
		.level = build->options.level,
		.livepatch = build->options.format == &format_livepatch,
		.least_level = build->options.least_level,
		.kallsyms_all = strstr(config, "\nCONFIG_KALLSYMS_ALL=y\n") != NULL,
	};
	about_lines(build, &about);
	for (size_t i = 0; i < about.count; i++)
		*vec_push(&input->about) = xstrdup(about.list[i]);
	args_deinit(&about);
	add_parent(input, comparison->vmlinux);
	for (size_t i = 0; i < comparison->modules.count; i++)
		add_parent(input, comparison->modules.list[i]);
	for (size_t i = 0; i < build->nr_units; i++) {
		/* The proof needs a unit that lends a static to see which one it is. */
		if (!comparison->outputs[i] && !comparison->results[i].lends)
			continue;
		add_unit(build, input, i);
		input->pinned |= comparison->results[i].escapes;
	}
	return NULL;
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
	struct error *error = build->options.format->prove(build, proof);
	proof_close(proof);
	return error;
}

struct error *prove_module(struct build *build)
{
	struct proof_input input = {0};
	struct error *error = fill_input(build, &input);

	if (!error)
		error = run_proof(build, &input);
	/* The proof is about what is signed. */
	if (!error)
		error = sign_module(build, build->ko);
	proof_input_deinit(&input);
	return error;
}

/* Write a signed core beside the module, where `pokepatch load` looks first, and name that one. */
static struct error *write_signed_core(struct build *build)
{
	const char *slash = strrchr(build->output, '/');
	const size_t folder = slash ? (size_t)(slash - build->output) + 1 : 0;
	_free_ char *copy = xasprintf("%s/signed-core.ko", build->work);
	_free_ char *core = xasprintf("%.*spokepatch.ko", (int)folder, build->output);

	TRY(file_copy_scratch(build->core.ko, copy));
	TRY(sign_module(build, copy));
	TRY(file_copy(copy, core));
	free(build->core.ko);
	build->core.ko = take_pointer(core);
	return NULL;
}

struct error *write_module(struct build *build)
{
	struct error *error = build->options.deb ? package_write(build)
						 : file_copy(build->ko, build->output);

	if (!error && build->options.sign && !build->options.deb &&
	    build->options.format->needs_core) {
		error = write_signed_core(build);
		if (error)
			unlink(build->output);
	}
	return error;
}
