// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Phase: add the markers of --mark-functions to the source text: at a function's entry, with the
 * arguments, and at each return, with the value.
 *
 * The DWARF of the unit's exact object tells where the function is and what its parameters are
 * called.  The changed body begins like this:
 *
 *	#define return return pokepatch_value_ =
 *		__typeof__((f)(a, b)) pokepatch_value_ __attribute__((cleanup(pokepatch_return_f)));
 *		char pokepatch_entry_ = ({ POKEPATCH_MARK(f_entry, "a=%px b=%d", ...); (char)0; });
 *
 * and an #undef follows the body.  Every return statement, also one in a macro, thus stores its
 * value in pokepatch_value_, and the compiler calls pokepatch_return_f() after it, on every way out
 * of the function.  pokepatch_return_f() has the other marker.  It is in a header that we write and
 * that the compiler includes before the source.
 */
#include <ctype.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/body.h"
#include "pokepatch-build/build.h"
#include "object/debuginfo.h"
#include "pokepatch-build/dwarf_units.h"
#include "object/object.h"
#include "pokepatch-build/changes.h"

/* How to print a value. */
struct kind {
	const char *format; /* NULL: do not print it (a structure, a floating-point number) */
	const char *cast;   /* to the type that the format expects */
	const char *type;   /* of the value's size and sign, for reading it by its address */
};

static const struct kind no_kind, pointer_kind = {"%px", "(void *)(unsigned long)", "void *"};
/* Index: log2 of the size in bytes. */
static const struct kind signed_kinds[] = {
	{"%d", "(int)", "signed char"},
	{"%d", "(int)", "short"},
	{"%d", "(int)", "int"},
	{"%lld", "(long long)", "long long"},
};
static const struct kind unsigned_kinds[] = {
	{"%u", "(unsigned int)", "unsigned char"},
	{"%u", "(unsigned int)", "unsigned short"},
	{"%u", "(unsigned int)", "unsigned int"},
	{"%llu", "(unsigned long long)", "unsigned long long"},
};

struct parameter {
	const char *name;
	const struct kind *kind;
};

/* A function to mark.  The strings belong to DWARF. */
struct marked {
	const char *name;
	struct changed_file *file; /* NULL until it is found */
	size_t line; /* of its name, from 1 */
	VEC(struct parameter) parameters;
	bool returns; /* it returns a value */
	const struct kind *result; /* how to print that */
	bool unnamed; /* a parameter has no name */
};

/* ---- reading DWARF ------------------------------------------------------------------ */

static const struct kind *number_kind(Dwarf_Die *type, bool is_signed)
{
	int size = dwarf_bytesize(type);

	for (size_t i = 0; i < ARRAY_SIZE(signed_kinds); i++)
		if (size == 1 << i)
			return is_signed ? &signed_kinds[i] : &unsigned_kinds[i];
	return &no_kind;
}

static bool get_type(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, ret);
}

/* How to print what @die declares; NULL if that has no type, like a function that returns void. */
static const struct kind *kind_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0;
	Dwarf_Die type, below;

	if (!get_type(die, &type) || dwarf_peel_type(&type, &type))
		return NULL;
	switch (dwarf_tag(&type)) {
	case DW_TAG_pointer_type:
		return &pointer_kind;
	case DW_TAG_enumeration_type:
		/* clang and newer gcc tell the type that holds the enumeration. */
		if (get_type(&type, &below) && !dwarf_peel_type(&below, &below))
			type = below;
		else
			return number_kind(&type, true);
		/* fall through */
	case DW_TAG_base_type:
		dwarf_formudata(dwarf_attr(&type, DW_AT_encoding, &attribute), &encoding);
		if (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char)
			return number_kind(&type, true);
		if (encoding == DW_ATE_unsigned || encoding == DW_ATE_unsigned_char ||
		    encoding == DW_ATE_boolean || encoding == DW_ATE_UTF)
			return number_kind(&type, false);
		return &no_kind;
	default:
		return &no_kind;
	}
}

static void read_parameters(Dwarf_Die *function, struct marked *ret)
{
	Dwarf_Die child;

	if (dwarf_child(function, &child))
		return;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		struct parameter *parameter = vec_push(&ret->parameters);
		const struct kind *kind = kind_of(&child);

		parameter->name = dwarf_diename(&child);
		parameter->kind = kind ? kind : &no_kind;
		ret->unnamed |= !parameter->name;
	} while (!dwarf_siblingof(&child, &child));
}

/* The changed file for a path in DWARF, which may be absolute; or NULL. */
static struct changed_file *file_of(struct changes *changes, const char *path)
{
	for (size_t i = 0; path && i < changes->files.count; i++) {
		struct changed_file *file = &changes->files.list[i];

		if (has_suffix(path, file->path) &&
		    (strlen(path) == strlen(file->path) ||
		     path[strlen(path) - strlen(file->path) - 1] == '/'))
			return file;
	}
	return NULL;
}

/*
 * Is @die the definition of the function, in a changed file?  Then set file and line.  If another
 * file has the definition, set *ret_elsewhere to its path.
 */
static bool is_definition(struct build *build, Dwarf_Die *die, struct marked *ret,
			  const char **ret_elsewhere)
{
	const char *name = dwarf_diename(die), *path = dwarf_decl_file(die);
	int line;

	if (dwarf_tag(die) != DW_TAG_subprogram || !name || strcmp(name, ret->name) ||
	    dwarf_hasattr(die, DW_AT_declaration) || dwarf_decl_line(die, &line) || line <= 0)
		return false;
	ret->file = file_of(build->changes, path);
	ret->line = (size_t)line;
	if (!ret->file)
		*ret_elsewhere = path;
	return ret->file;
}

/* Find the function's definition in a unit's DWARF; @ret->file stays NULL if there is none. */
static void find_function(struct build *build, Dwarf *dwarf, struct marked *ret,
			  const char **ret_elsewhere)
{
	struct dwarf_units units = {.dwarf = dwarf};
	Dwarf_Die unit, die;

	while (dwarf && dwarf_units_next(&units, &unit)) {
		if (dwarf_child(&unit, &die))
			continue;
		do {
			if (!is_definition(build, &die, ret, ret_elsewhere))
				continue;
			ret->result = kind_of(&die);
			ret->returns = ret->result != NULL;
			read_parameters(&die, ret);
			return;
		} while (!dwarf_siblingof(&die, &die));
	}
}

/*
 * The section of the function, if code there must not call other functions or the kernel discards
 * it after use; NULL if the function can be marked.
 */
static const char *unfit_section(const struct object *object, const char *name)
{
	static const char *const unfit[] = {".noinstr.text", ".entry.text", ".init.text",
					    ".exit.text", ".head.text"};

	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];

		if (!symbol->section || strcmp(symbol->name, name))
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(unfit); j++)
			if (!strcmp(symbol->section->name, unfit[j]))
				return unfit[j];
	}
	return NULL;
}

/* ---- writing the markers ------------------------------------------------------------ */

static void refuse(struct build *build, const struct marked *marked, const char *why)
{
	_free_ char *place = marked->file && marked->line
				     ? xasprintf("%s:%zu", marked->file->path, marked->line)
				     : NULL;

	refusals_add(&build->refusals, "function-not-marked", place, marked->name,
		     "--mark-functions: '%s': %s; put POKEPATCH_MARK() into it with a diff",
		     marked->name, why);
}

static void add_text(struct changed_file *file, struct text_lines *lines, char *text)
{
	*vec_push(&file->added) = text;
	*vec_push(lines) = (struct text_line){.text = text, .length = strlen(text)};
}

/* Add a piece of a line, which keeps its number. */
static void add_piece(struct text_lines *lines, const struct text_line *line, size_t from,
		      size_t to)
{
	if (from == to)
		return;
	*vec_push(lines) = (struct text_line){
		.text = line->text + from, .length = to - from, .origin = line->origin};
}

static char *entry_text(const struct marked *marked)
{
	struct buffer format = {0}, arguments = {0};

	for (size_t i = 0; i < marked->parameters.count; i++) {
		const struct parameter *parameter = &marked->parameters.list[i];

		buffer_printf(&format, "%s%s=%s", i ? " " : "", parameter->name,
			      parameter->kind->format ? parameter->kind->format : "?");
		if (parameter->kind->format)
			buffer_printf(&arguments, ", %s(%s)", parameter->kind->cast,
				      parameter->name);
	}
	char *text = xasprintf("\tchar pokepatch_entry_ __attribute__((unused)) = ({ "
			       "POKEPATCH_MARK(%s_entry, \"%s\"%s); (char)0; });",
			       marked->name, format.text ? format.text : "(void)",
			       arguments.text ? arguments.text : "");
	buffer_deinit(&format);
	buffer_deinit(&arguments);
	return text;
}

static char *value_text(const struct marked *marked)
{
	struct buffer arguments = {0};

	if (!marked->returns || !marked->result->format)
		return xasprintf("\tchar pokepatch_value_ __attribute__((unused, "
				 "cleanup(pokepatch_return_%s)));", marked->name);
	for (size_t i = 0; i < marked->parameters.count; i++)
		buffer_printf(&arguments, "%s%s", i ? ", " : "", marked->parameters.list[i].name);
	char *text = xasprintf("\t__typeof__((%s)(%s)) pokepatch_value_ "
			       "__attribute__((cleanup(pokepatch_return_%s)));",
			       marked->name, arguments.text ? arguments.text : "", marked->name);
	buffer_deinit(&arguments);
	return text;
}

/* Replace the file's new text by one with the lines that begin and end the function's body. */
static void put_marks(const struct marked *marked, const struct body *body)
{
	struct changed_file *file = marked->file;
	const struct text_lines *old = &file->new_lines;
	const struct text_line *open = &old->list[body->open_line];
	const struct text_line *close = &old->list[body->close_line];
	bool value = marked->returns && marked->result->format;
	struct text_lines new = {.no_newline = old->no_newline};
	size_t from = body->open_line == body->close_line ? body->open_column : 0;

	for (size_t i = 0; i < body->open_line; i++)
		*vec_push(&new) = old->list[i];
	add_piece(&new, open, 0, body->open_column);
	if (value)
		add_text(file, &new, xstrdup("#define return return pokepatch_value_ ="));
	add_text(file, &new, value_text(marked));
	add_text(file, &new, entry_text(marked));
	if (body->open_line != body->close_line)
		add_piece(&new, open, body->open_column, open->length);
	for (size_t i = body->open_line + 1; i < body->close_line; i++)
		*vec_push(&new) = old->list[i];
	add_piece(&new, close, from, body->close_column);
	if (value)
		add_text(file, &new, xstrdup("#undef return"));
	add_piece(&new, close, body->close_column, close->length);
	for (size_t i = body->close_line + 1; i < old->count; i++)
		*vec_push(&new) = old->list[i];
	text_lines_deinit(&file->new_lines);
	file->new_lines = new;
}

static void add_return_mark(const struct marked *marked, struct buffer *header)
{
	const struct kind *kind = marked->returns ? marked->result : NULL;

	buffer_printf(header,
		      "#line %zu \"%s\"\n"
		      "static inline __attribute__((always_inline, unused)) void "
		      "pokepatch_return_%s(const void *value) { ",
		      marked->line, marked->file->path, marked->name);
	if (kind && kind->format)
		buffer_printf(header, "POKEPATCH_MARK(%s_return, \"%s\", %s*(%s const *)value); }\n",
			      marked->name, kind->format, kind->cast, kind->type);
	else
		buffer_printf(header, "POKEPATCH_MARK(%s_return, \"(%s)\"); }\n", marked->name,
			      kind ? "not shown" : "void");
}

/*
 * Is this line, above a function's name, likely to belong to the same declaration?  A blank line, a
 * directive, and what ends a definition, a statement or a comment do not.
 */
static bool is_of_declaration(const struct text_line *line)
{
	size_t end = line->length;

	while (end && isspace((unsigned char)line->text[end - 1]))
		end--;
	return end && line->text[0] != '#' && !strchr(";}/", line->text[end - 1]);
}

/*
 * Do the diffs leave the function's declaration as it is, from the lines above its name to the
 * opening brace?  Its parameters and its result are known from the unit as it was.
 */
static bool keeps_declaration(const struct text_lines *lines, size_t name, size_t brace)
{
	size_t first = name;

	while (first && is_of_declaration(&lines->list[first - 1]))
		first--;
	for (size_t i = first; i < brace; i++)
		if (!lines->list[i].origin || lines->list[i + 1].origin != lines->list[i].origin + 1)
			return false;
	return true;
}

static void mark(struct build *build, struct marked *marked, struct buffer *header)
{
	const struct text_lines *lines = &marked->file->new_lines;
	struct body body;
	size_t first = 0;

	while (first < lines->count && lines->list[first].origin != marked->line)
		first++;
	const char *why = marked->unnamed ? "a parameter has no name"
			  : first == lines->count
				  ? "the diffs change the line with its name"
				  : body_find(lines, first, marked->name, &body);
	if (!why && !keeps_declaration(lines, first, body.open_line))
		why = "the diffs change its declaration";
	if (why) {
		refuse(build, marked, why);
		return;
	}
	put_marks(marked, &body);
	add_return_mark(marked, header);
}

/* ---- the phase ---------------------------------------------------------------------- */

/*
 * Find the function in all units and mark it.  Refuse it if several units compile its file: the
 * types may differ between the units, but they share one text.
 */
static struct error *mark_name(struct build *build, struct object *objects, const char *name,
			       struct buffer *header)
{
	struct marked found = {.name = name};
	const char *elsewhere = NULL, *section = NULL;
	const struct changed_file *other = NULL;
	size_t count = 0;

	for (size_t i = 0; i < build->nr_units; i++) {
		struct marked marked = {.name = name};

		if (build->units[i].shares)
			continue;
		find_function(build, debuginfo_dwarf(debuginfo_of(&objects[i])), &marked, &elsewhere);
		if (!marked.file)
			continue;
		count++;
		if (found.file && found.file != marked.file)
			other = found.file;
		section = section ? section : unfit_section(&objects[i], name);
		vec_deinit(&found.parameters);
		found = marked;
	}
	_free_ char *why =
		!count && elsewhere ? xasprintf("it is defined in %s", elsewhere)
		: !count ? xstrdup("the files define no such function, or the compiler removed it")
		: count > 1 && other ? xasprintf("%s has one of that name, too", other->path)
		: count > 1 ? xstrdup("several units compile its file")
		: section ? xasprintf("it is in section %s, where markers are not allowed", section)
			  : NULL;
	if (why)
		refuse(build, &found, why);
	else
		mark(build, &found, header);
	vec_deinit(&found.parameters);
	return NULL;
}

static struct error *write_header(struct build *build, const struct buffer *header)
{
	build->marks_header = xasprintf("%s/marks.h", build->work);
	return file_write_scratch(build->marks_header, header->text ? header->text : "", header->length);
}

static struct error *mark_all(struct build *build, struct object *objects)
{
	struct buffer header = {0};
	struct map seen = {0};
	VEC(char *) lists = {0};
	struct error *error = NULL;

	for (size_t i = 0; !error && i < build->options.mark_functions.count; i++) {
		char *rest = *vec_push(&lists) = xstrdup(build->options.mark_functions.list[i]);
		char *name;

		while (!error && (name = strsep(&rest, ", \t\n"))) {
			if (!*name || map_has(&seen, name))
				continue;
			map_slot(&seen, name);
			error = mark_name(build, objects, name, &header);
		}
	}
	if (!error)
		error = write_header(build, &header);
	buffer_deinit(&header);
	map_deinit(&seen);
	for (size_t i = 0; i < lists.count; i++)
		free(lists.list[i]);
	vec_deinit(&lists);
	return error;
}

struct error *mark_functions(struct build *build)
{
	struct object *objects;
	struct error *error = NULL;
	size_t read = 0;

	if (!build->options.mark_functions.count)
		return NULL;
	objects = xcalloc(build->nr_units + 1, sizeof(*objects));
	while (!error && read < build->nr_units) {
		if (!build->units[read].is_new)
			error = object_read(build->units[read].exact_object, &objects[read]);
		read += !error;
	}
	if (!error)
		error = mark_all(build, objects);
	for (size_t i = 0; i < read; i++)
		object_deinit(&objects[i]);
	free(objects);
	return error ? error : build_check_refusals(build);
}
