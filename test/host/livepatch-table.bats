# SPDX-License-Identifier: GPL-2.0-or-later
# The table of the kernel's livepatch selftests in test/README.md names tests that are there.

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

# rows - of the table: "selftest|file|test".
rows() {
	awk -F ' *[|] *' '
		/^## / { here = /livepatch selftests/ }
		here && /^[|] [a-z-]+ [|]/ && $2 != "test-" { print $2 "|" $4 "|" $5 }' \
		"$top/test/README.md"
}

@test "each scenario of the kernel's livepatch selftests has a test" {
	local selftest file name count=0
	while IFS='|' read -r selftest file name; do
		grep -qxF "@test \"$name\" {" "$top/test/vm/$file.bats" || {
			echo "test-$selftest: no test '$name' in vm/$file.bats"
			return 1
		}
		count=$((count + 1))
	done < <(rows)
	[ "$count" -ge 32 ]
	# Each of their files is there.
	[ "$(rows | cut -d '|' -f 1 | sort -u | tr '\n' ' ')" = \
		"callbacks ftrace kprobe livepatch shadow-vars state syscall sysfs " ]
}

@test "each test of vm/livepatch.bats is in the table" {
	local name
	while read -r name; do
		rows | grep -qF "|livepatch|$name" || {
			echo "not in the table: $name"
			return 1
		}
	done < <(sed -n 's/^@test "\(.*\)" {$/\1/p' "$top/test/vm/livepatch.bats")
}
