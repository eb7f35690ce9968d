# SPDX-License-Identifier: GPL-2.0-or-later
# The table of test/bench/stopped, from the lines that the guest's stopped-counted.sh prints; fails if
# a cost grows faster than the number of functions or threads.

function heading(text) {
	printf "  %s\n  %10s %8s %10s %10s %10s %8s %8s %13s\n", text, "functions",
		"threads", "left out", "walked", "frames", "sites", "words", "instructions"
}
$1 == "once" && !once++ { heading("as it is: sleepers that have not run since the scan before are left out") }
$1 == "again" && !again++ { heading("all stacks walked again (debug build)") }
$1 != "once" && $1 != "again" { next }
{ printf "  %10d %8d %10d %10d %10d %8d %8d %13d\n", $3, $2, $7, $6, $8, $9, $10, $5 }
{ cost[$1, $2, $3] = $5; frames[$1, $2, $3] = $8 }
function per(what, a, b, units) {
	printf "  %-58s %10.1f\n", what, (b - a) / units
	return (b - a) / units
}
# What each costs may not grow with their number; a square would make it ten times as much.
function linear(what, few, many) {
	if (many <= 1.5 * few + 10)
		return
	printf "stopped: not linear: each %s costs %.1f, and with ten times as many %.1f\n", what,
		few, many >"/dev/stderr"
	failed = 1
}
END {
	print "  instructions for each"
	per("function more, 1 to 10", cost["once", 50, 1], cost["once", 50, 10], 9)
	few = per("function more, 10 to 100", cost["once", 50, 10], cost["once", 50, 100], 90)
	many = per("function more, 100 to 1,000", cost["once", 50, 100], cost["once", 50, 1000], 900)
	linear("function", few, many)
	few = per("thread more, 50 to 500, left out", cost["once", 50, 10], cost["once", 500, 10], 450)
	many = per("thread more, 500 to 5,000, left out", cost["once", 500, 10], cost["once", 5000, 10], 4500)
	linear("thread that is left out", few, many)
	few = per("thread more, 50 to 500, walked", cost["again", 50, 10], cost["again", 500, 10], 450)
	many = per("thread more, 500 to 5,000, walked", cost["again", 500, 10], cost["again", 5000, 10], 4500)
	linear("thread that is walked", few, many)
	print "  frames for each"
	few = per("thread more, 50 to 500, walked", frames["again", 50, 10], frames["again", 500, 10], 450)
	many = per("thread more, 500 to 5,000, walked", frames["again", 500, 10], frames["again", 5000, 10], 4500)
	linear("thread, in frames,", few, many)
	exit failed
}
