// SPDX-License-Identifier: GPL-2.0-only
/*
 * The symbols of its parents that a patch names: the lookup that all parents share, and vmlinux.
 * module_symbols.c does the same for parents that are modules.
 *
 * The core finds a symbol by its offset from the parent's base.  The build id proves that the
 * parent is the one in which the build tool measured the offset.  Where kallsyms lists the symbol,
 * its name and position must lead to the same address.
 */
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include <pokepatch_format.h>

#include "core_print.h"
#include "kernel_symbols.h"
#include "parent_symbols.h"
#include "pp_patch.h"

/* --- the lookup -------------------------------------------------------------------- */

static unsigned int parent_symbol_hash(const struct pp_lookup *lookup, const char *name)
{
	return hash_32(full_name_hash(NULL, name, strlen(name)), lookup->bits);
}

void pp_lookup_deinit(struct pp_lookup *lookup)
{
	kvfree(lookup->buckets);
	kvfree(lookup->wanted);
}

int pp_lookup_init(struct pp_lookup *lookup, struct pp_patch *patch, unsigned int obj)
{
	unsigned int i, nr = 0;

	for (i = 0; i < patch->nr_symbols; i++)
		nr += patch->symbols[i].object == obj;
	*lookup = (struct pp_lookup){ .patch = patch, .bits = max(ilog2(nr | 1) + 1, 4) };
	if (!nr)
		return 0;
	lookup->wanted = kvcalloc(nr, sizeof(*lookup->wanted), GFP_KERNEL);
	lookup->buckets = kvcalloc(1UL << lookup->bits, sizeof(*lookup->buckets), GFP_KERNEL);
	if (!lookup->wanted || !lookup->buckets) {
		pp_lookup_deinit(lookup);
		return -ENOMEM;
	}
	for (i = 0; i < patch->nr_symbols; i++) {
		const struct pokepatch_symbol *sym = &patch->symbols[i];
		struct pp_wanted *wanted;

		if (sym->object != obj)
			continue;
		wanted = &lookup->wanted[lookup->nr++];
		wanted->sym = sym;
		wanted->name = pp_string(patch, sym->name);
		hlist_add_head(&wanted->node,
			       &lookup->buckets[parent_symbol_hash(lookup, wanted->name)]);
	}
	return 0;
}

void pp_lookup_note(void *ctx, const char *name, unsigned long addr)
{
	struct pp_lookup *lookup = ctx;
	struct pp_wanted *wanted;

	hlist_for_each_entry(wanted, &lookup->buckets[parent_symbol_hash(lookup, name)], node) {
		if (strcmp(wanted->name, name))
			continue;
		if (++wanted->seen == wanted->sym->pos)
			wanted->at_pos = addr;
		wanted->last = addr;
		if (addr == wanted->addr)
			wanted->confirmed = true;
	}
}

int pp_lookup_refuse(const struct pp_lookup *lookup, const struct pp_wanted *wanted,
		     const char *why)
{
	pr_err("%s is refused: symbol %s,%u of %s: %s; build it for this kernel\n",
	       lookup->patch->name, wanted->name, wanted->sym->pos,
	       lookup->patch->objects[wanted->sym->object].name, why);
	return -ENOENT;
}

/*
 * Without KALLSYMS_ALL kallsyms lists code only.  The build tool reads the ELF file, so it cannot
 * know that, and counts positions for data as well.
 */
bool pp_wanted_may_be_unlisted(const struct pp_wanted *wanted)
{
	return !wanted->sym->pos ||
	       (!IS_ENABLED(CONFIG_KALLSYMS_ALL) && !(wanted->sym->flags & POKEPATCH_SYM_FUNC));
}

void pp_lookup_store(const struct pp_lookup *lookup)
{
	unsigned int i;

	for (i = 0; i < lookup->nr; i++)
		lookup->patch->addr[lookup->wanted[i].sym - lookup->patch->symbols] =
			lookup->wanted[i].addr;
}

/* --- vmlinux ----------------------------------------------------------------------- */

int pp_vmlinux_check_build_id(const struct pp_patch *patch)
{
	const struct pokepatch_object *want = patch->objects[0].desc;

	if (want->build_id_len == pp_kernel.build_id_len &&
	    !memcmp(want->build_id, pp_kernel.build_id, want->build_id_len))
		return 0;
	pr_err("%s is refused: made for the kernel with build id %*phN, this one has %*phN; build it for this kernel\n",
	       patch->name, (int)want->build_id_len, want->build_id,
	       (int)pp_kernel.build_id_len, pp_kernel.build_id);
	return -ENOEXEC;
}

static int parent_symbol_check(const struct pp_lookup *lookup, const struct pp_wanted *wanted)
{
	const struct pokepatch_symbol *sym = wanted->sym;
	unsigned long addr = wanted->addr, last = addr + (sym->size ? sym->size - 1 : 0);

	if (sym->flags & POKEPATCH_SYM_ABS) {
		/* Only per-CPU memory that is linked at 0 (x86) has offsets as its symbols. */
		if (pp_kernel.per_cpu_end >= pp_kernel.stext)
			return pp_lookup_refuse(lookup, wanted,
						"this kernel has no absolute symbols");
		if (last < addr || last >= pp_kernel.per_cpu_end)
			return pp_lookup_refuse(lookup, wanted,
						"its offset is outside per-CPU memory");
	} else if (addr < pp_kernel.stext || last < addr || last >= pp_kernel.end) {
		return pp_lookup_refuse(lookup, wanted, "its offset is outside the kernel");
	}
	if ((sym->flags & POKEPATCH_SYM_FUNC) &&
	    (addr < pp_kernel.stext || last >= pp_kernel.etext))
		return pp_lookup_refuse(lookup, wanted, "it is not in the kernel's permanent text");
	if (!wanted->seen && pp_wanted_may_be_unlisted(wanted))
		return 0;
	if (!wanted->seen)
		return pp_lookup_refuse(lookup, wanted, "kallsyms does not list it");
	if (sym->pos && wanted->at_pos != addr)
		return pp_lookup_refuse(lookup, wanted, "offset and kallsyms disagree");
	return 0;
}

int pp_vmlinux_resolve(struct pp_patch *patch)
{
	struct pp_lookup lookup;
	unsigned int i;
	int ret = pp_lookup_init(&lookup, patch, 0);

	if (ret || !lookup.nr)
		return ret;
	for (i = 0; i < lookup.nr; i++) {
		struct pp_wanted *wanted = &lookup.wanted[i];

		wanted->addr = wanted->sym->offset;
		if (!(wanted->sym->flags & POKEPATCH_SYM_ABS))
			wanted->addr += pp_kernel.stext;
	}
	pp_kernel_each_symbol(pp_lookup_note, &lookup);
	for (i = 0; i < lookup.nr && !ret; i++)
		ret = parent_symbol_check(&lookup, &lookup.wanted[i]);
	if (!ret)
		pp_lookup_store(&lookup);
	pp_lookup_deinit(&lookup);
	return ret;
}
