# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What every machine has, on those that have it in their own way: addresses in several
# instructions, jumps that the assembler resolved, constants, tables of switches.

load helpers
load cases

# each_machine FUNCTION - a test's body, on each machine with each compiler that makes its
# patchable entries.
each_machine() {
	local name
	for name in ${machines:-loongarch64 mips mipsel mips64 mips64el ppc64le s390x}; do
		echo "on $name:"
		local compilers=gcc-12
		case $name in
		arm64 | riscv64 | s390x) compilers="gcc-12 clang-16" ;;
		loongarch64) compilers=clang-19 ;;
		esac
		each_compiler "$name" "$1"
	done
}

constant() {
	compare <<-'END'
		int f(int x) { return x * OLD(3) NEW(5); }
		int g(int x) { return x - 1; }
	END
	carries "f changed"
	absent g
	local_here f
	runs <<-'END'
		int main(void) { return ((int (*)(int))changed(0))(7) != 35; }
	END
}
@test "other machines: a changed constant" { each_machine constant; }

unchanged() {
	compare <<-'END'
		extern int ext(int), table[8];
		static int count;
		static const char *names[] = {"one", "two"};
		const char *name(int i) { return names[i]; }
		int f(int x)
		{
			while (x--)
				if (ext(x) == 7)
					count += table[x] + ext(count);
			return count;
		}
	END
	nothing_differs
}
@test "other machines: nothing changed" { each_machine unchanged; }

@test "other machines: addresses" { each_machine addresses; }

@test "other machines: only the variable or the callee differs" {
	each_machine variable_or_callee
}

# The assembler resolves calls within a section, but for MIPS.
neighbours() {
	compare <<-'END'
		#define noinstr __attribute__((section(".noinstr.text"), noinline, noclone))
		extern int ext(int);
		noinstr int one(int x) { return ext(x) + 1; }
		NEW(noinstr static int two(int x) { return ext(x) + 40 + x * x; })
		noinstr int f(int x) { return one(x) * 2; }
		noinstr int g(int x) { return OLD(one) NEW(two)(x) * 3; }
		int h(int x) { return one(x) - 5; }
	END
	carries "g changed" "two new"
	runs <<-'END'
		int ext(int x) { return x; }
		int main(void) { return ((int (*)(int))changed(0))(1) != 126; }
	END
}
@test "other machines: several functions in one section" { each_machine neighbours; }

switches() {
	compare <<-END
		extern int ext(int);
		#define CASES(y) switch (x) { \\
			$(seq 0 25 | awk '{ print "case " $1 ": return ext(x + " $1 * $1 ") * " $1 % 5 + 2 " + y; \\" }')
			} return 0;
		int f(int x, int y) { CASES(OLD(y) NEW(-y)) }
		int g(int x, int y) { CASES(y + 1) }
	END
	carries "f changed"
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
@test "other machines: a table of a switch" { each_machine switches; }

line_numbers() {
	local from source='
		void warn(const char *, int), other(const char *, int);
		int f(int x) { if (x == 5) warn("f.c", __LINE__); return x; }
		static inline __attribute__((always_inline)) void check(int line) { warn("f.c", line); }
		int g(int x) { if (x) check(__LINE__); else check(__LINE__); return x + 1; }'
	# The larger ones need two instructions on some.
	for from in 100 5000; do
		{
			printf '#ifdef PATCHED\n#line %d\n#else\n#line %d\n#endif\n' $((from + 700)) $from
			echo "$source"
		} >moved.c
		compare <moved.c
		nothing_differs
		# shellcheck disable=SC2001 # a pattern over several words
		echo "$source" | sed "s/\"f.c\", __LINE__/\"f.c\", OLD($from) NEW($((from + 1)))/" >number.c
		compare <number.c
		carries "f changed"
	done
}
@test "other machines: line numbers that code loads, and other numbers" {
	machines="arm64 loongarch64 mips mipsel mips64 mips64el ppc64le riscv64 s390x" each_machine line_numbers
}

small_and_common() {
	flags+=(-fcommon)
	compare <<-'END'
		int initialised = 5, zero, common;
		__attribute__((weak)) int weak(int x) { return x; }
		NEW(int fresh = 7;)
		int f(void) { return initialised + zero++ + common + weak(1) NEW(+ fresh++); }
	END
	carries "f changed"
	carries_data "fresh new"
	undefined initialised zero common weak
}
@test "other machines: variables, common and weak symbols" { each_machine small_and_common; }

# struct _ddebug: "unsigned int lineno:18" begins at the other end of the byte in each byte order.
line_bits() {
	local line
	local source='
		struct ddebug { const char *texts[4]; unsigned int line : 18, class : 6, flags : 8; };
		void report(struct ddebug *);
		#define pr_debug(l, c) ({ static struct ddebug __attribute__((section("__dyndbg"), \
			aligned(8))) descriptor = {{"f.c"}, .line = l, .class = c}; report(&descriptor); })'
	for line in 101 102 70000 100000; do
		compare <<-END
			$source
			void f(void) { pr_debug(OLD(100) NEW($line), 5); }
		END
		nothing_differs
	done
	compare <<-END
		$source
		void f(void) { pr_debug(100, OLD(4) NEW(5)); }
	END
	carries "f changed"
}
@test "other machines: a line number in a bit-field" {
	machines="arm64 mips mipsel mips64 mips64el ppc64le riscv64 s390x" each_machine line_bits
}

# struct pokepatch_callback_note of pokepatch_patch.h: as long as two addresses.
callbacks() {
	compare <<-'END'
		int __attribute__((noipa)) f(int x) { return x + OLD(1) NEW(2); }
		#ifdef PATCHED
		static int mine(const void *parent) { return !parent; }
		static void both(const void *parent) { *(int *)parent = 1; }
		#define NOTE(name, function, number) \
			static const struct { void *call; unsigned long kind; } name \
			__attribute__((used, section(".pokepatch.notes.callbacks"))) = { function, number }
		NOTE(one, mine, 0);
		NOTE(two, both, 1);
		NOTE(three, both, 3);
		#endif
	END
	carries "f changed" "both new" "mine new"
	same "the callbacks" "$(jq -r '.callbacks[] | .kind + " " + .function' "$report" | LC_ALL=C sort)" \
		"$(lines "post-patch both" "post-unpatch both" "pre-patch mine")"
	same "rows" "$(size_of .pokepatch.callbacks)" 48
	refers .pokepatch.callbacks mine
	refers .pokepatch.callbacks both
}
@test "other machines: callbacks" { each_machine callbacks; }

# Names and lines are in the debug information, whose relocations have addends, too.
declared_where() {
	compare <<-'END'
		int first(int x) { return x; }

		int second = OLD(1) NEW(2);
	END
	refused "data-changed second"
	same "its place" "$(sed -n 's/: refused .*//p' "$errors")" unit.c:3
}
@test "other machines: where in the source something is declared" { each_machine declared_where; }
