/* SPDX-License-Identifier: GPL-2.0-only */
/* x86-64: text that is mapped writable for one CPU alone: x86_window.c. */
#ifndef POKEPATCH_ARCH_X86_WINDOW_H
#define POKEPATCH_ARCH_X86_WINDOW_H

#include <linux/mm_types.h>
#include <linux/types.h>

/* So many instructions can be mapped at a time. */
#define X86_WINDOW_MAX 254u

/* What the CPU had before. */
struct x86_window_was {
	unsigned long cr3;
	unsigned long watchpoints;
};

/* When the core is loaded: find the kernel's address space for writing text.  Under text_mutex. */
void x86_window_init(void);
/* Was it found? */
bool x86_window_known(void);

/* Where the text at @at will be, while the window is open, as instruction number @nr of it. */
void *x86_window_at(unsigned int nr, unsigned long at);
/* The entry that maps @page. */
pte_t x86_window_pte(struct page *page);

/*
 * Map the pages of @nr instructions, at most X86_WINDOW_MAX: of each the page of its first byte and
 * the page of its last, or an empty entry if they are the same.  Then load that address space on
 * this CPU until x86_window_close().  In a stop, in a kernel thread; text_mutex is held.
 */
void x86_window_open(struct x86_window_was *was, const pte_t (*pages)[2], unsigned int nr);
void x86_window_close(const struct x86_window_was *was, unsigned int nr);

#endif /* POKEPATCH_ARCH_X86_WINDOW_H */
