/* SPDX-License-Identifier: GPL-2.0-only */
/* x86-64: what the files x86*.c share. */
#ifndef POKEPATCH_ARCH_X86_H
#define POKEPATCH_ARCH_X86_H

#include <linux/kgdb.h>
#include <linux/module.h>
#include <linux/types.h>

#include <asm/nops.h>
#include <asm/text-patching.h>

struct pp_poke;
struct pp_write;
struct pt_regs;

#define JMP_REL32 0xe9
#define JMP_SIZE 5

/* Only typeof() uses these two declarations. */
extern int tp_vec_nr;			/* arch/x86/kernel/alternative.c, static */
extern int kgdb_io_module_registered;	/* <linux/kgdb.h> has it only with CONFIG_KGDB */

/* Symbols that the kernel does not export.  A kernel may lack those marked "or 0" or "or NULL". */
struct x86_kernel {
	typeof(__module_text_address) *module_text_address;
	unsigned long thunks, thunks_end;	/* retpolines and return thunks */
	unsigned long ftrace, ftrace_end;	/* ftrace_64.S */
	unsigned long srso_return;		/* a return thunk, far away from the others */
	unsigned long rethook;			/* arch_rethook_trampoline(), or 0 */
	/* For x86_poke.c, each of them or NULL. */
	typeof(text_poke_queue) *text_poke_queue;
	typeof(text_poke_finish) *text_poke_finish;
	typeof(text_poke) *text_poke;
	typeof(text_poke_sync) *text_poke_sync;
	void *bp_desc, *tp_vec;
	typeof(tp_vec_nr) *tp_vec_nr;
	/* For x86_writer.c. */
	unsigned long writer, text_poke_memcpy;	/* or 0 */
	typeof(kgdb_io_module_registered) *kgdb; /* not 0: kgdb has an I/O driver; or NULL */
};

extern struct x86_kernel x86;

/* x86.c: pp_arch.entry.insn(). */
int x86_entry_insn(unsigned long ip, unsigned long target, u8 *insn);
/* The NOP that ftrace leaves at a site. */
extern const u8 x86_nop[JMP_SIZE];

/* x86_poke.c: the operations of pp_arch.live. */
const char *x86_live_missing(void);
void x86_live_init(void);
int x86_live_check(const struct pp_poke *poke);
void x86_live_write(struct pp_poke *const *pokes, unsigned int nr, bool back);
/* x86_poke.c: pp_arch.writer.write_same(). */
unsigned long x86_write_same(unsigned int *size);

/* x86_writer.c: pp_arch.writer.site(), pp_arch.writer.written(). */
unsigned long x86_writer_site(void);
bool x86_writer_written(const struct pt_regs *regs, struct pp_write *write);

#endif /* POKEPATCH_ARCH_X86_H */
