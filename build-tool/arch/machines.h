/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of each machine.  Programs find them with arch_find() (object/arch.h). */
#ifndef POKEPATCH_MACHINES_H
#define POKEPATCH_MACHINES_H

#include "object/arch.h"

extern const struct arch arch_arm64, arch_loongarch64, arch_mips, arch_mipsel, arch_mips64;
extern const struct arch arch_mips64el, arch_ppc64, arch_riscv64, arch_s390, arch_x86_64;

#endif /* POKEPATCH_MACHINES_H */
