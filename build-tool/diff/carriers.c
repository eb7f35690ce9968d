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
#include "diff/author.h"
#include "diff/select.h"

/* A place in the original that refers to a function without an entry. */
struct use {
	const struct atom *function;
	struct atom *from;
	const struct section *section; /* of the relocation */
	uint64_t offset; /* of the place from the function's start */
	bool call; /* a call or jump to its first instruction, not a use of its address */
	bool own;  /* the function itself refers to the place; only for overwrite.c */
};

struct carriers {
	struct selection *selection;
	VEC(struct use) uses; /* sorted by function, then by from */
	VEC(struct atom *) work; /* the carried functions, of patched */
	/* Both by index of the atom of orig. */
	bool *global; /* it has a global symbol */
	uint64_t *inner; /* the first symbol behind its start, as an offset; or 0 */
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
		bool own = atom_function(from) == function;
		if ((own && reference.atom != function) || function_has_entry(selection, function))
			continue;
		bool call = !own && section == from->section && section_is_text(section) &&
			    reference.atom == function && reference.target == function->start;
		if (call && !*kinds)
			*kinds = operand_kinds(selection->orig, from);
		/* "lea helper(%rip), %rdi" is no call; its relocation may be of the same type. */
		call = call && !is_part(selection->orig, &relocs[i]) &&
		       (*kinds)[relocs[i].offset - from->start] == OPERAND_DIRECT;
		*vec_push(&carriers->uses) = (struct use){
			.function = function, .from = from, .section = section,
			.offset = reference.atom == function ? reference.target - function->start
							     : UINT64_MAX,
			.call = call, .own = own};
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
	const char *advice = selection->carrying[function->index].overwrites.length
				     ? overwrite_advice(selection->options)
				     : NULL;

	refusals_add(selection->refusals, "no-entry",
		     select_location(selection, function->name), function->name,
		     "'%s' changed but has no patchable entry (inline, notrace or assembly), and "
		     "its callers cannot be replaced in its place: %s%s%s; %s",
		     function->name, why, subject ? " " : "", subject ?: "",
		     advice ?: "change code around it instead");
}

/*
 * A function with a global name or alias may have callers in any unit.  Code may jump to a name in
 * the middle of a function.
 */
static void find_names(struct carriers *carriers)
{
	const struct object *orig = carriers->selection->orig;

	carriers->global = xcalloc(orig->atoms.count, sizeof(*carriers->global));
	carriers->inner = xcalloc(orig->atoms.count, sizeof(*carriers->inner));
	for (size_t i = 1; i < orig->symbols.count; i++) {
		const struct symbol *symbol = orig->symbols.list[i];
		const struct atom *atom = symbol->atom;

		if (atom && symbol->bind != STB_LOCAL)
			carriers->global[atom->index] = true;
		/* Names without a type or a size name no thing. */
		if (!atom && symbol->section)
			atom = atom_at(symbol->section, symbol->value);
		if (!atom || symbol->value <= atom->start)
			continue;
		uint64_t *inner = &carriers->inner[atom->index];
		uint64_t offset = symbol->value - atom->start;
		if (!*inner || offset < *inner)
			*inner = offset;
	}
}

#define NO_PROBES "_kprobe_blacklist"

/* Tables through which the kernel never calls the functions in them, as of NOKPROBE_SYMBOL(). */
static bool is_name_table(const struct atom *from)
{
	return !strcmp(from->section->name, NO_PROBES) ||
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

/* The uses of a function of the original: [*ret_end) is behind the last. */
static size_t uses_of(const struct carriers *carriers, const struct atom *old, size_t *ret_end)
{
	size_t first = first_use(carriers, old), end = first;

	while (end < carriers->uses.count && carriers->uses.list[end].function == old)
		end++;
	*ret_end = end;
	return first;
}

/* Does the author want a caller left as it is? */
static bool is_left(const struct carriers *carriers, const struct atom *from)
{
	const struct atom *caller =
		from->class == ATOM_CODE ? atom_function((struct atom *)from)->twin : NULL;

	return caller && author_ignored(carriers->selection->author->patched_ignored, caller);
}

/*
 * Whenever the module of the unit is loaded, its init calls the old function, also while the patch
 * is enabled.
 */
static void warn_init_calls(struct selection *selection, const struct atom *function,
			    const struct atom *from)
{
	const struct diff_options *options = selection->options;

	if (!options->parent || options->parent == options->vmlinux)
		return;
	refusals_warn(selection->refusals, "init-inlined",
		      select_location(selection, function->name), function->name,
		      "'%s', which has no patchable entry, is called by '%s', which runs with the old "
		      "code whenever module %s is loaded",
		      function->name, from->name, options->parent->name);
}

/*
 * Has the function callers, or users of its address, that cannot all be replaced?  Not if only code
 * that has run uses it: then no call would come to a new one.
 */
static bool has_fixed_users(const struct carriers *carriers, const struct atom *old)
{
	size_t end;

	if (carriers->global[old->index])
		return true;
	for (size_t i = uses_of(carriers, old, &end); i < end; i++) {
		const struct use *use = &carriers->uses.list[i];

		if (use->own || is_name_table(use->from) || (use->call && has_run(use->from)))
			continue;
		if (!use->call || use->from->class != ATOM_CODE || is_left(carriers, use->from))
			return true;
	}
	return false;
}

/*
 * The smallest offset in the function to which anything leads but a call of its beginning, or a
 * pointer to that.  In a table of jumps, what looks like such a pointer is a place in the function.
 */
static uint64_t nearest_use(const struct carriers *carriers, const struct atom *old)
{
	uint64_t nearest = carriers->inner[old->index] ?: UINT64_MAX;
	const struct atom *beginning = NULL, *inside = NULL; /* data with such pointers */
	size_t end;

	for (size_t i = uses_of(carriers, old, &end); i < end; i++) {
		const struct use *use = &carriers->uses.list[i];

		if ((use->own || use->offset) && use->offset < nearest)
			nearest = use->offset;
		if (use->from->class == ATOM_CODE)
			continue;
		*(use->offset ? &inside : &beginning) = use->from;
		if (inside == beginning || !strcmp(use->from->section->name, NO_PROBES))
			return 0;
	}
	return nearest;
}

/*
 * Let the core overwrite the function's first instructions, if nothing but a call of its beginning
 * leads to them.
 */
static bool overwrite(struct carriers *carriers, struct atom *function)
{
	struct selection *selection = carriers->selection;
	struct carrying *carrying = &selection->carrying[function->index];

	carrying->overwrites = overwrite_judge(selection, function,
					       nearest_use(carriers, function->twin));
	carrying->carried = !carrying->overwrites.length || overwrite_advice(selection->options);
	return !carrying->carried;
}

static void carry_by_callers(struct carriers *carriers, struct atom *function)
{
	struct selection *selection = carriers->selection;
	size_t live = 0, over = 0;

	if (has_fixed_users(carriers, function->twin) && overwrite(carriers, function))
		return;

	if (carriers->global[function->twin->index]) {
		refuse_uncarried(selection, function, "it is global, and other units may call it",
				 NULL);
		return;
	}
	for (size_t i = first_use(carriers, function->twin);
	     i < carriers->uses.count && carriers->uses.list[i].function == function->twin; i++) {
		const struct use *use = &carriers->uses.list[i];
		struct atom *from = use->from;

		if (use->own || is_name_table(from) ||
		    (live && use[-1].function == use->function && !use_order(use - 1, use)))
			continue; /* handled with an equal use before */
		if (use->call && has_run(from)) {
			if (!over++)
				warn_init_calls(selection, function, from);
			continue;
		}
		live++;
		if (!use->call)
			refuse_uncarried(selection, function, "its address is in", from->name);
		else if (from->class != ATOM_CODE)
			refuse_uncarried(selection, function, "a caller cannot be replaced,",
					 from->name);
		else if (is_left(carriers, from))
			refuse_uncarried(selection, function, "the diff leaves a caller as it is,",
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
	find_names(&carriers);
	for (size_t i = 0; i < carriers.work.count; i++)
		carry_by_callers(&carriers, carriers.work.list[i]);
	for (size_t i = 0; i < carriers.work.count; i++)
		sort_carriers(&selection->carrying[carriers.work.list[i]->index]);
	free(carriers.global);
	free(carriers.inner);
	vec_deinit(&carriers.uses);
	vec_deinit(&carriers.work);
}
