# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch cache: what it shows, and what it removes.

load repository

# format tree|core - what files ready of trees and cores that are of use begin with.
format() {
	sed -n "s/^#define CACHE_${1^^}_FORMAT /format /p" "$top/build-tool/common/cache.h"
}

# make_tree NAME LINE... - a prepared tree in the cache, made from what the lines name.
make_tree() {
	mkdir -p "$kernel/tree-$1/.pokepatch"
	printf '%s\n' "${@:2}" >"$kernel/tree-$1/.pokepatch/ready"
}

# input FILE - the line of a file ready for a file, as it is now.
input() {
	stat -c '%n %s %.9Y' "$1"
}

# hold PATH - lock PATH shared, as a build does, until let_go.
hold() {
	exec 9>>"$1.lock"
	flock -s 9
}

let_go() {
	exec 9>&-
}

@test "cache list shows kernels with their sizes and states" {
	run --separate-stderr "$pokepatch" cache
	[ "$status" -eq 0 ]
	[[ $output == "$cache: "*"of package lists"* ]]
	"$pokepatch" fetch "$release"
	make_tree 1 "$(format tree)"
	head -c 100000 /dev/zero >"$kernel/tree-1/file"
	mkdir -p "$cache/kernels/9.9-own/tree-2"
	run --separate-stderr "$pokepatch" cache list
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == "RELEASE "*"STATE "*"PACKAGES "*"FILES "*"TREES "*"SIZE"* ]]
	[[ ${lines[1]} == "$release  complete  "* ]]
	[[ ${lines[2]} == "9.9-own "*" local "* ]]
	run --separate-stderr "$pokepatch" cache list --json
	[ "$(jq -r '.kernels[0].release' <<<"$output")" = "$release" ]
	[ "$(jq '.kernels[0] | .trees > 100000 and .size == .packages + .files + .trees' \
		<<<"$output")" = true ]
	rm "$kernel/fetched"
	run --separate-stderr "$pokepatch" cache list
	[[ ${lines[1]} == "$release  incomplete  "* ]]
}

@test "cache prune removes packages that are unpacked, and the kernel stays complete" {
	"$pokepatch" fetch "$release"
	run --separate-stderr "$pokepatch" cache prune
	[ "$status" -eq 0 ]
	[[ $output == "removed $kernel/packages ("*" freed" ]]
	[ ! -e "$kernel/packages" ]
	mv "$repo" "$repo.away"
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	mv "$repo.away" "$repo"
	run --separate-stderr "$pokepatch" cache prune
	[ "$output" = "nothing to remove" ]
	# A part that is damaged later is downloaded again, and nothing else.
	rm "$kernel/image/boot/vmlinuz-$release"
	run --separate-stderr "$pokepatch" fetch "$release" -q
	[ "$status" -eq 0 ]
	[ "$(grep -c '^downloading' <<<"$stderr")" -eq 1 ]
	[ "$(cat "$kernel/image/boot/vmlinuz-$release")" = "vmlinuz $version" ]
}

@test "cache prune keeps the packages of an incomplete kernel, and removes what was left" {
	"$pokepatch" fetch "$release"
	rm "$kernel/fetched"
	mkdir -p "$kernel"/{dbg.tmp/usr,programs.tmp,packages/partial}
	"$pokepatch" cache prune
	[ ! -e "$kernel/dbg.tmp" ]
	[ ! -e "$kernel/programs.tmp" ]
	"$pokepatch" fetch "$release"
	whole
}

@test "cache skips a folder whose name is no release" {
	mkdir -p "$cache/kernels/"{0.1+own,lost+found,x86}/tree-1
	run --separate-stderr "$pokepatch" cache list --json
	[ "$(jq -r '.kernels[].release' <<<"$output")" = 0.1+own ]
	run --separate-stderr "$pokepatch" cache prune
	[ "$status" -eq 0 ]
	[[ $output == "removed $cache/kernels/0.1+own/tree-1 ("*" freed" ]]
	[ "$(cd "$cache/kernels" && echo */tree-1)" = "lost+found/tree-1 x86/tree-1" ]
}

@test "cache prune removes trees and cores that no build will use again" {
	"$pokepatch" fetch "$release"
	local config=$kernel/image/boot/config-$release
	local tarball=$kernel/source/usr/src/linux-source-1.2.tar.xz
	local good
	good=$(printf '%s\n' "$(format tree)" "source $tarball 00ff" "$(input "$config")")
	make_tree good "$good"
	make_tree used "format 0"
	make_tree older "format 0"
	make_tree changed "$(format tree)" "$config 1 2.000000000"
	make_tree gone "$(format tree)" "$(input "$config" | sed 's/config-/gone-/')"
	make_tree sourceless "$(format tree)" "source $tarball.gone 00ff"
	make_tree unpacked "$(format tree)" "unpacked $tarball 1 2.000000000"
	mkdir "$kernel/tree-half" "$kernel/core-good" "$kernel/core-older"
	format core >"$kernel/core-good/ready"
	echo "format 0" >"$kernel/core-older/ready"
	touch "$kernel"/{tree-left,core-left,tree-good,other}.lock
	hold "$kernel/tree-used"
	"$pokepatch" cache prune
	let_go
	[ "$(find "$kernel" -maxdepth 1 \( -name 'tree-*' -o -name 'core-*' \) ! -name '*.lock' \
		-printf '%f\n' | sort)" = "$(printf '%s\n' core-good tree-good tree-used)" ]
	"$pokepatch" cache prune
	[ ! -e "$kernel/tree-used" ]
	[ "$(cd "$kernel" && echo *.lock)" = "other.lock tree-good.lock" ]
	[ -e "$kernel/tree-good" ]
}

@test "cache prune removes the trees of a release that a newer one replaces" {
	add_kernel 1.2.3-6 1.2.3-9
	index
	"$pokepatch" fetch "$release"
	make_tree 1 "$(format tree)"
	"$pokepatch" cache prune
	[ -e "$kernel/tree-1" ]
	"$pokepatch" fetch "1.2.3-6-$flavour"
	kernel=$cache/kernels/1.2.3-6-$flavour make_tree 2 "$(format tree)"
	"$pokepatch" cache prune
	[ ! -e "$kernel/tree-1" ]
	[ -e "$cache/kernels/1.2.3-6-$flavour/tree-2" ]
	"$pokepatch" fetch "$release" # it is still complete
}

@test "a kernel that a build uses is neither pruned nor removed" {
	"$pokepatch" fetch "$release"
	hold "$kernel"
	run --separate-stderr "$pokepatch" cache prune
	[ "$status" -eq 0 ]
	[ "$output" = "nothing to remove" ]
	[[ $stderr == "$release is in use"* ]]
	fails 1 "a running pokepatch uses '$release'" "$pokepatch" cache remove "$release"
	# A fetch with nothing to do does not wait for the build.
	timeout 5 "$pokepatch" fetch "$release"
	let_go
	whole
	# A build by an older version holds the locks of its tree and core alone.
	make_tree 1 "$(format tree)"
	hold "$kernel/tree-1"
	fails 1 "a running pokepatch uses '$release'" "$pokepatch" cache remove "$release"
	let_go
	[ -e "$kernel/fetched" ]
}

@test "a cache, or a kernel, that is a link to another place is shown, pruned and removed as if it were there" {
	"$pokepatch" fetch "$release"
	make_tree 1 "$(format tree)"
	head -c 100000 /dev/urandom >"$kernel/tree-1/file"
	local sizes
	sizes=$("$pokepatch" cache list --json | jq -c '.kernels')
	mv "$kernel" "$BATS_TEST_TMPDIR/moved"
	ln -s "$BATS_TEST_TMPDIR/moved" "$kernel"
	mv "$cache" "$BATS_TEST_TMPDIR/disk"
	ln -s "$BATS_TEST_TMPDIR/disk" "$cache"
	run --separate-stderr "$pokepatch" cache
	[[ $output == *"$release  complete  "* ]]
	[[ ${lines[-1]} != "$cache: 0.0 kB"* ]]
	[ "$("$pokepatch" cache list --json | jq -c '.kernels')" = "$sizes" ]
	echo "format 0" >"$kernel/tree-1/.pokepatch/ready"
	"$pokepatch" cache prune
	[ ! -e "$kernel/tree-1" ]
	run --separate-stderr "$pokepatch" cache remove "$release"
	[ "$status" -eq 0 ]
	[[ $output == "removed $BATS_TEST_TMPDIR/moved ("* ]]
	[ ! -e "$BATS_TEST_TMPDIR/moved" ]
	[ ! -L "$kernel" ]
}

@test "a kernel that cannot be pruned does not keep the others" {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to run as another user"
	"$pokepatch" fetch "$release"
	make_tree 1 "format 0"
	mkdir "$cache/kernels/1.0-theirs"
	touch "$cache/kernels/1.0-theirs.lock"
	chmod 600 "$cache/kernels/1.0-theirs.lock"
	chown -R nobody "$kernel" "$cache/kernels" "$cache/apt"
	chown root "$cache/kernels/1.0-theirs.lock"
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR"
	cp "$pokepatch" "$BATS_TEST_TMPDIR/pokepatch"
	run -1 --separate-stderr setpriv --reuid=nobody --clear-groups "$BATS_TEST_TMPDIR/pokepatch" cache prune
	[[ $stderr == "pokepatch: cannot open the lock '"*"1.0-theirs.lock'"* ]]
	[[ $output == "removed $kernel/"* ]]
	[ ! -e "$kernel/tree-1" ]
}

@test "cache remove removes one kernel, and the next fetch brings it back" {
	"$pokepatch" fetch "$release"
	mkdir "$cache/kernels/9.9-own"
	run --separate-stderr "$pokepatch" cache remove "$release"
	[ "$status" -eq 0 ]
	[[ $output == "removed $kernel ("* ]]
	[ "$(ls "$cache/kernels")" = 9.9-own ]
	fails 3 "'$release' is not in the cache" "$pokepatch" cache remove "$release"
	"$pokepatch" cache remove 9.9-own
	[ -z "$(ls "$cache/kernels")" ]
	"$pokepatch" fetch "$release"
	whole
}

@test "cache prune removes package lists older than a day" {
	"$pokepatch" fetch "$release"
	"$pokepatch" cache prune
	[ -e "$cache/apt/$arch/updated" ]
	touch -d '2 days ago' "$cache/apt/$arch/updated"
	"$pokepatch" cache prune
	[ ! -e "$cache/apt/$arch" ]
	rm -r "$kernel"
	"$pokepatch" fetch "$release"
	whole
}

@test "wrong uses of cache" {
	fails 1 "unknown command 'cache purge'" "$pokepatch" cache purge
	fails 1 "'pokepatch cache prune' takes no argument" "$pokepatch" cache prune x
	fails 1 "give the release to remove" "$pokepatch" cache remove
	fails 1 "is not a kernel release" "$pokepatch" cache remove ../..
}
