// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares code and texts, and lets line numbers differ that the debug information confirms. */
#include "diff/line_numbers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "object/debuginfo.h"

/* The constants that an atom's code loads; load_at() reads them when it first needs one. */
struct loads {
	struct object *object;
	const struct atom *atom;
	VEC(struct constant_load) list;
	size_t next; /* index of the first load that may hold the next offset */
	bool read;
};

static void note_load(void *context, const struct constant_load *load)
{
	struct loads *loads = context;

	*vec_push(&loads->list) = *load;
}

/* The load whose instruction holds the byte at an offset; callers ask for growing offsets. */
static const struct constant_load *load_at(struct loads *loads, uint64_t offset)
{
	const struct atom *atom = loads->atom;
	const struct arch_code *code = &loads->object->arch->code;
	uint64_t place = atom->start + offset;

	if (!loads->read && section_is_text(atom->section) && code->constant_loads)
		code->constant_loads(loads->object, atom->section, atom->start, atom->end,
				     note_load, loads);
	loads->read = true;
	while (loads->next < loads->list.count && loads->list.list[loads->next].end <= place)
		loads->next++;
	if (loads->next == loads->list.count || loads->list.list[loads->next].start > place)
		return NULL;
	return &loads->list.list[loads->next];
}

#define CALL_LINES 8  /* lines of a macro's call */
#define LINES_ROOM 16 /* depth of inlining */

/* Did the author write one of these lines? */
static bool is_authored(const struct authored_lines *authored, uint64_t first, uint64_t last)
{
	const uint64_t *list = authored ? authored->numbers.list : NULL;
	size_t count = authored ? authored->numbers.count : 0;
	size_t index = first_index(i, count, list[i] >= first);

	return index < count && list[index] <= last;
}

/*
 * pneigh_lookup() has ASSERT_RTNL() in line 1976, which expands to
 * __warn_printk("... %s (%d)\n", __FILE__, __LINE__):
 *
 *	mov $0x7b8,%edx
 *
 * The debug information is of the same compilation.  So it gives the same number as the line of
 * this instruction, or of a call by which the instruction was inlined.  A constant is a line number
 * if it equals the line in both objects, at the same depth of inlining.
 *
 * __LINE__ is the last line of a macro's call.  pid_task() has rcu_dereference_check(x,\n y) in
 * lines 401 and 402.  clang's instruction is of line 401 and passes 402 to
 * lockdep_rcu_suspicious(), so allow for the lines of a call.
 */
static bool are_lines_of(struct object *orig, const struct section *section_a, uint64_t place_a,
			 uint64_t value_a, struct object *patched,
			 const struct section *section_b, uint64_t place_b, uint64_t value_b,
			 const struct authored_lines *authored)
{
	int lines_a[LINES_ROOM], lines_b[LINES_ROOM];
	size_t count_a = debuginfo_lines(debuginfo_of(orig), section_a->index, place_a, lines_a,
					 LINES_ROOM);
	size_t count_b = debuginfo_lines(debuginfo_of(patched), section_b->index, place_b, lines_b,
					 LINES_ROOM);

	for (size_t i = 0; i < count_a && i < count_b; i++)
		if (value_a - (uint64_t)lines_a[i] == value_b - (uint64_t)lines_b[i] &&
		    value_a - (uint64_t)lines_a[i] < CALL_LINES &&
		    !is_authored(authored, (uint64_t)lines_b[i],
				 (uint64_t)lines_b[i] + CALL_LINES - 1))
			return true;
	return false;
}

static bool differ_in_line_only(const struct loads *a, const struct constant_load *load_a,
				const struct loads *b, const struct constant_load *load_b,
				const struct authored_lines *authored)
{
	if (!load_a || !load_b ||
	    load_a->start - a->atom->start != load_b->start - b->atom->start ||
	    load_a->end - a->atom->start != load_b->end - b->atom->start ||
	    memcmp(load_a->rest, load_b->rest, sizeof(load_a->rest)))
		return false;
	return are_lines_of(a->object, a->atom->section, load_a->start, load_a->value, b->object,
			    b->atom->section, load_b->start, load_b->value, authored);
}

uint64_t code_first_difference(struct object *orig, const struct atom *a, struct object *patched,
			       const struct atom *b, const struct authored_lines *authored)
{
	const unsigned char *bytes_a = a->section->data + a->start;
	const unsigned char *bytes_b = b->section->data + b->start;
	uint64_t size_a = a->end - a->start, size_b = b->end - b->start;
	uint64_t size = size_a < size_b ? size_a : size_b, i = 0;
	struct loads loads_a = {.object = orig, .atom = a};
	struct loads loads_b = {.object = patched, .atom = b};

	if (!memcmp(bytes_a, bytes_b, size))
		return size;
	while (i < size) {
		if (bytes_a[i] == bytes_b[i]) {
			i++;
			continue;
		}
		const struct constant_load *load_a = load_at(&loads_a, i);
		const struct constant_load *load_b = load_at(&loads_b, i);
		if (!differ_in_line_only(&loads_a, load_a, &loads_b, load_b, authored))
			break;
		i = load_a->end - a->start;
	}
	vec_deinit(&loads_a.list);
	vec_deinit(&loads_b.list);
	return i < size ? i : size;
}

/* The decimal number around an offset in a text, with its start and end; false if there is none. */
static bool number_at(const char *text, size_t place, uint64_t *ret, size_t *ret_start,
		      size_t *ret_end)
{
	size_t start = place, end = place;

	while (start && isdigit((unsigned char)text[start - 1]))
		start--;
	while (isdigit((unsigned char)text[end]))
		end++;
	if (start == end || end - start > 9 || !start || text[start - 1] != ':')
		return false;
	*ret = strtoul(text + start, NULL, 10);
	*ret_start = start;
	*ret_end = end;
	return true;
}

bool same_text_but_line(struct object *orig, const struct section *section_a, uint64_t place_a,
			const char *a, struct object *patched, const struct section *section_b,
			uint64_t place_b, const char *b, const struct authored_lines *authored)
{
	uint64_t number_a, number_b;
	size_t start_a, end_a, start_b, end_b, i = 0;

	if (!section_is_text(section_a) || !section_is_text(section_b))
		return false;
	while (a[i] && a[i] == b[i])
		i++;
	return number_at(a, i, &number_a, &start_a, &end_a) &&
	       number_at(b, i, &number_b, &start_b, &end_b) && start_a == start_b &&
	       !strcmp(a + end_a, b + end_b) &&
	       are_lines_of(orig, section_a, place_a, number_a, patched, section_b, place_b,
			    number_b, authored);
}
