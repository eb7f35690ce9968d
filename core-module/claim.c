// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entry sites that belong to ftrace, and how they are borrowed.
 *
 * ftrace keeps a record of every site.  One that is marked DISABLED and is not
 * ENABLED it neither counts users for nor writes (skip_record()), so a site that
 * nobody uses is claimed by setting that mark, under ftrace's own lock.
 *
 * An ops that is registered, or changes its filter, while a site is claimed is not
 * counted there.  Were the mark just taken away, the end of that ops would count
 * down from 0, and ftrace would warn and shut itself down until the next boot.  So
 * who gives a site back counts the ops that want it by then, as ftrace would have,
 * and lets ftrace write the site.  Only what ftrace asks of a record that several
 * parties use (IPMODIFY, DIRECT) cannot be made up for afterwards: such a site stays
 * claimed, passing all calls through, until that ops has gone.
 *
 * Records of a module go with it, so a record is looked up each time.
 */
#include <linux/bsearch.h>
#include <linux/ftrace.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "arch/pp_arch.h"
#include "claim.h"
#include "debug.h"
#include "ftrace.h"
#include "kernel_symbols.h"
#include "text.h"
#include "watch.h"

/* Newer kernels keep in the record that it was once used; that is no user. */
#ifdef FTRACE_FL_TOUCHED
#define FLAGS_TOUCHED FTRACE_FL_TOUCHED
#else
#define FLAGS_TOUCHED 0UL
#endif

/* 6.1: struct ftrace_page, some records, sorted. */
struct pp_ftrace_page {
	struct pp_ftrace_page *next;
	struct dyn_ftrace *records;
	int index;		/* how many there are */
	int order;
};

/*
 * lookup_rec() may have been inlined, then the record is searched for in ftrace's own lists.
 * That they are made as described here is known if what they say comes first is what ftrace's
 * iterator comes to first (its one iterator is for whoever holds ftrace_lock).
 */
static bool claim_knows_pages(void)
{
	static int known;	/* 1: yes, -1: no; written under ftrace_lock, and then final */
	struct pp_ftrace_page *page;
	struct ftrace_rec_iter *iter;

	if (!pp_kernel.ftrace_pages || !pp_kernel.ftrace_rec_iter_start ||
	    !pp_kernel.ftrace_rec_iter_record)
		return false;
	if (READ_ONCE(known))
		return known == 1;
	mutex_lock(pp_kernel.ftrace_lock);
	iter = known ? NULL : pp_kernel.ftrace_rec_iter_start();
	if (iter) {
		for (page = *pp_kernel.ftrace_pages; !page->index && page->next;)
			page = page->next;
		WRITE_ONCE(known,
			   page->records == pp_kernel.ftrace_rec_iter_record(iter) ? 1 : -1);
	}
	mutex_unlock(pp_kernel.ftrace_lock);
	return known == 1;
}

static int claim_compare_record(const void *key, const void *record)
{
	const unsigned long ip = *(const unsigned long *)key;
	const struct dyn_ftrace *rec = record;

	return ip < rec->ip ? -1 : ip > rec->ip;
}

/* The record of the site at @ip, or NULL.  Under ftrace_lock, which keeps all records. */
static struct dyn_ftrace *claim_find_record(unsigned long ip)
{
	const struct pp_ftrace_page *page;
	struct dyn_ftrace *rec = NULL;

	if (pp_kernel.lookup_rec) {
		rec = pp_kernel.lookup_rec(ip, ip);
		return rec && rec->ip == ip ? rec : NULL;
	}
	for (page = *pp_kernel.ftrace_pages; page && !rec; page = page->next)
		if (page->index && ip >= page->records[0].ip &&
		    ip <= page->records[page->index - 1].ip)
			rec = bsearch(&ip, page->records, page->index, sizeof(*rec),
				      claim_compare_record);
	return rec;
}

/* Has this kernel all that this file needs? */
bool pp_claim_possible(void)
{
	return pp_kernel.ftrace_lock && pp_kernel.ftrace_ops_test && pp_kernel.ftrace_ops_list &&
	       pp_kernel.ftrace_list_end && (pp_kernel.lookup_rec || claim_knows_pages());
}

/*
 * Claim the site at @ip if nobody uses it and the bytes there are @size bytes of
 * @nop.  May sleep.
 */
bool pp_claim_site(unsigned long ip, const u8 *nop, unsigned int size)
{
	struct dyn_ftrace *rec;
	bool free;

	if (PP_FAULT("claim"))
		return false;
	if (pp_debug_skip_claim)
		return true;
	mutex_lock(pp_kernel.ftrace_lock);
	rec = claim_find_record(ip);
	free = rec && !(rec->flags & ~FLAGS_TOUCHED) && !memcmp((void *)ip, nop, size);
	if (free)
		rec->flags |= FTRACE_FL_DISABLED;
	mutex_unlock(pp_kernel.ftrace_lock);
	return free;
}

static unsigned int claim_kind_of_ops(const struct ftrace_ops *op)
{
	if (op == pp_kernel.kprobe_ops || op == pp_kernel.kprobe_ipmodify_ops)
		return PP_SHADOWS_KPROBE;
	if (op->flags & FTRACE_OPS_FL_DIRECT)
		return PP_SHADOWS_BPF;
	if (op->flags & FTRACE_OPS_FL_IPMODIFY)
		return PP_SHADOWS_LIVEPATCH;
	return PP_SHADOWS_TRACER;
}

/* What the registered ops want of one site. */
struct users {
	unsigned long nr;
	unsigned long flags;	/* what the record must say for them */
	unsigned int kinds;	/* enum pp_shadows */
	bool redirect;		/* one of them is more than an onlooker */
};

/* Under ftrace_lock, which keeps list and filters as they are. */
static struct users claim_count_users(const struct dyn_ftrace *rec)
{
	struct ftrace_ops *op, *last = NULL;
	struct users users = {};

	if (pp_debug_skip_users)
		return users;
	for (op = rcu_dereference_raw(*pp_kernel.ftrace_ops_list); op != pp_kernel.ftrace_list_end;
	     op = rcu_dereference_raw(op->next)) {
		bool wants;

		if (!(op->flags & FTRACE_OPS_FL_ENABLED))
			continue;
		/* Wants preemption off; the record stands for registers, so that it looks. */
		preempt_disable_notrace();
		wants = pp_kernel.ftrace_ops_test(op, rec->ip, (void *)rec);
		preempt_enable_notrace();
		if (!wants)
			continue;
		users.nr++;
		users.kinds |= claim_kind_of_ops(op);
		if (op->flags & FTRACE_OPS_FL_SAVE_REGS)
			users.flags |= FTRACE_FL_REGS;
		if (op->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT))
			users.redirect = !pp_debug_skip_redirect;
		last = op;
	}
	/* One user with a trampoline of its own is called by that. */
	if (users.nr == 1 && last->trampoline)
		users.flags |= FTRACE_FL_TRAMP;
	return users;
}

unsigned int pp_claim_user_kinds(unsigned long ip)
{
	const struct dyn_ftrace *rec;
	unsigned int kinds = 0;

	if (!pp_claim_possible())
		return 0;
	mutex_lock(pp_kernel.ftrace_lock);
	rec = claim_find_record(ip);
	if (rec)
		kinds = claim_count_users(rec).kinds;
	mutex_unlock(pp_kernel.ftrace_lock);
	return kinds;
}

static int claim_try_release(unsigned long ip, bool may_have_users, bool *update)
{
	struct dyn_ftrace *rec;
	struct users users;
	u8 nop[PP_TEXT_WORD_MAX];
	int ret = 0;

	if (pp_debug_skip_claim)
		return 0;
	mutex_lock(pp_kernel.ftrace_lock);
	rec = claim_find_record(ip);
	if (!rec || WARN_ON((rec->flags & ~FLAGS_TOUCHED) != FTRACE_FL_DISABLED))
		goto unlock;
	/* ftrace would shut itself down when it meets what could not be put back. */
	if (pp_arch.entry.insn(ip, 0, nop) || memcmp((void *)ip, nop, pp_arch.entry.size)) {
		ret = -EBUSY;
		goto unlock;
	}
	users = claim_count_users(rec);
	if (users.redirect || (users.nr && !may_have_users)) {
		ret = users.redirect ? -EBUSY : -EAGAIN;
		goto unlock;
	}
	rec->flags = (rec->flags & FLAGS_TOUCHED) | users.flags | users.nr;
	*update |= users.nr;
unlock:
	mutex_unlock(pp_kernel.ftrace_lock);
	return ret;
}

/*
 * Give back a site that is as it was when it was claimed.  Under pp_mutex; may sleep.
 *
 * If somebody wants it by then, ftrace has to write it, and until pp_claim_settle() its
 * record says more than is true. So an ops of ours is registered first: as long as
 * ftrace's list is not empty, ftrace does not mind.
 * Return: 0, -EBUSY if it must stay claimed; *update is set if pp_ftrace_update() and
 * then pp_claim_settle() have to follow, and be it later (pp_sites_linger_unsettled()).
 */
int pp_claim_release(unsigned long ip, bool *update)
{
	int ret = claim_try_release(ip, pp_ftrace_registered(), update);

	if (ret != -EAGAIN)
		return ret;
	return pp_ftrace_start() ? -EBUSY : claim_try_release(ip, true, update);
}

/*
 * Those that wanted the site may have gone before ftrace wrote it. ftrace then counted
 * them down, but resets the other flags only of a record that it had enabled.
 */
void pp_claim_settle(unsigned long ip)
{
	struct dyn_ftrace *rec;

	mutex_lock(pp_kernel.ftrace_lock);
	rec = claim_find_record(ip);
	if (rec && !ftrace_rec_count(rec) &&
	    !(rec->flags & (FTRACE_FL_ENABLED | FTRACE_FL_DISABLED)))
		rec->flags &= FLAGS_TOUCHED;
	mutex_unlock(pp_kernel.ftrace_lock);
}

bool pp_claim_is_shared(unsigned long ip)
{
	struct dyn_ftrace *rec;
	bool shared;

	if (!pp_claim_possible())
		return true;
	mutex_lock(pp_kernel.ftrace_lock);
	rec = claim_find_record(ip);
	shared = !rec || ftrace_rec_count(rec) != 1;
	mutex_unlock(pp_kernel.ftrace_lock);
	return shared;
}
