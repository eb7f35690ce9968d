# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# make and its scripts on an arm64 machine, of which only uname is there.  `test/hosts --arch arm64` has a
# whole one.

bats_require_minimum_version 1.5.0

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\necho "${MACHINE:-aarch64}"\n' >"$BATS_TEST_TMPDIR/bin/uname"
	chmod +x "$BATS_TEST_TMPDIR/bin/uname"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	cd "$top" || return
	unset ARCH CHECK KERNEL MAKEFLAGS POKEPATCH_ARCH POKEPATCH_KERNEL
}

# variable NAME [MAKE-ARGUMENT...] - its value in the Makefile.
variable() {
	printf 'include Makefile\nprint:\n\t@echo "$(%s)"\n' "$1" | make -s -f - print "${@:2}"
}

@test "the machine's own kernel is the default: no cross compiler, no programs for guests" {
	[ "$(variable ARCH)" = arm64 ]
	[ "$(variable fetched_arch)" = arm64 ]
	[ "$(variable cross)" = "" ]
	[ "$(variable kernel_release)" = build/kernel-release ]
	[ "$(variable architectures)" = arm64 ]
	[ "$(variable all_checks)" = check-arm64 ]
	run -2 make known-arch ARCH=x86_64
	[[ $output == *"ARCH=x86_64: on arm64 machines, ARCH is one of: arm64. "* ]]
	# And for an x86-64 machine arm64 is another.
	export MACHINE=x86_64
	[ "$(variable ARCH)" = x86_64 ]
	[ "$(variable cross ARCH=arm64)" = aarch64-linux-gnu- ]
	[ "$(variable kernel_release ARCH=arm64)" = build/kernel-release-arm64 ]
	[ "$(variable architectures)" = "x86_64 arm64 mips64el" ]
	[ "$(variable all_checks)" = "check-x86_64 check-arm64 check-mips64el check-debug check-mips64r6el" ]
	[ "$(variable all_checks CHECK=short)" = \
		"check-x86_64 check-arm64 check-mips64el check-$(test/eighth --turn debug mips64r6el)" ]
}

@test "packages: the machine's own QEMU, and no compilers across to itself" {
	test/setup --demo --arch arm64 --list >"$BATS_TEST_TMPDIR/demo"
	test/setup --list >"$BATS_TEST_TMPDIR/all"
	grep -qx qemu-system-arm "$BATS_TEST_TMPDIR/demo"
	grep -qx gcc-12 "$BATS_TEST_TMPDIR/demo"
	run -1 grep -e x86 -e aarch64 -e arm64 "$BATS_TEST_TMPDIR/demo" "$BATS_TEST_TMPDIR/all"
	export MACHINE=riscv64
	run -1 test/setup --list
	[[ $output == *"x86_64 and arm64 machines; this is riscv64" ]]
}

@test "a guest of arm64 is not foreign there, and one of x86-64 is refused" {
	settings() {
		bash -c '. test/vm/arch/arm64.sh; echo "${arch_suffix:-none} ${arch_cross:-none} ${arch_kbuild[*]}"'
	}
	[ "$(settings)" = "none none ARCH=arm64" ]
	run -121 test/vm/vm release --arch x86_64
	[[ $output == *"its guests run on x86_64 machines alone, and this one is aarch64" ]]
	export MACHINE=x86_64
	[ "$(settings)" = "-arm64 aarch64-linux-gnu- ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-" ]
}

@test "what needs an x86-64 machine is left out with its reason, and everything else is run" {
	local file reason
	# Every row names a test.
	while IFS=$'\t' read -r file reason; do
		[ -e "$file" ] && [ -n "$reason" ] || { echo "$file: $reason"; return 1; }
	done < <(grep -v '^#' test/x86_64-only)
	cd "$BATS_TEST_TMPDIR"
	mkdir -p tree/test/vm/arch tree/test/host tree/test/pairs
	cp "$top"/test/{run,host-arch,x86_64-only} tree/test/
	cp "$top/test/vm/arch/arm64.sh" tree/test/vm/arch/
	touch tree/test/host/{build,house}.bats tree/test/pairs/run
	printf '#!/bin/sh\necho 1..1; echo "ok 1 $3"\n' >bin/bats
	chmod +x bin/bats
	tree/test/run >out
	grep -q '^  -  *test/host/build.bats: left out, it needs an x86-64 machine: edits' out
	grep -q '^  ok  *test/host/house.bats' out
	grep -q '^  ok  *test/vm/arch/arm64.bats' out
	run -1 grep 'ok .*build.bats' out
	grep -qx '2 files left out, which need an x86-64 machine' out
	# Of an x86-64 machine's tests none is left out.
	MACHINE=x86_64 tree/test/run >out || :
	run -1 grep 'left out' out
	# On any machine, test/run begins no file when the time is over, and says so.
	POKEPATCH_CHECK_UNTIL=$(($(date +%s) - 1)) run -0 tree/test/run
	grep -q '^  -  *test/host/house.bats: left out, there is no time for it' <<<"$output"
	grep -q '^[0-9]* files left out, for which there was no time' <<<"$output"
	[ "${lines[-1]}" = "0 passed, 0 failed" ]
	POKEPATCH_CHECK_UNTIL=$(($(date +%s) + 100)) tree/test/run >out
	run -1 grep 'no time' out
}
