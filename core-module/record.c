// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of what the core does to text: for the history, from the same bytes for the
 * tracepoints, and for perf where the kernel does not report the change itself.
 *
 * Another file of the core changes text, and notes the times.  Afterwards it calls this file, in
 * task context and with pp_mutex held, so that all is still as it was laid out for the change.
 *
 * Before records of its own, this file has others.c record what other writers did, so that earlier
 * changes have lower numbers.  history.c keeps the records.  Neither calls this file.
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <pokepatch_format.h>
#include <pokepatch_history.h>

#include "arch/pp_arch.h"
#include "history.h"
#include "kernel_symbols.h"
#include "module.h"
#include "module_memory.h"
#include "module_symbols.h"
#include "others.h"
#include "place.h"
#include "pp_patch.h"
#include "pp_time.h"
#include "record.h"
#include "site.h"
#include "text.h"
#include "trace.h"

/* The transition and the patch that text is written for now; pp_mutex. */
static struct {
	u64 transition;
	struct pp_label patch;
} cause;

void pp_record_enter(u64 transition, const char *patch)
{
	pp_record_begin();
	pp_others_record_pending();
	cause.transition = transition;
	cause.patch = pp_label(patch);
}

void pp_record_leave(void)
{
	pp_others_record_pending();
	cause.transition = 0;
	cause.patch = pp_label(NULL);
	pp_record_end();
}

/* Nested pp_record_begin() that have not ended; pp_mutex. */
static unsigned int begun;

void pp_record_begin(void)
{
	lockdep_assert_held(&pp_mutex);
	if (!begun++)
		pp_history_behind(true);
}

void pp_record_end(void)
{
	lockdep_assert_held(&pp_mutex);
	if (!--begun)
		pp_history_behind(false);
}

u64 pp_record_transition_number(void)
{
	static atomic64_t last = ATOMIC64_INIT(0);

	return atomic64_inc_return(&last);
}

/* The event of the record happens now. */
static void record_stamp(struct pokepatch_history_record *record)
{
	const struct pp_time now = pp_now();

	record->mono_ns = now.mono;
	record->perf_ns = now.perf;
	record->cpu = raw_smp_processor_id();
}

static void record_end(void *record)
{
	pp_history_end(record, pp_others_deaf());
}

/* --- strings ----------------------------------------------------------------------------- */

static unsigned int record_room(const char *string)
{
	return string ? strlen(string) + 1 : 0;
}

static u32 record_put_string(void *record, unsigned int *at, const char *string)
{
	const struct pp_label this = pp_label(string);

	return pp_label_put(record, at, &this);
}

/* Without strlen(): a switch may have many functions, and each of them has several records. */
static struct pp_label record_func_name(const struct pp_func *func)
{
	return (struct pp_label){ func->name, func->name_len + 1 };
}

static struct pp_label record_func_module(const struct pp_func *func)
{
	const struct pp_object *obj = &func->patch->objects[func->obj];

	return func->obj ? (struct pp_label){ obj->name, obj->name_len + 1 } : (struct pp_label){};
}

/*
 * Where @addr is, without a search: it was written for @func, so it is in the old function, or in
 * the stubs of the patch module.
 */
static __always_inline void record_place(struct pp_place *place, unsigned long addr,
					 const struct pp_func *func)
{
	place->func = func->old_addr;
	if (addr - func->old_addr < func->sym->size) {
		place->symbol = record_func_name(func);
		place->module = record_func_module(func);
		place->offset = addr - func->old_addr;
		return;
	}
	place->symbol = (struct pp_label){ POKEPATCH_STUBS_SYMBOL, sizeof(POKEPATCH_STUBS_SYMBOL) };
	place->module = pp_label(func->patch->mod->name);
	place->offset = addr - func->patch->image->stubs;
}

/* --- text -------------------------------------------------------------------------------- */

struct change {
	unsigned long addr;
	unsigned int len;
	const u8 *old, *new;
	struct pp_place place;
	const struct pp_when *when;
	unsigned int method, flags, mode;
	u64 id;			/* number of the first record */
};

/* Writes every byte of the record, as pp_history_begin_fast() requires. */
static void record_change(struct change *change, unsigned int phase)
{
	const struct pp_when *when = change->when;
	const struct pp_time *time = phase == POKEPATCH_HISTORY_AFTER ? &when->after :
									 &when->before;
	const struct pp_place *place = &change->place;
	unsigned int at = sizeof(struct pokepatch_history_text);
	struct pokepatch_history_text *text =
		pp_history_begin_fast(POKEPATCH_HISTORY_TEXT, at + place->symbol.len +
						place->module.len + cause.patch.len);

	if (phase == POKEPATCH_HISTORY_BEFORE)
		change->id = text->record.seq;
	text->record.mono_ns = time->mono;
	text->record.perf_ns = time->perf;
	text->record.cpu = when->cpu;
	text->record.flags = change->flags | (when->exact ? POKEPATCH_HISTORY_EXACT : 0);
	text->change = change->id;
	text->transition = cause.transition;
	text->addr = change->addr;
	text->begin_ns = when->begin.mono;
	text->begin_perf = when->begin.perf;
	text->end_ns = when->end.mono;
	text->end_perf = when->end.perf;
	text->func = place->func;
	text->phase = phase;
	text->method = change->method;
	text->len = change->len;
	text->mode = change->mode;
	text->symbol_offset = place->offset;
	text->symbol = pp_label_put(text, &at, &place->symbol);
	text->module = pp_label_put(text, &at, &place->module);
	text->patch = pp_label_put(text, &at, &cause.patch);
	text->reserved = 0;
	memset(text->old_bytes, 0, sizeof(text->old_bytes));
	memset(text->new_bytes, 0, sizeof(text->new_bytes));
	pp_copy_short(text->old_bytes, change->old, change->len);
	pp_copy_short(text->new_bytes, change->new, change->len);
	trace_text_poke(text);
	record_end(text);
}

/*
 * perf gets one record, with the old and the new bytes, which its readers apply at its time.  If
 * the kernel's own writer made the change, it has reported it (when->told).
 */
static __nocfi void record_tell_perf(const struct change *change)
{
	if (!change->when->told && pp_kernel.perf_event_text_poke)
		pp_kernel.perf_event_text_poke((void *)change->addr, change->old, change->len,
					       change->new, change->len);
}

/* Fill in everything in @change but method and flags. */
static __always_inline void record_fill_change(struct change *change, const struct pp_poke *poke,
					       const struct pp_when *when, bool back)
{
	change->addr = poke->at;
	change->len = poke->size;
	change->old = back ? poke->new : poke->old;
	change->new = back ? poke->old : poke->new;
	record_place(&change->place, poke->at, poke->func);
	change->when = when ?: &poke->when;
	change->mode = pp_mode_number(poke->func->site ? poke->func->site->mode : NULL);
	change->id = poke->change;
}

/*
 * Was the poke written?  With @back: was it put back?  It was not if another writer had changed
 * it by then, or if that failed.
 */
static bool record_is_change(const struct pp_poke *poke, bool back)
{
	/* No call ran the instruction between the poke that passes and the one that returns. */
	return poke->func && !poke->passes && !poke->returns &&
	       memcmp(poke->old, poke->new, poke->size) &&
	       (!back || !memcmp((void *)poke->at, poke->old, poke->size));
}

void pp_record_text(struct pp_text *text, const struct pp_when *when, unsigned int method,
		    unsigned int flags, bool back)
{
	struct change change = { .method = method, .flags = flags };
	unsigned int i, phase;

	lockdep_assert_held(&pp_mutex);
	pp_history_hold();
	/* When the first byte was written all old ones were there, so the BEFOREs come first. */
	for (phase = POKEPATCH_HISTORY_BEFORE; phase <= POKEPATCH_HISTORY_AFTER; phase++) {
		for (i = 0; i < text->nr; i++) {
			if (!record_is_change(&text->poke[i], back))
				continue;
			record_fill_change(&change, &text->poke[i], when, back);
			record_change(&change, phase);
			text->poke[i].change = change.id;
			if (phase == POKEPATCH_HISTORY_AFTER)
				record_tell_perf(&change);
		}
	}
	pp_history_release();
}

void pp_record_put_back(const struct pp_text *text, const struct pp_when *when,
			unsigned int method, unsigned int flags)
{
	struct pp_text written = { .poke = text->poke, .nr = text->put_back };
	struct pp_when there = *when, back = *when;

	there.end = there.after = text->turned;
	back.before = back.begin = text->turned;
	pp_record_text(&written, &there, method, flags, false);
	pp_record_text(&written, &back, method, flags, true);
}

void pp_record_store(unsigned long addr, const u8 *old, const u8 *new, unsigned int len,
		     const struct pp_when *when, unsigned int method, unsigned int flags)
{
	char *name = kmalloc(KSYM_SYMBOL_LEN, GFP_KERNEL);
	struct change change = {
		.addr = addr,
		.len = len,
		.old = old,
		.new = new,
		.when = when,
		.method = method,
		.flags = flags,
	};

	if (!memcmp(old, new, len))
		goto out;
	if (name)
		change.place = pp_place_look_up(addr, name);
	record_change(&change, POKEPATCH_HISTORY_BEFORE);
	record_change(&change, POKEPATCH_HISTORY_AFTER);
	record_tell_perf(&change);
out:
	kfree(name);
}

void pp_record_stores(const struct pp_text *text, const struct pp_when *when, unsigned int method)
{
	const unsigned int nr = text->bad ? text->put_back : text->nr;
	struct pp_when there = *when, back = *when;
	unsigned int i;

	if (text->bad) {
		there.end = there.after = text->turned;
		back.begin = back.before = text->turned;
	}
	for (i = 0; i < nr; i++) {
		const struct pp_poke *poke = &text->poke[i];

		pp_record_store(poke->at, poke->old, poke->new, poke->size, &there, method, 0);
	}
	for (i = 0; i < nr && text->bad; i++) {
		const struct pp_poke *poke = &text->poke[i];

		if (!memcmp((void *)poke->at, poke->old, poke->size))
			pp_record_store(poke->at, poke->new, poke->old, poke->size, &back, method, 0);
	}
}

/* --- text that ftrace writes for us -------------------------------------------------------- */

static int record_compare_sites(const void *a, const void *b)
{
	const struct pp_record_site *x = a, *y = b;

	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

void pp_record_sites_before(struct pp_record_sites *sites, const unsigned long *ips,
			    unsigned int nr)
{
	unsigned int i;

	pp_record_begin();
	pp_others_record_pending();
	sites->nr = nr;
	sites->listening = pp_others_heard();
	sites->before = pp_now();
	sites->site = !ips    ? NULL :
		      nr == 1 ? &sites->one :
				kvmalloc_array(nr, sizeof(*sites->site), GFP_KERNEL);
	if (!sites->site)
		return;
	for (i = 0; i < nr; i++) {
		sites->site[i].ip = ips[i];
		sites->site[i].heard = false;
		memcpy(sites->site[i].old, (void *)ips[i], pp_arch.entry.size);
	}
	sort(sites->site, nr, sizeof(*sites->site), record_compare_sites, NULL);
	pp_others_mute(sites);
}

/* The probe could not observe the site, so compare what stands there before and after. */
static void record_look_at_site(struct pp_record_site *site, const struct pp_time *before)
{
	site->begin = *before;
	memcpy(site->new, (void *)site->ip, pp_arch.entry.size);
}

static void record_sites(struct pp_record_sites *sites, const struct pp_time *after, char *name)
{
	unsigned int i, phase;

	for (i = 0; i < sites->nr; i++)
		if (!sites->site[i].heard && !sites->listening)
			record_look_at_site(&sites->site[i], &sites->before);
		else if (!sites->site[i].heard)
			memcpy(sites->site[i].new, sites->site[i].old, pp_arch.entry.size);

	for (phase = POKEPATCH_HISTORY_BEFORE; phase <= POKEPATCH_HISTORY_AFTER; phase++) {
		for (i = 0; i < sites->nr; i++) {
			struct pp_record_site *site = &sites->site[i];
			const struct pp_when when = {
				.before = site->begin,
				.begin = site->begin,
				.end = pp_later(*after, &site->begin),
				.after = pp_later(*after, &site->begin),
				.cpu = raw_smp_processor_id(),
				.told = pp_arch.writer.tells_perf,
			};
			struct change change = {
				.addr = site->ip,
				.len = pp_arch.entry.size,
				.old = site->old,
				.new = site->new,
				.when = &when,
				.method = POKEPATCH_HISTORY_FTRACE,
				.id = site->change,
			};

			if (!memcmp(change.old, change.new, change.len))
				continue;
			if (name)
				change.place = pp_place_look_up(site->ip, name);
			record_change(&change, phase);
			site->change = change.id;
			if (phase == POKEPATCH_HISTORY_AFTER)
				record_tell_perf(&change);
		}
	}
}

void pp_record_sites_after(struct pp_record_sites *sites)
{
	struct pp_time now;
	char *name;

	pp_others_unmute();
	now = pp_others_record_all();
	sites->listening &= pp_others_heard();
	/* Without memory for the bytes from before, nothing is known of the changes. */
	if (!sites->site) {
		pp_history_lose(2);
		goto end;
	}
	name = kmalloc(KSYM_SYMBOL_LEN, GFP_KERNEL);
	record_sites(sites, &now, name);
	kfree(name);
	if (sites->site != &sites->one)
		kvfree(sites->site);
end:
	pp_record_end();
}

/* --- routes, transitions --------------------------------------------------------------------- */

/* The function that has its new function at @addr, or NULL. */
static const struct pp_func *record_owner_of(const struct pp_site *site, unsigned long addr)
{
	const struct pp_func *func;

	list_for_each_entry(func, &site->hooked, hook)
		if (addr && func->desc->new_addr == addr)
			return func;
	return NULL;
}

void pp_record_route(const struct pp_func *func, unsigned long from, unsigned long to,
		     const struct pp_when *when, unsigned int method)
{
	const struct pp_func *old = record_owner_of(func->site, from);
	const struct pp_func *new = record_owner_of(func->site, to);
	const struct pp_patch *patch = (new ?: old ?: func)->patch;
	const struct pp_label name = record_func_name(func), module = record_func_module(func);
	const struct pp_label owner = { patch->name, patch->name_len + 1 };
	unsigned int at = sizeof(struct pokepatch_history_route);
	struct pokepatch_history_route *route;

	lockdep_assert_held(&pp_mutex);
	if (from == to)
		return;
	/* Every byte of the record is written below. */
	route = pp_history_begin_fast(POKEPATCH_HISTORY_ROUTE,
				      at + name.len + module.len + owner.len);
	route->record.mono_ns = when->end.mono;
	route->record.perf_ns = when->end.perf;
	route->record.cpu = when->cpu;
	route->record.flags = when->exact ? POKEPATCH_HISTORY_EXACT : 0;
	route->transition = cause.transition;
	route->func = func->old_addr;
	route->func_size = func->sym->size;
	route->site = func->site->ip;
	route->from = from;
	route->to = to;
	route->from_size = old ? old->desc->new_size : 0;
	route->to_size = new ? new->desc->new_size : 0;
	route->begin_ns = when->begin.mono;
	route->begin_perf = when->begin.perf;
	route->end_ns = when->end.mono;
	route->end_perf = when->end.perf;
	route->method = method;
	route->mode = pp_mode_number(func->site->mode);
	route->reserved = 0;
	route->symbol = pp_label_put(route, &at, &name);
	route->module = pp_label_put(route, &at, &module);
	route->patch = pp_label_put(route, &at, &owner);
	record_end(route);
}

void pp_record_transition(const struct pp_record_transition *this, unsigned int phase)
{
	unsigned int at = sizeof(struct pokepatch_history_transition);
	struct pokepatch_history_transition *transition;

	pp_others_record_pending();
	transition = pp_history_begin(POKEPATCH_HISTORY_TRANSITION,
				      at + record_room(this->patch) + record_room(this->module));
	record_stamp(&transition->record);
	transition->record.flags = this->live ? POKEPATCH_HISTORY_LIVE : 0;
	transition->transition = this->nr;
	transition->phase = phase;
	transition->kind = this->kind;
	if (phase == POKEPATCH_HISTORY_AFTER) {
		transition->error = this->error;
		transition->stop_ns = this->stop_ns;
		transition->functions = this->functions;
	}
	transition->patch = record_put_string(transition, &at, this->patch);
	transition->module = record_put_string(transition, &at, this->module);
	trace_transition(transition);
	record_end(transition);
}

/* --- code that comes and goes ---------------------------------------------------------- */

/* Code, and when it existed. */
struct code {
	unsigned long addr, len;
	struct pp_time born, died;
	unsigned int kind;
	const char *name, *patch;
};

static unsigned int record_code_room(const struct code *code)
{
	return ALIGN(sizeof(struct pokepatch_history_code) + record_room(code->name) +
			     record_room(code->patch), 8);
}

/* A record of the @len bytes at @addr, and with @bytes a copy of them. */
static void record_code(const struct code *code, unsigned int type, unsigned long addr,
			unsigned long len, bool bytes)
{
	const unsigned int room = record_code_room(code);
	unsigned int at = sizeof(struct pokepatch_history_code);
	const unsigned int size = room + (bytes ? len : 0);
	/* Users who may not load modules have the kernel load them, as often as they like. */
	struct pokepatch_history_code *record = code->kind == POKEPATCH_HISTORY_OTHER_TEXT ?
							pp_history_begin_other(type, size) :
							pp_history_begin(type, size);

	record_stamp(&record->record);
	record->addr = addr;
	record->len = len;
	record->born_ns = code->born.mono;
	record->born_perf = code->born.perf;
	record->died_ns = code->died.mono;
	record->died_perf = code->died.perf;
	record->kind = code->kind;
	record->name = record_put_string(record, &at, code->name);
	record->patch = record_put_string(record, &at, code->patch);
	record->bytes = room;
	if (bytes) {
		record->bytes_len = len;
		memcpy((void *)record + room, (void *)addr, len);
	} else if (type == POKEPATCH_HISTORY_SNAPSHOT) {
		record->record.flags |= POKEPATCH_HISTORY_DROPPED;
	}
	record_end(record);
}

static unsigned int record_symbol_room(const struct code *code, const char *name)
{
	return ALIGN(sizeof(struct pokepatch_history_symbol) + record_room(name) +
			     record_room(code->name) + record_room(code->patch), 8);
}

static void record_symbol(const struct code *code, const char *name, unsigned long addr,
			  unsigned long len)
{
	unsigned int at = sizeof(struct pokepatch_history_symbol);
	struct pokepatch_history_symbol *symbol =
		pp_history_begin(POKEPATCH_HISTORY_SYMBOL, record_symbol_room(code, name));

	record_stamp(&symbol->record);
	symbol->addr = addr;
	symbol->len = len;
	symbol->born_ns = code->born.mono;
	symbol->died_ns = code->died.mono;
	symbol->born_perf = code->born.perf;
	symbol->died_perf = code->died.perf;
	symbol->kind = code->kind;
	symbol->name = record_put_string(symbol, &at, name);
	symbol->module = record_put_string(symbol, &at, code->name);
	symbol->patch = record_put_string(symbol, &at, code->patch);
	record_end(symbol);
}

/*
 * Go through the functions in @code, by the module's own symbol table, which stays as long as its
 * text.  With @record make their records.  Return: how many bytes the records take.
 */
static size_t record_symbols(const struct code *code, const struct module *mod, bool record)
{
	const struct mod_kallsyms *kallsyms = rcu_dereference_raw(mod->kallsyms);
	size_t bytes = 0;
	unsigned int i;

	for (i = 1; i < kallsyms->num_symtab; i++) {
		const Elf_Sym *sym = &kallsyms->symtab[i];
		const char *name = kallsyms->strtab + sym->st_name;

		if (sym->st_shndx == SHN_UNDEF || !*name ||
		    sym->st_value - code->addr >= code->len || !sym->st_size)
			continue;
		bytes += record_symbol_room(code, name);
		if (record)
			record_symbol(code, name, sym->st_value, sym->st_size);
	}
	return bytes;
}

/* Bytes of code in one record: with its strings that is at most POKEPATCH_HISTORY_RECORD_MAX. */
#define PIECE 16384

static void record_snapshot(const struct code *code, const struct module *mod)
{
	const unsigned int pieces = DIV_ROUND_UP(code->len, PIECE);
	const size_t least = pieces * record_code_room(code) + record_symbols(code, mod, false);
	const bool bytes = pp_history_snapshot_begin(least + ALIGN(code->len, 8), least);
	unsigned long at;

	for (at = 0; at < code->len; at += PIECE)
		record_code(code, POKEPATCH_HISTORY_SNAPSHOT, code->addr + at,
			    min_t(unsigned long, code->len - at, PIECE), bytes);
	record_symbols(code, mod, true);
	pp_history_snapshot_end();
}

static struct code record_module_code(const struct pp_patch *patch)
{
	return (struct code){
		.addr = patch->text_start,
		.len = patch->text_end - patch->text_start,
		.born = patch->born,
		.kind = POKEPATCH_HISTORY_MODULE_TEXT,
		.name = patch->mod->name,
		.patch = patch->name,
	};
}

void pp_record_module_born(struct pp_patch *patch)
{
	struct code code;

	pp_others_record_pending();
	patch->born = pp_now();
	code = record_module_code(patch);
	record_code(&code, POKEPATCH_HISTORY_APPEAR, code.addr, code.len, false);
}

void pp_record_other_module(const struct module *mod, bool going)
{
	struct code code = { .kind = POKEPATCH_HISTORY_OTHER_TEXT, .name = mod->name };

	pp_others_record_pending();
	code.addr = pp_module_text(mod).start;
	code.len = pp_module_text(mod).end - code.addr;
	/* The APPEAR record of the module has the time when it came. */
	if (going)
		code.died = pp_now();
	else
		code.born = pp_now();
	record_code(&code, going ? POKEPATCH_HISTORY_SNAPSHOT : POKEPATCH_HISTORY_APPEAR,
		    code.addr, code.len, false);
}

/* The module's text and symbols are still there. */
void pp_record_module_dies(const struct pp_patch *patch)
{
	struct code code = record_module_code(patch);

	pp_others_record_pending();
	code.died = pp_now();
	record_snapshot(&code, patch->mod);
}

#define STUB_NAME_BYTES 128

/* The stub's name, for perf too; shorter than KSYM_NAME_LEN would allow. */
static struct code record_stub_code(const struct pp_site *site, char *name)
{
	snprintf(name, STUB_NAME_BYTES, "pokepatch_stub_%ps", (void *)site->ip);
	*strchrnul(name, ' ') = 0;
	return (struct code){
		.addr = site->stub,
		.len = pp_arch.stub.size,
		.born = site->stub_born,
		.kind = POKEPATCH_HISTORY_STUB,
		.name = name,
		.patch = site->stub_owner->name,
	};
}

static __nocfi void record_tell_perf_of_stub(const struct code *code, bool gone)
{
#ifdef CONFIG_PERF_EVENTS
	if (pp_kernel.perf_event_ksymbol)
		pp_kernel.perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, code->addr, code->len,
					     gone, code->name);
#endif
}

void pp_record_stub_born(struct pp_site *site)
{
	char name[STUB_NAME_BYTES];
	struct code code;

	site->stub_born = pp_now();
	code = record_stub_code(site, name);
	record_code(&code, POKEPATCH_HISTORY_APPEAR, code.addr, code.len, false);
	record_tell_perf_of_stub(&code, false);
}

void pp_record_stub_dies(const struct pp_site *site)
{
	char name[STUB_NAME_BYTES];
	struct code code = record_stub_code(site, name);

	code.died = pp_now();
	/* With these bytes the record is no longer than that of a text change. */
	record_code(&code, POKEPATCH_HISTORY_SNAPSHOT, code.addr, code.len, true);
	record_tell_perf_of_stub(&code, true);
}
