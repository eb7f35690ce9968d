# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What each compiler of Debian 12 calls things, and how it makes several of one thing.

load helpers

# The kernel's macros, as far as they make data of each use.
macros='
	struct key { char c; };
	struct rs { long interval, burst; };
	struct ddebug { const char *modname, *function, *filename, *format; unsigned line; long key[2]; };
	int printk(const char *, ...), ratelimit(struct rs *, const char *), ext(int), more(int);
	void init(long *, const char *, struct key *), dyn(void *, const char *, ...);
	#define cat(a, b) a##b
	#define unique(a, b) cat(a, b)
	#define once(text) do { static _Bool __attribute__((section(".data.once"))) __already_done; \
		if (!__already_done) { __already_done = 1; printk(text); } } while (0)
	#define warned(text) do { static _Bool __attribute__((section(".data.unlikely"))) __warned; \
		if (!__warned) { __warned = 1; printk(text); } } while (0)
	#define mutex(lock) do { static struct key __key; init(lock, #lock, &__key); } while (0)
	#define limited(text) do { static struct rs _rs = { 5, 10 }; \
		if (ratelimit(&_rs, __func__)) printk(text); } while (0)
	#define debug_as(name, text) do { static struct ddebug __attribute__((section("__dyndbg"), \
		aligned(8), used)) name = { "m", __func__, __FILE__, text, __LINE__ }; \
		if (name.key[0]) dyn(&name, text); } while (0)
	#define debug(text) debug_as(unique(__UNIQUE_ID_ddebug, __COUNTER__), text)
	#define debug_old(text) debug_as(descriptor, text)
	long lock;
'

private_data() {
	compile <<-END
		$macros
		int f(int x)
		{
			NEW(once("one more"); warned("two"); mutex(&lock); limited("three");)
			NEW(debug("four"); debug_old("five"); printk(__func__);)
			once("once"); warned("warned"); mutex(&lock); limited("limited");
			debug("debug"); debug_old("old"); printk(__func__);
			return ext(x);
		}
		int g(int x)
		{
			once("once"); warned("warned"); mutex(&lock); limited("limited");
			debug("debug"); debug_old("old"); printk(__func__);
			return more(x);
		}
	END
	diff_objects orig.o patched.o
	carries "f changed"
	carries_data
	same "descriptors" "$(size_of __dyndbg | xargs)" "56 56 56 56"
}
@test "keys, flags, rate limits and descriptors are each use's own" {
	with_all_compilers private_data
}

@test "the same with another text, or another rate: the function changed" {
	another() {
		compile <<-END
			$macros
			int f(int x) { once(OLD("a") NEW("b")); return ext(x); }
			int g(int x) { limited("g"); debug(OLD("a") NEW("b")); return ext(x); }
			int h(int x) { limited("h"); debug("h"); return ext(x); }
			int i(int x)
			{
				static struct rs _rs = { OLD(5) NEW(6), 10 };
				return ratelimit(&_rs, "i");
			}
		END
		diff_objects orig.o patched.o
		carries "f changed" "g changed" "i changed"
		carries_data
	}
	with_all_compilers another
}

@test "tables that a switch became" {
	switches() {
		local i
		for i in "${!cc[@]}"; do
			[ "${cc[i]}" != -fno-jump-tables ] || case ${cc[0]} in clang*) unset "cc[i]" ;; esac
		done
		compile <<-'END'
			int ext(int);
			int first(int x) { return x; }
			NEW(const char *another(int x)
			{
				switch (x) {
				case 0: return "q"; case 1: return "w"; case 2: return "e";
				case 3: return "r"; case 4: return "t"; case 5: return "y";
				}
				return "z";
			})
			const char *name(int x)
			{
				switch (x) {
				case 0: return "zero"; case 1: return "one"; case 2: return OLD("two") NEW("TWO");
				case 3: return "three"; case 4: return "four"; case 5: return "five";
				}
				return "many";
			}
			const char *other(int x)
			{
				switch (x) {
				case 0: return "ZERO"; case 1: return "ONE"; case 2: return "deux";
				case 3: return "THREE"; case 4: return "FOUR"; case 5: return "FIVE";
				}
				return "MANY";
			}
			int number(int x)
			{
				switch (x) {
				case 0: return 10; case 1: return 11; case 2: return 77; case 3: return 99;
				case 4: return 1000; case 5: return OLD(33) NEW(34); case 6: return 7;
				}
				return 0;
			}
			int number2(int x)
			{
				switch (x) {
				case 0: return 20; case 1: return 11; case 2: return 77; case 3: return 99;
				case 4: return 1000; case 5: return 33; case 6: return 7;
				}
				return 0;
			}
		END
		diff_objects orig.o patched.o
		carries "name changed" "number changed" "another new"
		carries_data
		runs <<-'END'
			int main(void)
			{
				const char *(*name)(int) = changed(0);
				int (*number)(int) = changed(1);
				return !(equal(name(2), "TWO", 4) && equal(name(5), "five", 5) &&
					 number(5) == 34 && number(3) == 99);
			}
		END
	}
	with_all_compilers switches
}

@test "initial values of local arrays" {
	arrays() {
		compile <<-'END'
			int ext(int *);
			struct big { int a[20]; };
			NEW(int before(int i) { int t[] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 11, 12}; ext(t); return t[i]; })
			int f(int i) { int t[] = {1, 5, 3, 9, 100, OLD(1000) NEW(2000), 33, 44, 8, 77, 6}; ext(t); return t[i]; }
			int g(int i) { int t[] = {1, 5, 3, 9, 100, 1001, 33, 44, 8, 77, 6}; ext(t); return t[i]; }
			int h(int i) { struct big t = {{1, 2, 3, 4, 5, 6}}; ext(t.a); return t.a[i]; }
			int k(int i) { ext((int[]){3, 2, 1, i, 4, 4, 4, 5, 6, 7, 8, 8}); return 0; }
		END
		diff_objects orig.o patched.o
		carries "f changed" "before new"
		carries_data
	}
	with_all_compilers arrays
}

# clang keeps one of equal constants: f() refers to .rodata..L__const.g.s.
@test "equal constants of two functions, of which one changes" {
	equal_constants() {
		flags=(-msse2)
		compile <<-'END'
			struct s { int a[7]; };
			void use(struct s *);
			void f(void) { struct s s = {{1, 2, 3, 4, 5, 6, 7}}; use(&s); }
			void g(void) { struct s s = {{1, 2, 3, OLD(4) NEW(40), 5, 6, 7}}; use(&s); }
			void h(void) { struct s s = {{1, 2, 3, 4, 9, 6, 7}}; use(&s); }
		END
		diff_objects orig.o patched.o
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
	with_all_compilers equal_constants
}

@test "names that ThinLTO made global have another number each time" {
	promoted() {
		compile <<-'END'
			int ext(int);
			__attribute__((noinline)) int helper(int x) { return ext(x); }
			int count = 3;
			int f(int x) { return helper(x) + count + OLD(1) NEW(2); }
			int g(int x) { return helper(x) - count; }
		END
		objcopy --redefine-sym helper=helper.llvm.1111 --redefine-sym count=count.llvm.1111 orig.o
		objcopy --redefine-sym helper=helper.llvm.2222 --redefine-sym count=count.llvm.2222 patched.o
		diff_objects orig.o patched.o
		carries "f changed"
		carries_data
		undefined helper.llvm.1111 count.llvm.1111
	}
	with_all_compilers promoted
}

# gcc numbers clones in the order in which it makes them.  The kernel has them under the
# original's numbers.
@test "clones whose numbers changed" {
	renumbered() {
		case ${cc[0]} in clang*) return ;; esac
		flags=(-fipa-cp-clone --param ipa-cp-eval-threshold=1)
		compile <<-'END'
			int ext(int x) { return 2 * x; }
			static __attribute__((noinline)) int two(int x, int always)
			{
				return ext(x) * always + ext(always + x) / always;
			}
			int f(int x) { return two(x, 7); }
			int g(int x) { return two(x, 8) OLD(- 1) NEW(- 2); }
			int h(int x) { return two(x, 8); }
			int a(int x) { return OLD(two(x, 9)) NEW(ext(x)); }
		END
		same "the original's clones" "$(nm orig.o | grep -c ' two.constprop')" 3
		same "the patched object's" "$(nm patched.o | grep -c ' two.constprop')" 2
		diff_objects orig.o patched.o
		same "list of functions" "$(functions | sed '/^two/s/[.].*[.][0-9]*/.N/')" \
			"$(lines "a changed" "g changed" "two.N removed")"
		# It has another number in the patched object.
		runs <<-'END'
			int main(void)
			{
				int (*g)(int) = changed(0);
				return g(3) != 6 * 8 + 22 / 8 - 2;
			}
		END
	}
	with_all_compilers renumbered
}

# in_front_of FUNCTION OBJECT - the instructions of 16 bytes.
in_front_of() {
	objdump -d -z --no-show-raw-insn "$2" | awk -v name="<$1>:" '
		/^ / { sub(/^[^\t]*\t/, ""); lines[++count] = $0 }
		/^Disassembly/ || /<__cfi_/ { count = 0 }
		$2 == name { for (i = count > 16 ? count - 15 : 1; i <= count; i++) print lines[i] }'
}

# Kernels with call depth tracking, FineIBT or kCFI: NOPs or the hash of its type stand in front
# of a function, and the kernel rewrites or reads them there.
@test "what stands in front of a function goes with it" {
	in_front() {
		case ${cc[0]} in
		clang-13) flags=(-fpatchable-function-entry=16,16) ;; # it crashes with both
		clang-1[45]) flags=(-fcf-protection=branch -fpatchable-function-entry=16,16) ;;
		clang*) flags=(-fcf-protection=branch -fpatchable-function-entry=11,11 -fsanitize=kcfi) ;;
		gcc*) flags=(-fcf-protection=branch -fpatchable-function-entry=16,16) ;;
		esac
		compile <<-'END'
			int ext(int (*)(int), int);
			static __attribute__((noinline)) int helper(int x) { return ext(0, x) * 3; }
			NEW(static int more(int x) { return ext(0, x) * 5; })
			int f(int x) { return helper(x) + OLD(1) NEW(ext(more, 2)); }
			int g(int x) { return helper(x) + 1; }
			int (*table[])(int) = {f, g, helper};
			int call(int i, int x) { return table[i](x) + OLD(3) NEW(4); }
			int call2(int i, int x) { return table[i](x) + 3; }
			__attribute__((section(".sched.text"))) int s1(int x) { return helper(x) + 7; }
			__attribute__((section(".sched.text"))) int s2(int x) { return ext(s1, x) + OLD(7) NEW(8); }
		END
		diff_objects orig.o patched.o
		carries "f changed" "call changed" "more new" "s2 changed"
		carries_data
		local name
		for name in f call more s2; do
			in_front_of "$name" patched.o >wanted
			in_front_of "$name" "$out" >got
			[ "$(wc -l <wanted)" -ge 12 ]
			same "what is in front of $name" "$(<got)" "$(<wanted)"
		done
	}
	with_all_compilers in_front
}

@test "tables of jumps" {
	jumps() {
		local i
		for i in "${!cc[@]}"; do
			case ${cc[i]} in -fno-jump-tables | -mindirect-branch=* | -mretpoline*) unset "cc[i]" ;; esac
		done
		compile <<-'END'
			__attribute__((noinline)) int a(int x) { asm volatile("" : "+r"(x)); return x + 1; }
			__attribute__((noinline)) int b(int x) { asm volatile("" : "+r"(x)); return x + 2; }
			#define table(name, third, seventh) int name(int x) { switch (x) { \
				case 0: return a(x) * 7; case 1: return b(x) - 9; case 2: return third; \
				case 3: return b(x) * 11; case 4: return a(x) - 71; case 5: return a(3); \
				case 6: return seventh; default: return b(10); } }
			table(f, a(x) | 8, b(3) OLD(+ 1) NEW(+ 2))
			table(g, a(x) * 8, b(3))
			NEW(table(n, b(x) - 8, a(3)))
			table(h, b(x) * 8, b(3))
		END
		objdump -d --no-show-raw-insn -j .text.f orig.o | grep -q 'jmp  *\*' # there is one
		diff_objects orig.o patched.o
		carries "f changed" "n new"
		warned
		runs <<-'END'
			int main(void)
			{
				int (*f)(int) = changed(0);
				return !(f(6) == 7 && f(3) == 55 && f(0) == 7 && f(99) == 12);
			}
		END
	}
	with_all_compilers jumps
}
