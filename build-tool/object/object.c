// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and checks a relocatable ELF file, and adds to an object in memory. */
#include "object/object.h"

#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object/debuginfo.h"
#include "object/disasm.h"

/* Larger sizes and addends are refused, so that the sum of a few cannot overflow. */
#define LIMIT OBJECT_ADDEND_LIMIT
/* More than any kernel needs (PMD_SIZE, 2 MiB).  Written files have padding up to this size. */
#define ALIGN_LIMIT (1ll << 24)

struct error *object_malformed(const struct object *object, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	char *text _free_ = one_line(xvasprintf(format, arguments));
	va_end(arguments);
	return error_new(STATUS_REFUSED, "%s: refused [elf-malformed]: %s; compile it again",
			 object->path, text);
}

uint16_t object_get16(const struct object *object, const unsigned char *p)
{
	uint16_t value;

	memcpy(&value, p, sizeof(value));
	return object->header.e_ident[EI_DATA] == ELFDATA2LSB ? le16toh(value) : be16toh(value);
}

uint32_t object_get32(const struct object *object, const unsigned char *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return object->header.e_ident[EI_DATA] == ELFDATA2LSB ? le32toh(value) : be32toh(value);
}

uint64_t object_get64(const struct object *object, const unsigned char *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return object->header.e_ident[EI_DATA] == ELFDATA2LSB ? le64toh(value) : be64toh(value);
}

uint64_t object_get_long(const struct object *object, const unsigned char *p)
{
	return arch_address_size(object->arch) == sizeof(uint64_t) ? object_get64(object, p)
								   : object_get32(object, p);
}

void object_put32(const struct object *object, unsigned char *p, uint32_t value)
{
	value = object->header.e_ident[EI_DATA] == ELFDATA2LSB ? htole32(value) : htobe32(value);
	memcpy(p, &value, sizeof(value));
}

void object_put64(const struct object *object, unsigned char *p, uint64_t value)
{
	value = object->header.e_ident[EI_DATA] == ELFDATA2LSB ? htole64(value) : htobe64(value);
	memcpy(p, &value, sizeof(value));
}

/* The mapping is private, as reading and splitting change the contents.  An empty file has none. */
static struct error *map_file(struct object *object)
{
	int fd _close_ = open(object->path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return error_errno("cannot open %s", object->path);
	if (fstat(fd, &status))
		return error_errno("cannot read %s", object->path);
	if (!S_ISREG(status.st_mode))
		return object_malformed(object, "not an ELF file");
	object->map_size = status.st_size;
	if (!object->map_size)
		return NULL;
	object->map = mmap(NULL, object->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (object->map == MAP_FAILED) {
		object->map = NULL;
		return error_errno("cannot read %s", object->path);
	}
	return NULL;
}

static struct error *read_header(struct object *object)
{
	TRY(map_file(object));
	elf_version(EV_CURRENT);
	object->elf = object->map ? elf_memory(object->map, object->map_size) : NULL;
	if (!object->elf || elf_kind(object->elf) != ELF_K_ELF ||
	    !gelf_getehdr(object->elf, &object->header))
		return object_malformed(object, "not an ELF file");
	if (object->header.e_type != ET_REL)
		return object_malformed(object, "ELF type %u, not a relocatable object",
					object->header.e_type);
	object->arch = arch_find(object->header.e_machine, object->header.e_ident[EI_CLASS],
				 object->header.e_ident[EI_DATA]);
	if (!object->arch)
		return error_new(STATUS_REFUSED,
				 "%s: refused [elf-unsupported]: ELF machine %u, class %u, byte "
				 "order %u is not supported",
				 object->path, object->header.e_machine,
				 object->header.e_ident[EI_CLASS], object->header.e_ident[EI_DATA]);
	if (object->header.e_flags & object->arch->elf.foreign_flags)
		return error_new(STATUS_REFUSED,
				 "%s: refused [elf-unsupported]: flags %#x are of an ABI of %s "
				 "that is not supported",
				 object->path, object->header.e_flags, object->arch->name);
	return NULL;
}

/*
 * Take a compressed section's contents as they were before the assembler compressed them (gABI:
 * SHF_COMPRESSED), as it does with DWARF if the kernel has CONFIG_DEBUG_INFO_COMPRESSED_ZLIB.
 */
static struct error *read_compressed(struct object *object, Elf_Scn *scn, struct section *section)
{
	GElf_Chdr header;
	Elf_Data *data = NULL;

	if (gelf_getchdr(scn, &header) && header.ch_size <= LIMIT && elf_compress(scn, 0, 0) >= 0)
		data = elf_rawdata(scn, NULL);
	if (!data || (data->d_size && !data->d_buf))
		return object_malformed(object, "section %s cannot be decompressed", section->name);
	/* libelf frees its copy with the handle. */
	section->flags &= ~(uint64_t)SHF_COMPRESSED;
	section->size = section->room = data->d_size;
	section->data = xmalloc(data->d_size + 1);
	section->own_data = true;
	if (data->d_size)
		memcpy(section->data, data->d_buf, data->d_size);
	return NULL;
}

static struct error *read_section(struct object *object, Elf_Scn *scn, size_t names, size_t room)
{
	GElf_Shdr header;

	if (!gelf_getshdr(scn, &header))
		return object_malformed(object, "section %zu has no header", elf_ndxscn(scn));

	struct section *section = xcalloc(1, sizeof(*section));
	*vec_push(&object->sections) = section;
	section->index = elf_ndxscn(scn);
	section->name = elf_strptr(object->elf, names, header.sh_name);
	section->type = header.sh_type;
	section->flags = header.sh_flags;
	section->size = header.sh_size;
	section->align = header.sh_addralign ?: 1;
	section->entsize = header.sh_entsize;
	if (!section->name)
		return object_malformed(object, "section %zu has no name", section->index);
	if (section->align & (section->align - 1) || section->align > ALIGN_LIMIT)
		return object_malformed(object, "section %s has alignment %" PRIu64, section->name,
					section->align);
	if (section->size > LIMIT)
		return object_malformed(object, "section %s has size %" PRIu64, section->name,
					section->size);
	if (header.sh_link >= room)
		return object_malformed(object, "section %s is linked to section %u", section->name,
					header.sh_link);
	if (header.sh_type == SHT_NOBITS)
		return NULL;
	if (header.sh_flags & SHF_COMPRESSED)
		return read_compressed(object, scn, section);

	/* The raw data lies in the file's mapping, which outlives libelf's handle. */
	Elf_Data *data = elf_rawdata(scn, NULL);
	if (!data || data->d_size != header.sh_size || (header.sh_size && !data->d_buf))
		return object_malformed(object, "section %s cannot be read", section->name);
	section->data = data->d_buf;
	return NULL;
}

static struct error *read_sections(struct object *object)
{
	size_t count, names;

	if (elf_getshdrnum(object->elf, &count) || elf_getshdrstrndx(object->elf, &names))
		return object_malformed(object, "no section headers");
	*vec_push(&object->sections) = NULL;
	for (size_t i = 1; i < count; i++) {
		Elf_Scn *scn = elf_getscn(object->elf, i);

		if (!scn)
			return object_malformed(object, "section %zu cannot be read", i);
		TRY(read_section(object, scn, names, count));
	}
	return NULL;
}

static struct error *place_symbol(struct object *object, struct symbol *symbol, size_t shndx,
				  bool extended)
{
	bool livepatch = object->livepatch && shndx == SHN_LIVEPATCH;

	if (shndx == SHN_UNDEF ||
	    (!extended && (shndx == SHN_ABS || shndx == SHN_COMMON || livepatch))) {
		symbol->special = shndx;
		return NULL;
	}
	if ((!extended && shndx >= SHN_LORESERVE) || shndx >= object->sections.count)
		return object_malformed(object, "symbol %zu '%s' is in section %zu", symbol->index,
					symbol->name, shndx);
	symbol->section = object->sections.list[shndx];
	if (symbol->value > symbol->section->size ||
	    symbol->size > symbol->section->size - symbol->value)
		return object_malformed(object, "symbol '%s' reaches beyond the end of section %s",
					symbol->name, symbol->section->name);
	if (symbol->type == STT_SECTION)
		symbol->section->symbol = symbol;
	return NULL;
}

static Elf_Data *extended_numbers(struct object *object, size_t symtab)
{
	for (size_t i = 1; i < object->sections.count; i++) {
		Elf_Scn *scn = elf_getscn(object->elf, i);
		GElf_Shdr header;

		if (object->sections.list[i]->type == SHT_SYMTAB_SHNDX &&
		    gelf_getshdr(scn, &header) && header.sh_link == symtab)
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

static struct error *read_symbols(struct object *object)
{
	size_t symtab = 0;

	for (size_t i = 1; i < object->sections.count; i++) {
		if (object->sections.list[i]->type != SHT_SYMTAB)
			continue;
		if (symtab)
			return object_malformed(object, "two symbol tables");
		symtab = i;
	}
	if (!symtab)
		return object_malformed(object, "no symbol table");

	Elf_Scn *scn = elf_getscn(object->elf, symtab);
	GElf_Shdr header;
	Elf_Data *data = elf_getdata(scn, NULL), *numbers = extended_numbers(object, symtab);
	gelf_getshdr(scn, &header);
	size_t size = gelf_fsize(object->elf, ELF_T_SYM, 1, EV_CURRENT);
	if (header.sh_entsize != size || data->d_size % size)
		return object_malformed(object, "symbol table of entry size %" PRIu64,
					header.sh_entsize);

	*vec_push(&object->symbols) = NULL;
	for (size_t i = 1; i < data->d_size / size; i++) {
		GElf_Sym entry;
		Elf32_Word number = 0;

		if (!gelf_getsymshndx(data, numbers, i, &entry, &number))
			return object_malformed(object, "symbol %zu cannot be read", i);
		struct symbol *symbol = xcalloc(1, sizeof(*symbol));
		*vec_push(&object->symbols) = symbol;
		symbol->index = i;
		symbol->name = elf_strptr(object->elf, header.sh_link, entry.st_name);
		symbol->value = entry.st_value;
		symbol->size = entry.st_size;
		symbol->type = GELF_ST_TYPE(entry.st_info);
		symbol->bind = GELF_ST_BIND(entry.st_info);
		symbol->other = entry.st_other;
		if (!symbol->name)
			return object_malformed(object, "symbol %zu has no name", i);
		bool extended = entry.st_shndx == SHN_XINDEX;
		TRY(place_symbol(object, symbol, extended ? number : entry.st_shndx, extended));
		if (symbol->type == STT_SECTION && symbol->section)
			symbol->name = symbol->section->name;
	}
	return NULL;
}

/*
 * "int x;" with -fcommon makes a symbol whose value is its alignment.  The linker puts it into
 * .bss, so define it in a section of zeroes here.
 */
static struct error *define_commons(struct object *object)
{
	for (size_t i = 1; i < object->symbols.count; i++) {
		struct symbol *symbol = object->symbols.list[i];

		if (symbol->special != SHN_COMMON || symbol->section)
			continue;
		if (symbol->value & (symbol->value - 1) ||
		    symbol->value > ALIGN_LIMIT || symbol->size > LIMIT)
			return object_malformed(object,
						"common symbol '%s' has alignment %" PRIu64
						" and size %" PRIu64,
						symbol->name, symbol->value, symbol->size);
		char *name _free_ = xasprintf(".bss.%s", symbol->name);
		symbol->section = object_add_section(object, name, SHT_NOBITS,
						     SHF_ALLOC | SHF_WRITE, symbol->value, 0);
		symbol->section->index = object->sections.count - 1;
		symbol->section->size = symbol->size;
		symbol->special = SHN_UNDEF;
		symbol->type = STT_OBJECT;
		symbol->value = 0;
	}
	return NULL;
}

static int reloc_compare(const void *left, const void *right)
{
	const struct reloc *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void section_sort_relocs(struct section *section)
{
	for (size_t i = 1; i < section->relocs.count; i++)
		if (reloc_compare(&section->relocs.list[i - 1], &section->relocs.list[i]) > 0) {
			qsort(section->relocs.list, section->relocs.count,
			      sizeof(*section->relocs.list), reloc_compare);
			return;
		}
}

/* The mask's bits in byte i of a field, which is an integer in the byte order of code. */
static uint8_t mask_byte(const struct arch *arch, const struct reloc_kind *kind, uint64_t i)
{
	if (!kind->mask)
		return 0xff;
	return kind->mask >> 8 * (arch_is_big(arch) ? kind->size - 1 - i : i);
}

void reloc_clear(const struct object *object, struct section *section, uint64_t offset,
		 const struct reloc_kind *kind)
{
	if (!section->data)
		return;
	for (uint64_t i = 0; i < kind->size; i++) {
		uint8_t bits = section->data[offset + i] & mask_byte(object->arch, kind, i);

		/* Write only where a bit changes: a write copies the page of a private mapping. */
		if (bits)
			section->data[offset + i] ^= bits;
	}
}

/* The field as an integer in the byte order of code, to which struct reloc_kind's mask belongs. */
static uint64_t get_field(const struct object *object, const unsigned char *field, uint8_t size)
{
	bool big = arch_is_big(object->arch);
	uint64_t value = 0;

	for (uint8_t i = 0; i < size; i++)
		value |= (uint64_t)field[big ? size - 1 - i : i] << 8 * i;
	return value;
}

static void put_field(const struct object *object, unsigned char *field, uint8_t size,
		      uint64_t value)
{
	bool big = arch_is_big(object->arch);

	for (uint8_t i = 0; i < size; i++)
		field[big ? size - 1 - i : i] = value >> 8 * i;
}

static uint64_t addend_mask(const struct reloc_kind *kind)
{
	return kind->mask ?: UINT64_MAX >> (64 - 8 * kind->size);
}

int64_t reloc_get_addend(const struct object *object, const unsigned char *field,
			 const struct reloc_kind *kind)
{
	if (!kind || !kind->size)
		return 0;
	uint64_t mask = addend_mask(kind), value = get_field(object, field, kind->size) & mask;
	uint64_t sign = (mask >> 1) + 1;

	return (int64_t)(((value ^ sign) - sign) << kind->shift);
}

bool reloc_put_addend(const struct object *object, unsigned char *field,
		      const struct reloc_kind *kind, int64_t addend)
{
	if (!kind || !kind->size)
		return !addend;
	uint64_t mask = addend_mask(kind);
	int64_t value = addend >> kind->shift, limit = (int64_t)(mask >> 1) + 1;

	/* Without a mask a field takes signed and unsigned values: the last address is -1, too. */
	if (addend & (((int64_t)1 << kind->shift) - 1) || value < -limit ||
	    value > (kind->mask ? limit - 1 : 2 * limit - 1))
		return false;
	put_field(object, field, kind->size,
		  (get_field(object, field, kind->size) & ~mask) | (value & mask));
	return true;
}

static void split_info(const struct arch *arch, uint64_t info, uint32_t *ret_symbol,
		       uint32_t *ret_type)
{
	if (arch->relocs.info) {
		arch->relocs.info(info, ret_symbol, ret_type);
		return;
	}
	*ret_symbol = GELF_R_SYM(info);
	*ret_type = GELF_R_TYPE(info);
}

/* @holder: the section that gets the relocation; it is the target's, but for livepatch's */
static struct error *add_read_reloc(struct object *object, struct section *holder,
				    struct section *target, size_t i, const GElf_Rela *entry,
				    bool addend_in_field)
{
	uint32_t index, type;

	split_info(object->arch, entry->r_info, &index, &type);
	const struct reloc_kind *kind = arch_reloc(object->arch, type);
	uint64_t length = kind ? kind->size : 0; /* object_split() refuses unknown types */
	if (index >= object->symbols.count || (!index && !(kind && kind->idle)))
		return object_malformed(object, "relocation %zu of section %s names symbol %u", i,
					target->name, index);
	if (entry->r_offset > target->size || length > target->size - entry->r_offset)
		return object_malformed(object, "relocation %zu lies outside section %s", i,
					target->name);
	if (entry->r_addend > LIMIT || entry->r_addend < -LIMIT)
		return object_malformed(object, "relocation %zu of section %s has addend %" PRId64,
					i, target->name, (int64_t)entry->r_addend);
	if (kind && kind->idle)
		return NULL;
	int64_t addend = entry->r_addend;
	if (addend_in_field && target->data)
		addend = reloc_get_addend(object, target->data + entry->r_offset, kind);
	if (kind && !kind->adds)
		reloc_clear(object, target, entry->r_offset, kind);
	*vec_push(&holder->relocs) = (struct reloc){
		.offset = entry->r_offset,
		.type = type,
		.order = i,
		.symbol = object->symbols.list[index],
		.addend = addend,
	};
	return NULL;
}

bool object_reloc_entry(Elf_Data *data, size_t i, bool rel, GElf_Rela *ret)
{
	GElf_Rel entry;

	if (!rel)
		return gelf_getrela(data, i, ret);
	if (!gelf_getrel(data, i, &entry))
		return false;
	*ret = (GElf_Rela){.r_offset = entry.r_offset, .r_info = entry.r_info};
	return true;
}

static struct error *read_relocs(struct object *object, struct section *rela)
{
	Elf_Scn *scn = elf_getscn(object->elf, rela->index);
	Elf_Data *data = elf_getdata(scn, NULL);
	const struct arch *arch = object->arch;
	bool rel = rela->type == SHT_REL;
	size_t size = gelf_fsize(object->elf, rel ? ELF_T_REL : ELF_T_RELA, 1, EV_CURRENT);
	GElf_Shdr header;

	gelf_getshdr(scn, &header);
	if (!header.sh_info || header.sh_info >= object->sections.count)
		return object_malformed(object, "section %s applies to section %u", rela->name,
					header.sh_info);
	struct section *target = object->sections.list[header.sh_info];
	/* clang's .rel.llvm.call-graph-profile matters only to a linker. */
	if (rel && !arch->addends.in_fields && !(target->flags & SHF_ALLOC))
		return NULL;
	if (object->no_dwarf && has_prefix(target->name, ".debug_"))
		return NULL;
	if (rel && !arch->addends.in_fields) {
		char *name _free_ = one_line(xstrdup(rela->name));

		return error_new(STATUS_REFUSED,
				 "%s: refused [elf-unsupported]: section %s has relocations "
				 "without addends",
				 object->path, name);
	}
	if (header.sh_entsize != size || data->d_size % size)
		return object_malformed(object, "section %s has entry size %" PRIu64, rela->name,
					header.sh_entsize);
	if (object->livepatch && rela->flags & SHF_RELA_LIVEPATCH)
		rela->target = target;
	struct section *holder = rela->target ? rela : target;
	if (holder->relocs.count)
		return object_malformed(object, "section %s has two relocation sections",
					target->name);
	vec_reserve(&holder->relocs, data->d_size / size);
	for (size_t i = 0; i < data->d_size / size; i++) {
		GElf_Rela entry;

		object_reloc_entry(data, i, rel, &entry);
		TRY(add_read_reloc(object, holder, target, i, &entry, rel));
	}
	if (rel && arch->addends.join)
		TRY(arch->addends.join(object, target));
	section_sort_relocs(holder);
	if (!arch->relocs.fold || !(target->flags & SHF_ALLOC) || rela->target)
		return NULL;
	return arch->relocs.fold(object, target);
}

static int mark_compare(const void *left, const void *right)
{
	const struct mark *a = left, *b = right;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void read_marks(struct object *object)
{
	if (!object->arch->symbols.mark)
		return;
	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];
		enum symbol_mark mark = arch_symbol_mark(object->arch, symbol);

		if (symbol->section && (mark == MARK_CODE || mark == MARK_DATA) &&
		    section_is_text(symbol->section))
			*vec_push(&symbol->section->marks) =
				(struct mark){symbol->value, mark == MARK_DATA};
	}
	for (size_t i = 1; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];

		if (section->marks.count > 1)
			qsort(section->marks.list, section->marks.count,
			      sizeof(*section->marks.list), mark_compare);
	}
}

/* @ret has no more than its path and how it is to be read. */
static struct error *read_object(struct object *ret)
{
	struct error *error = read_header(ret);

	if (!error)
		error = read_sections(ret);
	if (!error)
		error = read_symbols(ret);
	if (!error)
		error = define_commons(ret);
	if (!error)
		read_marks(ret);
	for (size_t i = 1; !error && i < ret->sections.count; i++) {
		struct section *section = ret->sections.list[i];

		if (section->type == SHT_RELA || section->type == SHT_REL)
			error = read_relocs(ret, section);
	}
	/* Names and contents lie in the mapping, so free libelf's 200 bytes for each section. */
	elf_end(ret->elf);
	ret->elf = NULL;
	if (error)
		object_deinit(ret);
	return error;
}

struct error *object_read(const char *path, struct object *ret)
{
	*ret = (struct object){.path = xstrdup(path)};
	return read_object(ret);
}

struct error *object_read_code(const char *path, struct object *ret)
{
	*ret = (struct object){.path = xstrdup(path), .no_dwarf = true};
	return read_object(ret);
}

struct error *object_read_livepatch(const char *path, struct object *ret)
{
	*ret = (struct object){.path = xstrdup(path), .livepatch = true};
	return read_object(ret);
}

void object_init(struct object *object, const struct arch *arch, const GElf_Ehdr *header)
{
	*object = (struct object){.path = xstrdup("(new object)")};
	object->arch = arch;
	object->header = *header;
	*vec_push(&object->sections) = NULL;
	*vec_push(&object->symbols) = NULL;
}

void section_destroy(struct section *section)
{
	if (!section)
		return;
	if (section->own_data)
		free(section->data);
	vec_deinit(&section->relocs);
	vec_deinit(&section->marks);
	free(section);
}

void object_deinit(struct object *object)
{
	debuginfo_close(object->debuginfo);
	for (size_t i = 0; i < object->sections.count; i++)
		section_destroy(object->sections.list[i]);
	for (size_t i = 0; i < object->symbols.count; i++)
		free(object->symbols.list[i]);
	for (size_t i = 0; i < object->names.count; i++)
		free(object->names.list[i]);
	vec_deinit(&object->sections);
	vec_deinit(&object->symbols);
	vec_deinit(&object->names);
	disasm_close(object->disasm);
	if (object->map)
		munmap(object->map, object->map_size);
	free(object->path);
	*object = (struct object){0};
}

static const char *object_own_name(struct object *object, const char *name)
{
	return *vec_push(&object->names) = xstrdup(name);
}

struct section *object_add_section(struct object *object, const char *name, uint32_t type,
				   uint64_t flags, uint64_t align, uint64_t entsize)
{
	struct section *section = xcalloc(1, sizeof(*section));

	*vec_push(&object->sections) = section;
	section->name = object_own_name(object, name);
	section->type = type;
	section->flags = flags;
	section->align = align ?: 1;
	section->entsize = entsize;
	section->own_data = true;
	return section;
}

static void section_reserve(struct section *section, uint64_t size)
{
	if (section->own_data && size <= section->room)
		return;
	uint64_t room = section->room * 2 > size ? section->room * 2 : size;
	unsigned char *data = xreallocarray(section->own_data ? section->data : NULL, room, 1);

	if (!section->own_data && section->size)
		memcpy(data, section->data, section->size);
	section->data = data;
	section->room = room;
	section->own_data = true;
}

uint64_t section_append(struct section *section, const void *bytes, uint64_t size, uint64_t align)
{
	uint64_t offset = align > 1 ? (section->size + align - 1) & ~(align - 1) : section->size;

	if (section->align < align)
		section->align = align;
	if (section->type != SHT_NOBITS && offset + size) {
		section_reserve(section, offset + size);
		memset(section->data + section->size, 0, offset + size - section->size);
		if (size && bytes)
			memcpy(section->data + offset, bytes, size);
	}
	section->size = offset + size;
	return offset;
}

struct symbol *object_add_symbol(struct object *object, const char *name, struct section *section,
				 uint64_t value, uint64_t size, unsigned char type,
				 unsigned char bind)
{
	struct symbol *symbol = xcalloc(1, sizeof(*symbol));

	*vec_push(&object->symbols) = symbol;
	symbol->name = object_own_name(object, name);
	symbol->section = section;
	symbol->value = value;
	symbol->size = size;
	symbol->type = type;
	symbol->bind = bind;
	return symbol;
}

struct symbol *object_section_symbol(struct object *object, struct section *section)
{
	if (!section->symbol)
		section->symbol = object_add_symbol(object, section->name, section, 0, 0,
						    STT_SECTION, STB_LOCAL);
	return section->symbol;
}

void section_add_reloc(struct section *section, uint64_t offset, uint32_t type,
		       struct symbol *symbol, int64_t addend)
{
	*vec_push(&section->relocs) = (struct reloc){
		.offset = offset,
		.type = type,
		.order = section->relocs.count,
		.symbol = symbol,
		.addend = addend,
	};
}

void section_add_address(struct object *object, struct section *section, uint64_t field,
			 struct symbol *symbol, int64_t addend)
{
	section_add_reloc(section, arch_wide_address(object->arch, field),
			  object->arch->relocs.address, symbol, addend);
}

struct section *object_find_section(const struct object *object, const char *name)
{
	for (size_t i = 0; i < object->sections.count; i++)
		if (object->sections.list[i] && !strcmp(object->sections.list[i]->name, name))
			return object->sections.list[i];
	return NULL;
}
