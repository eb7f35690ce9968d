# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What is special about loongarch64's objects; by clang 19, as Debian 12 has no gcc for it, and
# its Linux 6.1 not the relocations that this compiler writes.  machines.bats has the rest.

load helpers
load cases

@test "loongarch64: the entry, and addresses in two instructions" {
	machine loongarch64 clang-19
	compare <<-'END'
		extern int one, two, ext(int);
		int *f(int x) { return OLD(&one) NEW(&two); }
		int g(int x) { return ext(x) - 1; }
	END
	carries "f changed"
	has_sections .text.f __patchable_function_entries
	same "the patchable entry" "$(relocs __patchable_function_entries)" "0 R_LARCH_64 .text.f +0"
	same "relocations" "$(relocs .text.f | awk '{ print $2, $3, $4 }' | LC_ALL=C sort)" \
		"$(lines "R_LARCH_PCALA_HI20 two +0" "R_LARCH_PCALA_LO12 two +0")"
	compare <<-'END'
		__attribute__((patchable_function_entry(0))) int g(int x) { return x * OLD(3) NEW(5); }
	END
	refused "no-entry g"
}

@test "loongarch64: pointers in the GOT" {
	machine loongarch64 clang-19
	flags=(-fno-direct-access-external-data)
	compare <<-'END'
		extern int one, two, ext(int);
		int f(int x) { return ext(OLD(one) NEW(two)) + 1; }
		int *g(int x) { return &one; }
	END
	carries "f changed"
	relocs .text.f | grep -q 'R_LARCH_GOT_PC_LO12 two +0'
	runs <<-'END'
		int one = 1, two = 2;
		int ext(int x) { return x * 2; }
		int main(void) { return ((int (*)(int))changed(0))(4) != 5; }
	END
}

@test "loongarch64: jumps to a neighbour that the assembler resolved" {
	machine loongarch64 clang-19
	compare <<-'END'
		asm(".section .sched.text,\"ax\"\n"
		    ".type a, @function\na: li.w $a0, 1\nret\n.size a, .-a\n"
		    ".type b, @function\nb: li.w $a0, 2\nret\n.size b, .-b\n"
		    ".globl t, u, v, w, x\n"
		    #define T OLD("a") NEW("b")
		    ".type t, @function\nt: b " T "\n.size t, .-t\n"
		    ".type u, @function\nu: beqz $a0, " T "\nret\n.size u, .-u\n"
		    ".type v, @function\nv: bltu $a0, $a1, " T "\nret\n.size v, .-v\n"
		    ".type w, @function\nw: bl " T "\nret\n.size w, .-w\n"
		    ".type x, @function\nx: bl a\nbeqz $a0, b\nblt $a0, $a1, a\nret\n.size x, .-x\n"
		    ".text");
	END
	refused "no-entry t" "no-entry u" "no-entry v" "no-entry w"
}

tables_of_machine() {
	tables <<-'END'
		#define BUG(line) asm volatile(".pushsection __bug_table,\"aw\"\n.align 2\n" \
			"1: .long 2f - .\n.long %0 - .\n.short " STR(line) "\n.short 2\n.popsection\n" \
			"2: break 1" :: "i"("file.c"))
		#define ACCESS(p, data) asm volatile("3: ld.w $zero, %0, 0\n4:\n" \
			".pushsection __ex_table,\"a\"\n.balign 4\n.long 3b - .\n.long 4b - .\n" \
			".short 2\n.short " STR(data) "\n.popsection" :: "r"(p))
		#define BRANCH "1: nop\n.pushsection __jump_table,\"aw\"\n.align 3\n" \
			 ".long 1b - ., %l[yes] - .\n.quad %0 - .\n.popsection"
	END
	same "the key" "$(relocs __jump_table | awk '{ print $2, $3, $4 }' | tail -2)" \
		$'R_LARCH_ADD64 other +1\nR_LARCH_SUB64 .L0 +0'
}
@test "loongarch64: bug, exception and jump tables" {
	compilers=clang-19 each_compiler loongarch64 tables_of_machine
}

# What compilers for Linux 6.1 write: a stack machine of relocations.
@test "loongarch64: relocations of the stack machine are refused" {
	machine loongarch64 clang-19
	compare <<-'END'
		extern int ext(int);
		int f(int x) { return ext(x) + OLD(1) NEW(2); }
	END
	carries "f changed"
	local object
	for object in orig.o patched.o; do
		cat >stack.s <<-'END'
			.text
			.globl s
			.type s, @function
			s: ret
			.reloc s, R_LARCH_SOP_PUSH_PCREL, s
			.size s, .-s
		END
		clang-19 --target=loongarch64-linux-gnusf -c -o stack.o stack.s
		cp stack.o "$object"
	done
	diff_objects orig.o patched.o
	same "exit status" "$exit_status" 2
	grep -q 'refused \[relocation-unknown\]: relocation type 22 in' "$errors"
}
