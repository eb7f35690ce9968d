# SPDX-License-Identifier: GPL-2.0-or-later
# The table of test/pairs/table.
#
#	run --list | awk -v check=[--check] -v only=[MACHINE] -v top=DIR -f table.awk constructs empty -

function add_cell(name) {
	if (name in column)
		return
	column[name] = ++columns
	title[columns] = name
}
function reason(construct, cell, i) {
	for (i = 1; i <= reasons; i++)
		if (construct ~ ("^" why_construct[i] "$") && cell ~ ("^" why_cell[i] "$")) {
			used[i] = 1
			return why[i]
		}
	return ""
}
function pattern(glob) {
	gsub(/[.]/, "[.]", glob)
	gsub(/[*]/, ".*", glob)
	gsub(/[|]/, "|", glob)
	return "(" glob ")"
}
FILENAME == ARGV[1] && /^== / { chapter[count + 1] = substr($0, 4); next }
FILENAME == ARGV[1] && !/^#/ && NF {
	ids[++count] = $1
	known[$1] = 1
	next
}
FILENAME == ARGV[2] && !/^#/ && NF > 2 {
	why_construct[++reasons] = pattern($1)
	why_cell[reasons] = pattern($2)
	$1 = $2 = ""
	why[reasons] = substr($0, 3)
	rest = $0
	while (match(rest, /test\/[^ ,;]+/)) {
		path = substr(rest, RSTART, RLENGTH)
		if ((getline line <(top "/" path)) < 0) {
			printf "a reason names %s, which is not there\n", path
			bad = 1
		}
		close(top "/" path)
		rest = substr(rest, RSTART + RLENGTH)
	}
	next
}
FILENAME == "-" { # NAME MACHINE COMPILER: CONSTRUCT...
	sub(/:$/, "", $3)
	cell = $2 "/" $3
	add_cell(cell)
	tests++
	per_cell[cell]++
	for (i = 4; i <= NF; i++) {
		pairs[$i, cell]++
		if (!($i in known)) {
			printf "%s: construct \"%s\" is not in the list\n", $1, $i
			bad = 1
		}
	}
}
END {
	printf "%-26s", "construct"
	for (c = 1; c <= columns; c++)
		printf " %*s", length(title[c]), title[c]
	print ""
	for (i = 1; i <= count; i++) {
		if (i in chapter)
			printf "\n%s\n", chapter[i]
		printf "  %-24s", ids[i]
		for (c = 1; c <= columns; c++) {
			n = pairs[ids[i], title[c]]
			printf " %*s", length(title[c]), n ? n : "-"
			if (n)
				continue
			r = reason(ids[i], title[c])
			if (r == "") {
				bad = 1
				r = "NO REASON IS GIVEN"
			}
			line = ids[i] " " r
			if (!(line in note)) {
				lines[++notes] = line
				note_id[notes] = ids[i]
				note_why[notes] = r
			}
			note[line] = note[line] " " title[c]
		}
		print ""
	}
	printf "\n%-26s", "pairs"
	for (c = 1; c <= columns; c++)
		printf " %*s", length(title[c]), per_cell[title[c]]
	print ""
	count_cells = split("arm64 mips mipsel mips64 mips64el ppc64le riscv64 s390x x86_64", machines, " ")
	for (i = 1; i <= count_cells; i++)
		for (c = 1; c <= 2; c++) {
			name = machines[i] (c == 1 ? "/gcc" : "/clang")
			if (name in column || (only && only != machines[i]))
				continue
			r = reason("*", name)
			if (r == "") {
				bad = 1
				r = "NO REASON IS GIVEN"
			}
			printf "no %s: %s\n", name, r
		}
	print "\nEmpty cells"
	for (i = 1; i <= notes; i++)
		printf "  %-24s%s: %s\n", note_id[i], note[lines[i]], note_why[i]
	exit check == "--check" && bad
}
