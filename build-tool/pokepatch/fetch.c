// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pokepatch fetch: bring a kernel release into the cache.
 *
 * The next run goes on from where an interrupted run stopped: a .deb file gets its name once its
 * checksum matches, a folder once it is complete, and the stamp is written last.  The folder's lock
 * is held from the first check to the stamp.  So of two fetches of one release the second waits for
 * the first, and finds all work done.
 */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/cache.h"
#include "pokepatch/cli.h"
#include "pokepatch/fetched.h"
#include "pokepatch/dbg_package.h"
#include "pokepatch/featureset.h"
#include "pokepatch/kernel_packages.h"
#include "common/proc.h"
#include "pokepatch/kbuild_programs.h"
#include "pokepatch/programs.h"
#include "pokepatch/progress.h"
#include "pokepatch/resolve.h"
#include "pokepatch/stamp.h"
#include "pokepatch/table.h"
#include "pokepatch/unpack.h"

/* ---- fetching -------------------------------------------------------------- */

struct fetch {
	struct resolve resolve; /* release and packages */
	char *dir;		/* .../kernels/RELEASE */
	bool modules;		/* --modules: unpack all modules of the debug package */
};

static void fetch_deinit(struct fetch *fetch)
{
	resolve_deinit(&fetch->resolve);
	free(fetch->dir);
}

/* Check the free space before ten minutes of downloads, and not when it runs out. */
static struct error *check_space(const char *dir, uint64_t needed)
{
	_free_ char *needed_text = size_text(needed);
	_free_ char *free_text = NULL;
	struct statvfs fs;
	uint64_t there;

	if (statvfs(dir, &fs) < 0)
		return error_errno("cannot tell the free space of '%s'", dir);
	there = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (there >= needed)
		return NULL;
	free_text = size_text(there);
	return error_new(STATUS_FAILED,
			 "not enough space in '%s': %s needed, %s free; make room, or set "
			 "XDG_CACHE_HOME to a folder with more",
			 dir, needed_text, free_text);
}

/* File systems round the size of each file up by more than Installed-Size does. */
static uint64_t with_margin(uint64_t bytes)
{
	return bytes + bytes / 10;
}

/* More than any vmlinux of Debian's takes up with its debug information: 270 to 590 MB so far. */
#define VMLINUX_ROOM 800000000

/* Approximate bytes; choose_dbg_files() says what is unpacked of the debug package. */
static uint64_t unpacked_size(const struct fetch *fetch, enum kernel_part part)
{
	const struct apt_packages *packages = &fetch->resolve.packages;
	uint64_t size = 0;

	for (size_t i = 0; i < packages->count; i++) {
		if (kernel_part_of(packages->list[i].name) == part)
			size += packages->list[i].installed;
	}
	return part == PART_DBG && !fetch->modules && size > VMLINUX_ROOM ? VMLINUX_ROOM : size;
}

static char *deb_path(const struct fetch *fetch, const struct apt_package *package)
{
	return xasprintf("%s/packages/%s", fetch->dir, package->file);
}

/*
 * Compare the .deb files that are there, and mark those to download in missing: damaged ones, and
 * those of the parts to unpack.
 */
static struct error *find_missing(const struct fetch *fetch, const bool *parts, bool *missing,
				  uint64_t *ret_size)
{
	*ret_size = 0;
	for (size_t i = 0; i < fetch->resolve.packages.count; i++) {
		const struct apt_package *package = &fetch->resolve.packages.list[i];
		_free_ char *path = deb_path(fetch, package);

		TRY(proc_check_interrupted());
		missing[i] = (file_exists(path) || parts[kernel_part_of(package->name)]) &&
			     !apt_matches(package, path);
		if (!missing[i])
			continue;
		*ret_size += package->size;
		if (!file_exists(path))
			continue;
		progress_note("'%s' is damaged; downloading it again", package->file);
		if (unlink(path) < 0)
			return error_errno("cannot remove '%s'", path);
	}
	return NULL;
}

/* Copy a package that the user gave; it may have changed since its SHA-256 was taken. */
static struct error *copy_given(const struct apt_package *package, const char *path)
{
	const char *const argv[] = {"cp", "--reflink=auto", "--", package->given, path, NULL};

	progress_note("taking '%s' (%s %s, SHA-256 %s)", package->given, package->name,
		      package->version, package->sha256);
	TRY(proc_check(argv, NULL, NULL));
	if (!apt_matches(package, path))
		return error_new(STATUS_FAILED, "'%s' has changed while it was copied",
				 package->given);
	return NULL;
}

static struct error *download_one(struct fetch *fetch, const struct apt_package *package)
{
	_free_ char *path = deb_path(fetch, package);
	_free_ char *partial = xasprintf("%s/packages/partial/%s", fetch->dir, package->file);

	if (package->given)
		TRY(copy_given(package, partial));
	else
		TRY(apt_download(&fetch->resolve.apt, package, partial));
	if (rename(partial, path) < 0)
		return error_errno("cannot make '%s'", path);
	return NULL;
}

/* featureset_resolve() puts the patches at the end, and most builds can do without. */
static bool is_last_and_optional(const struct apt_packages *packages, size_t i)
{
	return i + 1 == packages->count && kernel_part_of(packages->list[i].name) == PART_PATCHES;
}

static struct error *download(struct fetch *fetch, const bool *missing)
{
	struct error *error = apt_lock(&fetch->resolve.apt);

	if (!error)
		error = apt_locate(&fetch->resolve.apt, fetch->resolve.packages.list, fetch->resolve.packages.count);
	apt_unlock(&fetch->resolve.apt);
	for (size_t i = 0; !error && i < fetch->resolve.packages.count; i++) {
		if (missing[i])
			error = download_one(fetch, &fetch->resolve.packages.list[i]);
		if (error && is_last_and_optional(&fetch->resolve.packages, i) && !proc_interrupted()) {
			featureset_note_missing(fetch->resolve.release, error);
			error_destroy(error);
			apt_package_deinit(&fetch->resolve.packages.list[--fetch->resolve.packages.count]);
			return NULL;
		}
	}
	return error;
}

static void describe_unpack(const struct fetch *fetch, enum kernel_part part, struct unpack *unpack)
{
	VEC(char *) debs = {0};

	unpack->folder = xasprintf("%s/%s", fetch->dir, kernel_part_names[part]);
	unpack->packages = fetched_key(&fetch->resolve.packages, part);
	unpack->size = unpacked_size(fetch, part);
	for (size_t i = 0; i < fetch->resolve.packages.count; i++) {
		if (kernel_part_of(fetch->resolve.packages.list[i].name) == part)
			*vec_push(&debs) = deb_path(fetch, &fetch->resolve.packages.list[i]);
	}
	vec_push(&debs);
	unpack->debs = debs.list;
}

/*
 * Unpack vmlinux alone, which most builds need no more of, if the package says what is in it.
 * pokepatch-build extracts a module from the package when it first needs it.
 */
static struct error *choose_dbg_files(const struct fetch *fetch, struct unpack *unpack)
{
	char *partial;

	if (fetch->modules || !unpack->debs[0] || unpack->debs[1])
		return NULL;
	TRY(dbg_package_first(unpack->debs[0], fetch->resolve.release, &unpack->only));
	if (!unpack->only)
		return NULL;
	partial = fetched_vmlinux_key(unpack->packages);
	free(unpack->packages);
	unpack->packages = partial;
	return NULL;
}

/* struct unpack's complete() for the debug package, if it is not unpacked as a whole. */
static struct error *complete_dbg(const char *root, void *data)
{
	const struct fetch *fetch = data;

	return dbg_package_complete(root, fetch->resolve.release);
}

/* The folder in which the programs of kbuild are built. */
static char *programs_folder(const struct fetch *fetch)
{
	return xasprintf("%s/programs.tmp", fetch->dir);
}

/* struct unpack's complete(): the archive has no linux-kbuild for these headers. */
static struct error *build_programs(const char *headers, void *data)
{
	const struct fetch *fetch = data;
	_free_ char *work = programs_folder(fetch);
	struct kbuild_programs programs = {
		.release = fetch->resolve.release, .dir = fetch->dir, .work = work};
	struct kernel_files files;
	struct error *error;

	TRY(kernel_files_find(fetch->resolve.release, &files));
	programs.source = files.source;
	error = files.source ? kbuild_programs_build(&programs, headers)
			     : error_new(STATUS_FAILED, "the source package of '%s' has no source",
					 fetch->resolve.release);
	kernel_files_deinit(&files);
	return error;
}

/* The path of a part's folder, and that which it has until it is complete. */
static struct programs_folder part_folder(const struct fetch *fetch, enum kernel_part part,
					  bool unpacking)
{
	char *later = xasprintf("%s/%s", fetch->dir, kernel_part_names[part]);

	return (struct programs_folder){
		.now = unpacking ? xasprintf("%s.tmp", later) : xstrdup(later), .later = later};
}

static void part_folder_deinit(struct programs_folder *folder)
{
	free((char *)folder->now);
	free((char *)folder->later);
}

/* Make the programs in a part's folder, which is being unpacked, run with the fetched libraries. */
static struct error *wrap_programs(const struct fetch *fetch, enum kernel_part part)
{
	struct programs_folder programs = part_folder(fetch, part, true);
	struct programs_folder libraries =
		part_folder(fetch, PART_COMPILER, part == PART_COMPILER);
	struct error *error = programs_wrap(&programs, &libraries);

	part_folder_deinit(&programs);
	part_folder_deinit(&libraries);
	return error;
}

/* struct unpack's complete() for the headers. */
static struct error *complete_headers(const char *headers, void *data)
{
	struct fetch *fetch = data;

	if (kernel_lacks_kbuild(&fetch->resolve.packages))
		return build_programs(headers, data);
	return kernel_wraps_kbuild(&fetch->resolve.packages) ? wrap_programs(fetch, PART_HEADERS)
							     : NULL;
}

/* struct unpack's complete() for the compiler. */
static struct error *complete_compiler(const char *root, void *data)
{
	TRY(programs_trim(root));
	return wrap_programs(data, PART_COMPILER);
}

static struct error *unpack(struct fetch *fetch, const bool *parts)
{
	static struct error *(*const complete[PART_COUNT])(const char *root, void *data) = {
		[PART_HEADERS] = complete_headers,
		[PART_COMPILER] = complete_compiler,
	};
	struct unpack list[PART_COUNT] = {0};
	struct error *error = NULL;
	size_t count = 0;

	for (int part = 0; part < PART_COUNT; part++) {
		if (!parts[part] || !fetched_has(&fetch->resolve.packages, part))
			continue;
		describe_unpack(fetch, part, &list[count]);
		list[count].complete = complete[part];
		list[count].complete_data = fetch;
		count++;
		if (part != PART_DBG)
			continue;
		error = choose_dbg_files(fetch, &list[count - 1]);
		if (list[count - 1].only)
			list[count - 1].complete = complete_dbg;
		if (error)
			break;
	}
	if (!error)
		error = unpack_all(list, count);
	for (size_t i = 0; i < count; i++)
		unpack_deinit(&list[i]);
	return error;
}

/*
 * Remove what an older version of the kernel has left: packages, and parts that this one has not.
 * Remove the folder of partial downloads.
 */
static struct error *remove_leftovers(const struct fetch *fetch)
{
	_free_ char *folder = xasprintf("%s/packages", fetch->dir);
	struct error *error = NULL;
	DIR *list;

	for (int part = 0; part < PART_COUNT; part++) {
		_free_ char *absent = xasprintf("%s/%s", fetch->dir, kernel_part_names[part]);

		if (!fetched_has(&fetch->resolve.packages, part))
			TRY(remove_tree(absent));
	}
	list = opendir(folder);
	if (!list)
		return error_errno("cannot read '%s'", folder);
	for (struct dirent *entry; !error && (entry = readdir(list));) {
		_free_ char *path = xasprintf("%s/%s", folder, entry->d_name);
		bool known = entry->d_name[0] == '.';

		for (size_t i = 0; !known && i < fetch->resolve.packages.count; i++)
			known = strcmp(fetch->resolve.packages.list[i].file, entry->d_name) == 0;
		if (!known)
			error = remove_tree(path);
	}
	closedir(list);
	return error;
}

/* Is the package all that the debug part lacks?  Then the modules that builds extracted stay. */
static bool lacks_only_package(const struct fetch *fetch)
{
	_free_ char *folder = xasprintf("%s/%s", fetch->dir, kernel_part_names[PART_DBG]);
	_free_ char *key = fetched_key(&fetch->resolve.packages, PART_DBG);

	return !fetch->modules && fetched_has_vmlinux(folder, key);
}

/* Do everything from the resolved list of packages to the stamp; dir is locked. */
static struct error *fill(struct fetch *fetch)
{
	_free_ char *partial = xasprintf("%s/packages/partial", fetch->dir);
	_free_ char *stamp = stamp_path(fetch->dir);
	_free_ char *programs = programs_folder(fetch);
	_free_ bool *missing = xcalloc(fetch->resolve.packages.count, sizeof(*missing));
	bool parts[PART_COUNT];
	uint64_t to_download, needed, unpacked = 0;

	TRY(make_dirs(partial));
	if (unlink(stamp) < 0 && errno != ENOENT)
		return error_errno("cannot remove '%s'", stamp);
	TRY(remove_tree(programs));
	for (int part = 0; part < PART_COUNT; part++) {
		_free_ char *folder = xasprintf("%s/%s", fetch->dir, kernel_part_names[part]);

		TRY(unpack_clean(folder));
	}
	for (int part = 0; part < PART_COUNT; part++) {
		parts[part] = !fetched_is_whole(fetch->dir, &fetch->resolve.packages, part) ||
			      (part == PART_DBG && fetch->modules &&
			       !fetched_has_modules(fetch->resolve.release));
		if (parts[part])
			unpacked += with_margin(unpacked_size(fetch, part));
	}
	TRY(find_missing(fetch, parts, missing, &to_download));
	needed = to_download + unpacked;
	if (parts[PART_HEADERS] && kernel_lacks_kbuild(&fetch->resolve.packages)) {
		TRY(kbuild_programs_check(fetch->resolve.release));
		needed += KBUILD_PROGRAMS_ROOM;
	}
	TRY(check_space(fetch->dir, needed));
	if (to_download)
		TRY(download(fetch, missing));
	if (lacks_only_package(fetch))
		parts[PART_DBG] = false;
	TRY(unpack(fetch, parts));
	if (!fetched_has_files(fetch->resolve.release))
		return error_new(STATUS_FAILED,
				 "the packages of '%s' do not have all parts of the kernel at the "
				 "expected places in '%s'",
				 fetch->resolve.release, fetch->dir);
	TRY(stamp_write(fetch->dir, &fetch->resolve.packages));
	return remove_leftovers(fetch);
}

static bool same_packages(const struct apt_packages *stamp, const struct apt_packages *wanted)
{
	for (int part = 0; part < PART_COUNT; part++) {
		_free_ char *one = fetched_key(stamp, part);
		_free_ char *other = fetched_key(wanted, part);

		if (strcmp(one, other) != 0)
			return false;
	}
	return true;
}

/* Is the release complete, and made from the packages that were resolved, if they were? */
static bool is_done(const struct fetch *fetch)
{
	struct apt_packages stamp;
	bool done;

	stamp_read(fetch->dir, &stamp);
	done = (!fetch->modules || fetched_has_modules(fetch->resolve.release)) &&
	       (!fetch->resolve.done || same_packages(&stamp, &fetch->resolve.packages)) &&
	       fetched_matches(fetch->resolve.release, fetch->dir, &stamp);
	apt_packages_deinit(&stamp);
	return done;
}

/*
 * Find the packages.  Archives drop those of older kernels: if the cache has them, say how they are
 * taken from there.
 */
static struct error *resolve(struct fetch *fetch)
{
	struct error *error = resolve_packages(&fetch->resolve), *advised;
	_free_ char *image = xasprintf("%s/packages/linux-image-%s_*.deb", fetch->dir,
				       fetch->resolve.release);
	glob_t found = {0};

	if (!error || error->status != STATUS_FAILED || proc_interrupted() ||
	    fetch->resolve.given.packages.count || glob(image, 0, NULL, &found))
		return error;
	globfree(&found);
	advised = error_new(STATUS_FAILED,
			    "%s; the cache has packages of it, which 'pokepatch fetch --deb %s "
			    "%s/packages' takes",
			    error->text, fetch->resolve.release, fetch->dir);
	error_destroy(error);
	return advised;
}

/* Fetch a release that was given or that --latest has found. */
static struct error *fetch_release(struct fetch *fetch)
{
	_close_ int lock = -1;

	TRY(cache_kernel_dir(fetch->resolve.release, &fetch->dir));
	/* An unknown name leaves no folder.  Given packages may be others than the cache has. */
	if (!fetch->resolve.done &&
	    (!file_exists(fetch->dir) || fetch->resolve.given.packages.count))
		TRY(resolve(fetch));
	TRY(make_dirs(fetch->dir));
	/* Builds hold the lock shared; wait for them only if there is something to do. */
	TRY(cache_lock(fetch->dir, true, &lock));
	if (is_done(fetch))
		return NULL;
	cleanup_close(&lock);
	lock = -1;
	TRY(cache_lock(fetch->dir, false, &lock));
	if (is_done(fetch)) /* another fetch has done it in the meantime */
		return NULL;
	if (!fetch->resolve.done)
		TRY(resolve(fetch));
	return fill(fetch);
}

/* Fetch the newest release, or else take the newest complete one in the cache. */
static struct error *fetch_latest(struct fetch *fetch)
{
	struct error *error = resolve_packages(&fetch->resolve);
	char *cached;

	if (!error) {
		progress_note("newest release of flavour %s: %s (%s)", fetch->resolve.flavour,
			      fetch->resolve.release, fetch->resolve.packages.list[0].version);
		error = fetch_release(fetch);
	}
	if (!error || proc_interrupted())
		return error;
	/* The name of a release does not tell from which of several suites it is. */
	cached = fetch->resolve.suite ? NULL : fetched_newest(fetch->resolve.flavour);
	if (!cached)
		return error;
	progress_note("%s; using %s, which is in the cache", error->text, cached);
	error_destroy(error);
	free(fetch->resolve.release);
	fetch->resolve.release = cached;
	return NULL;
}

/* ---- the command ----------------------------------------------------------- */

static struct error *report(struct cli_call *call, const char *release)
{
	_json_ json_object *record = json_object_new_object();
	struct kernel_files files;

	TRY(kernel_files_find(release, &files));
	json_add_text(record, "release", files.release);
	json_add_text(record, "cache", files.cache);
	json_add_text(record, "config", files.config);
	json_add_text(record, "vmlinuz", files.vmlinuz);
	json_add_text(record, "vmlinux", files.vmlinux);
	json_add_text(record, "modules", files.modules);
	json_add_text(record, "modules_dbg", files.modules_dbg);
	json_add_text(record, "kbuild", files.kbuild);
	json_add_text(record, "source", files.source);
	if (files.patches)
		json_add_text(record, "patches", files.patches);
	kernel_files_deinit(&files);
	if (cli_value(call, "json"))
		json_print(&call->out, record);
	else if (cli_value(call, "quiet"))
		buffer_printf(&call->out, "%s\n", release);
	else
		record_print(&call->out, record);
	return NULL;
}

/* Read the packages of --deb.  The first argument may be the release. */
static struct error *read_given(const struct cli_call *call, struct fetch *fetch)
{
	const char *first = call->count ? call->arguments[0] : "";
	bool named = *first >= '0' && *first <= '9' && !file_exists(first);

	if (call->count == named)
		return error_new(STATUS_FAILED, "--deb needs files of packages, or a folder of them");
	TRY(given_packages_read(call->arguments + named, call->count - named,
				&fetch->resolve.given));
	if (!named)
		return given_packages_release(&fetch->resolve.given, &fetch->resolve.release);
	fetch->resolve.release = xstrdup(first);
	return NULL;
}

/* The release that was given, or the running kernel's.  Owned by the caller. */
static struct error *choose_release(const struct cli_call *call, char **ret)
{
	struct utsname uts;

	if (!call->count && uname(&uts) < 0)
		return error_errno("cannot ask for the running kernel's release");
	*ret = xstrdup(call->count ? call->arguments[0] : uts.release);
	return NULL;
}

struct error *cli_fetch(struct cli_call *call)
{
	struct fetch fetch = {.modules = cli_value(call, "modules"),
			      .resolve = {.flavour = cli_value(call, "latest"),
					  .list = cli_value(call, "list"),
					  .suite = cli_value(call, "suite"),
					  .apt.lock = -1}};
	struct error *error;

	if ((cli_value(call, "deb") ? !!call->count : call->count) + !!fetch.resolve.flavour +
		    !!fetch.resolve.list > 1)
		return error_new(STATUS_FAILED,
				 "give either a RELEASE or --latest FLAVOUR, such as "
				 "'pokepatch fetch --latest cloud-amd64', or --list FLAVOUR");
	if (fetch.resolve.list) {
		error = resolve_packages(&fetch.resolve);
		if (!error)
			buffer_add_string(&call->out, fetch.resolve.releases.text);
		fetch_deinit(&fetch);
		return error;
	}
	if (fetch.resolve.flavour) {
		error = fetch_latest(&fetch);
	} else if (cli_value(call, "deb")) {
		error = read_given(call, &fetch);
		if (!error)
			error = fetch_release(&fetch);
	} else {
		error = choose_release(call, &fetch.resolve.release);
		if (!error)
			error = fetch_release(&fetch);
	}
	if (!error)
		error = report(call, fetch.resolve.release);
	fetch_deinit(&fetch);
	return error;
}
