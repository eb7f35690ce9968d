# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of guest/lib.sh
# The guest's part of test/bench/marks: a line "COST WORDS" for each way to record.

# measure WORDS - the cost of a call, of the second of two looks, at a call depth of 1.
measure() {
	sed -n "s/^1 \([0-9]*\) 1$/\1 $*/p" /sys/module/pp_icount/parameters/measure
}
on() { pokepatch load --mode entry "$(patch_file "$1")"; }
off() { pokepatch unload "$1"; }
# probe PLACE - a kprobe event there, of both arguments.
probe() {
	echo "p:bench/pow $1 base=%di exp=%si:u32" >"$tracing/kprobe_events"
	echo 1 >"$tracing/events/bench/pow/enable"
	sleep 1 # until it is made a jump, if it can be
}
unprobe() {
	echo 0 >"$tracing/events/bench/pow/enable"
	echo >"$tracing/kprobe_events"
}
modprobe pp_icount
measure the function as it is
on pow-1
measure a copy with one instruction more
off pow-1
on pow-2
measure a copy with a marker, no probe attached
echo 1 >"$tracing/events/pokepatch/marker/enable"
measure a copy with a marker, the tracepoint on
echo 0 >"$tracing/events/pokepatch/marker/enable"
measure a copy with a marker, the tracepoint off again
off pow-2
on pow-3
measure a copy with trace_printk
off pow-3
probe int_pow
measure a kprobe event at the entry, by ftrace
unprobe
probe int_pow+5
measure "a kprobe event behind the entry"
unprobe
