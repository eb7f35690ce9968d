# SPDX-License-Identifier: GPL-2.0-or-later
# A patch whose new code is still referred to when no stack holds it.

load helpers

@test "a patch whose addresses escape can be disabled, but stays loaded" {
	with_patches "$top/test/vm/patches/escape.patch"
	guest "${patched[@]}" <<-'END'
		id=pokepatch_escape
		insmod "$(find /lib/modules -name pokepatch.ko)"

		echo "== never enabled, it can go"
		insmod "$(patch_file escape)"
		rmmod $id

		echo "== once enabled, it stays; the timer runs after it was disabled"
		insmod "$(patch_file escape)"
		enabled escape 1
		cat /proc/cmdline >/dev/null
		enabled escape 0
		refused rmmod $id
		same state "$(file escape state)" disabled
		timer_ran() { dmesg | grep -q "escaped: the timer ran"; }
		until_true 20 timer_ran

		echo "== and can be enabled and disabled again"
		for _round in 1 2 3; do
			enabled escape 1
			enabled escape 0
		done
		refused rmmod $id
		has "references" "$(cat /sys/module/$id/refcnt)" 1
	END
}

@test "the build tool says which addresses escape" {
	run "$top/build/bin/pokepatch-build" -q -k "$(kernel_release)" -o "$BATS_TEST_TMPDIR/x.ko" \
		"$top/test/vm/patches/escape.patch"
	[ "$status" -eq 0 ]
	[[ $output == *"fs/proc/cmdline.c:"*"warning [address-escapes]"*"'escaped'"* ]]
	[[ $output == *"'escape_timer'"* ]]
}
