// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kept verdicts on units; see header_verdicts.h.  One is a text of a line that is two digits,
 * "differs" and "exports", and a line for each way.
 */
#include "pokepatch-build/header_verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/changes.h"
#include "pokepatch-build/object_cache.h"

/* Increment when another version would judge otherwise. */
#define VERDICT_FORMAT 2

void verdict_key(const struct build *build, const struct args *command, bool known,
		 const struct buffer *texts, char ret[65])
{
	struct buffer source = {};

	buffer_printf(&source, "verdict %d %d\n", VERDICT_FORMAT, known);
	buffer_add(&source, texts->text, texts->length);
	object_cache_key(build, command, source.text, ret);
	buffer_deinit(&source);
}

bool verdict_load(const struct build *build, const char *key, struct verdict *ret)
{
	_free_ char *folder = object_cache_folder(build);
	struct buffer text = {};
	bool found = false;

	error_destroy(object_cache_load(folder, key, NULL, &text, &found));
	found = found && text.length >= 3 && text.text[2] == '\n';
	if (found) {
		ret->differs = text.text[0] == '1';
		ret->exports = text.text[1] == '1';
		for (char *way = text.text + 3, *end; (end = strchr(way, '\n')); way = end + 1) {
			*end = '\0';
			args_add(&ret->ways, way);
		}
	}
	buffer_deinit(&text);
	return found;
}

void verdict_store(const struct build *build, const char *key, const struct verdict *verdict)
{
	_free_ char *folder = object_cache_folder(build);
	struct buffer text = {};

	buffer_printf(&text, "%d%d\n", verdict->differs, verdict->exports);
	for (size_t i = 0; i < verdict->ways.count; i++)
		buffer_printf(&text, "%s\n", verdict->ways.list[i]);
	object_cache_store(folder, key, NULL, &text);
	buffer_deinit(&text);
}

/* ---- verdicts of earlier runs ------------------------------------------------ */

struct earlier_verdicts {
	struct map by_source; /* to struct earlier_verdict */
	VEC(struct earlier_verdict *) list;
	struct changes *changes; /* for which some hold; owned; or NULL */
	bool judged;             /* some hold for this run's */
};

void verdict_copy(const struct verdict *verdict, struct verdict *ret)
{
	*ret = (struct verdict){.differs = verdict->differs, .exports = verdict->exports};
	for (size_t i = 0; i < verdict->ways.count; i++)
		args_add(&ret->ways, verdict->ways.list[i]);
}

static struct earlier_verdict *add_earlier(struct earlier_verdicts *earlier, const char *source)
{
	struct earlier_verdict *entry = xcalloc(1, sizeof(*entry));

	entry->source = xstrdup(source);
	*vec_push(&earlier->list) = entry;
	*map_slot(&earlier->by_source, entry->source) = entry;
	return entry;
}

void verdict_remember(struct build *build, const char *source, const struct earlier_verdict *entry)
{
	struct earlier_verdict *own;
	char *name;

	if (!build->earlier)
		build->earlier = xcalloc(1, sizeof(*build->earlier));
	own = verdict_earlier(build, source) ?: add_earlier(build->earlier, source);
	name = own->source;
	args_deinit(&own->verdict.ways);
	*own = *entry;
	own->source = name;
	verdict_copy(&entry->verdict, &own->verdict);
	build->earlier->judged = true;
}

struct earlier_verdict *verdict_earlier(const struct build *build, const char *source)
{
	return build->earlier ? map_get(&build->earlier->by_source, source) : NULL;
}

bool verdict_guess(const struct build *build, const char *source, bool known, struct verdict *ret)
{
	const struct earlier_verdict *entry = verdict_earlier(build, source);

	if (!entry || !entry->likely || (entry->known && !known))
		return false;
	verdict_copy(&entry->verdict, ret);
	return true;
}

void verdicts_hold_none(struct build *build)
{
	for (size_t i = 0; i < build->earlier->list.count; i++)
		build->earlier->list.list[i]->holds = false;
	build->earlier->judged = true;
}

const struct changes *verdicts_changes(const struct build *build)
{
	return build->earlier ? build->earlier->changes : NULL;
}

void verdicts_take_changes(struct build *build, struct changes *changes)
{
	struct earlier_verdicts *earlier = build->earlier;

	if (!earlier || !earlier->judged) {
		changes_destroy(changes);
		return;
	}
	changes_destroy(earlier->changes);
	earlier->changes = changes;
	earlier->judged = false;
}

void earlier_verdicts_destroy(struct earlier_verdicts *earlier)
{
	if (!earlier)
		return;
	for (size_t i = 0; i < earlier->list.count; i++) {
		free(earlier->list.list[i]->source);
		args_deinit(&earlier->list.list[i]->verdict.ways);
		free(earlier->list.list[i]);
	}
	vec_deinit(&earlier->list);
	map_deinit(&earlier->by_source);
	changes_destroy(earlier->changes);
	free(earlier);
}
