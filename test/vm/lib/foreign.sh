# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2031,SC2034,SC2154 # variables of vm and of its other parts
# What a guest of another architecture needs that this machine's programs cannot be: Debian's
# packages for it, unpacked in the cache and not installed.

# shellcheck source=from-source.sh
. "$here/lib/from-source.sh"

# What the guest's base is made of, and what the program pokepatch is linked with.
foreign_packages=(busybox-static libelf-dev libdw-dev libjson-c-dev libcapstone-dev libkmod-dev
	libssl-dev)

# is_foreign - are the guest's programs not this machine's?
is_foreign() {
	[ "${arch_uname:-$arch}" != "$(uname -m)" ]
}

# The names of the packages, with what they depend on, that are for $arch_debian.
foreign_closure() {
	apt-get -s -q --no-install-recommends install "${foreign_packages[@]/%/:$arch_debian}" |
		sed -n "s/^Inst \([^ ]*:$arch_debian\) .*/\1/p"
}

# apt_lists - have apt know the packages for $arch_debian: by the lists that `pokepatch fetch` has
# brought with a kernel, or, where Debian's kernel is not used, by lists of our own.
apt_lists() {
	local dir=$cache/guest/apt-$arch_debian
	export APT_CONFIG=$cache/apt/$arch_debian/apt.conf
	[ ! -r "$APT_CONFIG" ] || return 0
	[ -n "${arch_kernel-}" ] || fail "first: $(get_kernel)"
	APT_CONFIG=$dir/apt.conf
	mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
	: >"$dir/state/status"
	cat >"$APT_CONFIG" <<-END
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear APT::Architectures;
		#clear Acquire::Languages;
		Acquire::Languages { "none"; };
		APT::Sandbox::User "root";
		Dir::State "$dir/state";
		Dir::State::status "$dir/state/status";
		Dir::Cache "$dir/cache";
		APT::Architectures { "$(dpkg --print-architecture)"; "$arch_debian"; };
	END
	apt-get -q update >"$work/apt.log" 2>&1 ||
		fail "apt-get update for $arch_debian: $(tail -n 1 "$work/apt.log")"
}

make_foreign() { # FOLDER
	local names deb
	mkdir -p "$1" "$work/debs"
	# shellcheck disable=SC2015 # either is a failure
	names=$(foreign_closure) && [ -n "$names" ] ||
		fail "apt does not know the packages for $arch_debian"
	# shellcheck disable=SC2086 # several words
	(cd "$work/debs" && apt-get -q download $names) >"$work/apt.log" 2>&1 ||
		fail "packages for $arch_debian: $(tail -n 1 "$work/apt.log")"
	for deb in "$work"/debs/*.deb; do
		dpkg-deb -x "$deb" "$1"
	done
	# libc.so is a script for the linker with absolute paths; the cross compiler has its own.
	rm -rf "$work/debs" "${1:?}/usr/share" "$1"/usr/lib/*/libc.{so,a}
}

# foreign_root - set $foreign to the folder with all that; it is made once.
foreign_root() {
	local cache=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch stamp
	stamp=$(cat "$here"/lib/{foreign.sh,from-source.sh,libcrypto/*} | sha256sum | cut -c 1-12)
	foreign=$cache/guest/${arch_debian:-$arch}-$stamp
	[ ! -e "$foreign" ] || return 0
	mkdir -p "$cache/guest"
	(
		flock 9
		[ ! -e "$foreign" ] || exit 0
		rm -rf "$foreign.new"
		if [ -n "$arch_debian" ]; then
			apt_lists
			make_foreign "$foreign.new"
		else
			make_from_source "$foreign.new"
		fi
		mv -T "$foreign.new" "$foreign"
	) 9>"$foreign.lock"
}

# foreign_libraries FILE - the shared libraries that a program names, and those that they name.
foreign_libraries() {
	local todo=("$1") seen=' ' name path
	while [ ${#todo[@]} -gt 0 ]; do
		for name in $("${arch_cross}readelf" -dl "${todo[0]}" 2>/dev/null | sed -n \
			-e 's/.*(NEEDED).*\[\(.*\)\]/\1/p' -e 's/.*interpreter: \(.*\)\]/\1/p'); do
			name=${name##*/}
			case $seen in *" $name "*) continue ;; esac
			seen+="$name "
			for path in "$foreign"/lib "$foreign"/lib/"${arch_cross%-}" \
				"$foreign"/usr/lib/"${arch_cross%-}"; do
				[ ! -e "$path/$name" ] || break
			done
			[ -e "$path/$name" ] || fail "$1 needs $name, which is not in $foreign"
			echo "$path/$name"
			todo+=("$path/$name")
		done
		todo=("${todo[@]:1}")
	done
}
