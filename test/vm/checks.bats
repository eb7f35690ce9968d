# SPDX-License-Identifier: GPL-2.0-or-later
# Each check that a switch depends on, with and without it: the debug build of the core has
# a switch for each, and does the wrong thing when it is used.

load helpers

patches=$top/test/vm/patches

words='
parameters=/sys/module/pokepatch/parameters
check_off() { echo 1 >$parameters/debug_$1; }
check_on() { echo 0 >$parameters/debug_$1; }
file() { cat "$(sysfs "$1" "$2")"; }
# In the way it must be, and all as before.
blocked() { # PATCH VALUE WORD...
	_patch=$1
	_value=$2
	shift 2
	if (echo $_value >"$(sysfs $_patch enabled)") 2>/tmp/error; then
		die "enabled=$_value was accepted for $_patch"
	fi
	has "the error" "$(cat /tmp/error)" "Device or resource busy"
	same state "$(file $_patch state)" blocked
	same enabled "$(file $_patch enabled)" $((1 - _value))
	for _word; do
		has blocked_by "$(file $_patch blocked_by)" "$_word"
	done
}
# Refused with the check, and done without it, though it must not be.
matters() { # CHECK PATCH VALUE WORD...
	_check=$1
	shift
	blocked "$@"
	check_off $_check
	enabled $1 $2
	check_on $_check
	echo "without $_check, $1 was switched under: $3"
}
count() { sed "s/.*$1=\([0-9]*\).*/\1/" $parameters/debug_cross_counts; }
load() {
	modprobe pokepatch-$1
	echo 300 >"$(sysfs $1 timeout_ms)"
}
# A reader of /proc/version sleeps as the patch sleepers has it.
sleep_at() {
	echo $1 >/proc/sys/kernel/panic
	cat /proc/version >/dev/null &
	sleeper=$!
	until_true 10 asleep_in $sleeper version_proc_show
}
wake() {
	echo 0 >/proc/sys/kernel/panic
	wait $sleeper || :
}
'

@test "without one of the checks, functions are switched under those who run them" {
	core=core-debug with_patches "$patches"/{sleepers,always-busy}.patch \
		"$top/examples/proc-version.patch"
	guest "${patched[@]}" --program "$(test_program exiter)" --module "$(test_module pp_meddle)" \
		--expect '^pokepatch: proc_version is refused: the code of version_proc_show at [+]0x10 ' \
		--expect 'the unwinder has found 1 busy stacks' --expect ' ftrace_(verify_code|bug)[+]' \
		--expect '^ *(actual|expected)( tramp)?: ' --expect '^ *[(]1[)]' <<<"$words"'
		modprobe pokepatch dyndbg=+p
		check_off cross_check # on, that is
		load sleepers
		load proc-version
		enabled sleepers 1

		echo "== tasks"
		sleep_at 1001
		matters skip_tasks proc-version 1 "$sleeper cat version_proc_show"
		wake
		enabled proc-version 0

		echo "== cold parts"
		sleep_at 1002
		has stack "$(cat /proc/$sleeper/stack)" version_proc_show.cold
		matters skip_cold proc-version 1 "$sleeper cat version_proc_show"
		kill -9 $sleeper
		wake
		enabled proc-version 0

		echo "== return addresses that a kretprobe has replaced"
		echo "r:pp/hidden schedule_timeout_uninterruptible" >>$tracing/kprobe_events
		echo 1 >$tracing/events/pp/hidden/enable
		sleep_at 1001
		stale=$(count stale)
		blocked proc-version 1 "$sleeper cat version_proc_show"
		same "stacks that only the words show" "$(count stale)" "$stale"
		matters skip_returns proc-version 1 "$sleeper cat version_proc_show"
		[ "$(count stale)" -gt "$stale" ] || die "the words do not show it either"
		wake
		stop_hits
		enabled proc-version 0

		echo "== return addresses that the graph tracer has replaced"
		echo schedule_timeout_uninterruptible >$tracing/set_ftrace_filter
		echo function_graph >$tracing/current_tracer
		sleep_at 1001
		matters skip_returns proc-version 1 "$sleeper cat version_proc_show"
		wake
		echo nop >$tracing/current_tracer
		echo >$tracing/set_ftrace_filter
		enabled proc-version 0

		echo "== exiting tasks"
		echo 1003 >/proc/sys/kernel/panic
		exiter &
		exiter=$!
		sleep 1
		lacks "the task list" "$(cat /proc/$exiter/task/*/comm)" pp-exiting
		matters skip_exiting sleepers 0 "pp-exiting proc_flush_pid"
		echo 0 >/proc/sys/kernel/panic
		kill $exiter
		until_true 10 eval "echo 1 >$(sysfs sleepers enabled)"

		echo "== one that could not be noted, when all those before it were"
		echo 1003 >/proc/sys/kernel/panic
		echo 1 >$parameters/fault_exiting
		echo 1500 >$parameters/debug_ready_ms
		echo 0 >"$(sysfs sleepers timeout_ms)" # one attempt
		(echo 0 >"$(sysfs sleepers enabled)") 2>/tmp/error &
		disabler=$!
		usleep 500000
		exiter &
		exiter=$!
		wait $disabler && die "it was disabled"
		lacks "the task list" "$(cat /proc/$exiter/task/*/comm)" pp-exiting
		has "the error" "$(cat /tmp/error)" "Cannot allocate memory"
		same "state, enabled" "$(file sleepers state) $(file sleepers enabled)" "enabled 1"
		echo 0 >$parameters/debug_ready_ms
		echo 0 >$parameters/fault_exiting
		echo 0 >/proc/sys/kernel/panic
		kill $exiter
		echo 300 >"$(sysfs sleepers timeout_ms)"
		enabled sleepers 0

		echo "== idle tasks and stoppers"
		load always-busy
		blocked always-busy 1 "0 swapper/0 do_idle" " migration/0 cpu_stopper_thread"
		check_off skip_idle
		blocked always-busy 1 " migration/0 cpu_stopper_thread"
		lacks blocked_by "$(file always-busy blocked_by)" swapper
		check_on skip_idle
		check_off skip_stoppers
		blocked always-busy 1 "0 swapper/0 do_idle"
		lacks blocked_by "$(file always-busy blocked_by)" migration
		check_off skip_idle
		enabled always-busy 1
		check_on skip_idle
		blocked always-busy 0 "0 swapper/0 do_idle"
		check_on skip_stoppers
		blocked always-busy 0 " migration/0 cpu_stopper_thread"

		echo "== serialisation, counted"
		serialised() {
			dmesg | sed -n "s/.*proc_version: stopped.* serialised \([0-9]*\) .*/\1/p" |
				tail -n 1
		}
		enabled proc-version 1
		same serialised "$(serialised)" 4
		check_off skip_serialise
		enabled proc-version 0
		same serialised "$(serialised)" 0
		check_on skip_serialise
		enabled proc-version 1
		enabled proc-version 0
		same serialised "$(serialised)" 4

		echo "== code that was changed since the patch was loaded"
		modprobe pp_meddle symbol=version_proc_show offset=16
		(echo 1 >"$(sysfs proc-version enabled)") 2>/tmp/error && die "it was enabled"
		has "the error" "$(cat /tmp/error)" "Input/output error"
		check_off skip_verify
		enabled proc-version 1
		check_on skip_verify
		enabled proc-version 0
		rmmod pp_meddle

		echo "== both ways to look at a stack"
		cat $parameters/debug_cross_counts
		same missed "$(count missed)" 0
		[ "$(count agreed)" -ge 10 ] || die "they hardly ever agreed"
		enabled sleepers 1
		sleep_at 1001
		check_off skip_words
		echo 0 >"$(sysfs proc-version timeout_ms)"
		blocked proc-version 1 "$sleeper cat version_proc_show"
		check_on skip_words
		wake
		same missed "$(count missed)" 1
		enabled sleepers 0

		echo "== who owns a site"
		echo version_proc_show >$tracing/set_ftrace_filter
		enabled proc-version 1
		echo function >$tracing/current_tracer
		has /proc/version "$(cat /proc/version)" Live-patched
		echo nop >$tracing/current_tracer
		enabled proc-version 0
		lacks "the kernel log" "$(dmesg)" "ftrace bug"
		check_off skip_claim
		enabled proc-version 1
		echo function >$tracing/current_tracer || :
		has "the kernel log" "$(dmesg)" "ftrace bug"
	'
}

@test "only the debug build can be told to do wrong" {
	/sbin/modinfo -F parm "$(core_module core-debug)" | grep -q '^debug_skip_tasks:'
	run /sbin/modinfo -F parm "$(core_module core)"
	[ "$status" -eq 0 ]
	[[ $output == *ask_after_ms* && $output != *debug* && $output != *fault* ]]
}
