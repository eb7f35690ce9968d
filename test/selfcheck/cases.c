// SPDstatic void problem(-License-Identifier: GPL-2.0-or-later
/* One unit: compiled as it is, shifted and with a changed token, and compared. */
#include <stdlib.h>
#include <string.h>

#include "proc.h"
#include "selfcheck.h"

/* How many functions, and tokens in each, are tried until one changes the object. */
#define PLACES_TRIED 6
#define TOKENS_TRIED 4

/* A file of the unit: itself, and what it includes that ends with .c. */
struct file {
	const char *label, *path;
	char *text;
};

struct unit_check {
	struct selfcheck *check;
	const struct target *target;
	struct answer *answer;
	char *folder, *orig;
	VEC(struct file) files;
	struct image image;
	struct functions functions;
	struct parent *parent, *module;
	const char *flag; /* for the compiler, beside the kernel's; or NULL */
	struct buffer *results;
};

/* ---- compiling -------------------------------------------------------------------------- */

/* Have it compiled by kbuild, which also makes what is generated for it. */
static struct error *ask_kbuild(struct unit_check *unit, struct buffer *ret_output)
{
	char *const sources[] = {unit->target->source, NULL};

	answer_deinit(unit->answer);
	return kbuild_ask(&unit->check->build, sources, unit->answer, ret_output);
}

static struct error *collect_files(struct unit_check *unit, struct buffer *output)
{
	const struct selfcheck *check = unit->check;

	*vec_push(&unit->files) =
		(struct file){.label = unit->target->source, .path = unit->target->source};
	for (size_t i = 0; i < unit->files.count; i++) {
		const char *from = unit->files.list[i].path;
		_free_ char *full = xasprintf("%s/%s", check->build.tree, from);
		size_t length;

		if (!file_exists(full)) /* made by a generator, such as asn1_compiler */
			_failed_(ask_kbuild(unit, output));
		_failed_(file_read(full, &unit->files.list[i].text, &length));
		for (size_t j = 0; j < check->inclusions.count; j++) {
			const struct inclusion *inclusion = &check->inclusions.list[j];

			if (!strcmp(inclusion->from, from) && has_suffix(inclusion->path, ".c"))
				*vec_push(&unit->files) = (struct file){.label = inclusion->label,
									.path = inclusion->path};
		}
	}
	return NULL;
}

/*
 * Compile folder/VARIANT.o from the texts, one for each file, unless it was
 * made from just that.  *ret_ok: it is there; otherwise the compiler's output.
 */
static struct error *compile_variant(struct unit_check *unit, const char *variant,
				     char *const *texts, bool *ret_ok, struct buffer *ret_output)
{
	_free_ char *folder = xasprintf("%s/%s", unit->folder, variant);
	_free_ char *object = xasprintf("%s.o", folder);
	_free_ char *stamp = xasprintf("%s.stamp", folder);
	_free_ char *old = NULL;
	struct buffer made_from = {};
	struct args argv = {}, command = {};
	struct proc_options options = {.dir = unit->check->build.tree};
	struct proc_result result = {};
	struct error *error = NULL;
	char hash[65];
	size_t length;

	for (size_t i = 0; !error && i < unit->files.count; i++) {
		const struct file *file = &unit->files.list[i];
		_free_ char *path = xasprintf("%s/%s", folder, file->path);
		_free_ char *path_folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
		struct buffer text = {};

		buffer_printf(&text, "# 1 \"%s\"\n%s", file->label, texts[i]);
		buffer_add(&made_from, text.text, text.length);
		error = make_dirs(path_folder);
		if (!error)
			error = file_write(path, text.text, text.length);
		buffer_deinit(&text);
	}
	args_add_all(&argv, unit->answer->argv.list);
	args_add(&argv, unit->check->debug);
	if (unit->flag)
		args_add(&argv, unit->flag);
	unit_command(&unit->check->build, argv.list, unit->target->source, folder, object,
		     &command);
	for (char **word = argv.list; *word; word++)
		buffer_printf(&made_from, "%s\n", *word);
	sha256_hex(made_from.text, made_from.length, hash);
	buffer_deinit(&made_from);

	*ret_ok = false;
	if (!error && file_exists(stamp) && file_exists(object)) {
		error = file_read(stamp, &old, &length);
		*ret_ok = !error && !strcmp(old, hash);
	}
	if (!error && !*ret_ok) {
		error = remove_tree(stamp);
		if (!error)
			error = proc_run((const char *const *)command.list, &options, &result);
		*ret_ok = !error && !result.status;
		if (result.out.text)
			buffer_add_string(ret_output, result.out.text);
		proc_result_deinit(&result);
		if (*ret_ok)
			error = file_write(stamp, hash, strlen(hash));
	}
	if (!error)
		error = remove_tree(folder);
	args_deinit(&argv);
	args_deinit(&command);
	return error;
}

static struct error *compile_original_as(struct unit_check *unit, const char *variant, bool *ret_ok)
{
	_free_ char **texts = xcalloc(unit->files.count, sizeof(*texts));
	struct buffer output = {};
	struct error *error;

	for (size_t i = 0; i < unit->files.count; i++)
		texts[i] = unit->files.list[i].text;
	error = compile_variant(unit, variant, texts, ret_ok, &output);
	if (!error && !*ret_ok && !unit->flag) {
		error = ask_kbuild(unit, &output);
		if (!error && unit->answer->argv.list)
			error = compile_variant(unit, variant, texts, ret_ok, &output);
	}
	if (!error && !*ret_ok && !unit->flag)
		error = error_new(STATUS_FAILED, "%s does not compile:\n%s", unit->target->source,
				  output.text ?: "");
	buffer_deinit(&output);
	return error;
}

/* ---- telling ------------------------------------------------------------------------------ */

static void problem(struct unit_check *unit, const char *what, const char *kind,
		    const char *subject, const char *text)
{
	buffer_printf(unit->results, "problem\t%s\t%s\t%s\t%s\t%s\n", what, unit->target->source,
		      kind, subject ?: "-", text ?: "-");
}

static const char *const change_names[] = {
	[DIFF_CHANGED] = "changed", [DIFF_NEW] = "new", [DIFF_REMOVED] = "removed"};

/* ---- comparing ----------------------------------------------------------------------------- */

struct comparison_result {
	struct diff_result result;
	struct refusals refusals;
	struct externals externals;
};

static struct error *open_exporter(void *context, const char *path, struct parent **ret)
{
	struct unit_check *unit = context;
	const char *slash = strrchr(path, '/');
	_free_ char *name = xstrdup(slash ? slash + 1 : path);
	_free_ char *file =
		xasprintf("%s/kernel/%s.ko", unit->check->build.files.modules_dbg, path);

	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return parent_open(name, file, ret); /* lives as long as this process */
}

static struct error *compare(struct unit_check *unit, const char *patched, const char *out,
			     struct comparison_result *ret)
{
	struct selfcheck *check = unit->check;
	struct diff_options options = {
		.unit = unit->target->source,
		.orig = unit->orig,
		.patched = patched,
		.out = out,
		.parent = unit->parent,
		.vmlinux = check->vmlinux,
		.symvers = &check->symvers,
		.open_module = open_exporter,
		.context = unit,
		.externals = &ret->externals,
	};

	return diff_run(&options, &ret->refusals, &ret->result);
}

static void comparison_deinit(struct comparison_result *comparison)
{
	diff_result_deinit(&comparison->result);
	refusals_deinit(&comparison->refusals);
	externals_deinit(&comparison->externals);
}

/* ---- (a) shifted lines ---------------------------------------------------------------------- */

static int by_number(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

static char *shifted_text(const struct unit_check *unit, const struct file *file)
{
	VEC(int) lines = {0};
	struct buffer text = {};
	size_t kept = 0;

	for (size_t i = 0; i < unit->functions.places.count; i++)
		if (!strcmp(unit->functions.places.list[i].file, file->label))
			*vec_push(&lines) = unit->functions.places.list[i].line;
	if (lines.count)
		qsort(lines.list, lines.count, sizeof(*lines.list), by_number);
	for (size_t i = 0; i < lines.count; i++)
		if (!i || lines.list[i] != lines.list[i - 1])
			lines.list[kept++] = lines.list[i];
	text_shift(file->text, lines.list, kept, &text);
	vec_deinit(&lines);
	buffer_add(&text, "", 0);
	return text.text;
}

static void tell_shift(struct unit_check *unit, const struct comparison_result *comparison)
{
	for (size_t i = 0; i < comparison->result.functions.count; i++) {
		const struct diff_function *function = &comparison->result.functions.list[i];

		problem(unit, "shift", change_names[function->change], function->name,
			function->source);
	}
	for (size_t i = 0; i < comparison->result.data.count; i++)
		problem(unit, "shift", "data", comparison->result.data.list[i].name,
			change_names[comparison->result.data.list[i].change]);
	for (size_t i = 0; i < comparison->refusals.count; i++) /* warnings: of what differs */
		if (!comparison->refusals.list[i].warning)
			problem(unit, "shift", comparison->refusals.list[i].code,
				comparison->refusals.list[i].subject,
				comparison->refusals.list[i].text);
	buffer_printf(unit->results, "shift\t%s\t%zu\n", unit->target->source,
		      unit->functions.places.count);
}

static struct error *check_shift(struct unit_check *unit)
{
	_free_ char **texts = xcalloc(unit->files.count, sizeof(*texts));
	_free_ char *object = xasprintf("%s/shift.o", unit->folder);
	struct comparison_result comparison = {};
	struct buffer output = {};
	struct error *error;
	bool ok;

	for (size_t i = 0; i < unit->files.count; i++)
		texts[i] = shifted_text(unit, &unit->files.list[i]);
	error = compile_variant(unit, "shift", texts, &ok, &output);
	for (size_t i = 0; i < unit->files.count; i++)
		free(texts[i]);
	if (!error && !ok)
		error = error_new(STATUS_FAILED, "the shifted source does not compile:\n%s",
				  output.text ?: "");
	buffer_deinit(&output);
	_failed_(error);
	error = compare(unit, object, NULL, &comparison);
	if (!error)
		tell_shift(unit, &comparison);
	comparison_deinit(&comparison);
	return error;
}

/* ---- (b) a changed token -----------------------------------------------------------------------
 */

/* FNV-1a: the same choice in every run. */
static uint64_t hash_add(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

struct choice {
	uint64_t order;
	size_t place, file;
	struct token_change token;
};

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
					.order = hash_add(
						hash_add(0xcbf29ce484222325, unit->target->source),
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
			choice->order = hash_add(0xcbf29ce484222325, number);
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

static struct error *compile_choice(struct unit_check *unit, const struct choice *choice,
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

/* The two objects of a changed token, and what is said about their functions. */
struct token_check {
	struct image image;
	struct functions functions;
	struct map reported;     /* names, as primary symbols */
	struct map expected;     /* those that hold a copy of the changed function */
	VEC(const char *) extra; /* differ, and hold none */
	struct comparison_result comparison;
};

/* A function is identified by its place; its line is the same in both. */
static void expect_from(const struct functions *functions, const struct image *image,
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
 * A changed function without an entry is carried by those that call it; they
 * are reported and have not changed.
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
	else if (!differs && reported && !is_carrier(token, b))
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
 * A function without an entry, which nobody that has one calls (all of a unit
 * that is compiled without ftrace): it cannot be patched.
 */
static bool rightly_refused(const struct token_check *token, const struct refusal *refusal)
{
	const struct image *image = &token->image;
	const struct image_symbol *function = image_function(image, refusal->subject);

	if (strcmp(refusal->code, "no-entry") || !function || image_has_entry(image, function))
		return false;
	for (size_t i = 0; i < image->symbols.count; i++) {
		const struct image_symbol *other = &image->symbols.list[i];

		if (other != function && GELF_ST_TYPE(other->sym.st_info) == STT_FUNC &&
		    other->section && image_has_entry(image, other) &&
		    image_refers(image, other, function))
			return false;
	}
	return true;
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
	_failed_(compile_original_as(unit, variants[0], &ok[0]));
	_failed_(compile_choice(unit, choice, variants[1], &ok[1]));
	unit->flag = NULL;
	*ret = true;
	if (!ok[0] || !ok[1])
		return NULL;
	for (size_t i = 0; i < 2; i++) {
		_free_ char *object = xasprintf("%s/%s.o", unit->folder, variants[i]);

		_failed_(image_open(object, &images[i]));
		_failed_(
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

static struct error *explain_extra(struct unit_check *unit, struct token_check *token,
				   const struct choice *choice)
{
	for (size_t i = 0; i < token->extra.count; i++) {
		const char *name = token->extra.list[i];
		bool differs = true;
		size_t j;

		for (j = 0; differs && j < ARRAY_SIZE(inter_procedural); j++)
			_failed_(
				differs_without(unit, choice, inter_procedural[j], name, &differs));
		if (differs)
			problem(unit, "token", "extra", name, "inter-procedural? not explained");
		else
			buffer_printf(unit->results, "ipa\t%s\t%s\t%s\n", unit->target->source,
				      name, inter_procedural[j - 1]);
	}
	return NULL;
}

/* *ret_changed: the object did change. */
static struct error *compare_choice(struct unit_check *unit, const struct choice *choice,
				    bool *ret_changed)
{
	_free_ char *object = xasprintf("%s/token.o", unit->folder);
	_free_ char *out = xasprintf("%s/carried.o", unit->folder);
	const struct place *place = &unit->functions.places.list[choice->place];
	struct token_check token = {};
	size_t differing;

	_failed_(image_open(object, &token.image));
	_failed_(functions_read(object, &token.image, unit->check->build.tree, &token.functions));
	_failed_(compare(unit, object, out, &token.comparison));
	expect_from(&unit->functions, &unit->image, place, &token.expected);
	expect_from(&token.functions, &token.image, place, &token.expected);
	for (size_t i = 0; i < token.comparison.result.functions.count; i++)
		note_reported(unit, &token, token.comparison.result.functions.list[i].name);
	for (size_t i = 0; i < token.comparison.refusals.count; i++)
		if (!strcmp(token.comparison.refusals.list[i].code, "init-changed"))
			note_reported(unit, &token, token.comparison.refusals.list[i].subject);

	judge_all(unit, &token, &differing);
	_failed_(explain_extra(unit, &token, choice));
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
static struct error *check_token(struct unit_check *unit)
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

		_failed_(file_read(kept, &text, &length));
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

/* ---- all --------------------------------------------------------------------------------------
 */

static struct error *check_both(struct unit_check *unit)
{
	struct selfcheck *check = unit->check;

	_failed_(make_dirs(unit->folder));
	struct buffer output = {};
	struct error *error = collect_files(unit, &output);

	buffer_deinit(&output);
	_failed_(error);
	bool ok;
	_failed_(compile_original_as(unit, "orig", &ok));
	_failed_(image_open(unit->orig, &unit->image));
	_failed_(functions_read(unit->orig, &unit->image, check->build.tree, &unit->functions));
	unit->parent = check->vmlinux;
	if (unit->target->module) {
		_failed_(parent_open(unit->target->module, unit->target->module_path,
				     &unit->module));
		unit->parent = unit->module;
	}
	_failed_(check_shift(unit));
	return check_token(unit);
}

struct error *check_unit(struct selfcheck *check, const struct target *target,
			 struct answer *answer, struct buffer *ret)
{
	_free_ char *name = xstrdup(target->source);
	struct unit_check unit = {
		.check = check, .target = target, .answer = answer, .results = ret};
	struct error *error;

	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = ':';
	unit.folder = xasprintf("%s/units/%s", check->folder, name);
	unit.orig = xasprintf("%s/orig.o", unit.folder);
	unit.image.fd = -1;
	error = check_both(&unit);
	for (size_t i = 0; i < unit.files.count; i++)
		free(unit.files.list[i].text);
	vec_deinit(&unit.files);
	functions_deinit(&unit.functions);
	if (unit.image.fd >= 0)
		image_close(&unit.image);
	parent_close(unit.module);
	free(unit.orig);
	free(unit.folder);
	return error;
}
