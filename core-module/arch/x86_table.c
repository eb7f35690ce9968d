// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: the table in which the kernel's handler of breakpoints looks places up.
 *
 * x86_breaks.c says what the handler does; x86_poke.c and x86_stop.c use the table.  It is internal
 * to arch/x86/kernel/alternative.c, and has one of two forms.
 *
 * The newer form, since Linux 6.16.  The table lies in text_poke_array, with room for one page of
 * places, and each CPU has its own count of references to it, text_poke_array_refs.  So the core
 * copies places into the kernel's own table:
 *
 * - The counts of all CPUs are 0 while the table is filled, so no handler reads it.  A handler that
 *   finds its CPU's count above 0 sees the whole table: a release sets the count, and the handler's
 *   increment is a full barrier.  The exception keeps interrupts off, so the handler counts on the
 *   CPU that it began on.
 * - The counts of all possible CPUs are set before the first breakpoint is stored.
 * - While the table is in use, nothing in it changes but distances of the emulated jumps (disp).
 *   What it emulates as the old and as the new instruction are jumps; the NOP is one of distance
 *   0.  A distance is an aligned word that the handler reads once.  So it emulates each
 *   place as the old or as the new instruction, and turning is one store for each place.
 * - After the last step the counts are given back, and each must have been 0 once before the table
 *   is filled again.  In a stop, all CPUs have met by then, so no handler is still in the table for
 *   a breakpoint of ours.  One that came for a kprobe, in an NMI, waits for nothing and leaves.
 * - The kernel's writer queues places in the same table, and jump labels release text_mutex between
 *   queueing and writing.  So the core has the kernel write what is queued (x86_table_flush())
 *   before it uses the table.  The kernel's own writers do the same with what others have queued,
 *   if the places are not in order.
 *
 * The older form.  bp_desc points to a table, and has one count for all CPUs.  The kernel's writer
 * points it to tp_vec, where it also queues places, and the core points it to tables of its own.
 * Turning is one store of that pointer, for all places.  The handler reads the pointer once.  (If
 * the compiler made it read the pointer twice, it would find the same places in both tables.)
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>

#include "debug.h"
#include "x86.h"

/* A slot's call apart: x86_table_is_known() calls a function of the core indirectly, too. */
static __nocfi void x86_table_finish(void)
{
	x86.text_poke_finish();
}

#ifdef PP_HAS_TEXT_POKE_BATCH

/* struct smp_text_poke_array */
struct table {
	struct x86_place vec[X86_TABLE_MAX];
	int nr;
};

/* The count of @cpu; NULL if there is no such CPU.  Inline, because a stop may call nothing. */
static __always_inline atomic_t *x86_table_count(unsigned int cpu)
{
	atomic_t __percpu *counts = (__force atomic_t __percpu *)x86.table_counts;

	return cpu_possible(cpu) ? per_cpu_ptr(counts, cpu) : NULL;
}

notrace void x86_breaks_arm(const struct x86_place *places, unsigned int nr)
{
	struct table *table = x86.table;
	unsigned int i;

	if (pp_debug_skip_arm)
		return;
	for (i = 0; i < nr; i++)
		table->vec[i] = places[i];
	table->nr = nr;
	for (i = 0; i < nr_cpu_ids; i++) {
		atomic_t *count = x86_table_count(i);

		/* A handler that takes a reference sees the table. */
		if (count)
			atomic_set_release(count, 1);
	}
	/* A CPU that meets a breakpoint can take a reference. */
	smp_wmb();
}
NOKPROBE_SYMBOL(x86_breaks_arm);

notrace void x86_breaks_turn(const struct x86_place *places)
{
	struct table *table = x86.table;
	int i;

	for (i = 0; i < table->nr; i++)
		WRITE_ONCE(table->vec[i].disp, places[i].disp);
}
NOKPROBE_SYMBOL(x86_breaks_turn);

notrace void x86_breaks_disarm(void)
{
	struct table *table = x86.table;
	unsigned int i;

	if (pp_debug_skip_arm)
		return;
	for (i = 0; i < nr_cpu_ids; i++) {
		atomic_t *count = x86_table_count(i);

		if (count && !atomic_dec_and_test(count))
			atomic_cond_read_acquire(count, !VAL);
	}
	/* The kernel's writer queues from here on again. */
	table->nr = 0;
}
NOKPROBE_SYMBOL(x86_breaks_disarm);

__nocfi void x86_table_flush(void)
{
	if (x86.text_poke_finish)
		x86.text_poke_finish();
}

static bool x86_table_is_unused(const struct table *table)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (atomic_read(x86_table_count(cpu)))
			return false;
	return !READ_ONCE(table->nr);
}

bool x86_table_is_known(bool (*queue_two)(const struct x86_place *vec))
{
	const struct table *table = x86.table;
	bool known;

	if (!table || !x86.table_counts || !x86_table_is_unused(table))
		return false;
	known = queue_two(table->vec) && READ_ONCE(table->nr) == 2;
	x86_table_finish();
	return known && x86_table_is_unused(table);
}

#else

/* struct bp_patching_desc */
struct table {
	const struct x86_place *vec;
	int nr;
	atomic_t count;		/* 0: the handler takes no breakpoint for its own */
};

notrace void x86_breaks_arm(const struct x86_place *places, unsigned int nr)
{
	struct table *table = x86.table;

	if (pp_debug_skip_arm)
		return;
	table->vec = places;
	table->nr = nr;
	/* A CPU that takes a reference sees the table. */
	atomic_set_release(&table->count, 1);
	/* A CPU that meets a breakpoint can take a reference. */
	smp_wmb();
}
NOKPROBE_SYMBOL(x86_breaks_arm);

notrace void x86_breaks_turn(const struct x86_place *places)
{
	struct table *table = x86.table;

	WRITE_ONCE(table->vec, places);
}
NOKPROBE_SYMBOL(x86_breaks_turn);

notrace void x86_breaks_disarm(void)
{
	struct table *table = x86.table;

	if (pp_debug_skip_arm)
		return;
	if (!atomic_dec_and_test(&table->count))
		atomic_cond_read_acquire(&table->count, !VAL);
}
NOKPROBE_SYMBOL(x86_breaks_disarm);

/* What the kernel has queued does not lie where the core's tables do. */
void x86_table_flush(void)
{
}

bool x86_table_is_known(bool (*queue_two)(const struct x86_place *vec))
{
	const struct table *table = x86.table;
	const struct x86_place *vec = x86.tp_vec;
	bool known;

	if (!table || !vec || !x86.tp_vec_nr)
		return false;
	/* Jump labels may have queued places. */
	x86_table_finish();
	known = !*x86.tp_vec_nr && queue_two(vec) && *x86.tp_vec_nr == 2;
	x86_table_finish();
	return known && table->vec == vec && table->nr == 2 && !atomic_read(&table->count);
}

#endif
