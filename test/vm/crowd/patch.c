// SPDX-License-Identifier: GPL-2.0-only
/*
 * A patch of the first CROWD functions of pp_crowd, with tables made by ./make: what
 * pokepatch-build would write, for a parent that is in no kernel's source.
 */
#include <linux/module.h>

#include <pokepatch_format.h>

#include "crowd.h"
#include "tables.h"

#define PASTE(a, b) a##b
#define ALL_OF(n, f) PASTE(CROWD_, n)(f)

#define FUNCTION(n) static unsigned int new_##n(void) { return 2##n; }
ALL_OF(CROWD, FUNCTION)

#ifdef BARE
#define PAD (IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 4 : 0)
#define FLAGS(n) (POKEPATCH_FUNC_OVERWRITTEN | (n & 1 ? POKEPATCH_FUNC_FIRST_FLAGS(PAD, 7, 3) : \
							POKEPATCH_FUNC_FIRST_FLAGS(PAD, 9, 0)))
#else
#define FLAGS(n) 0
#endif

/* The symbol of crowd_NNN() is the NNN-th; 1##n keeps it from being octal. */
#define ROW(n)                                          \
	{                                               \
		.new_addr = (unsigned long)new_##n,     \
		.new_size = NEW_SIZE,                   \
		.symbol = 1##n - 1000,                  \
		.cold = POKEPATCH_NONE,                 \
		.cold_text = POKEPATCH_NONE,            \
		.flags = FLAGS(1##n),                   \
	},

static const struct pokepatch_func funcs[] = { ALL_OF(CROWD, ROW) };

#if NR_STUBS
extern const char pokepatch_stubs[];
#else
#define pokepatch_stubs NULL
#endif

/* Any code will do, of whatever size: as many times one byte that is not compared. */
static const u8 texts[][2] = { [0 ... 63] = { 1, 0 } };

const struct pokepatch_image pokepatch_image = {
	.magic = POKEPATCH_MAGIC,
	.format = POKEPATCH_FORMAT,
	.size = sizeof(struct pokepatch_image),
	.transition = TRANSITION,
	.nr_objects = ARRAY_SIZE(objects),
	.nr_symbols = CROWD,
	.nr_funcs = ARRAY_SIZE(funcs),
	.strings_size = sizeof(strings),
	.objects = (unsigned long)objects,
	.symbols = (unsigned long)symbols,
	.funcs = (unsigned long)funcs,
	.strings = (unsigned long)strings,
	.texts = (unsigned long)texts,
	.texts_size = sizeof(texts),
	.stubs = (unsigned long)pokepatch_stubs,
	.nr_stubs = NR_STUBS,
	.name = NAME_OF_PATCH,
};
