// SPDX-License-Identifier: GPL-2.0-only
/*
 * Veneers: where the jump at an entry reaches less far than modules may be away, it leads to a
 * few instructions in reach of it, which load the new function's address and go there.
 *
 * They lie in pages of their own, which are asked for near the entry.  A veneer is for one new
 * function, and serves every entry that it is in reach of. It is written before any jump leads
 * to it, and stays until the module of the new function goes. By then nobody is in it: a task
 * that was stopped there is at the entry of the new function, and counts as being in it
 * (layout.c), so that neither a switch nor the module goes past it.
 *
 * Everything under pp_mutex, but the code of veneers, which anybody runs.
 */
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "core.h"

/* A page of them. */
struct veneers {
	struct list_head node;
	unsigned long start;
	unsigned int nr;		/* slots in use */
	unsigned long target[];		/* of each slot, 0: free */
};

static LIST_HEAD(pages);

static unsigned int slots(void)
{
	return PAGE_SIZE / pp_arch.veneer_size;
}

static unsigned long slot(const struct veneers *page, unsigned int i)
{
	return page->start + i * pp_arch.veneer_size;
}

static bool reaches(unsigned long ip, unsigned long target)
{
	u8 insn[PP_TEXT_WORD_MAX];

	return !pp_arch.entry_insn(ip, target, insn);
}

/* Call @fn for each that leads to @target, until it says that it is enough. */
static bool for_each_to(unsigned long target, bool (*fn)(void *ctx, unsigned long veneer),
			void *ctx)
{
	const struct veneers *page;
	unsigned int i;

	list_for_each_entry(page, &pages, node)
		for (i = 0; i < slots(); i++)
			if (page->target[i] == target && fn(ctx, slot(page, i)))
				return true;
	return false;
}

struct from {
	unsigned long ip, veneer;
	unsigned int nr;
};

static bool note_if_reached(void *ctx, unsigned long veneer)
{
	struct from *from = ctx;

	from->nr++;
	if (reaches(from->ip, veneer))
		from->veneer = veneer;
	return from->veneer;
}

static unsigned long find(unsigned long ip, unsigned long target)
{
	struct from from = { .ip = ip };

	for_each_to(target, note_if_reached, &from);
	return from.veneer;
}

unsigned long pp_veneer_route(unsigned long ip, unsigned long target)
{
	unsigned long veneer = target && pp_arch.veneer_size ? find(ip, target) : 0;

	lockdep_assert_held(&pp_mutex);
	return veneer ?: target;
}

/* In reach of @ip, and nobody's yet. */
static struct veneers *new_page(unsigned long ip)
{
	const unsigned long reach = pp_arch.entry_reach - PAGE_SIZE;
	struct veneers *page = kzalloc(struct_size(page, target, slots()), GFP_KERNEL);
	void *code;

	if (!page || !pp_kernel.vmalloc_node_range)
		goto fail;
	/* Zeroed: whatever was there before must not become text. */
	code = PP_FAULT("vmalloc_node_range") ?
		       NULL :
		       pp_kernel.vmalloc_node_range(PAGE_SIZE, PAGE_SIZE, ip - reach, ip + reach,
						    GFP_KERNEL | __GFP_ZERO, PAGE_KERNEL,
						    VM_FLUSH_RESET_PERMS, NUMA_NO_NODE,
						    __builtin_return_address(0));
	if (!code)
		goto fail;
	/* It has never been executable before, and is not writable afterwards. */
	if (pp_arch.veneers_seal((unsigned long)code)) {
		vfree(code);
		goto fail;
	}
	page->start = (unsigned long)code;
	list_add(&page->node, &pages);
	return page;
fail:
	kfree(page);
	return NULL;
}

static struct veneers *page_for(unsigned long ip)
{
	struct veneers *page;

	list_for_each_entry(page, &pages, node)
		if (page->nr < slots() && reaches(ip, page->start) &&
		    reaches(ip, slot(page, slots() - 1)))
			return page;
	return new_page(ip);
}

/* Nobody runs it yet. */
static int write(unsigned long at, unsigned long target)
{
	u8 code[PP_VENEER_MAX] __aligned(8);
	unsigned int i;

	pp_arch.veneer(at, target, code);
	for (i = 0; i < pp_arch.veneer_size; i += pp_arch.text_word)
		if (pp_arch.text_store(at + i, *(u32 *)(code + i)))
			return -EIO;
	pp_arch.text_written(at, at + pp_arch.veneer_size);
	return 0;
}

bool pp_veneer_make(unsigned long ip, unsigned long target)
{
	struct from from = { .ip = ip };
	struct veneers *page;
	unsigned int i = 0;

	lockdep_assert_held(&pp_mutex);
	if (reaches(ip, target) && !pp_debug_far_entries)
		return true;
	if (!pp_arch.veneer_size)
		return false;
	if (for_each_to(target, note_if_reached, &from))
		return true;
	/* The function's module was elsewhere, far away, more than once. */
	if (from.nr >= PP_VENEERS_OF_FUNC)
		return false;
	page = page_for(ip);
	if (!page)
		return false;
	while (page->target[i])
		i++;
	if (write(slot(page, i), target))
		return false;
	page->target[i] = target;
	page->nr++;
	return true;
}

struct busy_for {
	struct pp_busy *busy;
	const struct pp_func *func;
};

static bool add_to_busy(void *ctx, unsigned long veneer)
{
	const struct busy_for *to = ctx;

	to->busy->range[to->busy->nr++] = (struct pp_range){
		veneer, veneer + pp_arch.veneer_size - 1, to->func };
	return false;
}

void pp_veneers_busy(struct pp_busy *busy, const struct pp_func *func)
{
	struct busy_for to = { busy, func };

	lockdep_assert_held(&pp_mutex);
	for_each_to(func->desc->new_addr, add_to_busy, &to);
}

void pp_veneers_drop(unsigned long start, unsigned long end)
{
	struct veneers *page, *next;
	unsigned int i;

	lockdep_assert_held(&pp_mutex);
	list_for_each_entry_safe(page, next, &pages, node) {
		for (i = 0; i < slots(); i++) {
			if (page->target[i] < start || page->target[i] >= end)
				continue;
			page->target[i] = 0;
			page->nr--;
		}
		if (page->nr)
			continue;
		list_del(&page->node);
		vfree((void *)page->start);
		kfree(page);
	}
}
