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
#include <pokepatch_patch.h>

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

/* ---- callbacks ---------------------------------------------------------------------- */

/* The author's callbacks for an object; NULL: there is none. */
struct calls {
	struct pokepatch_parent parent; /* their argument */
	void *by_kind[POKEPATCH_CALLBACK_KINDS];
};

static struct calls *calls; /* for each of patch.objs */

static struct calls *calls_of(struct klp_object *object)
{
	struct calls *of = &calls[object - patch.objs];

	of->parent.module = object->mod;
	return of;
}

static int call_pre_patch(struct klp_object *object)
{
	struct calls *of = calls_of(object);
	int (*pre_patch)(const struct pokepatch_parent *) =
		of->by_kind[POKEPATCH_CALLBACK_PRE_PATCH];
	int err = pre_patch(&of->parent);

	return err > 0 ? -EINVAL : err;
}

static void call(struct klp_object *object, enum pokepatch_callback_kind kind)
{
	struct calls *of = calls_of(object);
	void (*callback)(const struct pokepatch_parent *) = of->by_kind[kind];

	callback(&of->parent);
}

static void call_post_patch(struct klp_object *object)
{
	call(object, POKEPATCH_CALLBACK_POST_PATCH);
}

static void call_pre_unpatch(struct klp_object *object)
{
	call(object, POKEPATCH_CALLBACK_PRE_UNPATCH);
}

static void call_post_unpatch(struct klp_object *object)
{
	call(object, POKEPATCH_CALLBACK_POST_UNPATCH);
}

/*
 * Fill in the callbacks of one object.
 * Return: false if it has none.
 */
static bool __init fill_callbacks(struct klp_callbacks *to, struct calls *of, u32 object)
{
	const struct pokepatch_callback *callbacks = table(pokepatch_image.callbacks);
	bool any = false;
	u32 i;

	for (i = 0; i < pokepatch_image.nr_callbacks; i++) {
		if (callbacks[i].object != object)
			continue;
		of->by_kind[callbacks[i].kind] = (void *)(unsigned long)callbacks[i].func;
		any = true;
	}
	if (of->by_kind[POKEPATCH_CALLBACK_PRE_PATCH])
		to->pre_patch = call_pre_patch;
	if (of->by_kind[POKEPATCH_CALLBACK_POST_PATCH])
		to->post_patch = call_post_patch;
	if (of->by_kind[POKEPATCH_CALLBACK_PRE_UNPATCH])
		to->pre_unpatch = call_pre_unpatch;
	if (of->by_kind[POKEPATCH_CALLBACK_POST_UNPATCH])
		to->post_unpatch = call_post_unpatch;
	return any;
}

/* ---- objects ------------------------------------------------------------------------ */

/*
 * Fill in the objects that have functions or callbacks.  vmlinux is the first in the table, and has
 * no name.
 */
static void __init fill_objects(struct klp_object *to, struct klp_func *funcs)
{
	const struct pokepatch_object *objects = table(pokepatch_image.objects);
	const char *strings = table(pokepatch_image.strings);
	struct calls *of = calls;
	u32 i;

	for (i = 0; i < pokepatch_image.nr_objects; i++) {
		unsigned int count = fill_funcs(funcs, i);

		if (!fill_callbacks(&to->callbacks, of, i) && !count)
			continue;
		to->name = i ? strings + objects[i].name : NULL;
		to->funcs = funcs;
		of->parent.patch = strings + pokepatch_image.name;
		of->parent.name = strings + objects[i].name;
		to++;
		of++;
		funcs += count + 1;
	}
}

static int __init livepatch_glue_init(void)
{
	const size_t objects = pokepatch_image.nr_objects;
	struct klp_object *objs = kcalloc(objects + 1, sizeof(*objs), GFP_KERNEL);
	struct klp_func *funcs =
		kcalloc(pokepatch_image.nr_funcs + objects, sizeof(*funcs), GFP_KERNEL);
	int err = -ENOMEM;

	calls = kcalloc(objects, sizeof(*calls), GFP_KERNEL);
	if (!objs || !funcs || !calls)
		goto fail;
	fill_objects(objs, funcs);
	patch.objs = objs;
	err = klp_enable_patch(&patch);
	if (err)
		goto fail;
	if (pokepatch_image.flags & POKEPATCH_IMAGE_PINNED)
		__module_get(THIS_MODULE); /* addresses of the new code may outlive the patch */
	return 0;
fail:
	kfree(calls);
	kfree(funcs);
	kfree(objs);
	return err;
}

/* The livepatch core holds the module until the patch is disabled and nothing refers to it. */
static void __exit livepatch_glue_exit(void)
{
	kfree(calls);
	kfree(patch.objs->funcs);
	kfree(patch.objs);
}

module_init(livepatch_glue_init);
module_exit(livepatch_glue_exit);

MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
