# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # variables of the harness and of the tests
# MIPS64 release 6, little endian, for the VM harness.  test/README.md explains each
# variable.

arch_kernel=mips64r6el
. "${BASH_SOURCE[0]%/*}/malta.bash"

arch_kbuild=(ARCH=mips CROSS_COMPILE=mipsisa64r6el-linux-gnuabi64- CC=mipsisa64r6el-linux-gnuabi64-gcc-12)
arch_slots=3
arch_entry_costs=3
arch_steps=0
arch_jump='jic +8 4'
arch_jump_bytes=000001d8
arch_cpu_tcg=(-cpu I6400)
# With several processors, QEMU does not connect the interrupt of that one.
arch_polled_ttys=ttyS2

# The kernel measures time by the processors' counters, which are a few cycles apart.  Whenever one is
# behind, the kernel sees a step of some 25 s (2^32 cycles).  So time is taken from the interrupt
# controller's counter, and the soft-lockup detector is off once the guest is up (there is no room for it in the
# kernel's command line).  The log's stamps still jump.
arch_append=(clocksource=GIC)
arch_lacks+=(common-clock spin jump-probes)

# Nothing that a processor executes while it waits for others tells QEMU to let these have their turn,
# so that each keeps it for 0.1 s: to stop the machine took half a second, and a transition may try
# only now and then.  An interrupt from elsewhere ends turns, also when it is not taken, so the board's
# old timer, which the kernel has a handler of and no use for, makes 250 a second.
arch_begin="
echo 0 >/proc/sys/kernel/soft_watchdog
[ \$(nproc) -eq 1 ] || {
	port() { printf \$2 | dd of=/dev/port bs=1 seek=\$1 2>/dev/null; }
	port 67 '\\064' && port 64 '\\245' && port 64 '\\022'
}"

# Debian has no programs for it: they are compiled from its sources.
arch_debian=
arch_cross=mipsisa64r6el-linux-gnuabi64-
# With four processors that QEMU gives turns, consistency.bats alone takes five minutes, and torture.bats, by chance,
# six minutes or more.
arch_short=(test/vm/core-checks.bats)
arch_long=(test/vm/torture.bats)
