// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compiling what modpost writes; see module_part.h.  The kernel's largest headers make that as slow
 * as compiling a unit.  modpost (write_mod_c_file() in scripts/mod/modpost.c) writes for example
 *
 *	#include <linux/module.h>
 *	MODULE_INFO(name, KBUILD_MODNAME);
 *	__visible struct module __this_module
 *	__section(".gnu.linkonce.this_module") = { .name = KBUILD_MODNAME, ... };
 *	static const struct modversion_info ____versions[]
 *	__used __section("__versions") = {
 *		{ 0xbdfb6dbb, "__fentry__" },
 *	};
 *	MODULE_INFO(depends, "pokepatch");
 *
 * We cut out the line with the name and the table of versions, compile the rest with a placeholder
 * for the name, and add what was cut out to the object.  What we do not know in the text stays in
 * the rest, which is kept under the hash of its text.  The proof compares names and versions again.
 */
#include "pokepatch-build/module_part.h"

#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "object/object.h"
#include "pokepatch-build/object_cache.h"

/* struct modversion_info, linux/module.h: a long, and the name up to MODULE_NAME_LEN. */
#define VERSION_SIZE 64
#define VERSION_NAME 8

/* As long as a module's name can be: MODULE_NAME_LEN is 56 where a long has 8 bytes. */
#define PLACEHOLDER "pokepatch_0123456789_0123456789_0123456789_0123456789_x"
#define NAME_ROOM   sizeof(PLACEHOLDER)

static const char name_line[] = "MODULE_INFO(name, KBUILD_MODNAME);\n";
static const char versions_begin[] = "static const struct modversion_info ____versions[]\n"
				     "__used __section(\"__versions\") = {\n";
static const char versions_end[] = "};\n";

struct version {
	uint64_t crc;
	char name[VERSION_SIZE - VERSION_NAME];
};

struct module_part {
	const struct build *build;
	char *name; /* of the module, as the kernel has it: "pokepatch_fix" */
	char *rest; /* modpost's text without what is cut out */
	bool has_versions;
	VEC(struct version) versions;
};

/* ---- splitting the text ----------------------------------------------------- */

/* Read the lines of the table up to its end.  NULL: they have another form. */
static const char *read_versions(const char *line, struct module_part *part)
{
	while (!has_prefix(line, versions_end)) {
		struct version version = {0};
		unsigned long crc;
		int length = 0;

		if (sscanf(line, "\t{ 0x%lx, \"%55[^\"]\" },%n", &crc, version.name, &length) != 2 ||
		    !length || line[length] != '\n')
			return NULL;
		version.crc = crc;
		*vec_push(&part->versions) = version;
		line += length + 1;
	}
	return line + strlen(versions_end);
}

/* False: the text has another form, and is to be compiled as it is. */
static bool split_text(const char *text, struct module_part *part)
{
	const char *name = strstr(text, name_line), *table, *end = NULL;
	struct buffer rest = {0};

	if (!name || strstr(name + 1, name_line))
		return false;
	buffer_add(&rest, text, (size_t)(name - text));
	text = name + strlen(name_line);
	table = strstr(text, versions_begin);
	if (table)
		end = read_versions(table + strlen(versions_begin), part);
	part->has_versions = end != NULL;
	if (end) {
		buffer_add(&rest, text, (size_t)(table - text));
		text = end;
	}
	buffer_add_string(&rest, text);
	part->rest = rest.text;
	return true;
}

/* ---- compiling -------------------------------------------------------------- */

/* The command that compiles modpost's text for a module of that name. */
static void add_command(const struct build *build, const char *name, const char *source,
			const char *object, struct args *ret)
{
	args_add_clean_environment(ret, build->work);
	args_add_all(ret, build->core.mod_compile);
	args_addf(ret, "-DKBUILD_BASENAME=\"%s.mod\"", name);
	args_addf(ret, "-DKBUILD_MODNAME=\"%s\"", name);
	args_addf(ret, "-D__KBUILD_MODNAME=kmod_%s", name);
	args_add(ret, "-g0");
	args_add(ret, "-c");
	args_add(ret, "-o");
	args_add(ret, object);
	args_add(ret, source);
}

static struct error *run(const struct build *build, const struct args *args)
{
	struct proc_options options = {.dir = build->core.dir};

	return proc_check((const char *const *)args->list, &options, NULL);
}

static struct error *compile_whole(const struct module_part *part, const char *source,
				   const char *object)
{
	struct args args = {0};
	struct error *error;

	add_command(part->build, part->name, source, object, &args);
	error = run(part->build, &args);
	args_deinit(&args);
	return error;
}

char *module_parts_folder(const struct build *build)
{
	return xasprintf("%s/../objects", build->core.sources);
}

/* Compile the rest of the text, or take the object that an earlier build has kept. */
static struct error *compile_rest(const struct module_part *part, const char *object)
{
	const struct build *build = part->build;
	_free_ char *folder = module_parts_folder(build);
	_free_ char *source = xasprintf("%s/module-part.mod.c", build->work);
	struct args args = {0};
	struct error *error;
	char key[65];
	bool kept;

	add_command(build, PLACEHOLDER, source, object, &args);
	object_cache_key(build, &args, part->rest, key);
	error = object_cache_load(folder, key, object, NULL, &kept);
	if (!error && !kept) {
		error = file_write_scratch(source, part->rest, strlen(part->rest));
		if (!error)
			error = run(build, &args);
		if (!error) {
			object_cache_store(folder, key, object, NULL);
			object_cache_trim(build, folder);
		}
	}
	args_deinit(&args);
	return error;
}

/* ---- putting the name and the versions in ----------------------------------- */

static bool put_name(struct object *object, const char *name)
{
	struct section *section = object_find_section(object, ".gnu.linkonce.this_module");
	struct section *modinfo = object_find_section(object, ".modinfo");
	unsigned char *place = section && section->data ? memmem(section->data, section->size,
								  PLACEHOLDER, NAME_ROOM)
							: NULL;

	if (!place || !modinfo || strlen(name) >= NAME_ROOM)
		return false;
	memset(place, 0, NAME_ROOM);
	memcpy(place, name, strlen(name));
	_free_ char *line = xasprintf("name=%s", name);
	section_append(modinfo, line, strlen(line) + 1, 1);
	return true;
}

static void put_versions(const struct module_part *part, struct object *object)
{
	struct section *section = object_add_section(object, "__versions", SHT_PROGBITS, SHF_ALLOC,
						     VERSION_NAME, 0);

	for (size_t i = 0; i < part->versions.count; i++) {
		const struct version *version = &part->versions.list[i];
		uint64_t at = section_append(section, NULL, VERSION_SIZE, 1);

		object_put64(object, section->data + at, version->crc);
		memcpy(section->data + at + VERSION_NAME, version->name, sizeof(version->name));
	}
	object_add_symbol(object, "____versions", section, 0, section->size, STT_OBJECT, STB_LOCAL);
}

/* Is the placeholder left anywhere, as in a string that a newer kernel makes of KBUILD_MODNAME? */
static bool has_placeholder(const struct object *object)
{
	for (size_t i = 1; i < object->sections.count; i++) {
		const struct section *section = object->sections.list[i];

		if (section->data &&
		    memmem(section->data, section->size, PLACEHOLDER, strlen(PLACEHOLDER)))
			return true;
	}
	for (size_t i = 1; i < object->symbols.count; i++)
		if (strstr(object->symbols.list[i]->name, PLACEHOLDER))
			return true;
	return false;
}

/* *ret: false if the object has another form than we know; then it was not written. */
static struct error *complete(const struct module_part *part, const char *in, const char *out,
			      bool *ret)
{
	struct error *error = NULL;
	struct object object;

	TRY(object_read(in, &object));
	*ret = put_name(&object, part->name) && !has_placeholder(&object);
	if (*ret && part->has_versions)
		put_versions(part, &object);
	if (*ret)
		error = object_write(&object, out);
	object_deinit(&object);
	return error;
}

static struct error *make(struct module_part *part, const char *source, const char *object)
{
	_free_ char *rest = xasprintf("%s/module-part.mod.o", part->build->work);
	_free_ char *text = NULL;
	bool made = false;

	TRY(file_read(source, &text, NULL));
	if (split_text(text, part)) {
		TRY(compile_rest(part, rest));
		TRY(complete(part, rest, object, &made));
	}
	return made ? NULL : compile_whole(part, source, object);
}

struct error *module_part_make(const struct build *build, const char *module, const char *source,
			       const char *object)
{
	struct module_part part = {.build = build, .name = underscored(module)};
	struct error *error = make(&part, source, object);
	free(part.name);
	free(part.rest);
	vec_deinit(&part.versions);
	return error;
}
