# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of guest/lib.sh
# The guest's part of test/bench/stopped that takes the time of 1,000 functions in each mode.

# shellcheck source=stopped.sh
. /root/stopped.sh
now() { cut -d ' ' -f 1 /proc/uptime; }
# The median of five.
empty() {
	for _try in 1 2 3 4 5; do
		cat /sys/module/pp_crowd/parameters/stop
	done | sort -n | sed -n 3p
}
modprobe pokepatch
modprobe pp_crowd
for n in 1 1000; do
	for mode in entry direct ftrace; do
		t0=$(now)
		modprobe pokepatch-crowd-$n
		t1=$(now)
		for file in "$(sysfs crowd_$n pp_crowd)"/*/mode; do
			echo $mode >"$file"
		done
		t2=$(now)
		enabled crowd_$n 1
		t3=$(now)
		same "patched functions" "$(crowd)" $n
		on=$(file crowd_$n stop_ns)
		t4=$(now)
		enabled crowd_$n 0
		t5=$(now)
		off=$(file crowd_$n stop_ns)
		rmmod pokepatch-crowd-$n
		echo $n $mode "$t0" "$t1" "$t2" "$t3" "$t4" "$t5" "$(now)" "$on" "$off" "$(empty)"
	done
done
