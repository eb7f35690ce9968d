# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Special sections: entries go with the code that they describe, and with no other.

load helpers

# The kernel's macros, as include/linux/ and arch/x86/include/asm/ of 6.1 write them.
macros() {
	cat <<-'END'
		#define WARN(file, line, flags) asm volatile("1: ud2\n" \
			".pushsection __bug_table, \"aw\"\n" \
			"2: .long 1b - ., %c0 - .\n.word %c1, %c2\n.popsection\n" \
			"998: .pushsection .discard.reachable\n.long 998b - .\n.popsection" \
			: : "i"(file), "i"(line), "i"(flags))
		#define GET(value, from) ({ int error = 0; asm volatile("1: movl %2, %0\n2:\n" \
			".pushsection __ex_table, \"a\"\n.balign 4\n" \
			".long 1b - ., 2b - .\n.long %c3\n.popsection" \
			: "=r"(value), "+r"(error) : "m"(*(from)), "i"(3)); error; })
		static inline __attribute__((always_inline)) int branch(void *key)
		{
			asm goto("1: .byte 0x0f, 0x1f, 0x44, 0, 0\n"
				".pushsection __jump_table, \"aw\"\n.balign 8\n"
				".long 1b - ., %l[yes] - .\n.quad %c0 - .\n.popsection"
				: : "i"(key) : : yes);
			return 0;
		yes:
			return 1;
		}
		#define ALTERNATIVE(old, new, feature) asm volatile("661: " old "\n662:\n" \
			".pushsection .altinstructions, \"a\"\n" \
			".long 661b - ., 663f - .\n.word %c0\n" \
			".byte 662b - 661b, 664f - 663f\n.popsection\n" \
			".pushsection .altinstr_replacement, \"ax\"\n663: " new "\n664:\n.popsection" \
			: : "i"(feature))
		#define LOCK(op, place) asm volatile(".pushsection .smp_locks, \"a\"\n.balign 4\n" \
			".long 671f - .\n.popsection\n671: lock; " op : "+m"(place))
		#define PARAVIRT(op, type) asm volatile("771: " op "\n772:\n" \
			".pushsection .parainstructions, \"a\"\n.balign 8\n.quad 771b\n" \
			".byte " #type ", 772b - 771b\n.popsection")
		int ext(int);
	END
}

# entries SECTION SIZE - how many there are in the output.
entries() { echo $(($(size_of "$1") / $2)); }

@test "lines in the bug table do not matter" {
	compare_with_macros <<-'END'
		int f(int x) { if (x) WARN("f.c", OLD(12) NEW(14), 2305); return ext(x); }
		int g(int x) { if (x) WARN("f.c", OLD(22) NEW(24), 2305); return ext(x + 1); }
	END
	nothing_differs
}

@test "other fields of the bug table do" {
	compare_with_macros <<-'END'
		int f(int x) { if (x) WARN("f.c", OLD(12) NEW(14), OLD(2305) NEW(2307)); return ext(x); }
		int g(int x) { if (x) WARN(OLD("f.c") NEW("g.c"), 4, 2305); return ext(x + 1); }
		int h(int x) { if (x) WARN("h.c", OLD(5) NEW(6), 2305); return ext(x + 2); }
	END
	carries "f changed" "g changed"
}

@test "bug table entries of changed functions are carried, with their lines" {
	compare_with_macros <<-'END'
		int f(int x) { if (x) WARN("f.c", 3, 1); return ext(x); }
		int g(int x)
		{
			if (x) WARN("f.c", OLD(0x1234) NEW(0x4321), 1);
			if (ext(x)) WARN("f.c", 8, 1);
			return ext(x) + OLD(1) NEW(2);
		}
		int h(int x) { if (x) WARN("f.c", 9, 1); return ext(x); }
	END
	carries "g changed"
	has_sections .text.g __bug_table .discard.reachable .rodata.strings __mcount_loc
	same "entries" "$(entries __bug_table 12) $(entries .discard.reachable 4)" "2 2"
	same "lines and flags" "$(bytes __bug_table)" \
		000000000000000021430100000000000000000008000100
	same "the entries' code" "$(relocs __bug_table | awk '{ print $3 }' | sort | uniq -c |
		awk '{ print $1, $2 }' | tr '\n' ' ')" "2 .rodata.strings 2 .text.g "
}

@test "exception table entries" {
	compare_with_macros <<-'END'
		int f(int *p) { int x; GET(x, p); return x; }
		int g(int *p) { int x; GET(x, p + OLD(1) NEW(2)); return x; }
		int h(int *p) { int x; GET(x, p + 3); return x; }
	END
	carries "g changed"
	has_sections .text.g __ex_table __mcount_loc
	same "entries" "$(entries __ex_table 12) $(bytes __ex_table)" "1 000000000000000003000000"
	same "code" "$(relocs __ex_table | awk '{ print $1, $2, $3 }')" \
		$'0 R_X86_64_PC32 .text.g\n4 R_X86_64_PC32 .text.g'
}

@test "a change of an exception table entry alone is a change of its function" {
	compare_with_macros <<-'END'
		int f(int *p)
		{
			asm volatile("1: nop\n2: nop\n3: nop\n.pushsection __ex_table, \"a\"\n"
				     ".long 1b - ., " OLD("2b") NEW("3b") " - ., 1\n.popsection");
			return 1;
		}
	END
	carries "f changed"
}

@test "jump table entries: keys elsewhere, here and new" {
	compare_with_macros <<-'END'
		struct key { long a, b; };
		extern struct key elsewhere;
		struct key global; static struct key local; NEW(static struct key fresh;)
		int f(int x) { return branch(&elsewhere) + 2 * branch(&global) + branch((char *)&local + 1); }
		int g(int x)
		{
			return branch(&elsewhere) + 3 * branch(&global) + 5 * branch((char *)&local + 1)
				+ OLD(1) NEW(branch(&fresh));
		}
	END
	carries "g changed"
	carries_data "fresh new"
	same "entries" "$(entries __jump_table 16)" 4
	same "code, target, key" "$(relocs __jump_table | awk '{ print $3 ($1 ~ /8$/ ? $4 : "") }' |
		sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ' ')" \
		"8 .text.g 1 elsewhere+0 1 fresh+0 1 global+0 1 local+1 "
	undefined elsewhere global local
	local_here fresh
}

@test "jump table: only the key, or its default, differs" {
	compare_with_macros <<-'END'
		struct key { long a, b; };
		extern struct key one, two;
		int f(int x) { return branch(OLD(&one) NEW(&two)) + 2; }
		int g(int x) { return branch((char *)&one + OLD(0) NEW(1)) + 2; }
		int h(int x) { return branch(&one) + 2; }
	END
	carries "f changed" "g changed"
}

@test "alternatives and their replacements" {
	compare_with_macros <<-'END'
		void slow(void), fast(void);
		int f(int x) { ALTERNATIVE("call slow", "call fast", 17); return x; }
		int g(int x)
		{
			ALTERNATIVE("call slow", "call fast", 18);
			ALTERNATIVE("nop; nop; nop", "", 19);
			ALTERNATIVE("nop; nop; nop", "movl $7, %%eax", 20);
			return x + OLD(1) NEW(2);
		}
		int h(int x) { ALTERNATIVE("nop; nop; nop", "clc; stc; cld", 21); return x; }
	END
	carries "g changed"
	has_sections .text.g .altinstructions .altinstr_replacement .altinstr_replacement __mcount_loc
	same "entries" "$(entries .altinstructions 12)" 3
	# 18: five bytes by five, 19: three by none, 20: three by five
	same "features and lengths" "$(bytes .altinstructions | fold -w24 | cut -c17-)" \
		$'12000505\n13000300\n14000305'
	same "sizes of the replacements" "$(size_of .altinstr_replacement | tr '\n' ' ')" "5 5 "
	same "calls in them" "$(relocs .altinstr_replacement | awk '{ print $1, $3 }')" "1 fast"
}

@test "a replacement of no bytes in front of another's" {
	compare_with_macros <<-'END'
		int f(int x) { ALTERNATIVE("nop; nop; nop", "", 19); return x + OLD(1) NEW(2); }
		int g(int x) { ALTERNATIVE("nop; nop; nop", "clc; stc; cld", 20); return x + OLD(1) NEW(2); }
		int h(int x) { ALTERNATIVE("nop; nop; nop", "", 21); return x; }
	END
	carries "f changed" "g changed"
	same "size of the replacement" "$(size_of .altinstr_replacement)" 3
	same "the replacement" "$(bytes .altinstr_replacement)" f8f9fc
}

@test "a replacement of no bytes in front of one that is not carried" {
	compare_with_macros <<-'END'
		int f(int x) { ALTERNATIVE("nop; nop; nop", "", 19); return x + OLD(1) NEW(2); }
		int g(int x) { ALTERNATIVE("nop; nop; nop", "clc; stc; cld", 20); return x; }
	END
	carries "f changed"
	has_sections .text.f .altinstructions __mcount_loc
	same "both addresses" "$(relocs .altinstructions | awk '{ print $1, $3 }')" \
		$'0 .text.f\n4 .text.f'
}

@test "a change in a replacement alone is a change of its function" {
	compare_with_macros <<-'END'
		void one(void), two(void);
		int e(int x) { ALTERNATIVE("nop; nop; nop", "", 19); return x; }
		int f(int x) { ALTERNATIVE("nop; nop; nop", OLD("clc; stc; cld") NEW("stc; clc; cld"), 20); return x; }
		int g(int x) { ALTERNATIVE("call one", OLD("call one") NEW("call two"), 20); return x; }
		int h(int x) { ALTERNATIVE("call one", "call two", OLD(20) NEW(21)); return x; }
		int i(int x) { ALTERNATIVE("call one", "call two", 20); return x; }
		int j(int x) { ALTERNATIVE("nop; nop; nop", OLD("") NEW("clc"), 20); return x; }
	END
	carries "f changed" "g changed" "h changed" "j changed"
}

@test "code in .altinstr_aux" {
	compare_with_macros <<-'END'
		extern char caps[];
		#define HAS(bit) ({ int is; asm goto("1: jmp 6f\n2:\n" \
			".pushsection .altinstr_aux, \"ax\"\n6: testb %0, %1\njnz %l[yes]\njmp %l[no]\n" \
			".popsection" : : "i"(1 << ((bit) & 7)), "m"(caps[(bit) >> 3]) : : yes, no); \
			if (0) { yes: is = 1; } else { no: is = 0; } is; })
		int f(int x) { return HAS(3) ? ext(x) : 1; }
		int g(int x) { return HAS(OLD(4) NEW(5)) ? ext(x) : 2; }
		int h(int x) { return HAS(44) ? ext(x) : 3; }
	END
	carries "g changed"
	same "size" "$(size_of .altinstr_aux)" "$(($(size_of .altinstr_aux patched.o) / 3))"
	same "what it refers to" "$(relocs .altinstr_aux | awk '{ print $3 }' | sort -u | tr '\n' ' ')" \
		".text.g caps "
	same "what refers to it" "$(relocs .text.g | grep -c .altinstr_aux)" 1
}

@test "lock prefixes, paravirt sites, annotations" {
	compare_with_macros <<-'END'
		int counter;
		int f(int x) { LOCK("incl %0", counter); PARAVIRT("nop; nop", 4); return x; }
		int g(int x)
		{
			LOCK("incl %0", counter);
			LOCK("decl %0", counter);
			PARAVIRT("nop; nop; nop", 5);
			asm volatile("999: .pushsection .discard.retpoline_safe\n.quad 999b\n.popsection\n"
				     "call *%0" : : "r"((long)x));
			return x + OLD(1) NEW(2);
		}
		int h(int x) { LOCK("decl %0", counter); PARAVIRT("nop", 6); return x; }
	END
	carries "g changed"
	has_sections .text.g .smp_locks .parainstructions .discard.retpoline_safe __mcount_loc
	same "entries" "$(entries .smp_locks 4) $(entries .parainstructions 16) \
$(entries .discard.retpoline_safe 8)" "2 1 1"
	same "the paravirt site" "$(bytes .parainstructions)" 00000000000000000503000000000000
}

@test "a lock prefix that is not marked any more is a change" {
	compare_with_macros <<-'END'
		int counter;
		int f(int x)
		{
			OLD(LOCK("incl %0", counter);) NEW(asm volatile("lock; incl %0" : "+m"(counter));)
			return x;
		}
	END
	carries "f changed"
}

@test "annotations of four bytes, an even number of them" {
	compare_with_macros <<-'END'
		#define SAFE asm volatile("999: .pushsection .discard.retpoline_safe\n.long 999b - .\n" \
			".popsection\nnop")
		int f(int x) { SAFE; return x; }
		int g(int x) { SAFE; return x + OLD(1) NEW(2); }
	END
	carries "g changed"
	same "entries" "$(entries .discard.retpoline_safe 4)" 1
	same "its code" "$(relocs .discard.retpoline_safe | awk '{ print $3 }')" .text.g
}

@test "tables that appear in another order in the unit" {
	compare_with_macros <<-'END'
		NEW(int e(int x) { if (x) WARN("f.c", 7, 1); return ext(x); })
		int f(int *p) { int x; GET(x, p); if (x) WARN("f.c", 8, 1); return x; }
	END
	carries "e new"
}

@test "tables whose entries have no known size" {
	compare_with_macros <<-'END'
		int f(int x)
		{
			asm volatile("1: nop\n.pushsection __ex_table, \"a\"\n.long 1b - .\n.popsection");
			return x;
		}
	END
	refused "section-unknown __ex_table"
}

@test "an index for translators and kept symbols are left behind" {
	compare_with_macros <<-'END'
		int f(int x)
		{
			static void *__attribute__((section(".discard.addressable"), used)) keep = (void *)ext;
			static const char *const __attribute__((section(".printk_index"), used)) entry = "text";
			return x + OLD(1) NEW(2);
		}
	END
	carries "f changed"
	has_sections .text.f __mcount_loc
}

# As include/linux/static_call.h and arch/x86/include/asm/static_call.h of 6.1 write them.
static_calls() {
	cat <<-'END'
		struct key { void *func; unsigned long type; };
		#define DEFINE_STATIC_CALL(name, target) \
			extern struct key __SCK__##name; int __SCT__##name(int); \
			struct key __SCK__##name = {.func = target, .type = 1}; \
			asm(".pushsection .static_call.text, \"ax\"\n.align 4\n" \
			    ".globl __SCT__" #name "\n__SCT__" #name ":\n" \
			    ".pushsection .discard.noendbr\n.long __SCT__" #name " - .\n.popsection\n" \
			    ".byte 0xe9; .long " #target " - (. + 4)\n.byte 0x0f, 0xb9, 0xcc\n" \
			    ".type __SCT__" #name ", @function\n.size __SCT__" #name ", . - __SCT__" #name "\n" \
			    ".popsection")
		int ext(int);
		void update(struct key *, void *);
	END
}

@test "static calls of the patch's own" {
	{
		static_calls
		cat <<-'END'
			int old_target(int x) { return ext(x) + 1; }
			DEFINE_STATIC_CALL(before, old_target);
			NEW(static __attribute__((used)) int target(int x) { return ext(x) + 2; })
			NEW(DEFINE_STATIC_CALL(fresh, target);)
			NEW(DEFINE_STATIC_CALL(fresh2, old_target);)
			int f(int x) { update(&__SCK__before, 0); return __SCT__before(x) OLD(+ 1)
				NEW(+ __SCT__fresh(x) + __SCT__fresh2(x)); }
		END
	} >case.c
	compare <case.c
	carries "__SCT__fresh new" "__SCT__fresh2 new" "f changed" "target new"
	carries_data "__SCK__fresh new" "__SCK__fresh2 new"
	# objtool finds the keys by the names of their trampolines.
	global_here __SCK__fresh __SCT__fresh __SCK__fresh2 __SCT__fresh2
	undefined __SCT__before __SCK__before old_target
	refers .text.f __SCT__fresh
	refers .data.__SCK__fresh .text.target
	refers .data.__SCK__fresh2 old_target
	warned
}

@test "a static call with another default" {
	{
		static_calls
		cat <<-'END'
			int one(int x) { return ext(x) + 1; }
			int two(int x) { return ext(x) + 2; }
			OLD(DEFINE_STATIC_CALL(call, one);) NEW(DEFINE_STATIC_CALL(call, two);)
			int f(int x) { return __SCT__call(x); }
		END
	} >case.c
	compare <case.c
	refused "data-changed __SCK__call" "no-entry __SCT__call"
}

@test "the address of a new static key does not escape, that of what is in one does" {
	compare_with_macros <<-'END'
		struct key { long a, b; };
		struct deferred { struct key key; long timer; };
		void enable(void *);
		NEW(static struct key key; static struct deferred deferred;)
		int f(int x)
		{
			NEW(enable(&key); if (branch(&key)) return ext(3);)
			NEW(enable(&deferred); if (branch(&deferred)) return ext(4);)
			return x + OLD(1) NEW(2);
		}
	END
	carries "f changed"
	warned "address-escapes deferred"
}
