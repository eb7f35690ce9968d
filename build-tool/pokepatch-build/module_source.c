// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Out-of-tree modules; see module_source.h.
 *
 * kbuild compiles such a module in the kernel's build folder, and calls its files by the path that
 * make was given as M=.  The folder may have moved since, and a link may lead to it.  So this path,
 * the spelled root, comes from the .cmd file's first line, and the compiler runs with another path
 * in its place.  -fmacro-prefix-map keeps __FILE__ as it was.
 */
#include "pokepatch-build/module_source.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/proc.h"
#include "pokepatch-build/changes.h"
#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/lines.h"
#include "pokepatch-build/modules.h"
#include "pokepatch-build/shadow_tree.h"
#include "pokepatch-build/units.h"

/* ---- the folder ------------------------------------------------------------- */

static bool has_makefile(const char *folder)
{
	_free_ char *kbuild = xasprintf("%s/Kbuild", folder);
	_free_ char *makefile = xasprintf("%s/Makefile", folder);

	return file_exists(kbuild) || file_exists(makefile);
}

/* The next file below a folder, without hidden folders such as .git. */
static FTSENT *next_file(FTS *walk)
{
	FTSENT *entry;

	while ((entry = fts_read(walk))) {
		if (entry->fts_info == FTS_D && entry->fts_level && *entry->fts_name == '.')
			fts_set(walk, entry, FTS_SKIP);
		else if (entry->fts_info != FTS_D && entry->fts_info != FTS_DP)
			return entry;
	}
	return NULL;
}

static struct error *walk_begin(const char *folder, FTS **ret)
{
	char *roots[] = {(char *)folder, NULL};

	*ret = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	return *ret ? NULL : error_errno("cannot read %s", folder);
}

static struct error *check_built(const struct build *build, const char *folder)
{
	bool found = false;
	FTSENT *entry;
	FTS *walk;

	TRY(walk_begin(folder, &walk));
	while (!found && (entry = next_file(walk)))
		found = has_suffix(entry->fts_name, ".ko");
	fts_close(walk);
	return found ? NULL
		     : error_new(STATUS_FAILED,
				 "--module-source %s: no module (.ko) in it; build it for kernel %s "
				 "first",
				 folder, build->release);
}

struct error *module_source_open(struct build *build)
{
	const char *given = build->options.module_source;
	struct stat status;
	_free_ char *folder = given ? realpath(given, NULL) : NULL;

	if (!given)
		return NULL;
	if (!folder || stat(folder, &status))
		return error_errno("--module-source %s", given);
	if (!S_ISDIR(status.st_mode))
		return error_new(STATUS_FAILED, "--module-source %s: not a folder", given);
	if (!has_makefile(folder))
		return error_new(STATUS_FAILED,
				 "--module-source %s: no Kbuild and no Makefile in it; name the "
				 "folder in which the module was built (M=)",
				 given);
	TRY(check_built(build, folder));
	build->module_source = take_pointer(folder);
	return NULL;
}

/* The path in the folder of a file below it, part of path; NULL: it is elsewhere. */
static const char *path_inside(const struct build *build, const char *path)
{
	size_t length = strlen(build->module_source);

	return !strncmp(path, build->module_source, length) && path[length] == '/'
		       ? path + length + 1
		       : NULL;
}

char *module_source_find(const struct build *build, const char *path)
{
	_free_ char *full = NULL, *real = NULL;
	const char *inside;

	if (!build->module_source)
		return NULL;
	full = xasprintf("%s/%s", build->module_source, path);
	real = realpath(full, NULL);
	inside = real ? path_inside(build, real) : NULL;
	return inside && !strcmp(inside, path) ? take_pointer(real) : NULL;
}

bool module_source_has(const struct build *build, const char *path)
{
	_free_ char *found = module_source_find(build, path);

	return found;
}

bool module_source_has_place(const struct build *build, const char *path)
{
	const char *slash = strrchr(path, '/');
	_free_ char *folder = slash ? xstrndup(path, (size_t)(slash - path)) : NULL;

	return build->module_source && (!folder || module_source_has(build, folder));
}

const char *module_source_cwd(const struct build *build)
{
	return build->files.kbuild;
}

void module_source_refuse_uncompiled(struct build *build, const char *path)
{
	refusals_add(&build->refusals, "not-in-kernel", path, path,
		     "no module in %s was compiled from this file; leave it out of the diff, or "
		     "build the module, if 'make clean' has removed its objects",
		     build->options.module_source);
}

/* ---- what kbuild has left --------------------------------------------------- */

/* What a unit of the folder has besides struct unit. */
struct module_unit {
	char *root;    /* the spelled root: "/home/me/driver" */
	char *objtool; /* the command that kbuild ran on the object; NULL: none */
};

void module_unit_destroy(struct module_unit *unit)
{
	if (!unit)
		return;
	free(unit->root);
	free(unit->objtool);
	free(unit);
}

/* A unit of the folder that compiles changed files. */
struct found {
	char *object, *source; /* paths in the folder */
	struct kbuild_unit compiled;
	struct module_unit *outside;
	VEC(char *) changed; /* of build->changes */
};

static void found_deinit(struct found *found)
{
	free(found->object);
	free(found->source);
	kbuild_unit_deinit(&found->compiled);
	module_unit_destroy(found->outside);
	vec_deinit(&found->changed);
}

/* The spelled root in "savedcmd_/home/me/driver/sub/x.o := ...", for object sub/x.o; or NULL. */
static char *spelled_root(const char *text, const char *object)
{
	const char *start = strchr(text, '_');
	const char *end = strstr(text, " := ");
	size_t length = strlen(object);

	if (!start || !end || (size_t)(end - ++start) <= length + 1)
		return NULL;
	end -= length;
	return end[-1] == '/' && !strncmp(end, object, length)
		       ? xstrndup(start, (size_t)(end - 1 - start))
		       : NULL;
}

/* The path in the folder of a file as kbuild calls it, which the caller frees; or NULL. */
static char *dependency_inside(const struct build *build, const char *root, const char *file)
{
	size_t length = strlen(root);
	_free_ char *path = NULL, *real = NULL;
	const char *inside;

	if (strncmp(file, root, length) || file[length] != '/')
		return NULL;
	path = xasprintf("%s%s", build->module_source, file + length);
	real = realpath(path, NULL);
	inside = real ? path_inside(build, real) : NULL;
	return inside ? xstrdup(inside) : NULL;
}

/*
 * Replace the dependencies by the paths in the folder of those that are there, and note which of
 * them are changed.
 */
static void take_depends(struct build *build, struct found *found)
{
	struct args inside = {};
	struct map seen = {};

	for (char **depend = found->compiled.depends; *depend; depend++) {
		_free_ char *path = dependency_inside(build, found->outside->root, *depend);
		struct changed_file *file = path ? changes_find(build->changes, path) : NULL;

		if (path)
			args_add(&inside, path);
		if (!file || map_has(&seen, file->path))
			continue;
		map_slot(&seen, file->path);
		*vec_push(&found->changed) = file->path;
	}
	map_deinit(&seen);
	strings_free(found->compiled.depends);
	found->compiled.depends = inside.list;
}

/* Read a .cmd file of the folder; found->changed is empty if it is no unit's. */
static struct error *read_cmd(struct build *build, const char *path, struct found *ret)
{
	const char *inside = path_inside(build, path);
	const char *name = strrchr(path, '/') + 1;
	_free_ char *text = NULL, *root = NULL;

	*ret = (struct found){
		.object = xasprintf("%.*s%.*s", (int)(name - inside), inside,
				    (int)(strlen(name) - strlen(".") - strlen(".cmd")), name + 1)};
	TRY(file_read(path, &text, NULL));
	root = spelled_root(text, ret->object);
	ret->source = xasprintf("%.*s.c", (int)(strlen(ret->object) - strlen(".o")), ret->object);
	_free_ char *spelled = root ? xasprintf("%s/%s", root, ret->source) : NULL;
	_free_ char *line = spelled ? xasprintf("\nsource_%s/%s := %s\n", root, ret->object, spelled)
				    : NULL;
	if (!line || !strstr(text, line))
		return NULL;
	ret->outside = xcalloc(1, sizeof(*ret->outside));
	ret->outside->root = take_pointer(root);
	TRY(kbuild_unit_read(path, spelled, &ret->compiled, &ret->outside->objtool));
	take_depends(build, ret);
	return NULL;
}

/* ---- commands --------------------------------------------------------------- */

/* Does a path begin at p in the word?  Macros may have the folder in a string, which must stay. */
static bool path_begins(const char *word, const char *p)
{
	static const char *const joined[] = {"-I",	    "-L",	"-B",	     "-iquote", "-isystem",
					     "-idirafter", "-include", "-imacros", "-iprefix"};
	const size_t length = (size_t)(p - word);

	for (size_t i = 0; i < ARRAY_SIZE(joined); i++)
		if (length == strlen(joined[i]) && has_prefix(word, joined[i]))
			return true;
	return p == word || (word[0] == '-' && word[1] != 'D' && (p[-1] == '=' || p[-1] == ','));
}

/* Add a word of the recorded command, with the folder @to in place of the spelled root. */
static void add_word(const char *word, const char *root, const char *to, struct args *ret)
{
	const char *found = strstr(word, root);
	const char *end = found ? found + strlen(root) : NULL;

	if (found && (*end == '/' || !*end) && path_begins(word, found))
		args_addf(ret, "%.*s%s%s", (int)(found - word), word, to, end);
	else
		args_add(ret, word);
}

static char *shadow_path(const struct build *build)
{
	return xasprintf("%s/module-source", build->work);
}

const char *module_source_name(const struct build *build, const char *file)
{
	_free_ char *shadow = shadow_path(build);
	size_t length = strlen(shadow);

	return !strncmp(file, shadow, length) && file[length] == '/' ? file + length + 1 : file;
}

struct error *module_source_check_read(const struct build *build, const struct unit *unit,
				       const char *file)
{
	const char *const folders[] = {build->module_source, unit->outside->root};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		const size_t length = strlen(folders[i]);

		if (has_prefix(file, folders[i]) && file[length] == '/' &&
		    changes_find(build->changes, file + length + 1))
			return error_new(STATUS_FAILED,
					 "%s: the compiler has read %s as it was before the "
					 "change; the module's makefile may give it a folder by an "
					 "option that pokepatch-build does not know: use -I",
					 unit->source, file + length + 1);
	}
	return NULL;
}

/* Add the recorded command, without -c, output and source. */
static void add_flags(const struct build *build, const struct unit *unit, const char *folder,
		      struct args *ret)
{
	const char *root = unit->outside->root;

	args_add_clean_environment(ret, build->work);
	for (char *const *word = unit->argv; *word; word++)
		add_word(*word, root, folder, ret);
	if (strcmp(folder, root))
		args_addf(ret, "-fmacro-prefix-map=%s=%s", folder, root);
}

void module_source_add_command(const struct build *build, const struct unit *unit, bool patched,
			       const char *object, struct args *ret)
{
	_free_ char *shadow = shadow_path(build);
	const char *folder = patched ? shadow : build->module_source;

	add_flags(build, unit, folder, ret);
	args_add(ret, "-idirafter"); /* pokepatch_patch.h */
	args_addf(ret, "%s/include", build->core.sources);
	/* In the debug information and in messages, files have their paths in the folder. */
	args_addf(ret, "-fdebug-prefix-map=%s/=", unit->outside->root);
	args_addf(ret, "-fdebug-prefix-map=%s/=", folder);
	compile_add_options(build, object, ret);
	args_addf(ret, "%s/%s", folder, unit->source);
}

/* Run kbuild's objtool command on the exact object, as kbuild did. */
static struct error *run_objtool(const struct build *build, const struct unit *unit)
{
	const struct proc_options options = {.dir = module_source_cwd(build)};
	struct args words = {}, args = {};
	struct error *error;
	const char *rest;

	if (!unit->outside->objtool)
		return NULL;
	error = shell_split(unit->outside->objtool, &words, &rest);
	args_add_clean_environment(&args, build->work);
	args_addf(&args, "SRCARCH=%s", build->arch); /* for Debian's objtool (objtool.c) */
	for (size_t i = 0; i + 1 < words.count; i++) /* the last word is the object */
		args_add(&args, words.list[i]);
	args_add(&args, unit->exact_object);
	if (!error)
		error = proc_check((const char *const *)args.list, &options, NULL);
	args_deinit(&words);
	args_deinit(&args);
	return error;
}

static struct error *compile_exact(const struct build *build, const struct unit *unit)
{
	const struct proc_options options = {.dir = module_source_cwd(build)};
	struct args args = {};
	struct error *error;

	add_flags(build, unit, build->module_source, &args);
	args_add(&args, "-c");
	args_add(&args, "-o");
	args_add(&args, unit->exact_object);
	args_addf(&args, "%s/%s", build->module_source, unit->source);
	error = proc_check((const char *const *)args.list, &options, NULL);
	args_deinit(&args);
	if (!error)
		error = run_objtool(build, unit);
	return error_prefix(error, "the module's build cannot compile %s/%s as it is, before any change",
			    build->options.module_source, unit->source);
}

/* ---- units ------------------------------------------------------------------ */

/* Is the module for this kernel?  Its vermagic begins with the release. */
static struct error *check_kernel(const struct build *build, const char *module)
{
	static const char key[] = "\0vermagic=";
	_free_ char *text = NULL;
	const char *found;
	size_t length;

	TRY(file_read(module, &text, &length));
	found = memmem(text, length, key, sizeof(key) - 1);
	if (!found)
		return error_new(STATUS_FAILED, "%s: not a kernel module; build it again", module);
	found += sizeof(key) - 1;
	if (strcspn(found, " ") == strlen(build->release) &&
	    has_prefix(found, build->release))
		return NULL;
	return error_new(STATUS_FAILED, "%s is for kernel %.*s, not for %s; build it for that kernel",
			 module, (int)strcspn(found, " "), found, build->release);
}

static void module_names(const struct build *build, const struct found *found, struct args *ret)
{
	_free_ char *path = xasprintf("%s/%.*s", build->module_source,
				      (int)(strlen(found->object) - strlen(".o")), found->object);
	_free_ char *module = xasprintf("%s.ko", path);
	char *name = strrchr(path, '/') + 1;

	module_name_of_file(name);
	module_names_add(found->compiled.modname, file_exists(module) ? name : NULL, ret);
}

static void add_unit(struct build *build, struct found *found, const char *parent,
		     const char *parent_path)
{
	struct unit *unit;

	build->units = xreallocarray(build->units, build->nr_units + 1, sizeof(*build->units));
	unit = &build->units[build->nr_units];
	*unit = (struct unit){
		.source = xstrdup(found->source),
		.object = xstrdup(found->object),
		.parent = xstrdup(parent),
		.parent_path = xstrdup(parent_path),
		.shares = !found->outside,
		.argv = take_pointer(found->compiled.argv.list),
		.exact_object = xasprintf("%s/exact-%zu.o", build->work, build->nr_units),
		.objtool_ran = found->compiled.objtool,
		.edited = file_find_newer(build->module_source, found->compiled.depends,
					  parent_path),
		.outside = take_pointer(found->outside),
		.nr_changed_files = found->changed.count,
	};
	if (unit->shares) {
		free(unit->exact_object);
		unit->exact_object = xstrdup(unit[-1].exact_object);
	}
	build->nr_units++;
	unit->changed_files = xcalloc(found->changed.count, sizeof(*unit->changed_files));
	for (size_t i = 0; i < found->changed.count; i++)
		unit->changed_files[i] = xstrdup(found->changed.list[i]);
}

/* Add a unit for each module that has the object; refuse the object if one of them is not there. */
static struct error *add_units(struct build *build, struct found *found)
{
	struct args names = {};
	struct error *error = NULL;

	module_names(build, found, &names);
	for (size_t i = 0; !error && i < names.count; i++) {
		_free_ char *inside = NULL, *path = NULL;

		error = modules_find_below(build->module_source, names.list[i], &inside);
		path = xasprintf("%s/%s", build->module_source, inside ?: "");
		if (!error && inside && file_exists(path))
			error = check_kernel(build, path);
		else if (!error)
			refusals_add(&build->refusals, "parent-unknown", found->source,
				     names.list[i],
				     "it is compiled for module %s, which is not in %s; build the "
				     "module",
				     names.list[i], build->options.module_source);
		if (!error)
			add_unit(build, found, names.list[i], path);
	}
	args_deinit(&names);
	return error;
}

static bool any_changed(const struct build *build)
{
	for (size_t i = 0; i < build->changes->files.count; i++)
		if (build->changes->files.list[i].outside)
			return true;
	return false;
}

struct error *module_source_add_units(struct build *build)
{
	const size_t before = build->nr_units;
	struct error *error = NULL;
	FTSENT *entry;
	FTS *walk;

	if (!build->module_source || !any_changed(build))
		return NULL;
	TRY(walk_begin(build->module_source, &walk));
	while (!error && (entry = next_file(walk))) {
		struct found found;

		if (*entry->fts_name != '.' || !has_suffix(entry->fts_name, ".o.cmd"))
			continue;
		error = read_cmd(build, entry->fts_path, &found);
		if (!error && found.changed.count)
			error = add_units(build, &found);
		found_deinit(&found);
	}
	fts_close(walk);
	for (size_t i = before; !error && i < build->nr_units; i++)
		if (!build->units[i].shares)
			error = compile_exact(build, &build->units[i]);
	return error;
}

/* ---- the shadow ------------------------------------------------------------- */

/* Write a changed file.  A line marker keeps the name by which kbuild knows the file (__FILE__). */
static struct error *write_changed(struct shadow *shadow, const struct changed_file *file,
				   const char *root)
{
	struct buffer out = {};
	struct error *error;

	if (file->deleted)
		return shadow_take(shadow, file->path);
	buffer_printf(&out, "# 1 \"%s/%s\"\n", root, file->path);
	text_lines_join_numbered(&file->new_lines, &out);
	error = shadow_put(shadow, file->path, out.text, out.length);
	buffer_deinit(&out);
	return error;
}

struct error *module_source_write(struct build *build)
{
	_free_ char *path = shadow_path(build);
	const char *root = NULL;
	struct shadow shadow;
	struct error *error;

	for (size_t i = 0; !root && i < build->nr_units; i++)
		root = build->units[i].outside ? build->units[i].outside->root : NULL;
	if (!root)
		return NULL;
	TRY(remove_tree(path)); /* of an earlier run (leave_out.h) */
	error = shadow_init(&shadow, build->module_source, path);
	if (!error)
		error = shadow_open(&shadow, "");
	for (size_t i = 0; !error && i < build->changes->files.count; i++)
		if (build->changes->files.list[i].outside)
			error = write_changed(&shadow, &build->changes->files.list[i], root);
	shadow_deinit(&shadow);
	return error;
}
