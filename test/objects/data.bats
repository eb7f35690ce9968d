# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Variables, constants and strings: which are the parent's own, which are new, which are copied.

load helpers

@test "a changed string" {
	compare <<-'END'
		const char *s(const char *);
		int f(int x) { s("one"); s(OLD("first") NEW("a longer text")); return s("third") != 0; }
		int g(int x) { s("first"); return 1; }
	END
	carries "f changed"
	has_sections .text.f .rodata.strings __mcount_loc
	same "the strings" "$(bytes .rodata.strings | xxd -r -p | tr '\0' '|')" "one|a longer text|third|"
	runs <<-'END'
		char all[100], *end = all;
		const char *s(const char *text) { do *end++ = *text; while (*text++); return text; }
		int main(void)
		{
			return !(((int (*)(int))changed(0))(1) == 1 &&
				equal(all, "one\0a longer text\0third", 24));
		}
	END
}

@test "strings move about in their section" {
	compare <<-'END'
		void s(const char *);
		NEW(void other(void) { s("a new one in front"); })
		int f(int x) { s("one"); s("two"); return 1; }
		int g(int x) { s("two" + 1); s("three"); return 1; }
	END
	carries "other new"
}

@test "a string that two functions share" {
	compare <<-'END'
		void s(const char *);
		int f(int x) { s("shared"); s(OLD("a") NEW("b")); return 1; }
		int g(int x) { s("shared"); return 2; }
		int h(int x) { s("shared"); s("shared" + 3); return x + OLD(1) NEW(2); }
	END
	carries "f changed" "h changed"
	same "the strings" "$(bytes .rodata.strings | xxd -r -p | tr '\0' '|')" "shared|b|"
	runs <<-'END'
		const char *last;
		void s(const char *text) { last = text; }
		int main(void)
		{
			((int (*)(int))changed(1))(1);
			return !equal(last, "red", 4);
		}
	END
}

@test "a place beside the start of a string" {
	compare <<-'END'
		int f(long x) { return "0123456789"[x + 2] + OLD(0) NEW(1); }
		int g(long x) { return "abc"[x - 3]; }
		int h(long x) { return "xyz"[x - 3] + OLD(0) NEW(1); }
		int same(long x) { return "same"[x - 5]; }
	END
	carries "f changed" "h changed"
	runs <<-'END'
		int main(void)
		{
			int (*f)(long) = changed(0), (*h)(long) = changed(1);
			return !(f(3) == '6' && f(-2) == '1' && h(3) == 'y' && h(5) == '{');
		}
	END
}

@test "only the place in a string differs" {
	compare <<-'END'
		void s(const char *);
		int f(int x) { s("a text" + OLD(2) NEW(3)); return 1; }
	END
	carries "f changed"
}

@test "strings of wide characters" {
	compare <<-'END'
		int w(const unsigned short *), u(const unsigned int *);
		int f(void) { return w(L"one") + u(U"four"); }
		int g(void) { return w(OLD(L"other") NEW(L"others")) + u(U"four"); }
		int h(void) { return w(L"other") + u(U"four") + OLD(1) NEW(2); }
		int k(void) { return u(OLD(U"vier") NEW(U"vir")); }
	END
	carries "g changed" "h changed" "k changed"
	runs <<-'END'
		static int length;
		int w(const unsigned short *s) { while (*s++) length++; return length; }
		int u(const unsigned int *s) { length = 0; while (*s++) length++; return length * 10; }
		int main(void)
		{
			int (*g)(void) = changed(0), (*k)(void) = changed(2);
			return !(k() == 30 && (length = 0, g() == 46 ));
		}
	END
}

@test "constants without a name" {
	flags=(-msse2)
	compare <<-'END'
		struct s { int a[7]; };
		void use(struct s *);
		void f(void) { struct s s = {{1, 2, 3, 4, 5, 6, 7}}; use(&s); }
		void g(void) { struct s s = {{1, 2, 3, OLD(4) NEW(40), 5, 6, 7}}; use(&s); }
		void h(void) { struct s s = {{1, 2, 3, 4, 9, 6, 7}}; use(&s); }
	END
	carries "g changed"
	runs <<-'END'
		int sum;
		void use(int *a) { for (int i = 0; i < 7; i++) sum += a[i] * (i + 1); }
		int main(void)
		{
			((void (*)(void))changed(0))();
			return sum != 1 + 4 + 9 + 160 + 25 + 36 + 49;
		}
	END
}

@test "variables whose names look like those of other sections" {
	compare <<-'END'
		static const char *const strings[] = {"a", "b", OLD("c") NEW("d")};
		static const long str1[] = {1, 2, 3}, cst4[] = {4, 5, OLD(6) NEW(7)};
		const char *s(int i) { return strings[i]; }
		long t(int i) { return cst4[i]; }
		long u(int i) { return str1[i] + OLD(1) NEW(2); }
	END
	carries "s changed" "t changed" "u changed"
	carries_data "cst4 changed" "strings changed"
}

@test "constants of such names are the parent's own" {
	compare <<-'END'
		static const char *const strings[] = {"a", "b"};
		static const long cst4[] = {4, 5};
		const char *s(int i) { return strings[i + OLD(0) NEW(1)]; }
		long t(int i) { return cst4[i] + OLD(0) NEW(1); }
	END
	carries "s changed" "t changed"
	carries_data
	undefined strings cst4
}

@test "new static variables, of each kind of data" {
	compare <<-'END'
		NEW(static int counter; static int start = 5; static const int table[] = {3, 1, 4};
		static int *pointer = &start;)
		int global_before = 4;
		NEW(int global = 7; const int global_constant = 8;)
		int f(int x)
		{
			NEW(counter++; start += *pointer; pointer = &counter; x += table[x];)
			return x + global_before;
		}
	END
	carries "f changed"
	carries_data "counter new" "start new" "table new" "pointer new" "global new" \
		"global_constant new"
	has_sections .text.f .bss.counter .data.start .data.pointer .rodata.table \
		.data.global .rodata.global_constant __mcount_loc
	local_here counter start table pointer
	global_here global global_constant
	undefined global_before
	runs <<-'END'
		int main(void) { return ((int (*)(int))changed(0))(2) != 2 + 4 + 4; }
	END
}

@test "existing variables are the parent's own" {
	compare <<-'END'
		static int counter; static int start = 5; int global; extern int elsewhere;
		int f(int x) { return counter++ + start++ + global++ + elsewhere + OLD(1) NEW(2); }
		int g(int x) { return counter++ - start++ - global++; }
	END
	carries "f changed"
	carries_data
	has_sections .text.f __mcount_loc
	undefined counter start global elsewhere
}

@test "changed initial data" {
	compare <<-'END'
		int a = OLD(1) NEW(2);
		const int b[] = {1, 2, OLD(3) NEW(4)};
		int c OLD(= 0) NEW(= 1);
		int target, other;
		int *d = OLD(&target) NEW(&other);
		const char *text = OLD("old") NEW("new");
		const char *same = "same";
		int f(int i) { return b[i]; }
	END
	refused "data-changed a" "data-changed b" "data-changed c" "data-changed d" \
		"data-changed text"
	grep -q "^unit.c:1: refused \[data-changed\]: initial value of 'a' differs; " "$errors"
}

@test "a table that now names another function" {
	compare <<-'END'
		int a(int x) { return x; }
		int b(int x) { return x + 1; }
		int (*const ops[])(int) = {a, OLD(a) NEW(b)};
		int f(int x) { return ops[x](x); }
	END
	refused "data-changed ops"
}

@test "a variable that becomes constant" {
	compare <<-'END'
		NEW(const) int a __attribute__((used)) = 1;
		int f(int i) { return i; }
	END
	refused "data-changed a"
}

@test "changed size" {
	compare <<-'END'
		int a[OLD(4) NEW(5)];
		int b[OLD(4) NEW(5)] = {1};
		int f(int x) { return x; }
	END
	refused "data-size a" "data-size b"
}

@test "an alignment that the running kernel's variable need not have" {
	compare <<-'END'
		int a NEW(__attribute__((aligned(64)))) = 1;
		int f(int x) { return x; }
	END
	refused "data-changed a"
}

@test "per-CPU variables, existing and new" {
	compare <<-'END'
		#define DEFINE(x, s) __attribute__((section(".data..percpu" s))) x
		DEFINE(int existing, "");
		NEW(static DEFINE(int fresh, ""); static DEFINE(int shared, "..shared_aligned");)
		int f(int x)
		{
			asm("addl $1, %%gs:%0" : "+m"(existing));
			NEW(asm("addl $2, %%gs:%0" : "+m"(fresh)); asm("addl $2, %%gs:%0" : "+m"(shared));)
			return x;
		}
	END
	carries "f changed"
	carries_data "fresh new" "shared new"
	undefined existing
	# The module loader knows only the one name.
	has_sections .text.f .data..percpu .data..percpu __mcount_loc
}

@test "a variable that becomes per-CPU is another one" {
	compare <<-'END'
		NEW(__attribute__((section(".data..percpu")))) int a = 1;
		int f(int x) { return x; }
	END
	refused "data-changed a"
}

@test "sections with several variables are split" {
	compare <<-'END'
		#define RM __attribute__((section(".data..read_mostly")))
		static RM int a = 1; NEW(static RM int fresh = 9;) static RM long b = 2; RM int c = 3;
		int f(int x) { return a++ + b++ + c++ NEW(+ fresh++); }
		int g(int x) { return a - b - c; }
	END
	carries "f changed"
	carries_data "fresh new"
	undefined a b c
	local_here fresh
	runs <<-'END'
		int main(void) { return ((int (*)(int))changed(0))(0) != 15; }
	END
}

# ---- static locals ----------------------------------------------------------------

@test "static locals: one of the same name comes before" {
	compare <<-'END'
		NEW(int before(void) { static int count = 70; return count++; })
		int f(void) { static int count = 5; return count++ NEW(+ 1); }
		int g(void) { static int count = 6; return count++; }
	END
	carries "before new" "f changed"
	carries_data "$(patched_static 70) new"
	# What f uses is the original's, under the original's name.
	undefined "$(original_static 5)"
	runs <<-'END'
		int main(void) { return ((int (*)(void))changed(0))() != 6; }
	END
}

@test "static locals: reordered functions" {
	compare <<-'END'
		OLD(int f(void) { static int count = 5; return count++; })
		int g(void) { static int count = 6; return count++; }
		NEW(int f(void) { static int count = 5; return count++; })
		int h(void) { static int count = 7; return count++ + OLD(1) NEW(2); }
	END
	carries "h changed"
	undefined "$(original_static 7)"
}

@test "static locals: gone in one function, new in another" {
	compare <<-'END'
		int f(int x) { OLD(static int count; x += count++;) return x; }
		int g(int x) { NEW(static int count; x += count++;) return x; }
	END
	refused "static-ambiguous count.0"
}

@test "static locals: the name of a function" {
	compare <<-'END'
		int count(int x) { return x + OLD(1) NEW(2); }
		int f(void) { static int count = 5; return count++; }
		int g(void) { NEW(static int f = 8; return f++;) return 0; }
	END
	carries "count changed" "g changed"
	carries_data "f.0 new"
}

@test "static locals of a function whose clone has another name" {
	compare <<-'END'
		int ext(int);
		static __attribute__((noinline)) int two(int x, int always)
		{
			static int calls = 3;
			return ext(x) * always + ext(always) + calls++;
		}
		int f(int x) { return two(x, 7); }
		int g(int x) { return two(x, OLD(7) NEW(8)); }
	END
	carries "f changed" "g changed" "two new" "two.constprop.0 removed"
	carries_data
	undefined "$(original_static 3)"
}

@test "what each use has of its own: __func__, lockdep keys, once flags" {
	compare <<-'END'
		void p(const char *, void *);
		#define once(x) ({ static char __attribute__((section(".data.once"))) __already_done; \
			if (!__already_done) { __already_done = 1; x; } })
		NEW(int fresh(void) { static int __key; p(__func__, &__key); once(p("a", 0)); return 1; })
		int f(void) { static int __key; p(__func__, &__key); once(p("b", 0)); return 1; }
		int g(void)
		{
			static int __key;
			p(__func__, &__key);
			once(p("c", 0));
			once(p("d", 0));
			return OLD(1) NEW(2);
		}
	END
	carries "fresh new" "g changed"
	carries_data
	same "flags of g" "$(relocs .text.g | awk '{ print $3 }' | sort -u | grep -c __already_done)" 2
	same "key of g" "$(relocs .text.g | grep -c __key)" 1
}

@test "__func__ of a renamed function" {
	compare <<-'END'
		void p(const char *);
		int f(void) { p(__func__); return 1; }
		static __attribute__((noinline, used)) int OLD(a) NEW(bb)(void) { p(__func__); return 2; }
	END
	same "exit status" "$exit_status" 3
}

@test "variables called like those of the kernel's macros, but of the file" {
	compare <<-'END'
		int _rs, __key;
		static struct { int a, b; } descriptor;
		int f(int x) { static int descriptor2; return _rs++ + __key++ + descriptor.b++ + OLD(1) NEW(2); }
		int g(int x) { static int descriptor; return descriptor++ + OLD(1) NEW(2); }
	END
	carries "f changed" "g changed"
	carries_data
	undefined _rs __key descriptor descriptor.0
}

@test "descriptors of dynamic debug are copied, and their lines do not matter" {
	compare <<-'END'
		struct d { const char *a, *b, *c, *d; unsigned line : 18, class : 6, flags : 8; long key; };
		void p(struct d *);
		#define pr_debug(text) ({ static struct d __attribute__((section("__dyndbg"), \
			aligned(8))) __UNIQUE_ID_ddebug12 = {"mod", __func__, "f.c", text, __LINE__}; \
			p(&__UNIQUE_ID_ddebug12); })
		NEW(
		/* another line */
		)
		int f(int x) { pr_debug("text"); return x; }
		int g(int x) { pr_debug(OLD("this") NEW("that")); return x; }
	END
	carries "g changed"
	carries_data
	has_sections .text.g __dyndbg .rodata.strings .rodata.__func__.0 __mcount_loc
}

@test "the initial value of a local array belongs to its function" {
	compare <<-'END'
		void use(void *);
		int f(void) { int a[] = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
			28, 29, 30, 31, 32, 33, 34, OLD(35) NEW(36)}; use(a); return 1; }
		int g(void) { int a[] = {21, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
			28, 29, 30, 31, 32, 33, 34, 35}; use(a); return 1; }
	END
	same "exit status" "$exit_status" 0
	functions | grep -qx "f changed"
	runs <<-'END'
		int sum;
		void use(int *a) { sum = 0; for (int i = 0; i < 25; i++) sum += a[i]; }
		int main(void) { ((int (*)(void))changed(0))(); return sum != 25 * 23 + 1; }
	END
}

@test "common symbols" {
	flags=(-fcommon)
	compare <<-'END'
		int common;
		NEW(int added;)
		int f(int x) { return x + common + OLD(1) NEW(added); }
	END
	carries "f changed"
	carries_data "added new"
	compare <<-'END'
		int common[OLD(4) NEW(8)];
		int f(int x) { return x + common[x]; }
	END
	refused "data-size common"
}

# "atomic_long_t vm_numa_event[NR_VM_NUMA_EVENT_ITEMS]" is empty without CONFIG_NUMA.
@test "empty variables among others" {
	compare <<-'END'
		#define __read_mostly __attribute__((section(".data..read_mostly")))
		int use(void *, void *, void *);
		int before __read_mostly = 1, none[0] __read_mostly, after __read_mostly = 2;
		int f(void) { return use(&before, none, &after) + OLD(1) NEW(2); }
	END
	carries "f changed"
	undefined before none after
	compare <<-'END'
		#define __read_mostly __attribute__((section(".data..read_mostly")))
		int use(void *, void *, void *);
		int before __read_mostly = 1, none[0] __read_mostly, after __read_mostly = OLD(2) NEW(3);
		int f(void) { return use(&before, none, &after); }
	END
	refused "data-changed after"
}

@test "bytes behind a variable that nobody accounts for" {
	compare <<-'END'
		asm(".section .data..read_mostly, \"aw\"\n.balign 8\n.type short, @object\nshort: .long 1\n"
		    ".size short, 4\n.long " OLD("0") NEW("3") "\n.previous");
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	refused "symbol-unknown .data..read_mostly"
}

@test "what gcc's and clang's sanitizers report, in writable sections without symbols" {
	flags=(-fsanitize=bounds-strict -fsanitize=shift)
	reports 'Lubsan_data[0-9]*'
	use_clang
	flags=(-fsanitize=array-bounds -fsanitize=shift)
	reports 'L__unnamed_[0-9]*'
}

# reports NAME - the test above, with a pattern of the sections' names.
reports() {
	compare <<-'END'
		int a[8], b[9];
		NEW(int other(int x) { return a[x] + b[x]; }) /* moves gcc's numbers of those below */
		int f(int x) { return b[x] + OLD(1) NEW(2); }
		int g(int x) { return a[x] << x; }
	END
	carries "other new" "f changed"
	# Two of arrays in other(), one in f().  The kernel writes to each when it reports it.
	same "sections" "$(readelf -SW "$out" | grep -c "\\.data\\.\\.$1 .* WA ")" 3
}
