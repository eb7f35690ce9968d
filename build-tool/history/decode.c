// SPDX-License-Identifier: GPL-2.0-or-later
/* Disassembly of past text; see decode.h. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "object/arch.h"
#include "history/decode.h"
#include "object/disasm.h"

struct decoder {
	csh handle;
	cs_insn *insn;
};

struct decoder *decoder_open(uint32_t machine, bool big_endian)
{
	const struct arch *arch =
		machine > UINT16_MAX
			? NULL
			: arch_find(machine, ELFCLASS64, big_endian ? ELFDATA2MSB : ELFDATA2LSB);
	struct decoder *decoder;
	const struct disasm_mode *mode = arch ? arch->code.disasm : NULL;
	csh handle;

	if (!mode || cs_open(mode->arch, mode->mode, &handle))
		return NULL;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON); /* for the groups */
	decoder = xmalloc(sizeof(*decoder));
	decoder->handle = handle;
	decoder->insn = cs_malloc(handle);
	return decoder;
}

void decoder_close(struct decoder *decoder)
{
	if (!decoder)
		return;
	cs_free(decoder->insn, 1);
	cs_close(&decoder->handle);
	free(decoder);
}

struct walk {
	struct decoder *decoder;
	const struct past_byte *states;
	uint64_t address;
	size_t size;
	uint8_t *bytes[2]; /* old and new; they differ only where a byte may be either */
	void (*line)(void *context, const struct decode_line *line);
	void *context;
};

static bool is_there(const struct walk *walk, size_t at)
{
	return past_is_there(&walk->states[at]);
}

/* Decode one instruction of the old or new bytes into decoder->insn; its size, or 0 if none is. */
static size_t decode_at(const struct walk *walk, size_t at, bool newer)
{
	const uint8_t *code = walk->bytes[newer] + at;
	uint64_t address = walk->address + at;
	size_t size = 0, all;

	while (at + size < walk->size && size < sizeof(walk->decoder->insn->bytes) &&
	       is_there(walk, at + size))
		size++;
	all = size;
	if (!walk->decoder || !cs_disasm_iter(walk->decoder->handle, &code, &size, &address,
					      walk->decoder->insn))
		return 0;
	return all - size;
}

/* The target of a direct call or jump; 0 if the instruction is neither. */
static uint64_t target_of(const struct walk *walk)
{
	const cs_insn *insn = walk->decoder->insn;
	const char *last = NULL;

	if ((!cs_insn_group(walk->decoder->handle, insn, CS_GRP_CALL) &&
	     !cs_insn_group(walk->decoder->handle, insn, CS_GRP_JUMP)) ||
	    strchr(insn->op_str, '['))
		return 0;
	for (const char *at = insn->op_str; (at = strstr(at, "0x")); at++)
		last = at;
	return last ? strtoull(last, NULL, 16) : 0;
}

static enum past_state worst_state(const struct walk *walk, size_t at, size_t size)
{
	enum past_state state = PAST_KNOWN;

	for (size_t i = at; i < at + size; i++)
		if (walk->states[i].state > state)
			state = walk->states[i].state;
	return state;
}

/* Give line() one instruction, or one byte that begins none; returns its size. */
static size_t give_line(const struct walk *walk, size_t at, bool newer)
{
	size_t size = decode_at(walk, at, newer);
	struct decode_line line = {
		.address = walk->address + at,
		.size = size ? size : 1,
		.newer = newer,
		.bytes = walk->bytes[newer] + at,
	};
	_free_ char *text = NULL;

	line.state = worst_state(walk, at, line.size);
	if (size) {
		text = xasprintf("%s%s%s", walk->decoder->insn->mnemonic,
				 walk->decoder->insn->op_str[0] ? " " : "",
				 walk->decoder->insn->op_str);
		line.text = text;
		line.target = target_of(walk);
	}
	walk->line(walk->context, &line);
	return line.size;
}

static size_t next_place(const struct walk *walk, size_t at, bool newer)
{
	size_t size = decode_at(walk, at, newer);

	return at + (size ? size : 1);
}

/* The old and the new instructions from @at to the first place where both begin one. */
static size_t give_both(const struct walk *walk, size_t at)
{
	size_t end[2] = {next_place(walk, at, false), next_place(walk, at, true)};

	while (end[0] != end[1]) {
		int behind = end[0] > end[1];

		if (end[behind] >= walk->size || !is_there(walk, end[behind]))
			break;
		end[behind] = next_place(walk, end[behind], behind);
	}
	if (worst_state(walk, at, (end[0] > end[1] ? end[0] : end[1]) - at) != PAST_EITHER)
		return at + give_line(walk, at, false);
	for (int newer = 0; newer < 2; newer++)
		for (size_t i = at; i < end[newer];)
			i += give_line(walk, i, newer);
	return end[0] > end[1] ? end[0] : end[1];
}

/* A run of bytes of one state that have no value. */
static size_t give_missing(const struct walk *walk, size_t at)
{
	struct decode_line line = {.address = walk->address + at,
				   .bytes = walk->bytes[0] + at,
				   .state = walk->states[at].state};

	while (at < walk->size && walk->states[at].state == line.state) {
		at++;
		line.size++;
	}
	walk->line(walk->context, &line);
	return at;
}

void decoder_each(struct decoder *decoder, const struct past_byte *bytes, uint64_t address,
		  size_t size, void (*line)(void *context, const struct decode_line *line),
		  void *context)
{
	_free_ uint8_t *both = xcalloc(2, size + 1);
	const struct walk walk = {
		.decoder = decoder,
		.states = bytes,
		.address = address,
		.size = size,
		.bytes = {both, both + size},
		.line = line,
		.context = context,
	};

	for (size_t i = 0; i < size; i++) {
		walk.bytes[0][i] = bytes[i].value;
		walk.bytes[1][i] = bytes[i].state == PAST_EITHER ? bytes[i].other : bytes[i].value;
	}
	for (size_t at = 0; at < size;)
		at = is_there(&walk, at) ? give_both(&walk, at) : give_missing(&walk, at);
}
