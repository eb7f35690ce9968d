// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes instructions with capstone, and finds the code among a text section's data. */
#include "object/disasm.h"

#include <stdlib.h>
#include <string.h>

#include "common/search.h"

struct disasm {
	csh handle;
	cs_insn *insn;
	bool failed;
};

void disasm_close(struct disasm *disasm)
{
	if (!disasm)
		return;
	if (!disasm->failed) {
		cs_free(disasm->insn, 1);
		cs_close(&disasm->handle);
	}
	free(disasm);
}

static struct disasm *disasm_open(struct object *object)
{
	const struct disasm_mode *mode = object->arch->code.disasm;
	struct disasm *disasm = object->disasm;

	if (disasm)
		return disasm->failed ? NULL : disasm;
	disasm = object->disasm = xcalloc(1, sizeof(*disasm));
	disasm->failed = !mode || cs_open(mode->arch, mode->mode, &disasm->handle);
	if (disasm->failed)
		return NULL;
	cs_option(disasm->handle, CS_OPT_SKIPDATA, CS_OPT_ON);
	cs_option(disasm->handle, CS_OPT_DETAIL, CS_OPT_ON);
	disasm->insn = cs_malloc(disasm->handle);
	return disasm;
}

/* Index of the first mark behind an offset. */
static size_t first_mark(const struct section *section, uint64_t offset)
{
	return first_index(i, section->marks.count, section->marks.list[i].offset > offset);
}

bool next_code_range(const struct section *section, uint64_t *start, uint64_t *ret_end,
		     uint64_t end)
{
	uint64_t at = *ret_end;

	while (at < end) {
		size_t next = first_mark(section, at);
		bool data = next && section->marks.list[next - 1].data;
		uint64_t until =
			next < section->marks.count ? section->marks.list[next].offset : end;

		if (until > end)
			until = end;
		if (!data) {
			*start = at;
			*ret_end = until;
			return true;
		}
		at = until;
	}
	return false;
}

void disasm(struct object *object, const struct section *section, uint64_t start, uint64_t end,
	    disasm_visit visit, void *context)
{
	struct disasm *disasm = disasm_open(object);

	if (!disasm || !section->data)
		return;
	for (uint64_t range_end = start; next_code_range(section, &start, &range_end, end);) {
		const uint8_t *code = section->data + start;
		size_t size = range_end - start;
		uint64_t address = start;

		while (size && cs_disasm_iter(disasm->handle, &code, &size, &address, disasm->insn))
			if (disasm->insn->id)
				visit(context, disasm->handle, disasm->insn);
	}
}

void disasm_for_people(struct object *object, const struct section *section, uint64_t start,
		       uint64_t end, disasm_visit visit, void *context)
{
	struct disasm *disasm_of = disasm_open(object);

	if (!disasm_of)
		return;
	/* Machines with one syntax refuse, and it makes no difference. */
	cs_option(disasm_of->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	disasm(object, section, start, end, visit, context);
	cs_option(disasm_of->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_INTEL);
}

const cs_insn *disasm_at(struct object *object, const struct section *section, uint64_t offset,
			 csh *ret_handle)
{
	struct disasm *disasm = disasm_open(object);

	if (!disasm || !section->data || offset >= section->size)
		return NULL;
	const uint8_t *code = section->data + offset;
	size_t size = section->size - offset;

	if (!cs_disasm_iter(disasm->handle, &code, &size, &offset, disasm->insn) ||
	    !disasm->insn->id)
		return NULL;
	*ret_handle = disasm->handle;
	return disasm->insn;
}

uint32_t code_get32(const struct object *object, const struct section *section, uint64_t offset)
{
	uint32_t value;

	memcpy(&value, section->data + offset, sizeof(value));
	return arch_is_big(object->arch) ? be32toh(value) : le32toh(value);
}

uint16_t code_get16(const struct object *object, const struct section *section, uint64_t offset)
{
	uint16_t value;

	memcpy(&value, section->data + offset, sizeof(value));
	return arch_is_big(object->arch) ? be16toh(value) : le16toh(value);
}
