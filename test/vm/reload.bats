# SPDX-License-Identifier: GPL-2.0-or-later
# `pokepatch load` of a patch whose name is loaded already.

load helpers

example=$top/examples/proc-version.patch

@test "the build that is loaded, and another one of the same name" {
	with_patches "$example"
	sed 's/Live-patched/Live-again/' "$example" >"$BATS_TEST_TMPDIR/other.patch"
	"$top/build/bin/pokepatch-build" -q -k "$(kernel_release)" -n proc-version \
		-o "$BATS_TEST_TMPDIR/other.ko" "$BATS_TEST_TMPDIR/other.patch"
	guest "${patched[@]}" --file "$BATS_TEST_TMPDIR/other.ko" <<<'
		another_is_refused() {
			status=0
			pokepatch load /root/other.ko >/tmp/error 2>&1 || status=$?
			cat /tmp/error
			same "exit status" $status 1
			same "lines of the error" "$(wc -l </tmp/error)" 1
			has "the error" "$(cat /tmp/error)" "another build of patch"
		}
		pokepatch load "$(patch_file proc-version)"
		another_is_refused
		has /proc/version "$(cat /proc/version)" Live-patched
		pokepatch disable proc-version
		another_is_refused
		lacks /proc/version "$(cat /proc/version)" Live-
		pokepatch load "$(patch_file proc-version)"
		has /proc/version "$(cat /proc/version)" Live-patched
		status=0
		pokepatch load "$(patch_file proc-version)" || status=$?
		same "exit status" $status 3
		pokepatch unload proc-version
		pokepatch load /root/other.ko
		has /proc/version "$(cat /proc/version)" Live-again
		pokepatch unload proc-version
		lacks /proc/version "$(cat /proc/version)" Live-
	'
}
