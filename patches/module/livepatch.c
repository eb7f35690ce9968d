// SPDX-License-Identifier: GPL-2.0-only
/*
 * The glue of a module for the kernel's own livepatch core (pokepatch-build --format livepatch).
 * It makes the livepatch core's structures from the tables that pokepatch_livepatch points to:
 * the objects, their symbols and the functions of pokepatch_format.h.  pokepatch's own core does
 * not know such a module, which has no relocations of its own format.
 */
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <pokepatch_format.h>

/* While the module is linked and proved, this is the image of an ordinary patch module. */
extern const struct pokepatch_image pokepatch_image;

/*
 * The longest names that this kernel's livepatch core takes, with their final zeroes.  The build
 * tool reads these numbers in the object file, and no module gets them.
 */
static const u32 limits[] __used __section(".discard.pokepatch_limits") = {
	KSYM_NAME_LEN,
	MODULE_NAME_LEN,
};

static struct klp_patch patch = {.mod = THIS_MODULE};

static const void *table(u64 address)
{
	return (const void *)(unsigned long)address;
}

/*
 * Fill in the functions of one object.
 * Return: the number of functions; an entry of zeroes must follow them.
 */
static unsigned int __init fill_funcs(struct klp_func *to, u32 object)
{
	const struct pokepatch_func *funcs = table(pokepatch_image.funcs);
	const struct pokepatch_symbol *symbols = table(pokepatch_image.symbols);
	const char *strings = table(pokepatch_image.strings);
	unsigned int count = 0;
	u32 i;

	for (i = 0; i < pokepatch_image.nr_funcs; i++) {
		const struct pokepatch_symbol *old = &symbols[funcs[i].symbol];

		if (old->object != object)
			continue;
		to[count].old_name = strings + old->name;
		to[count].old_sympos = old->pos;
		to[count].new_func = (void *)(unsigned long)funcs[i].new_addr;
		count++;
	}
	return count;
}

/* Fill in the objects that have functions.  vmlinux is the first in the table, and has no name. */
static void __init fill_objects(struct klp_object *to, struct klp_func *funcs)
{
	const struct pokepatch_object *objects = table(pokepatch_image.objects);
	const char *strings = table(pokepatch_image.strings);
	u32 i;

	for (i = 0; i < pokepatch_image.nr_objects; i++) {
		unsigned int count = fill_funcs(funcs, i);

		if (!count)
			continue;
		to->name = i ? strings + objects[i].name : NULL;
		to->funcs = funcs;
		to++;
		funcs += count + 1;
	}
}

static void free_tables(void)
{
	kfree(patch.objs->funcs);
	kfree(patch.objs);
}

static int __init livepatch_glue_init(void)
{
	const size_t objects = pokepatch_image.nr_objects;
	struct klp_object *objs = kcalloc(objects + 1, sizeof(*objs), GFP_KERNEL);
	struct klp_func *funcs =
		kcalloc(pokepatch_image.nr_funcs + objects, sizeof(*funcs), GFP_KERNEL);
	int err = -ENOMEM;

	if (!objs || !funcs) {
		kfree(objs);
		kfree(funcs);
		return err;
	}
	fill_objects(objs, funcs);
	patch.objs = objs;
	err = klp_enable_patch(&patch);
	if (err)
		free_tables();
	else if (pokepatch_image.flags & POKEPATCH_IMAGE_PINNED)
		__module_get(THIS_MODULE); /* addresses of the new code may outlive the patch */
	return err;
}

/* The livepatch core holds the module until the patch is disabled and nothing refers to it. */
static void __exit livepatch_glue_exit(void)
{
	free_tables();
}

module_init(livepatch_glue_init);
module_exit(livepatch_glue_exit);

MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
