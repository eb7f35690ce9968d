// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the output object of a unit.  Each included atom gets a section of its own.  Each of its
 * relocations leads to another included atom, to a copy of a string or constant, or to an undefined
 * symbol (select_link()).
 */
#include "diff/emit.h"

#include <stdlib.h>
#include <string.h>

#include "diff/diff_rows.h"
#include "diff/externals.h"
#include "diff/veneers.h"
#include "object/disasm.h"

/* struct static_key: an atomic_t and a pointer; 16 bytes on 64-bit kernels, 8 on others. */
#define INERT_KEY_SIZE 16

/* Flags of the compiler's sections that sections of the output object do not have. */
#define DROPPED_FLAGS (SHF_MERGE | SHF_STRINGS | SHF_GROUP | SHF_LINK_ORDER)

/* The place of an atom in the output object. */
struct place {
	struct section *section;
	uint64_t offset; /* of the atom's start, which follows its prefix */
	struct symbol *symbol;
};

struct emitter {
	struct section *inert_key;
	struct selection *selection;
	struct object out;
	struct place *places; /* by index of the atom of patched */
	struct map undefined; /* struct symbol *, by name */
	struct map contents;  /* offset + 1 in strings or constants, by content */
	VEC(char *) keys;
	struct section *strings, *constants, *funcs;
	struct map tables; /* struct section * of out, by name */
	struct veneers veneers;
	const struct veneer *veneer; /* for all calls, unless the machine has for_call() */
};

/* ---- places for atoms ------------------------------------------------------------- */

static const char *const mergeable_prefixes[] = {".text.", ".data.", ".bss.", ".rodata."};

/* The module loader treats these as their names say.  It has no .data..percpu..read_mostly. */
static const char *const loader_sections[] = {".data..percpu", ".data..ro_after_init"};

/*
 * Each atom gets a section of its own: link.c's linker script merges sections by kind, and ld drops
 * none of them.
 */
static char *out_section_name(const struct atom *atom)
{
	const struct section *section = atom->section;
	const struct section_rule *rule = section->rule;

	for (size_t i = 0; i < ARRAY_SIZE(loader_sections); i++)
		if (has_prefix(section->name, loader_sections[i]))
			return xstrdup(loader_sections[i]);
	if (rule->keep_name || rule->policy == SECTION_PARTNER)
		return xstrdup(section->name);
	if (atom->class == ATOM_PARTNER) /* arm64: .subsection 1 of .sched.text */
		return xstrdup(".text.replacement");
	if (section->atoms.count == 1)
		for (size_t i = 0; i < ARRAY_SIZE(mergeable_prefixes); i++)
			if (has_prefix(section->name, mergeable_prefixes[i]))
				return xstrdup(section->name);
	const char *kind = section_is_text(section)	    ? ".text"
			   : section->type == SHT_NOBITS    ? ".bss"
			   : section->flags & SHF_WRITE	    ? ".data"
							    : ".rodata";
	return xasprintf("%s.%s", kind, atom->name);
}

static struct place *place_of(const struct emitter *emitter, const struct atom *atom)
{
	return &emitter->places[atom->index];
}

struct last_instruction {
	uint64_t start;
	bool call;
};

static void note_instruction(void *context, csh handle, const cs_insn *insn)
{
	struct last_instruction *last = context;

	last->start = insn->address;
	last->call = cs_insn_group(handle, insn, CS_GRP_CALL);
}

/* Does the function end with a call of another function of its unit? */
static bool ends_with_call(struct object *object, const struct atom *atom)
{
	struct last_instruction last = {0};
	size_t count;

	disasm(object, atom->section, atom->start, atom->end, note_instruction, &last);
	if (!last.call)
		return false;
	const struct reloc *relocs =
		section_relocs(atom->section, last.start, atom->end, &count);
	return count && reloc_reference(object, atom->section, relocs).atom;
}

/*
 * A function that ends with a call must have a callee that does not return: skb_zerocopy.cold ends
 * with a call of skb_over_panic().  In the unit, objtool sees this in the callee's code.  If the
 * callee stays in the kernel, objtool believes that it returns, and follows the path into whatever
 * lies behind the function.  So put an instruction there that ends every path.  No processor gets
 * there.  (objtool knows the functions of other units that do not return by their names.)
 */
static void append_dead_end(struct emitter *emitter, const struct atom *atom, struct section *out)
{
	struct object *patched = emitter->selection->patched;
	const struct arch_code *code = &patched->arch->code;

	if (code->dead_end && atom->class == ATOM_CODE && ends_with_call(patched, atom))
		section_append(out, code->dead_end, code->dead_end_length, 1);
}

/* objtool finds the function of a cold part by its name, which may be an alias of ours. */
static char *symbol_name(const struct atom *atom)
{
	const char *cold = atom->parent ? strstr(atom->name, ".cold") : NULL;

	return cold ? xasprintf("%s%s", atom->parent->name, cold) : xstrdup(atom->name);
}

static void place_atom(struct emitter *emitter, const struct atom *atom)
{
	const struct stubs *stubs = &emitter->selection->stubs[atom->index];
	struct place *place = place_of(emitter, atom);
	const struct section *from = atom->section;
	char *name _free_ = out_section_name(atom);
	uint64_t size = atom->end - atom->start, align = from->align;

	/* In a section of several atoms, an atom's own alignment shows in its offset only. */
	while (align > 1 && (atom->start - atom->prefix) & (align - 1))
		align /= 2;
	if (atom->prefix && align < emitter->out.arch->entries.lead_align)
		align = emitter->out.arch->entries.lead_align;
	place->section = object_add_section(&emitter->out, name, from->type,
					    from->flags & ~(uint64_t)DROPPED_FLAGS, align, 0);
	place->offset = atom->prefix;
	section_append(place->section, from->data ? from->data + atom->start - atom->prefix : NULL,
		       atom->prefix + size, 1);
	if (atom->prefix_symbol) /* objtool knows __cfi_NAME by its name */
		object_add_symbol(&emitter->out, atom->prefix_symbol->name, place->section,
				  atom->prefix_symbol->value + atom->prefix - atom->start,
				  atom->prefix_symbol->size, STT_FUNC, STB_LOCAL);
	if (stubs->size)
		stubs_append(&emitter->out.arch->veneers, atom, stubs, place->section,
			     place->offset);
	else
		append_dead_end(emitter, atom, place->section);
	if (!atom->symbol) {
		place->symbol = object_section_symbol(&emitter->out, place->section);
		return;
	}
	bool global = atom->symbol->bind != STB_LOCAL && !atom->twin;
	char *own _free_ = symbol_name(atom);
	place->symbol =
		object_add_symbol(&emitter->out, own, place->section, place->offset,
				  size + stubs->size, atom->symbol->type,
				  global ? STB_GLOBAL : STB_LOCAL);
	/* Keep the machine's bits (ppc64: the offset of the local entry), not the visibility. */
	place->symbol->other = atom->symbol->other & ~3u;
}

/* ---- targets of relocations ---------------------------------------------------------- */

static struct symbol *undefined_symbol(struct emitter *emitter, const char *name)
{
	struct symbol *symbol = map_get(&emitter->undefined, name);

	if (!symbol) {
		symbol = object_add_symbol(&emitter->out, name, NULL, 0, 0, STT_NOTYPE, STB_GLOBAL);
		*map_slot(&emitter->undefined, symbol->name) = symbol;
	}
	return symbol;
}

/*
 * A static call compiles to a call of its trampoline, __SCT__name.  objtool makes the call site's
 * table entry, which refers to the key, __SCK__name, if the object has that symbol, and else to the
 * trampoline.  The module loader finds the key of a trampoline only if EXPORT_STATIC_CALL_TRAMP()
 * exports the trampoline and leaves the key unexported (might_resched).  So provide every other
 * key: the one that EXPORT_STATIC_CALL() exports (tracepoints), or the parent's own.
 */
static struct error *provide_static_call_key(struct emitter *emitter, const char *trampoline)
{
	const struct external *external;
	const char *link_name;
	bool exported;

	if (!has_prefix(trampoline, "__SCT__"))
		return NULL;
	char *key _free_ = xasprintf("__SCK__%s", trampoline + strlen("__SCT__"));
	const struct symvers *symvers = emitter->selection->options->symvers;
	exported = symvers && symvers_find(symvers, trampoline);
	if (exported && !symvers_find(symvers, key))
		return NULL;
	TRY(externals_find_name(emitter->selection, key, &link_name, &external));
	if (external || exported)
		undefined_symbol(emitter, link_name);
	return NULL;
}

/* Copy a string or constant to the output object, once for all equal ones; gives its offset. */
static uint64_t copy_content(struct emitter *emitter, const struct atom *atom, uint64_t offset,
			     struct section **ret)
{
	const struct section *from = atom->section;
	bool string = atom->class == ATOM_STRINGS;
	struct section **section = string ? &emitter->strings : &emitter->constants;
	uint64_t size = content_size(atom, offset);
	uint64_t align = string ? from->align ?: 1 : from->entsize ?: 1;
	struct buffer key = {0};

	if (!*section)
		*section = object_add_section(&emitter->out,
					      string ? ".rodata.strings" : ".rodata.constants",
					      SHT_PROGBITS, SHF_ALLOC, 1, 0);
	*ret = *section;
	while (align & (align - 1))
		align &= align - 1;
	/* s390's larl reaches even addresses only, so gcc puts strings into .rodata.str1.2. */
	while (string && offset & (align - 1))
		align /= 2;
	buffer_printf(&key, "%d:%d:", string, (int)align);
	for (uint64_t i = 0; i < size; i++)
		buffer_printf(&key, "%02x", from->data[offset + i]);
	void **slot = map_slot(&emitter->contents, key.text);
	if (*slot) {
		buffer_deinit(&key);
		return (uintptr_t)*slot - 1;
	}
	*vec_push(&emitter->keys) = key.text;
	uint64_t place = section_append(*section, from->data + offset, size, align);
	*slot = (void *)(uintptr_t)(place + 1);
	return place;
}

/*
 * A static key that stays off.  It takes the place of a tracepoint's key in a parent module, which
 * cannot be reached in time (judge_module_key() in select.c).
 */
static struct symbol *inert_key(struct emitter *emitter)
{
	if (!emitter->inert_key) {
		emitter->inert_key = object_add_section(&emitter->out, ".data.inert_key",
							SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 16, 0);
		section_append(emitter->inert_key, NULL, INERT_KEY_SIZE, 16);
	}
	return object_section_symbol(&emitter->out, emitter->inert_key);
}

static const struct veneer *choose_veneer(const struct emitter *emitter,
					  const struct section *section,
					  const struct reloc *reloc)
{
	const struct object *object = emitter->selection->patched;
	const struct arch_veneers *veneers = &object->arch->veneers;

	return veneers->for_call ? veneers->for_call(object, section, reloc->offset)
				 : emitter->veneer;
}

/*
 * Make one relocation of the output object.  objtool expects that table entries and jumps to labels
 * name code by section symbol and offset, as the assembler writes them.
 */
static struct error *emit_reloc(struct emitter *emitter, const struct atom *from, bool entry,
				const struct section *section, const struct reloc *reloc,
				struct section *out, uint64_t out_offset)
{
	const struct place *place;
	struct symbol *symbol;
	struct link link;
	int64_t addend;

	TRY(select_link(emitter->selection, from, entry, section, reloc, &link));
	addend = link.addend;
	switch (link.kind) {
	case LINK_INCLUDED:
		place = place_of(emitter, link.atom);
		symbol = place->symbol;
		if (link.atom->class == ATOM_CODE && (entry || !reloc->symbol->atom)) {
			symbol = object_section_symbol(&emitter->out, place->section);
			addend += place->offset;
		}
		break;
	case LINK_CONTENT: {
		struct section *content;

		addend += copy_content(emitter, link.atom, link.content, &content);
		symbol = object_section_symbol(&emitter->out, content);
		break;
	}
	case LINK_EXTERNAL:
		symbol = undefined_symbol(emitter, link.name);
		TRY(provide_static_call_key(emitter, link.name));
		if (veneer_needed(emitter->selection, from, section, reloc, link.name))
			symbol = veneer_to(&emitter->veneers, &emitter->out,
					   choose_veneer(emitter, section, reloc), symbol);
		break;
	case LINK_INERT_KEY:
		symbol = inert_key(emitter);
		break;
	default:
		return NULL;
	}
	section_add_reloc(out, out_offset, reloc->type, symbol, addend);
	out->relocs.list[out->relocs.count - 1].upper = reloc->upper;
	return NULL;
}

/* ---- tables --------------------------------------------------------------------------- */

static struct section *table_section(struct emitter *emitter, const struct section *from)
{
	void **slot = map_slot(&emitter->tables, from->name);

	if (!*slot)
		*slot = object_add_section(&emitter->out, from->name, from->type,
					   from->flags & ~(uint64_t)DROPPED_FLAGS,
					   from->align, from->entsize);
	return *slot;
}

static struct error *emit_entry(struct emitter *emitter, const struct atom *atom,
				const struct entry *entry)
{
	size_t count;
	struct reloc *relocs = section_relocs(entry->section, entry->start,
					      entry->start + entry->size, &count);

	struct section *out = table_section(emitter, entry->section);
	/* Give every entry its full size: in the input, the last of a table may be short. */
	uint64_t place = section_append(out, NULL, entry->layout->size, 1);
	memcpy(out->data + place, entry->section->data + entry->start, entry->size);
	for (size_t i = 0; i < count; i++) {
		bool empty = entry_partner_is_empty(emitter->selection->patched, entry,
						    &relocs[i]);
		/* The address of an empty piece has no meaning; point it at the code itself. */
		struct reloc reloc = empty ? relocs[0] : relocs[i];

		if (empty && entry->layout->from_entry)
			reloc.addend += relocs[i].offset - relocs[0].offset;
		TRY(emit_reloc(emitter, atom, true, entry->section, &reloc, out,
			       place + relocs[i].offset - entry->start));
	}
	return NULL;
}

/* ---- the table of functions --------------------------------------------------------------- */

static struct error *emit_function(struct emitter *emitter, const struct atom *function)
{
	struct object *out = &emitter->out;
	uint32_t old, old_cold = POKEPATCH_NONE;

	if (!emitter->funcs)
		emitter->funcs = object_add_section(out, DIFF_SECTION_FUNCS, SHT_PROGBITS,
						    SHF_ALLOC, 8, 0);
	struct section *table = emitter->funcs;
	TRY(externals_find_old(emitter->selection, function->twin, &old));
	if (function->twin->cold)
		TRY(externals_find_old(emitter->selection, function->twin->cold, &old_cold));

	uint64_t place = section_append(table, NULL, sizeof(struct diff_func_row), 8);
	unsigned char *at = table->data + place;
	object_put32(out, at + offsetof(struct diff_func_row, new_size),
		     function->end - function->start +
			     select_stub_bytes(emitter->selection, function));
	object_put32(out, at + offsetof(struct diff_func_row, old), old);
	object_put32(out, at + offsetof(struct diff_func_row, old_cold), old_cold);
	object_put32(out, at + offsetof(struct diff_func_row, mode),
		     emitter->selection->options->mode);
	object_put32(out, at + offsetof(struct diff_func_row, flags),
		     select_is_carried(emitter->selection, function)
			     ? POKEPATCH_FUNC_CARRIED
			     : overwrite_flags(&emitter->selection->carrying[function->index].overwrites));
	section_add_address(out, table, place + offsetof(struct diff_func_row, new_addr),
			    place_of(emitter, function)->symbol, 0);
	if (function->cold) {
		object_put32(out, at + offsetof(struct diff_func_row, new_cold_size),
			     function->cold->end - function->cold->start +
				     select_stub_bytes(emitter->selection, function->cold));
		section_add_address(out, table,
				    place + offsetof(struct diff_func_row, new_cold_addr),
				    place_of(emitter, function->cold)->symbol, 0);
	}
	return NULL;
}

static void emit_callbacks(struct emitter *emitter)
{
	struct selection *selection = emitter->selection;
	struct object *out = &emitter->out;
	struct section *table = NULL;

	for (size_t i = 0; i < selection->callbacks.count; i++) {
		const struct callback *callback = &selection->callbacks.list[i];
		const uint64_t size = sizeof(struct diff_callback_row);

		if (!table)
			table = object_add_section(out, DIFF_SECTION_CALLBACKS, SHT_PROGBITS,
						   SHF_ALLOC, 8, 0);
		uint64_t place = section_append(table, NULL, size, 8);
		unsigned char *at = table->data + place;
		object_put32(out, at + offsetof(struct diff_callback_row, parent),
			     externals_add_parent(selection->options->externals,
					      selection->options->parent));
		object_put32(out, at + offsetof(struct diff_callback_row, kind), callback->kind);
		section_add_address(out, table, place + offsetof(struct diff_callback_row, func),
				    place_of(emitter, callback->atom)->symbol, 0);
	}
}

static struct error *emit_stubs(struct emitter *emitter, const struct atom *atom)
{
	const struct stubs *stubs = &emitter->selection->stubs[atom->index];
	const struct place *place = place_of(emitter, atom);

	for (size_t i = 0; i < atom->short_branches.count; i++) {
		if (i && stubs->places[i] == stubs->places[i - 1])
			continue; /* shares the stub of the branch before */
		TRY(emit_reloc(emitter, atom, false, atom->section,
			       &atom->short_branches.list[i].reloc, place->section,
			       stubs->places[i] + emitter->out.arch->veneers.call->reloc_at +
				       place->offset));
	}
	return NULL;
}

static struct error *emit_all(struct emitter *emitter)
{
	struct selection *selection = emitter->selection;

	for (size_t i = 0; i < selection->included.count; i++)
		place_atom(emitter, selection->included.list[i]);
	for (size_t i = 0; i < selection->included.count; i++) {
		struct atom *atom = selection->included.list[i];

		uint64_t start = atom->start - atom->prefix;
		size_t count;
		struct reloc *relocs = section_relocs(atom->section, start, atom->end, &count);

		for (size_t j = 0; j < count; j++)
			TRY(emit_reloc(emitter, atom, false, atom->section, &relocs[j],
				       place_of(emitter, atom)->section,
				       relocs[j].offset - start));
		TRY(emit_stubs(emitter, atom));
		for (size_t j = 0; j < atom->entries.count; j++)
			TRY(emit_entry(emitter, atom, &atom->entries.list[j]));
		if (atom->class == ATOM_CODE && !atom->parent && atom->twin)
			TRY(emit_function(emitter, atom));
	}
	emit_callbacks(emitter);
	return NULL;
}

struct error *emit_object(struct selection *selection, const char *path)
{
	const struct object *patched = selection->patched;
	const struct arch_veneers *veneers = &patched->arch->veneers;
	struct emitter emitter = {
		.selection = selection,
		.veneer = veneers->for_object ? veneers->for_object(patched) : veneers->call,
	};

	emitter.places = xcalloc(patched->atoms.count, sizeof(*emitter.places));
	object_init(&emitter.out, patched->arch, &patched->header);
	object_add_section(&emitter.out, ".note.GNU-stack", SHT_PROGBITS, 0, 1, 0);

	struct error *error = emit_all(&emitter);
	if (!error)
		error = object_write(&emitter.out, path);
	for (size_t i = 0; i < emitter.keys.count; i++)
		free(emitter.keys.list[i]);
	vec_deinit(&emitter.keys);
	free(emitter.places);
	map_deinit(&emitter.undefined);
	map_deinit(&emitter.contents);
	map_deinit(&emitter.tables);
	veneers_deinit(&emitter.veneers);
	object_deinit(&emitter.out);
	return error;
}
