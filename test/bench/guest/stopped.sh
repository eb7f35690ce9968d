# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of guest/lib.sh
# Words for the guest's scripts of test/bench/stopped.

# stops WORD... - a line with these words and the numbers of the last stop.
stops() {
	dmesg | sed -n 's/.*: stopped \([0-9]*\) ns, \([0-9]*\) cycles, walked \([0-9]*\) stacks, \([0-9]*\) had not run, \([0-9]*\) frames, \([0-9]*\) sites, \([0-9]*\) words.*/\1 \2 \3 \4 \5 \6 \7/p' |
		tail -n 1 | sed "s/^/$* /"
}
sleep_with() { # THREADS
	sleepers "$1" >/tmp/ready &
	sleepers=$!
	until_true 600 grep -q ready /tmp/ready
}
wake() {
	kill "$sleepers"
	wait "$sleepers" || :
	rm /tmp/ready
}
crowd() { cat /sys/module/pp_crowd/parameters/patched; }
