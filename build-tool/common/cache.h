/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cache: ${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/RELEASE/
 *
 *   packages/   the .deb files, as downloaded and verified
 *   image/      linux-image: boot/{vmlinuz,config,System.map}-R, lib/modules/R
 *   dbg/        linux-image-dbg: usr/lib/debug/boot/vmlinux-R, usr/lib/debug/lib/modules/R
 *   headers/    linux-headers, -common, linux-kbuild; made relocatable
 *   compiler/   for another architecture: cpp and its libraries, to be emulated
 *   source/     usr/src/linux-source-V.tar.xz
 *   fetched     written last: "NAME VERSION SHA256" of each package, one a line
 *   tree-KEY/   prepared source trees (pokepatch-build)
 *   core-KEY/   core module and glue built for this kernel (pokepatch-build)
 */
#ifndef POKEPATCH_CACHE_H
#define POKEPATCH_CACHE_H

#include "common/util.h"

/* Where the parts of one kernel are; a path is NULL if it is not there. */
struct kernel_files {
	char *release; /* "6.1.0-56-cloud-amd64" */
	char *cache;   /* .../kernels/RELEASE */
	char *config;  /* config file */
	char *vmlinuz;
	char *vmlinux;     /* with DWARF and relocations */
	char *modules;     /* .../lib/modules/RELEASE of the image */
	char *modules_dbg; /* .../lib/modules/RELEASE of dbg (has kernel/...) */
	char *kbuild;      /* the headers' build folder, for make -C */
	char *source;      /* tarball or folder */
	char *compiler;    /* a root folder with the compiler, or NULL */
};

/* cache_root - .../pokepatch, absolute; made if missing. */
struct error *cache_root(char **ret);
/* cache_kernel_dir - .../pokepatch/kernels/RELEASE; not made.  Refuses what is no release name. */
struct error *cache_kernel_dir(const char *release, char **ret);
/*
 * kernel_files_find - look in the cache; never downloads.  Missing parts stay
 * NULL; release and cache are always set.
 */
struct error *kernel_files_find(const char *release, struct kernel_files *ret);
void kernel_files_deinit(struct kernel_files *files);

/*
 * cache_lock - an exclusive (or shared) flock on PATH.lock; waits, saying so
 * on standard error after a second, and ends with an error when we are
 * interrupted.  Close the fd to let go; the kernel does when we die.  The
 * folder that PATH is in must exist; PATH.lock stays behind, empty.
 */
struct error *cache_lock(const char *path, bool shared, int *ret_fd);

#endif /* POKEPATCH_CACHE_H */
