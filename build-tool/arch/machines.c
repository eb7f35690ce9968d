// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of all machines, through which the object model finds their operations. */
#include "arch/machines.h"

#include <stddef.h>

const struct arch *const arch_all[] = {
	&arch_arm64,
	&arch_loongarch64,
	&arch_mips,
	&arch_mipsel,
	&arch_mips64,
	&arch_mips64el,
	&arch_ppc64,
	&arch_s390,
	&arch_riscv64,
	&arch_x86_64,
	NULL,
};
