# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# MIPS64 release 6, little endian, for the VM harness; what each variable means is told in
# test/README.md.

arch_kernel=mips64r6el
arch_release_pattern='*-pokepatch-mips64r6el-*'
arch_uname=mips64
arch_suffix=-mips64r6el
arch_qemu=qemu-system-mips64el
arch_image=vmlinux
arch_kbuild=(ARCH=mips CROSS_COMPILE=mipsisa64r6el-linux-gnuabi64- CC=mipsisa64r6el-linux-gnuabi64-gcc-12)
arch_slots=3
arch_machine=(-M malta)
arch_kvm=/dev/kvm
arch_cpu_kvm=(-cpu host)
arch_cpu_tcg=(-cpu I6400)

# Two serial ports of the board's super I/O chip, and the one of its FPGA.
arch_ports=(-serial chardev:log -serial chardev:output -serial chardev:control)
arch_log_tty=ttyS0
arch_output_tty=ttyS1
arch_control_tty=ttyS2
# With several processors, QEMU does not connect the interrupt of that one.
arch_polled_ttys=ttyS2

# The processors' counters, by which the kernel measures time, are a few cycles apart, which makes
# some 25 s of it (2^32 of them) whenever one is behind: time is taken from the interrupt
# controller's, and nobody is said to hang.  The log's stamps still jump.
arch_append=(clocksource=GIC nosoftlockup)
arch_hang_command=

# Nothing that a processor executes while it waits for others tells QEMU to let these have their turn,
# so that each keeps it for 0.1 s: to stop the machine took half a second, and a transition may try
# only now and then.  An interrupt from elsewhere ends turns, also when it is not taken, so the board's
# old timer, which the kernel has a handler of and no use for, makes 250 a second.
arch_begin="
[ \$(nproc) -eq 1 ] || {
	port() { printf \$2 | dd of=/dev/port bs=1 seek=\$1 2>/dev/null; }
	port 67 '\\064' && port 64 '\\245' && port 64 '\\022'
}"

# What tests ask for (needs, can) and this kernel, which has no ftrace, or the core on it has not; the
# words are explained in arm64.sh; and
#   live            switches are made with the machine stopped
#   common-clock    QEMU's processors have a counter each, some tenths of a second apart
#   kexec-file      no kexec_file_load()
#   idle-frames     do_idle() jumps to schedule_idle(), and is on no stack then
#   hotplug         QEMU cannot switch one of its processors off: the kernel panics
#   atomics         a patch with a new variable that is counted in by them stays loaded: the differ
#                   does not see that its address goes nowhere
arch_lacks=(ftrace direct livepatch bpf nmi preempt-modes entry-probes others unwinder optprobes
	split-entries exact-live live atomics hotplug
	kexec-file idle-frames common-clock)

# The files that `make check ARCH=mips64r6el` runs.  Not among ARCH=all's, so that nobody has to build
# two MIPS kernels who does not want to.
arch_tests=(
	test/vm/arch/mips.bats
	test/vm/arch/entry-trace.bats
	test/vm/{consistency,entry,history,lifecycle,late-parent,torture}.bats
)
arch_short=(test/vm/arch/mips.bats test/vm/{entry,history}.bats)

# Debian has no programs for it: they are compiled from its sources.
arch_debian=
arch_cross=mipsisa64r6el-linux-gnuabi64-
