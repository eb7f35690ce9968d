# SPDX-License-Identifier: GPL-2.0-or-later
# Of the instances on standard input, print few that together have all constructs (run --quick).

$1 != "x86_64" {
	group = $1
	sub(/^mips64el$/, "mips64", group)
	if ($2 == "gcc" && index($3, "/cases/" group "/"))
		print
	next
}
{ line[++count] = $0 }
END {
	for (;;) {
		best = 0
		for (i = 1; i <= count; i++) {
			words = split(line[i], word, " ")
			worth = 0
			for (w = 5; w <= words; w++)
				worth += 2 * !(word[w] in shown)
			if (worth)
				worth += word[2] == (turn ? "clang" : "gcc")
			if (worth > best) {
				best = worth
				chosen = i
			}
		}
		if (!best)
			break
		words = split(line[chosen], word, " ")
		for (w = 5; w <= words; w++)
			shown[word[w]] = 1
		turn = !turn
		print line[chosen]
	}
}
