// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Phase: compile the core module and the glue, once for each kernel.  kbuild does it and leaves its
 * commands in .cmd files; link.c uses the same commands to compile, check and link a patch module.
 */
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "pokepatch-build/build.h"
#include "pokepatch-build/data.h"
#include "pokepatch-build/format.h"
#include "pokepatch-build/kbuild.h"
#include "object/object.h"
#include "common/cache.h"
#include "common/proc.h"
#include "common/worker.h"
#include "pokepatch-build/toolchain.h"
#include "pokepatch-build/tree.h"

/* Cores of other versions of pokepatch, 34 MB each, that stay in a kernel's folder. */
#define OTHER_CORES 3

/* ---- our own sources -------------------------------------------------------- */

/* Skip everything but source files: the user may have built the core in its own folder. */
static bool is_no_core_source(const char *name, bool folder)
{
	return !folder && !has_suffix(name, ".c") && !has_suffix(name, ".h") &&
	       !has_suffix(name, ".S") && !has_suffix(name, ".sh") &&
	       strcmp(name, "Kbuild") != 0;
}

static int compare_names(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static struct error *add_contents(struct buffer *text, const char *data, const char *folder)
{
	_free_ char *root = xasprintf("%s/%s", data, folder);
	char *roots[] = {root, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, compare_names);
	struct error *error = NULL;
	FTSENT *entry;

	if (!walk)
		return error_errno("cannot read %s", root);
	while (!error && (entry = fts_read(walk))) {
		_free_ char *contents = NULL;
		char hash[65];
		size_t length;

		if (entry->fts_info != FTS_F || is_no_core_source(entry->fts_name, false))
			continue;
		error = file_read(entry->fts_path, &contents, &length);
		if (error)
			break;
		sha256_hex(contents, length, hash);
		buffer_printf(text, "%s %s\n", hash, entry->fts_path + strlen(data) + 1);
	}
	fts_close(walk);
	return error;
}

/* Describe everything that the artefacts are made from; the hash of it names their folder. */
static struct error *core_identity(const struct build *build, const char *data, struct buffer *text)
{
	buffer_printf(text, "format %d\nrelease %s\ncompiler %s\nvmlinux %s\n", CACHE_CORE_FORMAT,
		      build->release, build->cc, build->vmlinux_build_id);
	if (build->user_flags)
		buffer_printf(text, "flags %s\n", build->user_flags);
	TRY(toolchain_identity(build, text));
	TRY(add_contents(text, data, "core-module"));
	TRY(add_contents(text, data, "patches/module"));
	TRY(identity_add_file(text, build->files.kbuild, ".config"));
	TRY(identity_add_file(text, build->files.kbuild, "Module.symvers"));
	return identity_add_file(text, build->files.kbuild, "include/generated/autoconf.h");
}

/* ---- commands --------------------------------------------------------------- */

/* How to find a command in a .cmd file, and to remove the file arguments from it. */
struct command_rule {
	const char *program;       /* end of argv[0]; NULL: take the first command */
	const char *with_value[5]; /* options to drop together with the next word */
	const char *prefixes[6];   /* drop words that begin with one of these */
	const char *suffix;        /* drop words that end with this: they are files */
};

static const struct command_rule compiler_rule = {
	NULL,
	{"-o"},
	{"-c", "-Wp,-M", "-DKBUILD_", "-D__KBUILD_"},
	".c",
};
static const struct command_rule objtool_rule = {"objtool", {NULL}, {NULL}, ".o"};
static const struct command_rule modpost_rule = {
	"modpost",
	{"-o", "-i", "-T"},
	{"-e"},
	".o",
};
static const struct command_rule ld_rule = {NULL, {"-o"}, {NULL}, ".o"};

static bool is_word(const char *const *list, size_t count, const char *word)
{
	for (size_t i = 0; i < count && list[i]; i++)
		if (!strcmp(list[i], word))
			return true;
	return false;
}

static bool has_any_prefix(const char *const *list, size_t count, const char *word)
{
	for (size_t i = 0; i < count && list[i]; i++)
		if (has_prefix(word, list[i]))
			return true;
	return false;
}

static void strip_files(const struct command_rule *rule, const struct args *words, struct args *ret)
{
	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->list[i];

		if (is_word(rule->with_value, ARRAY_SIZE(rule->with_value), word))
			i++;
		else if (!has_any_prefix(rule->prefixes, ARRAY_SIZE(rule->prefixes), word) &&
			 !has_suffix(word, rule->suffix))
			args_add(ret, word);
	}
}

/* Find the rule's command in a target's .cmd file, unless *ret has it; *ret may stay NULL. */
static struct error *find_command(const char *folder, const char *target,
				  const struct command_rule *rule, char ***ret)
{
	_free_ char *path = cmd_file_path(folder, target);
	struct error *error = NULL;
	struct cmd_file cmd;
	const char *line;

	if (*ret || !file_exists(path))
		return NULL;
	TRY(cmd_file_read(path, &cmd));
	for (line = cmd.command; !error && line && !*ret;) {
		struct args words = {}, stripped = {};

		error = shell_split(line, &words, &line);
		if (!error && words.count &&
		    (!rule->program || has_suffix(words.list[0], rule->program))) {
			strip_files(rule, &words, &stripped);
			*ret = stripped.list;
		}
		args_deinit(&words);
	}
	cmd_file_deinit(&cmd);
	return error_prefix(error, "%s", path);
}

static struct error *find_commands(const char *folder, struct core_artefacts *core)
{
	TRY(find_command(folder, "pokepatch.mod.o", &compiler_rule, &core->mod_compile));
	/* kbuild runs objtool on each unit, or late, on the whole module. */
	TRY(find_command(folder, "group_1.o", &objtool_rule, &core->objtool));
	TRY(find_command(folder, "pokepatch.o", &objtool_rule, &core->objtool));
	TRY(find_command(folder, "Module.symvers", &modpost_rule, &core->modpost));
	TRY(find_command(folder, "pokepatch.ko", &ld_rule, &core->ld));
	if (!core->mod_compile || !core->modpost || !core->ld)
		return error_new(STATUS_FAILED,
				 "%s: kbuild left no commands there; remove the folder and try "
				 "again",
				 folder);
	return NULL;
}

/* ---- building --------------------------------------------------------------- */

/*
 * gcc for arm64 sets SHF_LINK_ORDER on __patchable_function_entries, which ties each piece to one
 * section of code.  The differ makes one table without the flag for all functions of a unit, and ld
 * refuses to combine sections with and without it.  So clear it in the glue.
 */
static struct error *drop_order(const char *path)
{
	struct object object;
	struct error *error = NULL;
	bool ordered = false;

	TRY(object_read(path, &object));
	for (size_t i = 1; i < object.sections.count; i++) {
		struct section *section = object.sections.list[i];

		ordered |= section->flags & SHF_LINK_ORDER;
		section->flags &= ~(uint64_t)SHF_LINK_ORDER;
	}
	if (ordered)
		error = object_write(&object, path);
	object_deinit(&object);
	return error;
}

/*
 * Compile a file that every patch module has, without its module's name.
 * @more: options besides those of a module's .mod.o; NULL: none.
 */
static struct error *compile_part(const struct build *build, const struct core_artefacts *core,
				  const char *folder, const char *source, const char *object,
				  char *const *more)
{
	struct proc_options options = {.dir = core->dir};
	struct args args = {};
	struct error *error;

	args_add_clean_environment(&args, build->work);
	args_add_all(&args, core->mod_compile);
	if (more)
		args_add_all(&args, more);
	args_addf(&args, "-I%s/core-module/include", folder);
	args_add(&args, "-DKBUILD_BASENAME=\"glue\"");
	args_add(&args, "-DKBUILD_MODNAME=\"pokepatch_glue\"");
	args_add(&args, "-D__KBUILD_MODNAME=kmod_pokepatch_glue");
	args_add(&args, "-g0"); /* no paths of this machine in the patch modules */
	/* Kernels with frame pointers forbid tail calls, but the glue's exit must end with one. */
	args_add(&args, "-foptimize-sibling-calls");
	/* A kernel may be built with these, and ld would then join the sections of a part. */
	args_add(&args, "-fno-function-sections");
	args_add(&args, "-fno-data-sections");
	args_add(&args, "-c");
	args_add(&args, "-o");
	args_add(&args, object);
	args_add(&args, source);
	error = proc_check((const char *const *)args.list, &options, NULL);
	args_deinit(&args);
	return error_prefix(error, "cannot compile a part of patch modules");
}

/*
 * The kernel calls the glue's functions indirectly.  With CONFIG_CFI_CLANG they need the hash of
 * their types, but kbuild compiles a .mod.o, which has no functions, without (Makefile.modfinal).
 * So add what a unit of the core is compiled with.
 */
static struct error *find_type_flags(const char *folder, struct args *ret)
{
	static const char *const flags[] = {"-fsanitize=kcfi", "-fsanitize-cfi"};
	char **words = NULL;

	TRY(find_command(folder, "group_1.o", &compiler_rule, &words));
	for (char **word = words; word && *word; word++)
		if (has_any_prefix(flags, ARRAY_SIZE(flags), *word))
			args_add(ret, *word);
	strings_free(words);
	return NULL;
}

static struct error *compile_glue(const struct build *build, const struct core_artefacts *core,
				  const char *folder, const char *name, char *const *more,
				  const char *object)
{
	_free_ char *source = xasprintf("%s/patches/module/%s", folder, name);
	_free_ char *units = xasprintf("%s/core-module", folder);
	struct args flags = {};
	struct error *error = find_type_flags(units, &flags);

	args_add_all(&flags, more);
	if (!error)
		error = compile_part(build, core, folder, source, object, flags.list);
	args_deinit(&flags);
	return error ?: drop_order(object);
}

struct error *core_compile_glue(const struct build *build, const char *name, char *const *more,
				const char *object)
{
	_free_ char *folder = xasprintf("%s/..", build->core.sources);

	return compile_glue(build, &build->core, folder, name, more, object);
}

/*
 * kbuild compiles scripts/module-common.c once for all modules of a folder, and links it into each:
 * vermagic and the hash of the unwind table's format.  Compile it without debug information.
 */
static struct error *compile_common(const struct build *build, const struct core_artefacts *core,
				    const char *folder)
{
	_free_ char *module = xasprintf("%s/core-module", folder);
	_free_ char *path = cmd_file_path(module, ".module-common.o");
	struct cmd_file cmd;

	if (!file_exists(path)) /* an older kernel: modpost's part has all that */
		return NULL;
	TRY(cmd_file_read(path, &cmd));
	struct error *error =
		cmd.depends && cmd.depends[0]
			? compile_part(build, core, folder, cmd.depends[0], core->common_object,
				       NULL)
			: error_new(STATUS_FAILED, "%s: it names no source", path);
	cmd_file_deinit(&cmd);
	return error;
}

/* Run kbuild.  What it and the compiler say is kept beside the module: see CACHE_CORE_LOG. */
static struct error *run_kbuild(const struct build *build, const char *folder)
{
	_free_ char *log = xasprintf("%s/" CACHE_CORE_LOG, folder);
	struct args args = {};
	struct buffer said = {};
	struct error *error;

	args_add_clean_environment(&args, build->work);
	args_add(&args, "make");
	args_add(&args, "-s");
	args_addf(&args, "-j%u", build->options.jobs);
	args_add(&args, "-C");
	args_add(&args, build->files.kbuild);
	args_addf(&args, "M=%s/core-module", folder);
	/* The core's Kbuild looks in vmlinux for symbols that kallsyms lacks. */
	args_addf(&args, "POKEPATCH_VMLINUX=%s", build->files.vmlinux);
	args_add_machine(&args, build);
	if (build->user_flags)
		args_addf(&args, "KCFLAGS=%s", build->user_flags);
	/*
	 * No BTF, which nothing reads.  The headers since Debian 13 have a vmlinux to make it from,
	 * and this machine's pahole may be too old for the options that they pass.
	 */
	args_add(&args, "CONFIG_DEBUG_INFO_BTF_MODULES=");
	args_add(&args, "modules");
	error = proc_check((const char *const *)args.list, NULL, &said);
	args_deinit(&args);
	error = error_prefix(error, "the core module does not compile for kernel %s",
			     build->release);
	if (!error)
		error = file_write(log, said.text ?: "", said.length);
	buffer_deinit(&said);
	return error;
}

static struct error *fill_core(const struct build *build, const char *data, const char *folder,
			       struct core_artefacts *core)
{
	static const char *const names[] = {"core-module", "patches/module"};

	TRY(remove_tree(folder));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_free_ char *from = xasprintf("%s/%s", data, names[i]);
		_free_ char *to = xasprintf("%s/%s", folder, names[i]);

		TRY(make_dirs(to));
		TRY(folder_copy(from, to, NULL, is_no_core_source));
	}
	TRY(run_kbuild(build, folder));
	_free_ char *module = xasprintf("%s/core-module", folder);
	TRY(find_commands(module, core));
	TRY(compile_glue(build, core, folder, "glue.c", NULL, core->glue_object));
	return compile_common(build, core, folder);
}

static struct error *make_core(const struct build *build, const char *data, const char *folder,
			       const struct buffer *identity, struct core_artefacts *core)
{
	_free_ char *ready = xasprintf("%s/" CACHE_CORE_READY, folder);
	struct error *error = fill_core(build, data, folder, core);

	if (!error)
		error = file_write(ready, identity->text, identity->length);
	if (error)
		error_destroy(remove_tree(folder));
	return error;
}

static bool is_ready(const char *folder, const struct buffer *identity,
		     const struct core_artefacts *core)
{
	_free_ char *ready = xasprintf("%s/" CACHE_CORE_READY, folder);
	_free_ char *text = NULL;
	struct error *error;
	size_t length;

	if (!file_exists(ready) || !file_exists(core->ko) || !file_exists(core->symvers) ||
	    !file_exists(core->glue_object))
		return false;
	error = file_read(ready, &text, &length);
	if (error) {
		error_destroy(error);
		return false;
	}
	if (strcmp(text, identity->text))
		return false;
	utimensat(AT_FDCWD, ready, NULL, 0); /* it was used: see remove_older_cores() */
	return true;
}

/*
 * Keep the folders that were used last, and remove the others.  Several versions of pokepatch may
 * share the cache, as two worktrees of a developer do; each would compile its core for every build
 * if only the last one stayed.
 */
static void remove_older_cores(const struct build *build, const char *folder)
{
	VEC(struct used_file) others = {0};
	DIR *dir = opendir(build->files.cache);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		_free_ char *path = xasprintf("%s/%s", build->files.cache, entry->d_name);
		_free_ char *ready = xasprintf("%s/" CACHE_CORE_READY, path);
		struct stat status = {0};

		if (!has_prefix(entry->d_name, "core-") || has_suffix(entry->d_name, ".lock") ||
		    !strcmp(path, folder))
			continue;
		if (stat(ready, &status)) /* being made, or left by an interrupted build */
			status.st_mtim = (struct timespec){0};
		*vec_push(&others) = (struct used_file){take_pointer(path), 0, status.st_mtim};
	}
	if (dir)
		closedir(dir);
	if (others.count)
		qsort(others.list, others.count, sizeof(*others.list), compare_used_files);
	for (size_t i = 0; i < others.count; i++) {
		if (i >= OTHER_CORES)
			cache_drop(others.list[i].path);
		free(others.list[i].path);
	}
	vec_deinit(&others);
}

static struct error *open_folder(struct build *build, const char *data,
				 const struct buffer *identity)
{
	struct core_artefacts *core = &build->core;
	_free_ char *folder = NULL, *module = NULL;
	char hash[65];

	sha256_hex(identity->text, identity->length, hash);
	folder = xasprintf("%s/core-%.16s", build->files.cache, hash);
	module = xasprintf("%s/core-module", folder);
	core->ko = xasprintf("%s/pokepatch.ko", module);
	core->sources = xstrdup(module);
	core->symvers = xasprintf("%s/Module.symvers", module);
	core->glue_object = xasprintf("%s/glue.o", folder);
	core->common_object = xasprintf("%s/module-common.o", folder);
	core->dir = xstrdup(build->files.kbuild);
	TRY(cache_lock(folder, true, &build->core_lock));
	if (is_ready(folder, identity, core))
		return find_commands(module, core);
	cleanup_close(&build->core_lock);
	build->core_lock = -1;
	TRY(cache_lock(folder, false, &build->core_lock));
	if (is_ready(folder, identity, core)) { /* another build made it in the meantime */
		TRY(find_commands(module, core));
	} else {
		TRY(make_core(build, data, folder, identity, core));
		remove_older_cores(build, folder);
	}
	if (flock(build->core_lock, LOCK_SH))
		return error_errno("cannot lock %s", folder);
	return NULL;
}

static struct error *open_core(struct build *build, const char *data,
			       const struct buffer *identity)
{
	TRY(open_folder(build, data, identity));
	if (!file_exists(build->core.common_object))
		free(take_pointer(build->core.common_object));
	return NULL;
}

static struct error *make_ahead(void *data, size_t index, struct buffer *ret)
{
	struct build *build = data;

	(void)index;
	(void)ret;
	return prepare_core(build);
}

/*
 * The core needs the headers package and no source, unless flags of the user's are to be found by
 * comparing with what kbuild does in the tree.  The worker leaves the core in the cache, under its
 * lock, as another build could; prepare_core() waits for it and finds it there.
 */
struct error *core_start(struct build *build)
{
	if (build->options.jobs == 1 || toolchain_has_record(build))
		return NULL;
	TRY(kernel_read_vmlinux_id(build));
	return worker_start(make_ahead, build, &build->core_ahead);
}

struct error *prepare_core(struct build *build)
{
	struct buffer identity = {};
	_free_ char *data = NULL;
	struct error *error;

	if (build->core_ahead) {
		struct buffer unused = {};

		TRY(worker_finish(take_pointer(build->core_ahead), &unused));
	}
	TRY(data_find(&data));
	error = core_identity(build, data, &identity);
	if (!error)
		error = open_core(build, data, &identity);
	buffer_deinit(&identity);
	return error;
}
