#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# symbols.sh VMLINUX SOURCE... - print what kernel_symbols.c includes for a kernel without
# KALLSYMS_ALL, whose kallsyms lists code only: the symbols that the SOURCEs need (the PP_NEED rows
# of their tables, see pp_needed.h), with their distances from _stext, and the build id of the
# kernel for which these hold.  Kbuild calls it, with NM and READELF in the environment.
#
# If several symbols have a name, leave it out: nothing says which of them is meant.

set -eu
vmlinux=$1
shift

"$NM" "$vmlinux" | awk -v sources="$*" '
	function value(hex, i, n) {
		# Only differences matter, and all symbols of the image share the upper half.
		n = 0
		for (i = 9; i <= 16; i++)
			n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return n
	}
	BEGIN {
		nr = split(sources, file, " ")
		for (i = 1; i <= nr; i++)
			while ((getline line < file[i]) > 0)
				if (line ~ /^\tPP_NEED(_ADDRESS|_FUNCTION)?\([A-Za-z0-9_]+, /) {
					split(line, part, /[(,]/)
					needed[part[2]]
				}
	}
	$3 == "_stext" { base = $1 }
	$3 in needed { at[$3] = $1; times[$3]++ }
	END {
		if (base == "")
			exit 1
		for (name in at)
			if (times[name] == 1 && substr(at[name], 1, 8) == substr(base, 1, 8))
				printf "\t{ \"%s\", %.0f },\n", name, value(at[name]) - value(base)
	}' | LC_ALL=C sort

id=$("$READELF" -n "$vmlinux" 2>/dev/null | sed -n 's/.*Build ID: *\([0-9a-f]*\).*/\1/p' | head -n 1)
[ -n "$id" ]
echo "#define POKEPATCH_KERNEL_BUILD_ID $(echo "$id" | sed 's/../0x&, /g; s/, $//')"
