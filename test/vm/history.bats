# SPDX-License-Identifier: GPL-2.0-or-later
# The text history: what the device says, and that perf and tracefs say the same.

load helpers

patches=$top/test/vm/patches

# history_patches - $patched: history-null in both kinds, agree-1 and agree-2, the program.
history_patches() {
	local program module
	with_patches "$patches"/{history-null,agree-1,agree-2}.patch
	module=$(patch_module "$patches/history-null.patch" history-null-live --transition live) ||
		return 1
	program=$(test_program texthist) || return 1
	patched+=(--module "$module" --program "$program")
}

words='
device=/dev/pokepatch_history
parameter() { echo "$2" >/sys/module/pokepatch/parameters/$1; }
mode() { # PATCH MODE [MODE]: of read_null() and write_null()
	echo "$2" >"$(sysfs "$1" vmlinux/read_null,1/mode)"
	echo "${3:-$2}" >"$(sysfs "$1" vmlinux/write_null,1/mode)"
}
on_and_off() { # PATCH [TIMES]
	for _time in $(seq ${2:-1}); do
		echo 1 >"$(sysfs $1 enabled)" || return
		echo 0 >"$(sysfs $1 enabled)" || return
	done
}
'

@test "the device, perf and tracefs tell of the same changes, each once, in all modes" {
	history_patches
	guest "${patched[@]}" --timeout 300 <<<"$words"'
		modprobe pokepatch-history-null
		modprobe pokepatch-history-null-live
		for patch in history-null history-null-live; do
			for mode in entry direct ftrace; do
				echo "== $patch $mode"
				mode $patch $mode
				texthist agree sh -c "
					echo 1 >$(sysfs $patch enabled) && echo 0 >$(sysfs $patch enabled)"
			done
		done
		rmmod pokepatch_history_null
		rmmod pokepatch_history_null_live
		rmmod pokepatch
	'
}
