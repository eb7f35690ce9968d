# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2028 # C and assembler source with escapes, which bash leaves alone
# shellcheck shell=bash
# Files that are not what they should be, and very large ones.

load helpers

small_pair() {
	compile <<-'END'
		void p(const char *, ...);
		static int counter = 3; static const int table[] = {1, 2, 3};
		int g(int x)
		{
			asm volatile("1: ud2\n.pushsection __bug_table, \"aw\"\n.long 1b - ., %c0 - .\n"
				     ".word 1, 2\n.popsection\n661: nop; nop\n662:\n"
				     ".pushsection .altinstructions, \"a\"\n.long 661b - ., 663f - .\n.word 3\n"
				     ".byte 2, 1\n.popsection\n.pushsection .altinstr_replacement, \"ax\"\n"
				     "663: clc\n.popsection" : : "i"("file"));
			p("text", __func__);
			return counter++;
		}
		int __attribute__((section(".sched.text"))) f(int x) { return g(x) + table[x]; }
		int __attribute__((section(".sched.text"))) h(int x) { return g(x) + OLD(1) NEW(2) + f(x); }
	END
}

@test "usage" {
	for program in "$differ" "$asan_differ"; do
		run -1 "$program"
		same "lines" "${#lines[@]}" 1
		run -1 "$program" -o out.o only-one.o
		run -1 "$program" a.o b.o
		run -1 "$program" --no-such-option
		run -0 "$program" --help
		run -0 "$program" --version
	done
}

@test "missing and empty files, folders, other files" {
	small_pair
	diff_objects missing.o patched.o
	fails 1 "cannot open missing.o: No such file or directory"
	diff_objects orig.o missing.o
	fails 1 "cannot open missing.o: No such file or directory"
	: >empty.o
	diff_objects empty.o patched.o
	fails 2 "empty.o: refused [elf-malformed]: not an ELF file"
	diff_objects orig.o unit.c
	fails 2 "unit.c: refused [elf-malformed]: not an ELF file"
	diff_objects . patched.o
	[ "$exit_status" -eq 1 ] || [ "$exit_status" -eq 2 ]
	same "lines" "$(wc -l <"$errors")" 1
}

@test "executables and other machines" {
	small_pair
	printf '.globl _start\n_start: ret\n' | gcc-12 -x assembler -c -o start.o -
	ld -o program start.o
	diff_objects program patched.o
	fails 2 "program: refused [elf-malformed]: ELF type 2, not a relocatable object"
	gcc-12 -shared -nostdlib -o library start.o
	diff_objects orig.o library
	fails 2 "library: refused [elf-malformed]: ELF type 3, not a relocatable object"
	gcc-12 -x assembler -m32 -c -o 32.o - <<<'nop'
	diff_objects orig.o 32.o
	fails 2 "32.o: refused [elf-unsupported]: ELF machine 3, class 1, byte order 1"
	gcc-12 -x assembler -mx32 -c -o x32.o - <<<'nop'
	diff_objects orig.o x32.o
	fails 2 "x32.o: refused [elf-unsupported]: ELF machine 62, class 1, byte order 1"
	# e_machine: SuperH
	cp orig.o sh.o
	printf '\x2a\x00' | dd of=sh.o bs=1 seek=18 conv=notrunc status=none
	diff_objects sh.o patched.o
	fails 2 "sh.o: refused [elf-unsupported]: ELF machine 42, class 2, byte order 1"
	# e_machine: AArch64
	cp orig.o arm.o
	printf '\xb7\x00' | dd of=arm.o bs=1 seek=18 conv=notrunc status=none
	diff_objects arm.o patched.o
	fails 2 "refused [elf-unsupported]: it is for x86_64, but arm.o is for arm64"
}

@test "an output that cannot be written" {
	small_pair
	for program in "$differ" "$asan_differ"; do
		run -1 "$program" -o no/such/folder/out.o orig.o patched.o
		same "lines" "${#lines[@]}" 1
		[[ $output == *"cannot write no/such/folder/out.o: No such file or directory"* ]]
		mkdir -p folder
		run -1 "$program" -o folder orig.o patched.o
		same "lines" "${#lines[@]}" 1
		same "leftovers" "$(ls -A folder; ls -d folder?* 2>/dev/null)" ""
		run -1 "$program" -o /dev/full/x orig.o patched.o
		run -1 "$program" --report no/such/report -o out.o orig.o patched.o
		same "lines" "${#lines[@]}" 1
	done
}

@test "a full disk leaves nothing behind" {
	small_pair
	for program in "$differ" "$asan_differ"; do
		run -1 bash -c "trap '' XFSZ; ulimit -f 1; exec '$program' -o out.o orig.o patched.o"
		same "lines" "${#lines[@]}" 1
		[[ $output == *"cannot write out.o"* ]]
		same "leftovers" "$(ls -d out.o* 2>/dev/null)" ""
	done
}

# judge WHAT - what the sanitized differ may do with a broken file.
judge() {
	local got
	got=$(cat asan.status)
	if grep -aqE 'Sanitizer|runtime error' asan.err; then
		echo "$1:"
		cat asan.err
		return 1
	fi
	case $got in
	0 | 3) ;;
	1 | 2)
		# shellcheck disable=SC2015 # either is a failure
		[ -s asan.err ] && ! LC_ALL=C grep -aqvE 'refused \[[a-z-]*\]: |warning \[[a-z-]*\]: |^pokepatch-diff: ' \
			asan.err || {
			echo "$1: status $got without a clear line"
			cat asan.err
			return 1
		}
		;;
	*)
		echo "$1: status $got"
		cat asan.err
		return 1
		;;
	esac
}

@test "truncated files" {
	flags=(-g0)
	small_pair
	local size length
	size=$(stat -c %s patched.o)
	for ((length = 1; length < size; length += size / 40)); do
		head -c "$length" patched.o >short.o
		diff_with "$asan_differ" asan orig.o short.o
		judge "the first $length bytes"
		[ "$(cat asan.status)" -eq 2 ] || {
			echo "$length bytes of $size were accepted"
			return 1
		}
		same "lines for $length bytes" "$(wc -l <asan.err)" 1
	done
}

# mutate FILE NUMBER - change some bytes of it, always in the same way for a number.
mutate() {
	local size i place
	size=$(stat -c %s "$1")
	RANDOM=$2
	for ((i = 0; i < 1 + $2 % 3; i++)); do
		place=$(((RANDOM * 32768 + RANDOM) % size))
		# Half of them in the headers of file and sections, where each byte means much.
		[ $((RANDOM % 2)) -eq 0 ] || place=$((size - 1 - place % (size / 3)))
		printf '%b' "\\x$(printf %02x $((RANDOM % 256)))" |
			dd of="$1" bs=1 seek="$place" conv=notrunc status=none
	done
}

# Four hundred, and a hundred where the time is short.
@test "mutations" {
	flags=(-g0)
	small_pair
	local number refused=0 last=400
	[ "${POKEPATCH_CHECK:-}" != short ] || last=100
	for ((number = 1; number <= last; number++)); do
		cp patched.o broken.o
		mutate broken.o "$number"
		diff_with "$asan_differ" asan orig.o broken.o
		judge "mutation $number"
		[ "$(cat asan.status)" -ne 2 ] || refused=$((refused + 1))
		if [ -e asan.o ]; then # what is written can be read
			readelf -aW asan.o >/dev/null
		fi
	done
	echo "refused: $refused"
	[ "$refused" -gt $((last / 4)) ]
}

@test "more sections than 16 bits can number" {
	flags=(-g0 -pipe)
	{
		echo '.macro func n, value'
		echo '.section .text.f\n, "ax"'
		echo '.globl f\n'
		echo '.type f\n, @function'
		echo 'f\n: call __fentry__'
		echo 'mov $\value, %eax'
		echo '.if \n > 0'
		echo 'jmp f\@'
		echo '.endif'
		echo '.size f\n, . - f\n'
		echo '.section .data.d\n, "aw"'
		echo '.type d\n, @object'
		echo 'd\n: .quad f\n'
		echo '.size d\n, 8'
		echo '.endm'
		for ((i = 0; i < 23000; i++)); do
			echo "func $i, VALUE_$i"
		done
	} | sed 's/jmp f\\@/jmp f0/' >many.S
	"${cc[@]}" -g0 -x assembler-with-cpp -o /dev/null - <<<'nop'
	sed -E 's/VALUE_(0|9|22999)$/VALUE_\1/; s/VALUE_[0-9]+$/7/' many.S >one.S
	cp one.S two.S
	sed -E 's/func (9|22999), 7$/func \1, 8/' one.S >two.S
	gcc-12 -x assembler -c -o orig.o one.S
	gcc-12 -x assembler -c -o patched.o two.S
	[ "$(readelf -h orig.o | awk '/Number of section headers/ { print $5 }')" = 0 ]
	# Ten seconds of the processor, however busy the machine is.
	(ulimit -t 10 && diff_with "$differ" result orig.o patched.o)
	exit_status=$(cat result.status) report=result.json out=result.o errors=result.err
	carries "f9 changed" "f22999 changed"
	local_here f9 f22999
	undefined f0
}

@test "an output with more sections than 16 bits can number" {
	local value
	for value in 7 8; do
		{
			echo '.macro func n'
			echo '.section .text.f\n, "ax"'
			echo '.globl f\n'
			echo '.type f\n, @function'
			echo 'f\n: call __fentry__'
			echo "mov \$$value, %eax"
			echo '.size f\n, . - f\n'
			echo '.endm'
			for ((i = 0; i < 33000; i++)); do
				echo "func $i"
			done
		} | gcc-12 -x assembler -c -o "$value.o" -
	done
	(ulimit -t 20 && diff_with "$differ" result 7.o 8.o)
	exit_status=$(cat result.status) report=result.json out=result.o errors=result.err
	same "exit status" "$exit_status" 0
	same "functions" "$(jq '.functions | length' "$report")" 33000
	same "what ld says" "$(ld -r -o linked.o "$out" 2>&1)" ""
	same "what readelf says" "$(readelf -hSsrW "$out" 2>&1 >/dev/null)" ""
	same "a late symbol's section" "$(nm "$out" | grep -c ' t f32999$')" 1
	same "entries" "$(size_of .pokepatch.funcs)" $((33000 * 48))
}
