# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Constant tables that a patch carries: they take effect with the patch, and go with it.

load helpers

@test "words of /proc, and a policy of netlink attributes" {
	with_patches "$top"/test/vm/patches/{task-state,short-names}.patch
	guest "${patched[@]}" --module dummy <<-'END'
		state() {
			grep ^State: /proc/self/status >state.txt
			has "the state, $1" "$(cat state.txt)" "R ($1)"
		}
		modprobe dummy numdummies=0
		state running
		ip link add name dummy77 type dummy
		ip link delete dummy77

		pokepatch load "$(patch_file task-state)"
		pokepatch load "$(patch_file short-names)"
		for round in 1 2 3; do
			state ran
			refused ip link add name dummy77 type dummy
			ip link add name dum7 type dummy
			ip link delete dum7

			pokepatch disable task-state
			pokepatch disable short-names
			state running
			ip link add name dummy77 type dummy
			ip link delete dummy77
			pokepatch enable short-names
			pokepatch enable task-state
		done
		# What has an address of the patch's tables may keep it.
		pokepatch disable task-state
		refused pokepatch unload task-state
	END
}
