// SPDX-License-Identifier: GPL-2.0-or-later
/* Phase: link the included code and the glue into a patch module, with the kernel's own tools. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "pokepatch-build/comparison.h"
#include "pokepatch-build/finalize.h"
#include "pokepatch-build/format.h"
#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/module_part.h"
#include "pokepatch-build/names_apart.h"
#include "pokepatch-build/object_cache.h"
#include "pokepatch-build/objtool.h"
#include "pokepatch-build/section_layout.h"
#include "diff/diff_rows.h"
#include "object/object.h"
#include "pokepatch_mark.h"
#include "common/proc.h"
#include "pokepatch-build/report.h"

/*
 * module.lds keeps ".text.foo" sections apart, so merge them by kind here.  Leave names with two
 * dots alone: they have a meaning to the loader (.data..percpu).  Markers become one table, which
 * the image points to.  The parameters are the number of bytes to insert before the code, and
 * the sections of code that come first.
 */
static const char merge_script[] =
	"SECTIONS {\n"
	"	.text : { . = . + %" PRIu64 "; %s*(.text .text.[!.]*) }\n"
	"	.rodata : { *(.rodata .rodata.[!.]*) }\n"
	"	.data : { *(.data .data.[!.]*) }\n"
	"	.bss : { *(.bss .bss.[!.]*) }\n"
	"	" POKEPATCH_SECTION_MARKERS " : { *(" POKEPATCH_SECTION_MARKERS ".*) }\n"
	"	/DISCARD/ : { *(.debug* .comment) }\n"
	"}\n";

struct linker {
	struct build *build;
	char *module;	/* "pokepatch-fix" */
	char *combined; /* included code and glue; objtool rewrites it */
	char *object;	/* the same with our tables: the module's only object */
	char *mod_source, *mod_object;
	char *ko;
};

/* Run a command in a folder, and free the arguments. */
static struct error *run_in(struct args *args, const char *dir, struct buffer *ret_out)
{
	struct proc_options options = {.dir = dir};
	struct error *error = proc_check((const char *const *)args->list, &options, ret_out);

	args_deinit(args);
	return error;
}

/* Begin a command line that does not see the user's environment. */
static struct args start_command(const struct build *build)
{
	struct args args = {0};

	args_add_clean_environment(&args, build->work);
	return args;
}

static void linker_init(struct linker *linker, struct build *build)
{
	char *base = linker->module = xasprintf("pokepatch-%s", build->name);

	linker->build = build;
	linker->combined = xasprintf("%s/combined.o", build->work);
	linker->object = xasprintf("%s/%s.o", build->work, base);
	linker->mod_source = xasprintf("%s/%s.mod.c", build->work, base);
	linker->mod_object = xasprintf("%s/%s.mod.o", build->work, base);
	linker->ko = xasprintf("%s/%s.ko", build->work, base);
}

static void linker_deinit(struct linker *linker)
{
	free(linker->module);
	free(linker->combined);
	free(linker->object);
	free(linker->mod_source);
	free(linker->mod_object);
	free(linker->ko);
}

/* Stubs are numbered like the rows of the image's table of functions, one for each changed one. */
static size_t count_replaced(const struct build *build)
{
	size_t count = 0;

	for (size_t i = 0; i < build->nr_units; i++) {
		const struct diff_result *result = &build->comparison->results[i];

		for (size_t j = 0; build->comparison->outputs[i] && j < result->functions.count; j++)
			count += result->functions.list[j].change == DIFF_CHANGED;
	}
	return count;
}

/*
 * Make the object to link with the included code: the glue and, if the machine has the direct mode
 * and --mode allows it, one stub for each function that this patch replaces.
 */
struct error *glue_with_stubs(struct build *build)
{
	char *source _free_ = xasprintf("%s/../patches/module/%s.S", build->core.sources, build->arch);
	uint32_t mode = build->options.mode;

	if (!file_exists(source) || (mode != POKEPATCH_MODE_AUTO && mode != POKEPATCH_MODE_DIRECT)) {
		build->glue_object = xstrdup(build->core.glue_object);
		return NULL;
	}
	build->glue_object = xasprintf("%s/glue-and-stubs.o", build->work);
	char *stubs _free_ = xasprintf("%s/stubs.o", build->work);
	struct args args = start_command(build);
	args_add_all(&args, build->core.mod_compile);
	args_add(&args, "-D__ASSEMBLY__");
	args_addf(&args, "-DPOKEPATCH_NR_STUBS=%zu", count_replaced(build));
	args_add(&args, "-g0");
	args_add(&args, "-c");
	args_add(&args, "-o");
	args_add(&args, stubs);
	args_add(&args, source);
	/* Nothing but the number of stubs depends on the patch. */
	char *folder _free_ = module_parts_folder(build);
	char key[65];
	bool kept;
	object_cache_key(build, &args, "", key);
	struct error *error = object_cache_load(folder, key, build->glue_object, NULL, &kept);
	if (error || kept) {
		args_deinit(&args);
		return error;
	}
	TRY(run_in(&args, build->core.dir, NULL));

	args = start_command(build);
	args_add(&args, build->core.ld[0]);
	args_add(&args, "-r");
	args_add(&args, "-o");
	args_add(&args, build->glue_object);
	args_add(&args, build->core.glue_object);
	args_add(&args, stubs);
	TRY(run_in(&args, build->work, NULL));
	object_cache_store(folder, key, build->glue_object, NULL);
	object_cache_trim(build, folder);
	return NULL;
}

/* Link included code and glue, with padding bytes before the code. */
static struct error *combine(struct linker *linker, uint64_t padding)
{
	struct build *build = linker->build;
	char *script _free_ = xasprintf("%s/merge.lds", build->work);
	struct buffer order = {};

	buffer_add_string(&order, "");
	struct error *error = build->options.format->code_order
				      ? build->options.format->code_order(build, &order)
				      : NULL;
	char *text _free_ = xasprintf(merge_script, padding, order.text);

	buffer_deinit(&order);
	TRY(error);
	TRY(file_write_scratch(script, text, strlen(text)));
	struct args args = start_command(build);
	args_add(&args, build->core.ld[0]);
	args_add(&args, "-r");
	args_add(&args, "-T");
	args_add(&args, script);
	args_add(&args, "-o");
	args_add(&args, linker->combined);
	for (size_t i = 0; i < build->nr_units; i++)
		if (build->comparison->outputs[i])
			args_add(&args, build->comparison->outputs[i]);
	args_add(&args, build->glue_object);
	return run_in(&args, build->work, NULL);
}

/*
 * With indirect branch tracking objtool warns if a table has the address of a function without a
 * landing pad.  The core reaches the functions in its own table by jumps, and no table of the
 * kernel's is called so.
 */
static bool is_harmless(const char *line)
{
	return strstr(line, " " DIFF_SECTION_FUNCS "+") &&
	       strstr(line, ": data relocation to !ENDBR: ");
}

/* The first of objtool's warnings that matters, or NULL.  Changes text. */
static char *first_warning(char *text)
{
	char *rest = text;

	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line && !is_harmless(line))
			return line;
	return NULL;
}

/* The objects on which objtool runs: first the patch's, then copies for the proof. */
struct objtool_jobs {
	VEC(struct objtool_job) list;
	VEC(char *) paths; /* of the copies; owned */
};

/*
 * Add copies of the compiler's whole output for each unit.  That is the only other source of the
 * module's unwind table.  The proof reads them later; here they do not take time of their own.
 */
static struct error *add_units(const struct build *build, struct objtool_jobs *jobs)
{
	for (size_t i = 0; i < build->nr_units; i++) {
		char *copy = unwound_object(build, i);

		if (!copy)
			continue;
		*vec_push(&jobs->paths) = copy;
		*vec_push(&jobs->list) =
			(struct objtool_job){.kind = OBJTOOL_MODULE, .object = copy};
		TRY(file_copy_scratch(build->units[i].patched_object, copy));
	}
	return NULL;
}

/* The key of the glue after objtool; it follows from the glue and objtool alone. */
static struct error *glue_key(const struct build *build, char ret[65])
{
	char *bytes _free_ = NULL;
	struct args args = {0};
	size_t length;
	char sum[65];

	TRY(file_read(build->glue_object, &bytes, &length));
	sha256_hex(bytes, length, sum);
	objtool_add_command(build, OBJTOOL_MODULE, &args);
	object_cache_key(build, &args, sum, ret);
	args_deinit(&args);
	return NULL;
}

static struct error *run_objtool_jobs(struct linker *linker, struct objtool_jobs *jobs)
{
	struct build *build = linker->build;
	char *glue _free_ = unwound_object(build, build->nr_units);
	char *folder _free_ = module_parts_folder(build);
	char key[65];
	bool kept;

	*vec_push(&jobs->list) = (struct objtool_job){
		.kind = OBJTOOL_MODULE, .link = true, .object = linker->combined};
	TRY(add_units(build, jobs));
	TRY(glue_key(build, key));
	TRY(object_cache_load(folder, key, glue, NULL, &kept));
	if (!kept) {
		TRY(file_copy_scratch(build->glue_object, glue));
		*vec_push(&jobs->list) =
			(struct objtool_job){.kind = OBJTOOL_MODULE, .object = glue};
	}
	TRY(objtool_run_jobs(build, jobs->list.list, jobs->list.count));
	if (!kept) {
		object_cache_store(folder, key, glue, NULL);
		object_cache_trim(build, folder);
	}
	return NULL;
}

/* Run objtool, and refuse its warnings: the kernel would unwind or patch such code wrongly. */
static struct error *run_objtool(struct linker *linker)
{
	struct build *build = linker->build;
	struct objtool_jobs jobs = {0};

	if (!build->core.objtool) /* this machine has none */
		return NULL;
	struct error *error = run_objtool_jobs(linker, &jobs);
	struct buffer *said = &jobs.list.list[0].said;
	char *line = !error && said->length ? first_warning(said->text) : NULL;
	if (line) {
		refusals_add(&build->refusals, "objtool", NULL, "objtool",
			     "objtool does not accept the code of the patch: %s", line);
		error = build_check_refusals(build);
	}
	for (size_t i = 0; i < jobs.list.count; i++)
		buffer_deinit(&jobs.list.list[i].said);
	for (size_t i = 0; i < jobs.paths.count; i++)
		free(jobs.paths.list[i]);
	vec_deinit(&jobs.list);
	vec_deinit(&jobs.paths);
	return error;
}

static void add_export(const struct symvers *symvers, const char *name, struct buffer *ret)
{
	const struct export *export = symvers_find(symvers, name);

	if (export)
		buffer_printf(ret, "0x%08x\t%s\t%s\tEXPORT_SYMBOL%s\t%s\n", export->crc, name,
			      export->module, export->gpl ? "_GPL" : "", export->namespace);
}

/*
 * Write those lines of the kernel's Module.symvers that modpost needs: of the symbols that the
 * object leaves undefined, and of module_layout, whose version every module has
 * (check_modstruct_version() in kernel/module/version.c).  Reading all of them, 10,000 lines, would
 * take most of modpost's time.
 */
static struct error *write_symvers(const struct linker *linker, const char *path)
{
	const struct symvers *symvers = &linker->build->comparison->symvers;
	struct buffer lines = {0};
	struct object object;

	TRY(object_read(linker->object, &object));
	for (size_t i = 1; i < object.symbols.count; i++) {
		const struct symbol *symbol = object.symbols.list[i];

		if (!symbol->section && symbol->special == SHN_UNDEF && *symbol->name)
			add_export(symvers, symbol->name, &lines);
	}
	add_export(symvers, "module_layout", &lines);
	struct error *error = file_write_scratch(path, lines.text ?: "", lines.length);
	buffer_deinit(&lines);
	object_deinit(&object);
	return error;
}

static struct error *run_modpost(struct linker *linker)
{
	struct build *build = linker->build;
	char *symvers _free_ = xasprintf("%s/needed.symvers", build->work);
	char *out _free_ = xasprintf("%s/Module.symvers", build->work);
	char *mod _free_ = xasprintf("%s/%s.mod", build->work, linker->module);
	char *cmd _free_ = xasprintf("%s/.%s.o.cmd", build->work, linker->module);

	TRY(write_symvers(linker, symvers));
	/* Files of kbuild's that modpost reads: the object's parts, and their dependencies. */
	TRY(file_write_scratch(mod, "\n", 1));
	TRY(file_write_scratch(cmd, "", 0));
	struct args args = start_command(build);
	args_add_all(&args, build->core.modpost);
	args_add(&args, "-e"); /* an external module: loading it taints the kernel as out-of-tree */
	args_add(&args, "-o");
	args_add(&args, out);
	args_add(&args, "-i");
	args_add(&args, symvers);
	args_add(&args, "-i");
	args_add(&args, build->core.symvers);
	args_add(&args, linker->object);
	return run_in(&args, build->core.dir, NULL);
}

static struct error *link_ko(struct linker *linker)
{
	struct args args = start_command(linker->build);

	args_add_all(&args, linker->build->core.ld);
	args_add(&args, "-o");
	args_add(&args, linker->ko);
	args_add(&args, linker->object);
	args_add(&args, linker->mod_object);
	if (linker->build->core.common_object)
		args_add(&args, linker->build->core.common_object);
	return run_in(&args, linker->build->core.dir, NULL);
}

/* Drop what the linker has left in the module and nothing reads. */
static struct error *trim_ko(struct linker *linker)
{
	struct object object;

	TRY(object_read(linker->ko, &object));
	object_trim(&object);
	struct error *error = object_write(&object, linker->ko);
	object_deinit(&object);
	return error;
}

static struct error *link_all(struct linker *linker)
{
	struct build *build = linker->build;
	uint64_t padding;

	TRY(names_keep_apart(build));
	TRY(build->options.format->make_glue(build));
	TRY(combine(linker, 0));
	TRY(layout_choose_padding(build, linker->combined, &padding));
	if (padding)
		TRY(combine(linker, padding));
	TRY(run_objtool(linker));

	struct json_object *report = report_make_stable(build);
	struct error *error =
		finalize_object(build, linker->combined, linker->object,
				json_object_to_json_string_ext(report, JSON_C_TO_STRING_PLAIN |
									JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(report);
	TRY(error);
	TRY(run_modpost(linker));
	TRY(module_part_make(build, linker->module, linker->mod_source, linker->mod_object));
	TRY(link_ko(linker));
	return trim_ko(linker);
}

struct error *link_module(struct build *build)
{
	const struct output_format *format = build->options.format;
	struct linker linker;

	TRY(format->judge(build));
	linker_init(&linker, build);
	struct error *error = link_all(&linker);
	if (!error && format->convert)
		error = format->convert(build, linker.ko);
	else if (!error)
		build->ko = take_pointer(linker.ko);
	linker_deinit(&linker);
	return error;
}
