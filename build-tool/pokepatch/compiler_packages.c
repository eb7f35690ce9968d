// SPDX-License-Identifier: GPL-2.0-or-later
/* The packages of a kernel's compiler; see compiler_packages.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/proc.h"
#include "object/arch.h"
#include "pokepatch/compiler_packages.h"
#include "pokepatch/kernel_packages.h"

/* ---- what this machine has -------------------------------------------------- */

static const char *gnu_name(const char *debian)
{
	const struct arch *arch = arch_find_debian(debian);

	return arch ? arch->tools.gnu : NULL;
}

/* "x86-64-linux-gnu" in the names of Debian's packages; the caller frees it. */
static char *package_suffix(const char *debian)
{
	char *suffix = xstrdup(gnu_name(debian) ?: debian);

	for (char *c = suffix; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return suffix;
}

/* Debian's package 14.2.0-19 has the compiler that prints 14.2.0. */
static bool is_version(const char *version, const char *printed)
{
	size_t length = strcspn(printed, "\n");

	return length && !strncmp(version, printed, length) &&
	       !isdigit((unsigned char)version[length]) && version[length] != '.';
}

bool compiler_on_path(const char *arch, const char *compiler, const char *version)
{
	_free_ char *program = xasprintf("%s-%s", gnu_name(arch) ?: arch, compiler);
	const char *const argv[] = {program, "-dumpfullversion", NULL};
	struct buffer out = {0};
	struct error *error = proc_check(argv, NULL, &out);
	bool found = !error && (!version || (out.text && is_version(version, out.text)));

	error_destroy(error);
	buffer_deinit(&out);
	return found;
}

/* ---- packages with what they depend on -------------------------------------- */

/*
 * What compiling a kernel needs nothing of.  libgcc-N-dev is needed for its headers alone
 * (arm_neon.h), and not for the libraries of sanitizers, on which it depends.
 */
static const struct {
	const char *prefix, *suffix;
	bool package; /* leave out the package itself, not only what it depends on */
} not_needed[] = {
	{"libgcc-", "-dev", false}, {"libgcc-", "-cross", false}, {"libcc1-", "", true},
	{"gcc-", "-base", true},    {"linux-kbuild-", "", true},
};

static bool leaves_out(const char *name, bool package)
{
	for (size_t i = 0; i < ARRAY_SIZE(not_needed); i++) {
		if (has_prefix(name, not_needed[i].prefix) &&
		    has_suffix(name, not_needed[i].suffix) &&
		    (not_needed[i].package || !package))
			return true;
	}
	return false;
}

/* Add the names of the first alternatives of a Depends field (Debian Policy 7.1) to a list. */
static void add_depends(const char *depends, struct args *names)
{
	for (const char *p = depends; *p; p += strcspn(p, ",")) {
		p += strspn(p, " ,");
		_free_ char *name = xstrndup(p, strcspn(p, " ,|([:"));

		if (kernel_part_of(name) == PART_COMPILER && !leaves_out(name, true))
			args_add(names, name);
	}
}

static struct error *show_of_arch(struct apt *apt, const struct args *names, const char *arch,
				  struct apt_packages *ret)
{
	struct args queries = {0};
	struct error *error;

	for (size_t i = 0; i < names->count; i++)
		args_addf(&queries, "%s:%s", names->list[i], arch);
	error = apt_show_candidates(apt, (const char *const *)queries.list, ret);
	args_deinit(&queries);
	return error;
}

/*
 * Add the packages in @names, of an architecture, and all that they depend on; each once.  A
 * package that does not exist, such as a virtual one, is left out.  Takes over names.
 */
static struct error *add_all(struct apt *apt, struct args names, const char *arch,
			     struct apt_packages *ret)
{
	struct map known = {0};
	struct args all = {0}; /* keeps the keys of known */
	struct error *error = NULL;

	while (names.count && !error) {
		struct apt_packages found = {0};
		struct args next = {0};

		error = show_of_arch(apt, &names, arch, &found);
		for (size_t i = 0; !error && i < found.count; i++) {
			const struct apt_package *package = &found.list[i];

			if (map_has(&known, package->name))
				continue;
			args_add(&all, package->name);
			map_slot(&known, all.list[all.count - 1]);
			apt_packages_add(ret, package);
			if (!leaves_out(package->name, false))
				add_depends(package->depends, &next);
		}
		apt_packages_deinit(&found);
		args_deinit(&names);
		for (size_t i = 0; i < next.count; i++) {
			if (!map_has(&known, next.list[i]))
				args_add(&names, next.list[i]);
		}
		args_deinit(&next);
	}
	args_deinit(&names);
	map_deinit(&known);
	args_deinit(&all);
	return error;
}

/* ---- which compiler --------------------------------------------------------- */

/*
 * "14" for headers that depend on "gcc-14", "gcc-14-for-host" or "linux-compiler-gcc-12-arm"; NULL:
 * they depend on none.  The caller frees it.
 */
static char *compiler_number(const struct apt_package *headers)
{
	const char *found = headers->depends;

	while ((found = strstr(found, "gcc-"))) {
		size_t digits = strspn(found + 4, "0123456789");

		if (digits)
			return xstrndup(found + 4, digits);
		found += 4;
	}
	return NULL;
}

/* The version of a package that apt would install; the caller frees it, NULL: there is none. */
static struct error *candidate(struct apt *apt, const char *name, const char *arch, char **ret)
{
	_free_ char *query = xasprintf("%s:%s", name, arch);
	const char *const queries[] = {query, NULL};
	struct apt_packages found;

	*ret = NULL;
	TRY(apt_show_candidates(apt, queries, &found));
	if (found.count)
		*ret = xstrdup(found.list[0].version);
	apt_packages_deinit(&found);
	return NULL;
}

/*
 * The package with the compiler for a machine that runs on this one: "gcc-14-x86-64-linux-gnu".
 * Before Debian 13 the native compiler is in "gcc-12" itself.
 */
static struct error *find_toolchain(struct apt *apt, const char *number, char **ret_name,
				    char **ret_version)
{
	_free_ char *suffix = package_suffix(apt->arch);
	_free_ char *name = xasprintf("gcc-%s-%s", number, suffix);

	TRY(candidate(apt, name, apt->native, ret_version));
	if (!*ret_version && !strcmp(apt->arch, apt->native)) {
		free(name);
		name = xasprintf("gcc-%s", number);
		TRY(candidate(apt, name, apt->native, ret_version));
	}
	*ret_name = take_pointer(name);
	return NULL;
}

/* Is the architecture's own compiler the same as the cross compiler ("14.2.0-19cross1")? */
static bool is_same_compiler(const char *own, const char *cross)
{
	const char *mark = cross ? strstr(cross, "cross") : NULL;

	return mark && strlen(own) == (size_t)(mark - cross) && !strncmp(own, cross, mark - cross);
}

static struct error *add_own(struct apt *apt, const char *number, const char *cross,
			     struct apt_packages *ret)
{
	_free_ char *name = xasprintf("cpp-%s", number);
	_free_ char *own = NULL;
	struct args names = {0};

	TRY(candidate(apt, name, apt->arch, &own));
	if (!own || is_same_compiler(own, cross))
		return NULL;
	args_add(&names, name);
	return add_all(apt, names, apt->arch, ret);
}

struct error *compiler_resolve(struct apt *apt, const struct apt_package *headers,
			       const struct apt_package *kbuild, struct apt_packages *ret)
{
	_free_ char *number = compiler_number(headers);
	_free_ char *compiler = xasprintf("gcc-%s", number ?: "");
	_free_ char *suffix = package_suffix(apt->arch);
	_free_ char *name = NULL, *version = NULL;
	struct args names = {0};
	bool fetched;

	if (!number)
		return NULL;
	TRY(find_toolchain(apt, number, &name, &version));
	fetched = version && !compiler_on_path(apt->arch, compiler, version);
	if (fetched) {
		args_add(&names, name);
		args_addf(&names, "binutils-%s", suffix);
	}
	if (kbuild && apt->suites)
		add_depends(kbuild->depends, &names);
	if (names.count)
		TRY(add_all(apt, names, apt->native, ret));
	if (strcmp(apt->arch, apt->native))
		return add_own(apt, number, fetched ? version : NULL, ret);
	return NULL;
}
