# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # other variables are those of guest/lib.sh and of the tests
# What scripts of text-history.bats begin with.

patch=history-null
# Where the entry of read_null() is that is written, and how long it is.
site=vmlinux:read_null size=5
# How many of so many bytes are assumed, at times between looks.
assumed() { if can others; then echo 0; else echo "$1"; fi; }
parameter() { echo "$2" >/sys/module/pokepatch/parameters/"$1"; }
# field NAME FILE - of the JSON of "pokepatch text": the first of this name.
field() { sed -n "s/^  \"$1\": \"*\([^\",]*\)\"*,*\$/\1/p" "$2"; }
seconds() { echo "$1" | sed "s/.........\$/.&/"; }
# look - add to /tmp/looks when it is, and the bytes that are there now.
look() {
	pokepatch text --json $site $size >/tmp/look
	same "unknown bytes of a look" "$(field unknown /tmp/look)" 0
	echo "$(seconds "$(field time_ns /tmp/look)") $(field bytes /tmp/look)" >>/tmp/looks
}
# compare OPTION... - at each of those times, what was there then.
compare() {
	while read -r time bytes; do
		pokepatch text "$@" --at "$time" --json $site $size >/tmp/then
		same "bytes at $time" "$(field bytes /tmp/then)" "$bytes"
		same "assumed bytes at $time" "$(field assumed /tmp/then)" "$(assumed $size)"
	done </tmp/looks
	echo "looks: $(wc -l </tmp/looks) equal"
}
toggles() { # TIMES
	for _time in $(seq "$1"); do
		echo 1 >"$(sysfs $patch enabled)" && echo 0 >"$(sysfs $patch enabled)"
	done
}
