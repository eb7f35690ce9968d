# SPDX-License-Identifier: GPL-2.0-or-later
# Hostile images on a kernel that tells of each access outside the core's memory: see run.

load ../helpers

example=$top/examples/proc-version.patch

# The fuzzer takes what reaches code, or a value, that nothing before it did (fuzz/fuzz_image.c).
@test "of a thousand images of the fuzzer's corpus each is refused, or does no harm" {
	local hostile=$BATS_TEST_TMPDIR/hostile corpus=$BATS_TEST_TMPDIR/corpus
	with_patches "$example"
	mkdir "$hostile" "$corpus"
	"$top/build/fuzz/fuzz_image" -runs=400000 -seed=1 -max_len=256 -use_value_profile=1 \
		-artifact_prefix="$BATS_TEST_TMPDIR/" "$corpus" >"$BATS_TEST_TMPDIR/log" 2>&1 || {
		tail -n 20 "$BATS_TEST_TMPDIR/log"
		return 1
	}
	"$(host_program hostile)" --edits "$(patch_module "$top/test/vm/patches/withdraw.patch")" \
		"$hostile" "$corpus" 1000
	guest "${patched[@]}" --file "$hostile" --memory 2048 --timeout 1200 \
		--expect '^pokepatch: .* is refused: ' <<-'END'
		modprobe pokepatch
		refused=0 taken=0
		for image in /root/hostile/*.ko; do
			if insmod "$image" 2>/dev/null; then
				taken=$((taken + 1))
				rmmod pokepatch_withdraw
			else
				refused=$((refused + 1))
			fi
			[ -z "$(ls -d $pokepatch/*/ 2>/dev/null)" ] || die "$image left $(ls $pokepatch) in sysfs"
		done
		echo "== refused $refused, taken $taken"
		same "images" $((refused + taken)) 1000
		[ $refused -ge 500 ] || die "few are refused: $refused"
		# The core is as it was.
		pokepatch load "$(patch_file proc-version)"
		has /proc/version "$(cat /proc/version)" Live-patched
		pokepatch unload proc-version
		rmmod pokepatch
	END
	say "$(grep '^== refused' "$guest_output")"
}
