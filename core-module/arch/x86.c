// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64.
 */
#include <linux/elf.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <asm/sync_core.h>

#include "core.h"

#ifndef CONFIG_HAVE_RELIABLE_STACKTRACE
#error "the core needs a kernel with a reliable unwinder (CONFIG_UNWINDER_ORC)"
#endif

/* How a value may differ from the field that holds it. */
enum fit { FIT_FULL, FIT_SIGNED, FIT_UNSIGNED };

struct reloc_kind {
	u8 width; /* bytes */
	bool pc_relative;
	enum fit fit;
};

/* System V ABI, AMD64 supplement, table 4.9; a width of 0 is "not known". */
static const struct reloc_kind reloc_kinds[] = {
	[R_X86_64_64] = { 8, false, FIT_FULL },
	[R_X86_64_PC32] = { 4, true, FIT_SIGNED },
	[R_X86_64_PLT32] = { 4, true, FIT_SIGNED },
	[R_X86_64_32] = { 4, false, FIT_UNSIGNED },
	[R_X86_64_32S] = { 4, false, FIT_SIGNED },
	[R_X86_64_PC64] = { 8, true, FIT_FULL },
};

static unsigned int x86_reloc_width(u32 type)
{
	return type < ARRAY_SIZE(reloc_kinds) ? reloc_kinds[type].width : 0;
}

static int x86_reloc(u32 type, unsigned long place, unsigned long value, void *to)
{
	const struct reloc_kind *kind;

	if (!x86_reloc_width(type))
		return -ENOEXEC;
	kind = &reloc_kinds[type];
	if (kind->pc_relative)
		value -= place;
	if (kind->fit == FIT_SIGNED && (s64)value != (s32)value)
		return -ERANGE;
	if (kind->fit == FIT_UNSIGNED && value != (u32)value)
		return -ERANGE;
	if (to)
		memcpy(to, &value, kind->width); /* little endian: low bytes first */
	return 0;
}

static void serialise(void *unused)
{
	sync_core();
}

/*
 * The caches are coherent; what remains is that a CPU may have fetched and
 * decoded the old bytes speculatively (SDM volume 3, "Handling Self- and
 * Cross-Modifying Code"): each executes a serialising instruction.
 */
static void x86_text_written(unsigned long start, unsigned long end)
{
	on_each_cpu(serialise, NULL, 1);
}

/* An fentry call is the first instruction, or the one after ENDBR64. */
#define ENTRY_SITE_MAX 4

static unsigned long x86_ftrace_site(unsigned long addr)
{
	unsigned long site = pp_kernel.ftrace_location(addr);

	return site >= addr && site - addr <= ENTRY_SITE_MAX ? site : 0;
}

struct walk {
	bool (*visit)(void *ctx, unsigned long addr);
	void *ctx;
};

static bool walk_entry(void *cookie, unsigned long addr)
{
	struct walk *walk = cookie;

	return walk->visit(walk->ctx, addr);
}

/*
 * The kernel's own reliable unwinder, below stack_trace_save_tsk_reliable(),
 * without that function's limit on the number of entries.  It resolves the
 * return addresses that kretprobes and the graph tracer replaced, gives up at
 * code without unwind data (BPF, probe slots), at a task that runs on another
 * CPU, and at a stack that does not end where it should.
 */
static int x86_stack_walk(struct task_struct *task, bool (*visit)(void *ctx, unsigned long addr),
			  void *ctx)
{
	struct walk walk = { visit, ctx };
	int ret;

	/* A task that is dead and gone from the CPU has no stack any more. */
	if (!try_get_task_stack(task))
		return 0;
	ret = pp_kernel.arch_stack_walk_reliable(walk_entry, &walk, task);
	pp_kernel.put_task_stack(task);
	return ret;
}

const struct pp_arch pp_arch = {
	.reloc_width = x86_reloc_width,
	.reloc = x86_reloc,
	.text_written = x86_text_written,
	.ftrace_site = x86_ftrace_site,
	.stack_walk = x86_stack_walk,
};
