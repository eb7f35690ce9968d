# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch-repo: a signed apt repository of levels, and a thousand machines that take them from it.

bats_require_minimum_version 1.5.0

load ../vm/debian

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	repo=$top/build-tool/repo/pokepatch-repo
	cd "$BATS_TEST_TMPDIR" || return
	repository_owner
	arch=$(dpkg --print-architecture)
	name=linux-livepatch-6.1.0-99-cloud-$arch
}

teardown() {
	without_owner
}

# level VERSION [TEXT] - make a package of that level; its contents do not matter here.
level() {
	mkdir -p "p/DEBIAN" p/usr/share/doc
	printf '%s\n' "Package: $name" "Version: $1" "Architecture: $arch" "Maintainer: A <a@example.org>" \
		"Depends: pokepatch" "Description: level $1" >p/DEBIAN/control
	echo "${2:-}" >p/usr/share/doc/level
	dpkg-deb --root-owner-group -b p "${name}_$1_$arch.deb" >level.log
}

# machine_apt STATUS ARGUMENT... - apt-get of a machine with this dpkg database.
machine_apt() {
	apt-get -o Dir="$PWD/machine" -o Dir::State::status="$1" -o Debug::NoLocking=1 -o APT::Sandbox::User=root "${@:2}"
}

# machines_read SUITE - what the machines have in /etc/apt, which is the same for all; they read the lists.
machines_read() {
	mkdir -p machine/etc/apt/{apt.conf.d,preferences.d,sources.list.d,trusted.gpg.d} machine/var/lib/apt/lists/partial \
		machine/var/lib/dpkg machine/var/cache/apt/archives/partial
	"$repo" client r "file:$PWD/r" "$1" >client.txt
	sed -n '/^Types/,/^$/p' client.txt >machine/etc/apt/sources.list.d/pokepatch.sources
	sed -n '/^Unattended/p' client.txt >machine/etc/apt/apt.conf.d/52pokepatch
	: >machine/var/lib/dpkg/status
	machine_apt "$PWD/machine/var/lib/dpkg/status" -q update
}

# status_file LEVEL - a dpkg database with pokepatch and that level.
status_file() {
	printf '%s\n' "Package: pokepatch" "Status: install ok installed" "Version: 0.1" "Architecture: $arch" \
		"Maintainer: A <a@example.org>" "Description: program" "" "Package: $name" "Status: install ok installed" \
		"Version: $1" "Architecture: $arch" "Maintainer: A <a@example.org>" "Depends: pokepatch" "Description: level"
}

@test "a level goes to canary, then to stable; what was promoted, phased and added is listed" {
	"$repo" init r owner@example.org
	level 0
	level 1
	"$repo" add r "${name}"_{0,1}_"$arch".deb
	run -0 "$repo" list r
	[ "$output" = "canary $name 1 100%" ]
	"$repo" promote -p 20 r
	run -0 "$repo" list r
	[ "$output" = "canary $name 1 100%"$'\n'"stable $name 1 20%" ]
	level 2
	"$repo" add r "${name}_2_$arch.deb"
	# stable stays as it is until it is told.
	machines_read stable
	[ "$(apt-cache -o Dir="$PWD/machine" -o Dir::State::status=/dev/null madison "$name" | awk '{ print $3 }')" = 1 ]
	"$repo" promote r "$name"
	run -0 "$repo" promote r "$name"
	[ "$output" = "stable: ${name}_2_$arch.deb is there already" ]
	run -0 "$repo" promote -p 30 r "$name"
	[ "$output" = "stable: ${name}_2_$arch.deb is there already, now 30 percent" ]
	run -0 "$repo" list r
	[ "$output" = "canary $name 2 100%"$'\n'"stable $name 2 30%" ]
	"$repo" phase r 70 "$name"
	run -0 "$repo" list r
	[ "$output" = "canary $name 2 100%"$'\n'"stable $name 2 70%" ]
	# The archive's key, and no other, vouches for it.
	machines_read stable
	sed -i s/Suite:/Suite:x/ r/dists/stable/Release
	sed -i 's/^Suite: stable/Suite: other/' r/dists/stable/InRelease
	run machine_apt /dev/null update
	echo "$output"
	[[ $output == *BADSIG* ]]
}

@test "each architecture's package is promoted; a key that cannot sign makes no repository" {
	local other=arm64
	[ "$arch" != arm64 ] || other=amd64
	"$repo" init r owner@example.org
	level 1
	arch=$other level 1
	"$repo" add r "${name}"_1_*.deb
	"$repo" promote r
	[ "$(grep -c "^Package: $name$" r/dists/stable/main/binary-"$arch"/Packages)" -eq 1 ]
	[ "$(grep -c "^Package: $name$" r/dists/stable/main/binary-$other/Packages)" -eq 1 ]
	# A year later the indices that a client may have read about are there, and those of before are gone.
	local hashes=r/dists/canary/main/binary-$arch/by-hash previous version
	for version in 2 3; do
		find r/dists -path '*/by-hash/*' -exec touch -d '-1 year' {} +
		previous=$(sha256sum <r/dists/canary/main/binary-"$arch"/Packages.xz | cut -d ' ' -f 1)
		level $version
		"$repo" add r "${name}_${version}_$arch.deb"
		[ -e "$hashes/SHA256/$previous" ]
		[ "$(find "$hashes" -type f | wc -l)" -eq 4 ]
	done
	# They go a week after the next index, not before.
	find "$hashes" -type f -links 1 -exec touch -d '-6 days' {} +
	level 4
	"$repo" add r "${name}_4_$arch.deb"
	[ "$(find "$hashes" -type f | wc -l)" -eq 6 ]
	gpg --batch --quiet --passphrase locked --pinentry-mode loopback --quick-gen-key locked@example.org ed25519
	gpgconf --kill all
	run -1 "$repo" init s locked@example.org </dev/null
	echo "$output"
	[[ $output == *"gpg cannot sign"* ]]
	[ ! -e s/conf/key ]
}

# killed_by_ln ARGUMENT... - run it, and kill it as soon as it has put a package into stable.
killed_by_ln() {
	mkdir -p fake
	cat >fake/ln <<-END
		#!/bin/sh
		$(command -v ln) "\$@"
		[ "\$1" = -f ] || kill -KILL \$PPID
	END
	chmod +x fake/ln
	run env PATH="$PWD/fake:$PATH" "$repo" "$@"
	[ "$status" -eq 137 ]
}

@test "a promotion that was killed, and is repeated, gives the level to no more machines" {
	"$repo" init r owner@example.org
	level 1
	"$repo" add r "${name}_1_$arch.deb"
	"$repo" promote -p 50 r
	level 2
	"$repo" add r "${name}_2_$arch.deb"
	killed_by_ln promote -p 20 r
	[ -e "r/pool/stable/${name}_2_$arch.deb" ]
	"$repo" promote -p 20 r
	run -0 "$repo" list r
	[ "${lines[1]}" = "stable $name 2 20%" ]
	[ "$(grep -c '^Phased-Update-Percentage: 20$' r/dists/stable/main/binary-"$arch"/Packages)" -eq 1 ]
	# list prints the percentage of the newest version, which here has none.
	rm "r/pool/stable/${name}_2_$arch.deb"
	echo "$name 2 20" >r/conf/phases/stable
	run -0 "$repo" list r
	[ "${lines[1]}" = "stable $name 1 100%" ]
}

@test "a level that is held stays held when a newer one is promoted, while the pool has it" {
	local packages=r/dists/stable/main/binary-$arch/Packages version
	"$repo" init r owner@example.org
	for version in 1 2 3 4; do
		level $version
		"$repo" add r "${name}_${version}_$arch.deb"
		"$repo" promote -p $(((version - 2) * (version - 2) * 10)) r
	done
	# 10, 0, 10 and 40 percent.
	[ "$(sed -n 's/^Phased-Update-Percentage: //p' "$packages" | paste -sd ' ')" = "10 0 10 40" ]
	"$repo" phase r 100
	[ "$(sed -n 's/^Phased-Update-Percentage: //p' "$packages" | paste -sd ' ')" = "10 0 10" ]
	rm "r/pool/stable/${name}_2_$arch.deb"
	"$repo" phase r 50
	[ "$(cat r/conf/phases/stable)" = "$(printf "$name %s\n" "1 10" "3 10" "4 50")" ]
}

@test "every user can read the repository, whatever the umask and the packages' modes are" {
	level 1
	chmod 600 "${name}_1_$arch.deb"
	umask 077
	"$repo" init r owner@example.org
	"$repo" add r "${name}_1_$arch.deb"
	"$repo" promote -p 20 r
	run -0 find r ! -perm -a=r -o -type d ! -perm -a=x -o -perm /022
	[ -z "$output" ]
}

@test "what cannot be is told in one line, and changes nothing" {
	"$repo" init r owner@example.org
	level 1
	"$repo" add r "${name}_1_$arch.deb"
	level 1 other
	cp "${name}_1_$arch.deb" other.deb
	level 2
	echo nothing >nothing.deb
	head -c -8 "${name}_2_$arch.deb" >cut.deb
	find r -type f -exec sha256sum {} + | sort >before
	local arguments told
	while IFS='|' read -r arguments told; do
		# shellcheck disable=SC2086 # several words
		run -1 "$repo" $arguments
		echo "$output"
		[ "$output" = "pokepatch-repo: $told" ]
	done <<-END
		|no command; see pokepatch-repo --help
		publish r|'publish' is no command; see pokepatch-repo --help
		init r owner@example.org|'r' is a repository already
		init s nobody@example.org|gpg has no secret key 'nobody@example.org'
		list nowhere|'nowhere' is no repository; make one with: pokepatch-repo init DIR KEY
		add r ${name}_2_$arch.deb other.deb|'other.deb': canary has another package of this name and version; raise the version
		add r ${name}_2_$arch.deb nothing.deb|'nothing.deb' is no package
		add r ${name}_2_$arch.deb cut.deb|'cut.deb' is damaged or cut off; make it or copy it again
		promote r no-package|canary has no package 'no-package'
		promote -p 101 r|'101' is not a percentage
		phase r x|'x' is not a percentage
		phase r 20|stable has no packages
		client r file:/r unstable|there is no suite 'unstable'; there are: canary stable
	END
	find r -type f -exec sha256sum {} + | sort | diff before -
	[ ! -e s ]
	run -0 "$repo" --help
	[[ $output == *promote* ]]
}

# ids - the machines' ids; the number of machines is $machines.
ids() {
	awk -v n="$machines" 'BEGIN { for (i = 1; i <= n; i++) printf "%08x%08x%08x%08x\n", i * 7919, i * 104729, i, i * 1299709 }'
}

# morning - each machine takes what apt-get upgrade would: levels/ID has what it had, newest last.
morning() {
	machine_apt "$PWD/machine/var/lib/dpkg/status" -q update >update.log
	ids | xargs -P 2 -n 50 "$BASH" -c '
		apt_machine() {
			apt-get -o Dir="$PWD/machine" -o Dir::State::status="$PWD/status.$1" -o Debug::NoLocking=1 \
				-o APT::Sandbox::User=root -o APT::Machine-ID="$2" -s upgrade
		}
		for id; do
			was=$(tail -n 1 "levels/$id")
			new=$(apt_machine "$was" "$id" | sed -n "s/^Inst linux-livepatch[^ ]* \[[^]]*\] (\([0-9]*\) .*/\1/p")
			[ -z "$new" ] || echo "$new" >>"levels/$id"
		done' morning
}

# having LEVEL - how many machines have it now.
having() {
	tail -qn 1 levels/* | grep -cx "$1" || :
}

@test "a thousand machines: phases hold, and no machine gets a level twice or out of order" {
	local machines=1000 id first second
	[ "${POKEPATCH_CHECK:-}" != short ] || machines=200
	"$repo" init r owner@example.org
	level 1
	"$repo" add r "${name}_1_$arch.deb"
	"$repo" promote r
	machines_read stable
	for id in 1 2 3 4; do status_file $id >status.$id; done
	mkdir levels
	ids | while read -r id; do echo 1 >"levels/$id"; done
	morning
	[ "$(having 1)" -eq $machines ]

	level 2
	"$repo" add r "${name}_2_$arch.deb"
	morning
	[ "$(having 1)" -eq $machines ] # it is in canary alone
	"$repo" promote -p 20 r
	morning
	first=$(having 2)
	echo "20 percent: $first of $machines"
	[ "$first" -gt $((machines * 13 / 100)) ]
	[ "$first" -lt $((machines * 27 / 100)) ]
	morning # the same machines
	[ "$(having 2)" -eq "$first" ]
	"$repo" phase r 50
	morning
	second=$(having 2)
	echo "50 percent: $second of $machines"
	[ "$second" -gt $((machines * 42 / 100)) ]
	[ "$second" -lt $((machines * 58 / 100)) ]

	# A newer level for a tenth, whatever they have.
	level 3
	"$repo" add r "${name}_3_$arch.deb"
	"$repo" promote -p 10 r
	morning
	echo "then: $(having 1) have 1, $(having 2) have 2, $(having 3) have 3"
	[ "$(having 3)" -gt 0 ]
	[ "$(having 3)" -lt $((machines * 16 / 100)) ]
	"$repo" phase r 100
	morning
	[ "$(having 3)" -eq $machines ]
	# Each machine's levels rise.
	for id in levels/*; do
		sort -nuC "$id" || {
			echo "$id:" && cat "$id"
			return 1
		}
	done
}
