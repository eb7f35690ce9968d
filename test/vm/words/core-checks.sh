# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # other variables are those of guest/lib.sh and of the tests
# What scripts of core-checks.bats begin with.

parameters=/sys/module/pokepatch/parameters
check_off() { echo 1 >"$parameters/debug_$1"; }
# Who comes to that place of the core waits there, until it may go on.
pause_at() { echo 1 >"$parameters/debug_pause_$1"; }
go_on_at() { echo 0 >"$parameters/debug_pause_$1"; }
has_paused() { grep -qx 1 "$parameters/debug_paused"; }
check_on() { echo 0 >"$parameters/debug_$1"; }
# In the way it must be, and all as before.
blocked() { # PATCH VALUE WORD...
	_patch=$1
	_value=$2
	shift 2
	if (echo "$_value" >"$(sysfs "$_patch" enabled)") 2>/tmp/error; then
		die "enabled=$_value was accepted for $_patch"
	fi
	has "the error" "$(cat /tmp/error)" "Device or resource busy"
	same state "$(file "$_patch" state)" blocked
	same enabled "$(file "$_patch" enabled)" $((1 - _value))
	for _word; do
		has blocked_by "$(file "$_patch" blocked_by)" "$_word"
	done
}
# As that of patch.sh, but with more time than those have whom something is to be in the way of:
# a task that was let go may still be on its way.
enabled() {
	_old=$(file "$1" timeout_ms)
	echo 60000 >"$(sysfs "$1" timeout_ms)"
	echo "$2" >"$(sysfs "$1" enabled)" ||
		die "enabled=$2 for $1: $(file "$1" state), blocked by: $(file "$1" blocked_by)"
	echo "$_old" >"$(sysfs "$1" timeout_ms)"
}
# Refused with the check, and done without it, though it must not be.
matters() { # CHECK PATCH VALUE WORD...
	_check=$1
	shift
	blocked "$@"
	check_off "$_check"
	enabled "$1" "$2"
	check_on "$_check"
	echo "without $_check, $1 was switched under: $3"
}
count() { sed "s/.*$1=\([0-9]*\).*/\1/" $parameters/debug_cross_counts; }
load() { # PATCH [TIMEOUT]
	modprobe "pokepatch-$1"
	echo "${2:-300}" >"$(sysfs "$1" timeout_ms)"
}
# A reader of /proc/version sleeps as the patch sleepers has it.
sleep_at() { # VALUE [uninterruptibly: its stack does not tell where]
	echo "$1" >/proc/sys/kernel/panic
	cat /proc/version >/dev/null &
	sleeper=$!
	until_true 10 "${2:-asleep_in}" $sleeper version_proc_show
}
uninterruptibly() { grep -q "^State:.D" "/proc/$1/status"; }
wake() {
	echo 0 >/proc/sys/kernel/panic
	wait "$sleeper" || :
}
# A thread ends, and sleeps where the task list has lost it.
exit_at() { # VALUE
	echo "$1" >/proc/sys/kernel/panic
	exiter &
	exiter=$!
	exiting
}
exiting() {
	until_true 10 unlisted
}
unlisted() {
	grep -qsx pp-joined "/proc/$exiter/comm" && ! grep -qsx pp-exiting "/proc/$exiter/task/"*/comm
}
exited() {
	echo 0 >/proc/sys/kernel/panic
	kill "$exiter"
	wait "$exiter" || :
}
# How often the module of a patch is held.
holds() { cat "/sys/module/pokepatch_$(patch_id "$1")/refcnt"; }
io_error() { # PATCH VALUE
	(echo "$2" >"$(sysfs "$1" enabled)") 2>/tmp/error && die "enabled=$2 was accepted for $1"
	has "the error" "$(cat /tmp/error)" "Input/output error"
}
