# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # other variables are those of guest/lib.sh and of the tests
# What scripts of arch/entry-trace.bats begin with.

param=/sys/module/pp_slots/parameters
file=$pokepatch/trace_entry
event=$tracing/events/pokepatch/entry
modprobe pokepatch
modprobe pp_slots
nop=00000000
# entry N - the words of the N-th function, as they are in memory.
entry() { sed -n "$1p" $param/words; }
free=$(entry 1)
# error ERRNO-TEXT LOG-PATTERN LINE - writing LINE to the file fails, says so in one line, and changes nothing.
error() {
	before=$(cat "$file" $param/words)
	dmesg -c >/dev/null
	if (echo "$3" >"$file") 2>/tmp/error; then
		die "it was accepted: $3"
	fi
	has "the error of $3" "$(cat /tmp/error)" "$1"
	dmesg | grep "pokepatch: trace_entry:" >/tmp/said
	same "lines about $3" "$(wc -l </tmp/said)" 1
	has "the line about $3" "$(cat /tmp/said)" "$2"
	cat /tmp/said
	same "after $3" "$(cat "$file" $param/words)" "$before"
}
# events - how many there are in the buffers, or were.
events() { cat "$tracing/per_cpu/"*/stats | awk "/^(entries|overrun|dropped events):/ { n += \$NF } END { print n + 0 }"; }
