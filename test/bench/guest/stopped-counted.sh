# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of guest/lib.sh
# The guest's part of test/bench/stopped that counts.  The release build; and the debug build, which can
# be told to walk all stacks again.

# shellcheck source=stopped.sh
. /root/stopped.sh
rounds() { # WHICH THREADS
	for n in 1 10 100 1000; do
		modprobe pokepatch-crowd-$n
		enabled crowd_$n 1
		same "patched functions" "$(crowd)" $n
		stops "$1" "$2" $n
		enabled crowd_$n 0
		rmmod pokepatch-crowd-$n
	done
}
modprobe pokepatch dyndbg=+p
modprobe pp_crowd
for threads in 50 500 5000; do
	sleep_with $threads
	rounds once $threads
	wake
done
rmmod pokepatch
# All stacks take longer than a stop may.
insmod /root/pokepatch.ko dyndbg=+p debug_walk_all=1 max_stop_us=1000000
for threads in 50 500 5000; do
	sleep_with $threads
	rounds again $threads
	wake
done
