# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # other variables are those of guest/lib.sh and of the tests
# A script of replace.bats, behind replace.sh.
# The loop on all CPUs while two patches take turns.  $1: how; $2: rounds; $3, $4: the patches, if not
# agree-1 and agree-2.  A reader that finds the kernel's own function ends `agree` with an error.

how=$1
rounds=$2
one=${3:-agree-1}
two=${4:-agree-2}
take_over() { # NEW OLD
	case $how in
	replace)
		echo "*" >"$(sysfs "$1" replace)"
		enabled "$1" 1
		;;
	one-by-one)
		enabled "$2" 0
		usleep 20000
		enabled "$1" 1
		;;
	levels)
		pokepatch load "$(patch_file "$1")"
		on "$(patch_id "$1")"
		[ ! -e "/sys/module/pokepatch_$(patch_id "$2")" ] || die "$2 is loaded"
		return
		;;
	esac
	same "$2" "$(state_of "$2")" "0 disabled"
}
pokepatch load "$(patch_file "$one")"
[ "$how" = levels ] || modprobe "pokepatch-$two"
agree >/tmp/agree 2>&1 &
agree=$!
done=0
# At least a thousand calls, each of ten lines of agree being a hundred; or until it fails.
while [ $done -lt "$rounds" ] ||
	{ [ "$(wc -l </tmp/agree)" -lt 10 ] && ! grep -q agree: /tmp/agree; }; do
	take_over "$two" "$one"
	take_over "$one" "$two"
	done=$((done + 1))
done
kill "$agree" || :
wait "$agree" || echo "agree failed"
cat /tmp/agree
