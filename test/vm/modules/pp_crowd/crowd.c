// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_crowd - a thousand functions to be patched, crowd_000() to crowd_999().
 *
 * crowd_NNN() returns 1NNN.  test/vm/crowd makes patches of the first N of them, which then
 * return 2NNN.  Reading the parameter "patched" calls all functions and gives the number that
 * returned 2NNN; "bare" does the same for functions without entries.  Reading "stop" gives two times of an empty stop_machine() on all CPUs, in ns:
 * from when the first CPU is stopped until all are, and of the whole call.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/stop_machine.h>
#include <linux/stringify.h>
#include <linux/timekeeping.h>

#ifdef ENTRY_OFFSET
#include <asm/ibt.h>
#include <asm/linkage.h>
#endif

#include "crowd.h"

/*
 * Where entries may lie anywhere, Kbuild says how many bytes of a function come before its entry.
 * There the functions follow each other without gaps, and have an odd number of bytes.
 * So the entries of any 64 neighbours have all alignments that a cache line can give them.  The
 * first entry of all begins two bytes in front of a page.
 */
#ifdef ENTRY_OFFSET
#ifdef CONFIG_FUNCTION_PADDING_BYTES
#define PADDING CONFIG_FUNCTION_PADDING_BYTES
#else
#define PADDING 0
#endif
asm(".pushsection .text\n"
    ".balign 4096, 0xcc\n"
    ".skip 4096 - " __stringify(PADDING) " - " __stringify(ENTRY_OFFSET) " - 2, 0xcc\n"
    ".popsection");
#endif

#define FUNCTION(n)                   \
	unsigned int crowd_##n(void); \
	noinline unsigned int crowd_##n(void) { return 1##n; }
CROWD_1000(FUNCTION)

#define POINTER(n) crowd_##n,
crowd_function functions[] = { CROWD_1000(POINTER) };

#ifdef ENTRY_OFFSET
/*
 * bare_000() to bare_099() return 1000 to 1099, and have no entries: a jump overwrites three
 * instructions of those with even numbers, 9 bytes, and two of the others, 7 bytes, of which the
 * second counts from %rip.
 */
unsigned int bare_number = 1000;
#define BARE(n)                                                                  \
	unsigned int bare_##n(void);                                             \
	asm(".pushsection .text\n"                                               \
	    ".globl bare_" #n "\n.type bare_" #n ", @function\nbare_" #n ":\n"   \
	    ASM_ENDBR "push %rbx\n"                                              \
	    ".if 1" #n " & 1\n"                                                  \
	    "mov bare_number(%rip), %eax\nadd $1" #n " - 1000, %eax\n"           \
	    ".else\nxor %ebx, %ebx\n.byte 0x8d, 0x83\n.long 1" #n "\n.endif\n" /* lea */ \
	    "pop %rbx\n" ASM_RET ".size bare_" #n ", . - bare_" #n "\n.popsection");
CROWD_100(BARE)

#define BARE_POINTER(n) bare_##n,
crowd_function bare_functions[] = { CROWD_100(BARE_POINTER) };
#endif

struct crowd {
	crowd_function *functions;
	unsigned int nr;
};

static int patched_get(char *text, const struct kernel_param *param)
{
	const struct crowd *crowd = param->arg;
	unsigned int i, patched = 0;

	for (i = 0; i < crowd->nr; i++) {
		unsigned int result = crowd->functions[i]();

		if (result != 1000 + i && result != 2000 + i)
			return -EIO;
		patched += result == 2000 + i;
	}
	return scnprintf(text, PAGE_SIZE, "%u\n", patched);
}

static atomic_t arrived;
static atomic64_t first; /* when the first CPU was stopped */
static u64 empty_ns;

/* Meet like the CPUs in the core's stopped section, and do nothing there. */
static int stopped(void *unused)
{
	atomic64_cmpxchg(&first, 0, ktime_get_mono_fast_ns());
	atomic_inc(&arrived);
	while (atomic_read(&arrived) < num_online_cpus())
		cpu_relax();
	if (smp_processor_id() == cpumask_first(cpu_online_mask))
		empty_ns = ktime_get_mono_fast_ns() - atomic64_read(&first);
	return 0;
}

static int stop_get(char *text, const struct kernel_param *param)
{
	u64 start;

	atomic_set(&arrived, 0);
	atomic64_set(&first, 0);
	start = ktime_get_mono_fast_ns();
	stop_machine(stopped, NULL, cpu_online_mask);
	return scnprintf(text, PAGE_SIZE, "%llu %llu\n", empty_ns,
			 ktime_get_mono_fast_ns() - start);
}

static const struct kernel_param_ops patched_ops = { .get = patched_get };
static struct crowd crowd = { functions, ARRAY_SIZE(functions) };
module_param_cb(patched, &patched_ops, &crowd, 0444);
MODULE_PARM_DESC(patched, "how many of the functions are patched");
#ifdef ENTRY_OFFSET
static struct crowd bare = { bare_functions, ARRAY_SIZE(bare_functions) };
module_param_cb(bare, &patched_ops, &bare, 0444);
MODULE_PARM_DESC(bare, "how many of the functions without entries are patched");
#endif
static const struct kernel_param_ops stop_ops = { .get = stop_get };
module_param_cb(stop, &stop_ops, NULL, 0444);
MODULE_PARM_DESC(stop, "stop the machine for nothing: ns of that, ns of the call");

int __weak nmis_begin(void)
{
	return 0;
}

void __weak nmis_end(void)
{
}

static int __init pp_crowd_init(void)
{
	return nmis_begin();
}

static void __exit pp_crowd_exit(void)
{
	nmis_end();
}

module_init(pp_crowd_init);
module_exit(pp_crowd_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A thousand functions, for pokepatch's tests");
