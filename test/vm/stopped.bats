# SPDX-License-Identifier: GPL-2.0-or-later
# The stopped section: what is done in it, counted; how often there is one.  The numbers in
# the kernel log are those that test/bench/stopped shows.

load helpers

# Words for scripts.  stop_of WHAT - the number before WHAT in the log's last line of a stop.
words='
	stop_of() {
		dmesg | sed -n "s/.*: stopped [0-9]* ns,.* \([0-9]*\) $1.*/\1/p" | tail -n 1
	}
	crowd() { cat /sys/module/pp_crowd/parameters/patched; }
	asked() { # NAME MODE
		for _mode in $(sysfs $1 pp_crowd)/*/mode; do
			echo $2 >$_mode
		done
	}
	modes() { cat $(sysfs $1 pp_crowd)/*/mode | sort | uniq -c | xargs; }
'

@test "a thousand functions, in every mode: what a stop writes, and how many grace periods it takes" {
	with_patches
	guest "${patched[@]}" --module "$(test_module pp_crowd)" --module "$(crowd_patch 1)" \
		--module "$(crowd_patch 10)" --module "$(crowd_patch 100)" \
		--module "$(crowd_patch 1000)" --timeout 300 <<<"$words"'
		# Where RCU-tasks are what RCU is, others wait for it, too; but not a thousand times.
		grace=synchronize_rcu_tasks most=3
		can rcu-tasks || grace=synchronize_rcu most=30
		waits() { hits $grace; }
		modprobe pokepatch dyndbg=+p
		modprobe pp_crowd
		echo p:pp/$grace $grace >$tracing/kprobe_events
		echo 1 >$tracing/events/pp/enable
		for n in 1 10 100 1000; do
			modprobe pokepatch-crowd-$n
			for mode in $all_modes; do
				echo "== $n functions, $mode"
				asked crowd_$n $mode
				before=$(waits)
				enabled crowd_$n 1
				same modes "$(modes crowd_$n)" "$n $mode"
				same "patched functions" "$(crowd)" $n
				same "sites, words" "$(stop_of sites) $(stop_of words)" \
					"$n $([ $mode = ftrace ] && echo 0 || echo $n)"
				enabled crowd_$n 0
				same "patched functions" "$(crowd)" 0
				# One for each function would be a tenth of a second each.
				waited=$(($(waits) - before))
				echo "$waited grace periods"
				[ $waited -le $most ] || die "too many"
			done
			rmmod pokepatch-crowd-$n
		done
		stop_hits
		rmmod pp_crowd pokepatch
	'
}

@test "what is written in a stop is mapped for the writing processor alone" {
	needs ftrace
	with_patches "$top/examples/proc-version.patch"
	guest "${patched[@]}" --module "$(test_module pp_crowd)" --module "$(crowd_patch 1000)" <<<"$words"'
		# No mapping is made for everybody, but when a patch is loaded, of its own memory.
		echo p:pp/vmap vmap >$tracing/kprobe_events
		echo 1 >$tracing/events/pp/enable
		modprobe pp_crowd
		# In the second round the core finds what it needs as it has left it.
		for round in 1 2; do
			before=$(hits vmap)
			modprobe pokepatch-proc-version
			[ "$(hits vmap)" -gt "$before" ] || die "the probe counts nothing"
			modprobe pokepatch-crowd-1000
			asked crowd_1000 entry
			before=$(hits vmap)
			for switch in 1 2 3; do
				enabled crowd_1000 1
				same "functions switched" "$(crowd)" 1000
				enabled crowd_1000 0
				same "functions switched" "$(crowd)" 0
			done
			same "mappings for everybody in six stops" "$(hits vmap)" $before
			rmmod pokepatch-crowd-1000
			pokepatch unload proc-version
			rmmod pokepatch
		done
		stop_hits
		rmmod pp_crowd
	'
}

@test "stubs of many functions are handed over, and what was hooked when one cannot be is let go of" {
	needs direct
	with_patches
	guest "${patched[@]}" --module "$(test_module pp_crowd)" --module "$(crowd_patch 10)" \
		--module "$(crowd_patch 100)" \
		--expect 'crowd_... cannot be switched in entry mode' <<<"$words"'
		modprobe pokepatch dyndbg=+p
		modprobe pp_crowd
		modprobe pokepatch-crowd-100
		modprobe pokepatch-crowd-10
		asked crowd_100 direct
		enabled crowd_100 1
		enabled crowd_10 1
		same modes "$(modes crowd_10)" "10 direct"
		echo p:pp/synchronize_rcu_tasks synchronize_rcu_tasks >$tracing/kprobe_events
		echo 1 >$tracing/events/pp/enable
		enabled crowd_100 0
		# One for the 90 functions of this patch alone, one for the ten that it hands over.
		same "grace periods" "$(hits synchronize_rcu_tasks)" 2
		stop_hits
		rmmod pokepatch-crowd-100
		same "patched functions" "$(crowd)" 10
		enabled crowd_10 0
		same "patched functions" "$(crowd)" 0

		echo "== what was hooked is let go of"
		modprobe pokepatch-crowd-100
		echo p:pp/last pp_crowd:crowd_099 >$tracing/kprobe_events
		echo 1 >$tracing/events/pp/enable
		asked crowd_100 direct
		echo entry >$(sysfs crowd_100 pp_crowd/crowd_099,1/mode)
		(echo 1 >$(sysfs crowd_100 enabled)) 2>/dev/null && die "it was enabled"
		same "patched functions" "$(crowd)" 0
		stop_hits
		asked crowd_100 entry
		enabled crowd_100 1
		same "patched functions" "$(crowd)" 100

		echo "== who leaves below another one writes nothing"
		enabled crowd_10 1
		enabled crowd_100 0
		same "sites, words" "$(stop_of sites) $(stop_of words)" "100 90"
		same "patched functions" "$(crowd)" 10
		enabled crowd_10 0
		same "patched functions" "$(crowd)" 0
		rmmod pokepatch-crowd-100 pokepatch-crowd-10 pp_crowd pokepatch
	'
}

@test "sleepers that have not run are not looked at again, and stops keep to their share" {
	core=core-debug with_patches
	guest "${patched[@]}" --module "$(test_module pp_crowd)" --module "$(crowd_patch 10)" \
		--program "$(test_program sleepers)" --memory 1024 \
		--expect 'its module is being removed by force' \
		--expect '^Disabling lock debugging due to kernel taint' <<<"$words"'
		core=/sys/module/pokepatch/parameters
		modprobe pokepatch dyndbg=+p
		modprobe pp_crowd
		modprobe pokepatch-crowd-10
		sleep_with() {
			rm -f /tmp/ready
			sleepers $1 >/tmp/ready &
			until_true 30 grep -q ready /tmp/ready
		}
		echo "== by threads: each is looked at once, and what is on its stack"
		echo 1 >$core/debug_walk_all
		for threads in 50 250 450; do
			sleep_with $threads
			for value in 1 0; do
				enabled crowd_10 $value
				eval stacks$threads=$(stop_of stacks) frames$threads=$(stop_of frames)
			done
			echo "$threads threads: $(stop_of stacks) stacks, $(stop_of frames) frames"
			kill $!
			wait $! || :
		done
		# 200 more each time; workers of the kernel may come and go.
		for more in $((stacks250 - stacks50)) $((stacks450 - stacks250)); do
			[ $more -ge 190 ] && [ $more -le 210 ] || die "$more stacks more"
		done
		more=$((frames250 - frames50))
		off=$((frames450 - frames250 - more))
		[ $more -gt 0 ] && [ ${off#-} -lt 100 ] || die "$more frames more, then $off more than that"
		echo 0 >$core/debug_walk_all
		sleep_with 500
		for value in 1 0; do
			enabled crowd_10 $value
			[ "$(stop_of had.not.run)" -ge 500 ] || die "$(stop_of had.not.run) were left out"
			[ "$(stop_of stacks)" -lt 100 ] || die "$(stop_of stacks) stacks were walked"
			[ "$(stop_of frames)" -lt $((frames450 / 3)) ] || die "$(stop_of frames) frames of $frames450"
		done
		echo "== all again"
		echo 1 >$core/debug_walk_all
		enabled crowd_10 1
		same "left out" "$(stop_of had.not.run)" 0
		[ "$(stop_of stacks)" -ge 500 ] || die "$(stop_of stacks) stacks were walked"
		[ "$(stop_of frames)" -ge 2000 ] || die "$(stop_of frames) frames"

		echo "== a look that takes too long is given up, and tried again"
		cap=$(cat $core/max_stop_us)
		echo 1 >$core/max_stop_us
		echo 300 >$(sysfs crowd_10 timeout_ms)
		(echo 0 >$(sysfs crowd_10 enabled)) 2>/dev/null && die "it was disabled"
		[ "$(stop_of stacks)" -lt 100 ] || die "$(stop_of stacks) stacks were walked"
		has log "$(dmesg | tail -n 3)" "cannot be disabled: too many tasks run for a stop"
		same "patched functions" "$(crowd)" 10
		# By force, all the same.
		rmmod -f pokepatch-crowd-10
		same "patched functions" "$(crowd)" 0
		echo $cap >$core/max_stop_us
		modprobe pokepatch-crowd-10
		enabled crowd_10 1
		echo 0 >$core/debug_walk_all

		echo "== the share"
		same "the share" "$(cat $core/stop_share)" 10
		echo 20000 >$core/debug_stop_us
		echo 4 >$core/debug_refuse_stops
		enabled crowd_10 0
		set -- $(dmesg | sed -n "s/.*: \([0-9]*\) stops, the last \([0-9]*\) ns after the start, \([0-9]*\) .*/\1 \2 \3/p" |
			tail -n 1)
		same stops "$1" 5
		[ "$3" -ge 80000000 ] || die "they lasted $3 ns"
		# The last began when those before it were a tenth of the time.
		[ "$2" -ge $(($3 * 10)) ] || die "$3 ns of $2"

		echo "== no time for another stop"
		echo 1000 >$core/debug_refuse_stops
		echo 500 >$(sysfs crowd_10 timeout_ms)
		(echo 1 >$(sysfs crowd_10 enabled)) 2>/dev/null && die "it was enabled"
		same "patched functions" "$(crowd)" 0
		stops=$(dmesg | sed -n "s/.*: \([0-9]*\) stops, .*/\1/p" | tail -n 1)
		[ $stops -le 3 ] || die "$stops stops of 20 ms in half a second"
		kill $!
		rmmod pokepatch-crowd-10 pp_crowd pokepatch

		echo "== the cap that a machine has, and not this guest"
		insmod $(modinfo -n pokepatch)
		same "the cap" "$(cat $core/max_stop_us)" 10000
		rmmod pokepatch
	'
}
