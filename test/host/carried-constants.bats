# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Constant tables of the kernel that a patch carries with all their users, and those that it cannot.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
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
