# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Statics that a diff makes global, so that its other files can use them: the kernel has them as
# local symbols, and the patch uses those.  And constant tables of the kernel that a patch carries
# with all their users, and those that it cannot.

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

@test "a new function of a module, from units that may run without it" {
	edited lib/crc7.c '/^EXPORT_SYMBOL(crc7_be_syndrome_table);/a u8 crc7_new(void);\nu8 noinline crc7_new(void) { return crc7_be_syndrome_table[sizeof(long)]; }'
	edited fs/binfmt_misc.c 's/^\tchar \*s = enabled ?/\textern u8 crc7_new(void);\n\tchar *s = enabled \&\& crc7_new() ?/'
	run -2 "$program" -q -k "$release" -o x.ko x.patch
	[[ $output == *"fs/binfmt_misc.c: refused [symbol-in-module]: 'crc7_new' is new in module crc7, which need not be loaded when this code runs: binfmt_misc does not depend on it"* ]]
	rm x.patch
	edited fs/fuse/dir.c '/^static int fuse_permission/i int fuse_new(void);\nint noinline fuse_new(void) { return 4711; }'
	edited fs/proc/uptime.c -e '/^static int uptime_proc_show/i extern int fuse_new(void);' -e 's/^\tidle_nsec = 0;/\tidle_nsec = fuse_new();/'
	run -2 "$program" -q -k "$release" -o x.ko x.patch
	[[ $output == *"'fuse_new' is new in module fuse, which need not be loaded when this code runs: vmlinux does not depend on it"* ]]
}

# vmlinux exports the first, and not the second.
@test "a new function of a module of a name that vmlinux has" {
	local name type parameters
	while read -r name parameters type; do
		parameters=${parameters//+/ }
		rm -f x.patch
		edited fs/proc/loadavg.c 's/%u\/%d %d/%u\/%d  %d/'
		edited fs/fuse/control.c "/^static ssize_t fuse_conn_abort_write/i $type $name$parameters;\n$type $name$parameters { return ($type)4711; }"
		"$program" -q -k "$release" -o x.ko x.patch
		nm x.ko | grep -q " T $name.fuse\$"
		run -1 grep -q " T $name\$" <(nm x.ko)
	done <<-'END'
		task_active_pid_ns (struct+task_struct+*task) struct pid_namespace *
		nr_running (void) unsigned int
	END
}

# net/ipv6/calipso.c and net/netlabel/netlabel_calipso.c have a function of this name each.
@test "of a name that the kernel has already" {
	edited net/ipv6/calipso.c 's/^static int calipso_cache_add/int calipso_cache_add/'
	run -2 "$program" -q -k "$release" -o x.ko x.patch
	[[ $output == *"refused [symbol-twice]: 'calipso_cache_add' is"* ]]
}

@test "an alias of the name of a weak function of the kernel" {
	edited kernel/kexec.c 's/^#ifdef CONFIG_COMPAT$/int my_cmp(struct page *a, struct page *b);\nint my_cmp(struct page *a, struct page *b) { return a == b; }\nint memcmp_pages(struct page *, struct page *) __attribute__((alias("my_cmp")));\n&/'
	run -2 "$program" -q -k "$release" -o x.ko x.patch
	[[ $output == *"refused [symbol-twice]: 'memcmp_pages' is a new global here"*"has a weak one of that name"* ]]
}

# replaced - the changed functions and data that the report names.
replaced() {
	jq -r '(.functions + .data)[] | select(.change == "changed") | .name' report.json | sort | tr '\n' ' '
}

@test "names that two files of /proc print" {
	edited fs/proc/array.c 's/"R (running)"/"R (ran)"/'
	"$program" -q -k "$release" --report report.json -o x.ko x.patch
	[ "$(replaced)" = "do_task_stat proc_pid_status task_state_array " ]
	# The names may have been kept, so the module stays.
	[ "$(jq -r '.refusals[].code' report.json)" = address-escapes ]
}

@test "a policy of netlink attributes that functions of the unit alone parse with" {
	edited net/core/net_namespace.c '/^\t\[NETNSA_FD\]/s/NLA_U32/NLA_U16/'
	"$program" -q -k "$release" --report report.json -o x.ko x.patch
	[[ "$(replaced)" == *"rtnl_net_getid rtnl_net_newid rtnl_net_policy "* ]]
	[ "$(jq -r '.refusals[].code' report.json | sort | tr '\n' ' ')" = "address-escapes constant-kept " ]
}

# struct genl_family has its address, and genetlink.c uses it.
@test "a policy that a generic netlink family has" {
	edited net/core/drop_monitor.c '/^\t\[NET_DM_ATTR_TRUNC_LEN\]/s/NLA_U32/NLA_U16/'
	run -2 "$program" -q -k "$release" -o x.ko x.patch
	[[ $output == *"refused [data-changed]: constant 'net_dm_nl_policy' differs, and 'net_drop_monitor_family' would go on using the old one"* ]]
}

# The proof reads the unchanged source's object itself.  Let a function of that refer to the table
# which the module does not replace.
@test "the proof wants all users of a constant replaced" {
	edited fs/proc/array.c 's/"R (running)"/"R (ran)"/'
	"$program" -q -k "$release" --keep kept -o x.ko x.patch
	"$top/build/test/mutate/mutate" -n 1 kept || [ $? -eq 1 ] # it accepts the module as it is
	local orig
	orig=$(sed -n 's/^orig //p' kept/proof.txt)
	gcc -x assembler -c -o user.o - <<-'END'
		.section .text.user, "ax"
		.type proc_pid_statm, @function
		proc_pid_statm: .long task_state_array
		.size proc_pid_statm, 4
	END
	objcopy --globalize-symbol=task_state_array "$orig" global.o
	ld -r -o both.o global.o user.o
	objcopy --localize-symbol=task_state_array both.o "$orig"
	run -1 "$top/build/test/mutate/mutate" kept
	[[ $output == *"constant 'task_state_array' is replaced, but 'proc_pid_statm' uses the old one"* ]]
}
