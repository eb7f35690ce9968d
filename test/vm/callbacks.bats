# SPDX-License-Identifier: GPL-2.0-or-later
# Callbacks of patches: which are called, in what order, with what, and what comes of a
# pre-patch callback that fails.

load helpers

patches=$top/test/vm/patches

words=$(words callbacks)

@test "callbacks at enable and disable, and of a module that comes late and leaves" {
	local module
	with_patches "$patches/callbacks.patch"
	if can live; then
		module=$(patch_module "$patches/callbacks.patch" callbacks-live --transition live)
		patched+=(--module "$module")
	fi
	guest "${patched[@]}" --module dummy <<<"$words"'
		unloaded() { rmmod pokepatch_$id 2>/dev/null; }
		both="callbacks callbacks_live"
		can live || both=callbacks
		for id in $both; do
			echo "== $id"
			modprobe pokepatch_$id
			calls "loaded" 
			enabled $id 1
			calls "enabled" "$id pre-patch of vmlinux, old" "$id post-patch of vmlinux, new"
			enabled $id 1
			calls "enabled already"

			for _round in 1 2 3; do
				modprobe dummy
				same mtu "$(mtu dummy0)" 1234
				calls "a parent comes" "$id pre-patch of dummy, dummy coming" \
					"$id post-patch of dummy, dummy coming"
				rmmod dummy
				calls "a parent goes" "$id pre-unpatch of dummy, dummy going" \
					"$id post-unpatch of dummy, dummy going"
			done

			modprobe dummy
			calls "comes again" "$id pre-patch of dummy, dummy coming" \
				"$id post-patch of dummy, dummy coming"
			enabled $id 0
			calls "disabled" "$id pre-unpatch of dummy, dummy live" \
				"$id pre-unpatch of vmlinux, new" \
				"$id post-unpatch of dummy, dummy live" \
				"$id post-unpatch of vmlinux, old"
			enabled $id 1
			calls "enabled, the parent there" "$id pre-patch of vmlinux, old" \
				"$id pre-patch of dummy, dummy live" \
				"$id post-patch of vmlinux, new" \
				"$id post-patch of dummy, dummy live"
			[ $id = callbacks ] || same "time stopped" "$(file $id stop_ns)" 0
			enabled $id 0
			calls "disabled again" "$id pre-unpatch of dummy, dummy live" \
				"$id pre-unpatch of vmlinux, new" \
				"$id post-unpatch of dummy, dummy live" \
				"$id post-unpatch of vmlinux, old"

			echo "== nothing is called for a disabled patch"
			rmmod dummy
			modprobe dummy
			rmmod dummy
			until_true 5 unloaded
			calls "disabled and unloaded"
		done

		can live || exit 0
		echo "== a callback that fails, of a patch that is switched live"
		modprobe pokepatch-callbacks-live
		modprobe dummy
		fail_with -2012
		switch_fails 1 "Cannot allocate memory"
		calls "the second fails" "$id pre-patch of vmlinux, old" \
			"$id pre-patch of dummy, dummy live" "$id post-unpatch of vmlinux, old"
		same state "$(file $id state)" disabled
		fail_with 0
		unload_when_free callbacks-live
		rmmod dummy pokepatch
	'
}

@test "a pre-patch callback that fails" {
	with_patches "$patches/callbacks.patch"
	guest "${patched[@]}" --module dummy \
		--expect '^pokepatch: module dummy is refused: patch callbacks cannot be applied to it \(-28\)' <<<"$words"'
		modprobe dummy
		modprobe pokepatch-callbacks
		not_enabled() {
			same state "$(file $id state)" disabled
			same blocked_by "$(file $id blocked_by)" ""
			ip link add new type dummy
			same mtu "$(mtu new)" 1500
			ip link del new
		}
		for case in "12:Cannot allocate memory" "11:Resource temporarily unavailable" \
			"16:Device or resource busy" "19:No such device" \
			"32:Broken pipe" "524:Invalid argument"; do
			echo "== $case"
			number=$(printf %03d ${case%%:*})
			fail_with -1$number
			switch_fails 1 "${case#*:}"
			calls "the first fails" "callbacks pre-patch of vmlinux, old"
			not_enabled
			fail_with -2$number
			[ $number = 524 ] || switch_fails 1 "${case#*:}"
			[ $number = 524 ] || calls "the second fails" \
				"callbacks pre-patch of vmlinux, old" \
				"callbacks pre-patch of dummy, dummy live" \
				"callbacks post-unpatch of vmlinux, old"
			not_enabled
		done
		echo "== no error number"
		fail_with 1007
		switch_fails 1 "Invalid argument"
		calls "a positive number" "callbacks pre-patch of vmlinux, old"
		not_enabled

		echo "== what the program says"
		fail_with -1012
		status=0
		pokepatch enable callbacks >/tmp/error 2>&1 || status=$?
		cat /tmp/error
		[ $status -ne 0 ] || die "pokepatch enable succeeded"
		has "the error" "$(cat /tmp/error)" "Cannot allocate memory"
		same "its error in sysfs" "$(file $id error)" 12
		calls "by the program" "callbacks pre-patch of vmlinux, old"
		# Nothing holds the module.
		rmmod pokepatch_callbacks

		echo "== for a module that comes: its load fails"
		rmmod dummy
		fail_with 0
		modprobe pokepatch-callbacks
		enabled callbacks 1
		calls enabled "callbacks pre-patch of vmlinux, old" \
			"callbacks post-patch of vmlinux, new"
		fail_with -2028
		refused modprobe dummy >/tmp/error
		has "the error" "$(cat /tmp/error)" "No space left on device"
		# Two system calls load modules, and modprobe tries both.
		calls "the module fails" "callbacks pre-patch of dummy, dummy coming" \
			"callbacks pre-patch of dummy, dummy coming"
		lacks modules "$(cat /proc/modules)" dummy
		same state "$(file $id state)" enabled
		fail_with 0
		modprobe dummy
		same mtu "$(mtu dummy0)" 1234
		calls "the module comes" "callbacks pre-patch of dummy, dummy coming" \
			"callbacks post-patch of dummy, dummy coming"
		rmmod dummy
		enabled callbacks 0
		rmmod pokepatch_callbacks
	'
}

@test "a switch that does not come about" {
	with_patches "$patches/callbacks.patch"
	guest "${patched[@]}" --module dummy --program "$(test_program nonblock)" <<<"$words"'
		mkfifo /tmp/fifo
		modprobe dummy
		# The sleeper is to stay.
		modprobe pokepatch ask_after_ms=0
		modprobe pokepatch-callbacks
		short() { echo 300 >"$(sysfs callbacks timeout_ms)"; }
		long() { echo 60000 >"$(sysfs callbacks timeout_ms)"; }
		pre="callbacks pre-patch of vmlinux, old"
		post="callbacks post-patch of vmlinux, new"
		unpre="callbacks pre-unpatch of vmlinux, new"
		unpost="callbacks post-unpatch of vmlinux, old"
		dummy() { echo "callbacks $1 of dummy, dummy ${2:-live}"; }

		echo "== enabling"
		sleep_in_fifo
		short
		switch_fails 1 "Device or resource busy"
		same state "$(file $id state)" blocked
		calls "not enabled" "$pre" "$(dummy pre-patch)" "$(dummy post-unpatch)" "$unpost"
		long
		(echo 1 >"$(sysfs callbacks enabled)") &
		writer=$!
		until_true 10 state_is enabling
		sleep 1
		kill -KILL $writer
		wait $writer || :
		until_true 10 state_is disabled
		calls "killed" "$pre" "$(dummy pre-patch)" "$(dummy post-unpatch)" "$unpost"

		echo "== enabling, while a parent goes and comes"
		nonblock "$(sysfs callbacks enabled)" 1
		until_true 10 state_is enabling
		sleep 1
		rmmod dummy
		calls "goes" "$pre" "$(dummy pre-patch)" "$(dummy post-unpatch going)"
		modprobe dummy
		same mtu "$(mtu dummy0)" 1500
		sleep 1
		states=any calls "comes" "$(dummy pre-patch)"
		wake_up
		until_true 10 state_is enabled
		calls "enabled after all" "$post" "$(dummy post-patch)"

		echo "== disabling"
		sleep_in_fifo
		short
		switch_fails 0 "Device or resource busy"
		same state "$(file $id state)" blocked
		calls "not disabled" "$(dummy pre-unpatch)" "$unpre" "$post" "$(dummy post-patch)"

		echo "== disabling, while a parent goes and comes"
		long
		nonblock "$(sysfs callbacks enabled)" 0
		until_true 10 state_is disabling
		sleep 1
		rmmod dummy
		calls "goes" "$(dummy pre-unpatch)" "$unpre" "$(dummy post-unpatch going)"
		modprobe dummy
		same mtu "$(mtu dummy0)" 1234
		sleep 1
		states=any calls "comes" "$(dummy pre-patch)" "$(dummy post-patch)" \
			"$(dummy pre-unpatch)"
		wake_up
		until_true 10 state_is disabled
		calls "disabled after all" "$(dummy post-unpatch)" "$unpost"

		echo "== a callback that fails in the middle, for a parent that came meanwhile"
		rmmod dummy
		sleep_in_fifo
		nonblock "$(sysfs callbacks enabled)" 1
		until_true 10 state_is enabling
		sleep 1
		calls "enabling" "$pre"
		fail_with -2016
		modprobe dummy
		until_true 10 state_is disabled
		states=any calls "cancelled" "$(dummy pre-patch)" "$unpost"
		wake_up
		rmmod pokepatch_callbacks
	'
}

@test "callbacks of patches that are stacked are called for their own patch" {
	local second
	with_patches "$patches/callbacks.patch"
	second=$(patch_module "$patches/callbacks.patch" callbacks-2)
	guest "${patched[@]}" --module "$second" --module dummy \
		--expect '^pokepatch: module dummy is refused: patch callbacks_2 cannot be applied to it' \
		<<<"$words"'
		modprobe pokepatch-callbacks
		modprobe pokepatch-callbacks-2
		enabled callbacks 1
		calls first "callbacks pre-patch of vmlinux, old" "callbacks post-patch of vmlinux, new"
		enabled callbacks-2 1
		calls second "callbacks_2 pre-patch of vmlinux, new" \
			"callbacks_2 post-patch of vmlinux, new"

		echo "== the second refuses a module that the first has taken"
		fail_with -3005
		refused insmod "$(find /lib/modules -name dummy.ko)"
		for _call in 1 2; do # insmod, too, tries twice
			echo "callbacks pre-patch of dummy, dummy coming"
			echo "callbacks post-patch of dummy, dummy coming"
			echo "callbacks_2 pre-patch of dummy, dummy coming"
			echo "callbacks pre-unpatch of dummy, dummy coming"
			echo "callbacks post-unpatch of dummy, dummy coming"
		done >/tmp/all
		calls_in /tmp/all
		lacks modules "$(cat /proc/modules)" dummy
		fail_with 0

		enabled callbacks 0
		calls "the lower one" "callbacks pre-unpatch of vmlinux, new" \
			"callbacks post-unpatch of vmlinux, new"
		enabled callbacks-2 0
		calls "the upper one" "callbacks_2 pre-unpatch of vmlinux, new" \
			"callbacks_2 post-unpatch of vmlinux, old"
		rmmod pokepatch_callbacks_2
		rmmod pokepatch_callbacks
		rmmod pokepatch
	'
}

@test "a callback that withdraws the addresses that keep a module" {
	with_patches "$patches/withdraw.patch"
	guest "${patched[@]}" <<<"$words"'
		id=withdraw
		users() { cat /sys/module/pokepatch_withdraw/refcnt; }
		once() {
			enabled withdraw 1
			cat /proc/cmdline >/dev/null
			enabled withdraw 0
		}
		modprobe pokepatch-withdraw
		echo "== withdrawn: it can go; again and again"
		for _round in 1 2 3; do
			once
			same users "$(users)" 0
		done
		has "the log" "$(dmesg)" "pokepatch_withdrawn() has an effect only in a post-unpatch callback"
		rmmod pokepatch_withdraw
		modprobe pokepatch-withdraw

		echo "== not withdrawn"
		fail_with 1
		once
		same users "$(users)" 1
		refused rmmod pokepatch_withdraw

		echo "== withdrawn, but still in use"
		fail_with 2
		echo 500 >"$(sysfs withdraw timeout_ms)"
		once
		same users "$(users)" 1
		has "the log" "$(dmesg)" "withdraw: its module stays loaded"
		has blocked_by "$(file $id blocked_by)" "kworker*sleep_long"
		until_true 10 sh -c "dmesg | grep -q \"the work is done\""
		refused rmmod pokepatch_withdraw

		echo "== withdrawn at last"
		fail_with 0
		once
		same users "$(users)" 0
		rmmod pokepatch_withdraw
		lacks "the log" "$(dmesg)" "the timer ran"
		rmmod pokepatch
	'
}

# kpatch's name NULL means vmlinux, and its object has no name of the patch.
@test "the callbacks of a diff for kpatch, which builds as it is" {
	sed -E -e 's/<pokepatch_patch.h>/"kpatch-macros.h"/' \
		-e 's/const struct pokepatch_parent \*/patch_object */' \
		-e 's/POKEPATCH_(PRE|POST)_(PATCH|UNPATCH)\(/KPATCH_\1_\2_CALLBACK(/' \
		-e 's/parent->module/parent->mod/g; s/parent->name/parent->name ?: "vmlinux"/' \
		-e 's/parent->patch,/"kpatch_callbacks",/' \
		"$(for_kernel "$patches/callbacks.patch")" >"$BATS_TEST_TMPDIR/kpatch-callbacks.patch"
	# The second user of one name: kernels with livepatch have it, others get it.
	sed -i 's/(patch_object \*parent)$/(struct klp_object *parent)/' "$BATS_TEST_TMPDIR/kpatch-callbacks.patch"
	[ "$(grep -c 'KPATCH_.*_CALLBACK(' "$BATS_TEST_TMPDIR/kpatch-callbacks.patch")" -eq 12 ]
	run -1 grep -i pokepatch_p "$BATS_TEST_TMPDIR/kpatch-callbacks.patch"
	with_patches "$BATS_TEST_TMPDIR/kpatch-callbacks.patch"
	guest "${patched[@]}" --module dummy <<<"$words"'
		id=kpatch_callbacks
		modprobe pokepatch-kpatch-callbacks
		enabled $id 1
		calls "enabled" "$id pre-patch of vmlinux, old" "$id post-patch of vmlinux, new"
		modprobe dummy
		same mtu "$(mtu dummy0)" 1234
		calls "a parent comes" "$id pre-patch of dummy, dummy coming" \
			"$id post-patch of dummy, dummy coming"
		enabled $id 0
		calls "disabled" "$id pre-unpatch of dummy, dummy live" \
			"$id pre-unpatch of vmlinux, new" \
			"$id post-unpatch of dummy, dummy live" \
			"$id post-unpatch of vmlinux, old"
		fail_with -2012
		switch_fails 1 "Cannot allocate memory"
		calls "the second fails" "$id pre-patch of vmlinux, old" \
			"$id pre-patch of dummy, dummy live" "$id post-unpatch of vmlinux, old"
		fail_with -1999
		switch_fails 1 "Invalid argument"
		calls "no error number" "$id pre-patch of vmlinux, old"
		rmmod pokepatch_kpatch_callbacks dummy pokepatch
	'
}
