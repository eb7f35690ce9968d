// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs of packages of another Debian; see programs.h. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object/arch.h"
#include "pokepatch/apt.h"
#include "pokepatch/programs.h"

/* ---- finding programs ------------------------------------------------------- */

/* The machine that this program runs on; its programs have our ELF header. */
static bool reads_own_header(Elf64_Ehdr *ret)
{
	_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	return fd >= 0 && pread(fd, ret, sizeof(*ret), 0) == sizeof(*ret);
}

/*
 * The path of the loader that a program of this machine names (gABI, PT_INTERP); owned.  NULL: it
 * is no program, one of another machine, or linked statically.
 */
static char *read_loader(const char *path, const Elf64_Ehdr *ours)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	char loader[256] = {0};

	if (fd < 0 || pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ours->e_ident, EI_VERSION) ||
	    header.e_machine != ours->e_machine || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(segment))
		return NULL;
	for (size_t i = 0; i < header.e_phnum; i++) {
		off_t offset = (off_t)header.e_phoff + (off_t)(i * sizeof(segment));

		if (pread(fd, &segment, sizeof(segment), offset) != sizeof(segment))
			return NULL;
		if (segment.p_type != PT_INTERP || segment.p_filesz >= sizeof(loader))
			continue;
		if (pread(fd, loader, segment.p_filesz, (off_t)segment.p_offset) !=
		    (ssize_t)segment.p_filesz)
			return NULL;
		return loader[0] == '/' ? xstrdup(loader) : NULL;
	}
	return NULL;
}

/* A shared library can name a loader too (libc.so.6). */
static bool is_library(const char *name)
{
	return strstr(name, ".so") != NULL;
}

/* ---- wrapping --------------------------------------------------------------- */

/*
 * The script finds the libraries above itself, so that a cache may be moved, and a build may copy
 * the program to a tree in it.  If it is run by a link, as the one to as(1) beside cc1, it looks
 * above the link's target; and last where they were first.  dash(1) needs no more to start a
 * program.
 * @libraries: the folder "compiler" beside the one in which the program is
 */
static struct error *write_script(const char *path, const char *loader, const char *libraries,
				  const char *gnu)
{
	const char *name = strrchr(libraries, '/');
	/* What follows is between quotes. */
	const char *first = strchr(libraries, '\'') ? "" : libraries;
	_free_ char *text = xasprintf(
		"#!/bin/sh\n"
		"case $0 in /*) self=$0 ;; *) self=$PWD/$0 ;; esac\n"
		"find() {\n"
		"\tat=$self\n"
		"\t[ -e \"$self.real\" ] || return\n"
		"\twhile at=${at%%/*}; [ \"$at\" ]; do [ ! -e \"$at%s%s\" ] || return 0; done\n"
		"\treturn 1\n"
		"}\n"
		"if find || { self=$(readlink -f \"$0\"); find; }; then at=$at%s; else at='%s'; fi\n"
		"exec \"$at%s\" --argv0 \"$0\" --library-path \"$at/usr/lib/%s:$at/lib/%s\" "
		"\"$self.real\" \"$@\"\n",
		name, loader, name, first, loader, gnu, gnu);

	TRY(file_write(path, text, strlen(text)));
	return chmod(path, 0755) < 0 ? error_errno("cannot write '%s'", path) : NULL;
}

struct wrapping {
	const struct programs_folder *programs, *libraries;
	Elf64_Ehdr ours;
	const char *gnu; /* "x86_64-linux-gnu", which the folders of libraries are called after */
};

static struct error *wrap_one(const struct wrapping *wrapping, const FTSENT *entry)
{
	const char *path = entry->fts_path;
	_free_ char *loader = read_loader(path, &wrapping->ours);
	_free_ char *there = NULL, *real = NULL;
	struct stat st;

	if (!loader)
		return NULL;
	/* In packages before Debian 13 it is an absolute link, which is not relocated yet. */
	there = xasprintf("%s%s", wrapping->libraries->now, loader);
	if (lstat(there, &st) < 0)
		return NULL;
	real = xasprintf("%s.real", path);
	if (rename(path, real) < 0)
		return error_errno("cannot rename '%s'", path);
	return write_script(path, loader, wrapping->libraries->later, wrapping->gnu);
}

static struct error *wrap_folder(const struct wrapping *wrapping, const char *name)
{
	_free_ char *folder = xasprintf("%s/%s", wrapping->programs->now, name);
	char *const roots[] = {folder, NULL};
	struct error *error = NULL;
	FTSENT *entry;
	FTS *tree;

	if (!file_exists(folder))
		return NULL;
	tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!tree)
		return error_errno("cannot read '%s'", folder);
	while (!error && (entry = fts_read(tree))) {
		/* A file that the loop has renamed or made may be read again. */
		if (entry->fts_info == FTS_F && (entry->fts_statp->st_mode & 0111) &&
		    !is_library(entry->fts_name) && !has_suffix(entry->fts_name, ".real"))
			error = wrap_one(wrapping, entry);
	}
	fts_close(tree);
	return error;
}

struct error *programs_wrap(const struct programs_folder *programs,
			    const struct programs_folder *libraries)
{
	static const char *const folders[] = {"usr/bin", "usr/lib", "usr/libexec"};
	struct wrapping wrapping = {.programs = programs, .libraries = libraries};
	const struct arch *arch;
	_free_ char *native = NULL;

	TRY(apt_native(&native));
	arch = arch_find_debian(native);
	if (!arch || !reads_own_header(&wrapping.ours))
		return NULL;
	wrapping.gnu = arch->tools.gnu;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		TRY(wrap_folder(&wrapping, folders[i]));
	return NULL;
}

/* ---- trimming --------------------------------------------------------------- */

/* Link-time optimisation, of which Debian's kernels make no use, is half of a compiler. */
static bool is_needless(const char *name)
{
	return !strcmp(name, "lto1") || !strcmp(name, "gconv") || strstr(name, "lto-dump") ||
	       has_suffix(name, ".a");
}

/*
 * The driver looks for as and ld beside cc1 before it takes this machine's: make links there, which
 * unpack_relocate() makes relative.  cc1 lies in .../gcc/x86_64-linux-gnu/14.
 */
static struct error *link_binutils(const char *root, const char *folder)
{
	static const char *const names[] = {"as", "ld"};
	_free_ char *above = xstrndup(folder, strrchr(folder, '/') - folder);
	const char *gnu = strrchr(above, '/') + 1;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_free_ char *target = xasprintf("/usr/bin/%s-%s", gnu, names[i]);
		_free_ char *there = xasprintf("%s%s", root, target);
		_free_ char *path = xasprintf("%s/%s", folder, names[i]);
		struct stat st;

		if (lstat(there, &st) == 0 && symlink(target, path) < 0 && errno != EEXIST)
			return error_errno("cannot make the link '%s'", path);
	}
	return NULL;
}

/* Remove what is needless, and link the assembler and the linker. */
static struct error *trim_tree(const char *root)
{
	char *const roots[] = {(char *)root, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	struct error *error = NULL;
	FTSENT *entry;

	if (!tree)
		return error_errno("cannot read '%s'", root);
	while (!error && (entry = fts_read(tree))) {
		if (entry->fts_info == FTS_F && !strcmp(entry->fts_name, "cc1")) {
			_free_ char *folder =
				xstrndup(entry->fts_path, entry->fts_pathlen - strlen("/cc1"));

			error = link_binutils(root, folder);
			continue;
		}
		if (entry->fts_info == FTS_DP || !is_needless(entry->fts_name))
			continue;
		if (entry->fts_info == FTS_D)
			fts_set(tree, entry, FTS_SKIP);
		error = remove_tree(entry->fts_path);
	}
	fts_close(tree);
	return error;
}

struct error *programs_trim(const char *root)
{
	static const char *const folders[] = {"usr/share", "etc", "var"};
	static const char *const links[] = {"lib", "lib64"};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		_free_ char *path = xasprintf("%s/%s", root, folders[i]);

		TRY(remove_tree(path));
	}
	TRY(trim_tree(root));
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		_free_ char *path = xasprintf("%s/%s", root, links[i]);
		_free_ char *target = xasprintf("usr/%s", links[i]);

		if (symlink(target, path) < 0 && errno != EEXIST)
			return error_errno("cannot make the link '%s'", path);
	}
	return NULL;
}
