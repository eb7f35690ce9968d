# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch-build for another machine than this one: the one-file example for Debian's arm64
# kernel, from its packages, by the cross tools, and what such a module must be like.

load helpers

setup_file() {
	use_kernel arm64 6.1
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# relocs SECTION - type and symbol of each of the module's relocations of that section.
relocs() {
	aarch64-linux-gnu-readelf -rW x.ko | awk -v section="'.rela$1'" '
		/^Relocation section/ { inside = $3 == section }
		inside && $3 ~ /^R_/ { print $3, $5 }'
}

@test "the one-file example: an arm64 module of this kernel" {
	"$program" -q -k "$release" -o x.ko "$top/examples/proc-version.patch"
	aarch64-linux-gnu-readelf -hW x.ko | grep -q 'Machine: *AArch64'
	[ "$(/sbin/modinfo -F depends ./x.ko)" = pokepatch ]
	[ "$(/sbin/modinfo -F pokepatch_kernel ./x.ko)" = "$release" ]
	[[ $(/sbin/modinfo -F vermagic ./x.ko) == "$release "*aarch64* ]]
	# Its entry can be traced and patched again, and the loader finds it.
	relocs __patchable_function_entries | grep -q '^R_AARCH64_ABS64 .text$'
	[ "$(aarch64-linux-gnu-objdump -d x.ko --disassemble=version_proc_show |
		awk '$3 == "nop"' | wc -l)" -eq 2 ]
	# What is exported is the loader's, with its veneers.
	[ "$(relocs .text | grep CALL26)" = "R_AARCH64_CALL26 seq_printf" ]
}

@test "the compiler is the kernel's, though the cross compiler is another" {
	# Its frame has a canary, whose place differs (CVE-2023-4039).
	"$program" -k "$release" --dry-run --report report "$top/examples/proc-uptime.patch" 2>err
	run -1 grep 'was compiled by' err
	[ "$(jq -r '.verify[] | select(.function == "uptime_proc_show").result' report)" = equal ]
	# Atomics have the address of a variable in a register, here until the function returns.
	run -1 grep address-escapes err
}

@test "calls of what is not exported load the address, and data by ADRP is not at a page's end" {
	edited fs/proc/version.c -e '/^static int version_proc_show/i extern int nr_processes(void);\nextern unsigned long total_forks;' \
		-e '0,/^\treturn 0;/s//\tseq_printf(m, "%d %lu", nr_processes(), total_forks);\n&/'
	# One changed unit calls what the other changes: the kernel's, by a veneer as well.
	edited lib/math/gcd.c -e 's/return r;/return r + 1;/'
	edited lib/math/lcm.c -e 's/ \* b;/ * b + 1;/'
	"$program" -q -k "$release" -o x.ko x.patch
	# The addresses in the two veneers, the pair of the variable, and that of linux_proc_banner.
	[ "$("$top/build/bin/pokepatch" info --json x.ko | jq .relocations)" -eq 6 ]
	aarch64-linux-gnu-objdump -d x.ko --disassemble=pokepatch_veneer.nr_processes |
		awk '$3 == "ldr" || $3 == "br" { printf "%s %s ", $3, $4 }' |
		grep -q '^ldr x16, br x16 '
	run -1 grep -E ' (nr_processes|total_forks)$' <(relocs .text)
	aarch64-linux-gnu-readelf -SW x.ko | awk '/ \.text / { print $NF }' | grep -q '^4096$'
}

@test "out of guarded code those calls jump as returns do, and the final check wants it" {
	# As -mbranch-protection=standard notes it: BTI and PAC by a note, or by attributes from gcc 16 on.
	for noted in '.note.gnu.property, \\"a\\"; .balign 8; .long 4, 16, 5; .asciz \\"GNU\\"; .long 0xc0000000, 4, 3, 0' \
		'.ARM.attributes, \\"\\", %0x70000003; .byte 65; .long 35; .asciz \\"aeabi_feature_and_bits\\"; .byte 1, 0, 0, 1, 1, 1, 2, 1'; do
		rm -f x.patch
		edited fs/proc/version.c -e "/^static int version_proc_show/i extern int nr_processes(void);\\nasm(\".pushsection $noted; .popsection\");" \
			-e '0,/^\treturn 0;/s//\tseq_printf(m, "%d", nr_processes());\n&/'
		"$program" -q -k "$release" -o x.ko x.patch
		aarch64-linux-gnu-objdump -d x.ko --disassemble=pokepatch_veneer_ret.nr_processes |
			awk '$3 == "ldr" || $3 == "ret" { printf "%s %s ", $3, $4 }' |
			grep -q '^ldr x16, ret x16 '
	done
}

@test "the architecture is told by vmlinux, and another one is refused" {
	run -1 "$program" -q -k "$release" --arch x86_64 -o x.ko "$top/examples/proc-version.patch"
	[[ $output == *"--arch x86_64: "*"is for arm64"* ]]
	run -1 "$program" -q -k "$release" --cross-compile none- -o x.ko "$top/examples/proc-version.patch"
	[[ $output == *"none-gcc-12 is not installed"*"apt-get install gcc-12-aarch64-linux-gnu"* ]]
	[ ! -e x.ko ]
}

@test "what is changed in a finished arm64 module is noticed" {
	run "$top/test/mutate/run" -n 30 -k "$release" "$top/examples/proc-version.patch"
	echo "$output"
	[ "$status" -eq 0 ]
	for what in .text __patchable_function_entries .plt .init.plt .modinfo __versions \
		.pokepatch.funcs .pokepatch.texts "type 257" "type 275" "type 277" "type 283"; do
		[[ $output == *$'\n'"  $what "* ]]
	done
}

@test "a source that vmlinux has more than once is refused, by whichever ways it is compiled" {
	# Also by its own name, or only by two ways with "..".
	edited arch/arm64/kvm/hyp/pgtable.c -e 's/^\treturn _kvm_pgtable_walk(&walk_data);/\tbarrier();\n&/'
	run -2 "$program" -q -k "$release" -o x.ko x.patch
	[[ $output == *"pgtable.c: refused [parent-unknown]: the kernel has its code more than once; what is compiled as arch/arm64/kvm/hyp/nvhe/../pgtable.c "* ]]
	rm x.patch
	edited arch/arm64/kvm/hyp/aarch32.c -e 's/^\tu32 pc = \*vcpu_pc(vcpu);/&\n\tbarrier();/'
	run -2 "$program" -q -k "$release" -o x.ko x.patch
	[[ $output == *"aarch32.c: refused [parent-unknown]: the kernel has its code more than once; "* ]]
	# This one once, by such a way.
	rm x.patch
	edited virt/kvm/eventfd.c -e 's/\tmutex_lock(&kvm->irqfds.resampler_lock);/&\n\tbarrier();/'
	"$program" -q -k "$release" -o x.ko x.patch
}

@test "a function whose computed gotos would lead into the old one is refused" {
	edited kernel/bpf/core.c -e 's/tail_call_cnt >= MAX_TAIL_CALL_CNT)/tail_call_cnt >= MAX_TAIL_CALL_CNT + 2)/'
	run -2 "$program" -q -k "$release" -o x.ko x.patch
	[[ $output == *"refused [section-needed]: 'jumptable."*"' leads into the kernel's '___bpf_prog_run'"* ]]
}
