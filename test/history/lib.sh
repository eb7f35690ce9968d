# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the scripts of test/history/ share; $here and $top are set.

history_kernel=6.1.0-50-cloud-amd64
results=$top/build/test/history

# judged_rows - the rows of judged.tsv: number, file, kind, expected, why.
judged_rows() {
	grep -v '^#' "$here/judged.tsv"
}

# diff_of FILE - the diff of a source file.
diff_of() {
	local name=${1%.c}
	echo "$here/diffs/${name//\//-}.patch"
}
