// SPDX-License-Identifier: GPL-2.0-or-later
/* Unpacking the kernel's source; see source.h. */
#include "common/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cache.h"
#include "common/proc.h"

/* Folders without code of the kernel, which kbuild does not read to compile a unit. */
static const char *const folders_unused[] = {
	"Documentation", "LICENSES", "samples", "tools/testing", "tools/perf",
};

/*
 * Large folders that kbuild enters only if the configuration sets one of some symbols.  Together
 * they are more than half of the source.  Debian's cloud kernel has neither DRM nor media support,
 * but it does have panel quirks (drivers/gpu/drm/drm_panel_orientation_quirks.c) and CEC
 * (drivers/media/cec).
 */
static const struct optional_folder {
	const char *folder, *symbols[4];
} folders_optional[] = {
	{"drivers/gpu/drm",
	 {"CONFIG_DRM", "CONFIG_DRM_PANEL_ORIENTATION_QUIRKS", "CONFIG_DRM_MIPI_DSI"}},
	{"drivers/gpu/drm/amd", {"CONFIG_DRM_AMDGPU"}}, /* 40 % of what Debian's cloud kernel has */
	{"drivers/media", {"CONFIG_MEDIA_SUPPORT", "CONFIG_CEC_CORE", "CONFIG_RC_CORE"}},
	{"drivers/net/wireless", {"CONFIG_WLAN"}},
	{"drivers/staging", {"CONFIG_STAGING"}},
	{"sound", {"CONFIG_SOUND"}},
};

/* Architectures that also compile files of another one's folder. */
static const struct arch_folder {
	const char *arch, *also;
} arch_also[] = {
	{"arm64", "arm"}, /* arch/arm64/xen/Makefile: ../../arm/xen/ */
};

static bool arch_is_used(const char *arch, const char *name)
{
	if (!strcmp(arch, name))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(arch_also); i++)
		if (!strcmp(arch_also[i].arch, arch) && !strcmp(arch_also[i].also, name))
			return true;
	return false;
}

/* All of arch/ in Linux 6.1 and later.  A missing one would be unpacked, which does no harm. */
static const char *const arch_names[] = {
	"alpha", "arc",        "arm",   "arm64", "csky",     "hexagon", "ia64",    "loongarch",
	"m68k",  "microblaze", "mips",  "nios2", "openrisc", "parisc",  "powerpc", "riscv",
	"s390",  "sh",         "sparc", "um",    "x86",      "xtensa",
};

/* Is the symbol set, to y or m, in the configuration's text? */
static bool config_has(const char *config, const char *symbol)
{
	_free_ char *line = xasprintf("\n%s=", symbol);
	const char *found = strstr(config, line);

	return found || !strncmp(config, line + 1, strlen(line + 1));
}

static bool folder_is_used(const struct optional_folder *folder, const char *config)
{
	for (size_t i = 0; i < ARRAY_SIZE(folder->symbols) && folder->symbols[i]; i++)
		if (config_has(config, folder->symbols[i]))
			return true;
	return false;
}

struct error *source_left_out(const char *config_path, const char *arch, struct args *ret)
{
	_free_ char *config = NULL;

	TRY(file_read(config_path, &config, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(folders_unused); i++)
		args_add(ret, folders_unused[i]);
	for (size_t i = 0; i < ARRAY_SIZE(folders_optional); i++)
		if (!folder_is_used(&folders_optional[i], config))
			args_add(ret, folders_optional[i].folder);
	for (size_t i = 0; i < ARRAY_SIZE(arch_names); i++)
		if (!arch_is_used(arch, arch_names[i]))
			args_addf(ret, "arch/%s", arch_names[i]);
	return NULL;
}

/* tar prints a line for each file that it cannot write; quote the first. */
static struct error *unpack_error(const char *path, const char *tree, const char *output)
{
	if (strstr(output, strerror(ENOSPC)))
		return error_new(STATUS_FAILED,
				 "cannot unpack %s: no space left on the device of %s; a prepared "
				 "source needs about 1 GB",
				 path, tree);
	return error_new(STATUS_FAILED, "cannot unpack %s: %.*s", path, (int)strcspn(output, "\n"),
			 output);
}

struct error *source_unpack(const char *path, const char *tree, const struct args *left_out)
{
	struct proc_result result = {};
	struct args args = {};
	struct error *error;

	args_add(&args, "tar");
	args_add(&args, "-x");
	args_addf(&args, "--directory=%s", tree);
	args_add(&args, "--strip-components=1");
	args_add(&args, "--no-same-owner");
	/* Debian's tarball has 55 blocks, so xz -T0 unpacks it on all processors. */
	if (has_suffix(path, ".xz"))
		args_add(&args, "--use-compress-program=xz -T0");
	args_add(&args, "--anchored");
	args_add(&args, "--wildcards");
	args_add(&args, "--no-wildcards-match-slash");
	for (size_t i = 0; i < left_out->count; i++)
		args_addf(&args, "--exclude=*/%s", left_out->list[i]);
	args_add(&args, "-f");
	args_add(&args, path);
	error = proc_run((const char *const *)args.list, NULL, &result);
	args_deinit(&args);
	if (!error && result.status)
		error = unpack_error(path, tree, result.out.text ? result.out.text : "");
	proc_result_deinit(&result);
	return error;
}

/* ---- ahead of a build ------------------------------------------------------- */

/* What the file ready in tree-unpacked has: everything that decides what is there. */
static struct error *unpacked_identity(const char *tarball, const struct args *left_out,
				       struct buffer *text)
{
	struct stat status;

	if (stat(tarball, &status))
		return error_errno("cannot read %s", tarball);
	buffer_printf(text, "format %d\nunpacked %s %lld %lld.%09ld\n", CACHE_TREE_FORMAT, tarball,
		      (long long)status.st_size, (long long)status.st_mtim.tv_sec,
		      status.st_mtim.tv_nsec);
	for (size_t i = 0; i < left_out->count; i++)
		buffer_printf(text, "without %s\n", left_out->list[i]);
	return NULL;
}

static char *unpacked_path(const char *dir)
{
	return xasprintf("%s/tree-unpacked", dir);
}

/*
 * This is written last.  In a prepared tree the file has something else, so neither passes for the
 * other.
 */
static char *unpacked_ready(const char *folder)
{
	return xasprintf("%s/" CACHE_TREE_READY, folder);
}

struct error *source_drop(const char *dir)
{
	_free_ char *folder = unpacked_path(dir);

	return remove_tree(folder);
}

struct error *source_unpack_ahead(const char *tarball, const char *dir, const struct args *left_out,
				  char **ret)
{
	_free_ char *folder = unpacked_path(dir);
	_free_ char *ready = unpacked_ready(folder);
	_free_ char *notes = xasprintf("%s/.pokepatch", folder);
	struct buffer text = {};
	struct error *error;

	TRY(source_drop(dir)); /* of a run that was killed */
	TRY(make_dirs(notes));
	TRY(source_unpack(tarball, folder, left_out));
	error = unpacked_identity(tarball, left_out, &text);
	if (!error)
		error = file_write(ready, text.text, text.length);
	buffer_deinit(&text);
	if (!error)
		*ret = take_pointer(folder);
	return error;
}

struct error *source_take(const char *tarball, const char *dir, const struct args *left_out,
			  const char *tree, bool *ret)
{
	_free_ char *folder = unpacked_path(dir);
	_free_ char *ready = unpacked_ready(folder);
	_free_ char *taken = unpacked_ready(tree);
	_free_ char *found = NULL;
	struct buffer wanted = {};
	struct error *error;

	*ret = false;
	if (!file_exists(ready))
		return NULL;
	TRY(file_read(ready, &found, NULL));
	error = unpacked_identity(tarball, left_out, &wanted);
	if (!error && !strcmp(found, wanted.text)) {
		/* Another build may be quicker; then this one unpacks the tarball. */
		*ret = !rename(folder, tree);
		if (!*ret && errno != ENOENT)
			error = error_errno("cannot make %s", tree);
		else if (*ret && unlink(taken))
			error = error_errno("cannot remove %s", taken);
	}
	buffer_deinit(&wanted);
	return error;
}
