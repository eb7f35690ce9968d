// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions in which tasks may sleep for long.  All functions of a patch are switched at once, when
 * no task is in any of them, so a task that sleeps in one is in the way.  Only a function that
 * sleeps itself is found, and not its callers: the kernel has many, and most never wait for long.
 */
#include "diff/sleepers.h"

#include <stdlib.h>
#include <string.h>

#include "object/atoms.h"
#include "object/object.h"

/* The kernel's functions that sleep until an event that may never come.  Sorted. */
static const char *const sleeping[] = {
	"__wait_on_bit",
	"__wait_on_bit_lock",
	"do_wait_intr",
	"do_wait_intr_irq",
	"folio_wait_bit",
	"folio_wait_bit_killable",
	"io_schedule",
	"out_of_line_wait_on_bit",
	"schedule",
	"schedule_hrtimeout",
	"schedule_hrtimeout_range",
	"schedule_hrtimeout_range_clock",
	"schedule_timeout",
	"schedule_timeout_idle",
	"schedule_timeout_interruptible",
	"schedule_timeout_killable",
	"schedule_timeout_uninterruptible",
	"wait_for_completion",
	"wait_for_completion_interruptible",
	"wait_for_completion_io",
	"wait_for_completion_killable",
	"wait_for_completion_state",
	"wait_woken",
};

/* What the loop of a kernel thread asks.  Sorted. */
static const char *const asks_to_stop[] = {
	"kthread_freezable_should_stop",
	"kthread_should_stop",
	"kthread_should_stop_or_park",
};

static int order_names(const void *key, const void *name)
{
	return strcmp(key, *(const char *const *)name);
}

/* The first of @names, which are sorted, that a piece of code calls or jumps to; or NULL. */
static const char *find_call(const struct atom *atom, const char *const *names, size_t count)
{
	for (size_t i = 0; i < atom->reloc_count; i++) {
		const char *const *found = bsearch(atom->relocs[i].symbol->name, names, count,
						   sizeof(*names), order_names);

		if (found)
			return *found;
	}
	return NULL;
}

/* The same of a function whose old code is @atom->twin, with the cold part of that, or NULL. */
static const char *find_call_in_both(const struct atom *atom, const char *const *names,
				     size_t count)
{
	const char *name = find_call(atom->twin, names, count);

	name = name ? name : find_call(atom, names, count);
	return name || !atom->twin->cold ? name : find_call(atom->twin->cold, names, count);
}

/* How the task leaves a function that is in the patch as @atom. */
static const char *way_out(const struct selection *selection, const struct atom *atom)
{
	if (find_call_in_both(atom, asks_to_stop, ARRAY_SIZE(asks_to_stop)))
		return "; it is the loop of a kernel thread, which nothing makes leave: change "
		       "what it calls instead";
	return selection->options->livepatch
		       ? "; after 15 seconds livepatch wakes it if it sleeps interruptibly"
		       : ", but for 'pokepatch enable --evict', which has the task leave";
}

void sleepers_warn(struct selection *selection)
{
	for (size_t i = 0; i < selection->included.count; i++) {
		const struct atom *atom = selection->included.list[i];
		const char *name;

		/* Of a new function, no task can be in the way when the patch is switched on. */
		if (atom->class != ATOM_CODE || !atom->twin || atom->parent)
			continue;
		name = find_call_in_both(atom, sleeping, ARRAY_SIZE(sleeping));
		if (!name)
			continue;
		refusals_warn(selection->refusals, "may-block",
			      select_location(selection, atom->name), atom->name,
			      "'%s' sleeps in %s(); while a task does, the patch cannot be switched%s",
			      atom->name, name, way_out(selection, atom));
	}
}
