# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Line numbers that the source passes on at run time.

load helpers

# compare_moved [LINES] - the source on standard input, against itself further down.
compare_moved() {
	{
		printf '#ifdef PATCHED\n#line %d\n#endif\n' "${1:-400}"
		cat
	} >moved.c
	compare <moved.c
}

# What ASSERT_RTNL() and might_sleep() are in the end.
macros() {
	cat <<-'END'
		#define __stringify_1(x...) #x
		#define __stringify(x...) __stringify_1(x)
		void __warn_printk(const char *, ...), __might_sleep(const char *, int);
		int locked(void);
		#define ASSERT_LOCKED() do { static char __attribute__((section(".data.once"))) \
			__already_done; if (!locked() && !__already_done) { __already_done = 1; \
			__warn_printk("assertion failed at %s (%d)\n", "f.c", __LINE__); } } while (0)
	END
}

passed_on() {
	compare_moved < <(
		macros
		cat <<-'END'
			int f(int x) { ASSERT_LOCKED(); return x; }
			int g(int x)
			{
				__might_sleep("f.c", __LINE__);
				if (x)
					ASSERT_LOCKED();
				return x;
			}
		END
	)
	nothing_differs
}
@test "a line number that is passed to a function, gcc" { passed_on; }
@test "a line number that is passed to a function, clang" { use_clang; passed_on; }

several_lines() {
	compare_moved <<-'END'
		int access(const char *, int, long, long, long);
		#define get_access(a, b, c) access(__func__, __LINE__, (a), (b), (c))
		int f(long *x)
		{
			int err = get_access(x[0],
					     x[1],
					     7);

			return err + 1;
		}
	END
	nothing_differs
	compare_moved <<-'END'
		int access(const char *, int, long, long, long);
		int f(long *x)
		{
			int err = access("f", OLD(__LINE__) NEW(__LINE__ + 1), x[0],
					 x[1], 7);

			return err + 1;
		}
	END
	carries "f changed"
}
@test "a line number that is passed by a call of several lines, gcc" { several_lines; }
@test "a line number that is passed by a call of several lines, clang" { use_clang; several_lines; }

inlined() {
	compare_moved < <(
		macros
		cat <<-'END'
			static inline __attribute__((always_inline)) void check(int line)
			{
				if (!locked())
					__might_sleep("f.c", line);
			}
			int f(int x)
			{
				check(__LINE__);
				return x;
			}
		END
	)
	nothing_differs
}
@test "the line of a call that is inlined, gcc" { inlined; }
@test "the line of a call that is inlined, clang" { use_clang; inlined; }

in_text() {
	compare_moved < <(
		macros
		cat <<-'END'
			int f(long x)
			{
				__warn_printk("size %ld of field at f.c:" __stringify(__LINE__) "\n", x);
				return x;
			}
		END
	)
	nothing_differs
}
@test "a line number in a text, gcc" { in_text; }
@test "a line number in a text, clang" { use_clang; in_text; }

not_the_line() { # f is in line 5 and then 403, g in 6 and 404, h in 7 and 405
	compare_moved 401 <<-'END'
		void use(long);
		int f(long x) { use(OLD(5) NEW(402)); return x; }
		int g(long x) { use(OLD(5) NEW(404)); return x; }
		int h(long x) { use(OLD(7) NEW(405)); return x; }
	END
	carries "f changed" "g changed"
}
@test "numbers that differ and are the line in one object only, gcc" { not_the_line; }
@test "numbers that differ and are the line in one object only, clang" { use_clang; not_the_line; }

@test "a number in a text that is not the line" {
	compare_moved 401 <<-'END'
		void use(const char *);
		int f(long x) { use("at 10.0.0.1:" OLD("80") NEW("402")); return x; }
		int g(long x) { use("at f.c:" OLD("7") NEW("404")); return x; }
	END
	carries "f changed" "g changed"
}

@test "a changed constant beside a line number that moved" {
	compare_moved < <(
		macros
		cat <<-'END'
			int f(int x) { ASSERT_LOCKED(); return x + OLD(1) NEW(2); }
			int g(int x) { ASSERT_LOCKED(); return x; }
		END
	)
	carries "f changed"
}

@test "without debug information, a line number that moved is a change" {
	flags=(-g0)
	compare_moved < <(
		macros
		echo 'int f(int x) { ASSERT_LOCKED(); return x; }'
	)
	carries "f changed"
}

# Where initcalls are variables (MIPS, powerpc, s390), the macro's name for them has a line number.
@test "the names of initcalls" {
	compare <<-'END'
		extern int ext(void);
		__attribute__((section(".init.text"), used)) static int one(void) { return ext(); }
		__attribute__((section(".init.text"), used)) static int two(void) { return ext() + 1; }
		typedef int (*call_t)(void);
		#define CALL(name) static call_t name __attribute__((used, section(".initcall1.init")))
		OLD(CALL(__initcall__kmod_my_unit__979_3842_one1) = one;)
		NEW(CALL(__initcall__kmod_my_unit__981_3844_one1) = one;)
		OLD(CALL(__initcall__kmod_my_unit__980_3843_two1) = two;)
		NEW(CALL(__initcall__kmod_my_unit__979_3842_two1) = two;)
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	carries "f changed"
	compare <<-'END'
		extern int ext(void);
		__attribute__((section(".init.text"), used)) static int one(void) { return ext(); }
		__attribute__((section(".init.text"), used)) static int two(void) { return ext() + 1; }
		typedef int (*call_t)(void);
		static call_t __initcall__kmod_my_unit__979_3842_one1
			__attribute__((used, section(".initcall1.init"))) = OLD(one) NEW(two);
	END
	refused "init-changed __initcall__kmod_my_unit__979_3842_one1"
}
