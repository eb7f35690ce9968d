// SPDX-License-Identifier: GPL-2.0-only
/*
 * Relocations that the module loader could not make.
 *
 * They are written when the module notifier says that the patch module, or a
 * parent of it, is COMING.  By then the patch module's text and read-only data
 * are write-protected, so the bytes are written through a second, writable and
 * not executable mapping of the same pages.
 *
 * Nobody runs what is written: either the patch module's init has not been
 * called, or the code refers to a parent module that has not been there until
 * now, so that only calls from that parent, whose init has not been called
 * either, could lead to it.
 *
 * But a probe may be in it, and has a copy of its instruction, or of several, with
 * the fields as they were; what is written over an optimised one's jump is part of
 * the jump.  So where a probe is nothing is written, and the parent's load fails.
 * text_mutex keeps probes from being armed meanwhile; kprobe_mutex, where kallsyms
 * tells of it, also from being made, which is a copy first and an entry in the table
 * of probes later.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <pokepatch_format.h>
#include <pokepatch_history.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "kernel_symbols.h"
#include "pp_patch.h"
#include "pp_time.h"
#include "record.h"
#include "reloc.h"

static int reloc_value(const struct pp_patch *patch, const struct pokepatch_reloc *reloc, void *to)
{
	int ret = pp_arch.reloc.apply(reloc->type, reloc->where,
				patch->addr[reloc->symbol] + reloc->addend, to);

	if (ret)
		pr_err("%s is refused: relocation of type %u against %s at %pS: %s\n", patch->name,
		       reloc->type, pp_string(patch, patch->symbols[reloc->symbol].name),
		       pp_pointer(reloc->where),
		       ret == -ERANGE ? "the symbol is too far away" : "not known");
	return ret;
}

/* A writable mapping of what @mod keeps for its life; NULL if there is no memory. */
static void *map_alias(const struct module *mod)
{
	const unsigned long base = (unsigned long)mod->core_layout.base;
	const unsigned int nr = DIV_ROUND_UP(mod->core_layout.size, PAGE_SIZE);
	struct page **pages = kvmalloc_array(nr, sizeof(*pages), GFP_KERNEL);
	void *alias = NULL;
	unsigned int i;

	if (!pages)
		return NULL;
	for (i = 0; i < nr; i++) {
		pages[i] = vmalloc_to_page((void *)(base + i * PAGE_SIZE));
		if (WARN_ON(!pages[i]))
			goto out;
	}
	alias = vmap(pages, nr, VM_MAP, PAGE_KERNEL);
out:
	kvfree(pages);
	return alias;
}

/* Nobody runs it yet, but if the patch has been there before its parent, it has been seen. */
static void write(const struct pp_patch *patch, const struct pokepatch_reloc *reloc, void *to)
{
	const unsigned int width = pp_arch.reloc.width(reloc->type);
	const bool seen = patch->born.mono && reloc->where >= patch->text_start &&
			  reloc->where < patch->text_end;
	struct pp_when when = { .before = pp_now(), .cpu = raw_smp_processor_id() };
	u8 old[POKEPATCH_HISTORY_BYTES_MAX];

	if (seen)
		memcpy(old, to, width);
	reloc_value(patch, reloc, to);
	when.begin = when.before;
	when.end = when.after = pp_now();
	if (seen)
		pp_record_store(reloc->where, old, to, width, &when, POKEPATCH_HISTORY_STORE,
				POKEPATCH_HISTORY_UNUSED);
}

/* The address of a probe that minds if @size bytes at @at are written; 0: there is none. */
static unsigned long probe_over(unsigned long at, unsigned int size)
{
	unsigned long addr, found = 0;

	preempt_disable();
	for (addr = at - pp_arch.probe.reach + 1; addr < at + size && !found; addr++)
		if (pp_kernel.get_kprobe((void *)addr))
			found = addr;
	preempt_enable();
	return found;
}

static int check_probes(const struct pp_patch *patch, unsigned int obj)
{
	unsigned int i;

	for (i = 0; i < patch->nr_relocs; i++) {
		const struct pokepatch_reloc *reloc = &patch->relocs[i];
		unsigned long probe;

		if (patch->symbols[reloc->symbol].object != obj ||
		    reloc->where < patch->text_start || reloc->where >= patch->text_end)
			continue;
		probe = probe_over(reloc->where, pp_arch.reloc.width(reloc->type));
		if (!probe)
			continue;
		pr_err("%s: there is a probe at %pS, where the address of %s has to be written; remove the probe and try again\n",
		       patch->name, (void *)probe,
		       pp_string(patch, patch->symbols[reloc->symbol].name));
		return -EBUSY;
	}
	return 0;
}

/* Through the alias of what is at @base; unless probes mind, and then nothing. */
static int write_all(const struct pp_patch *patch, unsigned int obj, unsigned long base,
		     void *alias)
{
	unsigned int i;
	int ret;

	if (pp_kernel.kprobe_mutex)
		mutex_lock(pp_kernel.kprobe_mutex);
	mutex_lock(pp_kernel.text_mutex);
	ret = check_probes(patch, obj);
	for (i = 0; i < patch->nr_relocs && !ret; i++) {
		const struct pokepatch_reloc *reloc = &patch->relocs[i];

		if (patch->symbols[reloc->symbol].object == obj)
			write(patch, reloc, alias + (reloc->where - base));
	}
	mutex_unlock(pp_kernel.text_mutex);
	if (pp_kernel.kprobe_mutex)
		mutex_unlock(pp_kernel.kprobe_mutex);
	return ret;
}

int pp_relocs_apply(struct pp_patch *patch, unsigned int obj)
{
	const unsigned long base = (unsigned long)patch->mod->core_layout.base;
	unsigned int i, nr = 0;
	void *alias;
	int ret;

	for (i = 0; i < patch->nr_relocs; i++) {
		const struct pokepatch_reloc *reloc = &patch->relocs[i];

		if (patch->symbols[reloc->symbol].object != obj)
			continue;
		ret = reloc_value(patch, reloc, NULL);
		if (ret)
			return ret;
		nr++;
	}
	if (!nr)
		return 0;

	alias = map_alias(patch->mod);
	if (!alias)
		return -ENOMEM;
	pp_record_begin();
	ret = write_all(patch, obj, base, alias);
	pp_record_end();
	vunmap(alias);
	if (!ret)
		pp_arch.text.written(patch->text_start, patch->text_end);
	return ret;
}
