# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # pokepatch is of test/vm/guest/lib.sh
# What a guest of `make matrix` runs: the tests of the examples named by its arguments, one after the
# other.  The first that fails ends it.  test/matrix/run boots it, and reads the lines "matrix: ...".

for _test; do
	echo "matrix: $_test begins"
	# The kernel log says which test a finding belongs to.
	echo "<6>matrix: $_test begins" >/dev/kmsg
	# Each test begins with a core that has just been loaded.
	[ ! -e "$pokepatch" ] || rmmod pokepatch
	_begun=$(cut -d . -f 1 /proc/uptime)
	# A subshell, so that the next test does not find the functions of this one.
	set +e
	(
		set -e
		# shellcheck source=/dev/null
		. "/root/$_test.sh"
	)
	_status=$?
	set -e
	[ $_status -eq 0 ] || exit $_status
	echo "took $(($(cut -d . -f 1 /proc/uptime) - _begun)) s"
	echo "matrix: $_test works"
done
