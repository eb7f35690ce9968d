// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pairs the static variables of functions.
 *
 * gcc names a function's "static int count" count.0, count.1, ... and clang f.count, f.count.1, ...
 * in the order in which they meet the variables.  So equal numbers in both objects mean nothing.
 * The debug information says which function declares a variable, and its type.  Without debug
 * information, the functions that use a variable have to do.  Several variables of one name and
 * type in one function are told apart by their initial values, and by the code around their uses.
 *
 * With a wrong pair, new code would go on with the state of another variable.  So variables that
 * cannot be told apart are left ambiguous, and select.c refuses included code that uses one.
 */
#include "diff/statics.h"

#include <stdlib.h>
#include <string.h>

#include "diff/statics_uses.h"
#include "object/names.h"

struct statics {
	struct side orig, patched;
};

struct statics *statics_create(struct object *orig, struct object *patched)
{
	struct statics *statics = xcalloc(1, sizeof(*statics));

	statics->orig.object = orig;
	statics->patched.object = patched;
	statics_note_uses(&statics->orig);
	statics_note_uses(&statics->patched);
	return statics;
}

void statics_destroy(struct statics *statics)
{
	if (!statics)
		return;
	statics_side_deinit(&statics->orig);
	statics_side_deinit(&statics->patched);
	free(statics);
}

/* ---- groups: declared in one function, or used by the same functions ---------------- */

/* The variables of one key and one object that have no twin yet. */
struct unpaired {
	VEC(struct variable *) list;
};

static void collect(struct side *side, struct atom *const *atoms, size_t count,
		    struct unpaired *ret)
{
	for (size_t i = 0; i < count; i++)
		if (!atoms[i]->twin && statics_is_numbered(atoms[i]))
			*vec_push(&ret->list) = &side->variables[atoms[i]->index];
}

/* The function that declares a variable: from the debug information, or from clang's symbol. */
static struct source_name owner_of(const struct variable *variable)
{
	const struct debuginfo_static *declared = variable->declared;

	if (!declared || !declared->owner)
		return source_name_of(variable->atom->name);
	return (struct source_name){.owner = declared->owner,
				    .owner_length = strlen(declared->owner)};
}

/* Find the functions that declare variables; false if one of them is not known. */
static bool find_declarations(struct object *object, struct unpaired *variables)
{
	bool all = true;

	for (size_t i = 0; i < variables->list.count; i++) {
		struct variable *variable = variables->list.list[i];

		variable->declared = debuginfo_static(debuginfo_of(object),
						      variable->atom->section->index,
						      variable->atom->start);
		all &= owner_of(variable).owner != NULL;
	}
	return all;
}

static const char *type_of(const struct variable *variable)
{
	return variable->declared ? variable->declared->type : "";
}

static int owner_compare(const struct variable *a, const struct variable *b)
{
	struct source_name owner_a = owner_of(a), owner_b = owner_of(b);
	size_t length = owner_a.owner_length < owner_b.owner_length ? owner_a.owner_length
								     : owner_b.owner_length;
	int order = strncmp(owner_a.owner, owner_b.owner, length);

	return order ?: owner_a.owner_length < owner_b.owner_length
				? -1
				: owner_a.owner_length > owner_b.owner_length;
}

static int size_compare(const struct variable *a, const struct variable *b)
{
	uint64_t size_a = a->atom->end - a->atom->start, size_b = b->atom->end - b->atom->start;

	return size_a < size_b ? -1 : size_a > size_b;
}

/* Equal: of one function, one type and one size. */
static int kind_compare(const struct variable *a, const struct variable *b)
{
	return owner_compare(a, b) ?: strcmp(type_of(a), type_of(b)) ?: size_compare(a, b);
}

/* The same, if the declaring functions are not known. */
static int users_kind_compare(const struct variable *a, const struct variable *b)
{
	return statics_users_compare(a, b) ?: size_compare(a, b);
}

static int order_compare(const struct variable *a, const struct variable *b)
{
	if (a->declared && b->declared && a->declared->order != b->declared->order)
		return a->declared->order < b->declared->order ? -1 : 1;
	return strverscmp(a->atom->name, b->atom->name);
}

static int by_kind(const void *left, const void *right)
{
	const struct variable *a = *(struct variable *const *)left;
	const struct variable *b = *(struct variable *const *)right;

	return kind_compare(a, b) ?: order_compare(a, b);
}

static int by_users_kind(const void *left, const void *right)
{
	const struct variable *a = *(struct variable *const *)left;
	const struct variable *b = *(struct variable *const *)right;

	return users_kind_compare(a, b) ?: strverscmp(a->atom->name, b->atom->name);
}

/* How to sort a list of variables, and how to group it: first narrow groups, then wide ones. */
static const struct grouping {
	int (*sort)(const void *left, const void *right);
	int (*compare[2])(const struct variable *a, const struct variable *b);
} by_declaration = {by_kind, {kind_compare, owner_compare}},
  by_use = {by_users_kind, {users_kind_compare, statics_users_compare}};

static size_t group_size(struct variable **list, size_t count,
			 int (*compare)(const struct variable *a, const struct variable *b))
{
	size_t size = 1;

	while (size < count && !compare(list[0], list[size]))
		size++;
	return size;
}

static void pair(struct variable *a, struct variable *b)
{
	atoms_pair(a->atom, b->atom);
}

static size_t drop_paired(struct variable **list, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!list[i]->atom->twin)
			list[kept++] = list[i];
	return kept;
}

/* ---- several of one name in one function ---------------------------------------------- */

struct group {
	struct variable **a, **b;
	size_t count_a, count_b;
};

/* The initial value; NULL in .bss. */
static const unsigned char *initial_of(const struct variable *variable)
{
	const struct atom *atom = variable->atom;

	return atom->section->data ? atom->section->data + atom->start : NULL;
}

static bool same_initial(const struct variable *a, const struct variable *b)
{
	const unsigned char *initial_a = initial_of(a), *initial_b = initial_of(b);

	if (size_compare(a, b) || !initial_a != !initial_b ||
	    a->atom->reloc_count != b->atom->reloc_count)
		return false;
	return !initial_a || !memcmp(initial_a, initial_b, a->atom->end - a->atom->start);
}

static bool alike(const struct variable *a, const struct variable *b)
{
	return same_initial(a, b) && statics_share_context(a, b);
}

/* Pair variables that match exactly one of the other side, which in turn matches no other. */
static void pair_unique(struct group *group,
			bool (*match)(const struct variable *a, const struct variable *b))
{
	size_t *met = xcalloc(group->count_b, sizeof(*met)), *only;

	only = xcalloc(group->count_a, sizeof(*only)); /* index + 1; 0: none or several */
	for (size_t i = 0; i < group->count_a; i++) {
		size_t matches = 0;

		for (size_t j = 0; j < group->count_b; j++)
			if (match(group->a[i], group->b[j])) {
				only[i] = j + 1;
				matches++;
				met[j]++;
			}
		if (matches != 1)
			only[i] = 0;
	}
	for (size_t i = 0; i < group->count_a; i++)
		if (only[i] && met[only[i] - 1] == 1)
			pair(group->a[i], group->b[only[i] - 1]);
	free(met);
	free(only);
	group->count_a = drop_paired(group->a, group->count_a);
	group->count_b = drop_paired(group->b, group->count_b);
}

/*
 * Two blocks of code whose variables swapped their initial values look like two blocks that changed
 * places.  So initial values identify variables only if they are in the same order on both sides.
 */
static bool initial_values_in_order(const struct group *group)
{
	size_t last = 0;

	for (size_t i = 0; i < group->count_a; i++)
		for (size_t j = 0; j < group->count_b; j++)
			if (same_initial(group->a[i], group->b[j])) {
				if (j < last)
					return false;
				last = j;
			}
	return true;
}

/*
 * Whether a variable is a constant text.  Equal texts are interchangeable: fib_create_info() has
 * "Invalid scope" in two places, by NL_SET_ERR_MSG(), and new code may use either __msg.  A text
 * without an equal one is a new constant, which the patch includes.
 */
static bool is_text(const struct variable *variable)
{
	const struct atom *atom = variable->atom;
	uint64_t size = atom->end - atom->start;

	return atom->class == ATOM_RODATA && !(atom->section->flags & SHF_WRITE) &&
	       atom->section->data && !atom->reloc_count && size > 1 &&
	       strnlen((const char *)atom->section->data + atom->start, size) == size - 1;
}

static int text_compare(const struct variable *a, const struct variable *b)
{
	return strcmp((const char *)initial_of(a), (const char *)initial_of(b));
}

static int by_text(const void *left, const void *right)
{
	const struct variable *a = *(struct variable *const *)left;
	const struct variable *b = *(struct variable *const *)right;

	return text_compare(a, b) ?: order_compare(a, b);
}

/* Move the texts of a list to another list, and sort them; gives their number. */
static size_t take_texts(struct variable **list, size_t *count, struct variable **ret)
{
	size_t texts = 0, kept = 0;

	for (size_t i = 0; i < *count; i++) {
		if (is_text(list[i]))
			ret[texts++] = list[i];
		else
			list[kept++] = list[i];
	}
	*count = kept;
	if (texts)
		qsort(ret, texts, sizeof(*ret), by_text);
	return texts;
}

/* Remove all texts from the group, and pair equal ones, in their order. */
static void pair_texts(struct group *group)
{
	struct variable **a _free_ = xcalloc(group->count_a + 1, sizeof(*a));
	struct variable **b _free_ = xcalloc(group->count_b + 1, sizeof(*b));
	size_t count_a = take_texts(group->a, &group->count_a, a);
	size_t count_b = take_texts(group->b, &group->count_b, b);

	for (size_t i = 0, j = 0; i < count_a && j < count_b;) {
		int order = text_compare(a[i], b[j]);

		if (!order)
			pair(a[i], b[j]);
		i += order <= 0;
		j += order >= 0;
	}
}

#define GROUP_LIMIT 64 /* do not tell apart more of one name and type in one function */

static struct variable **copy(struct variable **list, size_t count)
{
	struct variable **ret = xcalloc(count + 1, sizeof(*ret));

	memcpy(ret, list, count * sizeof(*ret));
	return ret;
}

/* Pair two for no other reason than that nothing else of their kind is left. */
static void pair_left_over(struct variable *a, struct variable *b)
{
	pair(a, b);
	b->left_over = !statics_share_context(a, b);
}

static void pair_group(struct group group)
{
	struct variable **a _free_ = group.a = copy(group.a, group.count_a);
	struct variable **b _free_ = group.b = copy(group.b, group.count_b);
	bool few = group.count_a <= GROUP_LIMIT && group.count_b <= GROUP_LIMIT;

	if (few)
		pair_unique(&group, alike);
	pair_texts(&group);
	if (few && (group.count_a > 1 || group.count_b > 1)) {
		pair_unique(&group, statics_share_context);
		if (initial_values_in_order(&group))
			pair_unique(&group, same_initial);
	}
	if (!group.count_a || !group.count_b)
		return;
	if (group.count_a == 1 && group.count_b == 1) {
		pair_left_over(group.a[0], group.b[0]);
		return;
	}
	if (group.count_a == group.count_b) {
		/* Likely in the same order; statics_confirm() checks. */
		for (size_t i = 0; i < group.count_a; i++) {
			pair_left_over(group.a[i], group.b[i]);
			group.b[i]->unsure = true;
		}
		return;
	}
	for (size_t i = 0; i < group.count_a; i++)
		group.a[i]->atom->ambiguous = true;
	for (size_t i = 0; i < group.count_b; i++)
		group.b[i]->atom->ambiguous = true;
}

/* Walk both sorted lists, and pair the groups that both have. */
static void pair_groups(struct unpaired *a, struct unpaired *b,
			int (*compare)(const struct variable *a, const struct variable *b))
{
	for (size_t i = 0, j = 0; i < a->list.count && j < b->list.count;) {
		size_t size_a = group_size(a->list.list + i, a->list.count - i, compare);
		size_t size_b = group_size(b->list.list + j, b->list.count - j, compare);
		int order = compare(a->list.list[i], b->list.list[j]);

		if (!order) {
			struct group group = {a->list.list + i, b->list.list + j, size_a, size_b};

			pair_group(group);
		}
		if (order <= 0)
			i += size_a;
		if (order >= 0)
			j += size_b;
	}
}

static void drop_decided(struct unpaired *variables)
{
	struct variable **list = variables->list.list;
	size_t kept = 0;

	for (size_t i = 0; i < variables->list.count; i++)
		if (!list[i]->atom->twin && !list[i]->atom->ambiguous)
			list[kept++] = list[i];
	variables->list.count = kept;
}

/* ---- variables without a group on the other side ------------------------------------------ */

static bool same_type(const struct variable *a, const struct variable *b)
{
	return !strcmp(type_of(a), type_of(b));
}

/*
 * A variable may be gone from one function while another function has a new one of its name and
 * type.  If the patch moved the code, the new code needs the old variable's state, so both are
 * ambiguous.  They are the same if one function uses both, because both declaring functions were
 * inlined into it.
 */
static void pair_rest(struct unpaired *a, struct unpaired *b)
{
	struct group all = {a->list.list, b->list.list, a->list.count, b->list.count};

	pair_texts(&all);
	a->list.count = all.count_a;
	b->list.count = all.count_b;
	if (a->list.count == 1 && b->list.count == 1 &&
	    same_type(a->list.list[0], b->list.list[0]) &&
	    statics_share_user(a->list.list[0], b->list.list[0])) {
		pair(a->list.list[0], b->list.list[0]);
		return;
	}
	struct map types = {0}; /* by type; bit 0: a variable in a, bit 1: in b */
	for (int side = 0; side < 2; side++) {
		const struct unpaired *left = side ? b : a;

		for (size_t i = 0; i < left->list.count; i++) {
			void **slot = map_slot(&types, type_of(left->list.list[i]));

			*slot = (void *)((uintptr_t)*slot | (1 << side));
		}
	}
	for (int side = 0; side < 2; side++) {
		const struct unpaired *left = side ? b : a;

		for (size_t i = 0; i < left->list.count; i++) {
			const struct variable *variable = left->list.list[i];

			variable->atom->ambiguous =
				(uintptr_t)map_get(&types, type_of(variable)) == 3;
		}
	}
	map_deinit(&types);
}

/* Equal for variables of one type and one initial value. */
static uint64_t hash_of_kind(const struct variable *variable)
{
	const unsigned char *initial = initial_of(variable);
	uint64_t size = variable->atom->end - variable->atom->start;
	uint64_t hash = hash_bytes(HASH_START, type_of(variable), strlen(type_of(variable)) + 1);

	hash = hash_bytes(hash, &size, sizeof(size));
	return initial ? hash_bytes(hash, initial, size) : hash;
}

struct kinds {
	VEC(uint64_t) list; /* sorted */
};

static struct kinds kinds_of(const struct unpaired *variables)
{
	struct kinds kinds = {0};

	for (size_t i = 0; i < variables->list.count; i++)
		*vec_push(&kinds.list) = hash_of_kind(variables->list.list[i]);
	if (kinds.list.count)
		qsort(kinds.list.list, kinds.list.count, sizeof(*kinds.list.list), by_hash);
	return kinds;
}

static bool has_kind(const struct kinds *kinds, const struct variable *variable)
{
	uint64_t hash = hash_of_kind(variable);

	return kinds->list.count && bsearch(&hash, kinds->list.list, kinds->list.count,
					    sizeof(hash), by_hash);
}

/*
 * Code may have moved to another function with its variable, while the function that had it got a
 * new one of that name and type.  Then the two of that function are the only ones left, but the old
 * one's state belongs to the code that moved.  So if there is a variable without a twin that one of
 * a pair could belong to, the pair is unsure: statics_confirm() looks for an unchanged function
 * that uses it.
 */
static void doubt_left_over(struct statics *statics, struct atom *const *patched, size_t count,
			    const struct unpaired *a, const struct unpaired *b)
{
	struct kinds only_a = kinds_of(a), only_b = kinds_of(b);

	for (size_t i = 0; i < count && (a->list.count || b->list.count); i++) {
		struct variable *new = &statics->patched.variables[patched[i]->index];

		if (new->left_over &&
		    (has_kind(&only_a, new) ||
		     has_kind(&only_b, &statics->orig.variables[patched[i]->twin->index])))
			new->unsure = true;
	}
	vec_deinit(&only_a.list);
	vec_deinit(&only_b.list);
}

static void sort(struct unpaired *variables, const struct grouping *grouping)
{
	qsort(variables->list.list, variables->list.count, sizeof(*variables->list.list),
	      grouping->sort);
}

void statics_pair(struct statics *statics, struct atom *const *a, size_t count_a,
		  struct atom *const *b, size_t count_b)
{
	struct unpaired left = {0}, right = {0};

	collect(&statics->orig, a, count_a, &left);
	collect(&statics->patched, b, count_b, &right);
	if (left.list.count && right.list.count) {
		bool known = find_declarations(statics->orig.object, &left);
		known &= find_declarations(statics->patched.object, &right);
		const struct grouping *grouping = known ? &by_declaration : &by_use;

		sort(&left, grouping);
		sort(&right, grouping);
		/* Wide groups pair the only ones left of a function: the type changed. */
		for (size_t i = 0; i < ARRAY_SIZE(grouping->compare); i++) {
			pair_groups(&left, &right, grouping->compare[i]);
			drop_decided(&left);
			drop_decided(&right);
		}
		doubt_left_over(statics, b, count_b, &left, &right);
		pair_rest(&left, &right);
	}
	vec_deinit(&left.list);
	vec_deinit(&right.list);
}

/* ---- after the comparison ------------------------------------------------------------------ */

void statics_confirm(const struct pairing *pairing)
{
	const struct object *patched = pairing->patched;
	struct variable *variables = pairing->statics->patched.variables;

	if (!variables)
		return;
	for (size_t i = 0; i < patched->atoms.count; i++) {
		const struct atom *user = patched->atoms.list[i];

		if (user->class != ATOM_CODE || pairing->verdicts[i].state != STATE_SAME)
			continue;
		for (size_t j = 0; j < user->reloc_count; j++) {
			const struct atom *used =
				reloc_reference(patched, user->section, &user->relocs[j]).atom;

			if (used)
				variables[used->index].unsure = false;
		}
	}
	for (size_t i = 0; i < patched->atoms.count; i++) {
		struct atom *atom = patched->atoms.list[i];

		if (variables[i].unsure)
			atom->ambiguous = atom->twin->ambiguous = true;
	}
}
