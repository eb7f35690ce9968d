// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads instructions of 4 bytes by tables of masks. */
#include "arch/fixed.h"

#include <string.h>

void fixed_local_references(struct object *object, const struct section *section, uint64_t start,
			    uint64_t end, const struct local_form *forms, found_reference found,
			    void *context)
{
	for (uint64_t range_end = start; next_code_range(section, &start, &range_end, end);)
		for (uint64_t at = start; at + 4 <= range_end; at += 4) {
			uint32_t instruction = code_get32(object, section, at);
			const struct local_form *form = forms;

			while (form->displacement && (instruction & form->mask) != form->match)
				form++;
			if (!form->displacement)
				continue;
			struct local_reference reference = {
				.offset = at,
				.target = at + form->displacement(instruction),
				.type = form->type,
				.size = 4,
			};
			found(context, &reference);
		}
}

void fixed_operand_kinds(struct object *object, const struct section *section, uint64_t start,
			 uint64_t end, const struct operand_form *forms, uint8_t *kinds)
{
	/* A pointer among the code (ldr x0, =sym) is a stored value, as in data. */
	memset(kinds, OPERAND_VALUE | OPERAND_STORED, end - start);
	for (uint64_t at = start, range_end = start;
	     next_code_range(section, &at, &range_end, end);)
		for (; at + 4 <= range_end; at += 4) {
			uint32_t instruction = code_get32(object, section, at);
			const struct operand_form *form = forms;

			while ((instruction & form->mask) != form->match)
				form++;
			memset(kinds + (at - start), form->kind, 4);
		}
}

void fixed_constant_loads(struct object *object, const struct section *section, uint64_t start,
			  uint64_t end, const struct constant_form *forms,
			  void (*found)(void *context, const struct constant_load *load),
			  void *context)
{
	for (uint64_t at = start, range_end = start;
	     next_code_range(section, &at, &range_end, end);)
		for (; at + 4 <= range_end; at += 4) {
			uint32_t instruction = code_get32(object, section, at);
			const struct constant_form *form = forms;

			while (form->mask && (instruction & form->mask) != form->match)
				form++;
			if (!form->mask)
				continue;
			uint32_t bits = (uint32_t)((1ull << form->size) - 1) << form->shift;
			uint32_t rest = instruction & ~bits;
			struct constant_load load = {
				.start = at,
				.end = at + 4,
				.value = (instruction & bits) >> form->shift,
			};
			memcpy(load.rest, &rest, sizeof(rest));
			found(context, &load);
		}
}

bool fixed_is_padding(struct object *object, const struct section *section, uint64_t start,
		      uint64_t end, uint32_t nop)
{
	for (; start < end && start % 4; start++)
		if (section->data[start])
			return false;
	for (; start + 4 <= end; start += 4) {
		uint32_t instruction = code_get32(object, section, start);

		if (instruction && instruction != nop)
			return false;
	}
	for (; start < end; start++)
		if (section->data[start])
			return false;
	return true;
}
