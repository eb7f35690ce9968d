/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The packages of a kernel's compiler, for machines that do not have it. */
#ifndef POKEPATCH_CLI_COMPILER_PACKAGES_H
#define POKEPATCH_CLI_COMPILER_PACKAGES_H

#include "pokepatch/apt.h"

/*
 * compiler_resolve - add the packages of the compiler that a kernel was built with, as far as the
 * package sources have them:
 *
 * - if this machine lacks the compiler, compiler and binutils for the kernel's machine that run on
 *   this one, with their libraries;
 * - if @kbuild has programs of another Debian, the libraries of these programs;
 * - for another architecture, that architecture's own compiler, if it is of another version than
 *   the cross compiler (pokepatch-build/own_compiler.c).
 *
 * @headers: the package linux-headers-R, which depends on the compiler.
 * @kbuild: the package linux-kbuild; NULL: its programs are built here.
 */
struct error *compiler_resolve(struct apt *apt, const struct apt_package *headers,
			       const struct apt_package *kbuild, struct apt_packages *ret);

/*
 * compiler_on_path - has this machine the compiler "gcc-14" for Debian's architecture @arch, in a
 * version that @version begins with (NULL: in any)?
 */
bool compiler_on_path(const char *arch, const char *compiler, const char *version);

#endif /* POKEPATCH_CLI_COMPILER_PACKAGES_H */
