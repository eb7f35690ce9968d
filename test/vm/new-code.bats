# SPDX-License-Identifier: GPL-2.0-or-later
# What new code may have and use: static keys and static calls of its own, and what the kernel exports
# to a namespace.

load helpers

@test "a static call and static keys of the patch's own" {
	with_patches "$top/test/vm/patches/new-keys.patch"
	guest "${patched[@]}" <<-'END'
		words() { cut -d ' ' -f 1-3 /proc/version; }
		pokepatch load "$(patch_file new-keys)"
		for _round in 1 2 3; do
			same "the first read" "$(words)" "first off on"
			same "the second read" "$(words)" "second on off"
		done
		pokepatch disable new-keys
		lacks /proc/version "$(cat /proc/version)" first
		lacks /proc/version "$(cat /proc/version)" second
		# static_call_update() was given pp_first() and pp_second(), or stored them.
		refused pokepatch unload new-keys
	END
}

@test "a function that is exported to a namespace" {
	with_patches "$top/test/vm/patches/namespace.patch"
	guest "${patched[@]}" <<-'END'
		pokepatch load "$(patch_file namespace)"
		has /proc/version "$(cat /proc/version)" "the resource has its place"
		grep -aq import_ns=CXL "$(patch_file namespace)"
		pokepatch unload namespace
		lacks /proc/version "$(cat /proc/version)" "the resource"
	END
}
