# SPDX-License-Identifier: GPL-2.0-or-later
# What `pokepatch install` has installed, loaded by the very command of the unit that does
# it at boot, and at the boot of a system with systemd; host/install.bats looks at the unit.

load helpers

patches=$top/test/vm/patches

words='
here=/lib/modules/$(uname -r)/pokepatch
state_of() { file "$1" enabled; }
# boot STATUS - as at boot, from a system without patches and core.
boot() {
	for _name in $(ls $pokepatch 2>/dev/null | grep -vx version); do
		[ ! -d $pokepatch/$_name ] || pokepatch unload $_name
	done
	[ ! -e $pokepatch ] || rmmod pokepatch
	_status=0
	"$@" >/tmp/out 2>/tmp/error || _status=$?
	cat /tmp/out /tmp/error
}
'

# unit_command - what the unit runs.
unit_command() {
	sed -n 's|^ExecStart=@sbindir@/||p' "$top/build-tool/pokepatch/pokepatch.service.in"
}

@test "what is installed is loaded at boot, in the order of installing" {
	local command
	command=$(unit_command)
	[ "$command" = "pokepatch load --installed --retry 60000" ]
	with_patches "$top/examples/proc-version.patch" "$patches"/agree-{1,2}.patch
	# shellcheck disable=SC2086 # several words
	guest "${patched[@]}" -- $command <<<"$words"'
		install() { pokepatch install --no-unit "$(patch_file "$1")"; }
		boot "$@"
		same "status without any" $_status 3
		has "the error" "$(cat /tmp/error)" "no patch is installed"
		[ ! -e $pokepatch ] || die "the core was loaded"

		install agree-2
		install proc-version
		install agree-1
		[ ! -e $pokepatch ] || die "it was loaded by install"
		boot "$@"
		same "status" $_status 0
		same "lines" "$(grep -c "^loaded: " /tmp/out)" 3
		same "versions: the last is on top" "$(versions)" 111
		grep -q Live-patched /proc/version
		same "status of a second time" "$("$@" >/dev/null 2>&1; echo $?)" 0

		echo "== uninstalled while loaded"
		pokepatch uninstall agree_1
		same "versions" "$(versions)" 111
		boot "$@"
		same "status" $_status 0
		same "versions" "$(versions)" 222
		[ ! -e $pokepatch/agree_1 ] || die "it is loaded"

		echo "== by name"
		pokepatch unload proc-version
		pokepatch load proc_version
		grep -q Live-patched /proc/version

		echo "== one that is damaged does not keep the others off"
		install agree-1
		echo garbage >$here/pokepatch-agree-2.ko
		boot "$@"
		same "status" $_status 1
		same "lines of the error" "$(wc -l </tmp/error)" 1
		has "the error" "$(cat /tmp/error)" "$here/pokepatch-agree-2.ko"
		same "versions" "$(versions)" 111
		grep -q Live-patched /proc/version
		mv $here/pokepatch.ko /tmp
		boot "$@"
		same "status" $_status 1
		pokepatch uninstall agree-2
		mv /tmp/pokepatch.ko $here

		echo "== what goes with it"
		for with in proc-version --replace --replace=agree-1; do
			boot "$@" $with
			same "status with $with" $_status 1
			[ ! -e $pokepatch ] || die "something was loaded"
		done
		boot "$@"
		same "status" $_status 0
		pokepatch unload proc-version
		pokepatch uninstall proc-version
		pokepatch uninstall --no-unit agree-1
		[ ! -e $here ] || die "the folder stays"
		boot "$@"
		same "status without any" $_status 3
	'
}

@test "pokepatch=off on the kernel's command line skips them" {
	with_patches "$top/examples/proc-version.patch"
	# shellcheck disable=SC2046 # several words
	guest "${patched[@]}" --append pokepatch=off -- $(unit_command) <<<"$words"'
		pokepatch install --no-unit "$(patch_file proc-version)"
		boot "$@"
		same "status" $_status 3
		has "the error" "$(cat /tmp/error)" "pokepatch=off"
		[ ! -e $pokepatch ] || die "something was loaded"
		# Only what is done at boot.
		pokepatch load proc-version
		grep -q Live-patched /proc/version
	'
}

# witness NAME LINE... - have systemd start a unit with these lines early in the boot, which writes to
# /run/NAME how often /proc/version says that it is patched.
witness() {
	{
		printf '%s\n' '[Unit]' DefaultDependencies=no "${@:2}" '[Service]' Type=oneshot
		echo "ExecStart=/bin/sh -c 'grep -c Live-patched /proc/version >/run/$1 || :'"
	} >"$root/etc/systemd/system/$1.service"
	ln -s "../$1.service" "$root/etc/systemd/system/sysinit.target.wants/"
}

# In each of these guests process 1 is systemd, and pokepatch is where `make install` has put it.
systemd_words='
is() { same "$2 of $1" "$(systemctl show -P "$2" "$1")" "$3"; }
when() { systemctl show -P "$2TimestampMonotonic" "$1"; }
patched() { has /proc/version "$(cat /proc/version)" Live-patched; }
unpatched() { lacks /proc/version "$(cat /proc/version)" Live-patched; }
boots() { # HOW - wait until the boot is over, which must end so
	same "process 1" "$(cat /proc/1/comm)" systemd
	same "the system" "$(systemctl is-system-running --wait)" "$1"
}
'

@test "systemd boots a system with an installed patch: it is on before the network and services" {
	needs host-programs
	local root=$BATS_TEST_TMPDIR/root core patch
	core=$(core_module)
	patch=$(patch_module "$top/examples/proc-version.patch")
	systemd_root "$root"
	"$root/usr/sbin/pokepatch" install --root "$root" --core "$core" "$patch"
	witness before Before=pokepatch.service
	witness after After=network-pre.target Before=sysinit.target
	guest --root "$root" --memory 1024 --file "$patch" --file "$core" \
		--expect '^systemd\[1\]: pokepatch.service: Main process exited, code=killed' \
		--expect '^systemd\[1\]: pokepatch.service: Failed with result .signal' <<<"$systemd_words"'
		boots running
		is pokepatch.service ActiveState active
		is pokepatch.service Result success
		is pokepatch.service ExecMainStatus 0
		patched
		same "what a unit before it saw" "$(cat /run/before)" 0
		same "what a unit after network-pre.target saw" "$(cat /run/after)" 1
		done=$(when pokepatch.service ExecMainExit)
		[ $done -gt 0 ] || die "it did not run"
		for target in network-pre sysinit basic multi-user; do
			[ $(when $target.target ActiveEnter) -ge $done ] || die "$target.target was there first"
		done
		for program in pokepatch pokepatch-build pokepatch-diff; do
			has "the place of $program" "$(command -v $program)" "/usr/*bin/$program"
			has "its version" "$($program --version)" "$program"
		done

		echo "== stopped and started"
		systemctl stop pokepatch.service
		is pokepatch.service ActiveState inactive
		patched
		pokepatch unload proc-version
		unpatched
		systemctl start pokepatch.service
		is pokepatch.service ActiveState active
		patched

		echo "== uninstalled and installed"
		same "is it enabled" "$(systemctl is-enabled pokepatch.service)" enabled
		pokepatch uninstall proc-version
		same "is it enabled" "$(systemctl is-enabled pokepatch.service || :)" disabled
		pokepatch unload proc-version
		systemctl restart pokepatch.service
		is pokepatch.service ConditionResult no
		unpatched
		pokepatch install --core pokepatch.ko pokepatch-proc-version.ko
		same "is it enabled" "$(systemctl is-enabled pokepatch.service)" enabled
		# It is also needed for the patch of a package.
		cp -r /lib/modules/$(uname -r)/pokepatch /lib/modules/$(uname -r)/livepatch
		pokepatch uninstall proc-version
		same "is it enabled" "$(systemctl is-enabled pokepatch.service)" enabled
		systemctl start pokepatch.service
		patched
		systemctl stop pokepatch.service
		pokepatch unload proc-version
		rm -r /lib/modules/$(uname -r)/livepatch
		pokepatch install --core pokepatch.ko pokepatch-proc-version.ko
		unpatched
		systemctl start pokepatch.service
		patched

		echo "== the system goes down while it starts"
		systemctl stop pokepatch.service
		mkdir -p /run/systemd/system/pokepatch.service.d
		printf "%s\n" "[Service]" ExecStart= "ExecStart=/bin/sleep 1000" TimeoutStartSec=infinity \
			>/run/systemd/system/pokepatch.service.d/slow.conf
		systemctl daemon-reload
		systemctl start --no-block pokepatch.service
		until_true 10 eval "[ \$(systemctl show -P MainPID pokepatch.service) != 0 ]"
		is pokepatch.service ActiveState activating
		patched
	'
	# And it went down by itself, with the patch on, and did not wait for the unit.
	grep -q 'systemd\[1\]: Stopped pokepatch.service' "$guest_log"
	grep -q 'systemd-shutdown\[1\]: Rebooting' "$guest_log"

	# One that is damaged does not stop the boot.
	cp "$root/lib/modules/$(kernel_release)/pokepatch/pokepatch-"{proc-version,damaged}.ko
	truncate -s 1000 "$root/lib/modules/$(kernel_release)/pokepatch/pokepatch-damaged.ko"
	guest --root "$root" --memory 1024 --expect '^systemd\[1\]: pokepatch.service: ' \
		--expect '^systemd\[1\]: Failed to start pokepatch.service' <<<"$systemd_words"'
		boots degraded
		is pokepatch.service Result exit-code
		same "what failed" "$(systemctl --failed --plain --no-legend | cut -d " " -f 1)" pokepatch.service
		has "the journal" "$(journalctl -b -u pokepatch.service)" pokepatch-damaged.ko
		patched
	'
	guest --root "$root" --memory 1024 --append pokepatch=off <<<"$systemd_words"'
		boots running
		is pokepatch.service ActiveState inactive
		is pokepatch.service ConditionResult no
		unpatched
		[ ! -e $pokepatch ] || die "the core was loaded"
	'
	make -s -C "$top" uninstall DESTDIR="$root" PREFIX=/usr
	[ -z "$(find "$root/usr" -name '*pokepatch*' ! -path "$root/usr/lib/modules/*")" ]
}

# package LEVEL [OPTION...] [PATCH] - make the package of a level for the kernel that the tests run on, and add
# what is in it to $packed, the options of a guest that has it in /packages/LEVEL, or /packages/$as.
package() {
	local level=$1 as=${as:-$1} file
	local folder=$BATS_TEST_TMPDIR/$as
	shift
	mkdir "$folder"
	"$top/build/bin/pokepatch-build" -q -k "$(kernel_release)" --deb --level "$level" -o "$folder/p.deb" "$@"
	dpkg-deb -R "$folder/p.deb" "$folder/unpacked"
	while read -r file; do
		packed+=(--file "$folder/unpacked/$file:/packages/$as/$file")
	done < <(cd "$folder/unpacked" && find DEBIAN usr/lib -type f)
}

@test "packages of levels 0, 1, 3: their scripts switch; status; no level is loaded again after a crash" {
	needs host-programs
	local packed=()
	with_patches
	package 0 --until 2100-01-01
	package 1 --cve CVE-2026-1111 --unfixed CVE-2026-3333 --until 2020-02-29 "$(for_kernel "$patches/agree-1.patch")"
	package 3 --cve CVE-2026-1111,CVE-2026-3333 "$(for_kernel "$patches/agree-2.patch")"
	as=other package 3 --cve CVE-2026-5555 "$(for_kernel "$patches/agree-1.patch")"
	package 5 "$(for_kernel "$patches/sleepers.patch")"
	# shellcheck disable=SC2046 # several words
	guest "${patched[@]}" "${packed[@]}" --timeout 400 -- $(unit_command) <<<"$words"'
		place=/lib/modules/$(uname -r)/livepatch
		guard=/var/lib/pokepatch
		# In Debian /lib is a link to /usr/lib.
		mkdir -p /usr/lib/modules/$(uname -r)
		ln -s $place /usr/lib/modules/$(uname -r)/livepatch
		# dpkg LEVEL - what dpkg does when it installs the package.
		dpkg() {
			rm -rf $place
			mkdir $place
			cp /packages/$1/usr/lib/modules/*/livepatch/* $place
			sh /packages/$1/DEBIAN/postinst configure
		}
		# status_is STATUS LINE... - what pokepatch status says behind the core.
		status_is() {
			_wanted=$1
			shift
			_status=0
			pokepatch status >/tmp/status 2>/tmp/error || _status=$?
			cat /tmp/status /tmp/error
			same "exit status" $_status $_wanted
			sed -i /^core:/d /tmp/status
			printf "%s\n" "$@" | diff - /tmp/status || die "not the status that was wanted"
		}

		echo "== level 0 is there to be upgraded"
		dpkg 0
		[ ! -e $pokepatch ] || die "something was loaded"
		ls $place
		[ -e $place/pokepatch.ko ]

		echo "== level 1"
		dpkg 1
		same versions "$(versions)" 111
		status_is 2 "livepatch: level 1, enabled" "fixes: CVE-2026-1111" "does not fix: CVE-2026-3333" \
			"until: 2020-02-29, which is over" "level_1: enabled" "installed: level_1"
		has "the reason" "$(cat /tmp/error)" "level 1 was to last until 2020-02-29"
		pokepatch status --metrics >/tmp/metrics 2>/tmp/error || true
		cat /tmp/metrics
		for line in "core_loaded 1" "patch_enabled{name=\"level_1\",state=\"enabled\"} 1" "level 1" \
			"level_enabled 1" "fixed_cves 1" "unfixed_cves 1"; do
			grep -qxF "pokepatch_$line" /tmp/metrics || die "no metric $line"
		done
		grep -qx "pokepatch_days_left -[0-9]*" /tmp/metrics
		# vex CVE - what scanners are told of it.
		vex() {
			pokepatch status --vex 2>/tmp/error | sed -n "/\"$1\"/,/\"status\"/s/.*\"status\": \"\(.*\)\".*/\1/p"
		}
		same "the fixed one" "$(vex CVE-2026-1111)" fixed
		same "the other" "$(vex CVE-2026-3333)" affected

		echo "== level 3, over level 1, and a second time"
		[ -e $guard/pending-level_1 ]
		dpkg 3
		same versions "$(versions)" 222
		[ ! -e /sys/module/pokepatch_level_1 ] || die "level 1 is still loaded"
		[ ! -e $guard/pending-level_1 ] || until_true 10 [ ! -e $guard/pending-level_1 ]
		status_is 0 "livepatch: level 3, enabled" "fixes: CVE-2026-1111,CVE-2026-3333" \
			"level_3: enabled" "installed: level_3"
		dpkg 3
		same versions "$(versions)" 222

		echo "== another build of level 3, which cannot be loaded beside it"
		dpkg other
		same versions "$(versions)" 222
		status_is 2 "livepatch: level 3, another build is loaded" "fixes: CVE-2026-5555" \
			"level_3: enabled" "installed: level_3"

		echo "== back to 1, and to 0"
		dpkg 1
		same versions "$(versions)" 111
		dpkg 0
		same versions "$(versions)" ""
		[ ! -e $pokepatch/level_1 ] || die "level 1 is still loaded"

		echo "== removed"
		dpkg 3
		sh /packages/3/DEBIAN/prerm upgrade 4
		same versions "$(versions)" 222
		sh /packages/3/DEBIAN/prerm remove
		same versions "$(versions)" ""
		rm -r $place

		echo "== at boot"
		dpkg 3
		pokepatch unload level-3
		status_is 2 "livepatch: level 3, not loaded" "fixes: CVE-2026-1111,CVE-2026-3333" "installed: level_3"
		boot "$@"
		same "status" $_status 0
		same versions "$(versions)" 222

		echo "== the note of a boot, which a minute of life removes"
		note=$guard/pending-level_3
		grep -q "$(cat /proc/sys/kernel/random/boot_id)" $note
		grep -q level_3 $note
		sleep 40
		[ -e $note ] || die "the note did not stay for a minute"
		until_true 120 [ ! -e $note ]
		pokepatch unload level-3

		echo "== as if the machine had gone down within that minute"
		dpkg 3
		sed -i 1s/./x/ $note
		# The one before has a note, too, if it had been on for less than a minute.
		sed "2s/.*/abc level_1/; 3s/ .*/ 0.000000001/" $note >$guard/pending-level_1
		boot "$@"
		same "status" $_status 2
		has "the reason" "$(cat /tmp/error)" "refused ?crashed?: the machine went down"
		same versions "$(versions)" ""
		same "what it would fix" "$(vex CVE-2026-3333)" affected
		status_is 2 "livepatch: level 3, crashed" "fixes: CVE-2026-1111,CVE-2026-3333" "installed: level_3"
		dpkg 3
		same versions "$(versions)" ""
		grep -q "^[0-9a-f]* level_3$" $guard/crashed
		same "what is to blame" "$(wc -l <$guard/crashed)" 1
		[ ! -e $note ] || die "the note of the crash stays"
		[ ! -e $guard/pending-level_1 ] || die "the older note stays"
		# Another level is loaded, and this one when it is allowed.
		dpkg 1
		same versions "$(versions)" 111
		rm $guard/crashed
		dpkg 3
		same versions "$(versions)" 222
		dpkg 0

		echo "== tasks are in the way: the core tries again, for the level that was installed last"
		dpkg 5
		echo 1001 >/proc/sys/kernel/panic
		cat /proc/version &
		until_true 10 asleep_in $! version_proc_show
		dpkg 1
		same "state of level 1" "$(file level-1 state)" blocked
		same "is it tried again" "$(file level-1 retry_ms)" 60000
		[ ! -e $guard/pending-level_1 ] || until_true 10 [ ! -e $guard/pending-level_1 ]
		# Level 5 is still on.
		[ -e $guard/pending-level_5 ] || die "level 5 has no note any more"
		dpkg 3
		[ ! -e $pokepatch/level_1 ] || die "the core still tries level 1"
		same "state of level 3" "$(file level-3 state)" blocked
		dpkg 5
		[ ! -e $pokepatch/level_3 ] || die "the core still tries level 3"
		same "state of level 5" "$(file level-5 state)" enabled
		# And the last one is on when it can be.
		dpkg 3
		same "state of level 3" "$(file level-3 state)" blocked
		echo 0 >/proc/sys/kernel/panic
		until_true 90 grep -qx 1 "$(sysfs level-3 enabled)"
		same versions "$(versions)" 222
	'
}
