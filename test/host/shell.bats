# SPDX-License-Identifier: GPL-2.0-or-later
# All shell files of the tree are clean under shellcheck; what check-all makes of its runs.

bats_require_minimum_version 1.5.0

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

# Runs within a test are not those that the outer one tells of.
setup() {
	export POKEPATCH_RESULT=$BATS_TEST_TMPDIR/result
}

@test "shellcheck has nothing to say about any shell file" {
	cd "$top"
	local list
	list=$(test/shellcheck --list)
	# Of each kind there is one: by its suffix, by its first line, by a directive.
	for file in .ci/run test/demo test/vm/helpers.bash test/vm/vm test/host/shell.bats \
		test/vm/guest/init test/vm/guest/run build-tool/completions/pokepatch; do
		grep -qxF "$file" <<<"$list" || {
			echo "$file is not among the files"
			return 1
		}
	done
	test/shellcheck
}

@test "shellcheck tells of what is wrong in a script, in a test, and in one of a guest" {
	cd "$BATS_TEST_TMPDIR"
	local file
	printf '#!/bin/bash\nrm $1\n' >script.sh
	printf 'setup() { cd "$BATS_TEST_TMPDIR"; }\n@test "x" {\n\t[ $a = 1 ]\n}\n' >x.bats
	printf '# shellcheck shell=sh\nif [[ $1 ]]; then :; fi\n' >guest
	for file in script.sh x.bats guest; do
		run -1 "$top/test/shellcheck" "$BATS_TEST_TMPDIR/$file"
		[[ $output == "$BATS_TEST_TMPDIR/$file":* ]]
	done
}

@test "check-all: sums of all runs, and one that fails without a failed test" {
	cd "$BATS_TEST_TMPDIR"
	unset POKEPATCH_CHECK_UNTIL
	cat >one-run <<-'END'
		#!/bin/bash
		mkdir -p build/test/results
		echo "$*" >>ran
		case $* in
		check-unbuilt\ STEP=build) exit 2 ;;
		*STEP=build) ;;
		check-good*) echo "5 passed, 0 failed" >"$POKEPATCH_RESULT" ;;
		check-fine*) echo "9 passed, 0 failed" >"$POKEPATCH_RESULT" ;;
		check-bad*)
			echo "3 passed, 2 failed" >"$POKEPATCH_RESULT"
			printf '  a.bats: one\n          said\n  b.bats: two\n' >"$POKEPATCH_RESULT.failed"
			exit 1
			;;
		check-ends*) echo "7 passed, 0 failed" >"$POKEPATCH_RESULT"; exit 2 ;;
		check-early*) exit 2 ;;
		check-lost*) kill -9 $PPID ;;
		check-silent*) ;;
		check-late*) echo "4 passed, 0 failed" >"$POKEPATCH_RESULT"; echo 3 >"$POKEPATCH_RESULT.late" ;;
		check-endless*) sleep 600 ;;
		check-environment*)
			env | grep -q -e ^POKEPATCH_ARCH= -e ^POKEPATCH_KERNEL= -e ^POKEPATCH_ROUNDS= -e ^POKEPATCH_CPU= ||
				echo "6 passed, 0 failed" >"$POKEPATCH_RESULT"
			;;
		esac
	END
	chmod +x one-run
	run -0 "$top/test/check-all" ./one-run check-good check-fine
	[ "${lines[-1]}" = "14 passed, 0 failed" ]
	[ "$(cat ran)" = $'check-good\ncheck-fine STEP=build\ncheck-fine STEP=test' ]
	run -1 "$top/test/check-all" ./one-run check-good check-ends
	[ "${lines[-1]}" = "12 passed, 1 failed" ]
	run -1 "$top/test/check-all" ./one-run check-good check-silent
	[ "${lines[-1]}" = "5 passed, 1 failed" ]
	run -1 "$top/test/check-all" ./one-run check-good check-lost
	[ "${lines[-1]}" = "5 passed, 1 failed" ]
	run -1 "$top/test/check-all" ./one-run check-bad check-early check-good
	[ "${lines[-1]}" = "8 passed, 3 failed" ]
	[ "$(cat build/test/result)" = "8 passed, 3 failed" ]
	# check-all ends with the names of the failed tests of each run.
	[[ $output == *$'said:\nbad:   a.bats: one\nbad:           said\nbad:   b.bats: two\n'* ]]
	[[ $output == *$'\nFailed:\nbad:   a.bats: one\nbad:   b.bats: two\nearly:   its run, with status 2; the reason is above\n\nbad: 3 passed, 2 failed\n'* ]]
	rm ran
	run -1 "$top/test/check-all" ./one-run check-ends check-unbuilt check-good
	[ "${lines[-1]}" = "12 passed, 2 failed" ]
	[[ $output == *$'\nFailed:\nends:   its run, with status 2;'*$'\nunbuilt:   its run, with status 2;'* ]]
	run -1 grep 'unbuilt STEP=test' ran
	POKEPATCH_CHECK_UNTIL=1 run -1 "$top/test/check-all" ./one-run check-good check-fine
	[[ $output == *"good: left out, there was no time for it"*"fine: left out, there was no time for it"* ]]
	[ "${lines[-1]}" = "0 passed, 0 failed" ]
	run -0 "$top/test/check-all" ./one-run check-good check-late
	[[ $output == *$'\nlate: 4 passed, 0 failed; 3 files left out, for which there was no time\n'* ]]
	[ "${lines[-1]}" = "9 passed, 0 failed" ]
	POKEPATCH_ARCH=vax POKEPATCH_KERNEL=1 POKEPATCH_ROUNDS=1 POKEPATCH_CPU=1 run -0 "$top/test/check-all" ./one-run check-environment
	[ "${lines[-1]}" = "6 passed, 0 failed" ]
	SECONDS=0
	POKEPATCH_CHECK_UNTIL=$(($(date +%s) + 3)) POKEPATCH_CHECK_GRACE=-59 run -1 "$top/test/check-all" ./one-run check-endless
	[ "${lines[-1]}" = "0 passed, 1 failed" ]
	[ $SECONDS -lt 300 ]
}

@test "check-all: three runs at a time, of which one builds, after the first; each line with a name" {
	cd "$BATS_TEST_TMPDIR"
	unset POKEPATCH_CHECK_UNTIL
	# Each of the three waits for the file of another, and the fourth begins when one has ended.
	cat >one-run <<-'END'
		#!/bin/bash
		has() { until [ -e "$1" ]; do [ $((tries++)) -lt 600 ] || exit 1; sleep 0.1; done; }
		echo "$*" >>ran
		case $* in
		*STEP=build)
			mkdir building || exit 1
			sleep 0.2
			rmdir building
			exit 0
			;;
		check-one*) touch one; has three ;;
		check-two*) touch two; has one ;;
		check-three*) touch three; has two ;;
		esac
		echo "pool ${POKEPATCH_TEST_POOL:-none}"
		echo "1 passed, 0 failed" >"$POKEPATCH_RESULT"
	END
	chmod +x one-run
	unset POKEPATCH_TEST_JOBS POKEPATCH_TEST_POOL
	run -0 "$top/test/check-all" ./one-run check-own check-{one,two,three,four}
	[ "${lines[-1]}" = "5 passed, 0 failed" ]
	[ "$(sed -n 1p ran)" = check-own ]
	[ "$(sed -n '$p' ran)" = "check-four STEP=test" ]
	[ "$(sort ran)" = "$(printf '%s\n' check-own check-{one,two,three,four}\ STEP={build,test} | sort)" ]
	for name in one two three four; do
		[[ $output == *$'\n'"$name: pool "*/results/pool$'\n'* ]]
	done
	[[ $output == *$'\n'"pool none"$'\n'* ]]
	# If only one file is to run at a time, so is only one target.
	sed -i 's/^check-\(one\|two\|three\)\*.*/check-*) mkdir testing || exit 1; sleep 0.2; rmdir testing ;;/' one-run
	POKEPATCH_TEST_JOBS=1 run -0 "$top/test/check-all" ./one-run check-own check-{one,two,three}
	[ "$(grep -c ': pool none' <<<"$output")" -eq 3 ]
}

@test "run: test/run ends with the failed tests, and the first and last lines that each printed" {
	unset POKEPATCH_CHECK_UNTIL
	cd "$BATS_TEST_TMPDIR"
	printf '@test "good" {\n\ttrue\n}\n@test "bad" {\n\tseq -f said%%g 40\n\tfalse\n}\n' >two.bats
	cp two.bats three.bats
	run -1 "$top/test/run" "$PWD"/{two,three}.bats
	[ "${lines[-1]}" = "2 passed, 2 failed" ]
	[[ $output == *$'\nFailed:\n'"$(cat result.failed)"$'\n'* ]]
	[ "$(grep -c "^  $PWD/\(two\|three\)\.bats: bad$" result.failed)" -eq 2 ]
	[ "$(grep -c '# said' result.failed)" -lt 30 ]
	[ "$(grep -c '# said40$' result.failed)" -eq 2 ]
	[ "$(grep -c "# .*\`false' failed" result.failed)" -eq 2 ]
	sed -i s/false/true/ two.bats three.bats
	run -0 "$top/test/run" "$PWD"/{two,three}.bats
	[ ! -e result.failed ]
	[[ $output != *Failed:* ]]
}

@test "run: a test that does not end is ended, and has failed" {
	unset POKEPATCH_CHECK_UNTIL
	printf '@test "one" {\n\tsleep 600\n}\n@test "two" {\n\ttrue\n}\n' >"$BATS_TEST_TMPDIR/endless.bats"
	BATS_TEST_TIMEOUT=2 run -1 "$top/test/run" "$BATS_TEST_TMPDIR/endless.bats"
	[[ $output == *"FAILED  "*endless.bats": one"* ]]
	[ "${lines[-1]}" = "1 passed, 1 failed" ]
	printf '#!/bin/sh\necho 1..1\nsleep 600\n' >"$BATS_TEST_TMPDIR/test_endless"
	chmod +x "$BATS_TEST_TMPDIR/test_endless"
	BATS_TEST_TIMEOUT=2 run -1 "$top/test/run" "$BATS_TEST_TMPDIR/test_endless"
	[ "${lines[-1]}" = "0 passed, 1 failed" ]
}

@test "run: what still runs when the time is over is ended, and has failed; what has not begun is told" {
	local file=$BATS_TEST_TMPDIR/endless.bats
	printf '@test "one" {\n\tsleep 6543\n}\n@test "two" {\n\tsleep 6543\n}\n' >"$file"
	SECONDS=0
	POKEPATCH_CHECK_UNTIL=$(($(date +%s) + 3)) POKEPATCH_CHECK_GRACE=1 run -1 "$top/test/run" "$file"
	[[ $output == *"$file: ended after "*" of 2 tests"* ]]
	[ $SECONDS -lt 300 ]
	[ ! -e "$POKEPATCH_RESULT.late" ]
	# The tests' own programs have been told to end, and do so in their own time.
	for _ in $(seq 600); do
		pgrep -f "^sleep 6543$" >/dev/null || break
		sleep 0.1
	done
	run -1 pgrep -f "^sleep 6543$"
	POKEPATCH_CHECK_UNTIL=1 run -0 "$top/test/run" "$file"
	[[ $output == *"1 files left out, for which there was no time"* ]]
	[ "$(cat "$POKEPATCH_RESULT.late")" = 1 ]
}

# As a countdown of bats does that has missed the end of its test.
@test "run: what has the output of a test that has ended does not hold up the run" {
	unset POKEPATCH_CHECK_UNTIL
	printf '@test "leaves" {\n\tsleep 300 &\n\techo $! >%s\n}\n' "$BATS_TEST_TMPDIR/left" >"$BATS_TEST_TMPDIR/leaves.bats"
	SECONDS=0
	run -0 "$top/test/run" "$BATS_TEST_TMPDIR/leaves.bats"
	[ "${lines[-1]}" = "1 passed, 0 failed" ]
	[ $SECONDS -lt 200 ]
	# A zombie, at most: it has no command line any more.
	[ -z "$(tr -d '\0' <"/proc/$(cat "$BATS_TEST_TMPDIR/left")/cmdline")" ]
}

# runs - test/run of one.bats and of two.bats, at the same time, with as many tokens as $1 has characters.
runs() {
	rm -rf now pool
	mkfifo pool
	exec 7<>pool
	printf %s "$1" >&7
	POKEPATCH_RESULT=$PWD/one POKEPATCH_TEST_POOL=$PWD/pool "$top/test/run" "$PWD/one.bats" 3>&- &
	POKEPATCH_RESULT=$PWD/two POKEPATCH_TEST_POOL=$PWD/pool "$top/test/run" "$PWD/two.bats" 3>&- || :
	wait $! || :
	IFS= read -rn 2 -t 1 -u 7 left || :
	exec 7>&-
	[ "$left" = "$1" ]
}

@test "run: two runs at the same time share a pool of files" {
	unset POKEPATCH_CHECK_UNTIL
	cd "$BATS_TEST_TMPDIR"
	printf '@test "alone" {\n\tmkdir %s && sleep 3 && rmdir %s\n}\n' "$PWD"/{now,now} | tee one.bats >two.bats
	runs +
	[ "$(cat one two)" = $'1 passed, 0 failed\n1 passed, 0 failed' ]
	runs ++
	[ "$(cat one two | sort)" = $'0 passed, 1 failed\n1 passed, 0 failed' ]
}

@test "run: every commit runs what is not in turn, and so many commits together all of the rest" {
	cd "$top"
	local turn file of how
	for turn in {0..15}; do
		POKEPATCH_TURN=$turn test/run --short --list >"$BATS_TEST_TMPDIR/$turn"
		[ "$(grep -cx test/vm/core.bats "$BATS_TEST_TMPDIR/$turn")" -eq 1 ]
		run -1 grep -v -e ^test/ -e ^build/ -e "^	" "$BATS_TEST_TMPDIR/$turn"
	done
	test/run --list >"$BATS_TEST_TMPDIR/all"
	while read -r of how file; do
		[ -e "$file" ]
		grep -qxF "$file" "$BATS_TEST_TMPDIR/all" || continue # an arm64 machine leaves some out
		for ((turn = 0; turn < of; turn++)); do
			sed -n "\|^$file\$|,/^test/ s/^\t//p" "$BATS_TEST_TMPDIR/$turn"
			! grep -qx "$file" "$BATS_TEST_TMPDIR/$turn" || echo "$file" >>"$BATS_TEST_TMPDIR/files"
		done | sort >"$BATS_TEST_TMPDIR/tests"
		if [ "$how" = whole ]; then
			[ "$(grep -cx "$file" "$BATS_TEST_TMPDIR/files")" -eq 1 ]
		else
			# bats itself counts them.
			[ "$(wc -l <"$BATS_TEST_TMPDIR/tests")" -eq "$(bats -c "$file")" ]
			[ "$(uniq -d "$BATS_TEST_TMPDIR/tests")" = "" ]
		fi
	done < <(sed -n "/^in_turn='/,/^'/p" test/run | grep '^[0-9]')
	# A file that is named is run whole.
	[ "$(test/run --short --list test/host/series.bats)" = test/host/series.bats ]
}

@test "run: of another architecture, eight commits have run each test once, and some files every commit" {
	cd "$top"
	# shellcheck disable=SC2034 # that file reads or sets them
	local number arch=mips64el arch_tests arch_short arch_long
	for number in 0 1 2 3 4 5 6 7; do
		POKEPATCH_ARCH=mips64el POKEPATCH_EIGHTH=$number test/run --short --list >"$BATS_TEST_TMPDIR/$number"
		awk '/^test/ { file = $0; next } { print file $0 }' "$BATS_TEST_TMPDIR/$number" >>"$BATS_TEST_TMPDIR/tests"
	done
	# shellcheck source=../vm/arch/mips64el.sh
	. "$top/test/vm/arch/mips64el.sh"
	for file in "${arch_short[@]}"; do
		[ "$(cat "$BATS_TEST_TMPDIR"/[0-7] | grep -cx "$file")" -eq 8 ]
	done
	[ "$(sort "$BATS_TEST_TMPDIR/tests" | uniq -d)" = "" ]
	mapfile -t files < <(printf '%s\n' "${arch_tests[@]}" | grep -vxF -f <(printf '%s\n' "${arch_short[@]}"))
	[ "$(wc -l <"$BATS_TEST_TMPDIR/tests")" -eq "$(bats -c "${files[@]}")" ]
}

@test "run: bats is given the tests that it is to run" {
	cd "$BATS_TEST_TMPDIR"
	unset POKEPATCH_CHECK_UNTIL
	mkdir -p test/host test/vm test/pairs
	cp "$top"/test/{run,eighth,host-arch,x86_64-only} test/
	printf '@test "%s" {\n\ttrue\n}\n' 'a+b' 'a.b (c)' 'say \"so\" [or]' 'the \$4 a+b' >test/host/reproducible.bats
	printf '#!/bin/sh\nprintf "1..1\\nok 1 x\\n"\n' >test/pairs/run
	chmod +x test/pairs/run
	test/run --list | while read -r file; do
		[ -e "$file" ] || printf '@test "%s" {\n\ttrue\n}\n' "$file" >"$file"
	done
	for turn in 0 1 2 3; do
		POKEPATCH_TURN=$turn run -0 test/run --short
		printf '%s\n' "${lines[@]}" | sed -n 's/^  ok .*reproducible.bats: //p' >now
		[ "$(wc -l <now)" -eq 1 ]
		cat now >>ran
	done
	[ "$(sort ran)" = "$(printf '%s\n' 'a+b' 'a.b (c)' 'say "so" [or]' 'the $4 a+b' | sort)" ]
}

@test "eighth: eight of them are all lines, each once, and a commit has one of them" {
	local number
	unset POKEPATCH_EIGHTH POKEPATCH_TURN
	seq 21 >"$BATS_TEST_TMPDIR/all"
	for number in 0 1 2 3 4 5 6 7; do
		POKEPATCH_EIGHTH=$number "$top/test/eighth" <"$BATS_TEST_TMPDIR/all" >"$BATS_TEST_TMPDIR/$number"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/$number")" -le 3 ]
		[ "$(POKEPATCH_EIGHTH=$number "$top/test/eighth" --number)" = "$number" ]
	done
	sort -n "$BATS_TEST_TMPDIR"/[0-7] | cmp - "$BATS_TEST_TMPDIR/all"
	for number in 2 3 4 5; do POKEPATCH_TURN=$number "$top/test/eighth" --of 4 <"$BATS_TEST_TMPDIR/all"; done |
		sort -n | cmp - "$BATS_TEST_TMPDIR/all"
	[ "$(POKEPATCH_TURN=5 "$top/test/eighth" --of 2 <"$BATS_TEST_TMPDIR/all" | wc -l)" -eq 10 ]
	number=$("$top/test/eighth" --number)
	[ "$number" = $((16#$(git -C "$top" rev-parse --short=7 HEAD) % 8)) ]
	cmp <("$top/test/eighth" <"$BATS_TEST_TMPDIR/all") "$BATS_TEST_TMPDIR/$number"
	number=$((16#$(git -C "$top" rev-parse --short=7 HEAD) / 8))
	[ "$("$top/test/eighth" --turn one two three)" = "$(printf '%s\n' one two three | sed -n "$((number % 3 + 1))p")" ]
	[ "$("$top/test/eighth" --turn)" = "" ]
}
