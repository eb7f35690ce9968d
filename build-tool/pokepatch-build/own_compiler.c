// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Using the kernel's own compiler where the cross compiler makes different code.
 *
 * A distribution may fix the native compiler of an architecture and not the cross compiler for it.
 * Debian's gcc-12 12.2.0-14+deb12u1 for arm64 puts the stack protector's canary elsewhere
 * (CVE-2023-4039), but Debian's cross compiler is 12.2.0-14, so the two make different code for
 * every function with an array on its stack.  In that case we compile units with the architecture's
 * own cc1, which "pokepatch fetch" downloads and an emulator runs.  Driver, assembler and linker do
 * not affect the code, so they remain the cross compiler's.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pokepatch-build/kbuild.h"
#include "common/proc.h"
#include "pokepatch-build/tree.h"

/* "(Debian 12.2.0-14) 12.2.0" in "gcc-12 (Debian 12.2.0-14) 12.2.0"; the line ends at end_at. */
static char *version_of(const char *line, const char *end_at)
{
	size_t name = strcspn(line, " "), length = strcspn(line, end_at);

	return name < length ? xstrndup(line + name + 1, length - name - 1) : NULL;
}

/* The version of the kernel's compiler, according to the configuration; or NULL. */
static struct error *wanted_version(const struct build *build, char **ret)
{
	static const char symbol[] = "\nCONFIG_CC_VERSION_TEXT=\"";
	_free_ char *path = xasprintf("%s/.config", build->files.kbuild);
	_free_ char *text = NULL;
	const char *found;

	*ret = NULL;
	TRY(file_read(path, &text, NULL));
	found = strstr(text, symbol);
	if (found)
		*ret = version_of(found + strlen(symbol), "\"\n");
	return NULL;
}

static struct error *present_version(const struct build *build, char **ret)
{
	const char *const argv[] = {build->cc, "--version", NULL};
	struct buffer out = {};
	struct error *error = proc_check(argv, NULL, &out);

	*ret = error || !out.text ? NULL : version_of(out.text, "\n");
	buffer_deinit(&out);
	return error;
}

/* Does this cc1 run in the emulator, and is it the right version? */
static struct error *is_usable(const struct build *build, const char *cc1, const char *version,
			       bool *ret)
{
	const char *const argv[] = {build->machine->tools.emulator, "-L", build->files.compiler, cc1,
				    "-quiet", "-version", "-o", "/dev/null", "/dev/null", NULL};
	/* Compare "(Debian 12.2.0-14+deb12u1": cc1 prints "version" before the number. */
	_free_ char *vendor = xstrndup(version, strcspn(version, ")"));
	struct proc_result result = {};
	struct error *error = proc_run(argv, NULL, &result);

	*ret = !error && !result.status && result.out.text && strstr(result.out.text, vendor);
	proc_result_deinit(&result);
	if (error && !proc_interrupted()) { /* no such program */
		error_destroy(error);
		error = NULL;
	}
	return error;
}

/* Since Debian 13 it is in usr/libexec; the caller frees the path. */
static char *find_cc1(const struct build *build, const char *number)
{
	static const char *const folders[] = {"libexec", "lib"};
	char *path = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(folders) && !(path && file_exists(path)); i++) {
		free(path);
		path = xasprintf("%s/usr/%s/gcc/%s/%.*s/cc1", build->files.compiler ?: "",
				 folders[i], build->machine->tools.gnu, (int)strcspn(number, "."),
				 number);
	}
	return path;
}

struct error *own_compiler_find(struct build *build)
{
	_free_ char *wanted = NULL, *present = NULL;
	const char *number;
	bool usable = false;

	if (!build->cross || arch_is_native(build->machine))
		return NULL;
	TRY(wanted_version(build, &wanted));
	TRY(present_version(build, &present));
	if (!wanted || !present || !strcmp(wanted, present))
		return NULL;
	number = strrchr(wanted, ' ') ? strrchr(wanted, ' ') + 1 : wanted;
	_free_ char *cc1 = find_cc1(build, number);
	if (build->files.compiler && build->machine->tools.emulator && file_exists(cc1))
		TRY(is_usable(build, cc1, wanted, &usable));
	if (usable)
		build->cc1 = take_pointer(cc1);
	else
		build_note(build,
			   "%s is %s, but kernel %s was compiled by %s: functions that the two "
			   "compile differently will be refused; 'pokepatch fetch %s' downloads "
			   "the kernel's compiler, and package qemu-user has the emulator for it",
			   build->cc, present, build->release, wanted, build->release);
	return NULL;
}

/* Write a script called cc1, and make the driver look for cc1 in its folder first (-B). */
struct error *own_compiler_install(struct build *build)
{
	_free_ char *folder = xasprintf("%s/.pokepatch/compiler", build->tree);
	_free_ char *wrapper = xasprintf("%s/cc1", folder);
	_free_ char *text = NULL;

	if (!build->cc1)
		return NULL;
	text = xasprintf("#!/bin/sh\nexec %s -L '%s' '%s' \"$@\"\n", build->machine->tools.emulator,
			 build->files.compiler, build->cc1);
	TRY(make_dirs(folder));
	TRY(file_write_scratch(wrapper, text, strlen(text)));
	if (chmod(wrapper, 0755))
		return error_errno("cannot write %s", wrapper);
	for (char **p = build->make_env; *p; p++) {
		if (!has_prefix(*p, "CC="))
			continue;
		char *with = xasprintf("%s -B%s/", *p, folder);

		free(*p);
		*p = with;
	}
	return NULL;
}
