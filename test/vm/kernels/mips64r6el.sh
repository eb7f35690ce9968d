# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # variables of build, which reads this
# MIPS64 release 6.  build explains each variable.

kernel_configs=(mips mips64r6el)
kernel_arch=mips
kernel_cross=mipsisa64r6el-linux-gnuabi64-
kernel_slots=3
. "$here/mips-common.sh"
