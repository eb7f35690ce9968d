# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # variables of machine() in helpers.bash
# How objects for other machines are made, linked and run: machine NAME calls machine_NAME.

machine_arm64() {
	triple=aarch64-linux-gnu
	qemu=qemu-aarch64
	machine_flags=(-mgeneral-regs-only -mno-outline-atomics -fpatchable-function-entry=2)
	start='bl main; mov x8, #94; svc #0'
}

machine_loongarch64() {
	triple=loongarch64-linux-gnusf
	qemu=qemu-loongarch64
	machine_flags=(-mabi=lp64s -fdirect-access-external-data -fpatchable-function-entry=2)
	start='bl main; li.w \$a7, 94; syscall 0'
	# Debian 12 has neither gcc nor binutils for it.
	ld=ld.lld-19 nm=llvm-nm-19 objcopy=llvm-objcopy-19
	runner_cc=(clang-19 "--target=$triple" -fuse-ld=lld-19)
}

# mips_words ABI RELEASE NOPS - what all of MIPS share.
mips_words() {
	# pokepatch-as: gcc 12 leaves the entry's NOPs before the label.
	machine_flags=("-mabi=$1" -mno-abicalls -fno-pic -G0 -msoft-float "-march=$2"
		"-fpatchable-function-entry=$3" "-B$top/build/libexec/")
}

# mips_start EXIT - begin a program that ends with this system call.
mips_start() {
	start=".set noreorder; jal main; nop; move \\\$4, \\\$2; li \\\$2, $1; syscall; .set reorder"
}

# o32, by the compiler for 64 bits.
machine_mips() {
	triple=mips64-linux-gnuabi64
	qemu=qemu-mips
	ld_flags=(-m elf32btsmip)
	mips_words 32 mips32r2 4
	mips_start 4001
}

machine_mipsel() {
	triple=mips64el-linux-gnuabi64
	qemu=qemu-mipsel
	ld_flags=(-m elf32ltsmip)
	mips_words 32 mips32r2 4
	mips_start 4001
}

machine_mips64() {
	triple=mips64-linux-gnuabi64
	qemu=qemu-mips64
	mips_words 64 mips64r2 4
	mips_start 5205
}

machine_mips64el() {
	triple=mips64el-linux-gnuabi64
	qemu=qemu-mips64el
	mips_words 64 mips64r2 4
	mips_start 5205
}

machine_mips64r6el() {
	triple=mipsisa64r6el-linux-gnuabi64
	mips_words 64 mips64r6 3
}

machine_ppc64le() {
	triple=powerpc64le-linux-gnu
	qemu=qemu-ppc64le
	machine_flags=(-mabi=elfv2 -mcmodel=medium -mcpu=power8 -msoft-float -mno-altivec -mno-vsx
		-mtraceback=no -mno-pointers-to-nested-functions -pg -mprofile-kernel)
	start='bcl 20, 31, 1f; 1: mflr 12; addis 2, 12, .TOC.-1b@ha; addi 2, 2, .TOC.-1b@l; bl main; nop; li 0, 234; sc'
	# What "mflr r0; bl _mcount" does without a tracer.
	thunks='.globl _mcount
_mcount: mflr 12; mtlr 0; mtctr 12; bctr'
}

machine_riscv64() {
	triple=riscv64-linux-gnu
	qemu=qemu-riscv64
	machine_flags=(-mabi=lp64 -march=rv64imac -mcmodel=medany -fpatchable-function-entry=8)
	# The program begins without a global pointer.
	link_flags=(-Wl,--no-relax)
	start='call main; li a7, 94; ecall'
}

machine_s390x() {
	triple=s390x-linux-gnu
	qemu=qemu-s390x
	machine_flags=(-m64 -fPIE -mpacked-stack -mbackchain -msoft-float -march=zEC12 -pg -mfentry
		-mrecord-mcount -mnop-mcount)
	start='aghi %r15, -160; brasl %r14, main; svc 248'
}
