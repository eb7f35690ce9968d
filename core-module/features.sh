#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# features.sh SOURCE COMPILER... - print PP_HAS_NAME for each probe in SOURCE (features.c) that the
# compiler, which gets all options of the core's files, accepts.
#
# All probes are checked by one run of the compiler, which takes as long as one file of the core.
# The compiler reports errors by the file name and line of #line, so an error says which probe it is
# in.  Errors in a macro of the kernel's are reported there, with a note of where it was used.  A
# warning counts like an error, because a call of an undeclared function may be one.

set -eu
source=$1
shift

# The compiler fails: NEVER does not compile.
messages=$(LC_ALL=C "$@" -fsyntax-only "$source" 2>&1 || :)
probes=$(sed -n 's/^#line 1 "\([A-Z_0-9]*\)"$/\1/p' "$source")
passed='' failed=''

for probe in $probes; do
	if printf '%s\n' "$messages" | grep -qE "(^|[ /])$probe:[0-9]+"; then
		failed="$failed $probe"
	else
		passed="$passed $probe"
	fi
done
case " $passed / $failed " in
*" ALWAYS "*/*" NEVER "*) ;;
*)
	printf '%s\n' "$messages" >&2
	echo "$0: cannot tell which features the kernel's headers have" >&2
	exit 1
	;;
esac
for probe in $passed; do
	echo "#define PP_HAS_$probe 1"
done
