# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What is special about arm64's objects, by gcc and clang.

load helpers
load cases

constant() {
	compare <<-'END'
		int f(int x) { return x * OLD(2) NEW(3); }
		int g(int x) { return x - 1; }
	END
	carries "f changed"
	has_sections .text.f __patchable_function_entries
	absent g
	local_here f
	same "the patchable entry" "$(relocs __patchable_function_entries)" \
		"0 R_AARCH64_ABS64 .text.f +0"
	runs <<-'END'
		int main(void) { return ((int (*)(int))changed(0))(7) != 21; }
	END
}
@test "arm64: a changed constant" { each_compiler arm64 constant; }

@test "arm64: addresses in two instructions" { each_compiler arm64 addresses; }

@test "arm64: only the variable or the callee differs" {
	each_compiler arm64 variable_or_callee
}

protected() {
	flags+=(-mbranch-protection=pac-ret+bti)
	compare <<-'END'
		extern int ext(int);
		int f(int x) { return ext(x) + ext(OLD(1) NEW(2)); }
		__attribute__((patchable_function_entry(0))) int g(int x) { return ext(x) * 3; }
	END
	carries "f changed"
	same "the entry, behind bti c" "$(relocs __patchable_function_entries)" \
		"0 R_AARCH64_ABS64 .text.f +4"
	compare <<-'END'
		extern int ext(int);
		int f(int x) { return ext(x) + ext(1); }
		__attribute__((patchable_function_entry(0))) int g(int x) { return ext(x) * OLD(3) NEW(5); }
	END
	refused "no-entry g"
}
@test "arm64: branch protection, and a function without an entry" { each_compiler arm64 protected; }

# jumps_by OBJDUMP-WORD FLAG... - calls of what is not exported go by a jump of pokepatch's own.
jumps_by() {
	local instruction=$1
	flags=("${case_flags[@]}" "${@:2}")
	compile <<-'END'
		int exported(int);
		static __attribute__((noinline)) int local(int x) { return exported(x) * 3; }
		int f(int x) { return local(x) + exported(x) * OLD(2) NEW(3); }
	END
	printf '.globl _stext, exported\n_stext: nop\nexported: ret\n' >start.s
	"${cc[@]}" -c -o start.o start.s
	"$ld" "${ld_flags[@]}" --build-id -o vmlinux start.o orig.o -e _stext
	printf '0x1\texported\tvmlinux\tEXPORT_SYMBOL\t\n' >symvers
	diff_objects orig.o patched.o --symtab vmlinux --symvers symvers
	carries "f changed"
	local jump
	jump=$(relocs .text.f | awk '$3 ~ /^pokepatch_veneer/ { print $3 }' | LC_ALL=C sort -u)
	same "how it jumps" "$("${objcopy%objcopy}objdump" -d -j ".text.$jump" --no-show-raw-insn "$out" |
		awk '/:\t/ { print $2, $3 }' | sed -n 2p)" "$instruction x16"
}

# What is only called need have no landing pad, which a BR out of guarded code must meet: gcc 12 makes
# none.
guarded() {
	jumps_by br
	jumps_by br -mbranch-protection=pac-ret+leaf
	jumps_by ret -mbranch-protection=pac-ret+leaf+bti
}
@test "arm64: calls out of guarded code" { each_compiler arm64 guarded; }

@test "arm64: calls that the assembler resolved" { each_compiler arm64 neighbours; }

# The section has more than one function, and the order of the two callees changes as well.
swapped() {
	compare <<-'END'
		asm(".section .sched.text,\"ax\"\n"
		    ".type a, %function\na: mov w0, 1\nret\n.size a, .-a\n"
		    ".type b, %function\nb: mov w0, 2\nret\n.size b, .-b\n"
		    ".globl t, u, v\n"
		    ".type t, %function\nt: cbz w1, " OLD("a") NEW("b") "\nret\n.size t, .-t\n"
		    ".type u, %function\nu: adr x0, " OLD("a") NEW("b") "\nret\n.size u, .-u\n"
		    ".type v, %function\nv: tbnz w1, 3, a\nb.ne b\nldr w0, a\nret\n.size v, .-v\n"
		    ".text");
	END
	refused "no-entry t" "no-entry u"
}
@test "arm64: conditional jumps and adr to a neighbour" { each_compiler arm64 swapped; }

# As ALTERNATIVE() of arch/arm64/include/asm/alternative-macros.h.
alternative='
#define STR_(x) #x
#define STR(x) STR_(x)
#define ALTERNATIVE(old, new, feature) asm volatile( \
	"661:\n\t" old "\n662:\n.pushsection .altinstructions,\"a\"\n" \
	" .word 661b - .\n .word 663f - .\n .hword " STR(feature) "\n" \
	" .byte 662b-661b\n .byte 664f-663f\n.popsection\n" \
	".subsection 1\n663:\n\t" new "\n664:\n\t.previous\n")
#define ALTERNATIVE_CB(old, feature, cb) asm volatile( \
	"661:\n\t" old "\n662:\n.pushsection .altinstructions,\"a\"\n" \
	" .word 661b - .\n .word " STR(cb) " - .\n .hword 0x8000 | " STR(feature) "\n" \
	" .byte 662b-661b\n .byte 664f-663f\n.popsection\n663:\n\t664:\n\t")
'

# table_entries SECTION SIZE - what each relocation of its entries is: "OFFSET-IN-ENTRY SYMBOL ADDEND".
table_entries() {
	relocs "$1" | while read -r offset _ symbol addend; do
		echo "$((16#$offset % $2)) $symbol $addend"
	done | LC_ALL=C sort
}

alternatives() {
	compare <<-END
		$alternative
		extern int ext(int);
		int same(int x) { ALTERNATIVE("nop", "b 662b", 3); return ext(x); }
		int plain(int x) { ALTERNATIVE("nop", "isb", 3); return ext(x) + OLD(1) NEW(2); }
		int other(int x) { ALTERNATIVE("nop", OLD("isb") NEW("dsb sy"), 3); return ext(x) + 5; }
		int feature(int x) { ALTERNATIVE("nop", "isb", OLD(4) NEW(5)); return ext(x) + 6; }
	END
	carries "plain changed" "other changed" "feature changed"
	same "size of the entries" "$(size_of .altinstructions)" 36
	same "what the entries name" \
		"$(table_entries .altinstructions 12 | awk '{ print $1, $2 }')" \
		"$(lines "0 .text.plain" "0 .text.other" "0 .text.feature" \
			"4 .text.plain" "4 .text.other" "4 .text.feature")"
	same "the replacement" "$(bytes .text.other | tail -c 8)" 9f3f03d5
}
@test "arm64: alternatives behind the function" { each_compiler arm64 alternatives; }

shared_alternatives() {
	compare <<-END
		$alternative
		#define noinstr __attribute__((section(".noinstr.text"), noinline, noclone))
		extern int ext(int);
		noinstr int a(int x) { ALTERNATIVE("nop", "b 662b", 3); return ext(x); }
		noinstr int b(int x) { ALTERNATIVE("nop", OLD("isb") NEW("dsb sy"), 3); return ext(x) + 1; }
		noinstr int c(int x) { ALTERNATIVE("nop", "b 662b", 3); return ext(x) + OLD(2) NEW(3); }
		noinstr int d(int x) { ALTERNATIVE("nop", "isb", 3); return ext(x) + 3; }
	END
	carries "b changed" "c changed"
	same "size of the entries" "$(size_of .altinstructions)" 24
	# The jump in the replacement leads back into the new c, behind its NOP.
	same "jumps from the replacements" "$(relocs .noinstr.text | grep -c "JUMP26.*noinstr")" 1
}
@test "arm64: alternatives of several functions in one section" {
	each_compiler arm64 shared_alternatives
}

callbacks() {
	compare <<-END
		$alternative
		int f(int x) { ALTERNATIVE_CB("nop", 3, OLD(cb_one) NEW(cb_two)); return x; }
		int g(int x) { ALTERNATIVE_CB("nop", 3, cb_one); return x + OLD(1) NEW(2); }
		int h(int x) { ALTERNATIVE_CB("nop", 3, cb_one); return x + 7; }
	END
	carries "f changed" "g changed"
	same "what the entries name" "$(table_entries .altinstructions 12 | awk '$1 == 4 { print $2 }')" \
		"$(lines cb_one cb_two)"
}
@test "arm64: alternatives made by a function" { each_compiler arm64 callbacks; }

# Data that looks like "bl" to the beginning of the section.
literals() {
	compare <<-'END'
		#define noinstr __attribute__((section(".noinstr.text"), noinline, noclone))
		extern int ext(int);
		noinstr int a(int x) { return ext(x); }
		noinstr int b(int x)
		{
			long v;
			asm("ldr %0, 1f\n b 2f\n1: .quad 0x97fffff097fffff0\n2:" : "=r"(v));
			return v + OLD(1) NEW(2);
		}
		long pool(void) { long v; asm("ldr %0, =table" : "=r"(v)); return v + OLD(8) NEW(16); }
		int table[8] = {1, 2, 3, 4, 5};
	END
	carries "b changed" "pool changed"
	bytes .noinstr.text | grep -q f0ffff97f0ffff97
	refers .text.pool table
	runs <<-'END'
		extern int table[];
		int main(void)
		{
			return ((int (*)(int))changed(0))(1) != (int)0x97fffff0 + 2 ||
			       ((int *(*)(void))changed(1))() != table + 4;
		}
		int ext(int x) { return x; }
	END
}
@test "arm64: data among code" { each_compiler arm64 literals; }

switches() {
	compare <<-END
		extern int ext(int);
		#define CASES(y) switch (x) { \
			$(seq 0 25 | awk '{ print "case " $1 ": return ext(x + " $1 * $1 ") * " $1 % 5 + 2 " + y; \\" }')
			} return 0;
		int f(int x, int y) { CASES(OLD(y) NEW(-y)) }
		int g(int x, int y) { CASES(y + 1) }
	END
	carries "f changed"
	readelf -SW orig.o | grep -q rodata
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
@test "arm64: a table of a switch" { each_compiler arm64 switches; }

tables_of_machine() {
	tables <<-'END'
		#define BUG(line) asm volatile(".pushsection __bug_table,\"aw\"\n.align 2\n" \
			"1: .long 2f - .\n.long %0 - .\n.short " STR(line) "\n.short 2\n.popsection\n" \
			"2: brk 0x800" :: "S"("file.c"))
		#define ACCESS(p, data) asm volatile("3: ldr wzr, [%0]\n4:\n" \
			".pushsection __ex_table,\"a\"\n.align 2\n.long 3b - .\n.long 4b - .\n" \
			".short 2\n.short " STR(data) "\n.popsection" :: "r"(p))
		#define BRANCH "1: nop\n.pushsection __jump_table,\"aw\"\n.align 3\n" \
			 ".long 1b - ., %l[yes] - .\n.quad %c0 - .\n.popsection"
	END
	same "the key" "$(relocs __jump_table | awk '{ print $2, $3, $4 }' | tail -1)" \
		"R_AARCH64_PREL64 other +1"
}
@test "arm64: bug, exception and jump tables" { each_compiler arm64 tables_of_machine; }

# Without a section for each, gcc reaches one variable by way of another's address.
anchors() {
	flags=(-fno-data-sections -fsection-anchors)
	compare <<-'END'
		static int before = 1, a = 2, b = 3, c = 4;
		NEW(static int fresh = 77;)
		int *addresses(int i) { return i == 0 ? &before : i == 1 ? &a : i == 2 ? &b NEW(: i == 4 ? &fresh) : &c; }
		int f(void) { return a++ + b++; }
		int g(void) { return before + OLD(c) NEW(fresh); }
	END
	same "exit status" "$exit_status" 2
	grep -q 'refused \[static-ambiguous\]' "$errors"
	compare <<-'END'
		static int before = 1, a = 2, b = 3, c = 4;
		int *addresses(int i) { return i == 0 ? &before : i == 1 ? &a : i == 2 ? &b : &c; }
		int f(void) { return a++ + b++; }
		int g(void) { return before + OLD(c) NEW(b); }
	END
	carries "g changed"
	runs <<-'END'
		int main(void) { return ((int (*)(void))changed(0))() != 4; }
	END
}
@test "arm64: section anchors" { compilers=gcc-12 each_compiler arm64 anchors; }

absolute() {
	compare <<-'END'
		extern int one, two;
		long f(void)
		{
			long v;
			#define S OLD("one") NEW("two")
			asm("movz %0, #:abs_g3:" S "\n movk %0, #:abs_g2_nc:" S "\n"
			    "movk %0, #:abs_g1_nc:" S "\n movk %0, #:abs_g0_nc:" S : "=r"(v));
			return v;
		}
		long g(void) { long v; asm("movz %0, #:abs_g3:one" : "=r"(v)); return v; }
	END
	carries "f changed"
	undefined two
	absent one
	runs <<-'END'
		int one, two;
		int main(void) { return ((int *(*)(void))changed(0))() != &two; }
	END
}
@test "arm64: an address in four instructions" { each_compiler arm64 absolute; }

# "extern const void __start_notes __weak" (kernel/ksysfs.c): the linker's table of pointers.
weak_address() {
	local weak='
		extern const char start[] __attribute__((weak)), end[] __attribute__((weak));
		extern int ext(const char *, int);
		int stays(void) { return ext(start, 3); }'
	compare <<-END
		$weak
		int f(int x) { return x * OLD(2) NEW(3); }
	END
	carries "f changed"
	compare <<-END
		$weak
		int f(void) { return ext(start, OLD(2) NEW(3)); }
	END
	refused "relocation-unknown f"
	grep -q "'f' refers to 'start' by R_AARCH64_ADR_GOT_PAGE" "$errors"
	compare <<-END
		$weak
		int f(void) { return ext(OLD(start) NEW(end), 3); }
	END
	refused "relocation-unknown f"
}
@test "arm64: addresses of weak symbols" { each_compiler arm64 weak_address; }

# The hash of the type is four bytes in front of the function, and has no symbol.
@test "arm64: kCFI" {
	machine arm64 clang-16
	flags+=(-fsanitize=kcfi)
	compare <<-'END'
		extern int ext(int (*)(int));
		int f(int x) { return x * OLD(3) NEW(5); }
		int g(void) { return ext(f); }
		int h(int (*call)(int)) { return call(7); }
	END
	carries "f changed"
	same "the NOPs behind the hash" "$(bytes .text.f | cut -c 1-24 | grep -o '1f2003d5' | wc -l)" 2
	same "what they follow" "$(bytes .text.f | cut -c 9-16)" 1f2003d5
	same "the patchable entry" "$(relocs __patchable_function_entries)" \
		"0 R_AARCH64_ABS64 .text.f +4"
	compare <<-'END'
		int f(OLD(int) NEW(long) x) { return (int)x; }
		int g(int x) { return x; }
	END
	carries "f changed"
}
