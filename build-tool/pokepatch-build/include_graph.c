// SPDX-License-Identifier: GPL-2.0-or-later
/* The graph of #include lines; see include_graph.h. */
#include "pokepatch-build/include_graph.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "pokepatch-build/patch.h"
#include "pokepatch-build/shadow_tree.h"
#include "pokepatch-build/tree.h"

/* An #include line: the name as it is spelled, with its opening quote or bracket. */
struct include_line {
	const char *from, *spelled;
};

/* The lines that name a file with the same last component. */
struct include_lines {
	VEC(struct include_line) list;
};

/* What a graph's file begins with; another version's is made again. */
static const char graph_header[] = "pokepatch include graph 3\n";

/* ---- reading #include lines ------------------------------------------------- */

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

static bool skip_word(const char **p, const char *end, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(end - *p) < length || memcmp(*p, word, length))
		return false;
	*p += length;
	return true;
}

/*
 * The name that a line includes, from its quote or bracket on, without the closing one.  A macro
 * that is defined as a header's name counts, too: another file includes it by the macro
 * (GENL_MAGIC_INCLUDE_FILE).
 * @line: at a line's first character; @end: at its newline
 */
static const char *included_name(const char *line, const char *end, size_t *ret_length)
{
	const char *p = skip_blanks(line, end), *close;
	bool macro = false;

	if (p == end || *p != '#')
		return NULL;
	p = skip_blanks(p + 1, end);
	if (skip_word(&p, end, "define")) {
		macro = true;
		p = skip_blanks(p, end);
		while (p < end && *p != ' ' && *p != '\t' && *p != '(')
			p++;
	} else if (!skip_word(&p, end, "include_next") && !skip_word(&p, end, "include")) {
		return NULL;
	}
	p = skip_blanks(p, end);
	if (p == end || (*p != '"' && *p != '<'))
		return NULL;
	close = memchr(p + 1, *p == '<' ? '>' : '"', (size_t)(end - p - 1));
	if (!close || close == p + 1 || (macro && close[-1] != 'h'))
		return NULL;
	*ret_length = (size_t)(close - p);
	return p;
}

/* Add the names that a text includes, a line each that begins with a tab. */
static void scan_text(const char *text, size_t length, struct buffer *ret)
{
	const char *end = text + length;

	for (const char *hash = text; (hash = memchr(hash, '#', (size_t)(end - hash))); hash++) {
		const char *line = hash, *stop = memchr(hash, '\n', (size_t)(end - hash)), *name;
		size_t name_length;

		while (line > text && (line[-1] == ' ' || line[-1] == '\t'))
			line--;
		if (line > text && line[-1] != '\n')
			continue;
		name = included_name(line, stop ?: end, &name_length);
		if (name)
			buffer_printf(ret, "\t%.*s\n", (int)name_length, name);
	}
}

/* ---- making the graph ------------------------------------------------------- */

const char *const include_graph_outside[] = {
	"tools/lib/bpf/btf_iter.c",
	"tools/lib/bpf/btf_relocate.c",
	"tools/lib/bpf/relo_core.c",
	"tools/lib/bpf/relo_core.h",
	NULL,
};

/* Folders that nothing else in the kernel is compiled from; arch/ has its own rule. */
static bool is_left_out(const char *path, const char *arch)
{
	static const char *const left_out[] = {"Documentation", "tools", "samples", ".pokepatch",
					       "debian", "LICENSES"};

	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
		if (!strcmp(path, left_out[i]))
			return true;
	if (!has_prefix(path, "arch/") || strchr(path + strlen("arch/"), '/'))
		return false;
	return strcmp(path + strlen("arch/"), arch) != 0;
}

bool include_graph_leaves_out(const char *path, const char *arch)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		_free_ char *folder = xstrndup(path, (size_t)(slash - path));

		if (is_left_out(folder, arch))
			return true;
	}
	return false;
}

static struct error *add_file(const char *full, const char *path, struct buffer *ret)
{
	_free_ char *text = NULL;
	size_t length;

	TRY(file_read(full, &text, &length));
	buffer_printf(ret, "%s\n", path);
	scan_text(text, length, ret);
	return proc_check_interrupted();
}

static int compare_entries(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

struct origin {
	const char *tree, *arch;
};

static struct error *make_graph(const void *context, struct buffer *ret)
{
	const struct origin *origin = context;
	const char *tree = origin->tree, *arch = origin->arch;
	static const char *const suffixes[] = {".c", ".h", ".S", ".inc", ".uc"};
	char *roots[] = {(char *)tree, NULL};
	size_t skip = strlen(tree) + 1;
	struct error *error = NULL;
	FTSENT *entry;
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, compare_entries);

	if (!walk)
		return error_errno("cannot read %s", tree);
	while (!error && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_D && entry->fts_level &&
		    is_left_out(entry->fts_path + skip, arch))
			fts_set(walk, entry, FTS_SKIP);
		if (entry->fts_info == FTS_D || entry->fts_info == FTS_DP)
			continue;
		for (size_t i = 0; !error && i < ARRAY_SIZE(suffixes); i++)
			if (has_suffix(entry->fts_name, suffixes[i]))
				error = add_file(entry->fts_path, entry->fts_path + skip, ret);
	}
	fts_close(walk);
	for (const char *const *file = include_graph_outside; !error && *file; file++) {
		_free_ char *full = xasprintf("%s/%s", tree, *file);

		if (file_exists(full))
			error = add_file(full, *file, ret);
	}
	return error;
}

/* ---- loading it ------------------------------------------------------------- */

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static struct include_lines *lines_at(struct include_graph *graph, struct map *map,
				      const char *key)
{
	void **slot = map_slot(map, key);

	if (!*slot)
		*slot = *vec_push(&graph->lists) = xcalloc(1, sizeof(struct include_lines));
	return *slot;
}

static void add_include(struct include_graph *graph, const char *from, const char *spelled)
{
	const struct include_line line = {.from = from, .spelled = spelled};
	const char *name = last_component(spelled + 1);

	*vec_push(&lines_at(graph, &graph->included, name)->list) = line;
	*vec_push(&lines_at(graph, &graph->lines, from)->list) = line;
}

static void add_file_name(struct include_graph *graph, const char *path)
{
	void **slot;

	if (map_has(&graph->files, path))
		return;
	*map_slot(&graph->files, path) = (char *)path;
	slot = map_slot(&graph->named, last_component(path));
	if (!*slot)
		*slot = *vec_push(&graph->name_lists) = xcalloc(1, sizeof(path_list));
	*vec_push((path_list *)*slot) = path;
}

/* Add a file and the lines that follow it; text is cut into strings, which the graph borrows. */
static void add_lines(struct include_graph *graph, char *text)
{
	const char *from = NULL;

	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (*line == '\t') {
			add_include(graph, from, line + 1);
		} else {
			from = line;
			add_file_name(graph, from);
		}
	}
}

static void add_folders(struct include_graph *graph, const char *arch)
{
	/* LINUXINCLUDE in the kernel's Makefile. */
	*vec_push(&graph->folders) = xasprintf("arch/%s/include", arch);
	*vec_push(&graph->folders) = xasprintf("arch/%s/include/generated", arch);
	*vec_push(&graph->folders) = xstrdup("include");
	*vec_push(&graph->folders) = xasprintf("arch/%s/include/uapi", arch);
	*vec_push(&graph->folders) = xasprintf("arch/%s/include/generated/uapi", arch);
	*vec_push(&graph->folders) = xstrdup("include/uapi");
	*vec_push(&graph->folders) = xstrdup("include/generated/uapi");
}

struct error *include_graph_load(const char *tree, const char *arch, struct include_graph *ret)
{
	const struct origin origin = {tree, arch};

	*ret = (struct include_graph){.tree = tree};
	add_folders(ret, arch);
	TRY(tree_text_load(tree, "graph", graph_header, make_graph, &origin, &ret->text));
	add_lines(ret, ret->text);
	return NULL;
}

void include_graph_deinit(struct include_graph *graph)
{
	for (size_t i = 0; i < graph->lists.count; i++) {
		vec_deinit(&graph->lists.list[i]->list);
		free(graph->lists.list[i]);
	}
	vec_deinit(&graph->lists);
	for (size_t i = 0; i < graph->names.count; i++)
		free(graph->names.list[i]);
	vec_deinit(&graph->names);
	for (size_t i = 0; i < graph->folders.count; i++)
		free(graph->folders.list[i]);
	vec_deinit(&graph->folders);
	for (size_t i = 0; i < graph->name_lists.count; i++) {
		vec_deinit(graph->name_lists.list[i]);
		free(graph->name_lists.list[i]);
	}
	vec_deinit(&graph->name_lists);
	map_deinit(&graph->named);
	map_deinit(&graph->lines);
	map_deinit(&graph->included);
	map_deinit(&graph->files);
	free(graph->text);
	*graph = (struct include_graph){};
}

void include_graph_change(struct include_graph *graph, const char *path,
			  const struct text_lines *lines)
{
	struct buffer text = {};

	buffer_printf(&text, "%s\n", path);
	for (size_t i = 0; i < lines->count; i++)
		scan_text(lines->list[i].text, lines->list[i].length, &text);
	*vec_push(&graph->names) = text.text;
	add_lines(graph, text.text);
}

/* ---- searching -------------------------------------------------------------- */

/*
 * May the line include the file at path?
 * @ret_way: set to the way the compiler goes if it has "..": "fs/xfs/../file.h"; the caller frees
 *	it
 */
static bool may_include(const struct include_graph *graph, const struct include_line *line,
			const char *path, char **ret_way)
{
	const char *name = line->spelled + 1, *up, *tail = name;
	int folder = (int)(last_component(line->from) - line->from);

	if (line->spelled[0] == '"') {
		_free_ char *way = xasprintf("%.*s%s", folder, line->from, name);
		_free_ char *beside = path_normalise(way);

		if (beside && map_has(&graph->files, beside)) {
			if (strcmp(beside, path))
				return false;
			if (strstr(way, "../"))
				*ret_way = take_pointer(way);
			return true;
		}
	}
	for (size_t i = 0; i < graph->folders.count; i++) {
		_free_ char *way = xasprintf("%s/%s", graph->folders.list[i], name);
		_free_ char *file = path_normalise(way);

		if (!file || !map_has(&graph->files, file))
			continue;
		if (!strcmp(file, path) && strstr(way, "../"))
			*ret_way = take_pointer(way);
		return !strcmp(file, path);
	}
	while ((up = strstr(tail, "../")))
		tail = up + strlen("../");
	while (has_prefix(tail, "./"))
		tail += 2;
	size_t length = strlen(path), tail_length = strlen(tail);
	return length >= tail_length && !strcmp(path + length - tail_length, tail) &&
	       (length == tail_length || path[length - tail_length - 1] == '/');
}

static void add_reached(struct reached *ret, const char *path)
{
	if (map_has(&ret->files, path))
		return;
	*map_slot(&ret->files, path) = (char *)path;
	*vec_push(&ret->list) = path;
}

/* Every unit includes these (the kernel's Makefile, c_flags in scripts/Makefile.lib). */
static bool is_everywhere(const char *path)
{
	static const char *const files[] = {
		"include/linux/compiler-version.h",
		"include/linux/kconfig.h",
		"include/linux/compiler_types.h",
		"include/asm-generic/runtime-const.h", /* unit_add_command() */
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!strcmp(path, files[i]))
			return true;
	return false;
}

void include_graph_reach(const struct include_graph *graph, const char *path,
			 struct reached *ret, bool *ret_all)
{
	size_t first = ret->list.count;

	add_reached(ret, path);
	for (size_t i = first; i < ret->list.count; i++) {
		const char *file = ret->list.list[i];
		const struct include_lines *lines =
			map_get(&graph->included, last_component(file));

		*ret_all |= is_everywhere(file);
		for (size_t j = 0; lines && j < lines->list.count; j++) {
			char *way = NULL;

			if (may_include(graph, &lines->list.list[j], file, &way))
				add_reached(ret, lines->list.list[j].from);
			if (way)
				*vec_push(&ret->upward) = way;
		}
	}
}

/* Append the file at a path that may have "..", if there is one. */
static bool add_existing(const struct include_graph *graph, const char *way, path_list *ret)
{
	_free_ char *path = path_normalise(way);
	const char *file = path ? map_get(&graph->files, path) : NULL;

	if (file)
		*vec_push(ret) = file;
	return file != NULL;
}

static bool is_beside(const struct include_graph *graph, const struct include_line *line,
		      path_list *ret)
{
	int folder = (int)(last_component(line->from) - line->from);
	_free_ char *way = xasprintf("%.*s%s", folder, line->from, line->spelled + 1);

	return line->spelled[0] == '"' && add_existing(graph, way, ret);
}

static bool is_in_folders(const struct include_graph *graph, const struct include_line *line,
			  path_list *ret)
{
	size_t before = ret->count;

	for (size_t i = 0; ret->count == before && i < graph->folders.count; i++) {
		_free_ char *way = xasprintf("%s/%s", graph->folders.list[i], line->spelled + 1);

		add_existing(graph, way, ret);
	}
	return ret->count > before;
}

/* All files whose paths end with the name; the counterpart of may_include(). */
static void add_tails(const struct include_graph *graph, const struct include_line *line,
		      path_list *ret)
{
	const char *tail = line->spelled + 1, *up;
	const path_list *named = map_get(&graph->named, last_component(tail));

	while ((up = strstr(tail, "../")))
		tail = up + strlen("../");
	while (has_prefix(tail, "./"))
		tail += 2;
	for (size_t i = 0; named && i < named->count; i++) {
		size_t length = strlen(named->list[i]), tail_length = strlen(tail);

		if (has_suffix(named->list[i], tail) &&
		    (length == tail_length || named->list[i][length - tail_length - 1] == '/'))
			*vec_push(ret) = named->list[i];
	}
}

bool include_graph_resolve(const struct include_graph *graph, const char *from,
			   const char *spelled, path_list *ret)
{
	const struct include_line line = {.from = from, .spelled = spelled};
	size_t before = ret->count;
	bool found = is_beside(graph, &line, ret) || is_in_folders(graph, &line, ret);

	/* #include_next of the same name finds another file than this one. */
	found = found && strcmp(ret->list[before], from) != 0;
	if (!found)
		add_tails(graph, &line, ret);
	return found;
}

void include_graph_includes(const struct include_graph *graph, const char *path, path_list *ret,
			    path_list *ret_lost)
{
	const struct include_lines *lines = map_get(&graph->lines, path);

	for (size_t i = 0; lines && i < lines->list.count; i++) {
		const struct include_line *line = &lines->list.list[i];
		size_t before = ret->count;

		include_graph_resolve(graph, path, line->spelled, ret);
		if (line->spelled[0] == '"' && ret->count == before)
			*vec_push(ret_lost) = line->spelled + 1;
	}
}

void reached_deinit(struct reached *reached)
{
	for (size_t i = 0; i < reached->upward.count; i++)
		free(reached->upward.list[i]);
	vec_deinit(&reached->upward);
	vec_deinit(&reached->list);
	map_deinit(&reached->files);
}

bool include_graph_is_made(const struct include_graph *graph, const char *path, const char *name)
{
	_free_ char *folder = xstrdup(path);
	bool found = false;

	for (char *slash; !found && (slash = strrchr(folder, '/'));) {
		*slash = '\0';
		_free_ char *makefile = xasprintf("%s/%s/Makefile", graph->tree, folder);
		_free_ char *text = NULL;
		size_t length = 0;

		if (file_exists(makefile))
			error_destroy(file_read(makefile, &text, &length));
		found = text && memmem(text, length, name, strlen(name));
	}
	return found;
}
