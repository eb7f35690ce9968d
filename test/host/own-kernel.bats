# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# --kbuild with a folder in which a kernel was built.  The folders are made from the headers, the
# source and the vmlinux of the kernel in the cache.  test/unit/test_toolchain.c has more.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir tmp
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	patch=$top/examples/proc-version.patch
	own_folder
}

# own_folder - make the folder `own`, as if the kernel had been built there with O=.
own_folder() {
	cp -rsH "$kernel/headers/usr/src/linux-headers-$release" own
	rm -f own/.kernelvariables own/source own/.config own/include/config/auto.conf
	cp "$kernel/headers/usr/src/linux-headers-$release/.config" own/
	cp "$kernel/headers/usr/src/linux-headers-$release/include/config/auto.conf" own/include/config/
	ln -s "$source" own/source
	ln -s "$kernel/dbg/usr/lib/debug/boot/vmlinux-$release" own/vmlinux
	record CC "$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\([^ ]*\) .*/\1/p' own/.config)"
}

# record NAME VALUE... - what Kconfig notes of make's variables.
record() {
	: >own/include/config/auto.conf.cmd
	while [ $# -gt 0 ]; do
		printf '\nifneq "$(%s)" "%s"\ninclude/config/auto.conf: FORCE\nendif\n' "$1" "$2"
		shift 2
	done >own/include/config/auto.conf.cmd
}

# refused CODE WORDS - the build of the folder is refused by one line with the code and the words.
refused() {
	run -2 "$program" -q -k "$release" --kbuild own -o x.ko "$patch"
	if [ "${#lines[@]}" -ne 2 ] || [[ ${lines[0]} != *"refused [$1]: "*"$2"* ]]; then
		echo "not [$1] with '$2': $output"
		return 1
	fi
	[ ! -e x.ko ]
}

@test "a compiler that is not there is named by its path" {
	record CC "$PWD/no-such-cc"
	run -1 "$program" -q -k "$release" --kbuild own -o x.ko "$patch"
	[ "$output" = "pokepatch-build: the kernel's compiler $PWD/no-such-cc is not there, or does not work" ]
}

@test "a compiler of another version, or of another kind" {
	record CC gcc-11
	refused compiler-differs "this is gcc 11."
	record CC clang-16
	refused compiler-differs "this is clang 16."
}

@test "a folder that was configured for another compiler after vmlinux was linked" {
	sed -i 's/^\(CONFIG_CC_VERSION_TEXT="[^ ]*\) .*/\1 (of another day) 12.2.0"/' own/.config
	refused compiler-differs "configured for"
}

@test "a folder that was configured again after the kernel was built" {
	sed -i 's/^CONFIG_HZ=.*/CONFIG_HZ=1234/' own/.config
	refused config-differs "changed after the kernel was built there: CONFIG_HZ;"
}

# CONFIG_DEBUG_INFO_COMPRESSED_ZLIB.  The offsets of relocations are those of what was compressed.
@test "objects with compressed DWARF" {
	local value
	for value in 1 2; do
		printf '#include <stdio.h>\nint f(FILE *x) { int n = x->_fileno * 1000; return getc(x) + n + %s; }\n' $value >x.c
		gcc -O2 -g -gz -ffunction-sections -fdata-sections -c -o $value.o x.c
	done
	readelf -SW 1.o | grep -q '\.debug_info .* C '
	"$top/build/bin/pokepatch-diff" --report r.json -o out.o 1.o 2.o
	[ "$(jq -c '[.functions[] | .name, .change]' r.json)" = '["f","changed"]' ]
}

# take_apart - the stock kernel's binfmt_misc as RHEL ships modules: its debug information in
# apart/$module.debug, where code and data have no contents.  whole.ko is a patch for it.
take_apart() {
	module=kernel/fs/binfmt_misc.ko
	patch=$top/examples/binfmt-misc-status.patch
	"$program" -q -k "$release" -o whole.ko "$patch"
	mkdir -p "apart/${module%/*}"
	objcopy --only-keep-debug "$kernel/dbg/usr/lib/debug/lib/modules/$release/$module" \
		"apart/$module.debug"
	readelf -SW "apart/$module.debug" | grep -q ' \.text *NOBITS '
}

@test "debug information of modules apart from them" {
	take_apart
	# The image in the cache has the module.
	"$program" -q -k "$release" --modules apart -o apart.ko "$patch"
	cmp whole.ko apart.ko
	# Under the module's own name, as "make bindeb-pkg" has it.
	mv "apart/$module.debug" "apart/$module"
	rm apart.ko
	"$program" -q -k "$release" --modules apart -o apart.ko "$patch"
	cmp whole.ko apart.ko
	mv "apart/$module" "apart/$module.debug"
	# The module beside it, packed.
	mkdir stripped
	objcopy --strip-debug "$kernel/dbg/usr/lib/debug/lib/modules/$release/$module" stripped/x.ko
	xz -c stripped/x.ko >"apart/$module.xz"
	rm apart.ko
	"$program" -q -k "$release" --modules apart -o apart.ko "$patch"
	cmp whole.ko apart.ko
	# One of another build.
	printf '\001' | dd of=stripped/x.ko bs=1 conv=notrunc status=none \
		seek="$(($(readelf -SW stripped/x.ko | sed -n 's/.*\.note\.gnu\.build-id *NOTE *0* *\([0-9a-f]*\).*/0x\1/p') + 20))"
	xz -c stripped/x.ko >"apart/$module.xz"
	run -1 "$program" -q -k "$release" --modules apart -o other.ko "$patch"
	[[ $output == *"they differ in build id; give both from one build of the kernel" ]]
	[ "${#lines[@]}" -eq 1 ]
	[ ! -e other.ko ]
}

@test "debug information of vmlinux apart from it" {
	objcopy --only-keep-debug --remove-section='.debug*' own/vmlinux vmlinux.debug
	run -2 "$program" -q -k "$release" --vmlinux vmlinux.debug -o x.ko "$patch"
	[[ ${lines[0]} == *"vmlinux.debug: refused [vmlinux-differs]: "*"debug information alone"* ]]
}
