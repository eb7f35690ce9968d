# SPDX-License-Identifier: GPL-2.0-or-later
# Apply a pair's edits to one file.
#
#	awk -v file=PATH -v source=FILE -v unit=PATH -v lines=keep|shift -f edit.awk PAIR
#
# PATH is the file's name in the kernel, FILE where it is; edits without a path are of the
# unit.  Prints the changed text, or says which edit does not apply and fails.  The line "at: FILE
# LINE" with which PAIR begins (split.awk) says where the pair is written.

BEGIN { wanted = file == unit ? "" : file }

# ---- the pair's edits of this file ----

FNR == 1 && /^at: / {
	written = $2
	above = $3 - 1
}
state == "" && /^<<<<( |$)/ {
	path = substr($0, 6)
	if (path == unit)
		path = ""
	state = "old"
	old = new = ""
	first = NR
	next
}
state == "old" && /^====$/ { state = "new"; next }
state == "new" && /^>>>>$/ {
	state = ""
	if (path == wanted)
		add(old, new, first)
	next
}
state == "old" { old = old $0 "\n" }
state == "new" { new = new $0 "\n" }

function add(before, after, number) {
	count++
	# The last line's end belongs to the pair's own form.
	olds[count] = substr(before, 1, length(before) - 1)
	news[count] = substr(after, 1, length(after) - 1)
	numbers[count] = number
}

function fail(number, what) {
	printf "%s:%d: the old text of this edit is %s %s\n", written, above + number, what, file \
		>"/dev/stderr"
	failed = 1
	exit 1
}

function newlines(string) { return gsub(/\n/, "\n", string) }

# ---- applying them ----

END {
	if (failed)
		exit 1
	if (state != "")
		fail(first, "without end, for")
	RS = "\001"
	if ((getline text <source) <= 0) {
		printf "cannot read %s\n", source >"/dev/stderr"
		exit 1
	}
	for (i = 1; i <= count; i++) {
		at[i] = index(text, olds[i])
		if (!at[i])
			fail(numbers[i], "not in")
		if (index(substr(text, at[i] + 1), olds[i]))
			fail(numbers[i], "more than once in")
		order[i] = i
	}
	for (i = 2; i <= count; i++)
		for (j = i; j > 1 && at[order[j - 1]] > at[order[j]]; j--) {
			swap = order[j]
			order[j] = order[j - 1]
			order[j - 1] = swap
		}

	printf "# 1 \"%s\"\n", file
	done = 1 # all before it is printed
	line = 1
	for (i = 1; i <= count; i++) {
		edit = order[i]
		copy(at[edit])
		printf "%s", news[edit]
		line += newlines(olds[edit])
		if (newlines(olds[edit]) != newlines(news[edit]))
			moved = 1
		done = at[edit] + length(olds[edit])
	}
	copy(length(text) + 1)
}

# Print up to a place; the first line that begins there gets its old number back.
function copy(end, part, newline) {
	part = substr(text, done, end - done)
	newline = index(part, "\n")
	if (moved && lines == "keep" && newline) {
		printf "%s", substr(part, 1, newline)
		line++
		printf "# %d \"%s\"\n", line, file
		part = substr(part, newline + 1)
		moved = 0
	}
	printf "%s", part
	line += newlines(part)
	done = end
}
