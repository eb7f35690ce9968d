# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# MIPS64 release 2, little endian, for the VM harness; what each variable means is told in
# test/README.md.

arch_kernel=mips64el
arch_release_pattern='*-pokepatch-mips64el-*'
arch_uname=mips64
arch_suffix=-mips64el
arch_qemu=qemu-system-mips64el
arch_image=vmlinux
arch_kbuild=(ARCH=mips CROSS_COMPILE=mips64el-linux-gnuabi64- CC=mips64el-linux-gnuabi64-gcc-12)
arch_slots=4
arch_machine=(-M malta)
arch_kvm=/dev/kvm
arch_cpu_kvm=(-cpu host)
arch_cpu_tcg=(-cpu MIPS64R2-generic)
# The board has one processor of this kind.
arch_most_cpus=1

# Two serial ports of the board's super I/O chip, and the one of its FPGA.
arch_ports=(-serial chardev:log -serial chardev:output -serial chardev:control)
arch_log_tty=ttyS0
arch_output_tty=ttyS1
arch_control_tty=ttyS2

arch_append=()
arch_hang_command=

# What tests ask for (needs, can) and this kernel, which has no ftrace, or the core on it has not; the
# words are explained in arm64.sh; and
#   live            switches are made with the machine stopped
#   kexec-file      no kexec_file_load()
#   idle-frames     do_idle() jumps to schedule_idle(), and is on no stack then
#   hotplug         there is one processor
#   atomics         a patch with a new variable that is counted in by them stays loaded: the differ
#                   does not see that its address goes nowhere
#   preemption      nobody is interrupted within the kernel and not soon gone on with
arch_lacks=(ftrace direct livepatch bpf nmi preempt-modes entry-probes others unwinder optprobes
	split-entries exact-live live atomics hotplug
	kexec-file idle-frames preemption)

# The files that `make check ARCH=mips64el` runs, and those of them that .ci/run does.
arch_tests=(
	test/vm/arch/mips.bats
	test/vm/arch/entry-trace.bats
	test/vm/{consistency,entry,history,lifecycle,late-parent,torture}.bats
)
arch_short=(test/vm/arch/mips.bats test/vm/{entry,history}.bats)

arch_debian=mips64el
arch_cross=mips64el-linux-gnuabi64-
