// SPDX-License-Identifier: GPL-2.0-or-later
/* Phase: link what the units carry and the glue into a patch module, with the kernel's tools. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "compare.h"
#include "finalize.h"
#include "proc.h"
#include "report.h"

/*
 * module.lds keeps ".text.foo" sections apart; merge them by kind.  Names with
 * two dots (.data..percpu) mean something to the loader and are left alone.
 */
static const char merge_script[] =
	"SECTIONS {\n"
	"	.text : { *(.text .text.[!.]*) }\n"
	"	.rodata : { *(.rodata .rodata.[!.]*) }\n"
	"	.data : { *(.data .data.[!.]*) }\n"
	"	.bss : { *(.bss .bss.[!.]*) }\n"
	"	/DISCARD/ : { *(.debug* .comment) }\n"
	"}\n";

/* An argument vector that borrows its strings. */
struct arguments {
	VEC(const char *) list;
};

static void add_argument(struct arguments *arguments, const char *argument)
{
	*vec_push(&arguments->list) = argument;
}

static void add_command(struct arguments *arguments, char **command)
{
	for (; *command; command++)
		add_argument(arguments, *command);
}

static struct error *run_in(struct arguments *arguments, const char *dir, struct buffer *ret_out)
{
	struct proc_options options = {.dir = dir};

	add_argument(arguments, NULL);
	struct error *error = proc_check(arguments->list.list, &options, ret_out);
	vec_deinit(&arguments->list);
	return error;
}

struct linker {
	struct build *build;
	char *module;	/* "pokepatch-fix" */
	char *combined; /* carried code and glue, then seen by objtool */
	char *object;	/* with tables: the module's one object */
	char *mod_source, *mod_object;
	char *ko;
};

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

static struct error *combine(struct linker *linker)
{
	struct build *build = linker->build;
	struct arguments arguments = {0};
	char *script _free_ = xasprintf("%s/merge.lds", build->work);

	_failed_(file_write(script, merge_script, strlen(merge_script)));
	add_argument(&arguments, build->core.ld[0]);
	add_argument(&arguments, "-r");
	add_argument(&arguments, "-T");
	add_argument(&arguments, script);
	add_argument(&arguments, "-o");
	add_argument(&arguments, linker->combined);
	for (size_t i = 0; i < build->nr_units; i++)
		if (build->comparison->carried[i])
			add_argument(&arguments, build->comparison->carried[i]);
	add_argument(&arguments, build->core.glue_object);
	return run_in(&arguments, build->work, NULL);
}

/* What objtool does not understand would be unwound or patched wrongly. */
static struct error *run_objtool(struct linker *linker)
{
	struct build *build = linker->build;
	struct arguments arguments = {0};
	struct buffer out = {0};

	add_command(&arguments, build->core.objtool);
	add_argument(&arguments, "--link"); /* the object has several units */
	add_argument(&arguments, linker->combined);
	struct error *error = run_in(&arguments, build->core.dir, &out);
	if (!error && out.length) {
		char *line _free_ = xstrndup(out.text, strcspn(out.text, "\n"));

		refusals_add(&build->refusals, "objtool", NULL, "objtool",
			     "objtool does not accept the carried code: %s", line);
		error = refusals_check(build);
	}
	buffer_deinit(&out);
	return error;
}

static struct error *run_modpost(struct linker *linker)
{
	struct build *build = linker->build;
	struct arguments arguments = {0};
	char *symvers _free_ = xasprintf("%s/Module.symvers", build->files.kbuild);
	char *out _free_ = xasprintf("%s/Module.symvers", build->work);
	char *mod _free_ = xasprintf("%s/%s.mod", build->work, linker->module);
	char *cmd _free_ = xasprintf("%s/.%s.o.cmd", build->work, linker->module);

	/* Kbuild's notes about the object: its parts, and what it was made from. */
	_failed_(file_write(mod, "\n", 1));
	_failed_(file_write(cmd, "", 0));
	add_command(&arguments, build->core.modpost);
	add_argument(&arguments, "-e"); /* not the kernel's own: it taints as out-of-tree */
	add_argument(&arguments, "-o");
	add_argument(&arguments, out);
	add_argument(&arguments, "-i");
	add_argument(&arguments, symvers);
	add_argument(&arguments, "-i");
	add_argument(&arguments, build->core.symvers);
	add_argument(&arguments, linker->object);
	return error_prefix(run_in(&arguments, build->core.dir, NULL),
			    "the patch refers to something that the kernel does not have");
}

static struct error *compile_mod(struct linker *linker)
{
	struct build *build = linker->build;
	struct arguments arguments = {0};
	char *name _free_ = xstrdup(linker->module);

	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	char *modname _free_ = xasprintf("-DKBUILD_MODNAME=\"%s\"", name);
	char *modname_raw _free_ = xasprintf("-D__KBUILD_MODNAME=kmod_%s", name);
	char *basename _free_ = xasprintf("-DKBUILD_BASENAME=\"%s.mod\"", name);

	add_command(&arguments, build->core.mod_compile);
	add_argument(&arguments, basename);
	add_argument(&arguments, modname);
	add_argument(&arguments, modname_raw);
	add_argument(&arguments, "-g0");
	add_argument(&arguments, "-c");
	add_argument(&arguments, "-o");
	add_argument(&arguments, linker->mod_object);
	add_argument(&arguments, linker->mod_source);
	return run_in(&arguments, build->core.dir, NULL);
}

static struct error *link_ko(struct linker *linker)
{
	struct arguments arguments = {0};

	add_command(&arguments, linker->build->core.ld);
	add_argument(&arguments, "-o");
	add_argument(&arguments, linker->ko);
	add_argument(&arguments, linker->object);
	add_argument(&arguments, linker->mod_object);
	return run_in(&arguments, linker->build->core.dir, NULL);
}

static struct error *link_all(struct linker *linker)
{
	struct build *build = linker->build;

	_failed_(combine(linker));
	_failed_(run_objtool(linker));

	struct json_object *report = report_stable(build);
	struct error *error =
		finalize_object(build, linker->combined, linker->object,
				json_object_to_json_string_ext(report, JSON_C_TO_STRING_PLAIN |
									JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(report);
	_failed_(error);
	_failed_(run_modpost(linker));
	_failed_(compile_mod(linker));
	_failed_(link_ko(linker));
	return NULL;
}

struct error *link_module(struct build *build)
{
	struct linker linker;

	linker_init(&linker, build);
	struct error *error = link_all(&linker);
	if (error)
		linker_deinit(&linker);
	else {
		build->ko = take_pointer(linker.ko);
		linker_deinit(&linker);
	}
	return error;
}
