# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # other variables are those of guest/lib.sh and of the tests
# A script of replace.bats, behind replace.sh.
# The loop on all CPUs while two patches take turns.  $1: how; $2: rounds.  A reader that
# finds the kernel's own function ends `agree` with an error.

how=$1
rounds=$2
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
	esac
	same "$2" "$(state_of "$2")" "0 disabled"
}
pokepatch load "$(patch_file agree-1)"
modprobe pokepatch-agree-2
agree >/tmp/agree 2>&1 &
agree=$!
done=0
# At least a thousand calls, each of ten lines of agree being a hundred; or until it fails.
while [ $done -lt "$rounds" ] ||
	{ [ "$(wc -l </tmp/agree)" -lt 10 ] && ! grep -q agree: /tmp/agree; }; do
	take_over agree-2 agree-1
	take_over agree-1 agree-2
	done=$((done + 1))
done
kill "$agree" || :
wait "$agree" || echo "agree failed"
cat /tmp/agree
