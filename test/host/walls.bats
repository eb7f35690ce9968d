# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Which folder may use which (ARCHITECTURE.md), and that the comparison notices a breach.

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
walls=$top/test/host/walls

# A copy of what is compared, to be changed.
setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir build
	cp -r "$top"/{ARCHITECTURE.md,build-tool,core-module,patches} .
	cp -rs "$top/build/build-tool" build/
}

# finds LINE - the comparison finds exactly that.
finds() {
	run "$walls" .
	echo "$output"
	[ "$status" -eq 1 ]
	[ "$output" = "$1" ]
}

@test "every folder uses what ARCHITECTURE.md lets it use" {
	"$walls"
}

@test "an include over a wall is found" {
	echo '#include "diff/select.h"' >>build-tool/object/atoms.c
	finds "build-tool/object/atoms.c includes diff/select.h: object must not use diff"
}

@test "an include of a header that the table leaves out is found" {
	echo '#include "object/parent.h"' >>build-tool/proof/match.c
	finds "build-tool/proof/match.c includes object/parent.h: proof must not use object"
}

@test "an include of the build tool's in the core is found" {
	echo '#include "../build-tool/object/object.h"' >>core-module/main.c
	finds "core-module/main.c includes ../build-tool/object/object.h: core-module must not use object"
}

# calls FOLDER FUNCTION - a file of that folder that declares the function itself, and calls it.
calls() {
	cat >"build-tool/$1/more.c" <<-END
		extern int $2(void);
		int more(void);
		int more(void) { return $2() + 1; }
	END
	gcc -c -o "build/build-tool/$1/more.o" "build-tool/$1/more.c"
}

@test "a call over a wall is found" {
	calls arch diff_run
	finds "build/build-tool/arch/more.o uses diff_run(): arch must not use diff"
}

@test "a call of a function that the table leaves out is found" {
	calls proof parent_open
	finds "build/build-tool/proof/more.o uses parent_open(): proof must not use object"
}

@test "a folder without a row and a file that was not built are found" {
	mkdir build-tool/attic
	touch build-tool/attic/old.c
	finds "attic: the table has no row
build/build-tool/attic/old.o is not built"
}

@test "a name in the table that its folder does not use is found" {
	sed -i 's/.arch_is_big./\d96arch_of_file\d96, &/' ARCHITECTURE.md
	finds "proof: uses no arch_of_file of object"
}
