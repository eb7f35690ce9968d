# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The build of the core fails if vmlinux lacks a symbol that the core needs (core-module/needed.sh), and its
# files can be compiled together.

load ../vm/helpers

setup() {
	core=$top/build/core/$(cat "$top/build/kernel-release")
	objects=("$core/group_1.o" "$core/group_2.o")
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

# own_names FOLDER - the names that more than one object there has for a variable or function of its own, and
# how many names there are.  A name with a dot is a static variable of a function, $x and $d mark code and data.
own_names() {
	find "$1" -name '*.o' ! -name pokepatch.o ! -name '*.mod.o' ! -name trace.o ! -name trace_entry.o |
		while read -r object; do
			nm --defined-only "$object" | awk '$2 ~ /[bdrt]/ && $3 !~ /[.$]|^__/ { print $3 }' | sort -u
		done | sort | uniq -c | awk '$1 > 1 { print $2 } END { print NR, "names" }'
}

@test "no two files of the core have a static variable of one name: compiled together they would have one" {
	local folder
	for folder in "$top"/build/core-debug/*/; do
		[[ $folder != *-k[ac]san-* ]] || continue # sanitizers add names of their own
		run -0 own_names "$folder"
		echo "$folder: $output"
		[[ $output == *" names" && $output != *$'\n'* && ${output% names} -gt 300 ]]
	done
	# Control: two files that the compiler would take for right, together.
	echo 'static int *last; int *first(void) { return last; }' >one.c
	echo 'static int *last; void set(int *value) { last = value; }' >two.c
	gcc -c one.c && gcc -c two.c
	[ "$(own_names . | head -n 1)" = last ]
}

@test "sparse: every way out of a function lets go of its locks, and address spaces are kept apart" {
	sparse_core
}
