// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks the differ on one unit in which one token of one function was changed. */
#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* How many functions, and tokens in each, are tried until one changes the object. */
#define PLACES_TRIED 6
#define TOKENS_TRIED 4

/* FNV-1a: the same choice in every run with the same seed. */
#define HASH_START 0xcbf29ce484222325

static uint64_t hash_add(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

struct choices {
	VEC(struct choice) list;
};

static int by_order(const void *left, const void *right)
{
	const struct choice *a = left, *b = right;

	return a->order < b->order ? -1 : a->order > b->order;
}

/* In code that runs when the kernel is up. */
static bool is_live(const struct image *image, const char *name)
{
	const struct image_symbol *symbol = image_function(image, name);
	const char *section = symbol ? image->sections.list[symbol->section].name : "";

	return has_prefix(section, ".text") || !strcmp(section, ".sched.text") ||
	       !strcmp(section, ".noinstr.text");
}

static bool is_used(const struct unit_check *unit, size_t place)
{
	for (size_t i = 0; i < unit->functions.copies.count; i++)
		if (unit->functions.copies.list[i].place == place &&
		    is_live(&unit->image, unit->functions.copies.list[i].symbol))
			return true;
	return false;
}

/* Several tokens of each of several functions, in an order that is the same each time. */
static void choose(const struct unit_check *unit, bool strings, struct choices *ret)
{
	struct choices places = {0};

	for (size_t i = 0; i < unit->functions.places.count; i++) {
		const struct place *place = &unit->functions.places.list[i];

		for (size_t j = 0; j < unit->files.count; j++)
			if (!strcmp(place->file, unit->files.list[j].label) && is_used(unit, i))
				*vec_push(&places.list) = (struct choice){
					.order = hash_add(hash_add(HASH_START ^ unit->check->seed,
								   unit->target->source),
							  place->name),
					.place = i,
					.file = j,
				};
	}
	if (places.list.count)
		qsort(places.list.list, places.list.count, sizeof(*places.list.list), by_order);
	for (size_t i = 0, tried = 0; i < places.list.count && tried < PLACES_TRIED; i++) {
		const struct choice *chosen = &places.list.list[i];
		const struct place *place = &unit->functions.places.list[chosen->place];
		struct token_changes tokens = {};
		struct choices here = {0};

		text_tokens(unit->files.list[chosen->file].text, place->line, strings, &tokens);
		tried += tokens.list.count > 0;
		for (size_t j = 0; j < tokens.list.count; j++) {
			struct choice *choice = vec_push(&here.list);
			_free_ char *number = xasprintf("%s/%zu", place->name, j);

			*choice = *chosen;
			choice->token = tokens.list.list[j];
			choice->order = hash_add(HASH_START ^ unit->check->seed, number);
		}
		if (here.list.count)
			qsort(here.list.list, here.list.count, sizeof(*here.list.list), by_order);
		for (size_t j = 0; j < here.list.count && j < TOKENS_TRIED; j++)
			*vec_push(&ret->list) = here.list.list[j];
		vec_deinit(&here.list);
		vec_deinit(&tokens.list);
	}
	vec_deinit(&places.list);
}

struct error *compile_choice(struct unit_check *unit, const struct choice *choice,
			     const char *variant, bool *ret_ok)
{
	_free_ char **texts = xcalloc(unit->files.count, sizeof(*texts));
	const char *text = unit->files.list[choice->file].text;
	const struct token_change *token = &choice->token;
	struct buffer output = {};
	struct error *error;

	for (size_t i = 0; i < unit->files.count; i++)
		texts[i] = unit->files.list[i].text;
	_free_ char *changed = xasprintf("%.*s%s%s", (int)token->offset, text, token->to,
					 text + token->offset + token->length);
	texts[choice->file] = changed;
	error = compile_variant(unit, variant, texts, ret_ok, &output);
	buffer_deinit(&output);
	return error;
}

/* A function is identified by its place; its line is the same in both. */
void expect_from(const struct functions *functions, const struct image *image,
		 const struct place *changed, struct map *expected)
{
	for (size_t i = 0; i < functions->copies.count; i++) {
		const struct copy *copy = &functions->copies.list[i];
		const struct place *place = &functions->places.list[copy->place];

		/* SYSCALL_DEFINE2() makes several functions on one line, and one body. */
		if (place->line == changed->line && !strcmp(place->file, changed->file))
			map_slot(expected,
				 image_primary(image, image_function(image, copy->symbol))->name);
	}
}

static void note_reported(struct unit_check *unit, struct token_check *token, const char *name)
{
	const struct image_symbol *symbol = image_function(&token->image, name);
	const struct image *image = &token->image;

	if (!symbol) {
		image = &unit->image;
		symbol = image_function(image, name);
	}
	map_slot(&token->reported, symbol ? image_primary(image, symbol)->name : name);
}

/*
 * Whether a function is a carrier: it calls a changed function without an entry.  The differ
 * reports carriers although they have not changed themselves.
 */
static bool is_carrier(const struct token_check *token, const struct image_symbol *function)
{
	for (size_t i = 0; i < token->comparison.result.functions.count; i++) {
		const struct image_symbol *other = image_function(
			&token->image, token->comparison.result.functions.list[i].name);

		if (other && other != function && !image_has_entry(&token->image, other) &&
		    image_refers(&token->image, function, other))
			return true;
	}
	return false;
}

/*
 * gcc made one body of two functions (-fipa-icf), and one of them has changed:
 * ct_kernel_exit_state() and ct_kernel_enter_state(), which is new then.
 */
static bool was_folded(const struct unit_check *unit, const struct token_check *token,
		       const struct image_symbol *function)
{
	for (size_t i = 0; i < unit->image.symbols.count; i++) {
		const struct image_symbol *other = &unit->image.symbols.list[i];
		const struct image_symbol *now = image_function(&token->image, other->name);

		if (other != function && other->section == function->section &&
		    other->sym.st_value == function->sym.st_value && now &&
		    map_has(&token->expected, image_primary(&token->image, now)->name))
			return true;
	}
	return false;
}

static void judge(struct unit_check *unit, struct token_check *token, const char *name,
		  size_t *ret_differing)
{
	const struct image_symbol *a = image_function(&unit->image, name);
	const struct image_symbol *b = image_function(&token->image, name);
	bool differs = !a || !b || !image_same(&unit->image, a, &token->image, b);
	bool reported = map_has(&token->reported, name);
	bool expected = map_has(&token->expected, name);

	*ret_differing += differs;
	if (differs && !reported)
		problem(unit, "token", "missed", name, expected ? "expected" : "not expected");
	else if (differs && !expected)
		*vec_push(&token->extra) = name;
	else if (!differs && reported && !is_carrier(token, b) && !was_folded(unit, token, a))
		problem(unit, "token", "false", name, expected ? "expected" : "not expected");
}

static void judge_all(struct unit_check *unit, struct token_check *token, size_t *ret_differing)
{
	const struct image *images[] = {&unit->image, &token->image};
	struct map seen = {};

	*ret_differing = 0;
	for (size_t i = 0; i < ARRAY_SIZE(images); i++)
		for (size_t j = 0; j < images[i]->symbols.count; j++) {
			const struct image_symbol *symbol = &images[i]->symbols.list[j];

			if (GELF_ST_TYPE(symbol->sym.st_info) != STT_FUNC || !symbol->section ||
			    !symbol->sym.st_size || image_is_cold(symbol->name) ||
			    image_primary(images[i], symbol) != symbol ||
			    map_has(&seen, symbol->name))
				continue;
			map_slot(&seen, symbol->name);
			judge(unit, token, symbol->name, ret_differing);
		}
	map_deinit(&seen);
}

/*
 * Whether a function without an entry cannot be patched: it is global, its address is taken, or no
 * function with an entry calls it (as in a unit that is compiled without ftrace).
 */
static bool cannot_be_carried(const struct image *image, const struct image_symbol *function)
{
	bool called = false;

	if (GELF_ST_BIND(function->sym.st_info) != STB_LOCAL)
		return true;
	for (size_t i = 0; i < image->symbols.count; i++) {
		const struct image_symbol *other = &image->symbols.list[i];

		if (other == function || GELF_ST_TYPE(other->sym.st_info) != STT_FUNC ||
		    !other->section)
			continue;
		if (image_takes_address(image, other, function))
			return true;
		called |= image_has_entry(image, other) && image_refers(image, other, function);
	}
	return !called;
}

/* user_epoll_alloc() is inlined in uid_cache_init(), whose copy has run. */
static bool rightly_refused(const struct token_check *token, const struct refusal *refusal)
{
	const struct image *image = &token->image;
	const struct image_symbol *function = image_function(image, refusal->subject);

	if (!function)
		return false;
	if (!strcmp(refusal->code, "init-changed"))
		return !is_live(image, function->name) &&
		       map_has(&token->expected, image_primary(image, function)->name);
	return !strcmp(refusal->code, "no-entry") && !image_has_entry(image, function) &&
	       cannot_be_carried(image, function);
}

static void tell_token(struct unit_check *unit, struct token_check *token,
		       const struct choice *choice)
{
	const struct place *place = &unit->functions.places.list[choice->place];
	const struct comparison_result *comparison = &token->comparison;

	for (size_t i = 0; i < comparison->refusals.count; i++) {
		const struct refusal *refusal = &comparison->refusals.list[i];

		if (rightly_refused(token, refusal))
			buffer_printf(unit->results, "refused\t%s\t%s\t%s\n", unit->target->source,
				      refusal->code, refusal->subject);
		else if (!refusal->warning)
			problem(unit, "token", refusal->code, refusal->subject, refusal->text);
	}
	for (size_t i = 0; i < comparison->result.data.count; i++)
		problem(unit, "token", "data", comparison->result.data.list[i].name,
			change_names[comparison->result.data.list[i].change]);
	buffer_printf(unit->results, "token\t%s\t%s\t%s:%d: %s to %s\t", unit->target->source,
		      place->name, place->file, choice->token.line, choice->token.from,
		      choice->token.to);
	for (size_t i = 0; i < comparison->result.functions.count; i++)
		buffer_printf(unit->results, "%s%s", i ? " " : "",
			      comparison->result.functions.list[i].name);
	buffer_printf(unit->results, "\n");
}

/* *ret_changed: the object did change. */
static struct error *compare_choice(struct unit_check *unit, const struct choice *choice,
				    bool *ret_changed)
{
	_free_ char *object = xasprintf("%s/token.o", unit->folder);
	_free_ char *out = xasprintf("%s/output.o", unit->folder);
	const struct place *place = &unit->functions.places.list[choice->place];
	struct token_check token = {};
	size_t differing;

	TRY(image_open(object, &token.image));
	TRY(functions_read(object, &token.image, unit->check->build.tree, &token.functions));
	TRY(compare(unit, object, out, &token.comparison));
	expect_from(&unit->functions, &unit->image, place, &token.expected);
	expect_from(&token.functions, &token.image, place, &token.expected);
	for (size_t i = 0; i < token.comparison.result.functions.count; i++)
		note_reported(unit, &token, token.comparison.result.functions.list[i].name);
	for (size_t i = 0; i < token.comparison.refusals.count; i++)
		if (!strcmp(token.comparison.refusals.list[i].code, "init-changed"))
			note_reported(unit, &token, token.comparison.refusals.list[i].subject);

	judge_all(unit, &token, &differing);
	TRY(explain_extra(unit, &token, choice));
	*ret_changed = differing || token.comparison.result.functions.count;
	if (*ret_changed)
		tell_token(unit, &token, choice);
	comparison_deinit(&token.comparison);
	vec_deinit(&token.extra);
	map_deinit(&token.reported);
	map_deinit(&token.expected);
	functions_deinit(&token.functions);
	image_close(&token.image);
	return NULL;
}

/* Some units are a table, init code, or what tracepoints' headers make. */
static bool has_live_code(const struct unit_check *unit)
{
	for (size_t i = 0; i < unit->functions.places.count; i++)
		for (size_t j = 0; j < unit->files.count; j++)
			if (!strcmp(unit->functions.places.list[i].file,
				    unit->files.list[j].label) &&
			    is_used(unit, i))
				return true;
	return false;
}

/* The first choice that changes the object is kept, so that a later run need not look. */
struct error *check_token(struct unit_check *unit)
{
	_free_ char *kept = xasprintf("%s/choice", unit->folder);
	struct choices choices = {0};
	struct error *error = NULL;
	size_t first = 0;
	bool changed = false;

	choose(unit, false, &choices);
	if (!choices.list.count)
		choose(unit, true, &choices);
	if (file_exists(kept)) {
		_free_ char *text = NULL;
		size_t length;

		TRY(file_read(kept, &text, &length));
		first = strtoul(text, NULL, 10);
	}
	for (size_t i = first; !error && !changed && i < choices.list.count; i++) {
		_free_ char *text = xasprintf("%zu\n", i);
		bool ok;

		error = compile_choice(unit, &choices.list.list[i], "token", &ok);
		if (!error && ok)
			error = compare_choice(unit, &choices.list.list[i], &changed);
		if (!error && changed)
			error = file_write(kept, text, strlen(text));
	}
	if (!error && !changed && !has_live_code(unit))
		buffer_printf(unit->results, "no-code\t%s\n", unit->target->source);
	else if (!error && !changed)
		problem(unit, "token", "none", NULL,
			choices.list.count ? "no token of those tried changes the object"
					   : "no function with a body and a token to change");
	vec_deinit(&choices.list);
	return error;
}
