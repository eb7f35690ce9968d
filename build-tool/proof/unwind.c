// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The unwind tables, which only objtool makes.  They must say about each thing what objtool says
 * when it reads the unit's whole object.
 */
#include "proof/proof_unwind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "proof/proof_check.h"
#include "proof/proof_tables.h"

/*
 * A state of zeroes says that no code follows.  It ends the table of a section, and it stands where
 * a function of another section lies in front of NOPs that no symbol covers; in the unit, nothing
 * does.
 */
static const unsigned char no_code[16];

/* What the unwinder must know from a place of code on. */
struct state {
	const struct section *section;
	uint64_t at;
	const unsigned char *bytes;
	bool used;
};
struct states {
	VEC(struct state) list;
	uint64_t size;
};

static int state_order(const void *left, const void *right)
{
	const struct state *a = left, *b = right;

	if (a->section != b->section)
		return a->section->index < b->section->index ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/*
 * Read two parallel tables (arch/x86/kernel/unwind_orc.c): 4 bytes with the address of code, and
 * what the unwinder must know from there on.  Returns NULL, or what is wrong.
 */
static const char *read_states(const struct proof_rules *rules, const struct object *object,
			       struct states *ret)
{
	const struct section *ip = object_find_section(object, rules->unwind_ip);
	const struct section *unwind = object_find_section(object, rules->unwind);
	uint64_t count = ip ? ip->size / 4 : 0;

	if (!ip || !unwind || !count || !ip->data || !unwind->data || unwind->size < count ||
	    ip->size % 4 || unwind->size % count ||
	    unwind->size / count > sizeof(no_code) || ip->relocs.count != count ||
	    unwind->relocs.count)
		return "malformed";
	ret->size = unwind->size / count;
	for (uint64_t i = 0; i < count; i++) {
		const struct reloc *reloc = &ip->relocs.list[i];

		if (reloc->offset != i * 4 || reloc->type != rules->pc32 ||
		    !reloc->symbol->section || object_get32(object, ip->data + i * 4) ||
		    !section_is_text(reloc->symbol->section))
			return "malformed";
		*vec_push(&ret->list) = (struct state){
			.section = reloc->symbol->section,
			.at = reloc->symbol->value + reloc->addend,
			.bytes = unwind->data + i * ret->size,
		};
	}
	qsort(ret->list.list, count, sizeof(*ret->list.list), state_order);
	return NULL;
}

/* Index of the state that counts at a place, or -1. */
static int64_t state_at(const struct states *states, const struct section *section, uint64_t at)
{
	const struct state key = {.section = section, .at = at};
	const struct state *list = states->list.list;
	size_t behind = first_index(i, states->list.count, state_order(&list[i], &key) > 0);

	return behind && list[behind - 1].section == section ? (int64_t)behind - 1 : -1;
}

/* Both tables must be equal wherever one of them changes within the thing. */
static struct error *compare_states(struct check *check, const struct thing *thing,
				    const struct states *ours, const struct states *theirs)
{
	/* objtool adds its sections behind the compiler's, which keep their numbers. */
	const struct section *section =
		thing->source->unwound.sections.list[thing->section->index];
	uint64_t at = thing->start - thing->lead, size = theirs->size;
	int64_t a = state_at(theirs, section, at);
	int64_t b = state_at(ours, thing->at, thing->place - thing->lead);

	if (strcmp(section->name, thing->section->name))
		return wrong(check, "objtool has renumbered the sections of %s",
			     thing->source->unwound.path);
	while (at < thing->end) {
		const unsigned char *x = a < 0 ? no_code : theirs->list.list[a].bytes;
		const unsigned char *y = b < 0 ? no_code : ours->list.list[b].bytes;

		if (memcmp(x, y, size))
			return wrong(check, "the unwind table at %#" PRIx64
					    " of '%s' is not what objtool says of the unit",
				     at - thing->start, thing_name(thing));
		uint64_t next = thing->end;
		const struct state *after = &theirs->list.list[a + 1];
		if (a + 1 < (int64_t)theirs->list.count && after->section == section &&
		    after->at < next)
			next = after->at;
		after = &ours->list.list[b + 1];
		if (b + 1 < (int64_t)ours->list.count && after->section == thing->at &&
		    after->at - thing->place + thing->start < next)
			next = after->at - thing->place + thing->start;
		at = next;
		a = state_at(theirs, section, at);
		b = state_at(ours, thing->at, at - thing->start + thing->place);
	}
	return NULL;
}

/* Each section's last state must say that no code follows. */
static struct error *check_terminators(struct check *check, const struct states *ours)
{
	for (size_t i = 0; i < ours->list.count; i++) {
		const struct state *state = &ours->list.list[i];
		bool code = state->at < state->section->size;
		bool last = i + 1 == ours->list.count ||
			    ours->list.list[i + 1].section != state->section;

		if (i && !state_order(&ours->list.list[i - 1], state))
			return wrong(check, "two unwind entries for %s+%#" PRIx64,
				     state->section->name, state->at);
		if (last != !code || (!code && (state->at != state->section->size ||
						memcmp(state->bytes, no_code, ours->size))))
			return wrong(check, "the unwind table does not end with section %s",
				     state->section->name);
	}
	return NULL;
}

static struct error *check_source(struct check *check, struct source *source,
				  const struct states *ours)
{
	struct states theirs = {0};
	struct error *error = NULL;
	const char *what = read_states(check->proof->rules, &source->unwound, &theirs);

	if (what)
		error = wrong(check, "the unwind table of %s is %s", source->unwound.path, what);
	else if (theirs.size != ours->size)
		error = wrong(check, "the unwind table has entries of another size");
	for (size_t i = 0; !error && i < source->things.count; i++) {
		const struct thing *thing = source->things.list[i];

		if (thing->at && section_is_text(thing->section) &&
		    strncmp(thing->section->name, ".altinstr_", strlen(".altinstr_")))
			error = compare_states(check, thing, ours, &theirs);
	}
	vec_deinit(&theirs.list);
	return error;
}

/*
 * At a jump that pokepatch added, the table must say the same as at the jump that leads to it, or
 * as at a function's entry if calls lead to it.
 */
static struct error *check_veneers(struct check *check, const struct states *ours)
{
	const struct state *entry = NULL;

	for (size_t i = 0; !entry && i < check->proof->sources.count; i++)
		for (size_t j = 0; !entry && j < check->proof->sources.list[i]->things.count; j++) {
			const struct thing *thing = check->proof->sources.list[i]->things.list[j];
			int64_t at = thing->replaced && !thing->carried
					     ? state_at(ours, thing->at, thing->place)
					     : -1;

			if (at >= 0)
				entry = &ours->list.list[at];
		}
	for (size_t i = 0; i < check->veneers.count; i++) {
		const struct our_jump *veneer = &check->veneers.list[i];
		uint64_t end = veneer->place + check->proof->rules->veneer.size;
		int64_t at = state_at(ours, veneer->section, veneer->place);
		int64_t from = veneer->from < 0 ? -1
						: state_at(ours, veneer->section, veneer->from);
		const struct state *before = from < 0 ? entry : &ours->list.list[from];

		if (!before || at < 0 || at != state_at(ours, veneer->section, end - 1) ||
		    memcmp(ours->list.list[at].bytes, before->bytes, ours->size))
			return wrong(check, "the unwind table at %s+%#" PRIx64 " is not that of a jump",
				     veneer->section->name, veneer->place);
	}
	return NULL;
}

static struct error *add_whole(struct check *check, const char *name)
{
	const struct section *section = object_find_section(&check->object, name);

	if (!section)
		return NULL;
	TRY(tables_check_header(check, section, section->name));
	return extent_add(check, section, 0, section->size, 1, PLACED, name);
}

struct error *unwind_check(struct check *check)
{
	const struct proof_rules *rules = check->proof->rules;

	if (!rules->unwind || !check->proof->input->glue_unwound)
		return NULL;
	TRY(add_whole(check, rules->unwind));
	TRY(add_whole(check, rules->unwind_ip));
	check->unwind = xcalloc(1, sizeof(*check->unwind));
	const char *what = read_states(rules, &check->object, check->unwind);
	if (what)
		return wrong(check, "the unwind table is %s", what);
	TRY(check_terminators(check, check->unwind));
	for (size_t i = 0; i < check->proof->sources.count; i++)
		if (check->proof->sources.list[i]->have_unwound)
			TRY(check_source(check, check->proof->sources.list[i],
					 check->unwind));
	return check_veneers(check, check->unwind);
}

static bool is_no_code(const struct states *states, const struct section *section, uint64_t start,
		       uint64_t end)
{
	int64_t at = state_at(states, section, start);

	return at < 0 || (at == state_at(states, section, end - 1) &&
			  !memcmp(states->list.list[at].bytes, no_code, states->size));
}

struct error *unwind_check_gap(const struct check *check, const struct section *section,
			       uint64_t start, uint64_t padding, uint64_t end)
{
	const struct states *ours = check->unwind;

	if (!ours)
		return NULL;
	/* Behind a call that returns for all that objtool knows, the caller's state goes on. */
	if (start < padding &&
	    state_at(ours, section, start - 1) != state_at(ours, section, padding - 1) &&
	    !is_no_code(ours, section, start, padding))
		return wrong(check, "the unwind table changes at %s+%#" PRIx64
				    ", where a function has ended",
			     section->name, start);
	if (padding < end && !is_no_code(ours, section, padding, end))
		return wrong(check, "the unwind table has an entry at %s+%#" PRIx64
				    ", where no code is",
			     section->name, padding);
	return NULL;
}

void unwind_deinit(struct check *check)
{
	if (check->unwind)
		vec_deinit(&check->unwind->list);
	free(check->unwind);
}
