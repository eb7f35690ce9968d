// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding the commits behind a compiler's errors; see blame.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/blame_lines.h"
#include "pokepatch-build/lines.h"

void blame_failure(struct build *build, const struct unit *unit, const char *output)
{
	const char *error = strstr(output, " error: ");
	const char *line = error ?: output;

	if (!build->options.series)
		return;
	while (line > output && line[-1] != '\n')
		line--;
	*vec_push(&blame_of(build)->failures) = (struct compile_failure){
		.unit = unit,
		.output = xstrdup(output),
		.line = one_line(xstrndup(line, strcspn(line, "\n"))),
	};
}

const struct compile_failure *blame_failures(const struct build *build, size_t *ret_count)
{
	*ret_count = build->blame ? build->blame->failures.count : 0;
	return *ret_count ? build->blame->failures.list : NULL;
}

/* Words that errors quote or lines have, and that no commit can have removed from what C has. */
static bool is_keyword(const char *word)
{
	static const char *const keywords[] = {"return", "struct", "union", "enum",
					       "void",   "int",    "char",  "const",
					       "static", "inline", "else"};

	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (!strcmp(word, keywords[i]))
			return true;
	return false;
}

/* An error in a line of a file, or in a file that the change leaves as it was (file is NULL). */
struct error_place {
	const struct unit *unit;
	const struct changed_file *file;
	size_t number;
};

/*
 * The next name that a message quotes: 'foo', or with the typographic quotes of a UTF-8 locale.
 * Moves *message behind it.  Return: the name, owned; NULL: there is no more.
 */
static char *next_quoted(const char **message, const char *end)
{
	while (*message < end) {
		const char *start = *message, *at = start;

		while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
			at++;
		*message = at < end ? at + 1 : end;
		if (at > start && at < end && (*at == '\'' || *at & 0x80))
			return xstrndup(start, (size_t)(at - start));
	}
	return NULL;
}

/* The quoted names.  A name that was removed in the function itself can be no other. */
static void blame_quoted(const struct build *build, const struct error_place *place,
			 const char *message, const char *end, struct culprits *ret)
{
	char *word;

	for (; (word = next_quoted(&message, end)); free(word)) {
		const size_t before = ret->list.count;

		if (is_keyword(word))
			continue;
		if (place->file && place->number)
			blame_removed_around(build, place->file, place->number, word, ret);
		if (ret->list.count == before)
			blame_removed_word(build, place->unit, word, false, ret);
		if (ret->list.count == before)
			blame_pasted_word(build, place->unit, word, ret);
	}
}

/*
 * The words of the line itself.  "struct inner member;" does not compile without the type, and the
 * message quotes the member alone.
 */
static void blame_words(const struct build *build, const struct error_place *place,
			const struct text_line *line, struct culprits *ret)
{
	struct word word;

	for (const char *at = line->text; next_word(&at, line->text + line->length, &word);) {
		_free_ char *name = xstrndup(word.text, word.length);

		if (!is_keyword(name))
			blame_removed_word(build, place->unit, name, true, ret);
	}
}

static void blame_line_words(const struct build *build, const struct error_place *place,
			     struct culprits *ret)
{
	const struct text_lines *lines = &place->file->new_lines;
	_free_ size_t *numbers = xcalloc(lines->count + 1, sizeof(*numbers));

	text_lines_numbers(lines, numbers);
	for (size_t i = 0; i < lines->count; i++)
		if (numbers[i] == place->number)
			blame_words(build, place, &lines->list[i], ret);
}

/*
 * Errors that a compiler reports only for the first use of a name.  Each other use that a commit
 * has added would be an error in its turn.
 */
static const struct {
	const char *text;
	bool in_file; /* the first use in a file, or else in a function */
} told_once[] = {
	{"implicit declaration of function ", true}, /* gcc */
	{"call to undeclared function ", true},	     /* clang */
	{" undeclared (first use in this function)", false},
};

/* The commits that added other lines with this word, in the file or in the function of a line. */
static void blame_uses(const struct build *build, const struct error_place *place, const char *word,
		       bool in_file, struct culprits *ret)
{
	const struct text_lines *lines = &place->file->new_lines;
	_free_ size_t *numbers = xcalloc(lines->count + 1, sizeof(*numbers));
	struct line_range range = {0, lines->count - 1};
	size_t author;

	text_lines_numbers(lines, numbers);
	for (size_t i = 0; !in_file && i < lines->count; i++)
		if (numbers[i] == place->number)
			range = definition_around(lines, i);
	for (size_t i = range.first; i <= range.last && i < lines->count; i++)
		if (line_has_word(&lines->list[i], word) &&
		    blame_line_author(build->blame, &lines->list[i], &author))
			culprits_add(ret, author);
}

/* The commits that use a name as the one does in whose line the compiler has found an error. */
static void blame_more_uses(const struct build *build, const struct error_place *place,
			    const char *message, const char *end, struct culprits *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(told_once); i++) {
		_free_ char *name = NULL;
		const char *at = message;

		if (!memmem(message, (size_t)(end - message), told_once[i].text,
			    strlen(told_once[i].text)))
			continue;
		name = next_quoted(&at, end);
		if (name)
			blame_uses(build, place, name, told_once[i].in_file, ret);
	}
}

/* "fs/file.c:12:5: error: ...": where that is. */
static struct error_place place_of(const struct build *build, const struct unit *unit,
				   const char *line, size_t length)
{
	const char *colon = memchr(line, ':', length);
	const size_t skip = has_prefix(line, "./") ? strlen("./") : 0;
	_free_ char *path = colon ? xstrndup(line + skip, (size_t)(colon - line) - skip) : NULL;

	return (struct error_place){
		.unit = unit,
		.file = path ? changes_find(build->changes, path) : NULL,
		.number = colon ? strtoul(colon + 1, NULL, 10) : 0,
	};
}

/* An error contradicts something elsewhere; the compiler's notes with these words say where. */
static const char *const pointing[] = {
	"declared here", "defined here", "previous declaration", "previous definition", /* both */
	"in definition of macro", "but argument is of type",	/* gcc */
	"expanded from macro",					/* clang */
};

static bool is_pointing(const char *line, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(pointing); i++)
		if (memmem(line, length, pointing[i], strlen(pointing[i])))
			return true;
	return false;
}

/*
 * The commits that change what the notes behind an error point to.  The line is surer than all of
 * the declaration.
 */
static void blame_notes(const struct build *build, const struct unit *unit, const char *line,
			struct culprits *ret)
{
	for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const size_t length = strcspn(line, "\n");
		struct error_place place;

		if (memmem(line, length, " error: ", strlen(" error: ")))
			return;
		if (!memmem(line, length, " note: ", strlen(" note: ")) ||
		    !is_pointing(line, length))
			continue;
		place = place_of(build, unit, line, length);
		for (int around = 0; around <= 1 && !ret->list.count; around++)
			if (place.file && place.number)
				blame_number(build, place.file, place.number, around, ret);
	}
}

/*
 * An error in a macro of a header comes from the line that uses the macro, which gcc's notes name,
 * the innermost first.
 */
static void blame_expansions(const struct build *build, const struct unit *unit, const char *line,
			     struct culprits *ret)
{
	static const char expansion[] = " note: in expansion of macro ";

	for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const size_t length = strcspn(line, "\n");
		struct error_place place;

		if (memmem(line, length, " error: ", strlen(" error: ")))
			return;
		if (!memmem(line, length, expansion, strlen(expansion)))
			continue;
		place = place_of(build, unit, line, length);
		if (place.file && place.number)
			blame_number(build, place.file, place.number, false, ret);
	}
}

/*
 * The commits behind an error: they changed the line, or one that the notes behind it point to, or
 * removed a name that it quotes, or one that the line has, or changed lines around it.
 */
static void blame_error(const struct build *build, const struct unit *unit, const char *line,
			size_t length, struct culprits *ret)
{
	const char *end = line + length;
	const struct error_place place = place_of(build, unit, line, length);
	struct culprits found = {0};

	if (place.file && place.number)
		blame_number(build, place.file, place.number, false, &found);
	if (found.list.count)
		blame_more_uses(build, &place, line, end, &found);
	if (!found.list.count)
		blame_notes(build, unit, end + (*end == '\n'), &found);
	if (!found.list.count)
		blame_expansions(build, unit, end + (*end == '\n'), &found);
	if (!found.list.count)
		blame_quoted(build, &place, line, end, &found);
	if (!found.list.count && place.file && place.number)
		blame_line_words(build, &place, &found);
	if (!found.list.count && place.file && place.number)
		blame_number(build, place.file, place.number, true, &found);
	for (size_t i = 0; i < found.list.count; i++)
		culprits_add(ret, found.list.list[i]);
	culprits_deinit(&found);
}

/*
 * An error in a header that commits change comes from them, and not from the source that includes
 * it.  In another header, it may come from any use of its macros.
 */
static void blame_error_header(const struct build *build, const struct compile_failure *failure,
			       struct culprits *ret)
{
	const struct error_place place =
		place_of(build, failure->unit, failure->line, strlen(failure->line));

	/* Without an error, the line may be any of the compiler's. */
	if (strstr(failure->line, " error: ") && place.file && has_suffix(place.file->path, ".h"))
		blame_path(build, place.file->path, ret);
}

void blame_compile(const struct build *build, const struct compile_failure *failure,
		   struct culprits *ret)
{
	const char *line = failure->output;

	*ret = (struct culprits){0};
	while (*line) {
		const size_t length = strcspn(line, "\n");

		if (memmem(line, length, " error: ", strlen(" error: ")))
			blame_error(build, failure->unit, line, length, ret);
		line += length + (line[length] == '\n');
	}
	if (culprits_settle(ret, BLAME_LINES))
		return;
	blame_error_header(build, failure, ret);
	for (size_t i = 0; !ret->list.count && i < failure->unit->nr_changed_files; i++)
		blame_path(build, failure->unit->changed_files[i], ret);
	culprits_settle(ret, BLAME_FILE);
}
