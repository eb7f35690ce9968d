# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # other variables are those of guest/lib.sh and of the tests
# A script of faults.bats, behind faults.sh.

echo "== a tracer"
# Before the patch is there, which has a function of that name too.
echo read_null >"$tracing/set_ftrace_filter"
/usr/bin/insmod "$(patch_file agree-1)"
trace() { echo function >"$tracing/current_tracer"; }
no_trace() { echo nop >"$tracing/current_tracer"; }
# The core registers with ftrace for such a site, until the last patch goes.
on_traced() { no_trace && unload_1 && insmod_1 && on_1 && trace; }
insmod_1() { /usr/bin/insmod "$(patch_file agree-1)"; }
on_1
trace
each_fault "disable with a tracer" off_1 on_traced
no_trace
off_1

echo "== a probe, or a tracer, that leaves before ftrace has written a site that was given back"
address=$(awk '$3 == "read_null" && !$4 { print "0x" $1 }' /proc/kallsyms)
echo entry >"$(sysfs agree-1 vmlinux/read_null,1/mode)"
remember before
on_1
if can entry-probes; then
	probe_entry() { echo "p:pp/entry $address" >"$tracing/kprobe_events"; }
	unguarded probe_entry
	echo 1 >"$tracing/events/pp/enable"
else
	trace
fi
echo pp_ftrace_update >"$parameters/fault_in"
off_1
has "what failed" "$(cat "$parameters/fault_site")" " in pp_ftrace_update"
on_1 2>/dev/null && die "nobody can have that site now"
has "the log" "$(dmesg)" "read_null cannot be switched in entry mode: the core could not release it"
if can entry-probes; then
	echo 0 >"$tracing/events/pp/enable"
	echo >"$tracing/kprobe_events"
else
	no_trace
fi
echo >"$parameters/fault_in"
as before "when it has gone"
on_1
off_1
# ftrace still counts right.
trace
cat /dev/null
no_trace
as before "after a tracer"
unload_1
