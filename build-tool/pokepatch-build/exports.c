// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Refusing changes of the types of exported symbols.
 *
 * With CONFIG_MODVERSIONS the kernel's genksyms computes a CRC over all types that a symbol's
 * declaration reaches, and the kernel loads a module only if the module has the same CRC.  The
 * running kernel's CRCs cannot change.  If a patch changed such a type, modules built before and
 * after it would disagree about the type without any error.
 *
 * kbuild has left the original CRCs in the unit's .cmd file (scripts/Makefile.build,
 * cmd_gen_symversions): "#SYMVER tcp_sendmsg 0xa962e263".
 *
 * genksyms itself can tell which of the types changed: it writes the original's types to a file
 * (-T), and with that as reference (-r) it names those in which the changed source differs.
 */
#include "pokepatch-build/exports.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pokepatch-build/comparison.h"
#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/module_source.h"
#include "pokepatch-build/object_cache.h"
#include "pokepatch-build/shadow_tree.h"
#include "common/proc.h"

struct symver {
	const char *name, *crc; /* crc: "0xa962e263" */
};

struct symver_list {
	VEC(struct symver) list;
};

/* A unit with exports, and its sources as genksyms sees them. */
struct exporter {
	const struct unit *unit;
	const char *key; /* of what its source and headers are, for the CRCs to be kept; or NULL */
	bool early; /* it is not compiled yet: the kernel has no .cmd file of it */
	char *text; /* the .cmd file, or lines like those in it; symvers points into it */
	struct symver_list symvers;
	char *folder;        /* of its patched object, for the files below */
	char *crcs;          /* those of the changed source, as genksyms prints them */
	bool kept;           /* an earlier build kept these */
	char *said;          /* which types changed, in genksyms' words */
	bool untold;         /* it cannot say */
	struct map new_crcs; /* of the symbols whose CRCs differ; point into crcs */
};

/* What is run for the exporters, all of a step at the same time. */
enum step {
	PREPROCESS, /* the changed source to unit.i */
	CRCS,       /* of unit.i */
	/* Only for exporters whose CRCs differ: */
	PREPROCESS_ORIGINAL, /* to original.i */
	TYPES,               /* of original.i to original.types */
	TYPES_CHANGED,       /* those in which unit.i differs from original.types */
};

struct exporters {
	VEC(struct exporter) list;
	enum step last; /* what is run, from the first step on */
};

/* Read each "#SYMVER name crc" line of text; the strings point into text, which is modified. */
static void read_symvers(char *text, struct symver_list *ret)
{
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		if (!has_prefix(line, "#SYMVER "))
			continue;
		char *crc = line + strlen("#SYMVER ");
		const char *name = strsep(&crc, " ");

		if (crc)
			*vec_push(&ret->list) = (struct symver){name, crc};
	}
}

static void exporter_deinit(struct exporter *exporter)
{
	map_deinit(&exporter->new_crcs);
	vec_deinit(&exporter->symvers.list);
	free(exporter->text);
	free(exporter->folder);
	free(exporter->crcs);
	free(exporter->said);
}

/*
 * genksyms takes the file in the first line marker for the source, and does not expand types that
 * the source defines (scripts/genksyms/parse.y, record_compound()).  So the marker must have the
 * source's own name, as it has when the command runs in the tree or in the shadow.
 */
static void add_preprocess(const struct build *build, const struct exporter *exporter, bool patched,
			   const char *output, struct args *ret)
{
	const struct unit *unit = exporter->unit;

	if (unit->outside)
		module_source_add_command(build, unit, patched, output, ret);
	else
		unit_add_command(build, unit->argv, unit->source,
				 patched ? build->shadow->folder : build->tree, output, ret);
	args_add(ret, "-E");
	args_add(ret, "-D__GENKSYMS__");
	preprocess_add_option(build, ret);
}

static void add_genksyms(const struct build *build, const struct exporter *exporter, enum step step,
			 struct args *ret)
{
	const struct unit *unit = exporter->unit;
	_free_ char *reference = xstrndup(unit->object, strlen(unit->object) - strlen("o"));
	_free_ char *symref = xasprintf("%s/%ssymref", build->tree, reference);

	args_add_clean_environment(ret, build->work);
	args_add(ret, "scripts/genksyms/genksyms");
	args_add(ret, step == TYPES ? "-T" : "-r");
	if (step == CRCS)
		args_add(ret, access(symref, R_OK) ? "/dev/null" : symref);
	else
		args_addf(ret, "%s/original.types", exporter->folder);
}

/* Make the command of a step, and *ret_input, the path of what it reads, or NULL. */
static void add_command(const struct build *build, const struct exporter *exporter, enum step step,
			struct args *ret, char **ret_input)
{
	const bool patched = step != PREPROCESS_ORIGINAL && step != TYPES;
	char *path = xasprintf("%s/%s.i", exporter->folder, patched ? "unit" : "original");

	*ret_input = NULL;
	if (step == PREPROCESS || step == PREPROCESS_ORIGINAL) {
		add_preprocess(build, exporter, patched, path, ret);
		free(path);
	} else {
		add_genksyms(build, exporter, step, ret);
		*ret_input = path;
	}
}

/*
 * The kernel's CRCs of what a unit exports that is not compiled yet: Module.symvers has those of
 * all units, or zeros if the kernel has no CRCs.
 */
static void find_kernel_symvers(const struct build *build, const struct symver_list *exports,
				struct exporter *ret)
{
	struct buffer lines = {};

	for (size_t i = 0; i < exports->list.count; i++) {
		const struct export *export =
			symvers_find(&build->comparison->symvers, exports->list.list[i].name);

		if (export && export->crc)
			buffer_printf(&lines, "#SYMVER %s 0x%08x\n", export->name, export->crc);
	}
	if (!lines.text)
		return;
	ret->text = lines.text;
	read_symvers(ret->text, &ret->symvers);
}

/* Find exports whose CRC changes.  The differ refuses removed ones and warns of new ones. */
static void compare_crcs(const struct build *build, struct exporter *exporter)
{
	struct symver_list symvers = {0};
	struct map crcs = {0};

	if (exporter->crcs)
		read_symvers(exporter->crcs, &symvers);
	if (exporter->early)
		find_kernel_symvers(build, &symvers, exporter);
	for (size_t i = 0; i < symvers.list.count; i++)
		*map_slot(&crcs, symvers.list.list[i].name) = (char *)symvers.list.list[i].crc;
	for (size_t i = 0; i < exporter->symvers.list.count; i++) {
		const struct symver *old = &exporter->symvers.list.list[i];
		char *crc = map_get(&crcs, old->name);

		if (crc && strcmp(crc, old->crc))
			*map_slot(&exporter->new_crcs, old->name) = crc;
	}
	map_deinit(&crcs);
	vec_deinit(&symvers.list);
}

/*
 * The key under which the CRCs of a unit are kept, as its patched object is: they follow from the
 * same files.  Return: NULL if that is not kept.
 */
static char *crcs_key(const struct build *build, const struct exporter *exporter)
{
	_free_ char *source = NULL;
	struct args command = {};
	char key[65];

	if (!exporter->key)
		return NULL;
	source = xasprintf("exports\n%s", exporter->key);
	add_genksyms(build, exporter, CRCS, &command);
	object_cache_key(build, &command, source, key);
	args_deinit(&command);
	return xstrdup(key);
}

/* Take the CRCs of the changed source: the kernel's are compared with them. */
static void take_crcs(const struct build *build, struct exporter *exporter, char *crcs)
{
	exporter->crcs = crcs;
	if (exporter->early)
		comparison_keep_crcs(build->comparison, exporter->unit->source, crcs ?: "");
	compare_crcs(build, exporter);
}

static void load_crcs(const struct build *build, struct exporter *exporter)
{
	_free_ char *folder = object_cache_folder(build);
	_free_ char *key = crcs_key(build, exporter);
	const char *early = comparison_crcs(build->comparison, exporter->unit);
	struct buffer text = {};
	bool found = false;

	if (early)
		buffer_add_string(&text, early);
	else if (key)
		error_destroy(object_cache_load(folder, key, NULL, &text, &found));
	if (!early && (!found || !text.text))
		return;
	exporter->kept = true;
	take_crcs(build, exporter, text.text);
}

static void keep_crcs(const struct build *build, const struct exporter *exporter, const char *crcs)
{
	_free_ char *folder = object_cache_folder(build);
	_free_ char *key = crcs_key(build, exporter);
	struct buffer text = {};

	buffer_add_string(&text, crcs ?: "");
	if (key)
		object_cache_store(folder, key, NULL, &text);
	buffer_deinit(&text);
}

static void add_exporter(const struct build *build, struct exporter *exporter,
			 struct exporters *ret)
{
	const char *object = exporter->unit->patched_object;

	exporter->folder = xstrndup(object, (size_t)(strrchr(object, '/') - object));
	load_crcs(build, exporter);
	*vec_push(&ret->list) = *exporter;
}

/* Find the units that export a symbol with a CRC. */
static struct error *find_exporters(const struct build *build, struct exporters *ret)
{
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct unit *unit = &build->units[i];
		struct exporter exporter = {.unit = unit, .key = unit->patched_key};
		_free_ char *path = cmd_file_path(
			unit->outside ? build->module_source : build->tree, unit->object);
		size_t length;

		if (unit->shares || unit->is_new || !has_suffix(unit->source, ".c"))
			continue;
		TRY(file_read(path, &exporter.text, &length));
		read_symvers(exporter.text, &exporter.symvers);
		if (exporter.symvers.list.count)
			add_exporter(build, &exporter, ret);
		else
			exporter_deinit(&exporter);
	}
	return NULL;
}

/* The text of a source whose exports are as before is not needed again; all take much room. */
static void remove_text(const struct exporter *exporter)
{
	_free_ char *path = xasprintf("%s/unit.i", exporter->folder);

	if (!exporter->new_crcs.count)
		unlink(path);
}

/* Keep what a step has printed, if there is a use for it. */
static void keep_output(const struct build *build, struct exporter *exporter, enum step step,
			struct proc_result *result)
{
	if (step == CRCS) {
		keep_crcs(build, exporter, result->out.text);
		take_crcs(build, exporter, take_pointer(result->out.text));
		remove_text(exporter);
	} else if (step == TYPES_CHANGED) {
		exporter->said = take_pointer(result->err.text);
	}
}

static struct error *run_commands(const struct build *build, struct exporter *const *exporters,
				  size_t count, enum step step, struct proc_command *commands,
				  struct proc_result *results)
{
	TRY(proc_run_all(commands, count, build->options.jobs, results));
	for (size_t i = 0; i < count; i++) {
		/* The refusal will do without the types; the compiler tells what is wrong. */
		if (results[i].status && (step > CRCS || exporters[i]->early)) {
			exporters[i]->untold = true;
			continue;
		}
		if (results[i].status)
			return error_new(STATUS_FAILED, "%s of %s: %s",
					 step == PREPROCESS ? "preprocessing" : "genksyms",
					 exporters[i]->unit->source,
					 results[i].err.text ?: "ended with an error");
		keep_output(build, exporters[i], step, &results[i]);
	}
	return NULL;
}

static bool is_needed(const struct exporters *all, const struct exporter *exporter, enum step step)
{
	if (exporter->untold)
		return false;
	if (step > CRCS)
		return exporter->new_crcs.count;
	return !exporter->kept ||
	       (step == PREPROCESS && all->last > CRCS && exporter->new_crcs.count);
}

/* Run a step for the exporters that need it. */
static struct error *run_step(struct build *build, const struct exporters *all, enum step step)
{
	size_t count = 0;
	_free_ struct exporter **exporters = xcalloc(all->list.count, sizeof(*exporters));
	_free_ struct proc_command *commands = xcalloc(all->list.count, sizeof(*commands));
	_free_ struct proc_result *results = xcalloc(all->list.count, sizeof(*results));
	_free_ struct args *words = xcalloc(all->list.count, sizeof(*words));
	_free_ char **inputs = xcalloc(all->list.count, sizeof(*inputs));
	struct error *error;

	for (size_t i = 0; i < all->list.count; i++) {
		struct exporter *exporter = &all->list.list[i];
		const bool genksyms = step != PREPROCESS && step != PREPROCESS_ORIGINAL;
		const char *tree =
			step == PREPROCESS_ORIGINAL ? build->tree : build->shadow->folder;

		if (!is_needed(all, exporter, step))
			continue;
		add_command(build, exporter, step, &words[count], &inputs[count]);
		commands[count].argv = (const char *const *)words[count].list;
		commands[count].options.dir =
			exporter->unit->outside && !genksyms ? module_source_cwd(build) : tree;
		commands[count].options.keep_stderr_apart = true;
		commands[count].options.input = inputs[count];
		commands[count].options.ended = build_step;
		commands[count].options.ended_data = build;
		exporters[count++] = exporter;
	}
	build_expect(build, count);
	error = run_commands(build, exporters, count, step, commands, results);
	for (size_t i = 0; i < count; i++) {
		proc_result_deinit(&results[i]);
		args_deinit(&words[i]);
		free(inputs[i]);
	}
	return error;
}

/*
 * Read each "NAME: modversion changed because of changes in TYPE, TYPE" that genksyms has printed:
 * the values are the types, which point into text, as the keys do; it is modified.
 */
static void read_types(char *text, struct map *ret)
{
	static const char words[] = ": modversion changed because of changes in ";
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		char *end = strstr(line, words), *name = end;

		if (!end)
			continue;
		*end = '\0';
		while (name > line && name[-1] != ' ')
			name--;
		*map_slot(ret, name) = end + strlen(words);
	}
}

/* ": struct sock, struct inet_sock and 3 more", or nothing if the types are not known. */
static char *types_text(const char *types)
{
	enum { SHOWN = 3 };
	struct buffer out = {0};
	size_t count = 0;

	for (const char *type = types; type && *type; count++) {
		const size_t length = strcspn(type, ",");

		if (count < SHOWN)
			buffer_printf(&out, "%s%.*s", count ? ", " : ": ", (int)length, type);
		type += length + strspn(type + length, ", ");
	}
	if (count > SHOWN)
		buffer_printf(&out, " and %zu more", count - SHOWN);
	return out.text ?: xstrdup("");
}

/*
 * Whether the types differ only in that this unit did not see their definitions, and now does: it
 * includes another header.  Then no object has another layout; genksyms puts all that a unit sees
 * into the CRC.  A unit that saw the definition before tells if that changed, too, by its own types
 * and exports.
 */
static bool only_defined(const char *types)
{
	static const char suffix[] = " (became defined)";
	const size_t suffix_length = sizeof(suffix) - 1;

	if (!types || !*types)
		return false;
	for (const char *type = types; *type;) {
		const size_t length = strcspn(type, ",");

		if (length < suffix_length ||
		    memcmp(type + length - suffix_length, suffix, suffix_length))
			return false;
		type += length + strspn(type + length, ", ");
	}
	return true;
}

/* Return: whether any was refused. */
static bool refuse_exports(struct build *build, struct exporter *exporter)
{
	struct map types = {0};
	bool any = false;

	if (exporter->said)
		read_types(exporter->said, &types);
	for (size_t i = 0; i < exporter->symvers.list.count; i++) {
		const struct symver *old = &exporter->symvers.list.list[i];
		const char *crc = map_get(&exporter->new_crcs, old->name);
		const char *changed = map_get(&types, old->name);

		if (!crc || only_defined(changed) || (exporter->early && !changed))
			continue;
		any = true;
		_free_ char *text = types_text(changed);
		refusals_add(&build->refusals, "export-changed", exporter->unit->source, old->name,
			     "a type of exported symbol '%s' changes%s (CRC %s, now %s), but "
			     "modules were built with the old type; do not change the type",
			     old->name, text, old->crc, crc);
		if (changed)
			comparison_keep_types(build->comparison, exporter->unit, old->name,
					      changed);
	}
	map_deinit(&types);
	return any;
}

static void exporters_deinit(struct exporters *exporters)
{
	for (size_t i = 0; i < exporters->list.count; i++)
		exporter_deinit(&exporters->list.list[i]);
	vec_deinit(&exporters->list);
}

static struct error *run_steps(struct build *build, const struct exporters *exporters)
{
	for (enum step step = 0; step <= exporters->last; step++)
		TRY(run_step(build, exporters, step));
	return NULL;
}

struct error *exports_check(struct build *build)
{
	struct exporters exporters = {.last = TYPES_CHANGED};
	struct error *error;

	if (build->options.returns.count) /* no type changes */
		return NULL;
	error = find_exporters(build, &exporters);
	if (!error)
		error = run_steps(build, &exporters);
	for (size_t i = 0; !error && i < exporters.list.count; i++)
		refuse_exports(build, &exporters.list.list[i]);
	exporters_deinit(&exporters);
	return error;
}

struct error *exports_check_early(struct build *build, struct unit *const *units,
				  const char *const *keys, size_t count, bool refuse,
				  enum early_exports *ret)
{
	_free_ char *genksyms = xasprintf("%s/scripts/genksyms/genksyms", build->tree);
	struct exporters exporters = {.last = refuse ? TYPES_CHANGED : CRCS};
	struct error *error;

	for (size_t i = 0; i < count; i++)
		ret[i] = EXPORTS_MAY_CHANGE;
	if (!count || access(genksyms, X_OK)) /* without CONFIG_MODVERSIONS */
		return NULL;
	TRY(comparison_start(build));
	for (size_t i = 0; i < count; i++) {
		struct exporter exporter = {.unit = units[i], .key = keys[i], .early = true};

		add_exporter(build, &exporter, &exporters);
	}
	error = run_steps(build, &exporters);
	for (size_t i = 0; !error && i < count; i++) {
		struct exporter *exporter = &exporters.list.list[i];

		if (refuse && refuse_exports(build, exporter))
			ret[i] = EXPORTS_REFUSED;
		else if (!exporter->untold && !exporter->new_crcs.count)
			ret[i] = EXPORTS_AS_BEFORE;
	}
	exporters_deinit(&exporters);
	return error;
}
