/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups of struct pp_arch for text that changes while CPUs run it: live transitions, and the
 * writes that other parts of the kernel make.
 */
#ifndef POKEPATCH_ARCH_PP_ARCH_LIVE_H
#define POKEPATCH_ARCH_PP_ARCH_LIVE_H

#include <linux/types.h>

struct pp_poke;
struct pt_regs;

/* The largest number of instructions that write() replaces in one call. */
#define PP_LIVE_MAX 256

/* The longest write by another writer that the core records, in bytes. */
#define PP_WRITE_MAX 8

/* A write that the kernel's own writer of text is about to make. */
struct pp_write {
	unsigned long addr;
	const u8 *bytes;	/* NULL: not known */
	unsigned long len;
};

/*
 * Live transitions (live.c); all NULL on a machine without them.  An instruction is replaced
 * while CPUs may be executing it, or may be interrupted in front of it.  Each CPU, in any
 * context, executes the old instruction or the new one.  Where a CPU may fetch a word while
 * another CPU stores it, write() is a store followed by something that makes all CPUs
 * refetch; x86 needs a protocol of several steps.
 *
 * All but missing() are called with the hotplug lock and text_mutex held, and may sleep.
 */
struct pp_arch_live {
	unsigned int method;	/* enum pokepatch_history_method of these writes */

	/* The kernel symbol without which live transitions are impossible, or NULL. */
	const char *(*missing)(void);

	/* Called once when the core is loaded, if nothing is missing. */
	void (*init)(void);

	/* Return: 0, or an error if the machine cannot replace such an instruction live. */
	int (*check)(const struct pp_poke *poke);

	/*
	 * Replace poke->old by poke->new, or the other way round with @back, and set
	 * poke->when.  @poke has at most PP_LIVE_MAX pokes that check() allows, sorted by
	 * address.  They need not lie within one word.  When write() returns, all
	 * CPUs execute the new instructions.
	 */
	void (*write)(struct pp_poke *const *poke, unsigned int nr, bool back);
};

/* Text writes of other parts of the kernel (others.c); all NULL where none can be observed. */
struct pp_arch_writer {
	/*
	 * The kernel function that every writer of running text calls, under text_mutex, before
	 * each single write.  When the writer releases that mutex, all CPUs execute what it
	 * wrote.  0: this kernel has no such function that a probe could observe.
	 */
	unsigned long (*site)(void);

	/*
	 * Read from the registers at that function's entry what it is about to write.  Called
	 * in the context of a probe.  Return: false if the write is not to text.
	 */
	bool (*written)(const struct pt_regs *regs, struct pp_write *write);

	/*
	 * Have that function write the bytes of one of the core's own instructions over
	 * themselves.  Under text_mutex; may sleep.  Return: the address; @size is set.
	 */
	unsigned long (*write_same)(unsigned int *size);

	/* Does the kernel's writer report its writes to perf (PERF_RECORD_TEXT_POKE)? */
	bool tells_perf;
};

#endif /* POKEPATCH_ARCH_PP_ARCH_LIVE_H */
