# SPDX-License-Identifier: GPL-2.0-or-later
# Patches that come, stack, and go, in any order; what is refused on the way.

load helpers

patches=$top/test/vm/patches

words='
now() { same "versions, enabled $1" "$(versions)" "$2"; }
'

@test "two patches of the same functions, one on top of the other, in any order" {
	with_patches "$patches"/agree-{1,2}.patch
	guest "${patched[@]}" <<<"$words"'
		for order in "agree-1 agree-2 111 222" "agree-2 agree-1 222 111"; do
			set -- $order
			for out in below above; do
				for mode in auto ${all_modes#entry }; do
					echo "== $2 on $1, $out goes first, mode $mode"
					pokepatch load --mode $mode "$(patch_file $1)"
					now "$1" $3
					pokepatch load --mode $mode "$(patch_file $2)"
					now "$1 $2" $4
					case $out in
					below)
						pokepatch unload $1
						now "$2" $4
						pokepatch unload $2
						;;
					above)
						pokepatch disable $2
						now "$1" $3
						# The one that is enabled last is on top.
						pokepatch enable $2
						now "$1 $2" $4
						pokepatch disable $1
						pokepatch enable $1
						now "$2 $1" $3
						pokepatch unload $2
						now "$1" $3
						pokepatch unload $1
						;;
					esac
					now "" ""
				done
			done
		done
		rmmod pokepatch
	'
}

@test "a patch with the same function twice is refused" {
	with_patches "$patches/agree-1.patch"
	mkdir "$BATS_TEST_TMPDIR/bad"
	"$(host_program hostile)" --twice "$(patch_module "$patches/agree-1.patch")" \
		"$BATS_TEST_TMPDIR/bad" twice
	guest "${patched[@]}" --file "$BATS_TEST_TMPDIR/bad" --expect ' is there twice' <<<"$words"'
		modprobe pokepatch
		refused pokepatch load bad/twice.ko
		has "the log" "$(dmesg)" ",1 is there twice"
		[ ! -e $pokepatch/agree_1 ] || die "it is loaded"
		now "" ""
		pokepatch load "$(patch_file agree-1)"
		now agree-1 111
		pokepatch unload agree-1
		rmmod pokepatch
	'
}

@test "a patch with two names of one function is refused" {
	needs system-call-aliases
	# Of each there is also __do_sys_NAME, and it has no code but the call of the system call.
	cat >"$BATS_TEST_TMPDIR/two-names.patch" <<-'END'
		--- a/kernel/sys.c
		+++ b/kernel/sys.c
		@@ -982,1 +982,1 @@
		-	return from_kuid_munged(current_user_ns(), current_uid());
		+	return from_kuid_munged(current_user_ns(), current_uid()) + !current->pid;
		@@ -994,1 +994,1 @@
		-	return from_kgid_munged(current_user_ns(), current_gid());
		+	return from_kgid_munged(current_user_ns(), current_gid()) + !current->pid;
	END
	with_patches "$BATS_TEST_TMPDIR/two-names.patch"
	mkdir "$BATS_TEST_TMPDIR/bad"
	"$(host_program hostile)" --twice "$(patch_module "$BATS_TEST_TMPDIR/two-names.patch")" \
		"$BATS_TEST_TMPDIR/bad" twice __do_sys_getuid
	guest "${patched[@]}" --file "$BATS_TEST_TMPDIR/bad" --expect "it replaces .*, twice$" <<<"$words"'
		modprobe pokepatch
		refused pokepatch load bad/twice.ko
		has "the log" "$(dmesg)" "it replaces __do_sys_getuid, at *_sys_getuid, twice"
		[ ! -e $pokepatch/two_names ] || die "it is loaded"
		pokepatch load "$(patch_file two-names)"
		[ -e $pokepatch/two_names ] || die "it is not loaded"
		pokepatch unload two-names
		rmmod pokepatch
	'
}

@test "a patch whose init fails half-way, and works when it does not" {
	with_patches "$patches"/{agree-1,fail-sysfs}.patch
	guest --exact-slabs "${patched[@]}" --timeout 240 \
		--expect '^pokepatch: agree_1 is refused: its folder in sysfs cannot be made \(-12\)' \
		--expect '^(kobject: )?kobject_add_internal failed for read_null,1 \(error: -12 ' \
		-- "$(rounds 100 20)" <<<"$words"'
		half() {
			refused pokepatch load "$(patch_file agree-1)" >/tmp/error
			has "the error" "$(cat /tmp/error)" "out of memory"
			[ ! -e $pokepatch/agree_1 ] || die "it is in sysfs"
			lacks modules "$(cat /proc/modules)" pokepatch_agree_1
			now "" ""
		}
		pokepatch load "$(patch_file fail-sysfs)"
		half
		inventory /tmp/before
		for _round in $(seq "$1"); do half; done
		same_inventory /tmp/before "$1"
		pokepatch unload fail-sysfs
		pokepatch load "$(patch_file agree-1)"
		now agree-1 111
		pokepatch unload agree-1
		now "" ""
		rmmod pokepatch
	'
}

@test "the core stays as long as there is a patch, enabled or not" {
	with_patches "$patches"/agree-{1,2}.patch
	! can ftrace || patched+=(--module "$(test_module pp_kill)"
		--expect 'the core stays loaded: ftrace failed to unregister its ops'
		--expect 'ftrace refuses|cannot be switched [(]-19[)]')
	guest "${patched[@]}" <<<"$words"'
		taint() { echo $(($(cat /proc/sys/kernel/tainted) >> 15 & 1)); }
		modprobe pokepatch
		same "the taint of live patches, of the core alone" "$(taint)" 0
		pokepatch load "$(patch_file agree-1)"
		same "the taint of live patches" "$(taint)" 1
		modprobe pokepatch-agree-2
		still() {
			refused rmmod pokepatch
			grep -q "^pokepatch .* Live" /proc/modules
			now "$1" "$2"
		}
		still agree-1 111
		pokepatch load --replace "$(patch_file agree-2)"
		still agree-2 222
		pokepatch unload agree-1
		still agree-2 222
		pokepatch disable agree-2
		still "" ""
		pokepatch enable agree-2
		now agree-2 222
		pokepatch unload agree-2
		rmmod pokepatch
		[ ! -e $pokepatch ] || die "the core is there"

		echo "== two loads at once, without a core: one of them inserts it"
		for round in 1 2 3 4 5; do
			pokepatch load "$(patch_file agree-1)" &
			first=$!
			pokepatch load "$(patch_file agree-2)"
			wait $first
			same "both are on" "$(file agree-1 enabled)$(file agree-2 enabled)" 11
			pokepatch unload agree-1
			pokepatch unload agree-2
			rmmod pokepatch
		done
		can ftrace || exit 0

		echo "== ftrace dies: patches can be switched off all the same, and unloaded"
		modprobe pokepatch-agree-1
		folder=$(sysfs agree-1 vmlinux)
		echo entry >$folder/read_null,1/mode
		echo entry >$folder/read_iter_null,1/mode
		echo ftrace >$folder/write_iter_null,1/mode
		enabled agree-1 1
		modprobe pokepatch-agree-2
		enabled agree-2 1
		modprobe pp_kill
		now "agree-1 agree-2" 222
		enabled agree-1 0
		now agree-2 222
		enabled agree-1 1
		now "agree-2 agree-1" 111
		pokepatch unload agree-1
		now agree-2 222
		pokepatch unload agree-2
		now "" ""
		refused rmmod pokepatch
		# Where it needs ftrace no more; and nothing changes if it does.
		modprobe pokepatch-agree-1
		refused pokepatch enable agree-1
		now "" ""
		rmmod pokepatch_agree_1
	'
}

@test "rmmod -f of an enabled patch waits until it is switched off" {
	with_patches "$patches"/{agree-1,sleeper}.patch
	guest "${patched[@]}" --expect 'its module is being removed by force' \
		--expect '^Disabling lock debugging due to kernel taint' <<<"$words"'
		mkfifo /tmp/fifo
		is_gone() { ! grep -q "^pokepatch_sleeper " /proc/modules; }
		start_load cat /dev/null
		for _round in 1 2 3; do
			pokepatch load "$(patch_file agree-1)"
			now agree-1 111
			rmmod -f pokepatch_agree_1
			now "" ""
			[ ! -e $pokepatch/agree_1 ] || die "it is in sysfs"
		done
		stop_load
		pokepatch load "$(patch_file sleeper)"
		echo 0 >/sys/module/pokepatch/parameters/ask_after_ms
		echo 200 >"$(sysfs sleeper timeout_ms)"
		sleep_in_fifo
		rmmod -f pokepatch_sleeper &
		remover=$!
		sleep 1
		kill -KILL $remover
		sleep 1
		is_gone && die "it went from under a task"
		refused rmmod -f pokepatch
		wake_up
		until_true 10 is_gone
		[ ! -e $pokepatch/sleeper ] || die "it is in sysfs"
		rmmod pokepatch
	'
}

@test "a patch made on top of another comes with it, and takes its place; modprobe.d holds" {
	local more=$BATS_TEST_TMPDIR/more.patch both=$BATS_TEST_TMPDIR/pokepatch-both.ko
	local first=$top/examples/proc-version.patch
	with_patches "$first"
	# It changes what the first one has changed, and calls what it adds by itself.
	cat >"$more" <<-'END'
		--- a/fs/proc/version.c
		+++ b/fs/proc/version.c
		@@ -7,10 +7,15 @@
		 #include <linux/utsname.h>
		 #include "internal.h"
		 
		+static noinline const char *name(void)
		+{
		+	return "Twice-patched Linux";
		+}
		+
		 static int version_proc_show(struct seq_file *m, void *v)
		 {
		 	seq_printf(m, linux_proc_banner,
		-		"Live-patched Linux",
		+		name(),
		 		utsname()->release,
		 		utsname()->version);
		 	return 0;
	END
	# Alone it is a change of a source that this kernel was not made from.
	run "$top/build/bin/pokepatch-build" -q -k "$(kernel_release)" -o "$both" "$more"
	[ "$status" -eq 1 ] && [[ $output == *"more.patch"*"does not apply"* ]] || {
		echo "status $status: $output"
		return 1
	}
	[ ! -e "$both" ]
	"$top/build/bin/pokepatch-build" -q -k "$(kernel_release)" -n both -o "$both" "$first" "$more"
	guest "${patched[@]}" --module "$both" <<<'
		version_is() { same /proc/version "$(cut -d " " -f 1 /proc/version)" "$1"; }
		param() { cat /sys/module/pokepatch/parameters/ask_after_ms; }
		mkdir -p /etc/modprobe.d
		echo "options pokepatch ask_after_ms=321" >/etc/modprobe.d/pokepatch.conf
		pokepatch load "$(patch_file proc-version)"
		same "ask_after_ms, by modprobe.d" "$(param)" 321
		version_is Live-patched

		echo "== on top of it, which may go below"
		pokepatch load "$(patch_file both)"
		version_is Twice-patched
		pokepatch disable proc-version
		version_is Twice-patched
		echo "== the newest has the last word"
		pokepatch enable proc-version
		version_is Live-patched
		pokepatch unload proc-version
		version_is Twice-patched
		pokepatch unload both
		version_is Linux
		echo "== in its place"
		pokepatch load "$(patch_file proc-version)"
		pokepatch load --replace=proc-version "$(patch_file both)"
		rmmod pokepatch_proc_version
		version_is Twice-patched
		pokepatch unload both
		version_is Linux
		rmmod pokepatch
		echo >/etc/modprobe.d/pokepatch.conf
		pokepatch load "$(patch_file proc-version)"
		same "ask_after_ms, as built" "$(param)" 500
		pokepatch unload proc-version
	'
}

@test "kexec and reboot, with patches enabled in every mode and one being enabled" {
	needs kexec-file
	local image
	image=$(kernel_image)
	with_patches "$top/examples/proc-version.patch" "$patches"/{agree-1,dummy-setup,sleeper}.patch
	guest "${patched[@]}" --module dummy --file "$image:/boot/vmlinuz" \
		--program "$(test_program kexec)" --program "$(test_program nonblock)" <<<"$words"'
		[ ! -e $pokepatch ] || die "the core is there"
		now "" ""
		lacks /proc/version "$(cat /proc/version)" Live-patched

		pokepatch load --mode entry "$(patch_file proc-version)"
		has /proc/version "$(cat /proc/version)" Live-patched
		pokepatch load --mode $shared_mode "$(patch_file agree-1)"
		now agree-1 111
		pokepatch load --mode ftrace "$(patch_file dummy-setup)"
		modprobe dummy
		same mtu "$(cat /sys/class/net/dummy0/mtu)" 1234
		echo 0 >/sys/module/pokepatch/parameters/ask_after_ms
		mkfifo /tmp/fifo
		sleep_in_fifo
		modprobe pokepatch-sleeper
		echo 600000 >"$(sysfs sleeper timeout_ms)"
		nonblock "$(sysfs sleeper enabled)" 1
		until_true 10 grep -q . "$(sysfs sleeper blocked_by)"
		same state "$(file sleeper state)" enabling
		if grep -qw pp_second /proc/cmdline || ! can kexec; then
			echo "== the last kernel; it ends by a reboot"
			exit 0
		fi
		# The second kernel runs this script, too.
		cd /
		find . -xdev | cpio -o -H newc >/run/initramfs
		kexec /boot/vmlinuz /run/initramfs pp_second
	'
	grep -q "== the last kernel" "$guest_output"
	if can kexec; then
		[ "$(grep -c 'Linux version' "$guest_log")" -eq 2 ]
		[ "$(grep -c 'kexec_core: Starting new kernel' "$guest_log")" -eq 1 ]
	fi
	[[ $(tail -n 1 "$guest_log") == *"reboot: machine restart"* ]] ||
		[[ $(tail -n 1 "$guest_log") == *"reboot: Restarting system"* ]]
}

# For a guest with sleepers.patch enabled: a task, $writer, disables it, and cannot, as another one,
# $sleeper, is in its code, where it can be frozen; and later it can.
frozen_words='
disable_in_vain() {
	echo 1006 >/proc/sys/kernel/panic
	cat /proc/version >/dev/null &
	sleeper=$!
	until_true 10 asleep_in $sleeper version_proc_show
	echo 600000 >"$(sysfs sleepers timeout_ms)"
	sh -c "echo 0 >$(sysfs sleepers enabled)" &
	writer=$!
	until_true 10 grep -q . "$(sysfs sleepers blocked_by)"
}
disable_after_all() {
	# The call was begun anew, and waits as before.
	until_true 10 grep -qx disabling "$(sysfs sleepers state)"
	until_true 10 grep -q . "$(sysfs sleepers blocked_by)"
	echo 0 >/proc/sys/kernel/panic
	wait $writer || die "the patch was not disabled"
	wait $sleeper
	same state "$(file sleepers state)" disabled
}
load_in_two_modes() {
	pokepatch load --mode entry "$(patch_file sleepers)"
	pokepatch load --mode $shared_mode "$(patch_file agree-1)"
}
# After load_in_two_modes, disable_in_vain and the time without power.
all_as_before() {
	now agree-1 111
	disable_after_all
	pokepatch unload sleepers
	pokepatch load "$(patch_file proc-version)"
	has /proc/version "$(cat /proc/version)" Live-patched
	pokepatch unload proc-version
	pokepatch unload agree-1
	now "" ""
}
'

@test "suspend, with a patch enabled, and with tasks that are disabling it and that wait for them" {
	needs suspend
	with_patches "$patches/sleepers.patch"
	# That is about QEMU's clock.
	guest "${patched[@]}" --expect '^ACPI Error: Could not disable RealTimeClock events' <<<"$frozen_words"'
		suspend() {
			echo +6 >/sys/class/rtc/rtc0/wakealarm
			echo mem >/sys/power/state || die "the system was not suspended"
		}
		pokepatch load "$(patch_file sleepers)"
		suspend

		disable_in_vain
		sh -c "echo 0 >$(sysfs sleepers enabled)" &
		second=$!
		until_true 10 asleep_in $second pp_sysfs_enabled_write
		suspend
		same suspends "$(cat /sys/power/suspend_stats/success)" 2
		disable_after_all
		wait $second || die "the second did not find it disabled"
		pokepatch unload sleepers
	'
	[ "$(grep -c 'PM: suspend entry (deep)' "$guest_log")" -eq 2 ]
	[ "$(grep -c 'sleepers: not yet disabled, as tasks are frozen' "$guest_log")" -ge 1 ]
}

@test "suspend to idle, with patches enabled in two modes and one being disabled" {
	needs suspend
	with_patches "$top/examples/proc-version.patch" "$patches"/{agree-1,sleepers}.patch
	guest "${patched[@]}" --module button --power-button 'Suspending console' <<<"$words$frozen_words"'
		# The button, by which it wakes, may be pressed too early: then it was not suspended.
		suspend() {
			until_true 60 eval "echo freeze >/sys/power/state" 2>/dev/null
		}
		modprobe button
		load_in_two_modes
		suspend
		now agree-1 111
		disable_in_vain
		suspend
		same suspends "$(cat /sys/power/suspend_stats/success)" 2
		all_as_before
	'
	[ "$(grep -c 'PM: suspend entry (s2idle)' "$guest_log")" -ge 2 ]
	[ "$(grep -c 'sleepers: not yet disabled, as tasks are frozen' "$guest_log")" -ge 1 ]
}

@test "hibernation, with patches enabled in two modes and one being disabled" {
	needs suspend
	with_patches "$top/examples/proc-version.patch" "$patches"/{agree-1,sleepers}.patch
	guest "${patched[@]}" --disk 512 --module virtio_blk --module virtio_pci <<<"$words$frozen_words"'
		modprobe -a virtio_pci virtio_blk
		# In the second boot this goes on in the first kernel, where it hibernated.
		until_true 10 [ -e /sys/block/vda/dev ]
		cat /sys/block/vda/dev >/sys/power/resume
		echo "== a kernel without an image"
		mkswap /dev/vda >/dev/null
		swapon /dev/vda
		load_in_two_modes
		now agree-1 111
		disable_in_vain

		echo reboot >/sys/power/disk
		echo disk >/sys/power/state || die "the system did not hibernate"

		echo "== resumed"
		all_as_before
	'
	[ "$(grep -c '== a kernel without an image' "$guest_output")" -eq 1 ]
	[ "$(grep -c 'Linux version' "$guest_log")" -eq 2 ]
	[ "$(grep -c '== resumed' "$guest_output")" -eq 1 ]
}

@test "tasks in the way leave at once or are killed, if that is asked for, and a blocked switch is tried again" {
	with_patches "$top"/examples/proc-{version,uptime}.patch "$patches"/{sleeper,sleepers,always-thread}.patch
	guest "${patched[@]}" --timeout 240 <<<"$words"'
		state_is() { [ "$(file $1 state)" = $2 ]; }
		# A task that sleeps killably in the new function.
		sleep_killably() {
			echo 1002 >/proc/sys/kernel/panic
			cat /proc/version >/dev/null &
			sleeper=$!
			until_true 10 asleep_in $sleeper version_proc_show
		}
		wait_killed() {
			_status=0
			wait $sleeper || _status=$?
			same "how the task ended" $_status 137
		}
		killed() { dmesg | grep -c "kills $1\[" || :; }
		modprobe pokepatch
		echo 0 >/sys/module/pokepatch/parameters/ask_after_ms

		echo "== asked to leave at once"
		mkfifo /tmp/fifo
		sleep_in_fifo
		refused pokepatch load --timeout 300 "$(patch_file sleeper)"
		pokepatch load --timeout 3000 --evict "$(patch_file sleeper)"
		same evict "$(file sleeper evict)" 0
		wake_up
		same killed "$(killed cat)" 0
		pokepatch unload sleeper

		echo "== asked and killed"
		pokepatch load "$(patch_file sleepers)"
		sleep_killably
		refused pokepatch disable --timeout 300 --evict sleepers
		refused pokepatch disable --timeout 1500 --evict sleepers
		same "evict, killed" "$(file sleepers evict) $(killed cat)" "0 0"
		kill -0 $sleeper || die "it was killed"
		pokepatch disable --timeout 3000 --evict --evict sleepers &
		disabler=$!
		until_true 10 eval "[ \$(killed cat) = 1 ]"
		wait $disabler || die "it was not disabled"
		same "evict, killed" "$(file sleepers evict) $(killed cat)" "0 1"
		wait_killed
		echo "== within a short time, too"
		for timeout in 400 200; do
			pokepatch enable sleepers
			sleep_killably
			pokepatch disable --timeout $timeout --evict --evict sleepers
			wait_killed
		done
		same killed "$(killed cat)" 3
		echo "== but not by the only attempt, which would not gain by it"
		pokepatch enable sleepers
		sleep_killably
		refused pokepatch disable --timeout 0 --evict --evict sleepers
		same killed "$(killed cat)" 3
		# It is not tried again.
		until_true 10 eval "[ \$(file sleepers blocked_since) = 0 ]"
		state_is sleepers blocked
		kill -9 $sleeper
		wait_killed
		pokepatch disable sleepers
		refused pokepatch enable --evict --evict --evict sleepers
		same state "$(file sleepers state)" disabled

		echo "== a task that comes later is asked first"
		# If the first is killed before the second is there, that shows nothing.
		spared() {
			# This empties blocked_by.
			pokepatch enable sleepers
			sleep_killably
			first=$sleeper
			pokepatch disable --timeout 800 --evict --evict sleepers 2>/dev/null &
			disabler=$!
			until_true 10 grep -q . "$(sysfs sleepers blocked_by)"
			cat /proc/version >/dev/null &
			second=$!
			until asleep_in $second version_proc_show 2>/dev/null || ! kill -0 $first 2>/dev/null; do
				usleep 20000
			done
			if kill -0 $first 2>/dev/null; then
				wait $disabler && die "the second was killed, too"
				! asleep_in $second version_proc_show || kill -0 $first 2>/dev/null || return 0
			fi
			kill -9 $first $second 2>/dev/null
			wait $first $second $disabler
			[ "$(file sleepers enabled)" = 0 ] || pokepatch disable sleepers
			return 1
		}
		until_true 20 spared
		kill -9 $second
		pokepatch disable sleepers

		echo "== a thread of the kernel is never killed"
		kills=$(killed "[a-z]*")
		refused pokepatch load --timeout 1500 --evict --evict "$(patch_file always-thread)"
		same killed "$(killed "[a-z]*")" $kills

		echo "== tried again until it succeeds"
		pokepatch enable sleepers
		sleep_killably
		refused pokepatch disable --timeout 100 --retry 200 sleepers | grep "tries again after 200 ms"
		since=$(file sleepers blocked_since)
		[ $since -gt 0 ] || die "it is not blocked since any time"
		until_true 10 eval "[ \$(dmesg | grep -c \"sleepers: cannot be disabled: tasks\") -ge 5 ]"
		# Between two attempts, of which one may have just begun.
		until_true 10 state_is sleepers blocked
		same enabled "$(file sleepers enabled)" 1
		same "blocked since" "$(file sleepers blocked_since)" $since
		kill -9 $sleeper
		until_true 10 state_is sleepers disabled
		same "blocked since" "$(file sleepers blocked_since)" 0
		wait_killed

		echo "== or until another write"
		pokepatch enable sleepers
		sleep_killably
		refused pokepatch disable --timeout 100 sleepers
		pokepatch enable sleepers
		kill -9 $sleeper
		wait_killed
		sleep 1
		same "state, enabled" "$(file sleepers state) $(file sleepers enabled)" "enabled 1"
		echo 0 >$(sysfs sleepers retry_ms)
		(echo 3 >$(sysfs sleepers evict)) 2>/dev/null && die "evict is 3"
		(echo 99 >$(sysfs sleepers retry_ms)) 2>/dev/null && die "retry_ms is 99"

		echo "== or until it is loaded once more"
		sleep_killably
		refused pokepatch disable --timeout 100 --retry 200 sleepers
		pokepatch load "$(patch_file sleepers)"
		kill -9 $sleeper
		wait_killed
		sleep 1
		same "state, enabled" "$(file sleepers state) $(file sleepers enabled)" "enabled 1"

		echo "== or until a newer patch replaces it"
		sleep_killably
		refused pokepatch load --timeout 100 --retry 200 --replace "$(patch_file proc-version)"
		until_true 10 state_is proc-version blocked
		until_true 10 pokepatch load --replace=proc-version "$(patch_file proc-uptime)"
		same "its state" "$(file proc-version state)" disabled
		kill -9 $sleeper
		wait_killed
		sleep 1
		same "enabled" "$(file proc-version enabled) $(file proc-uptime enabled)" "0 1"
		pokepatch unload proc-version
		pokepatch unload proc-uptime
		echo 0 >$(sysfs sleepers retry_ms)

		echo "== a patch that is loaded stays, if it is tried again"
		sleep_killably
		refused pokepatch load --timeout 100 "$(patch_file proc-version)"
		[ ! -e $pokepatch/proc_version ] || die "it stays loaded"
		refused pokepatch load --timeout 100 --retry 200 "$(patch_file proc-version)"
		# It is being tried again by now, if the machine is slow.
		until_true 10 state_is proc-version blocked
		echo "== and goes while it is tried again"
		pokepatch unload proc-version
		refused pokepatch load --retry 200 "$(patch_file proc-version)"
		pokepatch unload proc-version
		refused pokepatch load --timeout 100 --retry 200 "$(patch_file proc-version)"
		kill -9 $sleeper
		wait_killed
		until_true 10 state_is proc-version enabled
		pokepatch unload proc-version
		pokepatch unload sleepers
		rmmod pokepatch
	'
}

@test "an oops names the patch, its level and its function, and so does a crash dump" {
	needs kexec kexec-file
	local image
	image=$(kernel_image)
	cat >"$BATS_TEST_TMPDIR/oopses.patch" <<-'END'
		--- a/fs/proc/version.c
		+++ b/fs/proc/version.c
		@@ -9,5 +9,6 @@
		 
		 static int version_proc_show(struct seq_file *m, void *v)
		 {
		+	BUG_ON(m->count == 0 && current->comm[0] == 'd');
		 	seq_printf(m, linux_proc_banner,
		 		utsname()->sysname,
	END
	with_patches "$patches/agree-1.patch"
	patched+=(--module "$(patch_module "$BATS_TEST_TMPDIR/oopses.patch" oopses --level 7)")
	guest "${patched[@]}" --memory 640 --append "crashkernel=256M panic_on_oops=1" \
		--expect '^kernel BUG at fs/proc/version.c:12!' --expect '^pokepatch: patch agree_1 is enabled, level 0, stack order 1$' \
		--expect '^pokepatch: the oops is in patch oopses, level 7, stack order 2, function version_proc_show$' \
		--file "$image:/boot/vmlinuz" --program "$(test_program kexec)" <<<"$words"'
		if [ -e /proc/vmcore ]; then
			echo "== in the dump"
			# The script itself is in there, too, and must not match.
			kexec --dumped "pokepatch: " | grep -o -e "^pokepatch: the oops is in patch oopses, level [7], stack order 2, function version_proc_show" \
				-e "^pokepatch: patch agree_1 is enabled, level [0], stack order 1" | sort -u
			exit 0
		fi
		pokepatch load "$(patch_file agree-1)"
		pokepatch load "$(patch_file oopses)"
		cat /proc/version
		cd /
		find . -xdev | cpio -o -H newc >/run/initramfs
		kexec --crash /boot/vmlinuz /run/initramfs
		# The second kernel complains if another processor than the first has crashed.
		taskset 1 dd if=/proc/version
	'
	sed '1,/^== in the dump/d' "$guest_output" >"$BATS_TEST_TMPDIR/told"
	diff - "$BATS_TEST_TMPDIR/told" <<-'END'
		pokepatch: patch agree_1 is enabled, level 0, stack order 1
		pokepatch: the oops is in patch oopses, level 7, stack order 2, function version_proc_show
	END
}

@test "a panic without an oops names the enabled patches, and one that an oops leads to does not name them again" {
	local trouble
	with_patches "$top/examples/proc-version.patch" "$patches/agree-1.patch"
	for trouble in panic oops; do
		guest_fails 122 "${patched[@]}" --module "$(test_module pp_trouble)" -- $trouble <<<"$words"'
			pokepatch load "$(patch_file agree-1)"
			pokepatch load "$(patch_file proc-version)"
			pokepatch disable proc-version
			modprobe pp_trouble trouble="$1"
		'
		grep -q "Kernel panic - not syncing: " "$guest_log"
		[ "$(tr -d '\r' <"$guest_log" | grep -o 'pokepatch: patch .*')" = \
			"pokepatch: patch agree_1 is enabled, level 0, stack order 1" ]
	done
}
