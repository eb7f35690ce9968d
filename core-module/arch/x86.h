/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files for x86-64 share. */
#ifndef POKEPATCH_ARCH_X86_H
#define POKEPATCH_ARCH_X86_H

#include <linux/types.h>

#include <asm/nops.h>

struct module;
struct pp_poke;
struct pp_write;
struct pt_regs;

#define JMP_REL32 0xe9
#define JMP_SIZE 5

/* What the kernel does not export, and what it may not have. */
struct x86_kernel {
	struct module *(*module_text_address)(unsigned long addr);
	unsigned long thunks, thunks_end;	/* retpolines and return thunks */
	unsigned long ftrace, ftrace_end;	/* ftrace_64.S */
	unsigned long srso_return;		/* another return thunk, far away */
	unsigned long rethook;			/* where kretprobes return to; or 0 */
	/* x86_poke.c's */
	void (*text_poke_queue)(void *addr, const void *insn, size_t size, const void *emulate);
	void (*text_poke_finish)(void);
	void *(*text_poke)(void *addr, const void *bytes, size_t size);
	void (*text_poke_sync)(void);
	void *bp_desc, *tp_vec;
	int *tp_vec_nr;
	/* x86_writer.c's */
	unsigned long writer, text_poke_memcpy;	/* or 0 */
	const int *kgdb;			/* somebody can use it; or NULL */
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
