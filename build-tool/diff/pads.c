// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Judges the addresses of the kernel's functions in included code and data.  With indirect branch
 * tracking an indirect call must lead to a landing pad (ENDBR64).  The compiler makes none for a
 * static function whose address nothing takes, and the kernel overwrites the pads of the functions
 * that objtool found in no address (.ibt_endbr_seal).  New code that takes such an address and
 * calls it would fault.
 */
#include "diff/pads.h"

#include <string.h>

#include "diff/externals.h"

/* Tables about code and exports do not count for objtool. */
static bool holds_addresses(const struct section *section)
{
	return section->rule && section->rule->policy != SECTION_TABLE &&
	       section->rule->policy != SECTION_EXPORT && section->rule->policy != SECTION_DROP;
}

/* Does the original refer to the function other than by calls and jumps? */
static bool was_taken(const struct selection *selection, const struct reference *reference)
{
	const struct object *orig = selection->orig;
	const struct atom *old = reference->atom ? reference->atom->twin : NULL;

	for (size_t i = 1; i < orig->sections.count; i++) {
		const struct section *section = orig->sections.list[i];

		for (size_t j = 0; (section->flags & SHF_ALLOC) && j < section->relocs.count; j++) {
			const struct reloc *reloc = &section->relocs.list[j];
			const struct reloc_kind *kind = arch_reloc(orig->arch, reloc->type);

			if ((kind && kind->branch) || !holds_addresses(section))
				continue;
			struct reference other = reloc_reference(orig, section, reloc);
			if (old ? other.atom == old && other.target == old->start
				: !other.atom &&
					  !strcmp(other.symbol->name, reference->symbol->name))
				return true;
		}
	}
	return false;
}

/* Does the function begin with a pad that the kernel leaves alone? */
static bool has_pad(const struct arch_loader *loader, const struct parent *parent,
		    const struct parent_symbol *symbol)
{
	const struct parent_site *seals;
	uint64_t room;
	const unsigned char *bytes = parent_bytes(parent, symbol, &room);
	size_t count;

	if (!bytes || room < loader->seal_length ||
	    memcmp(bytes, loader->landing_pad, loader->seal_length))
		return false;
	seals = parent_sites_in(parent, parent_sites(parent, loader->seal_table), symbol, &count);
	return !count || seals->value != symbol->value;
}

/* A function of the kernel that included code does not bring along; not a part of one. */
static bool is_kernels(const struct selection *selection, const struct reference *reference)
{
	const struct atom *atom = reference->atom;

	if (has_prefix(reference->symbol->name, "__SCT__")) /* only its code is changed */
		return false;
	if (!atom)
		return reference->symbol->special == SHN_UNDEF;
	return atom->twin && atom->class == ATOM_CODE && !atom->parent &&
	       reference->target == atom->start && !select_is_carried(selection, atom) &&
	       !has_prefix(atom->name, "__SCT__");
}

struct error *pads_judge(struct selection *selection, const struct atom *from,
			 const struct reference *reference)
{
	const struct diff_options *options = selection->options;
	const struct arch_loader *loader = &selection->patched->arch->loader;
	const struct parent_symbol *symbol;
	struct parent *parent;

	if (!loader->seal_table || !options->vmlinux || !is_kernels(selection, reference) ||
	    !parent_sites(options->vmlinux, loader->seal_table)->present)
		return NULL;
	TRY(externals_look_up(selection,
			      reference->atom ? reference->atom->twin->symbol : reference->symbol,
			      &parent, &symbol));
	if (!symbol || !symbol->function || has_pad(loader, parent, symbol) ||
	    was_taken(selection, reference))
		return NULL;
	refusals_add(selection->refusals, "no-landing-pad",
		     select_location(selection, from->name), symbol->name,
		     "'%s' takes the address of '%s', and this kernel lets no indirect call of that "
		     "function pass (IBT); add a function that calls it, and take that one's address",
		     from->name, symbol->name);
	return NULL;
}
