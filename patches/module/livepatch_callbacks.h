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

static struct calls *first_calls; /* of patch.objs[0]; those of the other objects follow */

static struct calls *calls_of(struct klp_object *object)
{
	struct calls *of = &first_calls[object - patch.objs];

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
static bool __init fill_callbacks(struct klp_object *to, struct calls *of, u32 object)
{
	const struct pokepatch_callback *callbacks = table(pokepatch_image.callbacks);
	const struct pokepatch_object *objects = table(pokepatch_image.objects);
	const char *strings = table(pokepatch_image.strings);
	bool any = false;
	u32 i;

	if (to == patch.objs)
		first_calls = of;
	for (i = 0; i < pokepatch_image.nr_callbacks; i++) {
		if (callbacks[i].object != object)
			continue;
		of->by_kind[callbacks[i].kind] = (void *)(unsigned long)callbacks[i].func;
		any = true;
	}
	of->parent.patch = strings + pokepatch_image.name;
	of->parent.name = strings + objects[object].name;
	if (of->by_kind[POKEPATCH_CALLBACK_PRE_PATCH])
		to->callbacks.pre_patch = call_pre_patch;
	if (of->by_kind[POKEPATCH_CALLBACK_POST_PATCH])
		to->callbacks.post_patch = call_post_patch;
	if (of->by_kind[POKEPATCH_CALLBACK_PRE_UNPATCH])
		to->callbacks.pre_unpatch = call_pre_unpatch;
	if (of->by_kind[POKEPATCH_CALLBACK_POST_UNPATCH])
		to->callbacks.post_unpatch = call_post_unpatch;
	return any;
}

#endif /* POKEPATCH_LIVEPATCH_CALLBACKS_H */
