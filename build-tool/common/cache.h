/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cache of kernels, where `pokepatch fetch` puts their packages and pokepatch-build its trees.
 * ${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/RELEASE/ has:
 *
 *   packages/   the .deb files that were downloaded and verified
 *   image/      linux-image: boot/{vmlinuz,config,System.map}-R, lib/modules/R
 *   dbg/        linux-image-dbg: usr/lib/debug/boot/vmlinux-R, and those of the modules in
 *               usr/lib/debug/lib/modules/R that a build has needed (pokepatch-build/modules.c)
 *   headers/    linux-headers, -common, linux-kbuild or its programs built from the source; works
 *               from any folder
 *   compiler/   gcc and binutils that run here, if this machine lacks them; for another
 *               architecture cpp and its libraries, which qemu runs
 *   source/     usr/src/linux-source-V.tar.xz
 *   patches/    debian/patches-rt, with which rt flavours are built, a quilt series
 *   fetched     written last: "NAME VERSION SHA256", a line for each package
 *   tree-KEY/   prepared source trees (pokepatch-build); tree-unpacked: see source.h
 *   core-KEY/   core module and glue built for this kernel (pokepatch-build)
 *   answer-NAME what make and the compiler say about themselves (pokepatch-build/answers.h)
 */
#ifndef POKEPATCH_CACHE_H
#define POKEPATCH_CACHE_H

#include <time.h>

#include "common/util.h"

/*
 * Increment these when a prepared tree, or a core and its glue, that an earlier version made cannot
 * be used any more.  Its file ready begins with "format N", so that `pokepatch cache prune` can
 * tell: CACHE_TREE_READY in a tree, CACHE_CORE_READY in a core's folder.
 */
#define CACHE_TREE_FORMAT 4
#define CACHE_CORE_FORMAT 5
#define CACHE_TREE_READY ".pokepatch/ready"
#define CACHE_CORE_READY "ready"
#define CACHE_CORE_LOG   "make.log" /* what kbuild and the compiler said, when all went well */

/* Where the parts of one kernel are.  All paths are owned; NULL: the part is missing. */
struct kernel_files {
	char *release; /* "6.1.0-56-cloud-amd64" */
	char *cache;   /* .../kernels/RELEASE */
	char *config;  /* config file */
	char *vmlinuz;
	char *vmlinux;     /* with DWARF and relocations */
	char *modules;     /* .../lib/modules/RELEASE of the image */
	char *modules_dbg; /* .../lib/modules/RELEASE of the debug package (has kernel/...) */
	char *dbg_package; /* the .deb with the modules that modules_dbg lacks, if it is there */
	char *kbuild;      /* the headers' build folder, for make -C */
	char *source;      /* tarball or folder */
	char *patches;     /* a quilt series on top of source, or NULL: none */
	char *compiler;    /* a root folder with the compiler */
};

/* cache_root - the absolute path of .../pokepatch, which is made if it is missing. */
struct error *cache_root(char **ret);
/* cache_is_release - may this be the name of a release, and thus of a folder in kernels/? */
bool cache_is_release(const char *release);
/*
 * cache_kernel_dir - the path .../pokepatch/kernels/RELEASE; the folder itself is not made.
 * Errors: @release is not a release's name.
 */
struct error *cache_kernel_dir(const char *release, char **ret);
/*
 * kernel_files_find - look for a kernel's parts in the cache, without downloading any.  The path
 * of a missing part is NULL; release and cache are always set.  Errors: @release is not a release's
 * name; then *ret is empty.
 */
struct error *kernel_files_find(const char *release, struct kernel_files *ret);
void kernel_files_deinit(struct kernel_files *files);

/*
 * cache_lock - take an exclusive (or shared) flock on PATH.lock.  Waits until the lock is free,
 * and prints after a second on standard error that it waits.  Close the file to release the lock.
 * The folder that PATH is in must exist.  PATH.lock stays behind, empty.
 * Errors: it cannot be opened or locked, or a signal interrupted us.
 *
 * PATH is one of, in lock order: a kernel's folder (a fetch holds it exclusively, a build shared),
 * a tree-KEY or core-KEY in it (a build holds them shared), a folder of package lists.
 */
struct error *cache_lock(const char *path, bool shared, int *ret_fd);
/* cache_try_lock - take the exclusive lock without waiting; *ret_fd is -1 if it is not free. */
struct error *cache_try_lock(const char *path, int *ret_fd);

/*
 * cache_drop - remove PATH, a tree or a core, with its lock, unless another process uses it.  What
 * cannot be removed stays, for `pokepatch cache prune`.
 */
void cache_drop(const char *path);

/*
 * cache_source_is_gone - @line is one of a tree's file ready: does it name the tree's source, as
 * "source PATH HASH", and does that not exist any more?
 */
bool cache_source_is_gone(const char *line);

/* A file or a folder of the cache, and when it was last used. */
struct used_file {
	char *path;
	uint64_t size; /* bytes */
	struct timespec used;
};
/* compare_used_files - for qsort(): those that were used last come first. */
int compare_used_files(const void *left, const void *right);

#endif /* POKEPATCH_CACHE_H */
