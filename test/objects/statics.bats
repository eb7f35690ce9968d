# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Static variables of functions: which of the patched object's is which of the original's.

load helpers

inlined_once() {
	compare <<-'END'
		int ext(int), more(int);
		static OLD(inline __attribute__((always_inline))) NEW(__attribute__((noinline)))
		int flush(int x)
		{
			static int cpus = 5;
			return ext(x) + cpus++ NEW(+ more(x) * more(x + 1));
		}
		int other(int x) { static int cpus = 6; return x + cpus++; }
		int f(int x) { return flush(x) * 3; }
	END
	carries "f changed" "flush new"
	carries_data
	undefined "$(original_static 5)"
	refers .text.flush "$(original_static 5)"
}
@test "the function that declares it is inlined in the original only, gcc" { inlined_once; }
@test "the function that declares it is inlined in the original only, clang" {
	use_clang
	inlined_once
}

inlined_away() {
	compare <<-'END'
		int ext(int), more(int);
		static NEW(inline __attribute__((always_inline))) OLD(__attribute__((noinline)))
		int flush(int x) { static int cpus = 5; return ext(x) + cpus++; }
		int f(int x) { return flush(x) * 3; }
		int g(int x) { static int cpus = 6; return flush(x) * cpus++; }
	END
	carries "f changed" "g changed" "flush removed"
	carries_data
	undefined "$(original_static 5)" "$(original_static 6)"
	refers .text.f "$(original_static 5)"
}
@test "the function that declares it is inlined in the patched object only, gcc" { inlined_away; }
@test "the function that declares it is inlined in the patched object only, clang" {
	use_clang
	inlined_away
}

blocks_swap() {
	compare <<-'END'
		int one(int), two(int);
		int f(int x)
		{
			OLD(if (x == 1) { static int count; return one(count++); })
			if (x == 3) { static int count; return two(count++); }
			NEW(if (x == 1) { static int count; return one(count++ + 1); })
			return 0;
		}
		int get(int x) { return x; }
	END
	carries "f changed"
	carries_data
	runs <<-'END'
		int last1, last2;
		int one(int x) { return last1 = x; }
		int two(int x) { return last2 = x; }
		int f(int);
		int main(void)
		{
			int (*new)(int) = changed(0);

			f(1); f(1); f(1); f(3); /* of the original: 3 and 1 */
			new(1);
			new(3);
			return !(last1 == 4 && last2 == 1);
		}
	END
}
@test "two blocks with one of the same name change places, gcc" { blocks_swap; }
@test "two blocks with one of the same name change places, clang" { use_clang; blocks_swap; }

cannot_be_told() {
	compare <<-'END'
		int f(int x)
		{
			OLD(if (x == 1) { static int count; return count++; })
			if (x == 3) { static int count; return count--; }
			NEW(if (x == 1) { static int count; return x + count++; })
			if (x == 4) { static int count; return count * 3; }
			return 0;
		}
	END
	same "exit status" "$exit_status" 2
	same "the reason" "$(jq -r '.refusals[].code' "$report" | sort -u)" static-ambiguous
}
@test "such blocks with nothing that tells them apart are refused, gcc" { cannot_be_told; }

other_function() {
	compare <<-'END'
		int f(int x)
		{
			if (x == 1) { static int count; return count++; }
			if (x == 3) { static int count; return count++; }
			return 0;
		}
		int g(int x) { return x + OLD(1) NEW(2); }
	END
	carries "g changed"
}
@test "a function that did not change tells its own apart, gcc" { other_function; }
@test "a function that did not change tells its own apart, clang" { use_clang; other_function; }

one_more() {
	compare <<-'END'
		int f(int x)
		{
			if (x == 1) { static int count = 5; return count++; }
			NEW(if (x == 2) { static int count = 6; return count++; })
			if (x == 3) { static int count = 7; return count++; }
			return 0;
		}
	END
	carries "f changed"
	carries_data "$(patched_static 6) new"
	refers .text.f "$(original_static 5)"
	refers .text.f "$(original_static 7)"
	runs <<-'END'
		int f(int);
		int main(void)
		{
			int (*new)(int) = changed(0);

			f(1); f(3); f(3);
			return !(new(1) == 6 && new(2) == 6 && new(3) == 9);
		}
	END
}
@test "one more of the name between two, told by initial values, gcc" { one_more; }
@test "one more of the name between two, told by initial values, clang" { use_clang; one_more; }

values_swap() {
	compare <<-'END'
		int f(int x)
		{
			if (x == 1) { static int count = OLD(5) NEW(7); return count++; }
			if (x == 3) { static int count = OLD(7) NEW(5); return count++ * 3; }
			return 0;
		}
	END
	same "exit status" "$exit_status" 2
	same "the reason" "$(jq -r '.refusals[].code' "$report" | sort -u)" data-changed
}
@test "two initial values that change places are changed data, gcc" { values_swap; }
@test "two initial values that change places are changed data, clang" { use_clang; values_swap; }

by_type() {
	compare <<-'END'
		struct one { int a, b; }; struct two { int c, d; };
		int f(int x)
		{
			OLD(if (x == 1) { static struct one state; return state.a++ + state.b--; })
			if (x == 3) { static struct two state; return state.c++ + state.d--; }
			NEW(if (x == 1) { static struct one state; return state.a++ + state.b-- + 1; })
			return 0;
		}
	END
	carries "f changed"
	carries_data
	runs <<-'END'
		int f(int);
		int main(void)
		{
			int (*new)(int) = changed(0);

			f(1); f(1); /* 2, -2 */
			new(1);
			return !(f(1) == 0 && new(1) == 1 && new(3) == 0);
		}
	END
}
@test "types tell variables of one name apart, gcc" { by_type; }
@test "types tell variables of one name apart, clang" { use_clang; by_type; }

type_changes() {
	compare <<-'END'
		int f(int x) { static OLD(int) NEW(long) count; return count++; }
		int g(int x) { static int count; return count++; }
	END
	same "exit status" "$exit_status" 2
	same "the reason" "$(jq -r '.refusals[].code' "$report" | sort -u)" data-size
}
@test "one whose type grows is data of another size, gcc" { type_changes; }
@test "one whose type grows is data of another size, clang" { use_clang; type_changes; }

moved() {
	compare <<-'END'
		int f(int x) { OLD(static int count; x += count++;) return x; }
		int g(int x) { NEW(static int count; x += count++;) return x; }
	END
	same "exit status" "$exit_status" 2
	same "the reason" "$(jq -r '.refusals[].code' "$report" | sort -u)" static-ambiguous
}
@test "gone in one function and new in another is refused, clang" { use_clang; moved; }

other_type_elsewhere() {
	compare <<-'END'
		int f(int x) { OLD(static int count; x += count++;) return x; }
		int g(int x) { NEW(static long count = 3; x += count++;) return x; }
	END
	carries "f changed" "g changed"
	same "list of data" "$(data | awk '{ print $2 }' | sort)" $'new\nremoved'
}
@test "gone in one function and, of another type, new in another, gcc" { other_type_elsewhere; }
@test "gone in one function and, of another type, new in another, clang" {
	use_clang
	other_type_elsewhere
}

renumbered() {
	compare <<-'END'
		void p(const char *, void *);
		NEW(int before(void) { static int count = 70; { static int count = 71; p("", &count); }
			return count++; })
		int f(void) { static int count = 5; static char __key; p(__func__, &__key); return count++ NEW(+ 1); }
		int g(void) { static int count = 6; static char __key; p(__func__, &__key); return count++; }
	END
	carries "before new" "f changed"
	undefined "$(original_static 5)"
	absent "$(original_static 6)"
}
@test "others of the name in front, clang" { use_clang; renumbered; }

literals() {
	compare <<-'END'
		struct s { int a; const int *list; };
		NEW(const struct s before = {9, (const int[]){90, 91}};)
		const struct s one = {1, (const int[]){10, 11}};
		const struct s two = {2, (const int[]){20, 21}};
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	carries "f changed"
}
@test "compound literals, which are numbered, gcc" { literals; }
@test "compound literals, which are numbered, clang" { use_clang; literals; }

@test "without debug information, by who uses them" {
	flags=(-g0)
	compare <<-'END'
		NEW(int before(void) { static int count = 70; return count++; })
		int f(void) { static int count = 5; return count++ NEW(+ 1); }
		int g(void) { static int count = 6; return count++; }
	END
	carries "before new" "f changed"
	undefined "$(original_static 5)"
}

# What NL_SET_ERR_MSG() makes.
messages() {
	cat <<-'END'
		const char *message;
		int more(int);
		#define SET_MESSAGE(text) do { static const char __msg[] = text; message = __msg; } while (0)
	END
}

equal_texts() {
	compare < <(
		messages
		cat <<-'END'
			int f(int x)
			{
				if (x == 1) { SET_MESSAGE("Invalid scope"); return more(x); }
				if (x == 3) { SET_MESSAGE("Invalid scope"); return more(x); }
				if (x OLD(==) NEW(>) 7) { SET_MESSAGE("Invalid prefix"); return more(x); }
				return 0;
			}
		END
	)
	carries "f changed"
	carries_data
	runs <<-'END'
		extern const char *message;
		int more(int x) { return message[8] == (x > 7 ? 'p' : 's'); }
		int f(int);
		int main(void)
		{
			int (*new)(int) = changed(0);

			return !(new(1) && new(3) && new(8) && !new(7));
		}
	END
}
@test "constant texts that are equal are each other, gcc" { equal_texts; }
@test "constant texts that are equal are each other, clang" { use_clang; equal_texts; }

new_text() {
	compare < <(
		messages
		cat <<-'END'
			int f(int x)
			{
				if (x == 1) { SET_MESSAGE("Invalid scope"); return more(x); }
				if (x == 3) { SET_MESSAGE(OLD("Wrong prefix") NEW("Invalid prefix")); return more(x); }
				return 0;
			}
			int g(int x) { SET_MESSAGE("Invalid scope"); return more(x); }
		END
	)
	carries "f changed"
	same "what of the data is told" "$(data | sed 's/.* //' | sort)" "new"$'\n'removed
	runs <<-'END'
		extern const char *message;
		int more(int x) { return message[8] == (x == 3 ? 'p' : 's'); }
		int f(int);
		int main(void)
		{
			int (*new)(int) = changed(0);

			return !(new(1) && new(3) && !f(3));
		}
	END
}
@test "a constant text that changed is a new one, gcc" { new_text; }
@test "a constant text that changed is a new one, clang" { use_clang; new_text; }

renamed() {
	compare <<-'END'
		int ext(int);
		NEW(static int count = 5;)
		int f(int x) { OLD(static int count = 5;) return ext(x) + count++; }
	END
	refused "static-renamed count"
}
@test "a function's static variable that becomes the file's, gcc" { renamed; }
@test "a function's static variable that becomes the file's, clang" {
	use_clang
	renamed
}

@test "a static variable that is renamed, and grows" {
	compare <<-'END'
		int ext(int);
		static OLD(int calls) NEW(long all_calls);
		int f(int x) { return ext(x) + OLD(calls++) NEW(all_calls++); }
		int g(int x) { return ext(x) * OLD(calls++) NEW(all_calls++); }
	END
	refused "static-renamed all_calls"
}

@test "a static variable that goes, and one that comes, in other functions" {
	compare <<-'END'
		int ext(int);
		int f(int x) { OLD(static int calls;) return ext(x) OLD(+ calls++) NEW(* 3); }
		int g(int x) { NEW(static int fresh;) return ext(x) NEW(+ fresh++); }
	END
	carries "f changed" "g changed"
}

@test "a global variable that is renamed, and one that becomes static" {
	compare <<-'END'
		int ext(int);
		int OLD(calls) NEW(all_calls) = 3;
		int f(int x) { return ext(x) + OLD(calls++) NEW(all_calls++); }
	END
	refused "static-renamed all_calls"
	compare <<-'END'
		int ext(int);
		OLD(int calls) NEW(static int own_calls);
		int f(int x) { return ext(x) + OLD(calls++) NEW(own_calls++); }
	END
	refused "static-renamed own_calls"
}

# The code that moved has the state; what stays gets a new variable of the same name and type.
moved_and_another() {
	compare <<-'END'
		int one(int), two(int);
		NEW(static __attribute__((noinline)) int h(int x)
		{
			static int count;
			count += 3;
			return count * x;
		})
		int f(int x)
		{
			static int count;
			OLD(count += 3; return two(count * x);)
			NEW(int y = h(x); count ^= one(y); return y;)
		}
		int get(int x) { return x; }
	END
	same "exit status" "$exit_status" 2
	same "the reason" "$(jq -r '.refusals[].code' "$report" | sort -u)" static-ambiguous
}
@test "the code of a variable moves, and another gets its name, gcc" { moved_and_another; }
@test "the code of a variable moves, and another gets its name, clang" {
	use_clang
	moved_and_another
}

# An unchanged function tells that its variable is the old one.
another_of_its_name() {
	compare <<-'END'
		int one(int), two(int);
		NEW(int h(int x)
		{
			static int count;
			count += 3;
			return count * x;
		})
		int f(int x) { static int count = 7; count += x; return count; }
		int get(int x) { return x OLD(+ 1); }
	END
	carries "get changed" "h new"
}
@test "a new function has a variable of an unchanged one's name, gcc" { another_of_its_name; }
@test "a new function has a variable of an unchanged one's name, clang" {
	use_clang
	another_of_its_name
}

@test "a static variable that is renamed, and whose code moves to a new function, or out of one that goes" {
	compare <<-'END'
		int one(int), two(int);
		static int OLD(seq) NEW(next_seq) = 5;
		NEW(static __attribute__((noinline)) int take(void) { int r = next_seq++; two(r); return r; })
		int f(int x) { OLD(int r = seq++; two(r);) NEW(int r = take();) return one(x + r); }
	END
	same "exit status" "$exit_status" 2
	same "the reasons" "$(jq -r '.refusals[] | .code + " " + .subject' "$report")" "static-renamed next_seq"
	compare <<-'END'
		int one(int), two(int);
		static int OLD(seq) NEW(next_seq) = 5;
		OLD(static __attribute__((noinline)) int take(void) { int r = seq++; two(r); return r; })
		int f(int x) { NEW(int r = next_seq++; two(r);) OLD(int r = take();) return one(x + r); }
	END
	same "exit status" "$exit_status" 2
	same "the reasons" "$(jq -r '.refusals[] | .code + " " + .subject' "$report")" "static-renamed next_seq"
}

@test "a variable that was read-only since boot is not one that new code may write" {
	compare <<-'END'
		#define sealed __attribute__((section(".data..ro_after_init")))
		int ext(int);
		static int limit OLD(sealed) = 100;
		static int other NEW(sealed) = 100;
		int set(int x) { NEW(limit = x;) return ext(x) + limit; }
		int get(int x) { return ext(x) NEW(+ 1) + other; }
	END
	same "exit status" "$exit_status" 2
	same "the reasons" "$(jq -r '.refusals[] | .code + " " + .subject' "$report")" "data-changed limit"
}

@test "the cold part of a function that has its name from an alias" {
	compare <<-'END'
		int ext(int), ext2(int), printk(const char *, ...);
		void bad(int) __attribute__((cold));
		static long body(int x);
		long entry(int x) __attribute__((alias("body")));
		static long body(int x)
		{
			int a = ext(x);
			if (__builtin_expect(a < 0, 0)) { bad(a); printk("%d", a); a = 7; }
			return OLD(ext) NEW(ext2)(a) + 1;
		}
	END
	carries "entry changed"
	same "the cold part" "$(symbol entry.cold)" "LOCAL here"
}
