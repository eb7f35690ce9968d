# SPDX-License-Identifier: GPL-2.0-or-later
# Switches in entry mode while NMIs on all processors call what is switched: a stop does not stop
# them.  Of the functions of pp_crowd, the entries have all alignments, and one lies across pages.

load helpers

# Needs the functions that NMIs call, and steps that take long, so that NMIs fall into each.
words='
	parameters=/sys/module/pokepatch/parameters
	nmis=/sys/module/pp_crowd/parameters/nmis
	# count WHAT - of what pp_crowd counts.
	count() { sed "s/.*\<$1 \([0-9]*\).*/\1/" $nmis; }
	bare=${2:-} # of functions without entries
	patch=crowd_100${bare:+_$bare}
	crowd() { cat /sys/module/pp_crowd/parameters/${bare:-patched}; }
	modprobe pokepatch
	modprobe pp_crowd
	modprobe pokepatch-crowd-100${bare:+-$bare}
	for mode in $(sysfs $patch pp_crowd)/*/mode; do
		echo entry >$mode
	done
	echo 60000 >$(sysfs $patch timeout_ms)
	echo 2000 >$parameters/debug_step_us
	echo ${bare:-1} >$nmis
	# Until NMIs have met breakpoints at all entries, but at least so many times.
	switch_often() { # TIMES
		round=0
		while [ $round -lt $1 ] || { [ $round -lt 200 ] && [ "$(count alignments)" -lt 64 ]; }; do
			enabled $patch 1
			same "patched functions" "$(crowd)" 100
			enabled $patch 0
			same "patched functions" "$(crowd)" 0
			round=$((round + 1))
		done
	}
'

# with_crowd [bare]
with_crowd() {
	core=core-debug with_patches
	patched+=(--module "$(test_module pp_crowd)" --module "$(crowd_patch 100 "$@")")
}

@test "NMIs that call functions while their entries are written, at all alignments" {
	needs split-entries
	with_crowd
	guest "${patched[@]}" --timeout 400 -- "$(rounds 50 20)" <<<"$words"'
		switch_often $1
		echo "$round times on and off:"
		cat $nmis
		same "wrong results" "$(count wrong)" 0
		same "alignments at which a call met a breakpoint" "$(count alignments)" 64
		[ "$(count met)" -ge $((10 * $1)) ] || die "too few calls met breakpoints"
		[ "$(count lines)" -gt 0 ] || die "no call met one at an entry across cache lines"
		[ "$(count pages)" -gt 0 ] || die "no call met one at an entry across pages"
		[ "$(count per-second)" -ge 1000 ] || die "too few NMIs"
		# No breakpoint can be met where there is none.
		met=$(count met)
		sleep 1
		same "breakpoints met afterwards" "$(count met)" "$met"
		rmmod pokepatch-crowd-100 pp_crowd pokepatch
	'
	say "$(grep ^nmis "$guest_output")"
}

@test "NMIs that call functions while their first instructions are overwritten" {
	needs split-entries
	with_crowd bare
	guest "${patched[@]}" --timeout 400 -- "$(rounds 50 20)" bare <<<"$words"'
		switch_often $1
		echo "$round times on and off:"
		cat $nmis
		same "wrong results" "$(count wrong)" 0
		[ "$(count met)" -ge $((10 * $1)) ] || die "too few calls met breakpoints"
		rmmod pokepatch-crowd-100-bare pp_crowd pokepatch
	'
	say "$(grep ^nmis "$guest_output")"
}

# broken SWITCH [bare] - the same with a switch of the debug build that breaks it: then the guest dies, or
# calls have wrong results.
broken() {
	needs split-entries
	with_crowd "${@:2}"
	guest_status_of "${patched[@]}" --timeout 400 -- "$@" <<<"$words"'
		echo 1 >$parameters/debug_$1
		switch_often 1
		cat $nmis
		same "wrong results" "$(count wrong)" 0
		echo "all went well"
	'
	cat "$guest_complaint"
	tail -n 20 "$guest_output"
	# Died, or a finding in the kernel log, or wrong results.
	case $guest_status in
	122 | 123) ;;
	*) grep 'FAILED: wrong results' "$guest_output" ;;
	esac
	if grep 'all went well' "$guest_output"; then return 1; fi
}

@test "without a handler that knows the breakpoints, NMIs do not survive this" {
	broken skip_arm
	grep -E 'int3|Fatal exception in interrupt|Kernel panic' "$guest_log"
}

@test "nor do they if the bytes behind the first ones are written before the breakpoints" {
	broken tail_first
}

@test "nor if the bytes behind the first one of several instructions are" {
	broken tail_first bare
}
