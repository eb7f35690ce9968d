// SPDX-License-Identifier: GPL-2.0-or-later
/* Phase: find the units that the change touches, each with its parent and its command. */
#include "pokepatch-build/module_source.h"
#include "pokepatch-build/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/proc.h"
#include "pokepatch-build/comparison.h"
#include "pokepatch-build/header_verdicts.h"
#include "pokepatch-build/modules.h"
#include "pokepatch-build/shadow_tree.h"

/* ---- parents ---------------------------------------------------------------- */

/* Is there a module that the unit's object alone makes, as "b/c.ko" is for b/c.c? */
static struct error *find_alone(const struct build *build, const char *source, char **ret_name)
{
	_free_ char *object = unit_object_name(source);
	_free_ char *file = xasprintf("/%.*s.ko", (int)(strlen(object) - strlen(".o")), object);
	const char *slash = strrchr(object, '/');
	char *name _free_ = xstrdup(slash ? slash + 1 : object);
	_free_ char *path = NULL, *below = NULL;

	name[strlen(name) - strlen(".o")] = '\0';
	module_name_of_file(name);
	TRY(modules_find(build, name, &path));
	below = xasprintf("/%s", path ?: "");
	if (has_suffix(below, file))
		*ret_name = take_pointer(name);
	return NULL;
}

/* Find the modules that kbuild links an object into, sorted. */
static struct error *find_modules(const struct build *build, const char *source,
				  const char *modname, struct args *ret)
{
	_free_ char *alone = NULL;

	TRY(find_alone(build, source, &alone));
	module_names_add(modname, alone, ret);
	qsort(ret->list, ret->count, sizeof(*ret->list), order_strings);
	return NULL;
}

static void refuse_parent(struct build *build, const struct candidate *candidate,
			  const struct kbuild_unit *compiled, const char *module, bool several)
{
	if (candidate->is_new && !several)
		refusals_add(&build->refusals, "parent-unknown", candidate->source, module,
			     "it is compiled for module %s, which is not among the modules in %s; "
			     "a module that is new is built and loaded without pokepatch",
			     module, build->files.modules_dbg);
	else if (candidate->in_vmlinux)
		refusals_add(&build->refusals, "parent-unknown", candidate->source,
			     compiled->modname,
			     "it is linked both into vmlinux and into modules (%s), each of which "
			     "has a copy of its code; change code that one of them has",
			     compiled->modname);
	else if (several)
		refusals_add(&build->refusals, "parent-unknown", candidate->source, module,
			     "it is compiled for several modules (%s), and %s is not among the "
			     "modules in %s",
			     compiled->modname, module, build->files.modules_dbg);
	else
		refusals_add(&build->refusals, "parent-unknown", candidate->source, module,
			     "it is compiled for module %s, which is not among the modules in %s",
			     module, build->files.modules_dbg);
}

void unit_refuse_edited(struct refusals *refusals, const struct unit *unit)
{
	if (unit->outside) {
		refusals_add(refusals, "source-differs", unit->edited, unit->source,
			     "this file was changed after module %s was built, and %s does not "
			     "compile to what the module has; give the source that the module was "
			     "built from, or build it again",
			     unit->parent, unit->source);
		return;
	}
	refusals_add(refusals, "source-differs", unit->edited, unit->source,
		     "this file was changed after the kernel was built, and %s does not compile to "
		     "what the kernel has; give the source that the kernel was built from, or "
		     "build the kernel again",
		     unit->source);
}

/* ---- from candidates to units ----------------------------------------------- */

/* Keep of the changed files those that the compiler read: an #if may leave an #include out. */
static void keep_read(struct candidate *candidate, const struct kbuild_unit *compiled)
{
	struct map read = {};
	struct args paths = {};
	size_t kept = 0;

	for (char *const *file = compiled->depends; file && *file; file++) {
		char *path = path_normalise(*file);

		if (path) {
			args_add(&paths, path);
			map_slot(&read, paths.list[paths.count - 1]);
		}
		free(path);
	}
	for (size_t i = 0; i < candidate->changed.count; i++)
		if (map_has(&read, candidate->changed.list[i]))
			candidate->changed.list[kept++] = candidate->changed.list[i];
	candidate->changed.count = kept;
	map_deinit(&read);
	args_deinit(&paths);
}

/* Add a unit of one parent; the first of a candidate takes what is needed to compile it. */
static void add_unit(struct build *build, struct candidate *candidate, struct kbuild_unit *compiled,
		     const char *parent, char *parent_path)
{
	const bool first = !candidate->taken;
	struct unit *unit;

	build->units = xreallocarray(build->units, build->nr_units + 1, sizeof(*build->units));
	unit = &build->units[build->nr_units++];
	*unit = (struct unit){
		.source = xstrdup(candidate->source),
		.object = unit_object_name(candidate->source),
		.parent = xstrdup(parent),
		.parent_path = parent_path,
		.shares = !first,
		.argv = take_pointer(compiled->argv.list),
		.objtool_ran = compiled->objtool,
		.is_new = candidate->is_new,
		.edited = unit_find_edited(build, compiled->depends),
		.nr_changed_files = candidate->changed.count,
	};
	if (!unit->is_new)
		unit->exact_object = xasprintf("%s/%s", build->tree, unit->object);
	unit->changed_files = xcalloc(candidate->changed.count, sizeof(*unit->changed_files));
	for (size_t i = 0; i < candidate->changed.count; i++)
		unit->changed_files[i] = xstrdup(candidate->changed.list[i]);
	candidate->taken = true;
}

/*
 * Add a unit for each parent that kbuild links the object into.  Refuse the object if one of them
 * cannot be patched: that parent would keep the old code.
 */
static struct error *add_units(struct build *build, struct candidate *candidate,
			       struct kbuild_unit *compiled)
{
	struct args modules = {};
	struct error *error = NULL;

	if (!compiled->module) {
		add_unit(build, candidate, compiled, "vmlinux", NULL);
		return NULL;
	}
	error = find_modules(build, candidate->source, compiled->modname, &modules);
	for (size_t i = 0; !error && i < modules.count; i++) {
		char *path = NULL;

		error = modules_find(build, modules.list[i], &path);
		if (!error && (!path || candidate->in_vmlinux))
			refuse_parent(build, candidate, compiled, modules.list[i],
				      modules.count > 1);
		if (!error)
			add_unit(build, candidate, compiled, modules.list[i], path);
	}
	args_deinit(&modules);
	return error;
}

char *file_find_newer(const char *folder, char *const *files, const char *than)
{
	struct stat last, status;
	const char *found = NULL;

	if (stat(than, &last))
		return NULL;
	for (; files && *files; files++) {
		_free_ char *path = xasprintf("%s/%s", folder, *files);

		/* Generated files follow from the configuration, which kernel_check.c compares. */
		if (**files == '/' || strstr(*files, "include/generated/") ||
		    has_prefix(*files, "include/config/") || stat(path, &status))
			continue;
		if (status.st_mtim.tv_sec > last.st_mtim.tv_sec ||
		    (status.st_mtim.tv_sec == last.st_mtim.tv_sec &&
		     status.st_mtim.tv_nsec > last.st_mtim.tv_nsec)) {
			last = status;
			found = *files;
		}
	}
	return found ? xstrdup(found) : NULL;
}

char *unit_find_edited(const struct build *build, char *const *depends)
{
	return build->own && !build->options.source
		       ? file_find_newer(build->files.source, depends, build->files.vmlinux)
		       : NULL;
}

/*
 * Add a candidate to the units if kbuild compiled it, and it belongs to a module or to vmlinux.
 * kbuild compiles any file on request, so that it could compile a file proves nothing.
 */
static struct error *take_candidate(struct build *build, struct candidate *candidate,
				    struct kbuild_unit *compiled)
{
	if (!compiled->argv.list || (!compiled->module && !candidate->in_vmlinux))
		return NULL;
	keep_read(candidate, compiled);
	if (!candidate->changed.count)
		return NULL;
	return add_units(build, candidate, compiled);
}

/*
 * Choose the candidates to have compiled; the others are certainly not units.  Move the chosen ones
 * to the front of the list, and add their sources to ret.
 */
static struct error *choose_candidates(struct build *build, struct candidates *candidates,
				       struct args *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < candidates->list.count; i++) {
		struct candidate *candidate = &candidates->list.list[i];
		bool ask = candidate->in_vmlinux;

		if (!ask && source_is_special(candidate->source))
			ask = false; /* linked into the vDSO or the boot code */
		else if (!ask && candidate->unplanned)
			ask = false;
		else if (!ask && kbuild_has_other_name(build, candidate->source))
			ask = false; /* find_upward() */
		else if (!ask && candidate->included)
			TRY(kbuild_is_module(build, candidate->source, &ask));
		else
			ask = true;
		if (ask) {
			struct candidate chosen = *candidate;

			/* Swap: the rest of the list must stay, to be freed. */
			*candidate = candidates->list.list[kept];
			candidates->list.list[kept++] = chosen;
			args_add(ret, chosen.source);
		}
	}
	return NULL;
}

/* Does vmlinux or a module have this unit?  Then kbuild must be able to compile it. */
static bool must_compile(const struct candidate *candidate, const char *output)
{
	return candidate->in_vmlinux || candidate->planned ||
	       kbuild_output_has_module(output, candidate->source);
}

/*
 * Refuse changed files that the vDSO is compiled from, even if other units include them, too.
 * Changed files that boot code includes may be patched: the boot code has run already.
 */
static void refuse_special(struct build *build, const struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->list.count; i++) {
		const struct candidate *candidate = &candidates->list.list[i];

		if (candidate->in_vmlinux || !source_is_vdso(candidate->source))
			continue;
		for (size_t j = 0; j < candidate->changed.count; j++)
			build_refuse_uncompiled(build, candidate->changed.list[j],
						candidate->source);
	}
}

/* The changed files that the units compile; borrowed from these. */
static void find_compiled(const struct build *build, struct map *ret)
{
	for (size_t i = 0; i < build->nr_units; i++)
		for (size_t j = 0; j < build->units[i].nr_changed_files; j++)
			map_slot(ret, build->units[i].changed_files[j]);
}

/* May a changed file include the new file at path?  The compiler tells for certain (compile.c). */
static bool is_included(const struct build *build, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t length = strlen(name);

	for (size_t i = 0; i < build->changes->files.count; i++) {
		const struct text_lines *lines = &build->changes->files.list[i].new_lines;

		for (size_t j = 0; j < lines->count; j++)
			if (memmem(lines->list[j].text, lines->list[j].length, name, length))
				return true;
	}
	return false;
}

/*
 * Refuse changed source files that no unit compiles, and those that are removed though one does.  A
 * header that no unit includes was noted (headers.c).
 */
static void refuse_lost(struct build *build)
{
	struct map compiled = {};

	find_compiled(build, &compiled);
	for (size_t i = 0; i < build->changes->files.count; i++) {
		const struct changed_file *file = &build->changes->files.list[i];
		bool used = map_has(&compiled, file->path);

		bool source = has_suffix(file->path, ".c");

		if (!source && !file->outside)
			continue;
		if (used && file->deleted && source)
			build_refuse_deleted(build, file);
		else if (used)
			continue;
		else if (file->deleted)
			build_note(build, "%s: nothing in the kernel is compiled from it", file->path);
		else if (!file->created)
			build_refuse_uncompiled(build, file->path, file->path);
		else if (!file->renamed && !is_included(build, file->path))
			build_refuse_new(build, file);
	}
	map_deinit(&compiled);
}

/* ---- the phase -------------------------------------------------------------- */

/*
 * Has any file that the units were compiled from changed since it was unpacked?  If kbuild could
 * not compile a unit, check the whole tree: damage may be the reason.
 */
static struct error *check_damage(struct build *build, const struct candidates *candidates,
				  const struct kbuild_unit *compiled, size_t count,
				  const char *output, bool *ret_damaged)
{
	struct manifest manifest;
	struct error *error = manifest_open(build->tree, &manifest);

	*ret_damaged = false;
	for (size_t i = 0; !error && i < count && !*ret_damaged; i++) {
		if (compiled[i].argv.list)
			*ret_damaged = !manifest_check_files(&manifest, compiled[i].depends);
		else if (must_compile(&candidates->list.list[i], output))
			*ret_damaged = !manifest_check_all(&manifest);
	}
	manifest_close(&manifest);
	return error;
}

static struct error *cannot_compile(const struct candidate *candidate, const struct buffer *output)
{
	return error_new(STATUS_FAILED,
			 "the kernel's build cannot compile %s as it is, before any change:\n%s",
			 candidate->source,
			 output->text ? output->text : "(kbuild printed nothing)");
}

/* Compile the candidates and make units of them; *ret_damaged: prepare the tree and try again. */
static struct error *try_units(struct build *build, struct candidates *candidates,
			       bool *ret_damaged)
{
	struct args sources = {};
	struct buffer output = {};
	struct kbuild_unit *compiled = NULL;
	struct error *error;
	size_t count;

	*ret_damaged = false;
	error = choose_candidates(build, candidates, &sources);
	count = sources.count;
	compiled = xcalloc(count + 1, sizeof(*compiled));
	if (!error && count)
		error = kbuild_compile_units(build, sources.list, compiled, &output);
	if (!error)
		error = check_damage(build, candidates, compiled, count, output.text, ret_damaged);
	for (size_t i = 0; !error && !*ret_damaged && i < count; i++) {
		struct candidate *candidate = &candidates->list.list[i];

		if (!compiled[i].argv.list && must_compile(candidate, output.text))
			error = cannot_compile(candidate, &output);
		else
			error = take_candidate(build, candidate, &compiled[i]);
	}
	for (size_t i = 0; i < count; i++)
		kbuild_unit_deinit(&compiled[i]);
	free(compiled);
	buffer_deinit(&output);
	args_deinit(&sources);
	return error;
}

/*
 * vmlinux may have a source's code more than once: arm64 compiles some of KVM's for EL1, and again,
 * by a way with "..", for EL2.  Refuse such a source, because no patch reaches that copy.
 */
static void refuse_copies(struct build *build, const struct source_index *index)
{
	struct map names = {}; /* from a changed path to the name of a unit of it */
	VEC(char *) paths = {};

	for (size_t i = 0; i < index->upward.count; i++) {
		const char *name = index->upward.list[i];
		char *path = path_normalise(name);

		if (!path)
			continue;
		*vec_push(&paths) = path;
		if (!has_suffix(path, ".c") || source_is_special(name) ||
		    !changes_find(build->changes, path))
			continue;
		if (map_has(&index->units, path) || map_has(&names, path))
			refusals_add(&build->refusals, "parent-unknown", path, name,
				     "the kernel has its code more than once; what is compiled as %s would "
				     "keep the old code",
				     name);
		*map_slot(&names, path) = (void *)name;
	}
	for (size_t i = 0; i < paths.count; i++)
		free(paths.list[i]);
	vec_deinit(&paths);
	map_deinit(&names);
}

/* Find the units of source files that no other way has led to. */
static struct error *find_upward(struct build *build, const struct source_index *index,
				 bool *ret_damaged)
{
	struct map compiled = {}, lost = {};
	struct candidates candidates = {};
	struct error *error = NULL;

	find_compiled(build, &compiled);
	for (size_t i = 0; i < build->changes->files.count; i++) {
		const struct changed_file *file = &build->changes->files.list[i];

		if (has_suffix(file->path, ".c") && !file->outside && !file->created &&
		    !source_is_special(file->path) && !map_has(&compiled, file->path))
			map_slot(&lost, file->path);
	}
	if (lost.count) {
		error = candidates_find_upward(build, index, &lost, &candidates);
		if (!error && candidates.list.count)
			error = try_units(build, &candidates, ret_damaged);
		candidates_deinit(&candidates);
	}
	map_deinit(&compiled);
	map_deinit(&lost);
	return error;
}

/* Add the units of source files that are new, and that a changed makefile has compiled. */
static struct error *add_new_sources(struct build *build)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < build->changes->files.count; i++) {
		const struct changed_file *file = &build->changes->files.list[i];
		const char *found = file->command ? strstr(file->command, " -c -o ") : NULL;
		_free_ char *source = NULL, *command = NULL;
		struct candidate candidate = {.source = file->path, .is_new = true};
		struct kbuild_unit unit = {};

		if (!found)
			continue;
		command = kbuild_cut_command(file->command, found, &source);
		*vec_push(&candidate.changed) = file->path;
		error = kbuild_parse_command(command, source, &unit);
		unit.objtool = strstr(file->command, "/objtool ") != NULL;
		if (!error)
			error = add_units(build, &candidate, &unit);
		kbuild_unit_deinit(&unit);
		vec_deinit(&candidate.changed);
	}
	return error;
}

static int order_units(const void *a, const void *b)
{
	const struct unit *first = a, *second = b;

	int order = strcmp(first->source, second->source);

	if (!order)
		order = first->shares - second->shares;
	return order ? order : strcmp(first->parent, second->parent);
}

static struct error *look_for_units(struct build *build, bool *ret_damaged)
{
	struct candidates candidates = {};
	struct source_index index;
	struct error *error;
	size_t before;

	TRY(build_make_shadow(build));
	TRY(source_index_load(build, &index));
	before = refusals_fatal(&build->refusals);
	refuse_copies(build, &index);
	error = refusals_fatal(&build->refusals) > before ? build_check_refusals(build) : NULL;
	if (!error)
		error = candidates_find(build, &index, &candidates);
	if (!error)
		error = try_units(build, &candidates, ret_damaged);
	if (!error && !*ret_damaged)
		error = find_upward(build, &index, ret_damaged);
	if (!error && !*ret_damaged) {
		refuse_special(build, &candidates);
		error = module_source_add_units(build);
	}
	if (!error && !*ret_damaged)
		error = add_new_sources(build);
	if (!error && !*ret_damaged) {
		refuse_lost(build);
	}
	candidates_deinit(&candidates);
	source_index_deinit(&index);
	return error;
}

struct error *find_units(struct build *build)
{
	const size_t nr_refusals = build->refusals.count;
	bool damaged;

	TRY(look_for_units(build, &damaged));
	if (damaged) {
		build_note(build, "the prepared tree %s was damaged and is prepared again",
			   build->tree);
		build_print_notes(build);
		TRY(tree_rebuild(build));
		/* They have CRCs of the damaged source, and what was judged by it. */
		comparison_destroy(take_pointer(build->comparison));
		earlier_verdicts_destroy(take_pointer(build->earlier));
		refusals_forget(&build->refusals, nr_refusals);
		TRY(look_for_units(build, &damaged));
		if (damaged)
			return error_new(STATUS_FAILED,
					 "another program changes the prepared tree %s; try again",
					 build->tree);
	}
	if (!build->nr_units && !refusals_fatal(&build->refusals))
		return error_new(STATUS_NOTHING,
				 "the diffs change no code of kernel %s: nothing to do",
				 build->release);
	if (build->nr_units)
		qsort(build->units, build->nr_units, sizeof(*build->units), order_units);
	return build_check_refusals(build);
}
