// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares atoms: bytes, relocations, and the table entries that belong to them. */
#include "diff/compare.h"

#include <string.h>

#include "diff/line_numbers.h"
#include "object/names.h"

static bool same_content(const struct reference *a, const struct reference *b)
{
	uint64_t size = content_size(a->atom, a->target);

	return size && a->addend == b->addend && size == content_size(b->atom, b->target) &&
	       !memcmp(a->atom->section->data + a->target, b->atom->section->data + b->target,
		       size);
}

/*
 * Writable data serves the purpose that its name tells, so the names must be equal.  Constants may
 * have different names: clang keeps one of several equal ones, under the name of any of them, so
 * f() may use ".rodata..L__const.g.s".  Data without symbols has no names, only gcc's numbers for
 * its sections (".data..Lubsan_data7"), which move when code in front of it changes.
 */
static bool same_purpose(const struct atom *a, const struct atom *b)
{
	return !(b->section->flags & SHF_WRITE) || (!a->symbol && !b->symbol) ||
	       !strcmp(a->key, b->key);
}

static bool same_reference(struct pairing *pairing, const struct reference *a,
			   const struct reference *b)
{
	if (!a->atom || !b->atom)
		return !a->atom && !b->atom && a->symbol->special == b->symbol->special &&
		       a->addend == b->addend && !strcmp(a->symbol->name, b->symbol->name);
	if (a->atom->class != b->atom->class)
		return false;
	switch (a->atom->class) {
	case ATOM_STRINGS:
	case ATOM_CONST:
		return same_content(a, b);
	case ATOM_PRIVATE:
		return a->addend == b->addend && same_purpose(a->atom, b->atom) &&
		       atom_same(pairing, a->atom, b->atom);
	case ATOM_PARTNER:
		return a->addend == b->addend && atom_same(pairing, a->atom, b->atom);
	default:
		return a->addend == b->addend && a->atom->twin == b->atom;
	}
}

/* The string of one-byte characters, with its terminator, that a reference leads to; or NULL. */
static const char *text_of(const struct reference *reference)
{
	const struct section *section;
	uint64_t size;

	if (!reference->atom || reference->atom->class != ATOM_STRINGS || reference->addend)
		return NULL;
	section = reference->atom->section;
	size = content_size(reference->atom, reference->target);
	if (section->entsize != 1 || !size || section->data[reference->target + size - 1])
		return NULL;
	return (const char *)section->data + reference->target;
}

static bool same_but_line(struct pairing *pairing, const struct section *section_a,
			  const struct reloc *a, const struct reference *left,
			  const struct section *section_b, const struct reloc *b,
			  const struct reference *right)
{
	const char *text_a = text_of(left), *text_b = text_of(right);

	return text_a && text_b &&
	       same_text_but_line(pairing->orig, section_a, a->offset, text_a, pairing->patched,
				  section_b, b->offset, text_b, pairing->authored);
}

static bool same_relocs(struct pairing *pairing, const struct section *section_a,
			const struct reloc *a, size_t count_a, uint64_t start_a,
			const struct section *section_b, const struct reloc *b, size_t count_b,
			uint64_t start_b)
{
	const struct object *orig = pairing->orig, *patched = pairing->patched;

	if (count_a != count_b)
		return false;
	for (size_t i = 0; i < count_a; i++) {
		if (a[i].offset - start_a != b[i].offset - start_b || a[i].upper != b[i].upper ||
		    arch_reloc_meaning(orig->arch, a[i].type) !=
			    arch_reloc_meaning(patched->arch, b[i].type))
			return false;
		struct reference left = reloc_reference(orig, section_a, &a[i]);
		struct reference right = reloc_reference(patched, section_b, &b[i]);
		if (!same_reference(pairing, &left, &right) &&
		    !same_but_line(pairing, section_a, &a[i], &left, section_b, &b[i], &right))
			return false;
	}
	return true;
}

/* Bit-fields take the low bits of a byte first on little-endian machines, else the high bits. */
static bool same_but_ignored(const struct object *object, const struct entry_mask *ignored,
			     const unsigned char *a, const unsigned char *b, uint64_t size)
{
	unsigned int end = ignored->offset + ignored->size, low = (1 << ignored->bits) - 1;
	uint8_t partly = object->arch->elf.data == ELFDATA2LSB ? low : low << (8 - ignored->bits);

	if (end + !!ignored->bits > size)
		return !memcmp(a, b, size);
	if (ignored->bits && (a[end] ^ b[end]) & ~partly)
		return false;
	end += !!ignored->bits;
	return !memcmp(a, b, ignored->offset) && !memcmp(a + end, b + end, size - end);
}

static bool same_entry(struct pairing *pairing, const struct entry *a, const struct entry *b)
{
	const struct object *orig = pairing->orig, *patched = pairing->patched;

	if (a->size != b->size || strcmp(a->section->name, b->section->name) ||
	    !same_but_ignored(orig, &a->layout->ignored, a->section->data + a->start,
			      b->section->data + b->start, a->size))
		return false;

	size_t count_a, count_b;
	struct reloc *relocs_a = section_relocs(a->section, a->start, a->start + a->size, &count_a);
	struct reloc *relocs_b = section_relocs(b->section, b->start, b->start + b->size, &count_b);
	while (count_a && count_a == count_b &&
	       entry_partner_is_empty(orig, a, &relocs_a[count_a - 1]) &&
	       entry_partner_is_empty(patched, b, &relocs_b[count_b - 1]))
		count_a = --count_b;
	return same_relocs(pairing, a->section, relocs_a, count_a, a->start, b->section, relocs_b,
			   count_b, b->start);
}

static bool same_bytes(struct pairing *pairing, const struct atom *a, const struct atom *b)
{
	if (a->end - a->start != b->end - b->start)
		return false;
	if ((a->section->type == SHT_NOBITS) != (b->section->type == SHT_NOBITS))
		return false;
	if (a->section->type == SHT_NOBITS)
		return true;

	const unsigned char *bytes_a = a->section->data + a->start;
	const unsigned char *bytes_b = b->section->data + b->start;
	uint64_t size = a->end - a->start;
	if (a->class == ATOM_CODE || a->class == ATOM_INIT)
		return code_first_difference(pairing->orig, a, pairing->patched, b, pairing->authored) == size;
	if (a->section->rule->policy != SECTION_DATA)
		return !memcmp(bytes_a, bytes_b, size);
	return same_but_ignored(pairing->orig, &a->section->rule->layouts[0].ignored, bytes_a,
				bytes_b, size);
}

static bool same_prefix(const struct atom *a, const struct atom *b)
{
	return a->prefix == b->prefix &&
	       (!a->prefix || !memcmp(a->section->data + a->start - a->prefix,
				      b->section->data + b->start - b->prefix, a->prefix));
}

static bool same_short_branches(const struct atom *a, const struct atom *b)
{
	if (a->short_branches.count != b->short_branches.count)
		return false;
	for (size_t i = 0; i < a->short_branches.count; i++) {
		const struct short_branch *x = &a->short_branches.list[i];
		const struct short_branch *y = &b->short_branches.list[i];
		const struct atom *to_x = atom_at(a->section, x->target);
		const struct atom *to_y = atom_at(b->section, y->target);

		if (x->field - a->start != y->field - b->start || !to_x || !to_y ||
		    to_x->twin != to_y || x->target - to_x->start != y->target - to_y->start)
			return false;
	}
	return true;
}

/* The ids of a list have zeroes for contents: the kernel's link fills them in by their names. */
static bool same_spanned(const struct atom *a, const struct atom *b)
{
	if (a->spanned.count != b->spanned.count)
		return false;
	for (size_t i = 0; i < a->spanned.count; i++) {
		const struct symbol *x = a->spanned.list[i], *y = b->spanned.list[i];
		struct source_name name = source_name_of(x->name), other = source_name_of(y->name);

		if (x->value - a->start != y->value - b->start || name.length != other.length ||
		    memcmp(name.text, other.text, name.length))
			return false;
	}
	return true;
}

/*
 * Whether two atoms are in sections of the same meaning.  Code reaches per-CPU data in another way
 * than other data, and a section of its own marks code that must not be probed.  A variable that
 * now needs a larger alignment than the running kernel's has changed, too, and one that new code
 * may write and that is read-only there.
 */
static bool same_place(const struct atom *a, const struct atom *b)
{
	const struct section_rule *rule_a = a->section->rule, *rule_b = b->section->rule;

	if (rule_a != rule_b && (rule_a->keep_name || rule_b->keep_name))
		return false;
	if (rule_a->sealed && !rule_b->sealed)
		return false;
	/* ___ksymtab+foo, ___ksymtab_gpl+foo: the name alone says which modules may use foo. */
	if (a->class == ATOM_EXPORT && strcmp(a->section->name, b->section->name))
		return false;
	return !(a->class == ATOM_DATA || a->class == ATOM_RODATA) ||
	       b->section->align <= a->section->align || b->section->atoms.count > 1;
}

static bool compare_atoms(struct pairing *pairing, const struct atom *a, const struct atom *b)
{
	if (a->class != b->class || !same_place(a, b) || !same_bytes(pairing, a, b) ||
	    !same_prefix(a, b) || !same_short_branches(a, b) || !same_spanned(a, b) ||
	    !same_relocs(pairing, a->section, a->relocs, a->reloc_count, a->start, b->section,
			 b->relocs, b->reloc_count, b->start))
		return false;
	if (a->entries.count != b->entries.count)
		return false;
	for (size_t i = 0; i < a->entries.count; i++)
		if (!same_entry(pairing, &a->entries.list[i], &b->entries.list[i]))
			return false;
	return true;
}

bool atom_same(struct pairing *pairing, const struct atom *a, const struct atom *b)
{
	struct atom_verdict *verdict = &pairing->verdicts[b->index];
	/* An atom compared by content may meet several others; cache the last result. */
	bool keep = a->twin == b;

	if (keep && verdict->state != STATE_UNKNOWN)
		return verdict->state != STATE_CHANGED;
	/* In a cycle of references by content, the rest of the cycle decides. */
	if (!keep && verdict->state == STATE_COMPARING)
		return true;

	if (!keep && verdict->met == a)
		return verdict->met_same;

	enum atom_state before = verdict->state;
	verdict->state = STATE_COMPARING;
	bool same = compare_atoms(pairing, a, b);
	verdict->state = keep ? (same ? STATE_SAME : STATE_CHANGED) : before;
	verdict->met = a;
	verdict->met_same = same;
	return same;
}

uint64_t atom_first_difference(struct pairing *pairing, const struct atom *a, const struct atom *b)
{
	uint64_t size_a = a->end - a->start, size_b = b->end - b->start;
	uint64_t first = size_a < size_b ? size_a : size_b;

	if (a->section->data && b->section->data)
		first = code_first_difference(pairing->orig, a, pairing->patched, b, pairing->authored);
	for (size_t i = 0; i < a->reloc_count && i < b->reloc_count; i++) {
		uint64_t at = b->relocs[i].offset - b->start;

		if (at >= first)
			break;
		if (!same_relocs(pairing, a->section, &a->relocs[i], 1, a->start, b->section,
				 &b->relocs[i], 1, b->start))
			return at;
	}
	return first;
}
