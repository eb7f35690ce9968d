# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # variables of the harness and of the tests
# arm64 for the VM harness.  test/README.md explains each variable.

arch_uname=aarch64
arch_suffix=-arm64
arch_qemu=qemu-system-aarch64
arch_image=vmlinuz
arch_kbuild=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-)
arch_syscall=__arm64_
# Without the memory window above 4 GB, of which the kernel complains that it is large.
arch_machine=(-M virt,highmem=off)
arch_kvm=${POKEPATCH_KVM:-/dev/kvm}
arch_cpu_kvm=(-cpu host)
# Without pointer authentication, which takes TCG long to compute; with it and BTI:
# --cpu max,pauth-impdef=on
arch_cpu_tcg=(-cpu cortex-a72)

# The machine's own serial port for the kernel's console, and two on its PCI bus.
arch_ports=(
	-serial chardev:log
	-device pci-serial,chardev=output
	-device pci-serial,chardev=control
)
arch_log_tty=ttyAMA0
arch_output_tty=ttyS0
arch_control_tty=ttyS1

arch_append=(hash_pointers=always)
arch_entry_costs=2
# 197 were measured on 6.1.
arch_ftrace_costs=250
arch_steps=0
arch_jump='b +4 4'
arch_nop_bytes=1f2003d5
arch_jump_bytes=......1.

# Instructions of LSE, for loops of exclusive loads and stores, also in the slab allocator.
arch_alternative=atomics
arch_with_alternative=(--cpu max,pauth-impdef=on)
arch_without_alternative=()
arch_other_code=("${arch_with_alternative[@]}")
arch_other_code_shows=(/proc/cpuinfo " bti")
arch_instructions=(16 20 24)
arch_call=48
# What is at the very end of a log of a panic: who ran on which processor.
arch_last_words='>R *modprobe'
# It has no NMI.
arch_hang_command=

arch_lacks=(
	direct livepatch bpf nmi preempt-modes entry-probes guard others near-modules tail-calls
	split-entries rcu-tasks kexec exact-live
	data-symbols cold-parts optimised-probes hang-report unwinder suspend firmware cpuinfo-start
	system-call-aliases
)
# Linux 6.12 has some of these, as Debian configures it.
arch_options=(
	"bpf DYNAMIC_FTRACE_WITH_DIRECT_CALLS"
	"data-symbols KALLSYMS_ALL"
	"livepatch LIVEPATCH"
	"preempt-modes PREEMPT_DYNAMIC"
	"rcu-tasks TASKS_RCU"
)

# The files that `make check ARCH=arm64` runs, and those of them that .ci/run has the time for:
# patches take long to build where the kernel's own compiler is emulated.
arch_tests=(
	test/vm/arch/arm64.bats
	test/vm/{consistency,core-checks,entry,history-device,live,lifecycle,replace,late-parent,callbacks,core}.bats
	test/vm/{stopped,shadows,marks,text-history,faults,livepatch,format-livepatch,torture,examples}.bats
	test/vm/{reload,badload,check-and-status,escapes,verify,tracepoints,new-code,carriers}.bats
	test/vm/{percpu,install,harness,short-jumps,alternatives,returns}.bats
)
arch_short=(test/vm/arch/arm64.bats test/vm/{consistency,core-checks}.bats)

# Programs of the guest's are not this machine's.
arch_debian=arm64
arch_cross=aarch64-linux-gnu-
# On an arm64 machine they are.
[ "$(uname -m)" != "$arch_uname" ] || arch_suffix='' arch_cross='' arch_kbuild=(ARCH=arm64)
