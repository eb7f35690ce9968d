/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory that a module keeps after its init, in whatever pieces the kernel allocates it. */
#ifndef POKEPATCH_MODULE_MEMORY_H
#define POKEPATCH_MODULE_MEMORY_H

#include <linux/module.h>
#include <linux/types.h>

#include "features.h"

/* [start, end) */
struct pp_region {
	unsigned long start, end;
};

static inline struct pp_region pp_region(const void *base, unsigned long from, unsigned long to)
{
	return (struct pp_region){ (unsigned long)base + from, (unsigned long)base + to };
}

/*
 * A module keeps its text, read-only data, data that is read-only after its init, and other data.
 * Newer kernels allocate each of them by itself (since Linux 6.4), older ones all in one piece,
 * with page protection for each part.
 */
#ifdef PP_HAS_MODULE_MEM

#define PP_MODULE_PIECES (MOD_RO_AFTER_INIT + 1)

/* The pieces of memory that the module keeps after its init: @i below PP_MODULE_PIECES. */
static inline struct pp_region pp_module_piece(const struct module *mod, unsigned int i)
{
	return pp_region(mod->mem[i].base, 0, mod->mem[i].size);
}

static inline struct pp_region pp_module_text(const struct module *mod)
{
	return pp_module_piece(mod, MOD_TEXT);
}

static inline struct pp_region pp_module_rodata(const struct module *mod)
{
	return pp_module_piece(mod, MOD_RODATA);
}

/* What stays writable. */
static inline struct pp_region pp_module_data(const struct module *mod)
{
	return pp_module_piece(mod, MOD_DATA);
}

#else

#define PP_MODULE_PIECES 1

static inline struct pp_region pp_module_piece(const struct module *mod, unsigned int i)
{
	return pp_region(mod->core_layout.base, 0, mod->core_layout.size);
}

static inline struct pp_region pp_module_text(const struct module *mod)
{
	return pp_region(mod->core_layout.base, 0, mod->core_layout.text_size);
}

static inline struct pp_region pp_module_rodata(const struct module *mod)
{
	return pp_region(mod->core_layout.base, mod->core_layout.text_size,
			 mod->core_layout.ro_size);
}

static inline struct pp_region pp_module_data(const struct module *mod)
{
	return pp_region(mod->core_layout.base, mod->core_layout.ro_after_init_size,
			 mod->core_layout.size);
}

#endif

static inline bool pp_region_holds(struct pp_region region, unsigned long addr, unsigned long size)
{
	return addr >= region.start && addr < region.end && size <= region.end - addr;
}

/* Does one piece that the module keeps after its init hold all of [addr, addr + size)? */
static inline bool pp_module_holds(const struct module *mod, unsigned long addr, unsigned long size)
{
	unsigned int i;

	for (i = 0; i < PP_MODULE_PIECES; i++)
		if (pp_region_holds(pp_module_piece(mod, i), addr, size))
			return true;
	return false;
}

#endif /* POKEPATCH_MODULE_MEMORY_H */
