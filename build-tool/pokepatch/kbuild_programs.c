// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The programs of the package linux-kbuild, built from the kernel's source; see kbuild_programs.h.
 *
 * The kernel's own Makefile builds them, in a folder that has the part of the source that they
 * need, and the configuration and generated files of the headers package.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/args.h"
#include "common/proc.h"
#include "common/source.h"
#include "object/arch.h"
#include "pokepatch/apt.h"
#include "pokepatch/kbuild_programs.h"
#include "pokepatch/kernel_packages.h"
#include "pokepatch/progress.h"

/* ---- what the kernel's Makefiles build -------------------------------------- */

/*
 * Programs of one folder; NAME.c there is a program's source.  Another version of the kernel may
 * lack one, which is then left out.  Of the package's programs these are the ones that building,
 * checking and signing a module runs, and bin2c, by which the kernel's build makes headers.
 *
 * @settings: variables that kbuild would take from the configuration.  The package has these
 * programs for every configuration.
 */
static const struct program_folder {
	const char *folder, *settings;
	const char *programs[3];
} program_folders[] = {
	{"scripts/basic", "", {"fixdep"}},
	{"scripts/mod", "", {"modpost"}},
	{"scripts/genksyms", "", {"genksyms"}},
	{"scripts",
	 "BUILD_C_RECORDMCOUNT=y CONFIG_MODULE_SIG_FORMAT=y CONFIG_BUILD_BIN2C=y",
	 {"recordmcount", "sign-file", "bin2c"}},
};

/* The source's Makefile builds this one by a target of its own, for configurations that need it. */
#define OBJTOOL "tools/objtool/objtool"

/* What the programs are built from, besides scripts/, below the source's top folder. */
static const char *const source_parts[] = {
	"Makefile",      "Kbuild",     "include",     "tools/objtool", "tools/lib",
	"tools/include", "tools/arch", "tools/build", "tools/scripts", "tools/Makefile",
};

/* make reads this after the kernel's Makefile, which has Q, build and scripts_basic. */
static void write_rules(const char *tree, struct buffer *text)
{
	buffer_add_string(text, "ifdef CONFIG_OBJTOOL\n"
				"pokepatch-programs: tools/objtool\n"
				"endif\n");
	for (size_t i = 0; i < ARRAY_SIZE(program_folders); i++) {
		const struct program_folder *row = &program_folders[i];

		buffer_printf(text,
			      "pokepatch-programs: pokepatch-programs-%zu\n"
			      "pokepatch-programs-%zu: scripts_basic\n"
			      "\t$(Q)$(MAKE) $(build)=%s %s",
			      i, i, row->folder, row->settings);
		for (size_t j = 0; j < ARRAY_SIZE(row->programs) && row->programs[j]; j++) {
			_free_ char *source =
				xasprintf("%s/%s/%s.c", tree, row->folder, row->programs[j]);

			if (file_exists(source))
				buffer_printf(text, " %s/%s", row->folder, row->programs[j]);
		}
		buffer_add_string(text, "\n");
	}
}

/* ---- what this machine has -------------------------------------------------- */

static bool program_exists(const char *name)
{
	const char *path = getenv("PATH") ?: "/usr/bin:/bin";

	for (size_t length; *path; path += length, path += *path == ':') {
		length = strcspn(path, ":");
		_free_ char *file = xasprintf("%.*s/%s", (int)length, path, name);
		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

#define GCC_NEWEST 30
#define GCC_OLDEST 8

/*
 * A compiler by its prefix ("aarch64-linux-gnu-", or "" for this machine's), or NULL.  Its version
 * does not matter: it compiles programs of this machine, and a table of the offsets in structures.
 * The caller frees it.
 */
static char *find_compiler(const char *prefix)
{
	_free_ char *name = xasprintf("%sgcc", prefix);

	for (int i = GCC_NEWEST; i >= GCC_OLDEST && !program_exists(name); i--) {
		free(name);
		name = xasprintf("%sgcc-%d", prefix, i);
	}
	return program_exists(name) ? take_pointer(name) : NULL;
}

/* Does the compiler find a header? */
static struct error *header_exists(const char *compiler, const char *header, bool *ret)
{
	const char *const argv[] = {compiler, "-E",        "-x", "c",         "-include",
				    header,   "/dev/null", "-o", "/dev/null", NULL};
	struct proc_result result;

	TRY(proc_run(argv, NULL, &result));
	*ret = !result.status;
	proc_result_deinit(&result);
	return NULL;
}

/* The machine and the compilers for a release. */
struct tools {
	const struct arch *arch;
	bool foreign;
	char *prefix;   /* CROSS_COMPILE; "" for this machine */
	char *compiler; /* for the kernel's machine; NULL: none */
	char *native;   /* for programs that run here; NULL: none */
};

static void tools_deinit(struct tools *tools)
{
	free(tools->prefix);
	free(tools->compiler);
	free(tools->native);
}

static struct error *tools_find(const char *release, struct tools *ret)
{
	struct tools tools = {.foreign = kernel_is_foreign(release)};
	const char *debian = kernel_arch(release);
	_free_ char *native = NULL;

	if (!debian) {
		TRY(apt_native(&native));
		debian = native;
	}
	tools.arch = arch_find_debian(debian);
	if (!tools.arch)
		return error_new(STATUS_FAILED,
				 "'%s' cannot be fetched: the archive no longer has its "
				 "linux-kbuild, and pokepatch cannot build it for %s",
				 release, debian);
	tools.prefix = tools.foreign ? xasprintf("%s-", tools.arch->tools.gnu) : xstrdup("");
	tools.compiler = find_compiler(tools.prefix);
	tools.native = find_compiler("");
	*ret = tools;
	return NULL;
}

/* Programs and headers that the build needs, and Debian's packages of them. */
static const struct needed {
	const char *program, *header;
	const char *package;
} needed[] = {
	{"make", NULL, "make"},
	{"xz", NULL, "xz-utils"},
	{"flex", NULL, "flex"},
	{"bison", NULL, "bison"},
	{NULL, "stdio.h", "libc6-dev"},
	{NULL, "gelf.h", "libelf-dev"},        /* objtool */
	{NULL, "openssl/evp.h", "libssl-dev"}, /* sign-file */
};

static void add_word(struct buffer *list, const char *word)
{
	buffer_printf(list, "%s%s", list->length ? " " : "", word);
}

/* The packages that have what the build lacks, with blanks between them; no text: none. */
static struct error *missing_packages(const struct tools *tools, struct buffer *ret)
{
	if (!tools->native)
		add_word(ret, "gcc");
	if (tools->foreign && !tools->compiler) {
		_free_ char *package = xasprintf("gcc-%s", tools->arch->tools.gnu);

		for (char *c = package; *c; c++)
			*c = *c == '_' ? '-' : *c;
		add_word(ret, package);
	}
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		bool there = true;

		if (needed[i].program)
			there = program_exists(needed[i].program);
		else if (tools->native)
			TRY(header_exists(tools->native, needed[i].header, &there));
		if (!there)
			add_word(ret, needed[i].package);
	}
	return NULL;
}

struct error *kbuild_programs_check(const char *release)
{
	struct buffer packages = {0};
	struct tools tools;
	struct error *error;

	TRY(tools_find(release, &tools));
	error = missing_packages(&tools, &packages);
	if (!error && packages.length)
		error = error_new(STATUS_FAILED,
				  "the archive no longer has the linux-kbuild package of '%s', and "
				  "building its programs from the kernel's source needs more "
				  "packages on this machine: run 'apt install %s'",
				  release, packages.text);
	buffer_deinit(&packages);
	tools_deinit(&tools);
	return error;
}

/* ---- the tree --------------------------------------------------------------- */

/*
 * Fill the empty folder work with source_parts and the folder of the architecture.  They are hard
 * links, because what is built there must not be in the unpacked source.  scripts/ is copied: parts
 * of it are moved into the headers.
 */
static struct error *link_source(const char *source, const struct tools *tools, const char *work)
{
	const struct proc_options options = {.dir = source};
	const char *const copy[] = {"cp", "-a", "-t", work, "scripts", NULL};
	struct args args = {0};
	struct error *error;

	args_add(&args, "cp");
	args_add(&args, "-al");
	args_add(&args, "--parents");
	args_add(&args, "-t");
	args_add(&args, work);
	for (size_t i = 0; i < ARRAY_SIZE(source_parts); i++)
		args_add(&args, source_parts[i]);
	args_addf(&args, "arch/%s", tools->arch->tools.source_arch);
	error = proc_check((const char *const *)args.list, &options, NULL);
	args_deinit(&args);
	return error ?: proc_check(copy, &options, NULL);
}

/* Unpack the source, all that a build of patches needs too, and take from it what is built here. */
static struct error *unpack_source(const struct kbuild_programs *programs, const struct tools *tools,
				   const char *headers)
{
	_free_ char *config = xasprintf("%s/.config", headers);
	_free_ char *source = NULL;
	struct args left_out = {0};
	struct error *error;

	error = source_left_out(config, tools->arch->tools.source_arch, &left_out);
	if (!error)
		error = source_unpack_ahead(programs->source, programs->dir, &left_out, &source);
	args_deinit(&left_out);
	return error ?: link_source(source, tools, programs->work);
}

/* Copy what was generated for the kernel from its headers into the tree. */
static struct error *copy_configuration(const char *headers, const struct tools *tools,
					const char *tree)
{
	_free_ char *generated =
		xasprintf("arch/%s/include/generated", tools->arch->tools.source_arch);
	const char *const names[] = {".config", "include/config", "include/generated", generated};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_free_ char *from = xasprintf("%s/%s", headers, names[i]);
		_free_ char *to = xasprintf("%s/%s", tree, names[i]);
		_free_ char *folder = xstrdup(to);
		const char *const argv[] = {"cp", "-rT", from, to, NULL};

		*strrchr(folder, '/') = '\0';
		TRY(make_dirs(folder));
		TRY(proc_check(argv, NULL, NULL));
	}
	return NULL;
}

/*
 * Make these files newer than .config, in this order.  Otherwise the Makefile would run the
 * configuration program, which could change the configuration: this machine may lack pahole.
 */
static struct error *touch_configuration(const char *tree)
{
	static const char *const names[] = {
		"include/config/auto.conf.cmd", "include/generated/autoconf.h",
		"include/generated/rustc_cfg", "include/config/auto.conf"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_free_ char *path = xasprintf("%s/%s", tree, names[i]);
		_close_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

		if (fd < 0 || futimens(fd, NULL) < 0)
			return error_errno("cannot write '%s'", path);
	}
	return NULL;
}

/* ---- building --------------------------------------------------------------- */

static void show_time(void *data)
{
	progress_set(data, 0);
}

/* The first line of make's output that names an error, without a newline.  The caller frees it. */
static char *make_reason(const char *output)
{
	static const char *const marks[] = {"error", "not found", "***"};

	for (size_t i = 0; output && i < ARRAY_SIZE(marks); i++) {
		const char *found = strstr(output, marks[i]);

		while (found && found > output && found[-1] != '\n')
			found--;
		if (found)
			return xstrndup(found, strcspn(found, "\n"));
	}
	return xstrdup("make gave no reason");
}

static struct error *run_make(const struct kbuild_programs *programs, const struct tools *tools,
			      const char *rules, struct progress *progress)
{
	struct proc_options options = {
		.dir = programs->work, .tick = show_time, .tick_data = progress};
	struct proc_result result;
	struct args args = {0};
	struct error *error;

	args_add_clean_environment(&args, programs->work);
	args_add(&args, "make");
	/* Without this option the Makefile would run itself again (need-sub-make). */
	args_add(&args, "--no-print-directory");
	args_add(&args, "-rR");
	args_addf(&args, "-j%u", proc_jobs());
	args_add(&args, "-f");
	args_add(&args, "Makefile");
	args_add(&args, "-f");
	args_add(&args, rules);
	args_addf(&args, "ARCH=%s", tools->arch->tools.source_arch);
	args_addf(&args, "CROSS_COMPILE=%s", tools->prefix);
	args_addf(&args, "CC=%s", tools->compiler);
	args_addf(&args, "HOSTCC=%s", tools->native);
	args_add(&args, "pokepatch-programs");
	error = proc_run((const char *const *)args.list, &options, &result);
	args_deinit(&args);
	TRY(error);
	if (result.status) {
		_free_ char *reason = make_reason(result.out.text);

		error = error_new(STATUS_FAILED,
				  "cannot build the programs of linux-kbuild for '%s' from '%s': "
				  "%s",
				  programs->release, programs->source, reason);
	}
	proc_result_deinit(&result);
	return error;
}

/* ---- putting them into the headers ------------------------------------------ */

static struct error *move(const char *from, const char *folder, const char *name)
{
	_free_ char *to = xasprintf("%s/%s", folder, name);
	_free_ char *above = xstrdup(to);

	*strrchr(above, '/') = '\0';
	TRY(make_dirs(above));
	return rename(from, to) < 0 ? error_errno("cannot make '%s'", to) : NULL;
}

/* Is this file of scripts/ a makefile or script, and not a source or a result of a build? */
static bool is_script(const char *name)
{
	static const char *const endings[] = {".c", ".h", ".o", ".S", ".cmd"};

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		if (has_suffix(name, endings[i]))
			return false;
	}
	return name[0] != '.' && strcmp(name, "Makefile") != 0;
}

/* Move the makefiles and scripts at the top of scripts/; the programs there have been moved. */
static struct error *move_scripts(const char *tree, const char *kbuild)
{
	_free_ char *folder = xasprintf("%s/scripts", tree);
	struct error *error = NULL;
	DIR *list = opendir(folder);

	if (!list)
		return error_errno("cannot read '%s'", folder);
	for (struct dirent *entry; !error && (entry = readdir(list));) {
		_free_ char *from = xasprintf("%s/%s", folder, entry->d_name);
		_free_ char *name = xasprintf("scripts/%s", entry->d_name);
		struct stat st;

		if (is_script(entry->d_name) && lstat(from, &st) == 0 && S_ISREG(st.st_mode))
			error = move(from, kbuild, name);
	}
	closedir(list);
	return error;
}

static struct error *move_programs(const char *tree, const char *kbuild)
{
	_free_ char *objtool = xasprintf("%s/" OBJTOOL, tree);

	for (size_t i = 0; i < ARRAY_SIZE(program_folders); i++) {
		const struct program_folder *row = &program_folders[i];

		for (size_t j = 0; j < ARRAY_SIZE(row->programs) && row->programs[j]; j++) {
			_free_ char *name = xasprintf("%s/%s", row->folder, row->programs[j]);
			_free_ char *from = xasprintf("%s/%s", tree, name);

			if (file_exists(from))
				TRY(move(from, kbuild, name));
		}
	}
	if (file_exists(objtool))
		TRY(move(objtool, kbuild, OBJTOOL));
	return move_scripts(tree, kbuild);
}

/*
 * The folder of the package linux-kbuild below the headers: usr/src/linux-headers-R has a link
 * "scripts" to ../../lib/linux-kbuild-V/scripts.
 */
static struct error *kbuild_folder(const char *headers, char **ret)
{
	static const char end[] = "/scripts";
	_free_ char *link = xasprintf("%s%s", headers, end);
	char target[4096];
	ssize_t length = readlink(link, target, sizeof(target) - 1);

	target[length < 0 ? 0 : length] = '\0';
	if (target[0] == '\0' || target[0] == '/' || !has_suffix(target, end))
		return error_new(STATUS_FAILED, "'%s' is not a link to the folder of linux-kbuild",
				 link);
	target[strlen(target) - strlen(end)] = '\0';
	*ret = xasprintf("%s/%s", headers, target);
	return NULL;
}

static struct error *build(const struct kbuild_programs *programs, const struct tools *tools,
			   const char *headers, struct progress *progress)
{
	_free_ char *rules = xasprintf("%s/pokepatch.mk", programs->work);
	struct buffer text = {0};
	_free_ char *kbuild = NULL;
	struct error *error;

	TRY(kbuild_folder(headers, &kbuild));
	TRY(remove_tree(programs->work)); /* of an interrupted run */
	TRY(make_dirs(programs->work));
	TRY(unpack_source(programs, tools, headers));
	TRY(copy_configuration(headers, tools, programs->work));
	TRY(touch_configuration(programs->work));
	write_rules(programs->work, &text);
	error = file_write(rules, text.text, text.length);
	buffer_deinit(&text);
	TRY(error);
	TRY(run_make(programs, tools, rules, progress));
	return move_programs(programs->work, kbuild);
}

struct error *kbuild_programs_build(const struct kbuild_programs *programs, const char *headers)
{
	_free_ char *folder = xasprintf("%s/usr/src/linux-headers-%s", headers, programs->release);
	struct progress progress;
	struct tools tools;
	struct error *error, *removed;

	TRY(kbuild_programs_check(programs->release));
	TRY(tools_find(programs->release, &tools));
	progress_begin(&progress, 0, "building the programs of linux-kbuild from the source");
	error = build(programs, &tools, folder, &progress);
	progress_end(&progress, !error);
	tools_deinit(&tools);
	removed = remove_tree(programs->work);
	if (!error)
		return removed;
	error_destroy(removed);
	error_destroy(source_drop(programs->dir));
	return error;
}
