# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # other variables are those of guest/lib.sh and of the tests
# A script of consistency.bats:
# The loop on all CPUs, while a patch is switched on and off.  $1: a switch of the debug
# core, or "all-checks"; $2: rounds; $3...: the patches to switch, one after the other.
# Leaves "calls=N one=N two=N mixed=N".

check=$1
rounds=$2
shift 2
pokepatch load "$(patch_file agree-1)"
if [ "$check" != all-checks ]; then
	echo 1 >"/sys/module/pokepatch/parameters/$check"
	same "$check" "$(cat "/sys/module/pokepatch/parameters/$check")" Y
fi
for patch; do
	modprobe "pokepatch-$patch"
	# The machine may be busy with other things, and tries be few.
	echo 60000 >"$(sysfs "$patch" timeout_ms)"
done
agree >/tmp/agree &
agree=$!
switch() {
	for patch; do
		enabled "$patch" "$value"
		[ $# -eq 1 ] || usleep 20000
	done
}
done=0
# At least a thousand calls, each of ten lines of agree being a hundred.
while [ $done -lt "$rounds" ] || [ "$(wc -l </tmp/agree)" -lt 10 ]; do
	value=1
	switch "$@"
	value=0
	switch "$@"
	done=$((done + 1))
done
kill "$agree"
wait "$agree"
cat /tmp/agree
