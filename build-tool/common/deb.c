// SPDX-License-Identifier: GPL-2.0-or-later
/* Single files of a .deb; see deb.h. */
#include "common/deb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/proc.h"

/*
 * $1 is the package, $2 the folder, the rest are files.  --occurrence ends tar once it has them
 * all; dpkg-deb then ends by SIGPIPE, and its complaint helps no one.
 */
static const char extract_script[] = "deb=$1 root=$2; shift 2\n"
				     "dpkg-deb --fsys-tarfile \"$deb\" 2>/dev/null |\n"
				     "tar -x -C \"$root\" --no-same-owner --occurrence=1 -f - \"$@\"\n";

static const char files_script[] = "dpkg-deb --ctrl-tarfile \"$1\" |\n"
				   "tar -x -O -f - ./md5sums 2>/dev/null || :\n";

/* The text of md5sums, lines "DIGITS  PATH" (deb-md5sums(5)); empty if the package has none. */
static struct error *read_sums(const char *deb, struct buffer *ret)
{
	const char *const argv[] = {"sh", "-c", files_script, "sh", deb, NULL};

	return proc_check(argv, NULL, ret);
}

/* The path in a line of md5sums; ret_length: without the end of the line. */
static const char *path_of(const char *line, size_t *ret_length)
{
	const char *path = line + strcspn(line, " \n");

	path += strspn(path, " ");
	*ret_length = strcspn(path, "\n");
	return path;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

struct error *deb_files(const char *deb, struct args *ret)
{
	struct buffer out = {0};

	TRY(read_sums(deb, &out));
	for (const char *p = out.text; p && *p; p = next_line(p)) {
		size_t length;
		const char *path = path_of(p, &length);

		if (length)
			args_addf(ret, "%.*s", (int)length, path);
	}
	buffer_deinit(&out);
	return NULL;
}

void deb_extract_command(const char *deb, char *const *files, const char *root, struct args *ret)
{
	args_add(ret, "sh");
	args_add(ret, "-c");
	args_add(ret, extract_script);
	args_add(ret, "sh");
	args_add(ret, deb);
	args_add(ret, root);
	for (; *files; files++)
		args_addf(ret, "./%s", *files);
}

/*
 * Compare extracted files with the package's md5sums, if it has any.  tar ends when it has the
 * files, so dpkg-deb may not have come to the checksum of the compressed block.
 */
static struct error *check_files(const char *deb, const struct args *files, const char *folder)
{
	_free_ char *list = xasprintf("%s/md5sums", folder);
	const char *const argv[] = {"md5sum", "--check", "--quiet", "md5sums", NULL};
	const struct proc_options options = {.dir = folder};
	struct buffer sums = {0}, wanted = {0};
	struct error *error = NULL;
	struct map names = {0};

	TRY(read_sums(deb, &sums));
	for (size_t i = 0; i < files->count; i++)
		*map_slot(&names, files->list[i]) = files->list[i];
	for (const char *p = sums.text; p && *p; p = next_line(p)) {
		size_t length;
		const char *start = path_of(p, &length);
		_free_ char *path = xstrndup(start, length);

		if (map_get(&names, path))
			buffer_add(&wanted, p, (size_t)(next_line(p) - p));
	}
	if (wanted.length)
		error = file_write(list, wanted.text, wanted.length);
	if (!error && wanted.length)
		error = proc_check(argv, &options, NULL);
	map_deinit(&names);
	buffer_deinit(&wanted);
	buffer_deinit(&sums);
	return error;
}

/*
 * Can the package not be unpacked, since it is cut off or bytes of it changed?  This decompresses
 * all of it.
 */
static bool is_damaged(const char *deb)
{
	const char *const argv[] = {"dpkg-deb", "--fsys-tarfile", deb, NULL};
	const struct proc_options options = {.output = "/dev/null", .keep_stderr_apart = true};
	struct error *error = proc_check(argv, &options, NULL);
	bool damaged = error != NULL;

	error_destroy(error);
	return damaged && !proc_interrupted();
}

static struct error *move_file(const char *file, const char *from, const char *to)
{
	_free_ char *source = xasprintf("%s/%s", from, file);
	_free_ char *target = xasprintf("%s/%s", to, file);
	_free_ char *folder = xstrndup(target, (size_t)(strrchr(target, '/') - target));

	TRY(make_dirs(folder));
	return rename(source, target) < 0 ? error_errno("cannot make '%s'", target) : NULL;
}

static struct error *extract_to(const char *deb, const struct args *files, const char *root,
				const char *temporary, bool *ret_damaged)
{
	struct args args = {0};
	struct error *error;

	deb_extract_command(deb, files->list, temporary, &args);
	error = proc_check((const char *const *)args.list, NULL, NULL);
	args_deinit(&args);
	if (error) {
		*ret_damaged = is_damaged(deb);
	} else {
		error = check_files(deb, files, temporary);
		*ret_damaged = error && !proc_interrupted();
	}
	if (error)
		return error_prefix(error, "cannot unpack '%s'%s from '%s'", files->list[0],
				    files->count > 1 ? " and others" : "", deb);
	for (size_t i = 0; i < files->count; i++)
		TRY(move_file(files->list[i], temporary, root));
	return NULL;
}

/* Make a folder of our own; an interrupted run may have left one, and other threads have theirs. */
static struct error *make_temporary(const char *above, char **ret)
{
	for (unsigned int i = 0;; i++) {
		_free_ char *path = xasprintf("%s/module-%d-%u.tmp", above, (int)getpid(), i);

		if (!mkdir(path, 0777)) {
			*ret = take_pointer(path);
			return NULL;
		}
		if (errno != EEXIST)
			return error_errno("cannot make '%s'", path);
	}
}

struct error *deb_extract_files(const char *deb, const struct args *files, const char *root,
				const char *above, bool *ret_damaged)
{
	_free_ char *temporary = NULL;
	struct error *error, *removed;

	*ret_damaged = false;
	TRY(make_temporary(above, &temporary));
	error = extract_to(deb, files, root, temporary, ret_damaged);
	removed = remove_tree(temporary);
	if (!error)
		return removed;
	error_destroy(removed);
	return error;
}
