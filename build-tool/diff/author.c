// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the author's notes, and keeps the changes that they name out of the comparison. */
#include "diff/author.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[AUTHOR_KINDS] = {
	[AUTHOR_FUNCTION] = "ignore-function",
	[AUTHOR_SECTION_NAME] = "ignore-section",
};

/* ---- reading ---------------------------------------------------------------------- */

static void refuse_note(struct selection *selection, const char *text, const char *why)
{
	refusals_add(selection->refusals, "note-unknown", selection->options->unit, text,
		     "the source says '%s': %s", text, why);
}

/*
 * Macros of kpatch that pokepatch has no meaning for, from kpatch-macros.h: "MACRO FILE:LINE
 * FUNCTION".  Without KPATCH_FORCE_UNSAFE the patch is as safe as any other, so that is a warning.
 */
static const struct kpatch_macro {
	const char *name;
	const char *code; /* of the warning; NULL: it is refused */
	const char *text; /* what pokepatch does, and what to do */
} kpatch_macros[] = {
	{ "KPATCH_FORCE_UNSAFE", "force-ignored",
	  "is not followed: pokepatch does not switch a function while tasks are in it; if some "
	  "always are, use 'pokepatch enable --evict' or build with --transition live" },
	{ "KPATCH_LOAD_HOOK", NULL,
	  "would run while all CPUs are stopped, when pokepatch calls nothing; use "
	  "KPATCH_PRE_PATCH_CALLBACK or KPATCH_POST_PATCH_CALLBACK" },
	{ "KPATCH_UNLOAD_HOOK", NULL,
	  "would run while all CPUs are stopped, when pokepatch calls nothing; use "
	  "KPATCH_PRE_UNPATCH_CALLBACK or KPATCH_POST_UNPATCH_CALLBACK" },
};

static void read_kpatch_note(struct selection *selection, const char *text)
{
	char *copy _free_ = xstrdup(text), *rest = copy;
	const char *name = strsep(&rest, " "), *place = strsep(&rest, " ");

	for (size_t i = 0; rest && i < ARRAY_SIZE(kpatch_macros); i++) {
		const struct kpatch_macro *macro = &kpatch_macros[i];

		if (strcmp(macro->name, name))
			continue;
		if (macro->code)
			refusals_warn(selection->refusals, macro->code, place, rest, "%s(%s) %s",
				      name, rest, macro->text);
		else
			refusals_add(selection->refusals, "note-unknown", place, rest, "%s(%s) %s",
				     name, rest, macro->text);
		return;
	}
	refuse_note(selection, text,
		    "this version does not know it; use the macros of its own kpatch-macros.h");
}

static void read_note(struct author *author, struct selection *selection, const char *text)
{
	const char *space = strchr(text, ' ');

	if (has_prefix(text, "allow ")) {
		struct error *error = refusals_allow(selection->refusals, space + 1);

		if (error)
			refuse_note(selection, text, error->text);
		error_destroy(error);
		return;
	}
	if (has_prefix(text, "kpatch ")) {
		read_kpatch_note(selection, space + 1);
		return;
	}
	for (size_t i = 0; space && i < ARRAY_SIZE(words); i++) {
		if (strlen(words[i]) != (size_t)(space - text) || !has_prefix(text, words[i]))
			continue;
		char *copy = *vec_push(&author->texts) = xstrdup(space + 1);
		void **slot = map_slot(&author->by_subject[i], copy);
		if (*slot)
			return; /* the same note twice */
		*vec_push(&author->notes) = (struct author_note){.kind = i, .subject = copy};
		*slot = (void *)author->notes.count;
		return;
	}
	refuse_note(selection, text,
		    "this version does not know it; use the macros of its own pokepatch_patch.h");
}

void author_read(struct author *author, struct selection *selection)
{
	const struct section *section = object_find_section(selection->patched, AUTHOR_SECTION);

	author->allowed_before = selection->refusals->nr_allowances;
	for (uint64_t at = 0; section && section->data && at < section->size;) {
		const char *text = (const char *)section->data + at;
		size_t length = strnlen(text, section->size - at);
		char *copy _free_ = xstrndup(text, length);

		read_note(author, selection, copy);
		at += length + 1;
	}
}

/* ---- ignoring ----------------------------------------------------------------------- */

static struct author_note *find_note(struct author *author, enum author_kind kind,
				     const char *subject)
{
	size_t number = (size_t)map_get(&author->by_subject[kind], subject);

	return number ? &author->notes.list[number - 1] : NULL;
}

static const struct section_rule ignored_rule = {.name = "ignored", .policy = SECTION_DROP};

static void drop_sections(struct author *author, struct object *object)
{
	struct section_rules rules;

	section_rules_init(&rules, object->arch);
	for (size_t i = 1; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];
		struct author_note *note = find_note(author, AUTHOR_SECTION_NAME, section->name);

		if (!note || section_rule_find(&rules, section->name))
			continue;
		section->rule = &ignored_rule;
		note->used = true;
	}
	section_rules_deinit(&rules);
}

void author_drop_sections(struct author *author, struct selection *selection)
{
	if (!author->notes.count)
		return;
	drop_sections(author, selection->orig);
	drop_sections(author, selection->patched);
}

static void ignore_atom(struct author *author, struct pairing *pairing, struct atom *atom,
			bool *ignored)
{
	/* Not atom->class: __init functions are ATOM_INIT. */
	struct author_note *note =
		section_is_text(atom->section)
			? find_note(author, AUTHOR_FUNCTION, atom_function(atom)->name)
			: find_note(author, AUTHOR_SECTION_NAME, atom->section->name);

	if (!note || (atom->twin && !atom_changed(pairing, atom)))
		return;
	if (atom->class == ATOM_CODE && !atom->twin)
		return; /* a new function has no old one to keep */
	note->used = true;
	ignored[atom->index] = true;
	if (atom->twin)
		atom_set_state(pairing, atom, STATE_SAME);
}

void author_ignore(struct author *author, struct selection *selection)
{
	const struct object *orig = selection->orig, *patched = selection->patched;

	if (!author->notes.count)
		return;
	author->orig_ignored = xcalloc(orig->atoms.count, sizeof(bool));
	author->patched_ignored = xcalloc(patched->atoms.count, sizeof(bool));
	for (size_t i = 0; i < patched->atoms.count; i++)
		ignore_atom(author, &selection->pairing, patched->atoms.list[i],
			    author->patched_ignored);
	for (size_t i = 0; i < orig->atoms.count; i++)
		if (!orig->atoms.list[i]->twin)
			ignore_atom(author, &selection->pairing, orig->atoms.list[i],
				    author->orig_ignored);
}

void author_finish(struct author *author, struct selection *selection)
{
	const char *unit = selection->options->unit;

	for (size_t i = 0; i < author->notes.count; i++) {
		const struct author_note *note = &author->notes.list[i];

		if (!note->used)
			refusals_warn(selection->refusals, "allow-unused", unit, note->subject,
				      "'%s %s' in the source has nothing to ignore",
				      words[note->kind], note->subject);
	}
	refusals_disallow(selection->refusals, author->allowed_before, unit);
	for (size_t i = 0; i < author->texts.count; i++)
		free(author->texts.list[i]);
	for (size_t i = 0; i < AUTHOR_KINDS; i++)
		map_deinit(&author->by_subject[i]);
	free(author->orig_ignored);
	free(author->patched_ignored);
	vec_deinit(&author->texts);
	vec_deinit(&author->notes);
}
