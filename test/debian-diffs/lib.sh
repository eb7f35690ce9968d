# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # for those who read this: their variables, and ours
# What the scripts of test/debian-diffs/ share; $here and $top are set.

older_kernel=6.1.0-50-cloud-amd64
results=$top/build/test/debian-diffs

# judged_rows - the rows of judged.tsv: number, file, kind, expected, why.
judged_rows() {
	grep -v '^#' "$here/judged.tsv"
}

# diff_of FILE - take the diff of a source file out of diffs/, and print where it is.
diff_of() {
	local name=${1%.c} path
	path=$results/diffs/${name//\//-}.patch
	mkdir -p "${path%/*}"
	"$here/diff" "$1" >"$path"
	echo "$path"
}
