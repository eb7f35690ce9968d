# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of guest/lib.sh
# The guest's part of test/bench/run (calls) and test/bench/livepatch (livepatch, transitions).  A WAY is
# WORD=MODULE: a module for the kernel's livepatch, and what lines about it begin with.

measure() {
	sed "s/^/$1 /" /sys/module/pp_icount/parameters/measure
}

# klp MODULE FILE - the path of a file of livepatch's.
klp() { echo "/sys/kernel/livepatch/$(echo "$1" | tr - _)/$2"; }
gone() { [ ! -e "$(klp "$1" enabled)" ]; }
klp_on() {
	modprobe "$1"
	until_true 60 grep -q 0 "$(klp "$1" transition)"
}
klp_off() {
	echo 0 >"$(klp "$1" enabled)"
	until_true 60 gone "$1"
	until_true 5 rmmod "$1"
}

# What a call of int_pow() costs, plain and in each of pokepatch's modes.
calls() {
	modprobe pp_icount
	measure plain
	for mode in $all_modes; do
		pokepatch load --mode "$mode" "$(patch_file int-pow)" >/dev/null
		measure "$mode"
		pokepatch unload int-pow >/dev/null
	done
}

# WAY... - and if the kernel's livepatch redirects it.
livepatch() {
	modprobe pp_icount
	measure plain
	for way; do
		klp_on "${way#*=}"
		measure "${way%%=*}"
		klp_off "${way#*=}"
	done
}

# since FIRST LAST - the milliseconds between two lines of the kernel log, by its own stamps.
since() {
	dmesg | awk -v first="$1" -v last="$2" '
		{ sub(/^[^[]*\[ */, "") }
		index($0, first) { from = $1 }
		index($0, last) { to = $1 }
		END { printf "%.3f\n", (to - from) * 1000 }'
}
# own_switch VALUE - switch pokepatch's own patch on or off, and print how long the write took.
own_switch() {
	dmesg -c >/dev/null
	echo "bench: from here" >/dev/kmsg
	enabled proc-version "$1"
	echo "bench: to here" >/dev/kmsg
	since "bench: from here" "bench: to here"
}

# WAY... - lines "WORD MS MS": how long a patch took to be switched on, and off, with 1,000 threads that
# sleep; pokepatch's own patch first.
transitions() {
	# shellcheck source=stopped.sh
	. /root/stopped.sh
	sleep_with 1000
	modprobe pokepatch
	modprobe pokepatch-proc-version
	for _try in 1 2 3 4 5; do
		enabled proc-version 0
		on=$(own_switch 1)
		echo own "$on" "$(own_switch 0)"
	done
	rmmod pokepatch-proc-version
	rmmod pokepatch
	for way; do
		name=$(echo "${way#*=}" | tr - _)
		for _try in 1 2 3 4 5; do
			dmesg -c >/dev/null
			klp_on "$name"
			on=$(since "'$name': starting patching" "'$name': patching complete")
			klp_off "$name"
			echo "${way%%=*}" "$on" "$(since "'$name': starting unpatching" "'$name': unpatching complete")"
		done
	done
	wake
}
"$@"
