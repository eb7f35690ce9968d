// SPDX-License-Identifier: GPL-2.0-or-later
/* What a unit includes before what; see include_order.h. */
#include "pokepatch-build/include_order.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/c_tokens.h"

/* How deep the compiler lets files include each other. */
#define DEPTH_MAX 200

/*
 * Where CREATE_TRACE_POINTS is defined, files of this folder include by a macro the header again
 * that includes trace/define_trace.h at its end: all of its other lines have been followed by then.
 */
static const char trace_folder[] = "include/trace/";

static bool reads_tracers_again(const char *path)
{
	return has_prefix(path, trace_folder) && !strchr(path + strlen(trace_folder), '/');
}

/* How far a unit has come with a file. */
enum reach {
	REACH_NOT,
	REACH_MAYBE,     /* it may have included the file */
	REACH_CERTAINLY, /* it has begun to read the file, if not more */
};

struct order_file {
	const char *path;
	uint32_t sides[2]; /* in the index */
	bool guarded;      /* to include it again does nothing */
	uint32_t first_line, nr_lines;
	uint32_t unit; /* the last one that came here */
	enum reach reach;
};

/* An #include line. */
struct order_line {
	bool changed;  /* only one side has it, or the #if that it is in is changed */
	bool single;   /* there is only one file that it can include */
	bool certain;  /* the compiler obeys it whenever it reads the file */
	bool by_macro; /* it may include anything */
	uint32_t first_target, nr_targets;
};

static uint32_t file_number(struct include_order *order, const char *path)
{
	void **slot = map_slot(&order->by_path, path);

	if (!*slot) {
		struct order_file *file = vec_push(&order->files);

		*file = (struct order_file){.path = path, .sides = {INDEX_NONE, INDEX_NONE}};
		*slot = (void *)order->files.count;
	}
	return (uint32_t)(uintptr_t)*slot - 1;
}

void include_order_init(struct include_order *order, const struct item_index *index,
			const struct include_graph *graph)
{
	*order = (struct include_order){.index = index, .graph = graph};
}

void include_order_deinit(struct include_order *order)
{
	vec_deinit(&order->files);
	vec_deinit(&order->lines);
	vec_deinit(&order->targets);
	vec_deinit(&order->reordered);
	map_deinit(&order->by_path);
	free(order->changed);
}

void include_order_add(struct include_order *order, const char *path, const uint32_t sides[2])
{
	uint32_t number = file_number(order, path);

	memcpy(order->files.list[number].sides, sides, sizeof(order->files.list[number].sides));
}

/* ---- reading a file ----------------------------------------------------------- */

/* Whether nothing but the file itself, on either side, defines the macro of its guard. */
static bool is_own_guard(const struct include_order *order, const struct order_file *file,
			 uint32_t guard)
{
	const struct item_index *index = order->index;

	for (uint32_t at = index->names.list[guard].macros; at != INDEX_NONE;
	     at = index->items.list[at].next_macro) {
		const struct item *macro = &index->items.list[at];

		if (macro->is_undef ||
		    (macro->file != file->sides[0] && macro->file != file->sides[1]))
			return false;
	}
	return true;
}

static bool is_guarded(const struct include_order *order, const struct order_file *file)
{
	bool guarded = false;

	for (size_t side = 0; side < ARRAY_SIZE(file->sides); side++) {
		const struct indexed_file *indexed;

		if (file->sides[side] == INDEX_NONE)
			continue;
		indexed = &order->index->files.list[file->sides[side]];
		guarded = indexed->guard != INDEX_NONE && is_own_guard(order, file, indexed->guard);
		if (!guarded)
			return false;
	}
	return guarded;
}

/*
 * Add the files that an #include line may include.
 * @path: of the file that has the line
 * Return: whether it can be only one
 */
static bool add_targets(struct include_order *order, const char *path, const struct token *name)
{
	_free_ char *spelled = xstrndup(name->text, name->length);
	path_list paths = {};
	bool certain = include_graph_resolve(order->graph, path, spelled, &paths);

	for (size_t i = 0; i < paths.count; i++) {
		uint32_t target = file_number(order, paths.list[i]);

		*vec_push(&order->targets) = target;
	}
	certain &= paths.count == 1;
	vec_deinit(&paths);
	return certain;
}

/* The name that an #include line has, from its quote or bracket on, without the closing one. */
static struct token included_name(const struct token *directive)
{
	const char *end = directive->text + directive->length;
	const char *at = directive->text + strcspn(directive->text, "<\"");
	const char *close = memchr(at + 1, *at == '<' ? '>' : '"', (size_t)(end - at - 1)) ?: end;

	return (struct token){.text = at, .length = (size_t)(close - at)};
}

/* @guards: how many of the #if around the item are the file's guard */
static void add_line(struct include_order *order, uint32_t number, uint32_t side, uint32_t item,
		     uint32_t guards)
{
	const struct item *included = &order->index->items.list[item];
	const char *text = order->index->files.list[side].flat.text;
	const struct token directive = {.text = text + included->start,
					.length = included->end - included->start};
	struct cursor cursor = {directive.text + 1, directive.text + directive.length, false};
	struct order_line line = {.changed = order->changed[item],
				  .first_target = (uint32_t)order->targets.count};
	struct token word;

	if (included->kind != ITEM_INCLUDE && included->kind != ITEM_CONDITION)
		return;
	if (!next_token(&cursor, &word) ||
	    (!token_is(&word, "include") && !token_is(&word, "include_next")))
		return;
	line.by_macro = included->kind == ITEM_CONDITION;
	if (line.by_macro && reads_tracers_again(order->files.list[number].path))
		return;
	if (!line.by_macro) {
		const struct token name = included_name(&directive);

		line.single = add_targets(order, order->files.list[number].path, &name) &&
			      token_is(&word, "include");
		line.certain = line.single && included->uncertain == guards;
	}
	line.nr_targets = (uint32_t)order->targets.count - line.first_target;
	*vec_push(&order->lines) = line;
}

/* The items of a file on one side. */
struct side {
	uint32_t number; /* of the file in the index */
	uint32_t at, end;
};

static struct side open_side(const struct item_index *index, uint32_t number)
{
	struct side side = {.number = number};

	if (number != INDEX_NONE) {
		side.at = index->files.list[number].first_item;
		side.end = side.at + index->files.list[number].nr_items;
	}
	return side;
}

/*
 * Read the lines of both sides.  What both have is in the same order (item_changes.c), but for what
 * a changed #if has on one side only.
 */
static void read_lines(struct include_order *order, uint32_t number)
{
	const struct order_file *file = &order->files.list[number];
	const struct item *items = order->index->items.list;
	const uint32_t guards = file->guarded;
	struct side old = open_side(order->index, file->sides[0]);
	struct side new = open_side(order->index, file->sides[1]);
	bool single = file->sides[1] == INDEX_NONE;

	while (old.at < old.end || new.at < new.end) {
		bool both = old.at < old.end && new.at < new.end && !order->changed[old.at] &&
			    !order->changed[new.at];

		if (single) {
			add_line(order, number, old.number, old.at++, guards);
		} else if (both && items[old.at].hash == items[new.at].hash) {
			add_line(order, number, old.number, old.at++, guards);
			new.at++;
		} else if (old.at < old.end &&
			   (both || order->changed[old.at] || new.at == new.end)) {
			order->changed[old.at] = true;
			add_line(order, number, old.number, old.at++, guards);
		} else {
			order->changed[new.at] = true;
			add_line(order, number, new.number, new.at++, guards);
		}
	}
}

static void read_file(struct include_order *order, uint32_t number)
{
	struct order_file *file = &order->files.list[number];
	uint32_t first = (uint32_t)order->lines.count;

	file->guarded = is_guarded(order, file);
	read_lines(order, number); /* which adds files */
	file = &order->files.list[number];
	file->first_line = first;
	file->nr_lines = (uint32_t)order->lines.count - first;
}

void include_order_decide(struct include_order *order, const item_list *changed)
{
	order->changed = xcalloc(order->index->items.count + 1, sizeof(*order->changed));
	for (size_t i = 0; i < changed->count; i++)
		order->changed[changed->list[i]] = true;
	/* Reading adds files that nothing is known of. */
	for (uint32_t i = 0; i < order->files.count; i++)
		read_file(order, i);
}

/* ---- a unit ------------------------------------------------------------------- */

/* Whether it changes nothing that a line is there, at this place. */
static bool does_nothing(const struct include_order *order, const struct order_line *line)
{
	const struct order_file *target;

	if (!line->single)
		return false;
	target = &order->files.list[order->targets.list[line->first_target]];
	return target->guarded && target->unit == order->unit && target->reach == REACH_CERTAINLY;
}

/* Whether all changed lines would do nothing if this was the place where the unit comes to them. */
static bool all_do_nothing(const struct include_order *order)
{
	for (size_t i = 0; i < order->reordered.count; i++) {
		const struct order_file *file = &order->files.list[order->reordered.list[i]];

		for (uint32_t j = 0; j < file->nr_lines; j++) {
			const struct order_line *line = &order->lines.list[file->first_line + j];

			if (line->changed && !does_nothing(order, line))
				return false;
		}
	}
	return true;
}

/*
 * Read a file as the compiler would.  What a file leads to is looked at once for each reach: later
 * the unit has come further, and a changed line that did nothing does nothing again.
 * Return: whether changed lines on the way do nothing
 */
static bool walk(struct include_order *order, uint32_t number, enum reach reach, int depth)
{
	struct order_file *file = &order->files.list[number];

	if (file->unit != order->unit)
		file->reach = REACH_NOT;
	file->unit = order->unit;
	if (file->reach >= reach)
		return true;
	file->reach = reach;
	if (depth == DEPTH_MAX)
		return false;
	for (uint32_t i = 0; i < file->nr_lines; i++) {
		const struct order_line *line = &order->lines.list[file->first_line + i];

		if (line->changed || line->by_macro) {
			if (line->changed ? !does_nothing(order, line) : !all_do_nothing(order))
				return false;
			continue;
		}
		for (uint32_t j = 0; j < line->nr_targets; j++)
			if (!walk(order, order->targets.list[line->first_target + j],
				  line->certain ? reach : REACH_MAYBE, depth + 1))
				return false;
	}
	return true;
}

bool include_order_same(struct include_order *order, const char *const *paths, size_t count,
			const path_list *reordered)
{
	order->unit++;
	order->reordered.count = 0;
	for (size_t i = 0; i < reordered->count; i++) {
		uint32_t number = file_number(order, reordered->list[i]);

		*vec_push(&order->reordered) = number;
	}
	for (size_t i = 0; i < count; i++)
		if (!walk(order, file_number(order, paths[i]), REACH_CERTAINLY, 0))
			return false;
	return true;
}
