# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # variables of the harness and of the tests
# MIPS64 release 2, little endian, for the VM harness.  test/README.md explains each
# variable.

arch_kernel=mips64el
. "${BASH_SOURCE[0]%/*}/malta.bash"

arch_kbuild=(ARCH=mips CROSS_COMPILE=mips64el-linux-gnuabi64- CC=mips64el-linux-gnuabi64-gcc-12)
arch_slots=4
arch_entry_costs=4
arch_steps=0
arch_jump='jr +8 4'
arch_jump_bytes=08002000
arch_cpu_tcg=(-cpu MIPS64R2-generic)
# The board has one processor of this kind.
arch_most_cpus=1
# The kernel is not preemptible.
arch_lacks+=(preemption relative-calls stoppers)

arch_debian=mips64el
arch_cross=mips64el-linux-gnuabi64-
