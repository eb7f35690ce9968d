# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The build of the core fails if vmlinux lacks a symbol that the core needs (core-module/needed.sh).

bats_require_minimum_version 1.5.0

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	core=$top/build/core/$(cat "$top/build/kernel-release")
	objects=("$core/kernel_symbols.o" "$core/arch/x86.o")
	cd "$BATS_TEST_TMPDIR" || return
	# A kernel with every symbol once: print-symbols stands in for nm.
	sed 's/^\([^ ]*\) .*/ffffffff81000000 T \1/' "$core/needed.txt" >symbols
	[ "$(wc -l <symbols)" -gt 40 ]
	printf '#!/bin/sh\ncat symbols\n' >print-symbols
	chmod +x print-symbols
}

needed() {
	NM=./print-symbols OBJCOPY=objcopy "$top/core-module/needed.sh" vmlinux "${objects[@]}"
}

@test "each symbol once: the build goes on" {
	needed >rows
	cmp rows <(sed 's/ [0-9]*$/ 1/' "$core/needed.txt")
}

@test "a symbol that is missing, or that two have" {
	sed -i '/ text_mutex$/d; s/.* idle_task$/&\n&/' symbols
	run -1 needed
	[[ $output == *"vmlinux has no symbol text_mutex, which the core needs"* ]]
	[[ $output == *"vmlinux has 2 symbols idle_task, which the core needs"* ]]
}

@test "an optional symbol may be missing, or there may be several" {
	sed -i '/ __indirect_thunk_start$/d; s/.* bp_desc$/&\n&/' symbols
	needed >rows
	grep -x "__indirect_thunk_start optional 0" rows
	grep -x "bp_desc optional 2" rows
}
