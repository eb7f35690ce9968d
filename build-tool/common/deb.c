// SPDX-License-Identifier: GPL-2.0-or-later
/* Single files of a .deb; see deb.h. */
#include "common/deb.h"

#include <stdlib.h>
#include <string.h>
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

struct error *deb_files(const char *deb, struct args *ret)
{
	const char *const argv[] = {"sh", "-c", files_script, "sh", deb, NULL};
	struct buffer out = {0};

	TRY(proc_check(argv, NULL, &out));
	/* "DIGITS  PATH"; deb-md5sums(5) */
	for (const char *p = out.text; p && *p; p += strcspn(p, "\n"), p += *p == '\n') {
		const char *path = p + strcspn(p, " \n");

		path += strspn(path, " ");
		if (*path && *path != '\n')
			args_addf(ret, "%.*s", (int)strcspn(path, "\n"), path);
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

static struct error *extract_to(const char *deb, const char *file, const char *root,
				const char *temporary)
{
	char *const files[] = {(char *)file, NULL};
	_free_ char *from = xasprintf("%s/%s", temporary, file);
	_free_ char *to = xasprintf("%s/%s", root, file);
	_free_ char *folder = xstrndup(to, strrchr(to, '/') - to);
	struct args args = {0};
	struct error *error;

	TRY(make_dirs(temporary));
	TRY(make_dirs(folder));
	deb_extract_command(deb, files, temporary, &args);
	error = proc_check((const char *const *)args.list, NULL, NULL);
	args_deinit(&args);
	if (error)
		return error_prefix(error, "cannot unpack '%s' from '%s'", file, deb);
	return rename(from, to) < 0 ? error_errno("cannot make '%s'", to) : NULL;
}

struct error *deb_extract_file(const char *deb, const char *file, const char *root,
			       const char *temporary)
{
	struct error *error = extract_to(deb, file, root, temporary);
	struct error *removed = remove_tree(temporary);

	if (!error)
		return removed;
	error_destroy(removed);
	return error;
}
