# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # run --separate-stderr sets stderr and stderr_lines
# pokepatch install and uninstall, below a folder of the test's own, and the unit that
# `make install` installs.  vm/install.bats loads what is installed.

load ../vm/helpers

setup() {
	pokepatch=$top/build/bin/pokepatch
	release=$(kernel_release)
	root=$BATS_TEST_TMPDIR/root
	folder=$root/lib/modules/$release/pokepatch
	unit=$root/etc/systemd/system/sysinit.target.wants/pokepatch.service
	core=$(core_module)
	patch=$(patch_module "$top/examples/proc-version.patch")
	other=$(patch_module "$top/test/vm/patches/agree-1.patch")
	mkdir -p "$root/lib/modules/$release" "$root/usr/lib/systemd/system"
	sed 's|@sbindir@|/usr/sbin|' "$top/build-tool/pokepatch/pokepatch.service.in" \
		>"$root/usr/lib/systemd/system/pokepatch.service"
}

# fails STATUS TEXT COMMAND... - with that status and one line on standard error.
fails() {
	run --separate-stderr "${@:3}"
	[ "$status" -eq "$1" ] && [ -z "$output" ] && [ "$(wc -l <<<"$stderr")" -eq 1 ] &&
		[[ $stderr == "pokepatch: "*"$2"* ]] && return
	printf 'status %s, output "%s", standard error:\n%s\n' "$status" "$output" "$stderr"
	return 1
}

# nothing_installed - neither patch nor core nor a part of one, and the unit is off.
nothing_installed() {
	[ -z "$(find "$root/lib/modules" -mindepth 2)" ] || find "$root/lib/modules"
	[ -z "$(find "$root/lib/modules" -mindepth 2)" ]
	[ ! -L "$unit" ]
}

install_it() { # FILE [OPTION...]
	"$pokepatch" install --root "$root" --core "$core" "${@:2}" "$1"
}

@test "install, again, and uninstall" {
	install_it "$patch"
	cmp "$patch" "$folder/pokepatch-proc-version.ko"
	cmp "$core" "$folder/pokepatch.ko"
	[ -L "$unit" ]
	fails 3 "installed already" install_it "$patch"
	# The core that is there will do.
	"$pokepatch" install --root "$root" "$other"
	cmp "$other" "$folder/pokepatch-agree-1.ko"
	[ "$(find "$folder" | wc -l)" -eq 4 ]

	echo "== another build takes the place of the first"
	sed 's/Live-patched/Live-again/' "$top/examples/proc-version.patch" >"$BATS_TEST_TMPDIR/again.patch"
	"$top/build/bin/pokepatch-build" -q -k "$release" -n proc_version \
		-o "$BATS_TEST_TMPDIR/again.ko" "$BATS_TEST_TMPDIR/again.patch"
	install_it "$BATS_TEST_TMPDIR/again.ko"
	cmp "$BATS_TEST_TMPDIR/again.ko" "$folder/pokepatch-proc-version.ko"
	[ "$(find "$folder" | wc -l)" -eq 4 ]

	echo "== uninstall"
	fails 1 "is not installed" "$pokepatch" uninstall --root "$root" -k "$release" proc
	fails 1 "is not installed" "$pokepatch" uninstall --root "$root" -k "$release" ../proc-version
	fails 1 "not a kernel release" "$pokepatch" uninstall --root "$root" -k ../x proc-version
	"$pokepatch" uninstall --root "$root" -k "$release" proc_version
	[ ! -e "$folder/pokepatch-proc-version.ko" ]
	[ -e "$folder/pokepatch.ko" ]
	[ -L "$unit" ]
	"$pokepatch" uninstall --root "$root" -k "$release" agree-1
	nothing_installed
	fails 1 "is not installed" "$pokepatch" uninstall --root "$root" -k "$release" agree-1

	echo "== a patch of another kernel keeps the unit on; what others put there stays"
	mkdir -p "$root/lib/modules/1.2.3/pokepatch"
	touch "$root/lib/modules/1.2.3/pokepatch/pokepatch-x.ko"
	install_it "$patch"
	touch "$folder/notes"
	"$pokepatch" uninstall --root "$root" -k "$release" proc_version
	[ "$(ls "$folder")" = notes ]
	[ -L "$unit" ]
	rm -r "$root/lib/modules/1.2.3" "$folder"

	echo "== without the unit"
	rm "$unit"
	install_it "$patch" --no-unit
	[ ! -L "$unit" ]
	"$pokepatch" uninstall --root "$root" --no-unit -k "$release" proc_version
	nothing_installed
}

# modes - of the folder, and of the files in it.
modes() {
	(cd "$folder" && stat -c %a . && stat -c %a -- *) | paste -sd ' '
}

@test "only the owner may write what is installed, whatever the modes were and the umask is" {
	local mask
	cp "$core" "$BATS_TEST_TMPDIR/pokepatch.ko"
	cp "$patch" "$BATS_TEST_TMPDIR/patch.ko"
	core=$BATS_TEST_TMPDIR/pokepatch.ko
	chmod 666 "$core"
	chmod 6777 "$BATS_TEST_TMPDIR/patch.ko"
	for mask in 000 077; do
		(umask $mask && install_it "$BATS_TEST_TMPDIR/patch.ko")
		[ "$(modes)" = "755 644 644" ]
		"$pokepatch" uninstall --root "$root" -k "$release" proc-version
	done

	echo "== what an earlier version installed is corrected"
	for mode in 666 600; do
		for file in "$folder"/pokepatch{,-proc-version}.ko; do
			[ -e "$file" ] || install_it "$BATS_TEST_TMPDIR/patch.ko"
			chmod $mode "$file"
			install_it "$BATS_TEST_TMPDIR/patch.ko"
			[ "$(modes)" = "755 644 644" ]
		done
	done
	chmod 777 "$folder"
	install_it "$BATS_TEST_TMPDIR/patch.ko"
	[ "$(modes)" = "755 644 644" ]
	fails 3 "installed already" install_it "$BATS_TEST_TMPDIR/patch.ko"
}

@test "a core beside the patch that belongs to somebody else is taken only if it is named, or the patch is theirs, too" {
	[ "$(id -u)" -eq 0 ] || skip "needs root, to give files away"
	local shared=$BATS_TEST_TMPDIR/shared
	mkdir -m 1777 "$shared"
	cp "$core" "$shared/pokepatch.ko"
	cp "$patch" "$shared/pokepatch-fix.ko"
	chown 12345 "$shared/pokepatch.ko"
	fails 1 "the core module '$shared/pokepatch.ko' belongs to user 12345" "$pokepatch" install --root "$root" "$shared/pokepatch-fix.ko"
	nothing_installed
	SUDO_UID=12345 "$pokepatch" install --root "$root" "$shared/pokepatch-fix.ko"
	"$pokepatch" uninstall --root "$root" -k "$release" proc-version
	chown 12345 "$shared/pokepatch-fix.ko"
	"$pokepatch" install --root "$root" "$shared/pokepatch-fix.ko"
	"$pokepatch" uninstall --root "$root" -k "$release" proc-version
	chown 0 "$shared/pokepatch-fix.ko"
	"$pokepatch" install --root "$root" --core "$shared/pokepatch.ko" "$shared/pokepatch-fix.ko"
}

@test "what cannot be installed leaves nothing behind" {
	fails 1 "No such file" install_it "$root/none.ko"
	fails 1 "not a patch made by pokepatch-build" install_it "$core"
	nothing_installed
	# The module lies alone in its folder.
	cp "$patch" "$BATS_TEST_TMPDIR/alone.ko"
	fails 1 "name it with --core FILE" "$pokepatch" install --root "$root" "$BATS_TEST_TMPDIR/alone.ko"
	core=$root/none.ko fails 1 "No such file" install_it "$patch"
	core=$other fails 1 "is not the core module" install_it "$patch"
	nothing_installed
	sed "s/vermagic=$release/vermagic=9${release:1}/" "$core" >"$BATS_TEST_TMPDIR/core9.ko"
	core=$BATS_TEST_TMPDIR/core9.ko fails 1 "is not for kernel $release" install_it "$patch"
	sed 's/pokepatch_format=./pokepatch_format=9/' "$core" >"$BATS_TEST_TMPDIR/core9.ko"
	run ! cmp -s "$core" "$BATS_TEST_TMPDIR/core9.ko"
	core=$BATS_TEST_TMPDIR/core9.ko fails 1 "knows patch format 9" install_it "$patch"
	nothing_installed
	sed "s/vermagic=$release/vermagic=9${release:1}/" "$patch" >"$BATS_TEST_TMPDIR/patch9.ko"
	fails 1 "is not installed: there is no" install_it "$BATS_TEST_TMPDIR/patch9.ko"
	nothing_installed

	echo "== the core that DKMS built, as it is and packed"
	mkdir -p "$root/lib/modules/$release/updates/dkms"
	cp "$core" "$root/lib/modules/$release/updates/dkms/"
	"$pokepatch" install --root "$root" "$BATS_TEST_TMPDIR/alone.ko"
	cmp "$core" "$folder/pokepatch.ko"
	"$pokepatch" uninstall --root "$root" -k "$release" proc-version
	xz "$root/lib/modules/$release/updates/dkms/pokepatch.ko"
	"$pokepatch" install --root "$root" "$BATS_TEST_TMPDIR/alone.ko"
	modinfo -F vermagic "$folder/pokepatch.ko" | grep "^$release "
	"$pokepatch" uninstall --root "$root" -k "$release" proc-version
	rm -r "$root/lib/modules/$release/updates"
	nothing_installed

	echo "== systemd has no such unit, or is not there"
	mv "$root/usr/lib/systemd/system/pokepatch.service" "$BATS_TEST_TMPDIR/unit"
	run --separate-stderr install_it "$patch"
	[ "$status" -eq 1 ]
	[[ $stderr == *"cannot enable pokepatch.service (--no-unit leaves it alone)"* ]]
	nothing_installed
	fails 1 "cannot enable pokepatch.service" env PATH=/nowhere "$pokepatch" install \
		--root "$root" --core "$core" "$patch"
	nothing_installed
	mv "$BATS_TEST_TMPDIR/unit" "$root/usr/lib/systemd/system/pokepatch.service"

	echo "== files that cannot be written whole: the core, the patch"
	for limit in 1 $((($(stat -c %s "$patch") - 1) / 1024)); do
		fails 1 "$folder" bash -c "trap '' XFSZ; ulimit -f $limit; exec \"\$@\"" - \
			"$pokepatch" install --root "$root" --core "$core" "$patch"
		nothing_installed
	done

	echo "== the one that is installed stays when another cannot take its place"
	install_it "$other"
	fails 1 "$folder" bash -c "trap '' XFSZ; ulimit -f 4; exec \"\$@\"" - \
		"$pokepatch" install --root "$root" --core "$core" "$patch"
	[ "$(find "$folder" | wc -l)" -eq 3 ]
	cmp "$other" "$folder/pokepatch-agree-1.ko"
	[ -L "$unit" ]
}

@test "the unit: systemd takes it, it comes before the network, and a switch skips it" {
	local dest=$BATS_TEST_TMPDIR/dest file lines
	make -s -C "$top" install DESTDIR="$dest" PREFIX=/usr
	file=$dest/usr/lib/systemd/system/pokepatch.service
	cmp "$file" "$root/usr/lib/systemd/system/pokepatch.service"
	# The program is where the unit says.
	[ -x "$dest$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$file")" ]
	lines=$(grep -v '^#' "$file")
	for line in DefaultDependencies=no WantedBy=sysinit.target Wants=network-pre.target \
		'ConditionKernelCommandLine=!pokepatch=off'; do
		grep -qx -- "$line" <<<"$lines" || return 1
	done
	grep -qx 'Before=network-pre.target sysinit.target .*' <<<"$lines"
	if grep -E '^(RequiredBy|Before=.*local-fs)' <<<"$lines"; then return 1; fi
	sed "s|/usr/sbin|$dest/usr/sbin|" "$file" >"$BATS_TEST_TMPDIR/pokepatch.service"
	run systemd-analyze verify --man=no "$BATS_TEST_TMPDIR/pokepatch.service"
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	# The conditions, on a kernel with the switch and one without.
	systemd-analyze condition 'ConditionKernelCommandLine=!pokepatch=off'
	make -s -C "$top" uninstall DESTDIR="$dest" PREFIX=/usr
	[ -z "$(find "$dest" -name '*.service')" ]
}

# in_usr COMMAND... - run it in namespaces of its own, where /usr has what is in $dest/usr as well.
in_usr() {
	local options=(--mount)
	[ "$(id -u)" -eq 0 ] || options+=(--map-root-user)
	unshare "${options[@]}" bash -c 'mount -t overlay -o "lowerdir=$0/usr:/usr" overlay /usr && cd / && exec "$@"' \
		"$dest" "$@"
}

@test "status tells of a level whose file cannot be read" {
	local dest=$BATS_TEST_TMPDIR/dest folder file
	export POKEPATCH_SYSFS=$BATS_TEST_TMPDIR/sys
	folder=/usr/lib/modules/$(uname -r)/livepatch
	file=$folder/pokepatch-level-3.ko
	mkdir -p "$dest$folder" "$POKEPATCH_SYSFS"
	head -c 1000 "$patch" >"$dest$file"
	in_usr true || skip "mounts are not permitted here"
	run -2 --separate-stderr in_usr "$pokepatch" status
	grep -qx "livepatch: unreadable: '/lib/modules/.*/pokepatch-level-3.ko' is .*" <<<"$output"
	grep -qx "installed: level_3" <<<"$output"
	[[ $stderr == "pokepatch: the level that is installed is unreadable: "*"; install its package again" ]]
	run -2 --separate-stderr in_usr "$pokepatch" status --json
	[ "$(jq -r '.livepatch.name, (.livepatch.state | startswith("unreadable: "))' <<<"$output")" = $'level_3\ntrue' ]
	run -2 --separate-stderr in_usr "$pokepatch" status --metrics
	[ "$(grep '^pokepatch_level' <<<"$output")" = "pokepatch_level_enabled 0" ]
	run -2 --separate-stderr in_usr "$pokepatch" status --vex
	[ "$(jq -c .statements <<<"$output")" = "[]" ]
}

@test "what make install has put into /usr makes the same module; make uninstall leaves no file" {
	local dest=$BATS_TEST_TMPDIR/dest program
	make -s -C "$top" install DESTDIR="$dest" PREFIX=/usr
	for program in pokepatch pokepatch-build pokepatch-diff pokepatch-scan; do
		[ -r "$dest/usr/share/bash-completion/completions/$program" ]
	done
	if in_usr true; then
		for program in bin/pokepatch-build bin/pokepatch-diff bin/pokepatch-as bin/pokepatch-scan sbin/pokepatch; do
			in_usr env -i "/usr/$program" --version
		done
		in_usr env -u POKEPATCH_DATADIR pokepatch-build -q -k "$release" -n proc-version \
			-o "$BATS_TEST_TMPDIR/made.ko" "$(example_patch proc-version)"
	else
		say "mounts are not permitted here: what is installed runs from where make put it"
		POKEPATCH_DATADIR=$dest/usr/share/pokepatch "$dest/usr/bin/pokepatch-build" -q -k "$release" \
			-n proc-version -o "$BATS_TEST_TMPDIR/made.ko" "$(example_patch proc-version)"
	fi
	cmp "$BATS_TEST_TMPDIR/made.ko" "$patch"
	make -s -C "$top" uninstall DESTDIR="$dest" PREFIX=/usr
	find "$dest" ! -type d >"$BATS_TEST_TMPDIR/left"
	cat "$BATS_TEST_TMPDIR/left"
	[ ! -s "$BATS_TEST_TMPDIR/left" ]
}
