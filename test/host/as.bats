# SPDX-License-Identifier: GPL-2.0-or-later
# pokepatch-as in front of the assembler, as compilers run it, and its check of what was linked.

bats_require_minimum_version 1.5.0

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
as=$top/build/bin/pokepatch-as
cc=mips64el-linux-gnuabi64-gcc-12

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	cat >unit.c <<-'END'
		__attribute__((noinline)) int helper(int i) { return i * 3; }
		__attribute__((weak)) int replaced(int i) { return i - 1; }
		__attribute__((weak)) int also_replaced(int i) { return i - 1; }
		__attribute__((patchable_function_entry(0))) int without(int i) { return helper(i); }
		static int again(int i) { return i ? again(i - 1) + helper(i) : 0; }
		int __start(int i) { return again(i) + helper(i) + replaced(i) + also_replaced(i); }
	END
	echo 'int replaced(int i) { return i + 2; } int also_replaced(int i) { return i + 2; }' >other.c
	flags=(-O2 -g -mabi=64 -mno-abicalls -fno-pic -G 0 -fpatchable-function-entry=4)
	ours=("${flags[@]}" "-B$top/build/libexec/")
}

# linked OBJECT... - into ./linked, which keeps the table of entries.
linked() {
	cat >script <<-'END'
		SECTIONS {
			.note.gnu.build-id : { *(.note.gnu.build-id) }
			.text 0x1000 : { _text = .; _stext = .; *(.text*) _etext = .; _end = .; }
			__patchable_function_entries : { KEEP(*(__patchable_function_entries)) }
		}
	END
	mips64el-linux-gnuabi64-ld --build-id -T script -e __start -o linked "$@"
}

@test "entries are inside their functions, from a file and from a pipe; without us they are not" {
	for pipe in '' -pipe -save-temps; do
		$cc "${ours[@]}" $pipe -c unit.c
		$cc "${ours[@]}" $pipe -c other.c
		linked unit.o other.o
		run "$as" --check linked
		echo "$output"
		[ "$output" = "7 entries: 5 at the start of their function, 2 of weak functions that are overridden, 0 listed twice, 0 of functions that were left out; 6 functions" ]
		# The same but for the address of the assembler.
		mips64el-linux-gnuabi64-objcopy -O binary -j .text linked "text$pipe"
		cmp text "text$pipe"
	done
	# With more slots asked for than there are.
	run -2 "$as" --check --slots 5 linked
	[[ $output == *"has instructions in its slots that are no NOPs"* ]]
	# Without debugging information a function without a symbol is unknown.
	mips64el-linux-gnuabi64-strip -g linked
	run -2 "$as" --check linked
	[ "$(grep -c 'is in no function' <<<"$output")" -eq 2 ]

	$cc "${flags[@]}" -c unit.c
	$cc "${flags[@]}" -c other.c
	linked unit.o other.o
	run -2 "$as" --check linked
	[ "${#lines[@]}" -eq 8 ]
	[[ $output == *"7 entries: 0 at the start"* ]]
}

@test "assembly without entries is passed on as it is; messages and status are the assembler's" {
	printf '\t.text\nf:\tjr $31\n\tnop\n#ifdef X\n\tnop\n#endif\n' >unit.S
	cp unit.S unit.s && sed -i /^#/d unit.s
	for command in 'unit.S' '-DX unit.S' 'unit.s' '-x assembler unit.s' '-pipe -x assembler-with-cpp unit.s'; do
		# shellcheck disable=SC2086 # options and a file
		$cc -B"$top/build/libexec/" -c -o ours.o $command
		# shellcheck disable=SC2086 # likewise
		$cc -c -o plain.o $command
		cmp ours.o plain.o
	done
	$cc -B"$top/build/libexec/" -c -o ours.o -x assembler - <unit.s
	$cc -c -o plain.o -x assembler - <unit.s
	cmp ours.o plain.o
	echo '	bogus $2' >unit.s
	run -1 $cc -B"$top/build/libexec/" -c unit.s
	[[ $output == *"unit.s:1: Error: unrecognized opcode"* ]]
	# Its own options.
	run -0 "$top/build/libexec/as" --version
	[[ $output == *"GNU assembler"* ]]
}

@test "assembly in which it is not certain whose an entry is is refused, and no object left" {
	$cc "${flags[@]}" -S unit.c
	# An instruction between the entry and the label.
	awk '{ print } /^\.LPFE1:/ { inside = 1 } inside && /reorder/ && ++n == 8 { print "\taddiu $2,$2,1" }' \
		unit.s >bad.s
	run ! $cc "${ours[@]}" -c -o bad.o bad.s
	[[ $output == *"bad.s:"*"no label of a function right after the patchable entry at line "* ]]
	[ ! -e bad.o ]
	# The end of the file.
	sed '/^\.LPFE2:/,$d' unit.s >bad.s
	echo .LPFE2: >>bad.s
	run ! $cc "${ours[@]}" -c -o bad.o bad.s
	[[ $output == *"the end of the file after the patchable entry"* ]]
	# Files of options, and two sources.
	run ! "$top/build/libexec/as" @options
	[[ $output == *"@options: files of options are not read"* ]]
	run ! "$top/build/libexec/as" -o x.o unit.s unit.s
	[[ $output == *"is not the only source"* ]]
	# The second alone has entries.
	echo nop >none.s
	run ! "$top/build/libexec/as" -o x.o none.s unit.s
	[[ $output == *"is not the only source"* ]]
}

@test "no option's value is taken for the source" {
	local option
	echo nop >value
	$cc "${flags[@]}" -S unit.c
	$cc "${ours[@]}" -c other.c
	for option in -I -G --MD -MD --defsym --debug-prefix-map --hash-size --listing-lhs-width \
		--listing-lhs-width2 --listing-rhs-width --listing-cont-lines; do
		value=value=1
		case $option in
		*width* | *lines | *size | -G) value=8 ;;
		*MD) value=value ;;
		esac
		echo nop >"$value"
		POKEPATCH_REAL_AS=$(command -v mips64el-linux-gnuabi64-as) \
			"$top/build/libexec/as" -mabi=64 $option $value -o ours.o unit.s
		linked ours.o other.o
		"$as" --check linked || { echo "$option"; return 1; }
	done
	# As gcc passes them when a kernel is built reproducibly.
	for option in -ffile-prefix-map= -fdebug-prefix-map=; do
		$cc "${ours[@]}" "$option$PWD=/source" -c unit.c
		linked unit.o other.o
		"$as" --check linked
	done
}
