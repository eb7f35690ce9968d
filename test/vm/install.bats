# SPDX-License-Identifier: GPL-2.0-or-later
# What `pokepatch install` has installed, loaded by the very command of the unit that does
# it at boot; host/install.bats looks at the unit.

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
