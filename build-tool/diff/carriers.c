// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the carriers of changed functions without a patchable entry.
 *
 * The kernel's "inline" includes notrace, so a helper that the compiler kept out of line has no
 * patchable entry.  An example is __do_sys_newuname(), to which __x64_sys_newuname() and
 * __ia32_sys_newuname() jump.  The core cannot reroute calls of such a helper.  But if all its
 * callers are replaced, their new copies can call the helper's new copy.
 */
#include "diff/carriers.h"

#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "diff/select.h"

/* A place in the original that refers to a function without an entry. */
struct use {
	const struct atom *function;
	struct atom *from;
	const struct section *section; /* of the relocation */
	bool call; /* a call or jump to its first instruction, not a use of its address */
};

struct carriers {
	struct selection *selection;
	VEC(struct use) uses; /* sorted by function, then by from */
	VEC(struct atom *) work; /* the carried functions, of patched */
	bool *global; /* by index of the atom of orig: it has a global symbol */
};

bool function_has_entry(const struct selection *selection, const struct atom *old)
{
	return selection->orig->arch->entries.find(selection->orig, old) >= 0;
}

/* ---- uses of functions without an entry ------------------------------------------- */

/* How each field of a function's code uses an address (OPERAND_*), by offset; to be freed. */
static uint8_t *operand_kinds(struct object *object, const struct atom *from)
{
	uint8_t *kinds = xcalloc(from->end - from->start, sizeof(*kinds));

	object->arch->code.operand_kinds(object, from->section, from->start, from->end, kinds);
	return kinds;
}

/* "adrp x0, helper" has a part of an address; "add x0, x0, :lo12:helper" completes it. */
static bool is_part(const struct object *object, const struct reloc *reloc)
{
	const struct reloc_kind *kind = arch_reloc(object->arch, reloc->type);

	return kind && !kind->branch && (kind->mask || kind->size < 4);
}

static void note_uses(struct carriers *carriers, struct atom *from, const struct section *section,
		      const struct reloc *relocs, size_t count, uint8_t **kinds)
{
	struct selection *selection = carriers->selection;

	for (size_t i = 0; i < count; i++) {
		struct reference reference =
			reloc_reference(selection->orig, section, &relocs[i]);

		if (!reference.atom || reference.atom->class != ATOM_CODE)
			continue;
		struct atom *function = atom_function(reference.atom);
		if (atom_function(from) == function || function_has_entry(selection, function))
			continue;
		bool call = section == from->section && section_is_text(section) &&
			    reference.atom == function && reference.target == function->start;
		if (call && !*kinds)
			*kinds = operand_kinds(selection->orig, from);
		/* "lea helper(%rip), %rdi" is no call; its relocation may be of the same type. */
		call = call && !is_part(selection->orig, &relocs[i]) &&
		       (*kinds)[relocs[i].offset - from->start] == OPERAND_DIRECT;
		*vec_push(&carriers->uses) = (struct use){
			.function = function, .from = from, .section = section, .call = call};
	}
}

static int use_order(const void *left, const void *right)
{
	const struct use *a = left, *b = right;
	size_t x = a->function->index, y = b->function->index;

	if (x == y) {
		x = a->from->index;
		y = b->from->index;
	}
	return x != y ? (x < y ? -1 : 1) : a->call - b->call;
}

static void find_uses(struct carriers *carriers)
{
	struct object *orig = carriers->selection->orig;

	for (size_t i = 0; i < orig->atoms.count; i++) {
		struct atom *atom = orig->atoms.list[i];
		uint8_t *kinds _free_ = NULL;

		note_uses(carriers, atom, atom->section, atom->relocs, atom->reloc_count, &kinds);
		for (size_t j = 0; j < atom->short_branches.count; j++)
			note_uses(carriers, atom, atom->section,
				  &atom->short_branches.list[j].reloc, 1, &kinds);
		for (size_t j = 0; j < atom->entries.count; j++) {
			const struct entry *entry = &atom->entries.list[j];
			size_t count;
			struct reloc *relocs =
				section_relocs(entry->section, entry->start,
					       entry->start + entry->size, &count);

			note_uses(carriers, atom, entry->section, relocs, count, &kinds);
		}
	}
	if (carriers->uses.count)
		qsort(carriers->uses.list, carriers->uses.count, sizeof(struct use), use_order);
}

static size_t first_use(const struct carriers *carriers, const struct atom *function)
{
	return first_index(i, carriers->uses.count,
			   carriers->uses.list[i].function->index >= function->index);
}

/* ---- carriers ---------------------------------------------------------------------------- */

static void refuse_uncarried(struct selection *selection, const struct atom *function,
			     const char *why, const char *subject)
{
	refusals_add(selection->refusals, "no-entry",
		     select_location(selection, function->name), function->name,
		     "'%s' changed but has no patchable entry (inline, notrace or assembly), and "
		     "its callers cannot be replaced in its place: %s%s%s; change code around it "
		     "instead",
		     function->name, why, subject ? " " : "", subject ?: "");
}

/* A function with a global name or alias may have callers in any unit. */
static void find_global(struct carriers *carriers)
{
	const struct object *orig = carriers->selection->orig;

	carriers->global = xcalloc(orig->atoms.count, sizeof(*carriers->global));
	for (size_t i = 1; i < orig->symbols.count; i++) {
		const struct symbol *symbol = orig->symbols.list[i];

		if (symbol->atom && symbol->bind != STB_LOCAL)
			carriers->global[symbol->atom->index] = true;
	}
}

/* Tables through which the kernel never calls the functions in them, as of NOKPROBE_SYMBOL(). */
static bool is_name_table(const struct atom *from)
{
	return !strcmp(from->section->name, "_kprobe_blacklist") ||
	       !strcmp(from->section->name, "_error_injection_whitelist");
}

static void add_work(struct carriers *carriers, struct atom *function)
{
	struct carrying *carrying = &carriers->selection->carrying[function->index];

	if (carrying->carried)
		return;
	carrying->carried = true;
	*vec_push(&carriers->work) = function;
}

/* Mark a caller as changed.  If it has no entry, it is a carried function itself. */
static void add_carrier(struct carriers *carriers, struct atom *callee, struct atom *old_caller)
{
	struct selection *selection = carriers->selection;
	struct atom *caller = old_caller->twin;

	*vec_push(&selection->carrying[callee->index].carriers) = caller;
	if (!function_has_entry(selection, old_caller))
		add_work(carriers, caller);
	if (!atom_changed(&selection->pairing, caller))
		selection->carrying[caller->index].only_carries = true;
	atom_set_state(&selection->pairing, caller, STATE_CHANGED);
	if (caller->cold)
		atom_set_state(&selection->pairing, caller->cold, STATE_CHANGED);
}

/* Whether it is code that runs at boot or module load only, and so has run already. */
static bool has_run(const struct atom *from)
{
	return from->class == ATOM_INIT && !has_prefix(from->section->name, ".exit") &&
	       section_is_text(from->section);
}

static void carry_by_callers(struct carriers *carriers, struct atom *function)
{
	struct selection *selection = carriers->selection;
	size_t live = 0, over = 0;

	if (carriers->global[function->twin->index]) {
		refuse_uncarried(selection, function, "it is global, and other units may call it",
				 NULL);
		return;
	}
	for (size_t i = first_use(carriers, function->twin);
	     i < carriers->uses.count && carriers->uses.list[i].function == function->twin; i++) {
		const struct use *use = &carriers->uses.list[i];
		struct atom *from = use->from;

		if (is_name_table(from) ||
		    (live && use[-1].function == use->function && !use_order(use - 1, use)))
			continue; /* handled with an equal use before */
		if (use->call && has_run(from)) {
			over++;
			continue;
		}
		live++;
		if (!use->call)
			refuse_uncarried(selection, function, "its address is in", from->name);
		else if (from->class != ATOM_CODE)
			refuse_uncarried(selection, function, "a caller cannot be replaced,",
					 from->name);
		else if (atom_function(from)->twin)
			add_carrier(carriers, function, atom_function(from));
		/* Else the caller is gone from the patched object, and no new code calls it. */
	}
	if (!live)
		refuse_uncarried(selection, function,
				 over ? "only code that ran when the kernel or module started "
					"calls it"
				      : "nothing in this unit calls it",
				 NULL);
}

static int by_atom_name(const void *left, const void *right)
{
	const struct atom *a = *(struct atom *const *)left, *b = *(struct atom *const *)right;

	return strcmp(a->name, b->name);
}

/* Sort the carriers by name, and drop duplicates. */
static void sort_carriers(struct carrying *carrying)
{
	struct atom **list = carrying->carriers.list;
	size_t kept = 0, count = carrying->carriers.count;

	if (!count)
		return;
	qsort(list, count, sizeof(*list), by_atom_name);
	for (size_t i = 1; i < count; i++)
		if (list[i] != list[kept])
			list[++kept] = list[i];
	carrying->carriers.count = kept + 1;
}

void carriers_find(struct selection *selection)
{
	struct carriers carriers = {.selection = selection};
	struct object *patched = selection->patched;

	for (size_t i = 0; i < patched->atoms.count; i++) {
		struct atom *atom = patched->atoms.list[i];

		if (atom->class == ATOM_CODE && !atom->parent && atom->twin &&
		    atom_changed(&selection->pairing, atom) &&
		    !function_has_entry(selection, atom->twin))
			add_work(&carriers, atom);
	}
	if (!carriers.work.count)
		return;
	find_uses(&carriers);
	find_global(&carriers);
	for (size_t i = 0; i < carriers.work.count; i++)
		carry_by_callers(&carriers, carriers.work.list[i]);
	for (size_t i = 0; i < carriers.work.count; i++)
		sort_carriers(&selection->carrying[carriers.work.list[i]->index]);
	free(carriers.global);
	vec_deinit(&carriers.uses);
	vec_deinit(&carriers.work);
}
