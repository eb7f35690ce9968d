/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packages that the user brings (fetch --deb): kept from before the archive dropped them, or
 * downloaded elsewhere.
 */
#ifndef POKEPATCH_CLI_GIVEN_PACKAGES_H
#define POKEPATCH_CLI_GIVEN_PACKAGES_H

#include "pokepatch/apt.h"

struct given_packages {
	struct apt_packages packages; /* given is set in each */
	size_t named; /* so many of them were named one by one; the rest was found in folders */
};
void given_packages_deinit(struct given_packages *given);

/*
 * given_packages_read - read which packages these are, and their SHA-256.
 * @paths: .deb files, or folders, of which the packages of Linux are taken.
 * Errors: a file that is no package, or cut off; a folder without any.
 */
struct error *given_packages_read(const char *const *paths, size_t count,
				  struct given_packages *ret);

/*
 * given_packages_release - the release that their names have ("linux-image-R-dbg"), for free().
 * Errors: none of them names one, or they name several.
 */
struct error *given_packages_release(const struct given_packages *given, char **ret);

/*
 * given_packages_check - is each package that was named one by one among those of a release?
 * Others in a folder may be of other releases.
 */
struct error *given_packages_check(const struct given_packages *given, const char *release,
				   const struct apt_packages *packages);

/* given_packages_find - a package of that name, whatever its version; NULL: there is none. */
const struct apt_package *given_packages_find(const struct apt_packages *given, const char *name);

#endif /* POKEPATCH_CLI_GIVEN_PACKAGES_H */
