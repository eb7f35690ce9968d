// SPDX-License-Identifier: GPL-2.0-or-later
/* The patches of a flavour's featureset; see featureset.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "pokepatch/featureset.h"
#include "pokepatch/kernel_packages.h"
#include "pokepatch/progress.h"

/* debian/config/defines of Debian's linux source: the beginnings of flavours' names. */
static const struct {
	const char *prefix, *featureset;
} flavours[] = {
	{"rt-", "rt"},
};

const char *featureset_of(const char *release)
{
	const char *flavour = kernel_flavour(release);

	for (size_t i = 0; flavour && i < ARRAY_SIZE(flavours); i++) {
		if (has_prefix(flavour, flavours[i].prefix))
			return flavours[i].featureset;
	}
	return NULL;
}

/* The part of a source package that has the folder debian/ (dpkg-source(1), format 3.0). */
#define PACKAGING_ENDING ".debian.tar.xz"
/* Measured with linux 6.1 and 6.12: patches and packaging shrink to less than a sixth. */
#define PACKAGING_UNPACKED 6

/* Fill the package from a line of --print-uris: 'URI' FILE SIZE SHA256:DIGITS. */
static bool read_line(const char *line, struct apt_package *package)
{
	char uri[2048], file[256], digits[65];
	unsigned long long size;

	if (sscanf(line, "'%2047[^']' %255s %llu SHA256:%64[0-9a-f]", uri, file, &size, digits) != 4 ||
	    !has_suffix(file, PACKAGING_ENDING) || strchr(file, '/') || file[0] == '.')
		return false;
	package->uri = xstrdup(uri);
	package->file = xstrdup(file);
	package->sha256 = xstrdup(digits);
	package->size = size;
	package->installed = size * PACKAGING_UNPACKED;
	return true;
}

static struct error *find_packaging(struct apt *apt, const char *name, const char *version,
				    struct apt_packages *ret)
{
	_free_ char *wanted = xasprintf("%s=%s", name, version);
	const char *const argv[] = {"apt-get", "-c", apt->config, "-qq", "-o",
				    "Acquire::ForceHash=SHA256", "--only-source", "--diff-only",
				    "--print-uris", "source", wanted, NULL};
	/* apt leaves out files that the current folder has. */
	const struct proc_options options = {.dir = apt->dir, .keep_stderr_apart = true};
	struct apt_package package = {0};
	struct buffer out;
	bool found = false;

	TRY(apt_run(argv, &options, &out));
	for (const char *line = out.text; line && *line && !found;
	     line += strcspn(line, "\n"), line += *line == '\n')
		found = read_line(line, &package);
	buffer_deinit(&out);
	if (!found)
		return error_new(STATUS_FAILED,
				 "the source package '%s' %s has no file *" PACKAGING_ENDING, name,
				 version);
	package.name = xasprintf("src:%s", name);
	package.version = xstrdup(version);
	package.architecture = xstrdup("all");
	package.depends = xstrdup("");
	*vec_push(ret) = package;
	return NULL;
}

/* The linux-source package, which says from which source package the kernel is built. */
static const struct apt_package *find_source(const struct apt_packages *packages)
{
	for (size_t i = 0; i < packages->count; i++) {
		if (kernel_part_of(packages->list[i].name) == PART_SOURCE)
			return &packages->list[i];
	}
	return NULL;
}

/* Ask for the source package, with lists of source packages that are not older than a day. */
static struct error *ask(struct apt *apt, const struct apt_package *source,
			 struct apt_packages *packages)
{
	/* A package of the same name as its source package has no field Source. */
	const char *name = source->source ?: source->name;
	struct error *error;

	if (apt_is_stale(apt))
		TRY(apt_update(apt));
	error = find_packaging(apt, name, source->version, packages);
	if (!error || apt->updated || proc_interrupted())
		return error;
	error_destroy(error);
	TRY(apt_update(apt));
	return find_packaging(apt, name, source->version, packages);
}

struct error *featureset_resolve(struct apt *apt, const char *release, const char *suite,
				 struct apt_packages *packages)
{
	const struct apt_package *source = find_source(packages);
	struct apt_suites suites = {0};
	struct apt other = {.lock = -1};
	struct error *error;

	if (!source || !suite)
		return error_new(STATUS_FAILED, "from which source package '%s' was built is not known",
				 release);
	TRY(suites_describe(suite, &suites.suites));
	suites.suites.source = true;
	error = apt_sources(apt, &suites.sources);
	if (!error)
		error = apt_open(apt->arch, &suites, &other);
	if (!error) {
		error = ask(&other, source, packages);
		apt_close(&other);
	}
	apt_suites_deinit(&suites);
	return error;
}

void featureset_note_missing(const char *release, const struct error *why)
{
	progress_note("the %s patches of '%s' cannot be had: %s; only functions that they leave alone "
		      "can be patched, unless pokepatch-build gets the patched source (--source)",
		      featureset_of(release), release, why->text);
}
