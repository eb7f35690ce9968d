# SPDX-License-Identifier: GPL-2.0-or-later
# Static keys and static calls that a patch defines.

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
