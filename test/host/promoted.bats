# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Statics that a diff makes global, so that its other files can use them: the kernel has them as
# local symbols, and the patch uses those.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# uses_kernels NAME PARENT SYMBOL... - the module x.ko replaces NAME, and has no code or data for
# the symbols of the parent, which the core finds.
uses_kernels() {
	local name=$1 parent=$2 symbol
	shift 2
	nm x.ko
	nm x.ko | grep -q " t $name$"
	for symbol; do
		run -1 grep -q " $symbol$" <(nm x.ko)
		objcopy -O binary -j .pokepatch.strings --set-section-flags .pokepatch.strings=alloc x.ko strings.bin
		tr '\0' '\n' <strings.bin | grep -qx "$symbol"
		tr '\0' '\n' <strings.bin | grep -qx "$parent"
	done
}

# The unit that uses it is compared before the one that defines it, and after it.
@test "a function and a variable, in the order of the units and against it" {
	edited fs/proc/version.c 's/^static int version_proc_show/int version_proc_show/'
	cp x.patch version.patch
	edited fs/proc/uptime.c -e '/^static int uptime_proc_show/i extern int version_proc_show(struct seq_file *m, void *v);' \
		-e 's/^\tidle_nsec = 0;/\tversion_proc_show(m, v);\n&/'
	"$program" -q -k "$release" -o x.ko x.patch
	uses_kernels uptime_proc_show vmlinux version_proc_show

	mv version.patch x.patch
	edited kernel/panic.c -e 's/^static long no_blink/long no_blink/' -e 's/^static unsigned long tainted_mask/unsigned long tainted_mask/'
	edited kernel/utsname_sysctl.c -e '/^static int proc_do_uts_string/i extern unsigned long tainted_mask; extern int version_proc_show(void *m, void *v);' \
		-e 's/^\tuts_table.data = tmp_data;/&\n\tif (tainted_mask == 0x1234567) version_proc_show(0, 0);/'
	"$program" -q -k "$release" -o x.ko x.patch
	uses_kernels proc_do_uts_string vmlinux tainted_mask version_proc_show
}

@test "one that changes too is called where the kernel has it" {
	edited fs/proc/version.c -e 's/^static int version_proc_show/int version_proc_show/' \
		-e 's/utsname()->sysname,/"Patched",/'
	edited fs/proc/uptime.c -e '/^static int uptime_proc_show/i extern int version_proc_show(struct seq_file *m, void *v);' \
		-e 's/^\tidle_nsec = 0;/\tversion_proc_show(m, v);\n&/'
	"$program" -q -k "$release" --report report.json -o x.ko x.patch
	[ "$(jq -r '.functions[].name' report.json | sort | tr '\n' ' ')" = "uptime_proc_show version_proc_show " ]
	# Two rows for what both functions use, and one for the call.
	"$top/build/bin/pokepatch" info x.ko | grep '^relocations: *3$'
}

@test "in a module, and from a module in vmlinux" {
	edited fs/fuse/dir.c 's/^static int fuse_permission/int fuse_permission/'
	edited fs/proc/version.c 's/^static int version_proc_show/int version_proc_show/'
	edited fs/fuse/control.c -e '/^static ssize_t fuse_conn_abort_write/i extern int fuse_permission(void *, void *, int); extern int version_proc_show(void *, void *);' \
		-e '/^static ssize_t fuse_conn_abort_write/,/^}/s/^\treturn count;/\tif (count == 12345) version_proc_show(0, 0), fuse_permission(0, 0, 0);\n&/'
	"$program" -q -k "$release" -o x.ko x.patch
	uses_kernels fuse_conn_abort_write fuse fuse_permission
	uses_kernels fuse_conn_abort_write vmlinux version_proc_show
}

@test "of a module, from a unit that may run without it" {
	edited fs/fuse/dir.c 's/^static int fuse_permission/int fuse_permission/'
	edited fs/proc/uptime.c -e '/^static int uptime_proc_show/i extern int fuse_permission(void *, void *, int);' \
		-e 's/^\tidle_nsec = 0;/\tfuse_permission(0, 0, 0);\n&/'
	run -2 "$program" -q -k "$release" -o x.ko x.patch
	[[ $output == *"refused [symbol-in-module]: 'fuse_permission' is in module fuse"* ]]
}


# net/ipv6/calipso.c and net/netlabel/netlabel_calipso.c have a function of this name each.
@test "of a name that the kernel has already" {
	edited net/ipv6/calipso.c 's/^static int calipso_cache_add/int calipso_cache_add/'
	run -2 "$program" -q -k "$release" -o x.ko x.patch
	[[ $output == *"refused [symbol-twice]: 'calipso_cache_add' is"* ]]
}
