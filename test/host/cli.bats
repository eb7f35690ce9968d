# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch on this machine: help, bad input for every command, and completion.

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
	cd "$BATS_TEST_TMPDIR"
	cp "$top/README.md" pokepatch-ours.ko
	fails 1 "is not a kernel module" "$pokepatch" load ours
	if [ "$(id -u)" -eq 0 ]; then
		chown 12345 pokepatch-ours.ko
		fails 1 "'./pokepatch-ours.ko' belongs to user 12345" "$pokepatch" load ours
		SUDO_UID=12345 fails 1 "is not a kernel module" "$pokepatch" load ours
	fi
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

@test "a signal ends the wait for a switch, but not the switch, and the opposite command does" {
	local patch way command opposite enabled
	export POKEPATCH_SYSFS=$BATS_TEST_TMPDIR/sys
	patch=$POKEPATCH_SYSFS/kernel/pokepatch/x
	mkdir -p "$patch"
	touch "$patch/evict"
	echo 7000 >"$patch/timeout_ms"
	echo 0 >"$patch/retry_ms"
	while read -r way command opposite enabled; do
		echo "${command%e}ing" >"$patch/state"
		echo "$enabled" >"$patch/enabled"
		fails 1 "patch 'x': interrupted; the core goes on trying to switch it $way until its timeout of 7000 ms; to stop that: pokepatch $opposite x" \
			timeout --preserve-status -s TERM -k 20 3 "$pokepatch" "$command" --evict x
		[ "$(cat "$patch/evict")" = 0 ]
		# The core has not switched the patch yet; it is done while the opposite command waits.
		echo "$enabled" >"$patch/enabled"
		(sleep 0.3 && echo "${opposite}d" >"$patch/state") &
		timeout 20 "$pokepatch" "$opposite" x
		wait $! # bats has processes of its own
	done <<-END
		on enable disable 0
		off disable enable 1
	END
	echo 100 >"$patch/retry_ms"
	echo enabling >"$patch/state"
	fails 1 "until it succeeds; to stop that: pokepatch disable x" \
		timeout --preserve-status -s TERM -k 20 1 "$pokepatch" enable x
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

# completions WORD... - what bash offers for the last word, one a line, sorted.
completions() (
	# shellcheck source=../../build-tool/completions/pokepatch
	. "$top/build-tool/completions/$1"
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	"$(complete -p "$1" | sed 's/.* -F \([^ ]*\) .*/\1/')"
	[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}" | sort
)

# help_options COMMAND... - the options in its --help, one a line: "-q", "--quiet", "--core value".
help_options() {
	local line
	local option='^  (-([A-Za-z]), |    )(--[a-z-]+)( [^ ])?'
	"$top/build/bin/$1" "${@:2}" --help | while IFS= read -r line; do
		[[ $line =~ $option ]] || continue
		[ -z "${BASH_REMATCH[2]}" ] || echo "-${BASH_REMATCH[2]}${BASH_REMATCH[4]:+ value}"
		echo "${BASH_REMATCH[3]}${BASH_REMATCH[4]:+ value}"
	done
}

# completes_options COMMAND... - its options are those of --help, and after one with a value comes no option.
completes_options() {
	local option has
	help_options "$@" >"$BATS_TEST_TMPDIR/listed"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/listed")" -ge 2 ] || { echo "$*: --help lists no options" && return 1; }
	completions "$@" - >"$BATS_TEST_TMPDIR/offered"
	sed 's/ value$//' "$BATS_TEST_TMPDIR/listed" | sort | diff - "$BATS_TEST_TMPDIR/offered" ||
		{ echo "$*: --help lists (<), and completion offers (>)" && return 1; }
	while read -r option has; do
		completions "$@" "$option" - >"$BATS_TEST_TMPDIR/offered"
		if [ -n "$has" ]; then
			run -1 grep -x -- --help "$BATS_TEST_TMPDIR/offered"
		else
			grep -qx -- --help "$BATS_TEST_TMPDIR/offered" || { echo "$*: no option after $option" && return 1; }
		fi
	done <"$BATS_TEST_TMPDIR/listed"
}

@test "completion: the options and commands that --help lists, and no others" {
	local command
	completions pokepatch '' | grep -v '^-' >"$BATS_TEST_TMPDIR/commands"
	"$pokepatch" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort | diff - "$BATS_TEST_TMPDIR/commands"
	while read -r command; do
		completes_options pokepatch "$command"
	done <"$BATS_TEST_TMPDIR/commands"
	completes_options pokepatch-diff
	completes_options pokepatch-build
	completes_options pokepatch-scan
}

@test "completion: patches, kernels and files where they belong" {
	cd "$BATS_TEST_TMPDIR"
	export POKEPATCH_SYSFS=$PWD/sys XDG_CACHE_HOME=$PWD/cache
	mkdir -p sys/on_one sys/on_two sys/off_one sys/policy cache/pokepatch/kernels/{1.2.3,1.4.5} folder
	touch fix.ko fix.patch fix.c fix.txt cache/pokepatch/kernels/1.2.3.lock
	echo 1 | tee sys/on_one/enabled sys/on_two/enabled >/dev/null
	echo 0 >sys/off_one/enabled
	# offers WORDS... -- COMPLETION...
	offers() {
		local words=()
		while [ "$1" != -- ]; do
			words+=("$1")
			shift
		done
		shift
		run -0 completions "${words[@]}"
		[ "${lines[*]}" = "$*" ] || { echo "${words[*]}: offers '${lines[*]}', not '$*'" && return 1; }
	}
	offers pokepatch unl -- unload
	offers pokepatch enable '' -- off_one
	offers pokepatch disable --timeout 5 '' -- on_one on_two
	offers pokepatch unload on_t -- on_two
	offers pokepatch load --replace = -- on_one on_two
	offers pokepatch load --replace = on_one,o -- on_one,on_one on_one,on_two
	offers pokepatch load --replace f -- fix.ko folder
	offers pokepatch load --mode = e -- entry
	offers pokepatch load fix.ko '' --
	offers pokepatch info o -- off_one on_one on_two
	offers pokepatch info ./f -- ./fix.ko ./folder
	offers pokepatch fetch '' -- 1.2.3 1.4.5
	offers pokepatch cache r -- remove
	offers pokepatch cache remove 1.4 -- 1.4.5
	offers pokepatch history --from fix.t -- fix.txt
	offers pokepatch-build -k 1.2 -- 1.2.3
	offers pokepatch-build -k 1.2.3 f -- fix.c fix.patch folder
	offers pokepatch-build --kbuild f -- folder
	offers pokepatch-build -n x --transition l -- live
	offers pokepatch-diff -o f -- folder
	offers pokepatch-scan -k 1.4 -- 1.4.5
	offers pokepatch-scan f -- fix.patch folder
	# A command that is not known.
	offers pokepatch lode --j --
}
