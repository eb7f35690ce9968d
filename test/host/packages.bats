# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # helpers.bash sets top
# The Debian packages (debian/): they are built on this machine and in a clean Debian, lintian judges them,
# two builds are compared, and they are installed, upgraded, removed and purged in a clean Debian.
#
# A clean Debian is a folder that mmdebstrap makes, below packages/ in the cache.  What runs there runs
# chrooted, without a network, on top of an overlay in memory, so that the folder stays as it is.

load ../vm/helpers
load ../vm/debian

setup() {
	shared=$BATS_FILE_TMPDIR/shared # /shared in the clean Debian
	mkdir -p "$shared"
	version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$top/debian/changelog")
}

# ---- a clean Debian ---------------------------------------------------------

# Functions for the scripts there, which begin with: eval "$functions"
functions='
	# files - all that there is, but for what dpkg and the like keep about every package.
	files() {
		find / \( -path /proc -o -path /dev -o -path /sys -o -path /shared -o -path /tmp -o -path "${XDG_CACHE_HOME%/*}" \
			-o -path /var/log -o -path "/var/lib/dpkg/*-old" -o -path /var/cache/ldconfig \) -prune \
			-o -printf "%p %y %m %u %l\n" | sort
	}
	# same WHAT - nothing has come or gone since "files >/tmp/before".
	same() {
		files | diff /tmp/before - || { echo "$1: left behind (>) or missing (<)"; exit 1; }
	}
	dpkg() { command dpkg "$@" 2>&1 </dev/null | tee /tmp/said; }
	said() { grep -qF -- "$1" /tmp/said || { echo "dpkg did not say: $1"; exit 1; }; }
'

# inside FOLDER [ARGUMENT...] - run the script from standard input as root in that Debian.  The cache is where
# it is on this machine.
inside() {
	local mounts=$BATS_TEST_TMPDIR/mounts
	mkdir -p "$mounts"
	"${as_root[@]}" unshare --mount --pid --net --fork --kill-child bash -c '
		set -e
		mount --make-rprivate /
		mount -t tmpfs -o mode=755 tmpfs "$2"
		over() { # WHAT WHERE NAME
			mkdir -p "$mounts/$3/upper" "$mounts/$3/work" "$2"
			mount -t overlay -o "lowerdir=$1,upperdir=$mounts/$3/upper,workdir=$mounts/$3/work" overlay "$2"
		}
		mounts=$2 root=$2/root
		over "$1" "$root" debian
		over "$4" "$root/$4" cache
		mkdir "$root/shared"
		mount --bind "$3" "$root/shared"
		mount -t proc proc "$root/proc"
		exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LC_ALL=C.UTF-8 \
			XDG_CACHE_HOME="${4%/*}" functions="$5" DEBIAN_FRONTEND=noninteractive bash -eu -o pipefail -s "${@:6}"' \
		- "$1" "$mounts" "$shared" "$cache" "$functions" "${@:2}"
}

# ---- building ---------------------------------------------------------------

# committed - a repository, $tree, of what is in this one and not ignored.
committed() {
	tree=$BATS_FILE_TMPDIR/tree
	[ ! -d "$tree" ] || return 0
	mkdir "$tree"
	(cd "$top" && git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null |
		tar -c -T - | tar -x -C "$tree")
	git -C "$tree" init -q
	git -C "$tree" add -A
	git -C "$tree" -c user.name=test -c user.email=test@example.org commit -q -m all
}

@test "make deb builds what is committed, whatever else is in the tree, and leaves the tree alone" {
	local name
	committed
	cd "$tree"
	echo '#error not committed' >>build-tool/common/error.h
	touch debian/not-committed
	git status --porcelain >"$BATS_TEST_TMPDIR/before"
	make deb ARCH=arm64 PREFIX=/opt CFLAGS=-Wrong >"$BATS_TEST_TMPDIR/said"
	cat "$BATS_TEST_TMPDIR/said"
	grep -q "changes that are not committed are not in the packages" "$BATS_TEST_TMPDIR/said"
	git status --porcelain | diff "$BATS_TEST_TMPDIR/before" -
	run -0 find build -mindepth 1 -maxdepth 1 ! -name deb
	[ -z "$output" ]
	run -0 find build/deb -type d
	[ "$output" = build/deb ]
	for name in pokepatch pokepatch-build pokepatch-dkms pokepatch-doc; do
		[ "$(grep -c "  DEB      build/deb/${name}_${version}_.*deb" "$BATS_TEST_TMPDIR/said")" -eq 1 ]
	done
	grep -qF "POKEPATCH_VERSION \"$version\"" build-tool/common/version.h

	echo "== lintian"
	lintian --allow-root --fail-on error,warning build/deb/*.changes
	[ -z "$(git ls-files '*lintian-overrides*')" ]

	echo "== the flags of dpkg-buildflags reach the compiler and the linker"
	grep -E '^[a-z0-9_-]*cc .* -c -o ' build/deb/build.log >"$BATS_TEST_TMPDIR/compiled"
	grep -E '^[a-z0-9_-]*cc .* -o build/(bin|libexec)/' build/deb/build.log >"$BATS_TEST_TMPDIR/linked"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/compiled")" -gt 100 ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/linked")" -eq 6 ]
	run -1 grep -v -e '-D_FORTIFY_SOURCE=2.*-fstack-protector-strong' "$BATS_TEST_TMPDIR/compiled"
	run -1 grep -v -e '-Wl,-z,relro -Wl,-z,now' "$BATS_TEST_TMPDIR/linked"

	echo "== another build takes the place of the first, and one that fails leaves it"
	cp -r build/deb "$BATS_TEST_TMPDIR/first"
	echo garbage >>debian/control
	git -c user.name=test -c user.email=test@example.org commit -q -m broken debian/control
	run --separate-stderr make deb
	[ "$status" -ne 0 ]
	[[ $stderr == *"make deb: dpkg-buildpackage failed; its last lines are above"* ]]
	rm build/deb/build.log "$BATS_TEST_TMPDIR/first/build.log"
	diff -r "$BATS_TEST_TMPDIR/first" build/deb
	git reset -q --hard HEAD^
	cp -r build/deb "$shared/here"
}

@test "debian/copyright says of each file what the file says" {
	cd "$top"
	local file licence glob says i
	local globs=() licences=()
	while read -r glob says; do
		globs+=("$glob") licences+=("$says")
	done < <(awk '/^Files:/ { sub(/^Files: */, ""); on = 1; n = 0 } /^[A-Z][a-z-]*:/ && !/^Files/ { on = 0 }
		on && NF { names[n++] = $1 }
		/^License:/ { for (i = 0; i < n; i++) print names[i], $2; n = 0 }' debian/copyright)
	[ ${#globs[@]} -ge 8 ]
	git ls-files --cached --others --exclude-standard | xargs -d '\n' grep -aosHm 1 'SPDX-License-Identifier: GPL[^ *]*' |
		sed 's/:SPDX-License-Identifier: / /' >"$BATS_TEST_TMPDIR/files"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/files")" -gt 900 ]
	while read -r file licence; do
		for i in "${!globs[@]}"; do
			# shellcheck disable=SC2053 # it is a pattern
			[[ $file != ${globs[i]} ]] || says=${licences[i]}
		done
		[ "$licence" = "$says" ] || echo "$file: $licence, and debian/copyright says $says"
	done <"$BATS_TEST_TMPDIR/files" >"$BATS_TEST_TMPDIR/differ"
	cat "$BATS_TEST_TMPDIR/differ"
	[ ! -s "$BATS_TEST_TMPDIR/differ" ]
}

# made_with BUILDINFO - the packages with which they were built, and their versions.
made_with() {
	sed -n '/^Installed-Build-Depends:/,/^[A-Z]/s/^ \([^,]*\),\?$/\1/p' "$1" | sort
}

# build_there FOLDER - build them in the clean Debian, in that folder, into /shared/FOLDER.
build_there() {
	inside "$root" "$1" "$version" <<'END'
		mkdir -p "/home/builder/$1"
		cd "/home/builder/$1"
		umask 002
		dpkg-source -x "/shared/here/pokepatch_$2.dsc" >/dev/null
		chown -R 1234:1234 .
		cd "pokepatch-$2"
		export TZ=EAST-14 LC_ALL=C HOME=/nonexistent
		setpriv --reuid 1234 --regid 1234 --clear-groups dpkg-buildpackage -us -uc -b -j"$(nproc)" >/tmp/log 2>&1 ||
			{ tail -n 30 /tmp/log; exit 1; }
		mkdir "/shared/$1"
		cp ../*.deb ../*.buildinfo "/shared/$1/"
		chmod -R a+rwX "/shared/$1"
END
}

@test "a clean Debian builds them; another folder, user, mask, time and time zone make no difference" {
	local root file other=here what=
	[ -e "$shared/here/pokepatch_$version.dsc" ]
	root=$(debian builder "build-essential, $(awk '/^[A-Z]/ { on = 0 } on; /^Build-Depends:/ { on = 1 }' \
		"$top/debian/control" | tr -d '\n')")
	build_there clean
	[ "$(find "$shared/clean" -name '*.deb' | wc -l)" -eq 6 ]
	cp "$shared/clean"/*.deb "$shared/"
	# Other headers change debug information, and with it the build ids of the same code.
	if cmp -s <(made_with "$shared/here"/*.buildinfo) <(made_with "$shared/clean"/*.buildinfo); then
		:
	elif [ "${POKEPATCH_CHECK:-}" = short ]; then
		say "this machine has other packages than a clean Debian: only what is not compiled is compared"
		what=_all
	else
		say "this machine has other packages than a clean Debian: a second build there"
		other=another/folder
		mkdir "$shared/another"
		build_there $other
	fi
	for file in "$shared/clean"/*"$what".deb; do
		cmp "$file" "$shared/$other/${file##*/}" || {
			diff <(dpkg-deb -c "$file") <(dpkg-deb -c "$shared/$other/${file##*/}")
			return 1
		}
	done
}

# ---- installing -------------------------------------------------------------

# built - the packages are in $shared; make the same of a higher version, in $shared/higher.
built() {
	local file tree=$BATS_TEST_TMPDIR/tree higher=$BATS_TEST_TMPDIR/higher
	[ -e "$shared/pokepatch_${version}_$(dpkg --print-architecture).deb" ] || {
		echo "the tests above have not built the packages"
		return 1
	}
	[ ! -d "$shared/higher" ] || return 0
	mkdir "$higher"
	for file in "$shared"/pokepatch*_"$version"_*.deb; do
		[[ $file != *-dbgsym_* ]] || continue
		rm -rf "$tree"
		dpkg-deb -R "$file" "$tree"
		sed -i -e "s/^Version: .*/&+1/" -e "s/(= $version)/(= $version+1)/" "$tree/DEBIAN/control"
		if [ -d "$tree/usr/src" ]; then
			mv "$tree/usr/src/pokepatch-$version" "$tree/usr/src/pokepatch-$version+1"
			sed -i "s/^\(DKMS\|PACKAGE\)_VERSION=.*$version/&+1/" "$tree/DEBIAN"/p* "$tree/usr/src/"*/dkms.conf
			sed -i "s|usr/src/pokepatch-$version|&+1|" "$tree/DEBIAN/md5sums"
		fi
		dpkg-deb --root-owner-group -b "$tree" "$higher" >/dev/null
	done
	mv "$higher" "$shared/"
	cp -r "$top/debian/tests" "$shared/"
}

@test "pokepatch: installed, upgraded, removed, purged; without a compiler" {
	local root patch
	built
	# Levels depend on it (host/reproducible.bats), so apt keeps back a program of another format.
	[ "$(dpkg-deb -f "$shared"/pokepatch_"$version"_*.deb Provides)" = \
		"pokepatch-format-$(sed -n 's/^#define POKEPATCH_FORMAT //p' "$top/core-module/include/pokepatch_format.h")" ]
	patch=$(patch_module "$top/examples/proc-version.patch")
	cp "$patch" "$(core_module)" "$shared/"
	root=$(debian runtime "systemd, $(depends "$shared"/pokepatch{,-doc}_*.deb)")
	inside "$root" "$version" "$(kernel_release)" <<'END'
		eval "$functions"
		version=$1 release=$2 unit=/etc/systemd/system/sysinit.target.wants/pokepatch.service
		for program in cc gcc make ld as; do
			! command -v $program || { echo "its dependencies bring $program"; exit 1; }
		done
		folder=/lib/modules/$release/pokepatch
		mkdir -p "/lib/modules/$release"
		files >/tmp/before

		echo "== installed: the programs run, and nothing is enabled"
		dpkg -i /shared/pokepatch_"$version"_*.deb /shared/pokepatch-doc_*.deb
		pokepatch version | grep "^pokepatch: *$version\$"
		pokepatch info /shared/pokepatch-proc-version.ko >/dev/null
		[ ! -L $unit ]
		while read -r _ _ file _; do
			[ -e "$file" ] || { echo "doc-base names $file, which is not there"; exit 1; }
		done < <(sed -n 's/^Files:/x x/p' /usr/share/doc-base/*pokepatch*)
		bash -c '. /usr/share/bash-completion/completions/pokepatch; complete -p pokepatch'
		pokepatch install /shared/pokepatch-proc-version.ko
		[ -L $unit ]

		echo "== upgraded: what is installed at boot stays so"
		helper=/var/lib/systemd/deb-systemd-helper-enabled # knows on an upgrade which units are enabled
		files | grep -v $helper >/tmp/installed
		dpkg -i /shared/higher/pokepatch_*.deb /shared/higher/pokepatch-doc_*.deb
		files | grep -v $helper | diff /tmp/installed -

		echo "== removed: patches stay, loaded and installed, and dpkg says so"
		mkdir -p /sys/kernel/pokepatch/proc_version
		echo 1 >/sys/kernel/pokepatch/proc_version/enabled
		dpkg -r pokepatch pokepatch-doc
		said "patch 'proc_version' stays loaded until the next boot"
		said "the patches in /lib/modules/*/pokepatch stay"
		[ "$(cat /sys/kernel/pokepatch/proc_version/enabled)" = 1 ]
		[ -e "$folder/pokepatch-proc-version.ko" ]
		[ ! -e /usr/sbin/pokepatch ]

		echo "== installed again: as before; a unit that was disabled stays so"
		dpkg -i /shared/higher/pokepatch_*.deb
		[ "$(systemctl is-enabled pokepatch.service)" = enabled ]
		pokepatch uninstall -k "$release" proc-version
		dpkg -i /shared/higher/pokepatch_*.deb
		[ ! -L $unit ]
		pokepatch install /shared/pokepatch-proc-version.ko

		echo "== purged: nothing is left, but what others put beside it"
		touch "$folder/notes"
		dpkg --purge pokepatch pokepatch-doc
		said "removing the patches in /lib/modules/*/pokepatch"
		[ "$(ls "$folder")" = notes ]
		rm -r "$folder"
		same pokepatch

		echo "== purged at once, and what was never used"
		dpkg -i /shared/pokepatch_"$version"_*.deb
		dpkg --purge pokepatch
		same pokepatch
END
}

@test "pokepatch: a new kernel's live patches are installed once apt knows them; a reboot is asked for if it helps" {
	local root
	built
	root=$(debian runtime "systemd, $(depends "$shared"/pokepatch{,-doc}_*.deb)")
	inside "$root" "$version" <<'END'
		eval "$functions"
		version=$1 running=linux-livepatch-$(uname -r | tr A-Z_ a-z-) new=9$(uname -r)
		next=linux-livepatch-9${running#linux-livepatch-}
		noted=/var/lib/pokepatch/new-kernels mark=/run/reboot-required after_apt=/usr/libexec/pokepatch/after-apt
		# package NAME [FILE...] - make /tmp/NAME.deb, with these empty files, and $postinst if there is any.
		package() {
			rm -rf /tmp/package
			mkdir -p /tmp/package/DEBIAN
			printf '%s\n' "Package: $1" "Version: 1" "Architecture: all" "Maintainer: A <a@example.org>" \
				"Description: a test" >/tmp/package/DEBIAN/control
			[ -z "${postinst-}" ] || install -m 755 <(echo "$postinst") /tmp/package/DEBIAN/postinst
			for file in "${@:2}"; do install -D /dev/null "/tmp/package/$file"; done
			dpkg-deb --root-owner-group -b /tmp/package "/tmp/$1.deb" >/dev/null
		}
		package "$running"
		package "$next"
		postinst=$(printf '%s\n' '#!/bin/sh' "run-parts --exit-on-error --arg=$new /etc/kernel/postinst.d") \
			package linux-image-new "boot/vmlinuz-$new" "usr/lib/modules/$new/module.ko"
		wants() { # NAME... - these want a reboot
			if [ $# -eq 0 ]; then [ ! -e $mark ]; else [ "$(cat $mark.pkgs)" = "$(printf '%s\n' "$@")" ]; fi ||
				{ grep . $mark.pkgs; echo "not: $*"; exit 1; }
		}
		status() { # TEXT STATUS - what pokepatch status is to say
			printf '%s\n' '#!/bin/sh' "echo '$1'" "exit $2" >/tmp/bin/pokepatch
			chmod 755 /tmp/bin/pokepatch
		}
		run_fails() { if "$@"; then echo "succeeds: $*"; exit 1; fi; }
		mkdir /tmp/bin
		PATH=/tmp/bin:$PATH
		rm -f /etc/apt/sources.list

		echo "== a machine without live patches from apt"
		dpkg -i /shared/pokepatch_"$version"_*.deb
		printf '%s\n' '#!/bin/sh' "touch $mark" "echo \$DPKG_MAINTSCRIPT_PACKAGE >>$mark.pkgs" \
			>/etc/kernel/postinst.d/unattended-upgrades
		chmod 755 /etc/kernel/postinst.d/unattended-upgrades
		dpkg -i /tmp/linux-image-new.deb
		[ ! -e $noted ]
		wants linux-image-new

		echo "== one with them: apt does not know the new kernel's, and then it does"
		dpkg -i "/tmp/$running.deb"
		dpkg -i /tmp/linux-image-new.deb
		[ "$(cat "$noted/$new")" = "$next" ]
		$after_apt | grep "apt does not know $next"
		[ -e "$noted/$new" ]
		mkdir /tmp/repository
		cp "/tmp/$next.deb" /tmp/repository
		(cd /tmp/repository && dpkg-deb -f "$next.deb" && echo "Filename: ./$next.deb" &&
			echo "Size: $(stat -c %s "$next.deb")" &&
			echo "SHA256: $(sha256sum "$next.deb" | cut -d ' ' -f 1)") >/tmp/Packages
		mv /tmp/Packages /tmp/repository/
		echo "deb [trusted=yes] file:/tmp/repository ./" >/etc/apt/sources.list
		apt-get -q update >/dev/null
		echo "== in another language, and behind a package that cannot be installed"
		mkdir -p "/lib/modules/0broken"
		printf '%s\n' "" "Package: broken" "Version: 1" "Architecture: all" "Depends: none-such" \
			"Description: a test" "Filename: ./broken.deb" "Size: 1" >>/tmp/repository/Packages
		apt-get -q update >/dev/null
		echo broken >$noted/0broken
		run_fails env LANGUAGE=de $after_apt
		[ "$(dpkg-query -W -f '${Status}' "$next")" = "install ok installed" ]
		[ ! -e "$noted/$new" ]
		rm $noted/0broken
		dpkg -i /tmp/linux-image-new.deb
		[ ! -e "$noted/$new" ]

		echo "== a reboot: not while the level is on and leaves nothing unfixed"
		status "livepatch: level 2, enabled" 0
		$after_apt --patched
		dpkg -i /tmp/linux-image-new.deb
		wants
		echo other >>$mark.pkgs
		touch $mark
		dpkg -i /tmp/linux-image-new.deb
		wants other
		status "livepatch: level 2, enabled" 2
		run_fails $after_apt --patched
		for time in first second; do
			$after_apt
			wants other pokepatch
		done
		status "livepatch: level 3, enabled" 0
		$after_apt
		wants other
		echo "== where nothing can be written, what other packages want stays"
		mount -t tmpfs -o size=64k none /run
		printf '%s\n' other linux-image-new >$mark.pkgs
		touch $mark
		head -c 1M /dev/zero >/run/full 2>/dev/null || :
		$after_apt
		wants other linux-image-new
		[ ! -e $mark.pkgs.new ]
		umount /run
		echo "== nor for a machine without a level, nor where no newer kernel is installed"
		rm $mark $mark.pkgs
		status "core: not loaded" 0
		run_fails $after_apt --patched
		$after_apt
		wants
		status "livepatch: level 3, crashed" 2
		rm "/boot/vmlinuz-$new"
		$after_apt
		wants

		echo "== removed"
		dpkg -r pokepatch
		run-parts --exit-on-error --arg=x /etc/kernel/postinst.d
		apt-get -q update >/dev/null
		[ ! -e $noted/x ]
END
}

@test "pokepatch-build: a patch is made with what it depends on; installed, upgraded, removed" {
	local root patch
	built
	patch=$(patch_module "$top/examples/proc-version.patch")
	cp "$(example_patch proc-version)" "$shared/proc-version.patch"
	root=$(debian tool "$(depends "$shared"/pokepatch{,-build}_*.deb)")
	inside "$root" "$version" "$(kernel_release)" "${POKEPATCH_CHECK:-all}" <<'END'
		eval "$functions"
		version=$1 release=$2 kernel=$XDG_CACHE_HOME/pokepatch/kernels/$2
		files >/tmp/before
		dpkg -i /shared/pokepatch_"$version"_*.deb /shared/pokepatch-build_"$version"_*.deb
		# Where the time is short, the tree that this machine has prepared is there.
		[ "$3" = short ] || rm -rf "$kernel"/tree-*
		rm -rf "$kernel"/core-*
		pokepatch-build -k "$release" -n proc-version -o /shared/made.ko /shared/proc-version.patch
		mkdir /tmp/programs
		AUTOPKGTEST_TMP=/tmp/programs sh /shared/tests/programs
		bash -c '. /usr/share/bash-completion/completions/pokepatch-build; complete -p pokepatch-build'
		files >/tmp/installed
		dpkg -i /shared/higher/pokepatch{,-build}_*.deb
		files | diff /tmp/installed -
		dpkg -r pokepatch-build
		dpkg --purge pokepatch pokepatch-build
		same pokepatch-build
END
	cmp "$shared/made.ko" "$patch"
}

@test "pokepatch-dkms: the core is built and found; installed, upgraded, removed, purged" {
	local root
	built
	cp "$(patch_module "$top/examples/proc-version.patch")" "$shared/"
	root=$(debian dkms "$(depends "$shared"/pokepatch{,-dkms}_*.deb)")
	inside "$root" "$version" "$(kernel_release)" <<'END'
		eval "$functions"
		version=$1 release=$2 kernel=$XDG_CACHE_HOME/pokepatch/kernels/$2
		headers=$kernel/headers/usr/src/linux-headers-$release
		core=/lib/modules/$release/updates/dkms/pokepatch.ko
		mkdir -p "/lib/modules/$release"
		ln -s "$headers" "/lib/modules/$release/build"
		depmod "$release"
		files >/tmp/before

		echo "== installed: the core is built, and found"
		dpkg -i /shared/pokepatch_"$version"_*.deb /shared/pokepatch-dkms_"$version"_*.deb
		dkms status | grep "^pokepatch/$version, $release, .*: installed$"
		modinfo -F vermagic "$core" | grep "^$release "
		modprobe -S "$release" -n -v pokepatch | grep -F "$core"
		mkdir /tmp/alone
		cp /shared/pokepatch-proc-version.ko /tmp/alone/
		pokepatch install --no-unit /tmp/alone/pokepatch-proc-version.ko
		cmp "$core" "/lib/modules/$release/pokepatch/pokepatch.ko"
		pokepatch uninstall --no-unit -k "$release" proc-version
		cp "$core" /shared/dkms-core.ko
		sh /shared/tests/core-module

		echo "== upgraded: the core of the new version takes the place of the old one"
		dpkg -i /shared/higher/pokepatch{,-dkms}_*.deb
		[ "$(dkms status | grep -c pokepatch)" -eq 1 ]
		dkms status | grep "^pokepatch/$version+1, $release, .*: installed$"
		[ -e "$core" ]
		[ ! -e "/usr/src/pokepatch-$version" ]

		echo "== removed and purged"
		dpkg -r pokepatch-dkms
		[ ! -e "$core" ]
		dpkg --purge pokepatch pokepatch-dkms
		same pokepatch-dkms

		echo "== a kernel for which the core cannot be built is no error"
		# Others lie beside them, by relative names.
		changed=${headers%/*}/changed
		cp -rs "$headers" "$changed"
		rm "$changed/.config"
		ln -sfn "$changed" "/lib/modules/$release/build"
		for change in '/CONFIG_KPROBES=/d' '/CONFIG_KALLSYMS_ALL/d'; do
			sed "$change" "$headers/.config" >"$changed/.config"
			dpkg -i /shared/pokepatch-dkms_"$version"_*.deb
			[ ! -e "$core" ]
			dpkg --purge pokepatch-dkms
		done
		echo "== its vmlinux has the symbols that it does not list"
		mkdir -p /usr/lib/debug/boot
		ln -s "$kernel/dbg/usr/lib/debug/boot/vmlinux-$release" /usr/lib/debug/boot/
		dpkg -i /shared/pokepatch-dkms_"$version"_*.deb
		[ -e "$core" ]
		grep -q NEEDED /var/lib/dkms/pokepatch/"$version/$release"/*/log/make.log
		dpkg --purge pokepatch-dkms
		rm -r /usr/lib/debug
		ln -sfn "$headers" "/lib/modules/$release/build"
		same pokepatch-dkms
END
	# Patches that were built elsewhere fit: its exports have the versions that those ask for.
	versions() {
		objcopy -O binary -j __kcrctab_gpl --set-section-flags __kcrctab_gpl=alloc "$1" "$2"
		[ -s "$2" ]
	}
	versions "$shared/dkms-core.ko" "$BATS_TEST_TMPDIR/dkms"
	versions "$(core_module)" "$BATS_TEST_TMPDIR/own"
	cmp "$BATS_TEST_TMPDIR/dkms" "$BATS_TEST_TMPDIR/own"
}

@test "a clean Debian that is damaged or was never finished is made again" {
	local made
	cache=$BATS_TEST_TMPDIR/cache as_root=()
	mkdir "$BATS_TEST_TMPDIR/bin"
	cat >"$BATS_TEST_TMPDIR/bin/mmdebstrap" <<-'END'
		#!/bin/bash
		echo made >>"$(dirname "$0")/times"
		folder=${*: -2:1}
		mkdir -p "$folder/bin"
		echo one >"$folder/bin/one"
		[ -z "$FAILS" ] || exit 1
		echo two >"$folder/bin/two"
	END
	chmod +x "$BATS_TEST_TMPDIR/bin/mmdebstrap"
	# made_times NUMBER - asking for it gives a whole one, and it has been made so often.
	made_times() {
		made=$(PATH=$BATS_TEST_TMPDIR/bin:$PATH debian x "a, b")
		[ "$(cat "$made/bin/one" "$made/bin/two")" = $'one\ntwo' ]
		[ "$(wc -l <"$BATS_TEST_TMPDIR/bin/times")" -eq "$1" ]
	}
	PATH=$BATS_TEST_TMPDIR/bin:$PATH FAILS=yes run -1 debian x "a, b"
	made_times 2
	made_times 2
	truncate -s 1 "$made/bin/two"
	made_times 3
	rm "$made/bin/one"
	made_times 4
	echo more >"$made/bin/three"
	made_times 5
	rm "$made.state"
	made_times 6
}
