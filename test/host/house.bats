# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Rules of the house that a reader of any file may count on (ARCHITECTURE.md, "Rules of the house").

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	git ls-files --cached --others --exclude-standard >"$BATS_TEST_TMPDIR/files"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/files")" -gt 300 ]
}

# files REGEX - the files whose path matches, of those that git tracks or would add; there must be some.
files() {
	grep -E "$1" "$BATS_TEST_TMPDIR/files"
}

# none FILE MESSAGE - the test fails, and prints FILE, unless that is empty
none() {
	[ -s "$1" ] || return 0
	echo "$2:"
	cat "$1"
	return 1
}

@test "no two headers have one name" {
	files '\.h$' | sed 's|.*/||' | sort | uniq -d >"$BATS_TEST_TMPDIR/twice"
	none "$BATS_TEST_TMPDIR/twice" "two headers have one name"
}

@test "no file is too long" {
	files '\.([chS]|sh|bash|bats|awk)$' | xargs wc -l |
		awk '$2 != "total" && ($1 > 800 || $2 ~ /\.h$/ && $2 !~ /^core-module\/include\// && $1 > 200)' \
			>"$BATS_TEST_TMPDIR/long"
	none "$BATS_TEST_TMPDIR/long" "files over 800 lines, or headers over 200"
}

@test "test/ has fewer than 500 files" {
	[ "$(files '^test/' | wc -l)" -lt 500 ]
}

# bash ends a test for the last command of such a list alone.
@test "no test joins two checks by &&" {
	files '\.bats$' | xargs grep -nE '^[[:space:]]*(\[|grep |cmp )[^|]* && (\[|grep |cmp )[^|&]*$' >"$BATS_TEST_TMPDIR/joined" || :
	none "$BATS_TEST_TMPDIR/joined" "checks of which the first cannot fail"
}

# Nor does one with "!" in front fail a test, or a script of a guest, unless it is the last command.
@test "no test negates a check that then cannot fail" {
	files '^test/.*\.(bats|bash)$' | xargs grep -nE '^[[:space:]]*! [^|]*$' >"$BATS_TEST_TMPDIR/negated" || :
	none "$BATS_TEST_TMPDIR/negated" "negated commands that cannot fail; use run !, or refused"
}

@test "the files that are to run on another architecture are there" {
	local arch file arch_long=()
	for arch in arm64 mips64el mips64r6el; do
		(
			# shellcheck source=../vm/arch/arm64.sh
			. "test/vm/arch/$arch.sh"
			[ ${#arch_short[@]} -ge 1 ]
			[ ${#arch_tests[@]} -gt 20 ]
			for file in "${arch_tests[@]}" "${arch_short[@]}" "${arch_long[@]}"; do
				[ -e "$file" ] || echo "$arch: $file"
			done
			for file in consistency core-checks; do
				[ "$file $arch" != "consistency mips64r6el" ] || continue
				[[ " ${arch_short[*]} " == *"/$file.bats "* ]] || echo "$arch: $file, in arch_short"
			done
		)
	done >"$BATS_TEST_TMPDIR/missing"
	none "$BATS_TEST_TMPDIR/missing" "files of arch_tests or arch_short that are not there"
}

@test "each test in guests is for arm64, too, or has a reason why not" {
	(
		# shellcheck source=../vm/arch/arm64.sh
		. test/vm/arch/arm64.sh
		for file in test/vm/*.bats; do
			[[ " ${arch_tests[*]} " == *" $file "* ]] || grep -q "^$file	." test/x86_64-only || echo "$file"
		done
	) >"$BATS_TEST_TMPDIR/lost"
	none "$BATS_TEST_TMPDIR/lost" "files that arm64 machines neither run nor leave out with a reason"
}

@test "each C file begins by saying what it is for" {
	files '\.[chS]$' | while read -r file; do
		awk -f test/host/comments.awk "$file" |
			sed -E 's/^[^:]*:([0-9]+):/\1 /' |
			awk '$1 > 1 && $1 < 5 && /[a-z]/ { found = 1 } END { exit !found }' ||
			echo "$file"
	done >"$BATS_TEST_TMPDIR/bare"
	none "$BATS_TEST_TMPDIR/bare" "no comment behind the licence line"
}

@test "comments have at most 100 columns, and name their actors" {
	local folder
	for folder in core-module build-tool; do
		files "^$folder/.*\.[chS]$" | xargs awk -f test/host/comments.awk >"$BATS_TEST_TMPDIR/comments"
		sed -E 's/^([^:]*:[0-9]+):.*/\1/' "$BATS_TEST_TMPDIR/comments" |
			awk -F : '{ print $1, $2 }' |
			while read -r file line; do echo "$file:$line"; done |
			sort -u >"$BATS_TEST_TMPDIR/lines"
		files "^$folder/.*\.[chS]$" | while read -r file; do
			expand "$file" | awk -v file="$file" 'length > 100 { print file ":" FNR }'
		done | sort >"$BATS_TEST_TMPDIR/wide"
		comm -12 "$BATS_TEST_TMPDIR/lines" "$BATS_TEST_TMPDIR/wide" >"$BATS_TEST_TMPDIR/both"
		none "$BATS_TEST_TMPDIR/both" "comment lines over 100 columns"
		# A comment that says who does what needs none of these: 8 in 10,000 words at most.
		sed -E 's/^[^:]*:[0-9]+://' "$BATS_TEST_TMPDIR/comments" >"$BATS_TEST_TMPDIR/text"
		grep -oiwE 'who|whoever|nobody|somebody|anybody' "$BATS_TEST_TMPDIR/text" |
			wc -l >"$BATS_TEST_TMPDIR/count" || true
		echo "$folder: $(<"$BATS_TEST_TMPDIR/count") in $(wc -w <"$BATS_TEST_TMPDIR/text") words"
		[ $(($(<"$BATS_TEST_TMPDIR/count") * 10000)) -le $(($(wc -w <"$BATS_TEST_TMPDIR/text") * 8)) ]
	done
}

@test "functions of the core can be told apart in an oops" {
	local file prefix
	files '^core-module/.*\.c$' | while read -r file; do
		prefix=$(basename "$file" .c)
		case $file in core-module/arch/*) prefix=${prefix%%_*} ;; esac
		# static, without attributes that take arguments, up to the name in front of "(".
		sed -nE 's/__[a-z_]+\([^)]*\) *//g; s/^static ([A-Za-z_][A-Za-z0-9_]* )*\**([A-Za-z_][A-Za-z0-9_]*)\(.*/\2/p' "$file" |
			grep -vE "^(pp|${prefix}|${prefix%s})_|^(DEFINE|DECLARE|LIST)_" |
			sed "s|^|$file: |"
	done >"$BATS_TEST_TMPDIR/anonymous"
	none "$BATS_TEST_TMPDIR/anonymous" "static functions without their file's prefix"
}

@test "functions of the core that call through slots are __nocfi, and call nothing else indirectly" {
	files '^core-module/.*\.[ch]$' | xargs awk -f test/host/nocfi.awk >"$BATS_TEST_TMPDIR/calls"
	none "$BATS_TEST_TMPDIR/calls" "calls that a kernel with CONFIG_CFI_CLANG does not survive"
}

# rows - of the table: "selftest|file|test".
rows() {
	awk -F ' *[|] *' '
		/^## / { here = /livepatch selftests/ }
		here && /^[|] [a-z-]+ [|]/ && $2 != "test-" { print $2 "|" $4 "|" $5 }' \
		test/README.md
}

@test "each scenario of the kernel's livepatch selftests has a test" {
	local selftest file name count=0
	while IFS='|' read -r selftest file name; do
		grep -qxF "@test \"$name\" {" "test/vm/$file.bats" || {
			echo "test-$selftest: no test '$name' in vm/$file.bats"
			return 1
		}
		count=$((count + 1))
	done < <(rows)
	[ "$count" -ge 32 ]
	# Each of their files is there.
	[ "$(rows | cut -d '|' -f 1 | sort -u | tr '\n' ' ')" = \
		"callbacks ftrace kprobe livepatch shadow-vars state syscall sysfs " ]
}

@test "each test of vm/livepatch.bats is in the table" {
	local name
	while read -r name; do
		rows | grep -qF "|livepatch|$name" || {
			echo "not in the table: $name"
			return 1
		}
	done < <(sed -n 's/^@test "\(.*\)" {$/\1/p' "test/vm/livepatch.bats")
}
