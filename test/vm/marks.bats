# SPDX-License-Identifier: GPL-2.0-or-later
# Markers of instrumented copies: probes, the tracepoint, pokepatch trace, stacking.

load helpers

# marked NAME [OPTION...] FILE|PATCH - add an instrumented copy to $patched.
marked() {
	local module
	module=$(patch_module "${@: -1}" "$1" --instrument "${@:2:$#-2}") || return 1
	patched+=(--module "$module")
}

words='
do_marks() { echo "$*" >/sys/module/pp_marks/parameters/do; }
# slot N FIELD - what probe N has counted.
slot() { sed -n "s/^$1 .*$2=\([0-9]*\).*/\1/p" /sys/module/pp_marks/parameters/slots; }
# told WORD - what the last such command returned.
told() { dmesg | sed -n "s/.*pp_marks: $1: //p" | tail -n 1; }
marker() { awk -v name="$1" "\$1 == name { print \$$2 }" "$(sysfs int-sqrt-marks markers)"; }
gone() {
	[ ! -e $pokepatch ] || die "the core is still there"
	lacks modules "$(cat /proc/modules)" pokepatch
	lacks instances "$(ls $tracing/instances)" pokepatch
}
'

@test "probes by name, typed arguments, NMIs, recursion; probes come and go under load" {
	with_patches
	marked int-sqrt-marks --mark-functions int_sqrt lib/math/int_sqrt.c
	guest "${patched[@]}" --module "$(test_module pp_marks)" --timeout 240 <<<"$words"'
		modprobe pokepatch
		modprobe pp_marks
		echo "== a probe that is there before the marker"
		do_marks register 0 int_sqrt_entry
		same register "$(told register)" 0
		do_marks register 0 int_sqrt_entry
		same "twice" "$(told register)" -17
		do_marks unregister 1 int_sqrt_entry
		same "one that is not there" "$(told unregister)" -2
		pokepatch load "$(patch_file int-sqrt-marks)"
		! can live || same transition "$(file int-sqrt-marks stop_ns)" 0
		same "probes" "$(marker int_sqrt_entry 3) $(marker int_sqrt_return 3)" "1 0"
		do_marks call 100
		same entries "$(slot 0 entries)" 100
		same returns "$(slot 0 returns)" 0

		echo "== several on one marker, and one for all"
		do_marks register 1 int_sqrt_entry
		do_marks register 2 int_sqrt_return
		do_marks register 3 "*"
		do_marks register 3 nobody_has_this
		same "probes" "$(marker int_sqrt_entry 3) $(marker int_sqrt_return 3)" "3 2"
		do_marks call 10
		same "0, 1, 2, 3" \
			"$(slot 0 entries) $(slot 1 entries) $(slot 2 returns) $(slot 3 entries) $(slot 3 returns)" \
			"110 10 10 10 10"
		do_marks unregister 1 int_sqrt_entry
		do_marks unregister 3 "*"
		do_marks unregister 3 nobody_has_this
		do_marks call 10
		same "0, 1, 2, 3" \
			"$(slot 0 entries) $(slot 1 entries) $(slot 2 returns) $(slot 3 entries)" \
			"120 10 20 10"
		same "probes" "$(marker int_sqrt_entry 3) $(marker int_sqrt_return 3)" "1 1"

		echo "== switched off there are none; on again"
		pokepatch disable int-sqrt-marks
		do_marks call 10
		same entries "$(slot 0 entries)" 120
		pokepatch enable int-sqrt-marks
		do_marks call 10
		same entries "$(slot 0 entries)" 130

		echo "== a probe that calls what has the marker"
		do_marks forget
		echo 1 >/sys/module/pp_marks/parameters/nest
		do_marks call 50
		echo 0 >/sys/module/pp_marks/parameters/nest
		same "entries, nested" "$(slot 0 entries) $(slot 0 nested)" "50 50"
		# Two probes call it, each in one of the two markers.
		same missed "$(marker int_sqrt_entry 4) $(marker int_sqrt_return 4)" "100 100"
		do_marks unregister 0 int_sqrt_entry
		do_marks unregister 2 int_sqrt_return
		same "probes" "$(marker int_sqrt_entry 3) $(marker int_sqrt_return 3)" "0 0"

		echo "== probes come and go, all processors call, NMIs too"
		do_marks forget
		echo 1 >/sys/module/pp_marks/parameters/nmis
		do_marks storm 120
		cat /sys/module/pp_marks/parameters/slots
		same storm "$(told storm)" "120 rounds, 0 failed"
		for n in 0 1 2 3; do
			same "wrong, late" "$(slot $n wrong) $(slot $n late)" "0 0"
			[ $(slot $n entries) -gt 100 ] && [ $(slot $n returns) -gt 100 ] ||
				die "probe $n was hardly called"
			! can nmi || [ $(slot $n nmis) -gt 10 ] || die "probe $n: $(slot $n nmis) NMIs"
		done
		same "probes" "$(marker int_sqrt_entry 3) $(marker int_sqrt_return 3)" "0 0"

		echo "== a patch that goes while a probe is attached"
		do_marks register 0 int_sqrt_entry
		pokepatch unload int-sqrt-marks
		pokepatch load "$(patch_file int-sqrt-marks)"
		do_marks forget
		do_marks call 5
		same entries "$(slot 0 entries)" 5
		refused rmmod pokepatch
		pokepatch unload int-sqrt-marks
		do_marks unregister 0 int_sqrt_entry
		rmmod pp_marks
		rmmod pokepatch
	'
	cat "$guest_output"
}

@test "pokepatch trace shows markers and leaves nothing behind; a copy and a fix are stacked" {
	with_patches "$top/examples/proc-version.patch"
	marked marks --mark-functions version_proc_show fs/proc/version.c
	patched+=(--module "$(patch_module fs/proc/version.c marked-fix --instrument \
		--mark-functions version_proc_show "$top/examples/proc-version.patch")")
	guest "${patched[@]}" --timeout 240 <<<"$words"'
		entries() { grep -c "version_proc_show_entry: m=[0-9a-f]* v=[0-9a-f]*" /tmp/out; }
		started() { grep -q "is on; Ctrl-C" /tmp/err 2>/dev/null; }
		# trace NAME SIGNAL - three calls while it runs.
		trace() {
			rm -f /tmp/out /tmp/err
			pokepatch trace "$(patch_file $1)" >/tmp/out 2>/tmp/err &
			until_true 20 started
			ls -d $tracing/instances/pokepatch-*
			for _n in 1 2 3; do cat /proc/version >/tmp/version; done
			until_true 10 sh -c "grep -c version_proc_show_return /tmp/out | grep -qx 3"
			kill -$2 $!
			wait $! || die "trace ended with $?: $(cat /tmp/err)"
			same entries "$(entries)" 3
			grep -q "version_proc_show_return: 0 (version_proc_show[.a-z]*+0x.*pokepatch_" /tmp/out ||
				die "no place in $(cat /tmp/out)"
		}
		# Ctrl-C is for what runs in the foreground; the shell has others ignore it.
		echo "== SIGTERM, SIGHUP"
		trace marks TERM
		gone
		trace marks HUP
		gone

		echo "== the reader goes"
		rm /tmp/err
		pokepatch trace "$(patch_file marks)" 2>/tmp/err | head -n 2 >/tmp/out &
		until_true 20 started
		cat /proc/version /proc/version >/dev/null
		until_true 20 sh -c "! pidof pokepatch >/dev/null"
		same lines "$(wc -l </tmp/out)" 2
		gone
		rm /tmp/err
		# Without a marker: it notices that its reader has gone.
		pokepatch trace "$(patch_file marks)" 2>/tmp/err | sleep 3 &
		until_true 20 started
		until_true 20 sh -c "! pidof pokepatch >/dev/null"
		gone

		echo "== it is killed, with no chance to clean up"
		rm -f /tmp/err
		pokepatch trace "$(patch_file marks)" >/tmp/out 2>/tmp/err &
		until_true 20 started
		tracer=$!
		# As if a file of the one that is killed were closed late.
		exec 7<$tracing/instances/pokepatch-marks-$tracer/trace
		kill -9 $tracer
		wait $tracer || :
		sleep 1
		exec 7<&-
		until_true 20 sh -c "grep -q \"trace was killed; .marks. is as it was before\" /tmp/err"
		gone
		# And its keeper with it: what is left the next one finds.
		rm /tmp/err
		pokepatch trace "$(patch_file marks)" >/tmp/out 2>/tmp/err &
		until_true 20 started
		kill -9 $(pidof pptrace-keeper) $!
		wait $! || :
		same instances "$(ls $tracing/instances | grep -c pokepatch)" 1
		same enabled "$(file marks enabled)" 1
		trace marks TERM
		same instances "$(ls $tracing/instances | grep -c pokepatch || :)" 0
		pokepatch unload marks
		rmmod pokepatch
		gone

		echo "== what was loaded stays, what was off is off again"
		modprobe pokepatch-marks
		trace marks TERM
		same enabled "$(file marks enabled)" 0
		pokepatch enable marks
		trace marks TERM
		same enabled "$(file marks enabled)" 1
		pokepatch unload marks
		modprobe pokepatch-proc-version
		refused pokepatch trace proc-version >/tmp/err
		has "it" "$(cat /tmp/err)" "has no markers"
		same enabled "$(file proc-version enabled)" 0

		echo "== the tracepoint, with filter and fields"
		modprobe pokepatch-marks
		pokepatch enable marks
		event=$tracing/events/pokepatch/marker
		echo "name == \"version_proc_show_return\" && arg1 == 0 && patch == \"marks\"" >$event/filter
		echo 1 >$event/enable
		cat /proc/version >/dev/null
		echo "name == \"version_proc_show_return\" && arg1 == 1" >$event/filter
		cat /proc/version >/dev/null
		echo 0 >$event/enable
		cat /proc/version >/dev/null
		same "lines" "$(grep -c "marker: version_proc_show_return: 0" $tracing/trace)" 1
		same "all lines" "$(grep -c marker: $tracing/trace)" 1
		echo >$tracing/trace
		echo 0 >$event/filter
		pokepatch unload marks

		echo "== a fix, with a copy of it, with markers, on top"
		stock=$(cat /proc/version)
		pokepatch enable proc-version
		fixed=$(cat /proc/version)
		[ "$fixed" != "$stock" ]
		trace marked-fix TERM
		same "the fix under the copy" "$(cat /tmp/version)" "$fixed"
		same "the fix" "$(cat /proc/version)" "$fixed"
		pokepatch unload proc-version

		echo "== a copy, with the fix on top, and in any order"
		pokepatch load "$(patch_file marks)"
		echo 1 >$event/enable
		count() { grep -c "marker: version_proc_show_entry" $tracing/trace || :; }
		same "the copy" "$(cat /proc/version)" "$stock"
		same "markers" "$(count)" 1
		pokepatch load "$(patch_file proc-version)"
		same "the fix" "$(cat /proc/version)" "$fixed"
		same "markers" "$(count)" 1
		pokepatch disable proc-version
		same "the copy" "$(cat /proc/version)" "$stock"
		same "markers" "$(count)" 2
		pokepatch enable proc-version
		pokepatch unload marks
		same "the fix" "$(cat /proc/version)" "$fixed"
		echo 0 >$event/enable
		pokepatch unload proc-version
		same "in the end" "$(cat /proc/version)" "$stock"
		rmmod pokepatch
		gone
	'
}
