// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Refuses changes of types that are not safe, by what build-tool/types/ finds.
 *
 * All types of the unit count, and not only those of the variables of included functions: what code
 * reaches by a cast or by container_of() is the type of no variable.
 */
#include "diff/judge_types.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "object/debuginfo.h"
#include "types/type_instances.h"

/* ---- one line about a member -------------------------------------------------------- */

static void say_offset(struct buffer *text, const struct type_member *member, uint64_t offset)
{
	if (member->bit_field)
		buffer_printf(text, "bit %" PRIu64, offset);
	else
		buffer_printf(text, "offset %" PRIu64, offset / 8);
}

static void say_moved(struct buffer *text, const struct type_member *member)
{
	buffer_printf(text, "member '%s' moves from ", member->name);
	say_offset(text, member, member->old_offset);
	buffer_add_string(text, " to ");
	if (member->bit_field)
		say_offset(text, member, member->new_offset);
	else
		buffer_printf(text, "%" PRIu64, member->new_offset / 8);
}

static void say_resized(struct buffer *text, const struct type_member *member)
{
	buffer_printf(text, "member '%s' has %" PRIu64 " %s instead of %" PRIu64, member->name,
		      member->bit_field ? member->new_size : member->new_size / 8,
		      member->bit_field ? "bits" : "bytes",
		      member->bit_field ? member->old_size : member->old_size / 8);
}

static void say_enumerator(struct buffer *text, const struct type_member *member)
{
	if (member->change == MEMBER_RENUMBERED)
		buffer_printf(text, "enumerator '%s' changes from %" PRId64 " to %" PRId64,
			      member->name, member->old_value, member->new_value);
	else
		buffer_printf(text, "enumerator '%s' (%" PRId64 ") is gone", member->name,
			      member->old_value);
}

static void say_member(struct buffer *text, const struct type_member *member)
{
	if (member_is_enumerator(member)) {
		say_enumerator(text, member);
		return;
	}
	switch (member->change) {
	case MEMBER_MOVED:
		say_moved(text, member);
		break;
	case MEMBER_RESIZED:
		say_resized(text, member);
		break;
	case MEMBER_NEW:
	case MEMBER_SHARED:
		buffer_printf(text, "member '%s' is new at ", member->name);
		say_offset(text, member, member->new_offset);
		if (member->change == MEMBER_SHARED)
			buffer_add_string(text, ", in bytes that others have");
		break;
	case MEMBER_REMOVED:
		buffer_printf(text, "member '%s' is gone", member->name);
		break;
	default:
		buffer_printf(text, "member '%s' changes from '%s' to '%s'", member->name,
			      member->old_type, member->new_type);
	}
}

/* What happens to a parameter ("#2") or the result ("return") of a function. */
static void say_parameter(struct buffer *text, const struct type_member *member)
{
	bool result = !strcmp(member->name, "return");

	buffer_printf(text, "%s%s ", result ? "the result" : "parameter ",
		      result ? "" : member->name + 1);
	if (member->was && member->is)
		buffer_printf(text, "changes from '%s' to '%s'", member->old_type,
			      member->new_type);
	else
		buffer_printf(text, "('%s') is %s",
			      member->was ? member->old_type : member->new_type,
			      member->was ? "gone" : "new");
}

/* The first member that is misread, of those that changed in the way that tells most. */
static const struct type_member *worst_member(const struct type_change *change)
{
	const struct type_member *worst = NULL;

	for (size_t i = 0; i < change->members.count; i++) {
		const struct type_member *member = &change->members.list[i];

		if (!member->harmless && (!worst || member->change < worst->change))
			worst = member;
	}
	return worst;
}

/* Why members move: one is new, gone or of another size. */
static void say_cause(struct buffer *text, const struct type_change *change)
{
	static const char *const causes[] = {
		[MEMBER_NEW] = "is new",
		[MEMBER_SHARED] = "is new", /* where the one that moves was */
		[MEMBER_REMOVED] = "is gone",
		[MEMBER_RESIZED] = "has another size",
	};

	for (size_t i = 0; i < change->members.count; i++) {
		const struct type_member *member = &change->members.list[i];

		if (member->change >= ARRAY_SIZE(causes) || !causes[member->change])
			continue;
		buffer_printf(text, " ('%s' %s)", member->name, causes[member->change]);
		return;
	}
}

/* ---- refusing -------------------------------------------------------------------------- */

static void refuse_type(struct selection *selection, const struct type_change *change)
{
	static const char *const advice[] = {
		[TYPE_STRUCT] = "objects that exist have the old layout: keep the layout and use "
				"shadow variables (man 7 pokepatch_patch)",
		[TYPE_UNION] = "objects that exist have the old layout: keep the layout and use "
			       "shadow variables (man 7 pokepatch_patch)",
		[TYPE_ENUM] = "objects that exist hold the old values: give new enumerators values "
			      "of their own",
		[TYPE_VARIABLE] = "what it holds was written as the old type: use a new variable",
	};
	const struct type_member *member = worst_member(change);
	struct buffer text = {0};

	if (change->kind == TYPE_VARIABLE && member && member->old_type &&
	    !strcmp(member->name, change->name))
		buffer_printf(&text, "its type changes from '%s' to '%s'", member->old_type,
			      member->new_type);
	else if (member)
		say_member(&text, member);
	else if (change->old_size != change->new_size)
		buffer_printf(&text, "it has %" PRIu64 " bytes instead of %" PRIu64,
			      change->new_size, change->old_size);
	else
		buffer_printf(&text, "it was no %s", type_kind_name(change->kind));
	if (member && member->change == MEMBER_MOVED)
		say_cause(&text, change);
	refusals_add(selection->refusals, "type-changed",
		     change->location ?: selection->options->unit, change->name,
		     "%s %s: %s; %s, or --allow type-changed:%s", type_kind_name(change->kind),
		     change->name, text.text, advice[change->kind], change->name);
	buffer_deinit(&text);
}

/* Of another name with the same type in the same place, only the author knows if it is the same. */
static void warn_of_renamed(struct selection *selection, const struct type_change *change)
{
	for (size_t i = 0; i < change->members.count; i++) {
		const struct type_member *member = &change->members.list[i];

		if (member->change == MEMBER_RENAMED)
			refusals_warn(selection->refusals, "type-changed",
				      change->location ?: selection->options->unit, change->name,
				      "%s %s: '%s' has the place of '%s': objects that exist hold "
				      "the old value there",
				      type_kind_name(change->kind), change->name, member->name,
				      member->old_name);
	}
}

/* ---- who uses a function ------------------------------------------------------------------- */

/* Whether an atom holds or passes on the address of a function, and does not only call it. */
static bool takes_address(const struct object *object, const struct atom *user,
			  const struct reloc *reloc)
{
	if (user->class != ATOM_CODE)
		return user->class == ATOM_DATA || user->class == ATOM_RODATA ||
		       user->class == ATOM_PARENT;
	if (user->start == user->end)
		return false;
	_free_ uint8_t *kinds = xcalloc(user->end - user->start, sizeof(*kinds));
	object->arch->code.operand_kinds((struct object *)object, user->section, user->start,
					 user->end, kinds);
	return kinds[reloc->offset - user->start] & OPERAND_VALUE;
}

/* A reference to the start of a function from another atom. */
struct function_use {
	const struct atom *function;
	struct atom *user;
	const struct reloc *reloc;
};

/* Call visit() for each, until it returns false; return whether it never did. */
static bool each_use(const struct object *object,
		     bool (*visit)(void *context, const struct function_use *use), void *context)
{
	for (size_t i = 0; i < object->atoms.count; i++) {
		struct atom *user = object->atoms.list[i];

		for (size_t j = 0; j < user->reloc_count; j++) {
			const struct reference reference =
				reloc_reference(object, user->section, &user->relocs[j]);
			const struct atom *used = reference.atom;

			if (used && used->class == ATOM_CODE && used != user &&
			    reference.target == used->start &&
			    !visit(context, &(struct function_use){used, user, &user->relocs[j]}))
				return false;
		}
	}
	return true;
}

/* ---- objects on stacks -------------------------------------------------------------------- */

/* Where a type has its objects, of the functions with code. */
struct stacks {
	struct object *orig;
	struct map holders; /* names of those that have one, or get a pointer to one */
	struct map takers;  /* names of those that get a pointer */
};

/* Does a function stay in the kernel as it is, with an object on its stack? */
static bool is_kept(const struct selection *selection, const struct map *with_object,
		    const struct atom *atom)
{
	return atom->class == ATOM_CODE && !atom->parent &&
	       !(atom->twin && selection->choices[atom->twin->index].included) &&
	       map_has(with_object, select_source_name(selection->orig, atom));
}

/* What gets a pointer gets it from a function that has the object, or that got it, too. */
static bool comes_from_holder(void *context, const struct function_use *use)
{
	const struct stacks *stacks = context;
	const struct atom *user = atom_function(use->user);

	return !map_has(&stacks->takers, select_source_name(stacks->orig, use->function)) ||
	       (map_has(&stacks->holders, select_source_name(stacks->orig, user)) &&
		!takes_address(stacks->orig, use->user, use->reloc));
}

/* A function that other units call may get what they have kept without knowing its type. */
static bool any_is_global(struct object *orig, const struct map *names)
{
	for (size_t i = 0; i < orig->atoms.count; i++) {
		const struct atom *atom = orig->atoms.list[i];

		if (atom->class == ATOM_CODE && atom->symbol && atom->symbol->bind != STB_LOCAL &&
		    map_has(names, select_source_name(orig, atom)))
			return true;
	}
	return false;
}

static bool judge_stacks(const struct selection *selection, const struct type_instances *instances)
{
	struct object *orig = selection->orig;
	struct stacks stacks = {.orig = orig};
	struct map with_object = {0};
	bool good = true;

	for (size_t i = 0; i < instances->functions.count; i++) {
		map_slot(&with_object, instances->functions.list[i]);
		map_slot(&stacks.holders, instances->functions.list[i]);
	}
	for (size_t i = 0; i < instances->takers.count; i++) {
		map_slot(&stacks.takers, instances->takers.list[i]);
		map_slot(&stacks.holders, instances->takers.list[i]);
	}
	for (size_t i = 0; i < instances->inlined.count && good; i++)
		good = map_has(&stacks.holders, instances->inlined.list[i]);
	for (size_t i = 0; i < orig->atoms.count && good; i++)
		good = !is_kept(selection, &with_object, orig->atoms.list[i]);
	good = good && !any_is_global(orig, &stacks.takers) &&
	       each_use(orig, comes_from_holder, &stacks);
	map_deinit(&with_object);
	map_deinit(&stacks.holders);
	map_deinit(&stacks.takers);
	return good;
}

/* Is it defined in the unit's own source file? */
static bool is_in_source(const struct selection *selection, const char *location)
{
	const char *unit = selection->options->unit;

	return location && has_prefix(location, unit) && location[strlen(unit)] == ':';
}

/*
 * Whether all objects of a structure are on the stacks of functions that the patch replaces.  While
 * a task has such a function on its stack, the patch is not switched, in either direction.  Only a
 * structure that its own source file defines is sure to have no objects in other units.
 */
static bool is_on_stacks(struct selection *selection, Dwarf *orig, const struct type_change *change)
{
	struct type_instances instances;
	bool on_stacks;

	if (selection->options->live || change->kind > TYPE_UNION ||
	    !is_in_source(selection, change->location))
		return false;
	type_instances_find(orig, change->name, &instances);
	on_stacks = !instances.elsewhere && instances.functions.count &&
		    judge_stacks(selection, &instances);
	type_instances_deinit(&instances);
	return on_stacks;
}

/* ---- prototypes ------------------------------------------------------------------------- */

/* Functions whose prototypes changed, by what may call them as they were. */
struct prototypes {
	struct selection *selection;
	struct map changes;  /* struct type_change, by the function's name */
	struct map taken_by; /* struct atom: the first that holds the function's address */
	struct map exports;  /* names of the symbols that are exports, of the unit */
};

static void refuse_prototype(struct selection *selection, const struct type_change *change,
			     const char *callers)
{
	const struct type_member *member = worst_member(change);
	struct buffer text = {0};

	if (member)
		say_parameter(&text, member);
	refusals_add(selection->refusals, "prototype-changed",
		     change->location ?: selection->options->unit, change->name,
		     "prototype of '%s': %s; %s: leave it, and use a new function, or "
		     "--allow prototype-changed:%s",
		     change->name, text.text ?: "it changes", callers, change->name);
	buffer_deinit(&text);
}

static bool note_address(void *context, const struct function_use *use)
{
	struct prototypes *prototypes = context;
	const char *name = use->function->name;

	if (map_has(&prototypes->changes, name) && !map_has(&prototypes->taken_by, name) &&
	    takes_address(prototypes->selection->orig, use->user, use->reloc))
		*map_slot(&prototypes->taken_by, name) = atom_function(use->user);
	return true;
}

static void find_exports(struct prototypes *prototypes, const struct object *orig)
{
	static const char *const prefixes[] = {"__ksymtab_", "__export_symbol_"};

	for (size_t i = 1; i < orig->symbols.count; i++)
		for (size_t j = 0; j < ARRAY_SIZE(prefixes); j++)
			if (has_prefix(orig->symbols.list[i]->name, prefixes[j]))
				map_slot(&prototypes->exports,
					 orig->symbols.list[i]->name + strlen(prefixes[j]));
}

/* With a CRC of the export, the build tool's exports.c compares the whole declaration. */
static bool has_crc(const struct selection *selection, const char *name)
{
	const struct symvers *symvers = selection->options->symvers;
	const struct export *export = symvers ? symvers_find(symvers, name) : NULL;

	return export && export->crc;
}

static void judge_prototypes(struct selection *selection, const struct type_changes *changes)
{
	struct prototypes prototypes = {.selection = selection};

	for (size_t i = 0; i < changes->list.count; i++) {
		const struct type_change *change = &changes->list.list[i];

		if (change->kind == TYPE_FUNCTION && change->defined &&
		    change->verdict == TYPE_MISREAD)
			*map_slot(&prototypes.changes, change->name) = (void *)change;
	}
	if (prototypes.changes.count) {
		each_use(selection->orig, note_address, &prototypes);
		find_exports(&prototypes, selection->orig);
	}
	for (size_t i = 0; prototypes.changes.count && i < changes->list.count; i++) {
		const struct type_change *change = &changes->list.list[i];

		if (map_get(&prototypes.changes, change->name) != change)
			continue;
		const struct atom *holder = map_get(&prototypes.taken_by, change->name);
		if (holder) {
			_free_ char *callers = xasprintf(
				"'%s' holds its address, and what calls it by that passes what it "
				"passed before",
				holder->name);

			refuse_prototype(selection, change, callers);
		} else if (map_has(&prototypes.exports, change->name) &&
			   !has_crc(selection, change->name)) {
			refuse_prototype(selection, change,
					 "it is exported, and modules call it as it was");
		}
	}
	map_deinit(&prototypes.changes);
	map_deinit(&prototypes.taken_by);
	map_deinit(&prototypes.exports);
}

void types_judge(struct selection *selection, struct type_changes *ret)
{
	Dwarf *orig, *patched;

	if (!selection->included.count)
		return;
	orig = debuginfo_dwarf(debuginfo_of(selection->orig));
	patched = debuginfo_dwarf(debuginfo_of(selection->patched));
	if (!orig || !patched)
		return;
	types_compare(orig, patched, ret);
	for (size_t i = 0; i < ret->list.count; i++) {
		struct type_change *change = &ret->list.list[i];

		if (change->kind == TYPE_FUNCTION)
			continue;
		if (change->verdict == TYPE_MISREAD && is_on_stacks(selection, orig, change))
			change->verdict = TYPE_ON_STACK;
		if (change->verdict == TYPE_MISREAD)
			refuse_type(selection, change);
		else
			warn_of_renamed(selection, change);
	}
	judge_prototypes(selection, ret);
}
