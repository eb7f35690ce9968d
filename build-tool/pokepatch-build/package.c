// SPDX-License-Identifier: GPL-2.0-or-later
/* Debian packages of cumulative patches; see package.h. */
#include "pokepatch-build/package.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <pokepatch_format.h>

#include "common/proc.h"
#include "pokepatch-build/about.h"
#include "pokepatch-build/build.h"
#include "pokepatch-build/sign.h"

/*
 * The maintainer scripts; @RELEASE@ is the kernel's release, @NAME@ the patch's name.  They never
 * fail.  If tasks are in the way of a switch, the script prints a line, and the core tries again
 * each minute.
 */
#define ONLY_ITS_KERNEL "[ \"$(uname -r)\" = '@RELEASE@' ] || exit 0\n"
#define ONLY_CONFIGURE                                                                             \
	"case $1 in\n"                                                                             \
	"configure | abort-upgrade | abort-remove | abort-deconfigure) ;;\n"                       \
	"*) exit 0 ;;\n"                                                                           \
	"esac\n"
/*
 * The unit loads the patch at each boot of its kernel.  After the first level it stays as the
 * administrator wants it.
 */
#define ENABLE_UNIT                                                                                \
	"case ${2:-0} in\n"                                                                        \
	"0) ! command -v systemctl >/dev/null || systemctl --quiet enable pokepatch.service || : ;;\n" \
	"esac\n"
#define UNLOAD_LEVELS                                                                              \
	"for level in /sys/kernel/pokepatch/*/level; do\n"                                         \
	"	[ -e \"$level\" ] && [ \"$(cat \"$level\")\" != 0 ] || continue\n"           \
	"	name=${level%/level}\n"                                                            \
	"	name=${name##*/}\n"                                                                \
	"	echo 60000 >\"${level%/level}/retry_ms\" || :\n"                                  \
	"	pokepatch unload \"$name\" ||\n"                                                 \
	"		echo \"linux-livepatch-@RELEASE@: patch $name is not unloaded\" >&2\n"   \
	"done\n"

static const char postinst[] =
	"#!/bin/sh\n"
	"# Switch to this level, if its kernel runs.\n"
	"set -e\n" ONLY_CONFIGURE ENABLE_UNIT ONLY_ITS_KERNEL
	"pokepatch load --retry 60000 '/usr/lib/modules/@RELEASE@/livepatch/pokepatch-@NAME@.ko' ||\n"
	"	[ $? -eq 3 ] ||\n"
	"	echo 'linux-livepatch-@RELEASE@: see pokepatch status' >&2\n"
	"exit 0\n";

/* Level 0: no patch is on. */
static const char postinst_empty[] =
	"#!/bin/sh\n"
	"# Switch patches of other levels off, if their kernel runs.\n"
	"set -e\n" ONLY_CONFIGURE ONLY_ITS_KERNEL UNLOAD_LEVELS "exit 0\n";

static const char prerm[] =
	"#!/bin/sh\n"
	"# Without the package the kernel runs its own code.\n"
	"set -e\n"
	"[ \"$1\" = remove ] || exit 0\n" ONLY_ITS_KERNEL UNLOAD_LEVELS "exit 0\n";

static const char copyright[] =
	"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
	"Upstream-Name: linux-livepatch-@RELEASE@\n"
	"Comment: The modules are made from the kernel's source, patches of it, and pokepatch's\n"
	" core module.\n"
	"\n"
	"Files: *\n"
	"Copyright: 1991-2026 Linus Torvalds and the other authors of Linux\n"
	" 2026 the authors of pokepatch\n"
	"License: GPL-2\n"
	" On Debian systems, the text of the GNU General Public License, version 2, is in\n"
	" /usr/share/common-licenses/GPL-2.\n";

/*
 * $1: the folder, $2: the package.  Modes do not depend on the umask; dpkg-deb has the owner root,
 * and clamps times.
 */
static const char build_script[] =
	"cd \"$1\"\n"
	"find . -type d -exec chmod 755 {} +\n"
	"find . -type f -exec chmod 644 {} +\n"
	"chmod 755 DEBIAN/postinst DEBIAN/prerm\n"
	"gzip -9n usr/share/doc/*/changelog\n"
	"find usr -type f | LC_ALL=C sort | xargs md5sum >DEBIAN/md5sums\n"
	"chmod 644 DEBIAN/md5sums\n"
	"dpkg-deb --root-owner-group -Zxz --build . \"$2\"\n";

/* A package's name has lower-case letters, digits and "+-." (Debian Policy, 5.6.1). */
static char *package_name(const char *release)
{
	char *name = xasprintf("linux-livepatch-%s", release);

	for (char *c = name; *c; c++) {
		*c = (char)tolower((unsigned char)*c);
		if (!isalnum((unsigned char)*c) && !strchr("+-.", *c))
			*c = '-';
	}
	return name;
}

char *package_file_name(const char *release, unsigned int level, const char *arch)
{
	_free_ char *name = package_name(release);

	return xasprintf("%s_%u_%s.deb", name, level, arch);
}

/* What a package is made of. */
struct package {
	const struct build *build;
	char *root; /* the folder that becomes its contents */
	char *name;
	char *date; /* seconds since 1970, for SOURCE_DATE_EPOCH */
};

static void package_deinit(struct package *package)
{
	free(package->root);
	free(package->name);
	free(package->date);
}

/* @text with the kernel's release for each @RELEASE@ and the patch's name for @NAME@. */
static char *fill_in(const struct package *package, const char *text)
{
	const struct {
		const char *mark, *value;
	} marks[] = {{"@RELEASE@", package->build->release}, {"@NAME@", package->build->name}};
	struct buffer out = {0};

	while (*text) {
		const size_t plain = strcspn(text, "@");
		bool found = false;

		buffer_add(&out, text, plain);
		text += plain;
		for (size_t i = 0; i < ARRAY_SIZE(marks) && !found; i++) {
			found = has_prefix(text, marks[i].mark);
			if (found) {
				buffer_add_string(&out, marks[i].value);
				text += strlen(marks[i].mark);
			}
		}
		if (!found && *text)
			buffer_add(&out, text++, 1);
	}
	return out.text;
}

static struct error *add_file(const struct package *package, const char *path, const char *text)
{
	_free_ char *file = xasprintf("%s/%s", package->root, path);
	_free_ char *folder = xstrndup(file, (size_t)(strrchr(file, '/') - file));
	_free_ char *filled = fill_in(package, text);

	TRY(make_dirs(folder));
	return file_write_scratch(file, filled, strlen(filled));
}

/* @ret_file: its path in the folder, of the caller. */
static struct error *add_module(const struct package *package, const char *from, const char *name,
				char **ret_file)
{
	_free_ char *folder = xasprintf("%s/usr/lib/modules/%s/livepatch", package->root,
					package->build->release);

	*ret_file = xasprintf("%s/%s", folder, name);
	TRY(make_dirs(folder));
	return file_copy_scratch(from, *ret_file);
}

/* The core's debug information, which is most of it, stays out; the signature comes last. */
static struct error *add_core(const struct package *package)
{
	const struct build *build = package->build;
	_free_ char *strip = xasprintf("%sstrip", build->cross ?: "");
	_free_ char *file = NULL;

	TRY(add_module(package, build->core.ko, "pokepatch.ko", &file));
	const char *const argv[] = {strip, "--strip-debug", file, NULL};
	TRY(proc_check(argv, &(struct proc_options){0}, NULL));
	return sign_module(build, file);
}

/* The kernel's image was made before its patch, and is the same for all who build this. */
static struct error *choose_date(struct package *package)
{
	const char *given = getenv("SOURCE_DATE_EPOCH");
	const char *image = package->build->files.vmlinuz ?: package->build->files.vmlinux;
	struct stat status;

	if (given && *given && strspn(given, "0123456789") == strlen(given)) {
		package->date = xstrdup(given);
		return NULL;
	}
	if (stat(image, &status))
		return error_errno("cannot read '%s'", image);
	package->date = xasprintf("%lld", (long long)status.st_mtime);
	return NULL;
}

/* The maintainer, from the variables that dch(1) reads; the caller frees it. */
static char *maintainer(void)
{
	const char *name = getenv("DEBFULLNAME"), *mail = getenv("DEBEMAIL");

	return xasprintf("%s <%s>", name && *name ? name : "Unknown",
			 mail && *mail ? mail : "root@localhost");
}

static void add_list(struct buffer *out, const char *field, struct args *list)
{
	_free_ char *joined = args_join(list, ", ");

	if (list->count)
		buffer_printf(out, "%s: %s\n", field, joined);
	args_deinit(list);
}

static struct error *add_control(const struct package *package)
{
	const struct build *build = package->build;
	_free_ char *by = maintainer();
	struct args cves = {0}, unfixed = {0};
	struct buffer out = {0};
	struct error *error;

	about_cves(build, &cves);
	about_unfixed(build, &unfixed);
	buffer_printf(&out,
		      "Package: %s\nVersion: %u\nSection: kernel\nPriority: optional\n"
		      "Architecture: %s\nMaintainer: %s\nDepends: pokepatch, pokepatch-format-%u\n"
		      "Enhances: linux-image-%s\nLivepatch-Build-Id: %s\n",
		      package->name, build->options.level, build->machine->tools.debian, by,
		      POKEPATCH_FORMAT, build->release, build->kernel_build_id ?: build->vmlinux_build_id);
	if (build->options.until)
		buffer_printf(&out, "Livepatch-Until: %s\n", build->options.until);
	add_list(&out, "Livepatch-CVE", &cves);
	add_list(&out, "Livepatch-Unfixed", &unfixed);
	buffer_printf(&out,
		      "Description: live patches for Linux %s\n"
		      " A cumulative patch of the running kernel, which the machine switches on\n"
		      " without a reboot, and pokepatch's core module for it.  The version is the\n"
		      " patch's level.  At level 0 nothing is patched yet.\n"
		      " .\n"
		      " An older version, or no such package, takes the patch back.\n",
		      build->release);
	error = add_file(package, "DEBIAN/control", out.text);
	buffer_deinit(&out);
	return error;
}

static struct error *add_changelog(const struct package *package)
{
	const struct build *build = package->build;
	_free_ char *path = xasprintf("usr/share/doc/%s/changelog", package->name);
	const time_t when = (time_t)strtoll(package->date, NULL, 10);
	_free_ char *by = maintainer();
	_free_ char *text = NULL;
	char date[64];
	struct tm utc;

	gmtime_r(&when, &utc);
	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S +0000", &utc);
	text = xasprintf("%s (%u) stable; urgency=high\n\n  * Level %u.\n\n -- %s  %s\n",
			 package->name, build->options.level, build->options.level, by, date);
	return add_file(package, path, text);
}

static struct error *fill_package(const struct package *package)
{
	const struct build *build = package->build;
	_free_ char *module = xasprintf("pokepatch-%s.ko", build->name);
	_free_ char *license = xasprintf("usr/share/doc/%s/copyright", package->name);
	_free_ char *file = NULL;

	if (build->ko)
		TRY(add_module(package, build->ko, module, &file));
	TRY(add_core(package));
	TRY(add_control(package));
	TRY(add_file(package, "DEBIAN/postinst", build->ko ? postinst : postinst_empty));
	TRY(add_file(package, "DEBIAN/prerm", prerm));
	TRY(add_file(package, license, copyright));
	return add_changelog(package);
}

static struct error *make_package(const struct package *package, const char *output)
{
	const char *const argv[] = {"sh", "-ec", build_script, "sh", package->root, output, NULL};
	_free_ char *date = xasprintf("SOURCE_DATE_EPOCH=%s", package->date);
	const char *const env[] = {date, NULL};

	return error_prefix(proc_check(argv, &(struct proc_options){.env = env}, NULL),
			    "dpkg-deb cannot make the package");
}

struct error *package_write(struct build *build)
{
	struct package package = {
		.build = build,
		.root = xasprintf("%s/package", build->work),
		.name = package_name(build->release),
	};
	_free_ char *output = xasprintf("%s.deb", package.root);
	struct error *error = choose_date(&package);

	if (!error)
		error = fill_package(&package);
	if (!error)
		error = make_package(&package, output);
	if (!error)
		error = file_copy(output, build->output);
	package_deinit(&package);
	return error;
}
