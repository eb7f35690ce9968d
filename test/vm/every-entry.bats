# SPDX-License-Identifier: GPL-2.0-or-later
# Entry mode is possible at every entry that ftrace has, wherever it lies: the debug build of the
# core writes all of vmlinux's at once, and puts them back (core-module/every_entry.c).

load helpers

@test "all entries of vmlinux become jumps in one stop, and NOPs again" {
	needs split-entries
	core=core-debug with_patches "$top/examples/proc-version.patch"
	guest "${patched[@]}" --memory 1024 --timeout 400 <<-'END'
		parameter=/sys/module/pokepatch/parameters/debug_every_entry
		# number WHAT - of what the core has counted.
		number() { echo "$every" | sed "s/.*\<$1 \([0-9]*\).*/\1/"; }
		modprobe pokepatch
		# ftrace lists functions that others have replaced under a name that it makes up.
		listed=$(grep -v "\[" $tracing/available_filter_functions | grep -vc __ftrace_invalid_address)
		used=$(grep -vc "\[" $tracing/enabled_functions || :)
		for _round in 1 2 3; do
			every=$(cat $parameter)
			echo "$listed listed, $used used: $every"
			same "entries" "$(number entries)" "$listed"
			same "entries without a user" "$(number free)" $((listed - used))
			same "entries written" "$(number written)" "$(number free)"
			same "entries that are no NOPs afterwards" "$(number bad)" 0
		done
		# Across cache lines and pages: nmi.bats.  A kernel may align all functions to 16 bytes.
		[ "$(number words)" -gt 0 ] || die "no entry lies across words"

		echo "== ftrace still works, at each of them"
		for tracer in function function_graph; do
			echo $tracer >$tracing/current_tracer
			cat /proc/version >/dev/null
			echo 0 >$tracing/tracing_on
			grep -q version_proc_show $tracing/trace || die "$tracer does not see a call"
			echo nop >$tracing/current_tracer
			echo 1 >$tracing/tracing_on
		done
		pokepatch load --mode entry "$(patch_file proc-version)"
		has /proc/version "$(cat /proc/version)" Live-patched
		pokepatch unload proc-version
		lacks "the kernel log" "$(dmesg)" "ftrace bug"
		rmmod pokepatch
	END
	say "$(grep listed "$guest_output" | tail -n 1)"
}
