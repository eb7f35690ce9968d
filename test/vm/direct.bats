# SPDX-License-Identifier: GPL-2.0-or-later
# The direct mode: ftrace calls a stub of the patch's, which is switched.

load helpers

example=$top/examples/proc-version.patch

@test "tracers and probes work beside it" {
	with_patches "$example"
	guest "${patched[@]}" --module "$(test_module pp_probe)" \
		--expect 'there is a probe in its stub$' <<-'END'
		mode() { file proc-version vmlinux/version_proc_show,1/mode; }
		is_new() { has /proc/version "$(cat /proc/version)" Live-patched; }
		is_old() { lacks /proc/version "$(cat /proc/version)" Live-patched; }
		calls() { for _call in 1 2 3 4 5 6 7 8 9 10; do cat /proc/version >/dev/null; done; }
		traced() {
			echo >$tracing/trace
			calls
			grep -c " version_proc_show <-" $tracing/trace
		}
		echo version_proc_show >$tracing/set_ftrace_filter
		address=$(awk '$3 == "version_proc_show" { print "0x" $1 }' /proc/kallsyms)
		for first in patch tracer; do
			echo "== a tracer, the $first first"
			[ $first = patch ] || echo function >$tracing/current_tracer
			pokepatch load --mode direct "$(patch_file proc-version)"
			same mode "$(mode)" direct
			is_new
			echo function >$tracing/current_tracer
			is_new
			same "traced calls" "$(traced)" 10
			echo nop >$tracing/current_tracer
			is_new
			echo function >$tracing/current_tracer
			pokepatch disable proc-version
			is_old
			same "traced calls" "$(traced)" 10
			pokepatch enable proc-version
			same mode "$(mode)" direct
			is_new
			echo nop >$tracing/current_tracer
			pokepatch unload proc-version
			is_old
		done

		echo "== a probe at the entry"
		echo "p:pp/entry $address" >$tracing/kprobe_events
		echo 1 >$tracing/events/pp/enable
		pokepatch load --mode direct "$(patch_file proc-version)"
		is_new
		same "hits of the probe" "$(hits entry)" 1
		stop_hits
		is_new
		same mode "$(mode)" direct

		echo "== a probe in the stub, whose bytes it would put back"
		pokepatch disable proc-version
		modprobe pp_probe at=$(awk '$3 == "pokepatch_stubs" { print "0x" $1 }' /proc/kallsyms)
		refused pokepatch enable proc-version
		is_old
		rmmod pp_probe
		pokepatch enable proc-version
		is_new
		same mode "$(mode)" direct

		pokepatch unload proc-version
		is_old
		rmmod pokepatch
	END
}

@test "a probe that comes to a stub between the look at it and its write" {
	core=core-debug with_patches "$example"
	guest "${patched[@]}" --module "$(test_module pp_probe)" \
		--expect 'there is a probe in its stub$' \
		--expect 'a probe is at pokepatch_stubs.*; nothing is switched' <<-'END'
		parameters=/sys/module/pokepatch/parameters
		is_new() { has /proc/version "$(cat /proc/version)" Live-patched; }
		is_old() { lacks /proc/version "$(cat /proc/version)" Live-patched; }
		modprobe pokepatch
		modprobe pokepatch-proc-version
		echo direct >"$(sysfs proc-version vmlinux/version_proc_show,1/mode)"
		modprobe pp_probe
		# The second of the instructions in a stub, which is the jump.
		jump=$(awk '$3 == "pokepatch_stubs" { print "0x" $1 }' /proc/kallsyms)
		jump=$(printf 0x%x $((jump + 8)))
		for off in 1 0; do
			echo "== off: $off"
			echo 1 >$parameters/debug_pause_stop
			(echo 1 >"$(sysfs proc-version enabled)") 2>/tmp/refusal &
			switcher=$!
			until_true 20 grep -qx 1 $parameters/debug_paused
			has "ftrace's functions" "$(cat $tracing/enabled_functions)" version_proc_show
			echo $off >/sys/module/pp_probe/parameters/off
			echo $jump >/sys/module/pp_probe/parameters/at
			echo 0 >$parameters/debug_pause_stop
			! wait $switcher || die "it was switched over the probe"
			is_old
			same enabled "$(file proc-version enabled)" 0
			refused pokepatch enable proc-version
			echo 0 >/sys/module/pp_probe/parameters/at
			pokepatch enable proc-version
			same mode "$(file proc-version vmlinux/version_proc_show,1/mode)" direct
			is_new
			pokepatch disable proc-version
			is_old
		done
	END
}

@test "patches that stack on one stub, and its owner that leaves first" {
	with_patches "$top/test/bench/int-pow.patch" "$top"/test/vm/patches/{int-pow-three,agree-1,agree-2}.patch
	guest "${patched[@]}" --module "$(test_module pp_icount)" --module "$(test_module pp_front)" \
		--module "$(test_module pp_kill)" --module "$(test_module pp_probe)" --timeout 240 \
		--expect 'its module is being removed by force, but calls' \
		--expect '^pokepatch: int_pow: its module stays loaded: ftrace failed' \
		--expect 'int_pow cannot be switched in direct mode: ftrace does not take it' \
		--expect '^Disabling lock debugging due to kernel taint' <<-'END'
		# What int_pow(1, 0) returns: 1, patched 2 or 3.
		result() { awk 'NR == 1 { print $3 }' /sys/module/pp_icount/parameters/measure; }
		mode() { file "$1" vmlinux/int_pow,1/mode; }
		modprobe pp_icount

		echo "== a call from where ftrace calls somebody: no guard against recursion chooses"
		modprobe pp_probe call=1 \
			at=$(awk '$3 == "cmdline_proc_show" { print "0x" $1 }' /proc/kallsyms)
		nested() {
			cat /proc/cmdline >/dev/null
			cat /sys/module/pp_probe/parameters/nested
		}
		same "unpatched" "$(nested)" 1
		for mode in entry direct ftrace; do
			pokepatch load --mode $mode "$(patch_file int-pow-three)"
			same "in $mode mode" "$(mode int-pow-three) $(nested)" "$mode 3"
			pokepatch unload int-pow-three
		done
		same "unpatched" "$(nested)" 1
		rmmod pp_probe

		start_load cat /sys/module/pp_icount/parameters/measure
		for round in 1 2 3; do
			pokepatch load --mode direct "$(patch_file int-pow)"
			same "mode, result" "$(mode int-pow) $(result)" "direct 2"
			pokepatch load "$(patch_file int-pow-three)"
			same "mode, result" "$(mode int-pow-three) $(result)" "direct 3"
			case $round in
			1) # The owner of the stub leaves, the other one stays.
				pokepatch unload int-pow
				same "mode, result" "$(mode int-pow-three) $(result)" "direct 3"
				lacks modules "$(cat /proc/modules)" pokepatch_int_pow\ 
				pokepatch disable int-pow-three
				same result "$(result)" 1
				pokepatch enable int-pow-three
				same "mode, result" "$(mode int-pow-three) $(result)" "entry 3"
				;;
			2) # The one on top leaves, and comes again.
				pokepatch disable int-pow-three
				same result "$(result)" 2
				pokepatch enable int-pow-three
				same result "$(result)" 3
				;;
			3) # The owner leaves and comes again, on top now, on the other one's stub.
				pokepatch disable int-pow
				same result "$(result)" 3
				pokepatch enable int-pow
				same "mode, result" "$(mode int-pow) $(result)" "direct 2"
				pokepatch disable int-pow-three
				same result "$(result)" 2
				;;
			esac
			for name in int-pow int-pow-three; do
				[ ! -e "$(sysfs $name enabled)" ] || pokepatch unload $name
			done
			same result "$(result)" 1
		done
		stop_load

		loaded() { grep -q "^pokepatch_$(patch_id $1) " /proc/modules; }
		stubs() { awk -v module="[pokepatch_$(patch_id $1)]" \
			'$3 == "pokepatch_stubs" && $4 == module { print "0x" $1 }' /proc/kallsyms; }
		# hold OWNER HEIR - the owner leaves, but the heir's stub has a probe in it.
		hold() {
			pokepatch load --mode direct "$(patch_file $1)"
			pokepatch load "$(patch_file $2)"
			same mode "$(cat $(sysfs $2 vmlinux)/*/mode | sort -u)" direct
			modprobe pp_probe at=$(stubs $2)
			pokepatch disable $1
			has "the log" "$(dmesg)" "$(patch_id $1): its module stays loaded as long as calls of"
			refused rmmod pokepatch_$(patch_id $1)
		}
		# removed OWNER - by force, which waits until the probe has gone.
		removed() {
			dmesg -c >/dev/null
			rmmod -f pokepatch_$(patch_id $1) &
			remover=$!
			until_true 10 sh -c "dmesg | grep -q '$(patch_id $1): its module is being removed by force, but'"
			loaded $1
		}

		echo "== a stub that is held: a task in front of its jump, which is nowhere yet"
		hold int-pow int-pow-three
		same result "$(result)" 3
		echo 0 >/sys/module/pokepatch/parameters/ask_after_ms
		front=/sys/module/pp_front/parameters
		for result in 3 1; do
			modprobe pp_front jump=$(printf 0x%x $(($(stubs int-pow) + 8)))
			until_true 10 grep -q Y $front/waiting
			# It goes where calls go by then.
			[ $result = 3 ] || echo 0 >"$(sysfs int-pow-three enabled)"
			same result "$(result)" $result
			echo 1 >$front/go
			until_true 10 grep -q N $front/waiting
			same "result of its call" "$(cat $front/result)" $result
			rmmod pp_front
		done
		rmmod pp_probe
		pokepatch unload int-pow-three
		pokepatch unload int-pow

		echo "== but in the way of whoever takes the stub away"
		pokepatch load --mode direct "$(patch_file int-pow)"
		modprobe pp_front jump=$(printf 0x%x $(($(stubs int-pow) + 8)))
		until_true 10 grep -q Y $front/waiting
		echo 300 >"$(sysfs int-pow timeout_ms)"
		(echo 0 >"$(sysfs int-pow enabled)") 2>/dev/null && die "it was disabled"
		has blocked_by "$(file int-pow blocked_by)" "pp_front "
		echo 1 >$front/go
		until_true 10 grep -q N $front/waiting
		same "result of its call" "$(cat $front/result)" 2
		rmmod pp_front
		pokepatch unload int-pow

		echo "== its module is removed by force"
		hold int-pow int-pow-three
		removed int-pow
		same result "$(result)" 3
		rmmod pp_probe
		wait $remover
		if loaded int-pow; then die "it is still there"; fi
		same result "$(result)" 3
		pokepatch unload int-pow-three
		same result "$(result)" 1

		echo "== and another one"
		hold agree-1 agree-2
		removed agree-1
		same versions "$(versions)" 222
		rmmod pp_probe
		wait $remover
		same versions "$(versions)" 222
		pokepatch unload agree-2
		same versions "$(versions)" ""

		echo "== ftrace dies, and lets nobody go"
		pokepatch load --mode direct "$(patch_file int-pow)"
		pokepatch load "$(patch_file int-pow-three)"
		modprobe pp_kill
		same result "$(result)" 3
		pokepatch disable int-pow
		same result "$(result)" 3
		pokepatch unload int-pow-three
		same result "$(result)" 1
		refused rmmod pokepatch_int_pow
		refused pokepatch enable int-pow
		same result "$(result)" 1
		removed int-pow
		loaded int-pow
		same result "$(result)" 1
	END
}

@test "stubs let calls through, where returns are jumps to a thunk" {
	local module
	with_patches
	module=$(patch_module "$top/test/vm/patches/netdev-printk.patch" passing \
		"$top/test/vm/patches/sleeper.patch")
	# A processor with bugs.
	guest "${patched[@]}" --module "$module" --module dummy --cpu EPYC \
		--expect '^Speculative Return Stack Overflow: ' <<-'END'
		has retbleed "$(cat /sys/devices/system/cpu/vulnerabilities/retbleed)" "untrained return thunk"
		mkfifo /tmp/fifo
		patched_calls() { dmesg | grep -c "live-patched netdev_"; }
		modprobe dummy
		modprobe pokepatch-passing
		echo 0 >/sys/module/pokepatch/parameters/ask_after_ms
		for folder in $(sysfs passing vmlinux)/*,1; do
			echo direct >$folder/mode
		done
		# While it is blocked its stubs are called already.
		sleep_in_fifo
		enabled passing 1 &
		switch=$!
		sleep 3
		same "state" "$(file passing state)" enabling
		ip link set dummy0 name other
		same "calls of the new function" "$(patched_calls)" 0
		wake_up
		wait $switch
		same modes "$(cat $(sysfs passing vmlinux)/*/mode | sort -u)" direct
		ip link set other name dummy0
		same "calls of the new function" "$(patched_calls)" 1
		pokepatch unload passing
		rmmod pokepatch
	END
}
