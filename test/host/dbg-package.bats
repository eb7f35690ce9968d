# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch fetch: vmlinux alone is unpacked of a debug package; its modules when they are needed.

load repository

# dbg FILE... - the debug package has these files, and says so in its md5sums.
dbg() {
	local file
	sed -i "/^Package: linux-image-$release-dbg\$/,/^\$/d" "$repo/Packages"
	for file in "$@"; do
		put "$file" "debug $file"
	done
	mkdir -p "$tree/DEBIAN"
	(cd "$tree" && md5sum "$@") >"$tree/DEBIAN/md5sums"
	deb "linux-image-$release-dbg" "$version" "$arch" ""
	index
	package=$kernel/packages/linux-image-$release-dbg_${version}_$arch.deb
	debug=$kernel/dbg/usr/lib/debug
}

modules() {
	find "$debug" -name '*.ko' | wc -l
}

@test "vmlinux alone is unpacked, and the package stays" {
	dbg "usr/lib/debug/boot/vmlinux-$release" usr/lib/debug/lib/modules/"$release"/kernel/{a,b/c}.ko
	"$pokepatch" fetch "$release"
	[ "$(cat "$debug/boot/vmlinux-$release")" = "debug usr/lib/debug/boot/vmlinux-$release" ]
	[ -d "$debug/lib/modules/$release" ]
	[ "$(modules)" -eq 0 ]
	run --separate-stderr "$pokepatch" cache prune
	[ "$(ls "$kernel/packages")" = "${package##*/}" ]
	mv "$repo" "$repo.away"
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	mv "$repo.away" "$repo"
	# A build would not find its modules without the package.  What builds extracted stays.
	rm "$package"
	echo extracted >"$debug/lib/modules/$release/a.ko"
	"$pokepatch" fetch "$release"
	[ -e "$package" ]
	[ "$(modules)" -eq 1 ]
	truncate -s 300 "$package"
	"$pokepatch" fetch "$release"
	dpkg-deb -I "$package"
}

@test "--modules unpacks all, and then prune removes the package" {
	dbg "usr/lib/debug/boot/vmlinux-$release" usr/lib/debug/lib/modules/"$release"/kernel/{a,b/c}.ko
	"$pokepatch" fetch "$release"
	"$pokepatch" fetch --modules "$release"
	[ "$(modules)" -eq 2 ]
	run --separate-stderr "$pokepatch" fetch --modules "$release" -q
	[ -z "$stderr" ]
	"$pokepatch" fetch "$release"
	[ "$(modules)" -eq 2 ]
	"$pokepatch" cache prune
	[ ! -e "$kernel/packages" ]
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ -z "$stderr" ]
}

@test "vmlinux beside the modules, as since Linux 7.2" {
	dbg usr/lib/debug/lib/modules/"$release"/{vmlinux,kernel/a.ko}
	"$pokepatch" fetch "$release"
	[ "$(cat "$debug/boot/vmlinux-$release")" = "debug usr/lib/debug/lib/modules/$release/vmlinux" ]
	[ "$(modules)" -eq 0 ]
}

@test "a package without md5sums is unpacked as a whole" {
	"$pokepatch" fetch "$release"
	whole
}
