/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes instructions with capstone, by one handle for each object. */
#ifndef POKEPATCH_DISASM_H
#define POKEPATCH_DISASM_H

#include <capstone/capstone.h>

#include "object/object.h"

struct disasm_mode {
	cs_arch arch;
	cs_mode mode;
};

/* disasm_close - for object_deinit(); NULL is allowed. */
void disasm_close(struct disasm *disasm);

/*
 * disasm - call visit for every instruction that begins in [start, end) of a text section, in
 * order; its address is its offset in the section.  Skips bytes that are no instruction, and data
 * among code that mapping symbols mark.  Visits nothing where capstone does not know the machine.
 */
typedef void (*disasm_visit)(void *context, csh handle, const cs_insn *insn);
void disasm(struct object *object, const struct section *section, uint64_t start, uint64_t end,
	    disasm_visit visit, void *context);

/*
 * disasm_for_people - the same, with x86's instructions as objdump writes them.  The operands in
 * the details have that order then, too, so code that asks for these uses disasm().
 */
void disasm_for_people(struct object *object, const struct section *section, uint64_t start,
		       uint64_t end, disasm_visit visit, void *context);

/* disasm_at - the instruction at an offset, or NULL; valid until the next call. */
const cs_insn *disasm_at(struct object *object, const struct section *section, uint64_t offset,
			 csh *ret_handle);

/*
 * next_code_range - the next part of [*ret_end, end) that is code and not data, as *start and
 * *ret_end; false if there is none.  The first call is with *ret_end at the start of the range.
 */
bool next_code_range(const struct section *section, uint64_t *start, uint64_t *ret_end,
		     uint64_t end);

/* code_get32, code_get16 - 4 or 2 bytes of an instruction, in the byte order of code. */
uint32_t code_get32(const struct object *object, const struct section *section, uint64_t offset);
uint16_t code_get16(const struct object *object, const struct section *section, uint64_t offset);

#endif /* POKEPATCH_DISASM_H */
