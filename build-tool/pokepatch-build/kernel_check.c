// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checking that source, configuration, headers, compiler, vmlinux and boot image belong to one
 * kernel.  They come from different places; if one did not belong, the patched functions would be
 * compiled for another kernel than the one that runs.
 */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pokepatch-build/answers.h"
#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/object_cache.h"
#include "common/proc.h"
#include "pokepatch-build/toolchain.h"
#include "pokepatch-build/tree.h"
#include "pokepatch-build/vmlinuz.h"

/* ---- configuration ---------------------------------------------------------- */

/*
 * Options that Debian removes from the configuration in /boot (debian/rules.real), and options that
 * hold keys, salts and versions.  They do not affect the compiled code.
 */
static const char *const symbols_without_code[] = {
	"CONFIG_BUILD_SALT",          "CONFIG_MODULE_SIG_ALL",  "CONFIG_MODULE_SIG_KEY",
	"CONFIG_SYSTEM_TRUSTED_KEYS", "CONFIG_CC_VERSION_TEXT",
};

static bool has_code(const char *symbol)
{
	for (size_t i = 0; i < ARRAY_SIZE(symbols_without_code); i++)
		if (!strcmp(symbols_without_code[i], symbol))
			return false;
	return true;
}

struct config {
	char *text;
	struct map values; /* from symbol to value, without unset symbols */
	VEC(char *) symbols;
};

static void config_deinit(struct config *config)
{
	map_deinit(&config->values);
	vec_deinit(&config->symbols);
	free(config->text);
}

static struct error *config_read(const char *path, struct config *ret)
{
	size_t length;

	*ret = (struct config){};
	TRY(file_read(path, &ret->text, &length));
	for (char *line = ret->text, *end; *line; line = end + 1) {
		char *value = strchr(line, '=');

		end = line + strcspn(line, "\n");
		if (has_prefix(line, "CONFIG_") && value && value < end) {
			bool last = !*end;

			*value = *end = '\0';
			*map_slot(&ret->values, line) = value + 1;
			*vec_push(&ret->symbols) = line;
			if (last)
				break;
		} else if (!*end) {
			break;
		}
	}
	if (!ret->symbols.count) {
		config_deinit(ret);
		return error_new(STATUS_FAILED, "%s: not a kernel configuration", path);
	}
	return NULL;
}

/* Are the values equal?  auto.conf has strings without the quotes and backslashes of .config. */
static bool same_value(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, "\"\\");
		b += strspn(b, "\"\\");
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

/*
 * Append the symbols of one that other does not have (missing), or has with another value, up to
 * five in all, and count them.
 */
static void config_differences(const struct config *one, const struct config *other, bool missing,
			       struct buffer *ret, size_t *count)
{
	for (size_t i = 0; i < one->symbols.count; i++) {
		const char *symbol = one->symbols.list[i];
		const char *there = map_get(&other->values, symbol);

		if (missing ? there != NULL
			    : !there || same_value(there, map_get(&one->values, symbol)))
			continue;
		if (!has_code(symbol))
			continue;
		if ((*count)++ < 5)
			buffer_printf(ret, "%s%s", ret->length ? ", " : "", symbol);
	}
}

/*
 * With these options kbuild runs objtool late: on vmlinux.o and on whole modules, not on each unit
 * (delay-objtool in scripts/Makefile.lib).  objtool.c makes up for that.
 */
static const char *const late_objtool[] = {"CONFIG_X86_KERNEL_IBT", "CONFIG_KLP_BUILD"};

static bool config_is_set(const struct config *config, const char *option)
{
	const char *value = map_get(&config->values, option);

	return value && !strcmp(value, "y");
}

/*
 * With link-time optimisation the compiler makes code of all units together, and no unit's object
 * has the code that the kernel has.
 */
static void check_objtool(struct build *build, const char *path, const struct config *config)
{
	for (size_t i = 0; i < ARRAY_SIZE(late_objtool); i++)
		build->objtool_late |= config_is_set(config, late_objtool[i]);
	if (config_is_set(config, "CONFIG_LTO_CLANG"))
		refusals_add(&build->refusals, "objtool-late", path, "configuration",
			     "kernel %s has link-time optimisation (CONFIG_LTO_CLANG=y), so its "
			     "code cannot be compared file by file; patch a kernel that is built "
			     "without it",
			     build->release);
}

/*
 * kbuild writes include/config/auto.conf from .config before it compiles anything.  If they differ,
 * the user has configured the kernel again since it was built.
 */
static struct error *check_synchronised(struct build *build, const struct config *config)
{
	_free_ char *path = xasprintf("%s/include/config/auto.conf", build->files.kbuild);
	struct buffer symbols = {};
	struct config built;
	size_t count = 0;

	TRY(config_read(path, &built));
	config_differences(config, &built, false, &symbols, &count);
	config_differences(config, &built, true, &symbols, &count);
	config_differences(&built, config, true, &symbols, &count);
	if (count)
		refusals_add(&build->refusals, "config-differs", build->files.config,
			     "configuration",
			     "it was changed after the kernel was built there: %s%s; build the "
			     "kernel again, or put back the configuration that it was built with",
			     symbols.text, count > 5 ? " and others" : "");
	buffer_deinit(&symbols);
	config_deinit(&built);
	return NULL;
}

struct error *kernel_check_config(struct build *build)
{
	_free_ char *headers_path = xasprintf("%s/.config", build->files.kbuild);
	struct config given, headers;
	struct buffer symbols = {};
	struct error *error;
	size_t count = 0;

	TRY(config_read(build->files.config, &given));
	error = config_read(headers_path, &headers);
	if (error) {
		config_deinit(&given);
		return error;
	}
	config_differences(&given, &headers, false, &symbols, &count);
	config_differences(&headers, &given, true, &symbols, &count);
	if (count)
		refusals_add(
			&build->refusals, "config-differs", build->files.config, "configuration",
			"this configuration and %s differ in %s%s; give the configuration and the "
			"build folder of one kernel",
			headers_path, symbols.text, count > 5 ? " and others" : "");
	else
		check_objtool(build, build->files.config, &given);
	if (!count && build->own)
		error = check_synchronised(build, &headers);
	buffer_deinit(&symbols);
	config_deinit(&headers);
	config_deinit(&given);
	return error;
}

/* ---- compiler --------------------------------------------------------------- */

/* The preprocessor says which compiler it belongs to, whatever its name is. */
static const char version_source[] =
	"#ifdef __clang__\n"
	"clang __clang_major__ __clang_minor__ __clang_patchlevel__\n"
	"#else\n"
	"gcc __GNUC__ __GNUC_MINOR__ __GNUC_PATCHLEVEL__\n"
	"#endif\n"
	"__VERSION__\n";

/* A compiler, with its version in the form of CONFIG_GCC_VERSION: 120200 for 12.2.0. */
struct compiler {
	bool clang;
	unsigned int major, minor, patch;
};

static unsigned long version_number(const struct compiler *compiler)
{
	return compiler->major * 10000UL + compiler->minor * 100UL + compiler->patch;
}

/*
 * What the compiler's answer depends on, which the caller frees; NULL: that is not known.  The file
 * itself tells which compiler it is, unless it is a script or a launcher, which may run another one
 * tomorrow.
 */
static char *compiler_question(const struct build *build)
{
	static const char *const variables[] = {"GCC_EXEC_PREFIX", "COMPILER_PATH"};
	_free_ char *path = tool_find(build->cc);
	const char *base = path ? strrchr(path, '/') : NULL;
	_close_ int fd = base && (strstr(base, "gcc") || strstr(base, "clang"))
				 ? open(path, O_RDONLY | O_CLOEXEC)
				 : -1;
	char magic[SELFMAG];
	struct buffer text = {};

	if (fd < 0 || read(fd, magic, SELFMAG) != SELFMAG || memcmp(magic, ELFMAG, SELFMAG))
		return NULL;
	tool_describe(&text, NULL, build->cc);
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		buffer_printf(&text, "%s\n", getenv(variables[i]) ?: "");
	buffer_add_string(&text, version_source);
	return text.text;
}

/* *ret: the answer of build->cc, which the caller frees; NULL: it cannot be run, or fails. */
static struct error *run_compiler(const struct build *build, char **ret)
{
	_free_ char *source = xasprintf("%s/version.c", build->work);
	const char *const argv[] = {build->cc, "-E", "-P", source, NULL};
	struct proc_result result = {};

	*ret = NULL;
	TRY(file_write_scratch(source, version_source, strlen(version_source)));
	struct error *error = proc_run(argv, NULL, &result);
	if (!error && !result.status)
		*ret = take_pointer(result.out.text);
	proc_result_deinit(&result);
	if (error && !proc_interrupted()) { /* no such program */
		error_destroy(error);
		error = NULL;
	}
	return error;
}

/* Set build->compiler_version to the answer of build->cc.  *ret_runs: it has answered. */
static struct error *ask_compiler(struct build *build, struct compiler *ret, bool *ret_runs)
{
	_free_ char *question = compiler_question(build);
	_free_ char *answer = question ? answer_find(build, "compiler", question) : NULL;
	bool kept = answer != NULL;
	char kind[8];

	if (!kept)
		TRY(run_compiler(build, &answer));
	*ret_runs = answer && sscanf(answer, " %7s %u %u %u", kind, &ret->major, &ret->minor,
				     &ret->patch) == 4;
	ret->clang = *ret_runs && !strcmp(kind, "clang");
	if (*ret_runs && !kept && question)
		answer_keep(build, "compiler", question, answer);
	if (*ret_runs)
		build->compiler_version = take_pointer(answer);
	return NULL;
}

/* A compiler that is named by its path was not installed from a package of that name. */
static struct error *compiler_missing(const struct build *build)
{
	bool cross = build->cross && has_prefix(build->cc, build->cross);

	if (strchr(build->cc, '/'))
		return error_new(STATUS_FAILED,
				 "the kernel's compiler %s is not there, or does not work",
				 build->cc);
	return error_new(STATUS_FAILED,
			 "the kernel's compiler %s is not installed; on Debian: apt-get install "
			 "%s%s%s",
			 build->cc, build->cc + (cross ? strlen(build->cross) : 0),
			 cross ? "-" : "", cross ? build->machine->tools.gnu : "");
}

struct error *kernel_check_compiler(struct build *build)
{
	_free_ char *gcc = toolchain_config(build, "CONFIG_GCC_VERSION");
	_free_ char *clang = toolchain_config(build, "CONFIG_CLANG_VERSION");
	_free_ char *text = toolchain_config(build, "CONFIG_CC_VERSION_TEXT");
	bool wants_clang = clang && *clang != '0', runs;
	const char *wanted = wants_clang ? clang : gcc;
	struct compiler compiler;

	TRY(ask_compiler(build, &compiler, &runs));
	if (!runs)
		return compiler_missing(build);
	build->clang = compiler.clang;
	if (wanted && *wanted != '0' &&
	    (compiler.clang != wants_clang || version_number(&compiler) != strtoul(wanted, NULL, 10)))
		refusals_add(&build->refusals, "compiler-differs", NULL, build->cc,
			     "this is %s %u.%u.%u, but kernel %s was compiled by %s; install that "
			     "one",
			     compiler.clang ? "clang" : "gcc", compiler.major, compiler.minor,
			     compiler.patch, build->release, text ?: wanted);
	return NULL;
}

/* ---- source ----------------------------------------------------------------- */

/* Find "#define NAME number" in text. */
static bool defined_number(const char *text, const char *name, unsigned long *ret)
{
	_free_ char *line = xasprintf("#define %s ", name);
	const char *found = strstr(text, line);

	if (!found)
		return false;
	*ret = strtoul(found + strlen(line), NULL, 10);
	return true;
}

struct error *kernel_check_source_version(struct build *build)
{
	static const struct {
		const char *define, *variable;
	} numbers[] = {
		{"LINUX_VERSION_MAJOR", "VERSION"},
		{"LINUX_VERSION_PATCHLEVEL", "PATCHLEVEL"},
		{"LINUX_VERSION_SUBLEVEL", "SUBLEVEL"},
	};
	_free_ char *path =
		xasprintf("%s/include/generated/uapi/linux/version.h", build->files.kbuild);
	_free_ char *text = NULL;
	size_t length;

	TRY(file_read(path, &text, &length));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		const char *have = kbuild_variable(build->make_env, numbers[i].variable);
		unsigned long wanted;

		if (!have || !defined_number(text, numbers[i].define, &wanted) ||
		    strtoul(have, NULL, 10) == wanted)
			continue;
		refusals_add(
			&build->refusals, "source-differs", build->files.source, "source",
			"this is the source of Linux %s, but kernel %s was built from another; "
			"run 'pokepatch fetch %s'",
			kbuild_variable(build->make_env, "KERNELVERSION") ?: "?", build->release,
			build->release);
		break;
	}
	return NULL;
}

/* ---- vmlinux ---------------------------------------------------------------- */

static const char banner[] = "Linux version ";

/*
 * vmlinux's banner after these words: "RELEASE (USER@HOST) (COMPILER, LINKER) ...".  The caller
 * frees it.  NULL: it has none.
 */
static char *read_banner(const char *path)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Elf_Scn *section = NULL;
	char *text = NULL;

	while (elf && !text && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;
		const char *found, *end;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_ALLOC) || (header.sh_flags & SHF_EXECINSTR))
			continue;
		data = elf_rawdata(section, NULL);
		if (!data || !data->d_buf)
			continue;
		found = memmem(data->d_buf, data->d_size, banner, strlen(banner));
		if (!found)
			continue;
		found += strlen(banner);
		end = memchr(found, '\n', (size_t)((char *)data->d_buf + data->d_size - found));
		if (end && end - found < 1000)
			text = xstrndup(found, (size_t)(end - found));
	}
	elf_end(elf);
	return text;
}

/* Read the boot image's build id, and cache it in the tree together with its size and time. */
static struct error *load_kernel_id(struct build *build)
{
	_free_ char *path = xasprintf("%s/.pokepatch/vmlinuz", build->tree);
	_free_ char *mark = NULL, *text = NULL;
	struct stat status;
	struct error *error;
	size_t length;

	if (!build->files.vmlinuz || stat(build->files.vmlinuz, &status))
		return NULL;
	mark = xasprintf("%lld %lld.%09ld ", (long long)status.st_size,
			 (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
	if (file_exists(path)) {
		TRY(file_read(path, &text, &length));
		if (has_prefix(text, mark) && text[strlen(mark)]) {
			build->kernel_build_id = xstrdup(text + strlen(mark));
			return NULL;
		}
	}
	TRY(vmlinuz_read_build_id(build->files.vmlinuz, build->files.vmlinux, build->work,
				  &build->kernel_build_id));
	if (!build->kernel_build_id) {
		build_note(build,
			   "%s: its build id cannot be read; vmlinux is compared by release only",
			   build->files.vmlinuz);
		return NULL;
	}
	free(text);
	text = xasprintf("%s%s", mark, build->kernel_build_id);
	error = file_write(path, text, strlen(text));
	return error;
}

/*
 * The banner has the compiler's own words about itself, and so has the configuration: they differ
 * if the folder was configured for another compiler after vmlinux was linked.
 */
static void check_banner_compiler(struct build *build, const char *text)
{
	_free_ char *compiler = toolchain_config(build, "CONFIG_CC_VERSION_TEXT");
	const char *built_by = strstr(text, ") (");

	if (!compiler || !*compiler || strstr(text, compiler))
		return;
	built_by = built_by ? built_by + strlen(") (") : text;
	refusals_add(&build->refusals, "compiler-differs", build->files.vmlinux, "vmlinux",
		     "it was compiled by %.*s, but %s is configured for %s; build the kernel again, "
		     "or give the folder in which it was built",
		     (int)strcspn(built_by, ","), built_by, build->files.kbuild, compiler);
}

struct error *kernel_read_vmlinux_id(struct build *build)
{
	const char *vmlinux = build->files.vmlinux;

	if (build->vmlinux_build_id)
		return NULL;
	TRY(elf_read_build_id(vmlinux, &build->vmlinux_build_id));
	if (!build->vmlinux_build_id)
		return error_new(STATUS_FAILED, "%s: no build id in it; is it a kernel?", vmlinux);
	return NULL;
}

struct error *kernel_check_vmlinux(struct build *build)
{
	const char *vmlinux = build->files.vmlinux;
	_free_ char *text = NULL, *release = NULL;

	TRY(kernel_read_vmlinux_id(build));
	text = read_banner(vmlinux);
	release = text ? xstrndup(text, strcspn(text, " ")) : NULL;
	if (!release) {
		refusals_add(&build->refusals, "vmlinux-differs", vmlinux, "vmlinux",
			     "it has no kernel's banner, as a file with debug information alone has "
			     "none; give the vmlinux that has the code, too");
		return NULL;
	}
	if (strcmp(release, build->release)) {
		refusals_add(&build->refusals, "vmlinux-differs", vmlinux, "vmlinux",
			     "this is of kernel %s, not of %s; give that kernel's vmlinux", release,
			     build->release);
		return NULL;
	}
	check_banner_compiler(build, text);
	TRY(load_kernel_id(build));
	if (build->kernel_build_id && strcmp(build->kernel_build_id, build->vmlinux_build_id))
		refusals_add(
			&build->refusals, "vmlinux-differs", vmlinux, "vmlinux",
			"its build id is %s, but that of %s is %s: another build of the same "
			"release; give that build's vmlinux, or run 'pokepatch fetch %s'",
			build->vmlinux_build_id, build->files.vmlinuz, build->kernel_build_id,
			build->release);
	return NULL;
}
