# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For tests of pokepatch-build with the kernel's real packages from the cache.

bats_require_minimum_version 1.5.0

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$top/build/bin/pokepatch-build

# take_release RELEASE - tests of this file are for that kernel of the cache.  A build prepares the source,
# which the tests make their diffs from, compiles the core, and says where the source is: an earlier version of
# the tool may have left another tree.
take_release() {
	export release=$1 kernel source
	kernel=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$release
	source=$("$program" -V -k "$release" --dry-run "$top/examples/proc-version.patch" 2>&1 |
		grep -o "$kernel/tree-[0-9a-f]*" | sort -u)
}

setup_file() {
	take_release "$(cat "$top/build/kernel-release")"
}

# use_kernel ARCH SERIES - for setup_file of a test file that is about another kernel.
use_kernel() {
	take_release "$("$top/test/fetch-kernel" "$1" "$2" | tail -n 1)"
}

# edited FILE SED... - a diff of the kernel's FILE with that edit, added to x.patch; $source is its tree.
edited() {
	local file=$1
	shift
	mkdir -p "a/${file%/*}" "b/${file%/*}"
	cp "$source/$file" "a/$file"
	sed "$@" "a/$file" >"b/$file"
	diff -u "a/$file" "b/$file" >>x.patch || [ $? -eq 1 ]
}

# A cache of the test's own, with the real packages.
own_cache() {
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	own=$XDG_CACHE_HOME/pokepatch/kernels/$release
	mkdir -p "$own"
	ln -s "$kernel"/{image,dbg,headers,source} "$own/"
}

# Make of $source a folder of the test's own, as a user has one.  Other tests' builds compile units in that of the cache.
own_source() {
	local user=$BATS_TEST_TMPDIR/linux
	cp -al "$source" "$user" 2>/dev/null || cp -a "$source" "$user"
	find "$user" \( -name '*.o' -o -name '.*.cmd' -o -name '.*.d' \) -not -path '*/scripts/*' \
		-not -path '*/tools/*' -delete
	source=$user
}
