# SPDX-License-Identifier: GPL-2.0-or-later
# Jumps between functions of one section that the assembler made too short for a module: they go by
# way of a jump behind the function (build-tool/diff/stubs.c).

load helpers

@test "mutex_lock(), with its way to __mutex_lock_slowpath()" {
	with_patches "$top/test/vm/patches/mutex-lock.patch"
	guest "${patched[@]}" <<-'END'
		slow_hits() { awk '$1 == "slow" { print $2 }' $tracing/kprobe_profile; }
		# Several writers of one pipe.
		contended() {
			writers=
			for i in 1 2 3 4; do
				dd if=/dev/zero bs=64 count=5000 >/tmp/fifo 2>/dev/null &
				writers="$writers $!"
			done
			for writer in $writers; do wait $writer; done
			[ "$(slow_hits)" -gt 0 ]
		}
		mkfifo /tmp/fifo
		cat <>/tmp/fifo >/dev/null &
		reader=$!
		pokepatch load "$(patch_file mutex-lock)"
		echo 'p:slow __mutex_lock_slowpath' >$tracing/kprobe_events
		echo 1 >$tracing/events/kprobes/slow/enable
		until_true 10 contended
		kill $reader
		has "the log" "$(dmesg)" "pokepatch: a mutex is taken"
		echo 0 >$tracing/events/kprobes/slow/enable
		pokepatch unload mutex-lock
	END
}
