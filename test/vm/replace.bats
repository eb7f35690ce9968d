# SPDX-License-Identifier: GPL-2.0-or-later
# Atomic replace: a patch takes over from others in one stopped section.

load helpers

patches=$top/test/vm/patches

words=$(words replace)

turns=$(words replace-turns)

# never_unpatched - the reader in the guest saw each of two patches often, and never the kernel's own function.
never_unpatched() {
	line=$(tail -n 1 "$guest_output")
	say "$line"
	[[ $line =~ ^calls=[0-9]+\ one=([0-9]+)\ two=([0-9]+)\ mixed=0$ ]]
	[ "${BASH_REMATCH[1]}" -ge 100 ]
	[ "${BASH_REMATCH[2]}" -ge 100 ]
	if grep "agree failed" "$guest_output"; then return 1; fi
}

@test "no moment unpatched: patches that replace each other under load" {
	with_patches "$patches"/agree-{1,2}.patch
	guest --timeout 580 "${patched[@]}" --program "$(test_program agree)" -- replace "$(rounds 100 25)" \
		<<<"$words$turns"
	never_unpatched
}

# level N PATCH-FILE [OPTION...] - add the module level-N to $patched.
level() {
	local module
	module=$(patch_module "$2" "level-$1" --level "$1" "${@:3}")
	patched+=(--module "$module")
}

@test "levels: each replaces the other, whose module goes; no moment unpatched; other patches stay" {
	with_patches "$top/examples/proc-version.patch"
	level 1 "$patches/agree-1.patch"
	level 2 "$patches/agree-2.patch"
	guest --timeout 580 "${patched[@]}" --program "$(test_program agree)" -- levels "$(rounds 50 10)" level-1 level-2 \
		<<<"$words$turns"
	never_unpatched
	guest "${patched[@]}" <<<"$words"'
		pokepatch load "$(patch_file proc-version)"
		same "level of a patch without one" "$(file proc-version level)" 0
		pokepatch load "$(patch_file level-2)"
		same level "$(file level-2 level)" 2
		pokepatch load "$(patch_file level-1)"
		on proc_version level_1
		has info "$(pokepatch info --json level-1)" "\"level\": 1"
		# A name that is given is all that is replaced.
		pokepatch load --replace=proc-version "$(patch_file level-2)"
		same "the other level" "$(state_of level-1)" "1 enabled"
		same "the one that was named" "$(state_of proc-version)" "0 disabled"
	'
}

@test "a level revokes lower ones until the next boot, also when it is gone; the core then stays" {
	with_patches "$top/examples/proc-version.patch"
	level 1 "$patches/agree-1.patch"
	level 2 "$patches/agree-2.patch"
	level 3 "$patches/agree-first.patch" --revoke-below 2
	guest "${patched[@]}" --expect '^pokepatch: patch level_1 is not switched on: it is of level 1' <<<"$words"'
		pokepatch load "$(patch_file level-1)"
		pokepatch load "$(patch_file level-3)"
		on level_3
		fails 2 pokepatch load "$(patch_file level-1)"
		has "the reason" "$(cat /tmp/error)" "refused ?revoked?"
		on level_3
		pokepatch load "$(patch_file level-2)"
		on level_2
		pokepatch unload level-2
		fails 2 pokepatch load "$(patch_file level-1)"
		# One that is loaded already, and one without a level.
		modprobe pokepatch-level-1
		fails 2 pokepatch enable level-1
		pokepatch load "$(patch_file proc-version)"
		on proc_version
		rmmod pokepatch_level_1
		pokepatch unload proc-version
		if rmmod pokepatch 2>/tmp/error; then die "the core is gone"; fi
		pokepatch load "$(patch_file level-3)"
		on level_3
	'
}

@test "control: one disabled and then the other enabled, the kernel's own function shows" {
	with_patches "$patches"/agree-{1,2}.patch
	guest --timeout 300 "${patched[@]}" --program "$(test_program agree)" -- one-by-one 20 \
		<<<"$words$turns"
	grep -q "^agree: /dev/null" "$guest_output"
	grep -q "agree failed" "$guest_output"
}

@test "all, by name, by several names; functions that only the replaced ones changed" {
	with_patches "$top/examples/proc-version.patch" \
		"$patches"/agree-{1,2,first,second}.patch
	guest "${patched[@]}" <<<"$words"'
		echo "== several at once, which share functions"
		for name in agree-1 agree-first agree-second proc-version; do
			pokepatch load "$(patch_file $name)"
		done
		same versions "$(versions)" 122
		is_live || die "not patched"
		pokepatch load --replace "$(patch_file agree-2)"
		on agree_2
		same versions "$(versions)" 222
		is_live && die "still patched"
		same "what it is to replace" "$(file agree-2 replace)" ""
		for name in agree-1 agree-first agree-second proc-version; do
			pokepatch unload $name
		done
		same versions "$(versions)" 222
		pokepatch disable agree-2
		same versions "$(versions)" ""

		echo "== by name, in the middle of a stack: who stays below shows in the end"
		for name in agree-1 agree-first proc-version agree-second; do
			pokepatch load "$(patch_file $name)"
		done
		same versions "$(versions)" 122
		pokepatch load --replace=agree-first,proc_version "$(patch_file agree-2)"
		on agree_1 agree_second agree_2
		same versions "$(versions)" 222
		is_live && die "still patched"
		pokepatch disable agree-2
		same versions "$(versions)" 112
		# It was for that time.
		pokepatch enable agree-first
		pokepatch enable agree-2
		on agree_1 agree_second agree_first agree_2
		pokepatch disable agree-2
		same versions "$(versions)" 122

		echo "== a patch with none of its functions"
		pokepatch load --replace=agree-second,agree-first "$(patch_file proc-version)"
		on agree_1 proc_version
		same versions "$(versions)" 111
		is_live || die "not patched"

		echo "== nothing to replace; what is disabled already; all modes"
		pokepatch load --replace=agree-first "$(patch_file agree-2)"
		on agree_1 proc_version agree_2
		pokepatch unload agree-2
		pokepatch unload proc-version
		pokepatch unload agree-1
		pokepatch load --replace "$(patch_file proc-version)"
		on proc_version
		other=entry
		! can ftrace || other=ftrace
		pokepatch load --mode $other "$(patch_file agree-1)"
		pokepatch load --replace --mode $other "$(patch_file agree-2)"
		on agree_2
		same versions "$(versions)" 222
		pokepatch load --replace --mode auto "$(patch_file agree-1)"
		on agree_1
		same versions "$(versions)" 111
		same mode "$(file agree-1 vmlinux/read_null,1/mode)" $other
		pokepatch unload agree-1
		pokepatch load --mode $shared_mode "$(patch_file agree-1)"
		pokepatch load --mode $shared_mode "$(patch_file agree-first)"
		pokepatch load --mode $shared_mode --replace "$(patch_file agree-2)"
		on agree_2
		pokepatch enable agree-1
		pokepatch load --replace "$(patch_file agree-first)"
		on agree_first
		same mode "$(file agree-first vmlinux/read_iter_null,1/mode)" $shared_mode
		pokepatch load --replace "$(patch_file agree-1)"
		on agree_1
		same versions "$(versions)" 111
		for name in agree-1 agree-2 agree-first agree-second proc-version; do
			pokepatch unload $name
		done
		rmmod pokepatch
	'
}

@test "what cannot be replaced is told, and nothing changes" {
	with_patches "$top/examples/proc-version.patch" "$patches"/agree-{1,2}.patch
	guest "${patched[@]}" <<<"$words"'
		pokepatch load "$(patch_file agree-1)"
		fails 1 pokepatch load --replace=no-such-patch "$(patch_file agree-2)"
		has "the error" "$(cat /tmp/error)" "no-such-patch"
		fails 1 pokepatch load --replace=agree-1,,x "$(patch_file agree-2)"
		fails 1 pokepatch load --replace= "$(patch_file agree-2)"
		fails 1 pokepatch load --replace=agree-2 "$(patch_file agree-2)"
		on agree_1
		[ ! -e $pokepatch/agree_2 ] || die "it stays loaded"
		modprobe pokepatch-agree-2
		fails 1 pokepatch load --replace=agree-2 "$(patch_file agree-2)"
		has "the error" "$(cat /tmp/error)" "replace itself"

		echo "== values of the file replace"
		bad() { # VALUE ERROR
			if (echo "$1" >"$(sysfs agree-2 replace)") 2>/tmp/error; then
				die "replace took the value \"$1\""
			fi
			has "replace=$1" "$(cat /tmp/error)" "$2"
			same "replace after a bad value" "$(file agree-2 replace)" "agree_1 *"
		}
		echo "  agree_1,, * " >"$(sysfs agree-2 replace)"
		same replace "$(file agree-2 replace)" "agree_1 *"
		bad agree_2 "Invalid argument"
		bad "agree_1 agree_2" "Invalid argument"
		bad "agree_1 agree_3" "No such file"
		bad agree "No such file"
		bad agree_11 "No such file"
		same "mode of replace" "$(stat -c %a "$(sysfs agree-2 replace)")" 644
		on agree_1
		echo >"$(sysfs agree-2 replace)"
		same replace "$(file agree-2 replace)" ""
		pokepatch enable agree-2
		on agree_1 agree_2
		(echo agree_1 >"$(sysfs agree-2 replace)") 2>/tmp/error && die "it is enabled"
		has "the error" "$(cat /tmp/error)" "busy"
		fails 3 pokepatch load --replace "$(patch_file agree-2)"

		echo "== one that has gone since it was named"
		modprobe pokepatch-proc-version
		pokepatch disable agree-2
		echo "proc_version agree_1" >"$(sysfs agree-2 replace)"
		rmmod pokepatch_proc_version
		enabled agree-2 1
		on agree_2
		same versions "$(versions)" 222
		pokepatch unload agree-1
		pokepatch unload agree-2
	'
}

@test "blocked, by a task in a function of the new one or of a replaced one: nothing changes" {
	with_patches "$top/examples/proc-version.patch" \
		"$patches"/{agree-1,agree-2,sleeper}.patch
	guest "${patched[@]}" <<<"$words"'
		mkfifo /tmp/fifo
		# It gives up before tasks are asked to leave (ask_after_ms).
		blocked() { # NAME
			fails 2 pokepatch load --replace --timeout 300 "$(patch_file $1)"
			has "the error" "$(cat /tmp/error)" "$sleeper cat wait_for_partner"
		}
		for name in agree-1 proc-version; do
			pokepatch load "$(patch_file $name)"
		done

		echo "== the new one"
		sleep_in_fifo
		blocked sleeper
		on agree_1 proc_version
		same versions "$(versions)" 111
		is_live || die "not patched"
		modprobe pokepatch-sleeper
		blocked sleeper
		on_but_blocked() { # NAME, patches that are on
			same "$1" "$(state_of $1) $(users $1)" "0 blocked 0"
			same replace "$(file $1 replace)" ""
			shift
			for name; do same "$name" "$(state_of $name) $(users $name)" "1 enabled 1"; done
		}
		on_but_blocked sleeper agree-1 proc-version
		same versions "$(versions)" 111
		is_live || die "not patched"
		wake_up
		pokepatch load --replace "$(patch_file sleeper)"
		on sleeper
		same versions "$(versions)" ""
		is_live && die "still patched"

		echo "== a replaced one"
		pokepatch enable agree-1
		sleep_in_fifo
		blocked agree-2
		[ ! -e $pokepatch/agree_2 ] || die "it stays loaded"
		on sleeper agree_1
		same versions "$(versions)" 111
		# Not in its way: it stays.
		pokepatch load --replace=agree-1 "$(patch_file agree-2)"
		on sleeper agree_2
		wake_up
		pokepatch load --replace "$(patch_file agree-1)"
		on agree_1
		rmmod pokepatch_sleeper

		echo "== by O_NONBLOCK, as the program writes: it replaces only when it can"
		# The sleeper is to stay, however long the rest takes.
		echo 0 >/sys/module/pokepatch/parameters/ask_after_ms
		pokepatch load "$(patch_file sleeper)"
		sleep_in_fifo
		pokepatch load --replace --timeout 30000 "$(patch_file agree-2)" &
		loading=$!
		sleeper_leaves() { [ "$(file sleeper state)" = disabling ]; }
		until_true 10 sleeper_leaves
		echo "== who is being replaced cannot be switched meanwhile"
		echo 300 >"$(sysfs agree-1 timeout_ms)"
		modprobe pokepatch-proc-version 2>/dev/null || :
		fails 2 pokepatch load --replace --timeout 300 "$(patch_file proc-version)"
		has "the log" "$(dmesg)" "cannot replace sleeper, which is being switched"
		same versions "$(versions)" 111
		wake_up
		wait $loading
		on agree_2
		same versions "$(versions)" 222
	'
}

@test "callbacks of a patch that replaces, and of those replaced" {
	cp "$patches/callbacks.patch" "$BATS_TEST_TMPDIR/callbacks-two.patch"
	with_patches "$patches"/{callbacks,sleeper}.patch "$BATS_TEST_TMPDIR/callbacks-two.patch"
	guest "${patched[@]}" --module dummy <<<"$words"'
		calls() {
			what=$1
			shift
			dmesg -c | sed -n "s/^.*callback: //p" >/tmp/calls
			for line; do echo "$line"; done >/tmp/wanted
			diff /tmp/wanted /tmp/calls || die "$what: not the callbacks that were wanted"
		}
		fail_with() { sysctl -qw "kernel.panic=$1"; }
		fail_with 0
		modprobe dummy
		until_true 10 grep -q live /sys/module/dummy/initstate
		modprobe pokepatch-callbacks
		modprobe pokepatch-callbacks-two
		enabled callbacks 1
		dmesg -c >/tmp/before

		echo "== the new one cannot: who is to be replaced hears nothing of it"
		fail_with -1012
		fails 1 pokepatch load --replace "$(patch_file callbacks-two)"
		has "the error" "$(cat /tmp/error)" "Cannot allocate memory"
		calls "pre-patch fails" "callbacks_two pre-patch of vmlinux, new"
		fail_with -2012
		echo "*" >"$(sysfs callbacks-two replace)"
		(echo 1 >"$(sysfs callbacks-two enabled)") 2>/dev/null && die "it was enabled"
		calls "the second fails" "callbacks_two pre-patch of vmlinux, new" \
			"callbacks_two pre-patch of dummy, dummy live" \
			"callbacks_two post-unpatch of vmlinux, new"
		on callbacks
		fail_with 0

		echo "== blocked: back, in reverse order"
		mkfifo /tmp/fifo
		cat /tmp/fifo &
		until_true 10 asleep_in $! wait_for_partner
		echo 200 >"$(sysfs callbacks-two timeout_ms)"
		echo "*" >"$(sysfs callbacks-two replace)"
		(echo 1 >"$(sysfs callbacks-two enabled)") 2>/dev/null && die "it was enabled"
		calls "blocked" "callbacks_two pre-patch of vmlinux, new" \
			"callbacks_two pre-patch of dummy, dummy live" \
			"callbacks pre-unpatch of dummy, dummy live" \
			"callbacks pre-unpatch of vmlinux, new" \
			"callbacks post-patch of vmlinux, new" \
			"callbacks post-patch of dummy, dummy live" \
			"callbacks_two post-unpatch of dummy, dummy live" \
			"callbacks_two post-unpatch of vmlinux, new"
		same "callbacks" "$(state_of callbacks) $(users callbacks)" "1 enabled 1"
		echo through >/tmp/fifo
		wait $!

		echo "== it replaces"
		enabled callbacks-two 1
		calls "replaced" "callbacks_two pre-patch of vmlinux, new" \
			"callbacks_two pre-patch of dummy, dummy live" \
			"callbacks pre-unpatch of dummy, dummy live" \
			"callbacks pre-unpatch of vmlinux, new" \
			"callbacks post-unpatch of dummy, dummy live" \
			"callbacks post-unpatch of vmlinux, new" \
			"callbacks_two post-patch of vmlinux, new" \
			"callbacks_two post-patch of dummy, dummy live"
		on callbacks_two
		rmmod pokepatch_callbacks

		echo "== two at once: the newest leaves first"
		pokepatch load "$(patch_file callbacks)"
		rmmod dummy
		dmesg -c >/dev/null
		pokepatch load --replace "$(patch_file sleeper)"
		calls "two replaced" "callbacks pre-unpatch of vmlinux, new" \
			"callbacks_two pre-unpatch of vmlinux, new" \
			"callbacks post-unpatch of vmlinux, old" \
			"callbacks_two post-unpatch of vmlinux, old"
		on sleeper
	'
}

@test "a replaced patch whose addresses may be anywhere" {
	with_patches "$top/examples/proc-version.patch" "$patches"/withdraw.patch
	guest "${patched[@]}" <<<"$words"'
		for round in 1 2; do
			pokepatch load "$(patch_file withdraw)"
			cat /proc/cmdline >/dev/null
			# 1: it does not say that its addresses are withdrawn.
			sysctl -qw kernel.panic=$((2 - round))
			pokepatch load --replace "$(patch_file proc-version)"
			same withdraw "$(state_of withdraw)" "0 disabled"
			same "users of withdraw" "$(users withdraw)" $((2 - round))
			[ $round = 1 ] || rmmod pokepatch_withdraw
			pokepatch unload proc-version
		done
		lacks "the log" "$(dmesg)" "the timer ran"
	'
}

# 100, and 20 where the time is short.
@test "rounds of replacing leave nothing behind" {
	with_patches "$top/examples/proc-version.patch" "$patches"/agree-{1,2}.patch
	guest --exact-slabs "${patched[@]}" --program "$(test_program agree)" --timeout 400 \
		-- "$(rounds 100 20)" <<<"$words"'
		modprobe pokepatch
		# By sysfs: the program pokepatch would take most of the time for its starts.
		load() { # NAME [WHAT-IT-REPLACES]
			insmod "$(patch_file "$1")"
			[ $# -eq 1 ] || echo "$2" >"$(sysfs "$1" replace)"
			enabled "$1" 1
		}
		some() { # ROUNDS
			load agree-1
			agree >/tmp/agree &
			agree=$!
			for _round in $(seq "$1"); do
				load proc-version
				load agree-2 "*"
				rmmod pokepatch_proc_version
				rmmod pokepatch_agree_1
				load agree-1 agree_2
				rmmod pokepatch_agree_2
			done
			kill $agree
			wait $agree
			has "what agree saw" "$(cat /tmp/agree)" "mixed=0"
			enabled agree-1 0
			rmmod pokepatch_agree_1
		}
		some 3
		inventory /tmp/before
		some "$1"
		same_inventory /tmp/before "$1"
	'
}
