// SPDX-License-Identifier: GPL-2.0-only
/*
 * A patch of the functions of pp_slots, with tables made by ./make: what pokepatch-build would
 * write, for a parent that is in no kernel's source.
 */
#include <linux/module.h>

#include <pokepatch_format.h>

#include "slots.h"
#include "tables.h"

void new_held(void);
void new_value(void);

RETURNS(new_held, "\t.p2align 4\n", SLOTS, NUMBER);
RETURNS(new_value, "\t.p2align 4\n", SLOTS, NUMBER);

/* In the order of the symbols, which is the alphabet's. */
#define ROW(name, index)                                \
	{                                               \
		.new_addr = (unsigned long)name,        \
		.new_size = 4 * (SLOTS + 2),                          \
		.symbol = index,                        \
		.cold = POKEPATCH_NONE,                 \
		.cold_text = POKEPATCH_NONE,            \
	}

static const struct pokepatch_func funcs[] = { ROW(new_held, 0), ROW(new_value, 1) };

/* Any code will do: as many times one byte that is not compared. */
static const u8 texts[][2] = { [0 ... 63] = { 1, 0 } };

const struct pokepatch_image pokepatch_image = {
	.magic = POKEPATCH_MAGIC,
	.format = POKEPATCH_FORMAT,
	.size = sizeof(struct pokepatch_image),
	.transition = POKEPATCH_TRANSITION_STOP,
	.nr_objects = ARRAY_SIZE(objects),
	.nr_symbols = ARRAY_SIZE(symbols),
	.nr_funcs = ARRAY_SIZE(funcs),
	.strings_size = sizeof(strings),
	.objects = (unsigned long)objects,
	.symbols = (unsigned long)symbols,
	.funcs = (unsigned long)funcs,
	.strings = (unsigned long)strings,
	.texts = (unsigned long)texts,
	.texts_size = sizeof(texts),
	.name = NAME_OF_PATCH,
};
