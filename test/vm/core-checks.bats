# SPDX-License-Identifier: GPL-2.0-or-later
# Each check that a switch depends on, with and without it: the debug build of the core has
# a switch for each, and does the wrong thing when it is used.

load helpers

patches=$top/test/vm/patches

words=$(words core-checks)

@test "without one of the checks, functions are switched under those who run them" {
	core=core-debug with_patches "$patches/sleepers.patch" "$top/examples/proc-version.patch"
	! can stoppers || patched+=(--module "$(patch_module "$patches/always-busy.patch")")
	! can unwinder || patched+=(--expect 'the unwinder has found 1 busy stacks')
	! can ftrace || patched+=(--expect ' ftrace_(verify_code|bug)[+]'
		--expect '^ *(actual|expected)( tramp)?: ' --expect '^ *[(]1[)]')
	guest "${patched[@]}" --program "$(test_program exiter)" --module "$(test_module pp_meddle)" \
		--timeout 240 \
		--expect '^pokepatch: proc_version is refused: the code of version_proc_show at [+]0x' \
		-- "${arch_instructions[2]}" "$arch_steps" <<<"$words"'
		steps=$2
		modprobe pokepatch dyndbg=+p
		! can unwinder || check_off cross_check # on, that is
		load sleepers
		load proc-version
		enabled sleepers 1

		echo "== tasks"
		sleep_at 1001
		matters skip_tasks proc-version 1 "$sleeper cat version_proc_show"
		wake
		enabled proc-version 0

		if can cold-parts; then
			echo "== cold parts"
			sleep_at 1002
			has stack "$(cat /proc/$sleeper/stack)" version_proc_show.cold
			matters skip_cold proc-version 1 "$sleeper cat version_proc_show"
			kill -9 $sleeper
			wake
			enabled proc-version 0
		fi

		echo "== return addresses that a kretprobe has replaced"
		echo "r:pp/hidden schedule_timeout_uninterruptible" >>$tracing/kprobe_events
		echo 1 >$tracing/events/pp/hidden/enable
		sleep_at 1001 uninterruptibly
		if can unwinder; then
			stale=$(count stale)
			blocked proc-version 1 "$sleeper cat version_proc_show"
			same "stacks that only the words show" "$(count stale)" "$stale"
		fi
		matters skip_returns proc-version 1 "$sleeper cat version_proc_show"
		! can unwinder || [ "$(count stale)" -gt "$stale" ] || die "the words do not show it either"
		wake
		stop_hits
		enabled proc-version 0

		if can ftrace; then
			echo "== return addresses that the graph tracer has replaced"
			echo schedule_timeout_uninterruptible >$tracing/set_ftrace_filter
			echo function_graph >$tracing/current_tracer
			sleep_at 1001
			matters skip_returns proc-version 1 "$sleeper cat version_proc_show"
			wake
			echo nop >$tracing/current_tracer
			echo >$tracing/set_ftrace_filter
			enabled proc-version 0
		fi

		echo "== exiting tasks: the stop leaves out those that hang and have not run"
		echo 1003 >/proc/sys/kernel/panic
		exiters=
		for _n in $(seq 60); do
			exiter &
			exiter=$!
			exiters="$exiters $exiter"
			exiting
		done
		walks_few() {
			enabled proc-version $((1 - $(file proc-version enabled)))
			_walked=$(dmesg | sed -n "s/.* proc_version: stopped .* walked \([0-9]*\) stacks.*/\1/p" | tail -n 1)
			[ "$_walked" -lt 50 ]
		}
		# After a second they are no longer among the recent ones.
		until_true 5 walks_few
		echo "$_walked stacks"
		echo 1 >$parameters/debug_walk_all
		walks_few || :
		threads=$(ls -d /proc/[0-9]*/task/* | wc -l)
		[ "$_walked" -ge $((threads + 50)) ] || die "only $_walked of all stacks, of $threads threads and 60"
		echo 0 >$parameters/debug_walk_all
		[ $(file proc-version enabled) = 0 ] || enabled proc-version 0
		echo 0 >/proc/sys/kernel/panic
		kill $exiters

		echo "== exiting tasks"
		echo 1003 >/proc/sys/kernel/panic
		exiter &
		exiter=$!
		exiting
		matters skip_exiting sleepers 0 "pp-exiting proc_flush_pid"
		echo 0 >/proc/sys/kernel/panic
		kill $exiter
		until_true 10 eval "echo 1 >$(sysfs sleepers enabled)"

		echo "== one that could not be noted, when all those before it were"
		echo 1003 >/proc/sys/kernel/panic
		echo 1 >$parameters/fault_exiting
		pause_at ready
		echo 0 >"$(sysfs sleepers timeout_ms)" # one attempt
		(echo 0 >"$(sysfs sleepers enabled)") 2>/tmp/error &
		disabler=$!
		until_true 20 has_paused
		exiter &
		exiter=$!
		exiting
		go_on_at ready
		wait $disabler && die "it was disabled"
		has "the error" "$(cat /tmp/error)" "Cannot allocate memory"
		same "state, enabled" "$(file sleepers state) $(file sleepers enabled)" "enabled 1"
		echo 0 >$parameters/fault_exiting
		echo 0 >/proc/sys/kernel/panic
		kill $exiter
		echo 300 >"$(sysfs sleepers timeout_ms)"
		enabled sleepers 0

		if can idle-frames; then
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
		elif can stoppers; then
			echo "== stoppers"
			load always-busy
			matters skip_stoppers always-busy 1 " migration/0 cpu_stopper_thread"
			matters skip_stoppers always-busy 0 " migration/0 cpu_stopper_thread"
		fi

		echo "== serialisation, counted"
		times=$(((steps ? steps : 1) * $(nproc)))
		serialised() {
			dmesg | sed -n "s/.*proc_version: stopped.* serialised \([0-9]*\) .*/\1/p" |
				tail -n 1
		}
		enabled proc-version 1
		same serialised "$(serialised)" $times
		check_off skip_serialise
		enabled proc-version 0
		same serialised "$(serialised)" 0
		check_on skip_serialise
		enabled proc-version 1
		enabled proc-version 0
		same serialised "$(serialised)" $times

		echo "== code that was changed since the patch was loaded"
		modprobe pp_meddle symbol=version_proc_show offset=$1
		(echo 1 >"$(sysfs proc-version enabled)") 2>/tmp/error && die "it was enabled"
		has "the error" "$(cat /tmp/error)" "Input/output error"
		check_off skip_verify
		enabled proc-version 1
		check_on skip_verify
		enabled proc-version 0
		rmmod pp_meddle

		if can unwinder; then
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
		fi

		if can ftrace; then
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
		fi
	'
}

# Does the kernel warn when it is asked for the return addresses of a task that is ready to run?
# Linux 6.1 does; in later versions the function's only warning is about a cursor of NULL.
warns_of_ready() {
	local vmlinux
	vmlinux=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$(kernel_release)/dbg/usr/lib/debug/boot/vmlinux-$(kernel_release)
	[ "$("${cross}objdump" -d --disassemble=rethook_find_ret_addr "$vmlinux" | grep -cw ud2)" -gt 1 ]
}

@test "without one of the others, functions are switched under those who run them" {
	core=core-debug with_patches "$patches"/{sleepers,sleeper,thread-exit,flock-body,escape}.patch \
		"$top/examples/proc-version.patch"
	! can live || patched+=(--module
		"$(patch_module "$patches/sleeper.patch" sleeper-live --transition live)")
	! can livepatch || patched+=(--module "$(test_module pp_flush)")
	! can unwinder || patched+=(--module "$(test_module pp_stacks)")
	local warns=no
	if can unwinder && warns_of_ready; then
		warns=yes
		patched+=(--expect rethook_find_ret_addr)
	fi
	! can bpf || patched+=(--program "$(test_program bpf-attach)")
	! can ftrace || patched+=(--expect ' __ftrace_hash_rec_update')
	guest "${patched[@]}" --module "$(patch_module "$patches/flock-body.patch" flock-top)" \
		--module "$(test_module pp_icount)" \
		--program "$(test_program exiter)" --program "$(test_program flocker)" \
		--timeout 400 -- "${arch_instructions[0]}" "$warns" <<<"$words"'
		instruction=$1 warns=$2
		core_is() { grep -q "^pokepatch .* $1 " /proc/modules; }
		flush=/sys/module/pp_flush/parameters/hold

		earlier() {
			echo "== tasks that began to exit before the core came"
			modprobe pp_flush
			until_true 60 grep -q 0 /sys/kernel/livepatch/pp_flush/transition
			echo 1 >$flush
			exit_at 0
			modprobe pokepatch &
			sleep 2
			core_is Loading || die "the core did not wait"
			echo 0 >$flush
			wait $!
			core_is Live
			rmmod pokepatch
			exited
			# Optimising the probe of what others write takes a grace period that the task holds up.
			echo 0 >/proc/sys/debug/kprobes-optimization
			echo 1 >$flush
			exit_at 0
			modprobe pokepatch debug_skip_earlier=1
			load thread-exit 0
			enabled thread-exit 1
			echo "without skip_earlier, it was switched under: $(cat /proc/$exiter/task/*/comm)"
			echo 0 >$flush
			enabled thread-exit 0
			rmmod pokepatch_thread_exit pokepatch
			exited
			echo 0 >/sys/kernel/livepatch/pp_flush/enabled
			echo 1 >/proc/sys/debug/kprobes-optimization
		}
		! can livepatch || earlier

		modprobe pokepatch
		echo 0 >$parameters/ask_after_ms
		for patch in sleepers sleeper thread-exit proc-version flock-body flock-top escape; do
			load $patch 0
		done
		! can livepatch || until_true 60 rmmod pp_flush 2>/dev/null
		enabled sleepers 1
		mkfifo /tmp/fifo

		echo "== the old function"
		sleep_in_fifo
		matters skip_old sleeper 1 "$sleeper cat wait_for_partner"
		wake_up

		echo "== the new function, which is in the text of the module too"
		sleep_in_fifo
		in_way="$sleeper cat wait_for_partner"
		blocked sleeper 0 "$in_way"
		check_off skip_text
		blocked sleeper 0 "$in_way"
		check_on skip_text
		check_off skip_new
		blocked sleeper 0 "$in_way"
		check_off skip_text
		enabled sleeper 0
		check_on skip_text
		check_on skip_new
		wake_up

		if can tail-calls; then
			echo "== the rest of that text, where a task came by a jump"
			echo 1004 >/proc/sys/kernel/panic
			cat /proc/version >/dev/null &
			sleeper=$!
			until_true 10 asleep_in $sleeper sleep_elsewhere
			lacks stack "$(cat /proc/$sleeper/stack)" version_proc_show
			matters skip_text sleepers 0 "$sleeper cat sleep_elsewhere"
			wake
			enabled sleepers 1
		fi

		echo "== the function of the patch on top"
		sleep_at 1001
		matters skip_top proc-version 1 "$sleeper cat version_proc_show"
		wake
		enabled proc-version 0

		if can tail-calls; then # else those who call it are on the stack, and in the way, too
			echo "== a carried function, of the patch below"
			enabled flock-body 1
			flocker /tmp/file >/tmp/first &
			first=$!
			until_true 10 grep -q locked /tmp/first
			flocker /tmp/file >/tmp/second &
			second=$!
			until_true 10 asleep_in $second flock
			matters skip_carried flock-top 1 "$second flocker __do_sys_flock"
			kill $second $first
			wait $second || :
			enabled flock-top 0
		fi

		echo "== a call that is the last instruction of a function"
		exit_at 1003
		matters skip_last_calls thread-exit 1 "pp-exiting *sys_exit"
		exited
		enabled thread-exit 0

		echo "== a task that has run since its stack was seen"
		echo 1001 >/proc/sys/kernel/panic
		for check in on off; do
			# One task: it runs while the core waits, and then reads.
			pause_at stop
			(
				until_true 20 has_paused
				read -r _line </proc/version
			) &
			sleeper=$!
			(
				until_true 30 asleep_in $sleeper version_proc_show
				go_on_at stop
			) &
			if [ $check = on ]; then
				blocked proc-version 1 "$sleeper sh version_proc_show"
			else
				check_off skip_runs
				enabled proc-version 1
				check_on skip_runs
			fi
			asleep_in $sleeper version_proc_show || die "it does not run it"
			wake
			echo 1001 >/proc/sys/kernel/panic
		done
		echo 0 >/proc/sys/kernel/panic
		enabled proc-version 0

		echo "== tasks for which there was no room"
		sleep_at 1001
		check_off no_room # on, that is
		(echo 1 >"$(sysfs proc-version enabled)") 2>/dev/null && die "it was enabled"
		same "enabled, blocked_by" "$(file proc-version enabled)$(file proc-version blocked_by)" 0
		check_off skip_unlisted
		enabled proc-version 1
		check_on skip_unlisted
		check_on no_room
		wake
		enabled proc-version 0

		echo "== an exiting task that could not be noted"
		echo 1003 >/proc/sys/kernel/panic
		echo 1 >$parameters/fault_exiting
		pause_at ready
		check_off skip_lost
		echo 0 >"$(sysfs sleepers enabled)" &
		disabler=$!
		until_true 20 has_paused
		exiter &
		exiter=$!
		exiting
		go_on_at ready
		wait $disabler
		same enabled "$(file sleepers enabled)" 0
		check_on skip_lost
		echo 0 >$parameters/fault_exiting

		echo "== while the core catches up with it, nobody waits who need not"
		enabled sleepers 1 &
		waits=$!
		sleep 1
		kill -0 $waits
		modprobe pp_icount
		rmmod pp_icount
		echo escape >"$(sysfs proc-version replace)"
		echo >"$(sysfs proc-version replace)"
		kill -0 $waits || die "it did not wait"
		exited
		wait $waits
		same enabled "$(file sleepers enabled)" 1

		if can bpf; then
			echo "== a return address in a trampoline of BPF"
			sleep_at 1001
			bpf-attach fexit schedule_timeout_uninterruptible /tmp/count &
			bpf=$!
			until_true 20 test -e /tmp/count
			until_true 20 grep -q -v "^0" /tmp/count
			matters skip_unreliable proc-version 1 "$sleeper cat ?unreliable-stack?"
			kill $bpf
			wait $bpf || :
			wake
			enabled proc-version 0
		fi

		if can unwinder; then
			echo "== tasks that are ready to run, with a kretprobe on the stack"
			echo "r:pp/ready seq_read_iter" >>$tracing/kprobe_events
			echo 1 >$tracing/events/pp/ready/enable
			echo 1005 >/proc/sys/kernel/panic
			taskset -c 1 cat /proc/version >/dev/null &
			first=$!
			taskset -c 1 cat /proc/version >/dev/null &
			second=$!
			sleep 1
			check_off cross_check # on, that is
			unknown=$(count unknown)
			blocked sleeper 1 "cat ?unreliable-stack?"
			[ "$(count unknown)" -gt "$unknown" ] || die "the kernel was asked"
			lacks "the log" "$(dmesg)" rethook_find_ret_addr
			# The kernel cannot tell, and may warn.
			check_off skip_ready
			unknown=$(count unknown)
			blocked sleeper 1 "cat ?unreliable-stack?"
			same "stacks that it was not asked about" "$(count unknown)" "$unknown"
			check_on skip_ready
			case $warns in
			yes) has "the log" "$(dmesg)" rethook_find_ret_addr ;;
			no) lacks "the log" "$(dmesg)" rethook_find_ret_addr ;;
			esac
			check_on cross_check
			echo 0 >/proc/sys/kernel/panic
			wait $first $second
			stop_hits
		fi

		if can unwinder; then
			echo "== where a task was interrupted"
			busy=$(printf 0x%x $(($(file proc-version vmlinux/version_proc_show,1/old_addr) + instruction)))
			stack_at() { # ADDRESS
				modprobe pp_stacks busy=$busy at=$1
				until_true 10 grep -q Y /sys/module/pp_stacks/parameters/waiting
			}
			unreliable="pp_stacks ?unreliable-stack?"
			# For a page of copies of probed instructions; in a function that is patched.
			probe_slot() { echo "p:pp/slot $busy" >>$tracing/kprobe_events; }
			unguarded probe_slot
			echo 1 >$tracing/events/pp/slot/enable
			for place in __x86_return_thunk __x86_indirect_thunk_rax ftrace_caller return_to_handler \
				srso_alias_safe_ret arch_rethook_trampoline kprobe_insn_page; do
				address=$(awk -v name=$place "\$3 == name { print \"0x\" \$1; exit }" /proc/kallsyms)
				[ -n "$address" ] || die "there is no $place"
				stack_at $address
				echo "$place at $address"
				blocked proc-version 1 "$unreliable"
				rmmod pp_stacks
			done
			stop_hits
			stack_at $(awk "\$3 == \"__x86_return_thunk\" { print \"0x\" \$1 }" /proc/kallsyms)
			matters skip_places proc-version 1 "$unreliable"
			rmmod pp_stacks
			enabled proc-version 0
		fi

		if can unwinder; then
			echo "== where the unwind data end"
			stack_at 0
			matters skip_stack_ends proc-version 1 "$unreliable"
			rmmod pp_stacks
			enabled proc-version 0
		fi

		echo "== addresses that escape"
		check_off skip_pin
		enabled escape 1
		cat /proc/cmdline >/dev/null
		enabled escape 0
		same "module is held" "$(holds escape)" 0
		check_on skip_pin
		enabled escape 1
		enabled escape 0
		same "module is held" "$(holds escape)" 1

		if can live; then
			echo "== what live switches leave behind"
			load sleeper-live 0
			for check in on off; do
				enabled sleeper-live 1
				sleep_in_fifo
				[ $check = on ] || check_off skip_drain
				enabled sleeper-live 0
				if [ $check = on ]; then
					same "module is held" "$(holds sleeper-live)" 1
					matters skip_left_behind sleeper 1 "$sleeper cat wait_for_partner"
				else
					same "module is held" "$(holds sleeper-live)" 0
					check_on skip_drain
				fi
				wake_up
				until_true 10 grep -q 0 /sys/module/pokepatch_sleeper_live/refcnt
				enabled sleeper 0
			done

			enabled sleepers 0
		fi
		if can bpf; then
			echo "== who redirects the calls of a site that was claimed"
			held() { cat /sys/module/pokepatch/refcnt; }
			was=$(held)
			held_is() { [ "$(held)" = $1 ]; }
			for check in on off; do
				enabled proc-version 1
				rm /tmp/count
				# While kprobes is off, the core does not refuse it.
				echo 0 >/sys/kernel/debug/kprobes/enabled
				bpf-attach fexit version_proc_show /tmp/count &
				bpf=$!
				until_true 20 test -e /tmp/count
				echo 1 >/sys/kernel/debug/kprobes/enabled
				[ $check = on ] || check_off skip_redirect
				enabled proc-version 0
				held_is $((was + ($([ $check = on ] && echo 1 || echo 0)))) ||
					die "the core is held $(held) times, with $was patches"
				kill $bpf
				wait $bpf || :
				until_true 10 held_is $was
			done
			check_on skip_redirect
		fi

		if can ftrace; then
			echo "== who came to a site while it was claimed"
			echo version_proc_show >$tracing/set_ftrace_filter
			for check in on off; do
				enabled proc-version 1
				echo function >$tracing/current_tracer
				[ $check = on ] || check_off skip_users
				enabled proc-version 0
				lacks "the log" "$(dmesg)" __ftrace_hash_rec_update
				echo nop >$tracing/current_tracer
			done
			has "the log" "$(dmesg)" __ftrace_hash_rec_update
		fi
	'
}

@test "without one of the checks of code, it is written over, or goes" {
	core=core-debug with_patches "$top/test/bench/int-pow.patch" \
		"$patches"/{int-pow-three,thread-exit}.patch "$top/examples/proc-version.patch"
	! can direct || patched+=(--module "$(test_module pp_probe)")
	! can live || patched+=(
		--module "$(patch_module "$patches/sleeper.patch" sleeper-live --transition live)"
		--module "$(patch_module "$patches/int-pow-three.patch" int-pow-three-live --transition live)")
	! can single-jumps || patched+=(--expect 'cannot be put back$')
	guest "${patched[@]}" --module "$(test_module pp_icount)" \
		--program "$(test_program texthist)" --module "$(test_module pp_meddle)" --timeout 240 \
		--expect 'another writer has changed it; ' \
		--expect '^pokepatch: proc_version is refused: the code of version_proc_show at [+]0x' \
		-- $(($(entry_offset) + 1)) "${arch_instructions[2]}" <<<"$words"'
		# The first is a byte of the jump.
		within_jump=$1 behind_entry=$2
		can common-clock || taskset -p 1 $$ >/dev/null
		# What int_pow(1, 0) returns: 1, patched 2 or 3.
		result() { awk "NR == 1 { print \$3 }" /sys/module/pp_icount/parameters/measure; }
		stubs() { awk -v module="[pokepatch_$(patch_id $1)]" \
			"\$3 == \"pokepatch_stubs\" && \$4 == module { print \"0x\" \$1 }" /proc/kallsyms; }
		modprobe pokepatch
		echo 0 >$parameters/ask_after_ms
		modprobe pp_icount
		echo "== code that was changed before the patch is loaded"
		modprobe pp_meddle symbol=version_proc_show offset=$behind_entry
		refused modprobe pokepatch-proc-version
		check_off skip_load_verify
		modprobe pokepatch-proc-version
		check_on skip_load_verify
		rmmod pokepatch_proc_version pp_meddle

		names="int-pow int-pow-three proc-version thread-exit"
		! can live || names="$names int-pow-three-live sleeper-live"
		for patch in $names; do
			load $patch 0
		done
		# The owner of the stub leaves, and there is a probe in that of the other.
		leave_below() {
			echo direct >"$(sysfs int-pow vmlinux/int_pow,1/mode)"
			enabled int-pow 1
			enabled int-pow-three 1
			same result "$(result)" 3
			modprobe pp_probe at=$(stubs int-pow-three)
			enabled int-pow 0
			same result "$(result)" 3
		}

		if can direct; then
			echo "== a stub with a probe in it"
			leave_below
			same "module is held" "$(holds int-pow)" 1
			rmmod pp_probe
			enabled int-pow-three 0
			check_off skip_probed
			leave_below
			same "module is held" "$(holds int-pow)" 0
			enabled int-pow-three 0
			check_on skip_probed
			same result "$(result)" 1
		fi

		echo "== a history that is opened between a change and its record"
		live_patched() { grep -q Live-patched /proc/version; }
		for check in on off; do
			[ $check = on ] || check_off skip_behind
			pause_at records
			echo 1 >"$(sysfs proc-version enabled)" &
			switcher=$!
			until_true 20 has_paused
			live_patched || die "it was not switched before"
			whole=$(texthist times | sed -n "s/^whole //p")
			go_on_at records
			wait $switcher
			over=$(texthist times | sed -n "s/^text version_proc_show //p" | tail -n 1)
			echo "with the check $check, it is whole up to $((whole - over)) ns after the change"
			if [ $check = on ]; then
				[ "$whole" -le "$over" ] || die "it was not whole then"
			else
				[ "$whole" -gt "$over" ]
				check_on skip_behind
			fi
			enabled proc-version 0
		done

		echo "== code that is another one when it is to be written"
		enabled proc-version 1
		modprobe pp_meddle symbol=version_proc_show offset=$within_jump
		io_error proc-version 0
		same enabled "$(file proc-version enabled)" 1
		check_off skip_compare
		enabled proc-version 0
		check_on skip_compare
		lacks /proc/version "$(cat /proc/version)" Live-patched

		echo "== code that is not what was written"
		check_off stuck_text # on, that is
		check_off skip_read_back
		last=int-pow-three
		! can live || last=$last-live
		enabled proc-version 1
		enabled $last 1
		same result "$(result)" 3
		check_on stuck_text
		check_on skip_read_back
		enabled proc-version 0
		enabled $last 0
		same result "$(result)" 1

		# Elsewhere it would be what is written before: nothing leads there.
		can single-jumps || exit 0
		echo "== code that cannot be put back, in a stop and live"
		check_off stuck_text
		for patch in proc-version int-pow-three-live; do
			io_error $patch 1
			sleep 1 # those who live switches may have left have gone
			same "module is held" "$(holds $patch)" 1
		done
		check_off skip_hold
		for patch in thread-exit sleeper-live; do
			io_error $patch 1
			sleep 1
			same "module is held" "$(holds $patch)" 0
		done
		check_on skip_hold
		check_on stuck_text
	'
}

@test "only the debug build can be told to do wrong" {
	/sbin/modinfo -F parm "$(core_module core-debug)" | grep -q '^debug_skip_tasks:'
	run /sbin/modinfo -F parm "$(core_module core)"
	[ "$status" -eq 0 ]
	[[ $output == *ask_after_ms* && $output != *debug* && $output != *fault* ]]
}

@test "instructions that an exit costs more, with thousands of tasks that hang in theirs" {
	local tasks=20000
	needs livepatch
	[ "${POKEPATCH_CHECK:-}" != short ] || tasks=5000
	with_patches
	guest "${patched[@]}" --icount --memory 2048 --timeout 400 \
		--program "$(test_program exiter)" --module "$(test_module pp_flush)" <<<"tasks=$tasks"'
		parameters=/sys/module/pp_flush/parameters
		mean() { exiter time 3000; }
		held_are() { [ "$(cat $parameters/held)" -eq $1 ]; }
		bound() { # WHAT MORE MOST
			echo "instructions that an exit costs more $1: $2"
			[ $2 -le $3 ] || die "that is more than $3"
		}
		sysctl -qw kernel.threads-max=100000 kernel.pid_max=100000
		modprobe pp_flush
		until_true 60 grep -q 0 /sys/kernel/livepatch/pp_flush/transition
		# Of 3,000 the mean varies by 700, of 30,000 by 20, but for the first ones after the boot.
		exiter time 30000 >/dev/null
		plain=$(exiter time 30000)
		modprobe pokepatch
		noted=$(exiter time 30000)
		bound "if none hangs" $((noted - plain)) 300
		[ $noted -gt $plain ] || die "that is measured wrongly"

		echo 1 >$parameters/hold
		exiter many $tasks /dev/pp_flush &
		until_true 200 held_are $tasks
		noted=$(mean)
		rmmod pokepatch
		plain=$(mean)
		bound "while $tasks hang" $((noted - plain)) 2000
		modprobe pokepatch
		bound "while $tasks hang that did before" $(($(mean) - plain)) 2000
		echo 0 >$parameters/hold
		until_true 60 held_are 0
		kill %1
	'
	cat "$guest_output"
}

@test "catching up with tasks that were not noted does not note again those that hang" {
	needs ftrace
	core=core-debug with_patches "$top/examples/proc-version.patch"
	guest "${patched[@]}" --memory 1024 --timeout 240 \
		--program "$(test_program exiter)" --module "$(test_module pp_flush)" <<-'END'
		parameters=/sys/module/pokepatch/parameters
		held_are() { [ "$(cat /sys/module/pp_flush/parameters/held)" -eq $1 ]; }
		# What the core has of an exiting task is in one of these caches; another task has few objects there.
		objects() { awk '/^kmalloc-(rnd-[0-9]*-)?(32|64|96|128) / { n += $2 } END { print n }' /proc/slabinfo; }
		catch_up() {
			echo 1 >$parameters/fault_exiting
			/bin/busybox true
			echo 0 >$parameters/fault_exiting
			enabled proc-version $((1 - $(file proc-version enabled)))
		}
		has_more_than() { # OBJECTS
			_objects=$(objects)
			echo "$((_objects - before)) more objects than before"
			[ $_objects -gt $1 ]
		}
		has_less_than() { ! has_more_than $1; }
		modprobe pp_flush
		modprobe pokepatch
		pokepatch load "$(patch_file proc-version)"
		before=$(objects)
		echo 1 >/sys/module/pp_flush/parameters/hold
		exiter many 3000 /dev/pp_flush &
		until_true 60 held_are 3000
		hang=$(objects)
		has_more_than $((before + 2800)) || die "the caches are others"
		for _round in 1 2 3 4 5; do
			catch_up
			has_more_than 0 || :
		done
		# The entries are sorted once a second.
		until_true 10 has_less_than $((hang + 1500))
		echo 0 >/sys/module/pp_flush/parameters/hold
		until_true 60 held_are 0
		kill %1
	END
	cat "$guest_output"
}
