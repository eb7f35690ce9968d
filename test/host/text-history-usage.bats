# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # run --separate-stderr sets stderr and stderr_lines
# pokepatch history and text on a machine without the core: wrong usage and wrong files.

bats_require_minimum_version 1.5.0

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

# fails PATTERN ARGUMENT... - status 1, nothing on standard output, one line that matches.
fails() {
	local pattern=$1
	shift
	run --separate-stderr "$top/build/bin/pokepatch" "$@"
	if [ "$status" -ne 1 ] || [ -n "$output" ] || [ "${#stderr_lines[@]}" -ne 1 ] ||
		[[ $stderr != *$pattern* ]]; then
		echo "$*: status $status, output '$output', standard error '$stderr'"
		return 1
	fi
}

@test "history and text: wrong usage, no core, and files that are no histories" {
	cd "$BATS_TEST_TMPDIR"
	[ -e /dev/pokepatch_history ] || fails 'there is no /dev/pokepatch_history' history
	fails 'too few arguments' text
	fails 'exclude each other' history --follow --export x
	fails 'leave out --from' history --follow --from x
	fails 'leave out --from' history --export x --from y
	fails "unknown clock 'wall'" text --clock wall main
	fails 'cannot open' text --from missing main
	: >empty
	head -c 5000 /dev/urandom >noise
	printf 'pkphist\x1a' >short
	{
		printf 'pkphist\x1a\4\3\2\1\1\0\0\0'
		head -c 200 /dev/zero
	} >sum
	for file in empty noise short; do
		fails 'was not written by' history --from $file
	done
	fails 'it has 216 bytes and should have 0' text --from sum main
	[ ! -e x ]
}
