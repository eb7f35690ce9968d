# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The fuzzer's target on a fixed set: `make fuzz` goes on from there.

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
fuzz=$top/build/fuzz/fuzz_diff

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	[ -x "$fuzz" ] || {
		echo "$fuzz is not built: make build/fuzz/fuzz_diff"
		return 1
	}
}

# The fuzzer learns from what is compared, addresses too: it goes the same way each time if these are the same.
steadily() {
	local steady=()
	! setarch -R true 2>/dev/null || steady=(setarch -R)
	"${steady[@]}" "$@"
}

@test "inputs that once broke the differ, and valid ones of every compiler" {
	"$top/test/fuzz/seeds" seeds
	[ "$(find seeds -type f | wc -l)" -ge 10 ]
	"$fuzz" -timeout=10 "$top"/test/fuzz/corpus/* seeds/*
}

@test "broken objects, always the same" {
	"$top/test/fuzz/seeds" seeds
	steadily "$fuzz" -runs=20000 -seed=7 -timeout=10 -rss_limit_mb=2048 -max_len=65536 seeds
}

@test "broken exported histories, always the same" {
	mkdir seeds
	"$top/build/fuzz/history-seeds" seeds
	[ "$(find seeds -type f | wc -l)" -ge 3 ]
	steadily "$top/build/fuzz/fuzz_history" -runs=3000 -seed=7 -timeout=10 -rss_limit_mb=2048 -max_len=65536 seeds
}

@test "broken images of patch modules, always the same" {
	mkdir found
	steadily "$top/build/fuzz/fuzz_image" -runs=200000 -seed=7 -timeout=10 -max_len=256 found
	[ "$(find found -type f | wc -l)" -ge 20 ]
}
