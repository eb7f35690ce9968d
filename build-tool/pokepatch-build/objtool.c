// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running objtool.  For most kernels kbuild runs it on each unit.  With IBT or KLP_BUILD
 * kbuild runs it late, on vmlinux.o and on whole modules (delay-objtool in Makefile.lib), so that a
 * unit's object lacks the NOPs of static branches and the tables that objtool makes.  The tables
 * and NOPs of a function follow from that function alone, so objtool makes the same for the unit.
 * verify.c compares both with the parent.  The one exception is .ibt_endbr_seal, which depends on
 * all references to a function; there the parent's own table counts.
 */
#include "pokepatch-build/objtool.h"

#include <stdlib.h>
#include <string.h>

#include "common/proc.h"

void objtool_add_command(const struct build *build, enum objtool_kind kind, struct args *ret)
{
	args_add_clean_environment(ret, build->work);
	/* Debian's objtool is a program that starts the one for this machine. */
	args_addf(ret, "SRCARCH=%s", build->arch);
	for (char *const *word = build->core.objtool; *word; word++)
		if (kind == OBJTOOL_MODULE || strcmp(*word, "--module"))
			args_add(ret, *word);
}

struct error *objtool_run_all(const struct build *build, enum objtool_kind kind,
			      char *const *objects, size_t count)
{
	struct args *args = xcalloc(count, sizeof(*args));
	struct proc_command *commands _free_ = xcalloc(count, sizeof(*commands));
	struct proc_result *results _free_ = xcalloc(count, sizeof(*results));

	for (size_t i = 0; i < count; i++) {
		objtool_add_command(build, kind, &args[i]);
		args_add(&args[i], objects[i]);
		commands[i] = (struct proc_command){.argv = (const char *const *)args[i].list,
						    .options = {.dir = build->core.dir}};
	}
	struct error *error = proc_run_all(commands, count, build->options.jobs, results);
	for (size_t i = 0; !error && i < count; i++) {
		if (results[i].status)
			error = error_new(STATUS_FAILED, "objtool cannot read %s: %s", objects[i],
					  results[i].out.text ?: "");
		proc_result_deinit(&results[i]);
	}
	for (size_t i = 0; i < count; i++)
		args_deinit(&args[i]);
	free(args);
	return error;
}

/* Copy the exact objects of one kind, and run objtool on the copies. */
static struct error *finish_kind(struct build *build, enum objtool_kind kind)
{
	char **copies _free_ = xcalloc(build->nr_units + 1, sizeof(*copies));
	size_t count = 0;

	for (size_t i = 0; i < build->nr_units; i++) {
		struct unit *unit = &build->units[i];
		enum objtool_kind own = unit->parent_path ? OBJTOOL_MODULE : OBJTOOL_BUILTIN;

		if (unit->objtool_ran || own != kind)
			continue;
		char *copy = copies[count++] = xasprintf("%s/finished-%zu.o", build->work, i);
		struct error *error = file_copy_scratch(unit->exact_object, copy);

		free(unit->exact_object);
		unit->exact_object = copy;
		TRY(error);
	}
	return count ? objtool_run_all(build, kind, copies, count) : NULL;
}

struct error *objtool_finish_exact(struct build *build)
{
	if (!build->objtool_late || !build->core.objtool)
		return NULL;
	TRY(finish_kind(build, OBJTOOL_BUILTIN));
	return finish_kind(build, OBJTOOL_MODULE);
}
