/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debian builds some flavours of a kernel with more patches: those of a featureset, which are in
 * the folder debian/patches-FEATURESET of the source package.  The package linux-source does not
 * have them.  Today rt (PREEMPT_RT) is the only featureset.
 */
#ifndef POKEPATCH_CLI_FEATURESET_H
#define POKEPATCH_CLI_FEATURESET_H

#include "pokepatch/apt.h"

/* featureset_of - the featureset in a release's name, or NULL.  A constant. */
const char *featureset_of(const char *release);

/*
 * featureset_resolve - find the tarball with the patches of the release's featureset, and add it to
 * its packages as the last of them, with its uri.
 * @apt: has found the packages; unlocked.  Lists of source packages go to a folder beside its own.
 * @suite: in which the release is
 * @packages: has the release's linux-source
 */
struct error *featureset_resolve(struct apt *apt, const char *release, const char *suite,
				 struct apt_packages *packages);

/* featureset_note_missing - tell the user why there are no patches, and what follows from that. */
void featureset_note_missing(const char *release, const struct error *why);

#endif /* POKEPATCH_CLI_FEATURESET_H */
