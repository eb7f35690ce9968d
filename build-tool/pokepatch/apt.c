// SPDX-License-Identifier: GPL-2.0-or-later
/* Packages from apt; see apt.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/args.h"
#include "pokepatch/apt.h"
#include "common/cache.h"
#include "common/proc.h"
#include "pokepatch/progress.h"

#define LISTS_MAX_AGE (24 * 60 * 60) /* seconds */
#define APT_HELPER "/usr/lib/apt/apt-helper"

/* We parse messages, so they must not be translated. */
static const char *const c_locale[] = {"LC_ALL=C", NULL};

/*
 * apt reads this after the system's configuration (apt.conf(5)).  The system's hooks are cleared:
 * they tell other programs of changes to the system's lists, and we change only ours.  As root, apt
 * would download as the user _apt, which cannot enter a home folder; it would fall back to root
 * with a warning.
 */
static const char apt_conf[] = "#clear APT::Update::Pre-Invoke;\n"
			       "#clear APT::Update::Post-Invoke;\n"
			       "#clear APT::Update::Post-Invoke-Success;\n"
			       "#clear Acquire::IndexTargets::deb::DEP-11;\n"
			       "#clear Acquire::IndexTargets::deb::Contents-deb;\n"
			       "#clear APT::Architectures;\n"
			       "#clear Acquire::Languages;\n"
			       "Acquire::Languages { \"none\"; };\n"
			       "APT::Update::Error-Mode \"any\";\n"
			       "APT::Sandbox::User \"root\";\n"
			       "Dir::Cache::pkgcache \"pkgcache.bin\";\n"
			       "Dir::Cache::srcpkgcache \"srcpkgcache.bin\";\n";

/* Lists of source packages are large, and needed for few kernels. */
static const char binary_conf[] = "#clear Acquire::IndexTargets::deb-src;\n";

/*
 * For other suites.  The system's preferences and default release are about its own sources, and
 * could forbid these.
 */
static const char suites_conf[] = "#clear APT::Default-Release;\n"
				  "Dir::Etc::sourcelist \"%s/suites.sources\";\n"
				  "Dir::Etc::sourceparts \"/dev/null\";\n"
				  "Dir::Etc::preferences \"%s/preferences\";\n"
				  "Dir::Etc::preferencesparts \"/dev/null\";\n";

void apt_suites_deinit(struct apt_suites *suites)
{
	suites_deinit(&suites->suites);
	debian_sources_deinit(&suites->sources);
}

void apt_package_deinit(struct apt_package *package)
{
	free(package->name);
	free(package->version);
	free(package->architecture);
	free(package->depends);
	free(package->source);
	free(package->file);
	free(package->sha256);
	free(package->uri);
	free(package->given);
	*package = (struct apt_package){0};
}

void apt_packages_deinit(struct apt_packages *packages)
{
	for (size_t i = 0; i < packages->count; i++)
		apt_package_deinit(&packages->list[i]);
	vec_deinit(packages);
}

void apt_packages_add(struct apt_packages *packages, const struct apt_package *from)
{
	struct apt_package *to = vec_push(packages);

	*to = *from;
	to->name = xstrdup(from->name);
	to->version = xstrdup(from->version);
	to->architecture = xstrdup(from->architecture);
	to->depends = xstrdup(from->depends);
	to->source = from->source ? xstrdup(from->source) : NULL;
	to->file = xstrdup(from->file);
	to->sha256 = xstrdup(from->sha256);
	to->uri = from->uri ? xstrdup(from->uri) : NULL;
	to->given = from->given ? xstrdup(from->given) : NULL;
}

/* ---- the folder ------------------------------------------------------------- */

static struct error *write_config(struct apt *apt)
{
	struct buffer text = {0};
	struct error *error;

	if (strpbrk(apt->dir, "\"\n")) {
		_free_ char *name = one_line(xstrdup(apt->dir));

		return error_new(STATUS_FAILED,
				 "apt cannot use the folder '%s'; set XDG_CACHE_HOME to one "
				 "without quotes and line ends in its name",
				 name);
	}
	buffer_add_string(&text, apt_conf);
	if (!apt->suites || !apt->suites->suites.source)
		buffer_add_string(&text, binary_conf);
	buffer_printf(&text, "Dir::State \"%s/state\";\n", apt->dir);
	buffer_printf(&text, "Dir::State::status \"%s/state/status\";\n", apt->dir);
	buffer_printf(&text, "Dir::Cache \"%s/cache\";\n", apt->dir);
	buffer_printf(&text, "APT::Architecture \"%s\";\n", apt->native);
	buffer_printf(&text, "APT::Architectures { \"%s\"; \"%s\"; };\n", apt->native, apt->arch);
	if (apt->suites)
		buffer_printf(&text, suites_conf, apt->dir, apt->dir);
	error = file_write(apt->config, text.text, text.length);
	buffer_deinit(&text);
	return error;
}

static struct error *make_folders(struct apt *apt)
{
	static const char *const folders[] = {"state/lists/partial", "cache/archives/partial"};
	_free_ char *status = xasprintf("%s/state/status", apt->dir);

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		_free_ char *path = xasprintf("%s/%s", apt->dir, folders[i]);

		TRY(make_dirs(path));
	}
	return file_write(status, "", 0);
}

/* Write the sources of other suites, but for those that the mirror lacks. */
static struct error *write_sources(const struct apt *apt, char *const *absent)
{
	const struct apt_suites *from = apt->suites;
	_free_ char *path = xasprintf("%s/suites.sources", apt->dir);
	_free_ char *text = NULL;

	text = suites_sources(&from->suites, &from->sources, absent);
	return file_write(path, text, strlen(text));
}

/* The next update writes the sources; until then those of the last one are right. */
static struct error *make_suites(const struct apt *apt)
{
	_free_ char *sources = xasprintf("%s/suites.sources", apt->dir);
	_free_ char *path = xasprintf("%s/preferences", apt->dir);
	_free_ char *text = NULL;

	if (!apt->suites)
		return NULL;
	text = suites_preferences(&apt->suites->suites);
	TRY(file_write(path, text, strlen(text)));
	if (file_exists(sources))
		return NULL;
	if (!apt->suites->sources.main.uri)
		return error_new(STATUS_FAILED,
				 "the system's package sources have no mirror of Debian, from which "
				 "'%s' could be had",
				 apt->suites->suites.base);
	return write_sources(apt, NULL);
}

struct error *apt_native(char **ret)
{
	static const char *const argv[] = {"dpkg", "--print-architecture", NULL};
	struct buffer out;

	TRY(error_prefix(proc_check(argv, NULL, &out), "fetch needs Debian's apt and dpkg"));
	if (!out.length)
		return error_new(STATUS_FAILED, "dpkg --print-architecture printed nothing");
	out.text[strcspn(out.text, "\n")] = '\0';
	*ret = out.text;
	return NULL;
}

struct error *apt_lock(struct apt *apt)
{
	return apt->lock < 0 ? cache_lock(apt->dir, false, &apt->lock) : NULL;
}

void apt_unlock(struct apt *apt)
{
	cleanup_close(&apt->lock);
	apt->lock = -1;
}

struct error *apt_open(const char *arch, const struct apt_suites *suites, struct apt *ret)
{
	struct apt apt = {.lock = -1, .suites = suites};
	_free_ char *root = NULL;
	struct error *error;

	error = apt_native(&apt.native);
	if (!error)
		error = cache_root(&root);
	if (!error) {
		apt.arch = xstrdup(arch ? arch : apt.native);
		apt.dir = xasprintf("%s/apt/%s%s%s%s", root, apt.arch, suites ? "-" : "",
				    suites ? suites->suites.base : "",
				    suites && suites->suites.source ? "-source" : "");
		apt.config = xasprintf("%s/apt.conf", apt.dir);
		error = make_dirs(apt.dir);
	}
	if (!error)
		error = apt_lock(&apt);
	if (!error)
		error = make_folders(&apt);
	if (!error)
		error = write_config(&apt);
	if (!error)
		error = make_suites(&apt);
	if (error)
		apt_close(&apt);
	else
		*ret = apt;
	return error;
}

void apt_close(struct apt *apt)
{
	apt_unlock(apt);
	free(apt->arch);
	free(apt->native);
	free(apt->dir);
	free(apt->config);
	*apt = (struct apt){.lock = -1};
}

/* ---- apt's errors --------------------------------------------------------- */

/* The beginnings of lines that report a failure, the most precise first. */
static const char *const error_marks[] = {
	"E: Failed to fetch ",
	"W: Failed to fetch ",
	"E: ",
	"Err:",
};

/* The line of apt's output that says why it failed, without its "E: ".  Owned by the caller. */
static char *apt_reason(const char *output)
{
	if (output && strstr(output, strerror(ENOSPC))) {
		_free_ char *root = NULL;

		error_destroy(cache_root(&root));
		return xasprintf("no space is left for '%s'; make room and try again, or set "
				 "XDG_CACHE_HOME to another folder",
				 root ? root : "the cache");
	}
	for (size_t i = 0; output && i < ARRAY_SIZE(error_marks); i++) {
		const char *found = strstr(output, error_marks[i]);
		const char *line = found;
		size_t length;

		if (!found)
			continue;
		while (line > output && line[-1] != '\n')
			line--;
		if (line[0] && line[1] == ':' && line[2] == ' ')
			line += 3;
		length = strcspn(line, "\n");
		while (length && line[length - 1] == ' ')
			length--;
		return xstrndup(line, length);
	}
	return NULL;
}

/* The error for a run of apt that failed; its text has one line. */
static struct error *apt_error(const struct proc_result *result)
{
	_free_ char *reason = apt_reason(result->err.length ? result->err.text : result->out.text);

	return error_new(STATUS_FAILED, "%s", reason ? reason : "apt failed and gave no reason");
}

struct error *apt_run(const char *const *argv, const struct proc_options *options,
		      struct buffer *ret_out)
{
	struct proc_options with_locale = options ? *options : (struct proc_options){0};
	struct proc_result result;

	with_locale.env = c_locale;
	TRY(proc_run(argv, &with_locale, &result));
	if (result.status) {
		struct error *error = apt_error(&result);

		proc_result_deinit(&result);
		return error;
	}
	if (ret_out) {
		*ret_out = result.out;
		result.out = (struct buffer){0};
	}
	proc_result_deinit(&result);
	return NULL;
}

/* ---- lists ----------------------------------------------------------------- */

static char *stamp_path(const char *dir)
{
	return xasprintf("%s/updated", dir);
}

bool apt_folder_is_stale(const char *dir)
{
	_free_ char *stamp = stamp_path(dir);
	struct stat st;
	time_t now = time(NULL);

	return stat(stamp, &st) < 0 || st.st_mtime > now || now - st.st_mtime > LISTS_MAX_AGE;
}

bool apt_is_stale(const struct apt *apt)
{
	return apt_folder_is_stale(apt->dir);
}

/* Update once; after an error *ret_absent has the suites to leave out, for strings_free(). */
static struct error *try_update(const struct apt *apt, char ***ret_absent)
{
	const char *const argv[] = {"apt-get", "-q", "-c", apt->config, "update", NULL};
	const struct proc_options options = {.env = c_locale};
	struct proc_result result;
	struct error *error = NULL;

	*ret_absent = NULL;
	TRY(proc_run(argv, &options, &result));
	if (result.status) {
		error = apt_error(&result);
		if (apt->suites)
			*ret_absent = suites_absent(&apt->suites->suites, result.out.text);
	}
	proc_result_deinit(&result);
	return error;
}

/* Update the lists of other suites: try all, and then those that the mirror has. */
static struct error *update_suites(const struct apt *apt)
{
	char **absent = NULL, **ignored = NULL;
	struct error *error = NULL;

	if (apt->suites->sources.main.uri) /* else keep the sources of an earlier run */
		error = write_sources(apt, NULL);
	if (!error)
		error = try_update(apt, &absent);
	if (error && absent && absent[0] && apt->suites->sources.main.uri) {
		error_destroy(error);
		error = write_sources(apt, absent);
		if (!error)
			error = try_update(apt, &ignored);
	}
	strings_free(absent);
	strings_free(ignored);
	return error;
}

struct error *apt_update(struct apt *apt)
{
	_free_ char *stamp = stamp_path(apt->dir);
	_free_ char *names = apt->suites ? suites_names(&apt->suites->suites) : NULL;
	char **none = NULL;
	struct error *error;

	progress_note("updating the %spackage lists for %s%s%s",
		      names && apt->suites->suites.source ? "source " : "", apt->arch,
		      names ? " of " : "", names ?: "");
	error = apt->suites ? update_suites(apt) : try_update(apt, &none);
	strings_free(none);
	apt->updated = true; /* try it once in a run, even if it fails */
	if (error)
		return error_prefix(error, "cannot update the package lists");
	return file_write(stamp, "", 0);
}

struct error *apt_sources(struct apt *apt, struct debian_sources *ret)
{
	const char *const argv[] = {"apt-get", "-c", apt->config, "indextargets", NULL};
	struct buffer out;

	TRY(apt_run(argv, NULL, &out));
	debian_sources_parse(out.text, ret);
	buffer_deinit(&out);
	return NULL;
}

/* If the line is "NAME: value", take its value, which ends with the line. */
static bool take_field(const char *line, const char *name, char **ret)
{
	size_t length = strlen(name);

	if (strncmp(line, name, length) != 0 || line[length] != ':')
		return false;
	line += length + 1;
	line += strspn(line, " ");
	free(*ret);
	*ret = xstrndup(line, strcspn(line, "\n"));
	return true;
}

/* Parse a line of a stanza; fields that we do not use are skipped. */
static void parse_line(const char *line, struct apt_package *package)
{
	_free_ char *number = NULL;
	_free_ char *path = NULL;

	if (take_field(line, "Source", &package->source)) {
		/* "linux (6.1.192-2)" if the version differs. */
		package->source[strcspn(package->source, " ")] = '\0';
		return;
	}
	if (take_field(line, "Package", &package->name) ||
	    take_field(line, "Version", &package->version) ||
	    take_field(line, "Architecture", &package->architecture) ||
	    take_field(line, "Depends", &package->depends) ||
	    take_field(line, "SHA256", &package->sha256))
		return;
	if (take_field(line, "Size", &number))
		package->size = strtoull(number, NULL, 10);
	else if (take_field(line, "Installed-Size", &number)) /* KiB: Debian Policy 5.6.20 */
		package->installed = strtoull(number, NULL, 10) * 1024;
	else if (take_field(line, "Filename", &path))
		package->file = xstrdup(strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
}

static bool is_usable(const struct apt_package *package)
{
	return package->name && package->version && package->architecture && package->file &&
	       package->file[0] != '.' && package->size && package->sha256 &&
	       strlen(package->sha256) == 64;
}

/*
 * deb-control(5): a stanza has lines "Name: value", and lines that begin with a blank and continue
 * a value.  Empty lines separate stanzas.
 */
void apt_parse_show(const char *text, struct apt_packages *ret)
{
	const char *line = text;

	*ret = (struct apt_packages){0};
	while (line && *line) {
		struct apt_package package = {0};

		for (; *line && *line != '\n'; line += strcspn(line, "\n"), line += *line == '\n')
			parse_line(line, &package);
		line += *line == '\n';
		if (!package.depends)
			package.depends = xstrdup("");
		if (is_usable(&package))
			*vec_push(ret) = package;
		else
			apt_package_deinit(&package);
	}
}

static struct error *show(struct apt *apt, const char *versions, const char *const *names,
			  struct apt_packages *ret)
{
	static const struct proc_options apart = {.keep_stderr_apart = true, .env = c_locale};
	struct proc_result result;
	const char **argv;
	struct error *error;
	size_t count = 0;

	while (names[count])
		count++;
	argv = xcalloc(count + 6, sizeof(*argv));
	memcpy(argv, (const char *[]){"apt-cache", "-c", apt->config, "show", versions},
	       5 * sizeof(*argv));
	memcpy(argv + 5, names, count * sizeof(*argv));
	/* apt-cache fails if one of the names is unknown, so ignore its status. */
	error = proc_run(argv, &apart, &result);
	free(argv);
	TRY(error);
	apt_parse_show(result.out.text, ret);
	proc_result_deinit(&result);
	return NULL;
}

/* Is it what "name" or "name:arch" asks for? */
static bool is_asked_for(const struct apt *apt, const struct apt_package *package,
			 const char *query)
{
	size_t length = strcspn(query, ":");
	const char *arch = query[length] ? query + length + 1 : apt->native;

	return strlen(package->name) == length && !memcmp(package->name, query, length) &&
	       (!strcmp(package->architecture, arch) || !strcmp(package->architecture, "all"));
}

/* Move one of the archive's packages to @ret, unless the same was given. */
static struct error *merge(struct apt_package *archive, struct apt_packages *ret)
{
	for (size_t i = 0; i < ret->count; i++) {
		const struct apt_package *given = &ret->list[i];

		if (!given->given || strcmp(given->name, archive->name) ||
		    strcmp(given->version, archive->version) ||
		    strcmp(given->architecture, archive->architecture))
			continue;
		if (strcmp(given->sha256, archive->sha256))
			return error_new(STATUS_FAILED,
					 "'%s' is not the archive's %s %s: its SHA-256 differs; it is "
					 "damaged, or someone else's build",
					 given->given, given->name, given->version);
		return NULL;
	}
	*vec_push(ret) = *archive;
	*archive = (struct apt_package){0};
	return NULL;
}

struct error *apt_show(struct apt *apt, const char *const *names, struct apt_packages *ret)
{
	struct apt_packages archive = {0};
	struct error *error;

	*ret = (struct apt_packages){0};
	for (size_t i = 0; apt->given && i < apt->given->count; i++) {
		const struct apt_package *package = &apt->given->list[i];
		bool wanted = false;

		for (const char *const *name = names; *name && !wanted; name++)
			wanted = is_asked_for(apt, package, *name);
		if (wanted)
			apt_packages_add(ret, package);
	}
	error = show(apt, "--all-versions", names, &archive);
	for (size_t i = 0; !error && i < archive.count; i++)
		error = merge(&archive.list[i], ret);
	apt_packages_deinit(&archive);
	if (error)
		apt_packages_deinit(ret);
	return error;
}

struct error *apt_show_candidates(struct apt *apt, const char *const *names,
				  struct apt_packages *ret)
{
	return show(apt, "--no-all-versions", names, ret);
}

static char **split_lines(const char *text)
{
	VEC(char *) lines = {0};

	for (const char *line = text; line && *line;
	     line += strcspn(line, "\n"), line += *line == '\n')
		*vec_push(&lines) = xstrndup(line, strcspn(line, "\n"));
	vec_push(&lines);
	return lines.list;
}

struct error *apt_names(struct apt *apt, const char *prefix, char ***ret)
{
	const char *const argv[] = {"apt-cache", "-c", apt->config, "pkgnames", prefix, NULL};
	struct buffer out;

	TRY(apt_run(argv, NULL, &out));
	for (size_t i = 0; apt->given && i < apt->given->count; i++) {
		if (has_prefix(apt->given->list[i].name, prefix))
			buffer_printf(&out, "%s\n", apt->given->list[i].name);
	}
	*ret = split_lines(out.text);
	buffer_deinit(&out);
	return NULL;
}

struct ranked {
	char *version;
	long priority;
	size_t order; /* apt's: newest first */
};

static int compare_ranked(const void *one, const void *other)
{
	const struct ranked *a = one, *b = other;

	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/*
 * apt-cache(8) policy prints behind "Version table:" a line " *** VERSION PRIORITY" or
 * "     VERSION PRIORITY" for each version, newest first.  The lines of its sources are indented
 * deeper.
 */
char **apt_parse_policy(const char *text)
{
	const char *line = text ? strstr(text, "  Version table:\n") : NULL;
	VEC(struct ranked) versions = {0};
	char **names;

	while (line && *line) {
		size_t length, blank;
		struct ranked *row;

		line += strcspn(line, "\n");
		line += *line == '\n';
		length = strcspn(line, "\n");
		if (length < 6 || line[4] != ' ' || line[5] == ' ')
			continue;
		blank = strcspn(line + 5, " \n");
		row = vec_push(&versions);
		row->version = xstrndup(line + 5, blank);
		row->priority = strtol(line + 5 + blank, NULL, 10);
		row->order = versions.count;
	}
	if (versions.count)
		qsort(versions.list, versions.count, sizeof(*versions.list), compare_ranked);
	names = xcalloc(versions.count + 1, sizeof(*names));
	for (size_t i = 0; i < versions.count; i++)
		names[i] = versions.list[i].version;
	vec_deinit(&versions);
	return names;
}

struct error *apt_versions(struct apt *apt, const char *name, char ***ret)
{
	const char *const argv[] = {"apt-cache", "-c", apt->config, "policy", name, NULL};
	struct buffer out;

	TRY(apt_run(argv, NULL, &out));
	*ret = apt_parse_policy(out.text);
	buffer_deinit(&out);
	return NULL;
}

/* ---- downloads ------------------------------------------------------------- */

/* Lines of --print-uris: 'URI' FILE SIZE HASH:DIGITS. */
static void read_uris(const char *text, struct apt_package *package)
{
	_free_ char *hash = xasprintf(" SHA256:%s", package->sha256);

	for (const char *line = text; line && *line;
	     line += strcspn(line, "\n"), line += *line == '\n') {
		const char *end = line[0] == '\'' ? strchr(line + 1, '\'') : NULL;
		_free_ char *whole = xstrndup(line, strcspn(line, "\n"));

		if (end && has_suffix(whole, hash)) {
			free(package->uri);
			package->uri = xstrndup(line + 1, end - line - 1);
		}
	}
}

struct error *apt_locate(struct apt *apt, struct apt_package *packages, size_t count)
{
	/* Run in a folder of ours: apt leaves out packages whose file is in the current folder. */
	struct proc_options options = {.dir = apt->dir};
	/* By itself apt prints the strongest sum that the index has. */
	const char *const command[] = {"apt-get", "-c", apt->config, "-o", "Acquire::ForceHash=SHA256",
				       "--print-uris", "download"};
	const char **argv = xcalloc(ARRAY_SIZE(command) + count + 1, sizeof(*argv));
	char **wanted = xcalloc(count + 1, sizeof(*wanted));
	struct buffer out = {0};
	struct error *error = NULL;
	size_t names = 0;

	memcpy(argv, command, sizeof(command));
	for (size_t i = 0; i < count; i++) {
		bool all = strcmp(packages[i].architecture, "all") == 0;

		if (packages[i].given || packages[i].uri)
			continue;
		wanted[names] = xasprintf("%s%s%s=%s", packages[i].name, all ? "" : ":",
					  all ? "" : packages[i].architecture, packages[i].version);
		argv[ARRAY_SIZE(command) + names] = wanted[names];
		names++;
	}
	if (names)
		error = apt_run(argv, &options, &out);
	for (size_t i = 0; !error && i < count; i++) {
		if (packages[i].given || packages[i].uri)
			continue;
		read_uris(out.text, &packages[i]);
		if (!packages[i].uri)
			error = error_new(STATUS_FAILED,
					  "apt has no address to download '%s' %s from",
					  packages[i].name, packages[i].version);
	}
	buffer_deinit(&out);
	strings_free(wanted);
	free(argv);
	return error;
}

bool apt_sum(const char *path, uint64_t *ret_size, char ret[65])
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *bytes;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	bytes = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	sha256_hex(bytes, st.st_size, ret);
	munmap(bytes, st.st_size);
	*ret_size = st.st_size;
	return true;
}

bool apt_matches(const struct apt_package *package, const char *path)
{
	char digits[65];
	struct stat st;
	uint64_t size;

	return !stat(path, &st) && (uint64_t)st.st_size == package->size &&
	       apt_sum(path, &size, digits) && size == package->size &&
	       !strcmp(digits, package->sha256);
}

struct download {
	struct progress progress;
	const char *path;
};

static void show_download(void *data)
{
	struct download *download = data;
	struct stat st;

	if (stat(download->path, &st) == 0)
		progress_set(&download->progress, st.st_size);
}

/* Try once; *ret_differs: the package was downloaded, with other contents than the index says. */
static struct error *try_download(const struct apt *apt, const struct apt_package *package,
				  const char *path, bool *ret_differs)
{
	_free_ char *hash = xasprintf("SHA256:%s", package->sha256);
	_free_ char *size = size_text(package->size);
	const char *const argv[] = {APT_HELPER,   "-q", "-c", apt->config, "download-file",
				    package->uri, path, hash, NULL};
	struct download download = {.path = path};
	struct proc_options options = {.tick = show_download, .tick_data = &download};
	struct error *error;

	progress_begin(&download.progress, package->size, "downloading %s %s (%s)", package->name,
		       package->version, size);
	error = apt_run(argv, &options, NULL);
	progress_end(&download.progress, !error);
	*ret_differs = error ? strstr(error->text, "Hash Sum mismatch") != NULL
			     : !apt_matches(package, path);
	if (*ret_differs) {
		unlink(path);
		error_destroy(error);
		return error_new(STATUS_FAILED,
				 "'%s' is not what the signed package index says (its SHA-256 "
				 "differs); try again later",
				 package->file);
	}
	return error_prefix(error, "cannot download '%s'", package->file);
}

struct error *apt_download(const struct apt *apt, const struct apt_package *package,
			   const char *path)
{
	struct error *error;
	bool differs, resumed;
	struct stat st;

	/* apt does not look into a file of full size, and takes it for complete. */
	if (stat(path, &st) == 0 && (uint64_t)st.st_size >= package->size)
		unlink(path);
	resumed = file_exists(path);
	error = try_download(apt, package, path, &differs);
	if (!differs || !resumed)
		return error;
	/* The part that was there before was damaged: begin again without it. */
	error_destroy(error);
	return try_download(apt, package, path, &differs);
}
