/* SPDX-License-Identifier: GPL-2.0-only */
/* x86-64: what the files x86*.c share. */
#ifndef POKEPATCH_ARCH_X86_H
#define POKEPATCH_ARCH_X86_H

#include <linux/kgdb.h>
#include <linux/module.h>
#include <linux/types.h>

#include <asm/nops.h>
#include <asm/text-patching.h>

#include "features.h"

struct pp_poke;
struct pp_text;
struct pp_write;
struct pt_regs;

#define JMP_REL32 0xe9
#define JMP_SIZE 5

/* The kernel's writer of running text has had other names since Linux 6.16. */
#ifdef PP_HAS_TEXT_POKE_BATCH
#define x86_text_poke_queue smp_text_poke_batch_add
#define x86_text_poke_finish smp_text_poke_batch_finish
#define x86_text_poke_sync smp_text_poke_sync_each_cpu
#else
#define x86_text_poke_queue text_poke_queue
#define x86_text_poke_finish text_poke_finish
#define x86_text_poke_sync text_poke_sync
#endif

/* Only typeof() uses these two declarations. */
extern int tp_vec_nr;			/* arch/x86/kernel/alternative.c, static */
extern int kgdb_io_module_registered;	/* <linux/kgdb.h> has it only with CONFIG_KGDB */

/* Symbols that the kernel does not export.  A kernel may lack those marked "or 0" or "or NULL". */
struct x86_kernel {
	typeof(&__module_text_address) module_text_address;
	unsigned long thunks, thunks_end;	/* retpolines and return thunks */
	unsigned long ftrace, ftrace_end;	/* ftrace_64.S */
	unsigned long srso_return;		/* a return thunk, far away from the others */
	unsigned long rethook;			/* arch_rethook_trampoline(), or 0 */
	unsigned long offline[11];		/* functions of x86_offline_in(), or 0 */
	/* For x86_breaks.c, x86_table.c and x86_poke.c, each of them or NULL. */
	typeof(&x86_text_poke_queue) text_poke_queue;
	typeof(&x86_text_poke_finish) text_poke_finish;
	typeof(&text_poke) text_poke;
	typeof(&x86_text_poke_sync) text_poke_sync;
	void *table;			/* where the handler of breakpoints looks places up */
#ifdef PP_HAS_TEXT_POKE_BATCH
	unsigned long table_counts;	/* per CPU: references to the table */
#else
	void *tp_vec;			/* where the kernel queues places, and how many */
	typeof(&tp_vec_nr) tp_vec_nr;
#endif
	/* For x86_window.c, both or NULL. */
	struct mm_struct **poking_mm;
	unsigned long *poking_addr;
	/* For x86_writer.c. */
	unsigned long writer, text_poke_memcpy;	/* or 0 */
	typeof(&kgdb_io_module_registered) kgdb; /* not 0: kgdb has an I/O driver; or NULL */
};

extern struct x86_kernel x86;

/* x86.c: the jump from @ip to @target, or for target 0 the NOP.  Return: 0, -ERANGE. */
int x86_entry_insn(unsigned long ip, unsigned long target, u8 *insn);
/* The NOP that ftrace leaves at a site. */
extern const u8 x86_nop[JMP_SIZE];

/*
 * x86_breaks.c: breakpoints in text, for which the kernel's handler emulates the instructions of a
 * table that is sorted by address.  Arming, turning (to another table of the same places) and
 * disarming are for one writer, in any context, which holds text_mutex, or whose initiator does.
 */

/* struct text_poke_loc of Linux 6.1 and 6.12. */
struct x86_place {
	s32 rel_addr;		/* from _stext */
	s32 disp;		/* of the emulated jump, from the next instruction */
	u8 len;
	u8 opcode;		/* of the emulated instruction */
	u8 text[JMP_SIZE];	/* used by the kernel's writer only, like old */
	u8 old;
};

/*
 * Can the handler emulate what @poke replaces, and what it writes?  With a detour, it can emulate a
 * jump to that.
 */
bool x86_can_emulate(const struct pp_poke *poke);
void x86_place_fill(struct x86_place *place, unsigned long at, const u8 *emulate,
		    unsigned long detour);
/* x86_breaks_arm() takes at most this many places. */
#ifdef PP_HAS_TEXT_POKE_BATCH
#define X86_TABLE_MAX ((unsigned int)(PAGE_SIZE / sizeof(struct x86_place)))
#else
#define X86_TABLE_MAX UINT_MAX
#endif
/*
 * x86_table.c: have the kernel write what it has queued in a table that x86_breaks_arm() uses.
 * Under text_mutex; may sleep.
 */
void x86_table_flush(void);
/*
 * Does the kernel's writer use the table as x86_table.c expects?  @queue_two queues two writes and
 * says whether they are in the table; they are written before this returns.
 */
bool x86_table_is_known(bool (*queue_two)(const struct x86_place *vec));
void x86_breaks_arm(const struct x86_place *places, unsigned int nr);
void x86_breaks_turn(const struct x86_place *places);
/* The breakpoints are gone.  Return when no CPU looks at the table any more. */
void x86_breaks_disarm(void);
/* When the core is loaded: look whether all of this works on this kernel.  May sleep. */
void x86_breaks_init(void);
bool x86_breaks_known(void);
/* x86_breaks.c: pp_arch.writer.write_same(). */
unsigned long x86_write_same(unsigned int *size);

/* x86_poke.c: the operations of pp_arch.live. */
const char *x86_live_missing(void);
void x86_live_init(void);
int x86_live_check(const struct pp_poke *poke);
void x86_live_write(struct pp_poke *const *pokes, unsigned int nr, bool back);
/*
 * The same over our own tables.  With @look the write is a trial and perf gets no record.  @look is
 * called after the first step, after the second, and after the turn.
 */
void x86_write_exactly(struct pp_poke *const *pokes, unsigned int nr, bool back,
		       void (*look)(unsigned int step));

/* x86_stop.c: the operations of pp_arch.steps. */
const char *x86_stop_missing(void);
int x86_stop_prepare(struct pp_text *text);
void x86_stop_write(struct pp_text *text, bool back);

/* x86_writer.c: pp_arch.writer.site(), pp_arch.writer.written(). */
unsigned long x86_writer_site(void);
bool x86_writer_written(const struct pt_regs *regs, struct pp_write *write);
/* pp_arch.probe.taken() */
bool x86_breaks_are_kgdbs(void);

#endif /* POKEPATCH_ARCH_X86_H */
