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

# The linker checks how far a "jal" reaches; what it makes is no kernel but for its symbols.
pretended_kernel() {
	printf '.globl _stext, %s\n' exported >start.s
	printf '%s: nop\n' _stext exported >>start.s
	"${cc[0]}" -mabi=64 -mno-abicalls "${@:2}" -c -o start.o start.s
	"$ld" --build-id -Ttext=0x1000000 -o vmlinux start.o "$1" -e _stext
	printf '0x1\t%s\tvmlinux\tEXPORT_SYMBOL\t\n' exported >symvers
}

# jump_is FUNCTION REGISTER - it has a jump there of pokepatch's own, of 16 bytes.
jump_is() {
	same "the jump to $1" "$("$objdump" -d -j ".text.$2" "$out" --no-show-raw-insn |
		awk '/:\t/ { $1 = ""; print }' | sed 's/^ *//; s/[[:space:]]\+/ /; s/jalr zero,/jr /')" \
		"$(printf '%s\n' "lui $3,0x0" "daddiu $3,$3,0" "jr $3" nop)"
	same "its relocations" "$(relocs ".text.$2")" \
		"$(printf '%s\n' "0 R_MIPS_HI16 $1 +0" "4 R_MIPS_LO16 $1 +0")"
}

far() {
	local objdump=${objcopy%objcopy}objdump
	cat >far.c <<-'END'
		int exported(int);
		__attribute__((noipa)) int plain(int x) { return x * 3; }
		static __attribute__((noipa)) int local(int x) { return exported(x) * 3; }
		int f(int x)
		{
			/* as raw_copy_from_user() in asm/uaccess.h */
			register int r asm("$4") = x;
			asm volatile(".set push\n.set noreorder\n.set noat\njal plain\n"
				     "daddu $1, %0, %0\n.set pop" : "+r"(r) :: "$2", "$24", "$31");
			return plain(r) + exported(plain(x)) + local(x) + OLD(1) NEW(2);
		}
		int last(int x) { return exported(x) + OLD(1) NEW(2); }
	END
	compile <far.c
	pretended_kernel orig.o "${machine_flags[@]}"
	diff_objects orig.o patched.o --symtab vmlinux --symvers symvers
	carries "f changed" "last changed"
	local jump=pokepatch_veneer static
	static=$(relocs .text.f | awk '$3 ~ /pokepatch\.[0-9]+\.local/ { print $3 }')
	same "calls" "$(relocs .text.f | awk '{ print $2, $3, $4 }' | LC_ALL=C sort -u)" \
		"$(lines "R_MIPS_26 $jump.exported +0" "R_MIPS_26 $jump.plain +0" \
			"R_MIPS_26 ${jump}_t8.plain +0" "R_MIPS_26 $static +0")"
	same "the call at the end" "$(relocs .text.last | awk '{ print $2, $3, $4 }')" \
		"R_MIPS_26 $jump.exported +0"
	jump_is plain $jump.plain at
	jump_is plain ${jump}_t8.plain t8
	jump_is exported $jump.exported at
	jump_is "${static#"$jump."}" "$static" at
}
@test "mips64: calls of the kernel go by jumps that reach it" { each_order far; }

# Release 6: jumps without a delay slot, which count from the next instruction.
far6() {
	local objdump=${objcopy%objcopy}objdump
	cc=("${cc[@]/-march=mips64r2/-march=mips64r6}")
	flags=(-march=mips64r6)
	compile <far.c
	pretended_kernel orig.o -march=mips64r6
	diff_objects orig.o patched.o --symtab vmlinux --symvers symvers
	carries "f changed" "last changed"
	same "kinds of calls" "$(relocs .text.f | awk '{ print $2, $4 }' | LC_ALL=C sort -u)" \
		"$(lines "R_MIPS_26 +0" "R_MIPS_PC26_S2 -4")"
	same "the call at the end" "$(relocs .text.last | awk '{ print $2, $3, $4 }')" \
		"R_MIPS_PC26_S2 pokepatch_veneer.exported -4"
	jump_is plain pokepatch_veneer_t8.plain t8
	jump_is exported pokepatch_veneer.exported at
}
@test "mips64: likewise in release 6" {
	machine mips64el gcc-12
	far
	far6
}

# In modules an address is loaded to be called.  That is no use of it that outlives the patch.
# (One that is called several times may be kept where calls leave it alone, and counts.)
long_calls() {
	flags+=(-mlong-calls -msym32)
	compare <<-'END'
		extern int ext(int);
		NEW(static __attribute__((noipa)) int added(int x) { return ext(x) * 3; })
		int f(int x) { return OLD(ext(x)) NEW(ext(added(x + 1))) + 1; }
		int last(int x) { return OLD(ext(x)) NEW(added(x)); }
	END
	carries "f changed" "last changed" "added new"
	refers .text.f .text.added
	warned
	compare <<-'END'
		extern int ext(int), take(int, int (*)(int));
		NEW(static __attribute__((noipa)) int added(int x) { return ext(x) * 3; })
		int f(int x) { return OLD(ext(x)) NEW(take(added(x), added)) + 1; }
	END
	carries "f changed" "added new"
	warned "address-escapes added"
}
@test "mips64: what is called by its address does not escape" { each_order long_calls; }
