# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of guest/lib.sh
# The guest's part of test/bench/run: what a call of int_pow() costs, plain and in each mode.

measure() {
	sed "s/^/$1 /" /sys/module/pp_icount/parameters/measure
}
modprobe pp_icount
measure plain
for mode in $all_modes; do
	pokepatch load --mode "$mode" "$(patch_file int-pow)" >/dev/null
	measure "$mode"
	pokepatch unload int-pow >/dev/null
done
can livepatch || exit 0
modprobe pp_klp
until_true 60 grep -q 0 /sys/kernel/livepatch/pp_klp/transition
measure klp
