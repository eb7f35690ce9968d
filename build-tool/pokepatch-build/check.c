// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Phase: read the finished module again and check what the module loader and
 * the core will rely on; only then does it get its final name.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "pokepatch-build/comparison.h"
#include "object/object.h"

struct checker {
	struct build *build;
	struct object object;
	struct symvers core_symvers;
};

static struct error *wrong(const struct checker *checker, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

static struct error *wrong(const struct checker *checker, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	char *text _free_ = xvasprintf(format, arguments);
	va_end(arguments);
	return error_new(STATUS_FAILED,
			 "%s: the finished module is wrong: %s; this is a bug in pokepatch-build",
			 checker->object.path, text);
}

/* Value of a key in NUL-separated "key=value" strings, or NULL. */
static const char *modinfo_value(const struct object *object, const char *key)
{
	const struct section *modinfo = object_find_section(object, ".modinfo");
	size_t length = strlen(key);

	for (uint64_t at = 0; modinfo && at < modinfo->size;) {
		const char *line = (const char *)modinfo->data + at;
		uint64_t room = modinfo->size - at, size = strnlen(line, room);

		if (size == room)
			return NULL; /* not terminated */
		if (!strncmp(line, key, length) && line[length] == '=')
			return line + length + 1;
		at += size + 1;
	}
	return NULL;
}

static struct error *expect_modinfo(const struct checker *checker, const char *key,
				    const char *expected)
{
	const char *value = modinfo_value(&checker->object, key);

	if (!value || !expected || strcmp(value, expected))
		return wrong(checker, "modinfo %s is '%s', not '%s'", key, value ?: "(none)",
			     expected ?: "(none)");
	return NULL;
}

static struct error *check_modinfo(const struct checker *checker)
{
	struct object core;

	TRY(expect_modinfo(checker, "license", "GPL"));
	TRY(expect_modinfo(checker, "depends", "pokepatch"));
	TRY(expect_modinfo(checker, "pokepatch_kernel", checker->build->release));
	/* The core was built by kbuild against the same headers. */
	TRY(object_read(checker->build->core.ko, &core));
	struct error *error =
		expect_modinfo(checker, "vermagic", modinfo_value(&core, "vermagic"));
	object_deinit(&core);
	return error;
}

static struct error *check_undefined(const struct checker *checker)
{
	for (size_t i = 1; i < checker->object.symbols.count; i++) {
		const struct symbol *symbol = checker->object.symbols.list[i];

		if (symbol->section || symbol->special != SHN_UNDEF)
			continue;
		if (!symvers_provide(&checker->build->comparison->symvers, &checker->core_symvers,
				     symbol->name))
			return wrong(checker, "symbol '%s' is undefined and not exported by vmlinux",
				     symbol->name);
	}
	return NULL;
}

static int offset_order(const struct reloc *reloc, uint64_t offset)
{
	return reloc->offset < offset ? -1 : reloc->offset > offset;
}

static const struct reloc *reloc_at(const struct section *section, uint64_t offset)
{
	return sorted_find(section->relocs.list, section->relocs.count, offset, offset_order);
}

/* That of an address in a table of ours. */
static const struct reloc *address_at(const struct checker *checker, const struct section *section,
				      uint64_t field)
{
	return reloc_at(section, arch_wide_address(checker->object.arch, field));
}

/* A table that the image points to: its section and place, checked to lie in it. */
static struct error *find_table(const struct checker *checker, const struct section *image,
				size_t pointer, uint64_t size, const struct section **ret,
				uint64_t *ret_offset)
{
	const struct reloc *reloc = address_at(checker, image, pointer);

	*ret = NULL;
	*ret_offset = 0;
	if (!size)
		return NULL;
	if (!reloc || !reloc->symbol->section)
		return wrong(checker, "a table of the image has no address");
	*ret = reloc->symbol->section;
	*ret_offset = reloc->symbol->value + reloc->addend;
	if (*ret_offset > (*ret)->size || size > (*ret)->size - *ret_offset)
		return wrong(checker, "a table of the image reaches beyond section %s",
			     (*ret)->name);
	return NULL;
}

static struct error *check_function(const struct checker *checker, const struct section *table,
				    uint64_t at, uint32_t symbols)
{
	const struct reloc *reloc =
		address_at(checker, table, at + offsetof(struct pokepatch_func, new_addr));
	const unsigned char *row = table->data + at;
	const struct object *object = &checker->object;

	if (!reloc || !reloc->symbol->section || !section_is_text(reloc->symbol->section))
		return wrong(checker, "a function's new address is not in code");
	if (object_get32(object, row + offsetof(struct pokepatch_func, symbol)) >= symbols)
		return wrong(checker, "a function has no symbol of the parent");
	return NULL;
}

static struct error *check_reloc(const struct checker *checker, const struct section *table,
				 uint64_t at, uint32_t symbols)
{
	const struct object *object = &checker->object;
	const struct reloc *where =
		address_at(checker, table, at + offsetof(struct pokepatch_reloc, where));
	const unsigned char *row = table->data + at;
	uint32_t type = object_get32(object, row + offsetof(struct pokepatch_reloc, type));
	const struct reloc_kind *kind = arch_reloc(object->arch, type);

	if (!where || !where->symbol->section || !kind)
		return wrong(checker, "a relocation has no place or an unknown type %u", type);
	const struct section *section = where->symbol->section;
	uint64_t offset = where->symbol->value + where->addend;
	if (offset > section->size || kind->size > section->size - offset)
		return wrong(checker, "a relocation lies outside section %s", section->name);
	/* A branch's key has one until the core makes the other. */
	if (reloc_at(section, offset) &&
	    !(object->arch->loader.reads_keys && !strcmp(section->name, "__jump_table")))
		return wrong(checker, "two relocations at offset %lu of section %s", offset,
			     section->name);
	if (object_get32(object, row + offsetof(struct pokepatch_reloc, symbol)) >= symbols)
		return wrong(checker, "a relocation has no symbol");
	return NULL;
}

static struct error *check_callback(const struct checker *checker, const struct section *table,
				    uint64_t at, uint32_t objects)
{
	const struct reloc *reloc =
		address_at(checker, table, at + offsetof(struct pokepatch_callback, func));
	const struct object *object = &checker->object;
	const unsigned char *row = table->data + at;

	if (!reloc || !reloc->symbol->section || !section_is_text(reloc->symbol->section))
		return wrong(checker, "a callback's address is not in code");
	if (object_get32(object, row + offsetof(struct pokepatch_callback, object)) >= objects ||
	    object_get32(object, row + offsetof(struct pokepatch_callback, kind)) >=
		    POKEPATCH_CALLBACK_KINDS)
		return wrong(checker, "a callback is of no known kind or object");
	return NULL;
}

static struct error *check_image(const struct checker *checker)
{
	const struct object *object = &checker->object;
	const struct section *image = object_find_section(object, POKEPATCH_SECTION_IMAGE);
	const struct section *funcs, *relocs, *callbacks;
	uint64_t funcs_at, relocs_at, callbacks_at;

	if (!image || image->size < sizeof(struct pokepatch_image))
		return wrong(checker, "no section %s", POKEPATCH_SECTION_IMAGE);
#define COUNT(field) object_get32(object, image->data + offsetof(struct pokepatch_image, field))
	uint32_t symbols = COUNT(nr_symbols), nr_funcs = COUNT(nr_funcs);
	uint32_t nr_relocs = COUNT(nr_relocs), nr_callbacks = COUNT(nr_callbacks);
	uint32_t objects = COUNT(nr_objects);
#undef COUNT
	TRY(find_table(checker, image, offsetof(struct pokepatch_image, funcs),
		       nr_funcs * sizeof(struct pokepatch_func), &funcs, &funcs_at));
	TRY(find_table(checker, image, offsetof(struct pokepatch_image, relocs),
		       nr_relocs * sizeof(struct pokepatch_reloc), &relocs, &relocs_at));
	TRY(find_table(checker, image, offsetof(struct pokepatch_image, callbacks),
		       nr_callbacks * sizeof(struct pokepatch_callback), &callbacks,
		       &callbacks_at));
	if (!nr_funcs)
		return wrong(checker, "no functions");
	for (uint32_t i = 0; i < nr_funcs; i++)
		TRY(check_function(checker, funcs,
				   funcs_at + i * sizeof(struct pokepatch_func), symbols));
	for (uint32_t i = 0; i < nr_relocs; i++)
		TRY(check_reloc(checker, relocs,
				relocs_at + i * sizeof(struct pokepatch_reloc), symbols));
	for (uint32_t i = 0; i < nr_callbacks; i++)
		TRY(check_callback(checker, callbacks,
				   callbacks_at + i * sizeof(struct pokepatch_callback),
				   objects));
	return NULL;
}

struct error *check_module(struct build *build)
{
	struct checker checker = {.build = build};

	TRY(symvers_read(build->core.symvers, &checker.core_symvers));
	struct error *error = object_read(build->ko, &checker.object);
	if (!error) {
		error = check_modinfo(&checker);
		if (!error)
			error = check_undefined(&checker);
		if (!error)
			error = check_image(&checker);
		object_deinit(&checker.object);
	}
	symvers_deinit(&checker.core_symvers);
	return error;
}

struct error *write_module(struct build *build)
{
	return file_copy(build->ko, build->output);
}
