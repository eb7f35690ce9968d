# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # variables of the harness; the caller sets arch_kernel
# What both kinds of MIPS64 have for the VM harness, on a Malta board.  test/README.md explains the
# variables.  mips64el.sh and mips64r6el.sh set arch_kernel and source this.

arch_uname=mips64
arch_suffix=-$arch_kernel
arch_qemu=qemu-system-mips64el
arch_image=vmlinux
arch_syscall=__se_
arch_machine=(-M malta)
arch_kvm=/dev/kvm
arch_cpu_kvm=(-cpu host)

# Two serial ports of the board's super I/O chip, and the one of its FPGA.
arch_ports=(-serial chardev:log -serial chardev:output -serial chardev:control)
arch_log_tty=ttyS0
arch_output_tty=ttyS1
arch_control_tty=ttyS2
arch_hang_command=
arch_nop_bytes=00000000

# QEMU passes on 255 characters, of which where the initramfs is takes up to 46 (write_bootloader(),
# hw/mips/malta.c).  These kernels know no hash_pointers=.
arch_words_max=209
arch_append=()
arch_slabs='kmalloc-*'
arch_instructions=(16 20 32)
arch_call=48
# What is at the very end of a log of a panic.
arch_last_words="NMI backtrace for cpu"

# Neither kernel has ftrace, nor what goes with it; no switch is live, so that none is exact.
arch_lacks=(
	ftrace direct livepatch bpf nmi preempt-modes entry-probes guard
	split-entries others kcore live exact-live hotplug kexec-file idle-frames single-jumps
	cold-parts optimised-probes alternatives hang-report unwinder suspend module-signatures firmware
	cpuinfo-start system-call-aliases audit
)
# Where a kprobe hits, the kernel lets interrupts come, also within an interrupt (handle_bp), and remembers one probe
# below another; if a third hits there, it goes on as if the second had hit twice (save_previous_kprobe()), and
# ends in a BUG, or anywhere.  So nothing that all contexts call has a probe.
arch_lacks+=(nested-probes)

arch_tests=(
	test/vm/arch/mips.bats
	test/vm/arch/entry-trace.bats
	test/vm/{consistency,entry,history-device,lifecycle,replace,late-parent,callbacks,core}.bats
	test/vm/{stopped,shadows,marks,text-history,faults,core-checks,torture,examples}.bats
	test/vm/{reload,badload,check-and-status,escapes,verify,tracepoints,carriers}.bats
	test/vm/{percpu,install,harness,short-jumps,alternatives,returns}.bats
)
arch_short=(test/vm/arch/{mips,entry-trace}.bats test/vm/{consistency,core-checks}.bats)
