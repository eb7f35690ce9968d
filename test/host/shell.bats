# SPDX-License-Identifier: GPL-2.0-or-later
# All shell files of the tree are clean under shellcheck.

bats_require_minimum_version 1.5.0

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

@test "shellcheck has nothing to say about any shell file" {
	cd "$top"
	local list
	list=$(test/shellcheck --list)
	# Of each kind there is one: by its suffix, by its first line, by a directive.
	for file in .ci/run test/demo test/vm/helpers.bash test/vm/vm test/host/shell.bats \
		test/vm/guest/init test/vm/guest/run test/objects/machines/mips; do
		grep -qxF "$file" <<<"$list" || {
			echo "$file is not among the files"
			return 1
		}
	done
	test/shellcheck
}

@test "shellcheck tells of what is wrong in a script, in a test, and in one of a guest" {
	cd "$BATS_TEST_TMPDIR"
	local file
	printf '#!/bin/bash\nrm $1\n' >script.sh
	printf 'setup() { cd "$BATS_TEST_TMPDIR"; }\n@test "x" {\n\t[ $a = 1 ]\n}\n' >x.bats
	printf '# shellcheck shell=sh\nif [[ $1 ]]; then :; fi\n' >guest
	for file in script.sh x.bats guest; do
		run -1 "$top/test/shellcheck" "$BATS_TEST_TMPDIR/$file"
		[[ $output == "$BATS_TEST_TMPDIR/$file":* ]]
	done
}
