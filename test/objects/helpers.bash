# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For the differ's tests; `load helpers` in test/objects/*.bats.
#
# A case is one source, compiled twice: OLD(text) is there in the original only, NEW(text)
# in the patched one only, and PATCHED is defined in that.  Both builds of the differ, the
# plain one and the one with sanitizers, must do exactly the same with it.

bats_require_minimum_version 1.5.0

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
differ=${DIFFER:-$top/build/bin/pokepatch-diff}
asan_differ=${ASAN_DIFFER:-$top/build/asan/bin/pokepatch-diff}

# As the kernel's own build compiles a unit, as far as it changes what an object looks like.
cc=("${GCC:-gcc-12}" -std=gnu11 -w -g -O2 -ffunction-sections -fdata-sections -mcmodel=kernel -mno-red-zone
	-fno-PIE -fno-asynchronous-unwind-tables -fno-common -fshort-wchar -fno-stack-protector
	-pg -mfentry -mrecord-mcount -fcf-protection=none -fno-jump-tables -fno-strict-aliasing
	-mindirect-branch=thunk-extern -mfunction-return=thunk-extern -mno-sse -c)
flags=() # a test's own, added for both
case_flags=() # what each_compiler begins them with
machine_flags=()
link_flags=()
ld_flags=() # of ld, for objects that are not what it expects
ld=ld nm=nm objcopy=objcopy runner_cc=(gcc-12) # runner_cc: what makes a program of it all
qemu=	 # what runs a program, if not the host
start='call main; mov %eax, %edi; mov $231, %eax; syscall'
thunks= # what compiled code calls without the source saying so
# shellcheck source=machines.bash
. "$top/test/objects/machines.bash"

# machine NAME COMPILER - compile for another machine from here on; machine_NAME describes it.
machine() {
	local triple compiler=("$2")
	thunks='' ld='' nm='' objcopy='' runner_cc=() ld_flags=()
	"machine_$1"
	ld=${ld:-$triple-ld} nm=${nm:-$triple-nm} objcopy=${objcopy:-$triple-objcopy}
	[ ${#runner_cc[@]} -gt 0 ] || runner_cc=("$triple-gcc-12")
	case $2 in
	clang*) compiler+=("--target=$triple") ;;
	*) compiler=("$triple-$2") ;;
	esac
	cc=("${compiler[@]}" -std=gnu11 -w -g -O2 -ffunction-sections -fdata-sections -fno-PIE
		-fno-common -fshort-wchar -fno-stack-protector -fno-asynchronous-unwind-tables
		-fno-unwind-tables -fno-strict-aliasing "${machine_flags[@]}" -c)
	echo "with $2:"
}

# each_compiler MACHINE FUNCTION - a test's body, with every compiler that the test has.
each_compiler() {
	local compiler
	for compiler in ${compilers:-gcc-12 clang-16}; do
		flags=("${case_flags[@]}")
		machine "$1" "$compiler"
		"$2"
	done
}

# The same with clang; it has no -mrecord-mcount for x86, where objtool does that.
clang=("${CLANG:-clang-16}" -std=gnu11 -w -g -O2 -ffunction-sections -fdata-sections -mcmodel=kernel -mno-red-zone
	-fno-PIE -fno-asynchronous-unwind-tables -fno-common -fshort-wchar -fno-stack-protector
	-pg -mfentry -fcf-protection=none -fno-jump-tables -fno-strict-aliasing
	-mretpoline-external-thunk -mfunction-return=thunk-extern -mno-sse -c)

# use_clang [COMPILER] - for the rest of this test.
use_clang() {
	cc=("${1:-${clang[0]}}" "${clang[@]:1}")
	case ${cc[0]} in
	clang-13 | clang-14) # older than retbleed
		local i
		for i in "${!cc[@]}"; do
			[ "${cc[i]}" != -mfunction-return=thunk-extern ] || unset "cc[i]"
		done
		;;
	esac
}

# with_all_compilers FUNCTION - a test's body, with each gcc and clang that Debian 12 has.
with_all_compilers() {
	local gcc=("${cc[@]}") compiler
	for compiler in gcc-11 gcc-12 clang-13 clang-14 clang-15 clang-16 clang-19; do
		echo "with $compiler:"
		case $compiler in
		gcc*) cc=("$compiler" "${gcc[@]:1}") ;;
		*) use_clang "$compiler" ;;
		esac
		flags=()
		"$1"
	done
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	flags=()
	local program
	for program in "$differ" "$asan_differ"; do
		[ -x "$program" ] || {
			echo "$program is not built: make && make SANITIZE=1"
			return 1
		}
	done
}

# compile - both objects of the source on standard input: orig.o, patched.o.
compile() {
	cat >unit.c
	"${cc[@]}" "${flags[@]}" '-DOLD(...)=__VA_ARGS__' '-DNEW(...)=' -o orig.o unit.c
	"${cc[@]}" "${flags[@]}" '-DOLD(...)=' '-DNEW(...)=__VA_ARGS__' -DPATCHED \
		-o patched.o unit.c
}

# diff_with PROGRAM KIND ORIG PATCHED [ARG...] - leaves KIND.o, .json, .err, .status.
diff_with() {
	local program=$1 kind=$2 orig=$3 patched=$4
	shift 4
	rm -f "$kind.o" "$kind.json"
	local got=0
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		"$program" --report "$kind.json" -o "$kind.o" "$@" "$orig" "$patched" \
		>"$kind.out" 2>"$kind.err" || got=$?
	echo "$got" >"$kind.status"
}

# diff_objects ORIG PATCHED [ARG...] - run both builds; sets $exit_status, $report, $out,
# $errors.
diff_objects() {
	diff_with "$differ" result "$@"
	diff_with "$asan_differ" asan "$@"
	if grep -aE 'Sanitizer|runtime error' asan.err; then
		cat asan.err
		return 1
	fi
	local suffix
	for suffix in status out err json o; do
		[ -e "result.$suffix" ] || [ -e "asan.$suffix" ] || continue
		cmp "result.$suffix" "asan.$suffix" || return 1
	done
	exit_status=$(cat result.status) report=result.json out=result.o errors=result.err
}

# compare - the source on standard input, compiled and compared.
compare() {
	compile
	diff_objects orig.o patched.o
}

# compare_with_macros - the same, behind what the test file's macros() prints.
compare_with_macros() {
	{
		macros
		cat
	} >case.c
	compare <case.c
}

# ---- what came out -----------------------------------------------------------

# same WHAT GOT WANTED
same() {
	[ "$2" = "$3" ] && return
	printf '%s is:\n%s\nand should be:\n%s\n--- stderr:\n' "$1" "$2" "$3"
	cat result.err
	return 1
}

# lines TEXT... - one per line, sorted.
lines() {
	[ $# -eq 0 ] || printf '%s\n' "$@" | LC_ALL=C sort
}

functions() { jq -r '.functions[] | .name + " " + .change' "$report" | LC_ALL=C sort; }
data() { jq -r '.data[] | .name + " " + .change' "$report" | LC_ALL=C sort; }

# carries "NAME changed|new|removed"... - done, with exactly these functions.
carries() {
	same "exit status" "$exit_status" 0
	same "list of functions" "$(functions)" "$(lines "$@")"
	# The tools that read it next have nothing to say against it.
	same "what ld says" "$("$ld" "${ld_flags[@]}" -r -o linked.o "$out" 2>&1)" ""
	same "what readelf says" "$(readelf -aW "$out" 2>&1 >/dev/null)" ""
	same "the table's entries" "$(table_targets)" \
		"$(for item in "$@"; do echo "$item"; done | sed -n 's/ changed$//p' | LC_ALL=C sort)"
}

# The functions that .pokepatch.funcs has: an address of 64 bits at the start of each struct
# pokepatch_func.
table_targets() {
	local offset type symbol rest
	relocs .pokepatch.funcs | while read -r offset type symbol rest; do
		[ $((16#$offset % 48)) -ge 8 ] || echo "$symbol"
	done | LC_ALL=C sort
}

# carries_data "NAME new|removed"... - exactly these variables and constants.
carries_data() {
	same "list of data" "$(data)" "$(lines "$@")"
}

nothing_differs() {
	same "exit status" "$exit_status" 3
	same "list of functions" "$(functions)" ""
	[ ! -e "$out" ] || { echo "an object was written"; return 1; }
}

# refused "CODE SUBJECT"... - exactly these refusals, each told in one line, nothing written.
refused() {
	same "exit status" "$exit_status" 2
	same "list of refusals" "$(jq -r '.refusals[] | select(.warning | not) |
		.code + " " + .subject' "$report" | LC_ALL=C sort)" "$(lines "$@")"
	local item
	for item in "$@"; do
		grep -q ": refused \[${item%% *}\]: " "$errors" || {
			echo "stderr does not tell of ${item%% *}"
			cat "$errors"
			return 1
		}
	done
	[ ! -e "$out" ] || { echo "an object was written"; return 1; }
}

# warned "CODE SUBJECT"... - exactly these warnings.
warned() {
	same "list of warnings" "$(jq -r '.refusals[] | select(.warning) |
		.code + " " + .subject' "$report" | LC_ALL=C sort)" "$(lines "$@")"
}

# fails STATUS TEXT - that status and one line with the text, nothing written.
fails() {
	same "exit status" "$exit_status" "$1"
	same "number of lines on stderr" "$(wc -l <"$errors")" 1
	grep -qF -- "$2" "$errors" || { cat "$errors"; return 1; }
	[ ! -e "$out" ] || { echo "an object was written"; return 1; }
}

# sections - the names of the output's sections that hold something of the patch.
sections() {
	readelf -SW "$out" | sed -n 's/^ *\[ *[0-9]*\] \([^ ]*\) .*/\1/p' |
		grep -vE '^(|NULL|\.rel.*|\.symtab|\.strtab|\.shstrtab|\.note\.GNU-stack)$' |
		LC_ALL=C sort
}

# has_sections NAME... - exactly these, but for the table of functions.
has_sections() {
	same "list of sections" "$(sections | grep -v '^\.pokepatch\.')" "$(lines "$@")"
}

# relocs SECTION [FILE] - its relocations: "OFFSET TYPE SYMBOL ADDEND", hexadecimal.
relocs() {
	local file=${2:-$out} base=''
	readelf -SWr "$file" | awk -v wanted="$1" -f "$top/test/objects/relocs.awk" | with_addends "$file"
}

# with_addends FILE - of 32-bit MIPS: each addend is in its field, or with R_MIPS_HI16 in that of
# the next R_MIPS_LO16, too.
with_addends() {
	local offset type symbol addend base order=little word upper low waiting=() item value
	local -A uppers=()
	! readelf -h "$1" | grep -q 'big endian' || order=big
	while read -r offset type symbol addend base; do
		if [ "$addend" != in ]; then
			echo "$offset $type $symbol $addend"
			continue
		fi
		word=$((0x$(od -An -tx4 --endian=$order -j $((16#$base + 16#$offset)) -N 4 "$1" | tr -d ' ')))
		case $type in
		R_MIPS_32) signed $word 32 0 ;;
		R_MIPS_26 | R_MIPS_PC26_S2) signed $word 26 2 ;;
		R_MIPS_PC21_S2) signed $word 21 2 ;;
		R_MIPS_PC16) signed $word 16 2 ;;
		R_MIPS_LO16) signed $word 16 0 ;;
		R_MIPS_HI16)
			uppers[$symbol]=$(((word & 0xffff) << 16))
			waiting+=("$offset")
			continue
			;;
		*) value=0 ;;
		esac
		if [ "$type" = R_MIPS_LO16 ]; then
			low=$value upper=${uppers[$symbol]:-0}
			signed $((upper + low)) 32 0
			for item in "${waiting[@]}"; do
				echo "$item R_MIPS_HI16 $symbol $(hexadecimal "$value")"
			done
			waiting=()
		fi
		echo "$offset $type $symbol $(hexadecimal "$value")"
	done
	for item in "${waiting[@]}"; do echo "$item R_MIPS_HI16 without R_MIPS_LO16"; done
}

# signed WORD BITS SHIFT - in $value: its low bits as a signed number, shifted to the left.
signed() {
	local sign=$((1 << ($2 - 1)))
	value=$(((($1 & (sign * 2 - 1) ^ sign) - sign) << $3))
}
hexadecimal() { if [ "$1" -lt 0 ]; then printf -- '-%x' $((-$1)); else printf '+%x' "$1"; fi; }

# refers SECTION SYMBOL - to it, from there.
refers() {
	relocs "$1" | awk -v s="$2" '$3 == s { found = 1 } END { exit !found }' || {
		echo "section $1 has no relocation to $2:"
		relocs "$1"
		return 1
	}
}

# symbol NAME - its "BIND SECTION-INDEX-OR-UND".
symbol() {
	readelf -sW "$out" | awk -v s="$1" '$8 == s { print $5, ($7 == "UND" ? "UND" : "here") }'
}

# undefined NAME... / local_here NAME... / global_here NAME...
undefined() { for name in "$@"; do same "symbol $name" "$(symbol "$name")" "GLOBAL UND"; done; }
local_here() { for name in "$@"; do same "symbol $name" "$(symbol "$name")" "LOCAL here"; done; }
global_here() { for name in "$@"; do same "symbol $name" "$(symbol "$name")" "GLOBAL here"; done; }
absent() { for name in "$@"; do same "symbol $name" "$(symbol "$name")" ""; done; }

# bytes SECTION - its contents in hexadecimal.
bytes() {
	"$objcopy" -O binary --set-section-flags "$1=alloc" -j "$1" "$out" bytes.bin
	od -An -v -tx1 bytes.bin | tr -d ' \n'
}

# size_of SECTION [FILE] - in bytes.
size_of() {
	readelf -SW "${2:-$out}" | sed 's/^ *\[ *[0-9]*\] //' |
		awk -v s="$1" '$1 == s { print $5 }' | while read -r size; do echo $((16#$size)); done
}

# ---- running what is carried ---------------------------------------------------

# What a main program begins with: changed(N) is the N-th function that the patch changes.
runner_head() {
	cat <<-END
		struct func { unsigned long long address, cold; unsigned int rest[8]; };
		extern struct func __start_funcs[];
		#define changed(n) ((void *)(unsigned long)__start_funcs[n].address)
		asm(".globl start\nstart: $start");
		static int equal(const char *a, const char *b, int n)
		{
			while (n && *a++ == *b++)
				n--;
			return !n;
		}
	END
}

# What kernel code calls behind the compiler's back.
runner_thunks() {
	echo '.globl __fentry__, __x86_return_thunk'
	echo '__fentry__: __x86_return_thunk: ret'
	local register
	for register in rax rbx rcx rdx rsi rdi rbp r8 r9 r10 r11 r12 r13 r14 r15; do
		echo ".globl __x86_indirect_thunk_$register"
		echo "__x86_indirect_thunk_$register: jmp *%$register"
	done
	echo '.section .note.GNU-stack'
}

# runs <<main - link the original, the carried object and a main program, and run it; its
# status must be 0.  Shows that what carried code refers to is what it meant.
runs() {
	{
		runner_head
		cat
	} >main.c
	"${runner_cc[@]}" "${machine_flags[@]}" -w -O1 -fno-PIE -fno-stack-protector -fno-asynchronous-unwind-tables -c -o main.o main.c
	if [ -z "$qemu" ]; then runner_thunks; else echo "$thunks"; fi |
		"${runner_cc[@]}" "${machine_flags[@]}" -x assembler -c -o thunks.o -
	# Statics of the original stand for the parent's, which the build tool finds by address.
	"$nm" orig.o | awk '$2 ~ /[tdbr]/ && $3 !~ /^[.$]/ { print $3 }' >statics
	echo none >>statics # an empty list is an error
	"$objcopy" --globalize-symbols=statics orig.o orig-global.o
	"$objcopy" --rename-section .pokepatch.funcs=funcs "$out" carried.o
	"${runner_cc[@]}" "${machine_flags[@]}" "${link_flags[@]}" -no-pie -nostdlib -static -Wl,-e,start -Wl,-z,noexecstack -Wl,--no-warnings \
		-o program main.o thunks.o orig-global.o carried.o
	local got=0
	$qemu ./program || got=$?
	same "the program's status" "$got" 0
}

# ---- static locals --------------------------------------------------------------

# The name that a 4-byte variable of that initial value has.
patched_static() { static_named patched.o "$1"; }
original_static() { static_named orig.o "$1"; }
static_named() {
	local section
	readelf -SW "$1" | grep -o '\.data\.[a-z][a-z._0-9]*' | while read -r section; do
		objcopy -O binary -j "$section" "$1" static.bin
		[ "$(od -An -td4 static.bin | tr -d ' ')" != "$2" ] || echo "${section#.data.}"
	done
}
