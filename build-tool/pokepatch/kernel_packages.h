/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The packages of a Debian kernel release, found in apt's metadata alone. */
#ifndef POKEPATCH_CLI_KERNEL_PACKAGES_H
#define POKEPATCH_CLI_KERNEL_PACKAGES_H

#include "pokepatch/apt.h"

/*
 * The folders of the cache into which packages are unpacked (cache.h), in this order: the headers
 * may need programs that are built from the source, or libraries that lie beside the compiler.
 */
enum kernel_part {
	PART_IMAGE,
	PART_DBG,
	PART_SOURCE,
	PART_PATCHES, /* debian/patches-* of the source package (featureset.h) */
	PART_COMPILER,
	PART_HEADERS,
	PART_COUNT
};
extern const char *const kernel_part_names[PART_COUNT];

/* kernel_part_of - the folder for a package; PART_COUNT: none. */
enum kernel_part kernel_part_of(const char *package);

/*
 * kernel_lacks_kbuild - have these packages headers without linux-kbuild?  Its programs are then
 * built from the source (kbuild_programs.h).
 */
bool kernel_lacks_kbuild(const struct apt_packages *packages);

/*
 * kernel_wraps_kbuild - have these packages the libraries of linux-kbuild's programs, because it is
 * of another Debian?
 */
bool kernel_wraps_kbuild(const struct apt_packages *packages);

/* kernel_arch - the Debian architecture in the name of a release or flavour, or NULL. */
const char *kernel_arch(const char *name);
/* kernel_is_foreign - does the name have another architecture than this machine's Debian? */
bool kernel_is_foreign(const char *name);
/*
 * kernel_flavour - the flavour in a release's name, behind the number of the ABI; points into it.
 * NULL: it has none.
 */
const char *kernel_flavour(const char *release);
/* kernel_has_flavour - is the release of exactly this flavour ("6.1.0-9-amd64": "amd64")? */
bool kernel_has_flavour(const char *release, const char *flavour);
/*
 * kernel_is_of - is the release of this [SERIES-]FLAVOUR ("6.1.0-9-amd64": "amd64", "6.1-amd64",
 * "6-amd64")?
 */
bool kernel_is_of(const char *release, const char *name);
/*
 * kernel_replaces - is @newer a later release of the same flavour and line ("6.1") as @older?
 */
bool kernel_replaces(const char *newer, const char *older);

/*
 * kernel_resolve - the packages of a release: image, dbg, headers with the common headers and
 * kbuild that they depend on, source, and the compiler (compiler_packages.h).  All others have the
 * newest version of which every package exists, save for kbuild, which is left out if the archive
 * has dropped that version (kernel_lacks_kbuild()).
 * Errors: a package is missing; the text names it.
 */
struct error *kernel_resolve(struct apt *apt, const char *release, struct apt_packages *ret);
/*
 * kernel_resolve_latest - the newest release of a flavour of which every package exists.  The
 * versions of the metapackage linux-image-FLAVOUR name the releases.
 */
struct error *kernel_resolve_latest(struct apt *apt, const char *flavour, char **ret_release,
				    struct apt_packages *ret);
/*
 * kernel_list - the releases of a [SERIES-]FLAVOUR of which every package exists, a line each,
 * newest first.  Errors: there is none.
 */
struct error *kernel_list(struct apt *apt, const char *name, struct buffer *ret);

#endif /* POKEPATCH_CLI_KERNEL_PACKAGES_H */
