# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # other variables are those of guest/lib.sh and of the tests
# What scripts of arch/mips.bats begin with.

param=/sys/module/pp_slots/parameters
debug=/sys/module/pokepatch/parameters
value() {
	same "what the functions return" "$(cat $param/value)" "$1 $1"
	usleep 20000
}
modprobe pp_slots
modprobe pokepatch-slots-2
modprobe pokepatch-slots-3
value 1
# refused_as_busy NAME VALUE - because of the one that is held.
refused_as_busy() {
	if (echo "$2" >"$(sysfs "$1" enabled)") 2>/tmp/error; then
		die "$1: enabled=$2 was accepted"
	fi
	has "the error" "$(cat /tmp/error)" "Device or resource busy"
	same state "$(file "$1" state)" blocked
	has blocked_by "$(file "$1" blocked_by)" "pp_slots_victim pp_slots_held"
}
hold() {
	echo -1 >/proc/sys/kernel/sched_rt_runtime_us
	echo 1 >$param/hold
	until_true 60 grep -q held $param/hold
}
