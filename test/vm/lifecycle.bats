# SPDX-License-Identifier: GPL-2.0-or-later
# Patches that come, stack, and go, in any order; what is refused on the way.

load helpers

patches=$top/test/vm/patches

words='
versions() { dd if=/dev/null bs=3 count=1 2>/dev/null | od -An -tu1 | tr -d " "; }
now() { same "versions, enabled $1" "$(versions)" "$2"; }
'

@test "two patches of the same functions, one on top of the other, in any order" {
	with_patches "$patches"/agree-{1,2}.patch
	guest "${patched[@]}" <<<"$words"'
		for order in "agree-1 agree-2 111 222" "agree-2 agree-1 222 111"; do
			set -- $order
			for out in below above; do
				for mode in auto direct ftrace; do
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
	"$(test_program hostile)" --twice "$(patch_module "$patches/agree-1.patch")" \
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

@test "a patch whose init fails half-way, and works when it does not" {
	with_patches "$patches"/{agree-1,fail-sysfs}.patch
	guest "${patched[@]}" --timeout 240 \
		--expect '^pokepatch: agree_1 is refused: its folder in sysfs cannot be made \(-12\)' \
		--expect '^kobject_add_internal failed for read_null,1 \(error: -12 ' <<<"$words"'
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
		for _round in $(seq 100); do half; done
		same_inventory /tmp/before 80
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
	guest "${patched[@]}" <<<"$words"'
		pokepatch load "$(patch_file agree-1)"
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
	'
}
