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
#include "common/source.h"
#include "pokepatch-build/tree.h"

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

/*
 * Copy a file with its times, because make compares those.  No fsync(): after an interruption the
 * tree is prepared again.  A symbolic link at @to is replaced, because it may lead into the user's
 * own source.
 */
static struct error *copy_file(const char *from, const char *to, const struct stat *status)
{
	struct timespec times[2] = {status->st_atim, status->st_mtim};
	_free_ char *text = NULL;
	_fclose_ FILE *out = NULL;
	size_t length;
	int failed;

	TRY(file_read(from, &text, &length));
	if (unlink(to) && errno != ENOENT)
		return error_errno("cannot remove %s", to);
	out = fopen(to, "we");
	if (!out)
		return error_errno("cannot write %s", to);
	failed = fwrite(text, 1, length, out) != length || fflush(out) ||
		 fchmod(fileno(out), (status->st_mode & 0777) | 0600) ||
		 futimens(fileno(out), times);
	return failed ? error_errno("cannot write %s", to) : NULL;
}

/*
 * Copy a symbolic link.  The kernel's own links are relative.  An absolute one leads out of the
 * tree, as all links of `cp -rs` and lndir do, and kbuild would write to the user's files through
 * it; copy the file that it leads to.
 */
static struct error *copy_link(const char *from, const char *to)
{
	char target[4096];
	ssize_t length = readlink(from, target, sizeof(target) - 1);
	struct stat status;

	if (length < 0)
		return error_errno("cannot read %s", from);
	target[length] = '\0';
	if (target[0] == '/' && !stat(from, &status) && S_ISREG(status.st_mode))
		return copy_file(from, to, &status);
	if (symlink(target, to) && errno != EEXIST)
		return error_errno("cannot make %s", to);
	return NULL;
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

/* Make the folder tree: of a tarball that was unpacked ahead, of a tarball, or of a folder. */
static struct error *put_source(const struct build *build, const struct args *left_out,
				const char *tree)
{
	const char *path = build->files.source;
	struct stat status;
	bool taken;

	if (stat(path, &status))
		return error_errno("cannot read %s", path);
	if (!S_ISDIR(status.st_mode)) {
		TRY(source_take(path, build->files.cache, left_out, tree, &taken));
		if (taken)
			return NULL;
	}
	TRY(make_dirs(tree));
	return S_ISDIR(status.st_mode) ? folder_copy(path, tree, left_out->list, is_no_source)
				       : source_unpack(path, tree, left_out);
}

struct error *source_prepare(const struct build *build, const char *tree)
{
	struct args left_out = {};
	struct error *error = source_left_out(build->files.config, build->arch, &left_out);

	if (!error)
		error = put_source(build, &left_out, tree);
	if (!error && build->files.patches)
		error = quilt_apply(build->files.patches, tree, left_out.list);
	args_deinit(&left_out);
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
