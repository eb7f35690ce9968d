# SPDX-License-Identifier: GPL-2.0-or-later
# The relocations of a section, from readelf -SWr: "OFFSET TYPE SYMBOL ADDEND", hexadecimal; where there
# is no addend, "in BASE", the place of the relocated section in the file.
#
#	readelf -SWr FILE | awk -v wanted=SECTION -f relocs.awk

# "[ 8] NAME TYPE ADDRESS OFFSET SIZE ENTRY FLAGS LINK INFO ALIGN", where FLAGS may be empty
/^ *\[ *[0-9]+\]/ {
	sub(/^ *\[ */, "")
	sub(/\]/, "")
	place[$1] = $5
	target["0x" $5] = $(NF - 1)
}
/^Relocation section/ {
	on = $3 == "'.rela" wanted "'" || $3 == "'.rel" wanted "'"
	at = $6
	while (sub(/^0x0/, "0x", at))
		;
	for (i in target) {
		name = i
		while (sub(/^0x0/, "0x", name))
			;
		if (name == at)
			base = place[target[i]]
	}
}
on && $3 ~ /^R_/ {
	sub(/^0+/, "", $1)
	offset = $1 == "" ? 0 : $1
	if (NF > 5)
		print offset, $3, $5, ($6 == "-" ? "-" : "+") $7
	else
		print offset, $3, $5, "in", base
}
