# SPDX-License-Identifier: GPL-2.0-or-later
# Take files of pairs apart: each pair becomes a file of its own, DIR/GROUP/NAME.pair, whose first
# line says where it came from.
#
#	awk -v dir=DIR -f split.awk FILE.pairs...
#
# Prints nothing.  Fails if two pairs have one name, or a file has lines of a pair without a name.

function fail(what) {
	printf "%s:%d: %s\n", FILENAME, FNR, what >"/dev/stderr"
	failed = 1
	exit 1
}

FNR == 1 {
	if (inside)
		fail("the edit before has no end")
	if (out)
		close(out)
	out = ""
}
!inside && /^pair: / {
	if (out)
		close(out)
	name = $2
	if (NF != 2 || name !~ /^[^\/.]+\/[^\/.]+$/)
		fail("a pair is called GROUP/NAME")
	if (name in seen)
		fail("there is another pair " name ", in " seen[name])
	seen[name] = FILENAME
	group = dir "/" substr(name, 1, index(name, "/") - 1)
	if (!(group in made) && system("mkdir -p '" group "'"))
		fail("cannot make " group)
	made[group] = 1
	out = dir "/" name ".pair"
	printf "at: %s %d\n", FILENAME, FNR >out
	next
}
/^<<<<( |$)/ { inside = 1 }
/^>>>>$/ { inside = 0 }
out { print >out }
!out && !/^(#.*)?$/ { fail("this belongs to no pair") }
END {
	if (inside && !failed)
		fail("an edit has no end")
}
