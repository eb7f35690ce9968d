// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pairs the atoms of the original and the patched object by their keys, which are their names
 * without what compilers add.  If several have one key, order, code or statics.c decides.
 */
#include <stdlib.h>
#include <string.h>

#include "diff/compare.h"
#include "diff/statics.h"
#include "object/names.h"

/* Whether an atom is matched by its name, and not by content or position. */
static bool has_identity(const struct atom *atom)
{
	return atom->class == ATOM_CODE || atom->class == ATOM_DATA ||
	       atom->class == ATOM_RODATA || atom->class == ATOM_PARENT ||
	       atom->class == ATOM_INIT || atom->class == ATOM_EXPORT;
}

/* Finds the atoms of an object by their keys. */
struct key_index {
	struct map first;   /* by key: the first atom, in the order of the object */
	struct atom **next; /* by index of the atom: the next atom of its key, or NULL */
};

static void key_index_init(struct key_index *index, const struct object *object)
{
	*index = (struct key_index){.next = xcalloc(object->atoms.count, sizeof(*index->next))};
	for (size_t i = object->atoms.count; i-- > 0;) {
		struct atom *atom = object->atoms.list[i];

		if (!has_identity(atom))
			continue;
		void **slot = map_slot(&index->first, atom->key);
		index->next[i] = *slot;
		*slot = atom;
	}
}

static void key_index_deinit(struct key_index *index)
{
	map_deinit(&index->first);
	free(index->next);
}

/* Atoms of one key, in the order of the object. */
struct chain {
	VEC(struct atom *) atoms;
};

static void collect_chain(const struct key_index *index, struct atom *first, struct chain *ret)
{
	ret->atoms.count = 0;
	for (struct atom *atom = first; atom; atom = index->next[atom->index])
		*vec_push(&ret->atoms) = atom;
}

static bool may_pair(const struct atom *a, const struct atom *b)
{
	/* Pair data across .data, .bss and .rodata: a move between them is a change of data. */
	return (a->class == ATOM_CODE) == (b->class == ATOM_CODE) &&
	       (a->class == ATOM_INIT) == (b->class == ATOM_INIT);
}

/*
 * Pair entries of the kernel's own tables whose names differ only in a number
 * (__UNIQUE_ID_alias734) in their order, if both objects have equally many.
 */
static void pair_in_order(const struct chain *chain_a, const struct chain *chain_b)
{
	enum atom_class class = chain_a->atoms.list[0]->class;

	if (class == ATOM_CODE || class == ATOM_DATA || class == ATOM_RODATA ||
	    chain_a->atoms.count != chain_b->atoms.count)
		return;
	for (size_t i = 0; i < chain_a->atoms.count; i++) {
		struct atom *a = chain_a->atoms.list[i], *b = chain_b->atoms.list[i];

		if (!a->twin && !b->twin && may_pair(a, b))
			atoms_pair(a, b);
	}
}

/* ---- functions --------------------------------------------------------------------- */

/* Keep the functions that have no twin yet, without .cold parts, which follow their functions. */
static void keep_unpaired(struct chain *chain)
{
	size_t kept = 0;

	for (size_t i = 0; i < chain->atoms.count; i++)
		if (!chain->atoms.list[i]->twin && !chain->atoms.list[i]->parent)
			chain->atoms.list[kept++] = chain->atoms.list[i];
	chain->atoms.count = kept;
}

/* Order functions by their code, without the targets of their relocations. */
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

static bool is_unique(const struct chain *functions, size_t i,
		      int (*compare)(const struct atom *a, const struct atom *b))
{
	struct atom **list = functions->atoms.list;

	return !(i && !compare(list[i - 1], list[i])) &&
	       !(i + 1 < functions->atoms.count && !compare(list[i], list[i + 1]));
}

/* Pair the functions that compare equal and are the only ones to do so on both sides. */
static void pair_equal(struct chain *a, struct chain *b,
		       int (*sort)(const void *left, const void *right),
		       int (*compare)(const struct atom *a, const struct atom *b))
{
	size_t i = 0, j = 0;

	if (!a->atoms.count || !b->atoms.count)
		return;
	qsort(a->atoms.list, a->atoms.count, sizeof(*a->atoms.list), sort);
	qsort(b->atoms.list, b->atoms.count, sizeof(*b->atoms.list), sort);
	while (i < a->atoms.count && j < b->atoms.count) {
		int order = compare(a->atoms.list[i], b->atoms.list[j]);

		if (!order && is_unique(a, i, compare) && is_unique(b, j, compare) &&
		    may_pair(a->atoms.list[i], b->atoms.list[j]))
			atoms_pair(a->atoms.list[i], b->atoms.list[j]);
		if (order <= 0)
			i++;
		if (order >= 0)
			j++;
	}
}

/*
 * Pair the functions of one key.  The number of a clone is only the order in which gcc made it: if
 * gcc makes another clone first, foo.constprop.0 becomes foo.constprop.1.  Any pairing of clones is
 * sound, because all their callers are in the unit and are compared by the pairing.  Pairing equal
 * code first replaces the fewest functions.
 */
static void pair_functions(struct chain *a, struct chain *b)
{
	keep_unpaired(a);
	keep_unpaired(b);
	if (a->atoms.count > 1 || b->atoms.count > 1) {
		pair_equal(a, b, by_code, code_compare);
		keep_unpaired(a);
		keep_unpaired(b);
		pair_equal(a, b, by_name, name_compare);
		keep_unpaired(a);
		keep_unpaired(b);
	}
	if (a->atoms.count == 1 && b->atoms.count == 1 &&
	    may_pair(a->atoms.list[0], b->atoms.list[0]))
		atoms_pair(a->atoms.list[0], b->atoms.list[0]);
}

/* ---- all -------------------------------------------------------------------------- */

/* The atom whose name comes from the source, without a compiler's number; or NULL. */
static struct atom *find_plain(const struct chain *chain)
{
	for (size_t i = 0; i < chain->atoms.count; i++)
		if (!is_numbered_name(chain->atoms.list[i]->name, chain->atoms.list[i]->key))
			return chain->atoms.list[i];
	return NULL;
}

static void pair_plain_names(const struct chain *chain_a, const struct chain *chain_b)
{
	struct atom *a = find_plain(chain_a);
	struct atom *b = find_plain(chain_b);

	if (a && b && !a->twin && !b->twin && may_pair(a, b))
		atoms_pair(a, b);
}

static void pair_all(struct pairing *pairing, const struct key_index *orig_index,
		     const struct key_index *patched_index, bool functions)
{
	const struct object *orig = pairing->orig;
	struct chain chain_a = {0}, chain_b = {0};

	for (size_t i = 0; i < orig->atoms.count; i++) {
		struct atom *a = orig->atoms.list[i], *b;

		/* Handle each key once, at the head of its chain. */
		if (!has_identity(a) || atom_is_function(a) != functions ||
		    map_get(&orig_index->first, a->key) != a)
			continue;
		b = map_get(&patched_index->first, a->key);
		if (!b)
			continue;
		collect_chain(orig_index, a, &chain_a);
		collect_chain(patched_index, b, &chain_b);
		if (functions) {
			pair_functions(&chain_a, &chain_b);
			continue;
		}
		pair_plain_names(&chain_a, &chain_b);
		pair_in_order(&chain_a, &chain_b);
		statics_pair(pairing->statics, chain_a.atoms.list, chain_a.atoms.count,
			     chain_b.atoms.list, chain_b.atoms.count);
	}
	vec_deinit(&chain_a.atoms);
	vec_deinit(&chain_b.atoms);
}

void correlate(struct object *orig, struct object *patched, const struct authored_lines *authored,
	       struct pairing *ret)
{
	struct key_index orig_index, patched_index;

	*ret = (struct pairing){
		.orig = orig,
		.patched = patched,
		.verdicts = xcalloc(patched->atoms.count, sizeof(*ret->verdicts)),
		.authored = authored,
	};
	key_index_init(&orig_index, orig);
	key_index_init(&patched_index, patched);
	pair_all(ret, &orig_index, &patched_index, true);
	for (size_t i = 0; i < orig->atoms.count; i++) { /* .cold parts follow their functions */
		struct atom *a = orig->atoms.list[i];

		if (a->parent && a->parent->twin && a->parent->twin->cold)
			atoms_pair(a, a->parent->twin->cold);
	}
	ret->statics = statics_create(orig, patched);
	pair_all(ret, &orig_index, &patched_index, false);
	key_index_deinit(&orig_index);
	key_index_deinit(&patched_index);
}

void pairing_deinit(struct pairing *pairing)
{
	statics_destroy(pairing->statics);
	free(pairing->verdicts);
}
