# SPDX-License-Identifier: GPL-2.0-or-later
# A line "MACHINE COMPILER PAIR UNIT CONSTRUCT..." for each machine and compiler that the pairs (files
# as split.awk makes them) name.
#
#	awk -v only=MACHINE[/COMPILER] -f instances.awk PAIR...

# covers(WORD, CELL) - "s390x", "s390x/gcc", "gcc", "others", "others/gcc"
function covers(word, cell, part, wanted) {
	split(cell, part, "/")
	if (word == part[1] || word == part[2] || word == cell)
		return 1
	split(word, wanted, "/")
	return wanted[1] == "others" && part[1] != "x86_64" &&
		(wanted[2] == "" || wanted[2] == part[2])
}
function show(cell, i, kept, part, all) {
	kept = 0
	for (i = 1; i <= words; i++)
		if (covers(word[i], cell))
			kept = !without[i]
	split(cell, part, "/")
	if (!kept || (only != "" && only != part[1] && only != cell))
		return
	all = construct
	for (i = 1; i <= specials; i++)
		if (covers(special_where[i], cell))
			all = all " " special[i]
	print part[1], part[2], file, unit, all
}
function finish(i) {
	for (i = 1; i <= cells; i++)
		show(cell[i])
}
BEGIN {
	cells = split("arm64/clang arm64/gcc mips/gcc mipsel/gcc mips64/gcc mips64el/gcc ppc64le/gcc" \
		" riscv64/clang riscv64/gcc s390x/clang s390x/gcc" \
		" x86_64/clang x86_64/gcc", cell, " ")
}
FNR == 1 {
	if (file)
		finish()
	file = FILENAME
	unit = construct = ""
	words = specials = 0
}
/^unit: / { unit = $2 }
/^construct: / { construct = substr($0, 12) }
/^construct [^:]*: / {
	where = $0
	sub(/^construct /, "", where)
	sub(/:.*/, "", where)
	what = substr($0, length("construct : ") + length(where) + 1)
	count = split(where, names, " ")
	for (i = 1; i <= count; i++) {
		special_where[++specials] = names[i]
		special[specials] = what
	}
}
/^on: / {
	words = split(substr($0, 5), word, " ")
	for (i = 1; i <= words; i++) # what is said last counts
		without[i] = sub(/^!/, "", word[i])
}
END { finish() }
