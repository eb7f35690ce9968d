// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of formats, and pokepatch's own one; see format.h. */
#include "pokepatch-build/format.h"

#include <string.h>

#include "common/error.h"
#include "common/util.h"
#include "pokepatch-build/build.h"
#include "proof/proof.h"

static const char *no_option(const struct build_options *options)
{
	(void)options;
	return NULL;
}

static struct error *accept_all(struct build *build)
{
	(void)build;
	return NULL;
}

static struct error *prove(const struct build *build, struct proof *proof)
{
	return proof_check(proof, build->ko);
}

const struct output_format format_pokepatch = {
	.name = "pokepatch",
	.needs_core = true,
	.bare_option = no_option,
	.judge = accept_all,
	.make_glue = glue_with_stubs,
	.prove = prove,
};

const struct output_format *output_format_find(const char *name)
{
	static const struct output_format *const formats[] = {&format_pokepatch, &format_livepatch};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}
