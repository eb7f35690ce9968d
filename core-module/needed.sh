#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# needed.sh VMLINUX OBJECT... - check that the kernel has each symbol that the core cannot do without,
# exactly once: the rows of the OBJECTs' tables (pp_needed.h).  Kbuild calls this, with NM and OBJCOPY
# in the environment, so that the build fails, and not the load.
#
# The compiler decides which rows there are, and which are optional.  So the rows are read from the
# objects: 64 bytes each, of which the first 48 are the name, and number 56 is 1 if the symbol is
# optional.

set -eu
vmlinux=$1
shift
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

for object; do
	"$OBJCOPY" -O binary --only-section=.rodata.pp_needed "$object" "$rows"
	od -An -v -t u1 -w64 "$rows"
done | awk '
	{
		name = ""
		for (i = 1; i <= 48 && $i; i++)
			name = name sprintf("%c", $i + 0)
		if (name != "")
			print name, $57 ? "optional" : "required"
	}' >"$rows.names"
trap 'rm -f "$rows" "$rows.names"' EXIT

"$NM" "$vmlinux" | awk -v vmlinux="$vmlinux" '
	FNR == NR {
		need[$1] = $2
		order[++nr] = $1
		next
	}
	$3 in need { times[$3]++ }
	END {
		for (i = 1; i <= nr; i++) {
			name = order[i]
			print name, need[name], times[name] + 0
			if (need[name] == "optional" || times[name] == 1)
				continue
			printf "%s has %s symbol%s %s, which the core needs\n", vmlinux,
				times[name] ? times[name] : "no", times[name] ? "s" : "", name >"/dev/stderr"
			failed = 1
		}
		if (!nr)
			print "the tables of needed symbols are empty" >"/dev/stderr"
		exit failed || !nr
	}' "$rows.names" -
