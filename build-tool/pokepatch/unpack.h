/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacking .deb files into a folder of the cache, and telling later whether
 * all of it is still there.  A folder appears at once and whole, with a list
 * of its files (.manifest): their SHA-256s' packages, sizes and names.
 */
#ifndef POKEPATCH_CLI_UNPACK_H
#define POKEPATCH_CLI_UNPACK_H

#include "common/util.h"

/* One folder to fill. */
struct unpack {
	char *folder;   /* .../kernels/RELEASE/image */
	char **debs;    /* paths, ends with NULL */
	char *packages; /* "SHA256 SHA256...", sorted: what it is made of */
	uint64_t size;  /* bytes once unpacked, about */
};
void unpack_deinit(struct unpack *unpack);

/* unpack_is_whole - does the folder hold exactly these packages' files, none missing or cut? */
bool unpack_is_whole(const char *folder, const char *packages);

/*
 * unpack_all - fill the folders: several at once, each beside its place first
 * (FOLDER.tmp), made relocatable, then moved.  What was there before is
 * replaced in one step where the file system can exchange two folders.  After
 * an error nothing is left of those that are not whole.
 */
struct error *unpack_all(const struct unpack *list, size_t count);

/* unpack_clean - remove what an interrupted run left of a folder. */
struct error *unpack_clean(const char *folder);

/*
 * unpack_relocate - make what was unpacked below root work where it lies:
 * absolute links to what is inside become relative, and so do the includes of
 * the headers' Makefiles.
 */
struct error *unpack_relocate(const char *root);

/* deb_is_whole - does an ar archive (ar(5)) end where its last member does?  Cheap. */
bool deb_is_whole(const char *path);

#endif /* POKEPATCH_CLI_UNPACK_H */
