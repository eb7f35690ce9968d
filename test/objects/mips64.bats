# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What is special about MIPS64's objects, in both byte orders: three types in each relocation,
# addresses in four instructions, fixups, delay slots.

load helpers

compilers=gcc-12

each_order() {
	local name
	for name in mips64 mips64el; do
		each_compiler "$name" "$1"
	done
}

entry() {
	compare <<-'END'
		extern int one, two;
		int *f(int x) { return OLD(&one) NEW(&two); }
		int g(int x) { return x - 1; }
	END
	carries "f changed"
	has_sections .text.f __patchable_function_entries
	same "the patchable entry" "$(relocs __patchable_function_entries)" "0 R_MIPS_64 .text.f +0"
	same "relocations" "$(relocs .text.f | awk '{ print $2, $3, $4 }' | LC_ALL=C sort)" \
		"$(lines "R_MIPS_HIGHEST two +0" "R_MIPS_HIGHER two +0" "R_MIPS_HI16 two +0" \
			"R_MIPS_LO16 two +0")"
	same "first instruction" "$(bytes .text.f | head -c 8)" 00000000
}
@test "mips64: an address in four instructions, behind the entry's NOPs" { each_order entry; }

# With the assembler as it is, gcc 12 leaves the NOPs before the function's label.
@test "mips64: NOPs before the function are no entry" {
	machine mips64el gcc-12
	local kept=() word
	for word in "${cc[@]}"; do [ "${word#-B}" != "$word" ] || kept+=("$word"); done
	cc=("${kept[@]}")
	compare <<-'END'
		int f(int x) { return x * OLD(3) NEW(5); }
	END
	refused "no-entry f"
}

tables() {
	compare <<-'END'
		#define ACCESS(table, p, way) asm volatile("1: lw $0, 0(%0)\n2: .insn\n" \
			".section .fixup,\"ax\"\n3: li %0, " way "\nj 2b\n.previous\n" \
			".section " table ",\"a\"\n.dword 1b, 3b\n.previous" : "+r"(p))
		extern struct key { long a, b; } key, other;
		extern int ext(int);
		static inline __attribute__((always_inline)) int branch(struct key *key)
		{
			asm goto("1: b 2f\n2: .insn\n.pushsection __jump_table,\"aw\"\n"
				 ".dword 1b, %l[yes], %0\n.popsection"
				 :: "i"((char *)key + 1) :: yes);
			return 0;
		yes:	return 1;
		}
		int access(int *x) { ACCESS("__ex_table", x, "1"); return ext(2) + OLD(5) NEW(6); }
		int fixed(int *x) { ACCESS("__ex_table", x, OLD("9") NEW("10")); return ext(3); }
		int stays(int *x) { ACCESS("__ex_table", x, "9"); return ext(3); }
		int bus(int *x) { ACCESS("__dbe_table", x, "9"); return ext(OLD(1) NEW(2)); }
		int jump(int x) { return branch(OLD(&key) NEW(&other)) ? ext(x) : 3; }
		int jumps(int x) { return branch(&key) ? ext(x) : 3; }
	END
	carries "access changed" "fixed changed" "bus changed" "jump changed"
	same "exceptions" "$(size_of __ex_table)" 32
	same "bus errors" "$(size_of __dbe_table)" 16
	same "branches" "$(size_of __jump_table)" 24
	same "fixups" "$(size_of .fixup | wc -l)" 3
	same "the changed one" "$(for name in access fixed bus; do relocs .fixup | grep -c "R_MIPS_26 .text.$name"; done)" \
		$'1\n1\n1'
	same "the key" "$(relocs __jump_table | awk '{ print $2, $3, $4 }' | tail -1)" \
		"R_MIPS_64 other +1"
}
@test "mips64: exception, bus error and jump tables with fixups" { each_order tables; }

# Relocations with more than one type; the kernel has none.
composite() {
	compare <<-'END'
		extern int one;
		int f(int x)
		{
			asm volatile("lui $2, %%hi(%%neg(%%gp_rel(one)))" ::: "$2");
			return x + OLD(1) NEW(2);
		}
	END
	same "exit status" "$exit_status" 2
	grep -q "refused \[relocation-unknown\]: relocation type $((7 | 24 << 8 | 5 << 16)) in" "$errors"
}
@test "mips64: a relocation of three types is refused" { each_order composite; }

swapped() {
	compare <<-'END'
		asm(".section .sched.text,\"ax\"\n.set noreorder\n"
		    ".type a, @function\na: jr $31\nli $2, 1\n.size a, .-a\n"
		    ".type b, @function\nb: jr $31\nli $2, 2\n.size b, .-b\n"
		    ".globl t, u, v\n"
		    ".type t, @function\nt: beqz $4, " OLD("a") NEW("b") "\nnop\n.size t, .-t\n"
		    ".type u, @function\nu: bgezl $4, " OLD("a") NEW("b") "\nnop\n.size u, .-u\n"
		    ".type v, @function\nv: beqz $4, a\nnop\nbeqzl $4, b\nnop\n.size v, .-v\n"
		    ".set reorder\n.text");
	END
	refused "no-entry t" "no-entry u"
}
@test "mips64: jumps to a neighbour" { each_order swapped; }

# gcc for MIPS leaves the flexible array out of the symbol's size.
flexible() {
	local structs='
		struct numbers { long count; long list[]; };
		struct text { long count; char list[]; };
		long sum(struct numbers *, char *);'
	compare <<-END
		$structs
		struct numbers numbers = { 2, { 5, 6 } };
		struct text text = { 1, "abc" };
		long f(void) { return sum(&numbers, text.list) + OLD(1) NEW(2); }
	END
	carries "f changed"
	undefined numbers text
	compare <<-END
		$structs
		struct numbers numbers = { 2, { 5, OLD(6) NEW(7) } };
		struct text text = { 1, "abc" };
		long f(void) { return sum(&numbers, text.list); }
	END
	refused "data-changed numbers"
	compare <<-END
		$structs
		struct text text = { 1, OLD("abc") NEW("abd") };
		long f(void) { return sum(0, text.list); }
	END
	refused "data-changed text"
	compare <<-END
		$structs
		NEW(static struct numbers numbers = { 2, { 5, 6 } };)
		long f(void) { return sum(OLD(0) NEW(&numbers), 0); }
	END
	carries "f changed"
	carries_data "numbers new"
	same "its size" "$(size_of .data.numbers)" 24
}
@test "mips64: variables that end in a flexible array" { each_order flexible; }
