// SPDX-License-Identifier: GPL-2.0-or-later
/* The packages of a kernel release; see kernel_packages.h. */
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/proc.h"
#include "pokepatch/compiler_packages.h"
#include "pokepatch/given_packages.h"
#include "pokepatch/kernel_packages.h"

#define KBUILD_PREFIX "linux-kbuild-"

const char *const kernel_part_names[PART_COUNT] = {
	[PART_IMAGE] = "image",
	[PART_DBG] = "dbg",
	[PART_HEADERS] = "headers",
	[PART_SOURCE] = "source",
	[PART_PATCHES] = "patches",
	[PART_COMPILER] = "compiler",
};

/* The first row that matches a name counts. */
static const struct {
	const char *prefix, *suffix;
	enum kernel_part part;
} package_parts[] = {
	{"linux-image-", "-dbg", PART_DBG},   {"linux-image-", "", PART_IMAGE},
	{"linux-base-", "", PART_IMAGE},      {"linux-binary-", "", PART_IMAGE},
	{"linux-modules-", "", PART_IMAGE},
	{"linux-headers-", "", PART_HEADERS}, {KBUILD_PREFIX, "", PART_HEADERS},
	{"linux-source-", "", PART_SOURCE},   {"src:", "", PART_PATCHES},
	{"cpp-", "", PART_COMPILER},          {"lib", "", PART_COMPILER},
	{"zlib", "", PART_COMPILER},          {"gcc-", "", PART_COMPILER},
	{"binutils", "", PART_COMPILER},
};

enum kernel_part kernel_part_of(const char *package)
{
	for (size_t i = 0; i < ARRAY_SIZE(package_parts); i++) {
		if (has_prefix(package, package_parts[i].prefix) &&
		    has_suffix(package, package_parts[i].suffix))
			return package_parts[i].part;
	}
	return PART_COUNT;
}

/*
 * The words in Debian's flavour names from which the architecture follows (debian/config/ARCH/ of
 * its linux source).
 */
static const struct {
	const char *word, *arch;
} flavour_words[] = {
	{"amd64", "amd64"},       {"arm64", "arm64"},         {"armmp", "armhf"},
	{"686", "i386"},          {"powerpc64le", "ppc64el"}, {"s390x", "s390x"},
	{"riscv64", "riscv64"},   {"loong64", "loong64"},     {"mips64r2el", "mips64el"},
	{"loongson", "mips64el"}, {"octeon", "mips64el"},
};

const char *kernel_arch(const char *name)
{
	for (size_t length; *name; name += length, name += *name == '-') {
		length = strcspn(name, "-");
		for (size_t i = 0; i < ARRAY_SIZE(flavour_words); i++) {
			if (strlen(flavour_words[i].word) == length &&
			    memcmp(name, flavour_words[i].word, length) == 0)
				return flavour_words[i].arch;
		}
	}
	return NULL;
}

bool kernel_is_foreign(const char *name)
{
	const char *arch = kernel_arch(name);
	char *native = NULL;
	struct error *error = arch ? apt_native(&native) : NULL;
	bool foreign = native && strcmp(arch, native);

	error_destroy(error);
	free(native);
	return foreign;
}

bool kernel_has_flavour(const char *release, const char *flavour)
{
	_free_ char *suffix = xasprintf("-%s", flavour);
	const char *end, *last;

	if (!has_suffix(release, suffix))
		return false;
	/* "6.1.0-9-cloud-amd64" is not "amd64": the rest must end in the ABI's number. */
	end = release + strlen(release) - strlen(suffix);
	last = end;
	while (last > release && last[-1] != '-')
		last--;
	return last < end && *last >= '0' && *last <= '9';
}

const char *kernel_flavour(const char *release)
{
	for (const char *dash = strchr(release, '-'); dash; dash = strchr(dash + 1, '-')) {
		bool is_number = dash[1 + strspn(dash + 1, "0123456789")] == '-';

		if (!is_number && kernel_has_flavour(release, dash + 1))
			return dash + 1;
	}
	return NULL;
}

/* The length of "6.1." in "6.1.0-56-cloud-amd64"; 0: the release has another form. */
static size_t line_length(const char *release)
{
	const char *dot = strchr(release, '.');

	dot = dot ? strchr(dot + 1, '.') : NULL;
	return dot ? (size_t)(dot + 1 - release) : 0;
}

bool kernel_is_of(const char *release, const char *name)
{
	size_t series = *name >= '0' && *name <= '9' ? strcspn(name, "-") : 0;
	const char *flavour = series && name[series] ? name + series + 1 : name;

	if (!kernel_has_flavour(release, flavour))
		return false;
	return !series || (!strncmp(release, name, series) && strchr(".+-", release[series]));
}

bool kernel_replaces(const char *newer, const char *older)
{
	const char *flavour = kernel_flavour(older);
	size_t line = line_length(older);

	/* strverscmp(3): 6.1.0-10 after 6.1.0-9. */
	return flavour && line && !strncmp(newer, older, line) &&
	       kernel_has_flavour(newer, flavour) && strverscmp(newer, older) > 0;
}

static const struct apt_package *find_version(const struct apt_packages *packages, const char *name,
					      const char *version)
{
	for (size_t i = 0; i < packages->count; i++) {
		const struct apt_package *p = &packages->list[i];

		if (strcmp(p->name, name) == 0 && (!version || strcmp(p->version, version) == 0))
			return p;
	}
	return NULL;
}

/* The name of the first dependency (Debian Policy 7.1) with that prefix and suffix, or NULL. */
static char *find_dependency(const char *depends, const char *prefix, const char *suffix)
{
	static const char separators[] = " ,|([:";

	while (*depends) {
		_free_ char *name = NULL;

		depends += strspn(depends, " ,|");
		name = xstrndup(depends, strcspn(depends, separators));
		if (has_prefix(name, prefix) && has_suffix(name, suffix))
			return take_pointer(name);
		depends += strcspn(depends, ",|");
	}
	return NULL;
}

/* All versions of all linux-source packages: only the version says which belongs to a release. */
static struct error *show_sources(struct apt *apt, struct apt_packages *ret)
{
	char **names;
	struct error *error;

	TRY(apt_names(apt, "linux-source-", &names));
	if (!names[0]) {
		*ret = (struct apt_packages){0};
		error = NULL;
	} else {
		error = apt_show(apt, (const char *const *)names, ret);
	}
	strings_free(names);
	return error;
}

/* The packages from which every version is resolved. */
struct candidates {
	struct apt_packages kernel; /* image, dbg, headers */
	struct apt_packages sources;
};

static void candidates_deinit(struct candidates *candidates)
{
	apt_packages_deinit(&candidates->kernel);
	apt_packages_deinit(&candidates->sources);
}

/* Where packages are looked for, as the subject of a message. */
static const char *searched(const struct apt *apt)
{
	return apt->given && apt->given->count ? "neither the given packages nor the package sources have"
					       : "the package sources have no";
}

/* Note that a package of the version is missing; a given one of another version is named. */
static void add_missing(const struct apt *apt, const char *name, struct buffer *missing)
{
	const struct apt_package *other = given_packages_find(apt->given, name);

	buffer_printf(missing, "%s'%s'", missing->length ? ", " : "", name);
	if (other)
		buffer_printf(missing, " ('%s' is of version %s)", other->given, other->version);
}

static struct error *missing_error(const struct apt *apt, const char *release,
				   const struct buffer *missing, const char *version)
{
	return error_new(STATUS_FAILED, "'%s' cannot be fetched: %s %s of version %s", release,
			 searched(apt), missing->text, version);
}

/* The linux-source package with the kernel's version. */
static const struct apt_package *find_source(const struct apt_packages *sources,
					     const char *version)
{
	for (size_t i = 0; i < sources->count; i++) {
		if (strcmp(sources->list[i].version, version) == 0)
			return &sources->list[i];
	}
	return NULL;
}

bool kernel_wraps_kbuild(const struct apt_packages *packages)
{
	for (size_t i = 0; i < packages->count; i++) {
		if (has_prefix(packages->list[i].name, "libelf1"))
			return true;
	}
	return false;
}

bool kernel_lacks_kbuild(const struct apt_packages *packages)
{
	bool headers = false;

	for (size_t i = 0; i < packages->count; i++) {
		if (has_prefix(packages->list[i].name, KBUILD_PREFIX))
			return false;
		headers |= kernel_part_of(packages->list[i].name) == PART_HEADERS;
	}
	return headers;
}

/*
 * Add the two packages that the headers need.  kbuild has programs that run on this machine
 * (modpost, objtool), so it must be of this machine's architecture.  The name of 6.1's kbuild is
 * the same for all versions, so the archive has its newest one alone; leave it out if it is of
 * another version than the headers.
 */
static struct error *resolve_headers(struct apt *apt, const struct apt_package *headers,
				     struct apt_packages *ret, struct buffer *missing)
{
	_free_ char *common = find_dependency(headers->depends, "linux-headers-", "-common")
				      ?: find_dependency(headers->depends, "linux-headers-",
							 "-common-rt"); /* of rt flavours */
	_free_ char *kbuild = find_dependency(headers->depends, KBUILD_PREFIX, "");
	_free_ char *native_kbuild = NULL;
	const char *names[3] = {0};
	struct apt_packages found;

	if (!common || !kbuild) /* Debian's do; scripts/package/mkdebian writes no dependency */
		return error_new(STATUS_FAILED,
				 "'%s' is not Debian's, but made by 'make bindeb-pkg' perhaps, "
				 "which makes no package of the source; give 'pokepatch-build "
				 "--kbuild' the folder in which that kernel was built",
				 headers->name);
	native_kbuild = xasprintf("%s:%s", kbuild, apt->native);
	names[0] = common;
	names[1] = native_kbuild;
	TRY(apt_show(apt, names, &found));
	names[1] = kbuild;
	for (size_t i = 0; i < 2; i++) {
		const struct apt_package *p = find_version(&found, names[i], headers->version);

		if (p)
			apt_packages_add(ret, p);
		else if (names[i] != kbuild)
			add_missing(apt, names[i], missing);
	}
	apt_packages_deinit(&found);
	return NULL;
}

/*
 * From Linux 7.2 on, Debian's image is three packages, on which linux-image-R depends: the
 * configuration, the boot image, and the modules.
 */
static const char *const image_parts[] = {"linux-base-", "linux-binary-", "linux-modules-"};

/* Add the packages that the image is split into, if it is. */
static struct error *resolve_image(struct apt *apt, const char *release,
				   const struct apt_package *image, struct apt_packages *ret,
				   struct buffer *missing)
{
	for (size_t i = 0; i < ARRAY_SIZE(image_parts); i++) {
		_free_ char *name = find_dependency(image->depends, image_parts[i], release);
		_free_ char *query = name ? xasprintf("%s:%s", name, apt->arch) : NULL;
		const char *const queries[] = {query, NULL};
		const struct apt_package *p;
		struct apt_packages found;

		if (!name)
			continue;
		TRY(apt_show(apt, queries, &found));
		p = find_version(&found, name, image->version);
		if (p)
			apt_packages_add(ret, p);
		else
			add_missing(apt, name, missing);
		apt_packages_deinit(&found);
	}
	return NULL;
}

static const struct apt_package *find_kbuild(const struct apt_packages *packages)
{
	for (size_t i = 0; i < packages->count; i++) {
		if (has_prefix(packages->list[i].name, KBUILD_PREFIX))
			return &packages->list[i];
	}
	return NULL;
}

/* resolve_version() without the compiler; names what is missing. */
static struct error *find_all(struct apt *apt, const char *release,
			      const struct candidates *candidates, const struct apt_package *image,
			      struct apt_packages *ret, struct buffer *missing)
{
	_free_ char *dbg_name = xasprintf("linux-image-%s-dbg", release);
	_free_ char *headers_name = xasprintf("linux-headers-%s", release);
	const char *version = image->version;
	const struct apt_package *headers =
		find_version(&candidates->kernel, headers_name, version);
	const struct {
		const char *name;
		const struct apt_package *package;
	} needed[] = {
		{dbg_name, find_version(&candidates->kernel, dbg_name, version)},
		{headers_name, headers},
		{"linux-source", find_source(&candidates->sources, version)},
	};

	apt_packages_add(ret, image);
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (needed[i].package)
			apt_packages_add(ret, needed[i].package);
		else
			add_missing(apt, needed[i].name, missing);
	}
	TRY(resolve_image(apt, release, image, ret, missing));
	return headers ? resolve_headers(apt, headers, ret, missing) : NULL;
}

/* Resolve one version of the kernel. */
static struct error *resolve_version(struct apt *apt, const char *release,
				     const struct candidates *candidates,
				     const struct apt_package *image, struct apt_packages *ret)
{
	_free_ char *headers_name = xasprintf("linux-headers-%s", release);
	struct buffer missing = {0};
	struct error *error;

	*ret = (struct apt_packages){0};
	error = find_all(apt, release, candidates, image, ret, &missing);
	if (!error && missing.length)
		error = missing_error(apt, release, &missing, image->version);
	if (!error)
		error = compiler_resolve(apt,
					 find_version(&candidates->kernel, headers_name,
						      image->version),
					 find_kbuild(ret), ret);
	if (error)
		apt_packages_deinit(ret);
	buffer_deinit(&missing);
	return error;
}

struct error *kernel_resolve(struct apt *apt, const char *release, struct apt_packages *ret)
{
	_free_ char *image = xasprintf("linux-image-%s", release);
	_free_ char *image_query = xasprintf("%s:%s", image, apt->arch);
	_free_ char *dbg_query = xasprintf("%s-dbg:%s", image, apt->arch);
	_free_ char *headers_query = xasprintf("linux-headers-%s:%s", release, apt->arch);
	const char *const queries[] = {image_query, dbg_query, headers_query, NULL};
	struct candidates candidates = {0};
	struct error *error, *first = NULL;
	bool found = false;

	error = apt_show(apt, queries, &candidates.kernel);
	if (!error)
		error = show_sources(apt, &candidates.sources);
	/* apt shows the newest version first.  If none is complete, report what that one lacks. */
	for (size_t i = 0; !error && !found && i < candidates.kernel.count; i++) {
		const struct apt_package *p = &candidates.kernel.list[i];
		struct error *why;

		if (strcmp(p->name, image) != 0)
			continue;
		why = resolve_version(apt, release, &candidates, p, ret);
		found = !why;
		if (first)
			error_destroy(why);
		else
			first = why;
	}
	if (!error && !found)
		error = first ? first
			      : error_new(STATUS_FAILED,
					  "'%s' cannot be fetched: %s '%s'; 'pokepatch fetch "
					  "--latest FLAVOUR' finds the newest release that "
					  "there is; add --suite SUITE to look in another "
					  "suite, or give packages with --deb",
					  release, searched(apt), image);
	else
		error_destroy(first);
	candidates_deinit(&candidates);
	return error;
}

/* The release on which a version of the metapackage depends, owned; or NULL. */
static char *release_of_meta(const struct apt_packages *metas, const char *name,
			     const char *version)
{
	const struct apt_package *meta = find_version(metas, name, version);
	_free_ char *image = NULL;

	if (!meta)
		return NULL;
	image = find_dependency(meta->depends, "linux-image-", "");
	return image ? xstrdup(image + strlen("linux-image-")) : NULL;
}

struct error *kernel_resolve_latest(struct apt *apt, const char *flavour, char **ret_release,
				    struct apt_packages *ret)
{
	_free_ char *name = xasprintf("linux-image-%s", flavour);
	_free_ char *query = xasprintf("%s:%s", name, apt->arch);
	struct error *error, *first = NULL;
	struct apt_packages metas = {0};
	char **versions = NULL;

	*ret_release = NULL;
	error = apt_versions(apt, query, &versions);
	if (!error)
		error = apt_show(apt, (const char *const[]){query, NULL}, &metas);
	for (size_t i = 0; !error && !*ret_release && versions[i]; i++) {
		_free_ char *release = release_of_meta(&metas, name, versions[i]);
		struct error *why;

		if (!release)
			continue;
		why = kernel_resolve(apt, release, ret);
		if (!why)
			*ret_release = take_pointer(release);
		if (first)
			error_destroy(why);
		else
			first = why;
	}
	if (!error && !*ret_release)
		error = first ? first
			      : error_new(STATUS_FAILED,
					  "the package sources have no kernel of flavour '%s' "
					  "(no package '%s')",
					  flavour, name);
	else
		error_destroy(first);
	strings_free(versions);
	apt_packages_deinit(&metas);
	return error;
}

/* strverscmp(3): 6.1.0-10 after 6.1.0-9. */
static int compare_newest_first(const void *one, const void *other)
{
	return strverscmp(*(const char *const *)other, *(const char *const *)one);
}

/* The releases of apt's linux-image packages, newest first, ends with NULL; for strings_free(). */
static struct error *image_releases(struct apt *apt, const char *name, char ***ret)
{
	static const char prefix[] = "linux-image-";
	VEC(char *) releases = {0};
	char **packages;

	TRY(apt_names(apt, prefix, &packages));
	for (char **package = packages; *package; package++) {
		const char *release = *package + strlen(prefix);

		if (*release >= '0' && *release <= '9' && kernel_is_of(release, name))
			*vec_push(&releases) = xstrdup(release);
	}
	strings_free(packages);
	if (releases.count)
		qsort(releases.list, releases.count, sizeof(*releases.list), compare_newest_first);
	vec_push(&releases);
	*ret = releases.list;
	return NULL;
}

struct error *kernel_list(struct apt *apt, const char *name, struct buffer *ret)
{
	struct error *error;
	char **releases;

	*ret = (struct buffer){0};
	TRY(image_releases(apt, name, &releases));
	error = proc_check_interrupted();
	for (char **release = releases; !error && *release; release++) {
		struct apt_packages packages = {0};
		struct error *why = kernel_resolve(apt, *release, &packages);

		/* A metapackage ("linux-image-6.12-amd64") cannot be resolved either. */
		if (!why)
			buffer_printf(ret, "%s\n", *release);
		error_destroy(why);
		apt_packages_deinit(&packages);
		error = proc_check_interrupted();
	}
	strings_free(releases);
	if (!error && !ret->length)
		error = error_new(STATUS_FAILED,
				  "the package sources have no kernel '%s' with all its packages",
				  name);
	if (error)
		buffer_deinit(ret);
	return error;
}
