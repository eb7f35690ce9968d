// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Making the objects of --return; see return_objects.h.
 *
 * The exact object has what kbuild's would have of the functions: the parent's own code, with
 * relocations where the parent's fields depend on where it is loaded, and the entries of the tables
 * of places that the kernel rewrites.  From it follows which bytes the core compares in memory.
 *
 * Of the original, the differ and the proof need the names, the sizes, the entries, and which
 * functions it calls, for a warning if tasks sleep in these; the rest is zeroes.  The new function
 * begins with the same entry, so that it can be traced as the old one.
 */
#include "pokepatch-build/return_objects.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "object/parent_tables.h"

#define CODE_ALIGN 16
/* More than the size of any kernel's image. */
#define IMAGE_MAX (1ull << 30)

/* An object that is being made. */
struct made {
	struct object object;
	struct map undefined; /* struct symbol *, by name */
};

struct maker {
	const struct parent *parent;
	const struct arch *arch;
	const struct returning *function; /* the one that is being made */
	const unsigned char *code;	  /* of the parent's */
	uint64_t lead;	   /* bytes of an entry in front of the function */
	int64_t place;	   /* what the table of entries names, from the function's start */
	uint64_t entry_end; /* from the function's start; 0: it has no entry */
	bool thunk;
	struct made exact, orig, patched;
};

static struct error *cannot_read(const struct maker *maker, const char *name)
{
	return error_new(STATUS_FAILED, "%s: it has no code of '%s'", maker->parent->path, name);
}

/* How far in front of a function the place may be that a table names for it, at most. */
static uint64_t longest_lead(const struct arch *arch)
{
	const struct late_table *table = arch->loader.late_tables;
	uint64_t longest = 0;

	for (; table && table->section; table++)
		if (table->lead > longest)
			longest = table->lead;
	return longest;
}

static struct symbol *undefined(struct made *made, const char *name)
{
	void **slot = map_slot(&made->undefined, name);

	if (!*slot)
		*slot = object_add_symbol(&made->object, name, NULL, 0, 0, STT_NOTYPE, STB_GLOBAL);
	return *slot;
}

static void add_piece(struct made *made, struct section *section, const struct return_piece *piece)
{
	const uint64_t at = section_append(section, piece->code, piece->length, 1);

	if (piece->symbol)
		section_add_reloc(section, at + piece->at, piece->type,
				  undefined(made, piece->symbol), piece->addend);
}

/* ---- tables ------------------------------------------------------------------------- */

/* An entry of a table: its bytes, and the relocation of the place that it begins with. */
static void add_entry(struct object *object, const struct arch *arch, const char *table,
		      uint64_t flags, const void *bytes, uint8_t size, bool distance,
		      struct section *code, uint64_t place)
{
	struct section *section = object_find_section(object, table);

	if (!section)
		section = object_add_section(object, table, SHT_PROGBITS, flags, 1, 0);
	section_add_reloc(section, section_append(section, bytes, size, 1),
			  distance ? arch->returns.distance : arch->relocs.address,
			  object_section_symbol(object, code), (int64_t)place);
}

/*
 * Find an entry's place and its end, in bytes from the function's start; the end is 0 if there is
 * no entry.
 */
static uint64_t find_entry(const struct parent *parent, const struct arch *arch,
			   const struct parent_symbol *symbol, const unsigned char *code,
			   int64_t *ret_place)
{
	const uint8_t sizes[] = {arch_address_size(arch), 0};
	struct parent_entries entries;
	uint64_t end = 0;

	parent_entries_read(parent, arch, arch->returns.entry_table, sizes, symbol,
			    longest_lead(arch), &entries);
	for (size_t i = 0; i < entries.list.count && !end; i++) {
		*ret_place = (int64_t)(entries.list.list[i].place - symbol->value);
		end = arch->returns.entry_end(code, symbol->size, *ret_place);
	}
	vec_deinit(&entries.list);
	return end;
}

bool return_has_entry(const struct parent *parent, const struct arch *arch,
		      const struct parent_symbol *symbol)
{
	uint64_t room;
	int64_t place;
	const unsigned char *code = parent_bytes(parent, symbol, &room);

	return code && room >= symbol->size && find_entry(parent, arch, symbol, code, &place);
}

/* Copy what a table of the parent has about a piece of code. */
static void copy_table(struct maker *maker, const char *name, const uint8_t *sizes,
		       const struct parent_symbol *symbol, uint64_t lead, struct section *code)
{
	struct parent_entries entries;

	parent_entries_read(maker->parent, maker->arch, name, sizes, symbol, lead, &entries);
	for (size_t i = 0; i < entries.list.count; i++) {
		const struct parent_entry *entry = &entries.list.list[i];

		add_entry(&maker->exact.object, maker->arch, name, SHF_ALLOC, entry->bytes, entry->size,
			  entry->distance, code, entry->place + lead - symbol->value);
	}
	vec_deinit(&entries.list);
}

/* The tables that struct arch_loader names, and the sizes of their entries. */
struct table_names {
	struct map seen;
	VEC(struct table_sizes {
		const char *name;
		uint8_t sizes[4];
	}) list;
};

static void add_table(struct table_names *names, const char *name, uint8_t size)
{
	void **slot = map_slot(&names->seen, name);
	struct table_sizes *table;
	size_t i = 0;

	if (!*slot) {
		table = vec_push(&names->list);
		table->name = name;
		*slot = (void *)(uintptr_t)names->list.count;
	}
	table = &names->list.list[(uintptr_t)*slot - 1];
	while (i < ARRAY_SIZE(table->sizes) - 1 && table->sizes[i] && table->sizes[i] != size)
		i++;
	table->sizes[i] = size;
}

/* runtime_ptr_dentry_hashtable: all sections of the parent with the prefix. */
static void add_prefixed(const struct parent *parent, const struct late_table *table,
			 struct table_names *names)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t strings;

	if (elf_getshdrstrndx(parent->elf, &strings))
		return;
	while ((scn = elf_nextscn(parent->elf, scn))) {
		const char *name = gelf_getshdr(scn, &header)
					   ? elf_strptr(parent->elf, strings, header.sh_name)
					   : NULL;

		if (name && has_prefix(name, table->section))
			add_table(names, name, table->entry);
	}
}

static void list_tables(const struct parent *parent, const struct arch_loader *loader,
			struct table_names *ret)
{
	for (const struct site_table *table = loader->site_tables; table && table->section; table++)
		add_table(ret, table->section, table->entry);
	for (const struct late_table *table = loader->late_tables; table && table->section; table++)
		add_table(ret, table->section, table->entry);
	for (const struct late_table *table = loader->late_prefixes; table && table->section;
	     table++)
		add_prefixed(parent, table, ret);
	for (const char *const *table = loader->objtool_tables; table && *table; table++)
		add_table(ret, *table, 4);
}

static void copy_tables(struct maker *maker, const struct parent_symbol *symbol, uint64_t lead,
			struct section *code)
{
	struct table_names names = {0};

	list_tables(maker->parent, &maker->arch->loader, &names);
	for (size_t i = 0; i < names.list.count; i++)
		copy_table(maker, names.list.list[i].name, names.list.list[i].sizes, symbol, lead,
			   code);
	map_deinit(&names.seen);
	vec_deinit(&names.list);
}

/* ---- relocations of the exact object ------------------------------------------------ */

struct moving {
	struct maker *maker;
	struct section *section;
};

/* All of vmlinux moves together, so one symbol does for all places. */
static void add_moving(void *context, uint64_t offset, uint32_t type, uint64_t value)
{
	const struct moving *moving = context;

	section_add_reloc(moving->section, offset, type,
			  undefined(&moving->maker->exact, "_stext"),
			  (int64_t)(value - moving->maker->parent->base));
}

static void relocate_linked(struct maker *maker, const struct parent_symbol *symbol,
			    struct section *section, uint64_t at)
{
	const struct parent *parent = maker->parent;
	const struct parent_symbol *end = parent_global(parent, "_end");
	const struct image_range image = {parent->base,
					  end ? end->value : parent->base + IMAGE_MAX};
	struct moving moving = {maker, section};

	if (maker->arch->returns.moving_fields)
		maker->arch->returns.moving_fields(&maker->exact.object, section, at, at + symbol->size,
						   symbol->value, image, add_moving, &moving);
}

/* A module's own relocations; where one leads to within the module, only its field matters. */
static void relocate_module(struct maker *maker, const struct parent_symbol *symbol,
			    struct section *section, uint64_t at)
{
	const struct parent_relocs *relocs =
		parent_relocs(maker->parent, maker->arch, symbol->section_number);

	for (size_t i = 0; i < relocs->list.count; i++) {
		const struct parent_reloc *reloc = &relocs->list.list[i];

		if (reloc->offset - symbol->value < symbol->size)
			section_add_reloc(section, reloc->offset - symbol->value + at, reloc->type,
					  undefined(&maker->exact,
						    *reloc->name ? reloc->name : "pokepatch_place"),
					  reloc->addend);
	}
}

/* ---- the three objects -------------------------------------------------------------- */

static struct section *add_code(struct object *object, const char *prefix,
				const struct parent_symbol *symbol)
{
	char *name _free_ = xasprintf("%s%s", prefix, symbol->name);

	return object_add_section(object, name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE_ALIGN,
				  0);
}

static void add_function(struct object *object, const struct parent_symbol *symbol,
			 struct section *section, uint64_t at, uint64_t size)
{
	object_add_symbol(object, symbol->name, section, at, size, STT_FUNC,
			  symbol->global ? STB_GLOBAL : STB_LOCAL);
}

/* Add a piece of the parent's code to the exact object, with lead bytes in front of it. */
static struct error *add_exact(struct maker *maker, const struct parent_symbol *symbol,
			       uint64_t lead)
{
	struct section *section = add_code(&maker->exact.object, ".text.", symbol);
	uint64_t room;
	const unsigned char *bytes = parent_contents(maker->parent, symbol->section_number,
						     symbol->value - lead, &room);

	if (!bytes || room < lead + symbol->size)
		return cannot_read(maker, symbol->name);
	section_append(section, bytes, lead + symbol->size, 1);
	add_function(&maker->exact.object, symbol, section, lead, symbol->size);
	if (parent_is_vmlinux(maker->parent))
		relocate_linked(maker, symbol, section, lead);
	else
		relocate_module(maker, symbol, section, lead);
	copy_tables(maker, symbol, lead, section);
	return NULL;
}

/* The entry as compilers write it, and its row in their table. */
static void add_function_entry(struct maker *maker, struct made *made, struct section *section)
{
	const struct arch_returns *returns = &maker->arch->returns;
	static const unsigned char zeroes[8];
	uint64_t end = maker->entry_end;

	if (!end)
		return;
	if (returns->call.code)
		end -= returns->call.length;
	section_append(section, maker->code - maker->lead, maker->lead + end, 1);
	if (returns->call.code)
		add_piece(made, section, &returns->call);
	add_entry(&made->object, maker->arch, returns->entry_table, returns->entry_flags, zeroes,
		  arch_address_size(maker->arch), false, section,
		  (uint64_t)(maker->place + (int64_t)maker->lead));
}

/* The calls of a function in the exact object that the original is to have, too. */
struct calls {
	struct maker *maker;
	const struct parent_symbol *symbol;
	uint64_t start; /* of the function in the exact object's section */
	struct section *to;
	uint64_t at; /* of the function there */
};

static void add_call(void *context, const struct local_reference *reference)
{
	const struct calls *calls = context;
	const uint64_t target = reference->target - calls->start;
	const struct parent_symbol *callee =
		target < calls->symbol->size || !reference->type
			? NULL
			: parent_function_at(calls->maker->parent, calls->symbol->value + target);

	if (callee)
		section_add_reloc(calls->to, reference->offset - calls->start + calls->at,
				  reference->type, undefined(&calls->maker->orig, callee->name), 0);
}

/* Calls out of a module have relocations; those of vmlinux are linked. */
static void add_calls(struct maker *maker, const struct parent_symbol *symbol,
		      struct section *to, uint64_t at)
{
	char *name _free_ = xasprintf(".text.%s", symbol->name);
	struct section *from = object_find_section(&maker->exact.object, name);
	struct calls calls = {maker, symbol, from->size - symbol->size, to, at};
	/* The call of the entry is there already. */
	const uint64_t first =
		calls.start + (symbol == maker->function->symbol ? maker->entry_end : 0);

	if (parent_is_vmlinux(maker->parent))
		maker->arch->code.local_references(&maker->exact.object, from, first, from->size,
						   add_call, &calls);
	for (size_t i = 0; !parent_is_vmlinux(maker->parent) && i < from->relocs.count; i++) {
		const struct reloc *reloc = &from->relocs.list[i];

		if (reloc->offset >= first)
			section_add_reloc(to, reloc->offset - calls.start + at, reloc->type,
					  undefined(&maker->orig, reloc->symbol->name), 0);
	}
}

static void add_orig(struct maker *maker)
{
	const struct parent_symbol *symbol = maker->function->symbol, *cold = maker->function->cold;
	struct section *section = add_code(&maker->orig.object, ".text.", symbol);

	add_function_entry(maker, &maker->orig, section);
	section_append(section, NULL, maker->lead + symbol->size - section->size, 1);
	add_function(&maker->orig.object, symbol, section, maker->lead, symbol->size);
	add_calls(maker, symbol, section, maker->lead);
	if (!cold)
		return;
	section = add_code(&maker->orig.object, ".text.unlikely.", symbol);
	section_append(section, NULL, cold->size, 1);
	add_function(&maker->orig.object, cold, section, 0, cold->size);
	add_calls(maker, cold, section, 0);
}

static void add_patched(struct maker *maker)
{
	const struct arch_returns *returns = &maker->arch->returns;
	const struct returning *function = maker->function;
	struct section *section = add_code(&maker->patched.object, ".text.", function->symbol);
	uint8_t code[RETURN_LOAD_MAX];

	add_function_entry(maker, &maker->patched, section);
	if (function->size)
		section_append(section, code,
			       returns->load(maker->arch, function->value, function->size, code),
			       1);
	add_piece(&maker->patched, section,
		  maker->thunk && returns->thunk.code ? &returns->thunk : &returns->leave);
	add_function(&maker->patched.object, function->symbol, section, maker->lead,
		     section->size - maker->lead);
}

static struct error *add_all(struct maker *maker, const struct returning *function)
{
	uint64_t room;

	maker->function = function;
	maker->code = parent_bytes(maker->parent, function->symbol, &room);
	if (!maker->code || room < function->symbol->size)
		return cannot_read(maker, function->symbol->name);
	maker->entry_end = find_entry(maker->parent, maker->arch, function->symbol, maker->code,
				      &maker->place);
	maker->lead = maker->entry_end && maker->place < 0 ? (uint64_t)-maker->place : 0;
	TRY(add_exact(maker, function->symbol, maker->lead));
	if (function->cold)
		TRY(add_exact(maker, function->cold, 0));
	add_orig(maker);
	add_patched(maker);
	return NULL;
}

static void begin(struct object *object, const struct arch *arch, const GElf_Ehdr *header,
		  const char *source)
{
	const char *slash = strrchr(source, '/');

	object_init(object, arch, header);
	object_add_symbol(object, slash ? slash + 1 : source, NULL, 0, 0, STT_FILE, STB_LOCAL)
		->special = SHN_ABS;
}

struct error *return_objects_write(const struct parent *parent, const struct arch *arch,
				   const char *source, const struct returning *list, size_t count,
				   bool thunk, const struct return_paths *paths)
{
	struct maker maker = {.parent = parent, .arch = arch, .thunk = thunk};
	struct made *const all[] = {&maker.exact, &maker.orig, &maker.patched};
	const char *const files[] = {paths->exact, paths->orig, paths->patched};
	struct error *error = NULL;
	GElf_Ehdr header;

	if (!gelf_getehdr(parent->elf, &header))
		return error_new(STATUS_FAILED, "%s: unreadable header", parent->path);
	header.e_type = ET_REL;
	header.e_entry = header.e_phoff = 0;
	header.e_phentsize = header.e_phnum = 0;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		begin(&all[i]->object, arch, &header, source);
	for (size_t i = 0; !error && i < count; i++)
		error = add_all(&maker, &list[i]);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (!error)
			error = object_write(&all[i]->object, files[i]);
		map_deinit(&all[i]->undefined);
		object_deinit(&all[i]->object);
	}
	return error;
}
