/* SPDX-License-Identifier: GPL-2.0-only */
/* nmi.c: calls of pp_crowd's functions from NMIs. */
#ifndef NMI_H
#define NMI_H

extern unsigned int (*const functions[])(void);

#ifdef CONFIG_X86_64
/* Where the entry's five bytes begin: behind ENDBR64. */
#ifdef CONFIG_X86_KERNEL_IBT
#define ENTRY_OFFSET 4
#else
#define ENTRY_OFFSET 0
#endif
int nmis_begin(void);
void nmis_end(void);
#else
static inline int nmis_begin(void)
{
	return 0;
}

static inline void nmis_end(void)
{
}
#endif

#endif
