# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # helpers.bash sets top and build
# A clean Debian, for bats tests that install Debian packages: a folder that mmdebstrap makes, below packages/
# in the cache, and guests that boot from it.  `load` it behind helpers.bash.

suite=bookworm # whatever this machine has: the kernel's headers want its compiler
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)

# sources - its package sources, from this machine's own mirrors.
sources() {
	apt-get indextargets --format '$(ORIGIN)/$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
		awk -v suite=$suite '$1 == "Debian/Debian" && !debian++ { print "deb", $2, suite, "main" }
			$1 == "Debian/Debian-Security" && !security++ { print "deb", $2, suite "-security main" }'
}

# state FOLDER - all that is in it, to be compared later.
state() {
	"${as_root[@]}" find "$1" -printf '%P %y %m %u %g %s %T@ %l\n' | sort
}

# debian NAME DEPENDENCIES - print the folder with a Debian in which these are installed, as in a field
# Depends.  It is made if there is none, or if it is not as it was when it was made.  apt's own user cannot
# read a home folder.
debian() {
	local folder
	folder=$cache/packages/$1-$(printf '%s\n' $suite "$2" | sha256sum | cut -c 1-12)
	mkdir -p "$cache/packages"
	(
		flock 9
		[ -s "$folder.state" ] && state "$folder" 2>/dev/null | cmp -s - "$folder.state" && exit
		say "making a Debian of $suite: $1" || :
		"${as_root[@]}" rm -rf "$cache/packages/$1-"*
		"${as_root[@]}" env DEPENDENCIES="$2" TMPDIR="${TMPDIR:-/tmp}" mmdebstrap --quiet --variant=minbase \
			--aptopt='APT::Sandbox::User "root"' \
			--customize-hook='chroot "$1" apt-get -q -y --no-install-recommends satisfy "$DEPENDENCIES"' \
			$suite "$folder" - < <(sources) >"$folder.log" 2>&1 9>&- || {
			cat "$folder.log" >&2
			exit 1
		}
		state "$folder" >"$folder.new"
		mv "$folder.new" "$folder.state"
	) 9>"$cache/packages/$1.lock" || return 1
	echo "$folder"
}

# depends FILE.deb... - what these packages depend on, but for pokepatch's own.
depends() {
	local file
	for file; do
		dpkg-deb -f "$file" Depends
	done | tr ',' '\n' | sed 's/^ *//' | grep -v -e '^pokepatch' -e '^$' | sort -u | paste -sd ,
}

# own_package NAME - path of the Debian package of this tree, made of the programs that are built; once for
# each build of them.
own_package() {
	local file
	file=$build/deb/${1}_$(sed -n '1s/.*(\(.*\)).*/\1/p' "$top/debian/changelog")_$(dpkg --print-architecture).deb
	newer_than="$top/Makefile $top/build/bin/* $top/debian/* $top/debian/apt/* $top/man/* $top/core-module/*
		$top/build-tool/pokepatch/*.in $top/build-tool/repo/* $top/build-tool/completions/*" \
		once_per_check "$file" build_own_packages "${file%/*}" || return 1
	echo "$file"
}

# make finds all objects newer than their sources and compiles nothing.
build_own_packages() { # FOLDER
	local tree=$1/tree
	rm -rf "$1"
	mkdir -p "$tree"
	(
		cd "$top" || exit
		git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null
		find build/bin build/libexec build/build-tool build/datadir -type f
	) | tar -C "$top" -c -T - | tar -C "$tree" -x || return
	(cd "$tree" && DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage -B -nc -d -us -uc) >"$1/log" 2>&1 || {
		tail -n 30 "$1/log" >&2
		return 1
	}
	rm -rf "$tree"
}

# repository_owner - a key for owner@example.org, who signs a repository, in $GNUPGHOME; without_owner ends that.
repository_owner() {
	# gpg's agent needs a short path for its socket.
	GNUPGHOME=$(mktemp -d /tmp/pokepatch-gpg-XXXXXX)
	export GNUPGHOME
	gpg --batch --quiet --passphrase '' --quick-gen-key owner@example.org ed25519
}

without_owner() {
	[ -n "${GNUPGHOME-}" ] || return 0
	gpgconf --kill all
	rm -rf "$GNUPGHOME"
}

# system_disk FILE FOLDER - make the image of an ext4 file system with the Debian of that folder (vm --system).
system_disk() {
	rm -f "$1"
	truncate -s 1G "$1"
	"${as_root[@]}" mke2fs -q -t ext4 -E lazy_itable_init=1 -d "$2" "$1"
	[ ${#as_root[@]} -eq 0 ] || "${as_root[@]}" chown "$(id -u)" "$1"
}
