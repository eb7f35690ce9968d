# SPDX-License-Identifier: GPL-2.0-or-later
# The core on a kernel that reports data races: see run.  Each script on this kernel fails if the
# core made one of the two accesses of a race (../scan.awk, ../allow-list), or if KCSAN was off
# (../guest/run).

load ../helpers

patches=$top/test/vm/patches

@test "all files are read, histories followed, parents come and go, and tasks are in the way of switches" {
	local seconds=${POKEPATCH_KCSAN_SECONDS:-90}
	with_patches "$patches"/{agree-1,agree-2,sleepers,dummy-setup}.patch
	patched+=(--module "$(patch_module "$patches/sleeper.patch" sleeper-live --transition live)")
	patched+=(--module "$(test_module pp_often)")
	guest "${patched[@]}" --module dummy --program "$(test_program texthist)" \
		--timeout $((seconds * 3 + 240)) -- "$seconds" <<-'END'
		now() { cut -d. -f1 /proc/uptime; }
		ends=$(($(now) + $1)) others=''
		# beside COMMAND... - again and again, in the background, until /tmp/stop is there.
		beside() {
			while [ ! -e /tmp/stop ]; do "$@" >/dev/null 2>&1 || :; done &
			others="$others $!"
			renice -n 19 -p $! >/dev/null
		}
		read_files() { find $pokepatch /sys/module/pokepatch/parameters -type f -exec cat {} + ; }
		write_files() {
			for _time in 10000 20000 30000; do
				echo ${_time}000 >$pokepatch/agree_1/timeout_ms
				echo $_time >/sys/module/pokepatch/parameters/max_stop_us
			done
		}
		come_and_go() {
			modprobe dummy
			rmmod dummy
		}
		# Little is kept of the history but for readers.
		modprobe pokepatch history_kb=32 snapshots_kb=64
		echo 0 >/sys/module/pokepatch/parameters/ask_after_ms
		often=/sys/module/pp_often/parameters
		modprobe pp_often skip=0x$(awk '$3 == "kcsan_skip" { print $1 }' /proc/kallsyms)
		# Not what is called for each of the kernel's symbols, for each frame, or for each string.
		for _function in $(awk '$2 == "t" && $4 == "[pokepatch]" &&
			$3 !~ /symbol|lookup|visit|compare|range|label|image/ { print $1 }' /proc/kallsyms); do
			echo $_function >$often/function || :
		done 2>/dev/null
		echo 1 >$often/on
		# All others seldom.
		echo 50000 >/sys/module/kcsan/parameters/skip_watch
		pokepatch load "$(patch_file agree-1)"
		# Three functions, between whose calls the caller sleeps.
		read_versions() {
			versions
			usleep 100000
		}
		beside read_versions
		# Tasks that exit, often two at once.
		exits() {
			for _exit in 1 2 3 4 5 6 7 8 9 10; do (:); done
			usleep 50000
		}
		beside exits
		beside exits
		followers=''
		for seed in 1 2 3; do
			texthist follow $seed >/tmp/follow-$seed &
			followers="$followers $!"
		done
		beside read_files
		beside read_files
		beside write_files
		beside come_and_go

		modes() { for _file in "$(sysfs $1 vmlinux)"/*/mode; do echo $2 >"$_file"; done; }
		# One patch takes over from the other, and back.
		take_over() {
			modprobe pokepatch-agree-2
			echo 60000 >"$(sysfs agree-2 timeout_ms)"
			enabled agree-1 0
			modes agree-1 $1
			modes agree-2 $1
			enabled agree-1 1
			for _name in agree-2 agree-1; do
				echo "*" >"$(sysfs $_name replace)"
				enabled $_name 1
			done
			rmmod pokepatch_agree_2
		}
		# A task sleeps in a function that is left by a live switch: its module stays until it wakes.
		drain() {
			modprobe pokepatch-sleeper-live
			modes sleeper-live $1
			enabled sleeper-live 1
			sleep_in_fifo
			enabled sleeper-live 0
			enabled sleeper-live 1
			enabled sleeper-live 0
			wake_up
			until_true 30 rmmod pokepatch_sleeper_live 2>/dev/null
		}
		# A switch is blocked, and tried again, until the task in the way is killed.
		block() {
			pokepatch load "$(patch_file sleepers)"
			echo 1002 >/proc/sys/kernel/panic
			cat /proc/version >/dev/null &
			sleeper=$!
			until_true 30 asleep_in $sleeper version_proc_show
			refused pokepatch disable --timeout 100 --retry 100 sleepers
			pokepatch disable --timeout 30000 --evict --evict sleepers
			wait $sleeper || :
			echo 0 >/proc/sys/kernel/panic
			rmmod pokepatch_sleepers
		}
		mkfifo /tmp/fifo
		rounds=0
		while [ $rounds -eq 0 ] || [ "$(now)" -lt $ends ]; do
			for mode in $all_modes; do
				take_over $mode
				drain $mode
			done
			modprobe pokepatch-dummy-setup
			enabled dummy-setup 1
			block
			enabled dummy-setup 0
			until_true 30 rmmod pokepatch_dummy_setup 2>/dev/null
			rounds=$((rounds + 1))
		done

		kill $followers
		: >/tmp/stop
		for _pid in $followers; do wait $_pid || die "follow: $(cat /tmp/follow-*)"; done
		# shellcheck disable=SC2086 # several processes
		wait $others
		rmmod dummy 2>/dev/null || :
		pokepatch unload agree-1
		entries=$(cat $often/entries)
		[ "$entries" -ge 10000 ] || die "few functions of the core were entered: $entries"
		rmmod pp_often
		rmmod pokepatch
		echo "$rounds rounds"
		cat /tmp/follow-*
		echo "watched $(awk '$1 == "setup_watchpoints:" { print $2 }' /sys/kernel/debug/kcsan)," \
			"entries $entries"
	END
	say "$(tail -n 5 "$guest_output" | tr '\n' ' ')"
}
