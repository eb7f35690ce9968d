# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of guest/lib.sh
# The guest's part of test/bench/history: the records of a switch, without and with tracing.

recorded() { # WHAT: of the last switch
	dmesg | sed -n 's/.*: recorded \([0-9]*\) sites, \([0-9]*\) cycles/\1 \2/p' | tail -n 1 |
		sed "s/^/$1 /"
}
modprobe pokepatch dyndbg=+p
modprobe pp_crowd
modprobe pokepatch-crowd-1000
for what in "" traced; do
	[ -z "$what" ] || echo 1 >"$tracing/events/pokepatch/enable"
	# Chunks of memory are new the first time.
	enabled crowd_1000 1
	enabled crowd_1000 0
	enabled crowd_1000 1
	recorded ${what:-untraced}
	enabled crowd_1000 0
done
