# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Verifying that the functions which a patch replaces refer to what the kernel's refer to.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# refused OPTION... -- TEXT - x.patch is refused in one line, which has TEXT.
refused() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	run -2 "$program" -q -k "$release" "${options[@]}" x.patch
	if [ "${#lines[@]}" -ne 2 ] || [[ ${lines[0]} != *"$2"* ]]; then
		echo "no '$2' in: $output"
		return 1
	fi
}

# flip FILE OFFSET - change one bit of the byte there; the second time it is as before.
flip() {
	local byte
	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf '%b' "\\x$(printf %x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "a function that vmlinux has, but for where it refers to" {
	local address in_file start file target place
	cp "$(readlink -f "$kernel/dbg/usr/lib/debug/boot/vmlinux-$release")" vmlinux
	read -r address in_file < <(readelf -SW vmlinux | awk '$2 == ".text" || $3 == ".text" { print "0x" $(NF - 7), "0x" $(NF - 6) }')
	nm vmlinux >symbols
	for file in version uptime; do
		rm -f x.patch
		edited fs/proc/$file.c "/^static int ${file}_proc_show/,/^}/s/return 0/return 1/"
		"$program" -q -k "$release" -v vmlinux x.patch
		start=0x$(awk -v "name=${file}_proc_show" '$3 == name { print $1 }' symbols)
		# In .text, the function is the first one.  Of uptime_proc_show(), only the string is tried.
		objdump -rj .text "$source/fs/proc/$file.o" | awk -v file=$file '
			/R_X86/ && (file == "version" || /rodata.str/) { print "0x" $1, $3 }' >fields
		while read -r place target; do
			[ $file != version ] || [ $((place)) -lt 58 ] || continue
			flip vmlinux $((start - address + in_file + place))
			refused -v vmlinux -- "[verify-mismatch]: '${file}_proc_show' as compiled here refers to '${target%%[-+]*}' at byte $((place)), and"
			flip vmlinux $((start - address + in_file + place))
			echo "$target" >>seen
		done <fields
	done
	grep -q linux_proc_banner seen
	grep -q seq_printf seen
	grep -q rodata.str seen
}

@test "a function that a module has, but for where it refers to" {
	local ko=kernel/fs/binfmt_misc.ko symbol=bm_register_write value table entry place
	edited fs/binfmt_misc.c '/^static ssize_t bm_register_write(/,/^}/s/-EEXIST/-ERANGE/'
	cp -rs "$kernel/dbg/usr/lib/debug/lib/modules/$release" modules
	rm -f "modules/$ko"
	cp "$kernel/dbg/usr/lib/debug/lib/modules/$release/$ko" "modules/$ko"
	value=$(readelf -sW "modules/$ko" | awk -v name="$symbol" '$8 == name { print $2 }')
	table=0x$(readelf -SW "modules/$ko" | sed 's/^ *\[ *//;s/]//' | awk '$2 == ".rela.text" { print $5 }')
	# The numbers of the relocations of a call and of a string.
	readelf -rW "modules/$ko" | awk -v first="$value" -v end="$(printf %016x $((0x$value + 2000)))" '
		/^Relocation section/ { inside = $3 == "\x27.rela.text\x27"; number = -2 }
		inside { number++ }
		inside && $1 "" > first && $1 "" < end && /PLT32|rodata.str/ && !seen[$3]++ { print number - 1 }' >entries
	[ "$(wc -l <entries)" -eq 2 ]
	while read -r entry; do
		# Another addend, another symbol, and none: the type is then an unknown one.
		for place in 16 12 11; do
			flip "modules/$ko" $((table + 24 * entry + place))
			refused -m modules -- "[verify-mismatch]: '$symbol' as compiled here refers to '"
			flip "modules/$ko" $((table + 24 * entry + place))
		done
	done <entries
	"$program" -q -k "$release" -m modules x.patch
}

@test "symbols that the linker puts into the section of per-CPU data, and that are addresses of the image" {
	edited kernel/kallsyms.c '/^int lookup_symbol_name(/,/^}/s/^\tsymname\[0\] = .*/\tif (!addr)\n\t\treturn -ERANGE;\n&/'
	"$program" -q -k "$release" -o x.ko x.patch
}
