// SPDX-License-Identifier: GPL-2.0-only
/*
 * Claiming entry sites from ftrace, and releasing them.
 *
 * ftrace keeps a record of every site.  If a record is marked DISABLED and is not ENABLED, ftrace
 * neither counts users for it nor writes its site (skip_record()).  So the core claims a site that
 * has no user by setting that mark, under ftrace's own lock.
 *
 * If an ops is registered or changes its filter while a site is claimed, ftrace does not count it
 * there.  If the core just took the mark away, the end of that ops would count down from 0, and
 * ftrace would warn and shut itself down until the next boot.  So when the core releases a site, it
 * counts the ops that want the site by then, as ftrace would have done, and has ftrace write the
 * site.  What ftrace asks of a record that has several users (IPMODIFY, DIRECT) cannot be made up
 * for afterwards.  If such an ops wants the site, the site stays claimed and lets all calls through
 * until that ops has gone.
 *
 * A module's records go with the module, so the core looks a record up each time.
 */
#include <linux/bsearch.h>
#include <linux/ftrace.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "arch/pp_arch.h"
#include "claim.h"
#include "compat.h"
#include "debug.h"
#include "ftrace.h"
#include "kernel_symbols.h"
#include "module.h"
#include "text.h"
#include "watch.h"

/* What a site has been through is no obstacle to a claim, and stays in the record. */
#define FLAGS_PAST (PP_FTRACE_WAS_USED | PP_FTRACE_WAS_REDIRECTED)

/* Linux 6.1's struct ftrace_page: an array of records, sorted by address. */
struct pp_ftrace_page {
	struct pp_ftrace_page *next;
	struct dyn_ftrace *records;
	int index;		/* the number of records in use */
	int order;
};

/*
 * The compiler may have inlined lookup_rec().  Then the core searches ftrace's own lists for a
 * record.  They have the layout that is described here if the first record by this layout is the
 * first record of ftrace's iterator.  (ftrace has one iterator, for the holder of ftrace_lock.)
 */
static __nocfi bool claim_knows_pages(void)
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

/*
 * The record of the site at @ip, or NULL.  The caller holds ftrace_lock, which keeps all records.
 */
static __nocfi struct dyn_ftrace *claim_find_record(unsigned long ip)
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

bool pp_claim_possible(void)
{
	return pp_kernel.ftrace_lock && pp_kernel.ftrace_ops_test && pp_kernel.ftrace_ops_list &&
	       pp_kernel.ftrace_list_end && (pp_kernel.lookup_rec || claim_knows_pages());
}

/* Under ftrace_lock. */
static bool claim_is_free(const struct dyn_ftrace *rec, const u8 *nop, unsigned int size)
{
	return !(rec->flags & ~FLAGS_PAST) && !memcmp((void *)rec->ip, nop, size);
}

/*
 * A probe that is switched off is no user yet, but becomes one when it is switched on, which the
 * guard does not see.
 */
bool pp_claim_is_probed(unsigned long at, unsigned int size)
{
	bool found = false;
	unsigned int i;

	preempt_disable();
	/* Look at every byte: the bytes there now may be several instructions. */
	for (i = 0; i < size && !found; i++)
		found = pp_get_kprobe(at + i);
	preempt_enable();
	return found;
}

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
	free = rec && claim_is_free(rec, nop, size) && !pp_claim_is_probed(ip, 1);
	if (free)
		rec->flags |= FTRACE_FL_DISABLED;
	mutex_unlock(pp_kernel.ftrace_lock);
	return free;
}

#ifdef POKEPATCH_DEBUG
bool pp_claim_lock_entries(void)
{
	if (!pp_claim_possible() || !claim_knows_pages())
		return false;
	mutex_lock(pp_kernel.ftrace_lock);
	return true;
}

void pp_claim_unlock_entries(void)
{
	mutex_unlock(pp_kernel.ftrace_lock);
}

void pp_claim_each_entry(void (*visit)(void *ctx, unsigned long ip, bool free), void *ctx)
{
	const struct pp_ftrace_page *page;
	u8 nop[PP_TEXT_WORD_MAX];
	int i;

	for (page = *pp_kernel.ftrace_pages; page; page = page->next) {
		for (i = 0; i < page->index; i++) {
			const struct dyn_ftrace *rec = &page->records[i];

			if (rec->ip < pp_kernel.stext || rec->ip >= pp_kernel.etext ||
			    (rec->flags & FTRACE_FL_DISABLED) ||
			    pp_arch.entry.insn(rec->ip, 0, nop))
				continue;
			visit(ctx, rec->ip, claim_is_free(rec, nop, pp_arch.entry.size));
		}
		cond_resched();
	}
}
#endif

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

/* The registered ops that want one site. */
struct users {
	unsigned long nr;
	unsigned long flags;	/* the flags that they need in the record */
	unsigned int kinds;	/* enum pp_shadows */
	bool redirect;		/* one of them redirects calls, or may do so */
};

/*
 * The users of @rec.  The caller holds ftrace_lock, which keeps the list of ops and their filters.
 */
static __nocfi struct users claim_count_users(const struct dyn_ftrace *rec)
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
		/*
		 * ftrace_ops_test() needs preemption off.  Its last argument is the registers; if
		 * it is NULL, an ops that needs registers fails the test, so pass something else.
		 */
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
	/* If a single user has its own trampoline, the site calls that. */
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

/*
 * Release the site at @ip.  With @may_have_users false, the core's ops is not registered, and a
 * site that has users is left claimed: -EAGAIN.
 */
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
	if (!rec || WARN_ON((rec->flags & ~FLAGS_PAST) != FTRACE_FL_DISABLED))
		goto unlock;
	/*
	 * If the site is no NOP (it could not be put back), ftrace would shut itself down over it.
	 */
	if (pp_arch.entry.insn(ip, 0, nop) || memcmp((void *)ip, nop, pp_arch.entry.size)) {
		ret = -EBUSY;
		goto unlock;
	}
	users = claim_count_users(rec);
	if (users.redirect || (users.nr && !may_have_users)) {
		ret = users.redirect ? -EBUSY : -EAGAIN;
		goto unlock;
	}
	rec->flags = (rec->flags & FLAGS_PAST) | users.flags | users.nr;
	*update |= users.nr;
unlock:
	mutex_unlock(pp_kernel.ftrace_lock);
	return ret;
}

/*
 * The site must hold the NOP, as when it was claimed.
 *
 * If it has users by now, ftrace has to write it, and until pp_claim_settle() its record has flags
 * for a state that the site is not in yet.  ftrace would shut itself down over such a record when
 * its list of ops becomes empty.  So the core registers an ops of its own first.  If ftrace fails
 * to write the site, the site lingers as unsettled (pp_sites_linger_unsettled()).
 */
int pp_claim_release(unsigned long ip, bool *update)
{
	int ret = claim_try_release(ip, pp_ftrace_registered(), update);

	if (ret != -EAGAIN)
		return ret;
	return pp_ftrace_start() ? -EBUSY : claim_try_release(ip, true, update);
}

/*
 * The users of the site may have left before ftrace wrote it.  ftrace then counted them down, but
 * it resets the other flags only in a record that it had enabled.  So reset them here.
 */
void pp_claim_settle(unsigned long ip)
{
	struct dyn_ftrace *rec;

	mutex_lock(pp_kernel.ftrace_lock);
	rec = claim_find_record(ip);
	if (rec && !ftrace_rec_count(rec) &&
	    !(rec->flags & (FTRACE_FL_ENABLED | FTRACE_FL_DISABLED)))
		rec->flags &= FLAGS_PAST;
	mutex_unlock(pp_kernel.ftrace_lock);
}

/* Does this writer hold kprobe_mutex?  Under pp_mutex. */
static bool claim_writes;

/*
 * A kprobe makes its copy of an instruction, and is entered in the table of kprobes, under
 * kprobe_mutex.  So with that held, the look below finds every kprobe whose copy the write would
 * make stale, also one that is not armed, of which the text shows nothing.  If kallsyms does not
 * list the mutex, the look may miss one that is registered at this moment.
 */
unsigned long pp_claim_write_begin(const struct pp_text *text, unsigned long entry,
				   unsigned int size)
{
	unsigned long at = 0;
	unsigned int i;

	lockdep_assert_held(&pp_mutex);
	for (i = 0; i < text->nr && !at; i++) {
		if (!text->poke[i].unprobed)
			continue;
		if (!claim_writes && pp_kernel.kprobe_mutex) {
			mutex_lock(pp_kernel.kprobe_mutex);
			claim_writes = true;
		}
		if (!pp_debug_skip_probed &&
		    pp_claim_is_probed(text->poke[i].at, text->poke[i].unprobed))
			at = text->poke[i].at;
	}
	if (at)
		pp_claim_write_end();
	return at;
}

void pp_claim_write_end(void)
{
	if (claim_writes)
		mutex_unlock(pp_kernel.kprobe_mutex);
	claim_writes = false;
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
