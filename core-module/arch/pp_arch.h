/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an architecture provides to the core: one file in this folder that fills
 * one struct pp_arch.  No other file knows which machine it runs on.
 */
#ifndef POKEPATCH_ARCH_PP_ARCH_H
#define POKEPATCH_ARCH_PP_ARCH_H

#include <linux/types.h>

struct kprobe;
struct pp_poke;
struct pp_text;
struct pt_regs;
struct task_struct;

/* A symbol that vmlinux does not export: resolve.c stores its address in *slot. */
struct pp_needed {
	const char *name;
	void *slot; /* of a pointer or an unsigned long, 0 until then */
	bool optional; /* stays 0 where there is none */
};

/* No probe replaces more bytes of code. */
#define PP_PROBE_MAX 8

/* No entry has more words that are prepared. */
#define PP_PREPARED_MAX 2

/* No veneer is longer, in bytes. */
#define PP_VENEER_MAX 16

/* No write of others is longer that is noted, in bytes. */
#define PP_WRITE_MAX 8

/* What the kernel's own writer is about to do. */
struct pp_write {
	unsigned long addr;
	const u8 *bytes;	/* NULL: not known */
	unsigned long len;
};

/* So many instructions are written at a time, while everything runs. */
#define PP_LIVE_MAX 256

/* No traced function's entry has more words that are written. */
#define PP_TRACE_WORDS_MAX 4
/* No more of a function's arguments are in registers. */
#define PP_TRACE_ARGS_MAX 8

/*
 * Tracing of functions over their patchable entries (trace_entry.c), where the kernel has no
 * tracer that does it.  The first @words words, of entry_size bytes, of an entry that is free are
 * changed from NOPs: of these the one at @decides calls, while a function is traced, what was made by
 * start(); the others do nothing that the function, or its caller, could notice as long as that one is a NOP,
 * and the one that tells whether registers are wanted may be written at any time.
 *
 * The call ends in pp_trace_entry_hit(), and the function goes on behind the words, with all that it
 * has a right to find, its return address too.
 */
struct pp_arch_trace {
	unsigned int words, decides;
	unsigned int nr_args;	/* in registers, of which pp_trace_entry_hit() is given a copy */
	/* The @nr-th of the words.  After start(); any context. */
	void (*word)(unsigned int nr, bool regs, u8 *insn);
	/* May sleep.  start(): as often as one likes; 0, -EOPNOTSUPP, -ENOMEM.  stop(): nobody is there. */
	int (*start)(void);
	void (*stop)(void);
};

struct pp_arch {
	/* What the architecture's file needs; ends with a NULL name. */
	const struct pp_needed *needed;

	/*
	 * The bytes that a relocation of this type writes, 0 for a type that is
	 * not known.  Any context.
	 */
	unsigned int (*reloc_width)(u32 type);

	/*
	 * Relocate the field that lies at address @place when the module runs:
	 * @value is the symbol's address plus the addend.  The field's bytes go
	 * to @to, which is where the field can be written; with a NULL @to the
	 * value is only checked.  The old contents of the field do not matter,
	 * so that the same relocation can be made again with another value.
	 * Return: 0, -ENOEXEC for an unknown type, -ERANGE if it does not fit.
	 */
	int (*reloc)(u32 type, unsigned long place, unsigned long value, void *to);

	/*
	 * After text was written through an alias: make what the writing CPU
	 * wrote fetchable by all (cache maintenance).  May sleep.
	 */
	void (*text_written)(unsigned long start, unsigned long end);

	/*
	 * The entry site of the function at @addr, or 0 if it has none.  Where there is ftrace,
	 * the address that it has for it.  Under pp_mutex; may sleep.
	 */
	unsigned long (*entry_site)(unsigned long addr);

	/*
	 * Text is written by stores of an aligned word of this many bytes, 4 or 8:
	 * what every CPU fetches whole.
	 */
	unsigned int text_word;

	/*
	 * Store the word at the (aligned) address @at where it runs, by the kernel's own
	 * routine, with all that the architecture demands so that a CPU that serialises
	 * afterwards fetches it.  NULL: the store is made through a writable alias, and that is
	 * all.  In the stopped section too, where every CPU has interrupts off: a lock that is
	 * only ever held with interrupts off is free then.  Return: 0, or an error.
	 */
	int (*text_store)(unsigned long at, u64 word);

	/*
	 * Functions of the kernel that text_store() calls: they run between the stores of a
	 * switch, so whoever wants to patch one is refused.  NULL: there are none that could be.
	 */
	bool (*text_store_uses)(unsigned long func);

	/*
	 * The instruction at an entry site, of entry_size bytes: the jump from
	 * @ip to @target, or for 0 the NOP that ftrace leaves there.  Any context.
	 * Return: 0, -ERANGE if it cannot reach.
	 */
	unsigned int entry_size;
	int (*entry_insn)(unsigned long ip, unsigned long target, u8 *insn);

	/*
	 * Entries where the jump is not one instruction; 0 and NULL where it is.  The site has
	 * entry_span bytes, all of them NOPs while nothing leads elsewhere.  It begins with
	 * entry_prepared words, which load the target's address, all of entry_size bytes;
	 * behind them is the instruction that decides, which is entry_insn()'s (whose @ip is
	 * the site all the same); and behind that what is left of the NOPs.
	 *
	 * entry_word(): the @nr-th of the prepared words, for @target, which entry_insn() could
	 * reach, or for 0 a NOP.  As long as the deciding instruction is a NOP, each of them, and
	 * any mix of those for several targets, does nothing that the function could notice.
	 * Any context.  When they are written, and which tasks are looked for: entry.c.
	 */
	unsigned int entry_prepared, entry_span;
	void (*entry_word)(unsigned int nr, unsigned long target, u8 *insn);

	/*
	 * Veneers (veneer.c), 0 and NULL if entry_insn() reaches all modules or there is no way
	 * to have memory in its reach, entry_reach bytes either way, which vmalloc can be asked
	 * for within [veneers_min, veneers_max).  veneer(): the code at @at, of veneer_size bytes,
	 * that goes to @target and changes only what is free at a function's entry.
	 * veneers_seal(): the page at @at, which is writable, is now only executable; 0 or an
	 * error; text_store() works there.  May sleep.
	 */
	unsigned int veneer_size;
	unsigned long entry_reach, veneers_min, veneers_max;
	void (*veneer)(unsigned long at, unsigned long target, u8 *code);
	int (*veneers_seal)(unsigned long at);

	/*
	 * Direct mode, 0 and NULL where there is none.  A stub has stub_size bytes
	 * (patches/module/, the file of the architecture): stub_drop, which drops the return
	 * address of the call to the stub, and fills the word up to stub_jump; and there
	 * a jump as entry_insn() makes it.  (The call is as long as an entry's jump.)
	 */
	unsigned int stub_size, stub_jump;
	const u8 *stub_drop;

	/*
	 * What stood at @probe->addr before the probe was written there goes to @was, which
	 * has room for PP_PROBE_MAX bytes.  Under text_mutex, with preemption off.
	 * Return: how many bytes; 0 if the probe is not there (yet, or any more).
	 */
	unsigned int (*probed)(const struct kprobe *probe, u8 *was);

	/* No probe depends on bytes of code so far behind its address. */
	unsigned int probe_reach;

	/*
	 * Can what stands at @at, in code, be what an armed probe has written there?  False
	 * if it certainly is not.  Any context.
	 */
	bool (*may_be_probe)(const u8 *at);

	/*
	 * This CPU executes nothing of @text that it fetched before another CPU wrote it.
	 * In the stopped section, after the last store; it may call nobody else to help.
	 */
	void (*serialise)(const struct pp_text *text);

	/*
	 * Live transitions (live.c), all NULL where there are none.  An instruction is
	 * replaced while CPUs may be running it, or be interrupted in front of it: each
	 * of them, in any context, does what the old one does or what the new one does.
	 * Where a CPU may fetch the one while the other is stored, this is a store and
	 * then something that makes all CPUs take notice; on x86 it needs a protocol.
	 * All but live_missing() with the hotplug lock and text_mutex held; may sleep.
	 *
	 * live_missing(): the symbol for lack of which it cannot be done, or NULL.
	 * live_init(): called once, when the core comes, if nothing is missing.
	 * live_check(): 0, or an error if this architecture cannot replace such an
	 * instruction.
	 * live_write(): replace them, poke->old by poke->new, or with @back the other way
	 * round, and say in poke->when how that went; up to PP_LIVE_MAX of them, in the
	 * order of addresses, that live_check() allows.  They need not be in one word.
	 * When it returns all CPUs run the new ones.
	 * live_method: enum pokepatch_history_method, how the history calls that.
	 */
	unsigned int live_method;
	const char *(*live_missing)(void);
	void (*live_init)(void);
	int (*live_check)(const struct pp_poke *poke);
	void (*live_write)(struct pp_poke *const *poke, unsigned int nr, bool back);

	/*
	 * Others' writes (others.c), all NULL where they cannot be seen.
	 * writer(): the function of the kernel that all its writers of running text come to,
	 * holding text_mutex, before each single write; when they let go of that lock, all CPUs
	 * run what was written.  0: this kernel has none that could be listened at.
	 * written(): what that is, from the registers at its entry; false: it is no text.  In the
	 * context of a probe.
	 * write_same(): have it write over an instruction of the core's what is there.  Under
	 * text_mutex; may sleep.  Return: where, and how many bytes.
	 */
	unsigned long (*writer)(void);
	bool (*written)(const struct pt_regs *regs, struct pp_write *write);
	unsigned long (*write_same)(unsigned int *size);

	/* What the kernel writes text with, for ftrace too, tells perf (PERF_RECORD_TEXT_POKE). */
	bool writer_tells_perf;

	/*
	 * Call @visit for every code address on the stack of @task, which is
	 * current or not running: return addresses and interrupted instruction
	 * pointers, those that tracers replaced resolved to the original.  A
	 * false from @visit ends the walk.  With prepared words (above), for an
	 * interrupted instruction pointer also with pp_goes_on() of it.  The stack
	 * stays while this runs.  Any context; takes no lock, allocates nothing.
	 * Return: 0 if everything up to the end of the stack was visited, or
	 * @visit ended it; else an error: then anything may be on the stack.
	 */
	int (*stack_walk)(struct task_struct *task, bool (*visit)(void *ctx, unsigned long addr),
			  void *ctx);

	/*
	 * Can a call return to @addr: does one stand in front of it?  For the ends of functions,
	 * whose addresses may be other functions'; NULL: it is taken for one.  May sleep.
	 */
	bool (*returns_to)(unsigned long addr);

	/* The stack of @task, which is current or not running, is in use from here up. */
	unsigned long (*stack_pointer)(const struct task_struct *task);

	/*
	 * A word of a stack as the code address that it would be without what the machine adds
	 * to return addresses (pointer authentication).  NULL: it adds nothing.  Any context.
	 */
	unsigned long (*code_address)(unsigned long word);

	/* NULL: there is none, or the kernel has its own. */
	const struct pp_arch_trace *trace;
};

extern const struct pp_arch pp_arch;

#endif /* POKEPATCH_ARCH_PP_ARCH_H */
