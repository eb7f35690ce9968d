# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the differ does not understand, or what cannot be patched, is refused by name.

load helpers

@test "an __init function that differs" {
	compare <<-'END'
		#define __init __attribute__((section(".init.text")))
		#define __initdata __attribute__((section(".init.data")))
		int __initdata a = OLD(1) NEW(2);
		int __init f(int x) { return a++ + OLD(1) NEW(2); }
		int __init same(int x) { static int __initdata count; return count++; }
		int __init same2(int x) { static int __initdata count; return count++; }
		int __attribute__((section(".exit.text"))) g(int x) { return OLD(1) NEW(2); }
		int h(int x) { return x + OLD(1) NEW(2); }
	END
	refused "init-changed a" "init-changed f" "init-changed g"
}

@test "__init functions that come and go" {
	compare <<-'END'
		#define __init __attribute__((section(".init.text")))
		OLD(int __init gone(int x) { return x; }) NEW(int __init fresh(int x) { return x; })
		int OLD(__init) a(int x) { return x; }
		int NEW(__init) b(int x) { return x; }
		int h(int x) { return x + OLD(1) NEW(2); }
	END
	refused "init-changed a" "init-changed b" "init-changed fresh" "init-changed gone"
}

@test "unchanged __init code does not hinder" {
	compare <<-'END'
		#define __init __attribute__((section(".init.text")))
		void p(const char *);
		NEW(void fresh(void) { static int count; count++; p("x"); })
		int __init f(int x) { p("text"); return x; }
		static void *call __attribute__((section(".initcall6.init"), used)) = f;
	END
	carries "fresh new"
}

exports() {
	cat <<-'END'
		#define EXPORT(sym, ns) asm( \
			".section \"__ksymtab_strings\", \"aMS\", %progbits, 1\n" \
			"__kstrtab_" #sym ": .asciz \"" #sym "\"\n__kstrtabns_" #sym ": .asciz \"" ns "\"\n" \
			".previous\n.section \"___ksymtab+" #sym "\", \"a\"\n.balign 4\n" \
			"__ksymtab_" #sym ": .long " #sym " - .\n.long __kstrtab_" #sym " - .\n" \
			".long __kstrtabns_" #sym " - .\n.previous")
	END
}

@test "exports stay as they are" {
	{
		exports
		cat <<-'END'
			int f(int x) { return x + OLD(1) NEW(2); }
			NEW(int in_front(void) { return 1; })
			int g(int x) { return x; }
			EXPORT(f, ""); EXPORT(g, "SPACE");
		END
	} >case.c
	compare <case.c
	carries "f changed" "in_front new"
	has_sections .text.f .text.in_front __mcount_loc
}

@test "new, removed and changed exports" {
	{
		exports
		cat <<-'END'
			int f(int x) { return x; } int g(int x) { return x; } int h(int x) { return x; }
			OLD(EXPORT(f, "");) NEW(EXPORT(g, "");)
			EXPORT(h, OLD("") NEW("SPACE"));
		END
	} >case.c
	compare <case.c
	refused "export-changed f" "export-changed h"
	warned "export-new g"
}

@test "unknown sections" {
	compare <<-'END'
		int odd __attribute__((section("odd_section"))) = 1;
		asm(".section odd_table, \"a\"\n.long 1\n.previous");
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	refused "section-unknown odd_section" "section-unknown odd_table"
	grep -q "^unit.c: refused \[section-unknown\]: section 'odd_section' is not known" "$errors"
}

@test "tables of the parent" {
	compare <<-'END'
		#define PARAM(n) __attribute__((section("__param"), used)) int n
		static PARAM(__param_a) = 1; static PARAM(__param_b) = OLD(1) NEW(2);
		static const char __attribute__((section(".modinfo"), used)) __UNIQUE_ID_license1[] = "license=GPL";
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	refused "section-changed __param_b"
	compare <<-'END'
		#define PARAM(n) __attribute__((section("__param"), used)) int n
		static PARAM(__param_a) = 1; NEW(static PARAM(__param_b) = 1;)
		int f(int x) { return x; }
	END
	refused "section-changed __param_b"
}

@test "new code that needs a new entry in one of the kernel's tables" {
	compare <<-'END'
		struct tracepoint { const char *name; };
		NEW(static struct tracepoint __attribute__((section("__tracepoints"), used)) __tracepoint_fresh = { "fresh" };)
		const char *f(int x) { return OLD(0) NEW(__tracepoint_fresh.name + x); }
	END
	refused "section-changed __tracepoint_fresh" "section-needed __tracepoint_fresh"
	grep -q "would be new in section '__tracepoints'; a new tracepoint cannot be carried" "$errors"
}

@test "an object that objtool has seen" {
	compare <<-'END'
		asm(".section .orc_unwind, \"a\"\n.long 1\n.previous");
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	refused "section-unknown .orc_unwind"
}

@test "sections without contents that should have some" {
	compare <<-'END'
		asm(".section .text.odd, \"ax\", @nobits\n.type odd, @function\nodd: .skip 8\n"
		    ".size odd, 8\n.previous");
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	refused "section-unknown .text.odd"
}

@test "unknown relocation types" {
	compare <<-'END'
		asm(".section .data.odd, \"aw\"\n.type odd, @object\nodd: .long foo@GOTPCREL\n.size odd, 4\n.previous");
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	refused "relocation-unknown .data.odd"
}

@test "thread-local, absolute and indirect symbols" {
	compare <<-'END'
		extern __thread int thread;
		int f(int x) { return x + thread + OLD(1) NEW(2); }
	END
	refused "relocation-unknown .text.f" "symbol-unknown thread"
	compare <<-'END'
		asm(".type indirect, @gnu_indirect_function\nindirect: ret");
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	refused "symbol-unknown indirect"
	compare <<-'END'
		asm("number = 5");
		int f(int x) { asm("call number"); return OLD(1) NEW(2); }
	END
	fails 2 "relocation 1 of section .text.f names symbol 0"
}

@test "data without a symbol" {
	compare <<-'END'
		asm(".section .data.asm, \"aw\"\nplace: .long 1\n.previous");
		extern int place;
		int f(int x) { return x + place + OLD(1) NEW(2); }
	END
	refused "symbol-unknown .data.asm"
}

@test "symbols that begin within others" {
	compare <<-'END'
		asm(".section .text.asm, \"ax\"\n.type a, @function\n.type b, @function\n"
		    "a: nop\nb: nop\nret\n.size a, . - a\n.size b, . - b\n.previous");
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	refused "symbol-unknown .text.asm"
}

@test "all reasons are told in one run, each once" {
	compare <<-'END'
		int a = OLD(1) NEW(2); int b = OLD(1) NEW(2);
		int __attribute__((section(".init.text"))) i(int x) { return OLD(1) NEW(2); }
		__attribute__((no_instrument_function)) int f(int x) { return x + OLD(1) NEW(2); }
	END
	refused "data-changed a" "data-changed b" "init-changed i" "no-entry f"
	same "lines on stderr" "$(wc -l <"$errors")" 4
}

# ---- references to a kernel -----------------------------------------------------------

# kernel NAME... - a pretended vmlinux that has _stext, a build id and orig.o's symbols.
kernel() {
	printf '%s\n' '.globl _stext, __fentry__, __x86_return_thunk, ext, key' '_stext:' '__fentry__:' \
		'__x86_return_thunk:' 'ext: ret' '.data' 'key: .quad 0' >start.s
	gcc-12 -c -o start.o start.s
	ld --build-id -Ttext=0x1000000 -o vmlinux start.o "$@" -e _stext 2>ld.err || {
		cat ld.err
		return 1
	}
}

@test "symbols of a vmlinux are named with their position" {
	compile <<-'END'
		int ext(int);
		static __attribute__((noipa)) int local(int x) { return ext(x) * 3; }
		static int counter = 3;
		int global(int x) { static int count = 4; return local(x) + counter++ + count++; }
		int f(int x) { return global(x) + local(x) + ext(x) + counter + OLD(1) NEW(2); }
	END
	cat >other.c <<-'END'
		static __attribute__((used)) int local(int x) { return x; }
	END
	"${cc[@]}" -o other.o other.c
	kernel other.o orig.o
	printf '0x12345678\text\tvmlinux\tEXPORT_SYMBOL\t\n' >symvers
	diff_objects orig.o patched.o --symtab vmlinux --symvers symvers
	carries "f changed"
	undefined ext
	same "symbols" "$(jq -r '.symbols[] | "\(.name) \(.parent) \(.position)"' "$report" | sort)" \
		"$(lines "__fentry__ vmlinux 1" "__x86_return_thunk vmlinux 1" "counter vmlinux 1" \
			"f vmlinux 1" "count.0 vmlinux 1" "local vmlinux 2")"
	same "the statics' names in the object" "$(nm -u "$out" | awk '{ print $2 }' |
		grep '^pokepatch\.' | sed 's/[0-9]*//g' | sort | tr '\n' ' ')" \
		"pokepatch..count. pokepatch..counter pokepatch..local "
	# symbol: an index into the list, the same as the report's order
	index=$((16#$(bytes .pokepatch.funcs | cut -c49-56 | sed 's/\(..\)\(..\)\(..\)\(..\)/\4\3\2\1/')))
	same "the old function" "$(jq -r ".symbols[$index].name" "$report")" f
}

@test "a static that this kernel does not have" {
	compile <<-'END'
		int ext(int);
		static int counter = 3;
		int data = OLD(1) NEW(2);
		int f(int x) { return ext(x) + counter++ + OLD(1) NEW(2); }
	END
	mv orig.o real.o && mv patched.o real-patched.o && mv unit.c real.c
	mkdir other && cd other || return 1
	compile <<-'END'
		int ext(int);
		int f(int x) { return ext(x); }
	END
	cd ..
	kernel other/orig.o
	diff_objects real.o real-patched.o --symtab vmlinux
	refused "data-changed data" "symbol-missing unit.c"
}

@test "a table of symbols that is none" {
	compile <<-'END'
		int f(int x) { return x + OLD(1) NEW(2); }
	END
	echo nothing >vmlinux
	diff_objects orig.o patched.o --symtab vmlinux
	fails 1 "vmlinux: not an ELF file"
	diff_objects orig.o patched.o --symtab missing
	fails 1 "missing: No such file or directory"
	diff_objects orig.o patched.o --symtab orig.o
	fails 1 "orig.o: no build id"
	echo "not a line" >symvers
	diff_objects orig.o patched.o --symvers symvers
	fails 1 "symvers:1: not a line of Module.symvers"
}

# module - a pretended module "unit.ko" that has orig.o's symbols.
module() {
	ld -r --build-id -o unit.ko orig.o
}

# The kernel makes a call's instruction when it loads the patch: for __SCK__other, which begins with none, a NOP is right.
@test "a static call that begins with a function of a module" {
	compile <<-'END'
		struct key { int (*func)(int); unsigned long type; };
		int first(int x) { return x + 3; }
		NEW(struct key __SCK__new = {first}, __SCK__other;)
		int f(int x) { return x + OLD(1) NEW(__SCK__new.func(x) + __SCK__other.func(x)); }
	END
	module
	diff_objects orig.o patched.o --symtab unit.ko
	refused "static-key-in-module __SCK__new"
}

@test "static keys of a module cannot be used, its tracepoints are left inert" {
	compile <<-'END'
		struct key { long a, b; };
		static struct key local_key;
		struct key __tracepoint_unit_event, global_key;
		static inline __attribute__((always_inline)) int branch(void *key)
		{
			asm goto("1: .byte 0x0f, 0x1f, 0x44, 0, 0\n"
				".pushsection __jump_table, \"aw\"\n.balign 8\n"
				".long 1b - ., %l[yes] - .\n.quad %c0 - .\n.popsection"
				: : "i"(key) : : yes);
			return 0;
		yes:
			return 1;
		}
		int f(int x) { return x + branch(&local_key) + OLD(1) NEW(2); }
		int g(int x) { return x + branch(&__tracepoint_unit_event) + OLD(1) NEW(2); }
		int h(int x) { return x + branch(&global_key) + local_key.a; }
	END
	module
	diff_objects orig.o patched.o --symtab unit.ko
	refused "static-key-in-module local_key"
	warned "tracepoint-inert __tracepoint_unit_event"

	sed 's/return x + branch(&local_key)/return x + branch(\&__tracepoint_unit_event) * 3/' unit.c >case.c
	compile <case.c
	module
	diff_objects orig.o patched.o --symtab unit.ko
	carries "f changed" "g changed"
	# objtool needs the entries; they name a key of the patch's own that stays off.
	[[ " $(sections | tr '\n' ' ') " == *" .data.inert_key "*" __jump_table "* ]]
	[[ "$(readelf -rW "$out")" != *__tracepoint_unit_event* ]]
	same "parents" "$(jq -r '.symbols[].parent' "$report" | sort -u)" unit
}

@test "new and changed symbols of a module are named within it" {
	compile <<-'END'
		extern int printk(const char *, ...);
		static int counter;
		__attribute__((noipa)) int exported(int x) { return x; }
		int f(int x) { printk("x"); return exported(x) + counter++ + OLD(1) NEW(2); }
	END
	module
	printf '%s\n' $'0x1\tprintk\tvmlinux\tEXPORT_SYMBOL\t' $'0x2\texported\tunit\tEXPORT_SYMBOL\t' >symvers
	diff_objects orig.o patched.o --symtab unit.ko --symvers symvers
	carries "f changed"
	# An ordinary reference to what the module exports would keep the patch from loading first.
	undefined printk
	absent exported counter
	same "symbols" "$(jq -r '.symbols[] | .name + " " + .parent' "$report" | sort)" \
		"$(lines "counter unit" "exported unit" "f unit")"
}

@test "static calls keep the key that objtool needs" {
	compile <<-'END'
		int f(int x)
		{
			asm("call __SCT__hidden; call __SCT__exported; call __SCT__tramp");
			return x + OLD(1) NEW(2);
		}
	END
	cat >keys.s <<-'END'
		.globl __SCT__hidden, __SCT__exported, __SCT__tramp, __SCK__hidden, __SCK__exported
		.globl __SCK__tramp
		__SCT__hidden: __SCT__exported: __SCT__tramp: ret
		.data
		__SCK__hidden: .quad 0
		__SCK__exported: .quad 0
		__SCK__tramp: .quad 0
	END
	gcc-12 -c -o keys.o keys.s
	kernel keys.o orig.o
	printf '0x1\t%s\tvmlinux\tEXPORT_SYMBOL\t\n' __SCT__exported __SCK__exported __SCT__tramp \
		>symvers
	diff_objects orig.o patched.o --symtab vmlinux --symvers symvers
	carries "f changed"
	undefined __SCT__hidden __SCT__exported __SCT__tramp __SCK__hidden __SCK__exported
	absent __SCK__tramp
}

@test "a call from an alternative to what is not exported goes by way of a jump" {
	compile <<-'END'
		int ext(int);
		#define ALTERNATIVE(old, new, feature) asm volatile("661: " old "\n662:\n" \
			".pushsection .altinstructions, \"a\"\n" \
			".long 661b - ., 663f - .\n.word %c0\n" \
			".byte 662b - 661b, 664f - 663f\n.popsection\n" \
			".pushsection .altinstr_replacement, \"ax\"\n663: " new "\n664:\n.popsection" \
			: : "i"(feature))
		int g(int x) { return ext(x); }
		int f(int x)
		{
			ALTERNATIVE("call g", "nop; nop; nop; nop; nop", 18);
			ALTERNATIVE("call exported", "call g", 19);
			asm volatile("call g");
			return x + OLD(1) NEW(2);
		}
	END
	printf '.globl exported\nexported: ret\n' >keys.s
	gcc-12 -c -o keys.o keys.s
	kernel keys.o orig.o
	printf '0x1\t%s\tvmlinux\tEXPORT_SYMBOL\t\n' exported >symvers
	diff_objects orig.o patched.o --symtab vmlinux --symvers symvers
	carries "f changed"
	veneer=pokepatch_veneer.g
	same "calls in the function" "$(relocs .text.f | awk '$3 !~ /__/ { print $3 }')" \
		"$(printf '%s\n' $veneer exported g)"
	same "calls in the replacements" "$(relocs .altinstr_replacement | awk '{ print $3 }')" $veneer
	same "the jump" "$(bytes .text.$veneer) $(relocs .text.$veneer)" \
		"e900000000 1 R_X86_64_PLT32 g -4"
}

@test "an init function of a module calls the old helper each time the module is loaded" {
	compile <<-'END'
		#define helper static int __attribute__((noipa, no_instrument_function))
		int ext(int);
		helper both(int x) { return ext(x) + OLD(1) NEW(2); }
		int __attribute__((section(".init.text"))) starts(int x) { return both(x); }
		int f(int x) { return both(x) + 3; }
	END
	module
	diff_objects orig.o patched.o --symtab unit.ko
	carries "both changed" "f changed"
	warned "init-inlined both"
	grep -q "'both', which has no patchable entry, is called by 'starts', .* whenever module unit is loaded" "$errors"
}
