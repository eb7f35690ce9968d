# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Functions that return at once (pokepatch-build --return), in a running kernel.  How they are made
# and refused: host/returns.bats.

load helpers

# return_patch NAME OPTION... - path of pokepatch-NAME.ko, made with these options of pokepatch-build.
return_patch() {
	local release file
	release=$(kernel_release)
	file=$build/patches/$release/pokepatch-$1.ko
	newer_than="$top/build/bin/pokepatch-build $top/core-module $top/patches/module/* $BATS_TEST_FILENAME" \
		once_per_check "$file" "$top/build/bin/pokepatch-build" --quiet -k "$release" -n "$1" \
		-o "$file" "${@:2}" >&2 || return 1
	echo "$file"
}

# What the guest sees of an integer, a pointer, a void function, and a function of a module.
words='
stock() {
	grep -q "^Linux version" /proc/version || die "no version: $1"
	[ -n "$(cat /proc/consoles)" ] || die "no consoles: $1"
	grep -q "^Name:.*[a-z]" /proc/self/status || die "no name: $1"
	# seq_file writes what it is told to, and nothing if the function returns at once.
	[ -n "$(cat /proc/uptime)" ] || die "no uptime: $1"
}
early() {
	told=$(cat /proc/version 2>&1) && die "a version: $told"
	has "the error" "$told" "Operation not permitted"
	same "consoles" "$(cat /proc/consoles)" ""
	same "uptime" "$(cat /proc/uptime)" ""
	lacks "a name" "$(grep ^Name: /proc/self/status)" grep
}
'

@test "functions return at once, in each mode, until the patch is rolled back" {
	with_patches
	patched+=(--module "$(return_patch returns --return version_proc_show=-EPERM \
		--return uptime_proc_show=0 --return consoles.c:c_start=NULL --return proc_task_name)")
	guest "${patched[@]}" <<<"$words"'
		stock "at first"
		for mode in $all_modes; do
			echo "== mode $mode"
			pokepatch load --mode $mode "$(patch_file returns)"
			early
			for function in version_proc_show uptime_proc_show c_start proc_task_name; do
				same "mode of $function" "$(cat "$(echo "$(sysfs returns vmlinux)"/$function,*)/mode")" $mode
			done
			enabled returns 0
			stock "off"
			enabled returns 1
			early
			pokepatch unload returns
			stock "at last"
		done'
}

@test "a function of a module that comes later returns at once" {
	with_patches
	patched+=(--module "$(return_patch late-return --return dummy:dummy_dev_init=-ENOSPC)")
	guest "${patched[@]}" --module dummy <<-'END'
		devices() { ls /sys/class/net; }
		modprobe dummy
		has "the devices" "$(devices)" dummy0
		rmmod dummy

		echo "== the patch first"
		pokepatch load "$(patch_file late-return)"
		said=$(modprobe dummy 2>&1) && die "dummy0 can be made"
		has "what modprobe said" "$said" "No space left on device"
		lacks "the devices" "$(devices)" dummy0
		enabled late-return 0
		modprobe dummy
		has "the devices" "$(devices)" dummy0

		echo "== the module first"
		rmmod dummy
		modprobe dummy numdummies=0
		enabled late-return 1
		said=$(ip link add dummy7 type dummy 2>&1) && die "dummy7 can be made"
		has "what ip said" "$said" "No space left on device"
		pokepatch unload late-return
		ip link add dummy7 type dummy
		has "the devices" "$(devices)" dummy7
		rmmod dummy
	END
}
