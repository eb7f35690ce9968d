/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For diffs that were written for kpatch: shadow variables, and the object that callbacks get.
 *
 * klp_shadow_*() are the kernel's own where it has livepatch, and work as they are.  Where it has
 * not, they are pokepatch's here.  kpatch_shadow_*(), of kpatch before 0.5, always are.
 */
#ifndef POKEPATCH_KPATCH_H
#define POKEPATCH_KPATCH_H

#include <linux/bug.h>
#include <linux/kconfig.h>
#include <linux/module.h>

#include <pokepatch_patch.h>

/* --- kpatch_shadow_*() -------------------------------------------------------------- */

/* The number of a variable that has a name: its hash (FNV-1a, 64 bits). */
pokepatch_inline_ u64 kpatch_shadow_id_(const char *name)
{
	u64 id = 0xcbf29ce484222325ull;

	while (*name)
		id = (id ^ (unsigned char)*name++) * 0x100000001b3ull;
	return id;
}

pokepatch_inline_ void *kpatch_shadow_alloc(void *obj, const char *name, size_t size, gfp_t gfp)
{
	return pokepatch_shadow_attach(obj, kpatch_shadow_id_(name), size, gfp, NULL, NULL, NULL);
}

pokepatch_inline_ void *kpatch_shadow_get(void *obj, const char *name)
{
	return pokepatch_shadow_get(obj, kpatch_shadow_id_(name));
}

pokepatch_inline_ void kpatch_shadow_free(void *obj, const char *name)
{
	pokepatch_shadow_detach(obj, kpatch_shadow_id_(name), NULL);
}

/* --- livepatch's ---------------------------------------------------------------------- */

#if IS_ENABLED(CONFIG_LIVEPATCH)

#include <linux/livepatch.h>

#else

struct klp_object {
	const char *name; /* NULL: vmlinux */
	struct module *mod;
};

typedef pokepatch_shadow_ctor_t klp_shadow_ctor_t;
typedef pokepatch_shadow_dtor_t klp_shadow_dtor_t;

/* Keep livepatch's small numbers apart from those that pokepatch's own patches chose. */
#define KPATCH_SHADOW_ID_(id) ((u64)(id) ^ 0x9b1f6e3d40c7a852ull)

/*
 * livepatch runs a constructor under a lock, once for each variable.  pokepatch may run it for
 * data that loses a race and is freed again, so that a constructor may leave a stale pointer
 * behind.  That would be wrong in silence; so the compiler refuses a constructor.
 */
#define KPATCH_NO_CTOR_(ctor) \
	BUILD_BUG_ON_MSG(!__builtin_constant_p(!(ctor)) || (ctor), \
			 "this kernel has no livepatch: for a shadow variable with a constructor " \
			 "call pokepatch_shadow_get_or_attach(), which takes a destructor, too")

#define klp_shadow_alloc(obj, id, size, gfp, ctor, arg) ({                                \
	KPATCH_NO_CTOR_(ctor);                                                            \
	pokepatch_shadow_attach(obj, KPATCH_SHADOW_ID_(id), size, gfp, NULL, arg, NULL);  \
})

#define klp_shadow_get_or_alloc(obj, id, size, gfp, ctor, arg) ({                         \
	KPATCH_NO_CTOR_(ctor);                                                            \
	pokepatch_shadow_get_or_attach(obj, KPATCH_SHADOW_ID_(id), size, gfp, NULL, arg,  \
				       NULL);                                             \
})

pokepatch_inline_ void *klp_shadow_get(void *obj, unsigned long id)
{
	return pokepatch_shadow_get(obj, KPATCH_SHADOW_ID_(id));
}

pokepatch_inline_ void klp_shadow_free(void *obj, unsigned long id, klp_shadow_dtor_t dtor)
{
	pokepatch_shadow_detach(obj, KPATCH_SHADOW_ID_(id), dtor);
}

pokepatch_inline_ void klp_shadow_free_all(unsigned long id, klp_shadow_dtor_t dtor)
{
	pokepatch_shadow_detach_all(KPATCH_SHADOW_ID_(id), dtor);
}

#endif /* CONFIG_LIVEPATCH */

#endif /* POKEPATCH_KPATCH_H */
