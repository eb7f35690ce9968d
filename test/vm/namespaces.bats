# SPDX-License-Identifier: GPL-2.0-or-later
# What the kernel exports to a namespace: new code may call it, as its parent may.

load helpers

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
