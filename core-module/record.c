// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of what happens: for the history, and from the same bytes for tracepoints, and
 * for perf where the kernel does not tell perf itself.
 *
 * Text is changed by some file of the core, which notes the moments; afterwards, in task
 * context and with pp_mutex held, so that what was changed is still as it was laid out,
 * the records are made here.
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <asm/unaligned.h>

#include <pokepatch_format.h>
#include <pokepatch_history.h>

#include "arch/pp_arch.h"
#include "history.h"
#include "kernel_symbols.h"
#include "module.h"
#include "module_symbols.h"
#include "others.h"
#include "pp_patch.h"
#include "pp_time.h"
#include "record.h"
#include "site.h"
#include "text.h"
#include "trace.h"

/* A string that records have; len with the 0 at its end, or 0: none. */
struct label {
	const char *text;
	unsigned int len;
};

static struct label label(const char *text)
{
	return (struct label){ text, text ? strlen(text) + 1 : 0 };
}

/* For whose sake text is written now; pp_mutex. */
static struct {
	u64 transition;
	struct label patch;
} cause;

void pp_record_enter(u64 transition, const char *patch)
{
	pp_record_begin();
	pp_others_drain();
	cause.transition = transition;
	cause.patch = label(patch);
}

void pp_record_leave(void)
{
	pp_others_drain();
	cause.transition = 0;
	cause.patch = label(NULL);
	pp_record_end();
}

/* How many have begun and not ended, one in the other; pp_mutex. */
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

/* What is recorded happens now. */
static void stamp(struct pokepatch_history_record *record)
{
	const struct pp_time now = pp_now();

	record->mono_ns = now.mono;
	record->perf_ns = now.perf;
	record->cpu = raw_smp_processor_id();
}

/* --- strings ----------------------------------------------------------------------------- */

static unsigned int room_for(const char *string)
{
	return string ? strlen(string) + 1 : 0;
}

/*
 * memcpy() by words: for strings as short as these a call of it, which x86 does by "rep
 * movsb", takes longer than all else that is done for a record.
 */
static __always_inline void copy_short(void *to, const void *from, unsigned int len)
{
	unsigned int i;

	if (len < sizeof(u64)) {
		for (i = 0; i < len; i++)
			((u8 *)to)[i] = ((const u8 *)from)[i];
		return;
	}
	for (i = 0; i + sizeof(u64) < len; i += sizeof(u64))
		put_unaligned(get_unaligned((const u64 *)(from + i)), (u64 *)(to + i));
	/* Some of these once more. */
	i = len - sizeof(u64);
	put_unaligned(get_unaligned((const u64 *)(from + i)), (u64 *)(to + i));
}

/* Put @label behind what is in the record up to *@at.  Return: its offset, 0: none. */
static __always_inline u32 put_label(void *record, unsigned int *at, const struct label *label)
{
	const unsigned int offset = *at;

	if (!label->len)
		return 0;
	*at += label->len;
	copy_short(record + offset, label->text, label->len);
	return offset;
}

static u32 put_string(void *record, unsigned int *at, const char *string)
{
	const struct label this = label(string);

	return put_label(record, at, &this);
}

/* What an address is in. */
struct place {
	struct label symbol, module;	/* module: none for vmlinux */
	unsigned long offset;
	unsigned long func;		/* the entry of an old function, or 0 */
};

/* The lengths are known: a switch has many functions, and each several records. */
static struct label name_of(const struct pp_func *func)
{
	return (struct label){ func->name, func->name_len + 1 };
}

static struct label module_of(const struct pp_func *func)
{
	const struct pp_object *obj = &func->patch->objects[func->obj];

	return func->obj ? (struct label){ obj->name, obj->name_len + 1 } : (struct label){};
}

/* "name+0x10/0x20 [module]", or a number: anywhere.  @text has KSYM_SYMBOL_LEN bytes. */
static struct place look_up(unsigned long addr, char *text)
{
	struct place place = {};
	char *plus, *module;

	sprint_symbol(text, addr);
	plus = strchr(text, '+');
	if (!plus)
		return place;
	*plus++ = 0;
	place.symbol = label(text);
	place.offset = simple_strtoul(plus, NULL, 16);
	place.func = addr - place.offset;
	module = strchr(plus, '[');
	if (module) {
		*strchrnul(module, ']') = 0;
		/* "[module build-id]" where that is configured */
		*strchrnul(module, ' ') = 0;
		place.module = label(module + 1);
	}
	return place;
}

/* The same without a search, where it is known: @addr was written for @func's sake. */
static __always_inline void place_of(struct place *place, unsigned long addr,
				     const struct pp_func *func)
{
	place->func = func->old_addr;
	if (addr - func->old_addr < func->sym->size) {
		place->symbol = name_of(func);
		place->module = module_of(func);
		place->offset = addr - func->old_addr;
		return;
	}
	place->symbol = (struct label){ POKEPATCH_STUBS_SYMBOL, sizeof(POKEPATCH_STUBS_SYMBOL) };
	place->module = label(func->patch->mod->name);
	place->offset = addr - func->patch->image->stubs;
}

/* --- text -------------------------------------------------------------------------------- */

struct change {
	unsigned long addr;
	unsigned int len;
	const u8 *old, *new;
	struct place place;
	const struct pp_when *when;
	unsigned int method, flags, mode;
	u64 id;			/* number of the first record */
};

/* The whole record is written: pp_history_begin_fast(). */
static void record_change(struct change *change, unsigned int phase)
{
	const struct pp_when *when = change->when;
	const struct pp_time *time = phase == POKEPATCH_HISTORY_AFTER ? &when->after :
									 &when->before;
	const struct place *place = &change->place;
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
	text->symbol = put_label(text, &at, &place->symbol);
	text->module = put_label(text, &at, &place->module);
	text->patch = put_label(text, &at, &cause.patch);
	text->reserved = 0;
	memset(text->old_bytes, 0, sizeof(text->old_bytes));
	memset(text->new_bytes, 0, sizeof(text->new_bytes));
	copy_short(text->old_bytes, change->old, change->len);
	copy_short(text->new_bytes, change->new, change->len);
	trace_text_poke(text);
	pp_history_end(text);
}

/*
 * One record, with both: perf's readers apply it at its time.  Where the kernel's own writer
 * was at work it has done this.
 */
static void tell_perf(const struct change *change)
{
	if (!change->when->told && pp_kernel.perf_event_text_poke)
		pp_kernel.perf_event_text_poke((void *)change->addr, change->old, change->len,
					       change->new, change->len);
}

/* All of *@change but method and flags. */
static __always_inline void change_of(struct change *change, const struct pp_poke *poke,
				      const struct pp_when *when, bool back)
{
	change->addr = poke->at;
	change->len = poke->size;
	change->old = back ? poke->new : poke->old;
	change->new = back ? poke->old : poke->new;
	place_of(&change->place, poke->at, poke->func);
	change->when = when ?: &poke->when;
	change->mode = pp_mode_number(poke->func->site ? poke->func->site->mode : NULL);
	change->id = poke->change;
}

/*
 * Was it written?  One that was to be put back may not have been, as it was somebody else's
 * by then, or cannot be.
 */
static bool is_change(const struct pp_poke *poke, bool back)
{
	/* Nobody was there between one that passes and the one that returns. */
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
	/* All were there before the first of them was written. */
	for (phase = POKEPATCH_HISTORY_BEFORE; phase <= POKEPATCH_HISTORY_AFTER; phase++) {
		for (i = 0; i < text->nr; i++) {
			if (!is_change(&text->poke[i], back))
				continue;
			change_of(&change, &text->poke[i], when, back);
			record_change(&change, phase);
			text->poke[i].change = change.id;
			if (phase == POKEPATCH_HISTORY_AFTER)
				tell_perf(&change);
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
		change.place = look_up(addr, name);
	record_change(&change, POKEPATCH_HISTORY_BEFORE);
	record_change(&change, POKEPATCH_HISTORY_AFTER);
	tell_perf(&change);
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

/*
 * One record is enough, since nothing is told before it is over.  For tracepoints it would be
 * too late, and perf has been told by the writer.
 */
void pp_record_other(unsigned long addr, const u8 *old, const u8 *new, unsigned int len,
		     const struct pp_when *when)
{
	static char name[KSYM_SYMBOL_LEN];
	const struct place place = look_up(addr, name);
	unsigned int at = sizeof(struct pokepatch_history_text);
	struct pokepatch_history_text *text =
		pp_history_begin_other(POKEPATCH_HISTORY_TEXT,
				       at + place.symbol.len + place.module.len);

	text->record.mono_ns = when->after.mono;
	text->record.perf_ns = when->after.perf;
	text->record.cpu = when->cpu;
	text->addr = addr;
	text->begin_ns = when->begin.mono;
	text->begin_perf = when->begin.perf;
	text->end_ns = when->end.mono;
	text->end_perf = when->end.perf;
	text->func = place.func;
	text->phase = POKEPATCH_HISTORY_AFTER;
	text->method = POKEPATCH_HISTORY_OTHER;
	text->len = len;
	text->symbol_offset = place.offset;
	text->symbol = put_label(text, &at, &place.symbol);
	text->module = put_label(text, &at, &place.module);
	memcpy(text->old_bytes, old, len);
	memcpy(text->new_bytes, new, len);
	pp_history_end(text);
}

/* --- text that ftrace writes for us -------------------------------------------------------- */

static int compare_sites(const void *a, const void *b)
{
	const struct pp_record_site *x = a, *y = b;

	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

void pp_record_sites_before(struct pp_record_sites *sites, const unsigned long *ips,
			    unsigned int nr)
{
	unsigned int i;

	pp_record_begin();
	pp_others_drain();
	sites->nr = nr;
	sites->listening = pp_others_heard();
	sites->before = pp_now();
	sites->site = !ips ? NULL : nr == 1 ? &sites->one : kvmalloc_array(nr, sizeof(*sites->site), GFP_KERNEL);
	if (!sites->site)
		return;
	for (i = 0; i < nr; i++) {
		sites->site[i].ip = ips[i];
		sites->site[i].heard = false;
		memcpy(sites->site[i].old, (void *)ips[i], pp_arch.entry.size);
	}
	sort(sites->site, nr, sizeof(*sites->site), compare_sites, NULL);
	pp_others_mute(sites);
}

/* What was done there is not known from having heard it. */
static void look_at_site(struct pp_record_site *site, const struct pp_time *before)
{
	site->begin = *before;
	memcpy(site->new, (void *)site->ip, pp_arch.entry.size);
}

static void record_sites(struct pp_record_sites *sites, const struct pp_time *after, char *name)
{
	unsigned int i, phase;

	for (i = 0; i < sites->nr; i++)
		if (!sites->site[i].heard && !sites->listening)
			look_at_site(&sites->site[i], &sites->before);
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
				change.place = look_up(site->ip, name);
			record_change(&change, phase);
			site->change = change.id;
			if (phase == POKEPATCH_HISTORY_AFTER)
				tell_perf(&change);
		}
	}
}

void pp_record_sites_after(struct pp_record_sites *sites)
{
	struct pp_time now;
	char *name;

	pp_others_unmute();
	now = pp_others_settle();
	sites->listening &= pp_others_heard();
	/* There was no memory to note what was there, so nobody knows what was changed. */
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

/* Whose new function is at @addr? */
static const struct pp_func *owner_of(const struct pp_site *site, unsigned long addr)
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
	const struct pp_func *old = owner_of(func->site, from), *new = owner_of(func->site, to);
	const struct pp_patch *patch = (new ?: old ?: func)->patch;
	const struct label name = name_of(func), module = module_of(func);
	const struct label owner = { patch->name, patch->name_len + 1 };
	unsigned int at = sizeof(struct pokepatch_history_route);
	struct pokepatch_history_route *route;

	lockdep_assert_held(&pp_mutex);
	if (from == to)
		return;
	/* All of it is written. */
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
	route->symbol = put_label(route, &at, &name);
	route->module = put_label(route, &at, &module);
	route->patch = put_label(route, &at, &owner);
	pp_history_end(route);
}

void pp_record_transition(const struct pp_record_transition *this, unsigned int phase)
{
	unsigned int at = sizeof(struct pokepatch_history_transition);
	struct pokepatch_history_transition *transition;

	pp_others_drain();
	transition = pp_history_begin(POKEPATCH_HISTORY_TRANSITION,
				      at + room_for(this->patch) + room_for(this->module));
	stamp(&transition->record);
	transition->record.flags = this->live ? POKEPATCH_HISTORY_LIVE : 0;
	transition->transition = this->nr;
	transition->phase = phase;
	transition->kind = this->kind;
	if (phase == POKEPATCH_HISTORY_AFTER) {
		transition->error = this->error;
		transition->stop_ns = this->stop_ns;
		transition->functions = this->functions;
	}
	transition->patch = put_string(transition, &at, this->patch);
	transition->module = put_string(transition, &at, this->module);
	trace_transition(transition);
	pp_history_end(transition);
}

/* --- code that comes and goes ------------------------------------------------------------------ */

/* Code, and when it was there. */
struct code {
	unsigned long addr, len;
	struct pp_time born, died;
	unsigned int kind;
	const char *name, *patch;
};

static unsigned int code_room(const struct code *code)
{
	return ALIGN(sizeof(struct pokepatch_history_code) + room_for(code->name) +
			     room_for(code->patch), 8);
}

/* A record of @len bytes from @addr on, and a copy of them. */
static void record_code(const struct code *code, unsigned int type, unsigned long addr,
			unsigned long len, bool bytes)
{
	const unsigned int room = code_room(code);
	unsigned int at = sizeof(struct pokepatch_history_code);
	struct pokepatch_history_code *record =
		pp_history_begin(type, room + (bytes ? len : 0));

	stamp(&record->record);
	record->addr = addr;
	record->len = len;
	record->born_ns = code->born.mono;
	record->born_perf = code->born.perf;
	record->died_ns = code->died.mono;
	record->died_perf = code->died.perf;
	record->kind = code->kind;
	record->name = put_string(record, &at, code->name);
	record->patch = put_string(record, &at, code->patch);
	record->bytes = room;
	if (bytes) {
		record->bytes_len = len;
		memcpy((void *)record + room, (void *)addr, len);
	} else if (type == POKEPATCH_HISTORY_SNAPSHOT) {
		record->record.flags |= POKEPATCH_HISTORY_DROPPED;
	}
	pp_history_end(record);
}

static unsigned int symbol_room(const struct code *code, const char *name)
{
	return ALIGN(sizeof(struct pokepatch_history_symbol) + room_for(name) +
			     room_for(code->name) + room_for(code->patch), 8);
}

static void record_symbol(const struct code *code, const char *name, unsigned long addr,
			  unsigned long len)
{
	unsigned int at = sizeof(struct pokepatch_history_symbol);
	struct pokepatch_history_symbol *symbol =
		pp_history_begin(POKEPATCH_HISTORY_SYMBOL, symbol_room(code, name));

	stamp(&symbol->record);
	symbol->addr = addr;
	symbol->len = len;
	symbol->born_ns = code->born.mono;
	symbol->died_ns = code->died.mono;
	symbol->born_perf = code->born.perf;
	symbol->died_perf = code->died.perf;
	symbol->kind = code->kind;
	symbol->name = put_string(symbol, &at, name);
	symbol->module = put_string(symbol, &at, code->name);
	symbol->patch = put_string(symbol, &at, code->patch);
	pp_history_end(symbol);
}

/*
 * The functions in @code, by the module's own symbol table, which stays as long as its
 * text.  With @record record them; return how many bytes that takes.
 */
static size_t symbols(const struct code *code, const struct module *mod, bool record)
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
		bytes += symbol_room(code, name);
		if (record)
			record_symbol(code, name, sym->st_value, sym->st_size);
	}
	return bytes;
}

/* A piece and what goes with it is no longer than any record may be. */
#define PIECE 16384

static void snapshot(const struct code *code, const struct module *mod)
{
	const unsigned int pieces = DIV_ROUND_UP(code->len, PIECE);
	const size_t least = pieces * code_room(code) + symbols(code, mod, false);
	const bool bytes = pp_history_snapshot_begin(least + ALIGN(code->len, 8), least);
	unsigned long at;

	for (at = 0; at < code->len; at += PIECE)
		record_code(code, POKEPATCH_HISTORY_SNAPSHOT, code->addr + at,
			    min_t(unsigned long, code->len - at, PIECE), bytes);
	symbols(code, mod, true);
	pp_history_snapshot_end();
}

static struct code module_code(const struct pp_patch *patch)
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

	pp_others_drain();
	patch->born = pp_now();
	code = module_code(patch);
	record_code(&code, POKEPATCH_HISTORY_APPEAR, code.addr, code.len, false);
}

void pp_record_other_module(const struct module *mod, bool going)
{
	struct code code = { .kind = POKEPATCH_HISTORY_OTHER_TEXT, .name = mod->name };
	unsigned long end;

	pp_others_drain();
	pp_module_text(mod, &code.addr, &end);
	code.len = end - code.addr;
	/* When it came is told where it did. */
	if (going)
		code.died = pp_now();
	else
		code.born = pp_now();
	record_code(&code, going ? POKEPATCH_HISTORY_SNAPSHOT : POKEPATCH_HISTORY_APPEAR,
		    code.addr, code.len, false);
}

/* Its text is still there, and its symbols are. */
void pp_record_module_dies(const struct pp_patch *patch)
{
	struct code code = module_code(patch);

	pp_others_drain();
	code.died = pp_now();
	snapshot(&code, patch->mod);
}

#define STUB_NAME_BYTES 128

/* The name that perf gets, of all that KSYM_NAME_LEN allows. */
static struct code stub_code(const struct pp_site *site, char *name)
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

static void tell_perf_of_stub(const struct code *code, bool gone)
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
	code = stub_code(site, name);
	record_code(&code, POKEPATCH_HISTORY_APPEAR, code.addr, code.len, false);
	tell_perf_of_stub(&code, false);
}

void pp_record_stub_dies(const struct pp_site *site)
{
	char name[STUB_NAME_BYTES];
	struct code code = stub_code(site, name);

	code.died = pp_now();
	/* No longer than a text change. */
	record_code(&code, POKEPATCH_HISTORY_SNAPSHOT, code.addr, code.len, true);
	tell_perf_of_stub(&code, true);
}
