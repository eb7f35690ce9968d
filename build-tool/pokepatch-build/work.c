// SPDX-License-Identifier: GPL-2.0-or-later
/* The frame of a run: the patch's name, the kernel's files, the work folder, phases and notes. */
#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pokepatch-build/blame.h"
#include "pokepatch-build/header_verdicts.h"
#include "pokepatch-build/build_fetch.h"
#include "pokepatch-build/build.h"
#include "pokepatch-build/comparison.h"
#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/changes.h"
#include "pokepatch-build/module_source.h"
#include "pokepatch-build/returns.h"
#include "pokepatch-build/series.h"
#include "pokepatch-build/sign.h"
#include "common/libexec.h"
#include "common/proc.h"
#include "common/worker.h"
#include "pokepatch_format.h"
#include "proof/proof.h"

/* "pokepatch_NAME" is the module's name; MODULE_NAME_LEN is 56, including the NUL. */
#define NAME_LENGTH_MAX 45
/* Seconds between two showings of the progress, on a terminal and as lines. */
#define PROGRESS_TERMINAL 0.2
#define PROGRESS_LINES 30

static bool is_name_character(char c)
{
	return isascii((unsigned char)c) && (isalnum((unsigned char)c) || c == '-' || c == '_');
}

static struct error *check_given_name(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!is_name_character(*p))
			return error_new(STATUS_FAILED,
					 "-n %s: a name has letters, digits, - and _ only", name);
	if (!isalnum((unsigned char)name[0]) || strlen(name) > NAME_LENGTH_MAX)
		return error_new(STATUS_FAILED,
				 "-n %s: a name begins with a letter or digit and has at "
				 "most %d characters",
				 name, NAME_LENGTH_MAX);
	return NULL;
}

/* Would the core call the patch as it calls a file of its own? */
static bool is_own_name(const char *name)
{
	static const char *const own[] = {POKEPATCH_OWN_NAMES};
	_free_ char *shown = underscored(name);

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (!strcmp(shown, own[i]))
			return true;
	return false;
}

/* A name from a diff's file name without its endings; empty if that has no usable character. */
static char *derive_name(const char *path)
{
	static const char *const endings[] = {".patch", ".diff", ".mbox", ".c"};
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	while (*base && !(isascii((unsigned char)*base) && isalnum((unsigned char)*base)))
		base++;

	char *name = xstrndup(base, NAME_LENGTH_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (has_suffix(name, endings[i]))
			name[strlen(name) - strlen(endings[i])] = '\0';
	for (char *p = name; *p; p++)
		if (!is_name_character(*p))
			*p = '-';
	return name;
}

/* "return-tcp_foo" for "net/ipv4/tcp.c:tcp_foo=-EPERM", the first of all --return. */
static char *return_name(const char *text)
{
	_free_ char *place = xstrndup(text, strcspn(text, "="));
	const char *colon = strrchr(place, ':');
	_free_ char *function = derive_name(colon ? colon + 1 : place);
	char *name = xasprintf("return-%s", function);

	name[strnlen(name, NAME_LENGTH_MAX)] = '\0';
	return name;
}

/* The path that gives the patch its name: a series has the name of its folder. */
static char *naming_path(const struct build_options *options)
{
	const char *path = options->series ?: options->patches[0];
	_free_ char *whole = options->series ? realpath(path, NULL) : NULL;

	if (whole && has_suffix(whole, "/series"))
		*strrchr(whole, '/') = '\0';
	return whole ? take_pointer(whole) : xstrdup(path);
}

/* The patch's name: the argument of -n, or a name from the first diff or the series. */
static struct error *choose_name(const struct build_options *options, char **ret)
{
	_free_ char *name = NULL;

	if (options->name) {
		TRY(check_given_name(options->name));
		name = xstrdup(options->name);
	} else if (options->level_given) {
		name = xasprintf("level-%u", options->level);
	} else if (options->returns.count) {
		name = return_name(options->returns.list[0]);
	} else {
		_free_ char *path = naming_path(options);

		name = derive_name(path);
		if (!*name)
			return error_new(STATUS_FAILED,
					 "%s gives no name for the patch; choose one with -n", path);
	}
	if (is_own_name(name))
		return error_new(STATUS_FAILED,
				 "a patch cannot be called '%s', which is the core's own file in "
				 "/sys/kernel/pokepatch; choose another name with -n",
				 name);
	*ret = take_pointer(name);
	return NULL;
}

static bool is_running(const char *release)
{
	struct utsname uts;

	return !uname(&uts) && !strcmp(uts.release, release);
}

/* Set one part of the kernel from its option, or keep the cache's; it is an error to have none. */
static struct error *resolve_file(const char *option, const char *letter, char **field,
				  const char *what, const char *release)
{
	if (option) {
		char *path = realpath(option, NULL);

		if (!path)
			return error_errno("%s %s", letter, option);
		free(*field);
		*field = path;
	}
	if (!*field)
		return error_new(STATUS_FAILED,
				 "no %s of kernel %s in the cache: run 'pokepatch fetch %s' or "
				 "add --fetch, give it with %s, or choose another kernel with -k%s",
				 what, release, release, letter,
				 is_running(release) ? " (this one is running)" : "");
	return NULL;
}

/* ---- a kernel that the user built ----------------------------------------------------- */

static char *in_folder(const char *folder, const char *name)
{
	_free_ char *path = xasprintf("%s/%s", folder, name);

	return realpath(path, NULL);
}

/* The release that kbuild recorded in the build folder, which the caller frees; or NULL. */
static char *built_release(const char *folder)
{
	_free_ char *path = xasprintf("%s/include/config/kernel.release", folder);
	char *text = NULL;

	error_destroy(file_read(path, &text, NULL));
	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

/* The source of a build folder: the folder itself, or, after make O=, where its link leads. */
static char *built_source(const char *folder)
{
	_free_ char *main = in_folder(folder, "init/main.c");

	return main ? realpath(folder, NULL) : in_folder(folder, "source");
}

/*
 * If the folder that --kbuild names is one in which a kernel was built, take all of the kernel from
 * it, and return true.  The cache's files and the running kernel's image of the same release may be
 * of another build.
 */
static bool take_build_folder(const char *folder, struct kernel_files *files)
{
	struct {
		char **field, *path;
	} parts[] = {
		{&files->vmlinux, in_folder(folder, "vmlinux")},
		{&files->config, in_folder(folder, ".config")},
		{&files->source, built_source(folder)},
		{&files->modules_dbg, realpath(folder, NULL)},
		{&files->modules, realpath(folder, NULL)},
		{&files->vmlinuz, NULL},
		{&files->patches, NULL}, /* the folder has the source that was compiled */
	};
	bool built = parts[0].path && parts[2].path;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (built) {
			free(*parts[i].field);
			*parts[i].field = take_pointer(parts[i].path);
		}
		free(parts[i].path);
	}
	return built;
}

/* Look for the kernel's parts in the cache and in the folder of --kbuild. */
static struct error *look_for_files(struct build *build)
{
	struct kernel_files *files = &build->files;

	kernel_files_deinit(files);
	TRY(kernel_files_find(build->release, files));
	/* It may be a link to a build folder.  Resolve it, so that the folder has only one name. */
	if (files->kbuild) {
		char *path = realpath(files->kbuild, NULL);

		free(files->kbuild);
		files->kbuild = path;
	}
	if (build->options.kbuild)
		build->own = take_build_folder(build->options.kbuild, files);
	return NULL;
}

/* Is there a part that neither an option names nor the cache has? */
static bool lacks_files(const struct build *build)
{
	const struct build_options *options = &build->options;
	const struct kernel_files *files = &build->files;

	return (!options->returns.count && !(options->source || files->source)) ||
	       !(options->kbuild || files->kbuild) ||
	       !(options->vmlinux || files->vmlinux) || !(options->config || files->config) ||
	       !(options->modules || files->modules_dbg);
}

static struct error *run_fetch(const struct build *build)
{
	const struct proc_options options = {
		.output = "/dev/null",
		.inherit = !build->options.quiet,
		.keep_stderr_apart = true,
	};
	_free_ char *program = NULL;
	struct proc_result result;
	struct error *error = NULL;

	TRY(program_find("pokepatch", &program));
	const char *const argv[] = {program, "fetch", "-q", build->release, NULL};
	TRY(proc_run(argv, &options, &result));
	if (result.status && result.err.length) {
		const char *line = result.err.text + result.err.length - 1;

		/* The error is the last line; progress may come before it. */
		while (line > result.err.text && line[-1] != '\n')
			line--;
		error = error_new(STATUS_FAILED, "%.*s", (int)strcspn(line, "\n"), line);
	} else if (result.status) {
		error = error_new(STATUS_FAILED, "'pokepatch fetch %s' failed", build->release);
	}
	proc_result_deinit(&result);
	return error;
}

/*
 * Until the build ends, no fetch replaces the kernel's files and 'pokepatch cache' removes none.
 */
static struct error *lock_kernel(struct build *build)
{
	const char *folder = build->files.cache;

	TRY(make_dirs(folder)); /* all parts may be the user's own; the tree will be in it */
	return cache_lock(folder, true, &build->kernel_lock);
}

struct error *build_fetch(struct build *build)
{
	bool locked = build->kernel_lock >= 0;

	if (locked)
		close(build->kernel_lock);
	build->kernel_lock = -1;
	TRY(run_fetch(build));
	return locked ? lock_kernel(build) : NULL;
}

static struct error *find_files(struct build *build)
{
	const struct build_options *options = &build->options;
	struct kernel_files *files = &build->files;
	const char *release = build->release;

	TRY(look_for_files(build));
	if (options->fetch && lacks_files(build)) {
		TRY(build_fetch(build));
		TRY(look_for_files(build));
	}
	if (file_exists(files->cache)) {
		TRY(lock_kernel(build));
		TRY(look_for_files(build)); /* a fetch may have replaced them while we waited */
	}
	if (options->source)
		free(take_pointer(files->patches)); /* the user's source has them */
	if (!options->returns.count) /* it needs none */
		TRY(resolve_file(options->source, "--source", &files->source, "source", release));
	TRY(resolve_file(options->kbuild, "--kbuild", &files->kbuild, "headers", release));
	TRY(resolve_file(options->vmlinux, "--vmlinux", &files->vmlinux, "vmlinux", release));
	TRY(resolve_file(options->config, "--config", &files->config, "configuration", release));
	TRY(resolve_file(options->modules, "--modules", &files->modules_dbg, "modules with DWARF",
			 release));
	if (!files->modules)
		files->modules = xstrdup(files->modules_dbg);
	return build->kernel_lock < 0 ? lock_kernel(build) : NULL;
}

static struct error *make_work_folder(struct build *build)
{
	const char *keep = build->options.keep;
	struct dirent *entry;
	bool empty = true;
	DIR *dir;

	if (!keep)
		return temp_dir(&build->work);
	TRY(make_dirs(keep));
	dir = opendir(keep);
	if (!dir)
		return error_errno("--keep %s", keep);
	while ((entry = readdir(dir)))
		empty &= !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(dir);
	if (!empty)
		return error_new(STATUS_FAILED,
				 "--keep %s: the folder is not empty; name a new one", keep);
	build->work = realpath(keep, NULL);
	return build->work ? NULL : error_errno("--keep %s", keep);
}

/* Choose the output's path, and check now that its folder can be written to, before any work. */
static struct error *choose_output(struct build *build)
{
	const char *given = build->options.output;
	_free_ char *folder = NULL;
	char *slash;
	struct stat status;

	const char *suffix = build->options.deb ? ".deb" : ".ko";

	if (given && !has_suffix(given, suffix))
		return error_new(STATUS_FAILED, "-o %s: a %s's name ends with %s", given,
				 build->options.deb ? "package" : "module", suffix);
	if (given && build->options.sign &&
	    (!strcmp(given, "pokepatch.ko") || has_suffix(given, "/pokepatch.ko")))
		return error_new(STATUS_FAILED,
				 "-o %s: with --sign that is the core's name; choose another", given);
	if (given)
		build->output = xstrdup(given);
	else if (!build->options.deb)
		build->output = xasprintf("pokepatch-%s.ko", build->name);
	/* A package's name has the machine's, which is not known yet. */
	folder = xstrdup(build->output ?: "x.deb");
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	if (stat(slash ? folder : ".", &status) || access(slash ? folder : ".", W_OK))
		return error_errno("cannot write %s", build->output ?: "to this folder");
	if (!S_ISDIR(status.st_mode))
		return error_new(STATUS_FAILED, "cannot write %s: %s is not a folder",
				 build->output, folder);
	return NULL;
}

struct error *build_init(struct build *build, const struct build_options *options)
{
	struct utsname running;

	*build = (struct build){
		.options = *options, .tree_lock = -1, .core_lock = -1, .kernel_lock = -1};
	build->phase_start = now_seconds();
	build->begun = time(NULL) - 1; /* files get the time of the last tick */
	for (size_t i = 0; i < options->allow.count; i++)
		TRY(error_prefix(refusals_allow(&build->refusals, options->allow.list[i]),
				 "--allow %s", options->allow.list[i]));
	if (options->kernel)
		build->release = xstrdup(options->kernel);
	else if (options->kbuild)
		build->release = built_release(options->kbuild);
	if (!build->release && uname(&running))
		return error_errno("cannot tell the running kernel's release; give one with -k");
	if (!build->release)
		build->release = xstrdup(running.release);
	TRY(choose_name(options, &build->name));
	TRY(choose_output(build));
	TRY(sign_check(build));
	TRY(find_files(build));
	TRY(module_source_open(build));
	return make_work_folder(build);
}

void unit_deinit(struct unit *unit)
{
	free(unit->source);
	free(unit->object);
	free(unit->parent);
	free(unit->parent_path);
	strings_free(unit->argv);
	free(unit->exact_object);
	free(unit->edited);
	free(unit->orig_object);
	free(unit->patched_object);
	free(unit->patched_key);
	for (size_t i = 0; i < unit->nr_changed_files; i++)
		free(unit->changed_files[i]);
	free(unit->changed_files);
	module_unit_destroy(unit->outside);
}

static void core_deinit(struct core_artefacts *core)
{
	free(core->ko);
	free(core->sources);
	free(core->symvers);
	free(core->glue_object);
	free(core->common_object);
	free(core->dir);
	strings_free(core->mod_compile);
	strings_free(core->objtool);
	strings_free(core->modpost);
	strings_free(core->ld);
}

void build_forget(struct build *build)
{
	comparison_destroy(build->comparison);
	build->comparison = NULL;
	for (size_t i = 0; i < build->nr_units; i++)
		unit_deinit(&build->units[i]);
	free(take_pointer(build->units));
	build->nr_units = 0;
	blame_destroy(build->blame);
	build->blame = NULL;
	build->applying = NULL;
	verdicts_take_changes(build, build->changes);
	build->changes = NULL;
	build_forget_shadow(build);
	free(take_pointer(build->marks_header));
	places_destroy(take_pointer(build->return_places));
	free(take_pointer(build->glue_object));
	free(take_pointer(build->ko));
}

void build_notes_deinit(struct build *build)
{
	buffer_deinit(&build->notes);
	string_set_deinit(&build->noted);
}

void build_deinit(struct build *build)
{
	worker_stop(build->core_ahead); /* it uses the work folder */
	if (build->work && !build->options.keep)
		error_destroy(remove_tree(build->work)); /* the user cannot do anything about it */
	build_forget(build);
	earlier_verdicts_destroy(build->earlier);
	string_set_deinit(&build->failed);
	proof_free_vmlinux(build->proof_vmlinux);
	for (size_t i = 0; i < build->nr_patches; i++) {
		patch_deinit(&build->patches[i].patch);
		commit_destroy(build->patches[i].commit);
	}
	free(build->patches);
	vec_deinit(&build->options.allow);
	vec_deinit(&build->options.defines);
	args_deinit(&build->options.cves);
	args_deinit(&build->options.unfixed);
	vec_deinit(&build->options.mark_functions);
	vec_deinit(&build->options.returns);
	core_deinit(&build->core);
	kernel_files_deinit(&build->files);
	strings_free(build->make_env);
	refusals_deinit(&build->refusals);
	build_notes_deinit(build);
	cleanup_close(&build->tree_lock);
	cleanup_close(&build->core_lock);
	cleanup_close(&build->kernel_lock);
	free(build->phases);
	free(build->kernel_build_id);
	free(build->vmlinux_build_id);
	free(build->tree);
	free(build->module_source);
	free(build->work);
	free(build->cc);
	free(build->compiler_version);
	free(build->arch);
	free(build->cross);
	free(build->cc1);
	free(build->kcflags);
	free(build->user_flags);
	args_deinit(&build->make_variables);
	free(build->output);
	free(build->name);
	free(build->release);
	*build = (struct build){.tree_lock = -1, .core_lock = -1, .kernel_lock = -1};
}

void phase_begin(struct build *build, const char *name)
{
	build->phases = xreallocarray(build->phases, build->nr_phases + 1, sizeof(*build->phases));
	build->phases[build->nr_phases++] = (struct phase_time){.name = name};
	build->phase_start = build->progress_shown = now_seconds();
	build->steps = build->steps_done = 0;
}

void build_expect(struct build *build, size_t steps)
{
	build->steps += steps;
}

void build_step(void *data)
{
	struct build *build = data;
	bool terminal = isatty(STDERR_FILENO);
	double now = now_seconds();

	build->steps_done++;
	/* Tests take single parts of a build, outside of its phases. */
	if (!build->nr_phases || build->options.quiet || build->options.verbose ||
	    now - build->progress_shown < (terminal ? PROGRESS_TERMINAL : PROGRESS_LINES))
		return;
	build->progress_shown = now;
	fprintf(stderr, "%s%-24s %zu of %zu%s", terminal ? ERASE_LINE : "",
		build->phases[build->nr_phases - 1].name,
		build->steps_done, build->steps, terminal ? "" : "\n");
}

/* Erase what a terminal shows of the progress. */
static void hide_progress(struct build *build)
{
	if (build->steps_done && !build->options.quiet && isatty(STDERR_FILENO))
		fputs(ERASE_LINE, stderr);
	build->steps_done = 0;
}

void phase_end(struct build *build)
{
	struct phase_time *phase = &build->phases[build->nr_phases - 1];

	phase->seconds = now_seconds() - build->phase_start;
	build_print_notes(build);
	if (!build->options.quiet)
		fprintf(stderr, "%-24s %6.2f s\n", phase->name, phase->seconds);
}

void build_print_notes(struct build *build)
{
	hide_progress(build);
	if (build->notes.length && !build->options.quiet)
		fputs(build->notes.text, stderr);
	buffer_deinit(&build->notes);
	build->notes = (struct buffer){};
}

void build_note(struct build *build, const char *format, ...)
{
	va_list list;

	if (build->noted_all)
		return;
	va_start(list, format);
	_free_ char *text = xvasprintf(format, list);
	va_end(list);
	/* Several commits may change the same file. */
	if (string_set_add(&build->noted, text))
		buffer_printf(&build->notes, "note: %s\n", text);
}

struct error *build_check_refusals(struct build *build)
{
	size_t count;

	refusals_sort(&build->refusals);
	count = refusals_fatal(&build->refusals);
	if (!count)
		return NULL;
	return error_new(STATUS_REFUSED, "refused for %zu reason%s; no module was made", count,
			 count == 1 ? "" : "s");
}
