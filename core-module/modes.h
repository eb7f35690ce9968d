/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ways to reroute calls, and what they are made of: sites, the modes, the writing of
 * instructions.  A part of core.h, which includes it.
 */
#ifndef POKEPATCH_MODES_H
#define POKEPATCH_MODES_H

/* --- the modes: ways to reroute calls ----------------------------------------- */

/* What is attached to a function's code and has no effect while it is patched. */
enum pp_shadows {
	PP_SHADOWS_TRACER = 1 << 0,
	PP_SHADOWS_KPROBE = 1 << 1,
	PP_SHADOWS_BPF = 1 << 2,
	PP_SHADOWS_LIVEPATCH = 1 << 3,
};

/*
 * All under pp_mutex; all but pokes() may sleep.  A site is in a mode from hook() to
 * unhook(), and lets all calls through until its target is set.
 */
struct pp_mode {
	const char *name;
	/*
	 * Hook the functions' sites, which are in no mode, as far as they fit, and
	 * set their mode.  Return: 0, also if some do not fit and another mode will
	 * do; or an error (logged): then those in this mode are to be unhooked.
	 */
	int (*hook)(struct pp_func **funcs, unsigned int nr);
	/*
	 * Undo that for sites in this mode and reset it, or have them linger.
	 * @going: they are in a module that goes.
	 */
	void (*unhook)(struct pp_site **sites, unsigned int nr, bool going);
	/*
	 * If it is there: one of several hooked functions leaves the site, which stays.
	 * Return: true if its module must not go before an RCU-tasks grace period.
	 */
	bool (*leave)(struct pp_func *func);
	/*
	 * If it is there: @site lets calls through, and is going to lead to @target, for
	 * @func's sake; write, as long as that changes nothing, what pokes() need not write
	 * then.  May sleep.  Return: 0, -ENOMEM, or -EBUSY or -EIO (logged).
	 */
	int (*prepare)(struct pp_site *site, const struct pp_func *func, unsigned long target);
	/*
	 * What to write so that calls go to @target instead of site->target, 0
	 * being the old function: up to PP_POKES_MAX pokes, in their order.
	 * Return: how many, or an error if @target cannot be reached.
	 */
	int (*pokes)(const struct pp_site *site, unsigned long target, struct pp_poke *poke);
};

/* Away from one target, the words for another, and there (entry.c). */
#define PP_POKES_MAX (PP_PREPARED_MAX + 2)

extern const struct pp_mode pp_ftrace_mode, pp_direct_mode, pp_entry_mode;

bool pp_mode_known(u32 mode);
const char *pp_mode_name(u32 mode);
int pp_mode_parse(const char *name, u32 *mode);
/* enum pokepatch_mode; of NULL, that is 0. */
u32 pp_mode_number(const struct pp_mode *mode);

/* --- site.c: the places where calls are rerouted ---------------------------- */

/*
 * One patched function's entry.  It exists while a patch that changes the
 * function is loaded (and the function too), is hooked while a patch that is, or
 * is about to be, enabled changes it, and lets every call through while target
 * is 0.
 */
struct pp_site {
	struct hlist_node node;	 /* in the hash; readers hold preemption off */
	unsigned long ip;	 /* what ftrace calls it, if there is one */
	unsigned long target;	 /* where calls go; written in a stopped section */
	unsigned long prepared;	 /* entry mode: what its prepared words load, 0: they are NOPs */
	struct list_head active; /* pp_func.on: enabled patches, the newest first */
	unsigned int users;	 /* funcs that point here */
	const struct pp_mode *mode; /* while it is hooked, or lingers */
	bool lingers;		 /* claimed still, though not hooked; or unsettled */
	bool unsettled;		 /* it was given back, but ftrace has not written it yet */
	struct list_head linger_node;
	struct list_head hooked; /* pp_func.hook: those who want it hooked, the newest first */
	struct ftrace_ops *ops;	 /* direct mode: its own */
	unsigned long stub;	 /* direct mode: what it calls, in some patch's text */
	struct pp_patch *stub_owner; /* whose text it is in */
	/* direct mode: has left, but its module is held until the site calls no stub of its */
	const struct pp_patch *stub_held;
	struct pp_time stub_born; /* since when it may be called */
	const struct pp_patch *newest; /* whose func came last, or NULL if it went */
	u64 laid_out;		 /* the attempt that has a flip for it; pp_mutex */
};

/* All under pp_mutex; may sleep. */
int pp_site_get(struct pp_func *func);
void pp_sites_put(struct pp_func *funcs, unsigned int nr, unsigned int obj);
int pp_sites_hook(struct pp_func *funcs, unsigned int nr, unsigned int obj);
void pp_sites_unhook(struct pp_func *funcs, unsigned int nr, unsigned int obj, bool going);
void pp_site_linger(struct pp_site *site);
/* The same for @sites that were given back, which ftrace could not write. */
void pp_sites_unsettled(struct pp_site **sites, unsigned int nr);
/* Is there none of them? */
bool pp_sites_settled(void);
void pp_site_unlinger(struct pp_site *site);
bool pp_sites_linger_retry(void);
void pp_sites_module_going(const struct module *mod);
unsigned long pp_site_top(const struct pp_site *site);
/*
 * Where func->on goes while the patch is enabled: with the others of its site, or, of a
 * carried function, with others that have the same hash; the newest first.  NULL while
 * its parent is not loaded.
 */
struct list_head *pp_func_active(const struct pp_func *func);
/*
 * Carried functions have no site to tell: note that this attempt, which has a number of its
 * own, switches @func; does it switch the function that @func replaces?
 */
void pp_carried_switch(struct pp_func *func, u64 attempt);
bool pp_carried_is_switched(const struct pp_func *func, u64 attempt);
void pp_sites_init(void);
/* How many sites are hooked in @mode; unless @ips is NULL, they go there. */
unsigned int pp_sites_in(const struct pp_mode *mode, unsigned long *ips);
/*
 * Add to @text what has the calls of @site, for @func's sake, go to @target, and write what
 * has to be prepared for that.  May sleep.  0, -ERANGE; -EBUSY, -EIO (logged); -ENOMEM.
 */
int pp_site_pokes(struct pp_text *text, struct pp_site *site, const struct pp_func *func,
		  unsigned long target);
/* The handler's lookup: any context, with preemption off. */
struct pp_site *pp_site_find(unsigned long ip);
void pp_site_publish(struct pp_site *site);
void pp_site_unpublish(struct pp_site *site);

#define PP_ALL_OBJECTS UINT_MAX

/* --- ftrace.c: the ftrace mode ---------------------------------------------- */

/*
 * What every ops of ours asks for.  PERMANENT: kernel.ftrace_enabled=0 would switch
 * patches off behind our back.  Register access is implied where ftrace passes arguments.
 */
#ifdef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
#define PP_FTRACE_FLAGS (FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_IPMODIFY)
#else
#define PP_FTRACE_FLAGS (FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS)
#endif

/* ftrace calls it for a hooked function: in any context. */
void pp_ftrace_handler(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs);

#if PP_HAS_FTRACE
/* All under pp_mutex; may sleep. */
/*
 * Have ftrace write all sites as its records say, of which those at @ips (or NULL, if there
 * was no memory) may differ from that.  0, or an error.
 */
int pp_ftrace_update(const unsigned long *ips, unsigned int nr);
/* unregister_ftrace_function(), which does not tell if ftrace dies in it: here it is -ENODEV. */
int pp_ftrace_unregister(struct ftrace_ops *which);
/* Register the one ops, if it is not; whether it is. */
int pp_ftrace_start(void);
bool pp_ftrace_registered(void);
void pp_ftrace_stop(void);
/* Take out what could not be taken out.  Return: true if some still could not. */
bool pp_ftrace_tidy(void);
#else
static inline int pp_ftrace_update(const unsigned long *ips, unsigned int nr)
{
	return 0;
}

static inline void pp_ftrace_stop(void)
{
}

static inline bool pp_ftrace_tidy(void)
{
	return false;
}
#endif

/* --- direct.c: the direct mode ------------------------------------------------ */

#if PP_HAS_FTRACE
/* After the grace period that follows leave().  Under pp_mutex. */
void pp_direct_settle(void);
/* Hand over stubs that could not be.  Return: true if some still could not.  pp_mutex. */
bool pp_direct_tidy(void);
/*
 * Does some site still call a stub of @patch, which is disabled?  Tries to end that.
 * Takes pp_mutex; may sleep.
 */
bool pp_direct_holds(const struct pp_patch *patch);
#else
static inline void pp_direct_settle(void)
{
}

static inline bool pp_direct_tidy(void)
{
	return false;
}

static inline bool pp_direct_holds(const struct pp_patch *patch)
{
	return false;
}
#endif

/* --- claim.c: sites that are borrowed from ftrace; alone.c: where there is none --------- */

/* All may sleep. */
bool pp_claim_possible(void);
bool pp_claim(unsigned long ip, const u8 *nop, unsigned int size);
int pp_claim_return(unsigned long ip, bool *update);
void pp_claim_settle(unsigned long ip);
/* Who is registered for the site at @ip, claimed or not: enum pp_shadows, 0 if not known. */
unsigned int pp_claim_shadows(unsigned long ip);
/*
 * May there be more than one registered for the site at @ip, which is not claimed?  Then it
 * calls ftrace's own code, and that the handlers.
 */
bool pp_claim_shared(unsigned long ip);
/*
 * From here to pp_claim_written() nobody puts a probe on a word of entries, or takes one from it,
 * that @text writes, or on its delay slot, or on any of the @size bytes at @entry.  Where ftrace owns the entries, what probes them is ftrace's, and need not be
 * kept off.  Sleeps; takes a lock that comes before cpus_read_lock() and text_mutex.
 * Return: 0; or what a probe is at already, armed or not: the word or @entry; then nothing is held.
 */
#if PP_HAS_FTRACE
static inline unsigned long pp_claim_write(const struct pp_text *text, unsigned long entry,
					   unsigned int size)
{
	return 0;
}

static inline void pp_claim_written(void)
{
}
#else
unsigned long pp_claim_write(const struct pp_text *text, unsigned long entry, unsigned int size);
void pp_claim_written(void);
#endif

/* --- entry.c: the entry mode ---------------------------------------------------- */

/* The bytes of a site, and where in it the instruction is that decides.  Any context. */
static inline unsigned int pp_entry_span(void)
{
	return pp_arch.entry_span ?: pp_arch.entry_size;
}

static inline unsigned long pp_entry_decides(const struct pp_site *site)
{
	return site->ip + pp_arch.entry_prepared * pp_arch.entry_size;
}

/*
 * Calls of @site go to @target from now on, and its text says so, if it is text that does.  Any
 * context, under pp_mutex, or in a stop for which it is held.
 */
static __always_inline void pp_site_leads_to(struct pp_site *site, unsigned long target)
{
	if (target)
		site->prepared = target;
	WRITE_ONCE(site->target, target);
}

/* Tell who is in the way of @patch's switch: a probe at @probe.  Return: -EBUSY. */
int pp_entry_blame_probe(const struct pp_patch *patch, unsigned long probe);

/* Give @site back, as pp_claim_return(), and take from it first what was prepared. */
int pp_entry_return(struct pp_site *site, bool *update);

/* --- trace_entry.c: tracing over patchable entries, in kernels without ftrace ------------- */

#if !PP_HAS_FTRACE
/* The file trace_entry in sysfs; what is traced is not any more. */
int pp_trace_entry_init(void);
void pp_trace_entry_exit(void);
/* Is the function at @ip traced, or about to be?  Under pp_mutex. */
bool pp_trace_entry_has(unsigned long ip);
/* Nobody runs the functions of @mod any more.  Under pp_mutex. */
void pp_trace_entry_module_going(const struct module *mod);
/*
 * The traced function at @ip was called, by who is to go on at @parent_ip: @args are its
 * pp_arch.trace->nr_args registers, or NULL, and @sp the stack pointer.  Any context.
 */
void pp_trace_entry_hit(unsigned long ip, unsigned long parent_ip, const unsigned long *args,
			unsigned long sp);
#else
static inline int pp_trace_entry_init(void)
{
	return 0;
}

static inline void pp_trace_entry_exit(void)
{
}

static inline bool pp_trace_entry_has(unsigned long ip)
{
	return false;
}

static inline void pp_trace_entry_module_going(const struct module *mod)
{
}
#endif

/* --- text.c: writing instructions --------------------------------------------- */

/* One instruction, within one word (pp_text_fits()). */
struct pp_poke {
	unsigned long at;
	u8 size;
	u8 old[PP_TEXT_WORD_MAX], new[PP_TEXT_WORD_MAX];
	const struct pp_func *func; /* for whose sake; for the history */
	/*
	 * Two of a text are of the same instruction: the first of them makes it a NOP, and the
	 * second what it was, when others have been written in between.
	 */
	bool passes, returns;
	struct pp_when when;	/* live: it was written */
	struct pp_when *route;	/* live: a copy of that, for who waits for it, or NULL */
	u64 change;		/* record.c's */
	/* pp_text_map() sets these */
	void *alias;		/* of its word, writable; or where it runs (arch.h: text_store) */
	u64 mask, old_word, new_word;
};

struct pp_text {
	struct pp_poke *poke;
	unsigned int nr;
	void *alias;		/* the mapping */
	const struct pp_poke *bad; /* which one failed */
	const u8 *wanted;	/* there */
	u64 found;		/* the word that was there, when not written live */
	const struct pp_poke *stuck; /* and one that could not be put back, or NULL */
	bool written;		/* live: some of it was, if only to be put back */
	unsigned int put_back;	/* not live: so many of the first ones were, after they were written */
	struct pp_time turned;	/* likewise: when, between the one and the other */
	struct pp_when when;	/* not live: all of it was written */
};

/* Does the instruction lie within one word?  Any context. */
bool pp_text_fits(unsigned long at, unsigned int size);
/* Make and unmake the writable mapping.  May sleep; -ENOMEM, -EIO. */
int pp_text_map(struct pp_text *text);
void pp_text_unmap(struct pp_text *text);
bool pp_text_write(struct pp_text *text);
/* Say what went wrong in pp_text_write().  Return: -EIO. */
int pp_text_blame(const struct pp_text *text, const struct pp_patch *patch);
/* All of that for text that nobody runs; recorded.  May sleep; 0, -ENOMEM, -EIO (logged). */
int pp_text_write_unused(struct pp_text *text, const struct pp_patch *patch);

/* --- veneer.c: what entries lead to that cannot reach the new function --------------- */

/* No function has more of them. */
#define PP_VENEERS_OF_FUNC 2

/* All under pp_mutex; the first and the last may sleep. */
/* See to it that the entry at @ip can be led to @target.  Return: false if it cannot. */
bool pp_veneer_make(unsigned long ip, unsigned long target);
/* What the entry at @ip jumps to, to come to @target (or 0). */
unsigned long pp_veneer_route(unsigned long ip, unsigned long target);
/* Who is in a veneer of @func's is about to be in its new function. */
void pp_veneers_busy(struct pp_busy *busy, const struct pp_func *func);
/* Those to the function at @target go; nobody is there, and no entry that anybody runs leads there. */
void pp_veneers_drop(unsigned long target);

/* --- live.c: switching while everything runs ------------------------------------- */

void pp_live_init(void);
/* What the kernel lacks for it, or NULL. */
const char *pp_live_missing(void);
/*
 * Write text that anybody may be running, and compare; or put all of it back; all of that
 * recorded.  Reorders text->poke.  May sleep; 0, -EIO (logged), -EOPNOTSUPP.
 */
int pp_text_write_live(struct pp_text *text, const struct pp_patch *patch);
/* Tasks may be in its text from now on, without its being enabled.  pp_mutex. */
void pp_drain_begin(struct pp_patch *patch);
/* Is it so?  Takes pp_mutex. */
bool pp_draining(struct pp_patch *patch);
/*
 * Return: true if @patch was draining and nobody is in its text: then the caller is to drop
 * the reference to the module that this held; else it is dropped when that is so.  The
 * caller holds patch->op.  May sleep.
 */
bool pp_drained(struct pp_patch *patch);
/* The same without a look now, if it is draining. */
void pp_drain_later(struct pp_patch *patch);
void pp_drain_init(struct pp_patch *patch);
void pp_drain_exit(struct pp_patch *patch);

#endif /* POKEPATCH_MODES_H */
