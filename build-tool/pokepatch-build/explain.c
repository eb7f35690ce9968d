// SPDX-License-Identifier: GPL-2.0-or-later
/* The explanation in words.  report.c has the same facts for programs. */
#include "pokepatch-build/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/build_id.h"
#include "pokepatch-build/comparison.h"
#include "pokepatch-build/format.h"
#include "pokepatch-build/series.h"

char *explain_kernel(const struct build *build)
{
	const struct parent *vmlinux = build->comparison ? build->comparison->vmlinux : NULL;

	if (!vmlinux || !vmlinux->build_id_length)
		return xasprintf("%s (%s)", build->release, build->arch);
	char *id _free_ = build_id_hex(vmlinux->build_id, vmlinux->build_id_length);
	return xasprintf("%s (%s), build id %s", build->release, build->arch, id);
}

/* Append a list of names: "a, b and c". */
static void add_names(struct buffer *ret, char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buffer_printf(ret, "%s%s", !i ? "" : i + 1 < count ? ", " : " and ", list[i]);
}

static void add_sentence(struct args *ret, const char *format, char *const *list, size_t count)
{
	struct buffer names = {0};

	add_names(&names, list, count);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	args_addf(ret, format, names.text);
#pragma GCC diagnostic pop
	buffer_deinit(&names);
}

enum touch explain_touch(const struct build *build, const char *location, const char *name,
			 struct function_lines *ret)
{
	char *plain _free_ = xstrndup(name, strcspn(name, ".")); /* foo.constprop.0 */

	return location ? function_touch(build, location, plain, ret) : TOUCH_NONE;
}

static void explain_inlined(const struct build *build, const struct diff_function *function,
			    struct args *ret)
{
	VEC(char *) names = {0};

	for (size_t i = 0; i < function->touched_inlined.count; i++) {
		const struct diff_place *place = &function->touched_inlined.list[i];
		struct function_lines unused;

		if (explain_touch(build, place->location, place->name, &unused) == TOUCH_CHANGED)
			*vec_push(&names) = place->name;
	}
	if (names.count)
		add_sentence(ret, "Changed functions are inlined into it: %s.", names.list,
			     names.count);
	vec_deinit(&names);
}

/* The reasons that are sure. */
static void explain_sure(const struct build *build, const struct diff_function *function,
			 enum touch touch, struct args *ret)
{
	if (build->options.returns.count) {
		args_add(ret, "It returns at once, as --return has it.");
		return;
	}
	if (touch == TOUCH_CHANGED)
		args_add(ret, build->options.instrument
				      ? "Its source is changed, by markers or by a diff."
				      : "Its source is changed.");
	if (function->carries.count)
		add_sentence(ret,
			     "It calls %s. Such calls cannot be rerouted, so this caller is "
			     "replaced instead.",
			     function->carries.list, function->carries.count);
	explain_inlined(build, function, ret);
}

static void explain_change(const struct build *build, const struct diff_function *function,
			   struct args *ret)
{
	const char *at = function->source ?: "a line that is not known";
	const size_t before = ret->count;
	struct function_lines unused;
	const enum touch touch =
		explain_touch(build, function->location, function->name, &unused);

	explain_sure(build, function, touch, ret);
	if (ret->count > before)
		return;
	if (touch == TOUCH_UNKNOWN)
		args_addf(ret,
			  "Its file is changed, but its own lines are not understood, as where a "
			  "macro makes a function; the code differs from %s on.",
			  at);
	else if (function->inlined_from)
		args_addf(ret, "Its source is not changed, but %s is inlined into it (%s).",
			  function->inlined_from, at);
	else
		args_addf(ret,
			  "Its source is not changed, but what it is compiled from gives other "
			  "code, from %s on: a macro, a type or a constant.",
			  at);
}

static void explain_calls(const struct build *build, const struct diff_function *function,
			  struct args *ret)
{
	static const char *const verified[] = {
		[DIFF_UNVERIFIED] = "Its old code was not compared with the kernel's.",
		[DIFF_EQUAL] = "Its old code, as compiled here, is the kernel's.",
		[DIFF_UNEQUAL] = "Its old code, as compiled here, is not the kernel's.",
	};

	if (!build->options.format->needs_core)
		args_add(ret, "The kernel's livepatch core reroutes its calls.");
	else if (function->overwrites)
		args_addf(ret,
			  "It has no patchable entry; a jump overwrites its first instructions, %u "
			  "bytes (mode entry).",
			  function->overwrites);
	else if (function->has_entry)
		args_addf(ret, "Calls are rerouted at its entry (mode %s).",
			  mode_name(build->options.mode));
	else
		add_sentence(ret, "It has no patchable entry; its callers call the new one: %s.",
			     function->carried_by.list, function->carried_by.count);
	args_add(ret, verified[function->verified]);
}

void explain_function(const struct build *build, const struct diff_function *function,
		      struct args *ret)
{
	switch (function->change) {
	case DIFF_NEW:
		args_add(ret, "The file has no such function without the patch.");
		break;
	case DIFF_REMOVED:
		args_add(ret, "The patch removes it; it stays in the kernel, unused.");
		return;
	case DIFF_CHANGED:
		explain_change(build, function, ret);
		explain_calls(build, function, ret);
		break;
	}
	if (function->inlined_into.count)
		add_sentence(ret, "It is also inlined into %s.", function->inlined_into.list,
			     function->inlined_into.count);
}

const char *explain_type(const struct type_change *change)
{
	static const char *const words[] = {
		[TYPE_HARMLESS] = "old and new code read the same",
		[TYPE_FOLLOWS] = "it has a type in it that changed",
		[TYPE_ON_STACK] = "no object of it lives when calls are switched",
		[TYPE_MISREAD] = "new code misreads what old code wrote",
	};

	if (change->kind == TYPE_FUNCTION && change->verdict == TYPE_MISREAD)
		return "callers that do not change would pass what it no longer takes";
	return words[change->verdict];
}

/* Bytes, or bits of a bit-field: "4 bytes at 16". */
static char *member_place(const struct type_member *member, uint64_t offset, uint64_t size,
			  const char *type)
{
	const unsigned int unit = member->bit_field ? 1 : 8;

	return xasprintf("%s, %" PRIu64 " %s at %" PRIu64, type ?: "?", size / unit,
			 member->bit_field ? "bits" : "bytes", offset / unit);
}

char *explain_member(const struct type_change *change, const struct type_member *member)
{
	const char *word = member_change_name(member->change);
	char *old _free_ = NULL, *new _free_ = NULL;

	if (member_is_enumerator(member)) {
		old = member->was ? xasprintf("%" PRId64, member->old_value) : NULL;
		new = member->is ? xasprintf("%" PRId64, member->new_value) : NULL;
	} else if (change->kind == TYPE_FUNCTION) {
		old = member->was ? xstrdup(member->old_type ?: "?") : NULL;
		new = member->is ? xstrdup(member->new_type ?: "?") : NULL;
	} else {
		if (member->was)
			old = member_place(member, member->old_offset, member->old_size,
					   member->old_type);
		if (member->is)
			new = member_place(member, member->new_offset, member->new_size,
					   member->new_type);
	}
	return xasprintf("%s: %s (%s -> %s)", member->name, word, old ?: "none", new ?: "none");
}

static void print_patches(const struct build *build)
{
	char *kernel _free_ = explain_kernel(build);

	printf("Patch %s for %s\n", build->name, kernel);
	for (size_t i = 0; i < build->nr_patches; i++) {
		const struct patch_file *patch = &build->patches[i];

		if (!patch->commit)
			printf("  %s\n", patch->source ?: patch->path);
	}
}

static void print_commits(const struct build *build)
{
	bool first = true;

	for (size_t i = 0; i < build->nr_patches; i++) {
		const struct commit *commit = build->patches[i].commit;

		if (!commit)
			continue;
		char *label _free_ = commit_label(commit);
		printf("%s  %s: %s\n", first ? "\nCommits\n" : "", label,
		       commit_is_live(commit) ? "in the patch"
		       : commit->idle	      ? "no effect on this kernel"
					      : "left out");
		for (size_t j = 0; j < commit->reasons.count; j++)
			printf("      %s\n", commit->reasons.list[j]);
		first = false;
	}
}

static void print_function(const struct build *build, const struct diff_function *function)
{
	struct args reasons = {0};

	printf("    %s: ", function->name);
	if (function->change == DIFF_CHANGED)
		printf("%" PRIu64 " -> %" PRIu64 " bytes, different from +0x%" PRIx64 " on\n",
		       function->old_size, function->new_size, function->first_change);
	else
		printf("%s, %" PRIu64 " bytes\n",
		       function->change == DIFF_NEW ? "new" : "removed",
		       function->change == DIFF_NEW ? function->new_size : function->old_size);
	explain_function(build, function, &reasons);
	for (size_t i = 0; i < reasons.count; i++)
		printf("        %s\n", reasons.list[i]);
	args_deinit(&reasons);
}

static void print_unit(const struct build *build, size_t index)
{
	static const char *const changes[] = {
		[DIFF_CHANGED] = "changed",
		[DIFF_NEW] = "new",
		[DIFF_REMOVED] = "removed; it stays in the kernel, unused",
	};
	const struct unit *unit = &build->units[index];
	const struct diff_result *result = &build->comparison->results[index];

	printf("  %s, in %s", unit->source, unit->parent);
	if (!result->functions.count && !result->data.count && !result->callbacks.count)
		printf(": compiles to the same code");
	printf("\n");
	for (size_t i = 0; i < result->functions.count; i++)
		print_function(build, &result->functions.list[i]);
	for (size_t i = 0; i < result->data.count; i++)
		printf("    %s: data, %s\n", result->data.list[i].name,
		       changes[result->data.list[i].change]);
	for (size_t i = 0; i < result->callbacks.count; i++)
		printf("    %s: callback, %s\n", result->callbacks.list[i].function,
		       diff_callback_name(result->callbacks.list[i].kind));
}

void explain_types(const struct build *build, explain_type_visit visit, void *context)
{
	struct string_set seen = {0};

	for (size_t i = 0; i < build->nr_units; i++) {
		const struct type_changes *types = &build->comparison->results[i].types;

		for (size_t j = 0; j < types->list.count; j++) {
			const struct type_change *change = &types->list.list[j];
			char *title _free_ = xasprintf("%s %s", type_kind_name(change->kind),
						       change->name);

			/* Units share headers. */
			if (string_set_add(&seen, title))
				visit(context, title, change);
		}
	}
	string_set_deinit(&seen);
}

static void print_type(void *context, const char *title, const struct type_change *change)
{
	bool *first = context;

	printf("%s  %s: %s\n", *first ? "\nTypes\n" : "", title, explain_type(change));
	*first = false;
	for (size_t i = 0; i < change->members.count; i++) {
		char *line _free_ = explain_member(change, &change->members.list[i]);

		printf("    %s\n", line);
	}
}

/* The same lines stand on standard error; here they are beside what they are about. */
static void print_refusals(const struct build *build)
{
	if (!build->refusals.count)
		return;
	printf("\nRefused, or warned of\n");
	fflush(stdout);
	for (size_t i = 0; i < build->refusals.count; i++) {
		const struct refusal *refusal = &build->refusals.list[i];

		printf("  [%s] %s%s%s: %s\n", refusal->code, refusal->warning ? "warning, " : "",
		       refusal->allowed ? "allowed, " : "", refusal->location ?: refusal->subject,
		       refusal->text);
	}
}

void explain_print(const struct build *build)
{
	if (!build->options.explain)
		return;
	print_patches(build);
	print_commits(build);
	if (build->comparison && build->comparison->results) {
		bool first = true;

		printf("\nUnits\n");
		for (size_t i = 0; i < build->nr_units; i++)
			print_unit(build, i);
		explain_types(build, print_type, &first);
	}
	print_refusals(build);
}
