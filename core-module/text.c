// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing instructions that CPUs may execute, with the machine stopped, and instructions that
 * no CPU can execute yet.
 *
 * A stop does not stop NMIs, so a CPU may execute each of these instructions while it is written.
 * Machines whose instructions are aligned words replace an instruction (a poke) by one store of
 * that word.  So an NMI, an interrupted task that goes on or another CPU fetches the old
 * instruction or the new one.  Where instructions may lie anywhere (x86), they are written in
 * steps, between which all CPUs meet and serialise: pp_arch.steps.
 *
 * Text is read-only where it runs.  If the kernel has a routine that stores text and may be
 * called with the machine stopped, the architecture uses that.  Otherwise the stores go through a
 * second mapping, writable and not executable.  The architecture has it for the writing CPU alone
 * (text->mapped, x86_window.c), or the core makes it before it stops anything.
 *
 * The kernel's own writers of text (jump labels, static calls, kprobes, ftrace) may be changing
 * other bytes of the same word, and use the same breakpoints.  They hold text_mutex meanwhile.  So
 * the core holds it from before the first store until after the last one.
 */
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <pokepatch_history.h>

#include "alias.h"
#include "arch/pp_arch.h"
#include "claim.h"
#include "core_print.h"
#include "debug.h"
#include "entry.h"
#include "kernel_symbols.h"
#include "pp_patch.h"
#include "pp_time.h"
#include "record.h"
#include "text.h"

static unsigned long text_word_of(unsigned long at)
{
	return at & ~((unsigned long)pp_arch.text.word - 1);
}

/* Does the instruction of @poke lie within one word? */
static bool text_fits(const struct pp_poke *poke)
{
	return text_word_of(poke->at) == text_word_of(poke->at + poke->size - 1);
}

const char *pp_text_missing(void)
{
	return pp_arch.steps.missing ? pp_arch.steps.missing() : NULL;
}

/*
 * What the kernel has queued is written here, and not where the core writes: others.c notes it as
 * another writer's change.
 */
void pp_text_lock(void)
{
	cpus_read_lock();
	mutex_lock(pp_kernel.text_mutex);
	if (pp_arch.text.flush)
		pp_arch.text.flush();
}

void pp_text_unlock(void)
{
	mutex_unlock(pp_kernel.text_mutex);
	cpus_read_unlock();
}

struct page *pp_text_page(unsigned long addr)
{
	if (addr >= pp_kernel.stext && addr < pp_kernel.etext)
		return pfn_to_page(PHYS_PFN(__pa_symbol(addr)));
	return pp_alias_page(addr);
}

/* Neither this load nor the store below can tear, since they are aligned and volatile. */
static __always_inline u64 text_read_word(const void *from)
{
	return pp_arch.text.word == sizeof(u64) ? READ_ONCE(*(const u64 *)from) :
						  READ_ONCE(*(const u32 *)from);
}

static __always_inline void text_write_word(void *to, u64 word)
{
	if (pp_arch.text.word == sizeof(u64))
		WRITE_ONCE(*(u64 *)to, word);
	else
		WRITE_ONCE(*(u32 *)to, word);
}

/* The word, as a CPU loads it, with @bytes at the place of @poke and zeros elsewhere. */
static u64 text_place_in_word(const struct pp_poke *poke, const u8 *bytes)
{
	u8 word[PP_TEXT_WORD_MAX] __aligned(PP_TEXT_WORD_MAX) = {};

	memcpy(word + (poke->at - text_word_of(poke->at)), bytes, poke->size);
	return text_read_word(word);
}

/*
 * List the pages of @poke, one or two, behind the @nr pages that are listed already.  If the list
 * ends with the first of them, that one serves again.  Return: the new number, or 0 if the poke is
 * not in text.  poke->alias becomes the offset in the mapping of all pages.
 */
static unsigned int text_list_pages(struct pp_poke *poke, struct page **pages, unsigned int nr)
{
	const unsigned long last = poke->at + poke->size - 1;
	unsigned long addr;

	for (addr = poke->at & PAGE_MASK; addr <= last; addr += PAGE_SIZE) {
		struct page *page = pp_text_page(addr);

		if (WARN_ON(!page))
			return 0;
		if (!nr || pages[nr - 1] != page)
			pages[nr++] = page;
		if (addr <= poke->at)
			poke->alias = (u8 *)((nr - 1) * PAGE_SIZE + offset_in_page(poke->at));
	}
	return nr;
}

static int text_map_alias(struct pp_text *text)
{
	struct page **pages = kvmalloc_array(text->nr, 2 * sizeof(*pages), GFP_KERNEL);
	unsigned int i, nr = 0;

	if (!pages)
		return -ENOMEM;
	for (i = 0; i < text->nr; i++) {
		nr = text_list_pages(&text->poke[i], pages, nr);
		if (!nr) {
			kvfree(pages);
			return -EIO;
		}
	}
	text->alias = vmap(pages, nr, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	for (i = 0; i < text->nr && text->alias; i++)
		text->poke[i].alias = text->alias + (unsigned long)text->poke[i].alias;
	return text->alias ? 0 : -ENOMEM;
}

/* Work out what to store, where an instruction is replaced by the store of its word. */
static int text_make_words(struct pp_text *text)
{
	static const u8 ones[PP_TEXT_WORD_MAX] = { [0 ... PP_TEXT_WORD_MAX - 1] = 0xff };
	unsigned int i;

	for (i = 0; i < text->nr; i++) {
		struct pp_poke *poke = &text->poke[i];

		if (WARN_ON(!text_fits(poke)))
			return -EIO;
		if (!text->alias)
			poke->alias = (u8 *)poke->at;
		poke->mask = text_place_in_word(poke, ones);
		poke->old_word = text_place_in_word(poke, poke->old);
		poke->new_word = text_place_in_word(poke, poke->new);
	}
	return 0;
}

int pp_text_map(struct pp_text *text)
{
	int ret = 0;

	text->alias = text->tables = NULL;
	text->mapped = false;
	text->steps = 0;
	if (!text->nr)
		return 0;
	if (pp_arch.steps.prepare && text->meet)
		ret = pp_arch.steps.prepare(text);
	if (!ret && !pp_arch.text.store && !text->mapped)
		ret = text_map_alias(text);
	if (!ret && pp_arch.text.word)
		ret = text_make_words(text);
	if (ret)
		pp_text_unmap(text);
	return ret;
}

void pp_text_unmap(struct pp_text *text)
{
	if (text->alias)
		vunmap(text->alias);
	kvfree(text->tables);
	text->alias = text->tables = NULL;
}

/* --- by one store of each instruction's word ------------------------------------------- */

/*
 * Replace @from by @to in the word of @poke.  Return: did the word hold @from, and was it written?
 *
 * Do not call memcpy() or memcmp() from here, nor a function that may be traced or probed: such a
 * function may be the one that is being switched, and this CPU has not serialised yet.
 */
static __always_inline bool text_write_poke(const struct pp_poke *poke, u64 from, u64 to)
{
	void *alias = poke->alias - (poke->at - text_word_of(poke->at));
	const u64 word = text_read_word(alias);

	if ((word & poke->mask) != from && !pp_debug_skip_compare)
		return false;
	if (pp_arch.text.store)
		return !pp_arch.text.store(text_word_of(poke->at), (word & ~poke->mask) | to);
	text_write_word(alias, (word & ~poke->mask) | to);
	return true;
}

/* Does the text hold @word, where CPUs will fetch it and not only in the writable mapping? */
static __always_inline bool text_reads_back(const struct pp_poke *poke, u64 word)
{
	return (text_read_word((void *)text_word_of(poke->at)) & poke->mask) == word;
}

static __always_inline bool text_is_written(const struct pp_poke *poke)
{
	return pp_debug_skip_read_back || poke->passes ||
	       (!PP_FAULT("read back") && !pp_debug_stuck_text &&
		text_reads_back(poke, poke->new_word));
}

/*
 * Put back the first @nr pokes.  Leave alone any word that no longer holds what we wrote: another
 * writer has changed it since.
 */
static __always_inline void text_put_back(struct pp_text *text, unsigned int nr)
{
	unsigned int i;

	for (i = nr; i-- && !pp_debug_stuck_text;)
		text_write_poke(&text->poke[i], text->poke[i].new_word, text->poke[i].old_word);
	for (i = 0; i < nr && !text->stuck; i++)
		if (!text->poke[i].returns &&
		    !text_reads_back(&text->poke[i], text->poke[i].old_word))
			text->stuck = &text->poke[i];
}

/* Note that @poke does not hold @wanted.  The report follows when the machine runs again. */
static __always_inline void text_note_bad(struct pp_text *text, const struct pp_poke *poke,
					  const u8 *wanted)
{
	unsigned int i;

	text->bad = poke;
	text->wanted = wanted;
	for (i = 0; i < poke->size; i++)
		text->found[i] = READ_ONCE(((const u8 *)poke->at)[i]);
}

static __always_inline void text_write_words(struct pp_text *text)
{
	unsigned int i, done;

	for (done = 0; done < text->nr; done++) {
		const struct pp_poke *this = &text->poke[done];

		if (!PP_FAULT("poke") && text_write_poke(this, this->old_word, this->new_word))
			continue;
		text_note_bad(text, this, this->old);
		break;
	}
	for (i = 0; i < done && !text->bad; i++)
		if (!text_is_written(&text->poke[i]))
			text_note_bad(text, &text->poke[i], text->poke[i].new);
	if (!text->bad)
		return;
	text->put_back = done;
	text->turned = pp_now();
	text_put_back(text, done);
}

/* --- in steps -------------------------------------------------------------------------- */

/*
 * Nothing here may call a function that may be traced, probed or switched, not even memcmp(), as
 * long as no breakpoint handler is armed.
 */
static __always_inline bool text_holds(const struct pp_poke *poke, const u8 *bytes)
{
	unsigned int i;

	for (i = 0; i < poke->size; i++)
		if (READ_ONCE(((const u8 *)poke->at)[i]) != bytes[i])
			return false;
	return true;
}

/* Replace all instructions, or put back those that the comparison has not excluded. */
static __always_inline void text_replace(struct pp_text *text, bool back)
{
	unsigned int i, k;

	if (text->meet) {
		pp_arch.steps.write(text, back);
		return;
	}
	/* No CPU can execute this text yet. */
	for (i = 0; i < text->nr; i++) {
		const struct pp_poke *poke = &text->poke[i];

		for (k = 0; k < poke->size && !poke->keep; k++)
			WRITE_ONCE(poke->alias[k], back ? poke->old[k] : poke->new[k]);
	}
}

static __always_inline void text_put_back_replaced(struct pp_text *text)
{
	unsigned int i;

	if (!pp_debug_stuck_text) {
		for (i = 0; i < text->nr; i++)
			text->poke[i].keep = !text_holds(&text->poke[i], text->poke[i].new);
		text_replace(text, true);
	}
	for (i = 0; i < text->nr && !text->stuck; i++)
		if (!text_holds(&text->poke[i], text->poke[i].old))
			text->stuck = &text->poke[i];
}

static __always_inline void text_write_steps(struct pp_text *text)
{
	unsigned int i;

	for (i = 0; i < text->nr && !text->bad; i++) {
		struct pp_poke *this = &text->poke[i];

		this->keep = false;
		if (PP_FAULT("poke") || (!pp_debug_skip_compare && !text_holds(this, this->old)))
			text_note_bad(text, this, this->old);
	}
	if (text->bad || !text->nr)
		return;
	text_replace(text, false);
	for (i = 0; i < text->nr && !text->bad && !pp_debug_skip_read_back; i++) {
		const struct pp_poke *this = &text->poke[i];

		if (PP_FAULT("read back") || pp_debug_stuck_text || !text_holds(this, this->new))
			text_note_bad(text, this, this->new);
	}
	if (!text->bad)
		return;
	text->put_back = text->nr;
	text->turned = pp_now();
	text_put_back_replaced(text);
}

/* --- either way ------------------------------------------------------------------------ */

notrace bool pp_text_write(struct pp_text *text)
{
	text->bad = text->stuck = NULL;
	text->put_back = 0;
	if (pp_arch.steps.write)
		text_write_steps(text);
	else
		text_write_words(text);
	return !text->bad;
}

NOKPROBE_SYMBOL(pp_text_write);

int pp_text_report(const struct pp_text *text, const char *name)
{
	const struct pp_poke *bad = text->bad, *stuck = text->stuck;
	const char *now = stuck ? "some is not put back" :
			  text->wanted == bad->old ? "nothing is switched" :
						     "everything is put back";

	if (text->wanted == bad->old && !memcmp(text->found, bad->old, bad->size))
		pr_err("%s: the code at %pS cannot be written; %s\n", name,
		       (void *)bad->at, now);
	else
		pr_err("%s: the code at %pS is %*ph, expected %*ph: another writer has changed it; %s\n",
		       name, (void *)bad->at, (int)bad->size, text->found, (int)bad->size,
		       text->wanted, now);
	if (stuck)
		pr_err("%s: the code at %pS is %*ph, expected %*ph: this cannot be put back\n",
		       name, (void *)stuck->at, (int)stuck->size, (void *)stuck->at,
		       (int)stuck->size, stuck->old);
	return -EIO;
}

static int text_write_unused(struct pp_text *text, const struct pp_patch *patch)
{
	unsigned long start = ULONG_MAX, end = 0, probe;
	struct pp_when *when = &text->when;
	unsigned int i;
	int ret;

	ret = pp_text_map(text);
	if (ret || !text->nr)
		return ret;
	probe = pp_claim_write_begin(text, 0, 0);
	if (probe) {
		pp_text_unmap(text);
		return pp_entry_report_probe(patch, probe);
	}
	when->before = when->begin = pp_now();
	mutex_lock(pp_kernel.text_mutex);
	ret = pp_text_write(text) ? 0 : pp_text_report(text, patch->name);
	mutex_unlock(pp_kernel.text_mutex);
	pp_claim_write_end();
	pp_text_unmap(text);
	for (i = 0; i < text->nr; i++) {
		start = min(start, text->poke[i].at);
		end = max(end, text->poke[i].at + text->poke[i].size);
	}
	pp_arch.text.written(start, end);
	when->after = when->end = pp_now();
	when->cpu = raw_smp_processor_id();
	when->exact = when->told = false;
	if (ret)
		pp_record_put_back(text, when, POKEPATCH_HISTORY_STORE, POKEPATCH_HISTORY_UNUSED);
	else
		pp_record_text(text, when, POKEPATCH_HISTORY_STORE, POKEPATCH_HISTORY_UNUSED, false);
	return ret;
}

int pp_text_write_unused(struct pp_text *text, const struct pp_patch *patch)
{
	int ret;

	pp_record_begin();
	ret = text_write_unused(text, patch);
	pp_record_end();
	return ret;
}
