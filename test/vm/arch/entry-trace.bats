# SPDX-License-Identifier: GPL-2.0-or-later
# Tracing of functions over their patchable entries (trace_entry), which MIPS has:
# POKEPATCH_ARCH=mips64el bats test/vm/arch/entry-trace.bats, and the same with mips64r6el.

load ../helpers

setup() {
	[ -n "${arch_slots-}" ] || skip "not for $arch"
	with_core core
}

with_core() {
	guest_has=(--module "$(core_module "$1")" --module "$(test_module pp_slots)"
		--module "$(slots_patch 2)")
}

words=$(words entry-trace)

@test "functions are traced, with registers and without, and not any more" {
	guest "${guest_has[@]}" <<-END
		$words
		same "what is traced at first" "\$(cat \$file)" ""
		echo 1 >\$event/enable

		echo pp_slots:pp_slots_traced >\$file
		same "what is traced" "\$(cat \$file)" "pp_slots:pp_slots_traced plain 0"
		same "what it returns" "\$(cat \$param/traced)" 1
		echo "pp_slots:pp_slots_traced regs" >\$file
		same "what is traced then" "\$(cat \$file)" "pp_slots:pp_slots_traced regs 0"
		same "what it returns with registers" "\$(cat \$param/traced)" 1
		echo '!pp_slots:pp_slots_traced' >\$file
		same "what it returns afterwards" "\$(cat \$param/traced)" 1
		grep pp_slots_traced \$tracing/trace >/tmp/events
		cat /tmp/events
		same "its events" "\$(wc -l </tmp/events)" 2
		has "the first" "\$(grep nr_args=0 /tmp/events)" \
			"entry: pp_slots_traced [[]pp_slots] from traced_get+0x*/0x* [[]pp_slots] nr_args=0 args=0,0,0,0,0,0,0,0 sp=0"
		has "the second" "\$(grep nr_args=8 /tmp/events)" \
			"entry: pp_slots_traced [[]pp_slots] from traced_get+0x*/0x* [[]pp_slots] nr_args=8 args=11,22,33,44,55,66,77,88 sp=*[!0]*"

		# The first word, the deciding one, and what tells the form.
		echo pp_slots:pp_slots_value >\$file
		set -- \$(entry 1)
		same "what is loaded" "\$(echo \$1 | cut -c 1-4)" 3c01
		same "what decides, and the form" "\$2 \$3" "00206809 240c0001"
		echo pp_slots:pp_slots_value regs >\$file
		set -- \$(entry 1)
		same "what decides, and the other form" "\$2 \$3" "00206809 240c0000"
		echo '!*' >\$file
		same "the entry afterwards" "\$(entry 1)" "\$free"
		same "what is traced at last" "\$(cat \$file)" ""

		# Nothing is lost to those who called it.
		echo pp_slots:pp_slots_registers >\$file
		same "registers that are not kept" "\$(cat \$param/kept)" ""
		echo pp_slots:pp_slots_registers regs >\$file
		same "registers that are not kept, with registers" "\$(cat \$param/kept)" ""

		# Functions of the kernel; and the core goes while they are called.
		for function in vfs_read vfs_write do_sys_openat2 schedule; do
			echo "\$function regs" >\$file
		done
		cat \$file
		cat /proc/version >/dev/null
		grep -q "entry: vfs_read from " \$tracing/trace || die "no vfs_read"
		grep -q "entry: schedule from " \$tracing/trace || die "no schedule"
		echo 0 >\$event/enable
		rmmod pokepatch
		cat /proc/version >/dev/null
		modprobe pokepatch
		same "what is traced in the new one" "\$(cat \$file)" ""
	END
	cat "$guest_output"
}

@test "what cannot be traced is refused, in one line" {
	guest "${guest_has[@]}" --expect "pokepatch: trace_entry: " \
		--expect "pokepatch: slots_2: pp_slots_value cannot be switched" <<-END
		$words
		error "Invalid argument" "write one line" " "
		error "Invalid argument" "write one line" "a b"
		error "Invalid argument" "write one line" "!a regs"
		error "Invalid argument" "write one line" "*"
		error "Invalid argument" "write one line" "\$(printf 'vfs_read\nvfs_write')"
		error "Invalid argument" "write one line" "\$(head -c 2000 /dev/zero | tr '\0' a)"
		error "No such file" "there is no function no_such_function" no_such_function
		error "No such file" "there is no function 0x1" 0x1
		error "No such file" "there is no function jiffies" jiffies
		error "No such file" "there is no function pp_slots:no_such" pp_slots:no_such
		error "No such file" "vfs_read is not traced" '!vfs_read'
		error "Invalid argument" "write pp_slots:pp_slots_value" pp_slots_value
		# notrace, and assembly
		error "Invalid argument" "ktime_get_mono_fast_ns is not traced: it has no NOPs" ktime_get_mono_fast_ns
		error "Invalid argument" "memcpy is not traced: it has no NOPs" memcpy
		error "Invalid argument" "the tracer would trace itself" pokepatch:pp_mark_met
		twice=\$(awk '\$2 ~ /[tT]/ && NF == 3 { n[\$3]++ } END { for (f in n) if (n[f] > 1 && f ~ /^[a-z]+_init\$|_show\$/) { print f; exit } }' /proc/kallsyms)
		error "Invalid argument" "functions \$twice: write the address" "\$twice"
		# By its address it is.
		addr=\$(awk -v f="vfs_read" '\$3 == f { print \$1 }' /proc/kallsyms)
		echo "0x\$addr" >\$file
		same "by its address" "\$(cat \$file | cut -d ' ' -f 1)" vfs_read
		echo '!vfs_read' >\$file

		# Patches and tracing of one function exclude each other.
		modprobe pokepatch-slots-2
		enabled slots-2 1
		error "Device or resource busy" "pp_slots:pp_slots_value is not traced: patch slots_2 has its entry" \
			pp_slots:pp_slots_value
		enabled slots-2 0
		echo pp_slots:pp_slots_value >\$file
		traced=\$(cat \$param/words)
		dmesg -c >/dev/null
		if (echo 1 >"\$(sysfs slots-2 enabled)") 2>/tmp/error; then
			die "a patch of a traced function was enabled"
		fi
		has "the error" "\$(cat /tmp/error)" "Device or resource busy"
		dmesg | grep "slots_2: pp_slots_value cannot be switched in entry mode: it is being traced" ||
			die "the patch's line: \$(dmesg)"
		same "the words" "\$(cat \$param/words)" "\$traced"
		# It can be loaded then, too.
		rmmod pokepatch_slots_2
		modprobe pokepatch-slots-2
		echo '!*' >\$file
		enabled slots-2 1
		same "patched" "\$(cat \$param/value)" "2 2"
		enabled slots-2 0
		same "the entry" "\$(entry 1)" "\$free"

		# A probe has the entry, also one that is not armed: for patches, too.
		probe() { echo "\$1" >\$tracing/events/pp/first/enable; }
		echo "p:pp/first pp_slots:pp_slots_value" >\$tracing/kprobe_events
		probe 1
		error "Device or resource busy" "its entry is not free" pp_slots:pp_slots_value
		probe 0
		error "Device or resource busy" "its entry is not free" pp_slots:pp_slots_value
		refused sh -c "echo 1 >\$(sysfs slots-2 enabled)"
		probe 1
		same "with a probe" "\$(cat \$param/value)" "1 1"
		probe 0
		echo >\$tracing/kprobe_events
		echo pp_slots:pp_slots_value >\$file
		# One that comes later works, and keeps it from being taken back.
		echo "p:pp/first pp_slots:pp_slots_value" >\$tracing/kprobe_events
		probe 1
		same "with a probe, traced" "\$(cat \$param/value)" "1 1"
		error "Device or resource busy" "stays traced" '!pp_slots:pp_slots_value'
		probe 0
		echo >\$tracing/kprobe_events
		echo '!pp_slots:pp_slots_value' >\$file
		same "the entry at last" "\$(entry 1)" "\$free"

		# A module that goes takes its functions with it.
		echo pp_slots:pp_slots_traced >\$file
		echo vfs_read >\$file
		rmmod pokepatch_slots_2 pp_slots
		same "what is traced without it" "\$(cat \$file | cut -d ' ' -f 1)" vfs_read
		modprobe pp_slots
		same "what it returns" "\$(cat \$param/traced)" 1
		echo pp_slots:pp_slots_traced >\$file
		same "what it returns, traced" "\$(cat \$param/traced)" 1
		same "who can write the file" "\$(stat -c %a \$file)" 644
	END
	cat "$guest_output"
}

@test "on and off under callers on all processors, and each call is counted once" {
	guest --timeout 600 "${guest_has[@]}" --program "$(test_program perfcount)" <<-END
		$words
		functions="pp_slots:pp_slots_value pp_slots:pp_slots_held pp_slots:pp_slots_traced"
		# Clocks of emulated processors are apart; an event takes any number for its time.
		echo counter >\$tracing/trace_clock
		echo 64 >\$tracing/buffer_size_kb
		echo 1 >\$event/enable
		echo 1 >\$param/spin
		for round in \$(seq 100); do
			function=\$(echo \$functions | cut -d ' ' -f \$((1 + round % 3)))
			form=plain
			[ \$((round % 2)) = 0 ] || form=regs
			echo "\$function \$form" >\$file || die "round \$round: on"
			# The other form, while it is being called.
			echo "\$function regs" >\$file || die "round \$round: with registers"
			usleep 5000
			echo "!\$function" >\$file || die "round \$round: off"
			same "the entry, round \$round" "\$(entry 1)" "\$free"
		done
		echo 0 >\$param/spin
		[ "\$(events)" -gt 1000 ] || die "only \$(events) events"
		set -- \$(cat \$param/counts)
		echo "calls: \$*, events: \$(events)"
		same "other results" "\$2 \$3 \$4" "0 0 0"

		# From here on all of them; those of the function whose delay slot is on the next page, too.
		for function in \$functions; do echo "\$function" >\$file; done
		start=\$1
		echo >\$tracing/trace
		counted=\$(perfcount pokepatch/entry sh -c "echo 1 >\$param/spin; sleep 2; echo 0 >\$param/spin")
		set -- \$(cat \$param/counts)
		cat \$file
		same "missed" "\$(awk '{ n += \$3 } END { print n }' \$file)" 0
		same "calls that perf has counted" "\$counted" \$((\$1 - start))
		same "calls that are or were in the buffers" "\$(events)" \$((\$1 - start))
		[ "\$counted" -gt 1000 ] || die "only \$counted calls"
		echo "each of \$counted calls was counted"
		rmmod pokepatch
		same "the entry without the core" "\$(entry 1)" "\$free"
	END
	cat "$guest_output"
}

@test "who is held between the words of a traced entry is in the way" {
	needs preemption
	guest --timeout 300 "${guest_has[@]}" --expect "stays within its entry" <<-END
		$words
		echo -1 >/proc/sys/kernel/sched_rt_runtime_us
		echo 2 >\$param/hold
		until_true 60 grep -q held \$param/hold
		error "Device or resource busy" "(pp_slots_victim) stays within its entry" pp_slots:pp_slots_traced
		echo 0 >\$param/hold
		echo pp_slots:pp_slots_traced >\$file
		same "what is traced" "\$(cat \$file)" "pp_slots:pp_slots_traced plain 0"
		same "what it returns" "\$(cat \$param/traced)" 1
		# Off needs no look: who is held there meets a NOP.
		echo 2 >\$param/hold
		until_true 60 grep -q held \$param/hold
		echo '!*' >\$file
		echo 0 >\$param/hold
		set -- \$(cat \$param/counts)
		same "other results" "\$2 \$3 \$4" "0 0 0"
	END
	cat "$guest_output"
}

@test "control: without that look it calls what it has not loaded" {
	needs preemption
	with_core core-debug
	guest_fails 122 --timeout 300 "${guest_has[@]}" <<-END
		$words
		echo -1 >/proc/sys/kernel/sched_rt_runtime_us
		echo 1 >/sys/module/pokepatch/parameters/debug_skip_entries
		echo 2 >\$param/hold
		until_true 60 grep -q held \$param/hold
		echo pp_slots:pp_slots_traced >\$file
		echo 0 >\$param/hold
		sleep 1
	END
	grep -q "epc *== *0000000000000000" "$guest_log"
}

@test "the device, perf and tracefs tell of a traced entry's words" {
	guest "${guest_has[@]}" --program "$(test_program texthist)" <<-END
		$words
		# Processors with a clock each: all on one of them.
		can common-clock || taskset -p 1 \$\$ >/dev/null
		texthist agree sh -c "echo pp_slots:pp_slots_value >\$file; echo 'pp_slots:pp_slots_value regs' >\$file; echo '!*' >\$file"
	END
	cat "$guest_output"
	# Prepared (2), switched on, the other form, switched off, NOPs again (2).
	awk '/^text after/ { n[$3]++ } END { exit !(n["store"] == 6 && n["stop_machine"] == 1) }' "$guest_output"
}
