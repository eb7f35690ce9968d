// SPDX-License-Identifier: GPL-2.0-or-later
/* What the macros of all headers lead to (item_index_finish() of item_index.h). */
#include "pokepatch-build/item_index.h"

#include <string.h>

/* Whether a macro makes specifiers only, as far as its names are known to do so. */
static bool makes_specifiers(const struct item_index *index, const struct item *macro)
{
	if (macro->is_undef)
		return true;
	if (!macro->specifies || macro->structural_parameter || macro->pastes || macro->unbalanced)
		return false;
	for (uint32_t i = 0; i < macro->nr_mentions; i++) {
		const struct mention *mention = &index->mentions.list[macro->first_mention + i];
		const struct indexed_name *name = &index->names.list[mention->name];

		if (mention->structural && !name->harmless && !(name->words & WORD_SPECIFIER))
			return false;
	}
	return true;
}

static bool find_harmless(struct item_index *index)
{
	bool changed = false;

	for (size_t i = 0; i < index->names.count; i++) {
		struct indexed_name *name = &index->names.list[i];
		bool harmless = name->macros != INDEX_NONE;

		if (name->harmless)
			continue;
		for (uint32_t at = name->macros; harmless && at != INDEX_NONE;
		     at = index->items.list[at].next_macro)
			harmless = makes_specifiers(index, &index->items.list[at]);
		name->harmless = harmless;
		changed |= harmless;
	}
	return changed;
}

/*
 * Macros that use __COUNTER__ for names and labels only.  Code does not depend on these, though the
 * names of local symbols do.
 */
static const char *const counting_names[] = {
	"__UNIQUE_ID",
	"__initcall_id",
	"__ID", /* linux/btf_ids.h */
	"compiletime_assert",
	"annotate_reachable",
	"annotate_unreachable",
	"instrumentation_begin",
	"instrumentation_end",
	"ASSERT_EXCLUSIVE_WRITER_SCOPED",
	"ASSERT_EXCLUSIVE_ACCESS_SCOPED",
};

static bool counts_for_names(const struct indexed_name *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(counting_names); i++)
		if (name->length == strlen(counting_names[i]) &&
		    !memcmp(name->text, counting_names[i], name->length))
			return true;
	return false;
}

static bool pass_words(struct item_index *index)
{
	bool changed = false;

	for (size_t i = 0; i < index->items.count; i++) {
		const struct item *item = &index->items.list[i];
		unsigned int words = 0;

		if (item->kind != ITEM_MACRO || item->is_undef)
			continue;
		for (uint32_t j = 0; j < item->nr_mentions; j++) {
			uint32_t name = index->mentions.list[item->first_mention + j].name;

			words |= index->names.list[name].words;
		}
		if (words & WORD_COUNTER && counts_for_names(&index->names.list[item->name]))
			words &= ~(unsigned int)WORD_COUNTER;
		/* That a macro has "const" in it makes it no specifier. */
		words &= WORD_TAG | WORD_USED | WORD_SECTION | WORD_COUNTER;
		changed |= (words & ~index->names.list[item->name].words) != 0;
		index->names.list[item->name].words |= (unsigned short)words;
	}
	return changed;
}

void item_index_finish(struct item_index *index)
{
	while (pass_words(index))
		;
	while (find_harmless(index))
		;
	for (size_t i = 0; i < index->mentions.count; i++)
		index->items.list[index->mentions.list[i].item].counts |=
			(index->names.list[index->mentions.list[i].name].words & WORD_COUNTER) != 0;
}
