# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch fetch from suites of Debian that the system's package sources lack.

load repository

# suite NAME [LABEL [FIELD...]] - the packages in $repo become this suite of the mirror in $repo.
suite() {
	local folder=$repo/dists/$1 list=main/binary-$arch/Packages
	mkdir -p "$folder/${list%/*}"
	mv "$repo/Packages" "$folder/$list"
	{
		printf '%s\n' "Origin: Debian" "Label: ${2:-Debian}" "Suite: $1" "Codename: $1"
		printf '%s\n' "Date: $(LC_ALL=C date -u -R)" "Components: main" "Architectures: $arch all"
		printf '%s\n' "${@:3}" "SHA256:"
		echo " $(sha256sum "$folder/$list" | cut -d' ' -f1) $(stat -c %s "$folder/$list") $list"
	} >"$folder/Release"
}

setup() {
	repo=$BATS_TEST_TMPDIR/mirror tree=$BATS_TEST_TMPDIR/tree
	etc=$BATS_TEST_TMPDIR/etc
	mkdir -p "$repo" "$etc/parts"
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache LC_ALL=C
	cache=$XDG_CACHE_HOME/pokepatch
	add_kernel 6.1.0-4 6.1.9-1
	metapackage 6.1.9-1 6.1.0-4
	suite bookworm
	add_kernel 6.12.8+deb13 6.12.8-1
	metapackage 6.12.8-1 6.12.8+deb13
	suite trixie
	use_repository copy:"$repo"
	echo "deb [trusted=yes] copy:$repo bookworm main" >"$etc/sources.list"
}

# bpo - a suite trixie-backports with a newer kernel.
bpo() {
	add_kernel 7.3.4+deb13 7.3.4-1~bpo13+1
	metapackage 7.3.4-1~bpo13+1 7.3.4+deb13
	suite trixie-backports "Debian Backports" "NotAutomatic: yes" "ButAutomaticUpgrades: yes"
}

# has ABI - the cache has this kernel, complete.
has() {
	[ -e "$cache/kernels/$1-$flavour/fetched" ]
	[ -e "$cache/kernels/$1-$flavour/image/boot/vmlinuz-$1-$flavour" ]
}

@test "a release of another Debian comes from that one's suites, on the system's mirror" {
	find "$etc" -type f -exec sha256sum {} + >"$BATS_TEST_TMPDIR/before"
	run --separate-stderr "$pokepatch" fetch -q "6.12.8+deb13-$flavour"
	[ "$status" -eq 0 ]
	[ "$output" = "6.12.8+deb13-$flavour" ]
	[[ $stderr == *"of trixie, trixie-updates, trixie-security and trixie-backports"* ]]
	has 6.12.8+deb13
	# The suites that the mirror lacks are left out.
	[ "$(grep ^Suites: "$cache/apt/$arch-trixie/suites.sources")" = "Suites: trixie" ]
	sha256sum -c "$BATS_TEST_TMPDIR/before"
	[ "$(find "$etc" -type f | wc -l)" -eq "$(wc -l <"$BATS_TEST_TMPDIR/before")" ]
	# Lists of today are not downloaded again.
	rm -r "$cache/kernels"
	run --separate-stderr "$pokepatch" fetch -q "6.12.8+deb13-$flavour"
	[[ $stderr != *updating* ]]
	has 6.12.8+deb13
}

@test "the system's sources come first, and are enough for their own releases" {
	run --separate-stderr "$pokepatch" fetch -q "6.1.0-4-$flavour"
	[ "$status" -eq 0 ]
	has 6.1.0-4
	[ "$(ls "$cache/apt")" = "$(printf '%s\n' "$arch" "$arch.lock")" ]
}

@test "a backport for the system's own Debian is found without a source for it" {
	add_kernel 6.12.7+deb12 6.12.7-1~bpo12+1
	suite bookworm-backports "Debian Backports" "NotAutomatic: yes" "ButAutomaticUpgrades: yes"
	"$pokepatch" fetch "6.12.7+deb12-$flavour"
	has 6.12.7+deb12
}

@test "the security suite is on a mirror of its own" {
	local main=$repo
	repo=$BATS_TEST_TMPDIR/security
	mkdir "$repo"
	add_kernel 6.1.0-5 6.1.10-1 # apt does not show an empty suite
	suite bookworm-security Debian-Security
	add_kernel 6.12.9+deb13 6.12.9-1
	metapackage 6.12.9-1 6.12.9+deb13
	suite trixie-security Debian-Security
	cat >"$etc/parts/debian.sources" <<-END
		# the mirrors
		Types: deb
		URIs: copy:$main
		Suites: bookworm
		Components: main
		Trusted: yes

		Types: deb
		URIs: copy:$repo
		Suites: bookworm-security
		Components: main
		Trusted: yes
	END
	rm "$etc/sources.list"
	"$pokepatch" fetch "6.12.9+deb13-$flavour"
	has 6.12.9+deb13
	grep -A2 "^URIs: copy:$repo" "$cache/apt/$arch-trixie/suites.sources" |
		grep "^Suites: trixie-security"
	# Of suites that belong together, --latest takes the newest.
	run --separate-stderr "$pokepatch" fetch -q --latest "$flavour" --suite trixie
	[ "$output" = "6.12.9+deb13-$flavour" ]
}

@test "fetch --latest takes a suite" {
	bpo
	run --separate-stderr "$pokepatch" fetch -q --latest "$flavour"
	[ "$output" = "6.1.0-4-$flavour" ]
	run --separate-stderr "$pokepatch" fetch -q --latest "$flavour" --suite trixie
	[ "$output" = "6.12.8+deb13-$flavour" ]
	run --separate-stderr "$pokepatch" fetch -q --latest "$flavour" --suite trixie-backports
	[ "$output" = "7.3.4+deb13-$flavour" ]
	has 7.3.4+deb13
	add_kernel 7.4.1+deb14 7.4.1-1
	metapackage 7.4.1-1 7.4.1+deb14
	suite sid
	run --separate-stderr "$pokepatch" fetch -q --latest "$flavour" --suite unstable
	[ "$output" = "7.4.1+deb14-$flavour" ]
	# Until Debian 14 is released, its kernels are in sid.
	touch "$repo/Packages"
	suite forky
	rm -r "$cache/kernels"
	"$pokepatch" fetch "7.4.1+deb14-$flavour"
	has 7.4.1+deb14
}

@test "preferences and the default release of the system are not those of other suites" {
	printf 'Package: *\nPin: release n=trixie\nPin-Priority: -1\n' >"$etc/preferences"
	printf '%s\n' "Dir::Etc::preferences \"$etc/preferences\";" \
		'APT::Default-Release "bookworm";' >>"$etc/apt.conf"
	"$pokepatch" fetch "6.12.8+deb13-$flavour"
	has 6.12.8+deb13
	run --separate-stderr "$pokepatch" fetch -q --latest "$flavour" --suite trixie
	[ "$output" = "6.12.8+deb13-$flavour" ]
}

@test "without a network the lists of an earlier day do" {
	"$pokepatch" fetch -q "6.12.8+deb13-$flavour"
	rm -r "$cache/kernels" "$repo/dists"
	touch -d '2 days ago' "$cache/apt/"*/updated
	run --separate-stderr "$pokepatch" fetch -q "6.12.8+deb13-$flavour"
	[ "$status" -eq 0 ]
	[[ $stderr == *"using the lists of an earlier day"* ]]
	has 6.12.8+deb13
}

@test "suites and releases that are not there" {
	fails 1 "no 'linux-image-6.12.1+deb13-$flavour'" "$pokepatch" fetch "6.12.1+deb13-$flavour"
	fails 1 "cannot update the package lists" \
		"$pokepatch" fetch --latest "$flavour" --suite nowhere
	fails 1 "'../etc' is not a suite" "$pokepatch" fetch --latest "$flavour" --suite ../etc
	fails 1 "is not a suite" "$pokepatch" fetch --latest "$flavour" --suite ""
	[ -z "$(ls "$cache/kernels" 2>/dev/null)" ]
}

@test "sources that are not Debian's give no mirror of it" {
	sed -i 's/^Origin: .*/Origin: Example/' "$repo/dists/bookworm/Release"
	fails 1 "no 'linux-image-6.12.8+deb13-$flavour'" "$pokepatch" fetch "6.12.8+deb13-$flavour"
	fails 1 "no mirror of Debian" "$pokepatch" fetch --latest "$flavour" --suite trixie
	[ -z "$(ls "$cache/kernels" 2>/dev/null)" ]
}

# rt_kernel ABI VERSION - an rt kernel in trixie, and its source package, whose patches change the file fix.
rt_kernel() {
	local flavour=rt-$arch pool=$repo/pool list=$repo/dists/trixie/main/source/Sources file
	local tarball=linux_$2.debian.tar.xz
	cp "$repo/dists/trixie/main/binary-$arch/Packages" "$repo/Packages"
	add_kernel "$1" "$2"
	# As Debian's: linux-source is built from "linux".
	sed -i 's/^Package: linux-source-.*/&\nSource: linux/' "$repo/Packages"
	mkdir -p "$pool" "${list%/*}" "$tree/debian/patches-rt" "$tree/debian/patches"
	echo fix.patch >"$tree/debian/patches-rt/series"
	echo "the patch of $2" >"$tree/debian/patches-rt/fix.patch"
	echo not-wanted >"$tree/debian/rules"
	tar -C "$tree" -cJf "$pool/$tarball" debian
	rm -r "$tree"
	for file in "linux_$2.dsc" "linux_$2.orig.tar.xz"; do
		echo "$file" >"$pool/$file"
	done
	{
		printf '%s\n' "Package: linux" "Binary: linux-source-1.2" "Version: $2" "Directory: pool" \
			"Format: 3.0 (quilt)" "Checksums-Sha256:"
		for file in "linux_$2.dsc" "linux_$2.orig.tar.xz" "$tarball"; do
			echo " $(sha256sum "$pool/$file" | cut -d' ' -f1) $(stat -c %s "$pool/$file") $file"
		done
	} >"$list"
	suite trixie
	echo " $(sha256sum "$list" | cut -d' ' -f1) $(stat -c %s "$list") main/source/Sources" \
		>>"$repo/dists/trixie/Release"
}

@test "an rt kernel comes with the patches of its source package" {
	rt_kernel 6.12.9+deb13 6.12.9-1
	find "$etc" -type f -exec sha256sum {} + >"$BATS_TEST_TMPDIR/before"
	run --separate-stderr "$pokepatch" fetch "6.12.9+deb13-rt-$arch"
	[ "$status" -eq 0 ]
	kernel=$cache/kernels/6.12.9+deb13-rt-$arch
	[[ $output == *"patches:"*"$kernel/patches/debian/patches-rt"* ]]
	[ "$(cat "$kernel/patches/debian/patches-rt/fix.patch")" = "the patch of 6.12.9-1" ]
	[ ! -e "$kernel/patches/debian/rules" ]
	grep '^src:linux 6.12.9-1 ' "$kernel/fetched"
	sha256sum -c "$BATS_TEST_TMPDIR/before"
	# It is complete, and repairs itself.
	run --separate-stderr "$pokepatch" fetch -q "6.12.9+deb13-rt-$arch"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	rm "$kernel/patches/debian/patches-rt/fix.patch"
	"$pokepatch" fetch -q "6.12.9+deb13-rt-$arch"
	[ -e "$kernel/patches/debian/patches-rt/fix.patch" ]
	# Other flavours have none.
	"$pokepatch" fetch -q "6.12.8+deb13-$flavour"
	[ ! -e "$cache/kernels/6.12.8+deb13-$flavour/patches" ]
}

@test "an rt kernel whose patches cannot be had is fetched without them, and says so" {
	rt_kernel 6.12.9+deb13 6.12.9-1
	kernel=$cache/kernels/6.12.9+deb13-rt-$arch
	mv "$repo/pool/linux_6.12.9-1.debian.tar.xz" "$BATS_TEST_TMPDIR/kept"
	run --separate-stderr "$pokepatch" fetch -q "6.12.9+deb13-rt-$arch"
	[ "$status" -eq 0 ]
	[[ $stderr == *"the rt patches of '6.12.9+deb13-rt-$arch' cannot be had: cannot download"*--source* ]]
	[ ! -e "$kernel/patches" ]
	run --separate-stderr "$pokepatch" fetch -q "6.12.9+deb13-rt-$arch"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	# Another file than the index says is not taken.
	rm -r "$kernel"
	cp "$repo/pool/linux_6.12.9-1.dsc" "$repo/pool/linux_6.12.9-1.debian.tar.xz"
	run --separate-stderr "$pokepatch" fetch -q "6.12.9+deb13-rt-$arch"
	[ "$status" -eq 0 ]
	[[ $stderr == *"cannot be had"* ]]
	[ ! -e "$kernel/patches" ]
	# No source packages at all.
	rm -r "$kernel" "$cache/apt" "$repo/dists/trixie/main/source"
	sed -i '/Sources/d' "$repo/dists/trixie/Release"
	run --separate-stderr "$pokepatch" fetch -q "6.12.9+deb13-rt-$arch"
	[ "$status" -eq 0 ]
	[[ $stderr == *"cannot be had: "* ]]
	[ -e "$kernel/fetched" ]
	# Patches of an older version do not stay.
	mkdir -p "$kernel/patches/debian/patches-rt"
	"$pokepatch" fetch -q "6.12.9+deb13-rt-$arch"
	[ ! -e "$kernel/patches" ]
}
