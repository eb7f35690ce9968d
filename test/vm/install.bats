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
	[ "$command" = "pokepatch load --installed" ]
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
