/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the author of a patch: what a changed source file can tell pokepatch-build,
 * and what it can call.  pokepatch-build finds it: #include <pokepatch_patch.h>.
 * See pokepatch_patch(7).
 */
#ifndef POKEPATCH_PATCH_H
#define POKEPATCH_PATCH_H

#include <pokepatch_format.h>

/* --- notes ------------------------------------------------------------------------ */

/*
 * These macros stand outside functions.  They leave text in a section that the
 * differ reads and no module gets.
 */
#define POKEPATCH_NOTE_(text)                                                             \
	asm(".pushsection .pokepatch.notes, \"\", %progbits\n"                            \
	    ".asciz \"" text "\"\n"                                                       \
	    ".popsection")

/*
 * POKEPATCH_ALLOW("code:subject") - go on in spite of that refusal, as with the
 * option --allow of pokepatch-build: the change that is refused is not made, and
 * all else is.  Only some codes can be allowed.
 */
#define POKEPATCH_ALLOW(what) POKEPATCH_NOTE_("allow " what)

/* POKEPATCH_IGNORE_FUNCTION(name) - take this function for unchanged: the old one stays. */
#define POKEPATCH_IGNORE_FUNCTION(name) POKEPATCH_NOTE_("ignore-function " #name)

/*
 * POKEPATCH_IGNORE_SECTION("name") - take what is in this section for unchanged, or,
 * where pokepatch does not know the section, for not there.  Not for code.
 */
#define POKEPATCH_IGNORE_SECTION(name) POKEPATCH_NOTE_("ignore-section " name)

/* --- callbacks -------------------------------------------------------------------- */

struct module;

/* Whose functions are switched.  A callback may look at it until it returns. */
struct pokepatch_parent {
	const char *patch;     /* the patch's name, as in sysfs */
	const char *name;      /* "vmlinux", or the module's name */
	struct module *module; /* NULL for vmlinux; may be LIVE, COMING or GOING */
};

/*
 * Functions of the patch that are called when the functions of their parent, the
 * object that the source file is part of, are switched.  At most one of each kind
 * for each parent.  Process context; may sleep; pokepatch's mutex is held, so they
 * must not load or unload modules, register or unregister module notifiers, write to
 * /sys/kernel/pokepatch, or wait for who does.
 *
 * POKEPATCH_PRE_PATCH(fn) - int fn(const struct pokepatch_parent *): before.  Anything
 * but 0, a negative error, and nothing is switched; fn has then left nothing behind.
 * POKEPATCH_POST_PATCH(fn) - void fn(const struct pokepatch_parent *): after; and when
 * a switch back that pre-unpatch was called for did not come about.
 * POKEPATCH_PRE_UNPATCH(fn) - likewise: before the switch back.
 * POKEPATCH_POST_UNPATCH(fn) - likewise: after it, or when the switch did not come
 * about; if and only if pre-patch had returned 0.
 */
#define POKEPATCH_PRE_PATCH(fn) \
	POKEPATCH_CALLBACK_(POKEPATCH_CALLBACK_PRE_PATCH, pre_patch, may_fail, fn)
#define POKEPATCH_POST_PATCH(fn) \
	POKEPATCH_CALLBACK_(POKEPATCH_CALLBACK_POST_PATCH, post_patch, cannot_fail, fn)
#define POKEPATCH_PRE_UNPATCH(fn) \
	POKEPATCH_CALLBACK_(POKEPATCH_CALLBACK_PRE_UNPATCH, pre_unpatch, cannot_fail, fn)
#define POKEPATCH_POST_UNPATCH(fn) \
	POKEPATCH_CALLBACK_(POKEPATCH_CALLBACK_POST_UNPATCH, post_unpatch, cannot_fail, fn)

/* An entry of the section that the differ reads; no module gets it either. */
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
 * pokepatch_withdrawn - for a post-unpatch callback that has seen to it that nothing
 * outside the patch holds an address of its code or data any more, and nothing that
 * did is still at work (timers deleted, work cancelled, RCU callbacks waited for):
 * the module of a patch with [address-escapes], which stays loaded otherwise, can be
 * removed.  The callback speaks for the whole patch.  @parent: the callback's own.
 */
void pokepatch_withdrawn(const void *parent);

/* --- shadow variables --------------------------------------------------------------- */

#ifdef __KERNEL__

#include <linux/gfp.h>
#include <linux/types.h>

/*
 * Data attached to an object, by its address and a number that the author chooses.
 * A constructor fills in the data, which is zeroed, before anybody can find it; what
 * it returns other than 0 is an error, and then nothing is attached.  Both may be NULL.
 * They run in the caller's context, with no lock of pokepatch's held.
 */
typedef int (*pokepatch_shadow_ctor_t)(void *obj, void *data, void *arg);
typedef void (*pokepatch_shadow_dtor_t)(void *obj, void *data);

/* What the inline functions below are made of: shadow.c of the core. */
void *pokepatch_shadow_get(const void *obj, u64 id);
void *pokepatch_shadow_new(void *obj, u64 id, size_t size, gfp_t gfp);
void *pokepatch_shadow_publish(void *data);
void *pokepatch_shadow_unlink(const void *obj, u64 id);
void *pokepatch_shadow_unlink_next(u64 id, unsigned int *cursor, void **obj);
void pokepatch_shadow_free(void *data);

/*
 * pokepatch_shadow_get(obj, id) - the data of variable @id of @obj, or NULL.  Takes no
 * lock: any context in which RCU watches, NMI included.  Who cannot rule out that it is
 * detached meanwhile must be in rcu_read_lock() for as long as it uses the data.
 */

/* Inlined always, so that a constructor's address is never passed on ([address-escapes]). */
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
 * pokepatch_shadow_attach - attach @size bytes.  Any context but NMI, as @gfp and the
 * constructor allow.
 * Return: the data, or NULL: there is one already, no memory, or the constructor
 * failed.  The destructor is called for data that was constructed in vain.
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
 * pokepatch_shadow_get_or_attach - likewise, but the data of the one that is there is
 * returned too: of several callers at once all get the same.
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
	return there;
}

/*
 * pokepatch_shadow_detach - detach it and give it back, if it is there; of several
 * callers one does.  The destructor runs when nobody can find the data any more, but
 * readers in RCU sections may still use it: what they can reach from it the destructor
 * must free by kfree_rcu() or the like, as the data itself is.  Any context but NMI.
 */
pokepatch_inline_ void pokepatch_shadow_detach(void *obj, u64 id, pokepatch_shadow_dtor_t dtor)
{
	void *data = pokepatch_shadow_unlink(obj, id);

	if (data)
		pokepatch_shadow_destroy_(obj, data, dtor);
}

/*
 * pokepatch_shadow_detach_all - likewise, of all objects.  What others attach at the
 * same time may stay: in a post-unpatch callback nobody does.
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
