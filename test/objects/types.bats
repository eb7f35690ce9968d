# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Types that differ between the two objects; each case of types.cases says what comes of it.

load helpers

# expected WORD FILE - what the file's lines with that word say, one thing per line.
expected() { sed -n "s|^// $1 ||p" "$2"; }

# check FILE - compile it, and compare what comes of it.
check() {
	local file=$1 line code
	echo "${file##*/}:"
	compile <"$file" && diff_objects orig.o patched.o || return 1
	same "list of types" "$(jq -r '.types[] | .name + " " + .kind + " " + .change' "$report")" \
		"$(expected reports "$file" | sed 's/, /\n/g')" || return 1
	same "list of refusals" "$(jq -r '.refusals[] | select(.warning | not) | .code + " " + .subject' "$report")" \
		"$(expected refused "$file" | sed 's/: .*//' | LC_ALL=C sort)" || return 1
	same "list of warnings" "$(jq -r '.refusals[] | select(.warning) | .code + " " + .subject' "$report")" \
		"$(expected warned "$file" | sed 's/: .*//')" || return 1
	while read -r line; do
		code=${line%% *}
		grep -qF "[$code]: ${line#*: }" "$errors" || {
			echo "not said: ${line#*: }"
			cat "$errors"
			return 1
		}
	done < <(sed -n 's/^\/\/ \(refused\|warned\) //p' "$file")
	if grep -q '^// refused' "$file"; then
		same "exit status" "$exit_status" 2
	else
		same "exit status" "$exit_status" 0 &&
			same "list of functions" "$(functions)" "$(expected carries "$file" | sed 's/, /\n/g' | LC_ALL=C sort)"
	fi
}

# cases - each case in a file of its own: cases/NAME.c
cases() {
	mkdir -p cases
	awk '/^\/\/ ---- / { file = "cases/" $3 ".c" } file { print >file }' "$BATS_TEST_DIRNAME/types.cases"
}

# all_of FOLDER - check each case there.
all_of() {
	local file failed=''
	[ "$(find "$1" -name '*.c' | wc -l)" -ge 40 ]
	for file in "$1"/*.c; do
		check "$file" || failed+=" ${file##*/}"
	done
	[ -z "$failed" ] || { echo "failed:$failed"; return 1; }
}

@test "each case, gcc" {
	cases
	all_of cases
}

@test "each case, clang" {
	use_clang
	cases
	# clang makes two variables of one, and the differ cannot tell which is which.
	rm cases/static-variable.c
	all_of cases
}

@test "each case, DWARF 4" {
	flags=(-gdwarf-4)
	cases
	all_of cases
}

@test "another machine counts bits from the other end" {
	cases
	machine s390x gcc-12
	flags=(-gdwarf-4 -gstrict-dwarf)
	check cases/bits-moved.c
	check cases/bits-wider.c
	check cases/hole.c
}

@test "a member's place and type before and after are in the report" {
	cases
	compile <cases/moved.c
	diff_objects orig.o patched.o
	same "members" "$(jq -c '.types[0] | .location, .old_size, .new_size, (.members[] | [.name, .change,
		.misread, .old_offset, .new_offset, .old_type, .new_type])' "$report")" \
		"\"unit.c:5\"
8
24
[\"more\",\"new\",true,null,8,null,\"long int\"]
[\"b\",\"moved\",true,4,16,\"char\",\"char\"]"
}

@test "the author allows a type, by an option or in the source" {
	cases
	compile <cases/contained-and-more.c
	diff_objects orig.o patched.o --allow type-changed:bar
	refused "type-changed foo"
	warned "type-changed bar"
	diff_objects orig.o patched.o --allow type-changed
	carries "f changed"
	flags=(-idirafter "$top/core-module/include")
	{
		echo '#include <pokepatch_patch.h>'
		echo 'POKEPATCH_ALLOW("type-changed:foo"); POKEPATCH_ALLOW("type-changed:bar");'
		cat cases/contained-and-more.c
	} >case.c
	compile <case.c
	diff_objects orig.o patched.o
	carries "f changed"
}

@test "nothing is said about types of an object of which nothing is included" {
	compile <<-'END'
		struct foo { int a; NEW(int b;) };
		int f(struct foo *foo) { return foo->a; }
	END
	diff_objects orig.o patched.o
	nothing_differs
	same "types" "$(jq -c .types "$report")" "[]"
}
