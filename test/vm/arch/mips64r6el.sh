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

# What tests ask for (needs, can) and this kernel, which has no ftrace, or the core on it has not; the
# words are explained in arm64.sh.
arch_lacks=(ftrace direct livepatch bpf nmi preempt-modes entry-probes others unwinder optprobes
	split-entries exact-live)

# Debian has no programs for it: they are compiled from its sources.
arch_debian=
arch_cross=mipsisa64r6el-linux-gnuabi64-
