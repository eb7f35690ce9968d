# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # variables of build, which reads this
# MIPS64 release 2.  build explains each variable.

kernel_configs=(mips mips64el)
kernel_arch=mips
kernel_cross=mips64el-linux-gnuabi64-
kernel_slots=4
. "$here/mips-common.sh"
