# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the author of a patch allows and ignores, by options and in the source.

load helpers

with_header() {
	flags=(-idirafter "$top/core-module/include")
	compile
}

# allowed "CODE SUBJECT"... - exactly these refusals were allowed, and told as warnings.
allowed() {
	same "what was allowed" "$(jq -r '.refusals[] | select(.allowed and .warning) |
		.code + " " + .subject' "$report" | LC_ALL=C sort)" "$(lines "$@")"
	local item
	for item in "$@"; do
		grep -q ": warning \[${item%% *}\]: allowed: " "$errors"
	done
}

changes() {
	cat <<-'END'
		int a = OLD(1) NEW(2), b = OLD(3) NEW(4);
		int __attribute__((section(".init.text"))) i(int x) { return OLD(1) NEW(2); }
		int f(int x) { return x + a + b + OLD(1) NEW(2); }
	END
}

@test "an option allows one, or all of a code" {
	compile < <(changes)
	diff_objects orig.o patched.o --allow data-changed:a --allow init-changed
	refused "data-changed b"
	allowed "data-changed a" "init-changed i"
	diff_objects orig.o patched.o --allow data-changed --allow init-changed:i
	carries "f changed"
	allowed "data-changed a" "data-changed b" "init-changed i"
	# The live variable stays.
	undefined a b
}

@test "the source allows" {
	{
		changes
		cat <<-'END'
			NEW(
			#include <pokepatch_patch.h>
			POKEPATCH_ALLOW("data-changed");
			POKEPATCH_ALLOW("init-changed:i");
			)
		END
	} | sed 's/^NEW($/#ifdef PATCHED/; s/^)$/#endif/' >case.c
	with_header <case.c
	diff_objects orig.o patched.o
	carries "f changed"
	allowed "data-changed a" "data-changed b" "init-changed i"
	has_sections .text.f __mcount_loc
}

@test "what is allowed in vain" {
	compile < <(changes)
	diff_objects orig.o patched.o --allow data-changed --allow init-changed:j --allow init-changed \
		--allow section-changed
	carries "f changed"
	grep -qx -- "--allow: warning \[allow-unused\]: 'init-changed:j' is allowed, but nothing was refused for it" \
		"$errors"
	same "how many" "$(grep -c allow-unused "$errors")" 2
}

@test "what cannot be allowed, and what is no code" {
	compile < <(changes)
	diff_objects orig.o patched.o --allow no-entry
	fails 1 "--allow no-entry: 'no-entry' cannot be allowed"
	diff_objects orig.o patched.o --allow nonsense:f
	fails 1 "--allow nonsense:f: there is no code 'nonsense'"
	diff_objects orig.o patched.o --allow data-changed:
	fails 1 "no subject"
	with_header <<-'END'
		#ifdef PATCHED
		#include <pokepatch_patch.h>
		POKEPATCH_ALLOW("no-entry");
		POKEPATCH_NOTE_("please");
		#endif
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	diff_objects orig.o patched.o
	refused "note-unknown allow no-entry" "note-unknown please"
}

@test "functions and sections that are ignored" {
	with_header <<-'END'
		#ifdef PATCHED
		#include <pokepatch_patch.h>
		POKEPATCH_IGNORE_FUNCTION(f);
		POKEPATCH_IGNORE_SECTION(".modinfo");
		POKEPATCH_IGNORE_SECTION("odd_section");
		POKEPATCH_IGNORE_FUNCTION(same);
		POKEPATCH_IGNORE_FUNCTION(at_boot);
		POKEPATCH_IGNORE_FUNCTION(nobody);
		#endif
		static const char __attribute__((section(".modinfo"), used)) __UNIQUE_ID_x1[] = OLD("a") NEW("b");
		NEW(static const char __attribute__((section(".modinfo"), used)) __UNIQUE_ID_y1[] = "c";)
		NEW(int __attribute__((section("odd_section"), used)) odd = 1;)
		int __attribute__((noipa)) f(int x) { return x + OLD(1) NEW(2); }
		int __attribute__((noipa)) same(int x) { return x; }
		int __attribute__((section(".init.text"))) at_boot(int x) { return x + OLD(1) NEW(2); }
		int g(int x) { return f(x) + same(x) + OLD(1) NEW(2); }
	END
	diff_objects orig.o patched.o
	carries "g changed"
	undefined f
	warned "allow-unused nobody" "allow-unused same"
}

@test "notes of macros for kpatch" {
	with_header <<-'END'
		#ifdef PATCHED
		#include <pokepatch_patch.h>
		POKEPATCH_NOTE_("kpatch KPATCH_FORCE_UNSAFE fs/f.c:7 f");
		#endif
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	diff_objects orig.o patched.o
	carries "f changed"
	warned "force-ignored f"
	grep -q '^fs/f.c:7: warning \[force-ignored\]: KPATCH_FORCE_UNSAFE(f) is not followed: ' "$errors"
	with_header <<-'END'
		#ifdef PATCHED
		#include <pokepatch_patch.h>
		POKEPATCH_NOTE_("kpatch KPATCH_LOAD_HOOK fs/f.c:8 f");
		POKEPATCH_NOTE_("kpatch KPATCH_OTHER fs/f.c:9 f");
		POKEPATCH_NOTE_("kpatch KPATCH_FORCE_UNSAFE fs/f.c:9");
		POKEPATCH_NOTE_("kpatch ");
		#endif
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	diff_objects orig.o patched.o
	refused "note-unknown KPATCH_FORCE_UNSAFE fs/f.c:9" "note-unknown KPATCH_OTHER fs/f.c:9 f" \
		"note-unknown f" "note-unknown "
	grep -q '^fs/f.c:8: refused \[note-unknown\]: KPATCH_LOAD_HOOK(f) would run while all CPUs are stopped' "$errors"
}

# callbacks_are "KIND FUNCTION"...
callbacks_are() {
	same "the callbacks" "$(jq -r '.callbacks[] | .kind + " " + .function' "$report" | LC_ALL=C sort)" \
		"$(lines "$@")"
}

@test "callbacks are new functions of the file, one of each kind" {
	with_header <<-'END'
		int __attribute__((noipa)) f(int x) { return x + OLD(1) NEW(2); }
		#ifdef PATCHED
		#include <pokepatch_patch.h>
		static int mine(const struct pokepatch_parent *p) { return f(3); }
		static void both(const struct pokepatch_parent *p) { f(4); }
		POKEPATCH_PRE_PATCH(mine);
		POKEPATCH_POST_PATCH(both);
		POKEPATCH_POST_UNPATCH(both);
		#endif
	END
	diff_objects orig.o patched.o
	carries "f changed" "both new" "mine new"
	callbacks_are "post-patch both" "post-unpatch both" "pre-patch mine"
	# Three rows: the function, its object, which a bare pair leaves open, and the kind.
	same "rows" "$(size_of .pokepatch.callbacks)" 48
	refers .pokepatch.callbacks mine
	refers .pokepatch.callbacks both
}

@test "what cannot be a callback" {
	with_header <<-'END'
		struct pokepatch_parent;
		int __attribute__((noipa)) f(int x) { return x + OLD(1) NEW(2); }
		int __attribute__((noipa)) there(const struct pokepatch_parent *p) { return 1; }
		int __attribute__((noipa)) changed(const struct pokepatch_parent *p) { return OLD(1) NEW(2); }
		#ifdef PATCHED
		#include <pokepatch_patch.h>
		extern int elsewhere(const struct pokepatch_parent *p);
		static int one(const struct pokepatch_parent *p) { return f(3); }
		static int two(const struct pokepatch_parent *p) { return f(4); }
		POKEPATCH_PRE_PATCH(there);
		POKEPATCH_PRE_PATCH(changed);
		POKEPATCH_PRE_PATCH(elsewhere);
		POKEPATCH_PRE_PATCH(one);
		POKEPATCH_PRE_PATCH(two);
		#endif
	END
	diff_objects orig.o patched.o
	refused "callback-not-new changed" "callback-not-new elsewhere" "callback-not-new there" \
		"callback-twice $(jq -r '.refusals[] | select(.code == "callback-twice").subject' "$report")"
	grep -q "unit.c:[0-9]*: refused \[callback-not-new\]: 'there' is named as pre-patch callback, and is no new function of this file; " "$errors"
	grep -q "unit.c:[0-9]*: refused \[callback-twice\]: '\(one\|two\)' would be a second pre-patch callback, beside '\(one\|two\)'" "$errors"
	with_header <<-'END'
		int f(int x) { return x + OLD(1) NEW(2); }
		#ifdef PATCHED
		#include <pokepatch_patch.h>
		static int one(const struct pokepatch_parent *p) { return 3; }
		POKEPATCH_CALLBACK_(9, pre_patch, may_fail, one);
		#endif
	END
	diff_objects orig.o patched.o
	refused "note-unknown .pokepatch.notes.callbacks"
}

@test "a function that is ignored is not replaced for a callee without an entry" {
	with_header <<-'END'
		#ifdef PATCHED
		#include <pokepatch_patch.h>
		POKEPATCH_IGNORE_FUNCTION(f);
		#endif
		void ext(int);
		static int __attribute__((noipa, no_instrument_function)) helper(int x) { return x * 77 + OLD(1) NEW(2); }
		void f(int x) { ext(helper(x) OLD(+ 1) NEW(+ 4444)); }
		void g(int x) { ext(helper(x)); }
	END
	diff_objects orig.o patched.o
	carries "helper changed"
	with_header <<-'END'
		#ifdef PATCHED
		#include <pokepatch_patch.h>
		POKEPATCH_IGNORE_FUNCTION(f);
		#endif
		void ext(int);
		static void __attribute__((noipa, no_instrument_function)) calls(int x) { ext(x + OLD(1) NEW(2)); }
		void f(int x) { calls(x); ext(OLD(1) NEW(4444)); }
	END
	diff_objects orig.o patched.o
	refused "no-entry calls"
	grep -q "the diff leaves a caller as it is, f" "$errors"
}
