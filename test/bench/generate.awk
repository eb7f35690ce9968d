# SPDX-License-Identifier: GPL-2.0-or-later
# Assembly of a large unit as gcc -ffunction-sections -fdata-sections writes it, for
# `make bench` and the tests:
#
#	awk -v functions=16000 -v side=orig -f generate.awk | as -o orig.o -
#
# Each function has five sections: its code, a variable with a pointer, a counter, and
# the relocations of the first two.  One in ten has a static local of a name that they
# share ("state.17").  In the patched side (side=patched) every hundredth function adds
# another constant, everything is in another order, and the numbers of static locals
# are others.

# A permutation of 0 .. functions - 1 for each side: i -> i * step + shift.
function gcd(a, b) { return b ? gcd(b, a % b) : a }

function shuffled(i) { return (i * step + shift) % functions }

function variable(name, section, type, words) {
	printf "\t.section %s,\"aw\",@%s\n\t.align 8\n\t.type %s, @object\n\t.size %s, 8\n%s:\n%s\n",
		section, type, name, name, name, words
}

function emit(i, local) {
	printf "\t.section .text.function_%d,\"ax\",@progbits\n\t.p2align 4\n", i
	if (i % 4 == 0)
		printf "\t.globl function_%d\n", i
	printf "\t.type function_%d, @function\nfunction_%d:\n1:\tcall __fentry__\n", i, i
	print "\t.section __mcount_loc,\"a\",@progbits\n\t.quad 1b\n\t.previous"
	printf "\tmovl table_%d(%%rip), %%eax\n", i
	printf "\taddl $%d, %%eax\n", 1000 + i % 7 + (side == "patched" && i % 100 == 50)
	printf "\taddl %%eax, counter_%d(%%rip)\n", i
	if (i % 10 == 3) {
		local = "state." (side == "patched" ? functions - i : i)
		printf "\tincl %s(%%rip)\n", local
	}
	printf "\tcall function_%d\n", (i * 7 + 5) % functions
	printf "\tmovq $.Ltext_%d, %%rdi\n\tcall external_%d\n", i % 97, i % 1000
	print "\tjmp __x86_return_thunk"
	printf "\t.size function_%d, .-function_%d\n", i, i
	variable("table_" i, ".data.table_" i, "progbits",
		"\t.quad function_" ((i * 3 + 1) % functions))
	variable("counter_" i, ".bss.counter_" i, "nobits", "\t.zero 8")
	if (i % 10 == 3)
		variable(local, ".data." local, "progbits", "\t.quad " i)
}

BEGIN {
	shift = side == "patched" ? int(functions / 3) : 0
	for (step = side == "patched" ? int(functions * 0.618) : 1; gcd(step, functions) != 1; step++)
		;
	print "\t.file \"generated.c\"\n\t.section .rodata.str1.1,\"aMS\",@progbits,1"
	for (i = 0; i < 97; i++)
		printf ".Ltext_%d:\n\t.string \"message %d of the generated unit\"\n", i, i
	for (i = 0; i < functions; i++)
		emit(shuffled(i))
}
