// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeping apart what the new code of several parents calls by one name.  In the kernel each module
 * has global names of its own: two modules that link the same object both have all its functions.
 * In a patch module all output objects are linked together.  What was changed is local there, so
 * this is about new functions and variables only.  A new one of a module must not be taken by code
 * that means vmlinux's, nor by code that runs without the module.
 */
#include "pokepatch-build/names_apart.h"

#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "pokepatch-build/comparison.h"

struct names {
	struct object *objects; /* for each unit; those of units without output are empty */
	struct map parents;	/* parent of the first definition, by name */
	struct map of_parent;	/* set for "PARENT:NAME" */
	struct map apart;	/* set for names that several parents define, or vmlinux too */
	VEC(char *) strings;	/* names and keys */
};

static bool is_global(const struct symbol *symbol)
{
	return symbol && symbol->bind != STB_LOCAL && *symbol->name;
}

static void add_definition(struct names *names, const char *parent, const char *name)
{
	void **first = map_slot(&names->parents, name);

	if (!*first)
		*first = (char *)parent;
	else if (strcmp(*first, parent))
		*map_slot(&names->apart, name) = (char *)name;
	*map_slot(&names->of_parent, *vec_push(&names->strings) = xasprintf("%s:%s", parent, name)) =
		(char *)name;
}

static struct error *read_outputs(const struct build *build, struct names *names)
{
	for (size_t i = 0; i < build->nr_units; i++) {
		struct object *object = &names->objects[i];

		if (!build->comparison->outputs[i])
			continue;
		TRY(object_read(build->comparison->outputs[i], object));
		for (size_t j = 1; j < object->symbols.count; j++) {
			const struct symbol *symbol = object->symbols.list[j];

			if (!is_global(symbol) || !symbol->section)
				continue;
			add_definition(names, build->units[i].parent, symbol->name);
			if (build->units[i].parent_path &&
			    parent_global(build->comparison->vmlinux, symbol->name))
				*map_slot(&names->apart, symbol->name) = (char *)symbol->name;
		}
	}
	return NULL;
}

/* Rename a module's definitions, and references to them, in one of its units. */
static bool rename_in(struct names *names, struct object *object, const char *parent)
{
	bool renamed = false;

	for (size_t i = 1; i < object->symbols.count; i++) {
		struct symbol *symbol = object->symbols.list[i];

		if (!is_global(symbol) || !map_has(&names->apart, symbol->name))
			continue;
		_free_ char *key = xasprintf("%s:%s", parent, symbol->name);
		if (!map_has(&names->of_parent, key))
			continue;
		symbol->name = *vec_push(&names->strings) =
			xasprintf("%s.%s", symbol->name, parent);
		renamed = true;
	}
	return renamed;
}

static struct error *rename_all(const struct build *build, struct names *names)
{
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct unit *unit = &build->units[i];
		char **output = &build->comparison->outputs[i];

		if (!*output || !unit->parent_path ||
		    !rename_in(names, &names->objects[i], unit->parent))
			continue;
		/* To another file, because the object's names are in the map of this one. */
		free(*output);
		*output = xasprintf("%s/apart-%zu.o", build->work, i);
		TRY(object_write(&names->objects[i], *output));
	}
	return NULL;
}

/* Does the unit's code run only while the module is loaded? */
static bool runs_with(const struct build *build, const struct unit *unit, const char *module)
{
	const struct parent *own = map_get(&build->comparison->modules_by_name, unit->parent);

	return !strcmp(unit->parent, module) || !strcmp(module, "vmlinux") ||
	       (own && parent_depends(own, module));
}

static void refuse_absent(struct build *build, const struct names *names)
{
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct unit *unit = &build->units[i];
		const struct object *object = &names->objects[i];

		for (size_t j = 1; j < object->symbols.count; j++) {
			const struct symbol *symbol = object->symbols.list[j];
			const char *module = is_global(symbol) && !symbol->section
						     ? map_get(&names->parents, symbol->name)
						     : NULL;

			if (!module || map_has(&names->apart, symbol->name) ||
			    runs_with(build, unit, module))
				continue;
			_free_ char *own = xasprintf("%s:%s", unit->parent, symbol->name);
			if (map_has(&names->of_parent, own))
				continue;
			refusals_add(&build->refusals, "symbol-in-module", unit->source, symbol->name,
				     "'%s' is new in module %s, which need not be loaded when this code "
				     "runs: %s does not depend on it",
				     symbol->name, module, unit->parent);
		}
	}
}

struct error *names_keep_apart(struct build *build)
{
	struct names names = {0};
	bool several = false;

	for (size_t i = 1; i < build->nr_units; i++)
		several |= strcmp(build->units[0].parent, build->units[i].parent) != 0;
	if (!several)
		return NULL;
	names.objects = xcalloc(build->nr_units, sizeof(*names.objects));
	struct error *error = read_outputs(build, &names);
	if (!error) {
		refuse_absent(build, &names);
		error = build_check_refusals(build);
	}
	if (!error)
		error = rename_all(build, &names);
	for (size_t i = 0; i < build->nr_units; i++)
		if (names.objects[i].path)
			object_deinit(&names.objects[i]);
	free(names.objects);
	map_deinit(&names.parents);
	map_deinit(&names.of_parent);
	map_deinit(&names.apart);
	for (size_t i = 0; i < names.strings.count; i++)
		free(names.strings.list[i]);
	vec_deinit(&names.strings);
	return error;
}
