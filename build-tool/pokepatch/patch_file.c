// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the file of a patch module; see patch_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/build_id.h"
#include "object/arch.h"
#include "pokepatch/patch_file.h"
#include "pokepatch_format.h"
#include "pokepatch/patch_sysfs.h"
#include "pokepatch/table.h"

static const char *const modes[] = {
	[POKEPATCH_MODE_AUTO] = "auto",
	[POKEPATCH_MODE_FTRACE] = "ftrace",
	[POKEPATCH_MODE_DIRECT] = "direct",
	[POKEPATCH_MODE_ENTRY] = "entry",
};
static const char *const transitions[] = {
	[POKEPATCH_TRANSITION_STOP] = "stop",
	[POKEPATCH_TRANSITION_LIVE] = "live",
};

static const char *const callback_kinds[] = {
	[POKEPATCH_CALLBACK_PRE_PATCH] = "pre-patch",
	[POKEPATCH_CALLBACK_POST_PATCH] = "post-patch",
	[POKEPATCH_CALLBACK_PRE_UNPATCH] = "pre-unpatch",
	[POKEPATCH_CALLBACK_POST_UNPATCH] = "post-unpatch",
};

void patch_file_deinit(struct patch_file *file)
{
	for (size_t i = 0; i < file->functions.count; i++) {
		free(file->functions.list[i].name);
		free(file->functions.list[i].parent);
	}
	vec_deinit(&file->functions);
	for (size_t i = 0; i < file->objects.count; i++) {
		free(file->objects.list[i].name);
		free(file->objects.list[i].build_id);
	}
	vec_deinit(&file->objects);
	for (size_t i = 0; i < file->symbols.count; i++) {
		free(file->symbols.list[i].name);
		free(file->symbols.list[i].parent);
	}
	vec_deinit(&file->symbols);
	for (size_t i = 0; i < file->callbacks.count; i++)
		free(file->callbacks.list[i].parent);
	vec_deinit(&file->callbacks);
	free(file->path);
	free(file->modinfo);
	free(file->report);
	free(file->name);
	free(file->build_id);
	*file = (struct patch_file){0};
}

static struct error *damaged(const char *path, const char *what)
{
	return error_new(STATUS_FAILED,
			 "'%s' is damaged or cut off (%s); build it again or copy it again", path,
			 what);
}

/* ---- ELF ------------------------------------------------------------------- */

/* The file while it is read. */
struct reader {
	const char *path;
	Elf *elf;
	size_t names; /* index of the section name table */
};

/* Check that every section lies within the file, which finds files that are cut off. */
static struct error *check_sections(struct reader *reader, uint64_t size)
{
	size_t count;
	GElf_Shdr header;

	if (elf_getshdrnum(reader->elf, &count) < 0 || count < 2 ||
	    elf_getshdrstrndx(reader->elf, &reader->names) < 0)
		return damaged(reader->path, "no section table");
	for (size_t i = 1; i < count; i++) {
		Elf_Scn *section = elf_getscn(reader->elf, i);

		if (!section || !gelf_getshdr(section, &header))
			return damaged(reader->path, "its section table ends too early");
		if (header.sh_type != SHT_NOBITS &&
		    (header.sh_offset > size || header.sh_size > size - header.sh_offset))
			return damaged(reader->path, "a section lies beyond its end");
	}
	return NULL;
}

static Elf_Scn *find_section(const struct reader *reader, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(reader->elf, section))) {
		const char *this = gelf_getshdr(section, &header)
					   ? elf_strptr(reader->elf, reader->names, header.sh_name)
					   : NULL;

		if (this && strcmp(this, name) == 0)
			return section;
	}
	return NULL;
}

/* A section's bytes and a NUL, owned by the caller; NULL if there is no such section. */
static char *copy_section(const struct reader *reader, const char *name, size_t *ret_length)
{
	Elf_Scn *section = find_section(reader, name);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	char *copy;

	if (!data || !data->d_buf)
		return NULL;
	if (ret_length)
		*ret_length = data->d_size;
	copy = xmalloc(data->d_size + 1);
	memcpy(copy, data->d_buf, data->d_size);
	copy[data->d_size] = '\0';
	return copy;
}

/* ---- tables ---------------------------------------------------------------- */

/*
 * The rest of a section's data from the place to which an address field of the image points.  The
 * module loader would relocate the field; here its relocation gives the place.
 */
struct table {
	const unsigned char *bytes;
	size_t length;
};

/* The section with the relocations of the section with that index. */
static Elf_Scn *find_relocations(const struct reader *reader, size_t index)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(reader->elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_info == index)
			return section;
	}
	return NULL;
}

static uint32_t symbol_index(const struct reader *reader, uint64_t info)
{
	uint32_t symbol = GELF_R_SYM(info), type;
	const struct arch *arch = NULL;
	GElf_Ehdr header;

	if (gelf_getehdr(reader->elf, &header))
		arch = arch_find(header.e_machine, header.e_ident[EI_CLASS],
				 header.e_ident[EI_DATA]);
	if (arch && arch->relocs.info)
		arch->relocs.info(info, &symbol, &type);
	return symbol;
}

/* The place to which a relocation refers. */
static struct table resolve_relocation(const struct reader *reader, Elf_Data *symbols,
				       const GElf_Rela *rela)
{
	struct table table = {0};
	uint64_t offset;
	GElf_Sym symbol;
	Elf_Scn *section;
	Elf_Data *data;

	if (!gelf_getsym(symbols, symbol_index(reader, rela->r_info), &symbol) ||
	    symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE)
		return table;
	section = elf_getscn(reader->elf, symbol.st_shndx);
	data = section ? elf_rawdata(section, NULL) : NULL;
	offset = symbol.st_value + rela->r_addend;
	if (!data || !data->d_buf || offset > data->d_size)
		return table;
	table.bytes = (const unsigned char *)data->d_buf + offset;
	table.length = data->d_size - offset;
	return table;
}

/* The image, and the tables that are read here. */
struct image {
	struct pokepatch_image head;
	struct table objects, symbols, funcs, callbacks, strings;
};

static const struct {
	size_t field; /* of struct pokepatch_image */
	size_t table; /* of struct image */
} image_tables[] = {
	{offsetof(struct pokepatch_image, objects), offsetof(struct image, objects)},
	{offsetof(struct pokepatch_image, symbols), offsetof(struct image, symbols)},
	{offsetof(struct pokepatch_image, funcs), offsetof(struct image, funcs)},
	{offsetof(struct pokepatch_image, callbacks), offsetof(struct image, callbacks)},
	{offsetof(struct pokepatch_image, strings), offsetof(struct image, strings)},
};

static struct error *read_image(const struct reader *reader, struct image *ret)
{
	Elf_Scn *section = find_section(reader, POKEPATCH_SECTION_IMAGE);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	Elf_Scn *relocations, *symbols_section;
	Elf_Data *relas, *symbols;
	GElf_Shdr header;
	GElf_Rela rela;

	*ret = (struct image){0};
	if (!data || !data->d_buf || data->d_size < sizeof(ret->head))
		return damaged(reader->path, "no " POKEPATCH_SECTION_IMAGE);
	memcpy(&ret->head, data->d_buf, sizeof(ret->head));
	if (ret->head.magic != POKEPATCH_MAGIC || ret->head.size != sizeof(ret->head))
		return error_new(STATUS_FAILED,
				 "'%s' is for a machine of another byte order, or damaged",
				 reader->path);
	relocations = find_relocations(reader, elf_ndxscn(section));
	if (!relocations || !gelf_getshdr(relocations, &header))
		return damaged(reader->path, "its tables have no relocations");
	symbols_section = elf_getscn(reader->elf, header.sh_link);
	relas = elf_getdata(relocations, NULL);
	symbols = symbols_section ? elf_getdata(symbols_section, NULL) : NULL;
	for (int i = 0; relas && symbols && gelf_getrela(relas, i, &rela); i++) {
		for (size_t t = 0; t < ARRAY_SIZE(image_tables); t++) {
			if (rela.r_offset == image_tables[t].field)
				*(struct table *)((char *)ret + image_tables[t].table) =
					resolve_relocation(reader, symbols, &rela);
		}
	}
	return NULL;
}

/* Copy an entry of a table, or NULL: it lies behind the image's count or the table's bytes. */
static const void *table_entry(const struct table *table, uint32_t count, size_t size,
			       uint32_t index, void *copy)
{
	if (index >= count || (uint64_t)(index + 1ULL) * size > table->length)
		return NULL;
	return memcpy(copy, table->bytes + index * size, size);
}

static const char *image_string(const struct image *image, uint32_t offset)
{
	const char *strings = (const char *)image->strings.bytes;
	size_t length = image->head.strings_size;

	if (length > image->strings.length || offset >= length ||
	    !memchr(strings + offset, '\0', length - offset))
		return NULL;
	return strings + offset;
}

static const char *word(const char *const *words, size_t count, uint32_t value)
{
	return value < count ? words[value] : "unknown";
}

static bool read_object(const struct image *image, uint32_t index, struct patch_object *ret)
{
	struct pokepatch_object object;
	const char *name;

	if (!table_entry(&image->objects, image->head.nr_objects, sizeof(object), index, &object) ||
	    object.build_id_len > sizeof(object.build_id))
		return false;
	name = image_string(image, object.name);
	if (!name)
		return false;
	ret->name = xstrdup(name);
	ret->build_id = build_id_hex(object.build_id, object.build_id_len);
	return true;
}

static bool read_symbol(const struct image *image, uint32_t index, struct patch_symbol *ret)
{
	const struct pokepatch_image *head = &image->head;
	struct pokepatch_symbol symbol;
	struct pokepatch_object object;
	const char *name, *parent;

	if (!table_entry(&image->symbols, head->nr_symbols, sizeof(symbol), index, &symbol) ||
	    !table_entry(&image->objects, head->nr_objects, sizeof(object), symbol.object, &object))
		return false;
	name = image_string(image, symbol.name);
	parent = image_string(image, object.name);
	if (!name || !parent)
		return false;
	*ret = (struct patch_symbol){
		.name = xstrdup(name),
		.parent = xstrdup(parent),
		.offset = symbol.offset,
		.pos = symbol.pos,
		.absolute = symbol.flags & POKEPATCH_SYM_ABS,
	};
	return true;
}

static bool read_function(const struct image *image, uint32_t index, struct patch_function *ret)
{
	const struct pokepatch_image *head = &image->head;
	struct pokepatch_func func;
	struct pokepatch_symbol symbol;
	struct pokepatch_object object;
	const char *name, *parent;

	if (!table_entry(&image->funcs, head->nr_funcs, sizeof(func), index, &func) ||
	    !table_entry(&image->symbols, head->nr_symbols, sizeof(symbol), func.symbol, &symbol) ||
	    !table_entry(&image->objects, head->nr_objects, sizeof(object), symbol.object, &object))
		return false;
	name = image_string(image, symbol.name);
	parent = image_string(image, object.name);
	if (!name || !parent)
		return false;
	ret->name = xstrdup(name);
	ret->parent = xstrdup(parent);
	ret->pos = symbol.pos;
	ret->old_size = symbol.size;
	ret->new_size = func.new_size;
	ret->overwritten = func.flags & POKEPATCH_FUNC_OVERWRITTEN;
	ret->mode = func.flags & POKEPATCH_FUNC_CARRIED ? "carried"
		    : ret->overwritten			? "entry"
							: word(modes, ARRAY_SIZE(modes), func.mode);
	return true;
}

static bool read_callback(const struct image *image, uint32_t index, struct patch_callback *ret)
{
	const struct pokepatch_image *head = &image->head;
	struct pokepatch_callback callback;
	struct pokepatch_object object;
	const char *parent;

	if (!table_entry(&image->callbacks, head->nr_callbacks, sizeof(callback), index,
			 &callback) ||
	    !table_entry(&image->objects, head->nr_objects, sizeof(object), callback.object,
			 &object))
		return false;
	parent = image_string(image, object.name);
	if (!parent)
		return false;
	ret->kind = word(callback_kinds, ARRAY_SIZE(callback_kinds), callback.kind);
	ret->parent = xstrdup(parent);
	return true;
}

static struct error *read_tables(const struct reader *reader, struct patch_file *file)
{
	struct image image;
	const char *name;

	TRY(read_image(reader, &image));
	name = image_string(&image, image.head.name);
	if (!name || !name[0])
		return damaged(reader->path, "its patch has no name");
	file->name = xstrdup(name);
	file->nr_relocs = image.head.nr_relocs;
	file->transition = word(transitions, ARRAY_SIZE(transitions), image.head.transition);
	for (uint32_t i = 0; i < image.head.nr_objects; i++) {
		if (!read_object(&image, i, vec_push(&file->objects))) {
			file->objects.count--;
			return damaged(reader->path, "its table of objects");
		}
	}
	for (uint32_t i = 0; i < image.head.nr_symbols; i++) {
		if (!read_symbol(&image, i, vec_push(&file->symbols))) {
			file->symbols.count--;
			return damaged(reader->path, "its table of symbols");
		}
	}
	for (uint32_t i = 0; i < image.head.nr_funcs; i++) {
		if (!read_function(&image, i, vec_push(&file->functions))) {
			file->functions.count--;
			return damaged(reader->path, "its table of functions");
		}
	}
	for (uint32_t i = 0; i < image.head.nr_callbacks; i++) {
		if (!read_callback(&image, i, vec_push(&file->callbacks))) {
			file->callbacks.count--;
			return damaged(reader->path, "its table of callbacks");
		}
	}
	return NULL;
}

/* ---- the file -------------------------------------------------------------- */

const char *patch_file_modinfo(const struct patch_file *file, const char *key)
{
	size_t length = strlen(key);

	for (size_t at = 0; at < file->modinfo_length; at += strlen(file->modinfo + at) + 1) {
		const char *entry = file->modinfo + at;

		if (strncmp(entry, key, length) == 0 && entry[length] == '=')
			return entry + length + 1;
	}
	return NULL;
}

static struct error *check_format(const struct patch_file *file)
{
	const char *format = patch_file_modinfo(file, "pokepatch");

	if (!format)
		return error_new(STATUS_FAILED,
				 "'%s' is a kernel module, but not a patch made by pokepatch-build",
				 file->path);
	if (strtol(format, NULL, 10) != POKEPATCH_FORMAT)
		return error_new(STATUS_REFUSED,
				 "%s: refused [wrong-format]: it has patch format %s, this "
				 "pokepatch knows format %d; build it again with the "
				 "pokepatch-build of this version",
				 file->path, format, POKEPATCH_FORMAT);
	if (!patch_file_modinfo(file, "name"))
		return damaged(file->path, "its modinfo lacks the module's name");
	return NULL;
}

static char *read_build_id(const struct reader *reader)
{
	size_t length;
	_free_ char *notes = copy_section(reader, ".note.gnu.build-id", &length);

	return notes ? build_id_in_notes(notes, length) : NULL;
}

static struct error *read_parts(struct reader *reader, uint64_t size, struct patch_file *file)
{
	GElf_Ehdr header;

	if (elf_kind(reader->elf) != ELF_K_ELF || !gelf_getehdr(reader->elf, &header))
		return error_new(STATUS_FAILED, "'%s' is not a kernel module (no ELF file)",
				 reader->path);
	if (header.e_type != ET_REL)
		return error_new(STATUS_FAILED, "'%s' is not a kernel module (ELF type %d)",
				 reader->path, header.e_type);
	TRY(check_sections(reader, size));
	file->modinfo = copy_section(reader, ".modinfo", &file->modinfo_length);
	if (!file->modinfo)
		return error_new(STATUS_FAILED, "'%s' is not a kernel module (no modinfo)",
				 reader->path);
	TRY(check_format(file));
	file->livepatch = patch_file_modinfo(file, "livepatch") != NULL;
	file->report = copy_section(reader, POKEPATCH_SECTION_REPORT, NULL);
	file->build_id = read_build_id(reader);
	return read_tables(reader, file);
}

struct error *patch_file_read(const char *path, struct patch_file *ret)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct patch_file file = {0};
	struct reader reader = {.path = path};
	struct error *error;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno("cannot read '%s'", path);
	if (!S_ISREG(st.st_mode))
		return error_new(STATUS_FAILED, "'%s' is not a file", path);
	elf_version(EV_CURRENT);
	reader.elf = elf_begin(fd, ELF_C_READ, NULL);
	file.path = xstrdup(path);
	error = reader.elf ? read_parts(&reader, st.st_size, &file)
			   : error_new(STATUS_FAILED, "cannot read '%s': %s", path, elf_errmsg(-1));
	elf_end(reader.elf);
	if (error)
		patch_file_deinit(&file);
	else
		*ret = file;
	return error;
}

struct error *patch_file_check_kernel(const struct patch_file *file, const char *running_release)
{
	const char *vermagic = patch_file_modinfo(file, "vermagic");
	const char *build_id = patch_file_modinfo(file, "pokepatch_build_id");
	_free_ char *release = NULL;
	_free_ char *running = NULL;

	if (!vermagic || !build_id)
		return damaged(file->path, "its modinfo lacks the kernel's release or build id");
	release = xstrndup(vermagic, strcspn(vermagic, " "));
	if (strcmp(release, running_release) != 0)
		return error_new(STATUS_REFUSED,
				 "%s: refused [wrong-kernel]: made for kernel %s, and %s is "
				 "running; build it with 'pokepatch-build -k %s'",
				 file->path, release, running_release, running_release);
	TRY(sysfs_running_build_id(&running));
	if (strcasecmp(build_id, running) != 0)
		return error_new(STATUS_REFUSED,
				 "%s: refused [wrong-kernel]: made for another build of kernel %s "
				 "(build id %.12s..., running %.12s...); build it for the running "
				 "one",
				 file->path, release, build_id, running);
	return NULL;
}

/* ---- JSON ------------------------------------------------------------------ */

static json_object *function_json(const struct patch_function *function, bool livepatch)
{
	json_object *row = json_object_new_object();

	json_add_text(row, "name", function->name);
	json_add_text(row, "parent", function->parent);
	json_add_number(row, "pos", function->pos);
	json_add_text(row, "change", "changed");
	json_add_number(row, "old_size", function->old_size);
	json_add_number(row, "new_size", function->new_size);
	json_add_text(row, "mode", livepatch ? "livepatch" : function->mode);
	return row;
}

static json_object *callbacks_json(const struct patch_file *file)
{
	json_object *rows = json_object_new_array();

	for (size_t i = 0; i < file->callbacks.count; i++) {
		json_object *row = json_object_new_object();

		json_add_text(row, "kind", file->callbacks.list[i].kind);
		json_add_text(row, "parent", file->callbacks.list[i].parent);
		json_object_array_add(rows, row);
	}
	return rows;
}

/* Add the functions that only the report has: new and removed ones. */
static void add_other_functions(json_object *report, json_object *functions)
{
	json_object *list = NULL;

	if (!json_object_object_get_ex(report, "functions", &list) ||
	    !json_object_is_type(list, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		json_object *row = json_object_array_get_idx(list, i);
		json_object *change = NULL;

		if (json_object_object_get_ex(row, "change", &change) &&
		    strcmp(json_object_get_string(change), "changed") != 0)
			json_object_array_add(functions, json_object_get(row));
	}
}

/* The keys of modinfo, and their names in our output. */
static const struct {
	const char *key, *shown;
} modinfo_rows[] = {
	{"name", "module"},
	{"pokepatch", "format"},
	{"pokepatch_kernel", "kernel"},
	{"pokepatch_build_id", "build_id"},
	{"pokepatch_source", "source_sha256"},
	{"vermagic", "vermagic"},
	{"depends", "depends"},
};

/* Add what modinfo says of a cumulative patch, if the file is one (pokepatch-build --level). */
static void add_level(json_object *patch, const struct patch_file *file)
{
	static const struct {
		const char *key, *shown;
	} lists[] = {{"pokepatch_cve", "cve"}, {"pokepatch_unfixed", "unfixed"}};
	const char *level = patch_file_modinfo(file, "pokepatch_level");

	if (!level)
		return;
	json_add_number(patch, "level", strtoll(level, NULL, 10));
	if (patch_file_modinfo(file, "pokepatch_revokes_below"))
		json_add_number(patch, "revokes_below",
				strtoll(patch_file_modinfo(file, "pokepatch_revokes_below"), NULL, 10));
	json_add_text(patch, "until", patch_file_modinfo(file, "pokepatch_until"));
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const char *p = patch_file_modinfo(file, lists[i].key) ?: "";
		json_object *array = json_object_new_array();

		for (; *p; p += strcspn(p, ","), p += *p == ',')
			json_object_array_add(array, json_object_new_string_len(
							     p, (int)strcspn(p, ",")));
		json_object_object_add(patch, lists[i].shown, array);
	}
}

struct error *patch_file_json(const struct patch_file *file, json_object **ret)
{
	json_object *patch = json_object_new_object();
	json_object *functions = json_object_new_array();
	json_object *report = NULL;

	json_add_text(patch, "file", file->path);
	json_add_text(patch, "name", file->name);
	for (size_t i = 0; i < ARRAY_SIZE(modinfo_rows); i++)
		json_add_text(patch, modinfo_rows[i].shown,
			      patch_file_modinfo(file, modinfo_rows[i].key));
	add_level(patch, file);
	if (file->livepatch) {
		json_add_text(patch, "core", "the kernel's livepatch");
	} else {
		json_add_text(patch, "transition", file->transition);
		json_add_number(patch, "relocations", file->nr_relocs);
	}
	json_object_object_add(patch, "callbacks", callbacks_json(file));
	for (size_t i = 0; i < file->functions.count; i++)
		json_object_array_add(functions, function_json(&file->functions.list[i], file->livepatch));
	json_object_object_add(patch, "functions", functions);
	if (file->report) {
		report = json_tokener_parse(file->report);
		if (!json_object_is_type(report, json_type_object)) {
			json_object_put(report);
			json_object_put(patch);
			return damaged(file->path,
				       POKEPATCH_SECTION_REPORT " is not a JSON object");
		}
		add_other_functions(report, functions);
		json_object_object_add(patch, "report", report);
	}
	*ret = patch;
	return NULL;
}
