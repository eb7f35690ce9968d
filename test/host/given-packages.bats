# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch fetch --deb: packages that the user has kept, when the archive has dropped them.

load repository

# kept [NAME...] - move these packages of the kernel out of the repository, or all.
kept() {
	local name
	mkdir -p "$BATS_TEST_TMPDIR/kept"
	kept=$BATS_TEST_TMPDIR/kept
	[ $# -gt 0 ] || set -- "linux-image-$release" "linux-image-$release-dbg" "linux-headers-$release" \
		linux-headers-1.2.3-4-common linux-kbuild-1.2 linux-source-1.2
	for name; do
		mv "$repo/${name}_${version}_"*.deb "$kept/"
		awk -v RS= -v ORS='\n\n' -v name="$name" -v version="$version" \
			'!($2 == name && $4 == version)' "$repo/Packages" >"$repo/new"
		mv "$repo/new" "$repo/Packages"
	done
	index
}

@test "a folder with all packages, which the archive has dropped" {
	kept
	fails 1 "cannot be fetched" "$pokepatch" fetch "$release"
	"$pokepatch" fetch --deb "$kept"
	whole
	[ "$(grep -c ' given$' "$kernel/fetched")" -eq 6 ]
	# It is complete, with and without the packages.
	rm -r "$kept"
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
}

@test "a kernel in the cache that the archive has dropped is repaired from its packages there, by what the error says" {
	"$pokepatch" fetch "$release"
	kept
	rm -r "$kernel/image/boot/config-$release" "$cache/apt"
	fails 1 "; the cache has packages of it, which 'pokepatch fetch --deb $release $kernel/packages' takes" \
		"$pokepatch" fetch -q "$release"
	"$pokepatch" fetch --deb "$release" "$kernel/packages"
	whole
	"$pokepatch" fetch "$release"
}

@test "single files, under any names; the rest comes from the archive" {
	kept "linux-image-$release" "linux-image-$release-dbg"
	mv "$kept/linux-image-${release}_"*.deb "$BATS_TEST_TMPDIR/my image.deb"
	run --separate-stderr "$pokepatch" fetch --deb "$BATS_TEST_TMPDIR/my image.deb" \
		"$kept/linux-image-$release-dbg"*
	[ "$status" -eq 0 ]
	whole
	sum=$(sha256sum "$BATS_TEST_TMPDIR/my image.deb" | cut -d' ' -f1)
	[[ $stderr == *"my image.deb' (linux-image-$release $version, SHA-256 $sum)"* ]]
	grep -qx "linux-image-$release $version $sum given" "$kernel/fetched"
	[ "$(grep -c ' given$' "$kernel/fetched")" -eq 2 ]
}

@test "what is missing is named in one line" {
	kept
	rm "$kept"/linux-{headers-1.2.3-4-common,source}*
	fails 1 "neither the given packages nor the package sources have 'linux-source', 'linux-headers-1.2.3-4-common' of version $version" \
		"$pokepatch" fetch --deb "$kept"
	[ ! -e "$kernel" ]
	rm "$kept/linux-image-${release}_"*
	fails 1 "neither the given packages nor the package sources have 'linux-image-$release'" \
		"$pokepatch" fetch --deb "$kept"
}

@test "packages that do not belong together are refused" {
	kept
	put "usr/lib/debug/boot/vmlinux-$release" other
	deb "linux-image-$release-dbg" 1.2.3-9 "$arch" ""
	kept_version=$version version=1.2.3-9
	kept "linux-image-$release-dbg"
	version=$kept_version
	# The right one is there as well.
	"$pokepatch" fetch -q --deb "$kept"
	rm -r "$kernel" "$kept/linux-image-$release-dbg_$version"*
	fails 1 "have 'linux-image-$release-dbg' ('$kept/linux-image-$release-dbg_1.2.3-9_$arch.deb' is of version 1.2.3-9) of version $version" \
		"$pokepatch" fetch --deb "$kept"
}

@test "a package of another machine, or of no kernel, is refused" {
	put usr/lib/linux-kbuild-1.2/scripts/tool foreign
	deb linux-kbuild-1.2 "$version" s390x ""
	cp "$repo/linux-kbuild-1.2_${version}_s390x.deb" "$BATS_TEST_TMPDIR/kbuild.deb"
	index
	fails 1 "none of these packages has a release" "$pokepatch" fetch --deb "$BATS_TEST_TMPDIR/kbuild.deb"
	fails 1 "(linux-kbuild-1.2 $version s390x) does not belong to '$release' of version $version" \
		"$pokepatch" fetch --deb "$release" "$BATS_TEST_TMPDIR/kbuild.deb"
	[ ! -e "$kernel" ]
}

# scripts/package/mkdebian: the headers depend on nothing, and there is no source.
@test "packages of make bindeb-pkg" {
	kept
	mkdir "$BATS_TEST_TMPDIR/own"
	put "usr/src/linux-headers-$release/Module.symvers" ""
	deb "linux-headers-$release" "$version" "$arch" ""
	mv "$kept/linux-image-$release"* "$repo/linux-headers-${release}_"* "$BATS_TEST_TMPDIR/own"
	index
	fails 1 "give 'pokepatch-build --kbuild' the folder in which that kernel was built" \
		"$pokepatch" fetch --deb "$BATS_TEST_TMPDIR/own"
	[ ! -e "$kernel" ]
}

@test "a folder with packages of several kernels" {
	add_kernel 1.2.3-7 1.2.3-4
	index
	kept
	mv "$repo/linux-image-1.2.3-7-${flavour}_"*.deb "$kept/"
	fails 1 "name the release to fetch as well" "$pokepatch" fetch --deb "$kept"
	"$pokepatch" fetch --deb "$release" "$kept"
	whole
}

@test "a package that is not there, or that is no file" {
	kept
	fails 1 "cannot read '$kept/none.deb': No such file" "$pokepatch" fetch --deb "$kept" "$kept/none.deb"
	mkfifo "$kept/linux-image.deb"
	fails 1 "'$kept/linux-image.deb' is not a Debian package" timeout 20 "$pokepatch" fetch --deb "$kept"
}

@test "a damaged package, and one that differs from the archive's" {
	kept "linux-image-$release"
	image=$(echo "$kept"/linux-image-*)
	cp "$image" "$BATS_TEST_TMPDIR/whole.deb"
	truncate -s -100 "$image"
	fails 1 "is not a Debian package, or is cut off" "$pokepatch" fetch --deb "$image"
	cp "$BATS_TEST_TMPDIR/whole.deb" "$image"
	put "usr/lib/debug/boot/vmlinux-$release" "of another"
	cp "$repo/Packages" "$kept/Packages"
	deb "linux-image-$release-dbg" "$version" "$arch" "" 9
	mv "$repo/linux-image-$release-dbg_$version"* "$kept/dbg.deb"
	mv "$kept/Packages" "$repo/Packages"
	fails 1 "is not the archive's linux-image-$release-dbg $version: its SHA-256 differs" \
		"$pokepatch" fetch --deb "$image" "$kept/dbg.deb"
	[ ! -e "$kernel" ]
	change_byte "$image"
	fails 1 "cannot read '$image': it is damaged" "$pokepatch" fetch --deb "$image"
	[ ! -e "$kernel" ]
	fails 1 "has no files 'linux-*.deb'" "$pokepatch" fetch --deb "$BATS_TEST_TMPDIR/etc"
	fails 1 "needs files of packages" "$pokepatch" fetch --deb "$release"
	fails 1 "give either a RELEASE" "$pokepatch" fetch "$release" "$image"
}

@test "a kernel in the cache is replaced by other packages of the same release" {
	"$pokepatch" fetch -q "$release"
	version=1.2.3-8
	add_kernel 1.2.3-4 "$version"
	index
	kept
	"$pokepatch" fetch -q --deb "$kept"
	whole
}
