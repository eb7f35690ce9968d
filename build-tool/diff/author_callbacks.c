// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads which functions of the patched object are callbacks, and of which kind. */
#include "diff/author_callbacks.h"

#include <string.h>

static const char *const kind_names[POKEPATCH_CALLBACK_KINDS] = {
	[POKEPATCH_CALLBACK_PRE_PATCH] = "pre-patch",
	[POKEPATCH_CALLBACK_POST_PATCH] = "post-patch",
	[POKEPATCH_CALLBACK_PRE_UNPATCH] = "pre-unpatch",
	[POKEPATCH_CALLBACK_POST_UNPATCH] = "post-unpatch",
};

const char *diff_callback_name(uint32_t kind)
{
	return kind < ARRAY_SIZE(kind_names) ? kind_names[kind] : "unknown";
}

/* Whether a reference is to the entry of a function that only the patch has. */
static bool is_new_entry(const struct reference *reference)
{
	const struct atom *atom = reference->atom;

	return atom && atom->class == ATOM_CODE && !atom->parent && !atom->twin &&
	       !atom->ambiguous && !reference->addend;
}

static void add_note(struct selection *selection, const struct reference *reference, uint32_t kind)
{
	const char *name = reference->atom ? reference->atom->name : reference->symbol->name;

	if (!is_new_entry(reference)) {
		refusals_add(selection->refusals, "callback-not-new",
			     select_location(selection, name), name,
			     "'%s' is named as %s callback, and is no new function of this file; "
			     "give the callback a function of its own",
			     name, kind_names[kind]);
		return;
	}
	for (size_t i = 0; i < selection->callbacks.count; i++) {
		const struct callback *other = &selection->callbacks.list[i];

		if (other->kind != kind)
			continue;
		refusals_add(selection->refusals, "callback-twice",
			     select_location(selection, name), name,
			     "'%s' would be a second %s callback, beside '%s'; an object has one: "
			     "call both from it",
			     name, kind_names[kind], other->atom->name);
		return;
	}
	*vec_push(&selection->callbacks) =
		(struct callback){.atom = reference->atom, .kind = kind};
}

void callbacks_select(struct selection *selection)
{
	struct object *object = selection->patched;
	struct section *notes = object_find_section(object, POKEPATCH_SECTION_CALLBACK_NOTES);
	/* struct pokepatch_callback_note of pokepatch_patch.h: a pointer and a long */
	const uint64_t kind_at = arch_address_size(object->arch), size = 2 * kind_at;

	for (uint64_t at = 0; notes && notes->data && at < notes->size; at += size) {
		bool whole = notes->size - at >= size;
		uint64_t kind = whole ? object_get_long(object, notes->data + at + kind_at) : 0;
		size_t count;
		struct reloc *reloc = section_relocs(notes, at, at + size, &count);

		if (!whole || count != 1 || reloc->offset != at ||
		    reloc->type != object->arch->relocs.address || kind >= ARRAY_SIZE(kind_names)) {
			refusals_add(selection->refusals, "note-unknown", selection->options->unit,
				     notes->name,
				     "the source names a callback in a way that this version does "
				     "not know; use the macros of its own pokepatch_patch.h");
			return;
		}
		struct reference reference = reloc_reference(object, notes, reloc);
		add_note(selection, &reference, kind);
	}
}
