# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of guest/lib.sh
# What the guest of test/demo does.

show() {
	echo "-- $1"
	cat /proc/version
}
show "before"
echo
echo "\$ pokepatch load pokepatch-proc-version.ko"
pokepatch load "$(patch_file proc-version)"
pokepatch list
show "with the patch"
echo
echo "\$ pokepatch unload proc-version"
pokepatch unload proc-version
show "after"
