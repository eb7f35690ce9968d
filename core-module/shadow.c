// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadow variables: data that patches attach to objects whose structure they cannot change.  A
 * shadow variable is found by the object's address and a number that the patch chooses.
 *
 * Authors call the functions in pokepatch_patch.h.  These run constructors and destructors there,
 * in the patch's code, so that nothing here holds an address in a patch.  The data itself is
 * memory of the core.  It outlives a patch that leaves it behind, and a later version of that
 * patch finds it.
 *
 * Concurrency: any number of readers, in any context in which RCU watches (NMIs too), and one
 * writer at a time, which holds shadow_lock with interrupts off.
 * - Readers take no lock.  A variable is filled in before hlist_add_head_rcu() publishes it, its
 *   key never changes, and its memory is freed a grace period after it was unlinked.
 *   hlist_del_rcu() leaves the next pointer of the unlinked variable alone, so a reader at that
 *   variable still finds the rest of the chain.  A concurrent reader sees the variable or does
 *   not.  So a reader in an NMI, which may interrupt the writer anywhere, meets a whole chain.
 * - Writers may not run in an NMI, which could have interrupted the holder of the lock.
 * - In a stopped section of the core no writer is active: the holder of the lock cannot be
 *   preempted.
 */
#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include <pokepatch_patch.h>

#include "core_print.h"
#include "shadow.h"

struct shadow {
	struct hlist_node node; /* in the hash, or unhashed while it is not published */
	struct rcu_head rcu;
	void *obj;
	u64 id;
	/* The author's data, aligned as kmalloc() aligns. */
	u8 data[] __aligned(ARCH_KMALLOC_MINALIGN);
};

#define SHADOW_BITS 12

static struct hlist_head shadows[1 << SHADOW_BITS];
/*
 * Writers of the hash.  A raw lock: with PREEMPT_RT others sleep, and patches may attach and detach
 * variables in interrupts and with preemption off.  Nothing is called under it.
 */
static DEFINE_RAW_SPINLOCK(shadow_lock);

static struct shadow *shadow_of(void *data)
{
	return container_of(data, struct shadow, data);
}

static struct hlist_head *shadow_bucket(const void *obj, u64 id)
{
	return &shadows[hash_64((u64)(unsigned long)obj ^ hash_64(id, 64), SHADOW_BITS)];
}

/* The caller is in an RCU read section, or holds shadow_lock. */
static struct shadow *shadow_find(const void *obj, u64 id)
{
	struct shadow *shadow;

	hlist_for_each_entry_rcu(shadow, shadow_bucket(obj, id), node,
				 lockdep_is_held(&shadow_lock))
		if (shadow->obj == obj && shadow->id == id)
			return shadow;
	return NULL;
}

/*
 * pokepatch_shadow_get - the data of variable @id of @obj, or NULL.  Any context in which RCU
 * watches.  The data stays until it is detached, and then for a grace period.  A caller that
 * cannot rule out a concurrent detach must be in an RCU read section of its own.
 */
void *pokepatch_shadow_get(const void *obj, u64 id)
{
	struct shadow *shadow;

	rcu_read_lock();
	shadow = shadow_find(obj, id);
	rcu_read_unlock();
	return shadow ? shadow->data : NULL;
}
EXPORT_SYMBOL_GPL(pokepatch_shadow_get);

/*
 * pokepatch_shadow_new - make a variable of @size bytes, zeroed and not published.  The caller
 * passes it to pokepatch_shadow_publish() or pokepatch_shadow_free().  Sleeps as @gfp allows.
 * Return: its data, or NULL if memory is lacking.
 */
void *pokepatch_shadow_new(void *obj, u64 id, size_t size, gfp_t gfp)
{
	struct shadow *shadow = kzalloc(size_add(sizeof(*shadow), size), gfp);

	if (!shadow)
		return NULL;
	shadow->obj = obj;
	shadow->id = id;
	return shadow->data;
}
EXPORT_SYMBOL_GPL(pokepatch_shadow_new);

/*
 * pokepatch_shadow_publish - make @data visible to readers, unless its object has a variable of
 * that number already.  Of two callers that race, the first to take the lock wins.  Any context
 * but NMI.
 * Return: NULL, or the data of the older variable; then the caller still owns @data.
 */
void *pokepatch_shadow_publish(void *data)
{
	struct shadow *shadow = shadow_of(data), *there;
	unsigned long flags;

	raw_spin_lock_irqsave(&shadow_lock, flags);
	there = shadow_find(shadow->obj, shadow->id);
	if (!there)
		hlist_add_head_rcu(&shadow->node, shadow_bucket(shadow->obj, shadow->id));
	raw_spin_unlock_irqrestore(&shadow_lock, flags);
	return there ? there->data : NULL;
}
EXPORT_SYMBOL_GPL(pokepatch_shadow_publish);

/*
 * pokepatch_shadow_unlink - remove variable @id of @obj from the hash.  Of several callers one
 * gets its data, and must pass it to pokepatch_shadow_free().  The others get NULL, as if the
 * object had no such variable.  Readers may still use the data.  Any context but NMI.
 */
void *pokepatch_shadow_unlink(const void *obj, u64 id)
{
	struct shadow *shadow;
	unsigned long flags;

	raw_spin_lock_irqsave(&shadow_lock, flags);
	shadow = shadow_find(obj, id);
	if (shadow)
		hlist_del_rcu(&shadow->node);
	raw_spin_unlock_irqrestore(&shadow_lock, flags);
	return shadow ? shadow->data : NULL;
}
EXPORT_SYMBOL_GPL(pokepatch_shadow_unlink);

static struct shadow *shadow_find_in(struct hlist_head *head, u64 id)
{
	struct shadow *shadow;

	hlist_for_each_entry(shadow, head, node)
		if (shadow->id == id)
			return shadow;
	return NULL;
}

/*
 * pokepatch_shadow_unlink_next - unlink the next variable @id of any object, and store the object
 * in *@obj.  The caller sets *@cursor to 0 before the first call; it tells the next call where to
 * go on.  The lock is held for one chain at a time, so that a caller can detach the variables of a
 * million objects with interrupts on in between.  A variable that is attached behind the cursor
 * meanwhile is missed.
 * Return: its data, as from pokepatch_shadow_unlink(), or NULL if no more were found.
 */
void *pokepatch_shadow_unlink_next(u64 id, unsigned int *cursor, void **obj)
{
	struct shadow *shadow = NULL;
	unsigned long flags;

	for (; *cursor < ARRAY_SIZE(shadows); ++*cursor) {
		struct hlist_head *head = &shadows[*cursor];

		if (hlist_empty(head))
			continue;
		raw_spin_lock_irqsave(&shadow_lock, flags);
		shadow = shadow_find_in(head, id);
		if (shadow)
			hlist_del_rcu(&shadow->node);
		raw_spin_unlock_irqrestore(&shadow_lock, flags);
		if (!shadow)
			continue;
		*obj = shadow->obj;
		return shadow->data;
	}
	return NULL;
}
EXPORT_SYMBOL_GPL(pokepatch_shadow_unlink_next);

/*
 * pokepatch_shadow_free - free a variable that was never published, or was unlinked, after a grace
 * period, when the last reader has gone.  Does not wait for that.  Any context but NMI.
 */
void pokepatch_shadow_free(void *data)
{
	struct shadow *shadow = shadow_of(data);

	kfree_rcu(shadow, rcu);
}
EXPORT_SYMBOL_GPL(pokepatch_shadow_free);

/*
 * Free the variables that patches left behind, when the core is unloaded.  No patch is loaded
 * then, as each holds the core, so no code is left that could use a variable or attach one.
 */
void pp_shadow_exit(void)
{
	struct hlist_node *next;
	struct shadow *shadow;
	unsigned int i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(shadows); i++) {
		hlist_for_each_entry_safe(shadow, next, &shadows[i], node) {
			hlist_del(&shadow->node);
			kfree(shadow);
			nr++;
		}
	}
	if (nr)
		pr_notice("%u shadow variables that patches left behind are freed\n", nr);
}
