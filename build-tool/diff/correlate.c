// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/*
 * The part of a name that stays when code before it changes.  gcc numbers
 * static locals ("count.12"), and __UNIQUE_ID() numbers by __COUNTER__
 * ("__UNIQUE_ID_ddebug412.5").  Functions keep their whole names: "foo.isra.0"
 * and "foo.isra.1" are two clones.
 */
static char *make_key(const struct atom *atom)
{
	const char *name = atom->name;
	size_t length = strlen(name);

	/* A variable in a function may have the name of another function. */
	if (atom->class == ATOM_CODE)
		return xasprintf("%s()", name);
	if (!atom->symbol || atom->symbol->bind != STB_LOCAL)
		return xstrdup(name);
	for (;;) {
		size_t end = length;

		while (end && isdigit((unsigned char)name[end - 1]))
			end--;
		if (end == length || !end || name[end - 1] != '.')
			break;
		length = end - 1;
	}
	/* Likewise "__BTF_ID__func__tcp_reno_ssthresh__803205". */
	if (has_prefix(name, "__UNIQUE_ID_") || has_prefix(name, "__BTF_ID__"))
		while (length && isdigit((unsigned char)name[length - 1]))
			length--;
	return xstrndup(name, length);
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

static void pair(struct atom *a, struct atom *b)
{
	a->twin = b;
	b->twin = a;
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
			pair(a, b);
}

/* ---- static locals -------------------------------------------------------------- */

/*
 * gcc calls a function's "static int count" count.0, count.1, ... in the order
 * it meets them, so the same number on both sides means nothing.  Who uses it
 * does: two are one if the same functions use them.
 */
static bool is_numbered(const struct atom *atom)
{
	return (atom->class == ATOM_DATA || atom->class == ATOM_RODATA) &&
	       strcmp(atom->key, atom->name);
}

static void note_user(struct object *object, struct atom *user, const struct section *section,
		      const struct reloc *relocs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct atom *used = reloc_reference(object, section, &relocs[i]).atom;

		if (used && used != user && is_numbered(used) &&
		    (!used->users.count || used->users.list[used->users.count - 1] != user))
			*vec_push(&used->users) = user;
	}
}

/* foo, foo.isra.0 and foo.cold are one user. */
static int base_compare(const char *a, const char *b)
{
	size_t length_a = strcspn(a, "."), length_b = strcspn(b, ".");
	int order = strncmp(a, b, length_a < length_b ? length_a : length_b);

	return order ?: length_a < length_b ? -1 : length_a > length_b;
}

static int by_base(const void *left, const void *right)
{
	return base_compare((*(struct atom *const *)left)->name,
			    (*(struct atom *const *)right)->name);
}

static void note_users(struct object *object)
{
	for (size_t i = 0; i < object->atoms.count; i++) {
		struct atom *atom = object->atoms.list[i];

		if (!atom->symbol)
			continue;
		note_user(object, atom, atom->section, atom->relocs, atom->reloc_count);
		for (size_t j = 0; j < atom->entries.count; j++) {
			const struct entry *entry = &atom->entries.list[j];
			size_t count;
			struct reloc *relocs =
				section_relocs(entry->section, entry->start,
					       entry->start + entry->size, &count);

			note_user(object, atom, entry->section, relocs, count);
		}
	}
	for (size_t i = 0; i < object->atoms.count; i++) {
		struct atom *atom = object->atoms.list[i];
		size_t kept = 0;

		if (atom->users.count < 2)
			continue;
		qsort(atom->users.list, atom->users.count, sizeof(*atom->users.list), by_base);
		for (size_t j = 1; j < atom->users.count; j++)
			if (by_base(&atom->users.list[kept], &atom->users.list[j]))
				atom->users.list[++kept] = atom->users.list[j];
		atom->users.count = kept + 1;
	}
}

static int users_compare(const struct atom *a, const struct atom *b)
{
	for (size_t i = 0; i < a->users.count && i < b->users.count; i++) {
		int order = by_base(&a->users.list[i], &b->users.list[i]);

		if (order)
			return order;
	}
	return a->users.count < b->users.count ? -1 : a->users.count > b->users.count;
}

static bool share_user(const struct atom *a, const struct atom *b)
{
	for (size_t i = 0, j = 0; i < a->users.count && j < b->users.count;) {
		int order = by_base(&a->users.list[i], &b->users.list[j]);

		if (!order)
			return true;
		if (order < 0)
			i++;
		else
			j++;
	}
	return !a->users.count && !b->users.count;
}

static int by_users(const void *left, const void *right)
{
	const struct atom *a = *(struct atom *const *)left, *b = *(struct atom *const *)right;

	return users_compare(a, b) ?: strverscmp(a->name, b->name);
}

struct statics {
	VEC(struct atom *) list;
};

static void collect_statics(struct statics *statics, struct atom *chain)
{
	for (; chain; chain = chain->next)
		if (!chain->twin && (chain->class == ATOM_DATA || chain->class == ATOM_RODATA))
			*vec_push(&statics->list) = chain;
	if (statics->list.count > 1)
		qsort(statics->list.list, statics->list.count, sizeof(*statics->list.list),
		      by_users);
}

/* How many from the first on have the same users. */
static size_t group_size(const struct statics *statics, size_t first)
{
	size_t end = first;

	while (end < statics->list.count &&
	       !users_compare(statics->list.list[first], statics->list.list[end]))
		end++;
	return end - first;
}

static bool uses_first(const struct object *object, const struct atom *user, const struct atom *a,
		       const struct atom *b)
{
	for (size_t i = 0; i < user->reloc_count; i++) {
		struct atom *used =
			reloc_reference(object, user->section, &user->relocs[i]).atom;

		if (used == a || used == b)
			return used == a;
	}
	return false;
}

/* Several of one name in one function: the numbers and the order of use must agree. */
static bool same_order(struct object *orig, struct atom **a, struct object *patched,
		       struct atom **b, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (!a[i]->users.count ||
		    uses_first(orig, a[i]->users.list[0], a[i - 1], a[i]) !=
			    uses_first(patched, b[i]->users.list[0], b[i - 1], b[i]))
			return false;
	return true;
}

static void pair_statics(struct object *orig, struct statics *a, struct object *patched,
			 struct statics *b)
{
	for (size_t i = 0, j = 0; i < a->list.count && j < b->list.count;) {
		size_t group_a = group_size(a, i), group_b = group_size(b, j);
		int order = users_compare(a->list.list[i], b->list.list[j]);

		if (!order && group_a == group_b && a->list.list[i]->users.count &&
		    same_order(orig, a->list.list + i, patched, b->list.list + j, group_a))
			for (size_t k = 0; k < group_a; k++)
				pair(a->list.list[i + k], b->list.list[j + k]);
		if (order <= 0)
			i += group_a;
		if (order >= 0)
			j += group_b;
	}
}

/* What is left on both sides cannot be told apart, unless it is one each with a common user. */
static void settle_rest(struct statics *a, struct statics *b)
{
	struct atom *left = NULL, *right = NULL;
	size_t left_count = 0, right_count = 0;

	for (size_t i = 0; i < a->list.count; i++)
		if (!a->list.list[i]->twin) {
			left = a->list.list[i];
			left_count++;
		}
	for (size_t i = 0; i < b->list.count; i++)
		if (!b->list.list[i]->twin) {
			right = b->list.list[i];
			right_count++;
		}
	if (!left_count || !right_count)
		return;
	if (left_count == 1 && right_count == 1 && share_user(left, right)) {
		pair(left, right);
		return;
	}
	for (size_t i = 0; i < a->list.count; i++)
		a->list.list[i]->ambiguous = !a->list.list[i]->twin;
	for (size_t i = 0; i < b->list.count; i++)
		b->list.list[i]->ambiguous = !b->list.list[i]->twin;
}

static void correlate_statics(struct object *orig, struct atom *a, struct object *patched,
			      struct atom *b)
{
	struct statics left = {0}, right = {0};

	collect_statics(&left, a);
	collect_statics(&right, b);
	pair_statics(orig, &left, patched, &right);
	settle_rest(&left, &right);
	vec_deinit(&left.list);
	vec_deinit(&right.list);
}

/* ---- all -------------------------------------------------------------------------- */

/* Names without a compiler's number are what the source says. */
static struct atom *find_plain(struct atom *atom)
{
	while (atom && atom->class != ATOM_CODE && strcmp(atom->name, atom->key))
		atom = atom->next;
	return atom;
}

static void pair_plain_names(struct atom *chain_a, struct atom *chain_b)
{
	struct atom *a = find_plain(chain_a);
	struct atom *b = find_plain(chain_b);

	if (a && b && !a->twin && !b->twin && may_pair(a, b))
		pair(a, b);
}

void correlate(struct object *orig, struct object *patched)
{
	struct map orig_index = {0}, patched_index = {0};

	index_keys(orig, &orig_index);
	index_keys(patched, &patched_index);
	note_users(orig);
	note_users(patched);
	for (size_t i = 0; i < orig->atoms.count; i++) {
		struct atom *a = orig->atoms.list[i];
		struct atom *chain = has_identity(a) ? map_get(&patched_index, a->key) : NULL;

		if (!chain || map_get(&orig_index, a->key) != a)
			continue; /* each key once, at the head of its chain */
		pair_plain_names(a, chain);
		pair_in_order(a, chain);
		correlate_statics(orig, a, patched, chain);
	}
	for (size_t i = 0; i < orig->atoms.count; i++) { /* cold parts follow their functions */
		struct atom *a = orig->atoms.list[i];

		if (a->parent && a->twin && a->parent->twin != a->twin->parent)
			a->twin = a->twin->twin = NULL;
	}
	map_deinit(&orig_index);
	map_deinit(&patched_index);
}
