/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packages by way of apt: the system's own sources, keys, proxies and
 * preferences, but lists, caches and (empty) package status in a folder of
 * ours, so that nothing on the system is read as installed or written, no
 * root is needed, and foreign architectures need no dpkg --add-architecture.
 * Signatures are apt's to check; what it verified is what its lists say.
 */
#ifndef POKEPATCH_CLI_APT_H
#define POKEPATCH_CLI_APT_H

#include "common/util.h"

struct apt {
	char *arch;   /* Debian architecture of the kernel */
	char *native; /* of this machine: its programs can run here */
	char *dir;    /* .../pokepatch/apt/ARCH */
	char *config; /* for apt's -c, read after the system's */
	int lock;     /* on dir; -1: none */
	bool updated; /* the lists were updated in this run */
};

/* One version of a package, as apt's lists describe it. */
struct apt_package {
	char *name;
	char *version;
	char *architecture;
	char *depends;      /* the field's text, "" if there is none */
	char *file;         /* name of the .deb */
	char *sha256;       /* 64 hexadecimal digits, from the signed index */
	uint64_t size;      /* bytes of the .deb */
	uint64_t installed; /* bytes once unpacked, about */
	char *uri;          /* filled in by apt_locate() */
};
struct apt_packages {
	struct apt_package *list;
	size_t count, room;
};
void apt_package_deinit(struct apt_package *package);
void apt_packages_deinit(struct apt_packages *packages);

/*
 * apt_open - make the folder and configuration for one architecture (NULL:
 * this machine's) and lock them against other runs until apt_close().
 */
struct error *apt_open(const char *arch, struct apt *ret);
void apt_close(struct apt *apt);
/*
 * apt_unlock, apt_lock - let others at the lists during a download, and take
 * them back.  Whoever takes a kernel's lock as well takes that one first.
 */
void apt_unlock(struct apt *apt);
struct error *apt_lock(struct apt *apt);

/* apt_update - bring the lists up to date.  Old lists stay usable when it fails. */
struct error *apt_update(struct apt *apt);
/* apt_is_stale - were the lists never updated, or not within a day? */
bool apt_is_stale(const struct apt *apt);

/*
 * apt_show - all versions of the named packages ("name" or "name:arch"), in
 * apt's order, newest first for each name; names that there are not are left
 * out.  names ends with NULL.
 */
struct error *apt_show(struct apt *apt, const char *const *names, struct apt_packages *ret);
/* apt_names - all package names that begin with prefix: a NULL-terminated array of the caller's. */
struct error *apt_names(struct apt *apt, const char *prefix, char ***ret);
/*
 * apt_versions - the versions of a package by the preference that apt gives
 * them (priority, then version), best first; a NULL-terminated array of the
 * caller's, empty if there is no such package.
 */
struct error *apt_versions(struct apt *apt, const char *name, char ***ret);
void strings_destroy(char **strings);

/* apt_locate - fill in where each package can be downloaded from. */
struct error *apt_locate(struct apt *apt, struct apt_package *packages, size_t count);

/*
 * apt_download - get one located package to path, going on with what is there
 * if the server can; then compare its SHA-256.  No lock is needed.  A file
 * with other contents than the index says is removed.
 */
struct error *apt_download(const struct apt *apt, const struct apt_package *package,
			   const char *path);
/* apt_matches - is path the package's .deb, by size and SHA-256? */
bool apt_matches(const struct apt_package *package, const char *path);

/* apt_parse_show, apt_parse_policy - the parsers of apt-cache's output, for tests. */
void apt_parse_show(const char *text, struct apt_packages *ret);
char **apt_parse_policy(const char *text);

/* apt_native - Debian's name of this machine's architecture; the caller's. */
struct error *apt_native(char **ret);

#endif /* POKEPATCH_CLI_APT_H */
