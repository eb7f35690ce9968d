# SPDX-License-Identifier: GPL-2.0-or-later
# All shell files of the tree are clean under shellcheck; what check-all makes of its runs.

bats_require_minimum_version 1.5.0

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

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
		mkdir -p build/test
		case $1 in
		check-good) echo "5 passed, 0 failed" >build/test/result ;;
		check-bad) echo "3 passed, 2 failed" >build/test/result; exit 1 ;;
		check-ends) echo "7 passed, 0 failed" >build/test/result; exit 2 ;;
		check-early) exit 2 ;;
		esac
	END
	chmod +x one-run
	run -0 "$top/test/check-all" ./one-run check-good check-good
	[ "${lines[-1]}" = "10 passed, 0 failed" ]
	run -1 "$top/test/check-all" ./one-run check-good check-ends
	[ "${lines[-1]}" = "12 passed, 1 failed" ]
	run -1 "$top/test/check-all" ./one-run check-bad check-early check-good
	[ "${lines[-1]}" = "8 passed, 3 failed" ]
	[ "$(cat build/test/result)" = "8 passed, 3 failed" ]
}

@test "run: a test that does not end is ended, and has failed" {
	printf '@test "one" {\n\tsleep 600\n}\n@test "two" {\n\ttrue\n}\n' >"$BATS_TEST_TMPDIR/endless.bats"
	BATS_TEST_TIMEOUT=2 run -1 "$top/test/run" "$BATS_TEST_TMPDIR/endless.bats"
	[[ $output == *"FAILED  "*endless.bats": one"* ]]
	[ "${lines[-1]}" = "1 passed, 1 failed" ]
	printf '#!/bin/sh\necho 1..1\nsleep 600\n' >"$BATS_TEST_TMPDIR/test_endless"
	chmod +x "$BATS_TEST_TMPDIR/test_endless"
	BATS_TEST_TIMEOUT=2 run -1 "$top/test/run" "$BATS_TEST_TMPDIR/test_endless"
	[ "${lines[-1]}" = "0 passed, 1 failed" ]
}

@test "eighth: eight of them are all lines, each once, and a commit has one of them" {
	local number
	seq 21 >"$BATS_TEST_TMPDIR/all"
	for number in 0 1 2 3 4 5 6 7; do
		POKEPATCH_EIGHTH=$number "$top/test/eighth" <"$BATS_TEST_TMPDIR/all" >"$BATS_TEST_TMPDIR/$number"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/$number")" -le 3 ]
		[ "$(POKEPATCH_EIGHTH=$number "$top/test/eighth" --number)" = "$number" ]
	done
	sort -n "$BATS_TEST_TMPDIR"/[0-7] | cmp - "$BATS_TEST_TMPDIR/all"
	number=$("$top/test/eighth" --number)
	[ "$number" = $((16#$(git -C "$top" rev-parse --short=7 HEAD) % 8)) ]
	cmp <("$top/test/eighth" <"$BATS_TEST_TMPDIR/all") "$BATS_TEST_TMPDIR/$number"
	number=$((16#$(git -C "$top" rev-parse --short=7 HEAD) / 8))
	[ "$("$top/test/eighth" --turn one two three)" = "$(printf '%s\n' one two three | sed -n "$((number % 3 + 1))p")" ]
	[ "$("$top/test/eighth" --turn)" = "" ]
}
