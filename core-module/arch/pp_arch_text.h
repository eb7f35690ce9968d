/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups of struct pp_arch that say how code is written: relocations, words of text, entry
 * sites, veneers, and the stubs of the direct mode.
 */
#ifndef POKEPATCH_ARCH_PP_ARCH_TEXT_H
#define POKEPATCH_ARCH_PP_ARCH_TEXT_H

#include <linux/types.h>

struct pp_text;

/* The largest number of prepared words that an entry may have. */
#define PP_PREPARED_MAX 2

/* The longest veneer, in bytes. */
#define PP_VENEER_MAX 16

/* Relocations of patch modules that the core applies (reloc.c). */
struct pp_arch_reloc {
	/* The bytes that a relocation of this type writes; 0: unknown type.  Any context. */
	unsigned int (*width)(u32 type);

	/*
	 * Relocate the field that lies at address @place when the module runs.  @value is the
	 * symbol's address plus the addend.  The field's bytes go to @to, the writable alias
	 * of the field; with a NULL @to the value is only checked.  The old contents of the
	 * field do not matter, so the same relocation can be applied again with another value.
	 * Return: 0, -ENOEXEC for an unknown type, -ERANGE if the value does not fit.
	 */
	int (*apply)(u32 type, unsigned long place, unsigned long value, void *to);
};

/* The longest instruction that pp_arch_text.was() knows, in bytes. */
#define PP_WAS_MAX 5

/* Running text, and stores to it (text.c, verify.c). */
struct pp_arch_text {
	/*
	 * @insn holds PP_WAS_MAX bytes, from @at on.  If they begin with an instruction that the
	 * kernel has made of another one, at a place that texts do not leave out, and that one can
	 * be told, write it to @insn.  Return: its length, or 0.  NULL: none is made so.
	 */
	unsigned int (*was)(unsigned long at, u8 *insn);

	/*
	 * Text was written through an alias: do the cache maintenance that lets all CPUs fetch
	 * what the calling CPU wrote.  May sleep.
	 */
	void (*written)(unsigned long start, unsigned long end);

	/*
	 * Have the kernel's own writer write what it has queued, if that would be in the way of
	 * a write in a stop or live.  Under the hotplug lock and text_mutex; may sleep.  NULL:
	 * nothing is in the way.
	 */
	void (*flush)(void);

	/*
	 * Instructions are replaced by stores of an aligned word of this many bytes, 4 or 8.  They
	 * lie within such words, and every CPU fetches a word whole.  0: they are replaced in
	 * steps (struct pp_arch_steps).
	 */
	unsigned int word;

	/*
	 * Store @word at the aligned address @at where it runs, by the kernel's own routine,
	 * and do all that the architecture demands so that a CPU that serialises afterwards
	 * fetches the new word.  NULL: a store through a writable alias is enough.  Also
	 * called in the stopped section.  There every CPU has interrupts off, so a lock that
	 * is only ever held with interrupts off is free.  Return: 0, or an error.
	 */
	int (*store)(unsigned long at, u64 word);

	/*
	 * Does store() call the kernel function at @func?  Such a function runs between the
	 * stores of a switch, so the core refuses to patch it.  NULL: store() calls nothing
	 * that could be patched.
	 */
	bool (*store_uses)(unsigned long func);

	/*
	 * Make sure that this CPU executes nothing of @text that it fetched before another CPU
	 * wrote it.  Called in the stopped section, after the last store, or after each step;
	 * it must not ask another CPU for help.
	 */
	void (*serialise)(const struct pp_text *text);
};

/*
 * Replacing instructions in a stop, where one store of a word does not do: an instruction may cross
 * words, or a CPU that executes it in an NMI may not fetch a word while another CPU stores it.  All
 * NULL where pp_arch_text.word is set.  text.c compares the instructions before and after.
 */
struct pp_arch_steps {
	/* What this kernel lacks for it, to be printed, or NULL. */
	const char *(*missing)(void);

	/*
	 * Sort the pokes of @text by address, and make what write() needs; text.c frees
	 * text->tables by kvfree(), also after an error.  If write() will map the text itself, set
	 * text->mapped.  May sleep.  Return: 0, -ENOMEM, -EIO if there is no text, or -EOPNOTSUPP
	 * if an instruction cannot be replaced.
	 */
	int (*prepare)(struct pp_text *text);

	/*
	 * In a stop, on one CPU: replace poke->old by poke->new for all pokes of @text, or the
	 * other way round with @back for those that are not to be kept (poke->keep).  A CPU that
	 * executes one of them in an NMI meanwhile has the effect of the old or of the new
	 * instruction.  text->meet() makes all CPUs serialise, the calling one included.  write()
	 * calls it equally often for few pokes and for many, up to a number of some hundred.
	 */
	void (*write)(struct pp_text *text, bool back);
};

/* The entry sites of functions (entry.c). */
struct pp_arch_entry {
	/*
	 * The entry site of the function at @addr, or 0 if it has none.  In a kernel with
	 * ftrace this is the address by which ftrace knows it.  Under pp_mutex; may sleep.
	 */
	unsigned long (*site)(unsigned long addr);

	/*
	 * insn(): the instruction at an entry site, of @size bytes: the jump from @ip to
	 * the function at @target, behind its landing pad if it has one, or for target 0 the
	 * NOP that ftrace leaves there.  Any context.
	 * Return: 0, -ERANGE if the jump cannot reach.
	 */
	unsigned int size;
	int (*insn)(unsigned long ip, unsigned long target, u8 *insn);

	/*
	 * Entries whose jump takes more than one instruction; 0 and NULL elsewhere.  The site
	 * has @span bytes, all of them NOPs while it leads nowhere else.  It begins with
	 * @prepared words of @size bytes each, which load the target's address.  The deciding
	 * instruction, made by insn() (whose @ip is still the site), follows them, then the
	 * remaining NOPs.
	 *
	 * word(): the prepared word number @nr for @target, which insn() can reach, or a NOP
	 * for target 0.  While the deciding instruction is a NOP, each of these words, and any
	 * mix of words for several targets, has no effect that the function could notice.  Any
	 * context.  entry.c says when they are written and which tasks must be clear of them.
	 */
	unsigned int prepared, span;
	void (*word)(unsigned int nr, unsigned long target, u8 *insn);
};

/*
 * Veneers (veneer.c).  All 0 and NULL if pp_arch_entry.insn() reaches every module, or if the
 * machine offers no memory within its reach.
 */
struct pp_arch_veneer {
	unsigned int size;	/* of one veneer, in bytes */
	unsigned long reach;	/* bytes that an entry's jump reaches in either direction */

	/* Limit [*@start, *@end) to what vmalloc can be asked for; it may become empty. */
	void (*limit)(unsigned long *start, unsigned long *end);

	/*
	 * The code of the veneer at @at, @size bytes: it jumps to @target and changes only
	 * registers that are free at a function's entry.
	 */
	void (*code)(unsigned long at, unsigned long target, u8 *code);

	/*
	 * Make the page at @at, which is writable, executable and read-only.  From then on
	 * pp_arch_text.store() writes to it.  May sleep.  Return: 0, or an error.
	 */
	int (*seal)(unsigned long at);
};

/*
 * Stubs of the direct mode (direct.c, patches/module/); 0 and NULL on a machine without that mode.
 * A stub has @size bytes.  It begins with the bytes at @drop, which drop the return address
 * that the call to the stub pushed and fill the word up to offset @jump.  At @jump stands a
 * jump as pp_arch_entry.insn() makes it.  The call to a stub is as long as an entry's jump.
 */
struct pp_arch_stub {
	unsigned int size, jump;
	const u8 *drop;
};

#endif /* POKEPATCH_ARCH_PP_ARCH_TEXT_H */
