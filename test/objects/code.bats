# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Functions: what counts as changed, and what is carried with them.

load helpers

@test "nothing differs" {
	compare <<-'END'
		static int count;
		int f(int x) { return x + count++; }
	END
	nothing_differs
}

@test "only line numbers of debug information differ" {
	compare <<-'END'
		NEW(
		#line 400
		)
		int g(const char *);
		int f(int x) { return g("text") + x; }
	END
	nothing_differs
}

@test "a changed constant" {
	compare <<-'END'
		int f(int x) { return x * OLD(2) NEW(3); }
		int g(int x) { return x - 1; }
	END
	carries "f changed"
	has_sections .text.f __mcount_loc
	absent g
	local_here f
	same "first change" "$(jq -c '.functions[0] | [.old_size > 0, .new_size > 0,
		.first_change.source]' "$report")" '[true,true,"unit.c:1"]'
	runs <<-'END'
		int main(void) { return ((int (*)(int))changed(0))(7) != 21; }
	END
}

# objtool takes a callee that stays in the kernel for one that returns.  So ud2 ends the path behind a
# call that ends a function, and it is not a part of the function.
@test "a function that ends with a call of another one that never returns" {
	compare <<-'END'
		int ext(int);
		static __attribute__((noinline)) void stop(int x) { ext(x); for (;;) asm volatile("hlt"); }
		int f(int x) { if (ext(x) > OLD(2) NEW(3)) stop(x); return 7; }
		int g(int x) { return ext(x) + OLD(2) NEW(3); }
		__attribute__((noreturn)) void elsewhere(int);
		int h(int x) { if (ext(x) > OLD(2) NEW(3)) elsewhere(x); return 7; }
		void i(int x) { stop(x + 1); }
	END
	carries "f changed" "g changed" "h changed"
	undefined stop elsewhere
	local end='e8000000000f0b$' cold=.text.unlikely.f
	sections | grep -qx "$cold" || cold=.text.f
	[[ $(bytes "$cold") =~ $end ]]
	same "bytes of f behind the symbol" "$(("$(size_of "$cold")" -
		$(readelf -sW "$out" | awk '$8 ~ /^f(\.cold)?$/ { size = $3 } END { print size }')))" 2
	[[ ! $(bytes .text.g) =~ 0f0b ]]
	[[ ! $(bytes .text.h) =~ 0f0b ]]
}

@test "only the relocation differs: another callee" {
	compare <<-'END'
		int a(int), b(int);
		int f(int x) { return OLD(a) NEW(b)(x) + 1; }
	END
	carries "f changed"
	undefined b
	absent a
}

@test "only the addend differs: another element" {
	compare <<-'END'
		int table[4] = {1, 2, 3, 4};
		int f(void) { return table[OLD(1) NEW(2)]; }
	END
	carries "f changed"
	undefined table
	runs <<-'END'
		int main(void) { return ((int (*)(void))changed(0))() != 3; }
	END
}

@test "new static function, called and passed on" {
	compare <<-'END'
		int use(int (*)(int));
		NEW(static __attribute__((noinline)) int helper(int x) { return use(0) + x; })
		NEW(static int callback(int x) { return x ^ 5; })
		int f(int x) { return x NEW(+ helper(x) + use(callback)); }
	END
	carries "f changed" "helper new" "callback new"
	local_here helper callback
	warned "address-escapes callback"
}

@test "functions that put their task to sleep, before the change or after it: a warning" {
	compare <<-'END'
		void schedule(void); void wait_for_completion(void *); void mutex_lock(void *);
		int kthread_should_stop(void);
		__attribute__((cold)) void rare(void);
		NEW(static __attribute__((noinline)) void newer(void) { schedule(); })
		int slept(int x) { OLD(schedule();) return x; }
		int sleeps(void *c) { NEW(wait_for_completion(c);) return 1; }
		int both(int x) { schedule(); return x OLD(+ 1) NEW(+ 2); }
		int in_cold(int x) { if (x) { rare(); schedule(); } return x OLD(+ 1) NEW(+ 2); }
		int locks(void *m) { mutex_lock(m); NEW(newer();) return 1; }
		int same(int x) { schedule(); return x; }
		int loops(int x) { while (!kthread_should_stop()) schedule(); return x OLD(+ 1) NEW(+ 2); }
	END
	carries "slept changed" "sleeps changed" "both changed" "in_cold changed" "locks changed" "newer new" "loops changed"
	warned "may-block both" "may-block in_cold" "may-block loops" "may-block sleeps" "may-block slept"
	same "loops" "$(grep -h "the loop of a kernel thread" "$report" | grep -o "'[a-z_]*' sleeps")" "'loops' sleeps"
	same "others" "$(grep -o "enable --evict" "$report" | wc -l)" 4
}

@test "new global function, used by nobody here" {
	compare <<-'END'
		int f(int x) { return x; }
		NEW(int fresh(int x) { return x + 2; })
	END
	carries "fresh new"
	global_here fresh
}

@test "removed functions are reported and carry nothing" {
	compare <<-'END'
		OLD(int gone(int x) { return x + 2; })
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	carries "f changed" "gone removed"
	absent gone
}

@test "a changed static callee is called by way of the original" {
	compare <<-'END'
		static __attribute__((noinline, noipa)) int callee(int x) { return x + OLD(1) NEW(2); }
		int f(int x) { return callee(x) * 3 + OLD(0) NEW(1); }
		int g(int x) { return callee(x) * 5; }
	END
	carries "f changed" "callee changed"
	same "callee, undefined and here" "$(symbol callee)" $'LOCAL here\nGLOBAL UND'
	runs <<-'END'
		/* the original's callee adds 1, the new f another 1 */
		int main(void) { return ((int (*)(int))changed(1))(2) != 10; }
	END
}

@test "recursion goes through the original's entry" {
	compare <<-'END'
		int ext(int);
		__attribute__((noinline)) int f(int x) { return x < 2 ? OLD(1) NEW(5) : ext(f(x - 1)) * f(x - 2); }
	END
	carries "f changed"
	same "f, here and undefined" "$(symbol f)" $'LOCAL here\nGLOBAL UND'
	runs <<-'END'
		/* ext(f(1)), of the old, * 5: gcc makes a loop of the second call */
		int ext(int x) { return x * 10; }
		int main(void) { return ((int (*)(int))changed(0))(2) != 50; }
	END
}

@test "a function's own address is the original's" {
	compare <<-'END'
		void keep(void *);
		void f(int x) { keep(f); keep((void *)OLD(1) NEW(2)); }
		NEW(static void other(void) { keep(other); })
		NEW(void fresh(void) { keep(other); })
	END
	carries "f changed" "other new" "fresh new"
	same "f, here and undefined" "$(symbol f)" $'LOCAL here\nGLOBAL UND'
	local_here other
}

@test "pointers to changed functions in new data are the original's" {
	compare <<-'END'
		struct op { int (*a)(int), (*b)(int); };
		void keep(const struct op *);
		int f(int x) { return x + OLD(1) NEW(2); }
		static int helper(int x) { return x * 3 + OLD(1) NEW(2); }
		NEW(static int fresh(int x) { return x * 3; })
		static const struct op old = {f, helper};
		NEW(static struct op op = {f, helper};)
		NEW(static struct op op2 = {fresh};)
		void g(void) { keep(&old); NEW(keep(&op); keep(&op2);) }
	END
	carries "f changed" "g changed" "helper changed" "fresh new"
	carries_data "op new" "op2 new"
	refers .data.op f
	refers .data.op helper
	same "helper, here and undefined" "$(symbol helper)" $'LOCAL here\nGLOBAL UND'
	same "f, here and undefined" "$(symbol f)" $'LOCAL here\nGLOBAL UND'
	local_here fresh
	warned "address-escapes fresh" "address-escapes op" "address-escapes op2"
}

@test "functions without a patchable entry are refused" {
	compare <<-'END'
		__attribute__((no_instrument_function)) int f(int x) { return x + OLD(1) NEW(2); }
		int g(int x) { return x + OLD(1) NEW(2); }
	END
	refused "no-entry f"
	grep -q '^unit.c:1: refused \[no-entry\]: ' "$errors"
}

@test "weak functions and aliases" {
	compare <<-'END'
		__attribute__((weak)) int w(int x) { return x + OLD(1) NEW(2); }
		__attribute__((noipa)) int real(int x) { return x * OLD(3) NEW(4); }
		int other(int) __attribute__((alias("real")));
		extern int f_alias(int) __attribute__((alias("f")));
		__attribute__((noipa)) int f(int x) { return w(x) + other(x) + real(x) + OLD(1) NEW(2); }
		int g(int x) { return f_alias(x) + other(x); }
		NEW(__attribute__((weak)) int fresh(void) { return 1; })
	END
	carries "w changed" "real changed" "f changed" "fresh new"
	global_here fresh
	refers .text.f w
}

changed_aliases() {
	compare <<-'END'
		int ext(int);
		int f(int x) { return ext(x) + 1; }
		OLD(int g(int) __attribute__((alias("f")));)
		NEW(int g(int x) { return ext(x) + 2; })
		OLD(int h(int x) { return ext(x) + 3; })
		NEW(int h(int) __attribute__((alias("f")));)
		int same(int) __attribute__((alias("f")));
		NEW(int fresh(int) __attribute__((alias("f")));)
		int v = 5;
		OLD(extern int w __attribute__((alias("v")));)
		NEW(int w = 5;)
	END
	refused "alias-changed g" "alias-changed h" "alias-changed w"
}
@test "an alias becomes a function of its own, and the other way around, gcc" { changed_aliases; }
@test "an alias becomes a function of its own, and the other way around, clang" {
	use_clang
	changed_aliases
}

@test "a static function becomes global, and a global one static" {
	compare <<-'END'
		OLD(static) __attribute__((noinline, used)) int f(int x) { return x + 1; }
		NEW(static) __attribute__((noinline, used)) int g(int x) { return x + OLD(1) NEW(2); }
	END
	carries "g changed"
}

@test "clones: .constprop, .isra and .part go by their whole names" {
	compare <<-'END'
		struct s { int a, b; };
		int ext(int);
		static __attribute__((noinline)) int one(struct s *s, int unused)
		{
			return ext(s->a) + ext(s->a) + OLD(1) NEW(2);
		}
		static __attribute__((noinline)) int two(int x, int always)
		{
			return ext(x) * always + ext(always);
		}
		int f(struct s *s) { return one(s, 1) + two(s->b, 7); }
		int g(struct s *s) { return one(s, 2) + two(s->a, 7); }
	END
	carries "one.constprop.0 changed"
	local_here one.constprop.0
	undefined ext
}

@test "clones that appear are new, those that disappear are removed" {
	compare <<-'END'
		int ext(int);
		static __attribute__((noinline)) int two(int x, int always)
		{
			return ext(x) * always + ext(always);
		}
		int f(int x) { return two(x, 7); }
		int g(int x) { return two(x, OLD(7) NEW(8)); }
	END
	carries "f changed" "g changed" "two new" "two.constprop.0 removed"
	local_here two
}

@test "a cold part changes alone" {
	compare <<-'END'
		void bad(int) __attribute__((cold));
		int g(int);
		int f(int x)
		{
			if (__builtin_expect(x == 17, 0)) {
				bad(OLD(1) NEW(2));
				return g(x + 1) + g(x);
			}
			return g(x);
		}
		int h(int x) { if (__builtin_expect(x == 7, 0)) { bad(9); return g(8) + 1; } return g(x); }
	END
	carries "f changed"
	same "the old cold part is there" "$(readelf -sW orig.o | grep -c ' f.cold$')" 1
	has_sections .text.f .text.unlikely.f __mcount_loc
	local_here f f.cold
	absent h h.cold
	# new_addr, new_cold_addr
	same "the table" "$(relocs .pokepatch.funcs)" \
		$'0 R_X86_64_64 f +0\n8 R_X86_64_64 f.cold +0'
	runs <<-'END'
		int last, calls;
		void bad(int x) { last = x; }
		int g(int x) { calls++; return x; }
		int main(void)
		{
			int (*f)(int) = changed(0);
			return !(f(1) == 1 && last == 0 && f(17) == 35 && last == 2 && calls == 3);
		}
	END
}

@test "a cold part appears" {
	compare <<-'END'
		void bad(int) __attribute__((cold));
		int g(int);
		int f(int x)
		{
			NEW(if (__builtin_expect(x == 17, 0)) { bad(1); return g(x + 1) + g(x); })
			return g(x);
		}
	END
	carries "f changed"
	local_here f f.cold
}

@test "a cold part disappears" {
	compare <<-'END'
		void bad(int) __attribute__((cold));
		int g(int);
		int f(int x)
		{
			OLD(if (__builtin_expect(x == 17, 0)) { bad(1); return g(x + 1) + g(x); })
			return g(x);
		}
	END
	carries "f changed"
	local_here f
	absent f.cold
	same "the table" "$(relocs .pokepatch.funcs)" "0 R_X86_64_64 f +0"
}

@test "a section of several functions is split" {
	compare <<-'END'
		#define __sched __attribute__((section(".sched.text")))
		int ext(int);
		static __sched __attribute__((noinline, noipa)) int callee(int x) { return ext(x) + 1; }
		__sched int a(int x) { return callee(x) * 2; }
		__sched int b(int x) { return callee(x) * OLD(3) NEW(300) + ext(x); }
		__sched int c(int x) { return ext(x) - 7; }
	END
	# The assembler resolved a's and b's calls, and b's size moves c.
	same "relocations to the callee" "$(relocs .sched.text orig.o | grep -c callee)" 0
	carries "b changed"
	undefined callee ext
	absent a c
	runs <<-'END'
		int ext(int x) { return x * 10; }
		int main(void) { return ((int (*)(int))changed(0))(4) != 41 * 300 + 40; }
	END
}

@test "in such a section, a callee of an unchanged function moves" {
	compare <<-'END'
		#define __sched __attribute__((section(".sched.text")))
		int ext(int);
		NEW(__sched int before(int x) { return ext(x) * 77 + ext(x + 1); })
		static __sched __attribute__((noinline, noipa, used)) int one(int x) { return ext(x) + 1; }
		static __sched __attribute__((noinline, noipa, used)) int two(int x) { return ext(x) + 2; }
		__sched int a(int x) { return one(x) * 2; }
		__sched int b(int x) { return OLD(one) NEW(two)(x) * 3; }
	END
	carries "before new" "b changed"
	undefined two
	absent one
}

@test "in such a section, an unchanged caller is further from its callee" {
	flags=(-fno-toplevel-reorder)
	compare <<-'END'
		#define __sched __attribute__((section(".sched.text")))
		int ext(int);
		static int late(int x);
		__sched int a(int x) { return late(x) * 2; }
		__sched int b(int x) { return ext(x) NEW(* ext(x + 1) * ext(x + 2) * ext(x + 3)); }
		static __sched __attribute__((noinline, noipa)) int late(int x) { return ext(x) + 1; }
	END
	[ "$(nm orig.o | grep -c ' t late')" = 1 ]
	carries "b changed"
}

@test "a new static callee in such a section" {
	compare <<-'END'
		#define __sched __attribute__((section(".sched.text")))
		int ext(int);
		NEW(static __sched __attribute__((noinline, noipa)) int one(int x) { return ext(x) + 1; })
		__sched int a(int x) { return ext(x) * 2; }
		__sched int b(int x) { return NEW(one)(x) * 3; }
	END
	carries "b changed" "one new"
	local_here one
	runs <<-'END'
		int ext(int x) { return x * 10; }
		int main(void) { return ((int (*)(int))changed(0))(4) != 41 * 3; }
	END
}

# mutex_lock() in .sched.text ends with two bytes, "jmp __mutex_lock_slowpath".
@test "short jumps from what is carried into a neighbour lead to a jump behind it" {
	compare <<-'END'
		asm(".pushsection .sched.text, \"ax\"\n"
		    ".globl a\n.type a, @function\n"
		    "a: call __fentry__\n"
		    "cmpl $1, %edi\nje b\ncmpl $2, %edi\nje b\ncmpl $3, %edi\nje c\n"
		    "movl $" OLD("1") NEW("2") ", %eax\nret\n.size a, . - a\n"
		    ".type b, @function\n"
		    "b: call __fentry__\nmovl $30, %eax\nret\n.size b, . - b\n"
		    ".type c, @function\n"
		    "c: call __fentry__\nmovl $40, %eax\nret\n.size c, . - c\n.popsection");
	END
	carries "a changed"
	undefined b c
	# Both jumps to b share one; stack traces must find them in the function.
	same "size of the function" "$(readelf -sW "$out" | awk '$8 == "a" { print $3 }')" \
		$(($(size_of .text.a)))
	same "jumps" "$(relocs .text.a | grep -c 'R_X86_64_PLT32 [bc] ')" 2
	runs <<-'END'
		int main(void)
		{
			int (*a)(int) = changed(0);
			return !(a(1) == 30 && a(2) == 30 && a(3) == 40 && a(4) == 2);
		}
	END
}

@test "such jumps to what is carried as well" {
	compare <<-'END'
		asm(".pushsection .sched.text, \"ax\"\n"
		    ".globl a\n.type a, @function\n"
		    "a: call __fentry__\njmp " OLD("b") NEW("new") "\n.size a, . - a\n"
		    ".type b, @function\n"
		    "b: call __fentry__\nmovl $3, %eax\nret\n.size b, . - b\n"
		    NEW(".type new, @function\n"
			"new: call __fentry__\nmovl $4, %eax\njmp b2\n.size new, . - new\n"
			".type b2, @function\nb2: call __fentry__\nret\n.size b2, . - b2\n")
		    ".popsection");
	END
	carries "a changed" "new new" "b2 new"
	runs <<-'END'
		int main(void) { return ((int (*)(void))changed(0))() != 4; }
	END
}

@test "a short jump that is too far from the end of its function is refused" {
	compare <<-'END'
		asm(".pushsection .sched.text, \"ax\"\n"
		    ".type b, @function\n"
		    "b: call __fentry__\nret\n.size b, . - b\n"
		    ".globl a\n.type a, @function\n"
		    "a: call __fentry__\ntestl %edi, %edi\nje b\n"
		    "movl $" OLD("1") NEW("2") ", %eax\n.rept 122\nnop\n.endr\nret\n.size a, . - a\n"
		    ".popsection");
		int f(void) { return 1; }
	END
	refused "relocation-unknown a"
}

@test "a caller by a short jump carries what has no entry" {
	compare <<-'END'
		asm(".pushsection .sched.text, \"ax\"\n"
		    ".globl a\n.type a, @function\n"
		    "a: call __fentry__\njmp b\n.size a, . - a\n"
		    ".type b, @function\n"
		    "b: movl $" OLD("3") NEW("4") ", %eax\nret\n.size b, . - b\n.popsection");
	END
	same "exit status" "$exit_status" 0
	same "list of functions" "$(functions)" "$(lines "a changed" "b changed")"
	refers .text.a .text.b
}

@test "a short jump into a neighbour that does not change" {
	compare <<-'END'
		asm(".pushsection .sched.text, \"ax\"\n"
		    ".globl a\n.type a, @function\n"
		    "a: call __fentry__\njmp b\n.size a, . - a\n"
		    NEW(".globl between\n.type between, @function\n"
			"between: call __fentry__\nnop\n.size between, . - between\n")
		    ".type b, @function\n"
		    "b: call __fentry__\nret\n.size b, . - b\n.popsection");
		int f(void) { return OLD(1) NEW(2); }
	END
	carries "f changed" "between new"
}

@test "a short jump to another neighbour is a change" {
	compare <<-'END'
		asm(".pushsection .sched.text, \"ax\"\n"
		    ".globl a\n.type a, @function\n"
		    "a: call __fentry__\njmp " OLD("b") NEW("c") "\n.size a, . - a\n"
		    ".type b, @function\n"
		    "b: call __fentry__\nret\n.size b, . - b\n"
		    ".type c, @function\n"
		    "c: call __fentry__\nret\n.size c, . - c\n.popsection");
	END
	carries "a changed"
	undefined c
}

@test "sections that keep probes away keep their names" {
	compare <<-'END'
		__attribute__((section(".noinstr.text"))) int f(int x) { return x + OLD(1) NEW(2); }
		__attribute__((section(".kprobes.text"))) int g(int x) { return x + OLD(1) NEW(2); }
		__attribute__((section(".softirqentry.text"))) int h(int x) { return x + OLD(1) NEW(2); }
	END
	carries "f changed" "g changed" "h changed"
	has_sections .kprobes.text .noinstr.text .text.h __mcount_loc
}

@test "code that has no symbol, or a symbol without a size, is refused" {
	compare <<-'END'
		asm(".pushsection .text.asm, \"ax\"\n"
		    ".globl a\n.type a, @function\n"
		    "a: nop\nmovl $" OLD("1") NEW("2") ", %eax\nret\n.popsection");
		int f(void) { return OLD(1) NEW(2); }
	END
	refused "symbol-unknown .text.asm"
}

@test "COMDAT groups" {
	compare <<-'END'
		asm(".section .text.g, \"axG\", @progbits, g, comdat\n.globl g\n.type g, @function\n"
		    "g: call __fentry__\n ret\n.size g, . - g\n"
		    ".section __mcount_loc, \"a\"\n.quad g\n.previous");
		asm(".section .text.h, \"axG\", @progbits, h, comdat\n.globl h\n.type h, @function\n"
		    "h: call __fentry__\n mov $" OLD("1") NEW("2") ", %eax\n ret\n.size h, . - h\n"
		    ".section __mcount_loc, \"a\"\n.quad h\n.previous");
		int f(int x) { return x; }
	END
	carries "h changed"
}
