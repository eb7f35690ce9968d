# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What is special about riscv64's objects: labels and distances that the assembler leaves to
# relocations, with and without the linker's relaxation.

load helpers
load cases

compilers="gcc-12 clang-16"

# each_relaxation FUNCTION - by every compiler, with and without relaxation.
each_relaxation() {
	local relaxation
	for relaxation in -mrelax -mno-relax; do
		case_flags=("$relaxation")
		echo "with $relaxation:"
		each_compiler riscv64 "$1"
	done
}

constant() {
	compare <<-'END'
		int f(int x) { return x * OLD(2) NEW(3); }
		int g(int x) { return x - 1; }
	END
	carries "f changed"
	has_sections .text.f __patchable_function_entries
	absent g
	same "the patchable entry" "$(relocs __patchable_function_entries)" "0 R_RISCV_64 .text.f +0"
	runs <<-'END'
		int main(void) { return ((int (*)(int))changed(0))(7) != 21; }
	END
}
@test "riscv64: a changed constant" { each_relaxation constant; }

@test "riscv64: what is left to the linker does not differ from what is not" {
	compilers=gcc-12
	source_text='
		extern int ext(int), table[8];
		static int count;
		int f(int x)
		{
			while (x--)
				if (ext(x) == 7)
					count += table[x] + ext(count);
				else
					asm(".balign 4");
			return count;
		}'
	machine riscv64 gcc-12
	echo "$source_text" >unit.c
	"${cc[@]}" -mrelax -o orig.o unit.c
	"${cc[@]}" -mno-relax -o patched.o unit.c
	readelf -rW orig.o | grep -q R_RISCV_RELAX
	diff_objects orig.o patched.o
	nothing_differs
}

addresses_to_load() {
	addresses
	same "relocations that are not for the module loader" \
		"$(relocs .text.f | grep -cE 'RELAX|ALIGN|32_PCREL')" 0
}
@test "riscv64: addresses in two instructions" { each_relaxation addresses_to_load; }

# The module loader looks for the upper part at exactly the value of the lower one's symbol.
labels() {
	compare <<-'END'
		extern long a, b;
		void f(void) { a++; b += OLD(1) NEW(2); a = b; }
	END
	carries "f changed"
	same "each lower part names an upper part" \
		"$(relocs .text.f | grep LO12 | while read -r _ _ _ addend; do echo "$addend"; done |
			sort -u)" "+0"
	readelf -rW "$out" | awk '/PCREL_HI20/ { at[$1] = 1 }
		/PCREL_LO12/ { if (!($4 in at)) bad = 1; n++ } END { exit bad || !n }'
	runs <<-'END'
		long a = 5, b = 8;
		int main(void) { ((void (*)(void))changed(0))(); return a != 10 || b != 10; }
	END
}
@test "riscv64: lower parts of addresses" { each_relaxation labels; }

@test "riscv64: only the variable or the callee differs" { each_relaxation variable_or_callee; }

branches() {
	compare <<-'END'
		extern int ext(int);
		int f(int x)
		{
			int sum = 0;
			for (int i = 0; i < x; i++) {
				if (ext(i) & 1)
					continue;
				if (ext(i) == 4)
					break;
				sum += ext(i) OLD(* 2) NEW(* 3);
			}
			return sum;
		}
		int g(int x)
		{
			asm(".option push\n.option norvc\nbeqz %0, " OLD("1f") NEW("2f") "\n"
			    "1: addi %0, %0, 5\n2: addi %0, %0, 7\n.option pop" : "+r"(x));
			return x;
		}
	END
	carries "f changed" "g changed"
	runs <<-'END'
		int ext(int x) { return x; }
		int main(void)
		{
			int (*f)(int) = changed(0), (*g)(int) = changed(1);
			return f(10) != 6 || g(0) != 7 || g(1) != 13;
		}
	END
}
@test "riscv64: jumps within a function" { each_relaxation branches; }

# Without NOPs at its beginning the loop's label is the function's own address.
loop_to_start() {
	compare <<-'END'
		extern int ext(int);
		NEW(__attribute__((noinline, noclone, patchable_function_entry(0), naked))
		static int last(int x) { asm("1: srli a0, a0, 1\nli a5, 8\nbgt a0, a5, 1b\nret"); })
		int f(int x) { return ext(x) NEW(+ last(x)); }
	END
	carries "f changed" "last new"
	runs <<-'END'
		int ext(int x) { return x; }
		int main(void) { return ((int (*)(int))changed(0))(100) != 106; }
	END
}
@test "riscv64: a jump to a function's first instruction" { each_relaxation loop_to_start; }

@test "riscv64: several functions in one section" { each_relaxation neighbours; }

@test "riscv64: jumps to a neighbour that the assembler resolved" {
	local jump
	for jump in "j %s" "beq a0, a1, %s" ".option rvc\nc.j %s" ".option rvc\nc.beqz a0, %s"; do
		compilers=clang-16 machine riscv64 clang-16
		flags=(-mno-relax)
		# shellcheck disable=SC2059 # the format is made here
		printf '
			asm(".section .sched.text,\\"ax\\"\\n"
			    ".type a, %%function\\na: li a0, 1\\nret\\n.size a, .-a\\n"
			    ".type b, %%function\\nb: li a0, 2\\nret\\n.size b, .-b\\n"
			    ".globl t, u\\n"
			    ".type t, %%function\\nt: %s\\nret\\n.size t, .-t\\n"
			    ".type u, %%function\\nu: j a\\nret\\n.size u, .-u\\n"
			    ".text");\n' "$(printf "${jump//\\n/\\\\n}" '" OLD("a") NEW("b") "')" >source
		compare <source
		refused "no-entry t"
	done
}

switches() {
	compare <<-END
		extern int ext(int);
		#define CASES(y) switch (x) { \\
			$(seq 0 25 | awk '{ print "case " $1 ": return ext(x + " $1 * $1 ") * " $1 % 5 + 2 " + y; \\" }')
			} return 0;
		int f(int x, int y) { CASES(OLD(y) NEW(-y)) }
		int g(int x, int y) { CASES(y + 1) }
	END
	carries "f changed"
	readelf -SW orig.o | grep -q 'rodata.*f '
	same "the table's relocations" "$(relocs .rodata.f | awk '{ print $2 }' | sort -u)" \
		"$(lines R_RISCV_ADD32 R_RISCV_SUB32)"
	runs <<-'END'
		int ext(int x) { return x; }
		int main(void)
		{
			int (*f)(int, int) = changed(0);

			for (int i = 0; i < 26; i++)
				if (f(i, 100) != (i + i * i) * (i % 5 + 2) - 100)
					return 1;
			return f(26, 1);
		}
	END
}
@test "riscv64: a table of a switch" { compilers=gcc-12 each_relaxation switches; }

# Two functions and their tables, told apart in one section; only an entry differs.
@test "riscv64: an entry of a table of a switch" {
	machine riscv64 gcc-12
	compare <<-'END'
		asm(".section .rodata.f,\"a\"\n.balign 4\n"
		    ".L1: .word .L2 - .L1\n.word " OLD(".L3") NEW(".L2") " - .L1\n"
		    ".section .text.f,\"ax\"\n.globl f\n.type f, %function\n"
		    "f: la a5, .L1\nslli a0, a0, 2\nadd a0, a0, a5\nlw a0, 0(a0)\nadd a0, a0, a5\njr a0\n"
		    ".L2: li a0, 2\nret\n.L3: li a0, 3\nret\n.size f, .-f\n.text");
	END
	refused "no-entry f"
}

tables_of_machine() {
	tables <<-'END'
		#define BUG(line) asm volatile("1: ebreak\n.pushsection __bug_table,\"aw\"\n" \
			"2: .word 1b - .\n.word %0 - .\n.half " STR(line) "\n.half 2\n.org 2b + 12\n" \
			".popsection" :: "i"("file.c"))
		#define ACCESS(p, data) asm volatile("3: lw zero, 0(%0)\n4:\n" \
			".pushsection __ex_table,\"a\"\n.balign 4\n.long 3b - .\n.long 4b - .\n" \
			".short 2\n.short " STR(data) "\n.popsection" :: "r"(p))
		#define BRANCH ".align 2\n.option push\n.option norelax\n.option norvc\n1: nop\n" \
			 ".option pop\n.pushsection __jump_table,\"aw\"\n.align 3\n" \
			 ".long 1b - ., %l[yes] - .\n.dword %0 - .\n.popsection"
	END
	same "the key" "$(relocs __jump_table | awk '{ print $2, $3, $4 }' | tail -2)" \
		$'R_RISCV_ADD64 other +1\nR_RISCV_SUB64 .L0 +0'
}
@test "riscv64: bug, exception and jump tables" { each_relaxation tables_of_machine; }

# As ALTERNATIVE() of arch/riscv/include/asm/alternative-macros.h, in 6.1 and in 6.3.
alternatives() {
	local form
	for form in '.dword 886b\n.dword 888f\n.dword 0x31e\n.dword 889f - 888f\n.word' \
		'.4byte 886b - .\n.4byte 888f - .\n.2byte 0x31e\n.2byte 889f - 888f\n.4byte'; do
		compare <<-END
			#define STR_(x) #x
			#define STR(x) STR_(x)
			#define ALTERNATIVE(old, new, patch) asm volatile( \
				".option push\n.option norvc\n.option norelax\n886: " old "\n.option pop\n887:\n" \
				".pushsection .alternative,\"a\"\n$form " STR(patch) "\n.popsection\n" \
				".subsection 1\n.option push\n.option norvc\n.option norelax\n" \
				"888: " new "\n889:\n.option pop\n.previous\n")
			extern int ext(int);
			int same(int x) { ALTERNATIVE("nop", "ebreak", 3); return ext(x); }
			int plain(int x) { ALTERNATIVE("nop", "fence", 3); return ext(x) + OLD(1) NEW(2); }
			int other(int x) { ALTERNATIVE("nop", OLD("ebreak") NEW("fence r, r"), 3); return ext(x) + 5; }
			int patch(int x) { ALTERNATIVE("nop", "ebreak", OLD(4) NEW(5)); return ext(x) + 6; }
		END
		carries "plain changed" "other changed" "patch changed"
		same "the replacement" "$(bytes .text.other | tail -c 8)" 0f002002
		same "number of entries" "$(($(size_of .alternative) * 4 / $(size_of .alternative orig.o)))" 3
		# 4, the length, is a number now.
		same "lengths left to the linker" \
			"$(relocs .alternative | awk '$2 ~ /(ADD|SUB)(64|16)/' | wc -l)" 0
	done
}
@test "riscv64: alternatives behind the function" { each_relaxation alternatives; }

small_data() {
	compare <<-'END'
		int initialised = 5, zero;
		NEW(int fresh = 7;)
		int f(void) { return initialised + zero++ NEW(+ fresh++); }
	END
	carries "f changed"
	carries_data "fresh new"
	undefined initialised zero
	runs <<-'END'
		int main(void) { return ((int (*)(void))changed(0))() != 12; }
	END
}
@test "riscv64: small data" { each_relaxation small_data; }

@test "riscv64: a lower part without an upper part" {
	machine riscv64 gcc-12
	printf 'f: nop\n' | "${cc[@]}" -x assembler -o orig.o -
	printf '.L1: nop\nf: lw a0, %%pcrel_lo(.L1)(a0)\n' |
		"${runner_cc[@]}" -x assembler -c -o patched.o -
	diff_objects orig.o patched.o
	fails 2 "refused [elf-malformed]: relocation at"
}

# upper_parts CODE... - f() with each: the assembler has resolved the address of g(), and clang writes no relocation.
upper_parts() {
	local code
	machine riscv64 clang-16
	flags=(-mno-relax)
	for code; do
		echo "$code:"
		compare <<-END
			#define S __attribute__((section(".noinstr.text"), noinline))
			S static int g(int x) { return x - 1; }
			static int (*pg)(int) = g;
			S long f(long *x, long z)
			{
				long y;
				asm volatile("1: auipc a4, %%pcrel_hi(g)\n$code" : "=&r"(y) : "r"(x), "r"(z) : "a4", "t3", "memory");
				return pg(y) OLD(+ 1) NEW(+ 2);
			}
		END
		carries "f changed"
		relocs .noinstr.text >list
		[ "$(grep -c 'R_RISCV_PCREL_HI20 .*g' list)" -eq 1 ]
		[ "$(grep -c R_RISCV_PCREL_LO12_I list)" -eq 1 ]
	done
}

@test "riscv64: what stands between the two instructions of an address, or behind them" {
	# a4 is register 14: a store has those bits in its offset, and a branch has them 14 bytes from its target.
	upper_parts 'sw %2, 14(%1)\n addi %0, a4, %%pcrel_lo(1b)' \
		'bne %1, %2, 2f\n .option rvc\n c.nop\n c.nop\n c.nop\n c.nop\n c.nop\n 2: addi %0, a4, %%pcrel_lo(1b)' \
		'addi %0, a4, %%pcrel_lo(1b)\n .option rvc\n c.mv a4, %1\n lw t3, -32(a4)'
}

@test "riscv64: a lower part that counts from its label" {
	machine riscv64 gcc-12
	printf 'f: nop\n' | "${cc[@]}" -x assembler -o orig.o -
	printf 'f: .L1: auipc a0, %%pcrel_hi(x)\n lw a0, %%pcrel_lo(.L1 + 8)(a0)\n' |
		"${runner_cc[@]}" -x assembler -c -o patched.o -
	diff_objects orig.o patched.o
	fails 2 "refused [elf-malformed]: relocation at 4 of section .text counts 8 bytes from its label"
}

parts_apart() {
	compare <<-'END'
		int place;
		asm(".section .text.both, \"ax\"\n"
		    ".globl upper\n.type upper, @function\nupper: .Lupper: auipc a0, %pcrel_hi(place)\n"
		    " j lower\n.size upper, . - upper\n"
		    ".globl lower\n.type lower, @function\nlower: addi a0, a0, %pcrel_lo(.Lupper)\n"
		    " ret\n.size lower, . - lower\n.previous");
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	refused "relocation-unknown lower"
	grep -q "has its upper part at 0, outside 'lower'" "$errors"
}
@test "riscv64: the parts of an address in two functions" { each_compiler riscv64 parts_apart; }

# clang keeps constants that one instruction cannot make in .sdata, with variables.
@test "riscv64: constants that code loads" {
	machine riscv64 clang-16
	compare <<-'END'
		long count = 5;
		unsigned long f(unsigned long x) { return x % OLD(1000007) NEW(1000003); }
		unsigned long g(unsigned long x) { return x / 1000003; }
		unsigned long h(unsigned long x) { return x % 10007 + count++; }
	END
	carries "f changed"
	carries_data
	runs <<-'END'
		int main(void)
		{
			return ((unsigned long (*)(unsigned long))changed(0))(1000003ul * 12345 + 77) != 77;
		}
	END
	readelf -SW orig.o | grep -q ' \.sdata '
}

switch_values() {
	compare <<-'END'
		const char *f(int i)
		{
			switch (i) {
			case 0: return "nought";
			case 1: return OLD("one") NEW("two");
			case 2: return "three";
			case 3: return "seven";
			case 4: return "nine";
			default: return "";
			}
		}
	END
	carries "f changed"
	carries_data
}
@test "riscv64: a switch that became a table of values" { each_compiler riscv64 switch_values; }
