/* SPDX-License-Identifier: GPL-2.0-only */
/* Strings of records, and the symbol and module that hold an address: place.c. */
#ifndef POKEPATCH_PLACE_H
#define POKEPATCH_PLACE_H

#include <linux/string.h>
#include <linux/types.h>

#include "compat.h"

/* A string of a record.  len counts the 0 at its end; 0: the record has no such string. */
struct pp_label {
	const char *text;
	unsigned int len;
};

/* What holds an address. */
struct pp_place {
	struct pp_label symbol, module;	/* module: none for vmlinux */
	unsigned long offset;		/* from the start of the symbol, bytes */
	unsigned long func;		/* the start of the function, or 0: not known */
};

/*
 * Look up @addr, anywhere in the kernel.  @text has KSYM_SYMBOL_LEN bytes, and the labels point
 * into it.  Without a symbol the place is empty.
 */
struct pp_place pp_place_look_up(unsigned long addr, char *text);

static inline struct pp_label pp_label(const char *text)
{
	return (struct pp_label){ text, text ? strlen(text) + 1 : 0 };
}

/*
 * memcpy() word by word.  On x86 a call of memcpy(), which is "rep movsb" there, would take longer
 * for strings as short as these than all the rest of a record.
 */
static __always_inline void pp_copy_short(void *to, const void *from, unsigned int len)
{
	unsigned int i;

	if (len < sizeof(u64)) {
		for (i = 0; i < len; i++)
			((u8 *)to)[i] = ((const u8 *)from)[i];
		return;
	}
	for (i = 0; i + sizeof(u64) < len; i += sizeof(u64))
		put_unaligned(get_unaligned((const u64 *)(from + i)), (u64 *)(to + i));
	/* The last word may overlap the one before it. */
	i = len - sizeof(u64);
	put_unaligned(get_unaligned((const u64 *)(from + i)), (u64 *)(to + i));
}

/* Append @label at @record + *@at, and move *@at behind it.  Return: its offset, or 0 for none. */
static __always_inline u32 pp_label_put(void *record, unsigned int *at,
					const struct pp_label *label)
{
	const unsigned int offset = *at;

	if (!label->len)
		return 0;
	*at += label->len;
	pp_copy_short(record + offset, label->text, label->len);
	return offset;
}

#endif /* POKEPATCH_PLACE_H */
