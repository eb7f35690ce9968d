// SPDX-License-Identifier: GPL-2.0-only
/*
 * Relocations that the module loader could not make, since they refer to symbols that the kernel
 * does not export, or to modules that are not loaded.
 *
 * The core writes them when the module notifier reports that the patch module, or a parent, is
 * COMING.  By then the patch module's text and read-only data are write-protected, so the core
 * writes through a second mapping of the same pages, writable and not executable.
 *
 * No CPU executes the code that is written.  Either the patch module's init has not been called
 * yet.  Or the code refers to a parent module that has just come, and only calls from that parent,
 * whose init has not been called yet either, could lead to it.
 *
 * But the code may contain a probe.  A probe keeps a copy of its instruction, or of several, with
 * the fields as they were; and a write to a field under an optimised probe's jump would change the
 * jump.
 * So if a probe is in the way, the core writes nothing, and the parent's load fails.  text_mutex
 * keeps probes from being armed meanwhile.  kprobe_mutex, if kallsyms lists it, also keeps them
 * from being registered: registering makes the copy first, and enters the probe into the table of
 * probes later.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/vmalloc.h>

#include <pokepatch_format.h>
#include <pokepatch_history.h>

#include "alias.h"
#include "arch/pp_arch.h"
#include "core_print.h"
#include "kernel_symbols.h"
#include "module_memory.h"
#include "pp_patch.h"
#include "pp_time.h"
#include "record.h"
#include "reloc.h"

/* Write the relocated field to @to, or with a NULL @to only check the value.  Logs errors. */
static int reloc_make(const struct pp_patch *patch, const struct pokepatch_reloc *reloc, void *to)
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

/* Second, writable mappings of the pieces of a module's memory; NULL without relocations there. */
struct aliases {
	const struct module *mod;
	void *piece[PP_MODULE_PIECES];
};

/* The piece of @mod that holds @where.  image.c has checked that there is one. */
static unsigned int reloc_piece(const struct module *mod, unsigned long where)
{
	unsigned int i = 0;

	while (i < PP_MODULE_PIECES - 1 && !pp_region_holds(pp_module_piece(mod, i), where, 1))
		i++;
	return i;
}

static void reloc_unmap(struct aliases *aliases)
{
	unsigned int i;

	for (i = 0; i < PP_MODULE_PIECES; i++)
		vunmap(aliases->piece[i]);
}

/* Map the piece that holds @where, unless it is mapped.  Return: 0 or -ENOMEM. */
static int reloc_map(struct aliases *aliases, unsigned long where)
{
	const unsigned int i = reloc_piece(aliases->mod, where);

	if (!aliases->piece[i])
		aliases->piece[i] = pp_alias_map(pp_module_piece(aliases->mod, i));
	return aliases->piece[i] ? 0 : -ENOMEM;
}

/* Where @where, in a mapped piece, can be written. */
static void *reloc_alias(const struct aliases *aliases, unsigned long where)
{
	const unsigned int i = reloc_piece(aliases->mod, where);

	return aliases->piece[i] + (where - pp_module_piece(aliases->mod, i).start);
}

/*
 * Write one relocation.  If the patch was loaded before its parent, readers of the text history
 * have seen the old bytes, so record the change.
 */
static void reloc_write(const struct pp_patch *patch, const struct pokepatch_reloc *reloc, void *to)
{
	const unsigned int width = pp_arch.reloc.width(reloc->type);
	const bool seen = patch->born.mono && reloc->where >= patch->text_start &&
			  reloc->where < patch->text_end;
	struct pp_when when = { .before = pp_now(), .cpu = raw_smp_processor_id() };
	u8 old[POKEPATCH_HISTORY_BYTES_MAX];

	if (seen)
		memcpy(old, to, width);
	reloc_make(patch, reloc, to);
	when.begin = when.before;
	when.end = when.after = pp_now();
	if (seen)
		pp_record_store(reloc->where, old, to, width, &when, POKEPATCH_HISTORY_STORE,
				POKEPATCH_HISTORY_UNUSED);
}

/*
 * The address of a probe that depends on any of the @size bytes at @at, or 0.  Under text_mutex,
 * and kprobe_mutex if kallsyms lists it.
 */
static unsigned long reloc_find_probe(unsigned long at, unsigned int size)
{
	unsigned long addr, found = 0;

	preempt_disable();
	for (addr = at - pp_arch.probe.reach + 1; addr < at + size && !found; addr++)
		if (pp_get_kprobe(addr))
			found = addr;
	preempt_enable();
	return found;
}

static int reloc_check_probes(const struct pp_patch *patch, unsigned int obj)
{
	unsigned int i;

	for (i = 0; i < patch->nr_relocs; i++) {
		const struct pokepatch_reloc *reloc = &patch->relocs[i];
		unsigned long probe;

		if (patch->symbols[reloc->symbol].object != obj ||
		    reloc->where < patch->text_start || reloc->where >= patch->text_end)
			continue;
		probe = reloc_find_probe(reloc->where, pp_arch.reloc.width(reloc->type));
		if (!probe)
			continue;
		pr_err("%s: there is a probe at %pS, where the address of %s has to be written; remove the probe and try again\n",
		       patch->name, (void *)probe,
		       pp_string(patch, patch->symbols[reloc->symbol].name));
		return -EBUSY;
	}
	return 0;
}

/* Write all through @aliases, or nothing if a probe is in the way. */
static int reloc_write_all(const struct pp_patch *patch, unsigned int obj,
			   const struct aliases *aliases)
{
	unsigned int i;
	int ret;

	if (pp_kernel.kprobe_mutex)
		mutex_lock(pp_kernel.kprobe_mutex);
	mutex_lock(pp_kernel.text_mutex);
	ret = reloc_check_probes(patch, obj);
	for (i = 0; i < patch->nr_relocs && !ret; i++) {
		const struct pokepatch_reloc *reloc = &patch->relocs[i];

		if (patch->symbols[reloc->symbol].object == obj)
			reloc_write(patch, reloc, reloc_alias(aliases, reloc->where));
	}
	mutex_unlock(pp_kernel.text_mutex);
	if (pp_kernel.kprobe_mutex)
		mutex_unlock(pp_kernel.kprobe_mutex);
	return ret;
}

int pp_relocs_apply(struct pp_patch *patch, unsigned int obj)
{
	struct aliases aliases = { .mod = patch->mod };
	unsigned int i, nr = 0;
	int ret = 0;

	for (i = 0; i < patch->nr_relocs && !ret; i++) {
		const struct pokepatch_reloc *reloc = &patch->relocs[i];

		if (patch->symbols[reloc->symbol].object != obj)
			continue;
		ret = reloc_make(patch, reloc, NULL) ?: reloc_map(&aliases, reloc->where);
		nr++;
	}
	if (nr && !ret) {
		pp_record_begin();
		ret = reloc_write_all(patch, obj, &aliases);
		pp_record_end();
	}
	reloc_unmap(&aliases);
	if (nr && !ret)
		pp_arch.text.written(patch->text_start, patch->text_end);
	return ret;
}
