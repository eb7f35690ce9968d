/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The core's part of shadow variables (pokepatch_patch.h), made of livepatch's; a part of
 * livepatch.c.
 *
 * Livepatch runs constructors and destructors under a lock of its own, and its lists would hold
 * addresses in the patch.  pokepatch_patch.h runs them in the patch's code, without a lock.  So
 * livepatch's variable has no more than the address of the data, which is memory of its own.  Both
 * stay when the module goes, and a later version finds them: with another struct shadow, klp_id()
 * needs another number.
 *
 * Concurrency: livepatch calls publish() and take() with klp_shadow_lock held and interrupts off,
 * which orders all attaching and detaching.  taken_lock nests in it.  (With PREEMPT_RT that lock
 * sleeps, and pokepatch-build refuses shadow variables.)  Readers need RCU alone: both the
 * variable and the data are freed a grace period after they were unlinked.  NMIs may read, since
 * klp_shadow_get() takes no lock.
 */
#ifndef POKEPATCH_LIVEPATCH_SHADOW_H
#define POKEPATCH_LIVEPATCH_SHADOW_H

#include <linux/err.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include <pokepatch_patch.h>

struct shadow {
	struct hlist_node node; /* in taken, from take() until its caller has it */
	struct rcu_head rcu;
	void *obj;
	u64 id;
	gfp_t gfp; /* of pokepatch_shadow_new(), for pokepatch_shadow_publish() */
	/* The author's data, aligned as kmalloc() aligns. */
	u8 data[] __aligned(ARCH_KMALLOC_MINALIGN);
};

/* Variables that livepatch has no more, until the task that detaches them fetches them: by object. */
#define TAKEN_BITS 6
static struct hlist_head taken[1 << TAKEN_BITS];
static DEFINE_RAW_SPINLOCK(taken_lock);

static struct shadow *shadow_of(void *data)
{
	return container_of(data, struct shadow, data);
}

/* Livepatch's number: apart from those of other patches, whose variables are not like ours. */
static unsigned long klp_id(u64 id)
{
	return id ^ 0x5c1d8f3a9e04b762ull;
}

void *pokepatch_shadow_get(const void *obj, u64 id)
{
	struct shadow **variable;
	void *data;

	rcu_read_lock();
	variable = klp_shadow_get((void *)obj, klp_id(id));
	data = variable ? (*variable)->data : NULL;
	rcu_read_unlock();
	return data;
}

void *pokepatch_shadow_new(void *obj, u64 id, size_t size, gfp_t gfp)
{
	struct shadow *shadow = kzalloc(size_add(sizeof(*shadow), size), gfp);

	if (!shadow)
		return NULL;
	shadow->obj = obj;
	shadow->id = id;
	shadow->gfp = gfp;
	return shadow->data;
}

/* Livepatch is about to publish the variable: a reader that finds it finds the data. */
static int publish(void *obj, void *variable, void *arg)
{
	struct shadow **to_publish = arg;

	*(struct shadow **)variable = *to_publish;
	*to_publish = NULL;
	return 0;
}

/*
 * The same as the core's, but that it needs memory.
 * Return: NULL, the data of an older variable, or ERR_PTR(-ENOMEM); then the caller owns @data.
 */
void *pokepatch_shadow_publish(void *data)
{
	struct shadow *shadow = shadow_of(data);
	void *there;

	do {
		struct shadow *to_publish = shadow;

		if (!klp_shadow_get_or_alloc(shadow->obj, klp_id(shadow->id), sizeof(shadow),
					     shadow->gfp, publish, &to_publish))
			return ERR_PTR(-ENOMEM);
		/* It is published, and another task may have detached and freed it again. */
		if (!to_publish)
			return NULL;
		/* There is an older variable, unless it has just been detached. */
		there = pokepatch_shadow_get(shadow->obj, shadow->id);
	} while (!there);
	return there;
}

/* Livepatch has unlinked the variable, and holds its lock. */
static void take(void *obj, void *variable)
{
	struct shadow *shadow = *(struct shadow **)variable;

	raw_spin_lock(&taken_lock);
	hlist_add_head(&shadow->node, &taken[hash_long((unsigned long)shadow->obj, TAKEN_BITS)]);
	raw_spin_unlock(&taken_lock);
}

/*
 * Fetch one that was taken.  Of two callers that detach the same variable, one has it taken, and
 * either fetches it; the other one gets NULL, as if there were none.
 * @obj: NULL: of any object in that list
 */
static struct shadow *fetch(struct hlist_head *list, const void *obj, u64 id)
{
	struct shadow *shadow;
	unsigned long flags;

	raw_spin_lock_irqsave(&taken_lock, flags);
	hlist_for_each_entry(shadow, list, node)
		if (shadow->id == id && (!obj || shadow->obj == obj)) {
			hlist_del(&shadow->node);
			break;
		}
	raw_spin_unlock_irqrestore(&taken_lock, flags);
	return shadow;
}

void *pokepatch_shadow_unlink(const void *obj, u64 id)
{
	struct shadow *shadow;

	klp_shadow_free((void *)obj, klp_id(id), take);
	shadow = fetch(&taken[hash_long((unsigned long)obj, TAKEN_BITS)], obj, id);
	return shadow ? shadow->data : NULL;
}

/* The first call takes all; *cursor is 0 then, and later the number of the list plus one. */
void *pokepatch_shadow_unlink_next(u64 id, unsigned int *cursor, void **obj)
{
	struct shadow *shadow;

	if (!*cursor) {
		klp_shadow_free_all(klp_id(id), take);
		*cursor = 1;
	}
	for (; *cursor <= ARRAY_SIZE(taken); (*cursor)++) {
		shadow = fetch(&taken[*cursor - 1], NULL, id);
		if (!shadow)
			continue;
		*obj = shadow->obj;
		return shadow->data;
	}
	return NULL;
}

void pokepatch_shadow_free(void *data)
{
	struct shadow *shadow = shadow_of(data);

	kfree_rcu(shadow, rcu);
}

#endif /* POKEPATCH_LIVEPATCH_SHADOW_H */
