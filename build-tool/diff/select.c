// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Refuses changes that a patch cannot make, selects the atoms that it includes, and follows their
 * references.
 */
#include "diff/select.h"

#include <stdlib.h>
#include <string.h>

#include "diff/addresses.h"
#include "diff/author.h"
#include "diff/author_callbacks.h"
#include "diff/constants.h"
#include "diff/externals.h"
#include "diff/renamed.h"
#include "diff/statics.h"
#include "object/debuginfo.h"
#include "object/names.h"

void select_init(struct selection *selection)
{
	const struct object *patched = selection->patched;

	selection->choices = xcalloc(patched->atoms.count, sizeof(*selection->choices));
	selection->carrying = xcalloc(patched->atoms.count, sizeof(*selection->carrying));
	selection->stubs = xcalloc(patched->atoms.count, sizeof(*selection->stubs));
	selection->neighbours = xcalloc(patched->sections.count, sizeof(*selection->neighbours));
}

void select_deinit(struct selection *selection)
{
	for (size_t i = 0; selection->choices && i < selection->patched->atoms.count; i++) {
		vec_deinit(&selection->carrying[i].carriers);
		stubs_deinit(&selection->stubs[i]);
	}
	free(selection->choices);
	free(selection->carrying);
	free(selection->stubs);
	free(selection->neighbours);
	vec_deinit(&selection->included);
	vec_deinit(&selection->callbacks);
	map_deinit(&selection->touched);
}

const char *select_location(struct selection *selection, const char *name)
{
	return debuginfo_declaration(debuginfo_of(selection->patched), name)
		       ?: selection->options->unit;
}

/* ---- what has changed --------------------------------------------------------- */

static void compare_all(struct selection *selection)
{
	const struct object *patched = selection->patched;
	struct pairing *pairing = &selection->pairing;

	for (size_t i = 0; i < patched->atoms.count; i++)
		if (patched->atoms.list[i]->twin)
			atom_same(pairing, patched->atoms.list[i]->twin, patched->atoms.list[i]);
	/* A function and its .cold part are replaced together, if either changed. */
	for (size_t i = 0; i < patched->atoms.count; i++) {
		struct atom *cold = patched->atoms.list[i], *hot = cold->parent;

		if (!hot || !hot->twin)
			continue;
		if (atom_changed(pairing, hot) || atom_changed(pairing, cold) || !cold->twin) {
			atom_set_state(pairing, hot, STATE_CHANGED);
			atom_set_state(pairing, cold, STATE_CHANGED);
		}
	}
	for (size_t i = 0; i < patched->atoms.count; i++) { /* a .cold part that is gone */
		struct atom *hot = patched->atoms.list[i];

		if (hot->class == ATOM_CODE && hot->twin && hot->twin->cold && !hot->cold)
			atom_set_state(pairing, hot, STATE_CHANGED);
	}
}

/* Code and text of the refusal for a changed atom, by class; code is never refused. */
static const struct {
	const char *code, *text;
} class_refusals[] = {
	[ATOM_DATA] = {"data-changed",
		       "initial value of '%s' differs; the running kernel already uses it: leave "
		       "it, and set it from changed code or use a new variable"},
	[ATOM_RODATA] = {"data-changed", "constant '%s' differs; unchanged code already uses it: "
					 "leave it, and use a new one in the changed functions"},
	[ATOM_PARENT] = {"section-changed",
			 "'%s' belongs to the kernel's own tables and cannot change"},
	[ATOM_INIT] = {"init-changed", "'%s' runs or is used at boot or module load only, which is "
				       "over; leave it out of the patch"},
	[ATOM_EXPORT] = {"export-changed", "exported symbols cannot change ('%s')"},
};

/* Whether a change of an atom is refused; @ignored: the author's array for its object. */
static bool is_refused(const bool *ignored, const struct atom *atom)
{
	return !author_ignored(ignored, atom) && atom->class < ARRAY_SIZE(class_refusals) &&
	       class_refusals[atom->class].code;
}

/*
 * The name that an atom exports.  An export has three symbols: __ksymtab_foo, __kstrtab_foo and
 * __kstrtabns_foo.  A changed namespace changes the last one only.  Since Linux 6.5 it has one:
 * __export_symbol_foo.
 */
static const char *export_name(const struct atom *atom)
{
	static const char *const prefixes[] = {"__ksymtab_", "__kstrtabns_", "__kstrtab_",
					       "__export_symbol_"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (has_prefix(atom->name, prefixes[i]))
			return atom->name + strlen(prefixes[i]);
	return atom->name;
}

/* The refusals for the symbols of an export are equal, and equal refusals are reported once. */
static void refuse_export(struct selection *selection, const struct atom *atom)
{
	const char *name = export_name(atom);

	refusals_add(selection->refusals, "export-changed", select_location(selection, name), name,
		     "the export of '%s' is gone or changed; exports are fixed when the kernel is "
		     "linked",
		     name);
}

/*
 * No loaded module needs a new export: the kernel would not have loaded it.  The units of the patch
 * find each other's functions without exports.
 */
static void warn_export(struct selection *selection, const struct atom *atom)
{
	const char *name = export_name(atom);

	refusals_warn(selection->refusals, "export-new", select_location(selection, name), name,
		      "the new export of '%s' is not made, since exports are fixed when the kernel "
		      "is linked; modules that need it do not load",
		      name);
}

const char *select_source_name(struct object *object, const struct atom *atom)
{
	const char *name = atom_is_function(atom)
				   ? debuginfo_function(debuginfo_of(object), atom->section->index,
							atom->start)
				   : NULL;

	return name ?: atom->name;
}

bool select_is_touched(const struct selection *selection, const char *name, const char *location)
{
	const struct diff_options *options = selection->options;
	char *plain _free_ = xstrndup(name, strcspn(name, ".")); /* foo.constprop.0 */

	return !location || !options->is_touched ||
	       options->is_touched(options->context, location, plain);
}

static void refuse_atom(struct selection *selection, const struct atom *atom)
{
	if (atom->class == ATOM_EXPORT) {
		refuse_export(selection, atom);
		return;
	}
	if (atom->class == ATOM_RODATA && selection->carrying[atom->index].kept_by) {
		refusals_add(selection->refusals, class_refusals[atom->class].code,
			     select_location(selection, atom->name), atom->name,
			     "constant '%s' differs, and '%s' would go on using the old one: leave "
			     "it, and use a new one in the changed functions",
			     atom->name, selection->carrying[atom->index].kept_by->name);
		return;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	refusals_add(selection->refusals, class_refusals[atom->class].code,
		     select_location(selection, select_source_name(selection->patched, atom)), atom->name,
		     class_refusals[atom->class].text, atom->name);
#pragma GCC diagnostic pop
}

/*
 * Whether a function that ran when the kernel or module started differs only because code from
 * elsewhere is inlined into it.  Then the author has changed a helper, and not this function: what
 * it did is done.
 */
static bool is_init_inlined(struct selection *selection, const struct atom *atom)
{
	if (strcmp(atom->section->name, ".init.text") || !atom_is_function(atom))
		return false;

	const char *name = select_source_name(selection->orig, atom->twin);
	return !select_is_touched(selection, name,
				  debuginfo_declaration(debuginfo_of(selection->orig), name));
}

static void warn_init_inlined(struct selection *selection, const struct atom *atom)
{
	const struct diff_options *options = selection->options;
	const bool module = options->parent && options->parent != options->vmlinux;

	refusals_warn(selection->refusals, "init-inlined",
		      select_location(selection, select_source_name(selection->patched, atom)), atom->name,
		      module ? "changed code is inlined into '%s', which runs with the old code "
			       "whenever module %s is loaded"
			     : "changed code is inlined into '%s', which ran with the old code when "
			       "the kernel started%s",
		      atom->name, module ? options->parent->name : "");
}

static void refuse_changed_data(struct selection *selection)
{
	const struct author *author = selection->author;

	for (size_t i = 0; i < selection->patched->atoms.count; i++) {
		struct atom *atom = selection->patched->atoms.list[i];

		if (!is_refused(author->patched_ignored, atom))
			continue;
		if (constants_is_carried(selection, atom))
			continue;
		if (atom_changed(&selection->pairing, atom)) {
			if (is_init_inlined(selection, atom))
				warn_init_inlined(selection, atom);
			else if (atom->class == ATOM_DATA &&
				 atom->end - atom->start != atom->twin->end - atom->twin->start)
				refusals_add(selection->refusals, "data-size",
					     select_location(selection, atom->name), atom->name,
					     "size of '%s' differs; the running kernel's has the "
					     "old size: use a new variable",
					     atom->name);
			else if (atom->class == ATOM_DATA && atom->twin->section->rule->sealed &&
				 !atom->section->rule->sealed)
				refusals_add(selection->refusals, "data-changed",
					     select_location(selection, atom->name), atom->name,
					     "'%s' is read-only in the running kernel "
					     "(__ro_after_init): use a new variable",
					     atom->name);
			else
				refuse_atom(selection, atom);
		} else if (!atom->twin && !atom->ambiguous) {
			if (atom->class == ATOM_EXPORT)
				warn_export(selection, atom);
			else if (atom->class == ATOM_INIT || atom->class == ATOM_PARENT)
				refuse_atom(selection, atom);
		}
	}
	for (size_t i = 0; i < selection->orig->atoms.count; i++) {
		struct atom *atom = selection->orig->atoms.list[i];

		if (!atom->twin && is_refused(author->orig_ignored, atom) &&
		    (atom->class == ATOM_INIT || atom->class == ATOM_EXPORT ||
		     atom->class == ATOM_PARENT))
			refuse_atom(selection, atom);
	}
}

static bool is_shared(const struct symbol *symbol)
{
	return symbol->bind != STB_LOCAL && symbol->atom && !is_device_table_name(symbol->name) &&
	       (symbol->atom->class == ATOM_CODE || symbol->atom->class == ATOM_DATA ||
		symbol->atom->class == ATOM_RODATA);
}

/*
 * Refuse that "int b(int) __attribute__((alias("a")))" becomes a function of its own, or that a
 * function becomes such an alias.  Other units keep the old address of b, so they would go on using
 * the old function or variable.  So they would if a new alias has the name of a weak function of
 * another unit.
 */
static void refuse_changed_aliases(struct selection *selection)
{
	const struct object *orig = selection->orig, *patched = selection->patched;
	struct map names = {0};

	for (size_t i = 1; i < orig->symbols.count; i++)
		if (is_shared(orig->symbols.list[i]))
			*map_slot(&names, orig->symbols.list[i]->name) = orig->symbols.list[i];
	for (size_t i = 1; i < patched->symbols.count; i++) {
		const struct symbol *symbol = patched->symbols.list[i];
		const struct symbol *old = map_get(&names, symbol->name);

		if (!is_shared(symbol))
			continue;
		bool own = symbol->atom->symbol == symbol;
		if (!old && !own)
			externals_refuse_second(selection, symbol->name);
		if (!old || old->atom->twin == symbol->atom ||
		    !strcmp(old->atom->name, symbol->atom->name))
			continue;
		refusals_add(selection->refusals, "alias-changed",
			     select_location(selection, symbol->name), symbol->name,
			     "'%s' is %s another name of '%s', which other units would not notice; "
			     "leave it, and use a new name",
			     symbol->name, own ? "no longer" : "now",
			     own ? old->atom->name : symbol->atom->name);
	}
	map_deinit(&names);
}

/* ---- what must be included ------------------------------------------------------- */

static void include(struct selection *selection, struct atom *atom)
{
	struct choice *choice = &selection->choices[atom->index];

	if (choice->included)
		return;
	choice->included = true;
	*vec_push(&selection->included) = atom;
}

static bool is_new_function(const struct atom *atom)
{
	return atom->class == ATOM_CODE && !atom->twin && !atom->parent;
}

static struct error *link_external(struct selection *selection, const struct atom *atom,
				   struct link *ret)
{
	ret->kind = LINK_EXTERNAL;
	return externals_find_atom(selection, atom, &ret->name);
}

static struct error *link_code(struct selection *selection, const struct atom *from, bool entry,
			       const struct reference *reference, struct link *ret)
{
	const struct arch *arch = selection->patched->arch;
	struct atom *atom = reference->atom;
	struct atom *function = atom_function(atom);
	/* A reference from a function to itself is to a label, unless it is to its entry. */
	bool own = from->class != ATOM_CODE || atom_function((struct atom *)from) == function;
	bool entry_address = atom == function && reference->target == atom->start &&
			     arch_symbol_mark(arch, reference->symbol) != MARK_LABEL;

	if (is_new_function(function) || select_is_carried(selection, function) ||
	    (atom_changed(&selection->pairing, function) && own && (entry || !entry_address)) ||
	    (selection->choices[function->index].included && entry)) {
		include(selection, atom);
		include(selection, function);
		ret->kind = LINK_INCLUDED;
		ret->atom = atom;
		return NULL;
	}
	/* Refer to the original's entry: pointers stay equal, and later patches take effect. */
	return link_external(selection, atom->twin ?: atom, ret);
}

static struct error *link_data(struct selection *selection, const struct reference *reference,
			       struct link *ret)
{
	struct atom *atom = reference->atom;

	if (atom->ambiguous) {
		refusals_add(selection->refusals, "static-ambiguous",
			     select_location(selection, atom->name), atom->name,
			     "cannot tell which of the original's variables '%s' is; rename the "
			     "new one",
			     atom->name);
		ret->kind = LINK_DROP;
		return NULL;
	}
	if (atom->twin && !constants_is_carried(selection, atom))
		return link_external(selection, atom->twin, ret);
	include(selection, atom);
	ret->kind = LINK_INCLUDED;
	ret->atom = atom;
	return NULL;
}

static void refuse_parent_section(struct selection *selection, const struct atom *atom)
{
	const char *advice = atom->section->rule->advice;

	refusals_add(selection->refusals, "section-needed",
		     select_location(selection, atom->name), atom->name,
		     "'%s' would be new in section '%s'; %s", atom->name, atom->section->name,
		     advice ?: "such entries belong to the kernel's own tables");
}

/*
 * The core cannot make a reference to a static key of a parent module in time: the kernel sorts the
 * patch's jump table before the address of that module is known.  Leave the module's tracepoints
 * inert, and refuse its other keys.
 */
static void judge_module_key(struct selection *selection, const struct atom *from, const char *key,
			     struct link *link)
{
	if (has_prefix(key, "__tracepoint_")) {
		link->kind = LINK_INERT_KEY;
		link->addend &= JUMP_ENTRY_FLAGS;
		refusals_warn(selection->refusals, "tracepoint-inert",
			      select_location(selection, key), key,
			      "tracepoint '%s' of the module does not fire in changed code",
			      key + strlen("__tracepoint_"));
		return;
	}
	link->kind = LINK_DROP;
	refusals_add(selection->refusals, "static-key-in-module",
		     select_location(selection, from->name), key,
		     "'%s' uses static key '%s', which lives in a module; read it with "
		     "static_key_enabled() instead",
		     select_source_name(selection->patched, from), key);
}

/*
 * A new static call that begins with a function of a module: when the kernel loads the patch, it
 * makes the call's instruction from its key (__SCK__name), and a NOP if the key has no function
 * yet.  The core gives it the function when that module comes.
 */
static void refuse_static_call(struct selection *selection, const struct atom *key,
			       struct link *link)
{
	link->kind = LINK_DROP;
	refusals_add(selection->refusals, "static-key-in-module",
		     select_location(selection, key->name), key->name,
		     "static call '%s' begins with a function of a module, which the kernel may not "
		     "have when it makes the call; let it begin with a new function, or with none",
		     key->name + strlen("__SCK__"));
}

/* What refers to something of a module, and is read before the core knows its address. */
static void judge_key(struct selection *selection, const struct atom *from,
		      const struct section *section, const struct reloc *reloc, const char *name,
		      struct link *link)
{
	if (section_rule_key(section->rule, reloc->offset))
		judge_module_key(selection, from, name, link);
	else if (from->class == ATOM_DATA && has_prefix(from->name, "__SCK__"))
		refuse_static_call(selection, from, link);
}

static bool lives_in_module(const struct selection *selection, const struct external *external)
{
	return external && external->parent && external->parent != selection->options->vmlinux;
}

static void check_call(struct selection *selection, const struct atom *from,
		       const struct section *section, const struct reloc *reloc)
{
	const struct arch *arch = selection->patched->arch;

	if (!arch->code.unlinkable_call || !section_is_text(section))
		return;
	const struct call_refusal *refusal =
		arch->code.unlinkable_call(selection->patched, section, reloc);
	if (!refusal)
		return;
	struct reference reference = reloc_reference(selection->patched, section, reloc);
	refusals_add(selection->refusals, refusal->code, select_location(selection, from->name),
		     from->name, "the call from '%s' to '%s', which stays in the kernel, %s",
		     from->name, reference.atom ? reference.atom->name : reference.symbol->name,
		     refusal->text);
}

/*
 * The changed function into which a table leads, or NULL.  A table for computed gotos has places
 * within its function.  The kernel's leads into the old one, where the new one would go on.
 */
static struct atom *leads_into(const struct selection *selection, const struct atom *table)
{
	for (size_t i = 0; i < table->reloc_count; i++) {
		const struct reference reference =
			reloc_reference(selection->patched, table->section, &table->relocs[i]);
		struct atom *function =
			reference.atom && reference.atom->class == ATOM_CODE
				? atom_function(reference.atom)
				: NULL;

		if (function && (reference.atom != function || reference.target != function->start) &&
		    (atom_changed(&selection->pairing, function) ||
		     select_is_carried(selection, function)))
			return function;
	}
	return NULL;
}

/* Refuse such a table once, whichever the references to it are. */
static void refuse_old_table(struct selection *selection, const struct atom *table, struct link *ret)
{
	struct choice *choice = &selection->choices[table->index];
	const struct atom *function = choice->judged ? NULL : leads_into(selection, table);

	choice->judged = true;
	if (!function)
		return;
	refusals_add(selection->refusals, "section-needed",
		     select_location(selection, table->name), table->name,
		     "'%s' leads into the kernel's '%s', which the patch replaces; a function with "
		     "a computed-goto table cannot be carried yet",
		     table->name, function->name);
	ret->kind = LINK_DROP;
}

static struct error *find_link(struct selection *selection, const struct atom *from, bool entry,
			       const struct section *section, const struct reloc *reloc,
			       struct link *ret)
{
	struct reference reference = reloc_reference(selection->patched, section, reloc);
	const struct external *external = NULL;

	*ret = (struct link){.addend = reference.addend};
	if (!reference.atom) {
		ret->kind = LINK_EXTERNAL;
		if (reference.symbol->section) { /* no atom of that section is at this offset */
			refusals_add(selection->refusals, "symbol-unknown",
				     selection->options->unit, reference.symbol->name,
				     "a reference into section '%s' belongs to no symbol",
				     reference.symbol->name);
			ret->kind = LINK_DROP;
			return NULL;
		}
		TRY(externals_find_name(selection, reference.symbol->name, &ret->name,
				     &external));
		if (lives_in_module(selection, external))
			judge_key(selection, from, section, reloc, reference.symbol->name, ret);
		return NULL;
	}

	if (section_rule_key(section->rule, reloc->offset))
		selection->choices[reference.atom->index].static_key = true;
	switch (reference.atom->class) {
	case ATOM_CODE:
		TRY(link_code(selection, from, entry, &reference, ret));
		break;
	case ATOM_DATA:
	case ATOM_RODATA:
		TRY(link_data(selection, &reference, ret));
		break;
	case ATOM_PRIVATE:
	case ATOM_PARTNER:
		include(selection, reference.atom);
		ret->kind = LINK_INCLUDED;
		ret->atom = reference.atom;
		break;
	case ATOM_STRINGS:
	case ATOM_CONST:
		ret->kind = LINK_CONTENT;
		ret->atom = reference.atom;
		ret->content = reference.target;
		ret->addend = reference.addend - reloc->behind;
		if (!content_size(reference.atom, reference.target)) {
			refusals_add(selection->refusals, "symbol-unknown",
				     selection->options->unit, reference.atom->name,
				     "a reference leads out of section '%s'", reference.atom->name);
			ret->kind = LINK_DROP;
		}
		break;
	case ATOM_PARENT:
	case ATOM_INIT:
	case ATOM_EXPORT:
		if (reference.atom->twin) {
			TRY(link_external(selection, reference.atom->twin, ret));
		} else {
			refuse_parent_section(selection, reference.atom);
			ret->kind = LINK_DROP;
		}
	}
	if (ret->kind == LINK_EXTERNAL && reference.atom->class != ATOM_CODE)
		refuse_old_table(selection, reference.atom, ret);
	if (ret->kind == LINK_EXTERNAL && selection->options->parent &&
	    selection->options->parent != selection->options->vmlinux)
		judge_key(selection, from, section, reloc, reference.atom->name, ret);
	return NULL;
}

/* Refuse relocation types that only the linker of the kernel can resolve, not a module loader. */
static void check_loadable(struct selection *selection, const struct atom *atom)
{
	for (size_t i = 0; i < atom->reloc_count; i++) {
		const struct reloc *reloc = &atom->relocs[i];
		const struct reloc_kind *kind = arch_reloc(selection->patched->arch, reloc->type);

		if (!kind || !kind->linker)
			continue;
		refusals_add(selection->refusals, "relocation-unknown",
			     select_location(selection, atom->name), atom->name,
			     "'%s' refers to '%s' by %s, which no module loader knows; use that "
			     "in unchanged functions only",
			     atom->name, reloc->symbol->name, kind->name);
		return;
	}
}

/* Refuse code that cannot run in a module's memory. */
static void check_place(struct selection *selection, const struct atom *atom)
{
	const struct arch *arch = selection->patched->arch;

	if (atom->class != ATOM_CODE || !arch->code.must_stay ||
	    !arch->code.must_stay(selection->patched, atom->section, atom->start, atom->end))
		return;
	refusals_add(selection->refusals, "code-stays", select_location(selection, atom->name),
		     atom->name,
		     "'%s' uses the TLB, by which a patch's code is mapped; leave the function "
		     "as it is",
		     atom->name);
}

struct error *select_link(struct selection *selection, const struct atom *from, bool entry,
			  const struct section *section, const struct reloc *reloc,
			  struct link *ret)
{
	TRY(find_link(selection, from, entry, section, reloc, ret));
	if (ret->kind == LINK_EXTERNAL)
		check_call(selection, from, section, reloc);
	return NULL;
}

/*
 * Follow every reference of an included atom once.  This appends the atoms that they need to the
 * list of included atoms, over which the caller iterates.
 */
static struct error *follow_references(struct selection *selection, struct atom *atom)
{
	struct link link;

	if (!stubs_place(&selection->patched->arch->veneers, atom,
			 &selection->stubs[atom->index]))
		refusals_add(selection->refusals, "relocation-unknown",
			     select_location(selection, atom->name), atom->name,
			     "'%s' has a short jump into another function of section '%s'",
			     atom->name, atom->section->name);
	for (size_t i = 0; i < atom->short_branches.count; i++)
		TRY(select_link(selection, atom, false, atom->section,
				&atom->short_branches.list[i].reloc, &link));
	check_loadable(selection, atom);
	check_place(selection, atom);
	for (size_t i = 0; i < atom->reloc_count; i++)
		TRY(select_link(selection, atom, false, atom->section, &atom->relocs[i],
				&link));
	for (size_t i = 0; i < atom->entries.count; i++) {
		const struct entry *entry = &atom->entries.list[i];
		size_t count;
		struct reloc *relocs =
			section_relocs(entry->section, entry->start, entry->start + entry->size,
				       &count);

		for (size_t j = 0; j < count; j++)
			if (!entry_partner_is_empty(selection->patched, entry, &relocs[j]))
				TRY(select_link(selection, atom, true, entry->section,
						&relocs[j], &link));
	}
	if (atom->cold)
		include(selection, atom->cold);
	return NULL;
}

static bool is_new_global(const struct atom *atom)
{
	return !atom->twin && !atom->ambiguous && atom->symbol &&
	       atom->symbol->bind != STB_LOCAL &&
	       (atom->class == ATOM_CODE || atom->class == ATOM_DATA || atom->class == ATOM_RODATA);
}

struct error *select_changes(struct selection *selection)
{
	struct object *patched = selection->patched;

	compare_all(selection);
	statics_confirm(&selection->pairing);
	author_ignore(selection->author, selection);
	constants_find(selection);
	carriers_find(selection);
	refuse_changed_data(selection);
	refuse_changed_aliases(selection);
	for (size_t i = 0; i < patched->atoms.count; i++) {
		struct atom *atom = patched->atoms.list[i];

		if (is_new_global(atom)) {
			include(selection, atom); /* another unit of the patch may use it */
			externals_refuse_second(selection, atom->name);
		}
		if (atom->class != ATOM_CODE || atom->parent)
			continue;
		if (atom->twin && atom_changed(&selection->pairing, atom))
			include(selection, atom);
	}
	callbacks_select(selection);
	for (size_t i = 0; i < selection->callbacks.count; i++)
		include(selection, selection->callbacks.list[i].atom);
	for (size_t i = 0; i < selection->included.count; i++)
		TRY(follow_references(selection, selection->included.list[i]));
	for (size_t i = 0; i < selection->included.count; i++)
		TRY(addresses_judge(selection, selection->included.list[i]));
	renamed_refuse(selection);
	return NULL;
}
