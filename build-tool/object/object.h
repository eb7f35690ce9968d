/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A relocatable ELF object in memory: read, checked, and written back.
 *
 * object_read() checks every index, offset and size of the file (gABI, chapters "Sections", "Symbol
 * Table", "Relocation"), and the code that uses the structures afterwards trusts them.
 */
#ifndef POKEPATCH_OBJECT_H
#define POKEPATCH_OBJECT_H

#include <gelf.h>

#include "object/arch.h"
#include "common/util.h"

struct atom;
struct debuginfo;
struct section_rule;

struct disasm;

/* The kernel's include/uapi/linux/elf.h. */
#ifndef SHN_LIVEPATCH
#define SHN_LIVEPATCH	   0xff20
#define SHF_RELA_LIVEPATCH 0x00100000
#endif

struct reloc {
	uint64_t offset; /* in the section that it applies to */
	uint32_t type;	 /* of the ELF machine, or one that only arch_relocs.fold() makes */
	uint32_t order;	 /* place in the file's table: several may have one offset */
	struct symbol *symbol;
	int64_t addend;
	/*
	 * Where the value of a PC-relative relocation counts from, in bytes from offset: often
	 * the end of the instruction (references.c).  It means symbol + addend + behind.
	 */
	int32_t behind;
	/*
	 * For the lower part of an address that counts from the place of another instruction
	 * (riscv PCREL_LO12 from its auipc): bytes from offset to that instruction; else 0.
	 */
	int32_t upper;
};

/* A text section holds data, or instructions, from a mark to the next one. */
struct mark {
	uint64_t offset;
	bool data;
};

struct section {
	size_t index; /* in the file; 0 for a section that was added */
	const char *name;
	uint32_t type; /* SHT_ */
	uint64_t flags;
	uint64_t size; /* bytes */
	uint64_t align, entsize;
	unsigned char *data; /* NULL for SHT_NOBITS; in the object's map unless own_data */
	bool own_data;
	uint64_t room; /* bytes allocated, if own_data */
	VEC(struct reloc) relocs; /* by offset once read */
	VEC(struct mark) marks;	  /* by offset; from mapping symbols (arch_symbols.mark) */
	struct symbol *symbol; /* its STT_SECTION symbol, or NULL */
	/* Of a section of livepatch relocations (object_read_livepatch()): where they apply. */
	struct section *target;
	const struct section_rule *rule;
	VEC(struct atom *) atoms; /* by start; see atoms.c */
};

struct symbol {
	size_t index;
	const char *name;
	uint64_t value, size;
	unsigned char type, bind, other;
	struct section *section; /* NULL: undefined, absolute or common */
	/* Where section is NULL: SHN_UNDEF, SHN_ABS, SHN_COMMON or SHN_LIVEPATCH. */
	uint16_t special;
	struct atom *atom;
};

struct object {
	char *path; /* for messages */
	void *map; /* the file, mapped privately; NULL for an object that object_init() made */
	size_t map_size;
	Elf *elf; /* only while the object is read */
	GElf_Ehdr header;
	const struct arch *arch;
	/* Pointers to sections and symbols are stable.  [0] is NULL. */
	VEC(struct section *) sections;
	VEC(struct symbol *) symbols;
	VEC(char *) names;	/* of sections and symbols that were added; owned */
	VEC(struct atom *) atoms; /* by index */
	bool livepatch, no_dwarf; /* object_read_livepatch(), object_read_code() reads it */
	struct disasm *disasm;	/* opened when first needed */
	struct debuginfo *debuginfo; /* opened when first needed, by debuginfo_of() */
};

/*
 * object_read - read a relocatable object.  Errors: not ELF, not ET_REL, of an unsupported machine,
 * or malformed, by name (STATUS_REFUSED), or unreadable (STATUS_FAILED).  On success ret is the
 * caller's to deinit.
 * object_read_code - the same without the relocations of DWARF, which are most of a unit's; for an
 * object that is not written again.  debuginfo_of() reads them when it is asked.
 * object_read_livepatch - the same of a module for the kernel's livepatch core.  Relocations that
 * this core makes (SHF_RELA_LIVEPATCH) are the relocs of their own section, which has a target;
 * their offsets are in the target.  The others refuse symbols of SHN_LIVEPATCH.
 */
struct error *object_read(const char *path, struct object *ret);
struct error *object_read_code(const char *path, struct object *ret);
struct error *object_read_livepatch(const char *path, struct object *ret);
/*
 * An addend beyond this is refused, whether it is read or to be written (moving a reference changes
 * its addend).  Real ones reach 2^47: "init_top_pgt - PAGE_OFFSET".
 */
#define OBJECT_ADDEND_LIMIT (1ll << 56)

/* object_malformed - the error for a damaged file, in one line whatever names the file has. */
struct error *object_malformed(const struct object *object, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));
/* object_init - make an empty object for a machine, which the caller fills and writes. */
void object_init(struct object *object, const struct arch *arch, const GElf_Ehdr *header);
void object_deinit(struct object *object);

/* Adding to an object copies names and data (NULL: zeroes). */
struct section *object_add_section(struct object *object, const char *name, uint32_t type,
				   uint64_t flags, uint64_t align, uint64_t entsize);
/* section_destroy - free a section that the caller has taken out of the list; NULL is allowed. */
void section_destroy(struct section *section);
/* section_append - add bytes at an alignment; returns the offset of the first. */
uint64_t section_append(struct section *section, const void *bytes, uint64_t size, uint64_t align);
struct symbol *object_add_symbol(struct object *object, const char *name,
				 struct section *section, uint64_t value, uint64_t size,
				 unsigned char type, unsigned char bind);
/*
 * symbol_prefixed_name - the name of the function in front of which a symbol may stand; or NULL.
 * clang's kCFI has the hash of f's type in front of f, named "__cfi_f"; objtool names NOPs there
 * "__pfx_f".  But kernel/cfi.c of older kernels has functions with such names: look for f behind.
 */
const char *symbol_prefixed_name(const struct symbol *symbol);

/* object_section_symbol - the STT_SECTION symbol of a section, which is added if missing. */
struct symbol *object_section_symbol(struct object *object, struct section *section);
void section_add_reloc(struct section *section, uint64_t offset, uint32_t type,
		       struct symbol *symbol, int64_t addend);
/* section_add_address - add a symbol's address in a field of 64 bits (arch_wide_address()). */
void section_add_address(struct object *object, struct section *section, uint64_t field,
			 struct symbol *symbol, int64_t addend);
/* object_find_section - the first of that name, or NULL. */
struct section *object_find_section(const struct object *object, const char *name);

/*
 * object_write - write as ET_REL, atomically: sections in list order, a RELA or REL section behind
 * each section that has relocations, local symbols before the others, and extended section numbers
 * where they are needed.  The object's relocations are unfolded afterwards (arch_relocs.unfold).
 */
struct error *object_write(struct object *object, const char *path);

/*
 * object_trim - drop sections and local symbols of a module, just read, that nothing refers to and
 * that the loader does not find by name.  Their slots become NULL: object_write() may follow.
 */
void object_trim(struct object *object);

/*
 * object_reloc_entry - entry i of a section of SHT_RELA, or of SHT_REL (rel), which gets addend 0;
 * false: there is no such entry.
 */
bool object_reloc_entry(Elf_Data *data, size_t i, bool rel, GElf_Rela *ret);
/*
 * reloc_get_addend, reloc_put_addend - the addend in a field, as struct reloc_kind describes it.
 * Without a kind (NULL) a field holds no addend, that is 0.  False, and nothing written: the addend
 * does not fit.
 */
int64_t reloc_get_addend(const struct object *object, const unsigned char *field,
			 const struct reloc_kind *kind);
bool reloc_put_addend(const struct object *object, unsigned char *field,
		      const struct reloc_kind *kind, int64_t addend);

/* reloc_clear - set the bits that a relocation writes to zero. */
void reloc_clear(const struct object *object, struct section *section, uint64_t offset,
		 const struct reloc_kind *kind);
/* section_sort_relocs - by offset, and by order where that is equal. */
void section_sort_relocs(struct section *section);

/* Integers in the object's byte order. */
uint16_t object_get16(const struct object *object, const unsigned char *p);
uint32_t object_get32(const struct object *object, const unsigned char *p);
uint64_t object_get64(const struct object *object, const unsigned char *p);
/* object_get_long - a C long, which has the size of an address, as an unsigned number. */
uint64_t object_get_long(const struct object *object, const unsigned char *p);
void object_put32(const struct object *object, unsigned char *p, uint32_t value);
void object_put64(const struct object *object, unsigned char *p, uint64_t value);

static inline bool section_is_text(const struct section *section)
{
	return section->flags & SHF_EXECINSTR;
}

#endif /* POKEPATCH_OBJECT_H */
