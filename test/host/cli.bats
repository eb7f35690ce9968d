# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch on this machine: help, and bad input for every command.

load repository

@test "help, of the program and of every command" {
	run --separate-stderr "$pokepatch" --help
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	for command in fetch cache load unload enable disable install uninstall check status list info \
		version; do
		[[ $output == *"  $command "* ]] || return 1
	done
	for command in fetch cache load unload enable disable install uninstall check status list info \
		version; do
		run --separate-stderr "$pokepatch" "$command" --help
		[ "$status" -eq 0 ]
		[ -z "$stderr" ]
		[[ $output == "usage: pokepatch $command"* ]] || return 1
	done
}

@test "usage errors" {
	fails 1 "no command given" "$pokepatch"
	fails 1 "unknown command 'lode'" "$pokepatch" lode
	fails 1 "unknown option '--frob'" "$pokepatch" list --frob
	fails 1 "unknown option '-z'" "$pokepatch" list -z
	fails 1 "option '--core' needs a value" "$pokepatch" load --core
	fails 1 "too few arguments; usage: pokepatch load FILE|NAME" "$pokepatch" load
	fails 1 "option '--replace=' has an empty value" "$pokepatch" load --replace= x
	fails 1 "too many arguments; usage: pokepatch unload NAME" "$pokepatch" unload a b
}

@test "standard output that cannot be written" {
	local status=0
	"$pokepatch" --help >/dev/full 2>"$BATS_TEST_TMPDIR/err" || status=$?
	[ "$status" -eq 1 ]
	grep -q "cannot write to standard output" "$BATS_TEST_TMPDIR/err"
}

@test "files that are no patch modules" {
	echo text >"$BATS_TEST_TMPDIR/text.ko"
	: >"$BATS_TEST_TMPDIR/empty.ko"
	for command in info load; do
		fails 1 "No such file" "$pokepatch" "$command" "$BATS_TEST_TMPDIR/none.ko"
		fails 1 "not a kernel module" "$pokepatch" "$command" "$BATS_TEST_TMPDIR/text.ko"
		fails 1 "not a kernel module" "$pokepatch" "$command" "$BATS_TEST_TMPDIR/empty.ko"
		fails 1 "not a kernel module" "$pokepatch" "$command" "$pokepatch"
		fails 1 "is not a file" "$pokepatch" "$command" "$BATS_TEST_TMPDIR/"
	done
	fails 1 "give the file's path" "$pokepatch" load no-such-patch
}

@test "patches that are not loaded" {
	export POKEPATCH_SYSFS=$BATS_TEST_TMPDIR/sys
	mkdir -p "$POKEPATCH_SYSFS/kernel/pokepatch"
	for command in enable disable unload info; do
		fails 1 "no patch 'x-y' is loaded" "$pokepatch" "$command" x-y
		fails 1 "no patch '.' is loaded" "$pokepatch" "$command" .
	done
	rm -r "$POKEPATCH_SYSFS/kernel/pokepatch"
	fails 1 "the core module is not loaded" "$pokepatch" enable x
	run --separate-stderr "$pokepatch" list
	[ "$status" -eq 0 ]
	[ "$output" = "no patch is loaded, nor is the core module" ]
}

@test "mandoc has nothing to say about the pages" {
	local pages=("$top"/man/*.[1-8])
	[ ${#pages[@]} -ge 5 ]
	# A machine may have no index of pages yet.
	mandoc -T lint -W warning "${pages[@]}" >"$BATS_TEST_TMPDIR/said" || :
	run ! grep -v 'outdated mandoc.db' "$BATS_TEST_TMPDIR/said"
	# It would have something to say.
	sed '/^\.Sh NAME/d' "$top/man/pokepatch.8" >"$BATS_TEST_TMPDIR/broken.8"
	run ! mandoc -T lint -W warning "$BATS_TEST_TMPDIR/broken.8"
}

@test "history and text: wrong usage, no core, and files that are no histories" {
	cd "$BATS_TEST_TMPDIR"
	[ -e /dev/pokepatch_history ] ||
		fails 1 'there is no /dev/pokepatch_history' "$pokepatch" history
	fails 1 'too few arguments' "$pokepatch" text
	fails 1 'exclude each other' "$pokepatch" history --follow --export x
	fails 1 'leave out --from' "$pokepatch" history --follow --from x
	fails 1 'leave out --from' "$pokepatch" history --export x --from y
	fails 1 "unknown clock 'wall'" "$pokepatch" text --clock wall main
	fails 1 'cannot open' "$pokepatch" text --from missing main
	: >empty
	head -c 5000 /dev/urandom >noise
	printf 'pkphist\x1a' >short
	{
		printf 'pkphist\x1a\4\3\2\1\1\0\0\0'
		head -c 200 /dev/zero
	} >sum
	for file in empty noise short; do
		fails 1 'was not written by' "$pokepatch" history --from $file
	done
	fails 1 'it has 216 bytes and should have 0' "$pokepatch" text --from sum main
	[ ! -e x ]
}
