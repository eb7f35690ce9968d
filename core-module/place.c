// SPDX-License-Identifier: GPL-2.0-only
/* Which symbol and module hold an address, by the kernel's own tables. */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "place.h"

/* sprint_symbol() writes "name+0x10/0x20 [module]", or a number if it finds no symbol. */
struct pp_place pp_place_look_up(unsigned long addr, char *text)
{
	struct pp_place place = {};
	char *plus, *module;

	sprint_symbol(text, addr);
	plus = strchr(text, '+');
	if (!plus)
		return place;
	*plus++ = 0;
	place.symbol = pp_label(text);
	place.offset = simple_strtoul(plus, NULL, 16);
	place.func = addr - place.offset;
	module = strchr(plus, '[');
	if (module) {
		*strchrnul(module, ']') = 0;
		/* With CONFIG_STACKTRACE_BUILD_ID it is "[module build-id]". */
		*strchrnul(module, ' ') = 0;
		place.module = pp_label(module + 1);
	}
	return place;
}
