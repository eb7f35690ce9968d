# SPDX-License-Identifier: GPL-2.0-or-later
# comments.awk - print each line of a C file's comments as "FILE:LINE:TEXT", TEXT without the
# marks that open, continue or close a comment.  Literals that contain such marks are skipped.

FNR == 1 { inside = 0 }

{
	line = $0
	text = ""
	found = inside
	while (line != "") {
		if (inside) {
			end = index(line, "*/")
			text = text " " (end ? substr(line, 1, end - 1) : line)
			line = end ? substr(line, end + 2) : ""
			inside = !end
		} else if (match(line, /^"(\\.|[^"\\])*"|^'(\\.|[^'\\])*'/)) {
			line = substr(line, RLENGTH + 1)
		} else if (substr(line, 1, 2) == "/*") {
			found = inside = 1
			line = substr(line, 3)
		} else if (substr(line, 1, 2) == "//") {
			found = 1
			text = text " " substr(line, 3)
			line = ""
		} else {
			line = substr(line, 2)
		}
	}
	if (found)
		print FILENAME ":" FNR ":" text
}
