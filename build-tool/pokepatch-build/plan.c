// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The plan of all units; see plan.h.  Its text has two kinds of lines, with tabs between the words:
 *
 *	F gcc-12 -nostdinc ...			a set of flags; numbered from 0
 *	U fs/proc/version.c 12 version - -D...	source, its set, KBUILD_MODNAME, M for -DMODULE,
 *						flags of its own
 *
 * Flags of its own are those with the unit's name.  kbuild puts them behind all others.
 */
#include "pokepatch-build/plan.h"

#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "pokepatch-build/tree.h"
#include "pokepatch-build/units.h"

static const char plan_header[] = "pokepatch plan 1\n";

/* ---- making it -------------------------------------------------------------- */

struct writer {
	struct buffer *out;
	struct map sources; /* the units that the plan has */
	struct map flags;   /* from a set's words to its number + 1 */
	VEC(char *) names;  /* owns the keys of both */
	size_t nr_flags;
};

/* A unit that is compiled in two folders' makefiles is printed twice, with one command. */
static bool is_new(struct writer *writer, const char *source)
{
	char *name = xstrdup(source);

	*vec_push(&writer->names) = name;
	if (map_has(&writer->sources, name))
		return false;
	map_slot(&writer->sources, name);
	return true;
}

static size_t flags_number(struct writer *writer, const struct buffer *words)
{
	void **slot;
	char *key = xstrdup(words->text);

	*vec_push(&writer->names) = key;
	slot = map_slot(&writer->flags, key);
	if (!*slot) {
		*slot = (void *)++writer->nr_flags;
		buffer_printf(writer->out, "F%s\n", key);
	}
	return (size_t)*slot - 1;
}

static bool has_units_name(const char *word)
{
	return has_prefix(word, "-DKBUILD_") || has_prefix(word, "-D__KBUILD_");
}

static struct error *write_unit(struct writer *writer, const char *source, const char *command)
{
	struct kbuild_unit unit = {};
	struct buffer shared = {}, own = {};
	struct error *error = kbuild_parse_command(command, source, &unit);
	size_t number;

	for (size_t i = 0; !error && i < unit.argv.count; i++) {
		const char *word = unit.argv.list[i];

		if (strpbrk(word, "\t\n"))
			error = error_new(STATUS_FAILED, "%s: a flag has a tab or a newline",
					  source);
		buffer_printf(has_units_name(word) ? &own : &shared, "\t%s", word);
	}
	if (!error) {
		number = flags_number(writer, &shared);
		buffer_printf(writer->out, "U\t%s\t%zu\t%s\t%c%s\n", source, number,
			      unit.modname ?: "", unit.module ? 'M' : '-', own.text ?: "");
	}
	buffer_deinit(&shared);
	buffer_deinit(&own);
	kbuild_unit_deinit(&unit);
	return error;
}

/* Add the unit whose command has "-c -o OBJECT SOURCE" at found. */
static struct error *add_unit(struct writer *writer, const char *output, const char *found)
{
	_free_ char *source = NULL;
	_free_ char *command = kbuild_cut_command(output, found, &source);

	return command && is_new(writer, source) ? write_unit(writer, source, command) : NULL;
}

static struct error *plan_write(const char *output, struct buffer *ret)
{
	struct writer writer = {.out = ret};
	struct error *error = NULL;

	for (const char *p = output; !error && (p = strstr(p, " -c -o ")); p++)
		error = add_unit(&writer, output, p);
	map_deinit(&writer.sources);
	map_deinit(&writer.flags);
	for (size_t i = 0; i < writer.names.count; i++)
		free(writer.names.list[i]);
	vec_deinit(&writer.names);
	return error;
}

static struct error *make_plan(const void *context, struct buffer *ret)
{
	const struct build *build = context;
	/* All that make builds by default; -B: also what is compiled already. */
	char *const targets[] = {"-n", "-B", "KBUILD_BUILTIN=1", "KBUILD_MODULES=1", NULL};
	_free_ char *lock_path = xasprintf("%s/.pokepatch/kbuild", build->tree);
	_close_ int lock = -1;
	struct buffer output = {};
	struct error *error;
	bool ok;

	TRY(cache_lock(lock_path, false, &lock));
	error = kbuild_make(build, ".", targets, &ok, &output);
	if (!error)
		error = plan_write(output.text ?: "", ret);
	/* make fails in folders whose generated files are missing; init/ must always be there. */
	if (!error && !strstr(ret->text, "U\tinit/main.c\t"))
		error = error_new(STATUS_FAILED,
				  "the kernel's build does not say how it compiles init/main.c:\n%s",
				  output.text ?: "(make printed nothing)");
	buffer_deinit(&output);
	return error;
}

/* ---- loading it ------------------------------------------------------------- */

/* Cut off the line's next word. */
static char *next_word(char **line)
{
	return strsep(line, "\t") ?: "";
}

static void read_line(struct plan *plan, char *line)
{
	if (*line == 'F') {
		*vec_push(&plan->flags) = line + 1;
	} else if (has_prefix(line, "U\t")) {
		struct planned *unit = vec_push(&plan->units);
		char *rest = line + 2;

		unit->source = next_word(&rest);
		unit->flags = strtoul(next_word(&rest), NULL, 10);
		unit->modname = next_word(&rest);
		unit->module = rest && *rest == 'M';
		unit->own = rest && *rest ? rest + 1 : "";
	}
}

struct error *plan_load(const struct build *build, struct plan *ret)
{
	*ret = (struct plan){};
	TRY(tree_text_load(build->tree, "commands", plan_header, make_plan, build, &ret->text));
	for (char *line = ret->text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		read_line(ret, line);
	}
	for (size_t i = 0; i < ret->units.count; i++) {
		struct planned *unit = &ret->units.list[i];

		if (unit->flags >= ret->flags.count)
			return error_new(STATUS_FAILED,
					 "%s/.pokepatch/commands is damaged; remove that folder",
					 build->tree);
		*map_slot(&ret->by_source, unit->source) = unit;
	}
	return NULL;
}

void plan_deinit(struct plan *plan)
{
	vec_deinit(&plan->units);
	vec_deinit(&plan->flags);
	map_deinit(&plan->by_source);
	free(plan->text);
	*plan = (struct plan){};
}

static void add_words(const char *words, struct args *ret)
{
	while (*words == '\t') {
		size_t length = strcspn(words + 1, "\t");

		args_addf(ret, "%.*s", (int)length, words + 1);
		words += 1 + length;
	}
}

void plan_add_command(const struct plan *plan, const struct planned *unit, struct args *ret)
{
	add_words(plan->flags.list[unit->flags], ret);
	add_words(unit->own, ret);
}
