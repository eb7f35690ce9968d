// SPDX-License-Identifier: GPL-2.0-or-later
/* Which units may mention what changed headers change; see name_filter.h. */
#include "pokepatch-build/name_filter.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/c_tokens.h"
#include "pokepatch-build/declared_names.h"
#include "pokepatch-build/item_changes.h"
#include "pokepatch-build/known_conditions.h"
#include "pokepatch-build/shadow_tree.h"

/* A unit in which more names are changed is kept: to follow them all takes longer than it may save.
 */
#define NAMES_MAX 2000

#define AUTOCONF "include/generated/autoconf.h"

/* What is changed of a name. */
enum taint {
	TAINT_CODE = 1,      /* what code means that mentions it */
	TAINT_EXPANSION = 2, /* the text that a macro makes */
};

/* What the change of an item changes. */
struct filter_name {
	uint32_t name, item;
	unsigned char taint;
};

/* What is known of a name for one unit; each is valid if its number is the unit's. */
struct filter_state {
	uint32_t tainted, in_source;
	uint32_t scanned; /* 1 + the number of the file in which it was found last */
	unsigned char taint;
};

/* A file of the index. */
struct filter_header {
	uint32_t unit;   /* the last unit that includes it */
	bool keeps;      /* units that include it are kept */
	bool reordered;  /* it has changed #include lines */
};

/* A file that units may include. */
struct filter_file {
	const char *path;
	bool is_header, loaded;
	bool diffed;         /* a diff changes it */
	bool changed;        /* no header, and a diff changes it */
	bool incomplete;     /* it includes a file that the tree does not have, by "name" */
	uint32_t headers[2]; /* in the index: as it was, and as the diffs make it; or INDEX_NONE */
	uint32_t unit;       /* the last unit that includes it */
	VEC(uint32_t) includes;
	VEC(uint32_t) names; /* of a file that is no header: all that it has */
};

/* ---- loading files ---------------------------------------------------------- */

static uint32_t file_number(struct name_filter *filter, const char *path)
{
	void **slot = map_slot(&filter->by_path, path);
	struct filter_file *file;

	if (!*slot) {
		file = vec_push(&filter->files);
		file->path = path;
		file->is_header = has_suffix(path, ".h");
		file->diffed = changes_find(filter->changes, path) != NULL;
		file->headers[0] = file->headers[1] = INDEX_NONE;
		*slot = (void *)filter->files.count;
	}
	return (uint32_t)(uintptr_t)*slot - 1;
}

static uint32_t add_lines(struct name_filter *filter, const char *path,
			  const struct text_lines *lines)
{
	struct buffer text = {};
	uint32_t added;

	text_lines_join(lines, &text);
	added = item_index_add(&filter->index, path, text.text ?: "", text.length);
	buffer_deinit(&text);
	return added;
}

static struct filter_state *state_of(struct name_filter *filter, uint32_t name)
{
	while (filter->states.count < filter->index.names.count)
		vec_push(&filter->states);
	return &filter->states.list[name];
}

/* Directives of sources: their macros, and those that say what is included. */
static const char *const macro_words[] = {"define", "undef", NULL};
static const char *const order_words[] = {"include", "if", "el", "endif", NULL};

/* Note the names that a file has, and those of its strings, as alias("name") has one. */
static void scan_names(struct name_filter *filter, struct filter_file *file,
		       const struct buffer *text)
{
	struct cursor cursor = {text->text, text->text + text->length, false};
	uint32_t number = (uint32_t)(file - filter->files.list) + 1;
	struct token token;

	while (next_token(&cursor, &token)) {
		struct filter_state *state;
		uint32_t name;

		if (token.kind == TOKEN_DIRECTIVE ||
		    (token.kind == TOKEN_UNKNOWN && (*token.text == '"' || *token.text == '\''))) {
			cursor.at = token.text + 1;
			continue;
		}
		if (token.kind == TOKEN_QUOTED && token.length > 2) {
			token.text++;
			token.length -= 2;
			if (!is_word(token.text, token.length))
				continue;
			token.hash = token_name_hash(token.text, token.length);
		} else if (token.kind != TOKEN_NAME &&
			   (token.kind != TOKEN_NUMBER ||
			    is_plain_number(token.text, token.length))) {
			continue;
		}
		name = item_index_name_hashed(&filter->index, token.text, token.length, token.hash);
		state = state_of(filter, name);
		if (state->scanned == number)
			continue;
		state->scanned = number;
		filter->index.names.list[name].in_source = true;
		*vec_push(&file->names) = name;
	}
}

/* Read a file that the changes leave as it is; *ret is NULL if there is none. */
static struct error *read_unchanged(const struct name_filter *filter, const char *path, char **ret,
				    size_t *ret_length)
{
	const struct changed_file *same = filter->same ? changes_find(filter->same, path) : NULL;
	_free_ char *full = xasprintf("%s/%s", filter->tree, path);

	*ret = NULL;
	if (same) {
		struct buffer text = {};

		text_lines_join(&same->new_lines, &text);
		*ret = text.text ?: xstrdup("");
		*ret_length = text.length;
		return NULL;
	}
	return file_exists(full) ? file_read(full, ret, ret_length) : NULL;
}

/* Read a file into the index: a header, or the macros of another file. */
static struct error *load_text(struct name_filter *filter, struct filter_file *file)
{
	_free_ char *text = NULL;
	struct buffer macros = {}, flat = {}, directives = {};
	uint32_t sides[2] = {INDEX_NONE, INDEX_NONE};
	size_t length;

	if (file->changed || file->headers[0] != INDEX_NONE || file->headers[1] != INDEX_NONE)
		return NULL;
	TRY(read_unchanged(filter, file->path, &text, &length));
	if (!text)
		return NULL;
	if (file->is_header) {
		file->headers[0] = item_index_add(&filter->index, file->path, text, length);
		include_order_add(&filter->order, file->path, file->headers);
		return NULL;
	}
	source_flatten(text, length, &flat);
	source_directives(flat.text ?: "", flat.length, order_words, &directives);
	sides[0] = item_index_add(&filter->index, file->path, directives.text ?: "",
				  directives.length);
	include_order_add(&filter->order, file->path, sides);
	buffer_deinit(&directives);
	/* scan_names() takes the rest as a whole. */
	source_directives(flat.text ?: "", flat.length, macro_words, &macros);
	if (macros.length)
		file->headers[0] =
			item_index_add(&filter->index, file->path, macros.text, macros.length);
	scan_names(filter, file, &flat);
	buffer_deinit(&macros);
	buffer_deinit(&flat);
	return NULL;
}

/*
 * Whether a file includes one that kbuild has not made yet.  Headers include others, too, that only
 * other systems have: drivers/acpi/acpica/accommon.h.
 */
static bool is_incomplete(const struct name_filter *filter, const struct filter_file *file,
			  const path_list *lost)
{
	for (size_t i = 0; i < lost->count; i++)
		if (!file->is_header || include_graph_is_made(filter->graph, file->path, lost->list[i]))
			return true;
	return false;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The names of the files that units may include from a header, and whether a macro is one. */
struct included {
	struct map names; /* last components */
	VEC(char *) owned;
	bool any;
};

static void find_included(const struct name_filter *filter, uint32_t header, struct included *ret)
{
	const struct item_index *index = &filter->index;
	const struct indexed_file *file = &index->files.list[header];

	for (uint32_t i = 0; i < file->nr_items; i++) {
		const struct item *item = &index->items.list[file->first_item + i];

		ret->any |= item->kind == ITEM_CONDITION && item->group == INDEX_NONE;
		if (item->kind != ITEM_INCLUDE)
			continue;
		_free_ char *text = xstrndup(file->flat.text + item->start,
					     item->end - item->start);
		char *name = text + strcspn(text, "<\"");

		name += *name != '\0';
		name[strcspn(name, ">\"")] = '\0';
		*vec_push(&ret->owned) = xstrdup(last_component(name));
		map_slot(&ret->names, ret->owned.list[ret->owned.count - 1]);
	}
}

/* Leave out what a header includes only where no unit does: under #if that is known to be false. */
static void leave_out_includes(const struct name_filter *filter, const struct filter_file *file,
			       path_list *includes)
{
	struct included included = {};
	size_t kept = 0;

	for (size_t i = 0; i < ARRAY_SIZE(file->headers); i++)
		if (file->headers[i] != INDEX_NONE)
			find_included(filter, file->headers[i], &included);
	for (size_t i = 0; i < includes->count; i++)
		if (included.any || map_has(&included.names, last_component(includes->list[i])))
			includes->list[kept++] = includes->list[i];
	includes->count = kept;
	for (size_t i = 0; i < included.owned.count; i++)
		free(included.owned.list[i]);
	vec_deinit(&included.owned);
	map_deinit(&included.names);
}

static struct error *load_file(struct name_filter *filter, uint32_t number)
{
	path_list includes = {}, lost = {};
	struct filter_file *file = &filter->files.list[number];

	file->loaded = true;
	file->changed = !file->is_header && file->diffed;
	TRY(load_text(filter, file));
	include_graph_includes(filter->graph, file->path, &includes, &lost);
	if (file->is_header)
		leave_out_includes(filter, file, &includes);
	file->incomplete = is_incomplete(filter, file, &lost);
	vec_deinit(&lost);
	for (size_t i = 0; i < includes.count; i++) {
		uint32_t included = file_number(filter, includes.list[i]);

		*vec_push(&filter->files.list[number].includes) = included;
	}
	vec_deinit(&includes);
	return NULL;
}

struct error *name_filter_load(struct name_filter *filter, const char *path)
{
	VEC(uint32_t) waiting = {};
	struct error *error = NULL;

	*vec_push(&waiting) = file_number(filter, path);
	while (!error && waiting.count) {
		uint32_t number = waiting.list[--waiting.count];

		if (filter->files.list[number].loaded)
			continue;
		error = load_file(filter, number);
		for (size_t i = 0; i < filter->files.list[number].includes.count; i++)
			*vec_push(&waiting) = filter->files.list[number].includes.list[i];
	}
	vec_deinit(&waiting);
	return error;
}

/* ---- what changes ----------------------------------------------------------- */

static struct filter_header *header_at(struct name_filter *filter, uint32_t file)
{
	while (filter->headers.count <= file)
		vec_push(&filter->headers);
	return &filter->headers.list[file];
}

static struct error *read_configuration(struct name_filter *filter)
{
	_free_ char *path = xasprintf("%s/%s", filter->tree, AUTOCONF);
	_free_ char *text = NULL;
	size_t length;

	if (!file_exists(path))
		return NULL;
	TRY(file_read(path, &text, &length));
	known_conditions_init(&filter->index, text, length);
	return NULL;
}

struct error *name_filter_init(struct name_filter *filter, const char *tree,
			       const struct changes *changes, const struct changes *same,
			       const struct include_graph *graph)
{
	*filter = (struct name_filter){
		.tree = tree, .changes = changes, .same = same, .graph = graph};
	item_index_init(&filter->index);
	include_order_init(&filter->order, &filter->index, graph);
	TRY(read_configuration(filter));
	for (size_t i = 0; i < changes->files.count; i++) {
		const struct changed_file *changed = &changes->files.list[i];
		struct filter_file *file;
		uint32_t number;

		if (changed->outside || !has_suffix(changed->path, ".h"))
			continue;
		number = file_number(filter, changed->path);
		file = &filter->files.list[number];
		file->headers[0] = add_lines(filter, changed->path, &changed->old_lines);
		file->headers[1] = add_lines(filter, changed->path, &changed->new_lines);
		item_changes_find(&filter->index, file->headers[0], file->headers[1],
				  same ? &changed->old_lines : NULL, &changed->new_lines,
				  &filter->changed);
		include_order_add(&filter->order, changed->path, file->headers);
	}
	return NULL;
}

static void add_root(struct name_filter *filter, uint32_t item, uint32_t name, unsigned char taint)
{
	*vec_push(&filter->roots) = (struct filter_name){name, item, taint};
}

/* Return: false if what the change of an item changes is not understood. */
static bool add_roots(struct name_filter *filter, uint32_t number)
{
	const struct item *item = &filter->index.items.list[number];

	switch (item->kind) {
	case ITEM_MACRO:
		add_root(filter, number, item->name, TAINT_CODE | TAINT_EXPANSION);
		return !item->unbalanced;
	case ITEM_TEXT:
		item_understand(&filter->index, number);
		for (uint32_t i = 0; i < item->nr_declared; i++)
			add_root(filter, number,
				 filter->index.declared.list[item->first_declared + i],
				 TAINT_CODE);
		return !item->opaque;
	case ITEM_CONDITION:
		/* What is in its group has changed, too (item_changes.c). */
		return item->group != INDEX_NONE &&
		       filter->index.items.list[item->group].group_end != INDEX_NONE;
	case ITEM_INCLUDE: /* include_order.h */
	case ITEM_NEUTRAL:
	case ITEM_LEFT_OUT:
		return true;
	default:
		return false;
	}
}

/* Find what the changes of a header change: its items from *at on, which is set to the next's. */
static void add_header_roots(struct name_filter *filter, size_t *at)
{
	const struct item *items = filter->index.items.list;
	const uint32_t *changed = filter->changed.list;
	const uint32_t file = items[changed[*at]].file / 2 * 2;
	const size_t first = *at;
	bool keeps = false, reordered = false;

	for (; *at < filter->changed.count && items[changed[*at]].file / 2 * 2 == file; ++*at) {
		reordered |= items[changed[*at]].kind == ITEM_INCLUDE;
		keeps |= !add_roots(filter, changed[*at]);
	}
	keeps |= item_changes_count(&filter->index, &changed[first], *at - first);
	header_at(filter, file)->keeps |= keeps;
	header_at(filter, file + 1)->keeps |= keeps;
	header_at(filter, file)->reordered = header_at(filter, file + 1)->reordered = reordered;
}

/* Note the text that uses a macro to paste what it gives: __PASTE(a, b). */
static void note_users(struct name_filter *filter, const struct paste *paste)
{
	const struct item_index *index = &filter->index;
	uint32_t name = index->items.list[paste->item].name;

	for (uint32_t at = index->names.list[name].mentions; at != INDEX_NONE;
	     at = index->mentions.list[at].next) {
		const struct item *item = &index->items.list[index->mentions.list[at].item];

		if (item->kind != ITEM_MACRO)
			header_at(filter, item->file)->keeps = true;
	}
}

/* Files that define a symbol of the configuration themselves change the values of conditions. */
static void keep_configuring(struct name_filter *filter)
{
	const struct item_index *index = &filter->index;

	for (size_t i = 0; i < index->items.count; i++) {
		const struct item *item = &index->items.list[i];

		if (item->kind == ITEM_MACRO &&
		    index->names.list[item->name].words & WORD_ASKED &&
		    !!strcmp(index->files.list[item->file].path, AUTOCONF))
			header_at(filter, item->file)->keeps = true;
	}
}

void name_filter_decide(struct name_filter *filter)
{
	if (!name_filter_any(filter))
		return;
	item_index_finish(&filter->index);
	for (size_t at = 0; at < filter->changed.count;)
		add_header_roots(filter, &at);
	keep_configuring(filter);
	include_order_decide(&filter->order, &filter->changed);
	pastes_init(&filter->pastes, &filter->index);
	header_at(filter, (uint32_t)filter->index.files.count);
	for (size_t i = 0; i < filter->pastes.whole.count; i++)
		note_users(filter, &filter->pastes.list.list[filter->pastes.whole.list[i]]);
}

void name_filter_deinit(struct name_filter *filter)
{
	for (size_t i = 0; i < filter->files.count; i++) {
		vec_deinit(&filter->files.list[i].includes);
		vec_deinit(&filter->files.list[i].names);
	}
	vec_deinit(&filter->files);
	vec_deinit(&filter->changed);
	vec_deinit(&filter->roots);
	vec_deinit(&filter->states);
	vec_deinit(&filter->headers);
	vec_deinit(&filter->waiting);
	vec_deinit(&filter->pointers);
	vec_deinit(&filter->gathered);
	vec_deinit(&filter->reordered);
	include_order_deinit(&filter->order);
	map_deinit(&filter->by_path);
	pastes_deinit(&filter->pastes);
	item_index_deinit(&filter->index);
}

/* ---- a unit's files --------------------------------------------------------- */

/* Note the names of a file of the unit that is no header.  Return: whether it is understood. */
static bool note_names(struct name_filter *filter, const struct filter_file *file)
{
	for (size_t i = 0; i < file->names.count; i++)
		state_of(filter, file->names.list[i])->in_source = filter->unit;
	for (size_t i = 0; i < filter->pastes.whole.count; i++) {
		const struct paste *paste = &filter->pastes.list.list[filter->pastes.whole.list[i]];
		uint32_t name = filter->index.items.list[paste->item].name;

		if (state_of(filter, name)->in_source == filter->unit)
			return false;
	}
	return !file->changed && !file->incomplete;
}

/* Note a file that the unit includes.  Return: whether all of it is understood. */
static bool note_file(struct name_filter *filter, const struct filter_file *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(file->headers); i++) {
		if (file->headers[i] == INDEX_NONE)
			continue;
		filter->headers.list[file->headers[i]].unit = filter->unit;
		if (i == 0 && filter->headers.list[file->headers[i]].reordered)
			*vec_push(&filter->reordered) = file->path;
		if (filter->headers.list[file->headers[i]].keeps)
			return false;
	}
	if (file->is_header)
		return !file->incomplete;
	return note_names(filter, file);
}

/* Find the files that a unit may include, in filter->gathered. */
static void gather_files(struct name_filter *filter, const char *const *paths, size_t count)
{
	name_list *list = &filter->gathered;

	filter->unit++;
	list->count = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t number = file_number(filter, paths[i]);

		if (filter->files.list[number].unit != filter->unit)
			*vec_push(list) = number;
		filter->files.list[number].unit = filter->unit;
	}
	for (size_t i = 0; i < list->count; i++) {
		const struct filter_file *file = &filter->files.list[list->list[i]];

		for (size_t j = 0; j < file->includes.count; j++) {
			struct filter_file *included = &filter->files.list[file->includes.list[j]];

			if (included->unit != filter->unit)
				*vec_push(list) = file->includes.list[j];
			included->unit = filter->unit;
		}
	}
}

/* Note the files that were gathered.  Return: whether they are understood. */
static bool note_files(struct name_filter *filter)
{
	filter->reordered.count = 0;
	for (size_t i = 0; i < filter->gathered.count; i++) {
		const struct filter_file *file = &filter->files.list[filter->gathered.list[i]];

		if (!file->loaded || !note_file(filter, file))
			return false;
	}
	return true;
}

bool name_filter_changed(struct name_filter *filter, const char *const *paths, size_t count,
			 path_list *ret)
{
	gather_files(filter, paths, count);
	for (size_t i = 0; i < filter->gathered.count; i++) {
		const struct filter_file *file = &filter->files.list[filter->gathered.list[i]];

		if (!file->loaded)
			return false;
		if (file->diffed)
			*vec_push(ret) = file->path;
	}
	return true;
}

/* ---- following names -------------------------------------------------------- */

static bool in_sources(struct name_filter *filter, uint32_t name)
{
	return state_of(filter, name)->in_source == filter->unit;
}

/* Return: whether a file of the unit mentions the name that is no header. */
static bool taint(struct name_filter *filter, uint32_t name, unsigned char how)
{
	struct filter_state *state = state_of(filter, name);

	if (state->tainted != filter->unit)
		state->taint = 0;
	state->tainted = filter->unit;
	if ((state->taint | how) == state->taint)
		return false;
	state->taint |= how;
	*vec_push(&filter->waiting) = name;
	return in_sources(filter, name);
}

static bool in_unit(const struct name_filter *filter, uint32_t item)
{
	return filter->headers.list[filter->index.items.list[item].file].unit == filter->unit;
}

/* Whether a file of the unit that is no header leads to a name. */
static bool source_leads_to(struct name_filter *filter, uint32_t name)
{
	struct pastes *pastes = &filter->pastes;
	uint32_t number = pastes_leading(pastes, name);
	struct leading *leading = &pastes->leadings.list[number];

	if (leading->unit == filter->unit)
		return leading->in_source;
	leading->unit = filter->unit;
	leading->in_source = false;
	for (uint32_t i = 0; !leading->in_source && i < leading->count; i++)
		leading->in_source = in_sources(filter, pastes->leads.list[leading->first + i]);
	return leading->in_source;
}

static bool source_pastes(struct name_filter *filter, const struct pasting_way *way)
{
	for (uint32_t i = way->nr_names; i--;)
		if (!source_leads_to(filter, way->names[i]))
			return false;
	return true;
}

/*
 * Whether a changed macro may have the text declare other names than it is understood to declare.
 * That a declared name is a macro, too, was taken into account when the text was.
 */
static bool may_declare(const struct name_filter *filter, const struct mention *mention,
			unsigned char how)
{
	const struct item_index *index = &filter->index;
	const struct item *item = &index->items.list[mention->item];

	if (!mention->structural || index->names.list[mention->name].macros == INDEX_NONE)
		return false;
	for (uint32_t i = 0; i < item->nr_declared; i++)
		if (index->declared.list[item->first_declared + i] == mention->name)
			return how & TAINT_EXPANSION;
	return true;
}

static bool follow_item(struct name_filter *filter, uint32_t number, unsigned char how);

/* Follow a condition to what is in its group.  Return: whether it leads to code. */
static bool follow_condition(struct name_filter *filter, const struct item *condition)
{
	const struct item *begin;

	if (condition->group == INDEX_NONE)
		return true;
	begin = &filter->index.items.list[condition->group];
	if (begin->group_end == INDEX_NONE)
		return true;
	if (begin->around != INDEX_NONE && follow_item(filter, begin->around, TAINT_CODE))
		return true;
	for (uint32_t i = condition->group; i <= begin->group_end; i++)
		if (filter->index.items.list[i].kind != ITEM_CONDITION &&
		    follow_item(filter, i, TAINT_CODE | TAINT_EXPANSION))
			return true;
	return false;
}

/* Follow an item that may change.  Return: whether it leads to code. */
static bool follow_item(struct name_filter *filter, uint32_t number, unsigned char how)
{
	const struct item *item = &filter->index.items.list[number];

	switch (item->kind) {
	case ITEM_MACRO:
		return taint(filter, item->name, how);
	case ITEM_CONDITION:
		return how & TAINT_EXPANSION && follow_condition(filter, item);
	case ITEM_TEXT:
		break;
	case ITEM_NEUTRAL:
	case ITEM_LEFT_OUT:
		return false;
	default:
		return true;
	}
	item_understand(&filter->index, number);
	if (item->opaque || (item->counts && how & TAINT_EXPANSION))
		return true;
	for (uint32_t i = 0; i < item->nr_declared; i++)
		if (taint(filter, filter->index.declared.list[item->first_declared + i],
			  TAINT_CODE))
			return true;
	return false;
}

/*
 * Follow a mention in a declaration that the name does not change, as a structure with a pointer to
 * a type: code gets to the type by the pointer's name.
 * @ret_code: whether they do
 * Return: false if the declaration may differ
 */
static bool follow_pointers(struct name_filter *filter, const struct mention *mention,
			    unsigned char how, bool *ret_code)
{
	if (how & TAINT_EXPANSION ||
	    filter->index.names.list[mention->name].macros != INDEX_NONE ||
	    !mention_roles(&filter->index, mention->item, mention->name, &filter->pointers))
		return false;
	*ret_code = false;
	for (size_t i = 0; i < filter->pointers.count; i++)
		*ret_code |= taint(filter, filter->pointers.list[i], TAINT_CODE);
	return true;
}

/* Return: whether the mention leads to code. */
static bool follow_mention(struct name_filter *filter, const struct mention *mention,
			   unsigned char how)
{
	bool code = false;

	if (filter->index.items.list[mention->item].kind == ITEM_TEXT) {
		item_understand(&filter->index, mention->item);
		if (follow_pointers(filter, mention, how, &code))
			return code;
		if (may_declare(filter, mention, how))
			return true;
	}
	return follow_item(filter, mention->item, how);
}

/* Follow a name to what may paste it.  Return: whether it leads to code. */
static bool follow_pasted(struct name_filter *filter, uint32_t name)
{
	unsigned char how = state_of(filter, name)->taint;
	struct pasting pasting = pastes_ways(&filter->pastes, name);

	for (uint32_t i = 0; i < pasting.nr_ways; i++) {
		struct pasting_way way = filter->pastes.ways.list[pasting.first_way + i];

		if (!in_unit(filter, way.item))
			continue;
		if (source_pastes(filter, &way))
			return true;
		pastes_find_places(&filter->pastes, pasting.first_way + i);
		way = filter->pastes.ways.list[pasting.first_way + i];
		for (uint32_t j = 0; j < way.nr_places; j++) {
			const struct mention mention = {
				.name = name,
				.item = filter->pastes.places.list[way.first_place + j],
				.structural = true,
			};

			if (in_unit(filter, mention.item) && follow_mention(filter, &mention, how))
				return true;
		}
	}
	return false;
}

/* Follow a name to what mentions it.  Return: whether it leads to code. */
static bool follow_mentions(struct name_filter *filter, uint32_t name)
{
	unsigned char how = state_of(filter, name)->taint;

	for (uint32_t at = filter->index.names.list[name].mentions; at != INDEX_NONE;
	     at = filter->index.mentions.list[at].next) {
		const struct mention *mention = &filter->index.mentions.list[at];

		if (in_unit(filter, mention->item) && follow_mention(filter, mention, how))
			return true;
	}
	return false;
}

bool name_filter_keeps(struct name_filter *filter, const char *const *paths, size_t count)
{
	size_t followed = 0, pasted = 0;
	bool keeps;

	if (!name_filter_any(filter))
		return false;
	gather_files(filter, paths, count);
	keeps = !note_files(filter) ||
		(filter->reordered.count &&
		 !include_order_same(&filter->order, paths, count, &filter->reordered));
	filter->waiting.count = 0;
	for (size_t i = 0; i < filter->roots.count; i++)
		if (in_unit(filter, filter->roots.list[i].item))
			keeps |= taint(filter, filter->roots.list[i].name,
				       filter->roots.list[i].taint);
	/* Pastes take longer to find than mentions. */
	while (!keeps && pasted < filter->waiting.count) {
		if (followed < filter->waiting.count)
			keeps = follow_mentions(filter, filter->waiting.list[followed++]);
		else if (pasted < NAMES_MAX)
			keeps = follow_pasted(filter, filter->waiting.list[pasted++]);
		else
			keeps = true;
	}
	return keeps;
}
