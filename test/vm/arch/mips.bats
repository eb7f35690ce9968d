# SPDX-License-Identifier: GPL-2.0-or-later
# What only MIPS has: entries of several words.  Not among the tests of x86-64:
# POKEPATCH_ARCH=mips64el bats test/vm/arch/mips.bats, and the same with mips64r6el.

load ../helpers

setup() {
	[ -n "${arch_slots-}" ] || skip "not for $arch"
	with_core "${core:-core}"
}

# with_core VARIANT - set $patched to the options of a guest that has the core, the test module and
# two patches of it.
with_core() {
	patched=(--module "$(core_module "$1")" --module "$(test_module pp_slots)"
		--module "$(slots_patch 2)" --module "$(slots_patch 3)")
}

words=$(words mips)

@test "every entry of the kernel is inside its function" {
	run -0 "$top/build/bin/pokepatch-as" --check --slots "$arch_slots" \
		"${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$(kernel_release)/dbg/usr/lib/debug/boot/vmlinux-$(kernel_release)"
	say "$output"
	[ "${output%% *}" -gt 10000 ]
}

@test "a module of this kernel: entries with as many slots, its own release's jumps" {
	cd "$BATS_TEST_TMPDIR"
	cp "$(patch_module "$top/examples/proc-version.patch")" x.ko
	"${cross}objdump" -dzr --no-show-raw-insn x.ko --disassemble=version_proc_show >code
	awk '/^ / && /^ *[0-9a-f]+:\t/ { if ($2 != "nop") exit; n++ } END { print n + 0 }' code >slots
	[ "$(cat slots)" -eq "$arch_slots" ]
	# Nothing is in their reach for sure: modules are in another segment than the kernel.
	run -1 grep -E 'R_MIPS_(26|PC2[16])[^.]* (seq_|.*printk)' code
}

@test "on, off, stacked and replaced, called all the time" {
	guest --timeout 300 "${patched[@]}" <<-END
		$words
		nops=\$(cat \$param/words)
		echo 1 >\$param/spin
		for round in \$(seq 20); do
			enabled slots-2 1
			value 2
			enabled slots-3 1
			value 3
			enabled slots-3 0
			value 2
			enabled slots-2 0
			value 1
			enabled slots-2 1
			echo slots_2 >"\$(sysfs slots-3 replace)"
			enabled slots-3 1
			value 3
			same "the replaced one" "\$(cat "\$(sysfs slots-2 enabled)")" 0
			enabled slots-3 0
			value 1
			same "the entries" "\$(cat \$param/words)" "\$nops"
		done
		enabled slots-3 1
		same "the mode" "\$(cat \$pokepatch/slots_3/pp_slots/pp_slots_held,1/mode)" entry
		cat \$param/words
		sleep 1
		enabled slots-3 0
		echo 0 >\$param/spin
		set -- \$(cat \$param/counts)
		echo "\$*"
		same "other results" "\$4" 0
		[ "\$1" -gt 1000 ]
		[ "\$2" -gt 1000 ]
		[ "\$3" -gt 1000 ]
		rmmod pokepatch_slots_2 pokepatch_slots_3 pp_slots pokepatch
	END
	cat "$guest_output"
}

@test "a parent that comes later, and one that goes" {
	guest "${patched[@]}" <<-END
		$words
		enabled slots-2 1
		rmmod pp_slots
		modprobe pp_slots
		value 2
		enabled slots-3 1
		value 3
		rmmod pp_slots
		modprobe pp_slots
		value 3
		enabled slots-3 0
		value 2
		enabled slots-2 0
		value 1
	END
}

@test "the words are written one by one, the deciding one last, while all call" {
	with_core core-debug
	guest --timeout 300 "${patched[@]}" <<-END
		$words
		echo 100 >\$debug/debug_entry_ms
		echo 1 >\$param/spin
		for round in 1 2 3 4 5; do
			enabled slots-2 1
			value 2
			enabled slots-2 0
			value 1
		done
		echo 0 >\$param/spin
		set -- \$(cat \$param/counts)
		same "other results" "\$3 \$4" "0 0"
	END
}

@test "control: with the deciding word first, calls jump to what was not loaded" {
	with_core core-debug
	# One processor: others that die, while it does, would keep it from saying so.
	guest_fails 122 --smp 1 --timeout 300 "${patched[@]}" <<-END
		$words
		echo 100 >\$debug/debug_entry_ms
		echo 1 >\$debug/debug_decide_first
		echo 1 >\$param/spin
		enabled slots-2 1
	END
	grep -q "epc *== *0000000000000000" "$guest_log"
}

@test "who is held between an entry's words is in the way" {
	needs preemption
	guest --timeout 300 "${patched[@]}" <<-END
		$words
		echo 500 >"\$(sysfs slots-2 timeout_ms)"
		hold
		refused_as_busy slots-2 1
		value 1
		echo 0 >\$param/hold
		enabled slots-2 1
		value 2
		hold
		refused_as_busy slots-2 0
		refused_as_busy slots-3 1
		value 2
		echo 0 >\$param/hold
		enabled slots-2 0
		value 1
		set -- \$(cat \$param/counts)
		same "other results" "\$3 \$4" "0 0"
	END
}

@test "control: without the check of entries it jumps by what it had loaded before" {
	needs preemption
	with_core core-debug
	guest_fails 122 --timeout 300 "${patched[@]}" <<-END
		$words
		echo 1 >\$debug/debug_skip_entries
		hold
		enabled slots-2 1
		value 2
		echo 0 >\$param/hold
		sleep 1
	END
	grep -q "epc *== *0000000000000000" "$guest_log"
}

probes='
# An event of tracefs: its probe is there from now on, and armed when the event is enabled.
probe() { # NAME PLACE
	echo "p:pp/$1 pp_slots:$2" >>$tracing/kprobe_events
}
armed() { echo $2 >$tracing/events/pp/$1/enable; }
unprobe() {
	armed $1 0
	echo "-:pp/$1" >>$tracing/kprobe_events
}
# refused_for_probe NAME VALUE - and the log says where it is.
refused_for_probe() {
	dmesg -c >/dev/null
	if (echo "$2" >"$(sysfs "$1" enabled)") 2>/tmp/error; then
		die "$1: enabled=$2 was accepted"
	fi
	has "the error" "$(cat /tmp/error)" "Device or resource busy"
	has "the log" "$(dmesg)" "a probe is at pp_slots_value+"
}
'

@test "a probe that is not armed yet has a copy of its word, which stays as it is" {
	guest --expect 'a probe is at pp_slots_value' \
		--expect 'a tracer, a probe or another' "${patched[@]}" <<-END
		$words$probes
		echo "== while the patch is on: the address cannot change, calls can be switched off"
		enabled slots-2 1
		# The upper half may be the same for both.
		probe address pp_slots_value+4
		refused_for_probe slots-3 1
		value 2
		enabled slots-2 0
		value 1
		refused_for_probe slots-3 1
		value 1
		enabled slots-2 1
		armed address 1
		value 2
		enabled slots-2 0
		value 1
		unprobe address
		enabled slots-3 1
		value 3
		enabled slots-3 0

		echo "== at the deciding word, while it is a NOP"
		probe decides pp_slots_value+8
		(echo 1 >"\$(sysfs slots-2 enabled)") 2>/dev/null && die "a probed entry was taken"
		unprobe decides
		enabled slots-2 1
		value 2
	END
}

@test "a probe that has a copy of the jump: the patch stays on, as long as it is there" {
	needs jump-probes
	guest --expect 'a probe is at pp_slots_value' "${patched[@]}" <<-END
		$words$probes
		enabled slots-2 1
		probe decides pp_slots_value+8
		refused_for_probe slots-2 0
		refused_for_probe slots-3 1
		armed decides 1
		value 2
		refused_for_probe slots-2 0
		unprobe decides
		enabled slots-2 0
		value 1

		echo "== in the delay slot of the jump, which a NOP has none of"
		enabled slots-2 1
		probe first pp_slots_value
		enabled slots-2 0
		probe slot pp_slots_value+12
		armed slot 1
		refused_for_probe slots-2 1
		value 1
		unprobe slot
		enabled slots-2 1
		value 2
		unprobe first
	END
}

@test "control: without the look for probes, a call jumps by that copy" {
	needs jump-probes
	with_core core-debug
	guest_fails 122 "${patched[@]}" <<-END
		$words$probes
		echo 1 >\$debug/debug_skip_probed
		enabled slots-2 1
		probe decides pp_slots_value+8
		enabled slots-2 0
		value 1
		armed decides 1
		cat \$param/value
	END
	# The entry is NOPs again, and what is in $at is anything.
	grep -q "ra *:.* value_get" "$guest_log"
}

@test "the device, perf and tracefs tell of the same changes of words" {
	guest "${patched[@]}" --program "$(test_program texthist)" <<-END
		$words
		set_to() { echo "echo \$2 >\$(sysfs \$1 enabled) || exit 1"; }
		can common-clock || taskset -p 1 \$\$ >/dev/null
		texthist agree sh -c "\$(set_to slots-2 1); \$(set_to slots-3 1); \$(set_to slots-3 0); \$(set_to slots-2 0)" >/tmp/agree
		cat /tmp/agree
	END
	cat "$guest_output"
	# Prepared, switched; to another address; back; off, and NOPs again: of each function.
	awk '/^text after/ { n[$3]++ } END { exit !(n["store"] >= 4 && n["stop_machine"] >= 4) }' "$guest_output"
}

@test "sparse: every way out of a function of the core lets go of its locks" {
	sparse_core
}
