/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the cache has of a kernel release, and whether that is all of it. */
#ifndef POKEPATCH_CLI_FETCHED_H
#define POKEPATCH_CLI_FETCHED_H

#include "pokepatch/kernel_packages.h"

/*
 * fetched_is_complete - does the cache have all files of all packages in a release's stamp?  Checks
 * the size of every unpacked file, and the structure of every .deb that is still there, but reads
 * no contents, so it takes a fraction of a second.
 */
bool fetched_is_complete(const char *release);
/* fetched_matches - the same with the stamp of the release's folder dir, which was read already. */
bool fetched_matches(const char *release, const char *dir, const struct apt_packages *stamp);

/*
 * fetched_has_modules - are all modules of the debug package unpacked?  If not, the package stays
 * in the cache, because a build may need one of them.
 */
bool fetched_has_modules(const char *release);
/* fetched_has_files - are all files there without which no patch can be built? */
bool fetched_has_files(const char *release);
/* fetched_newest - the newest complete release of a flavour, owned; NULL: none. */
char *fetched_newest(const char *flavour);

/* ---- parts ------------------------------------------------------------------ */

/* fetched_has - do the packages have one for this part? */
bool fetched_has(const struct apt_packages *packages, enum kernel_part part);
/*
 * fetched_key - what a part is made from, in the form of its manifest: the sorted SHA-256s of its
 * packages.  Headers whose programs are built from the source have its SHA-256 too.  Owned by the
 * caller.
 */
char *fetched_key(const struct apt_packages *packages, enum kernel_part part);
/* fetched_vmlinux_key - of the debug package, while vmlinux alone is unpacked; owned. */
char *fetched_vmlinux_key(const char *key);
/* fetched_has_vmlinux - does the folder of the debug package have vmlinux alone, and whole? */
bool fetched_has_vmlinux(const char *folder, const char *key);
/* fetched_is_whole - has the folder dir of a release all files of a part? */
bool fetched_is_whole(const char *dir, const struct apt_packages *packages, enum kernel_part part);

#endif /* POKEPATCH_CLI_FETCHED_H */
