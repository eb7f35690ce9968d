// SPDX-License-Identifier: GPL-2.0-or-later
/* What uses the static variables of functions, and the code around it; see statics_uses.h. */
#include "diff/statics_uses.h"

#include <stdlib.h>
#include <string.h>

#include "object/names.h"

static bool is_variable(const struct atom *atom)
{
	return atom->class == ATOM_DATA || atom->class == ATOM_RODATA;
}

bool statics_is_numbered(const struct atom *atom)
{
	return is_variable(atom) && atom->symbol && is_numbered_name(atom->name, atom->key);
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < length; i++) /* FNV-1a */
		hash = (hash ^ p[i]) * 0x100000001b3;
	return hash;
}

/*
 * A hash of a reference's target if it is characteristic of the code around it; else 0.  Targets
 * that are not: the function itself, to which every function refers, and functions that code of
 * this architecture calls everywhere (common_callees).
 */
static uint64_t landmark(const struct object *object, const struct atom *user,
			 const struct reloc *reloc)
{
	struct reference reference = reloc_reference(object, user->section, reloc);
	const struct atom *atom = reference.atom;
	uint64_t size;

	if (!atom) {
		const char *const *common = object->arch->code.common_callees;
		const char *name = reference.symbol->name;

		for (; common && *common; common++)
			if (!strcmp(name, *common))
				return 0;
		return hash_bytes(HASH_START, name, strlen(name));
	}
	switch (atom->class) {
	case ATOM_STRINGS:
	case ATOM_CONST:
		size = content_size(atom, reference.target);
		return size ? hash_bytes(HASH_START, atom->section->data + reference.target, size)
			    : 0; /* the reference leads out of the section */
	case ATOM_CODE:
		if (atom_function((struct atom *)atom) == atom_function((struct atom *)user))
			return 0;
		return hash_bytes(HASH_START, atom->name, strcspn(atom->name, "."));
	case ATOM_DATA:
	case ATOM_RODATA:
		return statics_is_numbered(atom) || !atom->symbol
			       ? 0
			       : hash_bytes(HASH_START, atom->key, strlen(atom->key));
	default:
		return 0;
	}
}

/* A hash of the instruction, or of the member of a structure, that refers to a variable. */
static uint64_t hash_of_place(const struct object *object, const struct atom *user,
			      const struct reloc *reloc)
{
	const struct reloc_kind *kind = arch_reloc(object->arch, reloc->type);
	uint64_t size = kind && kind->size > reloc->behind ? kind->size : reloc->behind;
	uint64_t start = reloc->offset, end = reloc->offset + size;
	uint64_t hash = hash_bytes(HASH_START, &reloc->addend, sizeof(reloc->addend));

	if (!section_is_text(user->section)) {
		start -= user->start;
		hash = hash_bytes(hash, user->key, strlen(user->key));
		return hash_bytes(hash, &start, sizeof(start));
	}
	start = start - user->start >= 2 ? start - 2 : user->start; /* include the opcode */
	end = end < user->end ? end : user->end;
	return hash_bytes(hash, user->section->data + start, end - start);
}

static void note_use(struct side *side, const struct atom *used, struct atom *user,
		     uint64_t context)
{
	struct variable *variable = &side->variables[used->index];
	size_t count = variable->users.count;

	if (!count || variable->users.list[count - 1] != user)
		*vec_push(&variable->users) = user;
	if (context)
		*vec_push(&variable->contexts) = context;
}

/*
 * Note an atom's own references to numbered variables, each with the nearest landmark behind it.
 * In "if (!warned) { warned = true; pr_warn(...); }" that is the message, and in "one(count++)" the
 * function that gets the value.
 */
static void note_references(struct side *side, struct atom *user)
{
	const struct object *object = side->object;
	uint64_t behind = 0;
	size_t next = 0; /* index behind the landmark; references before it share it */

	for (size_t i = 0; i < user->reloc_count; i++) {
		const struct reloc *reloc = &user->relocs[i];
		struct atom *used = reloc_reference(object, user->section, reloc).atom;

		if (!used || used == user || !statics_is_numbered(used))
			continue;
		if (next <= i)
			for (behind = 0, next = i + 1; next < user->reloc_count && !behind; next++)
				behind = landmark(object, user, &user->relocs[next]);
		uint64_t context = hash_of_place(object, user, reloc);
		bool known = behind || !section_is_text(user->section);
		note_use(side, used, user,
			 known ? hash_bytes(context, &behind, sizeof(behind)) ?: 1 : 0);
	}
}

static void note_entries(struct side *side, struct atom *user)
{
	for (size_t i = 0; i < user->entries.count; i++) {
		const struct entry *entry = &user->entries.list[i];
		size_t count;
		struct reloc *relocs = section_relocs(entry->section, entry->start,
						      entry->start + entry->size, &count);

		for (size_t j = 0; j < count; j++) {
			struct atom *used =
				reloc_reference(side->object, entry->section, &relocs[j]).atom;

			if (used && used != user && statics_is_numbered(used))
				note_use(side, used, user, 0);
		}
	}
}

/* Order users; foo, foo.isra.0 and foo.cold are equal. */
static int by_base(const void *left, const void *right)
{
	const char *a = (*(struct atom *const *)left)->name;
	const char *b = (*(struct atom *const *)right)->name;
	size_t length_a = strcspn(a, "."), length_b = strcspn(b, ".");
	int order = strncmp(a, b, length_a < length_b ? length_a : length_b);

	return order ?: length_a < length_b ? -1 : length_a > length_b;
}

int by_hash(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static void sort_uses(struct variable *variable)
{
	size_t kept = 0, count = variable->users.count;
	struct atom **users = variable->users.list;

	if (count > 1) {
		qsort(users, count, sizeof(*users), by_base);
		for (size_t j = 1; j < count; j++)
			if (by_base(&users[kept], &users[j]))
				users[++kept] = users[j];
		variable->users.count = kept + 1;
	}
	if (variable->contexts.count > 1)
		qsort(variable->contexts.list, variable->contexts.count,
		      sizeof(*variable->contexts.list), by_hash);
}

void statics_note_uses(struct side *side)
{
	struct object *object = side->object;
	bool any = false;

	for (size_t i = 0; i < object->atoms.count && !any; i++)
		any = statics_is_numbered(object->atoms.list[i]);
	if (!any)
		return;
	side->variables = xcalloc(object->atoms.count, sizeof(*side->variables));
	for (size_t i = 0; i < object->atoms.count; i++)
		side->variables[i].atom = object->atoms.list[i];
	for (size_t i = 0; i < object->atoms.count; i++) {
		struct atom *atom = object->atoms.list[i];

		if (!atom->symbol)
			continue;
		note_references(side, atom);
		note_entries(side, atom);
	}
	for (size_t i = 0; i < object->atoms.count; i++)
		sort_uses(&side->variables[i]);
}

void statics_side_deinit(struct side *side)
{
	for (size_t i = 0; side->variables && i < side->object->atoms.count; i++) {
		vec_deinit(&side->variables[i].users);
		vec_deinit(&side->variables[i].contexts);
	}
	free(side->variables);
}

int statics_users_compare(const struct variable *a, const struct variable *b)
{
	for (size_t i = 0; i < a->users.count && i < b->users.count; i++) {
		int order = by_base(&a->users.list[i], &b->users.list[i]);

		if (order)
			return order;
	}
	return a->users.count < b->users.count ? -1 : a->users.count > b->users.count;
}

bool statics_share_user(const struct variable *a, const struct variable *b)
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

bool statics_share_context(const struct variable *a, const struct variable *b)
{
	for (size_t i = 0, j = 0; i < a->contexts.count && j < b->contexts.count;) {
		if (a->contexts.list[i] == b->contexts.list[j])
			return true;
		if (a->contexts.list[i] < b->contexts.list[j])
			i++;
		else
			j++;
	}
	return false;
}
