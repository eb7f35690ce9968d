// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding the commits behind an export whose CRC changes (exports.c): genksyms has named the types
 * that changed, and these are defined in changed files.
 */
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/blame_lines.h"
#include "pokepatch-build/comparison.h"

static bool line_begins(const struct text_line *line, const char *text)
{
	const size_t length = strlen(text);

	return line->length >= length && !memcmp(line->text, text, length);
}

static bool line_has(const struct text_line *line, char c)
{
	return memchr(line->text, c, line->length) != NULL;
}

/*
 * "struct inner {", also within another structure or behind typedef, or "struct inner" with the
 * brace below; not "struct inner *f(int x)", "struct inner *next;"
 */
static bool defines_tagged(const struct text_line *line, const struct text_line *head,
			   const char *type)
{
	struct text_line rest = *line;

	(void)head;
	while (rest.length && (*rest.text == ' ' || *rest.text == '\t'))
		rest.text++, rest.length--;
	if (line_begins(&rest, "typedef "))
		rest.text += strlen("typedef "), rest.length -= strlen("typedef ");
	return line_begins(&rest, type) && !line_has(line, '(') &&
	       (line_has(line, '{') || !line_has(line, ';'));
}

static bool defines_typedef(const struct text_line *line, const struct text_line *head,
			    const char *type)
{
	(void)type;
	return line_begins(head, "typedef") && (head == line || line_begins(line, "}"));
}

static bool defines_enumerator(const struct text_line *line, const struct text_line *head,
			       const char *type)
{
	(void)line;
	(void)type;
	return line_has_word(head, "enum") && !line_has(head, '(');
}

/* A function or variable, or a prototype of it */
static bool line_declares(const struct text_line *line, const struct text_line *head,
			  const char *type)
{
	(void)type;
	return head == line && !line_begins(line, "#");
}

/*
 * What genksyms calls the kinds of types (symbol_types[] of scripts/genksyms/genksyms.c), and
 * whether a line with a type's name defines it; head is the line in which the definition begins.
 */
static const struct genksyms_kind {
	const char *prefix;
	bool (*defines)(const struct text_line *line, const struct text_line *head,
			const char *type);
} genksyms_kinds[] = {
	{"struct ", defines_tagged},
	{"union ", defines_tagged},
	{"enum constant ", defines_enumerator},
	{"enum ", defines_tagged},
	{"typedef ", defines_typedef},
	{"", line_declares},
};

/* The commits that change a type's definition in a file. */
static void blame_definition(const struct build *build, const struct changed_file *file,
			     const char *type, struct culprits *ret)
{
	const struct text_lines *texts[] = {&file->new_lines, &file->old_lines};
	const struct genksyms_kind *kind = genksyms_kinds;
	const char *name;

	while (!has_prefix(type, kind->prefix))
		kind++;
	name = type + strlen(kind->prefix);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		for (size_t at = 0; at < texts[i]->count; at++) {
			const struct text_line *line = &texts[i]->list[at];
			struct line_range range;

			if (!line_has_word(line, name))
				continue;
			range = definition_around(texts[i], at);
			if (!kind->defines(line, &texts[i]->list[range.first], type))
				continue;
			if (i)
				blame_old_range(build, file, range, ret);
			else
				blame_range(build, file, range, ret);
			at = range.last;
		}
}

/* The commits behind a type, in each changed file: found once, for all exports that use it. */
static const struct type_blame *type_blame_of(const struct build *build, const char *type)
{
	struct blame *blame = build->blame;
	struct type_blame *found = map_get(&blame->by_type, type);

	if (found)
		return found;
	found = xcalloc(1, sizeof(*found));
	found->type = xstrdup(type);
	*vec_push(&blame->types) = found;
	*map_slot(&blame->by_type, found->type) = found;
	for (size_t i = 0; i < build->changes->files.count; i++) {
		const struct changed_file *file = &build->changes->files.list[i];
		struct culprits culprits = {0};

		blame_definition(build, file, type, &culprits);
		if (culprits.list.count)
			*vec_push(&found->places) = (struct type_place){file->path, culprits};
	}
	return found;
}

/* Exports come unit by unit. */
static bool unit_compiles(struct blame *blame, const struct unit *unit, const char *path)
{
	if (blame->unit != unit) {
		map_deinit(&blame->unit_files);
		blame->unit_files = (struct map){0};
		blame->unit = unit;
		for (size_t i = 0; i < unit->nr_changed_files; i++)
			map_slot(&blame->unit_files, unit->changed_files[i]);
	}
	return map_has(&blame->unit_files, path);
}

bool blame_types(const struct build *build, const struct refusal *refusal, struct culprits *ret)
{
	const struct changed_export *export =
		build->comparison
			? map_get(&build->comparison->changed_exports_by_name, refusal->subject)
			: NULL;

	for (const char *type = export ? export->types : ""; *type;) {
		const size_t length = strcspn(type, ",");
		/* Without " (became defined)". */
		_free_ char *words = xstrndup(type, strcspn(type, ",("));
		const struct type_blame *found;

		for (size_t i = strlen(words); i && words[i - 1] == ' '; i--)
			words[i - 1] = '\0';
		found = type_blame_of(build, words);
		for (size_t i = 0; i < found->places.count; i++) {
			const struct culprits *culprits = &found->places.list[i].culprits;

			if (!unit_compiles(build->blame, export->unit,
					   found->places.list[i].path))
				continue;
			for (size_t j = 0; j < culprits->list.count; j++)
				culprits_add(ret, culprits->list.list[j]);
		}
		type += length + strspn(type + length, ", ");
	}
	return export;
}

void blame_types_deinit(struct blame *blame)
{
	for (size_t i = 0; i < blame->types.count; i++) {
		struct type_blame *type = blame->types.list[i];

		for (size_t j = 0; j < type->places.count; j++)
			culprits_deinit(&type->places.list[j].culprits);
		vec_deinit(&type->places);
		free(type->type);
		free(type);
	}
	vec_deinit(&blame->types);
	map_deinit(&blame->by_type);
	map_deinit(&blame->unit_files);
}
