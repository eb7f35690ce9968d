// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rebuild: picks units of the stock kernel at random, has kbuild compile them as pokepatch-build
 * does, and compares every function with the shipped kernel.  README.md here says more.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "../selfcheck/selfcheck.h"
#include "pokepatch-build/objtool.h"
#include "pokepatch-build/exact.h"

static const char usage[] =
	"usage: rebuild -k RELEASE -w FOLDER [-n UNITS] [-r SEED] [-j JOBS] [-e EXCEPTIONS]\n"
	"\n"
	"  -k  the kernel\n"
	"  -w  keeps the list of units\n"
	"  -n  how many units (200)\n"
	"  -r  a number for another choice of units (0)\n"
	"  -e  functions that may differ, and why\n";

/* kbuild says which targets it cannot make; a few hundred on one command line are no problem. */
#define PLANNED_AT_ONCE 50
/* Of 1,000 functions at least so many must be equal. */
#define WANTED_OF_1000 995

struct rebuild {
	struct build build;
	const char *folder, *exceptions;
	size_t count;
	uint64_t seed;
	struct inventory inventory;
	struct parent *vmlinux;
	struct map explained; /* "SOURCE FUNCTION", from the exceptions */
	char *exceptions_text;
	/* What came out. */
	size_t units, module_units, functions, equal, differ, unexplained;
	size_t fields, unknown_fields; /* relocations of the functions that are equal */
};

/* ---- choosing ----------------------------------------------------------------------- */

/* Marsaglia's xorshift64*: the same choice in each run. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1d;
}

/* Bring count units to the front of the inventory: the first steps of a shuffle. */
static void choose(struct rebuild *rebuild)
{
	uint64_t state = (rebuild->seed + 1) * 0x9e3779b97f4a7c15;
	struct target *list = rebuild->inventory.list.list;
	size_t count = rebuild->inventory.list.count;

	if (rebuild->count > count)
		rebuild->count = count;
	for (size_t i = 0; i < rebuild->count; i++) {
		size_t other = i + next_random(&state) % (count - i);
		struct target swapped = list[i];

		list[i] = list[other];
		list[other] = swapped;
	}
}

/* ---- exceptions --------------------------------------------------------------------- */

/* A line: SOURCE FUNCTION REASON. */
static struct error *read_exceptions(struct rebuild *rebuild)
{
	size_t length;

	if (!rebuild->exceptions)
		return NULL;
	TRY(file_read(rebuild->exceptions, &rebuild->exceptions_text, &length));
	for (char *save, *line = strtok_r(rebuild->exceptions_text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *function = strchr(line, ' ');
		char *reason = function ? strchr(function + 1, ' ') : NULL;

		if (*line == '#')
			continue;
		if (!reason)
			return error_new(STATUS_FAILED, "%s: a line without a reason: %s",
					 rebuild->exceptions, line);
		*reason++ = '\0';
		*map_slot(&rebuild->explained, line) = reason;
	}
	return NULL;
}

static void tell(struct rebuild *rebuild, const char *source, const char *function,
		 const char *what)
{
	char *key _free_ = xasprintf("%s %s", source, function);
	const char *reason = map_get(&rebuild->explained, key);

	rebuild->unexplained += !reason;
	printf("%s %s: %s%s%s\n", source, function, what, reason ? "; " : "", reason ?: "");
}

/* ---- comparing ---------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * arm64 puts these in front of every symbol of a folder's objects (objcopy --prefix-symbols), all of
 * which are hidden.
 */
static const char *symbol_prefix(const char *source)
{
	static const char *const folders[][2] = {
		{"drivers/firmware/efi/libstub/", "__efistub_"},
		{"arch/arm64/kernel/pi/", "__pi_"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (has_prefix(source, folders[i][0]))
			return folders[i][1];
	return "";
}

/*
 * May this be the parent's symbol of the unit's function?  @file: the unit's FILE symbol there;
 * @hidden: its global functions are local symbols in vmlinux, without a FILE symbol.
 */
static bool is_same_function(const struct parent *parent, const struct parent_symbol *old,
			     const struct symbol *symbol, const char *file, bool hidden)
{
	bool global = old->global || old->weak;

	if (!old->function)
		return false;
	if (symbol->bind != STB_LOCAL)
		return global || hidden;
	return !global && old->block < parent->blocks.count &&
	       !strcmp(parent->blocks.list[old->block].file, file);
}

/* NULL: equal; else how the function differs.  Several units may have a static of that name. */
static char *compare_function(struct rebuild *rebuild, const struct exact_names *names,
			      const struct symbol *symbol, const struct parent *parent,
			      const char *source)
{
	const char *prefix = symbol_prefix(source);
	char *name _free_ = xasprintf("%s%s", prefix, symbol->name);
	char *file _free_ = xasprintf("%s%s", prefix, base_name(source));
	char *what = NULL;

	for (const struct parent_symbol *old = map_get(&parent->by_name, name); old;
	     old = old->next) {
		struct verify_difference difference;
		uint64_t room;
		const unsigned char *bytes = is_same_function(parent, old, symbol, file, *prefix)
						     ? parent_bytes(parent, old, &room)
						     : NULL;

		if (!bytes)
			continue;
		free(what);
		if (!verify_differs(names, symbol, parent, old, bytes, room, &difference)) {
			rebuild->fields += difference.fields.checked;
			rebuild->unknown_fields += difference.fields.unknown;
			return NULL;
		}
		if (difference.fields.target)
			what = xasprintf("at %#" PRIx64 " it refers to '%s', and %s to something else",
					 difference.fields.at, difference.fields.target,
					 parent->name);
		else
			what = xasprintf("%" PRIu64 " bytes, and %s has %" PRIu64 "; from %#" PRIx64
					 " on%s%s",
					 symbol->size, parent->name, old->size, difference.at,
					 difference.table ? ", " : "", difference.table ?: "");
	}
	return what ?: xasprintf("%s has no such function", parent->name);
}

/* objtool gives names to the NOPs in front of functions. */
static bool is_prefix(const char *name)
{
	return has_prefix(name, "__pfx_") || has_prefix(name, "__cfi_");
}

/* drivers/pci/bus.c has a weak pcibios_resource_survey_bus(), but vmlinux has x86's own. */
static bool is_overridden(const struct parent *parent, const struct symbol *symbol)
{
	const struct parent_symbol *old =
		symbol->bind == STB_WEAK ? parent_global(parent, symbol->name) : NULL;

	return old && !old->weak;
}

static void compare_unit(struct rebuild *rebuild, const struct object *object,
			 const struct parent *parent, const char *source)
{
	struct exact_names names;

	exact_names_init(object, &names);
	names.prefix = *symbol_prefix(source) ? symbol_prefix(source) : NULL;
	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];

		if (symbol->type != STT_FUNC || !symbol->section || !symbol->size ||
		    !(symbol->section->flags & SHF_ALLOC) || is_prefix(symbol->name) ||
		    is_overridden(parent, symbol))
			continue;
		char *what _free_ = compare_function(rebuild, &names, symbol, parent, source);
		rebuild->functions++;
		rebuild->equal += !what;
		rebuild->differ += what != NULL;
		if (what)
			tell(rebuild, source, symbol->name, what);
	}
	exact_names_deinit(&names);
}

static struct error *check_unit_of(struct rebuild *rebuild, const struct unit *unit,
				   const struct target *target)
{
	struct parent *module = NULL;
	struct object object;

	if (target->module)
		TRY(parent_open(target->module, target->module_path, &module));
	struct error *error = object_read(unit->exact_object, &object);
	if (!error) {
		compare_unit(rebuild, &object, module ?: rebuild->vmlinux, unit->source);
		object_deinit(&object);
		rebuild->units++;
		rebuild->module_units += module != NULL;
	}
	parent_close(module);
	return error;
}

/* ---- running ------------------------------------------------------------------------ */

static struct error *rebuild_batch(struct rebuild *rebuild, struct target *targets, size_t count)
{
	struct build *build = &rebuild->build;
	char **sources _free_ = xcalloc(count + 1, sizeof(*sources));
	struct kbuild_unit *compiled = xcalloc(count, sizeof(*compiled));
	struct buffer output = {0};

	for (size_t i = 0; i < count; i++)
		sources[i] = targets[i].source;
	struct error *error = kbuild_compile_units(build, sources, compiled, &output);
	build->units = xcalloc(count, sizeof(*build->units));
	build->nr_units = count;
	for (size_t i = 0; i < count; i++) {
		char *object _free_ = unit_object_name(sources[i]);

		build->units[i] = (struct unit){
			.source = xstrdup(sources[i]),
			.exact_object = xasprintf("%s/%s", build->tree, object),
			.parent_path = targets[i].module ? xstrdup(targets[i].module_path) : NULL,
			/* What kbuild could not make has no object. */
			.objtool_ran = compiled[i].objtool || !compiled[i].argv.count,
		};
	}
	if (!error)
		error = objtool_finish_exact(build);
	for (size_t i = 0; !error && i < count; i++) {
		if (compiled[i].argv.count)
			error = check_unit_of(rebuild, &build->units[i], &targets[i]);
		else
			tell(rebuild, sources[i], "-", "kbuild makes no object of it alone");
	}
	for (size_t i = 0; i < count; i++) {
		free(build->units[i].source);
		free(build->units[i].exact_object);
		free(build->units[i].parent_path);
		kbuild_unit_deinit(&compiled[i]);
	}
	free(take_pointer(build->units));
	build->nr_units = 0;
	free(compiled);
	buffer_deinit(&output);
	return error;
}

static struct error *run(struct rebuild *rebuild)
{
	char *inventory _free_ = xasprintf("%s/inventory", rebuild->folder);

	TRY(read_exceptions(rebuild));
	TRY(prepare_tree(&rebuild->build));
	TRY(prepare_core(&rebuild->build));
	TRY(make_dirs(rebuild->folder));
	TRY(inventory_read(&rebuild->build, NULL, inventory, &rebuild->inventory));
	TRY(parent_open("vmlinux", rebuild->build.files.vmlinux, &rebuild->vmlinux));
	choose(rebuild);
	for (size_t i = 0; i < rebuild->count; i += PLANNED_AT_ONCE) {
		size_t rest = rebuild->count - i;

		TRY(rebuild_batch(rebuild, &rebuild->inventory.list.list[i],
				  rest < PLANNED_AT_ONCE ? rest : PLANNED_AT_ONCE));
	}
	printf("rebuild: %zu of %zu units (%zu of modules): %zu of %zu functions are equal (%.2f %%), "
	       "%zu differ; %zu without an explanation\n",
	       rebuild->units, rebuild->inventory.list.count, rebuild->module_units, rebuild->equal,
	       rebuild->functions, 100.0 * (double)rebuild->equal / (double)(rebuild->functions ?: 1),
	       rebuild->differ, rebuild->unexplained);
	printf("rebuild: of their relocations, %zu lead where the kernel's lead, %zu cannot be told\n",
	       rebuild->fields, rebuild->unknown_fields);
	return rebuild->unexplained ||
			       rebuild->equal * 1000 < rebuild->functions * WANTED_OF_1000
		       ? error_new(STATUS_REFUSED, "the kernel cannot be rebuilt exactly")
		       : NULL;
}

static int parse_arguments(int argc, char **argv, struct rebuild *rebuild,
			   struct build_options *options)
{
	int option;

	while ((option = getopt(argc, argv, "k:w:n:r:j:e:")) != -1) {
		switch (option) {
		case 'k':
			options->kernel = optarg;
			break;
		case 'w':
			rebuild->folder = optarg;
			break;
		case 'n':
			rebuild->count = strtoul(optarg, NULL, 10);
			break;
		case 'r':
			rebuild->seed = strtoul(optarg, NULL, 10);
			break;
		case 'j':
			options->jobs = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'e':
			rebuild->exceptions = optarg;
			break;
		default:
			return -1;
		}
	}
	return options->kernel && rebuild->folder && optind == argc ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct rebuild rebuild = {.count = 200};
	struct build_options options = {.name = "rebuild", .jobs = proc_jobs(), .quiet = true};
	int status = STATUS_DONE;

	if (parse_arguments(argc, argv, &rebuild, &options)) {
		fputs(usage, stderr);
		return STATUS_FAILED;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	proc_catch_signals();
	struct error *error = build_init(&rebuild.build, &options);
	if (!error)
		error = run(&rebuild);
	if (error) {
		fprintf(stderr, "rebuild: %s\n", error->text);
		status = error->status;
		error_destroy(error);
	}
	map_deinit(&rebuild.explained);
	free(rebuild.exceptions_text);
	parent_close(rebuild.vmlinux);
	inventory_deinit(&rebuild.inventory);
	build_deinit(&rebuild.build);
	return status;
}
