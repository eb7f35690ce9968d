// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes instructions with the names of what their relocations refer to. */
#include "diff/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "object/atoms.h"
#include "object/disasm.h"

/* Characters of a string that an instruction refers to. */
#define STRING_SHOWN 40

struct lister {
	struct object *object;
	const struct atom *atom;
	size_t reloc; /* of the atom's, the first that is not behind the instructions so far */
	struct listing *listing;
};

static bool reloc_is_string(const struct reference *reference)
{
	return reference->atom && reference->atom->class == ATOM_STRINGS &&
	       reference->atom->section->data &&
	       reference->target < reference->atom->section->size;
}

/* Append what a relocation refers to: "jiffies+0x8", "\"%s: no\"". */
static void add_reference(const struct lister *lister, const struct reloc *reloc,
			  struct buffer *ret)
{
	const struct reference reference =
		reloc_reference(lister->object, lister->atom->section, reloc);

	if (reloc_is_string(&reference)) {
		const char *text =
			(const char *)reference.atom->section->data + reference.target;
		size_t room = reference.atom->section->size - reference.target;
		size_t length = strnlen(text, room < STRING_SHOWN ? room : STRING_SHOWN);
		_free_ char *shown = one_line(xstrndup(text, length));

		buffer_printf(ret, "\"%s%s\"", shown, length == STRING_SHOWN ? "..." : "");
		return;
	}
	buffer_add_string(ret, reference.atom	? reference.atom->name
			       : reference.symbol ? reference.symbol->name
						  : "?");
	/* The addend of a constant counts from the instruction's end already. */
	const bool constant = reference.atom && reference.atom->class == ATOM_CONST;
	const int64_t addend = reference.addend + (constant ? 0 : reloc->behind);
	if (addend)
		buffer_printf(ret, "%+" PRId64, addend);
}

/* Length of what a machine's syntax has in front of a number. */
static size_t sign_length(const char *operand)
{
	return *operand == '#' || *operand == '$';
}

/* Is the last operand of a jump a place in the function?  Return its beginning, or NULL. */
static const char *local_target(csh handle, const cs_insn *insn)
{
	const char *last = strrchr(insn->op_str, ' ');

	if (!cs_insn_group(handle, insn, CS_GRP_JUMP))
		return NULL;
	last = last ? last + 1 : insn->op_str;
	const char *digits = last + sign_length(last);
	return has_prefix(digits, "0x") || (*digits >= '0' && *digits <= '9' && !strchr(digits, '('))
		       ? last
		       : NULL;
}

static uint64_t target_address(const char *target)
{
	return strtoull(target + sign_length(target), NULL, 0);
}

static void list_instruction(void *context, csh handle, const cs_insn *insn)
{
	struct lister *lister = context;
	const struct atom *atom = lister->atom;
	const uint64_t end = insn->address + insn->size;
	struct buffer references = {0};

	while (lister->reloc < atom->reloc_count &&
	       atom->relocs[lister->reloc].offset < insn->address)
		lister->reloc++;
	for (; lister->reloc < atom->reloc_count && atom->relocs[lister->reloc].offset < end;
	     lister->reloc++) {
		if (references.length)
			buffer_add_string(&references, ", ");
		add_reference(lister, &atom->relocs[lister->reloc], &references);
	}

	struct listing_line *line = vec_push(&lister->listing->lines);
	const char *target = references.length ? NULL : local_target(handle, insn);
	line->offset = insn->address - atom->start;
	if (references.length && (cs_insn_group(handle, insn, CS_GRP_CALL) ||
				  cs_insn_group(handle, insn, CS_GRP_JUMP)))
		line->text = xasprintf("%-8s %s", insn->mnemonic, references.text);
	else if (references.length)
		line->text = xasprintf("%-8s %s  # %s", insn->mnemonic, insn->op_str,
				       references.text);
	else if (target)
		line->text = xasprintf("%-8s %.*s+0x%" PRIx64, insn->mnemonic,
				       (int)(target - insn->op_str), insn->op_str,
				       target_address(target) - atom->start);
	else
		line->text = xasprintf("%-8s %s", insn->mnemonic, insn->op_str);
	line->key = target ? xasprintf("%s %.*s", insn->mnemonic, (int)(target - insn->op_str),
				       insn->op_str)
			   : xstrdup(line->text);
	buffer_deinit(&references);
}

void listing_make(struct object *object, const struct atom *atom, struct listing *ret)
{
	struct lister lister = {.object = object, .atom = atom, .listing = ret};

	disasm_for_people(object, atom->section, atom->start, atom->end, list_instruction,
			  &lister);
	ret->cold = ret->lines.count;
	if (!atom->cold)
		return;
	lister.atom = atom->cold;
	lister.reloc = 0;
	disasm_for_people(object, atom->cold->section, atom->cold->start, atom->cold->end,
			  list_instruction, &lister);
}

void listing_deinit(struct listing *listing)
{
	for (size_t i = 0; i < listing->lines.count; i++) {
		free(listing->lines.list[i].text);
		free(listing->lines.list[i].key);
	}
	vec_deinit(&listing->lines);
}
