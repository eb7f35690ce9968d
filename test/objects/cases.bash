# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Bodies of tests that several machines' files share; for each_compiler.

addresses() {
	compare <<-'END'
		extern int use(const char *, int *);
		static int counter = 5, plain;
		int table[64] = {1, 2, 3, 4};
		static int rare __attribute__((section(".data..read_mostly"))) = 7;
		static int rarer __attribute__((section(".data..read_mostly"))) = 9;
		const char *name(void) { return "name"; }
		int count(void) { return counter++ + rare++ + rarer-- + plain++; }
		int f(int i)
		{
			counter += i;
			plain = table[i] + rarer + rare OLD(- 100);
			return use("string", &plain) + table[i + 2] + counter;
		}
	END
	carries "f changed"
	undefined counter plain table rare rarer use
	runs <<-'END'
		int use(const char *s, int *p) { return equal(s, "string", 7) ? *p : 1000; }
		/* 6 + (2 + 9 + 7) + 4 */
		int main(void) { return ((int (*)(int))changed(0))(1) != 28; }
	END
}

# In a section of several functions, the assembler resolves calls of each other.
neighbours() {
	compare <<-'END'
		#define noinstr __attribute__((section(".noinstr.text"), noinline, noclone))
		extern int ext(int);
		noinstr static int one(int x) { return ext(x) + 1; }
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

variable_or_callee() {
	compare <<-'END'
		extern int a, b, e(int), d(int);
		int f(void) { return OLD(a) NEW(b); }
		int g(int x) { return OLD(e) NEW(d)(x) + 1; }
		int h(int x) { return e(x) + a; }
		void s(void) { OLD(a) NEW(b) = 0; }
		int *p(void) { return &OLD(a) NEW(b); }
		int *q(void) { return &a; }
	END
	carries "f changed" "g changed" "p changed" "s changed"
}

# tables - bug, exception and jump tables; standard input defines BUG(line) and ACCESS(pointer,
# data) of the machine, and BRANCH, the text of its asm goto with the key as %0.
tables() {
	{
		echo '#define STR_(x) #x'
		echo '#define STR(x) STR_(x)'
		cat
		cat <<-'END'
			extern struct key { long a, b; } key, other;
			extern int ext(int);
			static inline __attribute__((always_inline)) int branch(struct key *key)
			{
				asm goto(BRANCH :: "i"((char *)key + 1) :: yes);
				return 0;
			yes:	return 1;
			}
			int line(int x) { BUG(OLD(10) NEW(11)); return ext(x); }
			int bug(int x) { BUG(20); return ext(x) + OLD(1) NEW(2); }
			int access(int *x) { ACCESS(x, OLD(31) NEW(30)); return ext(2); }
			int stays(int *x) { ACCESS(x, 31); BUG(7); return branch(&key) ? ext(3) : 9; }
			int jump(int x) { return branch(OLD(&key) NEW(&other)) ? ext(x) : 3; }
		END
	} >case.c
	compare <case.c
	carries "bug changed" "access changed" "jump changed"
	same "bugs" "$(size_of __bug_table)" 12
	same "exceptions" "$(size_of __ex_table)" 12
	same "branches" "$(size_of __jump_table)" 16
	refers __bug_table .text.bug
	refers __ex_table .text.access
}
