// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "diff/compare.h"
#include "object/names.h"
#include "diff/statics.h"

static bool is_function(const struct atom *atom)
{
	return atom->class == ATOM_CODE || (atom->symbol && atom->symbol->type == STT_FUNC);
}

/*
 * The part of a name that stays when code before it changes; also, of a function's clones, what
 * they have in common: "foo.constprop" of "foo.constprop.1".
 */
static char *make_key(const struct atom *atom)
{
	const char *name = atom->name;

	/* A variable in a function may have the name of another function. */
	if (is_function(atom)) {
		char *family _free_ = clone_family(name);

		return xasprintf("%s()", family);
	}
	if (!atom->symbol) /* clang: ".rodata..L__const.foo.array.3" */
		return clone_family(name);
	if (atom->symbol->bind != STB_LOCAL)
		return xstrndup(name, unpromoted_length(name));
	struct source_name source = source_name_of(name);
	return xstrndup(source.text, source.length);
}

/* Matched by content or position, not by name. */
static bool has_identity(const struct atom *atom)
{
	return atom->class == ATOM_CODE || atom->class == ATOM_DATA ||
	       atom->class == ATOM_RODATA || atom->class == ATOM_PARENT ||
	       atom->class == ATOM_INIT || atom->class == ATOM_EXPORT;
}

/* All atoms of a key, in order of their place in the object. */
static void index_keys(struct object *object, struct map *index)
{
	for (size_t i = object->atoms.count; i-- > 0;) {
		struct atom *atom = object->atoms.list[i];

		atom->key = *vec_push(&object->names) = make_key(atom);
		if (!has_identity(atom))
			continue;
		void **slot = map_slot(index, atom->key);
		atom->next = *slot;
		*slot = atom;
	}
}

static bool may_pair(const struct atom *a, const struct atom *b)
{
	/* Data may move between .data, .bss and .rodata; that is then a change of data. */
	return (a->class == ATOM_CODE) == (b->class == ATOM_CODE) &&
	       (a->class == ATOM_INIT) == (b->class == ATOM_INIT);
}

static size_t chain_length(const struct atom *atom)
{
	size_t length = 0;

	for (; atom; atom = atom->next)
		length++;
	return length;
}

/*
 * Entries of the kernel's own tables whose names differ only in a number
 * (__UNIQUE_ID_alias734): the same number of them, in the same order.
 */
static void pair_in_order(struct atom *a, struct atom *b)
{
	if (a->class == ATOM_CODE || a->class == ATOM_DATA || a->class == ATOM_RODATA ||
	    chain_length(a) != chain_length(b))
		return;
	for (; a; a = a->next, b = b->next)
		if (!a->twin && !b->twin && may_pair(a, b))
			atoms_pair(a, b);
}

/* ---- functions --------------------------------------------------------------------- */

struct functions {
	VEC(struct atom *) list;
};

static void collect_functions(struct functions *functions, struct atom *chain)
{
	for (; chain; chain = chain->next)
		if (!chain->twin && !chain->parent)
			*vec_push(&functions->list) = chain;
}

/* Code that is equal but for what its relocations refer to. */
static int code_compare(const struct atom *a, const struct atom *b)
{
	uint64_t size_a = a->end - a->start, size_b = b->end - b->start;

	if (size_a != size_b)
		return size_a < size_b ? -1 : 1;
	if (a->reloc_count != b->reloc_count)
		return a->reloc_count < b->reloc_count ? -1 : 1;
	return a->section->data && b->section->data
		       ? memcmp(a->section->data + a->start, b->section->data + b->start, size_a)
		       : 0;
}

static int name_compare(const struct atom *a, const struct atom *b)
{
	return strcmp(a->name, b->name);
}

static int by_code(const void *left, const void *right)
{
	return code_compare(*(struct atom *const *)left, *(struct atom *const *)right);
}

static int by_name(const void *left, const void *right)
{
	return name_compare(*(struct atom *const *)left, *(struct atom *const *)right);
}

static bool is_unique(const struct functions *functions, size_t i,
		      int (*compare)(const struct atom *a, const struct atom *b))
{
	struct atom **list = functions->list.list;

	return !(i && !compare(list[i - 1], list[i])) &&
	       !(i + 1 < functions->list.count && !compare(list[i], list[i + 1]));
}

/* Pairs those that are equal in one respect, and alone in that on both sides. */
static void pair_equal(struct functions *a, struct functions *b,
		       int (*sort)(const void *left, const void *right),
		       int (*compare)(const struct atom *a, const struct atom *b))
{
	size_t i = 0, j = 0;

	if (!a->list.count || !b->list.count)
		return;
	qsort(a->list.list, a->list.count, sizeof(*a->list.list), sort);
	qsort(b->list.list, b->list.count, sizeof(*b->list.list), sort);
	while (i < a->list.count && j < b->list.count) {
		int order = compare(a->list.list[i], b->list.list[j]);

		if (!order && is_unique(a, i, compare) && is_unique(b, j, compare) &&
		    may_pair(a->list.list[i], b->list.list[j]))
			atoms_pair(a->list.list[i], b->list.list[j]);
		if (order <= 0)
			i++;
		if (order >= 0)
			j++;
	}
}

static void drop_paired(struct functions *functions)
{
	size_t kept = 0;

	for (size_t i = 0; i < functions->list.count; i++)
		if (!functions->list.list[i]->twin)
			functions->list.list[kept++] = functions->list.list[i];
	functions->list.count = kept;
}

/*
 * A function's name stands for itself.  Of clones, the number is only the order in which gcc
 * made them: with one more in front, foo.constprop.0 becomes foo.constprop.1.  Any pairing of
 * them is sound, as all that calls them is in the unit and is compared by it; the one by
 * equal code replaces the least.
 */
static void pair_functions(struct atom *chain_a, struct atom *chain_b)
{
	struct functions a = {0}, b = {0};

	collect_functions(&a, chain_a);
	collect_functions(&b, chain_b);
	if (a.list.count > 1 || b.list.count > 1) {
		pair_equal(&a, &b, by_code, code_compare);
		drop_paired(&a);
		drop_paired(&b);
		pair_equal(&a, &b, by_name, name_compare);
		drop_paired(&a);
		drop_paired(&b);
	}
	if (a.list.count == 1 && b.list.count == 1 && may_pair(a.list.list[0], b.list.list[0]))
		atoms_pair(a.list.list[0], b.list.list[0]);
	vec_deinit(&a.list);
	vec_deinit(&b.list);
}

/* ---- all -------------------------------------------------------------------------- */

/* Names without a compiler's number are what the source says. */
static struct atom *find_plain(struct atom *atom)
{
	while (atom && is_numbered_name(atom->name, atom->key))
		atom = atom->next;
	return atom;
}

static void pair_plain_names(struct atom *chain_a, struct atom *chain_b)
{
	struct atom *a = find_plain(chain_a);
	struct atom *b = find_plain(chain_b);

	if (a && b && !a->twin && !b->twin && may_pair(a, b))
		atoms_pair(a, b);
}

static void pair_all(struct object *orig, const struct map *orig_index, struct object *patched,
		     const struct map *patched_index, bool functions)
{
	for (size_t i = 0; i < orig->atoms.count; i++) {
		struct atom *a = orig->atoms.list[i];
		struct atom *chain;

		/* Each key once, at the head of its chain. */
		if (!has_identity(a) || is_function(a) != functions ||
		    map_get(orig_index, a->key) != a)
			continue;
		chain = map_get(patched_index, a->key);
		if (!chain)
			continue;
		if (functions) {
			pair_functions(a, chain);
			continue;
		}
		pair_plain_names(a, chain);
		pair_in_order(a, chain);
		statics_pair(orig, a, patched, chain);
	}
}

void correlate(struct object *orig, struct object *patched)
{
	struct map orig_index = {0}, patched_index = {0};

	index_keys(orig, &orig_index);
	index_keys(patched, &patched_index);
	pair_all(orig, &orig_index, patched, &patched_index, true);
	for (size_t i = 0; i < orig->atoms.count; i++) { /* cold parts follow their functions */
		struct atom *a = orig->atoms.list[i];

		if (a->parent && a->parent->twin && a->parent->twin->cold)
			atoms_pair(a, a->parent->twin->cold);
	}
	statics_note(orig);
	statics_note(patched);
	pair_all(orig, &orig_index, patched, &patched_index, false);
	map_deinit(&orig_index);
	map_deinit(&patched_index);
}
