/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which compiler, linker and flags built the kernel, and so compile its units now. */
#ifndef POKEPATCH_TOOLCHAIN_H
#define POKEPATCH_TOOLCHAIN_H

#include "pokepatch-build/build.h"

/*
 * toolchain_cross - CROSS_COMPILE: what --cross-compile names; else the prefix that the kernel was
 * built with, if it was cross-compiled (one machine may have several: MIPS release 6 has tools of
 * its own); else Debian's.  NULL on the machine itself.  Tools in the cache come before the last
 * three.  The caller frees the string.
 */
char *toolchain_cross(const struct build *build);

/*
 * toolchain_find - set build->cc, and build->make_variables to those tools that kbuild would not
 * choose by itself.  build->cross must be set.
 */
struct error *toolchain_find(struct build *build);

/*
 * toolchain_find_flags - set build->user_flags to the KCFLAGS that the kernel was built with: what
 * the recorded command of an empty unit has more than kbuild's present one.  build->make_env must
 * be set.  NULL: there were none, or the folder has no record.
 */
struct error *toolchain_find_flags(struct build *build);
/* toolchain_has_record - is there a recorded command, so that there may be such flags? */
bool toolchain_has_record(const struct build *build);
/* toolchain_identity - add lines that change when what these functions find does. */
struct error *toolchain_identity(const struct build *build, struct buffer *text);

/*
 * toolchain_config - the value of a symbol in the build folder's configuration, without quotes;
 * NULL if it is not set.  The caller frees the string.
 */
char *toolchain_config(const struct build *build, const char *symbol);

#endif /* POKEPATCH_TOOLCHAIN_H */
