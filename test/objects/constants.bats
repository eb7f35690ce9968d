# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Constant tables that changed: carried with all their users, or refused.

load helpers
load cases

@test "a table that functions of the unit look things up in" {
	compare <<-'END'
		static const int table[] = {1, 2, OLD(3) NEW(4)};
		int f(int i) { return table[i]; }
		int g(int i) { return table[i + 1] * 2; }
		int h(int i) { return i; }
	END
	carries "f changed" "g changed"
	carries_data "table changed"
	local_here table
	warned
	runs <<-'END'
		int main(void)
		{
			int (*f)(int) = changed(0), (*g)(int) = changed(1);
			return f(2) != 4 || g(1) != 8 || f(0) != 1;
		}
	END
}

@test "a table that grows, and one that shrinks" {
	compare <<-'END'
		#define SIZE(a) (sizeof(a) / sizeof(*(a)))
		static const unsigned char more[] = {1, 2, 3 NEW(, 4)};
		static const unsigned char less[] = {1, 2, 3 OLD(, 4)};
		int f(unsigned i) { return i < SIZE(more) ? more[i] : -1; }
		int g(unsigned i) { return i < SIZE(less) ? less[i] : -1; }
		int any(unsigned i) { return more[i & 1]; }
	END
	carries "any changed" "f changed" "g changed"
	carries_data "less changed" "more changed"
	runs <<-'END'
		int main(void)
		{
			int (*f)(unsigned) = changed(0), (*g)(unsigned) = changed(1);
			return f(3) != 4 || g(3) != -1;
		}
	END
}

@test "a table in a function, and a function with a cold part" {
	compare <<-'END'
		int ext(int) __attribute__((cold));
		int f(int i)
		{
			static const int names[] = {5, OLD(6) NEW(7)};
			if (__builtin_expect(i > 100, 0)) return ext(names[i & 1]) + ext(i) * 3;
			return i;
		}
		int g(int i)
		{
			static const int names[] = {8, 9};
			return names[i];
		}
	END
	carries "f changed"
	same "list of data" "$(data | sed 's/\.[0-9]*//')" "names changed"
}

# nla_policy: the outer table has the inner one's address, and the functions the outer one's.
@test "a table that another table refers to" {
	compare <<-'END'
		struct policy { int type; const struct policy *nested; };
		static const struct policy inner[] = {{1}, {OLD(2) NEW(3)}};
		static const struct policy outer[] = {{9, inner}, {8}};
		static const struct policy apart[] = {{9}, {8}};
		int f(int i) { return outer[i].nested->type; }
		int g(int i) { return apart[i].type; }
	END
	carries "f changed"
	carries_data "inner changed" "outer changed"
	refers .rodata.outer .rodata.inner || refers .rodata.outer inner
	runs <<-'END'
		int main(void) { return ((int (*)(int))changed(0))(0) != 1; }
	END
}

@test "a user without an entry has its callers replaced" {
	compare <<-'END'
		#define inline inline __attribute__((no_instrument_function, noinline))
		static const int table[] = {1, 2, OLD(3) NEW(4)};
		static inline int helper(int i) { return table[i] + 5; }
		int f(int i) { return helper(i) * 7; }
		int g(int i) { return helper(i) * 9; }
		int h(int i) { return i; }
	END
	carries "f changed" "g changed" "helper changed"
	carries_data "table changed"
	runs <<-'END'
		int main(void) { return ((int (*)(int))changed(1))(2) != 63; }
	END
}

@test "an address that a callee gets" {
	compare <<-'END'
		int parse(const int *policy, int x);
		static const int policy[] = {1, 2, OLD(3) NEW(4)};
		int f(int x) { return parse(policy, x) + 1; }
	END
	carries "f changed"
	carries_data "policy changed"
	warned "address-escapes policy" "constant-kept policy"
	grep -q "'f' takes the address of constant 'policy', which the patch replaces" "$errors"
}

@test "strings of a table may have been kept" {
	compare <<-'END'
		static const char *const names[] = {"one", OLD("two") NEW("three")};
		const char *f(int i) { return names[i]; }
	END
	carries "f changed"
	carries_data "names changed"
	warned "address-escapes names"
}

# What is in memory, or in data, has the old table's address, and unchanged code may use it.
@test "a table whose address may be in memory" {
	compare <<-'END'
		static const int stored[] = {1, OLD(2) NEW(3)};
		const int *place;
		void f(void) { place = stored; }
	END
	refused "data-changed stored"
	compare <<-'END'
		static const int compared[] = {1, OLD(2) NEW(3)};
		int f(const int *p) { return p == compared; }
	END
	refused "data-changed compared"
	compare <<-'END'
		static const int table[] = {1, OLD(2) NEW(3)};
		struct family { const int *policy; } family = {table};
		int f(int i) { return table[i]; }
	END
	refused "data-changed table"
	grep -q "constant 'table' differs, and 'family' would go on using the old one" "$errors"
	compare <<-'END'
		struct ops { const int *policy; };
		static const int table[] = {1, OLD(2) NEW(3)};
		static const struct ops ops[] = {{table}, {0}};
		struct family { const struct ops *ops; } family = {ops};
		int f(int i) { return table[i]; }
	END
	refused "data-changed table"
	grep -q "constant 'table' differs, and 'family' would" "$errors"
	# Files are told apart by their operations.
	compare <<-'END'
		int a(void), b(void);
		struct ops { int (*a)(void), (*b)(void); };
		static const struct ops fops = {a, NEW(b)};
		int open(const char *name, const struct ops *ops);
		int f(void) { return open("x", &fops) + 1; }
	END
	refused "data-changed fops"
}

@test "a table of functions that code alone reads" {
	compare <<-'END'
		int a(int x) { return x; }
		int b(int x) { return x + 1; }
		static int (*const ops[])(int) = {a, OLD(a) NEW(b)};
		int f(int x) { return ops[x](x) + 1; }
	END
	carries "f changed"
	carries_data "ops changed"
	undefined a b
	runs <<-'END'
		int main(void) { return ((int (*)(int))changed(0))(1) != 3; }
	END
}

@test "a table that others can use" {
	compare <<-'END'
		const int table[] = {1, OLD(2) NEW(3)};
		int f(int i) { return table[i]; }
	END
	refused "data-changed table"
	compare <<-'END'
		static const int table[] = {1, OLD(2) NEW(3)};
		__attribute__((section(".init.text"), noinline)) int start(int i) { return table[i]; }
		int f(int i) { return table[i]; }
	END
	refused "data-changed table"
	grep -q "constant 'table' differs, and 'start' would" "$errors"
	compare <<-'END'
		static OLD(const) int table[] = {1, OLD(2) NEW(3)};
		int f(int i) { NEW(table[i]++;) return table[i]; }
	END
	refused "data-changed table"
}

@test "a user that the author leaves as it is" {
	flags=(-I "$top/core-module/include")
	compare <<-'END'
		#ifdef PATCHED
		#include <pokepatch_patch.h>
		POKEPATCH_IGNORE_FUNCTION(g);
		#endif
		static const int table[] = {1, OLD(2) NEW(3)};
		int f(int i) { return table[i]; }
		int g(int i) { return table[i] + OLD(1) NEW(2); }
	END
	refused "data-changed table"
	grep -q "constant 'table' differs, and 'g' would" "$errors"
}

looked_up() {
	compare <<-'END'
		static const int table[] = {1, 2, OLD(3) NEW(4), 7};
		int ext(int);
		int f(int i) { return ext(table[i]); }
		int g(int i) { return i; }
	END
	carries "f changed"
	carries_data "table changed"
	runs <<-'END'
		int ext(int x) { return x; }
		int main(void) { return ((int (*)(int))changed(0))(2) != 4; }
	END
}
@test "other machines: a table" {
	local name
	for name in arm64 riscv64 mips64el ppc64le s390x; do
		echo "on $name:"
		compilers=gcc-12 each_compiler "$name" looked_up
	done
}
