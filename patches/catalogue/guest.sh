# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What patches/check runs in the guest, after the words of test/vm/guest/.  /plan has a line for each entry:
# its name; "effect" or "none"; "unload" or "stay", if its module cannot be unloaded; "out" (the patch takes the
# fix out), "in" or "in-live"; and "live" if there is a live version to load on top.

# shows ENTRY WANTED - does `effects` see what it should, 0 (fixed) or 1 (affected)?
shows() {
	_saw=0
	effects "$1" || _saw=$?
	[ $_saw -eq "$2" ] || {
		wrong="status $_saw of effects, wanted $2, $3"
		return 1
	}
}

# roll_back ENTRY AFTER - disable it, and unload it unless it stays.
roll_back() {
	pokepatch disable "$1" || { wrong="it was not disabled"; return 1; }
	[ "$2" = stay ] || pokepatch unload "$1" || { wrong="it was not unloaded"; return 1; }
}

# try_entry ENTRY EFFECT AFTER WAY LIVE - the whole life of one patch; $wrong says what went wrong.
try_entry() {
	_without=0 _with=1
	[ "$4" = out ] || _without=1 _with=0
	[ "$2" = none ] || shows "$1" $_without "before" || return 1
	pokepatch load "$(patch_file "$1")" || { wrong="it was not loaded"; return 1; }
	if [ "$2" != none ]; then
		shows "$1" $_with "with the patch" || return 1
		if [ "${5:-}" = live ]; then
			pokepatch load "$(patch_file "$1-live")" || { wrong="the live version was not loaded"; return 1; }
			shows "$1" 0 "with the live version" || return 1
			roll_back "$1-live" unload || return 1
			shows "$1" $_with "without the live version" || return 1
		fi
	fi
	roll_back "$1" "$3" || return 1
	[ "$2" = none ] || shows "$1" $_without "after" || return 1
}

while read -r _module; do
	modprobe "$_module"
done </modules
while read -r _entry _effect _after _way _live; do
	echo "== $_entry"
	wrong='' _seen=''
	[ "$_live" != live ] || _seen=" and its live version"
	if try_entry "$_entry" "$_effect" "$_after" "$_way" "$_live"; then
		[ "$_effect" = none ] && echo "result $_entry passed, loaded and rolled back" ||
			echo "result $_entry passed, its effect$_seen seen"
	else
		echo "result $_entry FAILED: $wrong"
		pokepatch unload "$_entry-live" 2>/dev/null || :
		pokepatch unload "$_entry" || :
	fi
done </plan
