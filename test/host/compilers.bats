# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch fetch: the kernel's compiler, for machines that do not have it.

load repository

gnu=$(dpkg-architecture -qDEB_HOST_GNU_TYPE 2>/dev/null || gcc -dumpmachine)
suffix=${gnu//_/-}

# program FILE - a program of this machine in the package that is being made: it prints its
# arguments.
program() {
	mkdir -p "$tree/$(dirname "$1")"
	cp /bin/echo "$tree/$1"
}

# libc - the package with the libraries of this machine's programs.
libc() {
	local loader
	loader=$(readelf -l /bin/echo | sed -n 's/.*interpreter: \(.*\)]/\1/p')
	mkdir -p "$tree/usr/lib/$gnu" "$tree$(dirname "$loader")"
	cp "$(realpath "$loader")" "$tree/usr/lib/$gnu/loader.so"
	cp "/lib/$gnu/libc.so.6" "$tree/usr/lib/$gnu/"
	ln -s "/usr/lib/$gnu/loader.so" "$tree$loader"
	deb libc6 9.9-1 "$arch" libgcc-s1
	put "usr/lib/$gnu/libgcc_s.so.1" library
	deb libgcc-s1 9.9-1 "$arch" libc6
}

# compiler VERSION - the packages of gcc-99, as Debian has them since trixie.
compiler() {
	program "usr/bin/$gnu-gcc-99"
	program "usr/libexec/gcc/$gnu/99/lto1"
	put usr/share/doc/gcc/README text
	deb "gcc-99-$suffix" "$1" "$arch" \
		"cpp-99-$suffix (= $1), gcc-99-base (= $1), libcc1-0, binutils-$suffix (>= 2), libgcc-99-dev, libc6"
	program "usr/libexec/gcc/$gnu/99/cc1"
	deb "cpp-99-$suffix" "$1" "$arch" "gcc-99-base (= $1), libc6 (>= 2.38), not-there"
	program "usr/bin/$gnu-as"
	program "usr/bin/$gnu-ld.bfd"
	ln -s "$gnu-ld.bfd" "$tree/usr/bin/$gnu-ld"
	deb "binutils-$suffix" 2.99-1 "$arch" libc6
	put "usr/lib/gcc/$gnu/99/include/arm_neon.h" header
	deb libgcc-99-dev "$1" "$arch" libasan99
	local name
	for name in gcc-99-base libcc1-0 libasan99; do
		put "usr/share/$name" x
		deb "$name" "$1" "$arch" ""
	done
	index
}

# on_path VERSION - this machine has a compiler gcc-99 of that version.
on_path() {
	mkdir -p "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\necho %s\n' "$1" >"$BATS_TEST_TMPDIR/bin/$gnu-gcc-99"
	chmod +x "$BATS_TEST_TMPDIR/bin/$gnu-gcc-99"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

# libraries SCRIPT - with which libraries a wrapped program runs.
libraries() {
	sed 's/^exec/LD_TRACE_LOADED_OBJECTS=1 exec/' "$1" >"$1.trace"
	ln -s "$1.real" "$1.trace.real"
	sh "$1.trace"
	rm "$1.trace" "$1.trace.real"
}

@test "a compiler that this machine lacks is fetched, and runs with its own libraries" {
	libc
	compiler 99.1.0-3
	"$pokepatch" fetch "$release"
	local bin=$kernel/compiler/usr/bin/$gnu exec=$kernel/compiler/usr/libexec/gcc/$gnu/99
	[ "$("$bin-gcc-99" -c 'a  b')" = "-c a  b" ]
	[ "$("$exec/cc1" x)" = x ]
	# as and ld of the same packages are found beside cc1.
	[ "$("$exec/as" y)" = y ]
	[ "$(readlink -f "$exec/ld")" = "$bin-ld.bfd" ]
	[ -e "$kernel/compiler/usr/lib/gcc/$gnu/99/include/arm_neon.h" ]
	[ ! -e "$exec/lto1" ]
	[ ! -e "$kernel/compiler/usr/share" ]
	[ "$(cut -d' ' -f1 "$kernel/fetched" | grep -v ^linux- | sort)" = "$(printf '%s\n' \
		"binutils-$suffix" "cpp-99-$suffix" "gcc-99-$suffix" libc6 libgcc-99-dev libgcc-s1 | sort)" ]
	libraries "$bin-gcc-99" | grep "libc.so.6 => $kernel/compiler/usr/lib/$gnu/libc.so.6"
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ -z "$stderr" ]
	rm "$exec/cc1.real"
	"$pokepatch" fetch "$release"
	[ "$("$exec/cc1" x)" = x ]
}

@test "the compiler of a cache that was moved runs with its own libraries; a quote in the path does no harm" {
	libc
	compiler 99.1.0-3
	"$pokepatch" fetch "$release"
	mv "$cache" "$BATS_TEST_TMPDIR/moved 'there'"
	kernel="$BATS_TEST_TMPDIR/moved 'there'/kernels/$release"
	local bin=$kernel/compiler/usr/bin/$gnu exec=$kernel/compiler/usr/libexec/gcc/$gnu/99
	[ "$("$bin-gcc-99" -c 'a  b')" = "-c a  b" ]
	[ "$("$exec/as" y)" = y ]
	ln -s "$bin-gcc-99" "$BATS_TEST_TMPDIR/link"
	[ "$("$BATS_TEST_TMPDIR/link" z)" = z ]
	libraries "$bin-gcc-99" | grep -F "libc.so.6 => $kernel/compiler/"
}

@test "a compiler that this machine has is not fetched, unless it is of another version" {
	libc
	compiler 99.1.0-3
	on_path 99.1.0
	"$pokepatch" fetch "$release"
	[ ! -e "$kernel/compiler" ]
	"$pokepatch" cache remove "$release"
	on_path 99.1
	"$pokepatch" fetch "$release"
	[ -e "$kernel/compiler/usr/bin/$gnu-gcc-99" ]
}

@test "a kernel that was fetched without its compiler gets it" {
	libc
	compiler 99.1.0-3
	put "usr/src/linux-headers-$release/.config" "
CONFIG_CC_VERSION_TEXT=\"$gnu-gcc-99 (Debian 99.1.0-3) 99.1.0\""
	sed -i "/^Package: linux-headers-$release\$/,/^\$/d" "$repo/Packages"
	ln -s ../../lib/linux-kbuild-1.2/scripts "$tree/usr/src/linux-headers-$release/scripts"
	deb "linux-headers-$release" "$version" "$arch" \
		"gcc-99-for-host, linux-headers-1.2.3-4-common (= $version), linux-kbuild-1.2 (>= $version)"
	index
	(
		on_path 99.1.0
		"$pokepatch" fetch "$release"
		"$pokepatch" fetch "$release"
		[ ! -e "$kernel/compiler" ]
	)
	"$pokepatch" fetch "$release"
	[ -e "$kernel/compiler/usr/bin/$gnu-gcc-99" ]
}

@test "programs of another Debian's linux-kbuild run with that one's libraries" {
	local mirror=$repo/dists/trixie/main/binary-$arch
	rm "$repo/Packages"
	release=6.12.8+deb13-$flavour kernel=$cache/kernels/6.12.8+deb13-$flavour
	add_kernel 6.12.8+deb13 6.12.8-1
	sed -i '/^Package: linux-kbuild-1.2$/,/^$/d' "$repo/Packages"
	program usr/lib/linux-kbuild-1.2/scripts/basic/fixdep
	put usr/lib/linux-kbuild-1.2/scripts/tool script
	deb linux-kbuild-1.2 6.12.8-1 "$arch" "libc6 (>= 2.38), libelf1t64 (>= 0.144), pahole"
	put "usr/lib/$gnu/libelf.so.1" library
	deb libelf1t64 0.192-4 "$arch" libc6
	libc
	compiler 99.1.0-3
	mkdir -p "$mirror" "$repo/dists/bookworm/main/binary-$arch"
	cp "$repo/Packages" "$repo/dists/bookworm/main/binary-$arch"
	mv "$repo/Packages" "$mirror"
	sed -i 's/^Package: .*/&-old/' "$repo/dists/bookworm/main/binary-$arch/Packages"
	local name
	for name in bookworm trixie; do
		(
			cd "$repo/dists/$name"
			printf '%s\n' "Origin: Debian" "Label: Debian" "Codename: $name" "Suite: $name" \
				"Date: $(LC_ALL=C date -u -R)" "Components: main" "Architectures: $arch" SHA256:
			echo " $(sha256sum main/*/Packages | cut -d' ' -f1) $(stat -c %s main/*/Packages) main/binary-$arch/Packages"
		) >"$BATS_TEST_TMPDIR/Release"
		mv "$BATS_TEST_TMPDIR/Release" "$repo/dists/$name/"
	done
	echo "deb [trusted=yes] copy:$repo bookworm main" >"$BATS_TEST_TMPDIR/etc/sources.list"
	on_path 99.1.0
	"$pokepatch" fetch "$release"
	local scripts=$kernel/headers/usr/lib/linux-kbuild-1.2/scripts
	[ "$("$scripts/basic/fixdep" a)" = a ]
	# A build copies them into its tree, and kbuild calls them by relative paths; also where the cache has moved.
	mkdir -p "$kernel/tree-1/scripts/basic"
	cp "$scripts/basic/fixdep"{,.real} "$kernel/tree-1/scripts/basic/"
	mv "$kernel" "$kernel-moved"
	[ "$(cd "$kernel-moved/tree-1" && scripts/basic/fixdep a)" = a ]
	mv "$kernel-moved" "$kernel"
	libraries "$(realpath "$scripts/basic/fixdep")" | grep -F "libc.so.6 => $kernel/" | grep /compiler/usr/lib/
	[ "$(cat "$scripts/tool")" = script ]
	[ ! -e "$kernel/compiler/usr/bin" ]
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ -z "$stderr" ]
}
