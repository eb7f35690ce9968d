# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # other variables are those of guest/lib.sh and of the tests
# What scripts of callbacks.bats begin with.

id=callbacks
state_is() { [ "$(file $id state)" = "$1" ]; }
mtu() { cat "/sys/class/net/$1/mtu"; }
# calls WHAT LINE... - compare with the callbacks since the last time.
calls() {
	what=$1
	shift
	dmesg -c | sed -n "s/^.*callback: //p" >/tmp/calls
	for line; do
		echo "$line"
	done >/tmp/wanted
	[ -z "${states-}" ] || any_state
	diff /tmp/wanted /tmp/calls || die "$what: not the callbacks that were wanted"
}
# switch_fails VALUE TEXT - a write to enabled fails with that error, and changes nothing.
switch_fails() {
	was=$(file $id enabled)
	if (echo "$1" >"$(sysfs $id enabled)") 2>/tmp/error; then
		die "enabled=$1 was accepted"
	fi
	has "the error" "$(cat /tmp/error)" "$2"
	same enabled "$(file $id enabled)" "$was"
	same "who uses the module" "$(cat /sys/module/pokepatch_$id/refcnt)" "$was"
}
# calls_in FILE - likewise, with the lines in a file.
calls_in() {
	dmesg -c | sed -n "s/^.*callback: //p" >/tmp/calls
	diff "$1" /tmp/calls || die "not the callbacks that were wanted"
}
# A switch may find a module in the way from coming to live: only that it is there counts.
any_state() { sed -i "s/, dummy \(coming\|live\)$/, dummy here/" /tmp/calls /tmp/wanted; }
fail_with() { sysctl -qw "kernel.panic=$1"; }
fail_with 0
dmesg -c >/tmp/before
