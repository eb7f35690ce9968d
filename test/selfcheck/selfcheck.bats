#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A sample of the self-check on the whole kernel; README.md here.

setup_file() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	cd "$top" || return
	export release folder
	release=$(cat build/kernel-release)
	# shellcheck source=../source.sh
	. test/source.sh
	find_source "$release"
	# shellcheck disable=SC2154 # set by that
	folder=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/selfcheck/$release-$source_key
}

selfcheck() {
	run nice build/test/selfcheck/selfcheck -k "$release" -w "$folder" "$@"
	echo "$output"
}

@test "every 64th unit: shifted lines give no difference, a changed token just its functions" {
	selfcheck -s 64 -e test/selfcheck/exceptions
	[ "$status" -eq 0 ]
	grep -q 'selfcheck: [12][0-9] units' <<<"$output"
	grep -q 'exceptions: [0-9]* explained, 0 not' <<<"$output"
}
