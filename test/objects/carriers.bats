# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Changed functions without a patchable entry are carried by their callers.

load helpers

# As the kernel has it: "inline" says notrace, and a system call has two entries.
macros() {
	cat <<-'END'
		#define helper static __attribute__((no_instrument_function, noinline, noclone)) int
		int ext(int);
	END
}

# carried_by "NAME: CARRIER..."... - exactly these functions are carried, by those.
carried_by() {
	same "list of carried functions" "$(jq -r '.functions[] |
		select(.carried_by != null and (.carried_by | length > 0)) |
		.name + ": " + (.carried_by | join(" "))' "$report" | LC_ALL=C sort)" "$(lines "$@")"
}

# flags - of each row of the table of functions, in the table's order.
flags() { bytes .pokepatch.funcs | fold -w 96 | cut -c 73-80 | tr '\n' ' '; }

@test "the body of a system call" {
	compare_with_macros <<-'END'
		helper __do_sys_get(int x) { ext(x); return ext(x) + OLD(1) NEW(2); }
		int __x64_sys_get(int *regs) { return __do_sys_get(regs[0]); }
		int __ia32_sys_get(int *regs) { return __do_sys_get(regs[1]); }
		int other(int x) { return ext(x) + 3; }
	END
	carries "__do_sys_get changed" "__x64_sys_get changed" "__ia32_sys_get changed"
	carried_by "__do_sys_get: __ia32_sys_get __x64_sys_get"
	same "who is carried" "$(flags)" "01000000 00000000 00000000 "
	has_sections .text.__do_sys_get .text.__x64_sys_get .text.__ia32_sys_get __mcount_loc
	# Calls lead to the new copy: it has no entry that would lead them there.
	refers .text.__x64_sys_get .text.__do_sys_get
	refers .text.__ia32_sys_get .text.__do_sys_get
	local_here __do_sys_get
	same "first change of a carrier" "$(jq -c '.functions[] |
		select(.name == "__x64_sys_get") | .first_change.offset > 4' "$report")" true
	runs <<-'END'
		int ext(int x) { return x; }
		int main(void)
		{
			int regs[] = {10, 20};
			int (*x64)(int *) = 0, (*ia32)(int *) = 0;
			for (int i = 0; i < 3; i++) {
				if (changed(i) == 0)
					return 1;
				if (!(__start_funcs[i].rest[5] & 1)) {
					int got = ((int (*)(int *))changed(i))(regs);
					if (got == 12) x64 = changed(i);
					if (got == 22) ia32 = changed(i);
				}
			}
			return !x64 || !ia32;
		}
	END
}

@test "as far up as needed, and no further" {
	compare_with_macros <<-'END'
		helper bottom(int x) { return ext(x) + OLD(1) NEW(2); }
		helper middle(int x) { return bottom(x) * 3; }
		helper beside(int x) { return bottom(x + 1) * 5; }
		int __attribute__((noinline)) top(int x) { return middle(x) + ext(x); }
		int __attribute__((noinline)) above(int x) { return top(x) + beside(x); }
		int far_above(int x) { return above(x); }
	END
	carries "bottom changed" "middle changed" "beside changed" "top changed" "above changed"
	carried_by "beside: above" "bottom: beside middle" "middle: top"
	# A carrier with an entry is reached through it.
	refers .text.above top
	same "what is undefined" "$(nm -u "$out" | awk '{ print $2 }' | LC_ALL=C sort | tr '\n' ' ')" \
		"__fentry__ __x86_return_thunk ext top "
}

@test "calls between functions without an entry, in a circle" {
	compare_with_macros <<-'END'
		helper odd(int x);
		helper even(int x) { return x ? odd(ext(x) - 1) + 1 : OLD(1) NEW(2); }
		helper odd(int x) { return x ? even(ext(x) - 1) * 3 : 0; }
		int f(int x) { return even(x) + 1; }
	END
	carries "even changed" "odd changed" "f changed"
	carried_by "even: f odd" "odd: even"
}

@test "a cold part of a carrier, and a changed carrier" {
	compare_with_macros <<-'END'
		void __attribute__((cold)) slow(int);
		helper low(int x) { return ext(x) + OLD(1) NEW(2); }
		int f(int x)
		{
			if (__builtin_expect(x == 17, 0)) {
				slow(1);
				return low(x + 1) + ext(x);
			}
			return ext(x);
		}
		int g(int x) { return low(x) + OLD(3) NEW(4); }
	END
	carries "low changed" "f changed" "g changed"
	carried_by "low: f g"
	refers .text.unlikely.f .text.low
}

@test "new callers and callers that are gone" {
	compare_with_macros <<-'END'
		helper low(int x) { return ext(x) + OLD(1) NEW(2); }
		OLD(int gone(int x) { return low(x) * 2; })
		NEW(int fresh(int x) { return low(x) * 5; })
		int f(int x) { return low(x) + 3; }
	END
	carries "low changed" "f changed" "fresh new" "gone removed"
	carried_by "low: f"
	refers .text.fresh .text.low
}

@test "functions without an entry that did not change stay" {
	compare_with_macros <<-'END'
		helper low(int x) { return ext(x) + 1; }
		int f(int x) { return low(x) + OLD(3) NEW(4); }
	END
	carries "f changed"
	carried_by
	undefined low
}

@test "callers in other units" {
	compile <<-'END'
		int ext(int);
		__attribute__((no_instrument_function)) int f(int x) { return ext(x) + OLD(1) NEW(2); }
		int g(int x) { return f(x); }
	END
	diff_objects orig.o patched.o
	refused "no-entry f"
	grep -q "it is global, and other units may call it" "$errors"
	compare_with_macros <<-'END'
		helper f(int x) { return ext(x) + OLD(1) NEW(2); }
		int second_name(int x) __attribute__((alias("f")));
		int g(int x) { return f(x); }
	END
	refused "no-entry second_name"
}

@test "pointers in data and in code" {
	compare_with_macros <<-'END'
		helper in_data(int x) { return ext(x) + OLD(1) NEW(2); }
		int (*const table[])(int) = {in_data};
		helper in_code(int x) { return ext(x) + OLD(3) NEW(4); }
		void take(int (*)(int));
		int f(int x) { take(in_code); return in_code(x) + in_data(x); }
	END
	refused "no-entry in_data" "no-entry in_code"
	grep -q "'in_data'.*its address is in table;" "$errors"
	grep -q "'in_code'.*its address is in f;" "$errors"
}

# compare_first - functions in assembly, without an entry, of which only the end changes; then they call something.
compare_first() {
	compare < <(
		cat <<-'END'
			#define FUNCTION_IN(section, name, body) \
				asm(".section " section ", \"ax\"\n.globl " #name "\n.type " #name ", @function\n" \
				    #name ":\n" body "\nmov $" OLD("1") NEW("2") ", %eax\n" AT_THE_END "\n" \
				    ".size " #name ", . - " #name "\n.previous");
			#define FUNCTION(name, body) FUNCTION_IN(".text." #name, name, body)
			#define AT_THE_END "call ext; ret"
			__attribute__((no_instrument_function)) int c(int x) { return x + 3; }
		END
		cat
	)
}

@test "first instructions that can be overwritten" {
	compare_first <<-'END'
		FUNCTION(exact, "push %rbx; sub $16, %rsp")
		FUNCTION(longer, "mov %rsi, %rdi; mov $0x2ef5, %r8d")
		FUNCTION(number, "mov $data, %rax")
		FUNCTION(relative, "push %rbx; mov data(%rip), %esi")
		FUNCTION(padded, "endbr64; push %rbx; sub $16, %rsp; mov data(%rip), %esi")
		FUNCTION(one, "movl $7, data(%rip)")
		int data = 5;
	END
	carries "exact changed" "longer changed" "number changed" "one changed" "padded changed" "relative changed"
	same "the rows" "$(flags)" "02000005 02000009 02000007 02030007 02000405 0202000a "
	same "what the report says" "$(jq -r '[.functions[].overwrites] | join(" ")' "$report")" "5 9 7 10 5 7"
}

# Else callers in the unit, compiled with another version, may keep values in registers that this one changes (gcc
# -fipa-ra).
@test "first instructions of functions that must change the same registers" {
	compare_first <<-'END'
		#undef AT_THE_END
		#define AT_THE_END "ret"
		FUNCTION(changes_few, "push %rbx; sub $16, %rsp; jmp 1f; 1: cmp %rcx, %rdx; ")
		FUNCTION(calls_own, "push %rbx; sub $16, %rsp; call c")
		FUNCTION(calls_assembly, "push %rbx; sub $16, %rsp; call __get_user_4; call __x86_indirect_thunk_rax")
		FUNCTION(calls_pointer, "push %rbx; sub $16, %rsp; call *%rdi")
		FUNCTION(takes_address, "push %rbx; sub $16, %rsp; lea ext(%rip), %rax; mov $ext, %rax")
		FUNCTION(calls, "push %rbx; sub $16, %rsp; " OLD("call ext") NEW("call ext; mov %eax, %r8d"))
		FUNCTION(jumps, "push %rbx; sub $16, %rsp; jmp ext")
		FUNCTION(returns, "push %rbx; sub $16, %rsp; jmp __x86_return_thunk")
		FUNCTION(does_not_call, "push %rbx; sub $16, %rsp; " OLD("call ext"))
		FUNCTION(calls_now, "push %rbx; sub $16, %rsp; " NEW("call ext"))
		FUNCTION(more, "push %rbx; sub $16, %rsp; " NEW("mov %eax, %r8d"))
		FUNCTION(fewer, "push %rbx; sub $16, %rsp; " OLD("mov %al, %r9b"))
		FUNCTION(others, "push %rbx; sub $16, %rsp; " OLD("mov %eax, %ecx") NEW("mov %eax, %edx"))
		FUNCTION(given_back, "push %rbx; sub $16, %rsp; push %rcx; pop %rcx")
		FUNCTION(unclear, "push %rbx; sub $16, %rsp; shld %cl, %rdx, %rax")
		FUNCTION(interrupts, "push %rbx; sub $16, %rsp; int $5")
		FUNCTION(calls_caller, "push %rbx; sub $16, %rsp; call calls_own_caller")
		FUNCTION(calls_own_caller, "push %rbx; sub $16, %rsp; call calls")
		FUNCTION(calls_weak, "push %rbx; sub $16, %rsp; call weak")
		__attribute__((weak, no_instrument_function)) int weak(int x) { return x + 3; }
		FUNCTION(jumps_if, "push %rbx; sub $16, %rsp; jne ext")
		FUNCTION(vectors, "push %rbx; sub $16, %rsp; movd %eax, %xmm0")
		FUNCTION(cold_calls, "push %rbx; sub $16, %rsp; je cold_calls.cold")
		FUNCTION_IN(".text.unlikely.cold_calls", cold_calls.cold, "call ext")
		FUNCTION(has_cold, "push %rbx; sub $16, %rsp; nopl 0(%rax, %rax)")
		FUNCTION_IN(".text.unlikely.has_cold", has_cold.cold, "mov %eax, %r8d")
		FUNCTION(alternatives, "push %rbx; sub $16, %rsp; 661: nop; "
			".pushsection .altinstructions, \"a\"; .long 661b - ., 662f - .; .word 1; .byte 1, 1; .popsection; "
			".pushsection .altinstr_replacement, \"ax\"; 662: nop; .popsection")
	END
	refused "no-entry "{alternatives,calls_assembly,calls_now,calls_own,calls_pointer,does_not_call,fewer,given_back,has_cold,interrupts,more,others,unclear,vectors}
	compare_first <<-'END'
		#undef AT_THE_END
		#define AT_THE_END "ret"
		FUNCTION(more, "push %rbx; sub $16, %rsp; " NEW("mov %eax, %r8d"))
		int with_entry(int x) { return x; }
	END
	carries "more changed"
}

@test "registers that instructions change" {
	local changed
	compare_first < <(
		echo '#undef AT_THE_END'
		echo '#define AT_THE_END "ret"'
		number=0
		while read -r registers instructions; do
			moves=''
			for register in ${registers//,/ }; do
				moves+="mov %rax, %$register; "
			done
			number=$((number + 1))
			echo "FUNCTION(f$number, \"push %rbx; sub \$16, %rsp; \" OLD(\"$moves\") NEW(\"$instructions\"))"
		done <<-'END'
			rax cmp %rcx, %rdx; test %r8, %r9; mov %rcx, data(%rdx)
			rcx,rdi rep stosb
			rcx,rsi,rdi rep movsq
			rsi lodsl
			rdx mul %rsi
			rdx div %rsi
			rdx imul %rsi
			r8 imul %rsi, %r8
			r8 imul $100, %rsi, %r8
			rdx cltd
			rcx,rdx cpuid
			rdx rdtsc
			rcx,rdx rdtscp
			rcx,rdx xchg %rcx, %rdx
			rcx xchg %rcx, data(%rdx)
			r9 lock xadd %r9d, data(%rdx)
			rdx cmpxchg16b data(%rip)
			rsi setc %sil
			rdi cmovc %eax, %edi
			r9 bswap %r9d
			r10 shld $1, %rcx, %r10
			r10 shr %cl, %r10d
			rcx popcnt %rdx, %rcx
			rcx bsf %rdx, %rcx
			rdx movzbl %cl, %edx
			rcx mov %dl, %ch
			rcx btr $1, %rcx
			rdx bt $1, %rcx; neg %rdx
			r8 lea 1(%rcx, %rdx), %r8
			rcx loop 1f; 1:
			rcx inc %cl
			rdx sbb %rdx, %rdx
			rdi movabs $5000000000, %rdi
		END
		echo 'int data;'
	)
	mapfile -t changed < <(printf 'f%s changed\n' {1..33} | LC_ALL=C sort)
	carries "${changed[@]}"
}

@test "first instructions that cannot be moved" {
	compare_first <<-'END'
		FUNCTION(calls, "push %rbx; call c")
		FUNCTION(jumps, "push %rbx; jmp 1f; 1:")
		FUNCTION(branches, "test %rdi, %rdi; je 1f; nop; 1:")
		FUNCTION(twice, "movb data(%rip), %cl; 1:")
		FUNCTION(returns, "nop; ret; nop; nop; nop")
		FUNCTION(traps, "ud2; nop; nop; nop")
		FUNCTION(indirect, "jmp *%rax; nop; nop; nop")
		FUNCTION(two_fields, "cmp data(%rip), %al; 1:")
		int data = 5;
	END
	refused "no-entry branches" "no-entry calls" "no-entry indirect" "no-entry jumps" "no-entry returns" \
		"no-entry traps"
}

@test "first instructions to which something leads" {
	compare_first <<-'END'
		FUNCTION(loops, "push %rbx; sub $16, %rsp; dec %edi; jne loops")
		FUNCTION(far_loop, "push %rbx; sub $16, %rsp; .skip 200, 0x90; dec %edi; jne far_loop")
		FUNCTION(into, "push %rbx; 1: sub $16, %rsp; dec %edi; jne 1b")
		FUNCTION(named, "push %rbx; named_inside: sub $16, %rsp")
		FUNCTION(calls_itself, "push %rbx; sub $16, %rsp; call calls_itself")
		FUNCTION(from_data, "push %rbx; sub $16, %rsp")
		asm(".data; .quad from_data + 1; .text");
		FUNCTION(from_other, "push %rbx; sub $16, %rsp")
		FUNCTION(other, "push %rbx; sub $16, %rsp; jmp from_other + 1")
		FUNCTION(behind, "push %rbx; sub $16, %rsp; 1: dec %edi; jne 1b")
		FUNCTION(jump_table, "push %rbx; sub $16, %rsp; 1: jmp *table(, %rdi, 8)")
		asm(".section .rodata.table, \"a\"; table: .quad jump_table, jump_table + 5; .size table, 16; .type table, @object; .previous");
		FUNCTION(cold_loop, "push %rbx; sub $16, %rsp; jmp cold_loop.cold")
		asm(".section .text.unlikely.cold_loop, \"ax\"; .type cold_loop.cold, @function; cold_loop.cold: dec %edi; jne cold_loop; ret; .size cold_loop.cold, . - cold_loop.cold; .previous");
		FUNCTION(no_probe, "push %rbx; sub $16, %rsp")
		asm(".section _kprobe_blacklist, \"a\"; .quad no_probe; .previous");
		FUNCTION(faults, "1: mov (%rdi), %rax; 2: mov (%rsi), %rcx")
		asm(".section __ex_table, \"a\"; .long faults - ., faults + 3 - ., 3; .previous");
		FUNCTION(locked, "lock incl (%rdi); nop; nop")
		asm(".section .smp_locks, \"a\"; .long locked - .; .previous");
		FUNCTION_IN(".noinstr.text", special, "push %rbx; sub $16, %rsp")
	END
	refused "no-entry loops" "no-entry far_loop" "no-entry into" "no-entry named" "no-entry calls_itself" \
		"no-entry from_data" "no-entry from_other" "no-entry jump_table" "no-entry cold_loop" "no-entry no_probe" "no-entry faults" "no-entry locked" \
		"no-entry special" "section-needed table"
}

@test "a list of functions that must not be probed is no pointer to them" {
	compare_with_macros <<-'END'
		helper low(int x) { return ext(x) + OLD(1) NEW(2); }
		static unsigned long __attribute__((section("_kprobe_blacklist"), used)) list =
			(unsigned long)low;
		int f(int x) { return low(x) + 3; }
	END
	carries "low changed" "f changed"
}

@test "callers that are only run at boot" {
	compare_with_macros <<-'END'
		#define __init __attribute__((section(".init.text")))
		#define __exit __attribute__((section(".exit.text")))
		helper both(int x) { return ext(x) + OLD(1) NEW(2); }
		int __init at_boot(int x) { return both(x); }
		int f(int x) { return both(x) + 3; }
		helper boot_only(int x) { return ext(x) + OLD(3) NEW(4); }
		int __init at_boot2(int x) { return boot_only(x); }
		helper boot_moves(int x) { int a[2] = {x}; asm("" : : "r"(a) : "rbx", "rbp"); return ext(x) + OLD(3) NEW(4); }
		int __init at_boot3(int x) { return boot_moves(x); }
		helper exits(int x) { return ext(x) + OLD(5) NEW(6); }
		int __exit at_end(int x) { return exits(x); }
	END
	refused "no-entry boot_only" "no-entry boot_moves" "no-entry exits"
	grep -q "'boot_only'.*only code that ran when the kernel or module started calls it" "$errors"
	grep -q "'exits'.*a caller cannot be replaced, at_end" "$errors"
}

@test "the address of a carried function that changed code passes on" {
	compare_with_macros <<-'END'
		helper low(int x) { return ext(x) + OLD(1) NEW(2); }
		NEW(void take(int (*)(int));)
		int f(int x) { NEW(take(low);) return low(x); }
	END
	carries "low changed" "f changed"
	warned "address-escapes low"
}

@test "thousands of calls of a function without an entry take no time" {
	flags=(-O1)
	compile < <(
		cat <<-'END'
			int ext(int);
			static __attribute__((noinline, no_instrument_function)) int helper(int x)
			{
				return ext(x) + OLD(1) NEW(2);
			}
			int f(int x)
			{
		END
		seq -f 'x += helper(x + %g);' 4000
		echo 'return x; }'
	)
	# Decoding f() once for each of them took half a minute.
	timeout 10 "$differ" -o result.o --report report.json orig.o patched.o 2>result.err
	report=report.json
	same "list of functions" "$(functions)" "f changed"$'\n'"helper changed"
}
