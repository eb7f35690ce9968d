# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Tests use the kernel and the source that test/kernels names, whatever else is in the cache.
# kernels.bats has this for kernels of our own.

load repository

machine=$("$top/test/host-arch")
other=arm64 # Debian's name of an architecture that this machine is not of
[ "$machine" != arm64 ] || other=amd64

# series ARG... - test/fetch-kernel, with one row in its file: the release of this repository.
series() {
	export POKEPATCH_TEST_KERNELS=$BATS_TEST_TMPDIR/kernels
	export POKEPATCH_TEST_WARNINGS=$BATS_TEST_TMPDIR/warnings
	printf '# text\n1.2 %s %s %s\n' "$machine" "$release" "${named_version:-$version}" >"$POKEPATCH_TEST_KERNELS"
	run --separate-stderr "$top/test/fetch-kernel" "$@"
}

# is RELEASE - the last one printed that, and succeeded.
is() {
	[ "$status" -eq 0 ] && [ "$output" = "$1" ] && return
	printf 'status %s, not %s:\n%s\n%s\n' "$status" "$1" "$output" "$stderr"
	return 1
}

warnings() {
	cat "$BATS_TEST_TMPDIR"/warnings/* 2>/dev/null
}

# without RELEASE - the archive drops it.
without() {
	awk -v RS= -v ORS='\n\n' -v name="linux-image-$1" '$2 != name' "$repo/Packages" >"$repo/new"
	mv "$repo/new" "$repo/Packages"
	index
	rm -f "$cache/apt/$arch/updated"
}

@test "a series is the release that test/kernels names, with newer ones in archive and cache" {
	add_kernel 1.2.3-8 1.2.3-8
	add_kernel 1.20.0-1 1.20.0-1
	index
	"$pokepatch" fetch "1.2.3-8-$flavour"
	"$pokepatch" fetch "1.20.0-1-$flavour"
	series "$machine" 1.2
	is "$release"
	run ! warnings
	# And without them.
	rm -r "$cache/kernels/"*"-8-$flavour" "$cache/kernels/1.20"*
	series "$machine" 1.2
	is "$release"
	# What is there needs no archive.
	rm -r "$repo"
	series "$machine" 1.2
	is "$release"
	run ! warnings
}

@test "when the archive has dropped it, a newer one of the series is taken, loudly" {
	add_kernel 1.2.3-8 1.2.3-8
	add_kernel 1.2.3-9 1.2.3-9
	add_kernel 1.20.0-1 1.20.0-1
	index
	"$pokepatch" fetch "1.2.3-9-$flavour"
	without "$release"
	without "1.2.3-9-$flavour" # it is in the cache alone, and so does not count
	series "$machine" 1.2
	is "1.2.3-8-$flavour"
	[[ $stderr == *"WARNING: the archive has no $release any more"*"testing 1.2.3-8-$flavour"* ]]
	[[ $(warnings) == "WARNING: the archive has no $release"* ]]
	# test/run says it again, in front of its last line, and its result is the tests' own.
	grep -q 'cat build/test/warnings' "$top/test/run"
}

@test "of newest-SERIES it is the newest that the archive has, and no other series" {
	add_kernel 1.2.3-8 1.2.3-8
	add_kernel 1.20.0-1 1.20.0-1
	index
	series "$machine" newest-1.2
	is "1.2.3-8-$flavour"
	run ! warnings
	series --check "$machine" newest-1.2
	is ""
	series --check "$machine" newest-1.3
	[ "$status" -eq 1 ]
}

@test "without an archive nothing else in the cache stands in for it" {
	add_kernel 1.2.3-8 1.2.3-8
	index
	"$pokepatch" fetch "1.2.3-8-$flavour"
	rm -r "$repo"
	touch -d '2 days ago' "$cache/apt/$arch/updated"
	series "$machine" 1.2
	[ "$status" -eq 1 ]
	[ -z "$output" ]
}

@test "a warning names the version, if it is not the one in test/kernels" {
	named_version=1.2.3-0 series "$machine" 1.2
	is "$release"
	[[ $(warnings) == "WARNING: $release is of version $version, and of 1.2.3-0 in test/kernels" ]]
	series "$machine" 1.2
	is "$release"
	run ! warnings
}

@test "a release can be named, and a KERNEL that is neither is one line" {
	add_kernel 1.2.3-8 1.2.3-8
	index
	series "$machine" "1.2.3-8-$flavour"
	is "1.2.3-8-$flavour"
	series "$machine" "1.2.3-99-$flavour"
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ $stderr == *"no 'linux-image-1.2.3-99-$flavour'"* ]]
	series --check "$machine" "1.2.3-8-$flavour"
	is ""
	for wrong in 1.3 "1.2.3-8-tiny-$other" nonsense '' 1.2.3; do
		series --check "$machine" "$wrong"
		[ "$status" -eq 1 ]
		[ "$stderr" = "KERNEL=$wrong is neither a series of test/kernels (1.2) nor a release for ARCH=$machine, such as $release" ]
	done
	# make asks before it compiles anything.
	unset POKEPATCH_TEST_KERNELS
	run --separate-stderr make -C "$top" check KERNEL=5.10
	[ "$status" -eq 2 ]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
	[[ $stderr == *"KERNEL=5.10 is neither a series of test/kernels (6.1, "* ]]
	[[ $output != *CC* && $output != *LD* && $output != *SETUP* ]]
}

# kernel_with RELEASE TEXT - in the cache, with an image, and with a source that has TEXT in it and can be
# made without a compiler.
kernel_with() {
	local dir=$cache/kernels/$1 source=$BATS_TEST_TMPDIR/linux-source-1
	mkdir -p "$dir/image/boot" "$dir/source/usr/src" "$source"
	echo image >"$dir/image/boot/vmlinuz-$1"
	echo "$2" >"$source/text"
	printf 'defconfig olddefconfig prepare: ;\n' >"$source/Makefile"
	tar -C "$BATS_TEST_TMPDIR" -cJf "$dir/source/usr/src/linux-source-1.tar.xz" linux-source-1
	echo "linux-source-1 $2 $(sha256sum <"$source/text" | cut -d ' ' -f 1)" >"$dir/fetched"
}

# text_of RELEASE - the text in the tree for pairs of arm64.
text_of() {
	(
		eval "$("$top/test/pairs/tree" "$1" arm64 gcc)"
		# shellcheck disable=SC2154 # set by that
		cat "$tree_source/text" && [ -e "$tree_build/ready" ]
	)
}

@test "the harness and the trees for pairs take what is named, with a newer kernel in the cache" {
	local named=6.1.0-5-cloud-amd64 newer=6.12.9+deb12-cloud-amd64 mine=$BATS_TEST_TMPDIR/mine
	# A folder of the harness's own, where `make kernel` has noted the release.
	mkdir -p "$mine/test" "$mine/build"
	ln -s "$top/test/vm" "$mine/test/vm"
	echo "$named" >"$mine/build/kernel-release"
	kernel_with "$named" 6.1.5-1
	[ "$("$mine/test/vm/vm" release)" = "$named" ]
	[ "$(text_of "$named")" = 6.1.5-1 ]
	kernel_with "$newer" 6.12.9-1
	[ "$("$mine/test/vm/vm" release)" = "$named" ]
	[ "$(text_of "$named")" = 6.1.5-1 ]
	# The same from the start, with the newer one in the cache; each has its own tree.
	rm -r "$cache/pairs"
	[ "$(text_of "$named")" = 6.1.5-1 ]
	[ "$(text_of "$newer")" = 6.12.9-1 ]
	[ "$(text_of "$named")" = 6.1.5-1 ]
	# The same release, of another source.
	kernel_with "$named" 6.1.5-2
	[ "$(text_of "$named")" = 6.1.5-2 ]
	# Without a name there is none, whatever is in the cache.
	rm "$mine/build/kernel-release"
	run -121 "$mine/test/vm/vm" release
	[[ $output == *"which kernel? Give --kernel RELEASE, or first: make kernel" ]]
	[ "$(POKEPATCH_KERNEL=$newer "$mine/test/vm/vm" release)" = "$newer" ]
}

@test "no test, nor make, goes by what is the newest in the cache" {
	local found
	# test/matrix/table sorts the rows of the README's table, no kernels of the cache.
	found=$(cd "$top" && git grep -nE 'fetch (-q )?--latest|pokepatch/kernels"?/\*|sort -r?V|ls -t' -- \
		Makefile .ci test ':!test/host/*fetch.bats' ':!test/host/suites.bats' ':!test/host/named-kernels.bats' \
		':!test/matrix/table' ':!test/debian-diffs/diffs') || :
	echo "$found"
	[ -z "$found" ]
}
