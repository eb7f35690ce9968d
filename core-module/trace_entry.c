// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracing of chosen functions over their patchable entries, in kernels that have no ftrace: each
 * call of such a function emits the tracepoint pokepatch:entry.  trace_entry_file.c has the file in
 * sysfs that names these functions, and has one of them switched at a time (trace_mutex).
 *
 * A traced entry has a few words (pp_arch_trace.h), one of which decides: it is a NOP, or it calls
 * the address that the words in front of it load.  What entry.c says of the words of patched
 * entries holds here as well:
 *
 * On.  The words beside the deciding one are written while that is a NOP, and all CPUs fetch them
 * anew before it becomes the call.  Even then a task may be between the words without having
 * loaded the address, because it was interrupted there before they were written.  So the
 * deciding word is written in a stop that finds no saved program counter within the entry.  All
 * stacks are looked at, beginning after the words were written.  A task that is there, because it
 * was preempted for instance, is waited for.
 *
 * Off.  The deciding word becomes a NOP first, and once all CPUs have fetched that, the others do.
 * This needs no stop: a task between the words meets a NOP, whatever it has loaded.  A task in the
 * code that the entry called goes on behind the words, in its function.  That code stays until
 * the core goes, which waits for RCU-tasks: no task sleeps of its own accord in there.
 *
 * Patches.  An entry is either traced or rerouted.  While a function is traced, no patch of it can
 * be enabled, and while such a patch is enabled, the function cannot be traced.  Both are refused
 * by name.  The core gives up neither by itself: a trace that ends silently, or a patch that waits
 * for one, would be harder to notice.  A trace does not keep a patch from being loaded.  A task in
 * the tracing code has the function's address on its stack, and counts as inside the function.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <pokepatch_history.h>

#include "arch/pp_arch.h"
#include "claim.h"
#include "core_print.h"
#include "debug.h"
#include "entry.h"
#include "exiting.h"
#include "function.h"
#include "kernel_symbols.h"
#include "module.h"
#include "pp_patch.h"
#include "pp_time.h"
#include "record.h"
#include "rude.h"
#include "site.h"
#include "stack.h"
#include "stop.h"
#include "text.h"
#include "trace_entry.h"
#include "transition_state.h"
#include "words.h"

#define CREATE_TRACE_POINTS
#include "trace_entry_event.h"

#define BITS 8
#define TIMEOUT_MS 5000
#define LONGEST_PAUSE_MS 32
/* Contexts that can interrupt each other on one CPU: interrupt_context_level(). */
#define LEVELS 4

/*
 * The words of an entry that are written.  Each traced function has one of these, so that ending a
 * trace needs no memory.  It must not lie on a stack: it holds addresses within the entry, which
 * the look at all stacks would find there (pp_visit_words()).
 */
struct words {
	struct pp_poke poke[PP_TRACE_WORDS_MAX];
	struct pp_text text;
};

struct traced {
	struct hlist_node node;	 /* by ip; written under pp_mutex, read with preemption off */
	struct list_head order;	 /* in all, in the order of the commands; pp_mutex */
	unsigned long ip;
	bool prepared;		 /* the words beside the deciding one are written; pp_mutex */
	bool calls;		 /* the deciding word is the call; pp_mutex */
	bool regs;		 /* they ask for registers; pp_mutex */
	bool pending;		 /* it is being switched on; pp_mutex */
	bool gone;		 /* its module went meanwhile; pp_mutex */
	struct words words;	 /* being written; pp_mutex */
	atomic_long_t missed;
	char name[];
};

static struct hlist_head table[1 << BITS];
static LIST_HEAD(all);

static struct hlist_head *trace_entry_bucket(unsigned long ip)
{
	return &table[hash_long(ip, BITS)];
}

static notrace struct traced *trace_entry_find(unsigned long ip)
{
	struct traced *traced;

	hlist_for_each_entry_rcu_notrace(traced, trace_entry_bucket(ip), node)
		if (traced->ip == ip)
			return traced;
	return NULL;
}

bool pp_trace_entry_has(unsigned long ip)
{
	return trace_entry_find(ip);
}

/* --- a traced function was called --------------------------------------------------- */

static DEFINE_PER_CPU(bool [LEVELS], entry_serving);

/*
 * Any context.  Calls that the tracepoint's probes make at the same level are not traced, since
 * that would come back here.  Nor are calls where RCU does not watch, as in the idle loop.
 */
notrace void pp_trace_entry_hit(unsigned long ip, unsigned long parent_ip,
				const unsigned long *args, unsigned long sp)
{
	struct traced *traced;
	bool *busy;

	preempt_disable_notrace();
	busy = &(*this_cpu_ptr(&entry_serving))[interrupt_context_level()];
	/* Set busy before any call: the function that is called may be traced. */
	if (!*busy && rcu_is_watching()) {
		WRITE_ONCE(*busy, true);
		barrier();
		trace_entry(ip, parent_ip, args ? pp_arch.trace->nr_args : 0, args, args ? sp : 0);
		barrier();
		WRITE_ONCE(*busy, false);
	} else {
		traced = trace_entry_find(ip);
		if (traced)
			atomic_long_inc(&traced->missed);
	}
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(pp_trace_entry_hit);

/* --- words ---------------------------------------------------------------------------- */

/*
 * The states of an entry's words: all NOPs; prepared, with the deciding word a NOP; and the
 * deciding word the call.  _REGS: with registers.
 */
enum words_state { FREE, LOADED, LOADED_REGS, CALLS, CALLS_REGS };

/* The instruction of word number @nr in @state. */

static void trace_entry_insn(const struct traced *traced, unsigned int nr, enum words_state state,
			     u8 *insn)
{
	const struct pp_arch_trace *trace = pp_arch.trace;
	const bool regs = state == LOADED_REGS || state == CALLS_REGS;
	const bool calls = state == CALLS || state == CALLS_REGS;

	if (nr >= trace->words || state == FREE || (nr == trace->decides && !calls))
		pp_arch.entry.insn(traced->ip, 0, insn);
	else
		trace->word(nr, regs, insn);
}

static enum words_state trace_entry_state(const struct traced *traced)
{
	if (!traced->prepared)
		return FREE;
	if (traced->calls)
		return traced->regs ? CALLS_REGS : CALLS;
	return traced->regs ? LOADED_REGS : LOADED;
}

/* The text that takes the words from their present state to @to. */
static struct pp_text *trace_entry_lay_out(struct traced *traced, enum words_state to)
{
	const unsigned int size = pp_arch.entry.size;
	struct words *words = &traced->words;
	unsigned int i;

	memset(words, 0, sizeof(*words));
	words->text.poke = words->poke;
	for (i = 0; i < pp_arch.trace->words; i++) {
		struct pp_poke *poke = &words->poke[words->text.nr];

		poke->at = traced->ip + i * size;
		poke->size = size;
		trace_entry_insn(traced, i, trace_entry_state(traced), poke->old);
		trace_entry_insn(traced, i, to, poke->new);
		words->text.nr += !!memcmp(poke->old, poke->new, size);
	}
	return &words->text;
}

/* Does the whole entry have the bytes of its state?  Under text_mutex. */
static bool trace_entry_is_as_left(const struct traced *traced)
{
	const unsigned int size = pp_arch.entry.size;
	u8 insn[PP_TEXT_WORD_MAX];
	unsigned int i;

	for (i = 0; i < pp_entry_span() / size; i++) {
		trace_entry_insn(traced, i, trace_entry_state(traced), insn);
		if (memcmp((void *)(traced->ip + i * size), insn, size))
			return false;
	}
	return true;
}

static void trace_entry_set_state(struct traced *traced, enum words_state state)
{
	traced->prepared = state != FREE;
	traced->calls = state == CALLS || state == CALLS_REGS;
	traced->regs = state == LOADED_REGS || state == CALLS_REGS;
}

/*
 * While there is a kprobe on any word, none is written.  One on the call has copies of it and of
 * the delay slot behind it, and one may be on the delay slot.
 */
static unsigned long trace_entry_claim(const struct traced *traced, const struct pp_text *text)
{
	return pp_claim_write_begin(text, traced->ip, pp_arch.trace->words * pp_arch.entry.size);
}

static int trace_entry_write(const struct traced *traced, struct pp_text *text)
{
	struct pp_when *when = &text->when;
	int ret = pp_text_map(text);

	if (ret)
		return ret;
	if (trace_entry_claim(traced, text)) {
		pp_text_unmap(text);
		return -EBUSY;
	}
	when->before = when->begin = pp_now();
	/* In the order of all writers of text.  No CPU comes up that would miss the new words. */
	cpus_read_lock();
	mutex_lock(pp_kernel.text_mutex);
	if (!trace_entry_is_as_left(traced))
		ret = -EBUSY;
	else if (!pp_text_write(text))
		ret = -EIO;
	mutex_unlock(pp_kernel.text_mutex);
	pp_arch.text.written(traced->ip, traced->ip + pp_entry_span());
	cpus_read_unlock();
	pp_claim_write_end();
	pp_text_unmap(text);
	when->after = when->end = pp_now();
	when->cpu = raw_smp_processor_id();
	return ret;
}

/*
 * Write the words of @to, in any order and while all CPUs run, and have all CPUs fetch them anew.
 * Within pp_record_begin() and end(); under pp_mutex; may sleep.
 * Return: 0; or -EBUSY if the entry does not have the bytes of its state, or has a probe; -EIO;
 * -ENOMEM.  After an error no word has changed.
 */
static int trace_entry_change(struct traced *traced, enum words_state to)
{
	struct pp_text *text = trace_entry_lay_out(traced, to);
	int ret = trace_entry_write(traced, text);

	lockdep_assert_held(&pp_mutex);
	if (!ret)
		trace_entry_set_state(traced, to);
	if (!ret || text->bad)
		pp_record_stores(text, &text->when, POKEPATCH_HISTORY_STORE);
	return ret;
}

/* --- on -------------------------------------------------------------------------------- */

static void trace_entry_transition_deinit(struct transition *tr)
{
	kfree(tr->busy.range);
	kfree(tr->stoppers);
	kfree(tr->cpus);
}

static int trace_entry_transition_init(struct transition *tr, const struct traced *traced)
{
	*tr = (struct transition){ .name = "trace_entry" };
	tr->cpus = kcalloc(nr_cpu_ids, sizeof(*tr->cpus), GFP_KERNEL);
	tr->stoppers = kcalloc(nr_cpu_ids, sizeof(*tr->stoppers), GFP_KERNEL);
	tr->busy.range = kcalloc(1, sizeof(*tr->busy.range), GFP_KERNEL);
	if (!tr->cpus || !tr->stoppers || !tr->busy.range) {
		trace_entry_transition_deinit(tr);
		return -ENOMEM;
	}
	/*
	 * From behind the first word up to the last.  A task at the first word has not begun, and a
	 * pointer to it on a stack is no reason to wait, as in layout.c.
	 */
	if (!pp_debug_skip_entries)
		tr->busy.range[tr->busy.nr++] = (struct pp_range){
			traced->ip + 2,
			traced->ip + pp_arch.trace->words * pp_arch.entry.size - 1,
		};
	return 0;
}

static int trace_entry_stop(const struct traced *traced, struct transition *tr)
{
	int ret;

	if (trace_entry_claim(traced, &tr->text)) {
		pr_err("trace_entry: %s is not traced: a probe is at its entry\n", traced->name);
		return -EBUSY;
	}
	ret = pp_stop(tr);
	pp_claim_write_end();
	return ret;
}

/*
 * Make the deciding word the call, if no task is between the words.  Return: 0; -EAGAIN if a task
 * is, or could not be ruled out; or an error.
 */
static int trace_entry_decide(struct traced *traced, struct transition *tr)
{
	const enum words_state calls = traced->regs ? CALLS_REGS : CALLS;
	int ret;

	tr->text = *trace_entry_lay_out(traced, calls);
	pp_record_enter(0, NULL);
	ret = pp_scan_running(&tr->scan) ? 0 : -EAGAIN;
	ret = ret ?: trace_entry_stop(traced, tr);
	if (!ret)
		trace_entry_set_state(traced, calls);
	if (!ret || tr->text.bad)
		pp_record_stores(&tr->text, &tr->when, POKEPATCH_HISTORY_STOP_MACHINE);
	pp_record_leave();
	pp_words_report();
	return ret;
}

static int trace_entry_say_blocked(const struct traced *traced, const struct pp_scan *scan)
{
	if (scan->nr_busy_tasks)
		pr_err("trace_entry: %s is not traced: task %d (%s) stays within its entry; try again\n",
		       traced->name, scan->busy_task[0].pid, scan->busy_task[0].comm);
	else
		pr_err("trace_entry: %s is not traced: its entry was never free; try again\n",
		       traced->name);
	return -EBUSY;
}

/* Under pp_mutex. */
static int trace_entry_attempt(struct traced *traced, struct transition *tr, bool last)
{
	int ret;

	if (traced->gone)
		return -ENOENT;
	ret = pp_scan_init(&tr->scan, &tr->busy);
	if (ret)
		return ret;
	ret = trace_entry_decide(traced, tr);
	traced->pending = ret;
	if (ret == -EAGAIN && last)
		ret = trace_entry_say_blocked(traced, &tr->scan);
	pp_scan_deinit(&tr->scan);
	return ret;
}

/* The words are prepared, so that patches of the function are refused.  Under trace_mutex. */
static int trace_entry_start_calls(struct traced *traced)
{
	const unsigned long deadline = jiffies + msecs_to_jiffies(TIMEOUT_MS);
	unsigned int pause = 1;
	struct transition tr;
	int ret = trace_entry_transition_init(&tr, traced);

	if (ret)
		return ret;
	do {
		ret = pp_exiting_ready(true);
		if (ret)
			break;
		mutex_lock(&pp_mutex);
		ret = trace_entry_attempt(traced, &tr, time_after_eq(jiffies, deadline));
		mutex_unlock(&pp_mutex);
		pp_exiting_sweep();
		if (ret == -EAGAIN) {
			schedule_timeout_killable(msecs_to_jiffies(pause));
			pause = min(2 * pause, (unsigned int)LONGEST_PAUSE_MS);
			if (fatal_signal_pending(current))
				ret = -EINTR;
		}
	} while (ret == -EAGAIN);
	trace_entry_transition_deinit(&tr);
	return ret;
}

/* --- off -------------------------------------------------------------------------------- */

/* From now on no call finds it.  Under pp_mutex. */
static void trace_entry_forget(struct traced *traced, struct list_head *dead)
{
	hlist_del_rcu(&traced->node);
	list_move(&traced->order, dead);
}

/* To be freed when no CPU uses one any more that it found in the table. */
static LIST_HEAD(forgotten);
static DEFINE_SPINLOCK(forgotten_lock);

/* In a work item: some CPU may not schedule for long, and other tasks want pp_mutex meanwhile. */
static void trace_entry_free_forgotten(struct work_struct *work)
{
	struct traced *traced, *next;
	LIST_HEAD(dead);

	spin_lock(&forgotten_lock);
	list_splice_init(&forgotten, &dead);
	spin_unlock(&forgotten_lock);
	if (list_empty(&dead))
		return;
	pp_synchronize_rude();
	list_for_each_entry_safe(traced, next, &dead, order)
		kfree(traced);
}

static DECLARE_WORK(free_work, trace_entry_free_forgotten);

/*
 * A module that goes may come here when pp_trace_entry_end() has flushed the work for good. Then
 * nothing is traced, and the work must not be queued any more.
 */
static void trace_entry_free_later(struct list_head *dead)
{
	if (list_empty(dead))
		return;
	spin_lock(&forgotten_lock);
	list_splice_init(dead, &forgotten);
	spin_unlock(&forgotten_lock);
	schedule_work(&free_work);
}

/* Check all words for probes first, so that either all are written or none. */
static int trace_entry_check_probes(struct traced *traced)
{
	if (trace_entry_claim(traced, trace_entry_lay_out(traced, FREE)))
		return -EBUSY;
	pp_claim_write_end();
	return 0;
}

/* The deciding word first.  Under pp_mutex.  Return: 0, or an error of trace_entry_change(). */
static int trace_entry_make_free(struct traced *traced)
{
	int ret = trace_entry_check_probes(traced);

	if (ret)
		return ret;
	pp_record_begin();
	if (traced->calls)
		ret = trace_entry_change(traced, traced->regs ? LOADED_REGS : LOADED);
	if (!ret && traced->prepared)
		ret = trace_entry_change(traced, FREE);
	pp_record_end();
	return ret;
}

/* Under pp_mutex.  @traced moves to @dead, unless there is an error, which is returned. */
static int trace_entry_switch_off(struct traced *traced, struct list_head *dead, bool quiet)
{
	const int ret = trace_entry_make_free(traced);

	if (!ret) {
		trace_entry_forget(traced, dead);
	} else if (!quiet) {
		pr_err("trace_entry: %s %s: its entry is not as it was left; is there a probe?\n",
		       traced->name,
		       traced->calls ? "stays traced" : "is not traced any more, but cannot be patched");
	}
	return ret;
}

void pp_trace_entry_module_going(const struct module *mod)
{
	struct traced *traced, *next;
	LIST_HEAD(dead);

	lockdep_assert_held(&pp_mutex);
	/* The module's text goes as it is. */
	list_for_each_entry_safe(traced, next, &all, order) {
		if (!within_module_core(traced->ip, mod))
			continue;
		trace_entry_forget(traced, &dead);
		traced->gone = true;
		/* The command that is switching it on frees it. */
		if (traced->pending)
			list_del_init(&traced->order);
	}
	trace_entry_free_later(&dead);
}

/* --- by name --------------------------------------------------------------------------- */

/* The reason why the function can never be traced, or NULL.  Under pp_mutex. */
static const char *trace_entry_obstacle(const struct pp_function *function)
{
	if (function->ours)
		return "the tracer would trace itself";
	if (!pp_arch.entry.site(function->addr))
		return "it has no NOPs at its entry (notrace or assembly)";
	if (pp_arch.text.store_uses && pp_arch.text.store_uses(function->addr))
		return "it is what the kernel writes code with";
	return NULL;
}

static void trace_entry_say_not_free(const struct traced *traced)
{
	pr_err("trace_entry: %s is not traced: its entry is not free; is there a probe?\n",
	       traced->name);
}

/* Is the entry unused?  Under pp_mutex.  Return: 0, or -EBUSY (logged). */
static int trace_entry_check_unused(const struct traced *traced)
{
	const struct pp_site *site = pp_site_find(traced->ip);

	if (site && !list_empty(&site->hooked))
		pr_err("trace_entry: %s is not traced: patch %s has its entry\n", traced->name,
		       list_first_entry(&site->hooked, struct pp_func, hook)->patch->name);
	else if (site && (site->mode || site->lingers))
		trace_entry_say_not_free(traced);
	else
		return 0;
	return -EBUSY;
}

/*
 * Make a traced function with its words prepared, which is not switched on yet.  Under trace_mutex
 * and pp_mutex.
 */
static int trace_entry_prepare(const struct pp_function *function, bool regs,
			       struct traced **ret_traced)
{
	const char *why = trace_entry_obstacle(function);
	const size_t size = strlen(function->name) + 1;
	struct traced *traced;
	int ret;

	if (why) {
		pr_err("trace_entry: %s is not traced: %s\n", function->name, why);
		return -EINVAL;
	}
	traced = kzalloc(struct_size(traced, name, size), GFP_KERNEL);
	if (!traced)
		return -ENOMEM;
	traced->ip = function->addr;
	memcpy(traced->name, function->name, size);
	ret = trace_entry_check_unused(traced);
	if (!ret) {
		pp_record_begin();
		ret = trace_entry_change(traced, regs ? LOADED_REGS : LOADED);
		pp_record_end();
		if (ret)
			trace_entry_say_not_free(traced);
	}
	if (ret) {
		kfree(traced);
		return ret;
	}
	hlist_add_head_rcu(&traced->node, trace_entry_bucket(traced->ip));
	list_add_tail(&traced->order, &all);
	*ret_traced = traced;
	return 0;
}

/* Switching it on has failed. */
static void trace_entry_give_up(struct traced *traced)
{
	LIST_HEAD(dead);

	mutex_lock(&pp_mutex);
	traced->pending = false;
	if (traced->gone)
		list_add(&traced->order, &dead);
	else
		trace_entry_switch_off(traced, &dead, false);
	trace_entry_free_later(&dead);
	mutex_unlock(&pp_mutex);
}

/* The function is traced already, perhaps in the other form. */
static int trace_entry_change_form(struct traced *traced, bool regs)
{
	int ret;

	pp_record_begin();
	ret = trace_entry_change(traced, traced->calls ? (regs ? CALLS_REGS : CALLS) :
							 (regs ? LOADED_REGS : LOADED));
	pp_record_end();
	if (ret)
		pr_err("trace_entry: %s stays traced as it is: its entry is not as it was left; is there a probe?\n",
		       traced->name);
	return ret;
}

int pp_trace_entry_switch_on(const char *name, bool regs)
{
	struct pp_function *function;
	struct traced *traced;
	bool call = false;
	int ret = pp_arch.trace->start();

	/* Without RCU-tasks, nothing tells when no task is in the core's code any more. */
	if (IS_ENABLED(CONFIG_PREEMPTION) && !IS_ENABLED(CONFIG_TASKS_RCU))
		ret = -EOPNOTSUPP;
	if (ret == -EOPNOTSUPP)
		pr_err("trace_entry: this kernel lacks the symbol __vmalloc_node_range, or, being preemptible, CONFIG_TASKS_RCU\n");
	if (ret)
		return ret;
	function = kmalloc(sizeof(*function), GFP_KERNEL);
	if (!function)
		return -ENOMEM;
	mutex_lock(&pp_mutex);
	ret = pp_function_look_up(name, function);
	if (!ret) {
		traced = trace_entry_find(function->addr);
		ret = traced ? trace_entry_change_form(traced, regs) :
			       trace_entry_prepare(function, regs, &traced);
		call = !ret && !traced->calls;
		if (call)
			traced->pending = true;
	}
	mutex_unlock(&pp_mutex);
	kfree(function);
	if (call) {
		ret = trace_entry_start_calls(traced);
		if (ret)
			trace_entry_give_up(traced);
	}
	return ret;
}

int pp_trace_entry_switch_off(const char *name)
{
	const bool every = !strcmp(name, "*");
	const unsigned long addr = every ? 0 : pp_function_address(name);
	struct traced *traced, *next;
	bool found = false;
	int ret = 0, error;
	LIST_HEAD(dead);

	mutex_lock(&pp_mutex);
	list_for_each_entry_safe(traced, next, &all, order) {
		if (!every && traced->ip != addr && strcmp(traced->name, name))
			continue;
		found = true;
		error = trace_entry_switch_off(traced, &dead, false);
		ret = ret ?: error;
	}
	trace_entry_free_later(&dead);
	mutex_unlock(&pp_mutex);
	if (!found && !every) {
		pr_err("trace_entry: %s is not traced\n", name);
		return -ENOENT;
	}
	return ret;
}

static const char *trace_entry_form(const struct traced *traced)
{
	if (!traced->calls)
		return traced->pending ? "starting" : "stopping";
	return traced->regs ? "regs" : "plain";
}

char *pp_trace_entry_list(size_t *ret_len)
{
	const struct traced *traced;
	size_t size = 1, len = 0;
	char *text;

	mutex_lock(&pp_mutex);
	list_for_each_entry(traced, &all, order)
		size += strlen(traced->name) + 32;
	text = kvmalloc(size, GFP_KERNEL);
	list_for_each_entry(traced, &all, order)
		if (text)
			len += scnprintf(text + len, size - len, "%s %s %ld\n", traced->name,
					 trace_entry_form(traced),
					 atomic_long_read(&traced->missed));
	mutex_unlock(&pp_mutex);
	*ret_len = len;
	return text;
}

/*
 * The code that traced entries call is about to go.  So this waits for entries whose NOPs cannot be
 * restored, because a probe has a copy of a word.
 */
void pp_trace_entry_end(void)
{
	struct traced *traced, *next;
	bool told = false, more;
	LIST_HEAD(dead);

	do {
		mutex_lock(&pp_mutex);
		list_for_each_entry_safe(traced, next, &all, order)
			trace_entry_switch_off(traced, &dead, true);
		more = !list_empty(&all);
		if (more && !told)
			pr_crit("trace_entry: %s is still traced, since its entry is not as it was left; this waits until the probe there has gone\n",
				list_first_entry(&all, struct traced, order)->name);
		mutex_unlock(&pp_mutex);
		told = more;
		if (more)
			msleep(PP_FORCED_PAUSE_MS);
	} while (more);
	trace_entry_free_later(&dead);
	flush_work(&free_work);
	/*
	 * A task may have reached the call, or be on its way back.  An interrupt may keep it
	 * there, and with CONFIG_PREEMPTION another task may, but it does not sleep.
	 * pp_synchronize_rude() is for idle tasks.
	 */
	synchronize_rcu_tasks();
	pp_synchronize_rude();
	pp_arch.trace->stop();
}
