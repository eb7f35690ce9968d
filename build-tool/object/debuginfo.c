// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads DWARF with libdw, which needs its relocations made.  We make them, by the table of the
 * architecture, because libdw makes them only for the machines that it was built for (Debian 12's
 * has no MIPS).  Each section gets an address of its own, one behind the other, so that one number
 * tells section and offset.
 */
#include "object/debuginfo.h"

#include <dwarf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdw.h>

#include "common/search.h"
#include "object/object.h"
#include "common/util.h"

/* Bytes between sections: the end of one is not the start of the next, and no address is 0. */
#define SECTION_GAP 16

/* Code that was inlined into a function. */
struct inlined_range {
	uint64_t start, end;
	int call_line;
	const char *name; /* of the function that it is of */
};

/* A piece of a function, and the code that is inlined into the function. */
struct function_range {
	uint64_t start, end;
	uint64_t before; /* of a .cold part: the last byte of the function's other piece; or 0 */
	size_t first, count; /* in inlined_ranges; inner ranges follow outer ones */
	int64_t result;	     /* bytes that the function returns; -1: not known */
	const char *name;
};

struct debuginfo {
	uint64_t *addresses; /* of sections, by number */
	size_t nr_addresses;
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	struct map declarations; /* "file:line", by name */
	struct map inlined;	 /* struct debuginfo_names *, by name of the inlined function */
	VEC(struct debuginfo_names *) name_lists;
	VEC(char *) strings;
	VEC(struct inlined_range) inlined_ranges;
	VEC(struct function_range) functions; /* by start, once walked */
	VEC(struct debuginfo_static) statics; /* by place, once walked */
	bool walked;
};

uint64_t debuginfo_address(const struct debuginfo *debuginfo, size_t section, uint64_t offset)
{
	return section < debuginfo->nr_addresses ? debuginfo->addresses[section] + offset : 0;
}

/* Give each section an address; false: an address has too few bits for all sections. */
static bool place_sections(struct debuginfo *debuginfo, const struct object *object)
{
	uint64_t limit = arch_address_size(object->arch) == 4 ? UINT32_MAX : INT64_MAX, end = 0;

	debuginfo->nr_addresses = object->sections.count;
	debuginfo->addresses =
		xcalloc(object->sections.count, sizeof(*debuginfo->addresses));
	for (size_t i = 1; i < object->sections.count; i++) {
		const struct section *section = object->sections.list[i];

		if (!(section->flags & SHF_ALLOC))
			continue;
		end += SECTION_GAP;
		debuginfo->addresses[i] = end;
		if (end > limit || section->size > limit - end)
			return false;
		end += section->size;
	}
	return true;
}

/* ---- opening ---------------------------------------------------------------- */

struct relocation {
	const struct object *object;
	const struct debuginfo *debuginfo;
	Elf *elf;
	Elf_Data *symbols, *numbers;
};

/* A symbol's address: code and data count from their section's address, debug sections from 0. */
static uint64_t symbol_address(const struct relocation *relocation, size_t index)
{
	Elf32_Word number = 0;
	GElf_Shdr header;
	GElf_Sym symbol;

	if (!gelf_getsymshndx(relocation->symbols, relocation->numbers, index, &symbol, &number))
		return 0;
	size_t section = symbol.st_shndx == SHN_XINDEX ? number : symbol.st_shndx;
	Elf_Scn *scn = elf_getscn(relocation->elf, section);
	if (!section || !scn || !gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_ALLOC))
		return symbol.st_value;
	return debuginfo_address(relocation->debuginfo, section, symbol.st_value);
}

/* Add to a field: riscv's lengths and advances in .debug_line are differences of two labels. */
static void add_at(const struct object *object, unsigned char *bytes, unsigned int size,
		   uint64_t value)
{
	bool big = object->arch->elf.data == ELFDATA2MSB;

	for (unsigned int i = 0; i < size; i++) {
		unsigned char *byte = &bytes[big ? size - 1 - i : i];

		value += *byte;
		*byte = value;
		value >>= 8;
	}
}

/* rel: the entry has no addend, and the field holds it. */
static void make_relocation(const struct relocation *relocation, Elf_Data *target,
			    const GElf_Rela *entry, bool rel)
{
	const struct object *object = relocation->object;
	uint32_t symbol = GELF_R_SYM(entry->r_info), type = GELF_R_TYPE(entry->r_info);
	unsigned char *bytes = target->d_buf;

	if (object->arch->relocs.info)
		object->arch->relocs.info(entry->r_info, &symbol, &type);
	const struct reloc_kind *kind = arch_reloc(object->arch, type);
	if (!kind || kind->pc_relative || kind->size > target->d_size ||
	    entry->r_offset > target->d_size - kind->size)
		return;
	int64_t addend = rel ? reloc_get_addend(object, bytes + entry->r_offset, kind)
			     : entry->r_addend;
	uint64_t value = symbol_address(relocation, symbol) + addend;
	if (kind->adds)
		add_at(object, bytes + entry->r_offset, kind->size,
		       kind->subtracts ? -value : value);
	else if (kind->size == 4)
		object_put32(object, bytes + entry->r_offset, value);
	else if (kind->size == 8)
		object_put64(object, bytes + entry->r_offset, value);
}

static void relocate_section(struct relocation *relocation, Elf_Scn *rela)
{
	size_t names;
	GElf_Shdr header, target_header, symtab_header;
	Elf_Scn *target, *symtab, *scn = NULL;

	if (!gelf_getshdr(rela, &header) ||
	    (header.sh_type != SHT_RELA && header.sh_type != SHT_REL) ||
	    elf_getshdrstrndx(relocation->elf, &names))
		return;
	target = elf_getscn(relocation->elf, header.sh_info);
	symtab = elf_getscn(relocation->elf, header.sh_link);
	if (!target || !symtab || !gelf_getshdr(target, &target_header) ||
	    !gelf_getshdr(symtab, &symtab_header) || symtab_header.sh_type != SHT_SYMTAB)
		return;
	const char *name = elf_strptr(relocation->elf, names, target_header.sh_name);
	if (!name || !has_prefix(name, ".debug_"))
		return;
	if (!relocation->symbols) { /* an object has one symbol table */
		relocation->symbols = elf_getdata(symtab, NULL);
		while ((scn = elf_nextscn(relocation->elf, scn))) {
			GElf_Shdr number;

			if (gelf_getshdr(scn, &number) && number.sh_type == SHT_SYMTAB_SHNDX)
				relocation->numbers = elf_getdata(scn, NULL);
		}
	}
	if (target_header.sh_flags & SHF_COMPRESSED && elf_compress(target, 0, 0) < 0)
		return;
	Elf_Data *data = elf_getdata(rela, NULL), *bytes = elf_rawdata(target, NULL);
	bool rel = header.sh_type == SHT_REL;
	size_t size = gelf_fsize(relocation->elf, rel ? ELF_T_REL : ELF_T_RELA, 1, EV_CURRENT);
	if (!relocation->symbols || !data || !bytes || !bytes->d_buf)
		return;
	for (size_t i = 0; i < data->d_size / size; i++) {
		GElf_Rela entry;

		if (object_reloc_entry(data, i, rel, &entry))
			make_relocation(relocation, bytes, &entry, rel);
	}
}

static struct debuginfo *debuginfo_open(const struct object *object)
{
	struct debuginfo *debuginfo = xcalloc(1, sizeof(*debuginfo));
	struct relocation relocation = {.object = object, .debuginfo = debuginfo};
	Elf_Scn *scn = NULL;

	/* Opening the file again takes a quarter of the time that reading the object took. */
	debuginfo->fd = -1;
	if (!object_find_section(object, ".debug_info") || !place_sections(debuginfo, object))
		return debuginfo;
	debuginfo->fd = open(object->path, O_RDONLY | O_CLOEXEC);
	if (debuginfo->fd < 0)
		return debuginfo;
	/* Mapped privately: the relocations change the mapping. */
	debuginfo->elf = elf_begin(debuginfo->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (!debuginfo->elf)
		return debuginfo;
	relocation.elf = debuginfo->elf;
	while ((scn = elf_nextscn(debuginfo->elf, scn)))
		relocate_section(&relocation, scn);
	debuginfo->dwarf = dwarf_begin_elf(debuginfo->elf, DWARF_C_READ, NULL);
	return debuginfo;
}

struct debuginfo *debuginfo_of(struct object *object)
{
	if (!object->debuginfo)
		object->debuginfo = debuginfo_open(object);
	return object->debuginfo;
}

Dwarf *debuginfo_dwarf(struct debuginfo *debuginfo)
{
	return debuginfo->dwarf;
}

void debuginfo_close(struct debuginfo *debuginfo)
{
	if (!debuginfo)
		return;
	map_deinit(&debuginfo->declarations);
	map_deinit(&debuginfo->inlined);
	for (size_t i = 0; i < debuginfo->name_lists.count; i++) {
		vec_deinit(debuginfo->name_lists.list[i]);
		free(debuginfo->name_lists.list[i]);
	}
	vec_deinit(&debuginfo->name_lists);
	for (size_t i = 0; i < debuginfo->strings.count; i++)
		free(debuginfo->strings.list[i]);
	vec_deinit(&debuginfo->strings);
	for (size_t i = 0; i < debuginfo->statics.count; i++)
		free(debuginfo->statics.list[i].type);
	vec_deinit(&debuginfo->statics);
	vec_deinit(&debuginfo->inlined_ranges);
	vec_deinit(&debuginfo->functions);
	if (debuginfo->dwarf)
		dwarf_end(debuginfo->dwarf);
	if (debuginfo->elf)
		elf_end(debuginfo->elf);
	if (debuginfo->fd >= 0)
		close(debuginfo->fd);
	free(debuginfo->addresses);
	free(debuginfo);
}

/* ---- types ------------------------------------------------------------------ */

#define TYPE_DEPTH 8 /* steps from a type to the one that it points to or is made of */

static void add_array_sizes(struct buffer *text, Dwarf_Die *array)
{
	Dwarf_Attribute attribute;
	Dwarf_Die die;
	Dwarf_Word count;

	if (dwarf_child(array, &die))
		return;
	do {
		if (dwarf_formudata(dwarf_attr(&die, DW_AT_count, &attribute), &count) &&
		    !dwarf_formudata(dwarf_attr(&die, DW_AT_upper_bound, &attribute), &count))
			count++;
		buffer_printf(text, "[%" PRIu64 "]", (uint64_t)count);
	} while (!dwarf_siblingof(&die, &die));
}

/* The names of its members stand for a structure without a name. */
static void add_members(struct buffer *text, Dwarf_Die *type)
{
	Dwarf_Die die;

	if (dwarf_child(type, &die))
		return;
	do
		buffer_printf(text, " %s", dwarf_diename(&die) ?: "");
	while (!dwarf_siblingof(&die, &die));
}

static void add_type(struct buffer *text, Dwarf_Die *die, unsigned int depth)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;
	const char *name;

	if (!dwarf_formref_die(dwarf_attr(die, DW_AT_type, &attribute), &type)) {
		buffer_add_string(text, "void");
		return;
	}
	name = dwarf_diename(&type);
	buffer_printf(text, "%x ", dwarf_tag(&type));
	if (name) {
		buffer_add_string(text, name);
		return;
	}
	if (dwarf_tag(&type) == DW_TAG_structure_type || dwarf_tag(&type) == DW_TAG_union_type)
		add_members(text, &type);
	if (dwarf_tag(&type) == DW_TAG_array_type)
		add_array_sizes(text, &type);
	if (depth < TYPE_DEPTH)
		add_type(text, &type, depth + 1);
}

/* ---- one walk over everything ------------------------------------------------- */

/* A path relative to the top of the kernel's tree. */
static const char *tree_path(const char *path, const char *top)
{
	size_t length = top ? strlen(top) : 0;

	if (length && !strncmp(path, top, length) && path[length] == '/')
		path += length + 1;
	return has_prefix(path, "./") ? path + 2 : path;
}

/* The walk's place in the tree of DIEs. */
struct walk {
	struct debuginfo *debuginfo;
	const char *top;      /* the folder that the compiler ran in */
	Dwarf_Files *files;   /* of the unit, or NULL */
	const char *function; /* the function whose code the walk is in, or NULL */
	const char *owner;    /* the function whose declarations the walk is in, or NULL */
	bool inside;	      /* in some function, even one without a name */
};

/* Not dwarf_decl_file(), which takes DWARF 5's file 0, clang's first, for no file. */
static const char *declaration_file(const struct walk *walk, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word index;

	return !dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attribute), &index) &&
			       walk->files
		       ? dwarf_filesrc(walk->files, index, NULL, NULL)
		       : NULL;
}

char *debuginfo_die_location(Dwarf_Die *die)
{
	struct walk walk = {0};
	Dwarf_Attribute attribute;
	Dwarf_Die unit;
	int line;

	if (!dwarf_diecu(die, &unit, NULL, NULL) || dwarf_decl_line(die, &line) ||
	    dwarf_getsrcfiles(&unit, &walk.files, NULL))
		return NULL;
	const char *file = declaration_file(&walk, die);
	const char *top = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
	return file ? xasprintf("%s:%d", tree_path(file, top), line) : NULL;
}

static void note_declaration(const struct walk *walk, Dwarf_Die *die)
{
	struct debuginfo *debuginfo = walk->debuginfo;
	const char *name = dwarf_diename(die), *file;
	int line;

	/* Skip a mere declaration, as in a header: the author looks for the definition. */
	if (dwarf_hasattr(die, DW_AT_declaration))
		return;
	if (!name || dwarf_decl_line(die, &line) || map_has(&debuginfo->declarations, name))
		return;
	file = declaration_file(walk, die);
	if (!file)
		return;
	char *text = *vec_push(&debuginfo->strings) =
		xasprintf("%s:%d", tree_path(file, walk->top), line);
	*map_slot(&debuginfo->declarations, name) = text;
}

static void note_inlined(const struct walk *walk, const char *name)
{
	struct debuginfo *debuginfo = walk->debuginfo;
	void **slot = map_slot(&debuginfo->inlined, name);
	struct debuginfo_names *names = *slot;

	if (!names)
		*slot = *vec_push(&debuginfo->name_lists) = names = xcalloc(1, sizeof(*names));
	/* The walk does one function at a time, so a second copy in it follows the first. */
	if (!names->count || strcmp(names->list[names->count - 1], walk->function))
		*vec_push(names) = walk->function;
}

static void note_inlined_ranges(const struct walk *walk, Dwarf_Die *die, const char *name)
{
	Dwarf_Addr base, start, end;
	Dwarf_Attribute attribute;
	Dwarf_Word line;
	ptrdiff_t at = 0;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line))
		return;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		*vec_push(&walk->debuginfo->inlined_ranges) =
			(struct inlined_range){start, end, line, name};
}

static int64_t result_size(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;
	Dwarf_Word size;

	/* An assembler's function has neither a type nor a prototype, and may return anything. */
	if (!dwarf_attr_integrate(die, DW_AT_type, &attribute))
		return dwarf_hasattr_integrate(die, DW_AT_prototyped) ? 0 : -1;
	if (!dwarf_formref_die(&attribute, &type) || dwarf_peel_type(&type, &type) ||
	    dwarf_aggregate_size(&type, &size) || size > INT64_MAX)
		return -1;
	return (int64_t)size;
}

static void note_function_ranges(const struct walk *walk, Dwarf_Die *die, size_t first)
{
	struct debuginfo *debuginfo = walk->debuginfo;
	Dwarf_Addr base, start, end;
	uint64_t before = 0;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		*vec_push(&debuginfo->functions) = (struct function_range){
			start, end, before, first, debuginfo->inlined_ranges.count - first,
			result_size(die), walk->function};
		before = end > start ? end - 1 : 0;
	}
}

/* gcc: DW_OP_addr; clang: DW_OP_addrx, an index into .debug_addr. */
static bool operation_place(Dwarf_Attribute *attribute, const Dwarf_Op *op, uint64_t *ret)
{
	Dwarf_Attribute address;

	if (op->atom == DW_OP_addr) {
		*ret = op->number;
		return true;
	}
	return op->atom == DW_OP_addrx && !dwarf_getlocation_attr(attribute, op, &address) &&
	       !dwarf_formaddr(&address, ret);
}

/*
 * clang splits "static struct { int a, b; } state" into two variables, f.state.0 and f.state.1, and
 * describes them as two pieces of one.
 */
static void note_static(const struct walk *walk, Dwarf_Die *die)
{
	struct debuginfo *debuginfo = walk->debuginfo;
	Dwarf_Attribute attribute;
	uint64_t place, piece = 0;
	Dwarf_Op *ops;
	size_t count;

	if (!walk->inside || !dwarf_attr(die, DW_AT_location, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		struct buffer type = {0};

		if (ops[i].atom == DW_OP_piece)
			piece += ops[i].number;
		if (!operation_place(&attribute, &ops[i], &place))
			continue;
		add_type(&type, die, 0);
		buffer_printf(&type, " %" PRIu64, piece);
		size_t order = debuginfo->statics.count;
		*vec_push(&debuginfo->statics) = (struct debuginfo_static){
			.place = place,
			.owner = walk->owner,
			.type = type.text,
			.order = order,
		};
	}
}

static bool has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

/* Also by way of the abstract origin, which has the name of a function that is inlined, too. */
static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

static void walk_children(const struct walk *walk, Dwarf_Die *parent);

static void walk_function(const struct walk *walk, Dwarf_Die *die)
{
	struct walk inside = *walk;
	size_t first = walk->debuginfo->inlined_ranges.count;

	note_declaration(walk, die);
	inside.inside = true;
	inside.owner = name_of(die);
	inside.function = has_code(die) ? inside.owner : NULL;
	walk_children(&inside, die);
	if (inside.function)
		note_function_ranges(&inside, die, first);
}

static void walk_inlined(const struct walk *walk, Dwarf_Die *die)
{
	struct walk inside = *walk;

	inside.owner = name_of(die);
	if (inside.owner && walk->function) {
		note_inlined(walk, inside.owner);
		note_inlined_ranges(walk, die, inside.owner);
	}
	walk_children(&inside, die);
}

/* Note functions, variables, static variables of functions, and inlined code. */
static void walk_children(const struct walk *walk, Dwarf_Die *parent)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			note_declaration(walk, &die);
			note_static(walk, &die);
			break;
		case DW_TAG_subprogram:
			walk_function(walk, &die);
			break;
		case DW_TAG_inlined_subroutine:
			walk_inlined(walk, &die);
			break;
		case DW_TAG_lexical_block:
			walk_children(walk, &die);
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

static int by_start(const void *left, const void *right)
{
	const struct function_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static int by_place(const void *left, const void *right)
{
	const struct debuginfo_static *a = left, *b = right;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void walk_all(struct debuginfo *debuginfo)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	if (debuginfo->walked || !debuginfo->dwarf)
		return;
	debuginfo->walked = true;
	while (!dwarf_get_units(debuginfo->dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
		Dwarf_Attribute attribute;
		struct walk walk = {
			.debuginfo = debuginfo,
			.top = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attribute)),
		};

		if (dwarf_getsrcfiles(&die, &walk.files, NULL))
			walk.files = NULL;
		walk_children(&walk, &die);
	}
	if (debuginfo->functions.count)
		qsort(debuginfo->functions.list, debuginfo->functions.count,
		      sizeof(*debuginfo->functions.list), by_start);
	if (debuginfo->statics.count)
		qsort(debuginfo->statics.list, debuginfo->statics.count,
		      sizeof(*debuginfo->statics.list), by_place);
}

/* ---- questions ---------------------------------------------------------------- */

static Dwarf_Line *line_at(struct debuginfo *debuginfo, uint64_t place, const char **ret_top)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	if (!debuginfo->dwarf)
		return NULL;
	while (!dwarf_get_units(debuginfo->dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
		Dwarf_Line *line = dwarf_getsrc_die(&die, place);
		Dwarf_Attribute attribute;

		if (ret_top)
			*ret_top = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attribute));
		if (line)
			return line;
	}
	return NULL;
}

char *debuginfo_line(struct debuginfo *debuginfo, size_t section, uint64_t offset)
{
	const char *top;
	Dwarf_Line *line = line_at(debuginfo, debuginfo_address(debuginfo, section, offset), &top);
	const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	int number;

	if (!file || dwarf_lineno(line, &number) || number <= 0)
		return NULL;
	return xasprintf("%s:%d", tree_path(file, top), number);
}

static const struct function_range *function_at(const struct debuginfo *debuginfo, uint64_t place)
{
	const struct function_range *list = debuginfo->functions.list;
	size_t behind = first_index(i, debuginfo->functions.count, list[i].start > place);

	return behind && place < list[behind - 1].end ? &list[behind - 1] : NULL;
}

/*
 * The line table may have no row for the start of a .cold part, if the function's last line goes on
 * there: cache_save_setup() of fs/btrfs/block-group.c, with gcc -g1, for line 2969.
 */
static Dwarf_Line *line_in(struct debuginfo *debuginfo, const struct function_range *function,
			   uint64_t place)
{
	Dwarf_Line *line = line_at(debuginfo, place, NULL);

	return !line && function && function->before
		       ? line_at(debuginfo, function->before, NULL)
		       : line;
}

/*
 * The inlined code of a function that a place is in, the innermost first; then the code around
 * @inner.  NULL: there is no more.
 */
static const struct inlined_range *next_outer(const struct debuginfo *debuginfo,
					      const struct function_range *function,
					      uint64_t place, const struct inlined_range *inner)
{
	const struct inlined_range *first, *range;

	if (!function || !function->count)
		return NULL;
	first = &debuginfo->inlined_ranges.list[function->first];
	for (range = inner ?: first + function->count; range-- > first;)
		if (place >= range->start && place < range->end)
			return range;
	return NULL;
}

size_t debuginfo_lines(struct debuginfo *debuginfo, size_t section, uint64_t offset, int *ret,
		       size_t room)
{
	uint64_t place = debuginfo_address(debuginfo, section, offset);
	const struct function_range *function;
	size_t count = 0;

	walk_all(debuginfo);
	function = function_at(debuginfo, place);
	Dwarf_Line *line = line_in(debuginfo, function, place);
	if (!line || !room || dwarf_lineno(line, &ret[count++]))
		return 0;
	const struct inlined_range *range = NULL;
	while (count < room && (range = next_outer(debuginfo, function, place, range)))
		ret[count++] = range->call_line;
	return count;
}

const char *debuginfo_function(struct debuginfo *debuginfo, size_t section, uint64_t offset)
{
	walk_all(debuginfo);

	const struct function_range *function =
		function_at(debuginfo, debuginfo_address(debuginfo, section, offset));
	return function ? function->name : NULL;
}

const char *debuginfo_inlined_at(struct debuginfo *debuginfo, size_t section, uint64_t offset)
{
	uint64_t place = debuginfo_address(debuginfo, section, offset);

	walk_all(debuginfo);
	const struct inlined_range *range =
		next_outer(debuginfo, function_at(debuginfo, place), place, NULL);
	return range ? range->name : NULL;
}

void debuginfo_inlined_names(struct debuginfo *debuginfo, size_t section, uint64_t offset,
			     struct debuginfo_names *ret)
{
	struct map seen = {0};

	walk_all(debuginfo);
	const struct function_range *function =
		function_at(debuginfo, debuginfo_address(debuginfo, section, offset));
	for (size_t i = 0; function && i < function->count; i++) {
		const char *name = debuginfo->inlined_ranges.list[function->first + i].name;

		if (!map_has(&seen, name)) {
			map_slot(&seen, name);
			*vec_push(ret) = name;
		}
	}
	map_deinit(&seen);
}

int64_t debuginfo_result_size(struct debuginfo *debuginfo, size_t section, uint64_t offset)
{
	walk_all(debuginfo);

	const struct function_range *function =
		function_at(debuginfo, debuginfo_address(debuginfo, section, offset));
	return function ? function->result : -1;
}

/* The source has the part of a symbol's name before the dot: "count.12", "foo.isra.0". */
static char *source_name(const char *name)
{
	return xstrndup(name, strcspn(name, "."));
}

const char *debuginfo_declaration(struct debuginfo *debuginfo, const char *name)
{
	char *plain _free_ = source_name(name);

	walk_all(debuginfo);
	return map_get(&debuginfo->declarations, plain);
}

const struct debuginfo_names *debuginfo_inlined_into(struct debuginfo *debuginfo, const char *name)
{
	char *plain _free_ = source_name(name);

	walk_all(debuginfo);
	return map_get(&debuginfo->inlined, plain);
}

static int static_order(const struct debuginfo_static *variable, uint64_t place)
{
	return variable->place < place ? -1 : variable->place > place;
}

const struct debuginfo_static *debuginfo_static(struct debuginfo *debuginfo, size_t section,
						uint64_t offset)
{
	uint64_t place = debuginfo_address(debuginfo, section, offset);

	walk_all(debuginfo);
	/* Of several at one place, the first in the order of declaration. */
	return sorted_find(debuginfo->statics.list, debuginfo->statics.count, place, static_order);
}
