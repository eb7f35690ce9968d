# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch-build: changes of types of the kernel, and of prototypes that other units call.
# test/objects/types.bats has more kinds of changes.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

build() {
	run "$program" -k "$release" -o x.ko --report x.json "$@" x.patch
	echo "$output"
}

types() {
	jq -r '.types[] | .kind + " " + .name + " " + .change' x.json
}

# grow SED... - a member more in struct eventfd_ctx, of which each eventfd has one.
grow() {
	rm -f x.patch
	edited fs/eventfd.c -e '/^struct eventfd_ctx {/,/^};/'"$1" \
		-e 's/^\(\t\)ctx->count = count;/&\n\1ctx->reads = 0;/' \
		-e 's/^\(\t\)eventfd_ctx_do_read(ctx, &ucnt);/&\n\1ctx->reads++;/'
	grep -c '^+.*reads' x.patch | grep -qx 3
}

@test "a structure that grows is refused by name, with the member and what to do" {
	local said
	grow 's/^};/\tlong reads;\n};/'
	build
	[ "$status" -eq 2 ]
	said="fs/eventfd.c:[0-9]*: refused \[type-changed\]: struct eventfd_ctx: member 'reads' is new at offset [0-9]*;"
	[ "$(grep -c "$said .*shadow variables.*--allow type-changed:eventfd_ctx$" <<<"$output")" -eq 1 ]
	[ "$(types)" = "struct eventfd_ctx misread" ]
	[ ! -e x.ko ]

	# Other members move.
	grow 's/^\tstruct kref kref;/\tlong reads;\n&/'
	build
	[ "$status" -eq 2 ]
	[[ $output == *"refused [type-changed]: struct eventfd_ctx: member 'kref' moves from offset 0 to 8 ('reads' is new);"* ]]
	[ "$(jq -c '.types[0].members[] | [.name, .old_offset, .new_offset]' x.json | head -n 2 | tr '\n' ' ')" = \
		'["reads",null,0] ["kref",0,8] ' ]
}

@test "if the author allows it, the module is made, and tells of it" {
	grow 's/^};/\tlong reads;\n};/'
	build --allow type-changed:eventfd_ctx
	[ "$status" -eq 0 ]
	[[ $output == *"warning [type-changed]: allowed: struct eventfd_ctx"* ]]
	[ -e x.ko ]
	objcopy -O binary --set-section-flags .pokepatch.report=alloc -j .pokepatch.report x.ko report
	[ "$(jq -c '.types[].name' report)" = '"eventfd_ctx"' ]
	build --allow type-changed:another
	[ "$status" -eq 2 ]
	[[ $output == *"allow-unused"* ]]
}

@test "a change of code alone reports no types" {
	cp "$top/examples/proc-version.patch" x.patch
	build
	[ "$status" -eq 0 ]
	[ "$(jq -c .types x.json)" = '[]' ]
}

@test "all objects are on the stacks of functions that are replaced, unless the patch is switched live" {
	local option
	edited mm/vmscan.c -e '/^struct scan_control {/,/^};/s/^};/\tunsigned long seen;\n};/' \
		-e '/^static void shrink_node(pg_data_t/,/^}/s/^\tnr_scanned = sc->nr_scanned;/&\n\tsc->seen += nr_scanned;/'
	build --dry-run
	[ "$status" -eq 0 ]
	[ "$(types)" = "struct scan_control on-stack" ]
	# The kernel's livepatch switches one task after the other, too.
	for option in "--transition live" "--format livepatch"; do
		# shellcheck disable=SC2086 # two words
		build --dry-run $option
		[ "$status" -eq 2 ]
		[[ $output == *"refused [type-changed]: struct scan_control: member 'seen' is new at offset "* ]]
		[ "$(types)" = "struct scan_control misread" ]
	done
}

# Units that declare tcp_v4_early_demux() themselves, as some do: the compiler sees no contradiction.
declare_apart() {
	edited net/ipv4/tcp_ipv4.c -e '0,/^#include/s/^#include/#define tcp_v4_early_demux hidden\n&/' \
		-e 's/^\(#include <trace\/events\/tcp.h>\)$/\1\n#undef tcp_v4_early_demux\nint tcp_v4_early_demux(struct sk_buff *skb, int really);/' \
		-e 's/^int tcp_v4_early_demux(struct sk_buff \*skb)$/int tcp_v4_early_demux(struct sk_buff *skb, int really)/' \
		-e '/^int tcp_v4_early_demux/,/^}/s/^\tif (skb->pkt_type != PACKET_HOST)/\tif (skb->pkt_type != PACKET_HOST || !really)/'
}

@test "a prototype changes, and a unit that is not in the patch calls the function as it was" {
	declare_apart
	build
	[ "$status" -eq 2 ]
	[[ $output == *"net/ipv4/tcp_ipv4.c:"*": refused [prototype-changed]: the prototype of 'tcp_v4_early_demux' changes, but 'ip_rcv_finish_core"*"' uses it as it was"* ]]
	[ "$(jq -c '.types[] | select(.name == "tcp_v4_early_demux") | .change, .members[0].new_type' x.json | tr '\n' ' ')" = \
		'"prototype" "int" ' ]
	# In the patch, too.
	edited net/ipv4/ip_input.c -e '0,/^#include/s/^#include/#define tcp_v4_early_demux hidden\n&/' \
		-e 's/^int tcp_v4_early_demux(struct sk_buff \*skb);$/#undef tcp_v4_early_demux\nint tcp_v4_early_demux(struct sk_buff *skb, int really);/' \
		-e 's/\ttcp_v4_early_demux(skb);/\ttcp_v4_early_demux(skb, 1);/'
	build --dry-run
	[ "$status" -eq 0 ]
}

@test "a declaration changes, and the function that it declares does not" {
	edited net/ipv4/ip_input.c -e '0,/^#include/s/^#include/#define tcp_v4_early_demux hidden\n&/' \
		-e 's/^int tcp_v4_early_demux(struct sk_buff \*skb);$/#undef tcp_v4_early_demux\nint tcp_v4_early_demux(struct sk_buff *skb, int really);/' \
		-e 's/\ttcp_v4_early_demux(skb);/\ttcp_v4_early_demux(skb, 1);/'
	build --dry-run
	[ "$status" -eq 2 ]
	[[ $output == *"refused [prototype-changed]: 'tcp_v4_early_demux' is declared with another prototype, but the function itself does not change"* ]]
}

@test "a prototype changes, and a table in another unit of the patch holds the address" {
	edited fs/proc/array.c -e '0,/^#include/s/^#include/#define proc_pid_statm hidden\n&/' \
		-e 's/^\(#include "internal.h"\)$/\1\n#undef proc_pid_statm\nint proc_pid_statm(struct seq_file *m, void *ns, struct pid *pid);/' \
		-e '/^int proc_pid_statm(struct/,/^{/{s/struct pid_namespace \*ns,/void *ns,/;s/struct pid \*pid, struct task_struct \*task)/struct pid *pid)/;s/^{/{\n\tstruct task_struct *task = pid_task(pid, PIDTYPE_PID);/}'
	edited fs/proc/base.c -e 's/^\tseq_printf(m, "%lu\\n", points);/\tseq_printf(m, "%lu\\n", points + 1);/'
	grep -q '^+.*points + 1' x.patch
	build --dry-run
	[ "$status" -eq 2 ]
	[[ $output == *"fs/proc/array.c:"*": refused [prototype-changed]: the prototype of 'proc_pid_statm' changes, but '"*"stuff' holds its address, "* ]]
}

# All see these declared only; which header defines them changes no object.
@test "a function is removed, and the kernel has a weak one for its callers: a system call" {
	edited kernel/kexec.c '/^#ifdef CONFIG_COMPAT$/s/.*/#if 0/'
	run -2 "$program" -q -k "$release" -o x.ko x.patch
	[[ $output == *"kernel/kexec.c: refused [function-removed]: '__ia32_compat_sys_kexec_load' is removed, but 'ia32_sys_call' goes on"* ]]
	run -3 "$program" -q -k "$release" -o x.ko --allow function-removed:__ia32_compat_sys_kexec_load x.patch
	# Together with all of its callers.
	rm x.patch
	edited fs/proc/util.c '/^unsigned name_to_int(/,$d'
	edited fs/proc/fd.c 's/name_to_int(&dentry->d_name)/7/'
	edited fs/proc/generic.c 's/name_to_int(&qstr) != ~0U/qstr.len == 1/'
	edited fs/proc/base.c 's/name_to_int(&dentry->d_name)/7/'
	"$program" -q -k "$release" -o x.ko --report report.json x.patch
	[ "$(jq -r '.functions[] | select(.change == "removed").name' report.json)" = name_to_int ]
}

@test "exports of a unit that includes one more header" {
	local include='s/^#include <linux.fs.h>/&\n#include <net\/sock.h>/' code='s/^\t*__set_current_state(TASK_RUNNING);/&\n\tctx->count++;/'
	edited fs/eventfd.c -e "$include" -e "$code"
	build -V
	[ "$status" -eq 0 ]
	# The CRCs do change, and genksyms is asked why.
	[ "$(grep -c 'genksyms/genksyms -r .*original.types' <<<"$output")" -eq 1 ]
	rm x.ko x.patch
	# A type that changes is not made up for by those.
	edited fs/eventfd.c -e '1s/^/#undef CONFIG_EPOLL\n/' -e "$include" -e "$code"
	build
	[ "$status" -eq 2 ]
	[[ $output == *"refused [export-changed]: a type of exported symbol 'eventfd_fget' changes: struct "* ]]
}
