# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Builds some of the diffs between two Debian kernels (test/debian-diffs/) backwards, on the newest
# kernel, which has these changes already.  `make debian-diffs` builds all of them.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# row NUMBER - its file, and what came of it on the older kernel
row() {
	awk -F '\t' -v number="$1" '$1 == number { print $2, $5 }' "$top/test/debian-diffs/results.tsv"
}

@test "the table of Debian's history has every diff, and says why where the judgement was wrong" {
	local table=$top/test/debian-diffs/results.tsv
	diff <(grep -v '^#' "$top/test/debian-diffs/judged.tsv" | cut -f 1-4) <(grep -v '^#' "$table" | cut -f 1-4)
	# shellcheck disable=SC2034 # lib.sh wants it
	local here=$top/test/debian-diffs
	# shellcheck source=../debian-diffs/lib.sh
	. "$here/lib.sh"
	unexplained "$table" >wrong
	cat wrong
	[ ! -s wrong ]
	# A row of each kind without its reason is found.
	awk -F '\t' -v OFS='\t' '/^#/ { next } { $11 = "" } $5 == "module" { $7 = "-" } { print }' "$table" >bare
	[ "$(unexplained bare | wc -l)" -ge "$(awk -F '\t' '$5 == "module"' bare | wc -l)" ]
	# Of changes to bodies outside init, at least 85 of 100 give a module.
	awk -F '\t' '!/^#/ && $3 == "body" && $5 != "nothing" { all++; made += $5 == "module" }
		END { print made, "of", all; exit !(all >= 150 && made >= 0.85 * all) }' "$table"
}

# Four of them each time, and an eighth of all by the commit (test/eighth).
@test "diffs of Debian's history, backwards" {
	local number file expected judged=0 seen=' 105 182 ' # of these two a part went to another file
	declare -A statuses=([module]=0 [refused]=2 [nothing]=3)
	# Backwards, something else comes of a few: members that were added go again (040, 145, 213);
	# a constant comes along that had not, when the table was made (018, 143); what is left is
	# only inlined into __init code (001); the kernel is another (112); exports go (071, 099, 117, 154) or come (043).
	# And since then the first instructions of functions without an entry are overwritten (095, 096, 101).
	declare -A backwards=([040]=refused [145]=refused [213]=refused [018]=module [143]=module
		[001]=nothing [112]=module [099]=refused [117]=refused [154]=refused [043]=nothing
		[071]=refused [095]=module [096]=module [101]=module)
	echo "eighth $("$top/test/eighth" --number) of 0 to 7"
	for number in 059 120 128 154 $(grep -v '^#' "$top/test/debian-diffs/judged.tsv" | cut -f 1 | "$top/test/eighth"); do
		[[ $seen != *" $number "* ]] || continue
		seen+="$number "
		read -r file expected < <(row "$number")
		expected=${backwards[$number]:-$expected}
		"$top/test/debian-diffs/diff" --backwards "$number" >"$number.patch"
		# Later versions may have changed the same lines, or those around them.
		(cd "$source" && patch -p1 --dry-run --silent -F 0) <"$number.patch" >/dev/null || continue
		run "$program" -k "$release" --dry-run "$number.patch"
		echo "$number $file: $status, expected: $expected"
		echo "$output"
		[ "$status" -eq "${statuses[$expected]}" ]
		judged=$((judged + 1))
	done
	[ "$judged" -ge 20 ]
}
