# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch-build --module-source: out-of-tree modules (test/vm/shared/make).  A guest that is
# patched so is in vm/several-parents.bats.

load helpers

setup() {
	local tools built=$top/build/test/modules/$release/outside
	cd "$BATS_TEST_TMPDIR" || return
	mapfile -t tools < <("$top/test/kernel-tools" "$release")
	"$top/test/vm/shared/make" --outside "$built" "$release" make "${tools[@]}"
	# The folder has moved since it was built, and its files keep their times.
	cp -a "$built" moved
	change 's/value \* 10/value * 20/'
}

# change SED... [FILE] - make x.patch, an edit of scale.c or another file.
change() {
	local file=parts/scale.c
	[ $# -eq 1 ] || file=${*: -1}
	rm -rf a b
	mkdir -p "a/${file%/*}" "b/${file%/*}"
	cp "moved/$file" "a/$file"
	sed "${@:1:$#-($#>1)}" "a/$file" >"b/$file"
	diff -u "a/$file" "b/$file" >x.patch || [ $? -eq 1 ]
}

# build [OPTION...] - make x.ko of x.patch.
build() {
	"$program" -q -k "$release" --module-source moved -n x -o x.ko "$@" x.patch
}

# fails STATUS TEXT [OPTION...] - the build ends so, and the first line that it prints has TEXT; the
# next line, if any, counts refusals.
fails() {
	run "-$1" build "${@:3}"
	if [[ ${lines[0]} != *"$2"* || ${#lines[@]} -ne $1 ]]; then
		echo "not '$2': $output"
		return 1
	fi
	[ ! -e x.ko ]
}

@test "a unit of a module whose folder has moved since; nothing is written to it" {
	find moved -printf '%p %T@ %s\n' | sort >before
	build --report x.json
	find moved -printf '%p %T@ %s\n' | sort | diff before -
	[ "$(python3 -c 'import json; r = json.load(open("x.json")); print(
		*(u["source"] + " " + u["parent"] + " " + u["status"] for u in r["units"]),
		*(v["function"] + " " + v["result"] for v in r["verify"]), r["functions"][0]["first_change"]["source"])')" = \
		"parts/scale.c pp_outside changed pp_outside_scale equal parts/scale.c:9" ]
	# __FILE__ is as kbuild said it, in the new code too, and no name of this folder is in the module.
	grep -q "modules/$release/outside/parts/scale.c" x.ko
	run -1 grep -q "$BATS_TEST_TMPDIR" x.ko
	# A build of the folder where it was is the same.
	mv x.ko first.ko
	build --module-source "$top/build/test/modules/$release/outside"
	cmp first.ko x.ko
}

@test "with a diff of the kernel, and with markers" {
	edited fs/proc/version.c 's/linux_proc_banner,/"%s", linux_proc_banner,/'
	build
	readelf -p .pokepatch.report x.ko >report || strings x.ko >report
	grep -q 'pp_outside_scale' report
	grep -q 'version_proc_show' report
	rm x.ko
	"$program" -q -k "$release" --module-source moved -n x -o x.ko --instrument \
		--mark-functions pp_outside_scale moved/parts/scale.c
	[ "$(nm x.ko | grep -c ' t pp_outside_scale$')" -eq 1 ]
}

@test "headers of the folder, changed and new" {
	change 's/value \* 10/value * FACTOR/'
	cp x.patch all.patch
	change '1i #include "factor.h"' parts/scale.h
	cat all.patch - >>x.patch <<-'END'
		diff --git a/parts/factor.h b/parts/factor.h
		new file mode 100644
		--- /dev/null
		+++ b/parts/factor.h
		@@ -0,0 +1 @@
		+#define FACTOR 30
	END
	build --report x.json
	[ "$(jq -r '.functions[] | .name + " " + .change' x.json)" = "pp_outside_scale changed" ]
	rm x.ko
	# The makefile gives that folder by -iquote, in one word with it.
	mv x.patch all.patch
	change 's/in call/at call/' told/told.h
	build --report x.json
	[ "$(jq -r '.functions[] | .name + " " + .change' x.json)" = "told_get changed" ]
	rm x.ko
	mv all.patch x.patch
	sed -i '/factor.h b\/parts/,$d' x.patch
	run -1 build
	[[ $output == *"factor.h: No such file"* ]]
}

@test "a type of a header, of which the module's own debug information has nothing" {
	change '/int value;/d; s/unsigned int calls;/&\n\tint value;/' told/told.h
	fails 2 "told/told.h:2: refused [type-changed]: struct told: member 'calls' moves from offset 4 to 0;"
}

@test "functions of two names, and the cold part of one" {
	change -e 's/scale(told) + 1/scale(told) + 2/' -e 's/\* 3/* 4/' parts/names.c
	build --report x.json
	[ "$(jq -r '.functions[] | .name + " " + .change' x.json | sort)" = \
		$'pp_outside_base changed\npp_outside_checked changed' ]
	# New code that leads into the cold part of the old function would go on in that.
	[ "$(nm x.ko | grep -c ' [tT] pp_outside_checked\.cold')" -eq 1 ]
}

@test "bad folders" {
	fails 1 "--module-source none: No such file or directory" --module-source none
	fails 1 "--module-source x.patch: not a folder" --module-source x.patch
	mkdir empty
	fails 1 "--module-source empty: no Kbuild and no Makefile in it;" --module-source empty
	cp moved/Kbuild empty/
	fails 1 "no module (.ko) in it; build it for kernel $release first" --module-source empty
}

@test "modules that are not built, or not as the source is" {
	mv moved/pp_outside.ko moved/other.ko
	fails 2 "parts/scale.c: refused [parent-unknown]: it is compiled for module pp_outside, which is not in moved;"
	sed 's/vermagic=[0-9]/vermagic=9/' moved/other.ko >moved/pp_outside.ko
	fails 1 "/moved/pp_outside.ko is for kernel 9${release:1}, not for $release; build it for that kernel"
	mv moved/other.ko moved/pp_outside.ko

	echo 'not C' >moved/parts/more.c
	change 's/not/no/' parts/more.c
	fails 2 "parts/more.c: refused [not-in-kernel]: no module in moved was compiled from this file;"

	# An edit that the module does not have, by the files' times or not; a time alone matters not.
	change 's/value \* 10/value * 20/'
	touch moved/parts/scale.c
	build
	rm x.ko
	sed -i 's/value \* 10/value * 12/' moved/parts/scale.c
	change 's/value \* 12/value * 20/'
	fails 2 "parts/scale.c: refused [source-differs]: this file was changed after module pp_outside was built,"
	touch -r moved/pp_outside.ko moved/parts/scale.c
	fails 2 "refused [verify-mismatch]: 'pp_outside_scale' as compiled here"
	echo '#error no' >>moved/parts/scale.c
	touch -r moved/pp_outside.ko moved/parts/scale.c
	run -1 build
	[[ ${lines[0]} == *"the module's build cannot compile moved/parts/scale.c as it is, before any change"* ]]
}
