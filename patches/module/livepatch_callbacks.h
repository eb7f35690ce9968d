/* SPDX-License-Identifier: GPL-2.0-only */
/* The author's callbacks, called as the livepatch core's; a part of livepatch.c. */
#ifndef POKEPATCH_LIVEPATCH_CALLBACKS_H
#define POKEPATCH_LIVEPATCH_CALLBACKS_H

#include <pokepatch_patch.h>

/* The author's callbacks for an object; NULL: there is none. */
struct calls {
	struct pokepatch_parent parent; /* their argument */
	void *by_kind[POKEPATCH_CALLBACK_KINDS];
};

static struct calls *first_calls; /* of the patch's objs[0]; those of the other objects follow */

static struct calls *calls_of(struct klp_object *object)
{
	struct calls *of = &first_calls[object - pokepatch_room->objs];

	of->parent.module = object->mod;
	return of;
}

static int call_pre_patch(struct klp_object *object)
{
	struct calls *of = calls_of(object);
	int (*pre_patch)(const struct pokepatch_parent *) =
		of->by_kind[POKEPATCH_CALLBACK_PRE_PATCH];
	int err = pre_patch ? pre_patch(&of->parent) : 0;

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
 * After such a call pokepatch's core looks for tasks in the patch's code once more.  The livepatch
 * core does not look again, and a task that is there because of an escaped address could lose its
 * code.  So the module stays loaded.
 */
void pokepatch_withdrawn(const void *parent)
{
	if (IS_ENABLED(LIVEPATCH_PINNED))
		pr_notice_once("%s: its module stays loaded: pokepatch_withdrawn() has no effect with the kernel's livepatch\n",
			       THIS_MODULE->name);
}

static void __init note_callbacks(const struct pokepatch_image *image, struct part *parts)
{
	const struct pokepatch_callback *callbacks = table(image->callbacks);
	u32 i;

	for (i = 0; i < image->nr_callbacks; i++)
		parts[callbacks[i].object].has_callbacks = true;
}

/* Have the livepatch core call ours, which call the author's; livepatch.c has the pre-patch one. */
static void __init hook_callbacks(struct klp_callbacks *to, const struct calls *of)
{
	if (of->by_kind[POKEPATCH_CALLBACK_POST_PATCH])
		to->post_patch = call_post_patch;
	if (of->by_kind[POKEPATCH_CALLBACK_PRE_UNPATCH])
		to->pre_unpatch = call_pre_unpatch;
	if (of->by_kind[POKEPATCH_CALLBACK_POST_UNPATCH])
		to->post_unpatch = call_post_unpatch;
}

/* Fill in the callbacks of all objects; @calls: of the patch's objs[0] and those behind it. */
static void __init fill_callbacks(const struct pokepatch_image *image, const struct part *parts,
				  struct calls *calls)
{
	const struct pokepatch_callback *callbacks = table(image->callbacks);
	const struct pokepatch_object *objects = table(image->objects);
	const char *strings = table(image->strings);
	u32 i;

	first_calls = calls;
	for (i = 0; i < image->nr_callbacks; i++)
		parts[callbacks[i].object].calls->by_kind[callbacks[i].kind] =
			(void *)(unsigned long)callbacks[i].func;
	for (i = 0; i < image->nr_objects; i++) {
		if (!parts[i].has_callbacks)
			continue;
		parts[i].calls->parent.patch = strings + image->name;
		parts[i].calls->parent.name = strings + objects[i].name;
		hook_callbacks(&parts[i].object->callbacks, parts[i].calls);
	}
}

#endif /* POKEPATCH_LIVEPATCH_CALLBACKS_H */
