# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What is special about s390x's objects: instructions of three lengths, addresses in halfwords
# that count from the instruction, pointers in a GOT, code that is executed from elsewhere.

load helpers

entry() {
	compare <<-'END'
		extern int ext(int);
		int f(int x) { return ext(x) + OLD(1) NEW(2); }
		__attribute__((no_instrument_function)) int g(int x) { return x; }
	END
	carries "f changed"
	same "the patchable entry" "$(relocs __mcount_loc)" "0 R_390_64 .text.f +0"
	same "a call" "$(relocs .text.f | awk '$3 == "ext" { print $2, $4 }')" "R_390_PLT32DBL +2"
	compare <<-'END'
		__attribute__((no_instrument_function)) int f(int x) { return x + OLD(1) NEW(2); }
	END
	refused "no-entry f"
}
@test "s390x: the entry" { each_compiler s390x entry; }

# larl reaches even addresses only.
strings() {
	compare <<-'END'
		extern int use(const char *, const char *, const char *);
		const char *name(void) { return "ab"; }
		int f(void) { return use("even", "odd", "evens") + OLD(1) NEW(2); }
	END
	carries "f changed"
	same "alignment of the strings" "$(readelf -SW "$out" | awk '/rodata.strings/ { print $NF }')" 2
	same "odd addresses" "$(relocs .text.f | grep -c 'rodata.strings.*[13579bdf]$')" 0
	runs <<-'END'
		int use(const char *a, const char *b, const char *c)
		{
			return equal(a, "even", 5) && equal(b, "odd", 4) && equal(c, "evens", 6) ? 10 : 100;
		}
		int main(void) { return ((int (*)(void))changed(0))() != 12; }
	END
}
@test "s390x: strings at even addresses" { each_compiler s390x strings; }

# Elements' offsets count from the instruction as well; the addend may be past the end.
past_end() {
	compare <<-'END'
		extern int use(int *, int *);
		static int first[4] = {1, 2, 3, 4}, second[4] = {5, 6, 7, 8};
		int both(int i) { return first[i]++ + second[i]++; }
		int f(void) { return use(first + OLD(1) NEW(2), first + 4); }
		int g(void) { return use(first + 1, second); }
	END
	carries "f changed"
	undefined first
	absent second
	runs <<-'END'
		int use(int *a, int *b) { return *a + (b - a); }
		int main(void) { return ((int (*)(void))changed(0))() != 5; }
	END
}
@test "s390x: an address past the end of a variable" { each_compiler s390x past_end; }

got() {
	flags=(-fPIC)
	compare <<-'END'
		extern int one, two;
		extern int ext(int);
		int f(int x) { return ext(OLD(one) NEW(two)) + 1; }
		int *g(int x) { return &one; }
	END
	carries "f changed"
	same "by pointer" "$(relocs .text.f | awk '$3 == "two" { print $2, $4 }')" "R_390_GOTENT +2"
	runs <<-'END'
		int one = 1, two = 2;
		int ext(int x) { return x * 2; }
		int main(void) { return ((int (*)(int))changed(0))(4) != 5; }
	END
}
@test "s390x: pointers in the GOT" { each_compiler s390x got; }

swapped() {
	compare <<-'END'
		asm(".section .sched.text,\"ax\"\n"
		    ".type a, @function\na: lghi %r2,1\nbr %r14\n.size a, .-a\n"
		    ".type b, @function\nb: lghi %r2,2\nbr %r14\n.size b, .-b\n"
		    ".globl t, u, v, w, x, y, z\n"
		    #define T OLD("a") NEW("b")
		    ".type t, @function\nt: brasl %r14," T "\n.size t, .-t\n"
		    ".type u, @function\nu: larl %r1," T "\n.size u, .-u\n"
		    ".type v, @function\nv: jne " T "\n.size v, .-v\n"
		    ".type w, @function\nw: cgijne %r2,5," T "\n.size w, .-w\n"
		    ".type x, @function\nx: exrl %r2," T "\n.size x, .-x\n"
		    ".type y, @function\ny: lrl %r2," T "\n.size y, .-y\n"
		    ".type z, @function\nz: brasl %r14,a\nlarl %r2,b\nj a\nbrctg %r2,b\n"
		    "exrl %r2,a\n.size z, .-z\n.text");
	END
	refused "no-entry t" "no-entry u" "no-entry v" "no-entry w" "no-entry x" "no-entry y"
}
@test "s390x: jumps to a neighbour, its address, and its instructions" {
	each_compiler s390x swapped
}

# memcpy of a length that is not known: exrl of an mvc that stands elsewhere in the function.
execute() {
	compare <<-'END'
		extern int ext(char *);
		int f(char *to, const char *from, unsigned char n)
		{
			asm("exrl %2, 1f\nj 2f\n1: mvc 0(1,%0),0(%1)\n2:" :: "a"(to), "a"(from), "a"(n - 1)
			    : "memory");
			return ext(to) + OLD(1) NEW(2);
		}
		int g(char *to) { return ext(to) - 1; }
	END
	carries "f changed"
	runs <<-'END'
		int ext(char *p) { return equal(p, "seven", 6); }
		static char buffer[16];
		int main(void)
		{
			return ((int (*)(char *, const char *, int))changed(0))(buffer, "seven", 6) != 3;
		}
	END
}
@test "s390x: exrl" { each_compiler s390x execute; }

tables() {
	compare <<-'END'
		#define STR_(x) #x
		#define STR(x) STR_(x)
		#define BUG(line) asm volatile("0: mc 0,0\n.section .rodata.str,\"aMS\",@progbits,1\n" \
			"1: .asciz \"file.c\"\n.previous\n.section __bug_table,\"aw\"\n2: .long 0b-.\n" \
			".long 1b-.\n.short " STR(line) ",0\n.org 2b+12\n.previous")
		#define ACCESS(p, data) asm volatile("0: llgf %%r0,0(%0)\n1:\n.section __ex_table,\"a\"\n" \
			".align 4\n.long 0b-.\n.long 1b-.\n.short 4\n.short " STR(data) "\n.previous" \
			:: "a"(p) : "r0")
		extern struct key { long a, b; } key, other;
		extern int ext(int);
		#define BRANCH(key) ({ int r; asm("0: brcl 0,1f\n" \
			".pushsection __jump_table,\"aw\"\n.balign 8\n.long 0b-.,1f-.\n.quad " key "+1-.\n" \
			".popsection\nlghi %0,0\nj 2f\n1: lghi %0,1\n2:" : "=d"(r)); r; })
		int line(int x) { BUG(OLD(10) NEW(11)); return ext(x); }
		int bug(int x) { BUG(20); return ext(x) + OLD(1) NEW(2); }
		int access(int *x) { ACCESS(x, OLD(31) NEW(30)); return ext(2); }
		int stays(int *x) { ACCESS(x, 31); BUG(7); return BRANCH("key") ? ext(3) : 9; }
		int jump(int x) { return BRANCH(OLD("key") NEW("other")) ? ext(x) : 3; }
	END
	carries "bug changed" "access changed" "jump changed"
	same "bugs" "$(size_of __bug_table)" 12
	same "exceptions" "$(size_of __ex_table)" 12
	same "branches" "$(size_of __jump_table)" 16
	same "the key" "$(relocs __jump_table | awk '{ print $2, $3, $4 }' | tail -1)" \
		"R_390_PC64 other +1"
}
@test "s390x: bug, exception and jump tables" { each_compiler s390x tables; }

# As ALTERNATIVE() of arch/s390/include/asm/alternative.h.
alternative='
#define STR_(x) #x
#define STR(x) STR_(x)
#define ALTERNATIVE(old, new, facility) asm volatile(".pushsection .altinstr_replacement,\"ax\"\n" \
	"6641:\n\t" new "\n6651:\n.popsection\n661:\n\t" old "\n662:\n" \
	".pushsection .altinstructions,\"a\"\n.long 661b - .\n.long 6641b - .\n" \
	".word " STR(facility) "\n.byte 662b-661b\n.popsection")
'
alternatives() {
	compare <<-END
		$alternative
		extern int ext(int);
		int same(int x) { ALTERNATIVE("nopr 7", "lr 2,2", 3); return ext(x); }
		int plain(int x) { ALTERNATIVE("nop 0", "la 2,1(2)", 3); return ext(x) + OLD(1) NEW(2); }
		int other(int x) { ALTERNATIVE("nop 0", "la 2," OLD("1") NEW("2") "(2)", 3); return ext(x) + 5; }
		int facility(int x) { ALTERNATIVE("nop 0", "la 2,1(2)", OLD(4) NEW(5)); return ext(x) + 6; }
	END
	carries "plain changed" "other changed" "facility changed"
	same "entries" "$(size_of .altinstructions)" 33
	same "replacements" "$(size_of .altinstr_replacement)" $'4\n4\n4'
}
@test "s390x: alternatives" { each_compiler s390x alternatives; }

# Thunks of the unit itself, and tables of the jumps that lead to them.
@test "s390x: expolines" {
	machine s390x gcc-12
	flags=(-mindirect-branch=thunk -mfunction-return=thunk -mindirect-branch-table)
	compare <<-'END'
		extern int ext(int);
		int f(int (*p)(int), int x) { return p(x) + OLD(1) NEW(2); }
		int g(int (*p)(int), int x) { return p(x) - ext(x); }
	END
	carries "f changed"
	relocs .text.f | grep -q __s390_indirect_jump
	local section
	for section in .s390_indirect_call .s390_return_mem .s390_return_reg; do
		[ -n "$(size_of "$section" orig.o)" ] || continue
		[ "$(size_of "$section")" -lt "$(size_of "$section" orig.o)" ]
	done
	runs <<-'END'
		static int twice(int x) { return 2 * x; }
		int ext(int x) { return x; }
		int main(void) { return ((int (*)(int (*)(int), int))changed(0))(twice, 4) != 10; }
	END
}

# The kernel's code is position-independent, and constants with addresses are in .data.rel.ro.
relro() {
	flags+=(-fPIE)
	compare <<-'END'
		struct pi_entry { const char *fmt, *func; int line; };
		extern int show(const struct pi_entry *);
		int f(int x)
		{
			static const struct pi_entry _entry = {"fmt" OLD("1") NEW("2"), "f", __LINE__};
			return show(&_entry) + x;
		}
		int g(int x)
		{
			static const struct pi_entry _entry = {"fmt3", "g", __LINE__};
			return show(&_entry) - x;
		}
	END
	carries "f changed"
	compare <<-'END'
		const char *const names[] = {"one", OLD("two") NEW("three")};
		const char *f(int i) { return names[i]; }
		const char *g(int i) { return names[1 - i]; }
	END
	refused "data-changed names"
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
@test "s390x: constants with addresses" { each_compiler s390x relro; }

# clang puts the instructions that exrl executes into .text, without symbols.
lengths() {
	compare <<-'END'
		void *memset(void *, int, unsigned long), *memcpy(void *, const void *, unsigned long);
		NEW(void first(char *a, char *b, unsigned long n) { memcpy(a, b, n); })
		void f(char *a, unsigned long n) { memset(a, 0, n OLD(+ 1) NEW(+ 2)); }
		void g(char *a, char *b, unsigned long n) { memcpy(a, b, n); }
		void h(char *a, unsigned long n) { memset(a, 0, n); }
	END
	carries "f changed" "first new"
	runs <<-'END'
		int main(void)
		{
			char text[4] = {1, 1, 1, 1};

			((void (*)(char *, unsigned long))changed(0))(text, 1);
			return text[0] || text[1] || text[2] || !text[3];
		}
	END
	compare <<-'END'
		void *memset(void *, int, unsigned long), *memcpy(void *, const void *, unsigned long);
		void f(char *a, char *b, unsigned long n) { OLD(memset(a, 0, n)) NEW(memcpy(a, b, n)); }
	END
	carries "f changed"
}
@test "s390x: instructions that others execute" { compilers=clang-16 each_compiler s390x lengths; }
