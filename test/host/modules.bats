# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch-build: what changed code may refer to, with the kernel's real packages, and no
# guest.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# built STATUS TEXT... - the build ends so, and says each text.
built() {
	local status_wanted=$1 text
	shift
	run "$program" -q -k "$release" -o x.ko x.patch
	[ "$status" -eq "$status_wanted" ]
	for text; do
		[[ $output == *"$text"* ]]
	done
	[ "$status" -eq 0 ] || [ ! -e x.ko ]
}

@test "vmlinux must not rely on a module" {
	edited fs/proc/version.c -e '/^static int version_proc_show/i void nf_ct_port_nlattr_tuple_size(void);' \
		-e '0,/^\treturn 0;/s//\tnf_ct_port_nlattr_tuple_size();\n&/'
	built 2 "[symbol-in-module]: 'nf_ct_port_nlattr_tuple_size' is in module nf_conntrack"
}

@test "a module may rely on what it depends on" {
	edited net/netfilter/xt_conntrack.c -e 's/^\tct = nf_ct_get(skb, &ctinfo);/&\n\tif (skb->len == 77777)\n\t\tpr_info("seen\\n");/'
	built 0
	[ "$(/sbin/modinfo -F depends ./x.ko)" = pokepatch ]
}

@test "per-CPU variables: a module's own, and a new one with an unexported address" {
	edited net/netfilter/nf_dup_netdev.c -e 's/ > NF_RECURSION_LIMIT/& + 1/'
	built 0
	# Its place comes with the module, and the core looks for it.
	grep -q nf_dup_skb_recursion x.ko

	rm x.patch x.ko
	edited fs/proc/cmdline.c -e '/^static int/i extern void proc_root_init(void);' \
		-e '/^static int cmdline/i static DEFINE_PER_CPU(void *, place) = proc_root_init;' \
		-e '0,/^\treturn 0;/s//\tseq_printf(m, "%p", this_cpu_read(place));\n&/'
	built 2 "[relocation-in-percpu]" "'proc_root_init'"

	# The module loader makes no relocations there at all.
	rm x.patch
	edited fs/proc/cmdline.c \
		-e '/^static int cmdline/i static int value = 5; static DEFINE_PER_CPU(int *, place) = \&value;' \
		-e '0,/^\treturn 0;/s//\tseq_printf(m, "%d", *this_cpu_read(place));\n&/'
	built 2 "[relocation-in-percpu]" "'value'"
}

@test "a symbol that nobody has is told by name" {
	edited fs/proc/version.c -e '/^static int version_proc_show/i int not_there_at_all(void);' \
		-e '0,/^\treturn 0;/s//\treturn not_there_at_all();/'
	built 2 "[symbol-missing]" "'not_there_at_all'"
}

@test "an address that escapes to another file of the patch" {
	edited fs/proc/version.c -e '/^static int version_proc_show/i void late(void);\nvoid late(void) { pr_info("late\\n"); }'
	edited fs/proc/cmdline.c -e '/^static int cmdline/i void late(void);' \
		-e '0,/^\treturn 0;/s//\tm->private = late;\n&/'
	built 0 "warning [address-escapes]" "'late'"
}

@test "a tracepoint of the module itself is inert, and the site falls through" {
	edited fs/xfs/xfs_file.c -e 's/^\ttrace_xfs_file_fsync(ip);/&\n\tif (datasync == 77)\n\t\treturn -EINVAL;/'
	built 0 "warning [tracepoint-inert]: tracepoint 'xfs_file_fsync'"
	# The jump that the compiler left there is a NOP now, and the entry names no tracepoint.
	objdump -d --no-show-raw-insn x.ko | sed -n '/<xfs_file_fsync>:/,/^$/p' >code
	site=$(readelf -rW x.ko | sed -n '/rela__jump_table/,/^$/p' | awk '/\.text \+/ { print $NF; exit }')
	grep -qE "^ *$site:[[:space:]]+nopl" code
}

@test "the same name is not the same unit: statics of one of many core.c" {
	# kernel/events/core.c and kernel/sched/core.c are two of 21.
	edited kernel/events/core.c -e 's/^static int perf_mux_hrtimer_restart_ipi(void \*arg)$/static int perf_mux_hrtimer_restart_ipi(void *arg)/' \
		-e 's/^\treturn perf_mux_hrtimer_restart(arg);/\tif (!arg)\n\t\treturn 1;\n&/'
	built 0
}

# A package is read from its beginning for each, which takes seconds.
@test "the modules of all units come out of the package at once" {
	local real=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$release own=cache/pokepatch/kernels/$release
	mkdir -p "$own/dbg/usr/lib/debug/boot" "$own/dbg/usr/lib/debug/lib/modules/$release" bin
	cp -rs "$real"/{fetched,headers,image,packages,source} "$own/"
	ln -s "$real/dbg/usr/lib/debug/boot/vmlinux-$release" "$own/dbg/usr/lib/debug/boot/"
	printf '#!/bin/sh\necho "$*" >>"%s/read"\nexec /usr/bin/dpkg-deb "$@"\n' "$PWD" >bin/dpkg-deb
	chmod +x bin/dpkg-deb
	XDG_CACHE_HOME=$PWD/cache PATH=$PWD/bin:$PATH run "$program" -q -k "$release" -n two -o x.ko \
		"$top"/test/vm/patches/{brd-cleanup,dummy-setup}.patch
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(find "$own/dbg" -name '*.ko' -printf '%f ')" = "brd.ko dummy.ko " ] ||
		[ "$(find "$own/dbg" -name '*.ko' -printf '%f ')" = "dummy.ko brd.ko " ]
	[ "$(grep -c -e --fsys-tarfile read)" -eq 1 ]
	[ -z "$(find "$own" -name '*.tmp')" ]
}

@test "a new export is not made, and the modules of the patch need none" {
	edited fs/proc/version.c -e '/^static int version_proc_show/i int pp_twice(int a);\nint pp_twice(int a) { return a * 2; }\nEXPORT_SYMBOL_GPL(pp_twice);'
	edited net/netfilter/xt_conntrack.c -e 's/^\tct = nf_ct_get(skb, &ctinfo);/&\n\tif (pp_twice(skb->len) == 77776)\n\t\tpr_info("seen\\n");/' \
		-e '0,/^static bool/s//int pp_twice(int a);\n&/'
	built 0 "fs/proc/version.c:" "warning [export-new]: the new export of 'pp_twice' is not made"
	readelf -WS x.ko >sections
	! grep -q ksymtab sections || return 1
	readelf -Ws x.ko >symbols
	grep -q ' FUNC .* pp_twice$' symbols
	! grep -q ' UND pp_twice$' symbols || return 1

	# Alone it is nothing that a patch could do.
	rm x.patch x.ko
	edited fs/proc/version.c -e '$a EXPORT_SYMBOL_GPL(proc_create_single_data);'
	built 3 "warning [export-new]"
}
