# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For tests of pokepatch without a network: a package repository that is made here, with tiny kernels.

bats_require_minimum_version 1.5.0

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
# shellcheck disable=SC2034 # the tests run it
pokepatch=$top/build/bin/pokepatch
arch=$(dpkg --print-architecture)
flavour=tiny-$arch
release=1.2.3-4-$flavour
version=1.2.3-1

# ---- a repository ----------------------------------------------------------

# put FILE TEXT - a file of the package that is being made.
put() {
	mkdir -p "$tree/$(dirname "$1")"
	printf '%s\n' "$2" >"$tree/$1"
}

# deb NAME VERSION ARCH DEPENDS [INSTALLED-KIB] - make $tree a package; add it to the index.
deb() {
	local file=$repo/${1}_${2}_$3.deb
	mkdir -p "$tree/DEBIAN"
	{
		echo "Package: $1"
		echo "Version: $2"
		echo "Architecture: $3"
		echo "Maintainer: nobody <nobody@example.org>"
		echo "Installed-Size: ${5:-8}"
		[ -z "$4" ] || echo "Depends: $4"
		echo "Description: a test"
	} >"$tree/DEBIAN/control"
	dpkg-deb --root-owner-group -b "$tree" "$file" >/dev/null
	{
		cat "$tree/DEBIAN/control"
		echo "Filename: ./${file##*/}"
		echo "Size: $(stat -c %s "$file")"
		echo "SHA256: $(sha256sum "$file" | cut -d' ' -f1)"
		echo
	} >>"$repo/Packages"
	rm -rf "$tree"
}

# index - the Release file, which the index's checksum is in.
index() {
	{
		echo "Date: $(LC_ALL=C date -u -R)"
		echo "SHA256:"
		echo " $(sha256sum "$repo/Packages" | cut -d' ' -f1) $(stat -c %s "$repo/Packages") Packages"
	} >"$repo/Release"
}

# add_kernel ABI VERSION - all packages of a tiny kernel.
add_kernel() {
	local r=$1-$flavour v=$2
	put "boot/vmlinuz-$r" "vmlinuz $v"
	put "boot/config-$r" CONFIG_TINY=y
	put "lib/modules/$r/kernel/tiny.ko" module
	deb "linux-image-$r" "$v" "$arch" "kmod, linux-base (>= 4.3~)"
	put "usr/lib/debug/boot/vmlinux-$r" "vmlinux $v"
	put "usr/lib/debug/lib/modules/$r/kernel/tiny.ko" module
	deb "linux-image-$r-dbg" "$v" "$arch" ""
	put "usr/src/linux-headers-$r/Makefile" "include /usr/src/linux-headers-$1-common/Makefile"
	ln -s ../../lib/linux-kbuild-1.2/scripts "$tree/usr/src/linux-headers-$r/scripts"
	mkdir -p "$tree/lib/modules/$r"
	ln -s "/usr/src/linux-headers-$r" "$tree/lib/modules/$r/build"
	ln -s /not/in/the/package "$tree/lib/modules/$r/elsewhere"
	deb "linux-headers-$r" "$v" "$arch" \
		"linux-headers-$1-common (= $v), linux-kbuild-1.2 (>= $v), linux-compiler-gcc-99"
	put "usr/src/linux-headers-$1-common/Makefile" "all:; @echo made in \$(CURDIR) by \$(shell cat scripts/tool)"
	deb "linux-headers-$1-common" "$v" all ""
	put usr/lib/linux-kbuild-1.2/scripts/tool "kbuild-$v"
	deb linux-kbuild-1.2 "$v" "$arch" "libc6 (>= 2.34)"
	put usr/src/linux-source-1.2.tar.xz "source of $v"
	deb linux-source-1.2 "$v" all ""
}

# metapackage VERSION ABI - what says which release is the newest of the flavour.
metapackage() {
	mkdir -p "$tree"
	deb "linux-image-$flavour" "$1" "$arch" "linux-image-$2-$flavour (= $1)"
}

setup_file() {
	repo=$BATS_FILE_TMPDIR/repo tree=$BATS_FILE_TMPDIR/tree
	mkdir -p "$repo"
	add_kernel 1.2.3-4 "$version"
	metapackage "$version" 1.2.3-4
	# A newer one whose debug package has not come yet, and an even newer version of
	# two packages: the release to take is the one that all of them agree on.
	put "boot/vmlinuz-1.2.3-5-$flavour" newer
	deb "linux-image-1.2.3-5-$flavour" 1.2.3-2 "$arch" ""
	metapackage 1.2.3-2 1.2.3-5
	put usr/src/linux-source-1.2.tar.xz "source of 1.2.3-3"
	deb linux-source-1.2 1.2.3-3 all ""
	put "usr/src/linux-headers-$release/Makefile" "all:"
	deb "linux-headers-$release" 1.2.3-3 "$arch" "linux-headers-1.2.3-4-common (= 1.2.3-3)"
	index
}

setup() {
	repo=$BATS_TEST_TMPDIR/repo
	tree=$BATS_TEST_TMPDIR/tree
	cp -r "$BATS_FILE_TMPDIR/repo" "$repo"
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache LC_ALL=C
	cache=$XDG_CACHE_HOME/pokepatch
	kernel=$cache/kernels/$release
	use_repository copy:"$repo"
}

# use_repository URI [LINE...] - apt reads nothing but this one; more lines of configuration.
use_repository() {
	mkdir -p "$BATS_TEST_TMPDIR/etc/parts"
	echo "deb [trusted=yes] $1 ./" >"$BATS_TEST_TMPDIR/etc/sources.list"
	{
		echo "Dir::Etc::sourcelist \"$BATS_TEST_TMPDIR/etc/sources.list\";"
		echo "Dir::Etc::sourceparts \"$BATS_TEST_TMPDIR/etc/parts\";"
		echo "Acquire::Retries \"0\";"
		printf '%s\n' "${@:2}"
	} >"$BATS_TEST_TMPDIR/etc/apt.conf"
	export APT_CONFIG=$BATS_TEST_TMPDIR/etc/apt.conf
}

teardown() {
	[ -z "${server:-}" ] || kill "$server"
}

# fails STATUS TEXT COMMAND... - it ends with that status and one line on standard error,
# begun "pokepatch: ", that has TEXT in it; progress lines may come before it.
# shellcheck disable=SC2154 # bats sets status and stderr
fails() {
	run --separate-stderr "${@:3}"
	[ "$status" -eq "$1" ] && [ -z "$output" ] &&
		[ "$(grep -c '^pokepatch: ' <<<"$stderr")" -eq 1 ] &&
		[[ $(tail -n 1 <<<"$stderr") == "pokepatch: "*"$2"* ]] && return
	printf 'status %s, output "%s", standard error:\n%s\n' "$status" "$output" "$stderr"
	return 1
}

# change_byte FILE - make its byte at 200 another one, whatever it is: packages differ in each run.
change_byte() {
	local byte
	byte=$(od -An -tu1 -j200 -N1 "$1")
	# shellcheck disable=SC2059 # the format is the byte
	printf "\\$(printf %03o $((byte ^ 1)))" | dd of="$1" bs=1 seek=200 conv=notrunc status=none
}
export -f change_byte

whole() {
	[ "$(cat "$kernel/image/boot/vmlinuz-$release")" = "vmlinuz $version" ]
	[ "$(cat "$kernel/dbg/usr/lib/debug/boot/vmlinux-$release")" = "vmlinux $version" ]
	[ "$(cat "$kernel/source/usr/src/linux-source-1.2.tar.xz")" = "source of $version" ]
	[ -f "$kernel/image/lib/modules/$release/kernel/tiny.ko" ]
	[ -f "$kernel/dbg/usr/lib/debug/lib/modules/$release/kernel/tiny.ko" ]
	[ -f "$kernel/headers/usr/src/linux-headers-$release/scripts/tool" ]
	[ "$(wc -l <"$kernel/fetched")" -eq 6 ]
	while read -r name has sum _; do
		[ "$(sha256sum "$kernel/packages/${name}_${has}"_*.deb | cut -d' ' -f1)" = "$sum" ]
	done <"$kernel/fetched"
	# Nothing but what belongs there.
	[ "$(ls "$kernel")" = "$(printf '%s\n' dbg fetched headers image packages source)" ]
	[ "$(find "$kernel/packages" -mindepth 1 | wc -l)" -eq 6 ]
}

# ---- fetch -----------------------------------------------------------------
