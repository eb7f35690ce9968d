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

/* Run md5sum in a folder over what one line of md5sums names. */
static struct error *check_sum(const char *line, const char *folder)
{
	_free_ char *list = xasprintf("%s/md5sums", folder);
	const char *const argv[] = {"md5sum", "--check", "--quiet", "md5sums", NULL};
	const struct proc_options options = {.dir = folder};

	TRY(file_write(list, line, (size_t)(next_line(line) - line)));
	return proc_check(argv, &options, NULL);
}

/*
 * Compare an extracted file with the package's md5sums, if it has any.  tar ends when it has the
 * file, so dpkg-deb may not have come to the checksum of the compressed block.
 */
static struct error *check_file(const char *deb, const char *file, const char *folder)
{
	struct error *error = NULL;
	struct buffer sums = {0};
	bool found = false;

	TRY(read_sums(deb, &sums));
	for (const char *p = sums.text; p && *p && !found; p = next_line(p)) {
		size_t length;
		const char *path = path_of(p, &length);

		found = length == strlen(file) && !strncmp(path, file, length);
		if (found)
			error = check_sum(p, folder);
	}
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

static struct error *extract_to(const char *deb, const char *file, const char *root,
				const char *temporary, bool *ret_damaged)
{
	char *const files[] = {(char *)file, NULL};
	_free_ char *from = xasprintf("%s/%s", temporary, file);
	_free_ char *to = xasprintf("%s/%s", root, file);
	_free_ char *folder = xstrndup(to, strrchr(to, '/') - to);
	struct args args = {0};
	struct error *error;

	TRY(make_dirs(folder));
	deb_extract_command(deb, files, temporary, &args);
	error = proc_check((const char *const *)args.list, NULL, NULL);
	args_deinit(&args);
	if (error) {
		*ret_damaged = is_damaged(deb);
	} else {
		error = check_file(deb, file, temporary);
		*ret_damaged = error && !proc_interrupted();
	}
	if (error)
		return error_prefix(error, "cannot unpack '%s' from '%s'", file, deb);
	return rename(from, to) < 0 ? error_errno("cannot make '%s'", to) : NULL;
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

struct error *deb_extract_file(const char *deb, const char *file, const char *root,
			       const char *above, bool *ret_damaged)
{
	_free_ char *temporary = NULL;
	struct error *error, *removed;

	*ret_damaged = false;
	TRY(make_temporary(above, &temporary));
	error = extract_to(deb, file, root, temporary, ret_damaged);
	removed = remove_tree(temporary);
	if (!error)
		return removed;
	error_destroy(removed);
	return error;
}
