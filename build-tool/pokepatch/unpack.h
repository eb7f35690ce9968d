/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unpacking .deb files into a folder of the cache, and checking later that no file is missing.  A
 * folder appears atomically and complete.  Its file .manifest has a key (the SHA-256s of the
 * packages), and the sizes and names of all files.
 */
#ifndef POKEPATCH_CLI_UNPACK_H
#define POKEPATCH_CLI_UNPACK_H

#include "common/util.h"

/* One folder to fill. */
struct unpack {
	char *folder;   /* .../kernels/RELEASE/image */
	char **debs;    /* packages, or tarballs of source packages' debian/; ends with NULL */
	char *packages; /* key: "SHA256 SHA256...", sorted: of the packages, and what was added */
	uint64_t size;  /* approximate bytes once unpacked */
	char **only;    /* unpack only these files (deb.h), ends with NULL; NULL: all */
	/*
	 * NULL, or adds files to the folder, whose path is still FOLDER.tmp, before it appears.
	 * The folders before it in the list have appeared by then.
	 */
	struct error *(*complete)(const char *root, void *data);
	void *complete_data;
};
void unpack_deinit(struct unpack *unpack);

/* unpack_is_whole - does the folder have all files of exactly these packages, in full size? */
bool unpack_is_whole(const char *folder, const char *packages);

/*
 * unpack_all - fill folders in parallel.  Each is unpacked to FOLDER.tmp, completed, relocated, and
 * renamed, in the order of the list.
 * An old folder is replaced in one step if the file system can exchange two folders.  After an
 * error no incomplete folder is left.
 */
struct error *unpack_all(const struct unpack *list, size_t count);

/* unpack_clean - remove the FOLDER.tmp that an interrupted run left. */
struct error *unpack_clean(const char *folder);

/*
 * unpack_relocate - make the files below @root work from that folder: absolute links to files
 * inside it become relative, and so do the includes of the headers' Makefiles.
 */
struct error *unpack_relocate(const char *root);

/*
 * deb_is_whole - does an ar archive (ar(5)) end with its last member?  Reads the headers of the
 * members alone.
 */
bool deb_is_whole(const char *path);

#endif /* POKEPATCH_CLI_UNPACK_H */
