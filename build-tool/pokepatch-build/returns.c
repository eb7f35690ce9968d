// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Phases: find the functions of --return, judge their types and which functions have inlined
 * copies of them, and make their units; see returns.h.
 */
#include "pokepatch-build/returns.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "object/debuginfo.h"
#include "object/object.h"
#include "pokepatch-build/comparison.h"
#include "pokepatch-build/dwarf_units.h"
#include "pokepatch-build/function_facts.h"
#include "pokepatch-build/modules.h"
#include "pokepatch-build/return_objects.h"
#include "pokepatch-build/return_value.h"
#include "pokepatch-build/units.h"

/* A --return, and the symbols of its function: several, if the compiler made clones of it. */
struct wanted {
	struct return_request request;
	struct parent *parent; /* NULL: not known yet */
	char *path;	       /* of the module below lib/modules/R; NULL: vmlinux */
	VEC(const struct parent_symbol *) symbols;
	VEC(const struct parent_symbol *) cold; /* the .cold parts of these */
};

/* A function to make, and where it belongs. */
struct made_function {
	struct returning returning;
	const struct wanted *wanted;
	char *source;
	char *location; /* or NULL */
};

/* A parent's debug information. */
struct parent_dwarf {
	const struct parent *parent;
	struct dwarf_units units; /* vmlinux's */
	struct object object;	  /* a module, whose debug information has to be relocated */
	Dwarf *dwarf;
};

struct returns {
	struct build *build;
	VEC(struct wanted) list;
	struct string_set names; /* all functions of the patch */
	VEC(struct parent_dwarf *) dwarfs;
	VEC(struct made_function) functions;
};

/* ---- reading the options ------------------------------------------------------------ */

struct error *read_returns(struct build *build)
{
	const struct build_options *options = &build->options;

	build->patches = xcalloc(options->returns.count, sizeof(*build->patches));
	for (; build->nr_patches < options->returns.count; build->nr_patches++) {
		const char *text = options->returns.list[build->nr_patches];
		struct patch_file *file = &build->patches[build->nr_patches];

		file->path = file->source = text;
		sha256_hex(text, strlen(text), file->sha256);
	}
	return NULL;
}

/* ---- finding the functions ---------------------------------------------------------- */

/* What a compiler adds to the name of a function. */
enum clone { CLONE_NOT, CLONE_WHOLE, CLONE_COLD };

/*
 * "f.isra.0" and "f.constprop.1" are the function itself, with other parameters.  "f.part.0" is
 * called by f alone, or by functions that have an inlined copy of the rest.
 */
static enum clone clone_of(const char *suffix)
{
	static const char *const whole[] = {".isra", ".constprop", ".llvm"};
	enum clone clone = CLONE_WHOLE;

	while (*suffix) {
		const size_t length = 1 + strcspn(suffix + 1, ".");
		bool known = isdigit((unsigned char)suffix[1]);

		for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
			known |= strlen(whole[i]) == length && !strncmp(suffix, whole[i], length);
		if (length == strlen(".cold") && !strncmp(suffix, ".cold", length))
			clone = CLONE_COLD;
		else if (!known)
			return CLONE_NOT;
		suffix += length;
	}
	return clone;
}

/* Find the symbols of functions in one parent: struct wanted by name, or by the name given. */
static void find_symbols(const struct parent *parent, const struct map *by_name)
{
	for (size_t i = 0; i < parent->symbol_count; i++) {
		const struct parent_symbol *symbol = &parent->symbols[i];
		const char *dot = strchr(symbol->name, '.');
		char *plain _free_ = NULL;
		struct wanted *wanted;
		enum clone clone;

		if (!symbol->function || !symbol->size)
			continue;
		wanted = map_get(by_name, symbol->name);
		clone = wanted || !dot ? CLONE_WHOLE : clone_of(dot);
		if (!wanted && dot && clone != CLONE_NOT) {
			plain = xstrndup(symbol->name, (size_t)(dot - symbol->name));
			wanted = map_get(by_name, plain);
		}
		if (!wanted)
			continue;
		if (clone == CLONE_COLD)
			*vec_push(&wanted->cold) = symbol;
		else
			*vec_push(&wanted->symbols) = symbol;
	}
}

static struct error *open_module(struct build *build, struct wanted *wanted, const char *name)
{
	char *path _free_ = NULL;

	TRY(modules_find(build, name, &wanted->path));
	if (!wanted->path)
		return error_new(STATUS_FAILED, "--return %s: kernel %s has no module '%s'",
				 wanted->request.text, build->release, name);
	TRY(modules_file(build, wanted->path, &path));
	return comparison_open_module(build, name, path, &wanted->parent);
}

/* Text of a list: "a, b and c". */
static char *join(char *const *list, size_t count)
{
	struct buffer text = {0};

	for (size_t i = 0; i < count; i++)
		buffer_printf(&text, "%s%s", !i ? "" : i + 1 < count ? ", " : " and ", list[i]);
	return text.text ?: xstrdup("");
}

static void refuse_missing(struct build *build, const char *parent, const char *function)
{
	refusals_add(&build->refusals, "symbol-missing", NULL, function,
		     "%s has no function '%s'; if the compiler has inlined it everywhere, name its "
		     "callers, and if its module is packed, name that (MODULE:FUNCTION=VALUE)",
		     parent, function);
}

/* The module that exports the function; the caller frees it.  NULL: none does. */
static char *exporting_module(const struct build *build, const char *function)
{
	const struct export *export = symvers_find(&build->comparison->symvers, function);
	const char *slash = export ? strrchr(export->module, '/') : NULL;
	char *name;

	if (!export || !strcmp(export->module, "vmlinux"))
		return NULL;
	name = xstrdup(slash ? slash + 1 : export->module);
	module_name_of_file(name);
	return name;
}

/*
 * The only module that has the function, which the caller frees; NULL: none has it, or several have
 * it, which is refused.
 */
static struct error *only_module(struct build *build, const char *function, char **ret)
{
	struct args modules = {0}, candidates = {0};

	*ret = exporting_module(build, function);
	if (*ret)
		return NULL;
	TRY(modules_with_function(build, function, &modules));
	for (size_t i = 0; i < modules.count; i++)
		args_addf(&candidates, "%s:%s", modules.list[i], function);
	char *text _free_ = join(candidates.list, candidates.count);
	if (modules.count == 1)
		*ret = xstrdup(modules.list[0]);
	else if (modules.count)
		refusals_add(&build->refusals, "symbol-ambiguous", NULL, function,
			     "several modules have a function '%s'; say which one: %s", function,
			     text);
	else
		refuse_missing(build, "the kernel", function);
	args_deinit(&modules);
	args_deinit(&candidates);
	return NULL;
}

/* Find a function that vmlinux does not have, or of which the author names the module. */
static struct error *find_in_module(struct build *build, struct wanted *wanted)
{
	const char *function = wanted->request.function, *module = wanted->request.module;
	char *only _free_ = NULL;
	struct map by_name = {0};

	if (!module) {
		TRY(only_module(build, function, &only));
		module = only;
	}
	if (!module)
		return NULL;
	TRY(open_module(build, wanted, module));
	*map_slot(&by_name, function) = wanted;
	find_symbols(wanted->parent, &by_name);
	map_deinit(&by_name);
	if (!wanted->symbols.count)
		refuse_missing(build, wanted->parent->name, function);
	return NULL;
}

static bool is_twice(const struct wanted *first, const struct return_request *request)
{
	return first && !strcmp(first->request.file ?: "", request->file ?: "") &&
	       return_value_equal(&first->request.value, &request->value);
}

/* Read the requests, each function of a parent once.  Errors: two values for one function. */
static struct error *read_requests(struct returns *returns)
{
	struct build *build = returns->build;
	struct map seen = {0};
	struct error *error = NULL;
	VEC(char *) keys = {0};

	vec_reserve(&returns->list, build->nr_patches); /* the maps have pointers into it */
	for (size_t i = 0; !error && i < build->nr_patches; i++) {
		struct wanted *wanted = vec_push(&returns->list);
		struct return_request *request = &wanted->request;
		void **slot;

		error = return_request_parse(build->patches[i].path, request);
		if (error)
			break;
		*vec_push(&keys) = xasprintf("%s:%s", request->module ?: "", request->function);
		slot = map_slot(&seen, keys.list[keys.count - 1]);
		if (is_twice(*slot, request)) {
			return_request_deinit(request);
			returns->list.count--;
		} else if (*slot) {
			error = error_new(STATUS_FAILED,
					  "--return %s: another --return has a function of that "
					  "name; give each a patch of its own",
					  request->text);
		} else {
			*slot = wanted;
			string_set_add(&returns->names, request->function);
		}
	}
	map_deinit(&seen);
	for (size_t i = 0; i < keys.count; i++)
		free(keys.list[i]);
	vec_deinit(&keys);
	return error;
}

static struct error *find_functions(struct returns *returns)
{
	struct build *build = returns->build;
	struct map by_name = {0};

	for (size_t i = 0; i < returns->list.count; i++) {
		struct wanted *wanted = &returns->list.list[i];

		if (!wanted->request.module)
			*map_slot(&by_name, wanted->request.function) = wanted;
	}
	find_symbols(build->comparison->vmlinux, &by_name);
	map_deinit(&by_name);
	for (size_t i = 0; i < returns->list.count; i++) {
		struct wanted *wanted = &returns->list.list[i];

		if (wanted->symbols.count)
			wanted->parent = build->comparison->vmlinux;
		else
			TRY(find_in_module(build, wanted));
	}
	return NULL;
}

/* ---- debug information -------------------------------------------------------------- */

static struct error *open_dwarf(struct returns *returns, const struct parent *parent,
				const struct parent_dwarf **ret)
{
	for (size_t i = 0; i < returns->dwarfs.count; i++) /* of a handful of parents */
		if (returns->dwarfs.list[i]->parent == parent) {
			*ret = returns->dwarfs.list[i];
			return NULL;
		}
	struct parent_dwarf *new = xcalloc(1, sizeof(*new));
	struct error *error = parent_is_vmlinux(parent)
				      ? dwarf_units_open(parent->path, &new->units)
				      : object_read(parent->path, &new->object);
	if (error) {
		free(new);
		return error;
	}
	new->parent = parent;
	new->dwarf = parent_is_vmlinux(parent) ? new->units.dwarf
					       : debuginfo_dwarf(debuginfo_of(&new->object));
	*vec_push(&returns->dwarfs) = new;
	*ret = new;
	return NULL;
}

/*
 * An address at which the debug information has the function: of its last byte.  gcc 12 for
 * arm64 writes that a function begins behind the NOPs of its entry.
 */
static uint64_t dwarf_address(const struct parent_dwarf *dwarf, const struct parent_symbol *symbol)
{
	struct parent_dwarf *mutable = (struct parent_dwarf *)dwarf; /* it opens what it needs */
	const uint64_t value = symbol->value + (symbol->size ? symbol->size - 1 : 0);

	return parent_is_vmlinux(dwarf->parent)
		       ? value
		       : debuginfo_address(debuginfo_of(&mutable->object), symbol->section_number,
					   value);
}

static void close_dwarf(struct parent_dwarf *dwarf)
{
	if (parent_is_vmlinux(dwarf->parent))
		dwarf_units_close(&dwarf->units);
	else
		object_deinit(&dwarf->object);
	free(dwarf);
}

/* ---- judging ------------------------------------------------------------------------ */

/* Does a path end with the file, as a whole name? */
static bool is_file(const char *path, const char *file)
{
	const size_t length = strlen(path), wanted = strlen(file);

	return has_suffix(path, file) && (length == wanted || path[length - wanted - 1] == '/');
}

/* A header's function has copies in any unit that includes it; only one unit's are known here. */
static bool is_in_header(const struct function_facts *facts)
{
	_free_ char *path = facts->location
				    ? xstrndup(facts->location, strcspn(facts->location, ":"))
				    : NULL;

	return path && has_suffix(path, ".h");
}

static void refuse_copies(struct returns *returns, const struct wanted *wanted,
			  const struct function_facts *facts)
{
	struct args copies = {0};

	if (is_in_header(facts))
		refusals_add(&returns->build->refusals, "function-inlined", facts->location,
			     wanted->request.function,
			     "'%s' is defined in a header, so that the compiler may have inlined it "
			     "into functions of any unit, which would go on as before: have its "
			     "callers return, or --allow function-inlined:%s",
			     wanted->request.function, wanted->request.function);
	for (size_t i = 0; i < facts->inlined_into.count; i++)
		if (!string_set_has(&returns->names, facts->inlined_into.list[i]))
			args_add(&copies, facts->inlined_into.list[i]);
	char *names _free_ = join(copies.list, copies.count);
	if (copies.count)
		refusals_add(&returns->build->refusals, "function-inlined", facts->location,
			     wanted->request.function,
			     "the compiler has inlined '%s' into %s, which would go on as before: "
			     "have these return too, or --allow function-inlined:%s",
			     wanted->request.function, names, wanted->request.function);
	args_deinit(&copies);
}

static bool is_discarded(const struct parent_symbol *symbol)
{
	return has_prefix(symbol->section, ".init") || has_prefix(symbol->section, ".exit") ||
	       has_prefix(symbol->section, ".head");
}

/* Judge one symbol of a function, and add it to the functions to make. */
static void add_function(struct returns *returns, const struct wanted *wanted,
			 const struct parent_symbol *symbol, const struct function_facts *facts)
{
	struct refusals *refusals = &returns->build->refusals;
	const char *name = wanted->request.function;
	struct made_function *made;
	uint64_t value;

	if (!facts->type.name) {
		refusals_add(refusals, "return-unfit", facts->source, name,
			     "the debug information does not say what '%s' returns, as of "
			     "functions in assembly; name its callers",
			     name);
		return;
	}
	if (!facts->returns)
		refusals_add(refusals, "return-unfit", facts->location, name,
			     "'%s' never returns, and the compiler has left out what its callers "
			     "would do then; name its callers",
			     name);
	char *why _free_ = return_value_fit(&wanted->request.value, &facts->type,
					    returns->build->machine, &value);
	if (why)
		refusals_add(refusals, "return-unfit", facts->location, name, "'%s': %s", name, why);
	if (is_discarded(symbol)) {
		refusals_add(refusals, "init-changed", facts->location, name,
			     "'%s' runs only at initialisation or exit; leave it out", name);
		return;
	}
	if (!return_has_entry(wanted->parent, returns->build->machine, symbol))
		refusals_add(refusals, "no-entry", facts->location, name,
			     "'%s' has no patchable entry (inline, notrace or assembly) at which "
			     "its calls could be rerouted; name its callers",
			     symbol->name);
	refuse_copies(returns, wanted, facts);
	made = vec_push(&returns->functions);
	*made = (struct made_function){
		.returning = {.symbol = symbol,
			      .value = value,
			      .size = (uint8_t)facts->type.size},
		.wanted = wanted,
		.source = xstrdup(facts->source),
		.location = facts->location ? xstrdup(facts->location) : NULL,
	};
}

/* The .cold part of a function: of several of the name, the one of the same source. */
static const struct parent_symbol *find_cold(const struct parent_dwarf *dwarf,
					     const struct wanted *wanted,
					     const struct parent_symbol *symbol, const char *source)
{
	const size_t length = strlen(symbol->name);

	for (size_t i = 0; i < wanted->cold.count; i++) {
		const struct parent_symbol *cold = wanted->cold.list[i];
		char *theirs _free_ = NULL;

		if (strncmp(cold->name, symbol->name, length) ||
		    !has_prefix(cold->name + length, ".cold"))
			continue;
		theirs = function_source(dwarf->dwarf, dwarf_address(dwarf, cold));
		if (theirs && !strcmp(theirs, source))
			return cold;
	}
	return NULL;
}

/* The function is in several units, and the author has not said which one is meant. */
static void refuse_several(struct returns *returns, const struct wanted *wanted,
			   const struct args *sources)
{
	struct args candidates = {0};
	const char *name = wanted->request.function;

	for (size_t i = 0; i < sources->count; i++)
		args_addf(&candidates, "%s:%s", sources->list[i], name);
	char *text _free_ = join(candidates.list, candidates.count);
	refusals_add(&returns->build->refusals, "symbol-ambiguous", NULL, name,
		     "%s has several functions '%s'; say which one: %s", wanted->parent->name, name,
		     text);
	args_deinit(&candidates);
}

static void refuse_file(struct returns *returns, const struct wanted *wanted,
			const struct args *sources)
{
	char *text _free_ = join(sources->list, sources->count);

	refusals_add(&returns->build->refusals, "symbol-missing", wanted->request.file,
		     wanted->request.function, "%s has no function '%s' of %s, but of %s",
		     wanted->parent->name, wanted->request.function, wanted->request.file, text);
}

static int name_order(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Add those functions of a request whose source is meant. */
static struct error *judge_request(struct returns *returns, const struct wanted *wanted)
{
	const struct parent_dwarf *dwarf;
	struct function_facts *facts;
	struct string_set seen = {0};
	struct args all = {0}, meant = {0};

	TRY(open_dwarf(returns, wanted->parent, &dwarf));
	facts = xcalloc(wanted->symbols.count, sizeof(*facts));
	for (size_t i = 0; i < wanted->symbols.count; i++) {
		function_facts_read(dwarf->dwarf, dwarf_address(dwarf, wanted->symbols.list[i]),
				    &facts[i]);
		if (!facts[i].source)
			facts[i].source = xstrdup("assembly");
		if (!string_set_add(&seen, facts[i].source))
			continue;
		args_add(&all, facts[i].source);
		if (!wanted->request.file || is_file(facts[i].source, wanted->request.file))
			args_add(&meant, facts[i].source);
	}
	if (all.count)
		qsort(all.list, all.count, sizeof(*all.list), name_order);
	if (meant.count)
		qsort(meant.list, meant.count, sizeof(*meant.list), name_order);
	if (!meant.count)
		refuse_file(returns, wanted, &all);
	else if (meant.count > 1)
		refuse_several(returns, wanted, &meant);
	for (size_t i = 0; i < wanted->symbols.count; i++) {
		const size_t before = returns->functions.count;

		if (meant.count == 1 && !strcmp(facts[i].source, meant.list[0]))
			add_function(returns, wanted, wanted->symbols.list[i], &facts[i]);
		if (returns->functions.count > before)
			returns->functions.list[before].returning.cold = find_cold(
				dwarf, wanted, wanted->symbols.list[i], facts[i].source);
		function_facts_deinit(&facts[i]);
	}
	free(facts);
	string_set_deinit(&seen);
	args_deinit(&all);
	args_deinit(&meant);
	return NULL;
}

/* ---- making the units --------------------------------------------------------------- */

static int function_order(const void *left, const void *right)
{
	const struct made_function *a = left, *b = right;

	return strcmp(a->source, b->source)
		       ?: strcmp(a->wanted->parent->name, b->wanted->parent->name)
		       ?: strcmp(a->returning.symbol->name, b->returning.symbol->name);
}

static bool is_same_unit(const struct made_function *a, const struct made_function *b)
{
	return a->wanted->parent == b->wanted->parent && !strcmp(a->source, b->source);
}

static char *add_string(struct places *places, char *text)
{
	return *vec_push(&places->strings) = text;
}

static void add_place(struct build *build, size_t unit, const struct made_function *function)
{
	struct places *places = build->return_places;
	char *key;

	if (!places)
		places = build->return_places = xcalloc(1, sizeof(*places));
	if (!function->location)
		return;
	key = add_string(places, xasprintf("%zu:%s", unit, function->returning.symbol->name));
	*map_slot(&places->by_name, key) = add_string(places, xstrdup(function->location));
}

void places_destroy(struct places *places)
{
	if (!places)
		return;
	map_deinit(&places->by_name);
	for (size_t i = 0; i < places->strings.count; i++)
		free(places->strings.list[i]);
	vec_deinit(&places->strings);
	free(places);
}

static struct error *make_unit(struct returns *returns, size_t first, size_t count)
{
	struct build *build = returns->build;
	const struct arch_returns *operations = &build->machine->returns;
	const struct made_function *functions = &returns->functions.list[first];
	const struct wanted *wanted = functions->wanted;
	struct returning *list _free_ = xcalloc(count, sizeof(*list));
	const size_t index = build->nr_units;
	struct unit *unit;

	build->units = xreallocarray(build->units, index + 1, sizeof(*build->units));
	unit = &build->units[build->nr_units++];
	*unit = (struct unit){
		.source = xstrdup(functions->source),
		.object = unit_object_name(functions->source),
		.parent = xstrdup(wanted->parent->name),
		.parent_path = wanted->path ? xstrdup(wanted->path) : NULL,
		.exact_object = xasprintf("%s/exact-%zu.o", build->work, index),
		.orig_object = xasprintf("%s/orig-%zu.o", build->work, index),
		.patched_object = xasprintf("%s/patched-%zu.o", build->work, index),
		.objtool_ran = true, /* the exact object has what the parent has */
	};
	for (size_t i = 0; i < count; i++) {
		list[i] = functions[i].returning;
		add_place(build, index, &functions[i]);
	}
	const struct return_paths paths = {unit->exact_object, unit->orig_object,
					   unit->patched_object};
	return return_objects_write(wanted->parent, build->machine, unit->source, list, count,
				    operations->thunk.symbol &&
					    symvers_find(&build->comparison->symvers,
							 operations->thunk.symbol),
				    &paths);
}

static struct error *make_units(struct returns *returns)
{
	const size_t count = returns->functions.count;
	struct made_function *list = returns->functions.list;

	if (count)
		qsort(list, count, sizeof(*list), function_order);
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && is_same_unit(&list[first], &list[end]);)
			end++;
		TRY(make_unit(returns, first, end - first));
	}
	return NULL;
}

static struct error *make_all(struct returns *returns)
{
	struct build *build = returns->build;

	if (!build->machine->returns.load)
		return error_new(STATUS_FAILED, "--return: not known for %s; use a diff",
				 build->machine->name);
	TRY(comparison_start(build));
	TRY(read_requests(returns));
	TRY(find_functions(returns));
	for (size_t i = 0; i < returns->list.count; i++)
		if (returns->list.list[i].symbols.count)
			TRY(judge_request(returns, &returns->list.list[i]));
	TRY(build_check_refusals(build));
	return make_units(returns);
}

struct error *make_returns(struct build *build)
{
	struct returns returns = {.build = build};
	struct error *error = make_all(&returns);

	for (size_t i = 0; i < returns.dwarfs.count; i++)
		close_dwarf(returns.dwarfs.list[i]);
	vec_deinit(&returns.dwarfs);
	for (size_t i = 0; i < returns.functions.count; i++) {
		free(returns.functions.list[i].source);
		free(returns.functions.list[i].location);
	}
	vec_deinit(&returns.functions);
	for (size_t i = 0; i < returns.list.count; i++) {
		struct wanted *wanted = &returns.list.list[i];

		return_request_deinit(&wanted->request);
		free(wanted->path);
		vec_deinit(&wanted->symbols);
		vec_deinit(&wanted->cold);
	}
	vec_deinit(&returns.list);
	string_set_deinit(&returns.names);
	return error;
}

struct error *compare_returns(struct build *build)
{
	TRY(compare_units(build));
	for (size_t i = 0; i < build->nr_units; i++) {
		struct diff_result *result = &build->comparison->results[i];

		for (size_t j = 0; j < result->functions.count; j++) {
			struct diff_function *function = &result->functions.list[j];
			char *key _free_ = xasprintf("%zu:%s", i, function->name);
			const char *place = map_get(&build->return_places->by_name, key);

			if (place && !function->source)
				function->source = xstrdup(place);
		}
	}
	return NULL;
}
