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

	if (atom->class == ATOM_CODE || !atom->symbol || atom->symbol->bind != STB_LOCAL)
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

/* The k-th use of a name in a function is the k-th use of it in its twin. */
struct uses {
	const struct object *object;
	struct atom *function;
	size_t next; /* relocation to look at */
};

static struct atom *next_use(struct uses *uses, const char *key, struct map *seen)
{
	while (uses->next < uses->function->reloc_count) {
		const struct reloc *reloc = &uses->function->relocs[uses->next++];
		struct atom *atom =
			reloc_reference(uses->object, uses->function->section, reloc).atom;

		if (!atom || strcmp(atom->key, key) || !has_identity(atom))
			continue;
		void **slot = map_slot(seen, atom->name);
		if (*slot)
			continue;
		*slot = atom;
		return atom;
	}
	return NULL;
}

static void pair_uses(struct object *orig, struct object *patched, struct atom *function,
		      const char *key)
{
	struct uses a = {.object = orig, .function = function};
	struct uses b = {.object = patched, .function = function->twin};
	struct map seen_a = {0}, seen_b = {0};

	for (;;) {
		struct atom *left = next_use(&a, key, &seen_a);
		struct atom *right = next_use(&b, key, &seen_b);

		if (!left || !right) {
			/* One side has more: which one is the new one is anybody's guess. */
			if (left && !left->twin)
				left->ambiguous = true;
			if (right && !right->twin)
				right->ambiguous = true;
			break;
		}
		if (!left->twin && !right->twin && may_pair(left, right))
			pair(left, right);
		else if (left->twin != right)
			left->ambiguous = right->ambiguous = true;
	}
	map_deinit(&seen_a);
	map_deinit(&seen_b);
}

/* Names that stand for several static locals: told apart by the functions that use them. */
static void correlate_uses(struct object *orig, struct object *patched, struct map *orig_index)
{
	for (size_t i = 0; i < orig->atoms.count; i++) {
		struct atom *function = orig->atoms.list[i];
		const char *last = NULL;

		if (function->class != ATOM_CODE || !function->twin)
			continue;
		for (size_t j = 0; j < function->reloc_count; j++) {
			struct atom *used = reloc_reference(orig, function->section,
							    &function->relocs[j])
						    .atom;

			if (!used || used->twin || !has_identity(used) ||
			    (last && !strcmp(last, used->key)))
				continue;
			struct atom *chain = map_get(orig_index, used->key);
			if (!chain || !chain->next)
				continue;
			last = used->key;
			pair_uses(orig, patched, function, used->key);
		}
	}
}

/* What is left of a key on both sides cannot be told apart, unless it is one each. */
static void settle_rest(struct map *orig_index, struct object *patched)
{
	for (size_t i = 0; i < patched->atoms.count; i++) {
		struct atom *atom = patched->atoms.list[i];
		struct atom *left = NULL;
		size_t left_count = 0;

		if (atom->twin || !has_identity(atom))
			continue;
		for (struct atom *other = map_get(orig_index, atom->key); other;
		     other = other->next)
			if (!other->twin) {
				left = other;
				left_count++;
			}
		if (left_count == 1 && may_pair(left, atom) && !atom->ambiguous &&
		    !left->ambiguous && !atom->next)
			pair(left, atom);
		else if (left_count)
			atom->ambiguous = true;
	}
}

void correlate(struct object *orig, struct object *patched)
{
	struct map orig_index = {0}, patched_index = {0};

	index_keys(orig, &orig_index);
	index_keys(patched, &patched_index);
	for (size_t i = 0; i < orig->atoms.count; i++) {
		struct atom *a = orig->atoms.list[i];
		struct atom *chain = has_identity(a) ? map_get(&patched_index, a->key) : NULL;

		if (!chain || a->twin || map_get(&orig_index, a->key) != a)
			continue; /* each key once, at the head of its chain */
		if (!chain->next && !a->next && may_pair(a, chain))
			pair(a, chain);
		else
			pair_in_order(a, chain);
	}
	correlate_uses(orig, patched, &orig_index);
	settle_rest(&orig_index, patched);
	for (size_t i = 0; i < orig->atoms.count; i++) { /* cold parts follow their functions */
		struct atom *a = orig->atoms.list[i];

		if (a->parent && a->twin && a->parent->twin != a->twin->parent)
			a->twin = a->twin->twin = NULL;
	}
	map_deinit(&orig_index);
	map_deinit(&patched_index);
}
