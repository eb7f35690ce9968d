/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For authors of patches: notes to pokepatch-build, callbacks, and shadow variables.  A changed
 * source file includes it as <pokepatch_patch.h>; pokepatch-build adds the include path.
 * pokepatch_patch(7) explains how to use it.
 */
#ifndef POKEPATCH_PATCH_H
#define POKEPATCH_PATCH_H

#include <pokepatch_format.h>

/* --- notes ------------------------------------------------------------------------ */

/*
 * Use these macros outside functions.  They write text into a section that the differ reads and
 * that is not linked into the patch module.
 */
#define POKEPATCH_NOTE_(text)                                                             \
	asm(".pushsection .pokepatch.notes, \"\", %progbits\n"                            \
	    ".asciz \"" text "\"\n"                                                       \
	    ".popsection")

/*
 * POKEPATCH_ALLOW("code:subject") - turn that refusal into a warning, as the option --allow of
 * pokepatch-build does.  The refused part of the change is left out, and the rest is made.  Only
 * some codes can be allowed; pokepatch-build(1) lists them.
 */
#define POKEPATCH_ALLOW(what) POKEPATCH_NOTE_("allow " what)

/* POKEPATCH_IGNORE_FUNCTION(name) - treat this function as unchanged: the old one stays in use. */
#define POKEPATCH_IGNORE_FUNCTION(name) POKEPATCH_NOTE_("ignore-function " #name)

/*
 * POKEPATCH_IGNORE_SECTION("name") - treat the data in this section as unchanged.  If pokepatch
 * does not know the section, treat it as absent.  Not for sections of code.
 */
#define POKEPATCH_IGNORE_SECTION(name) POKEPATCH_NOTE_("ignore-section " name)

/* --- callbacks -------------------------------------------------------------------- */

struct module;

/* The parent whose functions are switched.  Valid until the callback returns. */
struct pokepatch_parent {
	const char *patch;     /* the patch's name, as in sysfs */
	const char *name;      /* "vmlinux", or the module's name */
	struct module *module; /* NULL for vmlinux; may be LIVE, COMING or GOING */
};

/*
 * Callbacks: functions of the patch that the core calls when it switches the functions of their
 * parent, which is the object (vmlinux or a module) that the source file is compiled into.  A
 * parent has at most one callback of each kind.
 *
 * They run in process context and may sleep.  The core holds its mutex meanwhile.  So a callback
 * must not load or unload a module, register or unregister a module notifier, write to
 * /sys/kernel/pokepatch, or wait for a task that does any of this.
 *
 * POKEPATCH_PRE_PATCH(fn) - int fn(const struct pokepatch_parent *), called before the functions
 * are switched on.  If it returns a negative errno, nothing is switched; fn must have undone
 * what it did.  Any other value than 0 counts as -EINVAL.
 * POKEPATCH_POST_PATCH(fn) - void fn(const struct pokepatch_parent *), called after they were
 * switched on.  Also called when pre-unpatch was called and switching off then failed.
 * POKEPATCH_PRE_UNPATCH(fn) - the same type, called before the functions are switched off.
 * POKEPATCH_POST_UNPATCH(fn) - the same type, called after they were switched off, or when
 * switching on failed.  It is called if and only if pre-patch returned 0 (or there is none).
 */
#define POKEPATCH_PRE_PATCH(fn) \
	POKEPATCH_CALLBACK_(POKEPATCH_CALLBACK_PRE_PATCH, pre_patch, may_fail, fn)
#define POKEPATCH_POST_PATCH(fn) \
	POKEPATCH_CALLBACK_(POKEPATCH_CALLBACK_POST_PATCH, post_patch, cannot_fail, fn)
#define POKEPATCH_PRE_UNPATCH(fn) \
	POKEPATCH_CALLBACK_(POKEPATCH_CALLBACK_PRE_UNPATCH, pre_unpatch, cannot_fail, fn)
#define POKEPATCH_POST_UNPATCH(fn) \
	POKEPATCH_CALLBACK_(POKEPATCH_CALLBACK_POST_UNPATCH, post_unpatch, cannot_fail, fn)

/* An entry of the section that the differ reads.  It is not linked into the patch module. */
struct pokepatch_callback_note {
	union {
		int (*may_fail)(const struct pokepatch_parent *parent);
		void (*cannot_fail)(const struct pokepatch_parent *parent);
	};
	unsigned long kind; /* enum pokepatch_callback_kind */
};

#define POKEPATCH_CALLBACK_(number, word, member, fn)                                     \
	static const struct pokepatch_callback_note                                       \
		__attribute__((used, section(POKEPATCH_SECTION_CALLBACK_NOTES)))          \
		pokepatch_##word##_##fn = { .member = (fn), .kind = (number) }

/*
 * pokepatch_withdrawn - let the module of a patch with [address-escapes] be removed, which would
 * otherwise stay loaded.
 * @parent: the argument of the callback.
 *
 * Call it from a post-unpatch callback, for the whole patch, once nothing outside the patch holds
 * an address of its code or data and nothing that followed such an address is still running:
 * timers are deleted, work is cancelled, RCU callbacks have been waited for.  Elsewhere the call
 * has no effect but a line in the log, and it has none in a live transition.
 */
void pokepatch_withdrawn(const void *parent);

/* --- shadow variables --------------------------------------------------------------- */

#ifdef __KERNEL__

#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/types.h>

/*
 * A shadow variable is data that a patch attaches to an object.  The object's address and a
 * number that the author chooses identify it.
 *
 * A constructor initialises the data, which is zeroed before, while no other task can find it.
 * If it returns anything but 0, the data is freed and nothing is attached.  A destructor runs
 * before the data is freed.  Both may be NULL.  They run in the caller's context, and the core
 * holds no lock meanwhile.
 */
typedef int (*pokepatch_shadow_ctor_t)(void *obj, void *data, void *arg);
typedef void (*pokepatch_shadow_dtor_t)(void *obj, void *data);

/*
 * The core's part (shadow.c; with --format livepatch, the glue's livepatch_shadow.h).  Authors call
 * the inline functions below, and the first of these.
 */
void *pokepatch_shadow_get(const void *obj, u64 id);
void *pokepatch_shadow_new(void *obj, u64 id, size_t size, gfp_t gfp);
void *pokepatch_shadow_publish(void *data);
void *pokepatch_shadow_unlink(const void *obj, u64 id);
void *pokepatch_shadow_unlink_next(u64 id, unsigned int *cursor, void **obj);
void pokepatch_shadow_free(void *data);

/*
 * pokepatch_shadow_get(obj, id) - find the data of variable @id of @obj.  Takes no lock.  Any
 * context in which RCU watches, NMI included.  If another task may detach the variable, the
 * caller must hold rcu_read_lock() from before the call until it has done with the data.
 * Return: the data, or NULL.
 */

/* Always inlined, so that the address of a constructor does not escape ([address-escapes]). */
#define pokepatch_inline_ static inline __attribute__((always_inline, unused))

pokepatch_inline_ void *pokepatch_shadow_make_(void *obj, u64 id, size_t size, gfp_t gfp,
					       pokepatch_shadow_ctor_t ctor, void *arg)
{
	void *data = pokepatch_shadow_new(obj, id, size, gfp);

	if (data && ctor && ctor(obj, data, arg)) {
		pokepatch_shadow_free(data);
		return NULL;
	}
	return data;
}

pokepatch_inline_ void pokepatch_shadow_destroy_(void *obj, void *data,
						 pokepatch_shadow_dtor_t dtor)
{
	if (dtor)
		dtor(obj, data);
	pokepatch_shadow_free(data);
}

/*
 * pokepatch_shadow_attach - attach @size bytes to @obj as variable @id.  Any context but NMI, as
 * far as @gfp and the constructor allow.
 * Return: the data; or NULL if @obj has the variable already, there is no memory, or the
 * constructor failed.  If another task attaches the variable first, or --format livepatch lacks
 * memory then, the destructor is called for the data that was constructed here.
 */
pokepatch_inline_ void *pokepatch_shadow_attach(void *obj, u64 id, size_t size, gfp_t gfp,
						pokepatch_shadow_ctor_t ctor, void *arg,
						pokepatch_shadow_dtor_t dtor)
{
	void *data = pokepatch_shadow_get(obj, id) ?
			     NULL : pokepatch_shadow_make_(obj, id, size, gfp, ctor, arg);

	if (data && pokepatch_shadow_publish(data)) {
		pokepatch_shadow_destroy_(obj, data, dtor);
		return NULL;
	}
	return data;
}

/*
 * pokepatch_shadow_get_or_attach - find variable @id of @obj, and attach it as
 * pokepatch_shadow_attach() does if there is none.  Concurrent callers all get the same data.
 * Return: the data; or NULL if there is no memory or the constructor failed.
 */
pokepatch_inline_ void *pokepatch_shadow_get_or_attach(void *obj, u64 id, size_t size, gfp_t gfp,
						       pokepatch_shadow_ctor_t ctor, void *arg,
						       pokepatch_shadow_dtor_t dtor)
{
	void *data = pokepatch_shadow_get(obj, id), *there;

	if (data)
		return data;
	data = pokepatch_shadow_make_(obj, id, size, gfp, ctor, arg);
	if (!data)
		return NULL;
	there = pokepatch_shadow_publish(data);
	if (!there)
		return data;
	pokepatch_shadow_destroy_(obj, data, dtor);
	return IS_ERR(there) ? NULL : there; /* --format livepatch needs memory to publish */
}

/*
 * pokepatch_shadow_detach - detach variable @id of @obj and free it after a grace period.  Does
 * nothing if there is none; of concurrent callers one detaches it.  Any context but NMI.
 *
 * The destructor runs when no task can find the data any more, but readers in RCU sections may
 * still use it.  So the destructor must free whatever the data points to by kfree_rcu() or the
 * like, too.
 */
pokepatch_inline_ void pokepatch_shadow_detach(void *obj, u64 id, pokepatch_shadow_dtor_t dtor)
{
	void *data = pokepatch_shadow_unlink(obj, id);

	if (data)
		pokepatch_shadow_destroy_(obj, data, dtor);
}

/*
 * pokepatch_shadow_detach_all - detach variable @id of every object.  It may miss variables that
 * are attached while it runs.  Call it from a post-unpatch callback, when the functions that
 * attach them no longer run.
 */
pokepatch_inline_ void pokepatch_shadow_detach_all(u64 id, pokepatch_shadow_dtor_t dtor)
{
	unsigned int cursor = 0;
	void *obj, *data;

	while ((data = pokepatch_shadow_unlink_next(id, &cursor, &obj)))
		pokepatch_shadow_destroy_(obj, data, dtor);
}

#endif /* __KERNEL__ */

#endif /* POKEPATCH_PATCH_H */
