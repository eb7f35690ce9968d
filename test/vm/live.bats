# SPDX-License-Identifier: GPL-2.0-or-later
# Live transitions: functions are switched one by one while everything runs.

load helpers

patches=$top/test/vm/patches

# live PATCH-FILE... - add them to $patched, built with --transition live, as NAME-live.
live() {
	local patch module
	for patch; do
		module=$(patch_module "$patch" "$(basename "$patch" .patch)-live" --transition live) ||
			return 1
		patched+=(--module "$module")
	done
}

words='
loaded() { grep -q "^pokepatch_$(patch_id "$1") " /proc/modules; }
never_ask() { echo 0 >/sys/module/pokepatch/parameters/ask_after_ms; }
# log PATTERN - a line of the kernel log has it.
log() { dmesg | grep -q "$1"; }
'

@test "live: a function that a task sleeps in is switched; its module stays until the task has left" {
	with_patches "$patches/sleeper.patch"
	live "$patches/sleeper.patch"
	guest "${patched[@]}" --timeout 240 \
		--expect '^Disabling lock debugging due to kernel taint' <<<"$words"'
		mkfifo /tmp/fifo
		in_new() { asleep_in $sleeper pokepatch_sleeper_live; }
		modprobe pokepatch-sleeper
		modprobe pokepatch-sleeper-live
		never_ask
		echo 300 >"$(sysfs sleeper timeout_ms)"
		for mode in $all_modes; do
			echo "== $mode"
			[ -e "$(sysfs sleeper-live enabled)" ] || modprobe pokepatch-sleeper-live
			echo $mode >"$(sysfs sleeper-live vmlinux/wait_for_partner,1/mode)"
			sleep_in_fifo
			refused pokepatch enable sleeper
			enabled sleeper-live 1
			same state "$(file sleeper-live state)" enabled
			same mode "$(file sleeper-live vmlinux/wait_for_partner,1/mode)" $mode
			same stop_ns "$(file sleeper-live stop_ns)" 0
			if in_new; then die "the sleeper is in the new function"; fi
			wake_up

			sleep_in_fifo
			in_new
			enabled sleeper-live 0
			same state "$(file sleeper-live state)" disabled
			same "stop_ns of the switch" "$(file sleeper-live stop_ns)" 0
			same blocked_by "$(file sleeper-live blocked_by)" "$sleeper cat wait_for_partner"
			sleep 1
			refused rmmod pokepatch_sleeper_live
			in_new
			# Others are in the old function again.
			mkfifo /tmp/other
			cat /tmp/other &
			other=$!
			until_true 10 asleep_in $other wait_for_partner
			if asleep_in $other pokepatch; then die "the new function was called"; fi
			echo >/tmp/other
			wait $other
			rm /tmp/other

			# A stop would mix the two: who is in what was left must have gone as well.
			refused pokepatch enable sleeper
			has blocked_by "$(file sleeper blocked_by)" "$sleeper cat wait_for_partner"
			wake_up
			enabled sleeper 1
			enabled sleeper 0

			case $mode in
			entry)
				unload_when_free sleeper-live
				;;
			direct) # Enabled again, and disabled when nobody is there: gone at once.
				enabled sleeper-live 1
				enabled sleeper-live 0
				same blocked_by "$(file sleeper-live blocked_by)" ""
				rmmod pokepatch_sleeper_live
				;;
			ftrace) # Enabled again while somebody is.
				enabled sleeper-live 1
				sleep_in_fifo
				enabled sleeper-live 0
				enabled sleeper-live 1
				sleep 1
				refused rmmod pokepatch_sleeper_live
				enabled sleeper-live 0
				wake_up
				unload_when_free sleeper-live
				;;
			esac
		done

		echo "== removed by force: that waits as well"
		modprobe pokepatch-sleeper-live
		enabled sleeper-live 1
		sleep_in_fifo
		enabled sleeper-live 0
		rmmod -f pokepatch_sleeper_live &
		removal=$!
		sleep 1
		in_new
		kill -0 $removal
		wake_up
		wait $removal

		echo "== asked to leave, the sleeper does"
		echo 500 >/sys/module/pokepatch/parameters/ask_after_ms
		modprobe pokepatch-sleeper-live
		enabled sleeper-live 1
		sleep_in_fifo
		in_new
		enabled sleeper-live 0
		unload_when_free sleeper-live
		asleep_in $sleeper wait_for_partner
		wake_up
		rmmod pokepatch_sleeper pokepatch
	'
}

@test "live: one set of syncs for all functions, a thousand even; probes at the entry" {
	with_patches "$patches/netdev-printk.patch" "$top/examples/proc-version.patch"
	live "$patches/netdev-printk.patch" "$top/examples/proc-version.patch"
	guest "${patched[@]}" --module dummy --module "$(test_module pp_crowd)" \
		--module "$(crowd_patch 10 live)" --module "$(crowd_patch 1000 live)" --timeout 240 <<<"$words"'
		# The protocol of breakpoints: each sync runs do_sync_core() on each CPU.
		if can exact-live; then
			echo "p:pp/sync do_sync_core" >$tracing/kprobe_events
			echo 1 >$tracing/events/pp/enable
		fi
		nr=$(nproc)
		# syncs WHAT NUMBER COMMAND... - so many it takes, if it takes any.
		syncs() {
			_what=$1 _wanted=$2
			shift 2
			if ! can exact-live; then
				"$@"
				return
			fi
			_before=$(hits sync)
			"$@"
			same "syncs for $_what" $((($(hits sync) - _before) / nr)) $_wanted
		}
		patched_calls() { dmesg | grep -c "live-patched netdev_info"; }
		modprobe dummy
		modprobe pokepatch-netdev-printk-live
		modprobe pokepatch-proc-version-live
		# At the first switch the tables of the kernel are tried, with a function for that.
		enabled proc-version-live 1
		enabled proc-version-live 0
		syncs "one function" 3 enabled proc-version-live 1
		has /proc/version "$(cat /proc/version)" Live-patched

		echo 1 >"$(sysfs netdev-printk-live enabled)"
		modes=$(cat $(sysfs netdev-printk-live vmlinux)/*/mode | sort | uniq -c | tr -s " \n" " ")
		has modes "$modes" entry
		enabled netdev-printk-live 0
		for mode in ftrace entry; do
			for folder in $(sysfs netdev-printk-live vmlinux)/*,1; do
				echo $mode >$folder/mode
			done
			# ftrace mode writes no text for the switch, but ftrace does for its sites.
			switch=
			[ $mode = ftrace ] || switch="syncs seven 3"
			$switch enabled netdev-printk-live 1
			same modes "$(cat $(sysfs netdev-printk-live vmlinux)/*/mode | sort -u)" $mode
			ip link set dummy0 name $mode
			ip link set $mode name dummy0
			$switch enabled netdev-printk-live 0
		done
		same "calls of the new function" "$(patched_calls)" 4
		enabled proc-version-live 0
		lacks /proc/version "$(cat /proc/version)" Live-patched
		unload_when_free netdev-printk-live

		# The kernel writes 256 at a time.
		crowd() { same "patched functions" "$(cat /sys/module/pp_crowd/parameters/patched)" $1; }
		asked() { # PATCH MODE
			for folder in $(sysfs $1 pp_crowd)/*,1; do
				echo $2 >$folder/mode
			done
		}
		modes_are() { same "modes of $1" "$(cat $(sysfs $1 pp_crowd)/*/mode | sort -u)" $2; }
		modprobe pp_crowd
		modprobe pokepatch-crowd-10-live
		modprobe pokepatch-crowd-1000-live
		asked crowd_1000_live entry
		syncs 1000 12 enabled crowd_1000_live 1
		crowd 1000
		# On top, and below.
		syncs 10 3 enabled crowd_10_live 1
		modes_are crowd_10_live entry
		crowd 1000
		syncs "the other 990" 12 enabled crowd_1000_live 0
		crowd 10
		enabled crowd_10_live 0
		crowd 0
		! can exact-live || stop_hits
		asked crowd_10_live $shared_mode
		enabled crowd_10_live 1
		modes_are crowd_10_live $shared_mode
		crowd 10
		asked crowd_1000_live auto
		enabled crowd_1000_live 1
		crowd 1000
		# Stubs are handed over.
		enabled crowd_10_live 0
		crowd 1000
		enabled crowd_1000_live 0
		crowd 0
		unload_when_free crowd_10_live
		unload_when_free crowd_1000_live
		rmmod pp_crowd

		is_new() { has /proc/version "$(cat /proc/version)" Live-patched; }
		is_old() { lacks /proc/version "$(cat /proc/version)" Live-patched; }
		mode() { file proc-version-live vmlinux/version_proc_show,1/mode; }
		mode_is() { [ "$(mode)" = $1 ]; }
		address=$(awk '"'"'$3 == "version_proc_show" && !$4 { print "0x" $1 }'"'"' /proc/kallsyms)
		probe() {
			echo "p:pp/entry $address" >$tracing/kprobe_events &&
				echo 1 >$tracing/events/pp/enable
		}
		for mode in ${all_modes#entry }; do
			echo "== $mode: a probe was there before; it leaves while the function is patched, and comes"
			probe
			echo $mode >"$(sysfs proc-version-live vmlinux/version_proc_show,1/mode)"
			enabled proc-version-live 1
			is_new
			same "hits of the probe" "$(hits entry)" 1
			stop_hits
			is_new
			probe
			is_new
			enabled proc-version-live 0
			is_old
			same "hits of the probe" "$(hits entry)" 2
			stop_hits
			is_old
		done
		echo "== entry: it comes, and is refused where it would have no effect"
		echo entry >"$(sysfs proc-version-live vmlinux/version_proc_show,1/mode)"
		enabled proc-version-live 1
		if can guard && can entry-probes; then
			refused probe
			is_new
			enabled proc-version-live 0
		else
			probe
			until_true 5 mode_is entry
			is_new
			enabled proc-version-live 0
			is_old
			same "hits of the probe" "$(hits entry)" 2
			stop_hits
		fi
		is_old
		unload_when_free proc-version-live
		rmmod pokepatch
	'
}

@test "live: entries that lie across words, mixed with switches in a stop; late parents" {
	needs split-entries
	with_patches "$patches"/{netdev-printk,brd-cleanup}.patch
	live "$patches"/{netdev-printk,brd-cleanup}.patch
	guest "${patched[@]}" --module dummy --module brd --module "$(test_module pp_probe)" \
		-- "$(entry_offset)" <<<"$words"'
		entry_offset=$1
		modes() { cat $(sysfs "$1" vmlinux)/*/mode | sort -u | tr "\n" " "; }
		patched_calls() { dmesg | grep -c "live-patched netdev_info"; }
		crosses() { [ $((($(cat $1/old_addr) + entry_offset) & 7)) -gt 3 ]; }
		calls=0
		rename_patched() { # FROM TO
			ip link set $1 name $2
			calls=$((calls + 1))
			same "calls of the new function" "$(patched_calls)" $calls
		}
		modprobe dummy
		modprobe pokepatch-netdev-printk-live
		crossing=0
		for folder in $(sysfs netdev-printk-live vmlinux)/*,1; do
			! crosses $folder || crossing=$((crossing + 1))
		done
		[ $crossing -gt 0 ] || die "no entry is in two words"
		pokepatch unload netdev-printk-live

		start_load cat /sys/module/printk/parameters/time
		for name in one two three; do
			pokepatch load "$(patch_file netdev-printk-live)"
			same modes "$(modes netdev-printk-live)" "entry "
			rename_patched dummy0 $name

			# A stop switches such entries too: to another patch, and together with one.
			modprobe pokepatch-netdev-printk
			enabled netdev-printk 1
			rename_patched $name dummy0
			enabled netdev-printk 0
			rename_patched dummy0 $name
			echo netdev-printk-live | tr - _ >"$(sysfs netdev-printk replace)"
			enabled netdev-printk 1
			same states "$(file netdev-printk state) $(file netdev-printk-live state)" \
				"enabled disabled"
			rename_patched $name dummy0
			pokepatch unload netdev-printk
			until_true 20 rmmod pokepatch_netdev_printk_live 2>/dev/null
			ip link set dummy0 name $name
			same "calls of the new function" "$(patched_calls)" $calls
			ip link set $name name dummy0
		done
		stop_load

		echo "== one that is not given back yet"
		pokepatch load "$(patch_file netdev-printk-live)"
		for folder in $(sysfs netdev-printk-live vmlinux)/*,1; do
			! crosses $folder || break
		done
		# The kind of probe that redirects.  kprobes is switched off, or it would be refused.
		echo 0 >/sys/kernel/debug/kprobes/enabled
		modprobe pp_probe behind=1 at=$(cat $folder/old_addr)
		echo 1 >/sys/kernel/debug/kprobes/enabled
		pokepatch unload netdev-printk-live
		modprobe pokepatch-netdev-printk
		enabled netdev-printk 1
		same modes "$(modes netdev-printk)" "entry entry,shadows:kprobe "
		rename_patched dummy0 four
		rmmod pp_probe
		pokepatch unload netdev-printk

		echo "== late parents"
		brd_calls() { dmesg | grep -c "live-patched brd_cleanup" || :; }
		wanted=0
		for patch in brd-cleanup-live brd-cleanup; do
			modprobe pokepatch-$patch
			enabled $patch 1
			modprobe brd rd_nr=1
			crosses $(sysfs $patch brd/brd_cleanup,1) || die "the entry is in one word"
			same mode "$(file $patch brd/brd_cleanup,1/mode)" entry
			enabled $patch 0
			enabled $patch 1
			rmmod brd
			wanted=$((wanted + 1))
			same "calls of the new function" "$(brd_calls)" $wanted
			enabled $patch 0
		done
		enabled brd-cleanup-live 1
		enabled brd-cleanup 1
		modprobe brd rd_nr=1
		rmmod brd
		same "calls of the new function" "$(brd_calls)" $((wanted + 1))
		pokepatch unload brd-cleanup
		pokepatch unload brd-cleanup-live
		rmmod pokepatch
	'
}

@test "live: patches that stack, and that replace each other" {
	with_patches "$top/test/bench/int-pow.patch" "$patches/int-pow-three.patch"
	live "$top/test/bench/int-pow.patch" "$patches/int-pow-three.patch"
	guest --timeout 300 "${patched[@]}" --module "$(test_module pp_icount)" <<<"$words"'
		# What int_pow(1, 0) returns: 1, patched 2 or 3.
		result() { awk "NR == 1 { print \$3 }" /sys/module/pp_icount/parameters/measure; }
		stopped() { [ "$(file "$1" stop_ns)" -gt 0 ]; }
		replaces() {
			modprobe "pokepatch-$1"
			patch_id "$2" >"$(sysfs "$1" replace)"
			enabled "$1" 1
		}
		modprobe pp_icount
		start_load cat /sys/module/pp_icount/parameters/measure
		for mode in $all_modes; do
			echo "== $mode"
			pokepatch load --mode $mode "$(patch_file int-pow-live)"
			same "first" "$(result)" 2
			pokepatch load "$(patch_file int-pow-three-live)"
			same "second on top" "$(result)" 3
			if stopped int-pow-three-live; then die "the machine was stopped"; fi
			# The lower one leaves: in direct mode, the owner of the stub.
			pokepatch unload int-pow-live
			same "second alone" "$(result)" 3
			pokepatch load "$(patch_file int-pow-live)"
			same "first on top" "$(result)" 2
			pokepatch disable int-pow-live
			same "second again" "$(result)" 3

			# Live replaces live: live.  One of the two is not: stop.
			replaces int-pow-live int-pow-three-live
			same "replaced" "$(result)" 2
			same "state of the replaced one" "$(file int-pow-three-live state)" disabled
			if stopped int-pow-live; then die "the machine was stopped"; fi
			pokepatch unload int-pow-three-live
			replaces int-pow-three int-pow-live
			same "replaced by a stop" "$(result)" 3
			stopped int-pow-three
			unload_when_free int-pow-live
			replaces int-pow-live int-pow-three
			same "replaces with a stop" "$(result)" 2
			stopped int-pow-live
			rmmod pokepatch_int_pow_three
			pokepatch unload int-pow-live
			same "all gone" "$(result)" 1
		done
		stop_load
		rmmod pokepatch
	'
}
