# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# arm64 for the VM harness; what each variable means is told in test/README.md.

arch_release_pattern='*-cloud-arm64'
arch_uname=aarch64
arch_suffix=-arm64
arch_qemu=qemu-system-aarch64
arch_image=vmlinuz
arch_kbuild=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-)
arch_syscall=__arm64_
# Without the memory window above 4 GB, of which the kernel complains that it is large.
arch_machine=(-M virt,highmem=off)
arch_kvm=/dev/kvm
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

arch_append=()
# It has no NMI.
arch_hang_command=

# What tests ask for (needs, can) and neither 6.1's arm64 nor the core on it has:
#   direct          ftrace cannot call a function directly
#   livepatch       no kernel live patches
#   bpf             programs at functions' entries need direct calls
#   nmi             a module cannot have a handler of NMIs
#   preempt-modes   the kernel is not preemptible, and cannot be told to be
#   entry-probes    a probe at a function's start stands in front of its entry site
#   others          all that others write comes by no one function that could be listened at
#   unwinder        stacks are judged by frame records or words; nothing is unreliable, and
#                   no unwinder is there to look at twice
#   optprobes       probes are not optimised
#   split-entries   each entry is in one word
#   rcu-tasks       a kernel that is not preemptible has only RCU
#   kexec           no kexec_file_load(), by which a program can start a kernel of any machine
#   exact-live      a live switch writes one store at a time: when a processor meets it has an interval
arch_lacks=(direct livepatch bpf nmi preempt-modes entry-probes others unwinder optprobes
	split-entries rcu-tasks kexec exact-live)

# The files that `make check ARCH=arm64` runs, and those of them that .ci/run has the time for:
# patches take long to build where the kernel's own compiler is emulated.
arch_tests=(
	test/vm/arch/arm64.bats
	test/vm/{consistency,entry,history,live,lifecycle,replace,late-parent,callbacks,core}.bats
	test/vm/{stopped,shadows,marks,livepatch,torture,examples}.bats
)
arch_short=(test/vm/arch/arm64.bats test/vm/{entry,history}.bats)

# Programs of the guest's are not this machine's.
arch_debian=arm64
arch_cross=aarch64-linux-gnu-
