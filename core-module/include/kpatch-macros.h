/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For diffs that were written for kpatch: the macros of its header of this name, made of
 * pokepatch's own.  pokepatch-build adds the include path, so that such a diff builds as it is.
 * pokepatch-kpatch(7) lists what is different.  New diffs include <pokepatch_patch.h> instead.
 */
#ifndef POKEPATCH_KPATCH_MACROS_H
#define POKEPATCH_KPATCH_MACROS_H

#include "kpatch.h"

#include <linux/compiler.h>
#include <linux/printk.h>
#include <linux/stringify.h>

/*
 * kpatch's macros bring their own semicolon, and diffs may rely on that.  So these do, too.
 */

/* --- notes ------------------------------------------------------------------------ */

/* Leave out the change of this function, or of the data in this section. */
#define KPATCH_IGNORE_FUNCTION(fn) POKEPATCH_IGNORE_FUNCTION(fn);
#define KPATCH_IGNORE_SECTION(name) POKEPATCH_IGNORE_SECTION(name);

/* Tell the differ (author.c) about a macro whose meaning pokepatch does not have. */
#define KPATCH_NOTE_(macro, fn) \
	POKEPATCH_NOTE_("kpatch " macro " " __FILE__ ":" __stringify(__LINE__) " " #fn);

/*
 * Switch this function even while tasks are in it.  pokepatch does not: the patch is built, and
 * the differ warns [force-ignored].
 */
#define KPATCH_FORCE_UNSAFE(fn) KPATCH_NOTE_("KPATCH_FORCE_UNSAFE", fn)

/*
 * Callbacks of kpatch before 0.6, which ran while all CPUs were stopped.  pokepatch calls nothing
 * at that time.  So the differ refuses them, and names the callbacks to choose from.
 */
#define KPATCH_LOAD_HOOK(fn) KPATCH_NOTE_("KPATCH_LOAD_HOOK", fn)
#define KPATCH_UNLOAD_HOOK(fn) KPATCH_NOTE_("KPATCH_UNLOAD_HOOK", fn)

/* --- callbacks -------------------------------------------------------------------- */

/*
 * A callback takes a patch_object, which is livepatch's struct klp_object: kpatch's diffs use
 * either name.  Only its members name (NULL for vmlinux) and mod are set.  It is valid until the
 * callback returns, and each call has another one.
 */
typedef struct klp_object patch_object;

/*
 * Define the function that the core calls.  It passes the parent on as a patch_object.
 * @type: what @fn returns, int or void.  The kernel's compilers accept `return f();` of a void f.
 */
#define KPATCH_CALLBACK_(type, KIND, kind, fn)                                            \
	static type fn##_as_##kind(const struct pokepatch_parent *parent)                 \
	{                                                                                 \
		patch_object object = {                                                   \
			.name = parent->module ? parent->name : NULL,                     \
			.mod = parent->module,                                            \
		};                                                                        \
		return fn(&object);                                                       \
	}                                                                                 \
	POKEPATCH_##KIND(fn##_as_##kind);

#define KPATCH_PRE_PATCH_CALLBACK(fn) KPATCH_CALLBACK_(int, PRE_PATCH, pre_patch, fn)
#define KPATCH_POST_PATCH_CALLBACK(fn) KPATCH_CALLBACK_(void, POST_PATCH, post_patch, fn)
#define KPATCH_PRE_UNPATCH_CALLBACK(fn) KPATCH_CALLBACK_(void, PRE_UNPATCH, pre_unpatch, fn)
#define KPATCH_POST_UNPATCH_CALLBACK(fn) KPATCH_CALLBACK_(void, POST_UNPATCH, post_unpatch, fn)

/* --- what kpatch cannot compare, and pokepatch can ---------------------------------- */

/* kpatch hides here that printk() is a cold function; pokepatch carries the cold parts. */
#define KPATCH_PRINTK(format, ...) ((void)printk(format, ##__VA_ARGS__))
#define KPATCH_PRINTK_DEFERRED(format, ...) ((void)printk_deferred(format, ##__VA_ARGS__))

/*
 * KPATCH_STATIC_CALL(name)(args) - an indirect call of what the key of static call @name has now.
 * kpatch needs it where the key lives in a module.  The file includes <linux/static_call.h>.
 */
#define KPATCH_STATIC_CALL(name) \
	((typeof(&STATIC_CALL_TRAMP(name)))READ_ONCE(STATIC_CALL_KEY(name).func))

#endif /* POKEPATCH_KPATCH_MACROS_H */
