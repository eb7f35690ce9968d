/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disassembly of text of which some bytes may be unknown, or either of two. */
#ifndef POKEPATCH_DECODE_H
#define POKEPATCH_DECODE_H

#include "history/text_history.h"

struct decoder;
/* decoder_open - a decoder for an ELF machine, or NULL if this program cannot decode its code. */
struct decoder *decoder_open(uint32_t machine, bool big_endian);
void decoder_close(struct decoder *decoder);

/*
 * decoder_each - call line() for each instruction in [address, address + size), each byte that
 * begins no instruction, and each run of bytes that are not there or unknown.
 *
 * Where bytes may be either of two, line() gets the instructions of the old bytes first.  Up to the
 * place from which both agree again, it then gets those of the new bytes, with newer set.
 * @decoder: NULL: every byte is shown as such
 * @bytes: one for each address, from past_bytes()
 */
struct decode_line {
	uint64_t address;
	size_t size;
	enum past_state state; /* the least certain among its bytes */
	bool newer;
	const uint8_t *bytes;
	const char *text;   /* "call 0x...", or NULL: the bytes are unknown or no instruction */
	uint64_t target;    /* of a direct call or jump, or 0 */
};
void decoder_each(struct decoder *decoder, const struct past_byte *bytes, uint64_t address,
		  size_t size, void (*line)(void *context, const struct decode_line *line),
		  void *context);

#endif /* POKEPATCH_DECODE_H */
