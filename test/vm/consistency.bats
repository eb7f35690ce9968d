# SPDX-License-Identifier: GPL-2.0-or-later
# All functions of a patch switch at the same instant, or none does.

load helpers

patches=$top/test/vm/patches

agree_script=$(words consistency-agree)

# counts - set calls, one, two and mixed from what the guest's last line says.
counts() {
	local line
	line=$(tail -n 1 "$guest_output")
	say "$line"
	[[ $line =~ ^calls=[0-9]+\ one=[0-9]+\ two=[0-9]+\ mixed=[0-9]+$ ]]
	calls='' one='' two='' mixed=''
	eval "${line// /;}"
}

# agree [VM-OPTION...] -- CHECK ROUNDS PATCH...
agree() {
	with_patches "$patches"/agree-{1,2,first,second}.patch
	guest --timeout 580 "${patched[@]}" --program "$(test_program agree)" "$@" \
		<<<"$agree_script"
	counts
	[ "$calls" -ge 200 ]
}

# never_mixed - it says something only if many calls fell into each version.
never_mixed() {
	[ "$one" -ge 100 ]
	[ "$two" -ge 100 ]
	[ "$mixed" -eq 0 ]
}

# 1,000 rounds, and 100 where the time is short.
@test "three functions never disagree" {
	agree -- all-checks "$(rounds 1000 100)" agree-2
	never_mixed
}

@test "three functions never disagree, preempt=full" {
	needs preempt-modes
	agree --append preempt=full -- all-checks "$(rounds 1000 100)" agree-2
	never_mixed
	grep -q "Dynamic Preempt: full" "$guest_log"
}

@test "control: two functions of two patches do disagree" {
	agree -- all-checks "$(rounds 50 20)" agree-first agree-second
	[ "$mixed" -gt 0 ]
}

@test "control: without the check of the tasks they do disagree" {
	core=core-debug agree -- debug_skip_tasks "$(rounds 200 50)" agree-2
	[ "$mixed" -gt 0 ]
}

@test "control: the debug build with the check on does not disagree" {
	core=core-debug agree -- all-checks "$(rounds 200 100)" agree-2
	never_mixed
}

@test "a function that a task sleeps in is not switched, until the task has left" {
	with_patches "$patches/sleeper.patch"
	guest "${patched[@]}" <<-'END'
		mkfifo /tmp/fifo
		# switch VALUE - must be refused as busy after the timeout, and change nothing.
		# The timeout is shorter than the time after which a sleeper is asked to leave.
		switch_is_blocked() {
			if (echo "$1" >"$(sysfs sleeper enabled)") 2>/tmp/error; then
				die "enabled=$1 was accepted"
			fi
			has "the error" "$(cat /tmp/error)" "Device or resource busy"
			same state "$(file sleeper state)" blocked
			same blocked_by "$(file sleeper blocked_by)" "$sleeper cat wait_for_partner"
			same enabled "$(file sleeper enabled)" $((1 - $1))
		}

		modprobe pokepatch-sleeper
		echo 400 >"$(sysfs sleeper timeout_ms)"
		same timeout_ms "$(file sleeper timeout_ms)" 400
		same state "$(file sleeper state)" disabled
		count_hits sleeper wait_for_partner

		echo "== enabling"
		cat /tmp/fifo &
		sleeper=$!
		until_true 10 asleep_in $sleeper wait_for_partner
		switch_is_blocked 1
		# Another task still runs the old function.
		(echo >/tmp/other.in; mkfifo /tmp/other; echo x >/tmp/other) &
		until_true 10 test -p /tmp/other
		cat /tmp/other
		same "calls of the new function" "$(hits wait_for_partner)" 0
		echo through >/tmp/fifo
		wait $sleeper
		enabled sleeper 1
		same state "$(file sleeper state)" enabled
		same blocked_by "$(file sleeper blocked_by)" ""

		echo "== disabling"
		cat /tmp/fifo &
		sleeper=$!
		until_true 10 asleep_in $sleeper wait_for_partner
		[ "$(hits wait_for_partner)" -gt 0 ] || die "the new function was not called"
		switch_is_blocked 0
		echo through >/tmp/fifo
		wait $sleeper
		enabled sleeper 0
		same state "$(file sleeper state)" disabled
		stop_hits
		pokepatch unload sleeper
	END
}

@test "a task that sleeps interruptibly is asked to leave, and notices nothing" {
	with_patches "$patches/sleeper.patch"
	guest "${patched[@]}" <<-'END'
		mkfifo /tmp/fifo
		calls_are() { [ "$(hits wait_for_partner)" -ge "$1" ]; }
		modprobe pokepatch-sleeper
		count_hits sleeper wait_for_partner
		cat /tmp/fifo >/tmp/got &
		sleeper=$!
		until_true 10 asleep_in $sleeper wait_for_partner
		for round in 1 2 3; do
			# It comes back to sleep in the new function.
			enabled sleeper 1
			until_true 10 calls_are $round
			until_true 10 asleep_in $sleeper wait_for_partner
			enabled sleeper 0
			until_true 10 asleep_in $sleeper wait_for_partner
		done
		echo through >/tmp/fifo
		wait $sleeper
		same "what it read" "$(cat /tmp/got)" through
		stop_hits
		pokepatch unload sleeper
		rmmod pokepatch
	END
}

@test "functions that are always on some stack: blocked, by whom, and no way to force it" {
	with_patches "$patches"/always-{thread,idle}.patch
	guest "${patched[@]}" <<-'END'
		for cpu in 0 1 2 3; do echo "0 swapper/$cpu do_idle"; done >/tmp/always-idle
		echo "2 kthreadd kthreadd" >/tmp/always-thread
		names=always-thread
		! can idle-frames || names="$names always-idle"
		for name in $names; do
			status=0
			pokepatch load --timeout 1200 "$(patch_file $name)" 2>/tmp/error || status=$?
			cat /tmp/error
			same "exit status" $status 2
			has "the error" "$(cat /tmp/error)" "refused \[blocked\]: not switched on within 1200 ms"
			same "in the way" "$(sed -n 's/^  //p' /tmp/error | sort)" "$(cat /tmp/$name)"
			[ ! -e "$(sysfs $name enabled)" ] || die "it stays loaded"

			modprobe pokepatch-$name
			for timeout in 300 0; do
				echo $timeout >"$(sysfs $name timeout_ms)"
				if (echo 1 >"$(sysfs $name enabled)") 2>/tmp/error; then
					die "it was enabled"
				fi
				has "the error" "$(cat /tmp/error)" "Device or resource busy"
				same "state, enabled" "$(file $name state) $(file $name enabled)" "blocked 0"
				same blocked_by "$(file $name blocked_by | sort)" "$(cat /tmp/$name)"
			done

			echo "== nothing forces it"
			for value in 2 force "1 force" -1; do
				if (echo "$value" >"$(sysfs $name enabled)") 2>/tmp/error; then
					die "enabled=$value was accepted"
				fi
				has "the error" "$(cat /tmp/error)" "Invalid argument"
			done
			for option in --force -f --timeout=-1; do
				refused pokepatch enable $option $name
			done
			lacks "files and parameters" \
				"$(find $pokepatch /sys/module/pokepatch | tr '\n' ' ')" force
			same "state, enabled" "$(file $name state) $(file $name enabled)" "blocked 0"
			rmmod pokepatch_$(patch_id $name)
		done
		rmmod pokepatch
	END
}

@test "a function that every writer of enabled is in: O_NONBLOCK" {
	with_patches "$patches/kernfs-write.patch"
	guest "${patched[@]}" --program "$(test_program nonblock)" <<-'END'
		state_is() { [ "$(file kernfs-write state)" = "$1" ]; }
		new_is_there() {
			(echo pokepatched >/sys/module/kernel/parameters/panic) 2>/tmp/error || :
			grep -q "ioctl" /tmp/error
		}
		modprobe pokepatch-kernfs-write
		echo 1000 >"$(sysfs kernfs-write timeout_ms)"

		if (echo 1 >"$(sysfs kernfs-write enabled)") 2>/tmp/error; then
			die "a write that waits was in nobody's way"
		fi
		has "the error" "$(cat /tmp/error)" "Device or resource busy"
		has blocked_by "$(file kernfs-write blocked_by)" " kernfs_fop_write_iter"
		if new_is_there; then die "the new function is there"; fi

		for _round in 1 2 3; do
			nonblock "$(sysfs kernfs-write enabled)" 1
			until_true 10 state_is enabled
			new_is_there
			nonblock "$(sysfs kernfs-write enabled)" 0
			until_true 10 state_is disabled
			if new_is_there; then die "the new function is there"; fi
		done
		rmmod pokepatch_kernfs_write
	END
}
