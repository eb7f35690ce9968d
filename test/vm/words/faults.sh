# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # other variables are those of guest/lib.sh and of the tests
# What scripts of faults.bats begin with.

parameters=/sys/module/pokepatch/parameters
# Processors with a clock each: who makes the changes stays on one of them.
can common-clock || taskset -p 1 $$ >/dev/null

# What a failure must leave as it was: modules and what holds them, the memory of the core,
# sysfs, who is hooked, what the functions do.  Not counted: who was in the way the last
# time, and the function of its own that the core keeps hooked until the last patch goes.
system() {
	# shellcheck disable=SC2046 # no word at all if there is no such file
	awk "
		FILENAME ~ /modules/ { if (/^(pokepatch|dummy)/) print \$1, \$3; next }
		\$1 != \"pp_ftrace_anchor\" { print \$1, \$2 }
	" /proc/modules $(ls "$tracing/enabled_functions" 2>/dev/null)
	if [ -e $parameters ]; then
		read -r _live <$parameters/fault_live
		# A veneer stays until its patch goes.
		if ! can near-modules && [ -n "$(ls "$pokepatch"/*/enabled 2>/dev/null)" ]; then
			_live=$((_live - $(veneers)))
		fi
		grep -r "" "$pokepatch" | sort | awk -v live="$_live" "
			# However many tasks it names, it is one piece of memory.
			/\/blocked_by:/ { live -= !told[substr(\$0, 1, index(\$0, \":\"))]++ }
			/\/stop_ns:|_addr:|\/blocked_by:|\/error:/ { next }
			{ sub(/,shadows:.*/, \"\"); print }
			END { print \"memory\", live }"
	fi
	dd if=/dev/null bs=3 count=1 2>/dev/null | od -An -tu1
	[ ! -e /sys/class/net/dummy0 ] || cat /sys/class/net/dummy0/mtu
	[ ! -e /sys/module/pp_slots ] || cat /sys/module/pp_slots/parameters/words
}

# How many pages of veneers there are, for each of which the core holds a piece of memory.
veneers() {
	grep -c "veneer.*\[pokepatch\]" /proc/vmallocinfo || :
}

# remember before|after - how the system is.
remember() { eval "_$1=\$(system)"; }

# as before|after WHEN - fail unless the system is so.
as() {
	eval "_wanted=\$_$1"
	# What there was no memory for is tried again once a second.
	for _try in 1 2 3 4; do
		_now=$(system)
		[ "$_now" != "$_wanted" ] || return 0
		sleep 1
	done
	echo "$_wanted" >/tmp/wanted
	echo "$_now" >/tmp/now
	diff /tmp/wanted /tmp/now
	die "$2 the system is not as it was $1"
}

# each_fault NAME DO UNDO [always] - DO once for each call in it that can fail, until none is
# left.  If it fails, all must be as before, and it must work then; if it can do without that
# call, as it must with "always", all must be as whenever it is done, but for the call $other_mode.  UNDO ends both; what
# that leaves is looked at after the next failure, or at the end.  It begins with call $first_fault, and
# goes on by $every_fault (faults.bats).
each_fault() {
	_nth=$((first_fault - every_fault)) _tried=0 _failed=0
	remember before
	$2
	remember after
	$3
	as before "after the first $1 was undone"
	while :; do
		_nth=$((_nth + every_fault))
		echo $_nth >$parameters/fault_at
		_status=0
		$2 >/dev/null 2>&1 || _status=$?
		_site=$(cat $parameters/fault_site)
		echo 0 >$parameters/fault_at
		[ -n "$_site" ] || break
		_tried=$((_tried + 1))
		_when="after $1 with fault $_nth, $_site"
		if [ $_status -ne 0 ]; then
			echo "  $_nth: $_site"
			[ $# -eq 3 ] || die "$1 failed"
			_failed=$((_failed + 1))
			as before "$_when"
			$2 || die "$1 does not work $_when"
		else
			echo "  $_nth: $_site, done all the same"
		fi
		[ "$_site" = "${other_mode:-}" ] || as after "$_when"
		$3 || die "$1 cannot be undone $_when"
	done
	[ "$_status" -eq 0 ] || die "$1 failed, though no call did"
	$3
	as before "after the last $1 was undone"
	echo "$1: $_tried faults, $_failed times it failed"
	[ $_tried -gt 0 ] || [ "$first_fault" -gt 1 ] || die "nothing in $1 can fail?"
}

# The three functions of a patch, one in each mode that there is.
second=entry third=entry
! can direct || second=direct
! can ftrace || third=ftrace
load() {
	/usr/bin/insmod "$(patch_file "$1")" || return
	_folder=$pokepatch/$(patch_id "$1")
	echo entry >"$_folder/vmlinux/read_null,1/mode"
	echo $second >"$_folder/vmlinux/read_iter_null,1/mode"
	echo $third >"$_folder/vmlinux/write_iter_null,1/mode"
}
unload() { rmmod "pokepatch-$1"; }
on() { echo 1 >"$(sysfs "$1" enabled)"; }
off() { echo 0 >"$(sysfs "$1" enabled)"; }
load_1() { load agree-1; }
unload_1() { unload agree-1; }
# changes METHOD - what /tmp/history has of text that was changed so.
changes() {
	awk -v method="$1" -v nop="$nop" -v jump="$jump" "
		function kind(bytes) {
			return bytes ~ \"^\" nop \"\$\" ? \"nop\" : bytes ~ \"^\" jump \"\$\" ? \"jump\" : \"load\"
		}
		\$4 == \"text\" && \$10 == method { print \$5, kind(\$7), kind(\$9) }
	" /tmp/history
}
# there_and_back PATCH METHOD - it cannot be switched on, as what it writes to the entry of
# read_null when all is switched reads back wrong; all of which is in the history, once.
there_and_back() {
	_nth=0
	while :; do
		_nth=$((_nth + 1))
		_last=$(recorded)
		_status=0
		echo $_nth >$parameters/fault_at
		on "$1" 2>/dev/null || _status=$?
		_site=$(cat $parameters/fault_site)
		echo 0 >$parameters/fault_at
		[ $_status -ne 0 ] || off "$1"
		[ -n "$_site" ] || die "nothing of $2 is read back"
		case $_site in
		"read back in "*) ;;
		*) continue ;;
		esac
		pokepatch history | awk -v last="$_last" "
			\$1 > last && / read_null([+]0x[0-9a-f]+)? /" >/tmp/history
		if grep " $2 " /tmp/history; then break; fi
	done
	same "text changes" "$(changes "$2" | tr "\n" ,)" \
		"before nop jump,after nop jump,before jump nop,after jump nop,"
	same "ways" "$(awk "/ route / { print / the original / ? \"old\" : \"new\" }" /tmp/history |
		tr "\n" ,)" "new,old,"
}
# put_back_before DO - the same, which fails, of the two words that load an address, before
# anything is switched.
put_back_before() {
	_last=$(recorded)
	echo text_is_written >$parameters/fault_in
	$1 2>/dev/null && die "nothing is read back"
	echo >$parameters/fault_in
	pokepatch history | awk -v last="$_last" "\$1 > last && / text /" | tee /tmp/history
	same "text changes" "$(changes store | sort | uniq -c | tr -s "\n " " ")" \
		" 2 after load nop 2 after nop load 2 before load nop 2 before nop load "
}
# How many records there were ever.
recorded() { pokepatch history | tail -n 1 | cut -d " " -f 1; }
on_1() { on agree-1; }
off_1() { off agree-1; }
on_2() { on agree-2; }
off_2() { off agree-2; }
