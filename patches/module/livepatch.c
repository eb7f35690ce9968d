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

#include <pokepatch_format.h>

#ifdef LIVEPATCH_SHADOW
#include "livepatch_shadow.h"
#endif

/* While the module is linked and proved, this is the image of an ordinary patch module. */
extern const struct pokepatch_image pokepatch_image;

#ifdef LIVEPATCH_MARKERS
#include "livepatch_markers.h"
#else
static void __init open_markers(void)
{
}

static void __maybe_unused close_markers(void)
{
}
#endif

/*
 * The livepatch core's structures: struct klp_patch, the objects and the functions, with an entry
 * of zeroes behind each list, and struct calls and struct part for each object of the image.  The
 * build tool makes the room as large as that, and it takes no place in the file.  There is no C
 * definition, because the compiler would believe its size.
 */
asm(".pushsection .bss\n"
    ".balign 8\n"
    ".globl pokepatch_room\n"
    ".type pokepatch_room, %object\n"
    ".size pokepatch_room, 8\n"
    "pokepatch_room: .skip 8\n"
    ".popsection");
extern struct klp_patch pokepatch_room[];

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

static void __init note_callbacks(const struct pokepatch_image *image, struct part *parts)
{
}

static void __init fill_callbacks(const struct pokepatch_image *image, const struct part *parts,
				  struct calls *calls)
{
}
#endif

/*
 * What the build tool has to know of this kernel; it reads the numbers in the object file, and no
 * module gets them.  The longest names that the livepatch core takes, with their final zeroes, and
 * what a patch, each object in the list, each function in the list and each object of the image
 * take in pokepatch_room.
 */
static const u32 sizes[] __used __section(POKEPATCH_SECTION_LIVEPATCH_SIZES) = {
	KSYM_NAME_LEN,
	MODULE_NAME_LEN,
	sizeof(struct klp_patch),
	sizeof(struct klp_object),
	sizeof(struct klp_func),
	sizeof(struct calls) + sizeof(struct part),
};

/* The structures lie one behind the other, in a section that is aligned to 8 bytes. */
static_assert(__alignof__(struct klp_patch) <= 8 && __alignof__(struct klp_object) <= 8 &&
	      __alignof__(struct klp_func) <= 8 && __alignof__(struct calls) <= 8 &&
	      __alignof__(struct part) <= 8);

/*
 * Before a patch is off, and its module may go, the livepatch core looks for tasks in the new
 * functions.  It takes their sizes from kallsyms, and so overlooks a task in the .cold part of one,
 * or in a function that one has made a tail call to.  All that code lies behind the functions, and
 * so let each reach to the end of it, which each row of functions tells.  Then a task anywhere in
 * it is in the way.
 *
 * The core calls pre_patch() with klp_mutex held, just after it has set the sizes, and before the
 * object's functions are switched.  Tasks that look at their own stacks read the sizes without
 * klp_mutex, but only for objects that are switched, which the core has ordered behind this call.
 */
static void reach_to_end(struct klp_object *object)
{
	const struct pokepatch_func *row = table(pokepatch_image.funcs);
	struct klp_func *func;

	klp_for_each_func_static(object, func)
		func->new_size = row->new_addr + row->text - (unsigned long)func->new_func;
}

/*
 * The module of a pinned patch never goes, so a task may stay in its code; but not if callbacks
 * undo, once the patch is off, what that code relies on.
 */
static notrace int pre_patch(struct klp_object *object)
{
	if (!IS_ENABLED(LIVEPATCH_PINNED) || IS_ENABLED(LIVEPATCH_CALLBACKS))
		reach_to_end(object);
	return call_pre_patch(object);
}

/*
 * Give each object with functions or callbacks its place, and its functions theirs, with an entry
 * of zeroes behind them.  vmlinux is the first in the image's table, and has no name.
 */
static void __init place_objects(const struct pokepatch_image *image, struct part *parts,
				 struct klp_object *object, struct klp_func *funcs,
				 struct calls *calls)
{
	const struct pokepatch_object *objects = table(image->objects);
	const char *strings = table(image->strings);
	u32 i;

	for (i = 0; i < image->nr_objects; i++) {
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

/*
 * The livepatch core has nothing to do with a function that has no entry: it switches the callers,
 * whose new copies call the new function.
 */
static bool __init is_switched(const struct pokepatch_func *func)
{
	return !(func->flags & POKEPATCH_FUNC_CARRIED);
}

static void __init count_funcs(const struct pokepatch_image *image, struct part *parts)
{
	const struct pokepatch_func *funcs = table(image->funcs);
	const struct pokepatch_symbol *symbols = table(image->symbols);
	u32 i;

	for (i = 0; i < image->nr_funcs; i++)
		parts[symbols[funcs[i].symbol].object].nr_funcs += is_switched(&funcs[i]);
}

static void __init fill_funcs(const struct pokepatch_image *image, struct part *parts)
{
	const struct pokepatch_func *funcs = table(image->funcs);
	const struct pokepatch_symbol *symbols = table(image->symbols);
	const char *strings = table(image->strings);
	u32 i;

	for (i = 0; i < image->nr_funcs; i++) {
		const struct pokepatch_symbol *old = &symbols[funcs[i].symbol];
		struct klp_func *to;

		if (!is_switched(&funcs[i]))
			continue;
		to = parts[old->object].next++;
		to->old_name = strings + old->name;
		to->old_sympos = old->pos;
		to->new_func = (void *)(unsigned long)funcs[i].new_addr;
	}
}

/*
 * To keep the module's file small, no function of the glue has an entry for ftrace, the exit
 * function is in .text, and the names of both functions end with init_module and cleanup_module:
 * so module_init()'s and module_exit()'s aliases take no bytes in the table of names.
 */
static notrace int __init livepatch_init_module(void)
{
	const struct pokepatch_image *image = &pokepatch_image;
	struct klp_patch *patch = pokepatch_room;
	struct klp_object *objs;
	struct klp_func *funcs;
	struct calls *calls;
	struct part *parts;
	int ret;

	/* Else the compiler would make a relocation for each field. */
	OPTIMIZER_HIDE_VAR(image);
	OPTIMIZER_HIDE_VAR(patch);
	objs = (void *)(patch + 1);
	funcs = (void *)(objs + image->nr_objects + 1);
	calls = (void *)(funcs + image->nr_funcs + image->nr_objects);
	parts = (void *)(calls + image->nr_objects);
	patch->mod = THIS_MODULE;
	patch->objs = objs;
	patch->replace = image->level > 0; /* a cumulative patch replaces all others */
	count_funcs(image, parts);
	note_callbacks(image, parts);
	place_objects(image, parts, objs, funcs, calls);
	fill_funcs(image, parts);
	fill_callbacks(image, parts, calls);
	ret = klp_enable_patch(patch);
	if (!ret)
		open_markers();
	return ret;
}

module_init(livepatch_init_module);

/*
 * The livepatch core holds the module until the patch is disabled and nothing refers to it.  If
 * addresses of the new code may outlive the patch, the module has no exit function, and stays
 * loaded.
 */
#ifndef LIVEPATCH_PINNED
static notrace void livepatch_cleanup_module(void)
{
	close_markers();
}

module_exit(livepatch_cleanup_module);
#endif

MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
