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
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pokepatch-build/build.h"
#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/module_source.h"
#include "pokepatch-build/shadow_tree.h"
#include "common/proc.h"

struct symver {
	const char *name, *crc; /* crc: "0xa962e263" */
};

struct symver_list {
	VEC(struct symver) list;
};

/* A unit with exports, and its changed source as genksyms sees it. */
struct exporter {
	const struct unit *unit;
	char *text; /* the .cmd file; symvers points into it */
	struct symver_list symvers;
	char *preprocessed; /* path of the preprocessed source */
	struct args preprocess, genksyms;
};

struct exporters {
	VEC(struct exporter) list;
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
	vec_deinit(&exporter->symvers.list);
	free(exporter->text);
	free(exporter->preprocessed);
	args_deinit(&exporter->preprocess);
	args_deinit(&exporter->genksyms);
}

static void add_commands(const struct build *build, struct exporter *exporter)
{
	const struct unit *unit = exporter->unit;
	const char *slash = strrchr(unit->patched_object, '/');
	_free_ char *folder =
		xstrndup(unit->patched_object, (size_t)(slash - unit->patched_object));
	_free_ char *reference = xstrndup(unit->object, strlen(unit->object) - strlen("o"));
	_free_ char *symref = xasprintf("%s/%ssymref", build->tree, reference);

	/*
	 * genksyms takes the file in the first line marker for the source, and does not expand
	 * types that the source defines (scripts/genksyms/parse.y, record_compound()).  So the
	 * marker must have the source's own name, as it has when the command runs in the shadow.
	 */
	exporter->preprocessed = xasprintf("%s/unit.i", folder);
	if (unit->outside)
		module_source_add_command(build, unit, true, exporter->preprocessed,
					  &exporter->preprocess);
	else
		unit_add_command(build, unit->argv, unit->source, build->shadow->folder,
				 exporter->preprocessed, &exporter->preprocess);
	args_add(&exporter->preprocess, "-E");
	args_add(&exporter->preprocess, "-D__GENKSYMS__");
	args_add_clean_environment(&exporter->genksyms, build->work);
	args_add(&exporter->genksyms, "scripts/genksyms/genksyms");
	args_add(&exporter->genksyms, "-r");
	args_add(&exporter->genksyms, access(symref, R_OK) ? "/dev/null" : symref);
}

/* Find the units that export a symbol with a CRC. */
static struct error *find_exporters(const struct build *build, struct exporters *ret)
{
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct unit *unit = &build->units[i];
		struct exporter exporter = {.unit = unit};
		_free_ char *path = cmd_file_path(unit->outside ? build->module_source : build->tree,
						  unit->object);
		size_t length;

		if (unit->shares || unit->is_new || !has_suffix(unit->source, ".c"))
			continue;
		TRY(file_read(path, &exporter.text, &length));
		read_symvers(exporter.text, &exporter.symvers);
		if (exporter.symvers.list.count) {
			add_commands(build, &exporter);
			*vec_push(&ret->list) = exporter;
		} else {
			exporter_deinit(&exporter);
		}
	}
	return NULL;
}

/* Run the preprocessor for all exporters, or genksyms. */
static struct error *run_step(const struct build *build, const struct exporters *exporters,
			      bool genksyms, struct proc_result *results)
{
	size_t count = exporters->list.count;
	_free_ struct proc_command *commands = xcalloc(count, sizeof(*commands));

	for (size_t i = 0; i < count; i++) {
		const struct exporter *exporter = &exporters->list.list[i];
		const struct args *args = genksyms ? &exporter->genksyms : &exporter->preprocess;

		commands[i].argv = (const char *const *)args->list;
		commands[i].options.dir = exporter->unit->outside && !genksyms
						  ? module_source_cwd(build)
						  : build->shadow->folder;
		commands[i].options.keep_stderr_apart = true;
		if (genksyms)
			commands[i].options.input = exporter->preprocessed;
	}
	TRY(proc_run_all(commands, count, build->options.jobs, results));
	for (size_t i = 0; i < count; i++)
		if (results[i].status)
			return error_new(STATUS_FAILED, "%s of %s: %s",
					 genksyms ? "genksyms" : "preprocessing",
					 exporters->list.list[i].unit->source,
					 results[i].err.text ?: "ended with an error");
	return NULL;
}

/* Refuse exports whose CRC changes.  The differ refuses new and removed exports. */
static void compare_crcs(struct build *build, const struct exporter *exporter, char *patched)
{
	struct symver_list symvers = {0};
	struct map crcs = {0};

	read_symvers(patched, &symvers);
	for (size_t i = 0; i < symvers.list.count; i++)
		*map_slot(&crcs, symvers.list.list[i].name) = (char *)symvers.list.list[i].crc;
	for (size_t i = 0; i < exporter->symvers.list.count; i++) {
		const struct symver *old = &exporter->symvers.list.list[i];
		const char *crc = map_get(&crcs, old->name);

		if (crc && strcmp(crc, old->crc))
			refusals_add(&build->refusals, "export-changed", exporter->unit->source,
				     old->name,
				     "a type of exported symbol '%s' changes (CRC %s, now %s), but "
				     "modules were built with the old type; do not change the type",
				     old->name, old->crc, crc);
	}
	map_deinit(&crcs);
	vec_deinit(&symvers.list);
}

struct error *exports_check(struct build *build)
{
	struct exporters exporters = {0};
	struct proc_result *results = NULL;
	struct error *error = find_exporters(build, &exporters);
	size_t count = exporters.list.count;

	for (int genksyms = 0; !error && count && genksyms < 2; genksyms++) {
		results = xcalloc(count, sizeof(*results));
		error = run_step(build, &exporters, genksyms, results);
		for (size_t i = 0; i < count; i++) {
			if (!error && genksyms && results[i].out.text)
				compare_crcs(build, &exporters.list.list[i], results[i].out.text);
			proc_result_deinit(&results[i]);
		}
		free(results);
	}
	for (size_t i = 0; i < count; i++)
		exporter_deinit(&exporters.list.list[i]);
	vec_deinit(&exporters.list);
	return error;
}
