# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What is special about MIPS' objects, of 64 and 32 bits, in both byte orders: three types in each
# relocation, addends that stand in the instructions, addresses in four instructions or two, fixups,
# delay slots.

load helpers

compilers=gcc-12

# on MACHINE... FUNCTION - a test's body on each, with what an address is there.
on() {
	local name long word address add bits
	for name in "${@:1:$#-1}"; do
		echo "on $name:"
		case $name in
		mips64*) long=8 bits=64 word=.dword address=R_MIPS_64 add=daddu ;;
		*) long=4 bits=32 word=.word address=R_MIPS_32 add=addu ;;
		esac
		each_compiler "$name" "${!#}"
	done
}
each_order() { on mips64 mips64el mips mipsel "$1"; }

entry() {
	compare <<-'END'
		extern int one, two;
		int *f(int x) { return OLD(&one) NEW(&two); }
		int g(int x) { return x - 1; }
	END
	carries "f changed"
	has_sections .text.f __patchable_function_entries
	same "the patchable entry" "$(relocs __patchable_function_entries)" "0 $address .text.f +0"
	local upper=()
	[ "$long" -eq 4 ] || upper=("R_MIPS_HIGHEST two +0" "R_MIPS_HIGHER two +0")
	same "relocations" "$(relocs .text.f | awk '{ print $2, $3, $4 }' | LC_ALL=C sort)" \
		"$(lines "${upper[@]}" "R_MIPS_HI16 two +0" "R_MIPS_LO16 two +0")"
	same "first instruction" "$(bytes .text.f | head -c 8)" 00000000
}
@test "mips: an address in several instructions, behind the entry's NOPs" { each_order entry; }

# With the assembler as it is, gcc 12 leaves the NOPs before the function's label.
misplaced() {
	local kept=() word
	for word in "${cc[@]}"; do [ "${word#-B}" != "$word" ] || kept+=("$word"); done
	cc=("${kept[@]}")
	compare <<-'END'
		int f(int x) { return x * OLD(3) NEW(5); }
	END
	refused "no-entry f"
}
@test "mips: NOPs before the function are no entry" { each_order misplaced; }

# The kernel's code is in KSEG0, and a patch's is not; an exception while one of these is used would write others.
tlb() {
	local instruction
	for instruction in tlbp tlbr tlbwi tlbwr; do
		compare <<-END
			int f(int x) { asm volatile("$instruction"); return x + OLD(1) NEW(2); }
			int g(int x) { asm volatile("$instruction"); return x; }
			int h(int x) { return x + OLD(1) NEW(2); }
		END
		refused "code-stays f"
	done
}
@test "mips: a changed function that writes the TLB" { each_order tlb; }

tables() {
	{
		echo "#define WORD \"$word\""
		cat <<-'END'
			#define ACCESS(table, p, way) asm volatile("1: lw $0, 0(%0)\n2: .insn\n" \
				".section .fixup,\"ax\"\n3: li %0, " way "\nj 2b\n.previous\n" \
				".section " table ",\"a\"\n" WORD " 1b, 3b\n.previous" : "+r"(p))
			extern struct key { long a, b; } key, other;
			extern int ext(int);
			static inline __attribute__((always_inline)) int branch(struct key *key)
			{
				asm goto("1: b 2f\n2: .insn\n.pushsection __jump_table,\"aw\"\n"
					 WORD " 1b, %l[yes], %0\n.popsection"
					 :: "i"((char *)key + 1) :: yes);
				return 0;
			yes:	return 1;
			}
			int access(int *x) { ACCESS("__ex_table", x, "1"); return ext(2) + OLD(5) NEW(6); }
			int fixed(int *x) { ACCESS("__ex_table", x, OLD("9") NEW("10")); return ext(3); }
			int stays(int *x) { ACCESS("__ex_table", x, "9"); return ext(3); }
			int bus(int *x) { ACCESS("__dbe_table", x, "9"); return ext(OLD(1) NEW(2)); }
			int jump(int x) { return branch(OLD(&key) NEW(&other)) ? ext(x) : 3; }
			int jumps(int x) { return branch(&key) ? ext(x) : 3; }
		END
	} >case.c
	compare <case.c
	carries "access changed" "fixed changed" "bus changed" "jump changed"
	same "exceptions" "$(size_of __ex_table)" $((4 * long))
	same "bus errors" "$(size_of __dbe_table)" $((2 * long))
	same "branches" "$(size_of __jump_table)" $((3 * long))
	same "fixups" "$(size_of .fixup | wc -l)" 3
	same "the changed one" "$(for name in access fixed bus; do relocs .fixup | grep -c "R_MIPS_26 .text.$name"; done)" \
		$'1\n1\n1'
	same "the key" "$(relocs __jump_table | awk '{ print $2, $3, $4 }' | tail -1)" \
		"$address other +1"
}
@test "mips: exception, bus error and jump tables with fixups" { each_order tables; }

# Relocations with more than one type; the kernel has none.
composite() {
	compare <<-'END'
		extern int one;
		int f(int x)
		{
			asm volatile("lui $2, %%hi(%%neg(%%gp_rel(one)))" ::: "$2");
			return x + OLD(1) NEW(2);
		}
	END
	same "exit status" "$exit_status" 2
	grep -q "refused \[relocation-unknown\]: relocation type $((7 | 24 << 8 | 5 << 16)) in" "$errors"
}
@test "mips64: a relocation of three types is refused" { on mips64 mips64el composite; }

swapped() {
	compare <<-'END'
		asm(".section .sched.text,\"ax\"\n.set noreorder\n"
		    ".type a, @function\na: jr $31\nli $2, 1\n.size a, .-a\n"
		    ".type b, @function\nb: jr $31\nli $2, 2\n.size b, .-b\n"
		    ".globl t, u, v\n"
		    ".type t, @function\nt: beqz $4, " OLD("a") NEW("b") "\nnop\n.size t, .-t\n"
		    ".type u, @function\nu: bgezl $4, " OLD("a") NEW("b") "\nnop\n.size u, .-u\n"
		    ".type v, @function\nv: beqz $4, a\nnop\nbeqzl $4, b\nnop\n.size v, .-v\n"
		    ".set reorder\n.text");
	END
	refused "no-entry t" "no-entry u"
}
@test "mips: jumps to a neighbour" { each_order swapped; }

# The address of a key of the patch's own is passed to who switches it: that is no escape.
new_key() {
	{
		echo "#define WORD \"$word\""
		cat <<-'END'
			struct static_key { int enabled; void *entries; };
			extern void enable(struct static_key *);
			NEW(static struct static_key key;)
			int f(int x)
			{
				NEW(enable(&key);
				asm goto("1: b 2f\n2: .insn\n.pushsection __jump_table,\"aw\"\n"
					 WORD " 1b, %l[yes], %0\n.popsection" :: "i"(&key) :: yes);)
				x++;
			yes:	return x + OLD(1) NEW(2);
			}
		END
	} >case.c
	compare <case.c
	carries "f changed"
	carries_data "key new"
	warned
}
@test "mips: a new static key" { each_order new_key; }

# gcc for MIPS leaves the flexible array out of the symbol's size.
flexible() {
	local structs='
		struct numbers { long count; long list[]; };
		struct text { long count; char list[]; };
		long sum(struct numbers *, char *);'
	compare <<-END
		$structs
		struct numbers numbers = { 2, { 5, 6 } };
		struct text text = { 1, "abc" };
		long f(void) { return sum(&numbers, text.list) + OLD(1) NEW(2); }
	END
	carries "f changed"
	undefined numbers text
	compare <<-END
		$structs
		struct numbers numbers = { 2, { 5, OLD(6) NEW(7) } };
		struct text text = { 1, "abc" };
		long f(void) { return sum(&numbers, text.list); }
	END
	refused "data-changed numbers"
	compare <<-END
		$structs
		struct text text = { 1, OLD("abc") NEW("abd") };
		long f(void) { return sum(0, text.list); }
	END
	refused "data-changed text"
	compare <<-END
		$structs
		NEW(static struct numbers numbers = { 2, { 5, 6 } };)
		long f(void) { return sum(OLD(0) NEW(&numbers), 0); }
	END
	carries "f changed"
	carries_data "numbers new"
	same "its size" "$(size_of .data.numbers)" $((3 * long))
}
@test "mips: variables that end in a flexible array" { each_order flexible; }

# The linker checks how far a "jal" reaches; what it makes is no kernel but for its symbols.
pretended_kernel() {
	printf '.globl _stext, %s\n' exported >start.s
	printf '%s: nop\n' _stext exported >>start.s
	"${cc[0]}" "-mabi=$bits" -mno-abicalls "${@:2}" -c -o start.o start.s
	"$ld" "${ld_flags[@]}" --build-id -Ttext=0x1000000 -o vmlinux start.o "$1" -e _stext
	printf '0x1\t%s\tvmlinux\tEXPORT_SYMBOL\t\n' exported >symvers
}

# jump_is FUNCTION REGISTER - it has a jump there of pokepatch's own, of 16 bytes.
jump_is() {
	same "the jump to $1" "$("$objdump" -d -j ".text.$2" "$out" --no-show-raw-insn |
		awk '/:\t/ { $1 = ""; print }' | sed 's/^ *//; s/[[:space:]]\+/ /; s/jalr zero,/jr /')" \
		"$(printf '%s\n' "lui $3,0x0" "${add%u}iu $3,$3,0" "jr $3" nop)"
	same "its relocations" "$(relocs ".text.$2")" \
		"$(printf '%s\n' "0 R_MIPS_HI16 $1 +0" "4 R_MIPS_LO16 $1 +0")"
}

far_source() {
	echo "#define ADD \"$add\"" >far.c
	cat >>far.c <<-'END'
		int exported(int);
		__attribute__((noipa)) int plain(int x) { return x * 3; }
		static __attribute__((noipa)) int local(int x) { return exported(x) * 3; }
		int f(int x)
		{
			/* as raw_copy_from_user() in asm/uaccess.h */
			register int r asm("$4") = x;
			asm volatile(".set push\n.set noreorder\n.set noat\njal plain\n"
				     ADD " $1, %0, %0\n.set pop" : "+r"(r) :: "$2", "$24", "$31");
			return plain(r) + exported(plain(x)) + local(x) + OLD(1) NEW(2);
		}
		int last(int x) { return exported(x) + OLD(1) NEW(2); }
	END
}

far() {
	local objdump=${objcopy%objcopy}objdump
	far_source
	compile <far.c
	pretended_kernel orig.o "${machine_flags[@]}"
	diff_objects orig.o patched.o --symtab vmlinux --symvers symvers
	carries "f changed" "last changed"
	local jump=pokepatch_veneer static
	static=$(relocs .text.f | awk '$3 ~ /pokepatch\.[0-9]+\.local/ { print $3 }')
	same "calls" "$(relocs .text.f | awk '{ print $2, $3, $4 }' | LC_ALL=C sort -u)" \
		"$(lines "R_MIPS_26 $jump.exported +0" "R_MIPS_26 $jump.plain +0" \
			"R_MIPS_26 ${jump}_t8.plain +0" "R_MIPS_26 $static +0")"
	same "the call at the end" "$(relocs .text.last | awk '{ print $2, $3, $4 }')" \
		"R_MIPS_26 $jump.exported +0"
	jump_is plain $jump.plain at
	jump_is plain ${jump}_t8.plain t8
	jump_is exported $jump.exported at
	jump_is "${static#"$jump."}" "$static" at
}
@test "mips: calls of the kernel go by jumps that reach it" { each_order far; }

# Release 6: jumps without a delay slot, which count from the next instruction.
far6() {
	local objdump=${objcopy%objcopy}objdump
	cc=("${cc[@]/-march=mips${bits}r2/-march=mips${bits}r6}")
	far_source
	compile <far.c
	pretended_kernel orig.o "-march=mips${bits}r6"
	diff_objects orig.o patched.o --symtab vmlinux --symvers symvers
	carries "f changed" "last changed"
	same "kinds of calls" "$(relocs .text.f | awk '{ print $2, $4 }' | LC_ALL=C sort -u)" \
		"$(lines "R_MIPS_26 +0" "R_MIPS_PC26_S2 -4")"
	same "the call at the end" "$(relocs .text.last | awk '{ print $2, $3, $4 }')" \
		"R_MIPS_PC26_S2 pokepatch_veneer.exported -4"
	jump_is plain pokepatch_veneer_t8.plain t8
	jump_is exported pokepatch_veneer.exported at
}
@test "mips: likewise in release 6" { each_order far6; }

# In modules an address is loaded to be called.  That is no use of it that outlives the patch.
# (One that is called several times may be kept where calls leave it alone, and counts.)
long_calls() {
	flags+=(-mlong-calls)
	[ "$long" -eq 4 ] || flags+=(-msym32)
	compare <<-'END'
		extern int ext(int);
		NEW(static __attribute__((noipa)) int added(int x) { return ext(x) * 3; })
		int f(int x) { return OLD(ext(x)) NEW(ext(added(x + 1))) + 1; }
		int last(int x) { return OLD(ext(x)) NEW(added(x)); }
	END
	carries "f changed" "last changed" "added new"
	refers .text.f .text.added
	warned
	compare <<-'END'
		extern int ext(int), take(int, int (*)(int));
		NEW(static __attribute__((noipa)) int added(int x) { return ext(x) * 3; })
		int f(int x) { return OLD(ext(x)) NEW(take(added(x), added)) + 1; }
	END
	carries "f changed" "added new"
	warned "address-escapes added"
}
@test "mips: what is called by its address does not escape" { each_order long_calls; }

# What is written is what an assembler would have: the linker makes the same of both.  Upper halves with and
# without a carry, lower halves that share one, negative and large offsets, two words at once, calls and
# addresses in data.
linked() {
	compile <<-'END'
		struct big { int first, list[20000]; } __attribute__((aligned(8)));
		extern struct big far;
		extern long long wide;
		extern int ext(int), words[];
		static struct big near = { 5 };
		static int count = 3;
		static __attribute__((noipa)) int local(int x) { near.list[19000] += x; return x + count; }
		int g(int x) { return local(x) - 1; }
		int f(int x)
		{
			static int *const table[] = { &words[3], &near.list[9000], &words[-1], &count };
			far.list[x] = near.first++ + near.list[8191] + near.list[16383];
			far.list[8190] -= far.first;
			far.list[12345] -= x;
			wide += x;
			words[x - 4] = local(x) + ext(x) + OLD(1) NEW(2);
			return *table[x & 3] + words[-5] + near.list[x + 16000] + count++;
		}
	END
	diff_objects orig.o patched.o
	carries "f changed"
	undefined near count far wide words local ext
	local data
	"$nm" patched.o | awk '$2 ~ /[tdbr]/ && $3 !~ /^[.$]/ { print $3 }' >statics
	"$objcopy" --globalize-symbols=statics patched.o whole.o
	for data in 0x12340000 0x12347ff0 0x12348000 0x1234fff8; do
		cat >script <<-END
			far = $data + 0x100000; wide = $data + 0x200000; words = $data + 0x300000;
			ext = 0x12500000;
			SECTIONS {
				.text.f 0x12000000 : { *(.text.f) }
				.text 0x12010000 : { *(.text*) }
				.data $data : { *(.data* .bss* .rodata*) }
			}
		END
		"$ld" "${ld_flags[@]}" -e f -T script -o whole whole.o
		"$ld" "${ld_flags[@]}" -e f -T script -R whole -o carried "$out"
		same "code with data at $data" "$(linked_bytes carried .text.f)" \
			"$(linked_bytes whole .text.f)"
		[ -n "$(linked_bytes whole .text.f)" ]
	done
}
# Without the padding at the end, which is the section's.
linked_bytes() {
	"$objcopy" -O binary -j "$2" "$1" linked.bin
	od -An -v -tx1 linked.bin | tr -d ' \n' | sed 's/0*$//'
}
@test "mips: carried code is linked as compiled code is" { each_order linked; }

# Of n32, too, objects have 32 bits; of microMIPS the instructions are others.
foreign() {
	local case
	for case in n32 micromips; do
		flags=()
		case $case in
		n32) flags=(-mabi=n32 -march=mips64r2) ;;
		*) flags=(-DMICRO='".set micromips; nop; .set nomicromips"') ;;
		esac
		[ "$long$case" != 8n32 ] || continue
		"${cc[@]}" "${flags[@]}" -x c -o orig.o - <<-'END'
			#ifdef MICRO
			asm(MICRO);
			#endif
			int f(int x) { return x; }
		END
		diff_objects orig.o orig.o
		fails 2 "refused [elf-unsupported]: flags 0x"
	done
}
@test "mips: objects of other ABIs are refused" { each_order foreign; }

# As in a function with a .cold part, gcc has the lower half there.  The linker makes do with that, the
# module loader does not.
orphan() {
	compare <<-'END'
		extern int one;
		int f(int x) { asm volatile("lui $2, %%hi(one)" ::: "$2"); return x + OLD(1) NEW(2); }
	END
	refused "relocation-unknown f"
	grep -qF "'f' refers to 'one' by R_MIPS_HI16 without R_MIPS_LO16, which no module loader knows" "$errors"
	compare <<-'END'
		extern int one, two;
		int f(int x) { asm volatile("lui $2, %%hi(one)" ::: "$2"); return x; }
		int g(int x) { return two + x + OLD(1) NEW(2); }
	END
	carries "g changed"
	compare <<-'END'
		extern int one, two;
		int f(int x) { asm volatile("lui $2, %%hi(" OLD("one") NEW("two") ")" ::: "$2"); return x; }
	END
	refused "relocation-unknown f"
}
@test "mips: an upper half without a lower one is not carried where it is no whole address" {
	on mips mipsel orphan
}
