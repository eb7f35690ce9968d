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

# unexplained TABLE - the rows of results.tsv that need a reason and have none: something else came of them, they were
# not loaded and rolled back (and not in the way of a thread that never leaves what it changes), were never called,
# or could not be judged.
unexplained() {
	awk -F '\t' '
		/^#/ { next }
		$4 != "either" && $4 != $5 && $11 !~ /judged wrong|missed/ { print; next }
		$5 == "module" && ($7 != "enabled" || $9 !~ /^(yes|stays)$/) && $11 !~ /blocked: / { print; next }
		$5 == "module" && $8 == 0 && $11 !~ /not reached|blocked: / { print; next }
		$5 !~ /^(module|refused|nothing)$/' "$1"
}

# findings DIR - of a run's findings, those of a kind that the guest's first round, which ran without
# patches, did not bring.  Numbers in a line make no difference.  Calls of functions of kernel/trace cannot
# be counted: no event of a probe takes a function without an entry.
findings() {
	local first
	first=$(grep -n 'debian-diffs: the first round is done' "$1/kernel.log" | head -n 1 | cut -d : -f 1)
	awk -v first="${first:-0}" '
		{
			key = $0
			sub(/^[0-9]+ /, "", key)
			gsub(/[0-9a-f]*[0-9][0-9a-f]*/, "N", key)
		}
		/trace_kprobe: Could not probe notrace function pokepatch_/ { next }
		$1 <= first { known[key] = 1; next }
		!(key in known)' "$1/findings"
}
