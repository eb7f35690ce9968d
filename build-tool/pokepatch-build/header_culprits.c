// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which of the changed headers change what cannot be patched.  Each header is put back as it was,
 * and what it may change is preprocessed again: if the text differs from that with all changes, the
 * header is one of those to leave out.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"
#include "pokepatch-build/header_search.h"
#include "pokepatch-build/shadow_tree.h"

/* The kinds that are refused if they would change, with the codes that patches.c has for them. */
static const struct refused_kind {
	enum kind kind;
	const char *code, *what;
} refused_kinds[] = {
	{KIND_ASSEMBLY, "assembly-changed", "assembly, which cannot be live-patched"},
	{KIND_CONSTANTS, "assembly-changed",
	 "a file that makes constants for assembly, which cannot be live-patched"},
	{KIND_VDSO, "vdso-changed",
	 "a file of the vDSO, which is mapped into every process and cannot be live-patched"},
};

/* A user that changes and cannot be patched. */
struct victim {
	const struct user *user;
	struct text text; /* with all changes */
	struct string_set files; /* the changed ones that it includes */
	bool explained;   /* a header is known that changes it */
};

struct victims {
	VEC(struct victim) list;
};

/*
 * Preprocess the victims that include a file, or all if that is NULL; texts[i] is victim i's.
 * @markers: have line markers in it, and not the constants that count (KIND_CONSTANTS)
 */
static struct error *preprocess(const struct search *search, const struct victims *victims,
				const char *file, bool markers, struct text *texts)
{
	size_t count = victims->list.count, nr_commands = 0;
	_free_ struct proc_command *commands = xcalloc(count, sizeof(*commands));
	_free_ struct proc_result *results = xcalloc(count, sizeof(*results));
	_free_ struct args *words = xcalloc(count, sizeof(*words));
	_free_ size_t *places = xcalloc(count, sizeof(*places));
	struct error *error;

	for (size_t i = 0; i < count; i++) {
		struct user user = *victims->list.list[i].user;

		if (file && !string_set_has(&victims->list.list[i].files, file))
			continue;
		if (markers && user.kind == KIND_CONSTANTS)
			user.kind = KIND_UNIT;
		search_add_command(search, &user, i, SIDE_PATCHED, &words[nr_commands]);
		commands[nr_commands].argv = (const char *const *)words[nr_commands].list;
		commands[nr_commands].options.dir = search->build->shadow->folder;
		places[nr_commands++] = i;
	}
	error = proc_run_all(commands, nr_commands, search->build->options.jobs, results);
	for (size_t i = 0; i < nr_commands; i++) {
		_free_ char *path = search_text_path(search, places[i], SIDE_PATCHED);

		if (!error && !results[i].status)
			error = file_read(path, &texts[places[i]].text, &texts[places[i]].length);
		unlink(path);
		proc_result_deinit(&results[i]);
		args_deinit(&words[i]);
	}
	return error;
}

void search_find_files(const struct search *search, const struct text *text,
		       struct string_set *ret)
{
	const char *at = text->text, *marker;
	size_t length;

	while ((marker = search_next_marker(&at, &length))) {
		_free_ char *way = xstrndup(marker, length);
		_free_ char *path = path_normalise(way);
		const struct changed_file *file =
			path ? changes_find(search->build->changes, path) : NULL;

		if (file)
			string_set_add(ret, file->path);
	}
}

static void refuse(struct search *search, const struct refused_kind *kind, const char *header,
		   const struct user *first, size_t others)
{
	_free_ char *more = others ? xasprintf(" and %zu more", others) : xstrdup("");

	refusals_add(&search->build->refusals, kind->code, header, header, "it changes %s%s: %s",
		     first->source, more, kind->what);
}

/* Refuse a header for those victims that it changes. */
static void refuse_for(struct search *search, struct victims *victims, const char *header,
		       const bool *changed)
{
	for (size_t k = 0; k < ARRAY_SIZE(refused_kinds); k++) {
		const struct user *first = NULL;
		size_t others = 0;

		for (size_t i = 0; i < victims->list.count; i++) {
			struct victim *victim = &victims->list.list[i];

			if (victim->user->kind != refused_kinds[k].kind || !changed[i])
				continue;
			victim->explained = true;
			others += first != NULL;
			first = first ?: victim->user;
		}
		if (first)
			refuse(search, &refused_kinds[k], header, first, others);
	}
}

/* Refuse what does not even go through the preprocessor with the change. */
static void refuse_rest(struct search *search, const struct victims *victims)
{
	for (size_t i = 0; i < victims->list.count; i++) {
		const struct user *user = victims->list.list[i].user;

		if (victims->list.list[i].explained)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(refused_kinds); k++)
			if (refused_kinds[k].kind == user->kind)
				refusals_add(&search->build->refusals, refused_kinds[k].code,
					     user->source, user->source,
					     "changed headers change this file: %s",
					     refused_kinds[k].what);
	}
}

/* Try what is left of the change without a header. */
static struct error *try_without(struct search *search, struct victims *victims,
				 const struct changed_file *file)
{
	size_t count = victims->list.count;
	_free_ struct text *texts = xcalloc(count, sizeof(*texts));
	_free_ bool *changed = xcalloc(count, sizeof(*changed));
	struct error *error = build_put_original(search->build, file);

	if (!error)
		error = preprocess(search, victims, file->path, false, texts);
	for (size_t i = 0; i < count; i++) {
		const struct victim *victim = &victims->list.list[i];
		const struct text both[SIDES] = {texts[i], victim->text};

		/* If the rest does not go without the header, it belongs to it. */
		changed[i] = string_set_has(&victim->files, file->path) &&
			     (!texts[i].text || search_texts_differ(victim->user, both));
		free(texts[i].text);
	}
	if (!error)
		refuse_for(search, victims, file->path, changed);
	return error;
}

static bool is_included(const struct victims *victims, const struct changed_file *file)
{
	for (size_t i = 0; i < victims->list.count; i++)
		if (string_set_has(&victims->list.list[i].files, file->path))
			return true;
	return false;
}

/* Preprocess the victims with all changes, and note what they include. */
static struct error *read_victims(const struct search *search, struct victims *victims)
{
	size_t count = victims->list.count;
	_free_ struct text *texts = xcalloc(count, sizeof(*texts));
	struct error *error = preprocess(search, victims, NULL, true, texts);

	for (size_t i = 0; i < count; i++) {
		search_find_files(search, &texts[i], &victims->list.list[i].files);
		free(take_pointer(texts[i].text));
	}
	if (!error)
		error = preprocess(search, victims, NULL, false, texts);
	for (size_t i = 0; i < count; i++)
		victims->list.list[i].text = texts[i];
	return error;
}

/* Refuse all headers that victims include for which no single one was found. */
static void refuse_together(struct search *search, struct victims *victims)
{
	const struct changes *changes = search->build->changes;
	size_t count = victims->list.count;
	_free_ bool *left = xcalloc(count, sizeof(*left));
	_free_ bool *changed = xcalloc(count, sizeof(*changed));

	for (size_t i = 0; i < count; i++)
		left[i] = !victims->list.list[i].explained;
	for (size_t i = 0; i < changes->files.count; i++) {
		const struct changed_file *file = &changes->files.list[i];

		for (size_t j = 0; j < count; j++)
			changed[j] = left[j] &&
				     string_set_has(&victims->list.list[j].files, file->path);
		if (changed_is_header(file))
			refuse_for(search, victims, file->path, changed);
	}
}

static struct error *find_culprits(struct search *search, struct victims *victims)
{
	struct changes *changes = search->build->changes;

	TRY(read_victims(search, victims));
	for (size_t i = 0; i < changes->files.count; i++) {
		struct changed_file *file = &changes->files.list[i];

		if (!changed_is_header(file) || !is_included(victims, file))
			continue;
		TRY(try_without(search, victims, file));
		TRY(build_put_changed(search->build, file));
	}
	refuse_together(search, victims);
	refuse_rest(search, victims);
	return NULL;
}

struct error *search_refuse(struct search *search)
{
	struct victims victims = {};
	struct error *error = NULL;

	for (size_t i = 0; i < search->users.count; i++) {
		const struct user *user = &search->users.list[i];

		if (user->kind != KIND_UNIT && user->verdict.differs)
			*vec_push(&victims.list) = (struct victim){.user = user};
	}
	if (victims.list.count)
		error = find_culprits(search, &victims);
	for (size_t i = 0; i < victims.list.count; i++) {
		free(victims.list.list[i].text.text);
		string_set_deinit(&victims.list.list[i].files);
	}
	vec_deinit(&victims.list);
	return error;
}
