/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoding instructions, by capstone; one handle for each object, opened when first needed. */
#ifndef POKEPATCH_DISASM_H
#define POKEPATCH_DISASM_H

#include <capstone/capstone.h>

#include "object/object.h"

struct disasm_mode {
	cs_arch arch;
	cs_mode mode;
};

/* disasm_close - what object_deinit() calls; may be NULL. */
void disasm_close(struct disasm *disasm);

/*
 * disasm - call visit for every instruction that begins in [start, end) of a text section,
 * in order; address is its offset in the section.  Bytes that are none are skipped, and so
 * is data among the code, as far as mapping symbols tell.  Where capstone cannot be opened
 * nothing is visited.
 */
typedef void (*disasm_visit)(void *context, csh handle, const cs_insn *insn);
void disasm(struct object *object, const struct section *section, uint64_t start, uint64_t end,
	    disasm_visit visit, void *context);

/* disasm_at - the instruction at an offset, valid until the next call; NULL if there is none. */
const cs_insn *disasm_at(struct object *object, const struct section *section, uint64_t offset,
			 csh *ret_handle);

/*
 * next_code_range - for decoders of our own, too: the next part of [*start, end) that is
 * code; false if there is none.  Begin with *ret_end = *start.
 */
bool next_code_range(const struct section *section, uint64_t *start, uint64_t *ret_end,
		     uint64_t end);

/* code_get32 - an instruction of 4 bytes, in the byte order of code. */
uint32_t code_get32(const struct object *object, const struct section *section, uint64_t offset);
uint16_t code_get16(const struct object *object, const struct section *section, uint64_t offset);

#endif /* POKEPATCH_DISASM_H */
