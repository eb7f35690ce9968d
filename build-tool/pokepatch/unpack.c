// SPDX-License-Identifier: GPL-2.0-or-later
/* Unpacking packages into the cache; see unpack.h. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/args.h"
#include "common/deb.h"
#include "common/proc.h"
#include "pokepatch/progress.h"
#include "pokepatch/unpack.h"

/* We search messages, so they must not be translated. */
static const char *const c_locale[] = {"LC_ALL=C", NULL};

#define MANIFEST ".manifest"
#define DISK_IS_FULL 100000 /* a disk with fewer free bytes counts as full */
#define CLEAN_TRIES 100
#define CLEAN_PAUSE_US 100000

void unpack_deinit(struct unpack *unpack)
{
	for (size_t i = 0; unpack->debs && unpack->debs[i]; i++)
		free(unpack->debs[i]);
	free(unpack->debs);
	strings_free(unpack->only);
	free(unpack->folder);
	free(unpack->packages);
	*unpack = (struct unpack){0};
}

/*
 * ar(5): a global header, then members at even offsets.  A member begins with 60 bytes, which have
 * its size at offset 48, in decimal.
 */
bool deb_is_whole(const char *path)
{
	static const char magic[] = "!<arch>\n";
	_fclose_ FILE *file = fopen(path, "re");
	char header[60] = {0};
	off_t offset = 8;
	struct stat st;

	if (!file || fstat(fileno(file), &st) < 0 || fread(header, 8, 1, file) != 1 ||
	    memcmp(header, magic, 8) != 0)
		return false;
	while (offset < st.st_size) {
		long long size;

		if (fseeko(file, offset, SEEK_SET) < 0 ||
		    fread(header, sizeof(header), 1, file) != 1 || header[58] != '`')
			return false;
		header[58] = '\0';
		size = strtoll(header + 48, NULL, 10);
		if (size < 0 || size > st.st_size)
			return false;
		offset += (off_t)sizeof(header) + size;
		if (offset < st.st_size)
			offset += size & 1;
	}
	return offset > 8 && offset == st.st_size;
}

/* ---- the manifest ---------------------------------------------------------- */

static struct error *open_tree(const char *root, FTS **ret)
{
	char *const roots[] = {(char *)root, NULL};

	*ret = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	return *ret ? NULL : error_errno("cannot read '%s'", root);
}

static struct error *write_manifest(const char *root, const char *packages)
{
	_free_ char *path = xasprintf("%s/" MANIFEST, root);
	struct buffer text = {0};
	struct error *error;
	FTSENT *entry;
	FTS *tree;

	buffer_printf(&text, "%s\n", packages);
	error = open_tree(root, &tree);
	if (error)
		goto out;
	while ((entry = fts_read(tree))) {
		if (entry->fts_info == FTS_F)
			buffer_printf(&text, "%lld %s\n", (long long)entry->fts_statp->st_size,
				      entry->fts_path + strlen(root) + 1);
	}
	fts_close(tree);
	error = file_write(path, text.text, text.length);
out:
	buffer_deinit(&text);
	return error;
}

/* Further files are allowed: depmod writes beside the modules. */
static bool has_all(const char *folder, char *list)
{
	_close_ int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	for (char *line = list; *line;) {
		size_t length = strcspn(line, "\n");
		long long size;
		char *name;

		if (line[length] != '\n')
			return false;
		line[length] = '\0';
		size = strtoll(line, &name, 10);
		if (*name != ' ' || fstatat(dir, name + 1, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    st.st_size != size)
			return false;
		line += length + 1;
	}
	return true;
}

bool unpack_is_whole(const char *folder, const char *packages)
{
	_free_ char *path = xasprintf("%s/" MANIFEST, folder);
	_free_ char *text = NULL;
	size_t length = strlen(packages);
	struct error *error;

	if (!file_exists(path))
		return false;
	error = file_read(path, &text, NULL);
	if (error) {
		error_destroy(error);
		return false;
	}
	return strncmp(text, packages, length) == 0 && text[length] == '\n' &&
	       has_all(folder, text + length + 1);
}

/* ---- relocation ------------------------------------------------------------ */

/* A link to /TARGET becomes "../" for each folder between it and root, then TARGET. */
static struct error *relocate_link(const char *root, const char *path)
{
	_free_ char *inside = NULL;
	struct buffer relative = {0};
	struct error *error = NULL;
	char target[4096];
	struct stat st;
	ssize_t length = readlink(path, target, sizeof(target) - 1);

	if (length < 0)
		return error_errno("cannot read the link '%s'", path);
	target[length] = '\0';
	if (target[0] != '/')
		return NULL;
	inside = xasprintf("%s%s", root, target);
	if (lstat(inside, &st) < 0)
		return NULL;
	for (const char *c = path + strlen(root) + 1; *c; c++) {
		if (*c == '/')
			buffer_add_string(&relative, "../");
	}
	buffer_add_string(&relative, target + 1);
	if (unlink(path) < 0 || symlink(relative.text, path) < 0)
		error = error_errno("cannot make the link '%s'", path);
	buffer_deinit(&relative);
	return error;
}

#define HERE "$(dir $(lastword $(MAKEFILE_LIST)))"

/*
 * linux-headers-R/Makefile has a line "include /usr/src/NAME/Makefile", and since Linux 7.2 the
 * line "KBUILD_OUTPUT=/usr/src/linux-headers-R" before it.  The folder NAME lies beside the
 * Makefile's own.
 */
static const struct {
	const char *absolute, *relative;
} makefile_lines[] = {
	{"include /usr/src/", "include " HERE "../"},
	{"KBUILD_OUTPUT=/usr/src/", "KBUILD_OUTPUT:=" HERE "../"},
};

static struct error *relocate_makefile(const char *path)
{
	struct buffer text = {0};
	_free_ char *old = NULL;
	struct error *error = NULL;
	bool changed = false;

	TRY(file_read(path, &old, NULL));
	for (const char *line = old; *line;) {
		size_t length = strcspn(line, "\n"), skip = 0;

		length += line[length] == '\n';
		for (size_t i = 0; !skip && i < ARRAY_SIZE(makefile_lines); i++) {
			if (!has_prefix(line, makefile_lines[i].absolute))
				continue;
			buffer_add_string(&text, makefile_lines[i].relative);
			skip = strlen(makefile_lines[i].absolute);
		}
		buffer_add(&text, line + skip, length - skip);
		changed |= skip > 0;
		line += length;
	}
	if (changed)
		error = file_write(path, text.text, text.length);
	buffer_deinit(&text);
	return error;
}

static bool is_headers_makefile(const char *root, const char *path)
{
	return has_prefix(path + strlen(root), "/usr/src/linux-headers-");
}

struct error *unpack_relocate(const char *root)
{
	struct error *error = NULL;
	FTSENT *entry;
	FTS *tree;

	TRY(open_tree(root, &tree));
	while (!error && (entry = fts_read(tree))) {
		if (entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE)
			error = relocate_link(root, entry->fts_path);
		else if (entry->fts_info == FTS_F && strcmp(entry->fts_name, "Makefile") == 0 &&
			 entry->fts_level == 4 && is_headers_makefile(root, entry->fts_path))
			error = relocate_makefile(entry->fts_path);
	}
	fts_close(tree);
	return error;
}

/* ---- unpacking ------------------------------------------------------------- */

static char *temporary(const char *folder)
{
	return xasprintf("%s.tmp", folder);
}

/*
 * A run that was killed with SIGKILL may have left a dpkg-deb whose tar still writes into the
 * folder.  It ends soon, at the latest when its working folder is gone.  So if the folder is filled
 * again while we remove it, remove it again.
 */
struct error *unpack_clean(const char *folder)
{
	_free_ char *temp = temporary(folder);
	struct error *error = remove_tree(temp);

	for (int i = 0; error && i < CLEAN_TRIES && !proc_interrupted(); i++) {
		error_destroy(error);
		usleep(CLEAN_PAUSE_US);
		error = remove_tree(temp);
	}
	return error;
}

/* Rename the new tree to its place, if possible in one step with the removal of the old one. */
static struct error *put_in_place(const char *folder)
{
	_free_ char *temp = temporary(folder);

	if (!file_exists(folder))
		return rename(temp, folder) < 0 ? error_errno("cannot make '%s'", folder) : NULL;
	if (renameat2(AT_FDCWD, temp, AT_FDCWD, folder, RENAME_EXCHANGE) == 0)
		return remove_tree(temp);
	TRY(remove_tree(folder));
	return rename(temp, folder) < 0 ? error_errno("cannot make '%s'", folder) : NULL;
}

struct unpack_progress {
	struct progress progress;
	const char *path; /* on the file system that is filled */
	uint64_t before;  /* bytes free at the start */
	uint64_t total;
};

static uint64_t bytes_free(const char *path)
{
	struct statvfs fs;

	return statvfs(path, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
}

/* Free space is cheap to read; counting 15,000 files five times a second is not. */
static void show_unpacking(void *data)
{
	struct unpack_progress *p = data;
	uint64_t now = bytes_free(p->path);

	progress_set(&p->progress, now < p->before ? p->before - now : 0);
}

static struct error *make_temporary(const struct unpack *unpack)
{
	_free_ char *temp = temporary(unpack->folder);

	TRY(unpack_clean(unpack->folder));
	return make_dirs(temp);
}

static struct error *finish(const struct unpack *unpack)
{
	_free_ char *temp = temporary(unpack->folder);

	if (unpack->complete)
		TRY(unpack->complete(temp, unpack->complete_data));
	TRY(unpack_relocate(temp));
	TRY(write_manifest(temp, unpack->packages));
	return put_in_place(unpack->folder);
}

/*
 * dpkg-deb prints many lines when its tar fails; the first has the reason.  tar does not always
 * name a full disk: "Wrote only 2048 of 10240 bytes".
 */
static struct error *unpack_error(const char *deb, const struct proc_result *result)
{
	const char *said = result->out.text ? result->out.text : "";

	if (strstr(said, strerror(ENOSPC)) || bytes_free(deb) < DISK_IS_FULL)
		return error_new(STATUS_FAILED, "cannot unpack '%s': %s; make room and try again",
				 deb, strerror(ENOSPC));
	return error_new(STATUS_FAILED, "cannot unpack '%s': %.*s", deb, (int)strcspn(said, "\n"),
			 said);
}

/* Of a source package's packaging, which is no .deb, the patches alone: debian/patches-rt. */
static void patches_command(const char *tarball, const char *root, struct args *ret)
{
	args_add(ret, "tar");
	args_add(ret, "-x");
	args_addf(ret, "--directory=%s", root);
	args_add(ret, "--no-same-owner");
	args_add(ret, "--wildcards");
	args_add(ret, "-f");
	args_add(ret, tarball);
	args_add(ret, "debian/patches*");
}

/* The command that unpacks one package. */
static void unpack_command(const struct unpack *unpack, const char *deb, struct args *ret)
{
	_free_ char *temp = temporary(unpack->folder);

	if (unpack->only) {
		deb_extract_command(deb, unpack->only, temp, ret);
		return;
	}
	if (!has_suffix(deb, ".deb")) {
		patches_command(deb, temp, ret);
		return;
	}
	args_add(ret, "dpkg-deb");
	args_add(ret, "-x");
	args_add(ret, deb);
	args_add(ret, temp);
}

static struct error *run_unpacking(const struct unpack *list, size_t count,
				   struct unpack_progress *progress)
{
	VEC(struct proc_command) commands = {0};
	VEC(struct args) argvs = {0};
	VEC(const char *) debs = {0};
	struct proc_result *results;
	struct error *error;

	for (size_t i = 0; i < count; i++) {
		for (char **deb = list[i].debs; *deb; deb++) {
			struct args *args = vec_push(&argvs);
			struct proc_command *command = vec_push(&commands);

			unpack_command(&list[i], *deb, args);
			*vec_push(&debs) = *deb;
			command->argv = (const char *const *)args->list;
			command->options.env = c_locale;
			command->options.tick = show_unpacking;
			command->options.tick_data = progress;
		}
	}
	results = xcalloc(commands.count, sizeof(*results));
	error = proc_run_all(commands.list, commands.count, 0, results);
	for (size_t i = 0; !error && i < commands.count; i++) {
		if (results[i].status)
			error = unpack_error(debs.list[i], &results[i]);
	}
	for (size_t i = 0; i < commands.count; i++) {
		proc_result_deinit(&results[i]); /* empty after an error of proc_run_all() */
		args_deinit(&argvs.list[i]);
	}
	free(results);
	vec_deinit(&debs);
	vec_deinit(&argvs);
	vec_deinit(&commands);
	return error;
}

struct error *unpack_all(const struct unpack *list, size_t count)
{
	struct unpack_progress progress = {0};
	_free_ char *size = NULL;
	struct error *error = NULL;

	if (!count)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		TRY(make_temporary(&list[i]));
		progress.total += list[i].size;
	}
	size = size_text(progress.total);
	progress.path = list[0].debs[0];
	progress.before = bytes_free(progress.path);
	progress_begin(&progress.progress, progress.total, "unpacking (%s)", size);
	error = run_unpacking(list, count, &progress);
	progress_end(&progress.progress, !error);
	for (size_t i = 0; !error && i < count; i++)
		error = finish(&list[i]);
	if (error) {
		for (size_t i = 0; i < count; i++)
			error_destroy(unpack_clean(list[i].folder));
	}
	return error;
}
