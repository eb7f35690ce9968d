# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch-build: an object that kbuild links into several modules (test/vm/shared).

load helpers

setup() {
	local tools
	cd "$BATS_TEST_TMPDIR" || return
	shared=$top/build/test/modules/$release/shared
	mapfile -t tools < <("$top/test/kernel-tools" "$release")
	"$top/test/vm/shared/make" "$shared" "$release" make "${tools[@]}"
}

# build DIFF [OPTION...] - make x.ko and x.json.
build() {
	"$program" -k "$release" -s "$shared/source" -m "$shared/modules" -n x -o x.ko --report x.json \
		"$top/test/vm/shared/$1.patch" "${@:2}"
}

# report PROGRAM - the lines that python prints of the report r.
report() {
	python3 -c "import json; r = json.load(open('x.json')); $1"
}

@test "each module is a parent, and its functions are compared with its own code" {
	local modules module function wanted id said=
	# pp_shared.ko is the shared object alone: that kbuild's KBUILD_MODNAME does not name.
	modules=$(basename -s .ko "$shared"/modules/kernel/net/pp_shared/*.ko | LC_ALL=C sort)
	[ "$modules" = "$(printf '%s\n' pp_shared pp_shared_a pp_shared_b pp_shared_c)" ]
	run -0 build shared
	wanted=$(for function in scale value; do
		for module in $modules; do echo "pp_shared_$function $module"; done
	done)
	for module in $modules; do
		said+=" pp_shared_scale ($module) pp_shared_value ($module)"
	done
	[[ $output == *$'\n'"changed functions:$said"$'\n'* ]]
	[ "$(report 'print(*(f["name"] + " " + f["parent"] for f in r["functions"]), sep="\n")')" = "$wanted" ]
	[ "$(report 'print(*(v["function"] + " " + v["parent"] for v in r["verify"] if v["result"] == "equal"), sep="\n")')" = "$wanted" ]
	[ "$(report 'print(*(u["parent"] for u in r["units"] if u["object"] == "net/pp_shared/pp_shared.o" and u["status"] == "changed"), sep="\n")')" = \
		"$modules" ]
	# Their build ids are in the image, for the core.
	objcopy -O binary --only-section=.pokepatch.tables x.ko tables
	for module in $modules; do
		id=$(readelf -n "$shared/modules/kernel/net/pp_shared/$module.ko" 2>/dev/null |
			sed -n 's/.*Build ID: //p')
		[ -n "$id" ]
		xxd -p tables | tr -d '\n' | grep -q "$id"
	done
	# Each has its own copy of what changed.
	[ "$(nm x.ko | grep -c ' t pp_shared_value$')" -eq 4 ]
}

@test "what is new is each module's own, also for its other objects" {
	run -0 build shared-extra
	[[ $output == *$'\nnew functions: pp_shared_extra (pp_shared) pp_shared_extra (pp_shared_a) pp_shared_extra (pp_shared_b) pp_shared_extra (pp_shared_c)\n'* ]]
	# What a.c and b.c call, and what that counts in.
	objdump -dr x.ko >code
	for module in a b; do
		grep -q "PLT32.*pp_shared_extra.pp_shared_$module-" code
		awk -v name="<pp_shared_extra.pp_shared_$module>:" '$2 == name { on = 1 } !NF { on = 0 } on' code |
			grep -q "pp_shared_extra_calls.pp_shared_$module-"
	done
	nm x.ko | awk '$3 ~ /[.]pp_shared/' >renamed
	[ "$(wc -l <renamed)" -eq 8 ]
}

@test "one of the modules is not there: the patch would be half" {
	mkdir -p some/kernel/net/pp_shared
	cp "$shared"/modules/kernel/net/pp_shared/pp_shared_[ab].ko some/kernel/net/pp_shared/
	run -2 "$program" -q -k "$release" -s "$shared/source" -m some -o x.ko \
		"$top/test/vm/shared/shared.patch"
	[ "$output" = "net/pp_shared/pp_shared.c: refused [parent-unknown]: it is compiled for several modules (pp_shared_a:pp_shared_b:pp_shared_c), and pp_shared_c is not among the modules in $PWD/some
pokepatch-build: refused for 1 reason; no module was made" ] || {
		echo "$output"
		return 1
	}
	[ ! -e x.ko ]
}

@test "an object of vmlinux and of modules" {
	source=$shared/source edited lib/bcd.c -e 's/& 0x0f) +/\& 0x0e) +/'
	mkdir -p some/kernel/lib
	touch some/kernel/lib/bcd_{a,b}.ko
	run -2 "$program" -q -k "$release" -s "$shared/source" -m some -o x.ko x.patch
	[ "${#lines[@]}" -eq 2 ]
	[ "${lines[0]}" = "lib/bcd.c: refused [parent-unknown]: it is linked both into vmlinux and into modules (bcd_a:bcd_b), each of which has a copy of its code; change code that one of them has" ]
}

@test "one of the modules is of another build" {
	cp -r "$shared/modules" other
	# value * 3 is lea (%rdi,%rdi,2),%eax, and another number in it another function.
	python3 - other/kernel/net/pp_shared/pp_shared_b.ko <<-'END'
		import sys
		data = open(sys.argv[1], "rb").read()
		assert data.count(b"\x8d\x04\x7f") == 1
		open(sys.argv[1], "wb").write(data.replace(b"\x8d\x04\x7f", b"\x8d\x04\xbf"))
	END
	run -2 "$program" -q -k "$release" -s "$shared/source" -m other -o x.ko \
		"$top/test/vm/shared/shared.patch"
	[[ ${lines[0]} == *"refused [verify-mismatch]: 'pp_shared_scale' as compiled here"*" is not what pp_shared_b has "* ]]
	[ "${#lines[@]}" -eq 2 ]
}

@test "markers in a shared object" {
	"$program" -q -k "$release" -s "$shared/source" -m "$shared/modules" -n x -o x.ko --instrument \
		--mark-functions pp_shared_value net/pp_shared/pp_shared.c
	[ "$(nm x.ko | grep -c ' t pp_shared_value$')" -eq 4 ]
}
