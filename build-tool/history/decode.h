/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions as text, for bytes of which not all need be known. */
#ifndef POKEPATCH_DECODE_H
#define POKEPATCH_DECODE_H

#include "history/text_history.h"

struct decoder;
/* decode_open - for an ELF machine; NULL if it cannot be decoded here. */
struct decoder *decode_open(uint32_t machine, bool big_endian);
void decode_close(struct decoder *decoder);

/*
 * decode_each - what stands at [address, address + size): call line() for each instruction,
 * or each run of bytes that is none.  Where bytes may be either, the instructions are those
 * of the old bytes, and then again, for as long as they differ, those of the new ones, with
 * newer set.  A NULL text: the bytes are not known, or no instruction.
 * @decoder may be NULL: then all are bytes.
 */
struct decode_line {
	uint64_t address;
	size_t size;
	enum past_state state; /* of all its bytes: the worst */
	bool newer;
	const uint8_t *bytes;
	const char *text;   /* "call 0x..." */
	uint64_t target;    /* that a direct call or jump leads to, or 0 */
};
void decode_each(struct decoder *decoder, const struct past_byte *bytes, uint64_t address,
		 size_t size, void (*line)(void *context, const struct decode_line *line),
		 void *context);

#endif /* POKEPATCH_DECODE_H */
