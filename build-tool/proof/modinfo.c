// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module's modinfo, line by line, and the symbols that it asks the loader for: each is exported
 * and, with MODVERSIONS, has the kernel's version.
 */
#include "proof/proof_modinfo.h"

#include <stdlib.h>
#include <string.h>

#include "proof/proof_check.h"
#include "pokepatch_format.h"

/* Count the lines of a modinfo section that the module must have; returns how many. */
static size_t expect_lines(struct map *expected, const struct section *modinfo)
{
	size_t count = 0;

	for (uint64_t at = 0; modinfo && modinfo->data && at < modinfo->size;) {
		const char *line = (const char *)modinfo->data + at;
		size_t length = strnlen(line, modinfo->size - at);

		if (length && length < modinfo->size - at) {
			void **slot = map_slot(expected, line);

			*slot = (void *)((uintptr_t)*slot + 1);
			count++;
		}
		at += length + 1;
	}
	return count;
}

static void add_namespaces(const struct check *check, struct buffer *out, struct map *seen)
{
	for (size_t i = 1; i < check->object.symbols.count; i++) {
		const struct symbol *symbol = check->object.symbols.list[i];
		const struct export *export =
			symbol->section ? NULL : symvers_find(&check->proof->symvers, symbol->name);

		if (!export || !*export->namespace || map_has(seen, export->namespace))
			continue;
		*map_slot(seen, export->namespace) = NULL;
		buffer_printf(out, "import_ns=%s%c", export->namespace, 0);
	}
}

static struct error *check_lines(struct check *check, const struct section *modinfo,
				 struct map *expected, size_t wanted)
{
	size_t found = 0;

	for (uint64_t at = 0; at < modinfo->size;) {
		const char *line = (const char *)modinfo->data + at;
		size_t length = strnlen(line, modinfo->size - at);

		if (length == modinfo->size - at)
			return wrong(check, "modinfo does not end");
		if (has_prefix(line, "alias="))
			return wrong(check, "modinfo has '%s', for which udev would load it", line);
		if (length) {
			void **slot = map_has(expected, line) ? map_slot(expected, line) : NULL;

			if (!slot || !*slot)
				return wrong(check, "modinfo has an unexpected '%s'", line);
			*slot = (void *)((uintptr_t)*slot - 1);
			found++;
		}
		at += length + 1;
	}
	if (found != wanted)
		return wrong(check, "modinfo has %zu lines, not %zu", found, wanted);
	return modinfo->relocs.count ? wrong(check, "modinfo is relocated") : NULL;
}

/* The string in vmlinux that the loader compares modinfo's vermagic with. */
static const char *kernel_vermagic(const struct proof *proof)
{
	static const char *const names[] = {"vermagic"}; /* kernel/module/main.c */
	struct symtab *vmlinux = proof->parents.list[0];

	symtab_load(vmlinux, names, 1);
	const struct known_symbol *symbol = symtab_get(vmlinux, names[0]);
	const unsigned char *bytes = symbol ? symtab_bytes(vmlinux, symbol) : NULL;
	return bytes && memchr(bytes, 0, symbol->size) ? (const char *)bytes : NULL;
}

/*
 * The glue and modpost's part bring these lines.  With another license the module gets no GPL-only
 * symbols, without that dependency the core may not be loaded, and with another vermagic the
 * loader refuses the module.
 */
static struct error *check_brought_lines(const struct check *check, const struct map *expected)
{
	const char *magic = kernel_vermagic(check->proof);
	char *vermagic _free_ = xasprintf("vermagic=%s", magic ?: "");
	char *name _free_ = xasprintf("name=pokepatch_%s", check->proof->input->name);
	/* The kernel's livepatch core knows its modules by a line, which the glue brings. */
	const bool livepatch = check->proof->input->livepatch;
	const char *const depends = livepatch ? "depends=" : "depends=pokepatch";
	const char *const lines[] = {"license=GPL", depends, vermagic, name, "livepatch=Y"};
	const size_t nr_lines = livepatch ? ARRAY_SIZE(lines) : ARRAY_SIZE(lines) - 1;

	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';

	if (!magic)
		return wrong(check, "vmlinux has no vermagic to compare modinfo with");
	for (size_t i = 0; i < nr_lines; i++)
		if (map_get(expected, lines[i]) != (void *)1)
			return wrong(check, "modinfo lacks '%s'", lines[i]);
	return NULL;
}

struct error *modinfo_check(struct check *check)
{
	const struct proof_input *input = check->proof->input;
	const struct section *modinfo = object_find_section(&check->object, ".modinfo");
	const struct symtab *vmlinux = check->proof->parents.list[0];
	struct buffer own = {0};
	struct map expected = {0}, seen = {0};

	if (!modinfo || !modinfo->data)
		return wrong(check, "it has no modinfo");
	TRY(check_constant(check, modinfo));
	TRY(extent_add(check, modinfo, 0, modinfo->size, 1, PLACED, ".modinfo"));
	buffer_printf(&own, "pokepatch=%u%cpokepatch_kernel=%s%cpokepatch_source=%s%c",
		      POKEPATCH_FORMAT, 0, input->release, 0, input->source, 0);
	buffer_add_string(&own, "pokepatch_build_id=");
	for (uint32_t i = 0; i < vmlinux->build_id_length; i++)
		buffer_printf(&own, "%02x", vmlinux->build_id[i]);
	buffer_add(&own, "", 1);
	for (size_t i = 0; i < input->about.count; i++)
		buffer_add(&own, input->about.list[i], strlen(input->about.list[i]) + 1);
	add_namespaces(check, &own, &seen);
	map_deinit(&seen);

	struct section lines = {.data = (unsigned char *)own.text, .size = own.length};
	size_t count = expect_lines(&expected, &lines);
	for (size_t i = 0; i < check->proof->sources.count; i++)
		if (check->proof->sources.list[i]->whole)
			count += expect_lines(
				&expected,
				object_find_section(&check->proof->sources.list[i]->object,
						    ".modinfo"));
	struct error *error = check_brought_lines(check, &expected);
	if (!error)
		error = check_lines(check, modinfo, &expected, count);
	map_deinit(&expected);
	buffer_deinit(&own);
	return error;
}

/* struct modversion_info, linux/module.h: the CRC and the name of a symbol. */
#define VERSION_SIZE 64

struct error *versions_check(struct check *check)
{
	const struct section *versions = object_find_section(&check->object, "__versions");
	struct map seen = {0};
	struct error *error = NULL;

	/* A kernel without MODVERSIONS has no such section. */
	for (uint64_t at = 0; !error && versions && at + VERSION_SIZE <= versions->size;
	     at += VERSION_SIZE) {
		const char *name = (const char *)versions->data + at + 8;
		bool ends = memchr(name, 0, VERSION_SIZE - 8) != NULL;
		const struct export *export = ends ? symvers_find(&check->proof->symvers, name)
						   : NULL;

		if (ends && !export)
			export = symvers_find(&check->proof->core_symvers, name);
		if (!export || map_has(&seen, name) ||
		    object_get64(&check->object, versions->data + at) != export->crc)
			error = wrong(check, "the version of '%.*s' is not the kernel's",
				      VERSION_SIZE - 8, name);
		else
			*map_slot(&seen, name) = NULL;
	}
	for (size_t i = 1; !error && i < check->object.symbols.count; i++) {
		const struct symbol *symbol = check->object.symbols.list[i];

		if (symbol->section || symbol->special != SHN_UNDEF)
			continue;
		if (!proof_provides(check->proof, symbol->name))
			error = wrong(check,
				      "'%s' is undefined, and neither vmlinux nor the core "
				      "exports it",
				      symbol->name);
		else if (versions && !map_has(&seen, symbol->name))
			error = wrong(check, "'%s' is undefined and has no version", symbol->name);
	}
	map_deinit(&seen);
	return error;
}
