# SPDX-License-Identifier: GPL-2.0-or-later
# The summary of results.tsv, for debian-diffs/table.

/^#/ { next }
{ all++; got[$5]++; kinds[$3 " " $5]++; names[$3] = 1 }
$4 != "either" && $4 != $5 { differ++
	if ($11 !~ /judged wrong|missed/) unexpected = unexpected " " $1 }
$5 == "refused" { n = split($6, list, ","); for (i = 1; i <= n; i++) codes[list[i]]++ }
$10 + 0 { seconds += $10; timed++; if ($10 > longest) longest = $10 }
$3 == "body" && $5 != "nothing" { body++ }
$3 == "body" && $5 == "module" { good++ }
$5 == "module" { if ($7 == "enabled") enabled++; if ($8 + 0) hit++
	if ($9 == "yes") back++; if ($9 == "stays") stays++
	if ($7 == "enabled" && !($8 + 0) && $11 !~ /not reached/) unexplained = unexplained " " $1 }
END {
	printf "%d diffs: %d modules, %d refused, %d nothing to do, %d errors\n", all,
		got["module"], got["refused"], got["nothing"], got["error"]
	for (kind in names)
		printf "  %s: %d modules, %d refused, %d nothing\n", kind, kinds[kind " module"],
			kinds[kind " refused"], kinds[kind " nothing"]
	printf "refused for:"
	for (code in codes)
		printf " %s %d,", code, codes[code]
	printf "\n%d differ from what was expected; not said why:%s\n", differ, unexpected
	printf "changes of bodies outside init: %d of %d give a module (%.1f %%)\n", good, body,
		100 * good / body
	printf "modules: %d enabled, %d of them called; %d unloaded, %d stay, disabled\n",
		enabled, hit, back, stays
	if (timed)
		printf "a build took %.0f s in the mean, %d s at most\n", seconds / timed, longest
	printf "not called and not said why:%s\n", unexplained
}
