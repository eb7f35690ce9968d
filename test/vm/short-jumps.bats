# SPDX-License-Identifier: GPL-2.0-or-later
# Jumps between functions of one section that the assembler made too short for a module, or to
# where it knew their distance: they go by way of a jump behind the function
# (build-tool/diff/stubs.c), or have a relocation again.

load helpers

@test "mutex_lock(), with its way to __mutex_lock_slowpath()" {
	with_patches "$top/test/vm/patches/mutex-lock.patch"
	guest "${patched[@]}" <<-'END'
		slow_hits() { awk '$1 == "slow" { print $2 }' $tracing/kprobe_profile; }
		contended() { [ "$(slow_hits)" -gt 0 ]; }
		pokepatch load "$(patch_file mutex-lock)"
		echo 'p:slow __mutex_lock_slowpath' >$tracing/kprobe_events
		echo 1 >$tracing/events/kprobes/slow/enable

		# Two read from one open file in which there is nothing: the first has the mutex of its position,
		# for which the other waits.
		mkdir $tracing/instances/empty
		exec 3<$tracing/instances/empty/trace_pipe
		dd bs=1 count=1 <&3 &
		first=$!
		until_true 10 asleep_in $first tracing_read_pipe
		dd bs=1 count=1 <&3 &
		second=$!
		until_true 10 contended
		kill $first $second
		wait $first $second || :
		exec 3<&-
		rmdir $tracing/instances/empty
		has "the log" "$(dmesg)" "pokepatch: a mutex is taken"
		echo 0 >$tracing/events/kprobes/slow/enable
		pokepatch unload mutex-lock
	END
}
