# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch-build for a MIPS64 kernel that was built here, through pokepatch-as.

load helpers

setup_file() {
	export release kernel source
	release=$("$top/test/vm/kernels/build" mips64el "$(cat "$top/build/kernel-release")")
	kernel=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$release
	# Prepares the source, and compiles the core.
	source=$("$program" -V -k "$release" --dry-run "$top/examples/proc-version.patch" 2>&1 |
		grep -o "$kernel/tree-[0-9a-f]*" | sort -u)
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	elf=mips64el-linux-gnuabi64
}

# relocs SECTION - type and symbol of each of the module's relocations of that section.
relocs() {
	"$elf-readelf" -rW x.ko | awk -v section="'.rela$1'" '
		/^Relocation section/ { inside = $3 == section }
		inside && $3 ~ /^R_/ { print $3, $5 }'
}

# nops FUNCTION - how many it begins with.
nops() {
	"$elf-objdump" -dz x.ko --disassemble="$1" |
		awk '/^ / && $3 != "nop" { exit } /^ / { n++ } END { print n + 0 }'
}

@test "the one-file example: a MIPS64 module of this kernel" {
	"$program" -q -k "$release" -o x.ko "$top/examples/proc-version.patch"
	"$elf-readelf" -hW x.ko | grep -q 'Flags:.*mips64r2'
	# The program that loads it reads its tables by their relocations, r_info of which is MIPS's own.
	"$top/build/bin/pokepatch" info x.ko | grep -q version_proc_show
	[ "$(/sbin/modinfo -F depends ./x.ko)" = pokepatch ]
	[ "$(/sbin/modinfo -F pokepatch_kernel ./x.ko)" = "$release" ]
	[[ $(/sbin/modinfo -F vermagic ./x.ko) == "$release "*MIPS64_R2* ]]
	# Its entry is where the kernel's are, and as long.
	relocs __patchable_function_entries | grep -q '^R_MIPS_64 .text$'
	[ "$(nops version_proc_show)" -eq 4 ]
	# No call leads out of the module by itself: the loader would refuse it.
	run -1 grep -E 'R_MIPS_(26|PC)' <(relocs .text | grep -vE ' (\.text|pokepatch_veneer.*)$')
	relocs .text | grep -q '^R_MIPS_HI16 seq_printf$'
	relocs .text | grep -q '^R_MIPS_LO16 seq_printf$'
}

@test "calls of what is not exported, and one with something in \$at" {
	edited fs/proc/version.c -e '/^static int version_proc_show/i #include <linux/uaccess.h>\nextern int nr_processes(void);\nextern unsigned long total_forks;' \
		-e '0,/^\treturn 0;/s//\tseq_printf(m, "%d %lu", nr_processes(), total_forks);\n\tif (m->count == 1 \&\& copy_from_user(m->buf, (void __user *)8, 9))\n\t\treturn -EFAULT;\n&/'
	"$program" -q -k "$release" -o x.ko x.patch
	run -1 grep -E ' (nr_processes|total_forks)$' <(relocs .text)
	"$elf-objdump" -d x.ko --disassemble=pokepatch_veneer.nr_processes | awk '$3 == "lui"' |
		grep -q at,
	# asm/uaccess.h: the address of the end is handed over in the delay slot.
	"$elf-objdump" -d x.ko --disassemble=version_proc_show | grep -A 1 -w jal | grep -w daddu |
		grep -q at,
	"$elf-objdump" -d x.ko --disassemble=pokepatch_veneer_t8.__raw_copy_from_user |
		awk '$3 == "lui"' | grep -q t8,
}

@test "switched with the machine stopped, markers too; live is refused" {
	"$program" -q -k "$release" --instrument -o x.ko "$top/test/bench/int-pow-marks.patch" -D BENCH=2
	"$top/build/bin/pokepatch" info x.ko
	"$top/build/bin/pokepatch" info x.ko | grep -qw stop
	run -1 "$program" -q -k "$release" --transition live -o y.ko "$top/examples/proc-version.patch"
	[ "$output" = "pokepatch-build: --transition live: on mips pokepatch switches patches only with the machine stopped; use stop" ]
	[ ! -e y.ko ]
}

@test "the folder in which a kernel was built says all" {
	"$program" -q -k "$release" -o named.ko -n same "$top/examples/proc-version.patch"
	"$program" -q --kbuild "$kernel/headers/usr/src/linux-headers-$release" -o folder.ko -n same \
		"$top/examples/proc-version.patch"
	cmp named.ko folder.ko
}

@test "a kernel without entries, and one far away, are refused" {
	echo 'void _stext(void) {}' >x.c
	"$elf-gcc-12" -g -mno-abicalls -fno-pic -c -o x.o x.c
	"$elf-ld" --build-id -e _stext -Ttext=0xffffffff80100000 -o vmlinux x.o
	run -2 "$program" -k "$release" -v vmlinux -o x.ko "$top/examples/proc-version.patch"
	[[ $output == *"vmlinux: refused [no-entry]: "*pokepatch-as* ]]
	"$elf-gcc-12" -g -mno-abicalls -fno-pic -fpatchable-function-entry=4 -c -o x.o x.c
	"$elf-ld" --build-id -e _stext -Ttext=0xa800000000100000 -o vmlinux x.o
	run -2 "$program" -k "$release" -v vmlinux -o x.ko "$top/examples/proc-version.patch"
	[[ $output == *"vmlinux: refused [relocation-out-of-reach]: "* ]]
	[ ! -e x.ko ]
}

@test "what is changed in a finished MIPS64 module is noticed" {
	# Branches by a key that is not exported: the likely one, and both.
	for branch in likely unlikely; do
		edited fs/proc/cmdline.c -e "/^static int cmdline_proc_show/i #include <linux/delayacct.h>" \
			-e "/^\tseq_puts/i \\\tif (static_branch_$branch(\&delayacct_key)) seq_puts(m, \"on\");"
		mv x.patch "$branch.patch"
		"$program" -q -k "$release" -o x.ko "$branch.patch"
		[ "$(relocs __jump_table | wc -l)" -eq 3 ]
	done
	# A fault in user space, with its fixup, and a branch by a static key.
	edited kernel/sys.c 's/^\t\terr |= put_user(cpu, cpup);/\t\terr |= put_user(cpu + 7, cpup);/'
	edited net/core/dev.c '/^static int netif_rx_internal/,/^}/s/^\tnet_timestamp_check(/\tif (skb->len == 77777)\n\t\tpr_info("odd\\n");\n&/'
	# A jump table: addresses within its function, in data.
	edited fs/proc/version.c "/^\tseq_printf/i \\\tswitch (m->count + m->size) { $(
		for i in 1 2 3 4 5 6 7 8; do echo -n "case $i: seq_puts(m, \"$i$i\"); m->index += $i; break; "; done) }"
	"$program" -q -k "$release" -o x.ko x.patch
	[ "$(relocs .rodata | grep -c '^R_MIPS_64 .text$')" -ge 8 ]
	run "$top/test/mutate/run" -n 20 -k "$release" "$top/examples/proc-version.patch" x.patch \
		likely.patch unlikely.patch
	echo "$output"
	[ "$status" -eq 0 ]
	for what in .text .fixup __ex_table __jump_table __patchable_function_entries .rodata .modinfo __versions \
		.pokepatch.funcs .pokepatch.texts "type 4" "type 5" "type 6" "type 18"; do
		[[ $output == *$'\n'"  $what "* ]]
	done
}
