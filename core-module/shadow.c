// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shadow variables: data that patches attach to objects whose structure they
 * cannot change, found by the object's address and a number of the patch's own.
 *
 * What authors call is in pokepatch_patch.h; constructors and destructors run
 * there, in the patch's code, so that nothing here holds an address of a patch.
 * The data itself is plain memory of the core's: it outlives a patch that leaves
 * it behind, and a later version of that patch finds it.
 *
 * Who can be here: any number of readers, in any context in which RCU watches,
 * NMI included, and one writer at a time, who holds the lock with interrupts off.
 * - Readers take no lock.  A variable is filled in before hlist_add_head_rcu()
 *   publishes it, its key never changes, and its memory goes a grace period after
 *   it was unlinked.  hlist_del_rcu() leaves its next pointer alone, so a reader
 *   who stands on it finds the rest of the chain; one who comes meanwhile sees it
 *   or not.  So a reader in an NMI, which may interrupt the writer anywhere, meets
 *   a chain that is whole.
 * - Writers may not be in an NMI: it could have interrupted the holder of the lock.
 * - In a stopped section of the core there is no writer: the holder of the lock
 *   cannot be preempted.
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
	struct hlist_node node; /* in the hash, or unhashed: not published */
	struct rcu_head rcu;
	void *obj;
	u64 id;
	/* What the author sees: aligned as from kmalloc(). */
	u8 data[] __aligned(ARCH_KMALLOC_MINALIGN);
};

#define SHADOW_BITS 12

static struct hlist_head shadows[1 << SHADOW_BITS];
static DEFINE_SPINLOCK(shadow_lock); /* writers of the hash */

static struct shadow *to_shadow(void *data)
{
	return container_of(data, struct shadow, data);
}

static struct hlist_head *bucket(const void *obj, u64 id)
{
	return &shadows[hash_64((u64)(unsigned long)obj ^ hash_64(id, 64), SHADOW_BITS)];
}

/* Under RCU or the lock. */
static struct shadow *find(const void *obj, u64 id)
{
	struct shadow *shadow;

	hlist_for_each_entry_rcu(shadow, bucket(obj, id), node, lockdep_is_held(&shadow_lock))
		if (shadow->obj == obj && shadow->id == id)
			return shadow;
	return NULL;
}

/*
 * pokepatch_shadow_get - the data of variable @id of @obj, or NULL.  Any context in
 * which RCU watches.  The data stays until it is detached, and then for a grace
 * period: a caller who cannot rule that out must be in an RCU section of its own.
 */
void *pokepatch_shadow_get(const void *obj, u64 id)
{
	struct shadow *shadow;

	rcu_read_lock();
	shadow = find(obj, id);
	rcu_read_unlock();
	return shadow ? shadow->data : NULL;
}
EXPORT_SYMBOL_GPL(pokepatch_shadow_get);

/*
 * pokepatch_shadow_new - a variable of @size bytes, zeroed, which nobody can find
 * yet: to be given to pokepatch_shadow_publish() or pokepatch_shadow_free().
 * Sleeps as @gfp allows.  NULL: no memory.
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
 * pokepatch_shadow_publish - let @data be found, unless its object has a variable of
 * that number: of two who race, one is first under the lock.  Any context but NMI.
 * Return: NULL, or the data of the variable that is there; @data is then still the
 * caller's.
 */
void *pokepatch_shadow_publish(void *data)
{
	struct shadow *shadow = to_shadow(data), *there;
	unsigned long flags;

	spin_lock_irqsave(&shadow_lock, flags);
	there = find(shadow->obj, shadow->id);
	if (!there)
		hlist_add_head_rcu(&shadow->node, bucket(shadow->obj, shadow->id));
	spin_unlock_irqrestore(&shadow_lock, flags);
	return there ? there->data : NULL;
}
EXPORT_SYMBOL_GPL(pokepatch_shadow_publish);

/*
 * pokepatch_shadow_unlink - let variable @id of @obj be found no more.  Of several
 * callers one gets it, and must give it to pokepatch_shadow_free(); the others get
 * NULL, as when there is none.  Readers may still look at it.  Any context but NMI.
 */
void *pokepatch_shadow_unlink(const void *obj, u64 id)
{
	struct shadow *shadow;
	unsigned long flags;

	spin_lock_irqsave(&shadow_lock, flags);
	shadow = find(obj, id);
	if (shadow)
		hlist_del_rcu(&shadow->node);
	spin_unlock_irqrestore(&shadow_lock, flags);
	return shadow ? shadow->data : NULL;
}
EXPORT_SYMBOL_GPL(pokepatch_shadow_unlink);

static struct shadow *find_in(struct hlist_head *head, u64 id)
{
	struct shadow *shadow;

	hlist_for_each_entry(shadow, head, node)
		if (shadow->id == id)
			return shadow;
	return NULL;
}

/*
 * pokepatch_shadow_unlink_next - unlink some variable @id, of whatever object, which
 * goes to *@obj.  *@cursor is 0 at first, and says where to go on.  The lock is held
 * for one chain at a time, so that those of a million objects can be detached with
 * interrupts on in between; what is attached behind the cursor meanwhile is missed.
 * Return: its data, as pokepatch_shadow_unlink(), or NULL: there are no more.
 */
void *pokepatch_shadow_unlink_next(u64 id, unsigned int *cursor, void **obj)
{
	struct shadow *shadow = NULL;
	unsigned long flags;

	for (; *cursor < ARRAY_SIZE(shadows); ++*cursor) {
		struct hlist_head *head = &shadows[*cursor];

		if (hlist_empty(head))
			continue;
		spin_lock_irqsave(&shadow_lock, flags);
		shadow = find_in(head, id);
		if (shadow)
			hlist_del_rcu(&shadow->node);
		spin_unlock_irqrestore(&shadow_lock, flags);
		if (!shadow)
			continue;
		*obj = shadow->obj;
		return shadow->data;
	}
	return NULL;
}
EXPORT_SYMBOL_GPL(pokepatch_shadow_unlink_next);

/*
 * pokepatch_shadow_free - give back a variable that is not, or no longer, published:
 * at once in the first case, when the last reader has gone in the other; not waiting
 * for that, the same way is taken for both.  Any context but NMI.
 */
void pokepatch_shadow_free(void *data)
{
	struct shadow *shadow = to_shadow(data);

	kfree_rcu(shadow, rcu);
}
EXPORT_SYMBOL_GPL(pokepatch_shadow_free);

/*
 * The core goes: no patch is loaded, as each holds the core, and so nobody is left
 * who could look at a variable, or attach one.
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
