/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which packages make up one Debian kernel release; read from apt's metadata only. */
#ifndef POKEPATCH_CLI_KERNEL_PACKAGES_H
#define POKEPATCH_CLI_KERNEL_PACKAGES_H

#include "pokepatch/apt.h"

/* The folders of the cache that packages are unpacked to (cache.h). */
enum kernel_part { PART_IMAGE, PART_DBG, PART_HEADERS, PART_SOURCE, PART_COMPILER, PART_COUNT };
extern const char *const kernel_part_names[PART_COUNT];

/* kernel_part_of - where the package of that name belongs; PART_COUNT: to none. */
enum kernel_part kernel_part_of(const char *package);

/* kernel_arch - the Debian architecture that a release or flavour name tells, or NULL. */
const char *kernel_arch(const char *name);
/* kernel_is_foreign - is it of another architecture than Debian's here, by its name? */
bool kernel_is_foreign(const char *name);
/* kernel_has_flavour - is release of exactly this flavour ("6.1.0-9-amd64": "amd64")? */
bool kernel_has_flavour(const char *release, const char *flavour);

/*
 * kernel_resolve - the packages of a release: image, dbg, headers with the
 * common headers and kbuild that they depend on, and source, and for another
 * architecture the compiler, all of the
 * newest version that there is of each of them.  Fails with STATUS_FAILED and
 * the name of what is missing.
 */
struct error *kernel_resolve(struct apt *apt, const char *release, struct apt_packages *ret);
/*
 * kernel_resolve_latest - the newest release of a flavour for which that
 * works, as its metapackage (linux-image-FLAVOUR) names them.
 */
struct error *kernel_resolve_latest(struct apt *apt, const char *flavour, char **ret_release,
				    struct apt_packages *ret);

#endif /* POKEPATCH_CLI_KERNEL_PACKAGES_H */
