# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Diffs that change headers, files that are new, renamed or removed, and helpers that are inlined.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# made - build x.patch; "UNIT PARENT" for each unit, and "FUNCTION CHANGE" for each function.
made() {
	"$program" -k "$release" --report report.json -o x.ko x.patch 2>said || {
		cat said
		return 1
	}
	jq -r '.units[] | .source + " " + .parent' report.json >units
	jq -r '.functions[] | .name + " " + .change' report.json >functions
}

# refused TEXT - the build ends with this refusal.
refused() {
	run -2 "$program" -q -k "$release" --dry-run x.patch
	[[ $output == *"$1"* ]] || {
		echo "$output"
		return 1
	}
}

@test "an inline function: the units whose code it is in, of those that include the header" {
	edited fs/proc/internal.h 's/^\treturn pde->flags & PROC_ENTRY_PERMANENT;/\treturn pde->namelen \&\& (pde->flags \& PROC_ENTRY_PERMANENT);/'
	made
	# 24 units include it; these two use the function.
	diff units - <<-END
		fs/proc/generic.c vmlinux
		fs/proc/inode.c vmlinux
	END
	grep -qx 'remove_proc_entry changed' functions
	grep -qx 'proc_reg_read changed' functions
	[ "$(grep -c changed functions)" -eq 13 ]
	grep -q 'changed headers may reach 24 units, have names that [0-9]* may mention, and matter to the code of 2$' said
}

@test "a macro of a header for user space: the unit of a module that expands it" {
	edited include/uapi/linux/msdos_fs.h 's/^#define FAT_STATE_DIRTY 0x01/#define FAT_STATE_DIRTY 0x03/'
	made
	[ "$(cat units)" = "fs/fat/inode.c fat" ]
}

@test "comments, and declarations that no code leads to: nothing to do" {
	edited fs/proc/internal.h -e '1a /* A comment. */' -e 's/^extern struct kmem_cache \*proc_dir_entry_cache;/&\nstruct new_one { int a; };\nstatic inline int new_function(struct new_one *one) { return one->a; }/'
	run -3 "$program" -k "$release" --dry-run x.patch
	[[ $output == *"may reach 24 units, have names that 0 may mention, and matter to the code of 0"* ]]
}

# generic.c exports: the types of that are as before, too.
@test "an inline function that is the same in other words: nothing to do, for units that export as well" {
	edited fs/proc/internal.h "s/^\treturn pde->flags & PROC_ENTRY_PERMANENT;/\treturn (pde->flags \& PROC_ENTRY_PERMANENT) + 0 * $((SRANDOM / 4));/"
	run -3 "$program" -V -k "$release" --dry-run x.patch
	grep -v '^+' <<<"$output"
	[[ $output == *"may reach 24 units, have names that "*" may mention, and matter to the code of 0"* ]]
	[ "$(grep -c ' fs/proc/generic.c -E -D__GENKSYMS__' <<<"$output")" -eq 1 ]
	[ "$(grep -c ' -D__GENKSYMS__' <<<"$output")" -eq "$(grep -c 'scripts/genksyms/genksyms' <<<"$output")" ]
}

# preprocessed - build x.patch, and print how many units were preprocessed, on one side or both.
preprocessed() {
	"$program" -V -k "$release" --report report.json --dry-run x.patch >said 2>&1
	jq -r '.units[].source' report.json | sort >units
	awk '$NF == "-E" { print $(NF - 1) }' said | sort -u | wc -l
}

# two_headers WORD - x.patch changes a header of generic.c and inode.c, and, with the word, one of others.
two_headers() {
	rm -f x.patch
	edited fs/proc/internal.h "s/^\treturn pde->flags & PROC_ENTRY_PERMANENT;/\treturn pde->size != $number \&\& (pde->flags \& PROC_ENTRY_PERMANENT);/"
	edited fs/proc/fd.h "s/^extern const struct inode_operations proc_fd_inode_operations/& __attribute__(($1_$number))/"
}

@test "what is found out of a unit is kept until a header that it may include differs" {
	local number=$((SRANDOM / 4)) first again compiled
	two_headers first
	touch begun
	first=$(preprocessed)
	cp units before
	grep -qx fs/proc/generic.c units
	# What was compiled to judge it is what the patch is made of.
	[ "$(grep -c ' -o [^ ]*/patched/fs:proc:inode/' said)" -eq 1 ]
	[ "$(preprocessed)" -eq 0 ]
	cmp before units
	two_headers second
	again=$(preprocessed)
	echo "$first units, and again $again"
	[ "$again" -ge 1 ]
	[ "$again" -le $((first - 2)) ]
	cmp before units
	# Of the original, what the code is compared with is kept; without it, the compiler runs.
	find "$source/.pokepatch/objects" -type f -newer begun ! -name growth -delete
	for compiled in 1 0; do
		number+=1
		two_headers second
		[ "$(preprocessed)" -ge 2 ]
		[ "$(grep -c ' -o [^ ]*/patched/fs:proc:inode/' said)" -eq 1 ]
		[ "$(grep -c ' -o [^ ]*/original/fs:proc:inode/' said)" -eq "$compiled" ]
	done
	cmp before units
}

@test "what compiles a new file is compiled each time, and the others are kept" {
	# Nothing of it is kept from another run.
	edited fs/proc/internal.h "s/^\treturn pde->flags & PROC_ENTRY_PERMANENT;/\treturn pde->size != $((SRANDOM / 4)) \&\& (pde->flags \& PROC_ENTRY_PERMANENT);/"
	edited fs/proc/generic.c 's/^#include "internal.h"/&\n#include "new.h"/'
	printf -- '--- /dev/null\n+++ b/fs/proc/new.h\n@@ -0,0 +1 @@\n+#define NEW_ONE 1\n' >>x.patch
	for round in 1 2; do
		"$program" -V -k "$release" --report report.json -n x -o "x$round.ko" x.patch >said 2>&1 ||
			{ grep -v '^+ \|^/' said | tail -n 12; cat x.patch; return 1; }
		sed -n 's|^.* -c -o [^ ]*/patched/[^ ]* \(fs/[^ ]*\) -Wp,-MMD.*|\1|p' said | sort -u >"compiled.$round"
	done
	cat compiled.1
	grep -qx fs/proc/inode.c compiled.1
	[ "$(cat compiled.2)" = fs/proc/generic.c ]
	cmp x1.ko x2.ko
}

@test "objects that differ by numbers of unique names are equal (__COUNTER__)" {
	# A name that no verdict is kept for.
	edited fs/fat/fat.h "s/^\treturn sb->s_fs_info;/\treturn (sb->s_fs_info);/; s/^static inline struct msdos_sb_info \*MSDOS_SB(/static inline void never_$((SRANDOM / 4))(int a) { BUILD_BUG_ON(a == 1); }\n&/"
	run -3 "$program" -V -k "$release" --dry-run x.patch
	# Nine units use the function; five of them export symbols, of which the types are as before.
	[[ $output == *"have names that 9 may mention, and matter to the code of 0"* ]]
	# It is compiled to compare the code, and kbuild is not asked for it.
	[ "$(grep -c ' -o [^ ]*/patched/fs:fat:namei_vfat/' <<<"$output")" -eq 1 ]
}

@test "an #include of what all units have included by then changes none" {
	edited include/linux/file.h 's/^#include <linux\/types.h>/&\n#include <linux\/compiler.h>/'
	run -3 "$program" -k "$release" --dry-run x.patch
	[[ $output =~ have\ names\ that\ ([0-9]+)\ may\ mention,\ and\ matter\ to\ the\ code\ of\ 0 ]] || {
		echo "$output"
		return 1
	}
	# Those that are left have #include lines by macros in front of it.
	[ "${BASH_REMATCH[1]}" -lt 500 ]
}

@test "a header that kbuild makes is made before a unit that includes it is judged" {
	local main=net/ipv4/netfilter/nf_nat_snmp_basic_main.o asn1=net/ipv4/netfilter/nf_nat_snmp_basic.asn1
	# A name that no verdict is kept for.
	edited include/linux/netfilter/nf_conntrack_snmp.h \
		"s/^extern int/extern __attribute__((never_$((SRANDOM / 4)))) int/"
	rm -f "$source/$asn1".[ch] "$source/$main" "$source/.pokepatch/done/$main"*
	run "$program" -k "$release" --dry-run x.patch
	echo "$output"
	[[ $output == *"may reach 2 units, have names that 2 may mention, and matter to the code of 1"* ]]
	[ -s "$source/$asn1.h" ]
}

@test "a header is found by way of another folder" {
	# acpiphp_glue.c includes "../pci.h".
	edited drivers/pci/pci.h 's/^\treturn test_bit(PCI_DEV_ADDED, &dev->priv_flags);/\treturn dev->vendor \&\& test_bit(PCI_DEV_ADDED, \&dev->priv_flags);/'
	made
	grep -qx 'drivers/pci/hotplug/acpiphp_glue.c vmlinux' units
	grep -qx 'drivers/pci/bus.c vmlinux' units
	# The way is kept, too: without the objects, the same functions are changed.
	cp functions before
	find "$source/.pokepatch/objects" -type f -size +8 -delete
	made
	cmp before functions
}

# btf.c includes a file of tools by "..", which is found out when it is preprocessed.
@test "of units that are judged together, those are preprocessed again that went by another folder" {
	edited include/linux/btf.h "/^static inline u32 __btf_member_bitfield_size(/,/^}/s/BTF_MEMBER_BITFIELD_SIZE(member->offset)/(& + 0 * $SRANDOM)/"
	run -3 "$program" -V -k "$release" -o x.ko x.patch
	[ "$(grep -c ' kernel/bpf/btf.c -E$' <<<"$output")" -eq 4 ]
	[ "$(grep -c ' kernel/bpf/bpf_struct_ops.c -E$' <<<"$output")" -eq 2 ]
}

@test "a source that another folder's makefile compiles, by a name with .." {
	edited virt/kvm/eventfd.c '/^irqfd_shutdown(/,/^}/s/^\tu64 cnt;/&\n\n\tpr_info_once("shut down\\n");/'
	made
	[ "$(cat units)" = "arch/x86/kvm/../../../virt/kvm/eventfd.c kvm" ]
	grep -qx 'irqfd_shutdown changed' functions
}

@test "sources of the kernel in folders of programs: BPF's relocations are compiled, libbpf is not" {
	edited tools/lib/bpf/relo_core.c '/^\tif (depth < 0)/,/return/s/-EINVAL/-EPERM/'
	printf '%s\n' '--- a/tools/lib/bpf/libbpf.c' '+++ b/tools/lib/bpf/libbpf.c' '@@ -1 +1 @@' '-x' '+y' >>x.patch
	"$program" -k "$release" --report report.json -n x -o x.ko x.patch >said 2>&1
	cat said
	[ "$(jq -r '.functions[] | .name + " " + .change' report.json)" = \
		$'__bpf_core_types_are_compat changed\n__bpf_core_types_match changed' ]
	grep -q '^note: tools/lib/bpf/libbpf.c: left out: nothing in the kernel is compiled from it$' said
}

@test "a source in such a folder includes a header that changes" {
	edited include/linux/btf.h '/^static inline bool btf_kind_core_compat(/,/^}/s/return \(BTF_INFO_KIND(t1->info) == BTF_INFO_KIND(t2->info)\)/return (t1 != t2 \&\& \1)/'
	made
	[ "$(cat units)" = "tools/lib/bpf/relo_core.c vmlinux" ]
	grep -q ' changed$' functions
}

@test "an #endif moves over a statement" {
	edited include/net/inet_connection_sock.h '/^static inline void inet_csk_clear_xmit_timer(/,/^}/ {
		/sk_stop_timer(sk, &icsk->icsk_delack_timer)/ { h; d }
		/^#endif/G
	}'
	made
	grep -qx '__tcp_transmit_skb changed' functions
}

@test "new and renamed headers, and sources that are included; what is left is refused" {
	cat >x.patch <<-'END'
		diff --git a/fs/proc/banner.h b/fs/proc/banner.h
		new file mode 100644
		--- /dev/null
		+++ b/fs/proc/banner.h
		@@ -0,0 +1,2 @@
		+#include "banner.c"
		+#define BANNER new_banner()
		diff --git a/fs/proc/banner.c b/fs/proc/banner.c
		new file mode 100644
		--- /dev/null
		+++ b/fs/proc/banner.c
		@@ -0,0 +1 @@
		+static noinline const char *new_banner(void) { return "%s %s %s, anew\n"; }
	END
	edited fs/proc/version.c 's/^#include "internal.h"/&\n#include "banner.h"/; s/seq_printf(m, linux_proc_banner,/seq_printf(m, BANNER,/'
	made
	[ "$(sort functions)" = $'new_banner new\nversion_proc_show changed' ]
	# What nothing includes is part of no object; an #include that #if leaves out is none.
	sed 's/^+#include "banner.c"/+#if 0\n&\n+#endif/; s/^+#define BANNER.*/+#define BANNER "%s %s %s\\n"/; s/@@ -0,0 +1,2 @@/@@ -0,0 +1,4 @@/' x.patch >y.patch
	run -2 "$program" -q -k "$release" --dry-run y.patch
	[[ $output == *"fs/proc/banner.c: refused [new-file]"* ]]
	sed -i '/^diff --git a\/fs\/proc\/banner.h/,/BANNER new_banner/d' x.patch
	sed -i 's/#include "banner.h"/\/* none *\//; s/BANNER,/"",/' x.patch
	refused "fs/proc/banner.c: refused [new-file]"
	printf '%s\n' 'diff --git a/fs/proc/internal.h b/fs/proc/inside.h' 'similarity index 100%' \
		'rename from fs/proc/internal.h' 'rename to fs/proc/inside.h' >x.patch
	run -1 "$program" -q -k "$release" --dry-run x.patch
	[[ $output == *"internal.h: No such file"* ]]
	printf '%s\n' 'diff --git a/fs/proc/version.c b/fs/proc/version.c' 'new file mode 100644' \
		'--- /dev/null' '+++ b/fs/proc/version.c' '@@ -0,0 +1 @@' '+int x;' >x.patch
	run -1 "$program" -q -k "$release" --dry-run x.patch
	[[ $output == *"fs/proc/version.c: the diff makes this file, which the source has already"* ]]
}

@test "assembly, its constants and the vDSO: refused when they would change" {
	edited arch/x86/entry/calling.h 's/^\.macro PUSH_REGS .*/&\n\tnop/'
	# Another header of the same files, which changes none.
	edited arch/x86/include/asm/percpu.h 's/^#ifdef CONFIG_X86_64/#define UNUSED_HERE 1\n&/'
	refused "arch/x86/entry/calling.h: refused [assembly-changed]: it changes arch/x86/entry/entry_64"
	[[ $output != *"percpu.h: refused"* ]]
	rm x.patch
	edited arch/x86/include/asm/suspend_64.h 's/^\tstruct pt_regs regs;/\tlong before;\n&/'
	refused "arch/x86/include/asm/suspend_64.h: refused [assembly-changed]: it changes arch/x86/kernel/asm-offsets.c"
	rm x.patch
	# kbuild makes these constants only when it compiles the assembly that includes them.
	edited arch/x86/kvm/svm/svm.h 's/^struct vcpu_svm {/&\n\tlong before;/'
	refused "arch/x86/kvm/svm/svm.h: refused [assembly-changed]: it changes arch/x86/kvm/kvm-asm-offsets.c"
	rm x.patch
	edited arch/x86/include/asm/vdso/gettimeofday.h 's/^static u64 vread_pvclock(void)/int marker;\n&/'
	refused "arch/x86/include/asm/vdso/gettimeofday.h: refused [vdso-changed]"
}

# ---- helpers that are inlined into functions which run at initialisation only ----------------

# uid_hash_insert() is inlined into alloc_uid() and into uid_cache_init(), which is __init.
helper='s/^\thlist_add_head(&up->uidhash_node, hashent);/\tWRITE_ONCE(up->uid, up->uid);\n&/'

init_refused() {
	run -2 "$program" -q -k "$release" --dry-run x.patch
	[[ $output == *"refused [init-changed]: 'uid_cache_init' runs"* ]]
}

@test "only a helper is changed: a warning" {
	edited kernel/user.c "$helper"
	"$program" -q -k "$release" --report report.json -o x.ko x.patch
	[ "$(jq -r '.functions[] | .name + " " + .change' report.json)" = "alloc_uid changed" ]
	[ "$(jq -r '.refusals[] | .code + " " + .subject' report.json)" = "init-inlined uid_cache_init" ]
}

# drbg_max_addtl() is inlined into drbg_init(), by way of drbg_healthcheck_sanity().
@test "only a helper of a module's init is changed: a warning, too" {
	edited include/crypto/drbg.h 's/return U32_MAX - 1;/return U32_MAX - 2;/'
	"$program" -q -k "$release" --report report.json -o x.ko x.patch
	[ "$(jq -r '.refusals[] | select(.code | startswith("init")) | .code + " " + .subject' report.json)" = "init-inlined init_module" ]
	rm x.patch
	edited crypto/drbg.c '/^static int __init drbg_init/,/^}/s/ARRAY_SIZE(drbg_cores) \* 2/ARRAY_SIZE(drbg_cores) * 3/'
	run -2 "$program" -q -k "$release" --dry-run x.patch
	[[ $output == *"crypto/drbg.c:"[0-9]*": refused [init-changed]: 'init_module' runs"* ]]
}

# Lines above and below it do not count.
@test "the lines around the function are changed, too" {
	edited kernel/user.c -e "$helper" -e 's/^static int __init uid_cache_init/static int added;\nint *where_added(void) { return \&added; }\n\n&/' \
		-e '/^subsys_initcall(uid_cache_init)/i /* A comment. */'
	"$program" -q -k "$release" --report report.json -o x.ko x.patch
	[ "$(jq -r '.refusals[] | select(.code | startswith("init")) | .code + " " + .subject' report.json)" = "init-inlined uid_cache_init" ]
}

@test "the function itself is changed: refused" {
	edited kernel/user.c -e "$helper" -e '/^static int __init uid_cache_init/,/^}/s/n < UIDHASH_SZ/n + 1 < UIDHASH_SZ/'
	init_refused
	rm x.patch
	edited kernel/user.c -e "$helper" -e '/Insert the root user immediately/i\	n = 0;'
	init_refused
	rm x.patch
	edited kernel/user.c -e "$helper" -e '/^static int __init uid_cache_init/,/^}/{ /user_epoll_alloc/,+1d }'
	init_refused
	rm x.patch
	edited kernel/user.c -e "$helper" -e 's/^static int __init uid_cache_init(void)/static int __init uid_cache_init( void )/'
	init_refused
}
