// SPDX-License-Identifier: GPL-2.0-or-later
/* Copying or unpacking the kernel's source into the prepared tree. */
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/quilt.h"
#include "common/proc.h"
#include "pokepatch-build/tree.h"

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

static struct error *folders_left_out(const struct build *build, struct args *ret)
{
	_free_ char *config = NULL;
	size_t length;

	TRY(file_read(build->files.config, &config, &length));
	for (size_t i = 0; i < ARRAY_SIZE(folders_unused); i++)
		args_add(ret, folders_unused[i]);
	for (size_t i = 0; i < ARRAY_SIZE(folders_optional); i++)
		if (!folder_is_used(&folders_optional[i], config))
			args_add(ret, folders_optional[i].folder);
	for (size_t i = 0; i < ARRAY_SIZE(arch_names); i++)
		if (!arch_is_used(build->arch, arch_names[i]))
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

static struct error *unpack_tarball(const char *path, const char *tree, const struct args *skip)
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
	for (size_t i = 0; i < skip->count; i++)
		args_addf(&args, "--exclude=*/%s", skip->list[i]);
	args_add(&args, "-f");
	args_add(&args, path);
	error = proc_run((const char *const *)args.list, NULL, &result);
	args_deinit(&args);
	if (!error && result.status)
		error = unpack_error(path, tree, result.out.text ? result.out.text : "");
	proc_result_deinit(&result);
	return error;
}

/* ---- folders ---------------------------------------------------------------- */

/* Skip what a user's tree may hold besides source: a repository, results of an earlier build. */
static bool is_no_source(const char *name, bool folder)
{
	static const char *const endings[] = {".o", ".ko", ".a", ".cmd", ".mod", ".order"};

	if (folder)
		return !strcmp(name, ".git") || !strcmp(name, ".pokepatch");
	if (has_prefix(name, ".tmp_") || has_prefix(name, "vmlinux.") || !strcmp(name, "vmlinux"))
		return !has_suffix(name, ".S") && !has_suffix(name, ".h");
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (has_suffix(name, endings[i]))
			return true;
	return false;
}

static struct error *copy_link(const char *from, const char *to)
{
	char target[4096];
	ssize_t length = readlink(from, target, sizeof(target) - 1);

	if (length < 0)
		return error_errno("cannot read %s", from);
	target[length] = '\0';
	if (symlink(target, to) && errno != EEXIST)
		return error_errno("cannot make %s", to);
	return NULL;
}

/*
 * Copy a file with its times, because make compares those.  No fsync(): after an interruption the
 * tree is prepared again.
 */
static struct error *copy_file(const char *from, const char *to, const struct stat *status)
{
	struct timespec times[2] = {status->st_atim, status->st_mtim};
	_free_ char *text = NULL;
	_fclose_ FILE *out = NULL;
	size_t length;
	int failed;

	TRY(file_read(from, &text, &length));
	out = fopen(to, "we");
	if (!out)
		return error_errno("cannot write %s", to);
	failed = fwrite(text, 1, length, out) != length || fflush(out) ||
		 fchmod(fileno(out), (status->st_mode & 0777) | 0600) ||
		 futimens(fileno(out), times);
	return failed ? error_errno("cannot write %s", to) : NULL;
}

static struct error *copy_entry(FTSENT *entry, const char *to)
{
	switch (entry->fts_info) {
	case FTS_D:
		if (mkdir(to, 0777) && errno != EEXIST)
			return error_errno("cannot make %s", to);
		return NULL;
	case FTS_F:
		return copy_file(entry->fts_path, to, entry->fts_statp);
	case FTS_SL:
	case FTS_SLNONE:
		return copy_link(entry->fts_path, to);
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		errno = entry->fts_errno;
		return error_errno("cannot read %s", entry->fts_path);
	default:
		return NULL;
	}
}

static bool is_listed(char *const *list, const char *path)
{
	for (; list && *list; list++)
		if (!strcmp(*list, path))
			return true;
	return false;
}

struct error *folder_copy(const char *from, const char *to, char *const *left_out,
			  bool (*skip)(const char *name, bool folder))
{
	char *roots[] = {(char *)from, NULL};
	size_t length = strlen(from);
	struct error *error = NULL;
	FTSENT *entry;
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);

	if (!walk)
		return error_errno("cannot read %s", from);
	while (!error && (entry = fts_read(walk))) {
		_free_ char *target = xasprintf("%s%s", to, entry->fts_path + length);
		bool folder = entry->fts_info == FTS_D;

		if (entry->fts_level &&
		    ((skip && skip(entry->fts_name, folder)) ||
		     (folder && is_listed(left_out, entry->fts_path + length + 1)))) {
			if (folder)
				fts_set(walk, entry, FTS_SKIP);
			continue;
		}
		error = copy_entry(entry, target);
		if (!error && proc_interrupted())
			error = error_new(STATUS_FAILED, "interrupted");
	}
	fts_close(walk);
	return error;
}

struct error *source_unpack(const struct build *build, const char *tree)
{
	const char *path = build->files.source;
	struct args skip = {};
	struct stat status;
	struct error *error;

	if (stat(path, &status))
		return error_errno("cannot read %s", path);
	TRY(folders_left_out(build, &skip));
	if (S_ISDIR(status.st_mode))
		error = folder_copy(path, tree, skip.list, is_no_source);
	else
		error = unpack_tarball(path, tree, &skip);
	if (!error && build->files.patches)
		error = quilt_apply(build->files.patches, tree, skip.list);
	args_deinit(&skip);
	return error;
}

/* ---- identity --------------------------------------------------------------- */

static int compare_names(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

struct error *source_hash(const char *path, char ret[65])
{
	char *roots[] = {(char *)path, NULL};
	struct error *error = NULL;
	struct buffer text = {};
	FTSENT *entry;
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, compare_names);

	if (!walk)
		return error_errno("cannot read %s", path);
	while (!error && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_D && entry->fts_level &&
		    is_no_source(entry->fts_name, true)) {
			fts_set(walk, entry, FTS_SKIP);
		} else if (entry->fts_info == FTS_F &&
			   (!entry->fts_level || !is_no_source(entry->fts_name, false))) {
			const struct stat *status = entry->fts_statp;

			buffer_printf(&text, "%s %lld %lld.%09ld\n", entry->fts_path,
				      (long long)status->st_size, (long long)status->st_mtim.tv_sec,
				      status->st_mtim.tv_nsec);
		} else if (entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR) {
			errno = entry->fts_errno;
			error = error_errno("cannot read %s", entry->fts_path);
		}
	}
	fts_close(walk);
	if (!error)
		sha256_hex(text.text ? text.text : "", text.length, ret);
	buffer_deinit(&text);
	return error;
}
