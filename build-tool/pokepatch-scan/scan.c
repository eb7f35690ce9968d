// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looking at one kernel; see scan.h.  The first phases of pokepatch-build do the work: they apply
 * the fix to the kernel's source in memory, backwards and forwards, and find the units of the files
 * that it changes.  Each direction runs in a process of its own, because these phases fill caches
 * that are for one kernel.
 */
#include "pokepatch-scan/scan.h"

#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "common/util.h"
#include "common/worker.h"
#include "pokepatch-build/build.h"
#include "pokepatch-build/changes.h"

/* One direction of a fix, for a worker. */
struct attempt {
	const char *release, *diff;
	bool backwards;
};

/* What a worker's result begins with; the rest is text. */
enum { APPLIES = 'a', DIFFERS = 'd', NOT_BUILT = 'n', HERE = 'h' };

/* "vmlinux, tun": the parents of the units, each once. */
static void add_parents(const struct build *build, struct buffer *ret)
{
	VEC(const char *) names = {};

	for (size_t i = 0; i < build->nr_units; i++)
		*vec_push(&names) = build->units[i].parent;
	if (names.count)
		qsort(names.list, names.count, sizeof(*names.list), order_strings);
	for (size_t i = 0; i < names.count; i++)
		if (!i || strcmp(names.list[i], names.list[i - 1]))
			buffer_printf(ret, "%s%s", i ? ", " : "", names.list[i]);
	free(names.list);
}

/*
 * Leave the C files, whose units are found at once.  A header's units would have to be compiled to
 * know which of them it changes.
 */
static bool keep_c_files(struct patch *patch)
{
	size_t kept = 0;

	for (size_t i = 0; i < patch->nr_entries; i++) {
		struct patch_entry entry = patch->entries[i];
		const char *path = entry.old_path ?: entry.new_path;

		if (!has_suffix(path, ".c"))
			continue;
		patch->entries[i] = patch->entries[kept];
		patch->entries[kept++] = entry;
	}
	/* patch_deinit() frees what is behind them too. */
	patch->nr_entries = kept;
	return kept;
}

/* A line without the blanks at its ends, if it says something: "}" and "err = -EINVAL;" do not. */
static char *saying(const char *text, size_t length)
{
	while (length && strchr(" \t", *text))
		text++, length--;
	while (length && strchr(" \t\r", text[length - 1]))
		length--;
	return length > 16 ? xstrndup(text, length) : NULL;
}

/* Has the file all the lines that say something of those that an entry adds?  Counts them. */
static bool has_added(const struct changed_file *file, const struct patch_entry *entry, size_t *added)
{
	struct map there = {};
	VEC(char *) lines = {};
	bool all = true;

	for (size_t i = 0; file && i < file->old_lines.count; i++) {
		char *line = saying(file->old_lines.list[i].text, file->old_lines.list[i].length);

		if (line)
			*vec_push(&lines) = line, map_slot(&there, line);
	}
	for (size_t i = 0; i < entry->nr_hunks; i++)
		for (size_t j = 0; j < entry->hunks[i].nr_lines; j++) {
			const struct patch_line *line = &entry->hunks[i].lines[j];
			_free_ char *text = line->kind == '+' ? saying(line->text, line->length) : NULL;

			*added += text != NULL;
			all &= !text || map_has(&there, text);
		}
	map_deinit(&there);
	for (size_t i = 0; i < lines.count; i++)
		free(lines.list[i]);
	free(lines.list);
	return all;
}

/*
 * Does the source have the lines that an applied fix adds already?  Then it may have the fix in
 * slightly other words, and the fix applies behind them once more.
 */
static bool is_here(const struct build *build)
{
	const struct patch *patch = &build->patches[0].patch;
	size_t added = 0;

	for (size_t i = 0; i < patch->nr_entries; i++) {
		const struct patch_entry *entry = &patch->entries[i];

		if (entry->change == PATCH_MODIFY &&
		    !has_added(changes_find(build->changes, entry->old_path), entry, &added))
			return false;
	}
	return added;
}

/*
 * The first refusal, if any, that does not just say that this kernel is compiled without a file of
 * its source.
 */
static const struct refusal *find_trouble(const struct build *build)
{
	for (size_t i = 0; i < build->refusals.count; i++) {
		const struct refusal *refusal = &build->refusals.list[i];
		_free_ char *source = xasprintf("%s/%s", build->tree, refusal->subject);

		if (!refusal->warning && !refusal->allowed &&
		    (strcmp(refusal->code, "not-in-kernel") || !file_exists(source)))
			return refusal;
	}
	return NULL;
}

/* Find the units of the C files of an applied fix. */
static struct error *find_parents(struct build *build, struct buffer *ret)
{
	struct patch *patch = &build->patches[0].patch;
	size_t all = patch->nr_entries;
	struct error *error = NULL;
	bool kept;

	build_forget(build);
	kept = keep_c_files(patch);
	if (kept) {
		error = apply_patches(build);
		if (!error)
			error = find_units(build);
	}
	patch->nr_entries = all;
	if (error && error->status == STATUS_FAILED)
		return error;
	error_destroy(error);
	if (kept && !build->nr_units && !find_trouble(build))
		buffer_printf(ret, "%c", NOT_BUILT);
	else
		buffer_printf(ret, "%c", APPLIES);
	add_parents(build, ret);
	return NULL;
}

static struct error *attempt_in(struct build *build, const struct attempt *attempt, struct buffer *ret)
{
	const struct refusal *trouble;
	struct error *error;

	error = read_patches(build);
	if (error) { /* also one that changes nothing */
		error->status = STATUS_FAILED;
		return error;
	}
	if (attempt->backwards)
		patch_reverse(&build->patches[0].patch);
	TRY(prepare_tree(build));
	error = apply_patches(build);
	if (error && error->status == STATUS_FAILED) {
		buffer_printf(ret, "%c%s", DIFFERS, error->text);
		error_destroy(error);
		return NULL;
	}
	trouble = find_trouble(build);
	if (trouble) {
		buffer_printf(ret, "%c%s: %s", DIFFERS, trouble->subject, trouble->text);
		error_destroy(error);
		return NULL;
	}
	/* STATUS_NOTHING: what it changes is in no unit of any kernel. */
	if (error || refusals_fatal(&build->refusals)) {
		error_destroy(error);
		buffer_printf(ret, "%c", NOT_BUILT);
		return NULL;
	}
	if (!attempt->backwards && is_here(build)) {
		buffer_printf(ret, "%cthe lines that the fix adds are there, among others", HERE);
		return NULL;
	}
	return find_parents(build, ret);
}

/* A worker_run. */
static struct error *run_attempt(void *data, size_t index, struct buffer *ret)
{
	const struct attempt *attempt = data;
	char *diff = (char *)attempt->diff;
	const struct build_options options = {
		.kernel = attempt->release,
		.name = "scan",
		.jobs = 1, /* so that no core is compiled meanwhile */
		.transition = TRANSITION_DEFAULT,
		.dry_run = true,
		.quiet = true,
		.patches = &diff,
		.nr_patches = 1,
	};
	struct build build = {.tree_lock = -1, .core_lock = -1, .kernel_lock = -1};
	struct error *error;

	(void)index;
	error = build_init(&build, &options);
	phase_begin(&build, "scan"); /* the phases count their steps in it */
	if (!error)
		error = attempt_in(&build, attempt, ret);
	build_deinit(&build);
	return error;
}

/*
 * Try one direction.  *ret is what the worker found.  Errors: what says nothing of the kernel, as
 * that the diff is none.
 */
static struct error *try_direction(const char *release, const char *diff, bool backwards,
				   struct buffer *ret)
{
	struct attempt attempt = {.release = release, .diff = diff, .backwards = backwards};
	struct worker *worker;

	TRY(worker_start(run_attempt, &attempt, &worker));
	return worker_finish(worker, ret);
}

/*
 * A fix that applies in both directions.  The end of what it adds may be the same as the lines
 * before that, as in "goto error; }": then it applies where it is already.  Lines that it adds are
 * there, so a fix that takes none away is there.
 */
static struct error *judge_both(const char *diff, struct scan_result *ret)
{
	_free_ char *text = NULL;
	struct patch patch;
	bool removes = false;
	size_t length;

	TRY(file_read(diff, &text, &length));
	TRY(patch_parse(diff, text, length, &patch));
	for (size_t i = 0; i < patch.nr_entries; i++)
		for (size_t j = 0; j < patch.entries[i].nr_hunks; j++)
			for (size_t k = 0; k < patch.entries[i].hunks[j].nr_lines; k++)
				removes |= patch.entries[i].hunks[j].lines[k].kind == '-';
	patch_deinit(&patch);
	if (removes)
		ret->why = xstrdup("the fix applies in both directions");
	else
		ret->state = SCAN_FIXED;
	return NULL;
}

/* Without the diff's name and line in front, which the user knows. */
static char *reason(const char *text)
{
	const char *hunk = strstr(text, ": hunk ");

	return xstrdup(hunk ? hunk + 2 : text);
}

struct error *scan_kernel(const char *release, const char *diff, struct scan_result *ret)
{
	struct buffer back = {}, forth = {};
	struct error *error;

	*ret = (struct scan_result){.state = SCAN_UNCLEAR};
	error = try_direction(release, diff, true, &back);
	if (!error)
		error = try_direction(release, diff, false, &forth);
	if (!error) {
		const char *found = back.text[0] == DIFFERS ? forth.text : back.text;

		if (back.text[0] == APPLIES && (forth.text[0] == APPLIES || forth.text[0] == HERE))
			error = judge_both(diff, ret);
		else if (found[0] == DIFFERS || found[0] == HERE)
			ret->why = reason(found + 1);
		else if (found[0] == NOT_BUILT)
			ret->state = SCAN_NOT_BUILT;
		else
			ret->state = found == back.text ? SCAN_FIXED : SCAN_AFFECTED;
		ret->parents = xstrdup(found[0] == APPLIES ? found + 1 : "");
	}
	buffer_deinit(&back);
	buffer_deinit(&forth);
	return error;
}

void scan_result_deinit(struct scan_result *result)
{
	free(result->parents);
	free(result->why);
	*result = (struct scan_result){};
}

const char *scan_state_name(enum scan_state state)
{
	static const char *const names[] = {
		[SCAN_FIXED] = "has it",
		[SCAN_AFFECTED] = "affected",
		[SCAN_NOT_BUILT] = "not built",
		[SCAN_UNCLEAR] = "unclear",
	};

	return names[state];
}
