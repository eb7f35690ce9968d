/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For diffs that were written for kpatch: its macros for system calls.
 *
 * kpatch cannot replace __do_sys_NAME(), which has no entry that ftrace could use, and has macros
 * that give that function another name.  pokepatch carries such a function, and replaces its
 * callers, which have entries.  So the kernel's own macros do.
 *
 * The macros take no arguments, so that the name of a system call is not expanded where it is the
 * name of a macro, too.
 */
#ifndef POKEPATCH_KPATCH_SYSCALL_H
#define POKEPATCH_KPATCH_SYSCALL_H

#include "kpatch-macros.h"

#include <linux/syscalls.h>

#define KPATCH_SYSCALL_DEFINE0 SYSCALL_DEFINE0
#define KPATCH_SYSCALL_DEFINE1 SYSCALL_DEFINE1
#define KPATCH_SYSCALL_DEFINE2 SYSCALL_DEFINE2
#define KPATCH_SYSCALL_DEFINE3 SYSCALL_DEFINE3
#define KPATCH_SYSCALL_DEFINE4 SYSCALL_DEFINE4
#define KPATCH_SYSCALL_DEFINE5 SYSCALL_DEFINE5
#define KPATCH_SYSCALL_DEFINE6 SYSCALL_DEFINE6
#define KPATCH_SYSCALL_DEFINEx SYSCALL_DEFINEx

#endif /* POKEPATCH_KPATCH_SYSCALL_H */
