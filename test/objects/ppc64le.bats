# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What is special about ppc64le's objects: two entries, the TOC and its pointer, feature fixups.

load helpers

setup_ppc() {
	machine ppc64le gcc-12
}

@test "ppc64le: the entry is the call of _mcount at the local entry" {
	setup_ppc
	compare <<-'END'
		extern int ext(int);
		int table[4] = {1, 2, 3};
		int f(int x) { return ext(x) + table[OLD(1) NEW(2)]; }
		int without(int x) { return x + 1; }
		int g(int x) { return without(x); }
	END
	carries "f changed"
	undefined ext table _mcount
	relocs .text.f | grep -qx '0 R_PPC64_REL16_HA .TOC. +0'
	readelf -sW "$out" | grep -q 'FUNC .*<localentry>: 8.* f$'
	compare <<-'END'
		__attribute__((no_instrument_function)) int f(int x) { return x + OLD(1) NEW(2); }
	END
	refused "no-entry f"
}

# As modules are: the distance to the TOC stands before each function.
@test "ppc64le: functions of the large model" {
	setup_ppc
	flags=(-mcmodel=large)
	compare <<-'END'
		#define noinstr __attribute__((section(".noinstr.text"), noinline, noclone))
		extern int ext(int), table[];
		static int count;
		NEW(static __attribute__((noinline, noclone)) int helper(int x) { return ext(x) + 1; })
		int f(int x) { count += x; return ext(count) + table[OLD(1) NEW(2)] NEW(+ helper(1)); }
		int g(int x) { return ext(x) - count; }
		noinstr int one(int x) { return ext(x) + 4; }
		noinstr int two(int x) { return ext(x) + OLD(5) NEW(6) + table[0]; }
	END
	carries "f changed" "helper new" "two changed"
	same "the distance" "$(relocs .text.f | head -1)" "0 R_PPC64_REL64 .TOC. -8"
	readelf -sW "$out" | grep -q '0000000000000008 .*FUNC .*<localentry>: 8.* f$'
	runs <<-'END'
		int table[] = {10, 20, 30};
		int ext(int x) { return x * 2; }
		int main(void)
		{
			return ((int (*)(int))changed(0))(4) != 8 + 30 + 3 ||
			       ((int (*)(int))changed(1))(4) != 8 + 6 + 10;
		}
	END
	compare <<-'END'
		extern int ext(int);
		int f(int x) { return ext(x) + 1; }
		int g(int x) { return ext(x) - 1; }
	END
	nothing_differs
}

# gcc leaves room to restore r2 only where it takes the callee for another unit's.
@test "ppc64le: a call without a NOP, and a jump, to what stays in the kernel" {
	setup_ppc
	compare <<-'END'
		extern int ext(int);
		static __attribute__((noinline, noclone)) int near(int x) { return ext(x) + 1; }
		int f(int x) { return near(x) * OLD(3) NEW(5); }
		int g(int x) { return ext(x) * 7; }
	END
	refused "local-call f"
	grep -q "the call from 'f' to 'near'" "$errors"
	compare <<-'END'
		extern int ext(int), other(int);
		int f(int x) { return OLD(ext) NEW(other)(x + 1); }
	END
	[ "$exit_status" = 0 ] || refused "sibling-call f"
	compare <<-'END'
		extern int ext(int);
		int f(int x) { asm volatile("b ext"); return x + OLD(1) NEW(2); }
	END
	refused "sibling-call f"
}

# With the NOP it is as good as any other: test/pairs/ppc-as puts one behind each call.
@test "ppc64le: a local call with a NOP" {
	setup_ppc
	cc+=("-B$top/test/pairs/ppc-as/")
	compare <<-'END'
		extern int ext(int);
		static __attribute__((noinline, noclone)) int near(int x) { return ext(x) + 1; }
		int f(int x) { return near(x) * OLD(3) NEW(5); }
	END
	carries "f changed"
	undefined near
	runs <<-'END'
		int ext(int x) { return x * 2; }
		int main(void) { return ((int (*)(int))changed(0))(4) != 45; }
	END
}

# Both call the neighbour at its local entry, eight bytes behind its symbol.
@test "ppc64le: calls that the assembler resolved to local entries" {
	setup_ppc
	compare <<-'END'
		asm(".section .sched.text,\"ax\"\n"
		    ".macro func name\n.type \\name, @function\n\\name: addis 2, 12, .TOC.-\\name@ha\n"
		    "addi 2, 2, .TOC.-\\name@l\n.localentry \\name, .-\\name\n.endm\n"
		    "func a\nli 3, 1\nblr\n.size a, .-a\n"
		    "func b\nli 3, 2\nblr\n.size b, .-b\n"
		    ".globl t, u, v\n"
		    "func t\nbeq " OLD("a+8") NEW("b+8") "\nblr\n.size t, .-t\n"
		    "func u\nb " OLD("a+8") NEW("b+8") "\n.size u, .-u\n"
		    "func v\nbne a+8\nb b+8\n.size v, .-v\n"
		    ".text");
	END
	refused "no-entry t" "no-entry u" "sibling-call u"
}

# asm/feature-fixups.h; struct fixup_entry.
fixups='
#define STR_(x) #x
#define STR(x) STR_(x)
#define FTR(code, other, mask, table) asm volatile( \
	"971:\n" code "\n972:\n.pushsection __ftr_alt_97,\"a\"\n.align 2\n973:\n" other "\n974:\n" \
	".popsection\n.pushsection " table ",\"a\"\n.align 3\n975:\n.8byte " STR(mask) "\n" \
	".8byte 0\n.8byte 971b-975b\n.8byte 972b-975b\n.8byte 973b-975b\n.8byte 974b-975b\n.popsection")
'

@test "ppc64le: feature fixups with and without an alternative" {
	setup_ppc
	compare <<-END
		$fixups
		extern int ext(int);
		int same(int x) { FTR("nop", "isync", 4, "__ftr_fixup"); FTR("nop", "", 4, "__mmu_ftr_fixup"); return ext(x); }
		int plain(int x) { FTR("nop", "isync", 4, "__ftr_fixup"); return ext(x) + OLD(1) NEW(2); }
		int other(int x) { FTR("nop", OLD("isync") NEW("sync"), 4, "__ftr_fixup"); return ext(x) + 3; }
		int mask(int x) { FTR("nop", "", OLD(4) NEW(8), "__mmu_ftr_fixup"); return ext(x) + 4; }
		int empty(int x) { FTR("nop", "", 4, "__fw_ftr_fixup"); return ext(x) + OLD(5) NEW(6); }
	END
	carries "plain changed" "other changed" "mask changed" "empty changed"
	same "entries" "$(size_of __ftr_fixup) $(size_of __mmu_ftr_fixup) $(size_of __fw_ftr_fixup)" \
		"96 48 48"
	same "alternatives" "$(size_of __ftr_alt_97)" $'4\n4'
	# Relative to the entry, not to the field.
	same "start and end of the code" "$(relocs __fw_ftr_fixup | sed -n 1,2p | awk '{ print $1, $2, $3 }')" \
		$'10 R_PPC64_REL64 .text.empty\n18 R_PPC64_REL64 .text.empty'
	local addends
	mapfile -t addends < <(relocs __fw_ftr_fixup | awk '{ print substr($4, 2) }')
	same "distance of both" $((16#${addends[1]} - 16#${addends[0]})) $((8 + 4))
}

@test "ppc64le: tables of places that are patched for barriers" {
	setup_ppc
	compare <<-'END'
		#define PLACE(table) asm volatile("951: nop\nnop\nnop\n.pushsection " table ",\"a\"\n" \
			".align 2\n952: .8byte 951b-952b\n.popsection")
		extern int ext(int);
		int same(int x) { PLACE("__lwsync_fixup"); return ext(x); }
		int f(int x) { PLACE("__lwsync_fixup"); PLACE("__barrier_nospec_fixup"); return ext(x) + OLD(1) NEW(2); }
		int late(int x) { OLD() NEW(PLACE("__barrier_nospec_fixup");) return ext(x) + 4; }
	END
	carries "f changed" "late changed"
	same "entries" "$(size_of __lwsync_fixup) $(size_of __barrier_nospec_fixup)" "8 16"
}

@test "ppc64le: bug, exception and jump tables" {
	setup_ppc
	compare <<-'END'
		#define STR_(x) #x
		#define STR(x) STR_(x)
		#define BUG(line) asm volatile("1: twi 31, 0, 0\n.section __bug_table,\"aw\"\n" \
			"2: .4byte 1b - .\n.4byte %0 - .\n.short " STR(line) ", 0\n.org 2b+12\n.previous" \
			:: "i"("file.c"))
		#define ACCESS(p) asm volatile("1: lwz 0, 0(%0)\n2:\n.section .fixup,\"ax\"\n" \
			"3: li %0, 1\nb 2b\n.previous\n.section __ex_table,\"a\"\n.balign 4\n" \
			".long 1b - .\n.long 3b - .\n.previous" : "+b"(p) :: "r0")
		#define WARN(to) asm goto("1: tdnei %0, 0\n.section __ex_table,\"a\"\n.balign 4\n" \
			".long 1b - .\n.long %l[" #to "] - .\n.previous" :: "r"(x) :: to)
		extern struct key { long a, b; } key, other;
		extern int ext(int);
		static inline __attribute__((always_inline)) int branch(struct key *key)
		{
			asm goto("1: nop\n.pushsection __jump_table,\"aw\"\n.long 1b - ., %l[yes] - .\n"
				 ".8byte %c0 - .\n.popsection" :: "i"((char *)key + 1) :: yes);
			return 0;
		yes:	return 1;
		}
		int line(int x) { BUG(OLD(10) NEW(11)); return ext(x) + 1; }
		int bug(int x) { BUG(20); return ext(x) + OLD(1) NEW(2); }
		int access(int *x) { ACCESS(x); return ext(OLD(2) NEW(3)) + 1; }
		int warn(int x) { WARN(out); return ext(OLD(2) NEW(3)) + 1; out: return 5; }
		int stays(int *x) { ACCESS(x); BUG(7); return branch(&key) ? ext(3) + 1 : 9; }
		int jump(int x) { return branch(OLD(&key) NEW(&other)) ? ext(x) + 1 : 3; }
	END
	carries "bug changed" "access changed" "jump changed" "warn changed"
	same "bugs" "$(size_of __bug_table)" 12
	same "exceptions" "$(size_of __ex_table)" 16
	same "branches" "$(size_of __jump_table)" 16
	same "fixups" "$(size_of .fixup)" 8
	same "the key" "$(relocs __jump_table | awk '{ print $2, $3, $4 }' | tail -1)" \
		"R_PPC64_REL64 other +1"
}

# Pointers that code reads at their offset from the TOC pointer.
@test "ppc64le: the table of addresses" {
	setup_ppc
	compare <<-'END'
		extern int one, two, three;
		extern int ext(int);
		#define POINTER(name) ({ int *p; asm(".section .toc,\"aw\"\n1: .quad " name "\n" \
			".previous\naddis %0, 2, 1b@toc@ha\nld %0, 1b@toc@l(%0)" : "=b"(p)); p; })
		int f(int x) { return *POINTER(OLD("one") NEW("two")) + ext(1); }
		int g(int x) { return *POINTER("three") + ext(2); }
	END
	carries "f changed"
	undefined two
	absent one three
	same "the table" "$(size_of .toc)" 8
	runs <<-'END'
		int one = 1, two = 2, three = 3;
		int ext(int x) { return x * 100; }
		int main(void) { return ((int (*)(int))changed(0))(4) != 102; }
	END
}
