// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The input of the proof as text, for a folder that pokepatch-build keeps: lines "KEY VALUE".  A
 * line "unit" begins a new unit, and lines such as "orig" and "new-function" that follow it
 * belong to it.
 */
#include <stdlib.h>
#include <string.h>

#include "proof/proof.h"

static void free_reported(struct proof_reported *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i].name);
	free(list);
}

void proof_input_deinit(struct proof_input *input)
{
	for (size_t i = 0; i < input->units.count; i++) {
		struct proof_unit *unit = &input->units.list[i];

		free(unit->name);
		free(unit->parent);
		free(unit->orig);
		free(unit->patched);
		free(unit->unwound);
		free(unit->exact);
		free_reported(unit->functions.list, unit->functions.count);
		free_reported(unit->data.list, unit->data.count);
	}
	vec_deinit(&input->units);
	for (size_t i = 0; i < input->parents.count; i++) {
		free(input->parents.list[i].name);
		free(input->parents.list[i].path);
	}
	vec_deinit(&input->parents);
	for (size_t i = 0; i < input->about.count; i++)
		free(input->about.list[i]);
	vec_deinit(&input->about);
	free(input->name);
	free(input->release);
	free(input->source);
	free(input->symvers);
	free(input->core_symvers);
	free(input->glue);
	free(input->glue_unwound);
	free(input->mod);
	free(input->common);
	*input = (struct proof_input){0};
}

/* The fields that are plain strings: of the input, and of a unit. */
static const struct field {
	const char *key;
	size_t offset;
} fields[] = {
	{"name", offsetof(struct proof_input, name)},
	{"release", offsetof(struct proof_input, release)},
	{"source", offsetof(struct proof_input, source)},
	{"symvers", offsetof(struct proof_input, symvers)},
	{"core-symvers", offsetof(struct proof_input, core_symvers)},
	{"glue", offsetof(struct proof_input, glue)},
	{"glue-unwound", offsetof(struct proof_input, glue_unwound)},
	{"mod", offsetof(struct proof_input, mod)},
	{"common", offsetof(struct proof_input, common)},
}, unit_fields[] = {
	{"unit", offsetof(struct proof_unit, name)},
	{"parent-of-unit", offsetof(struct proof_unit, parent)},
	{"orig", offsetof(struct proof_unit, orig)},
	{"patched", offsetof(struct proof_unit, patched)},
	{"unwound", offsetof(struct proof_unit, unwound)},
	{"exact", offsetof(struct proof_unit, exact)},
};

static char **field_of(void *base, const struct field *field)
{
	return (char **)((char *)base + field->offset);
}

static void write_fields(struct buffer *out, const void *base, const struct field *list,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = *field_of((void *)base, &list[i]);

		if (value)
			buffer_printf(out, "%s %s\n", list[i].key, value);
	}
}

static void write_reported(struct buffer *out, const char *what, const struct proof_reported *list,
			 size_t count)
{
	for (size_t i = 0; i < count; i++)
		buffer_printf(out, "%s-%s %s\n", list[i].changed ? "changed" : "new", what,
			      list[i].name);
}

char *proof_input_write(const struct proof_input *input)
{
	struct buffer out = {0};

	write_fields(&out, input, fields, ARRAY_SIZE(fields));
	buffer_printf(&out, "mode %u\ntransition %u\nlevel %u\nleast-level %u\npinned %d\nkallsyms-all %d\n"
		      "livepatch %d\n",
		      input->mode, input->transition, input->level, input->least_level,
		      input->pinned, input->kallsyms_all, input->livepatch);
	for (size_t i = 0; i < input->about.count; i++)
		buffer_printf(&out, "about %s\n", input->about.list[i]);
	for (size_t i = 0; i < input->parents.count; i++)
		buffer_printf(&out, "parent %s %s\n", input->parents.list[i].name,
			      input->parents.list[i].path);
	for (size_t i = 0; i < input->units.count; i++) {
		const struct proof_unit *unit = &input->units.list[i];

		write_fields(&out, unit, unit_fields, ARRAY_SIZE(unit_fields));
		write_reported(&out, "function", unit->functions.list, unit->functions.count);
		write_reported(&out, "datum", unit->data.list, unit->data.count);
	}
	return out.text;
}

static bool read_field(void *base, const struct field *list, size_t count, const char *key,
		       const char *value)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i].key, key))
			continue;
		char **field = field_of(base, &list[i]);
		free(*field);
		*field = xstrdup(value);
		return true;
	}
	return false;
}

static void read_parent(struct proof_input *input, const char *value)
{
	size_t length = strcspn(value, " ");

	*vec_push(&input->parents) = (struct proof_parent){
		.name = xstrndup(value, length),
		.path = xstrdup(value + length + (value[length] == ' ')),
	};
}

static bool read_number(struct proof_input *input, const char *key, const char *value)
{
	unsigned long number = strtoul(value, NULL, 10);

	if (!strcmp(key, "mode"))
		input->mode = number;
	else if (!strcmp(key, "transition"))
		input->transition = number;
	else if (!strcmp(key, "level"))
		input->level = number;
	else if (!strcmp(key, "least-level"))
		input->least_level = number;
	else if (!strcmp(key, "pinned"))
		input->pinned = number;
	else if (!strcmp(key, "kallsyms-all"))
		input->kallsyms_all = number;
	else if (!strcmp(key, "livepatch"))
		input->livepatch = number;
	else
		return false;
	return true;
}

static bool read_line(struct proof_input *input, const char *key, const char *value)
{
	if (!strcmp(key, "unit"))
		vec_push(&input->units);
	struct proof_unit *unit =
		input->units.count ? &input->units.list[input->units.count - 1] : NULL;

	if (!strcmp(key, "parent")) {
		read_parent(input, value);
		return true;
	}
	if (!strcmp(key, "about")) {
		*vec_push(&input->about) = xstrdup(value);
		return true;
	}
	if (read_field(input, fields, ARRAY_SIZE(fields), key, value) ||
	    read_number(input, key, value) ||
	    (unit && read_field(unit, unit_fields, ARRAY_SIZE(unit_fields), key, value)))
		return true;
	struct proof_reported reported = {.changed = has_prefix(key, "changed-")};
	if (!unit || (!reported.changed && !has_prefix(key, "new-")))
		return false;
	reported.name = xstrdup(value);
	if (has_suffix(key, "-function"))
		*vec_push(&unit->functions) = reported;
	else
		*vec_push(&unit->data) = reported;
	return true;
}

struct error *proof_input_read(const char *path, struct proof_input *ret)
{
	char *text _free_ = NULL;

	*ret = (struct proof_input){0};
	TRY(file_read(path, &text, NULL));

	char *rest = text, *line;
	while ((line = strsep(&rest, "\n"))) {
		size_t length = strcspn(line, " ");
		const char *value = line + length + (line[length] == ' ');

		if (!*line)
			continue;
		line[length] = '\0';
		if (!read_line(ret, line, value)) {
			proof_input_deinit(ret);
			return error_new(STATUS_FAILED, "%s: no line begins with '%s'", path, line);
		}
	}
	return NULL;
}
