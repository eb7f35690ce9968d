# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Addresses: of neighbours in a section that the source names, and of what a patch carries.

load helpers

named='__attribute__((section(".data..read_mostly")))'

@test "the end of a table is not the beginning of a new variable behind it" {
	compare <<-END
		struct t { long a, b, c; };
		static struct t table[4] $named = {{1}};
		NEW(static long newer $named = 7;)
		long f(void)
		{
			long sum = OLD(0) NEW(newer);
			for (struct t *p = table; p < table + 4; p++)
				sum += p->a++;
			return sum;
		}
	END
	[ "$exit_status" -eq 2 ]
	[[ "$(jq -r '.refusals[] | select(.warning | not) | .code' "$report" | sort -u)" == \
		static-ambiguous ]]
}

@test "an indexed place in a section whose variables moved" {
	compare <<-END
		static long table[8] $named = {1};
		NEW(static long newer $named = 7;)
		static long last $named = 3;
		long f(long i) { return table[i - 1]++ + last++ OLD(+ 1) NEW(+ newer++); }
	END
	[ "$exit_status" -eq 2 ]
	[[ "$(jq -r '.refusals[] | select(.warning | not) | .code' "$report" | sort -u)" == \
		static-ambiguous ]]
}

@test "places that are read and written as they stand are sure, moved or not" {
	compare <<-END
		NEW(static long newer $named = 7;)
		static long one $named = 1;
		static long two $named = 2;
		long f(void) { return one++ + two++ + OLD(1) NEW(newer++); }
	END
	carries "f changed"
	carries_data "newer new"
}

@test "ends and indexes are sure where nothing moved" {
	compare <<-END
		struct t { long a, b, c; };
		static struct t table[4] $named = {{1}};
		static long last $named = 3;
		long f(long i)
		{
			long sum = OLD(0) NEW(5);
			for (struct t *p = table; p < table + 4; p++)
				sum += p->a++;
			return sum + table[i - 1].b + last++;
		}
	END
	carries "f changed"
}

@test "what is new and stays behind: functions, variables, constant objects, stored strings" {
	compare <<-'END'
		struct ops { int (*call)(int); const char *name; };
		struct ops *live;
		void take(const void *);
		int old(int x) { return x; }
		NEW(static __attribute__((noipa)) int handler(int x) { return x + 1; })
		NEW(static const struct ops new_ops = { old, "new" };)
		NEW(static long counter;)
		int function(int x) { NEW(take(handler);) return x; }
		int object(int x) { NEW(take(&new_ops);) return x; }
		int variable(int x) { NEW(take(&counter); counter++;) return x; }
		int string(int x) { NEW(live->name = "stays";) return x; }
	END
	warned "address-escapes counter" "address-escapes handler" "address-escapes new_ops" \
		"address-escapes string"
}

@test "what does not stay behind: calls, reads, writes, ends, printed strings" {
	compare <<-'END'
		int printk(const char *, ...);
		NEW(static __attribute__((noipa)) int helper(int x) { return x + 1; })
		NEW(static long counter;)
		NEW(static const int weights[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };)
		int f(int x)
		{
			NEW(counter++; x = helper(x) + weights[x & 7]; printk("now %d", x);)
			return x;
		}
	END
	carries "f changed" "helper new"
	warned
}

# ---- addresses that are in a register before they are used -----------------------------------

# followed <<CASES - functions in which ADDRESS(REGISTER) makes the address of a new variable; it is
# passed on in those that are called out_..., and in no other.
followed() {
	{
		cat <<-'END'
			#define CASE(type, name, text) NEW(static long v_##name[4];) type name(long x) \
				{ NEW(asm volatile(".set noreorder\n.set noat\n" text \
						   "\n.set reorder\n.set at" :: "i"(v_##name));) }
			#if _MIPS_SIM == _ABI64
			#define ADDIU "daddiu"
			#else
			#define ADDIU "addiu"
			#endif
			#define UPPER(reg) "lui " reg ",%%hi(%0)\n"
			#define LOWER(reg) ADDIU " " reg "," reg ",%%lo(%0)\n"
			#define ADDRESS(reg) UPPER(reg) LOWER(reg)
			extern long ext(long), __bare(long);
			static long table[] = { 1, 2 };
			long first(void) { return table[0]++; }
			struct pair { long a, b; };
			__attribute__((used)) static void local(long x) {}
		END
		cat
	} >cases.c
	compile <cases.c
	diff_objects orig.o patched.o
	same "exit status" "$exit_status" 0
	local -a out
	mapfile -t out < <(sed -nE 's/^CASE\([^,]*, (out_[a-z0-9_]*),.*/address-escapes v_\1/p' cases.c)
	[ ${#out[@]} -gt 0 ]
	[ "$(grep -c '^CASE' cases.c)" -gt ${#out[@]} ]
	warned "${out[@]}"
}

# What all releases have; then those of the standard input.
mips_followed() {
	{
		cat <<-'END'
			#define COUNT(reg) "1: ll $7,0(" reg ")\naddiu $7,$7,1\nsc $7,0(" reg ")\nbeqz $7,1b\nnop\n"
			CASE(void, counted, ADDRESS("$2") COUNT("$2"))
			CASE(long, out_result, ADDRESS("$2") COUNT("$2"))
			CASE(long, second, ADDRESS("$3") COUNT("$3"))
			CASE(struct pair, out_second, ADDRESS("$3") COUNT("$3"))
			CASE(void, replaced, ADDRESS("$2") "lw $2,0($2)\nsw $2,0($4)")
			CASE(void, out_partly_replaced, ADDRESS("$2") "ins $2,$3,0,4\nsw $2,0($4)")
			CASE(void, out_maybe_replaced, ADDRESS("$2") "bnez $3,1f\nnop\nmove $2,$0\n1: sw $2,0($4)")

			CASE(void, out_stored, ADDRESS("$2") "sw $2,0($4)")
			CASE(void, out_stored_by_atomic, ADDRESS("$2") "sc $2,0($4)")
			CASE(void, out_stored_in_slot, ADDRESS("$2") "jr $31\nsw $2,0($4)")
			CASE(void, out_stored_in_slot_of_branch, ADDRESS("$2") "beqz $4,1f\nsw $2,0($4)\n1:")
			CASE(void, out_in_coprocessor, ADDRESS("$2") "mtc0 $2,$30")
			CASE(void, out_unknown, ADDRESS("$2") "syscall")
			CASE(void, out_of_registers, ADDRESS("$2") "move $28,$2")

			CASE(void, moved, ADDRESS("$2") "move $3,$2\nlw $5,8($3)")
			CASE(void, out_moved, ADDRESS("$2") "move $3,$2\nmove $2,$0\nsw $3,8($4)")
			CASE(void, out_moved_and_kept, ADDRESS("$2") "move $3,$2\nsw $2,8($4)")
			CASE(void, out_combined, ADDRESS("$2") "or $3,$5,$2\nsw $3,8($4)")
			CASE(void, out_added, ADDRESS("$2") "addu $3,$5,$2\nsw $3,8($4)")

			CASE(void, called, ADDRESS("$2") COUNT("$2") "jal ext\nnop\nsw $2,0($4)")
			CASE(void, out_local, ADDRESS("$2") COUNT("$2") "jal local\nnop\nsw $2,0($4)")
			CASE(void, out_bare, ADDRESS("$2") COUNT("$2") "jal __bare\nnop\nsw $2,0($4)")
			CASE(void, out_argument, ADDRESS("$4") "jal ext\nnop")
			CASE(void, out_argument_by_register, ADDRESS("$4") "jalr $3\nnop")
			CASE(void, out_argument_in_slot, UPPER("$4") "jal ext\n" LOWER("$4"))
			CASE(void, out_argument_moved_in_slot, ADDRESS("$2") "jal ext\nmove $5,$2")
			CASE(void, argument_replaced_in_slot, ADDRESS("$4") COUNT("$4") "jal ext\nmove $4,$0")
			CASE(void, kept, ADDRESS("$16") "jal ext\nnop\n" COUNT("$16") "jr $31\nlw $16,0($29)")
			CASE(void, out_kept, ADDRESS("$16") "jal ext\nnop\nsw $16,0($4)\nlw $16,0($29)")
			CASE(void, out_left, ADDRESS("$16") COUNT("$16") "jr $31\nnop")
			CASE(void, its_function, ADDRESS("$16") "jalr $16\nnop\njalr $16\nlw $16,0($29)")
			CASE(void, tail, ADDRESS("$2") COUNT("$2") "j ext\nnop")
			CASE(void, out_tail, ADDRESS("$4") COUNT("$4") "j ext\nnop")
			CASE(void, out_tail_kept, ADDRESS("$16") COUNT("$16") "j ext\nnop")
			CASE(void, out_elsewhere, ADDRESS("$2") COUNT("$2") "j local+4\nnop")
			CASE(void, out_switch, ADDRESS("$2") COUNT("$2") "jr $5\nnop")

			#define FAR(reg, name) "lui " reg ",%%hi(" name ")\n" ADDIU " " reg "," reg ",%%lo(" name ")\n"
			CASE(void, tail_far, ADDRESS("$2") FAR("$25", "ext") "jr $25\nnop")
			CASE(void, tail_far_apart, ADDRESS("$2") FAR("$25", "ext") "move $3,$5\njr $25\nmove $4,$3")
			CASE(void, out_tail_far, ADDRESS("$4") FAR("$25", "ext") "jr $25\nnop")
			CASE(void, out_tail_far_kept, ADDRESS("$16") FAR("$25", "ext") "jr $25\nnop")
			CASE(void, out_tail_loaded, ADDRESS("$2") "lui $25,%%hi(ext)\nlw $25,%%lo(ext)($25)\njr $25\nnop")
			CASE(void, out_switch_far, ADDRESS("$2") FAR("$25", "table") "jr $25\nnop")
			CASE(void, out_tail_behind_jump, ADDRESS("$2") FAR("$25", "ext") "beqz $4,1f\nnop\n1: jr $25\nnop")
			CASE(void, called_far, ADDRESS("$2") FAR("$25", "ext") "jalr $25\nnop\nsw $2,0($4)")
			CASE(void, out_called_far, ADDRESS("$2") FAR("$25", "local") "jalr $25\nnop\nsw $2,0($4)")
			CASE(void, out_called_bare, ADDRESS("$2") FAR("$25", "__bare") "jalr $25\nnop\nsw $2,0($4)")
			CASE(void, out_called_by_register, ADDRESS("$2") "jalr $5\nnop\nsw $2,0($4)")

			CASE(void, met, "beqz $4,1f\nmove $2,$29\n" ADDRESS("$2") "1: lw $3,0($2)")
			CASE(void, out_met, "beqz $4,1f\nmove $2,$0\n" ADDRESS("$2") "1: sw $2,0($4)")
			CASE(void, out_over, ADDRESS("$2") "b 1f\nnop\nmove $2,$0\n1: sw $2,0($4)")
			CASE(void, over, ADDRESS("$2") "b 1f\nmove $2,$0\n1: sw $2,0($4)")
			CASE(void, out_round, "move $3,$0\n1: sw $3,0($4)\n" ADDRESS("$2")
				"move $3,$2\nbnez $5,1b\nmove $2,$0\nmove $3,$0")
			CASE(void, out_round_again, ADDRESS("$2") "1: lw $6,0($2)\nsw $3,0($4)\nmove $3,$2\n"
				"bnez $5,1b\nnop\nmove $3,$0")
			CASE(__attribute__((noreturn)) void, out_at_end, ADDRESS("$2") COUNT("$2"))
			CASE(void, made_in_slot, UPPER("$2") "beqz $4,1f\n" LOWER("$2") "move $2,$0\n1: lw $3,0($2)")
			CASE(void, out_made_in_slot, UPPER("$2") "beqz $4,1f\n" LOWER("$2")
				"move $2,$0\n1: sw $2,0($4)")
			CASE(void, out_made_in_last_slot, UPPER("$2") "jalr $5\n" LOWER("$2") "sw $2,0($4)")

			CASE(long, bug, ADDRESS("$2") COUNT("$2") "break 12")
			CASE(long, out_break, ADDRESS("$2") COUNT("$2") "break 7")
			#define LABEL ".pushsection __jump_table,\"aw\"\n.dc.a 2b, 3b, key\n.popsection"
			CASE(void, out_label, ADDRESS("$2") "2: nop\n move $2,$0\n3:" LABEL)
			CASE(void, out_label_in_slot,
				ADDRESS("$2") "beqz $4,1f\n2: move $2,$0\n1: sw $2,0($4)\n3:" LABEL)
			CASE(void, out_made_at_label,
				UPPER("$2") "2: " LOWER("$2") "lw $3,0($2)\nmove $2,$0\n3:" LABEL)
		END
		cat
	} | followed
}

# Those of 64 bits.
mips_wide() {
	cat <<-'END'
		CASE(void, wide, ADDRESS("$2") "ld $2,0($2)\nsd $2,0($4)")
		CASE(void, out_stored_wide, ADDRESS("$2") "sd $2,0($4)")
		CASE(void, out_stored_by_wide_atomic, ADDRESS("$2") "scd $2,0($4)")
		CASE(void, out_added_wide, ADDRESS("$2") "daddu $3,$5,$2\nsd $3,8($4)")
		CASE(void, out_in_wide_coprocessor, ADDRESS("$2") "dmtc0 $2,$30")
		CASE(void, out_half_replaced_wide, ADDRESS("$2") "dins $2,$3,0,4\nsd $2,0($4)")
		CASE(void, pieces, "lui $2,%%highest(%0)\nlui $3,%%hi(%0)\ndaddiu $2,$2,%%higher(%0)\n"
			"daddiu $3,$3,%%lo(%0)\ndsll32 $2,$2,0\ndaddu $2,$2,$3\nld $3,0($2)")
		CASE(void, out_pieces, "lui $2,%%highest(%0)\nlui $3,%%hi(%0)\ndaddiu $2,$2,%%higher(%0)\n"
			"daddiu $3,$3,%%lo(%0)\ndsll32 $2,$2,0\ndaddu $2,$2,$3\nmove $3,$0\nsd $2,0($4)")
	END
}

mips_release2() {
	cat <<-'END'
		CASE(void, out_multiplied, ADDRESS("$2") "mult $2,$3")
		CASE(void, out_half_replaced, ADDRESS("$2") "lwl $2,0($4)\nsw $2,0($4)")
		CASE(void, likely, ADDRESS("$2") "beqzl $4,1f\nmove $2,$0\nmove $2,$0\n1: sw $2,0($4)")
		CASE(void, out_likely, ADDRESS("$2") "beqzl $4,1f\nmove $2,$0\n1: sw $2,0($4)")
		CASE(void, made_in_likely_slot, UPPER("$2") "beqzl $4,1f\n" LOWER("$2")
			"sw $2,0($4)\nmove $2,$0\n1: lw $3,0($2)")
	END
}
mips64_release2() { { mips_release2; mips_wide; } | mips_followed; }
mips32_release2() {
	{
		mips_release2
		echo 'CASE(long long, out_second_half, ADDRESS("$3") "lw $2,0($3)")'
	} | mips_followed
}
@test "mips64: what becomes of an address in a register" {
	compilers=gcc-12 each_compiler mips64el mips64_release2
	compilers=gcc-12 each_compiler mips64 mips64_release2
}
@test "mips: what becomes of an address in a register" {
	compilers=gcc-12 each_compiler mipsel mips32_release2
	compilers=gcc-12 each_compiler mips mips32_release2
}

# Jumps without a delay slot; those in the function have relocations.
mips_release6() {
	cat <<-'END'
		CASE(void, out_multiplied, ADDRESS("$2") "mul $3,$2,$4\nsw $3,0($4)")
		CASE(void, multiplied, ADDRESS("$2") "mul $2,$3,$4\nsw $2,0($4)")
		CASE(void, compact, ADDRESS("$2") "beqzc $4,1f\nmove $2,$0\n1: lw $3,0($2)")
		CASE(void, out_zero, ADDRESS("$2") "beqzc $4,1f\nmove $2,$0\n1: sw $2,0($4)")
		CASE(void, out_behind, ADDRESS("$2") "beqzc $4,1f\nsw $2,0($5)\n1:")
		CASE(void, out_not_zero, ADDRESS("$2") "bnezc $4,1f\nmove $2,$0\n1: sw $2,0($4)")
		CASE(void, out_equal, ADDRESS("$2") "beqc $4,$5,1f\nmove $2,$0\n1: sw $2,0($4)")
		CASE(void, out_not_equal, ADDRESS("$2") "bnec $4,$5,1f\nmove $2,$0\n1: sw $2,0($4)")
		CASE(void, out_below, ADDRESS("$2") "bltuc $4,$5,1f\nmove $2,$0\n1: sw $2,0($4)")
		CASE(void, out_less, ADDRESS("$2") "bltc $4,$5,1f\nmove $2,$0\n1: sw $2,0($4)")
		CASE(void, out_positive, ADDRESS("$2") "bgtzc $4,1f\nmove $2,$0\n1: sw $2,0($4)")
		CASE(void, out_always, ADDRESS("$2") "bc 1f\nmove $2,$0\n1: sw $2,0($4)")
		CASE(void, out_linking, ADDRESS("$2") "bgezalc $4,1f\nnop\n1:")
		CASE(void, out_linking_zero, ADDRESS("$2") "beqzalc $4,1f\nnop\n1:")
		CASE(void, out_jump_in_slot, /* beqc at,v0 */
			ADDRESS("$2") "beqz $4,1f\n.word 0x20220001\n1: sw $2,0($4)")
		CASE(void, called_compactly, ADDRESS("$2") COUNT("$2") "balc ext\nsw $2,0($4)")
		CASE(void, out_called_compactly, ADDRESS("$2") COUNT("$2") "balc local\nsw $2,0($4)")
		CASE(void, out_argument_compactly, ADDRESS("$4") "balc ext")
		CASE(void, out_argument_by_register_compactly, ADDRESS("$4") "jalrc $3\nnop")
		CASE(void, made_behind, UPPER("$4") "balc ext\n" LOWER("$4") "lw $4,0($4)")
		CASE(long, out_returned_compactly, ADDRESS("$2") "jrc $31")
		CASE(long, returned_compactly, ADDRESS("$3") "jrc $31")
		CASE(void, out_with_offset, ADDRESS("$2") "jic $5,8")
		CASE(void, tail_compactly, ADDRESS("$2") "bc ext")
	END
}
mips64_release6() { { mips_release6; mips_wide; } | mips_followed; }

# Whether there is a result, and of what size, stands there.
mips_without_debuginfo() {
	flags+=(-g0)
	followed <<-'END'
		CASE(void, temporary, ADDRESS("$12") "lw $3,0($12)")
		CASE(void, out_result, ADDRESS("$2") "lw $3,0($2)")
		CASE(long, out_second, ADDRESS("$3") "lw $2,0($3)")
	END
}
@test "mips64: an address where a result would be, if there is one" {
	compilers=gcc-12 each_compiler mips64el mips_without_debuginfo
}

@test "mips64r6: what becomes of an address in a register" {
	compilers=gcc-12 each_compiler mips64r6el mips64_release6
}

# As the kernel's atomics are, with "ll" or the like at an offset of its own or none.
counting() {
	local inc=$1
	compare <<-END
		$inc
		extern long ext(long), take(long *);
		long *kept;
		NEW(static long calls, both, more[3], given, stored;)
		void nothing(void) { NEW(inc(&calls);) }
		long before(long x) { NEW(inc(&calls);) return ext(x) + 1; }
		long after(long x) { x = ext(x); NEW(inc(&calls);) return x; }
		long around(long x) { NEW(inc(&both);) x = ext(x); NEW(inc(&both);) return x; }
		long loop(long x) { for (; x; x--) { NEW(inc(&calls);) ext(x); } return x; }
		void either(long x) { NEW(inc(x ? &more[1] : &more[2]);) }
		long argument(long x) { NEW(inc(&given); take(&given);) return x; }
		void variable(long x) { NEW(inc(&stored); kept = &stored;) }
	END
	carries "nothing changed" "before changed" "after changed" "around changed" "loop changed" \
		"either changed" "argument changed" "variable changed"
	warned "address-escapes given" "address-escapes stored"
}

mips_counting() {
	local level=$1 d=d # "lld", "daddu"
	[ "${level#mips32}" = "$level" ] || d=''
	counting "static inline __attribute__((always_inline)) void inc(long *v)
		{
			long t;
			asm volatile(\".set push\\n.set $level\\nsync\\n1: ll$d %0, %1\\n${d}addu %0, 1\\n\"
				     \"sc$d %0, %1\\nbeqz %0, 1b\\n.set pop\" : \"=&r\"(t), \"+ZC\"(*v));
		}"
}
mips_counting_all() {
	local model
	for model in "-msym32" "-msym32 -mlong-calls" "-mno-sym32"; do
		echo "$model:"
		# shellcheck disable=SC2206 # several options, or none
		flags=($model)
		mips_counting "$level"
	done
}
@test "mips64: variables that are counted in" {
	local level=mips64r2
	compilers=gcc-12 each_compiler mips64el mips_counting_all
	compilers=gcc-12 each_compiler mips64 mips_counting_all
	level=mips64r6
	compilers=gcc-12 each_compiler mips64r6el mips_counting_all
}

mips32_counting() {
	local model
	for model in -mno-long-calls -mlong-calls; do
		echo "$model:"
		flags=("$model")
		mips_counting mips32r2
	done
}
@test "mips: variables that are counted in" {
	compilers=gcc-12 each_compiler mips mips32_counting
	compilers=gcc-12 each_compiler mipsel mips32_counting
}

# x0 would have the result of a function that has one.
arm64_counting() {
	compare <<-'END'
		static inline __attribute__((always_inline)) long inc(long *v)
		{
			long t;
			int f;
			asm volatile("1: ldxr %0, %2\nadd %0, %0, #1\nstxr %w1, %0, %2\ncbnz %w1, 1b"
				     : "=&r"(t), "=&r"(f), "+Q"(*v));
			return t;
		}
		NEW(static long calls, result;)
		void nothing(void) { NEW(inc(&calls);) }
		long number(long x) { NEW(x = inc(&calls);) return x; }
		long *address(long x) { NEW(inc(&result); return &result;) return 0; }
	END
	carries "nothing changed" "number changed" "address changed"
	warned "address-escapes result"
}
@test "arm64: variables that are counted in" { each_compiler arm64 arm64_counting; }

# Lockdep knows a lock by the address of its class's key.  Without lockdep keys are empty.
lock_class() {
	compare <<-END
		struct lock_class_key { $1 };
		void init_lock(int *lock, struct lock_class_key *key);
		void make(int *lock)
		{
			static struct lock_class_key __key;
			init_lock(lock, &__key);
			*lock = OLD(1) NEW(2);
		}
	END
	carries "make changed"
}
@test "the key of a lock's class escapes if it has bytes: the kernel keeps it for longer than the patch" {
	lock_class 'char bytes[8];'
	warned "address-escapes __key.0"
	lock_class ''
	warned
}
