/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which packages to fetch, and from which package sources: the system's, or other suites. */
#ifndef POKEPATCH_CLI_RESOLVE_H
#define POKEPATCH_CLI_RESOLVE_H

#include "pokepatch/apt.h"
#include "pokepatch/given_packages.h"

struct resolve {
	const char *flavour; /* of --latest; NULL: a release was given */
	const char *list;    /* of --list: [SERIES-]FLAVOUR; NULL: packages are wanted */
	const char *suite;   /* of --suite; NULL: as the release's name says */
	struct given_packages given; /* of --deb */
	char *release;	     /* given, or the newest of the flavour */
	struct apt apt;	     /* .lock must be -1 at first; later the one that has the packages */
	struct apt_suites suites; /* of apt, if it has other suites */
	bool apt_open, done;
	struct apt_packages packages;
	struct buffer releases; /* of --list */
};

/*
 * resolve_packages - ask apt for the packages of the release, or of the newest of the flavour, and
 * set release, packages and apt, which is unlocked; or the releases for --list.  Search the
 * system's package sources first, unless they are of another Debian than the release; then the
 * suites for which it was built.  Packages that the user gave come before the archive's.
 * Errors: also a given package that is none of this release's.
 */
struct error *resolve_packages(struct resolve *resolve);
void resolve_deinit(struct resolve *resolve);

#endif /* POKEPATCH_CLI_RESOLVE_H */
