# SPDX-License-Identifier: GPL-2.0-or-later
# Every allocation, every registration and every text write of the core is made to fail, one
# after the other, by the debug build (core-module/fault.c).  After each failure the system
# is as before, and the same thing works when it is tried again.

load helpers

patches=$top/test/vm/patches

words=$(words faults)

# Where the time is short, eight commits share the failures: one tries the first, the ninth and so on.
first_fault=1 every_fault=1
[ "${POKEPATCH_CHECK:-}" != short ] || first_fault=$("$top/test/eighth" --turn 1 2 3 4 5 6 7 8) every_fault=8

# fault_guest - run the script from standard input.  The insmod of busybox tries twice.
fault_guest() {
	guest "${patched[@]}" --program "$(test_program insmod)" --module dummy --timeout 550 \
		--expect '^pokepatch: ' < <(echo "nop=$arch_nop_bytes jump=$arch_jump_bytes" \
		"first_fault=$first_fault every_fault=$every_fault" && cat)
	grep -v '^  ' "$guest_output" | sed 's/^/# /' >&3
}

# What a test needs besides: options of the guest.
more=()

# at_once COMMAND... - all of them at the same time, since a guest keeps one processor busy.
at_once() {
	local command pids=() pid failed=0
	core=core-debug with_patches "$patches"/{agree-1,agree-2,dummy-setup,sleeper}.patch
	patched+=("${more[@]}")
	for command; do
		$command >"$BATS_TEST_TMPDIR/$command.log" 2>&1 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || failed=1
	done
	for command; do
		cat "$BATS_TEST_TMPDIR/$command.log"
	done
	[ $failed -eq 0 ]
}

switching() {
	fault_guest <<<"$words"'
		modprobe pokepatch
		each_fault load load_1 unload_1
		load_1
		# The first patch that is switched on has the core register with ftrace.
		on_first() { on_1; }
		off_last() { off_1 && unload_1 && load_1; }
		each_fault enable on_first off_last
		on_1
		each_fault disable off_1 on_1
		off_1
		each_fault unload unload_1 load_1 always
		if ! can near-modules; then
			unload_1
			echo 1 >$parameters/debug_far_entries
			load_on() { load_1 && { on_1 || { unload_1; return 1; }; }; }
			off_unload() { off_1 && unload_1; }
			each_fault "load and enable, by veneers" load_on off_unload
			echo 0 >$parameters/debug_far_entries
			load_1
		fi

		echo "== what is written cannot be read back: the history has the way there and back"
		there_and_back agree-1 stop_machine
		dmesg | grep "agree_1: the code at read_null+.* everything is put back"
		can single-jumps || put_back_before on_1

		echo "== without memory for it records are lost, and counted, and patches switched"
		echo history_chunk_create >$parameters/fault_in
		before=$(recorded)
		for _n in $(seq 12); do on_1; off_1; done
		echo >$parameters/fault_in
		has "what failed" "$(cat $parameters/fault_site)" "kvmalloc in history_chunk_create"
		for _n in $(seq 12); do on_1; off_1; done
		pokepatch history >/tmp/history
		grep -E "lost +[1-9]" /tmp/history
		# All numbers are used up, all records that are there are as good as ever.
		[ $(recorded) -gt $((before + 24 * 8)) ] || die "too few records: $(recorded)"
		dmesg -c >/dev/null

		echo "== and not be put back"
		# The first, and where a jump is one instruction the only, text that is written.
		echo $third >"$(sysfs agree-1 vmlinux/read_iter_null,1/mode)"
		echo 1 >$parameters/debug_stuck_text
		on_1 2>/dev/null && die "it was enabled"
		echo 0 >$parameters/debug_stuck_text
		dmesg >/tmp/log
		spaced() { echo $1 | sed "s/../& /g; s/ \$//"; }
		stuck() { grep "agree_1: the code at [a-z_]*null+0x.* is $(spaced $1), expected $(spaced $2): .*$3" /tmp/log; }
		if ! can single-jumps; then
			# It loads an address, and nothing leads there.
			stuck ....013c ....013c "some is not put back"
			stuck ....013c $nop "this cannot be put back"
			grep "the entry of [a-z_]*null is not released yet" /tmp/log
			unload_1
			refused rmmod pokepatch
			exit
		fi
		stuck $jump $jump "some is not put back"
		stuck $jump $nop "this cannot be put back"
		grep "agree_1: its module stays loaded" /tmp/log
		unload_1 2>/dev/null && die "the module went, with a jump into it"
		# ftrace must not take the site for its own.
		echo function >$tracing/current_tracer
		echo nop >$tracing/current_tracer
		dmesg | grep "ftrace bug" && die "ftrace met the jump"
		true
	'
}

stacking() {
	fault_guest <<<"$words"'
		modprobe pokepatch
		can near-modules || echo 1 >$parameters/debug_far_entries
		load_1
		/usr/bin/insmod "$(patch_file agree-2)"
		on_1
		each_fault "enable on top" on_2 off_2
		off_below() { off_1; }
		on_below() { off_2 && on_1 && on_2; }
		on_2
		each_fault "disable below" off_below on_below
		off_1
		replace() { # NEW OLD
			echo $2 >"$(sysfs $1 replace)" || return
			on $1 && return
			echo >"$(sysfs $1 replace)"
			return 1
		}
		replace_2() { replace agree-1 agree_2; }
		replace_1() { replace agree-2 agree_1; }
		each_fault replace replace_2 replace_1

		echo "== what is written in the stop, from one patch to another, cannot be put back"
		replace_2
		echo 1 >$parameters/debug_stuck_text
		on_2 2>/dev/null && die "it was enabled"
		echo 0 >$parameters/debug_stuck_text
		dmesg >/tmp/log
		grep "agree_2: the code at .* some is not put back" /tmp/log
		grep "agree_2: the code at .* this cannot be put back" /tmp/log
		grep "agree_2: its module stays loaded" /tmp/log
		unload agree-2 2>/dev/null && die "the module went, with a jump into it"
		true
	'
}

parents() {
	fault_guest <<<"$words"'
		core=$(modinfo -n pokepatch)
		nth=$((first_fault - every_fault))
		remember before
		while :; do
			nth=$((nth + every_fault))
			status=0
			/usr/bin/insmod $core fault_at=$nth 2>/dev/null || status=$?
			if [ $status -eq 0 ]; then
				site=$(cat $parameters/fault_site)
				rmmod pokepatch
				[ -n "$site" ] || break
			fi
			as before "after the core came with fault $nth"
		done
		echo "core: the last fault is before $nth"

		modprobe pokepatch
		/usr/bin/insmod "$(patch_file dummy-setup)"
		echo entry >"$(sysfs dummy-setup dummy/dummy_setup,1/mode)"
		on dummy-setup
		dummy() { /usr/bin/insmod $(modinfo -n dummy) && [ "$(cat /sys/class/net/dummy0/mtu)" = 1234 ]; }
		no_dummy() { rmmod dummy; }
		# The machine gets the module even so, and the function is switched in another mode.
		other_mode="claim in pp_claim_site"
		each_fault "parent comes" dummy no_dummy
		other_mode=
		dummy
		each_fault "parent goes" no_dummy dummy always
	'
}

tracers=$(words faults-tracers)

trouble() {
	local with_tracers=$tracers
	can ftrace || with_tracers=''
	fault_guest <<<"$words"$'\n'"modprobe pokepatch ask_after_ms=1 $with_tracers"'
		echo "== a task that is asked to leave"
		mkfifo /tmp/fifo
		/usr/bin/insmod "$(patch_file sleeper)"
		echo entry >"$(sysfs sleeper vmlinux/wait_for_partner,1/mode)"
		sleep_in_fifo
		on_sleeper() { on sleeper; }
		off_sleeper() { off sleeper; }
		each_fault "enable over a task" on_sleeper off_sleeper
		wake_up

		echo "== exiting tasks, of which none can be noted"
		echo 1 >$parameters/fault_exiting
		/bin/busybox true
		on sleeper
		/bin/busybox true
		echo 0 >$parameters/fault_exiting
		off sleeper
	'
}

@test "whatever fails when a patch comes, is switched on and off, is stacked or replaced, and goes" {
	at_once switching stacking
}

@test "whatever fails when patched modules or the core come and go, with a tracer, with a task in the way" {
	at_once parents trouble
}

@test "whatever fails when first instructions of a function are overwritten" {
	needs split-entries
	core=core-debug with_patches "$patches/readme-length.patch"
	fault_guest <<<"$words"'
		load_readme() { /usr/bin/insmod "$(patch_file readme-length)"; }
		unload_readme() { rmmod pokepatch-readme-length; }
		on_readme() { on readme-length; }
		off_readme() { off readme-length; }
		off_again() { off_readme && unload_readme && load_readme; }
		modprobe pokepatch
		each_fault load load_readme unload_readme
		load_readme
		# The copy of the instructions is made when the patch is enabled for the first time.
		each_fault enable on_readme off_again
		on_readme
		each_fault disable off_readme on_readme
		off_readme
	'
}

live() {
	fault_guest <<<"$words"'
		load_live() { load agree-1-live; }
		on_live() { on agree-1-live; }
		off_live() { off agree-1-live; }
		reset_live() { off_live && unload_when_free agree-1-live && load_live; }
		modprobe pokepatch
		load_live
		each_fault "enable live" on_live reset_live
		on_live
		each_fault "disable live" off_live on_live
		off_live
		method=int3
		can exact-live || method=store
		there_and_back agree-1-live $method
		dmesg | grep "agree_1_live: the code at read_null+.* everything is put back"
		dmesg | grep "agree_1_live: the code at read_null+.* nothing is switched"
		dmesg | grep "cannot be put back" && die "something was not put back"
		unload_when_free agree-1-live
		rmmod pokepatch
	'
}

watching() {
	fault_guest <<<"$words"'
		modprobe pokepatch
		modprobe pp_marks
		# probe register|unregister N NAME - and say whether that has worked.
		probe() {
			echo "$*" >/sys/module/pp_marks/parameters/do
			[ "$(dmesg | sed -n "s/.*pp_marks: $1: //p" | tail -n 1)" = 0 ]
		}
		register() { probe register 0 int_sqrt_entry && probe register 1 "*"; }
		unregister() {
			probe unregister 1 "*"
			probe unregister 0 int_sqrt_entry
		}
		load_marks() { /usr/bin/insmod "$(patch_file int-sqrt-marks)"; }
		unload_marks() { rmmod pokepatch-int-sqrt-marks; }
		# Of two probes the first stays if there is no memory for the second.
		both() { register || { unregister; return 1; }; }
		each_fault "register probes before their markers" both unregister
		each_fault "markers come" load_marks unload_marks
		register
		each_fault "markers with probes come" load_marks unload_marks
		unregister
		load_marks
		on int-sqrt-marks
		each_fault "register probes" both unregister
		event() { echo $1 >$tracing/events/pokepatch/marker/enable; }
		event_on() { event 1; }
		event_off() { event 0; }
		each_fault "the event is switched on" event_on event_off
		off int-sqrt-marks
		unload_marks
		rmmod pp_marks

		echo "== the text history"
		read_history() { dd if=/dev/pokepatch_history of=/dev/null bs=64k count=1 2>/dev/null; }
		each_fault "read the history" read_history true
		rmmod pokepatch
	'
}

# Where the core traces entries itself.
tracing() {
	fault_guest <<<"$words"'
		file=$pokepatch/trace_entry
		modprobe pp_slots
		modprobe pokepatch
		traced() { echo "$1" >$file; }
		on_plain() { traced pp_slots:pp_slots_value; }
		on_regs() { traced "pp_slots:pp_slots_value regs"; }
		off_traced() {
			traced "!pp_slots:pp_slots_value" && return
			# It has no function left to call, and the rest waits for the next time: on again.
			! grep -q "value stopping" $file || on_plain
			return 1
		}
		on_both() { on_plain && traced pp_slots:pp_slots_held; }
		off_both() {
			traced "!*" && return
			# One of them can do without the other.
			on_both
			return 1
		}
		remember before
		echo mips_trace_start >$parameters/fault_in
		on_plain 2>/dev/null && die "it is traced"
		has "what failed" "$(cat $parameters/fault_site)" "vmalloc_node_range in mips_trace_start"
		echo >$parameters/fault_in
		as before "without memory for what is called"
		# Of these all are tried at any time: what some of them leave in the log is looked for below.
		of_each="$first_fault $every_fault" first_fault=1 every_fault=1
		each_fault "trace a function" on_plain off_traced
		on_plain
		each_fault "end that" off_traced on_plain
		off_traced
		first_fault=${of_each% *} every_fault=${of_each#* }
		each_fault "trace a function, with registers" on_regs off_traced
		on_plain
		each_fault "trace it with registers" on_regs on_plain
		on_both
		each_fault "end all" off_both on_both
		off_both
		echo "== what is put back is in the history"
		put_back_before on_plain
		echo "== and in the log"
		dmesg | grep "trace_entry: the code at pp_slots_value+0x4/"
		dmesg | grep "value is not traced any more, but cannot be patched"
		rmmod pokepatch pp_slots
	'
}

@test "whatever fails in a live switch, where what was written is put back; of markers, of the history, of traced entries" {
	local module guests=(watching)
	module=$(patch_module lib/math/int_sqrt.c int-sqrt-marks --instrument --mark-functions int_sqrt)
	more=(--module "$module" --module "$(test_module pp_marks)")
	if can live; then
		module=$(patch_module "$patches/agree-1.patch" agree-1-live --transition live)
		more+=(--module "$module")
		guests+=(live)
	fi
	if [ -n "${arch_slots-}" ]; then
		more+=(--module "$(test_module pp_slots)")
		guests+=(tracing)
	fi
	at_once "${guests[@]}"
}

@test "whatever the core calls that can fail can be made to" {
	local name missing=''
	for name in $(grep -ohE '\b(k|kv|v)[a-z]*(alloc|dup|printf)[a-z_]*\(|\bvmap\(|\b(un)?register_[a-z_]*\(|\b[a-z]+_register\(|\b(ftrace_set|modify)_[a-z_]*\(|\b(kobject|sysfs)_(init|create)[a-z_]*\(|\balloc_[a-z]*\(|\btask_work_add\(|\btry_module_get\(' \
		"$top"/core-module/*.c "$top"/core-module/arch/*.c | tr -d '(' | sort -u); do
		case $name in
		unregister_* | pokepatch_register | vmalloc_to_page) continue ;;
		register_ftrace_direct) continue ;; # only a comment speaks of it
		direct_register) continue ;; # the core's own: what it calls is in the list
		vsnprintf) continue ;;
		kmalloc_node) continue ;; # made at any time; exiting_make() fails in its place
		esac
		grep -q "^#define $name(" "$top/core-module/fault.h" ||
			grep -q "PP_FAULT(\"$name\")" "$top"/core-module/*.c || missing+=" $name"
	done
	[ -z "$missing" ] || { echo "not in fault.h:$missing"; return 1; }
}
