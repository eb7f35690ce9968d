// SPDX-License-Identifier: GPL-2.0-or-later
/* Packages that the user brings; see given_packages.h. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/proc.h"
#include "pokepatch/given_packages.h"
#include "pokepatch/unpack.h"

void given_packages_deinit(struct given_packages *given)
{
	apt_packages_deinit(&given->packages);
	*given = (struct given_packages){0};
}

/* ---- reading ----------------------------------------------------------------- */

/*
 * The name that the archive gives a package's file (deb(7)): the version without its epoch.  For
 * free().
 */
static char *file_name(const struct apt_package *package)
{
	const char *epoch = strchr(package->version, ':');

	return xasprintf("%s_%s_%s.deb", package->name, epoch ? epoch + 1 : package->version,
			 package->architecture);
}

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* Add what apt would say of the file, were it in an archive. */
static struct error *read_deb(const char *path, struct apt_packages *ret)
{
	const char *const argv[] = {"dpkg-deb", "-f",      path,           "Package",
				    "Version",  "Architecture", "Depends", "Installed-Size",
				    NULL};
	struct apt_packages packages;
	struct buffer text = {0};
	struct error *error;
	uint64_t size;
	char sum[65];

	if (access(path, R_OK) < 0)
		return error_errno("cannot read '%s'", path);
	if (!is_file(path) || !deb_is_whole(path) || !apt_sum(path, &size, sum))
		return error_new(STATUS_FAILED, "'%s' is not a Debian package, or is cut off", path);
	error = proc_check(argv, NULL, &text);
	if (error) { /* what dpkg-deb and its programs say of that are many lines */
		error_destroy(error);
		return error_new(STATUS_FAILED, "cannot read '%s': it is damaged", path);
	}
	buffer_printf(&text, "Filename: x\nSize: %llu\nSHA256: %s\n", (unsigned long long)size, sum);
	apt_parse_show(text.text, &packages);
	buffer_deinit(&text);
	if (packages.count != 1 || strchr(packages.list[0].name, '/') ||
	    strchr(packages.list[0].version, '/')) {
		apt_packages_deinit(&packages);
		return error_new(STATUS_FAILED,
				 "'%s' does not say which package of which version it is", path);
	}
	free(packages.list[0].file);
	packages.list[0].file = file_name(&packages.list[0]);
	packages.list[0].given = realpath(path, NULL) ?: xstrdup(path);
	apt_packages_add(ret, &packages.list[0]);
	apt_packages_deinit(&packages);
	return NULL;
}

/* Add Linux's packages in a folder, such as apt's /var/cache/apt/archives. */
static struct error *read_folder(const char *folder, struct apt_packages *ret)
{
	size_t before = ret->count;
	struct error *error = NULL;
	DIR *list = opendir(folder);

	if (!list)
		return error_errno("cannot read '%s'", folder);
	for (struct dirent *entry; !error && (entry = readdir(list));) {
		_free_ char *path = xasprintf("%s/%s", folder, entry->d_name);

		if (has_prefix(entry->d_name, "linux-") && has_suffix(entry->d_name, ".deb"))
			error = read_deb(path, ret);
	}
	closedir(list);
	if (!error && ret->count == before)
		error = error_new(STATUS_FAILED, "'%s' has no files 'linux-*.deb'", folder);
	return error;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

struct error *given_packages_read(const char *const *paths, size_t count,
				  struct given_packages *ret)
{
	struct given_packages given = {0};
	struct error *error = NULL;

	for (size_t i = 0; !error && i < count; i++) {
		if (!is_folder(paths[i]))
			error = read_deb(paths[i], &given.packages);
	}
	given.named = given.packages.count;
	for (size_t i = 0; !error && i < count; i++) {
		if (is_folder(paths[i]))
			error = read_folder(paths[i], &given.packages);
	}
	if (error)
		given_packages_deinit(&given);
	*ret = given;
	return error;
}

/* ---- which release ------------------------------------------------------------- */

/* Names that have a release behind the prefix. */
static const char *const release_prefixes[] = {"linux-image-", "linux-headers-", "linux-base-",
					       "linux-binary-", "linux-modules-"};
/* What may follow it; the release of a name with one of the others is not a whole one. */
static const struct {
	const char *suffix;
	bool release;
} release_suffixes[] = {
	{"-dbg", true}, {"-common", false}, {"-common-rt", false}, {"-unsigned", false}, {"", true},
};

/* The release in a package's name, for free(); NULL: it has none. */
static char *release_of(const char *name)
{
	const char *release = NULL;

	for (size_t i = 0; !release && i < ARRAY_SIZE(release_prefixes); i++) {
		if (has_prefix(name, release_prefixes[i]))
			release = name + strlen(release_prefixes[i]);
	}
	if (!release || *release < '0' || *release > '9')
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(release_suffixes); i++) {
		if (has_suffix(release, release_suffixes[i].suffix))
			return release_suffixes[i].release
				       ? xstrndup(release,
						  strlen(release) -
							  strlen(release_suffixes[i].suffix))
				       : NULL;
	}
	return NULL;
}

struct error *given_packages_release(const struct given_packages *given, char **ret)
{
	_free_ char *found = NULL;

	for (size_t i = 0; i < given->packages.count; i++) {
		_free_ char *release = release_of(given->packages.list[i].name);

		if (!release || (found && !strcmp(found, release)))
			continue;
		if (found)
			return error_new(STATUS_FAILED,
					 "these are packages of '%s' and of '%s': name the release to "
					 "fetch as well",
					 found, release);
		found = take_pointer(release);
	}
	if (!found)
		return error_new(STATUS_FAILED,
				 "none of these packages has a release in its name, as "
				 "linux-image-6.1.0-50-amd64 has: name the release to fetch as well");
	*ret = take_pointer(found);
	return NULL;
}

struct error *given_packages_check(const struct given_packages *given, const char *release,
				   const struct apt_packages *packages)
{
	for (size_t i = 0; i < given->named; i++) {
		const struct apt_package *one = &given->packages.list[i];
		bool used = false;

		for (size_t j = 0; j < packages->count && !used; j++)
			used = packages->list[j].given &&
			       !strcmp(packages->list[j].given, one->given);
		if (!used)
			return error_new(STATUS_FAILED,
					 "'%s' (%s %s %s) does not belong to '%s' of version %s",
					 one->given, one->name, one->version, one->architecture,
					 release, packages->list[0].version);
	}
	return NULL;
}

const struct apt_package *given_packages_find(const struct apt_packages *given, const char *name)
{
	for (size_t i = 0; given && i < given->count; i++) {
		if (!strcmp(given->list[i].name, name))
			return &given->list[i];
	}
	return NULL;
}
