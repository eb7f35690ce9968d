# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # lib.sh sets $pokepatch
# What patches/check runs in the guest, after the words of test/vm/guest/: FORMAT ROUNDS.  /plan has a line for
# each entry: its name; "effect" or "none"; "unload" or "stay", if its module cannot be unloaded; "out" (the patch
# takes the fix out), "in" or "in-live"; and "live" if there is a live version to load on top.

format=$1 rounds=$2

# shows ENTRY WANTED - does `effects` see what it should, 0 (fixed) or 1 (affected)?
shows() {
	_saw=0
	effects "$1" || _saw=$?
	[ $_saw -eq "$2" ] || {
		wrong="status $_saw of effects, wanted $2, $3"
		return 1
	}
}

# klp ENTRY FILE - the path of what the kernel's livepatch shows of it.
klp() {
	echo "/sys/kernel/livepatch/pokepatch_$(patch_id "$1")/$2"
}

# switch_on ENTRY - load it; its switch is complete then.
switch_on() {
	pokepatch load "$(patch_file "$1")" || { wrong="it was not loaded"; return 1; }
	[ "$format" = livepatch ] || return 0
	[ ! -e "$pokepatch" ] || { wrong="pokepatch's core is there"; return 1; }
	[ "$(cat "$(klp "$1" enabled)" "$(klp "$1" transition)" | tr -d "\n")" = 10 ] || {
		wrong="the kernel's livepatch does not show it, or it is not completely on"
		return 1
	}
}

# roll_back ENTRY AFTER - disable it, and unload it unless it stays.
roll_back() {
	pokepatch disable "$1" || { wrong="it was not disabled"; return 1; }
	[ ! -e "$(klp "$1" enabled)" ] || { wrong="the kernel's livepatch still shows it"; return 1; }
	[ "$2" = stay ] || pokepatch unload "$1" || { wrong="it was not unloaded"; return 1; }
	[ "$2" = stay ] || [ ! -e "/sys/module/pokepatch_$(patch_id "$1")" ] || {
		wrong="its module is still there"
		return 1
	}
}

# try_entry ENTRY EFFECT AFTER WAY LIVE - the whole life of one patch, in $round; $wrong says what went wrong.
try_entry() {
	_without=0 _with=1
	[ "$4" = out ] || _without=1 _with=0
	# What the kernel does without it is looked at in the first round, the eleventh, and so on.
	_look=$2
	[ $(((round - 1) % 10)) -eq 0 ] || _look=none
	[ "$_look" = none ] || shows "$1" $_without "before" || return 1
	switch_on "$1" || return 1
	if [ "$2" != none ]; then
		shows "$1" $_with "with the patch" || return 1
		if [ "${5:-}" = live ]; then
			switch_on "$1-live" || { wrong="the live version: $wrong"; return 1; }
			shows "$1" 0 "with the live version" || return 1
			roll_back "$1-live" unload || return 1
			shows "$1" $_with "without the live version" || return 1
		fi
	fi
	roll_back "$1" "$3" || return 1
	[ "$_look" = none ] || shows "$1" $_without "after" || return 1
}

# try_entries - all of them, once each, in $round; after the first without those that stay loaded, and those that
# have failed.
try_entries() {
	while read -r _entry _effect _after _way _live; do
		if [ "$round" -gt 1 ]; then
			[ "$_after" != stay ] || continue
			[ ! -e "/tmp/failed-$_entry" ] || continue
		fi
		echo "== $_entry, round $round"
		wrong=''
		try_entry "$_entry" "$_effect" "$_after" "$_way" "$_live" || {
			echo "round $round: $wrong" >"/tmp/failed-$_entry"
			pokepatch unload "$_entry-live" 2>/dev/null || :
			pokepatch unload "$_entry" || :
		}
	done </plan
}

# report - a line for each entry.
report() {
	while read -r _entry _effect _after _way _live; do
		_times='' _seen="loaded and rolled back"
		[ "$_effect" = none ] || _seen="its effect${_live:+ and its live version} seen"
		[ "$rounds" -eq 1 ] || _times=", $rounds times"
		[ "$_after" != stay ] || _times=", stays loaded"
		if [ -e "/tmp/failed-$_entry" ]; then
			echo "result $_entry FAILED: $(cat "/tmp/failed-$_entry")"
		else
			echo "result $_entry passed, $_seen$_times"
		fi
	done </plan
}

while read -r _module; do
	modprobe "$_module"
done </modules
round=1
try_entries
if [ "$rounds" -gt 1 ]; then
	# Livepatch looks again at an idle processor's task only after a second.  With one processor, that is never
	# in the way.  So a round of all entries takes some ten seconds.
	echo 1 >/sys/kernel/rcu_expedited
	if [ "$format" = livepatch ]; then
		for _online in /sys/devices/system/cpu/cpu[1-9]*/online; do
			[ ! -e "$_online" ] || echo 0 >"$_online"
		done
	fi
	# What is allocated at the first time stays.  Of few rounds, what anything else holds on to would look
	# like a leak.
	[ "$rounds" -lt 20 ] || inventory /tmp/before
	_began=$(date +%s)
	while [ $((round += 1)) -le "$rounds" ]; do
		try_entries
	done
	echo "$((rounds - 1)) rounds in $(($(date +%s) - _began)) s"
fi
report
[ "$rounds" -lt 20 ] || same_inventory /tmp/before $((rounds - 1))
