// SPDX-License-Identifier: GPL-2.0-or-later
/* Phase: prepare the kernel's tree in the cache, or use the one that an earlier build prepared. */
#include "pokepatch-build/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/package.h"
#include "pokepatch-build/returns.h"
#include "pokepatch_format.h"
#include "common/proc.h"
#include "pokepatch-build/toolchain.h"
#include "proof/proof.h"

/* ---- the inputs ------------------------------------------------------------- */

/* Is this a name of the architecture: the kernel's, its folder's in arch/, or Debian's? */
static bool arch_is_called(const struct arch *arch, const char *name)
{
	return !strcmp(arch->name, name) || !strcmp(arch->tools.source_arch, name) ||
	       (arch->tools.debian && !strcmp(arch->tools.debian, name));
}

/* Take the machine from vmlinux, and check that the headers were generated for it. */
static struct error *find_arch(struct build *build)
{
	const char *given = build->options.arch;
	const struct arch *machine = arch_of_file(build->files.vmlinux);
	_free_ char *folder = xasprintf("%s/arch", build->files.kbuild);
	_free_ char *generated = NULL;

	if (!machine)
		return error_new(STATUS_FAILED,
				 "%s: not an ELF file for a machine that pokepatch supports; name "
				 "the kernel's vmlinux with --vmlinux",
				 build->files.vmlinux);
	if (!proof_knows(machine->elf.machine, machine->elf.class, machine->elf.data))
		return error_new(STATUS_FAILED,
				 "%s: it is for %s, and pokepatch-build makes no modules for that "
				 "machine because it cannot check them; pokepatch-diff compares "
				 "its objects",
				 build->files.vmlinux, machine->tools.debian);
	if (given && !arch_is_called(machine, given))
		return error_new(STATUS_FAILED, "--arch %s: %s is for %s", given,
				 build->files.vmlinux, machine->name);
	if (!file_exists(folder))
		return error_new(STATUS_FAILED, "%s: not a kernel's build folder",
				 build->files.kbuild);
	generated = xasprintf("%s/%s/include/generated", folder, machine->tools.source_arch);
	if (!file_exists(generated))
		return error_new(STATUS_FAILED,
				 "%s: no generated headers for %s in it; was the kernel built there?",
				 build->files.kbuild, machine->name);
	build->machine = machine;
	if (!build->output)
		build->output = package_file_name(build->release, build->options.level,
						  machine->tools.debian);
	build->arch = xstrdup(machine->tools.source_arch);
	build->cross = toolchain_cross(build);
	return NULL;
}

/*
 * Markers do not depend on each other, so an instrumented module is switched without stopping the
 * machine, where the architecture supports that.
 */
static struct error *choose_transition(struct build *build)
{
	struct build_options *options = &build->options;

	if (options->transition == TRANSITION_DEFAULT)
		options->transition = options->instrument && build->machine->live
					      ? POKEPATCH_TRANSITION_LIVE
					      : POKEPATCH_TRANSITION_STOP;
	if (options->transition == POKEPATCH_TRANSITION_LIVE && !build->machine->live)
		return error_new(STATUS_FAILED,
				 "--transition live: on %s pokepatch switches patches only with the machine "
				 "stopped; use stop",
				 build->machine->name);
	return NULL;
}

struct error *identity_add_file(struct buffer *text, const char *folder, const char *name)
{
	_free_ char *path = xasprintf("%s/%s", folder, name);
	struct stat status;

	if (stat(path, &status))
		return error_errno("%s: not a kernel's build folder: no %s", folder, name);
	buffer_printf(text, "%s %lld %lld.%09ld\n", path, (long long)status.st_size,
		      (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
	return NULL;
}

/* Describe everything that the tree is made from; the hash of it names the tree. */
static struct error *tree_identity(const struct build *build, struct buffer *text)
{
	char source[65];

	TRY(source_hash(build->files.source, source));
	buffer_printf(text, "format %d\nrelease %s\narch %s\ncompiler %s\nsource %s %s\n",
		      CACHE_TREE_FORMAT, build->release, build->arch, build->cc,
		      build->files.source, source);
	if (build->files.patches) {
		TRY(source_hash(build->files.patches, source));
		buffer_printf(text, "patches %s %s\n", build->files.patches, source);
	}
	if (build->cc1)
		buffer_printf(text, "own compiler %s\n", build->cc1);
	if (build->kcflags)
		buffer_printf(text, "flags %s\n", build->kcflags);
	TRY(toolchain_identity(build, text));
	TRY(identity_add_file(text, build->files.kbuild, ".config"));
	TRY(identity_add_file(text, build->files.kbuild, "include/generated/autoconf.h"));
	return identity_add_file(text, build->files.kbuild, "include/config/auto.conf");
}

/* ---- preparing -------------------------------------------------------------- */

/*
 * Copy the programs, which the headers package has compiled already, and skip files with a dot in
 * their names, except NAME.real*.
 */
static bool is_no_program(const char *name, bool folder)
{
	return !folder && strchr(name, '.') && !strstr(name, ".real");
}

static bool is_no_header_note(const char *name, bool folder)
{
	return !folder && has_suffix(name, ".cmd");
}

static const struct part {
	const char *path; /* in the build folder; "%s" is the architecture */
	bool (*skip)(const char *name, bool folder);
	bool optional;
} parts[] = {
	{".config", NULL, false},
	{".kernelvariables", NULL, true},
	{"Module.symvers", NULL, true},
	{"include/config", is_no_header_note, false},
	{"include/generated", is_no_header_note, false},
	{"arch/%s/include/generated", is_no_header_note, false},
	{"scripts", is_no_program, false},
	{"tools/objtool", is_no_program, true},
};

static struct error *copy_parts(const struct build *build)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const char *mark = strstr(parts[i].path, "%s");
		_free_ char *name = mark ? xasprintf("%.*s%s%s", (int)(mark - parts[i].path),
						     parts[i].path, build->arch, mark + 2)
					 : xstrdup(parts[i].path);
		_free_ char *from = xasprintf("%s/%s", build->files.kbuild, name);
		_free_ char *to = xasprintf("%s/%s", build->tree, name);
		_free_ char *folder = xstrdup(to);

		if (parts[i].optional && !file_exists(from))
			continue;
		*strrchr(folder, '/') = '\0';
		TRY(make_dirs(folder));
		TRY(folder_copy(from, to, NULL, parts[i].skip));
	}
	return NULL;
}

/*
 * Make these files newer than .config, in this order.  Otherwise the Makefile's rule for auto.conf
 * would run the configuration program, which could give another result than the packager's: this
 * machine may lack pahole.
 */
static struct error *touch_config_files(const struct build *build)
{
	static const char *const names[] = {
		"include/config/auto.conf.cmd", "include/generated/autoconf.h",
		"include/generated/rustc_cfg", "include/config/auto.conf"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_free_ char *path = xasprintf("%s/%s", build->tree, names[i]);
		_close_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

		if (fd < 0 || futimens(fd, NULL))
			return error_errno("cannot write %s", path);
	}
	return NULL;
}

/* Programs that generate sources, and that headers packages do not have. */
static const struct host_tool {
	const char *symbol;
	const char *folder, *program;
} host_tools[] = {
	{"CONFIG_ASN1=y", "scripts", "scripts/asn1_compiler"},
	{"CONFIG_SECURITY_SELINUX=y", "scripts/selinux/genheaders",
	 "scripts/selinux/genheaders/genheaders"},
};

/*
 * Build these programs.  Ignore one that cannot be built (there may be no host compiler): only
 * units that need it fail, and kbuild's message then names it.
 */
static struct error *build_host_tools(const struct build *build)
{
	_free_ char *path = xasprintf("%s/include/config/auto.conf", build->tree);
	_free_ char *config = NULL;
	size_t length;

	TRY(file_read(path, &config, &length));
	for (size_t i = 0; i < ARRAY_SIZE(host_tools); i++) {
		_free_ char *folder = xasprintf("%s/%s", build->tree, host_tools[i].folder);
		_free_ char *program = xasprintf("%s/%s", build->tree, host_tools[i].program);
		char *const targets[] = {(char *)host_tools[i].program, NULL};
		struct buffer output = {};
		struct error *error;
		bool ok;

		if (!strstr(config, host_tools[i].symbol) || !file_exists(folder) ||
		    file_exists(program))
			continue;
		error = kbuild_make(build, host_tools[i].folder, targets, &ok, &output);
		buffer_deinit(&output);
		TRY(error);
	}
	return NULL;
}

static struct error *check_unpacked(const struct build *build)
{
	static const char *const names[] = {"Makefile", "Kbuild", "scripts/Makefile.build",
					    "scripts/basic/fixdep"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_free_ char *path = xasprintf("%s/%s", build->tree, names[i]);

		if (!file_exists(path))
			return error_new(STATUS_FAILED,
					 "%s is not a kernel's source, or %s not its build folder: "
					 "no %s",
					 build->files.source, build->files.kbuild, names[i]);
	}
	return NULL;
}

/* If the kernel was built with flags of the user's, read the environment again, with them. */
static struct error *add_user_flags(struct build *build)
{
	TRY(toolchain_find_flags(build));
	if (!build->user_flags)
		return NULL;
	strings_free(take_pointer(build->make_env));
	return kbuild_read_environment(build, &build->make_env);
}

/* Prepare the tree, all but its environment and the file ready, which make_tree() writes last. */
static struct error *fill_tree(struct build *build)
{
	_free_ char *notes = xasprintf("%s/.pokepatch", build->tree);

	TRY(remove_tree(build->tree)); /* an interrupted or damaged one */
	TRY(source_prepare(build, build->tree));
	TRY(make_dirs(notes));
	TRY(copy_parts(build));
	TRY(touch_config_files(build));
	TRY(check_unpacked(build));
	TRY(manifest_write(build->tree));
	TRY(source_index_write(build->tree));
	strings_free(build->make_env);
	build->make_env = NULL;
	TRY(entry_flags_install(build));
	TRY(kbuild_read_environment(build, &build->make_env));
	TRY(add_user_flags(build));
	TRY(own_compiler_install(build));
	return build_host_tools(build);
}

static struct error *write_environment(const struct build *build)
{
	_free_ char *path = xasprintf("%s/.pokepatch/environment", build->tree);
	struct buffer text = {};
	struct error *error;

	for (char **p = build->make_env; *p; p++)
		buffer_add(&text, *p, strlen(*p) + 1);
	error = file_write(path, text.text, text.length);
	buffer_deinit(&text);
	return error;
}

static struct error *read_environment(struct build *build)
{
	_free_ char *path = xasprintf("%s/.pokepatch/environment", build->tree);
	_free_ char *text = NULL;
	struct args list = {};
	size_t length;

	TRY(file_read(path, &text, &length));
	for (const char *p = text; p < text + length; p += strlen(p) + 1)
		args_add(&list, p);
	strings_free(build->make_env);
	build->make_env = list.list;
	free(take_pointer(build->user_flags));
	/* On other machines KCFLAGS has what entries.c adds, too, and only units get that. */
	if (!build->machine->entries.by_as && kbuild_variable(build->make_env, "KCFLAGS"))
		build->user_flags = xstrdup(kbuild_variable(build->make_env, "KCFLAGS"));
	return NULL;
}

static char *ready_path(const struct build *build)
{
	return xasprintf("%s/" CACHE_TREE_READY, build->tree);
}

static struct error *make_tree(struct build *build, const struct buffer *identity)
{
	_free_ char *ready = ready_path(build);
	struct error *error = fill_tree(build);

	if (!error)
		error = write_environment(build);
	if (!error)
		error = file_write(ready, identity->text, identity->length);
	if (error) /* do not leave half a tree: the disk may be full */
		error_destroy(remove_tree(build->tree));
	return error;
}

/* Is the tree complete, and are the files that every build reads unchanged? */
static struct error *tree_is_ready(const struct build *build, const struct buffer *identity,
				   bool *ret)
{
	static char *const always[] = {"Makefile",
				       "Kbuild",
				       ".config",
				       "scripts/Makefile.build",
				       "scripts/Makefile.lib",
				       "scripts/Kbuild.include",
				       "scripts/basic/fixdep",
				       "include/generated/autoconf.h",
				       "include/config/auto.conf",
				       NULL};
	_free_ char *ready = ready_path(build);
	_free_ char *text = NULL;
	struct manifest manifest;
	size_t length;

	*ret = false;
	if (!file_exists(ready))
		return NULL;
	TRY(file_read(ready, &text, &length));
	if (strcmp(text, identity->text))
		return NULL;
	struct error *error = manifest_open(build->tree, &manifest);
	*ret = !error && manifest_check_files(&manifest, always);
	manifest_close(&manifest);
	return error;
}

/* Was the tree whose file ready has this text made from a source that no build has again? */
static bool source_has_gone(const struct build *build, const char *text)
{
	_free_ char *same = xasprintf("source %s ", build->files.source);
	struct stat status;

	for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		_free_ char *one = xstrndup(line, end - line);

		if (cache_source_is_gone(one))
			return true;
		if (has_prefix(one, same))
			return !stat(build->files.source, &status) && S_ISDIR(status.st_mode);
	}
	return false;
}

/*
 * Remove the trees of earlier states of the same source folder, and of source folders that do not
 * exist any more.  The user edits a folder, and each state gets a tree of its own, of some 700 MB,
 * so no build will use the earlier ones again.
 */
static void remove_older(const struct build *build)
{
	DIR *dir = opendir(build->files.cache);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		_free_ char *path = xasprintf("%s/%s", build->files.cache, entry->d_name);
		_free_ char *ready = xasprintf("%s/" CACHE_TREE_READY, path);
		_free_ char *text = NULL;

		if (!has_prefix(entry->d_name, "tree-") || !strcmp(path, build->tree) ||
		    !file_exists(ready))
			continue;
		error_destroy(file_read(ready, &text, NULL));
		if (text && source_has_gone(build, text))
			cache_drop(path);
	}
	if (dir)
		closedir(dir);
}

static struct error *tree_path(struct build *build, const struct buffer *identity)
{
	char hash[65];

	sha256_hex(identity->text, identity->length, hash);
	TRY(make_dirs(build->files.cache));
	build->tree = xasprintf("%s/tree-%.16s", build->files.cache, hash);
	if (build->options.verbose)
		fprintf(stderr, "prepared source: %s\n", build->tree);
	return NULL;
}

struct error *tree_text_load(const char *tree, const char *name, const char *header,
			     tree_text_make make, const void *context, char **ret)
{
	_free_ char *path = xasprintf("%s/.pokepatch/%s", tree, name);
	_free_ char *kept = NULL;
	struct buffer made = {};
	struct error *error;
	size_t length;

	if (file_exists(path))
		TRY(file_read(path, &kept, &length));
	if (kept && has_prefix(kept, header)) {
		*ret = xstrdup(kept + strlen(header));
		return NULL;
	}
	buffer_add_string(&made, header);
	error = make(context, &made);
	if (!error)
		error = file_write(path, made.text ?: "", made.length);
	if (!error)
		*ret = xstrdup((made.text ?: "") + strlen(header));
	buffer_deinit(&made);
	return error;
}

struct error *tree_rebuild(struct build *build)
{
	struct buffer identity = {};
	struct error *error = tree_identity(build, &identity);

	cleanup_close(&build->tree_lock);
	build->tree_lock = -1;
	if (!error)
		error = cache_lock(build->tree, false, &build->tree_lock);
	if (!error)
		error = make_tree(build, &identity);
	if (!error && flock(build->tree_lock, LOCK_SH))
		error = error_errno("cannot lock %s", build->tree);
	buffer_deinit(&identity);
	return error;
}

/*
 * Take the tree's lock shared if the tree is ready, as it is in all runs but the first.  Otherwise
 * take it exclusively, prepare the tree, and keep the lock shared.
 */
static struct error *open_tree(struct build *build, const struct buffer *identity)
{
	bool ready;

	TRY(tree_path(build, identity));
	TRY(cache_lock(build->tree, true, &build->tree_lock));
	TRY(tree_is_ready(build, identity, &ready));
	if (ready)
		return read_environment(build);
	cleanup_close(&build->tree_lock);
	build->tree_lock = -1;
	TRY(cache_lock(build->tree, false, &build->tree_lock));
	TRY(tree_is_ready(build, identity, &ready)); /* another build may have prepared it */
	if (ready) {
		TRY(read_environment(build));
	} else {
		if (!build->options.quiet)
			fprintf(stderr, "preparing the source of kernel %s (once)\n",
				build->release);
		TRY(core_start(build));
		TRY(make_tree(build, identity));
		remove_older(build);
	}
	/* Other builds may read the tree from now on, but none may remove it until we exit. */
	if (flock(build->tree_lock, LOCK_SH))
		return error_errno("cannot lock %s", build->tree);
	return NULL;
}

/* Is this a kernel that we can make modules for, with the compiler that there is? */
static struct error *check_kernel(struct build *build)
{
	TRY(find_arch(build));
	TRY(choose_transition(build));
	TRY(toolchain_find(build));
	TRY(kernel_check_config(build));
	TRY(kernel_check_compiler(build));
	return build_check_refusals(build);
}

struct error *prepare_tree(struct build *build)
{
	struct buffer identity = {};
	struct error *error;

	TRY(check_kernel(build));
	TRY(own_compiler_find(build));
	TRY(entry_flags_find(build));
	error = tree_identity(build, &identity);
	if (!error)
		error = open_tree(build, &identity);
	buffer_deinit(&identity);
	TRY(error);
	TRY(entry_flags_install(build));
	TRY(kernel_check_source_version(build));
	TRY(kernel_check_vmlinux(build));
	return build_check_refusals(build);
}

struct error *prepare_kernel(struct build *build)
{
	/* Flags of the user's, which the core needs too, are found with the source alone. */
	if (build->files.source && toolchain_has_record(build))
		return prepare_tree(build);
	TRY(check_kernel(build));
	build->tree = xasprintf("%s/tree", build->work);
	char *notes _free_ = xasprintf("%s/.pokepatch", build->tree);
	TRY(make_dirs(notes));
	TRY(kernel_check_vmlinux(build));
	return build_check_refusals(build);
}
