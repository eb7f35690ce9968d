// SPDX-License-Identifier: GPL-2.0-only
/*
 * The glue of a module for the kernel's own livepatch core (pokepatch-build --format livepatch).
 * It makes the livepatch core's structures from the tables that pokepatch_livepatch points to: the
 * objects, their symbols, the functions and the callbacks of pokepatch_format.h.  pokepatch's own
 * core does not know such a module, which has no relocations of its own format.
 */
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <pokepatch_format.h>

#ifdef LIVEPATCH_SHADOW
#include "livepatch_shadow.h"
#endif

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

static struct klp_patch *patch;

static const void *table(u64 address)
{
	return (const void *)(unsigned long)address;
}

/* What an object of the image becomes.  Only those with functions or callbacks become anything. */
struct part {
	struct klp_object *object;
	struct klp_func *next; /* the next of the object's functions to fill in */
	struct calls *calls;
	u32 nr_funcs;
	bool has_callbacks;
};

static u32 __init object_of(const struct pokepatch_func *func)
{
	const struct pokepatch_symbol *symbols = table(pokepatch_image.symbols);

	return symbols[func->symbol].object;
}

#ifdef LIVEPATCH_CALLBACKS
#include "livepatch_callbacks.h"
#else
struct calls {
};

/* Most patches have no callbacks, and their modules no code for any. */
static int call_pre_patch(struct klp_object *object)
{
	return 0;
}

static void __init note_callbacks(struct part *parts)
{
}

static void __init fill_callbacks(const struct part *parts, struct calls *calls)
{
}
#endif

static unsigned long end_of_code; /* of .text, in which all new functions are */

/*
 * Before a patch is off, and its module may go, the livepatch core looks for tasks in the new
 * functions.  It takes their sizes from kallsyms, and so overlooks a task in the .cold part of one,
 * or in a function that one has made a tail call to.  All that code lies behind the functions, and
 * so let each reach to the end of it.  Then a task anywhere in it is in the way.  A module that
 * stays loaded in any case needs no more than what livepatch does by itself.
 *
 * The core calls this with klp_mutex held, just after it has set the sizes, and before the object's
 * functions are switched.  Tasks that look at their own stacks read the sizes without klp_mutex,
 * but only for objects that are switched, which the core has ordered behind this call.
 */
static int pre_patch(struct klp_object *object)
{
	struct klp_func *func;

	if (!(pokepatch_image.flags & POKEPATCH_IMAGE_PINNED))
		klp_for_each_func_static(object, func)
			func->new_size = end_of_code - (unsigned long)func->new_func;
	return call_pre_patch(object);
}

/*
 * Give each object with functions or callbacks its place, and its functions theirs, with an entry
 * of zeroes behind them.  vmlinux is the first in the image's table, and has no name.
 */
static void __init place_objects(struct part *parts, struct klp_object *object,
				 struct klp_func *funcs, struct calls *calls)
{
	const struct pokepatch_object *objects = table(pokepatch_image.objects);
	const char *strings = table(pokepatch_image.strings);
	u32 i;

	for (i = 0; i < pokepatch_image.nr_objects; i++) {
		if (!parts[i].nr_funcs && !parts[i].has_callbacks)
			continue;
		object->name = i ? strings + objects[i].name : NULL;
		object->funcs = funcs;
		object->callbacks.pre_patch = pre_patch;
		parts[i].object = object++;
		parts[i].calls = calls++;
		parts[i].next = funcs;
		funcs += parts[i].nr_funcs + 1;
	}
}

static void __init fill_funcs(struct part *parts)
{
	const struct pokepatch_func *funcs = table(pokepatch_image.funcs);
	const struct pokepatch_symbol *symbols = table(pokepatch_image.symbols);
	const char *strings = table(pokepatch_image.strings);
	u32 i;

	for (i = 0; i < pokepatch_image.nr_funcs; i++) {
		const struct pokepatch_symbol *old = &symbols[funcs[i].symbol];
		struct klp_func *to = parts[old->object].next++;

		to->old_name = strings + old->name;
		to->old_sympos = old->pos;
		to->new_func = (void *)(unsigned long)funcs[i].new_addr;
		end_of_code = funcs[i].new_addr + funcs[i].text;
	}
}

static void __init fill_objects(struct part *parts, struct klp_object *objs,
				struct klp_func *funcs, struct calls *calls)
{
	const struct pokepatch_func *rows = table(pokepatch_image.funcs);
	u32 i;

	for (i = 0; i < pokepatch_image.nr_funcs; i++)
		parts[object_of(&rows[i])].nr_funcs++;
	note_callbacks(parts);
	place_objects(parts, objs, funcs, calls);
	fill_funcs(parts);
	fill_callbacks(parts, calls);
}

/*
 * One block of memory has the patch, its tables, each of which ends with an entry of zeroes, and the
 * parts.  A static struct klp_patch, and parts that init frees, would make the module larger.
 */
static int __init livepatch_glue_init(void)
{
	const size_t objects = pokepatch_image.nr_objects;
	const size_t funcs = pokepatch_image.nr_funcs + objects;
	struct klp_object *objs;
	struct klp_func *first;
	struct calls *calls;
	int err;

	patch = kzalloc(sizeof(*patch) + (objects + 1) * sizeof(*objs) + funcs * sizeof(*first) +
				objects * (sizeof(*calls) + sizeof(struct part)),
			GFP_KERNEL);
	if (!patch)
		return -ENOMEM;
	objs = (void *)(patch + 1);
	first = (void *)(objs + objects + 1);
	calls = (void *)(first + funcs);
	patch->mod = THIS_MODULE;
	patch->objs = objs;
	patch->replace = pokepatch_image.level > 0; /* a cumulative patch replaces all others */
	fill_objects((void *)(calls + objects), objs, first, calls);
	err = klp_enable_patch(patch);
	if (err)
		kfree(patch);
	else if (pokepatch_image.flags & POKEPATCH_IMAGE_PINNED)
		__module_get(THIS_MODULE); /* addresses of the new code may outlive the patch */
	return err;
}

/* The livepatch core holds the module until the patch is disabled and nothing refers to it. */
static void __exit livepatch_glue_exit(void)
{
	kfree(patch);
}

module_init(livepatch_glue_init);
module_exit(livepatch_glue_exit);

MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
