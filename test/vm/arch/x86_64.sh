# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # variables of the harness and of the tests
# x86-64 for the VM harness.  test/README.md explains each variable.

arch_qemu=qemu-system-x86_64
arch_image=vmlinuz
arch_kbuild=(ARCH=x86_64)
arch_syscall=__x64_
arch_machine=(-M q35)
# It has Secure Boot, for which only code in system management mode may write variables.
arch_firmware=/usr/share/OVMF/OVMF_CODE_4M.secboot.fd
arch_firmware_variables=/usr/share/OVMF/OVMF_VARS_4M.fd
arch_firmware_options=(-global 'driver=cfi.pflash01,property=secure,value=on')
arch_kvm=${POKEPATCH_KVM:-/dev/kvm}
arch_cpu_kvm=(-cpu host)
# 5-level paging only makes every page walk under TCG longer.
arch_cpu_tcg=(-cpu max,la57=off)

# Three serial ports: the kernel's console, the script's output, the exit status.
arch_ports=(
	-device isa-serial,chardev=log,index=0
	-device isa-serial,chardev=output,index=1
	-device isa-serial,chardev=control,index=2
)
arch_log_tty=ttyS0
arch_output_tty=ttyS1
arch_control_tty=ttyS2

# An NMI from the monitor makes a guest that hangs tell where it is.  The kernel's check
# that the timer ticks fails, with a panic at worst, when the host is too busy to tick.  The
# ciphers' tests of themselves are an eighth of a boot's time.  The jitter of time, which 6.12 gathers
# at boot, takes minutes where the host has much else to do, with soft lockups.  To find out how long its
# delay loop takes (lpj) would be a fifth of a boot's time; with another clock than that one of 2.1 GHz
# and 250 Hz, short delays are somewhat shorter or longer.
arch_append=(hash_pointers=always unknown_nmi_panic no_timer_check cryptomgr.notests initcall_blacklist=jent_mod_init
	lpj=8400000)
arch_entry_costs=1
# 57 were measured on 6.1.
arch_ftrace_costs=120
arch_steps=3
arch_jump='jmp +0 5'
arch_nop_bytes=0f1f440000
arch_jump_bytes=e9........

# In the slab allocator (alternatives.bats): an instruction for which a call stands where the
# processor has it not.
arch_alternative=cx16
arch_with_alternative=()
arch_without_alternative=(--append clearcpuid=cx16)
# Options, a file and what is in it then (verify.bats).
arch_other_code=(--append indirect_target_selection=force
	--append clearcpuid=cx16,erms,smap,popcnt --append nopv)
arch_other_code_shows=(/sys/devices/system/cpu/vulnerabilities/indirect_target_selection thunks)
# Where instructions of version_proc_show() begin, which are not of its entry; a byte of where a call leads.
arch_instructions=(14 21 28)
arch_call=48
# With IBT, as in Debian's 6.12, ENDBR is in front of the entry.
arch_for_config() { # CONFIG
	if grep -qsx CONFIG_X86_KERNEL_IBT=y "$1"; then
		arch_jump='jmp +4 5'
		arch_instructions=(24 31 35)
		arch_call=50
	fi
}
# What is at the very end of a log of a panic.
arch_last_words="NMI backtrace for cpu"
arch_hang_command=nmi

# It has all that tests ask for (needs, in helpers.bash), but for the firmware's keys in kernels without
# an option that Debian's have.
arch_lacks=(firmware)
arch_options=("firmware LOAD_UEFI_KEYS")
