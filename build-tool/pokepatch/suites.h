/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debian's suites beside those of the system's own package sources.  A kernel release's name tells
 * which suites may have it; mirror and keys are those of the system's sources for Debian.
 */
#ifndef POKEPATCH_CLI_SUITES_H
#define POKEPATCH_CLI_SUITES_H

#include "common/util.h"

/* One suite and how apt is to prefer its packages. */
struct suite {
	char *name;
	bool security; /* it is on the security mirror */
	bool optional; /* the mirror may lack it */
	int priority;  /* of apt_preferences(5); 0: apt's own */
};

/* The suites that are searched together. */
struct suites {
	char *base; /* "trixie", "sid": names the folder of their lists */
	bool source; /* their source packages, not their binary ones */
	struct suite *list;
	size_t count, room;
};

/*
 * suites_of_release - the base suite ("trixie") for which Debian built a kernel release, by its
 * name; NULL: the name does not tell.  A constant.
 */
const char *suites_of_release(const char *release);

/*
 * suites_describe - the suites that belong together with @name, which is a base suite or one of
 * those beside it ("trixie-backports"); packages of a suite beside it are preferred to the others.
 * Errors: it is no name of a suite.
 */
struct error *suites_describe(const char *name, struct suites *ret);
void suites_deinit(struct suites *suites);

/* A Debian package source of the system, as `apt-get indextargets` shows it. */
struct debian_source {
	char *uri;     /* NULL: the system has none */
	char *options; /* lines of deb822 with its keys: "Signed-By: ...\n"; "": none */
};
struct debian_sources {
	struct debian_source main, security; /* where security is missing, main is used */
	char **codenames; /* "bookworm", "bookworm-updates", ...; ends with NULL */
};
/* debian_sources_parse - read the output of `apt-get indextargets`. */
void debian_sources_parse(const char *text, struct debian_sources *ret);
void debian_sources_deinit(struct debian_sources *sources);
/* debian_sources_have - do the system's sources have a suite? */
bool debian_sources_have(const struct debian_sources *sources, const char *suite);

/*
 * suites_sources - the contents of a .sources file (sources.list(5)) with the suites, but for those
 * in @absent (ends with NULL; may be NULL).
 * suites_preferences - the contents of a file of apt_preferences(5).
 * The caller frees the text.
 */
char *suites_sources(const struct suites *suites, const struct debian_sources *sources,
		     char *const *absent);
char *suites_preferences(const struct suites *suites);
/*
 * suites_absent - the optional suites that the mirror lacks, according to the output of a failed
 * `apt-get update`; ends with NULL, for strings_free().  Empty also if a suite that is not optional
 * is missing.
 */
char **suites_absent(const struct suites *suites, const char *output);

/* suites_names - "trixie, trixie-updates and trixie-security"; the caller frees it. */
char *suites_names(const struct suites *suites);

#endif /* POKEPATCH_CLI_SUITES_H */
