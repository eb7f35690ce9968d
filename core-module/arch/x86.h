/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files for x86-64 share. */
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

/* Only typeof() uses these declarations. */
extern int tp_vec_nr;			/* arch/x86/kernel/alternative.c, static */
extern int kgdb_io_module_registered;	/* <linux/kgdb.h> has it only with CONFIG_KGDB */

/* What the kernel does not export, and what it may not have. */
struct x86_kernel {
	typeof(__module_text_address) *module_text_address;
	unsigned long thunks, thunks_end;	/* retpolines and return thunks */
	unsigned long ftrace, ftrace_end;	/* ftrace_64.S */
	unsigned long srso_return;		/* another return thunk, far away */
	unsigned long rethook;			/* where kretprobes return to; or 0 */
	/* x86_poke.c's */
	typeof(text_poke_queue) *text_poke_queue;
	typeof(text_poke_finish) *text_poke_finish;
	typeof(text_poke) *text_poke;
	typeof(text_poke_sync) *text_poke_sync;
	void *bp_desc, *tp_vec;
	typeof(tp_vec_nr) *tp_vec_nr;
	/* x86_writer.c's */
	unsigned long writer, text_poke_memcpy;	/* or 0 */
	typeof(kgdb_io_module_registered) *kgdb; /* kgdb can be used; or NULL */
};

extern struct x86_kernel x86;

/* x86.c: pp_arch.entry.insn(). */
int x86_entry_insn(unsigned long ip, unsigned long target, u8 *insn);
/* What ftrace leaves at a site. */
extern const u8 x86_nop[JMP_SIZE];

/* x86_poke.c: pp_arch.live_*(). */
const char *x86_live_missing(void);
void x86_live_init(void);
int x86_live_check(const struct pp_poke *poke);
void x86_live_write(struct pp_poke *const *pokes, unsigned int nr, bool back);
/* x86_poke.c: pp_arch.writer.write_same(). */
unsigned long x86_write_same(unsigned int *size);

/* x86_writer.c: pp_arch.writer.site(), pp_arch.writer.written(). */
unsigned long x86_writer(void);
bool x86_written(const struct pt_regs *regs, struct pp_write *write);

#endif /* POKEPATCH_ARCH_X86_H */
