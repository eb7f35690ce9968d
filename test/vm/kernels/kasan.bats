# SPDX-License-Identifier: GPL-2.0-or-later
# Hostile images on a kernel that tells of each access outside the core's memory: see run.

load ../helpers

# values VMLINUX - of pp_image.c: where two functions are, and how long, in a text of which all is skipped.
values() {
	local name address size text what symbols=$BATS_TEST_TMPDIR/symbols stext
	nm -S "$1" >"$symbols"
	stext=$(awk '$NF == "_stext" { print $1 }' "$symbols")
	printf '#define BUILD_ID %s\n' "$(readelf -n "$1" | sed -n 's/.*Build ID: //p' | sed 's/../0x&, /g')"
	while read -r what name; do
		read -r address size < <(awk -v name="$name" '$4 == name { print $1, $2 }' "$symbols")
		size=$((16#$size)) text=''
		echo "#define ${what}_OFFSET $((16#$address - 16#$stext))"
		echo "#define ${what}_SIZE $size"
		for (( ; size > 255; size -= 255)); do text+='255, 0, '; done
		echo "#define ${what}_TEXT $text$size, 0,"
	done <<-'END'
		VERSION version_proc_show
		CMDLINE cmdline_proc_show
		BANNER linux_proc_banner
	END
}

# The fuzzer takes what reaches code, or a value, that nothing before it did (fuzz/fuzz_image.c).
@test "of a thousand images of the fuzzer's corpus each is refused, or does no harm" {
	local hostile=$BATS_TEST_TMPDIR/hostile corpus=$BATS_TEST_TMPDIR/corpus source=$BATS_TEST_TMPDIR/source/pp_image
	local release kernel
	release=$(kernel_release)
	kernel=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$release
	mkdir -p "$hostile" "$corpus" "${source%/*}"
	cp -r "$top/test/vm/modules/pp_image" "$source"
	values "$kernel/dbg/usr/lib/debug/boot/vmlinux-$release" >"${source%/*}/values.h"
	KCPPFLAGS=-I$top/core-module/include KBUILD_EXTRA_SYMBOLS=$top/build/core/$release/Module.symvers \
		build_test_module "$source" "$BATS_TEST_TMPDIR/made" "$release"
	"$top/build/fuzz/fuzz_image" -runs=400000 -seed=1 -max_len=256 -use_value_profile=1 \
		-artifact_prefix="$BATS_TEST_TMPDIR/" "$corpus" >"$BATS_TEST_TMPDIR/log" 2>&1 || {
		tail -n 20 "$BATS_TEST_TMPDIR/log"
		return 1
	}
	"$(host_program hostile)" --edits "$BATS_TEST_TMPDIR/made/pp_image.ko" "$hostile" "$corpus" 1000
	with_patches
	guest "${patched[@]}" --file "$hostile" --file "$BATS_TEST_TMPDIR/made/pp_image.ko" --memory 2048 \
		--timeout 1200 --expect '^pokepatch: .* is refused: ' <<-'END'
		modprobe pokepatch
		insmod /root/pp_image.ko
		same "the good one" "$(cat $pokepatch/pp_image/state)" disabled
		rmmod pp_image
		refused=0 taken=0
		for image in /root/hostile/*.ko; do
			if insmod "$image" 2>/dev/null; then
				taken=$((taken + 1))
				rmmod pp_image
			else
				refused=$((refused + 1))
			fi
			[ -z "$(ls -d $pokepatch/*/ 2>/dev/null)" ] || die "$image left $(ls $pokepatch) in sysfs"
		done
		echo "== refused $refused, taken $taken"
		same "images" $((refused + taken)) 1000
		[ $refused -ge 500 ] || die "few are refused: $refused"
		# The core is as it was.
		insmod /root/pp_image.ko
		same "the good one" "$(cat $pokepatch/pp_image/state)" disabled
		rmmod pp_image
		rmmod pokepatch
	END
	say "$(grep '^== refused' "$guest_output")"
}

@test "KUnit: what needs neither a patch nor code that runs" {
	local cases
	cases=$(grep -c 'KUNIT_CASE(' "$top/core-module/kunit.c")
	guest --file "$(core_module core-kunit)" --timeout 300 <<-END
		insmod /root/pokepatch.ko
		dmesg | grep -E "# Subtest: pokepatch| ok [0-9]+ " || :
		same "the tests" "\$(dmesg | grep -cE "^(\[[^]]*\])? *ok [0-9]+ (- )?kunit_")" $cases
		same "the suite" "\$(dmesg | grep -cE "^(\[[^]]*\])? *ok [0-9]+ (- )?pokepatch")" 1
		lacks "the log" "\$(dmesg)" "not ok"
		rmmod pokepatch
	END
	cat "$guest_output"
}
