// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing instructions that CPUs may execute.
 *
 * A poke replaces one instruction that lies within one aligned word, by one store of that word.  So
 * an NMI, an interrupted task that goes on or another CPU fetches the old instruction or the new
 * one.  Text is read-only where it runs.  If the kernel has a routine that stores text and may be
 * called with the machine stopped, the architecture uses that.  Otherwise the store goes through a
 * second mapping, writable and not executable, which the core makes before it stops anything.
 *
 * The kernel's own writers of text (jump labels, static calls, kprobes, ftrace) may be changing the
 * other bytes of the same word.  They hold text_mutex meanwhile.  So the core holds it from before
 * the first store until after the last one.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <pokepatch_history.h>

#include "arch/pp_arch.h"
#include "claim.h"
#include "core_print.h"
#include "debug.h"
#include "entry.h"
#include "kernel_symbols.h"
#include "live.h"
#include "pp_patch.h"
#include "pp_time.h"
#include "record.h"
#include "text.h"

static unsigned long text_word_of(unsigned long at)
{
	return at & ~((unsigned long)pp_arch.text.word - 1);
}

bool pp_text_fits(unsigned long at, unsigned int size)
{
	return text_word_of(at) == text_word_of(at + size - 1);
}

/* The page of kernel or module text that @addr is in. */
static struct page *text_page(unsigned long addr)
{
	if (addr >= pp_kernel.stext && addr < pp_kernel.etext)
		return pfn_to_page(PHYS_PFN(__pa_symbol(addr)));
	return vmalloc_to_page((void *)addr);
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

static int text_map_alias(struct pp_text *text)
{
	struct page **pages;
	unsigned int i;

	pages = kvmalloc_array(text->nr, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < text->nr; i++) {
		/* A word does not cross a page. */
		pages[i] = text_page(text->poke[i].at);
		if (WARN_ON(!pages[i])) {
			kvfree(pages);
			return -EIO;
		}
	}
	text->alias = vmap(pages, text->nr, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	return text->alias ? 0 : -ENOMEM;
}

int pp_text_map(struct pp_text *text)
{
	static const u8 ones[PP_TEXT_WORD_MAX] = { [0 ... PP_TEXT_WORD_MAX - 1] = 0xff };
	unsigned int i;
	int ret = 0;

	text->alias = NULL;
	if (!text->nr)
		return 0;
	if (!pp_arch.text.store)
		ret = text_map_alias(text);
	if (ret)
		return ret;
	for (i = 0; i < text->nr; i++) {
		struct pp_poke *poke = &text->poke[i];

		poke->alias = text->alias ? text->alias + i * PAGE_SIZE +
						    offset_in_page(text_word_of(poke->at)) :
					    (void *)text_word_of(poke->at);
		poke->mask = text_place_in_word(poke, ones);
		poke->old_word = text_place_in_word(poke, poke->old);
		poke->new_word = text_place_in_word(poke, poke->new);
	}
	return 0;
}

void pp_text_unmap(struct pp_text *text)
{
	if (text->alias)
		vunmap(text->alias);
	text->alias = NULL;
}

/*
 * Replace @from by @to in the word of @poke.  Return: did the word hold @from, and was it written?
 *
 * Do not call memcpy() or memcmp() from here, nor a function that may be traced or probed: such a
 * function may be the one that is being switched, and this CPU has not serialised yet.
 */
static __always_inline bool text_write_poke(const struct pp_poke *poke, u64 from, u64 to)
{
	const u64 word = text_read_word(poke->alias);

	if ((word & poke->mask) != from && !pp_debug_skip_compare)
		return false;
	if (pp_arch.text.store)
		return !pp_arch.text.store(text_word_of(poke->at), (word & ~poke->mask) | to);
	text_write_word(poke->alias, (word & ~poke->mask) | to);
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

notrace bool pp_text_write(struct pp_text *text)
{
	unsigned int i, done;

	text->bad = text->stuck = NULL;
	text->put_back = 0;
	for (done = 0; done < text->nr; done++) {
		const struct pp_poke *this = &text->poke[done];

		if (!PP_FAULT("poke") && text_write_poke(this, this->old_word, this->new_word))
			continue;
		text->bad = this;
		text->wanted = this->old;
		text->found = text_read_word(this->alias);
		break;
	}
	for (i = 0; i < done && !text->bad; i++) {
		const struct pp_poke *this = &text->poke[i];

		if (text_is_written(this))
			continue;
		text->bad = this;
		text->wanted = this->new;
		text->found = text_read_word((void *)text_word_of(this->at));
	}
	if (!text->bad)
		return true;
	text->put_back = done;
	text->turned = pp_now();
	text_put_back(text, done);
	return false;
}

NOKPROBE_SYMBOL(pp_text_write);

int pp_text_report(const struct pp_text *text, const char *name)
{
	const struct pp_poke *bad = text->bad, *stuck = text->stuck;
	u8 word[PP_TEXT_WORD_MAX] __aligned(PP_TEXT_WORD_MAX);

	const char *now = stuck ? "some is not put back" :
			  text->wanted == bad->old ? "nothing is switched" :
						     "everything is put back";
	const u8 *found = word + (bad->at - text_word_of(bad->at));

	text_write_word(word, text->found);
	if (text->wanted == bad->old && !memcmp(found, bad->old, bad->size))
		pr_err("%s: the code at %pS cannot be written; %s\n", name,
		       (void *)bad->at, now);
	else
		pr_err("%s: the code at %pS is %*ph, expected %*ph: another writer has changed it; %s\n",
		       name, (void *)bad->at, (int)bad->size, found, (int)bad->size,
		       text->wanted, now);
	if (stuck)
		pr_err("%s: the code at %pS is %*ph, expected %*ph: this cannot be put back\n",
		       name, (void *)stuck->at, (int)stuck->size, (void *)stuck->at,
		       (int)stuck->size, stuck->old);
	return -EIO;
}

static bool text_all_fit(const struct pp_text *text)
{
	unsigned int i;

	for (i = 0; i < text->nr; i++)
		if (!pp_text_fits(text->poke[i].at, text->poke[i].size))
			return false;
	return true;
}

static int text_write_unused(struct pp_text *text, const struct pp_patch *patch)
{
	unsigned long start = ULONG_MAX, end = 0, probe;
	struct pp_when *when = &text->when;
	unsigned int i;
	int ret;

	/* A live write is slower, but instructions may cross words, and CPUs may execute them. */
	if (!text_all_fit(text))
		return pp_text_write_live(text, patch);
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
