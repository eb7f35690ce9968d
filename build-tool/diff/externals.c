// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the symbols of the parent, or of another module, that included code refers to. */
#include "diff/externals.h"
#include "diff/promoted.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void externals_deinit(struct externals *externals)
{
	for (size_t i = 0; i < externals->list.count; i++) {
		free(externals->list.list[i]->link_name);
		free(externals->list.list[i]->name);
		free(externals->list.list[i]);
	}
	for (size_t i = 0; i < externals->keys.count; i++)
		free(externals->keys.list[i]);
	for (size_t i = 0; i < externals->promoted_list.count; i++) {
		free(externals->promoted_list.list[i]->name);
		free(externals->promoted_list.list[i]);
	}
	vec_deinit(&externals->promoted_list);
	map_deinit(&externals->promoted);
	vec_deinit(&externals->list);
	vec_deinit(&externals->parents);
	vec_deinit(&externals->keys);
	map_deinit(&externals->by_link_name);
	map_deinit(&externals->by_place);
}

/*
 * Add a symbol to the list, once; gives its index.  Global symbols of vmlinux keep their names in
 * the output object, because objtool knows some by name (functions that do not return, static-call
 * trampolines).  Other symbols get a unique name, because several units may have a static of one
 * name.
 */
static uint32_t externals_add(struct externals *externals, const struct parent *parent,
			      const struct parent_symbol *symbol, bool keep_name)
{
	char *place = xasprintf("%s:%u", parent->name, symbol->order);
	void **slot = map_slot(&externals->by_place, place);

	if (*slot) {
		free(place);
		return (uintptr_t)*slot - 1;
	}
	*vec_push(&externals->keys) = place;

	uint32_t index = externals->list.count;
	struct external *external = xcalloc(1, sizeof(*external));
	*vec_push(&externals->list) = external;
	external->name = xstrdup(symbol->name);
	external->link_name = keep_name ? xstrdup(symbol->name)
					: xasprintf("pokepatch.%u.%s", index, symbol->name);
	external->parent = parent;
	external->symbol = symbol;
	*slot = (void *)((uintptr_t)index + 1);
	*map_slot(&externals->by_link_name, external->link_name) = *slot;
	return index;
}

uint32_t externals_add_parent(struct externals *externals, const struct parent *parent)
{
	if (!parent)
		return POKEPATCH_NONE;
	for (size_t i = 0; i < externals->parents.count; i++) /* a handful */
		if (externals->parents.list[i] == parent)
			return i;
	*vec_push(&externals->parents) = parent;
	return externals->parents.count - 1;
}

static struct external *externals_get(const struct externals *externals, uint32_t index)
{
	return externals->list.list[index];
}

/* Find a global symbol in the unit's parent, in vmlinux, or in the module that exports it. */
static struct error *find_global(struct selection *selection, const char *name,
				 struct parent **ret_parent, const struct parent_symbol **ret)
{
	const struct diff_options *options = selection->options;
	struct parent *parents[] = {options->parent, options->vmlinux};

	*ret = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(parents); i++) {
		if (!parents[i])
			continue;
		*ret = parent_global(parents[i], name);
		*ret_parent = parents[i];
		if (*ret)
			return NULL;
	}

	const struct export *export =
		options->symvers ? symvers_find(options->symvers, name) : NULL;
	if (!export || !options->open_module)
		return NULL;
	TRY(options->open_module(options->context, export->module, ret_parent));
	if (*ret_parent)
		*ret = parent_global(*ret_parent, name);
	return NULL;
}

static bool exported_by_vmlinux(const struct selection *selection, const char *name)
{
	const struct export *export = selection->options->symvers
					      ? symvers_find(selection->options->symvers, name)
					      : NULL;

	return export && !strcmp(export->module, "vmlinux");
}

/*
 * Refuse symbols of other modules.  Only the unit's own parent and the modules on which it depends
 * are sure to be loaded, and to stay loaded, while the unit's code runs.
 */
static void check_module(struct selection *selection, const struct parent *parent,
			 const struct parent_symbol *symbol)
{
	const struct diff_options *options = selection->options;
	const struct parent *own = options->parent;

	if (parent == options->vmlinux)
		return;
	if (parent != own && !(own && parent_depends(own, parent->name)))
		refusals_add(selection->refusals, "symbol-in-module",
			     select_location(selection, symbol->name), symbol->name,
			     "'%s' is in module %s, which need not be loaded when this code runs: "
			     "%s does not depend on it",
			     symbol->name, parent->name, own ? own->name : "the unit");
}

static void take_promoted(struct selection *selection, const struct promoted *promoted,
			  const char **ret_link_name, const struct external **ret_external)
{
	uint32_t index = externals_add(selection->options->externals, promoted->parent,
				       promoted->symbol, false);

	check_module(selection, promoted->parent, promoted->symbol);
	*ret_external = externals_get(selection->options->externals, index);
	*ret_link_name = (*ret_external)->link_name;
}

struct error *externals_find_name(struct selection *selection, const char *name,
			       const char **ret_link_name, const struct external **ret_external)
{
	const struct diff_options *options = selection->options;
	const struct promoted *promoted = promoted_own(selection, name);
	const struct parent_symbol *symbol;
	struct parent *parent;

	*ret_link_name = name;
	*ret_external = NULL;
	if (promoted) {
		take_promoted(selection, promoted, ret_link_name, ret_external);
		return NULL;
	}
	/* Prefer a symbol of the unit's module to one of the same name that vmlinux exports. */
	bool own = options->parent && options->parent != options->vmlinux &&
		   parent_global(options->parent, name);
	if (!own && exported_by_vmlinux(selection, name))
		return NULL;
	TRY(find_global(selection, name, &parent, &symbol));
	if (!symbol || parent != options->parent)
		*vec_push(&selection->result->missing) = xstrdup(name);
	if (!symbol) {
		promoted = promoted_other(selection, name);
		if (promoted)
			take_promoted(selection, promoted, ret_link_name, ret_external);
		return NULL; /* else another unit of the patch defines it, or linking fails */
	}
	check_module(selection, parent, symbol);
	bool in_vmlinux = parent == selection->options->vmlinux;
	uint32_t index = externals_add(selection->options->externals, parent, symbol, in_vmlinux);
	*ret_external = externals_get(selection->options->externals, index);
	*ret_link_name = (*ret_external)->link_name;
	return NULL;
}

/* Whether an atom is a static that must be in the parent under the same name: no number in it. */
static bool marks_unit(const struct atom *atom)
{
	const char *name = atom->name;

	return atom->symbol && atom->symbol->bind == STB_LOCAL &&
	       (atom->class == ATOM_CODE || atom->class == ATOM_DATA ||
		atom->class == ATOM_RODATA) && /* fs/nfs_common/common.c has only nfs_errtbl */
	       !isdigit((unsigned char)name[strlen(name) - 1]) &&
	       !has_prefix(name, "__UNIQUE_ID") && atom->end > atom->start;
}

/*
 * Find this unit's block of local symbols among those of the parent, by the names of its statics.
 * Search once.  Returns false if the unit was not found, which was refused.
 */
static bool find_block(struct selection *selection)
{
	VEC(const char *) names = {0};

	if (selection->have_block || selection->failed_block)
		return selection->have_block;
	for (size_t i = 0; i < selection->orig->atoms.count; i++)
		if (marks_unit(selection->orig->atoms.list[i]))
			*vec_push(&names) = selection->orig->atoms.list[i]->name;
	selection->have_block = parent_find_block(selection->options->parent,
						  selection->options->unit, names.list, names.count,
						  selection->refusals, &selection->block);
	selection->failed_block = !selection->have_block;
	vec_deinit(&names);
	return selection->have_block;
}

static struct error *find_symbol(struct selection *selection, const struct atom *atom,
				 uint32_t *ret)
{
	const struct diff_options *options = selection->options;
	const struct parent_symbol *symbol = NULL;
	struct parent *parent = options->parent;

	*ret = POKEPATCH_NONE;
	if (atom->symbol->bind != STB_LOCAL) {
		symbol = parent_global(parent, atom->name);
	} else {
		if (!find_block(selection))
			return NULL;
		symbol = parent_local(parent, selection->block, atom->name);
	}
	if (!symbol) {
		refusals_add(selection->refusals, "symbol-missing",
			     select_location(selection, atom->name), atom->name,
			     "'%s' is needed, but %s has no such symbol in this unit; leave what "
			     "uses it unchanged",
			     atom->name, parent->path);
		return NULL;
	}
	bool data = atom->class == ATOM_DATA || atom->class == ATOM_RODATA;
	if ((atom->class == ATOM_CODE && !symbol->function) ||
	    (data && (symbol->function || symbol->size != atom->symbol->size)))
		refusals_add(selection->refusals, "symbol-missing",
			     select_location(selection, atom->name), atom->name,
			     "'%s' is something else in %s; are source and configuration those of "
			     "this kernel?",
			     atom->name, parent->path);
	check_module(selection, parent, symbol);
	*ret = externals_add(options->externals, parent, symbol,
			     symbol->global && parent == options->vmlinux);
	return NULL;
}

struct error *externals_look_up(struct selection *selection, const struct symbol *symbol,
				struct parent **ret_parent, const struct parent_symbol **ret)
{
	*ret_parent = selection->options->parent;
	*ret = NULL;
	if (symbol->bind != STB_LOCAL)
		return find_global(selection, symbol->name, ret_parent, ret);
	if (*ret_parent && find_block(selection))
		*ret = parent_local(*ret_parent, selection->block, symbol->name);
	return NULL;
}

struct error *externals_find_old(struct selection *selection, const struct atom *atom,
				 uint32_t *ret)
{
	struct parent *parent = selection->options->parent;

	*ret = POKEPATCH_NONE;
	if (!parent)
		return NULL;
	/* kernel/fork.c has a weak arch_dup_task_struct(), but vmlinux has x86's own. */
	if (atom->symbol->bind == STB_WEAK) {
		const struct parent_symbol *symbol = parent_global(parent, atom->name);

		if (symbol && !symbol->weak) {
			refusals_add(selection->refusals, "symbol-missing",
				     select_location(selection, atom->name), atom->name,
				     "'%s' is weak here, and %s has another unit's in its place; "
				     "change that one",
				     atom->name, parent->path);
			return NULL;
		}
	}
	return find_symbol(selection, atom, ret);
}

void externals_refuse_second(struct selection *selection, const char *name)
{
	struct parent *parent = selection->options->parent;
	const struct parent_symbol *symbol = parent ? parent_global(parent, name) : NULL;

	if (!symbol)
		return;
	refusals_add(selection->refusals, "symbol-twice", select_location(selection, name),
		     name,
		     "'%s' is a new global here, but %s has %s of that name in another unit, which "
		     "everything else would go on using; change that one",
		     name, parent->path, symbol->weak ? "a weak one" : "one");
}

struct error *externals_find_atom(struct selection *selection, const struct atom *atom,
				   const char **ret_link_name)
{
	const struct diff_options *options = selection->options;
	uint32_t index;

	*ret_link_name = atom->name;
	if (!atom->symbol) {
		refusals_add(selection->refusals, "symbol-unknown", options->unit, atom->name,
			     "a reference into section '%s', which has no symbols", atom->name);
		return NULL;
	}
	if (!options->parent)
		return NULL;
	/* The module loader resolves a symbol that vmlinux exports. */
	if (options->parent == options->vmlinux &&
	    atom->symbol->bind != STB_LOCAL && exported_by_vmlinux(selection, atom->name))
		return NULL;
	TRY(find_symbol(selection, atom, &index));
	if (index != POKEPATCH_NONE)
		*ret_link_name =
			externals_get(selection->options->externals, index)->link_name;
	return NULL;
}
