/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packages from apt.
 *
 * apt runs with the system's sources, keys, proxies and preferences, but keeps lists, caches and an
 * empty package status in a folder of ours.  So it neither reads which packages are installed nor
 * writes to the system, needs no root, and no dpkg --add-architecture for foreign architectures.
 * For suites that the system's sources lack, it has sources and preferences of ours in place of the
 * system's.
 * apt checks the signatures of its lists; we check packages against the lists.
 */
#ifndef POKEPATCH_CLI_APT_H
#define POKEPATCH_CLI_APT_H

#include "common/proc.h"
#include "common/util.h"
#include "pokepatch/suites.h"

/* Package sources other than the system's: suites of Debian, on the system's mirror. */
struct apt_suites {
	struct suites suites;
	struct debian_sources sources; /* those of the system */
};
void apt_suites_deinit(struct apt_suites *suites);

struct apt {
	char *arch;   /* Debian architecture of the kernel */
	char *native; /* Debian architecture of this machine */
	char *dir;    /* .../pokepatch/apt/ARCH, ARCH-SUITE, or ARCH-SUITE-source */
	char *config; /* a file for apt's -c, which apt reads after the system's */
	const struct apt_suites *suites; /* NULL: the system's package sources */
	const struct apt_packages *given; /* found by apt_show() and apt_names(); or NULL */
	int lock;     /* on dir; -1: none */
	bool updated; /* this run has tried to update the lists */
};

/* One version of a package, as apt's lists describe it. */
struct apt_package {
	char *name;
	char *version;
	char *architecture;
	char *depends;      /* the field's text; "": none */
	char *source;       /* the source package that it is built from; NULL: of the same name */
	char *file;         /* name of the .deb */
	char *sha256;       /* 64 hexadecimal digits, from the signed index */
	uint64_t size;      /* bytes of the .deb */
	uint64_t installed; /* approximate bytes once unpacked */
	char *uri;          /* set by apt_locate() and featureset_resolve() */
	char *given;        /* path of the user's file (given_packages.h), or NULL */
};
struct apt_packages {
	struct apt_package *list;
	size_t count, room;
};
void apt_package_deinit(struct apt_package *package);
/* apt_packages_add - add a copy of a package. */
void apt_packages_add(struct apt_packages *packages, const struct apt_package *from);
void apt_packages_deinit(struct apt_packages *packages);

/*
 * apt_open - make the folder and configuration for an architecture (NULL: this machine's), and lock
 * them against other runs until apt_close().
 * @suites: to use in place of the system's sources; must live until apt_close(); NULL: none.
 */
struct error *apt_open(const char *arch, const struct apt_suites *suites, struct apt *ret);
void apt_close(struct apt *apt);
/*
 * apt_unlock, apt_lock - release the lists during a download, and lock them again.  Lock order: a
 * kernel's cache_lock() before this one.
 */
void apt_unlock(struct apt *apt);
struct error *apt_lock(struct apt *apt);

/* apt_update - update the lists.  After an error the old lists can still be used. */
struct error *apt_update(struct apt *apt);
/* apt_is_stale - have the lists not been updated within the last day? */
bool apt_is_stale(const struct apt *apt);
/* apt_folder_is_stale - the same for a folder below .../pokepatch/apt. */
bool apt_folder_is_stale(const char *dir);

/* apt_sources - Debian's sources among apt's, as far as the lists are there. */
struct error *apt_sources(struct apt *apt, struct debian_sources *ret);
/*
 * apt_show - all versions of packages, in apt's order: newest first for each name.
 * @names: "name" or "name:arch", ends with NULL; unknown names are left out
 * Errors: also a given package that has other contents than the archive's of that version.
 */
struct error *apt_show(struct apt *apt, const char *const *names, struct apt_packages *ret);
/* apt_show_candidates - the same for the one version of each that apt would install. */
struct error *apt_show_candidates(struct apt *apt, const char *const *names,
				  struct apt_packages *ret);
/* apt_names - all package names that begin with prefix, ends with NULL; for strings_free(). */
struct error *apt_names(struct apt *apt, const char *prefix, char ***ret);
/*
 * apt_versions - the versions of a package, best first by apt's preference (priority, then
 * version).  Ends with NULL; empty if there is no such package; for strings_free().
 */
struct error *apt_versions(struct apt *apt, const char *name, char ***ret);

/* apt_locate - set the uri of each package that has none and is not given. */
struct error *apt_locate(struct apt *apt, struct apt_package *packages, size_t count);

/*
 * apt_download - download a located package to @path and compare its SHA-256 with the index.  Goes
 * on from a part that is there if the server supports it.  A file with other contents is removed.
 * The caller needs no lock.
 */
struct error *apt_download(const struct apt *apt, const struct apt_package *package,
			   const char *path);
/* apt_run - run a program of apt; the text of an error has one line, which is apt's reason. */
struct error *apt_run(const char *const *argv, const struct proc_options *options,
		      struct buffer *ret_out);
/* apt_sum - the size and SHA-256 of a file; false: it cannot be read, or is empty. */
bool apt_sum(const char *path, uint64_t *ret_size, char ret[65]);
/* apt_matches - does the file at @path have the size and SHA-256 of the package? */
bool apt_matches(const struct apt_package *package, const char *path);

/* apt_parse_show, apt_parse_policy - parse apt-cache's output; public for tests. */
void apt_parse_show(const char *text, struct apt_packages *ret);
char **apt_parse_policy(const char *text);

/* apt_native - Debian's name of this machine's architecture.  Owned by the caller. */
struct error *apt_native(char **ret);

#endif /* POKEPATCH_CLI_APT_H */
