// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out why a function differs although it has no inlined copy of the changed function. */
#include <string.h>

#include "unit.h"

/*
 * What gcc works out about one function it uses in others: the registers that
 * it leaves alone, the values that its parameters have.
 */
static const char *const inter_procedural[] = {
	"-fno-ipa-ra",        "-fno-ipa-vrp",        "-fno-ipa-bit-cp",       "-fno-ipa-cp",
	"-fno-ipa-modref",    "-fno-ipa-pure-const", "-fno-ipa-icf",          "-fno-ipa-sra",
	"-fno-ipa-reference", "-fno-ipa-profile",    "-fno-partial-inlining",
};

/* Without that, does the function not differ, or only as it holds a copy of the changed one? */
static struct error *differs_without(struct unit_check *unit, const struct choice *choice,
				     const char *flag, const char *name, bool *ret)
{
	const struct place *place = &unit->functions.places.list[choice->place];
	_free_ char *orig = xasprintf("orig%s", flag);
	_free_ char *changed = xasprintf("token%s", flag);
	const char *const variants[] = {orig, changed};
	struct image images[2];
	struct functions functions[2];
	struct map expected = {};
	bool ok[2];

	unit->flag = flag;
	TRY(compile_original_as(unit, variants[0], &ok[0]));
	TRY(compile_choice(unit, choice, variants[1], &ok[1]));
	unit->flag = NULL;
	*ret = true;
	if (!ok[0] || !ok[1])
		return NULL;
	for (size_t i = 0; i < 2; i++) {
		_free_ char *object = xasprintf("%s/%s.o", unit->folder, variants[i]);

		TRY(image_open(object, &images[i]));
		TRY(
		   functions_read(object, &images[i], unit->check->build.tree, &functions[i]));
		expect_from(&functions[i], &images[i], place, &expected);
	}
	const struct image_symbol *a = image_function(&images[0], name);
	const struct image_symbol *b = image_function(&images[1], name);
	*ret = !(a && b ? image_same(&images[0], a, &images[1], b) : !a && !b) &&
	       !map_has(&expected, name);
	map_deinit(&expected);
	for (size_t i = 0; i < 2; i++) {
		functions_deinit(&functions[i]);
		image_close(&images[i]);
	}
	return NULL;
}

/*
 * DWARF says nothing of a copy of which no instruction is left: getname_statx_lookup_flags(0),
 * which newlstat() calls through three inlined functions, is a number.
 */
static struct error *read_inlining(struct unit_check *unit, const struct choice *choice,
				   struct inlining *ret)
{
	struct error *error = NULL;

	for (int changed = 0; !error && changed < 2; changed++) {
		const char *variant = changed ? "token-inlining" : "orig-inlining";
		_free_ char *report = xasprintf("%s/%s.report", unit->folder, variant);
		_free_ char *flag = xasprintf("-fopt-info-inline=%s", report);
		bool ok;

		unit->flag = flag;
		error = changed ? compile_choice(unit, choice, variant, &ok)
				: compile_original_as(unit, variant, &ok);
		unit->flag = NULL;
		if (!error && ok)
			error = inlining_read(report, ret);
	}
	inlining_follow(ret, unit->functions.places.list[choice->place].name);
	return error;
}

static bool is_extra(const struct token_check *token, const char *name)
{
	for (size_t i = 0; i < token->extra.count; i++)
		if (!strcmp(token->extra.list[i], name))
			return true;
	return false;
}

/* Is it there in one of the objects only?  In *ret. */
static const struct image_symbol *only_in(const struct unit_check *unit,
					  const struct token_check *token, const char *name,
					  const struct image **ret)
{
	const struct image_symbol *a = image_function(&unit->image, name);
	const struct image_symbol *b = image_function(&token->image, name);

	*ret = a ? &unit->image : &token->image;
	return a && b ? NULL : a ?: b;
}

/* Some refer to it, and all of them differ themselves. */
static bool follows_callers(const struct token_check *token, const struct image *image,
			    const struct image_symbol *function)
{
	bool any = false;

	for (size_t i = 0; i < image->symbols.count; i++) {
		const struct image_symbol *other = &image->symbols.list[i];

		if (other == function || GELF_ST_TYPE(other->sym.st_info) != STT_FUNC ||
		    !other->section || image_is_cold(other->name) ||
		    !image_refers(image, other, function))
			continue;
		other = image_primary(image, other);
		if (!map_has(&token->expected, other->name) && !is_extra(token, other->name))
			return false;
		any = true;
	}
	return any;
}

/*
 * futex_exit_release() no longer inlines exit_pi_state_list(), which is new then; mpage_end_io()
 * now inlines bio_post_read_processing(), and so does the other caller, decrypt_work().
 */
static bool follows_others(const struct unit_check *unit, const struct token_check *token,
			   const char *name)
{
	const struct image *image;
	const struct image_symbol *function = only_in(unit, token, name, &image);

	if (function)
		return follows_callers(token, image, function);
	for (size_t i = 0; i < token->extra.count; i++) {
		const struct image_symbol *callee =
			only_in(unit, token, token->extra.list[i], &image);

		if (callee && image_refers(image, image_function(image, name), callee))
			return true;
	}
	return false;
}

static struct error *explain_one(struct unit_check *unit, const struct choice *choice,
				 const char *name)
{
	bool differs = true;

	for (size_t i = 0; differs && i < ARRAY_SIZE(inter_procedural); i++) {
		TRY(differs_without(unit, choice, inter_procedural[i], name, &differs));
		if (!differs)
			buffer_printf(unit->results, "ipa\t%s\t%s\t%s\n", unit->target->source,
				      name, inter_procedural[i]);
	}
	if (differs)
		problem(unit, "token", "extra", name, "inter-procedural? not explained");
	return NULL;
}

struct error *explain_extra(struct unit_check *unit, struct token_check *token,
			    const struct choice *choice)
{
	struct inlining inlining = {};
	struct error *error = NULL;

	if (token->extra.count)
		error = read_inlining(unit, choice, &inlining);
	for (size_t i = 0; !error && i < token->extra.count; i++) {
		const char *name = token->extra.list[i];

		if (inlining_is_holder(&inlining, name))
			buffer_printf(unit->results, "inlined\t%s\t%s\n", unit->target->source,
				      name);
		else if (follows_others(unit, token, name))
			buffer_printf(unit->results, "follows\t%s\t%s\n", unit->target->source,
				      name);
		else
			error = explain_one(unit, choice, name);
	}
	inlining_deinit(&inlining);
	return error;
}
