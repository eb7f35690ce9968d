// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracing of chosen functions over their patchable entries, in kernels that have no ftrace: each
 * call of one emits the tracepoint pokepatch:entry.  Which functions is told by the file trace_entry in
 * sysfs; a line that is written to it is one command.
 *
 * An entry that is traced has a few words (pp_arch.h: struct pp_arch_trace), of which only one
 * decides: it is a NOP, or calls what the words in front of it have loaded the address of.  So what
 * entry.c says of the words of patched entries holds here as well:
 *
 * On.  The words beside the deciding one are written while that is a NOP, and all CPUs have been
 * made to fetch them before it becomes the call.  Even then a context may be between them that has
 * loaded nothing, as it was interrupted there before these words were there.  So the deciding one is
 * written in a stop that finds no saved program counter within the entry (all stacks are looked at,
 * which begins after the words were written); who is there, a preempted task say, is waited for.
 *
 * Off.  The deciding word becomes a NOP first; when all CPUs have fetched that, the others do.  No stop:
 * whoever is between the words, whatever it has loaded, meets a NOP.  Who is in what they
 * called goes on behind them, as its function would; that memory stays until the core goes, which
 * waits for RCU-tasks: nobody who is there sleeps of its own accord.
 *
 * Patches.  An entry is either traced or led elsewhere.  While a function is traced a patch
 * of it cannot be enabled, and while one is enabled it cannot be traced; both are refused by name.  Nothing
 * is given up by itself: a trace that silently ends, or a patch that waits for one, would tell less.
 * A trace does not keep a patch from being loaded, and a call on its way through has the
 * function's address on its stack, so that it counts as inside the function.
 */
#include <linux/cpu.h>
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kobject.h>
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
#include <linux/sysfs.h>
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
#include "site.h"
#include "stack.h"
#include "stop.h"
#include "sysfs.h"
#include "text.h"
#include "trace_entry.h"
#include "transition_state.h"
#include "words.h"

#define CREATE_TRACE_POINTS
#include "trace_entry_event.h"

#define BITS 8
#define TIMEOUT_MS 5000
#define LONGEST_PAUSE_MS 32
/* Contexts that interrupt each other on one processor: interrupt_context_level(). */
#define LEVELS 4

/*
 * Those of an entry that are written, and how.  Made beforehand, so that there is always memory to end
 * a trace; and not on a stack: addresses within an entry would be words there, see pp_visit_words().
 */
struct words {
	struct pp_poke poke[PP_TRACE_WORDS_MAX];
	struct pp_text text;
};

struct traced {
	struct hlist_node node;	 /* by ip; pp_mutex; readers hold preemption off */
	struct list_head order;	 /* in which they were asked for; pp_mutex */
	unsigned long ip;
	bool prepared, calls;	 /* its words beside the deciding one, and that, are ours; pp_mutex */
	bool regs;		 /* likewise: what they say */
	bool pending;		 /* it is being switched on; pp_mutex */
	bool gone;		 /* its module went meanwhile; pp_mutex */
	struct words words;	 /* what is being written; pp_mutex */
	atomic_long_t missed;
	char name[];
};

static struct hlist_head table[1 << BITS];
static LIST_HEAD(all);
/* One command at a time.  Before pp_mutex. */
static DEFINE_MUTEX(trace_mutex);

static struct hlist_head *bucket(unsigned long ip)
{
	return &table[hash_long(ip, BITS)];
}

static notrace struct traced *find(unsigned long ip)
{
	struct traced *traced;

	hlist_for_each_entry_rcu_notrace(traced, bucket(ip), node)
		if (traced->ip == ip)
			return traced;
	return NULL;
}

bool pp_trace_entry_has(unsigned long ip)
{
	return find(ip);
}

/* --- a traced function was called --------------------------------------------------- */

static DEFINE_PER_CPU(bool [LEVELS], serving);

/*
 * Any context.  What the tracepoint's probes call at the same level is not traced, as it would lead
 * back here; nor are calls where RCU does not watch, as in the idle loop.
 */
notrace void pp_trace_entry_hit(unsigned long ip, unsigned long parent_ip,
				const unsigned long *args, unsigned long sp)
{
	struct traced *traced;
	bool *busy;

	preempt_disable_notrace();
	busy = &(*this_cpu_ptr(&serving))[interrupt_context_level()];
	/* Before the first call of anything, which may be traced. */
	if (!*busy && rcu_is_watching()) {
		WRITE_ONCE(*busy, true);
		barrier();
		trace_entry(ip, parent_ip, args ? pp_arch.trace->nr_args : 0, args, args ? sp : 0);
		barrier();
		WRITE_ONCE(*busy, false);
	} else {
		traced = find(ip);
		if (traced)
			atomic_long_inc(&traced->missed);
	}
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(pp_trace_entry_hit);

/* --- words ---------------------------------------------------------------------------- */

/* What an entry's words are as. */
enum as { FREE, LOADED, LOADED_REGS, CALLS, CALLS_REGS };

static void word_as(const struct traced *traced, unsigned int nr, enum as as, u8 *insn)
{
	const struct pp_arch_trace *trace = pp_arch.trace;
	const bool regs = as == LOADED_REGS || as == CALLS_REGS;
	const bool calls = as == CALLS || as == CALLS_REGS;

	if (nr >= trace->words || as == FREE || (nr == trace->decides && !calls))
		pp_arch.entry.insn(traced->ip, 0, insn);
	else
		trace->word(nr, regs, insn);
}

static enum as as_is(const struct traced *traced)
{
	if (!traced->prepared)
		return FREE;
	if (traced->calls)
		return traced->regs ? CALLS_REGS : CALLS;
	return traced->regs ? LOADED_REGS : LOADED;
}

/* Those that differ between what they are as and @to. */
static struct pp_text *make_words(struct traced *traced, enum as to)
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
		word_as(traced, i, as_is(traced), poke->old);
		word_as(traced, i, to, poke->new);
		words->text.nr += !!memcmp(poke->old, poke->new, size);
	}
	return &words->text;
}

/* Is the whole entry as it was left?  Under text_mutex, or nothing else can change it. */
static bool is_as_left(const struct traced *traced)
{
	const unsigned int size = pp_arch.entry.size;
	u8 insn[PP_TEXT_WORD_MAX];
	unsigned int i;

	for (i = 0; i < pp_entry_span() / size; i++) {
		word_as(traced, i, as_is(traced), insn);
		if (memcmp((void *)(traced->ip + i * size), insn, size))
			return false;
	}
	return true;
}

static void became(struct traced *traced, enum as as)
{
	traced->prepared = as != FREE;
	traced->calls = as == CALLS || as == CALLS_REGS;
	traced->regs = as == LOADED_REGS || as == CALLS_REGS;
}

/*
 * A probe on any word keeps all as they are: it may be on the call, of which it has a copy with the word
 * behind it, the delay slot, or on that.
 */
static unsigned long claim_write(const struct traced *traced, const struct pp_text *text)
{
	return pp_claim_write_begin(text, traced->ip, pp_arch.trace->words * pp_arch.entry.size);
}

static int write_words(const struct traced *traced, struct pp_text *text)
{
	struct pp_when *when = &text->when;
	int ret = pp_text_map(text);

	if (ret)
		return ret;
	if (claim_write(traced, text)) {
		pp_text_unmap(text);
		return -EBUSY;
	}
	when->before = when->begin = pp_now();
	/* The order of all who write text; and no CPU comes that would not be told. */
	cpus_read_lock();
	mutex_lock(pp_kernel.text_mutex);
	if (!is_as_left(traced))
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
 * Have the entry's words be as @to, in any order and while everything runs, and all CPUs fetch
 * them anew.  Within pp_record_begin() and end(); under pp_mutex; may sleep.
 * Return: 0, -EBUSY if it is not as it was left, -EIO; then nothing has changed.
 */
static int change(struct traced *traced, enum as to)
{
	struct pp_text *text = make_words(traced, to);
	int ret = write_words(traced, text);

	lockdep_assert_held(&pp_mutex);
	if (!ret)
		became(traced, to);
	if (!ret || text->bad)
		pp_record_stores(text, &text->when, POKEPATCH_HISTORY_STORE);
	return ret;
}

/* --- on -------------------------------------------------------------------------------- */

static void transition_deinit(struct transition *tr)
{
	kfree(tr->busy.range);
	kfree(tr->stoppers);
	kfree(tr->cpus);
}

static int transition_init(struct transition *tr, const struct traced *traced)
{
	/* For whom the stop says that it is; it is no patch otherwise. */
	static struct pp_patch tracer = { .name = "trace_entry" };

	*tr = (struct transition){ .patch = &tracer };
	tr->cpus = kcalloc(nr_cpu_ids, sizeof(*tr->cpus), GFP_KERNEL);
	tr->stoppers = kcalloc(nr_cpu_ids, sizeof(*tr->stoppers), GFP_KERNEL);
	tr->busy.range = kcalloc(1, sizeof(*tr->busy.range), GFP_KERNEL);
	if (!tr->cpus || !tr->stoppers || !tr->busy.range) {
		transition_deinit(tr);
		return -ENOMEM;
	}
	/*
	 * Behind the first word and up to the last.  Who is at the first has not begun, and nobody who
	 * points there is in the way, as in layout.c.
	 */
	if (!pp_debug_skip_entries)
		tr->busy.range[tr->busy.nr++] = (struct pp_range){
			traced->ip + 2,
			traced->ip + pp_arch.trace->words * pp_arch.entry.size - 1,
		};
	return 0;
}

static int stop_without_probes(const struct traced *traced, struct transition *tr)
{
	int ret;

	if (claim_write(traced, &tr->text)) {
		pr_err("trace_entry: %s is not traced: a probe is at its entry\n", traced->name);
		return -EBUSY;
	}
	ret = pp_stop(tr);
	pp_claim_write_end();
	return ret;
}

/* Have it call, if nobody is in between.  Return: 0, -EAGAIN if somebody is, or an error. */
static int decide(struct traced *traced, struct transition *tr)
{
	const enum as calls = traced->regs ? CALLS_REGS : CALLS;
	int ret;

	tr->text = *make_words(traced, calls);
	pp_record_enter(0, NULL);
	ret = pp_scan_running(&tr->scan) ? 0 : -EAGAIN;
	ret = ret ?: stop_without_probes(traced, tr);
	if (!ret)
		became(traced, calls);
	if (!ret || tr->text.bad)
		pp_record_stores(&tr->text, &tr->when, POKEPATCH_HISTORY_STOP_MACHINE);
	pp_record_leave();
	pp_words_report();
	return ret;
}

static int say_blocked(const struct traced *traced, const struct pp_scan *scan)
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
static int attempt(struct traced *traced, struct transition *tr, bool last)
{
	int ret;

	if (traced->gone)
		return -ENOENT;
	ret = pp_scan_init(&tr->scan, &tr->busy);
	if (ret)
		return ret;
	ret = decide(traced, tr);
	traced->pending = ret;
	if (ret == -EAGAIN && last)
		ret = say_blocked(traced, &tr->scan);
	pp_scan_deinit(&tr->scan);
	return ret;
}

/* Its words are prepared, so that a patch of it is refused from now on.  Under trace_mutex. */
static int have_it_call(struct traced *traced)
{
	const unsigned long deadline = jiffies + msecs_to_jiffies(TIMEOUT_MS);
	unsigned int pause = 1;
	struct transition tr;
	int ret = transition_init(&tr, traced);

	if (ret)
		return ret;
	do {
		ret = pp_exiting_ready(true);
		if (ret)
			break;
		mutex_lock(&pp_mutex);
		ret = attempt(traced, &tr, time_after_eq(jiffies, deadline));
		mutex_unlock(&pp_mutex);
		pp_exiting_sweep();
		if (ret == -EAGAIN) {
			schedule_timeout_killable(msecs_to_jiffies(pause));
			pause = min(2 * pause, (unsigned int)LONGEST_PAUSE_MS);
			if (fatal_signal_pending(current))
				ret = -EINTR;
		}
	} while (ret == -EAGAIN);
	transition_deinit(&tr);
	return ret;
}

/* --- off -------------------------------------------------------------------------------- */

/* Nobody finds it any more.  Under pp_mutex. */
static void forget(struct traced *traced, struct list_head *dead)
{
	hlist_del_rcu(&traced->node);
	list_move(&traced->order, dead);
}

/* Those that are to be freed when nobody looks at them any more who has found one. */
static LIST_HEAD(forgotten);
static DEFINE_SPINLOCK(forgotten_lock);

/* By itself: that takes as long as some CPU does not schedule, and pp_mutex is wanted meanwhile. */
static void free_forgotten(struct work_struct *work)
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

static DECLARE_WORK(free_work, free_forgotten);

static void free_all(struct list_head *dead)
{
	spin_lock(&forgotten_lock);
	list_splice_init(dead, &forgotten);
	spin_unlock(&forgotten_lock);
	schedule_work(&free_work);
}

/* So that either all of it can be taken back, or nothing is. */
static int check_probes(struct traced *traced)
{
	if (claim_write(traced, make_words(traced, FREE)))
		return -EBUSY;
	pp_claim_write_end();
	return 0;
}

/* First what decides.  Under pp_mutex.  0, or an error of change(). */
static int make_free(struct traced *traced)
{
	int ret = check_probes(traced);

	if (ret)
		return ret;
	pp_record_begin();
	if (traced->calls)
		ret = change(traced, traced->regs ? LOADED_REGS : LOADED);
	if (!ret && traced->prepared)
		ret = change(traced, FREE);
	pp_record_end();
	return ret;
}

/* Under pp_mutex.  It goes to @dead. */
static int switch_off(struct traced *traced, struct list_head *dead, bool quiet)
{
	const int ret = make_free(traced);

	if (!ret) {
		forget(traced, dead);
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
	/* Its text goes with it, as it is. */
	list_for_each_entry_safe(traced, next, &all, order) {
		if (!within_module_core(traced->ip, mod))
			continue;
		forget(traced, &dead);
		traced->gone = true;
		/* Who is about to switch it on frees it. */
		if (traced->pending)
			list_del_init(&traced->order);
	}
	free_all(&dead);
}

/* --- commands -------------------------------------------------------------------------------- */

/* Why can it not be traced?  NULL: it can.  Under pp_mutex. */
static const char *not_traceable(const struct pp_function *function)
{
	if (function->ours)
		return "the tracer would trace itself";
	if (!pp_arch.entry.site(function->addr))
		return "it has no NOPs at its entry (notrace or assembly)";
	if (pp_arch.text.store_uses && pp_arch.text.store_uses(function->addr))
		return "it is what the kernel writes code with";
	return NULL;
}

static void say_not_free(const struct traced *traced)
{
	pr_err("trace_entry: %s is not traced: its entry is not free; is there a probe?\n",
	       traced->name);
}

/* Who has its entry?  Under pp_mutex.  0, or an error (logged). */
static int check_unused(const struct traced *traced)
{
	const struct pp_site *site = pp_site_find(traced->ip);

	if (site && !list_empty(&site->hooked))
		pr_err("trace_entry: %s is not traced: patch %s has its entry\n", traced->name,
		       list_first_entry(&site->hooked, struct pp_func, hook)->patch->name);
	else if (site && (site->mode || site->lingers))
		say_not_free(traced);
	else
		return 0;
	return -EBUSY;
}

/* A new one, prepared, and not switched on yet.  Under trace_mutex and pp_mutex. */
static int prepare(const struct pp_function *function, bool regs, struct traced **ret_traced)
{
	const char *why = not_traceable(function);
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
	ret = check_unused(traced);
	if (!ret) {
		pp_record_begin();
		ret = change(traced, regs ? LOADED_REGS : LOADED);
		pp_record_end();
		if (ret)
			say_not_free(traced);
	}
	if (ret) {
		kfree(traced);
		return ret;
	}
	hlist_add_head_rcu(&traced->node, bucket(traced->ip));
	list_add_tail(&traced->order, &all);
	*ret_traced = traced;
	return 0;
}

/* It was being switched on, and that failed. */
static void give_up(struct traced *traced)
{
	LIST_HEAD(dead);

	mutex_lock(&pp_mutex);
	traced->pending = false;
	if (traced->gone)
		list_add(&traced->order, &dead);
	else
		switch_off(traced, &dead, false);
	free_all(&dead);
	mutex_unlock(&pp_mutex);
}

/* It is traced already: perhaps in the other form. */
static int change_form(struct traced *traced, bool regs)
{
	int ret;

	pp_record_begin();
	ret = change(traced, traced->calls ? (regs ? CALLS_REGS : CALLS) :
					     (regs ? LOADED_REGS : LOADED));
	pp_record_end();
	if (ret)
		pr_err("trace_entry: %s stays traced as it is: its entry is not as it was left; is there a probe?\n",
		       traced->name);
	return ret;
}

static int switch_on(const char *name, bool regs)
{
	struct pp_function *function;
	struct traced *traced;
	bool call = false;
	int ret = pp_arch.trace->start();

	/* Without the first, nothing would tell when the core's memory is no longer in use. */
	if (IS_ENABLED(CONFIG_PREEMPTION) && !IS_ENABLED(CONFIG_TASKS_RCU))
		ret = -EOPNOTSUPP;
	if (ret == -EOPNOTSUPP)
		pr_err("trace_entry: this kernel does not allow it: it takes CONFIG_TASKS_RCU, where that is preemptible, and the symbol __vmalloc_node_range\n");
	if (ret)
		return ret;
	function = kmalloc(sizeof(*function), GFP_KERNEL);
	if (!function)
		return -ENOMEM;
	mutex_lock(&pp_mutex);
	ret = pp_function_look_up(name, function);
	if (!ret) {
		traced = find(function->addr);
		ret = traced ? change_form(traced, regs) : prepare(function, regs, &traced);
		call = !ret && !traced->calls;
		if (call)
			traced->pending = true;
	}
	mutex_unlock(&pp_mutex);
	kfree(function);
	if (call) {
		ret = have_it_call(traced);
		if (ret)
			give_up(traced);
	}
	return ret;
}

/* By the name that is shown, or any that leads there. */
static int switch_off_named(const char *name)
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
		error = switch_off(traced, &dead, false);
		ret = ret ?: error;
	}
	free_all(&dead);
	mutex_unlock(&pp_mutex);
	if (!found && !every) {
		pr_err("trace_entry: %s is not traced\n", name);
		return -ENOENT;
	}
	return ret;
}

static bool is_one_line(const char *text)
{
	while (isprint(*text) || *text == '\t')
		text++;
	return !*text;
}

static int usage(void)
{
	pr_err("trace_entry: write one line: \"NAME\", \"NAME regs\", \"!NAME\" or \"!*\"; NAME is a function, as MODULE:NAME one of a module\n");
	return -EINVAL;
}

/* "NAME", "NAME plain", "NAME regs", "!NAME", "!*" */
static int command(char *line)
{
	const bool off = *line == '!';
	char *name, *form;
	bool regs;

	if (!is_one_line(line))
		return usage();
	line += off;
	name = strsep(&line, " \t");
	form = line ? skip_spaces(line) : "plain";
	regs = !strcmp(form, "regs");
	if (!*name || (!regs && strcmp(form, "plain")) || (off && (line || regs)) ||
	    (!off && !strcmp(name, "*")))
		return usage();
	return off ? switch_off_named(name) : switch_on(name, regs);
}

static ssize_t trace_entry_write(struct file *file, struct kobject *kobj,
				 struct bin_attribute *attr, char *buf, loff_t off, size_t count)
{
	char *line, *text;
	int ret;

	if (count > KSYM_SYMBOL_LEN)
		return usage();
	text = kstrndup(buf, count, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	line = strim(text);
	ret = mutex_lock_killable(&trace_mutex);
	if (!ret) {
		ret = command(line);
		mutex_unlock(&trace_mutex);
	}
	kfree(text);
	return ret ?: count;
}

static const char *form_of(const struct traced *traced)
{
	if (!traced->calls)
		return traced->pending ? "starting" : "stopping";
	return traced->regs ? "regs" : "plain";
}

/* A line for each: "NAME FORM MISSED". */
static ssize_t trace_entry_read(struct file *file, struct kobject *kobj,
				struct bin_attribute *attr, char *buf, loff_t off, size_t count)
{
	const struct traced *traced;
	size_t size = 1, len = 0;
	ssize_t ret = -ENOMEM;
	char *text;

	mutex_lock(&pp_mutex);
	list_for_each_entry(traced, &all, order)
		size += strlen(traced->name) + 32;
	text = kvmalloc(size, GFP_KERNEL);
	list_for_each_entry(traced, &all, order)
		if (text)
			len += scnprintf(text + len, size - len, "%s %s %ld\n", traced->name,
					 form_of(traced), atomic_long_read(&traced->missed));
	mutex_unlock(&pp_mutex);
	if (text)
		ret = memory_read_from_buffer(buf, count, &off, text, len);
	kvfree(text);
	return ret;
}

static BIN_ATTR_RW(trace_entry, 0);

int __init pp_trace_entry_init(void)
{
	return pp_arch.trace ? pp_sysfs_add_file(&bin_attr_trace_entry) : 0;
}

/*
 * An entry that cannot be given back (a probe has a copy of its word) holds the core: what it calls
 * is about to go.
 */
void pp_trace_entry_exit(void)
{
	struct traced *traced, *next;
	bool told = false, more;
	LIST_HEAD(dead);

	if (!pp_arch.trace)
		return;
	pp_sysfs_remove_file(&bin_attr_trace_entry);
	do {
		mutex_lock(&pp_mutex);
		list_for_each_entry_safe(traced, next, &all, order)
			switch_off(traced, &dead, true);
		more = !list_empty(&all);
		if (more && !told)
			pr_crit("%s is traced, and its entry is not as it was left; this waits until the probe there has gone\n",
				list_first_entry(&all, struct traced, order)->name);
		mutex_unlock(&pp_mutex);
		told = more;
		if (more)
			msleep(PP_FORCED_PAUSE_MS);
	} while (more);
	free_all(&dead);
	flush_work(&free_work);
	/*
	 * Those who have come to the call, or are on their way back: an interrupt may keep
	 * them there, and with CONFIG_PREEMPTION another task, but they do not sleep.
	 * The second is for idle tasks.
	 */
	synchronize_rcu_tasks();
	pp_synchronize_rude();
	pp_arch.trace->stop();
}
