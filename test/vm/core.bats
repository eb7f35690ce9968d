# SPDX-License-Identifier: GPL-2.0-or-later
# What only the core module sees: images that no build tool makes, and its neighbours.

load helpers

example=$top/examples/proc-version.patch

@test "hostile images are refused, each for its reason" {
	local hostile=$BATS_TEST_TMPDIR/hostile
	with_patches "$example"
	mkdir "$hostile"
	# One with two callbacks.
	"$(test_program hostile)" "$(patch_module "$top/test/vm/patches/withdraw.patch")" "$hostile" \
		>"$hostile/cases"
	guest "${patched[@]}" --file "$hostile" --timeout 240 \
		--expect '^pokepatch: .* is refused: ' <<-'END'
		modprobe pokepatch
		while read -r case text; do
			echo "== $case"
			dmesg -c >/dev/null
			refused insmod "/root/hostile/$case.ko"
			dmesg | sed -n 's/.*pokepatch: //p' | sort -u >/tmp/said
			cat /tmp/said
			same "lines said" "$(wc -l </tmp/said)" 1
			has "what it said" "$(cat /tmp/said)" "$text"
			[ -z "$(ls -d $pokepatch/*/ 2>/dev/null)" ] || die "left in sysfs: $(ls $pokepatch)"
		done </root/hostile/cases
		[ "$(wc -l </root/hostile/cases)" -ge 50 ] || die "cases are missing"
		lacks "the loaded modules" "$(cat /proc/modules)" pokepatch_
		pokepatch load "$(patch_file proc-version)"
		has /proc/version "$(cat /proc/version)" Live-patched
		pokepatch unload proc-version
		rmmod pokepatch
	END
}

# switch_under ROUNDS - the example, switched off and on, and seen each time.
switches='
switch_rounds() {
	for _round in $(seq "$1"); do
		enabled proc-version 1
		has /proc/version "$(cat /proc/version)" Live-patched
		enabled proc-version 0
		lacks /proc/version "$(cat /proc/version)" Live-patched
	done
}
'

@test "next to the kernel's tracers" {
	with_patches "$example"
	# One processor: QEMU 7.2 can lose a change of code that another one makes just
	# as it translates it, and these tracers change 37,000 places.
	guest "${patched[@]}" --smp 1 --append preempt=full --timeout 400 <<<"$switches"'
		echo "== kretprobes, on the function and under it"
		# Before the patch is loaded: then there are two functions of that name.
		echo "r:pp/show version_proc_show" >$tracing/kprobe_events
		echo "r:pp/read vfs_read" >>$tracing/kprobe_events
		echo 1 >$tracing/events/pp/enable
		modprobe pokepatch-proc-version
		start_load cat /proc/version
		switch_rounds 10
		echo 0 >$tracing/events/pp/enable
		echo >$tracing/kprobe_events
		for tracer in function function_graph; do
			echo "== $tracer"
			echo $tracer >$tracing/current_tracer
			switch_rounds 3
			enabled proc-version 1
			echo nop >$tracing/current_tracer
			has /proc/version "$(cat /proc/version)" Live-patched
			enabled proc-version 0
		done
		stop_load
		pokepatch unload proc-version
	'
}

@test "kernel.ftrace_enabled cannot switch a patch off" {
	with_patches "$example"
	guest "${patched[@]}" --expect '^pokepatch: ftrace cannot be used' <<-'END'
		off() { echo 0 >/proc/sys/kernel/ftrace_enabled; }
		pokepatch load --mode ftrace "$(patch_file proc-version)"
		refused off
		has /proc/version "$(cat /proc/version)" Live-patched
		pokepatch unload proc-version
		off
		refused pokepatch load --mode ftrace "$(patch_file proc-version)"
		lacks /proc/version "$(cat /proc/version)" Live-patched

		echo "== the entry mode does not need it"
		pokepatch load "$(patch_file proc-version)"
		has /proc/version "$(cat /proc/version)" Live-patched
		echo 1 >/proc/sys/kernel/ftrace_enabled
		has /proc/version "$(cat /proc/version)" Live-patched
		off
		pokepatch disable proc-version
		lacks /proc/version "$(cat /proc/version)" Live-patched
		echo 1 >/proc/sys/kernel/ftrace_enabled
		echo ftrace >"$(sysfs proc-version vmlinux/version_proc_show,1/mode)"
		pokepatch enable proc-version
		has /proc/version "$(cat /proc/version)" Live-patched
		pokepatch unload proc-version
	END
}

@test "processors that come and go" {
	with_patches "$example"
	guest "${patched[@]}" --append preempt=full --timeout 240 <<<"$switches"'
		cpu() { echo "$2" >/sys/devices/system/cpu/cpu$1/online; }
		modprobe pokepatch-proc-version
		# Not start_load: its loops are bound to processors.
		readers=
		for _reader in 1 2 3 4; do
			while :; do cat /proc/version >/dev/null; done &
			readers="$readers $!"
		done
		for _round in 1 2 3; do
			for cpu in 1 2 3; do cpu $cpu 0; done
			for cpu in 1 2 3; do cpu $cpu 1; done
		done &
		hotplug=$!
		switch_rounds 20
		wait $hotplug
		switch_rounds 5
		kill $readers
		pokepatch unload proc-version
	'
}
