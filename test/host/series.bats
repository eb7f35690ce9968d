# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Series of commits: some of Debian's history (test/debian-diffs), backwards, as commits.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# commits FOLDER NUMBER[+NUMBER]... - a folder as git format-patch makes it, of diffs of
# test/debian-diffs/judged.tsv; with + one commit of several.
commits() {
	"$top/test/debian-diffs/series" "$@"
}

# report FILTER - of r.json
report() {
	python3 -c 'import json, sys
for c in json.load(open("r.json"))["commits"]:
	print(eval(sys.argv[1], {}, c))' "$1"
}

# bare [-R SECTION] MODULE... - MODULE.bare is a module without its report, and without the build id,
# which is a sum of everything.
bare() {
	local also=()
	[ "$1" != -R ] || {
		also=(-R "$2")
		shift 2
	}
	for module; do
		objcopy -R .pokepatch.report -R .note.gnu.build-id "${also[@]}" "$module" "$module.bare"
	done
}

@test "a folder, a quilt series and a mailbox give one module" {
	commits folder 005+007 120
	mkdir quilt
	cp folder/*.patch quilt/
	# shellcheck disable=SC2012
	{
		echo '# in order'
		(cd folder && ls) | sed 's/$/ -p1/'
	} >quilt/series
	cat folder/*.patch >all.mbox
	"$program" -q -k "$release" --series folder/ -o folder.ko -n s --report r.json
	"$program" -q -k "$release" --series quilt -o quilt.ko -n s
	"$program" -q -k "$release" --series all.mbox -o mbox.ko -n s
	cmp folder.ko quilt.ko
	report '" ".join([id, status, ",".join(cve), subject])'
	[ "$(report 'subject')" = $'change back 005+007\nchange back 120' ]
	[ "$(report '",".join(cve)')" = $'CVE-2020-0005,CVE-2020-0007\nCVE-2020-0120' ]
	[ "$(report 'status + str(reasons)')" = $'live[]\nlive[]' ]
	[ "$(report 'len(id)')" = $'40\n40' ]
	# What pokepatch info shows is what the module carries.
	run "$top/build/bin/pokepatch" info ./folder.ko
	echo "$output"
	[[ $output == *$'COMMIT        STATUS  CVE                          SUBJECT\n'* ]]
	[[ $output == *"  live    CVE-2020-0005,CVE-2020-0007  change back 005+007"$'\n'* ]]
	"$top/build/bin/pokepatch" info --json ./folder.ko >info.json
	python3 -c 'import json
info, report = json.load(open("info.json")), json.load(open("r.json"))
assert info["report"]["commits"] == report["commits"], info
assert len(report["patch"]) == 2'

	bare folder.ko mbox.ko
	cmp folder.ko.bare mbox.ko.bare
	# The same content in one diff: the same but for what the module says of its source.
	"$program" -q -k "$release" all.mbox -o diff.ko -n s
	bare -R .modinfo folder.ko diff.ko
	cmp folder.ko.bare diff.ko.bare
}

# file FILE - prepare to change this file of the kernel, if it was not prepared; the prepared source
# lacks the documents, whose text does not matter.
file() {
	mkdir -p "now/$(dirname "$1")"
	[ -e "now/$1" ] || cp "$source/$1" "now/$1" 2>/dev/null || echo "some text" >"now/$1"
}

# commit SUBJECT FILE SED [FILE SED]... - add a commit to the folder x, on top of those before.
commit() {
	local subject=$1 number i
	shift
	mkdir -p x now
	made=$((${made:-0} + 1))
	printf -v number %04d "$made"
	rm -rf a b
	for ((i = 1; i < $#; i += 2)); do
		file "${!i}"
	done
	cp -r now a
	while [ $# -gt 0 ]; do
		sed -i "$2" "now/$1"
		shift 2
	done
	cp -r now b
	{
		echo "From $(sha1sum <<<"$subject" | cut -d ' ' -f 1) Mon Sep 17 00:00:00 2001"
		echo "Subject: [PATCH] $subject"
		echo
		diff -ruN a b || [ $? -eq 1 ]
	} >"x/$number.patch"
}

# build STATUS ARGUMENT... - of x; output is in $output.
build() {
	local wanted=$1
	shift
	run "$program" -k "$release" --series x --report r.json -n s -o s.ko "$@"
	echo "$output"
	[ "$status" -eq "$wanted" ]
	[ "$wanted" -ne 1 ] || return 0 # then there is no report
	report 'subject + ": " + status + " " + " ".join(reasons)' >commits
	cat commits
}

# build_aloud ARGUMENT... - of x, without the commits that cannot be live; the commands that it runs, after +, and what
# it says are in the file said.
build_aloud() {
	"$program" -V -k "$release" --series x --report r.json -n s -o s.ko --leave-out "$@" >said 2>&1 || {
		grep -v '^+' said
		return 1
	}
	report 'subject + ": " + status + " " + " ".join(reasons)' >commits
}

# is SUBJECT STATUS REASON - what became of a commit; REASON is a part of it.
is() {
	local line
	line=$(grep "^$1: $2 " commits)
	[[ $line == *"$3"* ]]
}

version=fs/proc/version.c
uptime=fs/proc/uptime.c

@test "a refusal names the commits whose lines it is about, and no others" {
	commit 'sound' $version 's/seq_printf(m, linux_proc_banner/seq_puts(m, "x"); &/'
	commit 'initial value' $uptime 's/^static int uptime_proc_show/static int uptime_was = 1;\n&/
		s/idle_nsec = 0;/idle_nsec = uptime_was;/'
	commit 'init' $version 's/proc_create_single("version", 0/proc_create_single("version", 0400/'
	build 2
	# shellcheck disable=SC2154
	[[ $output == *"$version:"*": refused [init-changed]: 'proc_version_init' "*"(commit $(sha1sum <<<init |
		cut -c 1-12) (\"init\"))"* ]]
	[ "$(grep -c 'refused \[' <<<"$output")" -eq 1 ]
	is sound live ''
	is 'initial value' live ''
	is init left-out "$version:"
	[ ! -e s.ko ]
	# The same without it.
	build 0 --leave-out
	is sound live ''
	is init left-out "$version:"
	[[ $output == *"commits: 2 live, 1 left out"* ]]
	mv s.ko with.ko
	rm x/0003.patch
	build 0 --leave-out
	bare s.ko with.ko
	cmp s.ko.bare with.ko.bare
}

@test "a level: what the options and the commits say of CVEs is in modinfo, the report and the info" {
	commit 'sound: CVE-2026-2001, cve-2025-1001' $version 's/seq_printf(m, linux_proc_banner/seq_puts(m, "x"); &/'
	commit 'init: CVE-2026-2002 and CVE-2025-1001' $version 's/proc_create_single("version", 0/proc_create_single("version", 0400/'
	# Of CVE-2025-1001, a half is left out.
	build 0 --leave-out --level 7 --until 2028-02-29 --cve CVE-2026-3003,CVE-2026-2001 --unfixed cve-2024-11112
	objcopy -O binary -j .modinfo s.ko modinfo
	tr '\0' '\n' <modinfo | grep -E '^pokepatch_(level|until|cve|unfixed)=' >said
	diff - said <<-'END'
		pokepatch_level=7
		pokepatch_until=2028-02-29
		pokepatch_cve=CVE-2026-2001,CVE-2026-3003
		pokepatch_unfixed=CVE-2024-11112,CVE-2025-1001,CVE-2026-2002
	END
	"$top/build/bin/pokepatch" info --json ./s.ko >info.json
	python3 -c 'import json
info, report = json.load(open("info.json")), json.load(open("r.json"))
fixed, unfixed = ["CVE-2026-2001", "CVE-2026-3003"], ["CVE-2024-11112", "CVE-2025-1001", "CVE-2026-2002"]
for what in info, info["report"], report:
	assert (what["level"], what["until"], what["cve"], what["unfixed"]) == (7, "2028-02-29", fixed, unfixed), what'
	run -0 "$top/build/bin/pokepatch" info ./s.ko
	[[ $output == *$'\nfixes: CVE-2026-2001,CVE-2026-3003\ndoes not fix: CVE-2024-11112,CVE-2025-1001,CVE-2026-2002\n'* ]]
	# Without a level nothing is said.
	build 0 --leave-out
	run -1 grep -a pokepatch_level s.ko
	local arguments told
	while IFS='|' read -r arguments told; do
		# shellcheck disable=SC2086 # several words
		run -1 "$program" $arguments x.patch
		[[ $output == "pokepatch-build: $told"* && $output != *$'\n'* ]]
	done <<-'END'
		--level 0|--level 0 is for --deb without any PATCH
		--level x|--level wants a number from 0 to 4294967295, not x
		--level 1 --until 2027-02-29|--until 2027-02-29: not a day
		--level 1 --until 27-2-1|--until 27-2-1: not a day
		--level 1 --cve CVE-2026-12345,x|--cve: 'x' is not a CVE number
		--level 1 --unfixed CVE-2026-1|--unfixed: 'CVE-2026-1' is not a CVE number
		--level 1 --revoke-below 2|--revoke-below takes no number above --level's
		--revoke-below 1|--revoke-below takes no number above --level's
		--cve CVE-2026-1234|--until, --cve and --unfixed need --level
	END
}

@test "what depends on a commit that is left out goes with it, and nothing else" {
	# Refused, and the next three build on it: on its lines, on its macro, on the lines of that.
	commit 'base' $uptime 's/proc_create_single("uptime", 0/proc_create_single("uptime", 0400/
		s/idle_nsec = 0;/idle_nsec = 5;/' \
		$version '2i #define EXTRA "extra"'
	commit 'same lines' $uptime 's/idle_nsec = 5;/idle_nsec = 6;/'
	commit 'uses macro' $version 's/seq_printf(m, linux_proc_banner/seq_puts(m, EXTRA); &/'
	commit 'on top of that' $version 's/seq_puts(m, EXTRA);/&\n	seq_puts(m, "top");/'
	commit 'apart' fs/proc/cmdline.c "s/seq_putc(m, .\\\\n.)/seq_puts(m, \"!\\\\n\")/"
	build 2
	is base left-out 'refused [init-changed]'
	build 0 --leave-out
	is base left-out 'refused [init-changed]'
	is 'same lines' left-out 'changes lines of commit'
	is 'uses macro' left-out 'does not compile with it'
	is 'on top of that' left-out ''
	is apart live ''
	[[ $output == *"changed functions: cmdline_proc_show"* ]]
	# What each changes, be it left out or not; uptime.c's init function does not count.
	report 'subject + ": " + " ".join(functions)' >functions
	diff functions - <<-END
		base: fs/proc/uptime.c:uptime_proc_show
		same lines: fs/proc/uptime.c:uptime_proc_show
		uses macro: fs/proc/version.c:version_proc_show
		on top of that: fs/proc/version.c:version_proc_show
		apart: fs/proc/cmdline.c:cmdline_proc_show
	END
}

# Each commit is sound alone but the one that changes the type.
@test "a commit that changes a type of exports is left out, and those of the files that export are not" {
	commit 'code' block/badblocks.c 's/^\tif (bb->page == NULL || bb->changed)/\tif (!bb->page || bb->changed || !bb->count)/'
	commit 'type' include/linux/badblocks.h 's/^\tint changed;/\tlong changed;/'
	build 0 --leave-out --allow type-changed
	is code live ''
	is type left-out "[export-changed]: a type of exported symbol 'ack_all_badblocks' changes: struct badblocks (CRC 0x"
}

# Some of the refusals tell the line, and others no more than the unit, which has another header that changed.
@test "a refusal that may come from a commit that is left out leaves out no other" {
	commit 'event' include/trace/events/percpu.h '/^TRACE_EVENT(percpu_destroy_chunk/i\
TRACE_EVENT(percpu_test,\
	TP_PROTO(int n),\
	TP_ARGS(n),\
	TP_STRUCT__entry(__field(int, n)),\
	TP_fast_assign(__entry->n = n;),\
	TP_printk("%d", __entry->n)\
);'
	commit 'other' mm/percpu-internal.h 's/^\treturn pcpu_nr_pages_to_map_bits(chunk->nr_pages);/\treturn pcpu_nr_pages_to_map_bits(chunk->nr_pages | 1);/'
	build 0 --leave-out
	is other live ''
	is event left-out '[section-changed]'
}

# Nothing tells the line: what has the initial value is not in the headers.  <linux/sunrpc/svc.h> is in other units, too.
@test "of several headers of a refused unit, the one that the fewest units have is left out first" {
	commit 'timeout' include/linux/lockd/lockd.h 's/^#define LOCKD_DFLT_TIMEO\t10/#define LOCKD_DFLT_TIMEO\t11/'
	commit 'common' include/linux/sunrpc/svc.h 's/^\t\*vp = htonl(val);/\t*vp = htonl(val + 1);/'
	build 0 --leave-out
	is common live ''
	is timeout left-out "[data-changed]: initial value of 'nlm_timeout'"
}

# A word that the compiler misses is looked for in the files that the unit compiles.
@test "who removed a macro, and who only removed its name elsewhere" {
	commit 'adds' $uptime 's/^static int uptime_proc_show/\/* SIZEOF_PDE_INLINE_NAME *\/\n&/'
	commit 'drops' $uptime '/SIZEOF_PDE_INLINE_NAME/d; s/idle_nsec = 0;/idle_nsec = 7;/'
	commit 'removes' fs/proc/internal.h '/^#define SIZEOF_PDE_INLINE_NAME/d'
	build 0 --leave-out
	is drops live ''
	is removes left-out "does not compile with it"
}

# The compiler tells of an undeclared function at its first call alone.
@test "all commits that call what a left-out commit declares are left out at once" {
	commit 'base' $uptime 's/proc_create_single("uptime", 0/proc_create_single("uptime", 0400/' \
		fs/proc/internal.h 's/^static inline bool pde_is_permanent/static inline int pp_extra(void) { return 5; }\n&/'
	commit 'first' fs/proc/generic.c 's/^\tde->size = size;/\tde->size = size + pp_extra();/'
	commit 'second' fs/proc/generic.c 's/^\tde->uid = uid;/\tde->uid = uid;\n\tde->size += pp_extra();/'
	commit 'apart' $version 's/seq_printf(m, linux_proc_banner/seq_puts(m, "x"); &/'
	build 0 --leave-out
	is base left-out 'refused [init-changed]'
	is first left-out 'does not compile with it'
	is second left-out 'does not compile with it'
	is apart live ''
	[ "$(sed -n 's/^\(first\|second\): .*\(generic.c:[0-9]*\).*/\2/p' commits | uniq | wc -l)" -eq 1 ]
}

@test "who removed what a macro pastes a name of, and who only changed another header of the unit" {
	commit 'sound' kernel/sched/sched.h '$s/$/\n#define PP_SOUND 1/' \
		$version 's/seq_printf(m, linux_proc_banner/seq_puts(m, "sound"); &/'
	commit 'removed' kernel/sched/features.h '/^SCHED_FEAT(WA_WEIGHT,/d'
	commit 'sound, too' kernel/sched/sched.h '$s/$/\n#define PP_SOUND_TOO 1/' \
		$uptime 's/idle_nsec = 0;/idle_nsec = 5;/'
	build 0 --leave-out
	is removed left-out "'static_branch_WA_WEIGHT'"
	is sound live ''
	is 'sound, too' live ''
}

# The line that changes has no name in it; the compiler says where what it disagrees with is declared.
@test "who changed a declaration that callers elsewhere do not fit, and who only changed its file" {
	commit 'prototype' fs/proc/internal.h 's/^\t\t\t   bool escape);/\t\t\t   bool escape, int more);/'
	commit 'sound' fs/proc/internal.h '$s/$/\n#define PP_SOUND "sound"/' \
		$version 's/seq_printf(m, linux_proc_banner/seq_puts(m, PP_SOUND); &/'
	build 0 --leave-out
	is prototype left-out 'does not compile with it'
	is sound live ''
}

# The function that cannot be replaced is as it was.  What is inlined into it is not.
@test "who changed what is inlined into a refused function, and who only changed its file" {
	local file=net/sunrpc/xprtrdma/rpc_rdma.c
	commit 'callee' $file '/^static bool rpcrdma_prepare_readch/,/^}/ { /rpcrdma_prepare_head_iov/,/return false/d }'
	commit 'sound' $file '/^rpcrdma_decode_error/,/^}/ s/return -EIO;/return -EINVAL;/'
	build 0 --leave-out --mode direct # in entry mode, its first instructions could be overwritten
	is callee left-out "[no-entry]: 'rpcrdma_prepare_send_sges'"
	is sound live ''
}

# The function that uses the key is as it was.
@test "who changed what is inlined into a user of a static key of a module, and who only changed its file" {
	local file=net/netfilter/nf_tables_core.c
	commit 'callee' $file '/^static void nft_cmp_fast_eval/,/^}/ { /== priv->data/ { N; s/.*/\treturn;/ } }'
	commit 'sound' $file '/^static noinline void __nft_trace_packet/,/^}/ s/if (!info->trace ||/if (!info->trace || !chain ||/'
	build 0 --leave-out
	is callee left-out "[static-key-in-module]: 'nft_do_chain' uses static key 'nft_"
	is sound live ''
}

# The variable's own line is as it was.  The macro of its initial value is not, and other units have its header.
@test "who changed a macro of a refused variable, and who only changed its file" {
	commit 'macro' include/linux/lockd/lockd.h 's/^#define LOCKD_DFLT_TIMEO\t10/#define LOCKD_DFLT_TIMEO\t11/'
	commit 'sound' fs/lockd/svc.c '/^static int lockd_authenticate/,/^}/ s/return SVC_DENIED;/return SVC_DROP;/'
	build 0 --leave-out
	is macro left-out "[data-changed]: initial value of 'nlm_timeout'"
	is sound live ''
}

# The source itself is as it was.
@test "who changed a macro of a refused variable, and who only changed another header of its unit" {
	commit 'macro' include/linux/lockd/lockd.h 's/^#define LOCKD_DFLT_TIMEO\t10/#define LOCKD_DFLT_TIMEO\t11/'
	commit 'sound' fs/lockd/netns.h '$s/$/\n#define PP_SOUND 1/' \
		$version 's/seq_printf(m, linux_proc_banner/seq_puts(m, "x"); &/'
	build 0 --leave-out
	is macro left-out "[data-changed]: initial value of 'nlm_timeout'"
	is sound live ''
}

# in_all_units - commits that change all sources that have the header: the first changes no code.
in_all_units() {
	local file changes=()
	for file in $(cd "$source" && grep -l '"internal.h"' fs/proc/*.c); do
		changes+=("$file" '$s/$/\nextern int pp_sound;/')
	done
	commit 'sound' "${changes[@]}"
	commit 'code' fs/proc/cmdline.c 's/^static int cmdline_proc_show/extern int pp_sound;\n&/; s/saved_command_line/(saved_command_line + 1)/'
}

# The compiler names the member, and not the type, which its line has.
@test "who removed the type of a member, and who only changed the units that have the header" {
	commit 'removes' fs/proc/internal.h '/^union proc_op {/,/^};/d'
	in_all_units
	commit 'header' fs/proc/internal.h '$s/$/\n#define PP_SOUND "sound"/' \
		$version 's/seq_printf(m, linux_proc_banner/seq_puts(m, PP_SOUND); &/'
	build 0 --leave-out
	is header live ''
	is removes left-out 'has incomplete type'
	is sound live ''
	is code live ''
}

# The error is in a macro of a header that no commit changes; the compiler's notes tell the line that uses it.
@test "who uses a member that a left-out commit adds, within a macro of another header" {
	commit 'adds' fs/proc/internal.h 's/^\tstruct hlist_node sibling_inodes;/&\n\tlong pp_member;/'
	commit 'uses' fs/proc/inode.c 's/^static void proc_evict_inode/static void *pp_use(void *p) { return container_of((long *)p, struct proc_inode, pp_member); }\n&/
		s/^\tproc_sys_evict_inode(inode, head);/&\n\tif (pp_use(inode) == head)\n\t\treturn;/'
	commit 'sound' fs/proc/inode.c 's/^\tei->sysctl = NULL;/&\n\tei->fd = 1;/'
	build 0 --leave-out
	is adds left-out '[type-changed]'
	is uses left-out 'does not compile with it'
	is sound live ''
}

# Neither the message nor the line has a name that was removed.
@test "who cut a declaration of a header, and who only changed the units that have it" {
	commit 'cuts' fs/proc/internal.h '/^extern int pid_getattr(struct user_namespace \*,/d'
	in_all_units
	build 0 --leave-out
	is cuts left-out 'fs/proc/internal.h:'
	is sound left-out 'changes no code'
	is code live ''
}

# Each unit compiles, for a header declares it.
@test "a commit that uses what a left-out commit defines" {
	commit 'defines' $uptime 's/proc_create_single("uptime", 0/proc_create_single("uptime", 0400/
		s/^static int uptime_proc_show/int pp_defined(void);\nint pp_defined(void) { return 5; }\n&/'
	commit 'declares' fs/proc/internal.h 's/^static inline bool pde_is_permanent/int pp_defined(void);\n&/' \
		fs/proc/cmdline.c "s/seq_putc(m, .\\\\n.)/seq_puts(m, \"!\\\\n\")/"
	commit 'uses' $version 's/^#include "internal.h"/&\n#define PP_USES/
		s/seq_printf(m, linux_proc_banner/seq_printf(m, "%d", pp_defined()); &/'
	build 0 --leave-out
	is defines left-out 'refused [init-changed]'
	is declares live ''
	is uses left-out "refused [symbol-missing]: the new code uses 'pp_defined'"
}

# With all commits, the header says the same in other words; without the second, it does not.
@test "units to which a header matters only when a commit is left out" {
	# Nothing of it is kept from another run.
	local number=$((SRANDOM / 4))
	commit 'first' fs/proc/internal.h "s/return pde->flags & PROC_ENTRY_PERMANENT;/return pde->size != $number \\&\\& (pde->flags \\& PROC_ENTRY_PERMANENT);/"
	commit 'second' fs/proc/internal.h 's/return pde->size != [0-9]* && (pde->flags & PROC_ENTRY_PERMANENT);/return pde->PDE_FLAGS \& PROC_ENTRY_PERMANENT;/
		s/^static inline bool pde_is_permanent/#define PDE_FLAGS flags\n&/' \
		$uptime 's/proc_create_single("uptime", 0/proc_create_single("uptime", 0400/'
	commit 'third' $version 's/seq_printf(m, linux_proc_banner/seq_puts(m, "x"); &/'
	build 0 --leave-out
	is first live ''
	is second left-out "$uptime:"
	is third live ''
	jq -e '[.functions[].name] | contains(["remove_proc_entry", "proc_reg_read", "version_proc_show"])' r.json
	[ "$(grep -c '^judge all units again' <<<"$output")" -eq 1 ]
}

@test "what changes assembly is left out before any unit is judged" {
	commit 'pushes' arch/x86/entry/calling.h 's/^\.macro PUSH_REGS .*/&\n\tnop/'
	commit 'reads' fs/proc/internal.h "s/return pde->flags & PROC_ENTRY_PERMANENT;/return pde->size != $((SRANDOM / 4)) \\&\\& (pde->flags \\& PROC_ENTRY_PERMANENT);/"
	build_aloud
	is pushes left-out 'refused [assembly-changed]'
	is reads live ''
	sed '/^left out: /,$d' said >before
	grep -v '^+' before
	[ "$(grep -c '[.]S -E$' before)" -ge 2 ]
	[ "$(grep -c '[.]c -E$' before)" -eq 0 ]
	[ "$(grep -c '^+.*[.]c -E$' said)" -ge 2 ]
	# The run that was cut short counts as none.
	[ "$(grep -c '^note: changed headers may reach ' said)" -eq 1 ]
}

# The damage makes the changed header say the same as before.
@test "what was judged by a damaged tree is judged again" {
	local source=$source tree
	own_cache
	own_source
	commit 'reads' fs/proc/fd.h 's/return PROC_I(inode)->fd;/return PROC_I(inode)->PP_FD;/
		s/^static inline .* proc_fd(/#ifndef PP_FD\n#define PP_FD fd + 1\n#endif\n&/'
	commit 'prints' $version 's/seq_printf(m, linux_proc_banner/seq_puts(m, "x"); &/'
	build 0 -s "$source" --leave-out
	jq -r '.functions[].name' r.json | sort >before
	grep -qx version_proc_show before
	[ "$(wc -l <before)" -ge 3 ]
	tree=$(ls -d "$own"/tree-*/)
	rm -r "$tree/.pokepatch/objects"
	echo '#define PP_FD fd' >>"$tree/fs/proc/internal.h"
	build 0 -s "$source" --leave-out
	[[ $output == *"was damaged and is prepared again"* ]]
	is reads live ''
	jq -r '.functions[].name' r.json | sort | cmp - before
}

# What the others change is not compiled together with it either: that would have to be done again.
@test "a header that changes a type of exports is left out before any unit is compiled" {
	commit 'code' block/badblocks.c "s/^\tif (bb->page == NULL || bb->changed)/\tif (!bb->page || bb->changed || bb->count == $((SRANDOM / 4)))/"
	commit 'type' include/linux/badblocks.h 's/^\tint changed;/\tlong changed;/'
	commit 'reads' fs/proc/fd.h "s/return PROC_I(inode)->fd;/return PROC_I(inode)->fd + $((SRANDOM / 4));/"
	commit 'words' fs/proc/internal.h "s/return pde->flags & PROC_ENTRY_PERMANENT;/return (pde->flags \\& PROC_ENTRY_PERMANENT) + 0 * $((SRANDOM / 4));/"
	build_aloud --allow type-changed
	is code live ''
	is reads live ''
	is type left-out "[export-changed]: a type of exported symbol 'ack_all_badblocks' changes: struct badblocks (CRC 0x"
	sed '/^left out: /,$d' said >before
	sed '1,/^left out: /d' said >after
	grep -v '^+' before
	[ "$(grep -c '^+.*scripts/genksyms/genksyms -r' before)" -ge 1 ]
	[ "$(grep -c ' -o [^ ]*/patched/' before)" -eq 0 ]
	# Nor are those judged that export nothing.
	[ "$(grep -c ' fs/proc/fd.c -E$' before)" -eq 0 ]
	[ "$(grep -c ' fs/proc/fd.c -E$' after)" -eq 2 ]
	[ "$(grep -c ' -o [^ ]*/patched/block:badblocks/unit.o ' after)" -eq 1 ]
	# What was found out of exports that do not change is not found out again, in no later round or phase.
	[ "$(grep -c ' fs/proc/generic.c -E -D__GENKSYMS__' said)" -eq 1 ]
	# The first run has not judged their code, nor told how many units there are.
	jq -r '.units[].source' r.json >units
	grep -qx fs/proc/fd.c units
	[ "$(grep -cx fs/proc/generic.c units)" -eq 0 ]
	[ "$(grep -c '^note: changed headers may reach ' said)" -eq 1 ]
}

# In fd.h, the first commit says the same in other words; in fat.h, it does not.
@test "units whose code differs also without the commit that is left out are compiled at once" {
	# Nothing of it is kept from another run.
	local number=$((SRANDOM / 4))
	commit 'first' fs/fat/fat.h "s/return sb->s_fs_info;/return sb->s_flags == $number ? NULL : sb->s_fs_info;/" \
		fs/proc/fd.h "s/return PROC_I(inode)->fd;/return (PROC_I(inode)->fd); \\/* $number *\\//"
	commit 'second' fs/fat/fat.h 's/^\treturn container_of(inode, struct msdos/\tWRITE_ONCE(inode->i_flags, 0);\n&/' \
		fs/proc/fd.h "s/return (PROC_I(inode)->fd);.*/return PROC_I(inode)->fd + $number;/" \
		$uptime 's/proc_create_single("uptime", 0/proc_create_single("uptime", 0400/'
	build_aloud
	is first live ''
	is second left-out 'refused [init-changed]'
	sed '1,/^judge all units again/d' said >again
	grep -v '^+' again
	[ "$(grep -c ' fs/fat/namei_vfat.c -E$' said)" -eq 2 ]
	[ "$(grep -c ' fs/fat/namei_vfat.c -E$' again)" -eq 0 ]
	# The round before has compiled it.
	[ "$(grep -c ' -o [^ ]*/patched/fs:fat:namei_vfat/' again)" -eq 0 ]
	jq -r '.units[].source' r.json | sort >units
	grep -qx fs/fat/namei_vfat.c units
	# Of these, the texts are compared, too.
	[ "$(grep -c ' fs/proc/fd.c -E$' again)" -eq 2 ]
	[ "$(grep -c '^fs/proc/' units)" -eq 0 ]
}

@test "units that mention nothing of what is left out are not judged again" {
	# Nothing of it is kept from another run.
	local number=$((SRANDOM / 4))
	commit 'first' $version 's/seq_printf(m, linux_proc_banner/seq_puts(m, "x"); &/' \
		fs/proc/internal.h "s/return pde->flags & PROC_ENTRY_PERMANENT;/return (pde->flags \\& PROC_ENTRY_PERMANENT) + 0 * $number;/
		s/return get_pid_task(proc_pid(inode), PIDTYPE_PID);/return get_pid_task((proc_pid(inode)), PIDTYPE_PID); \\/* $number *\\//"
	commit 'second' fs/proc/internal.h "s/return get_pid_task((proc_pid(inode)), PIDTYPE_PID);.*/return inode->i_size == $number ? NULL : get_pid_task(proc_pid(inode), PIDTYPE_PID);/" \
		$uptime 's/proc_create_single("uptime", 0/proc_create_single("uptime", 0400/'
	build_aloud
	is first live ''
	is second left-out 'refused [init-changed]'
	sed '1,/^left out: /d' said >again
	grep -v '^+' again
	[ "$(grep -c ' fs/proc/generic.c -E$' said)" -eq 2 ]
	[ "$(grep -c ' fs/proc/generic.c -E$' again)" -eq 0 ]
	[ "$(grep -c '/fs:proc:generic/' again)" -eq 0 ]
	# It mentions what is left out.
	[ "$(grep -c ' fs/proc/fd.c -E$' again)" -eq 2 ]
	jq -r '.units[].source' r.json | sort >units
	[ "$(cat units)" = "$version" ]
}

# Both change what the same units read, so that these are judged again without the second.
@test "units whose code differed are judged again by their texts, if they do not compile or read a new header" {
	local init='s/proc_create_single("uptime", 0/proc_create_single("uptime", 0400/'
	commit 'brings' fs/fat/fat.h 's/^static inline struct msdos_sb_info \*MSDOS_SB/#include "pp_new.h"\n&/
		s/return sb->s_fs_info;/return sb->s_flags == PP_NEW ? NULL : sb->s_fs_info;/'
	printf '%s\n' '--- /dev/null' '+++ b/fs/fat/pp_new.h' '@@ -0,0 +1 @@' "+#define PP_NEW $((SRANDOM / 4))" >>x/0001.patch
	commit 'defines' fs/fat/fat.h '/^#define _FAT_H/s/$/\n#define pp_extra() 5/' \
		fs/proc/internal.h '/^#include <linux.proc_fs.h>/s/^/#define pp_extra() 5\n/' $uptime "$init"
	commit 'uses' fs/proc/fd.h 's/return PROC_I(inode)->fd;/return PROC_I(inode)->fd + pp_extra();/'
	build 0 --leave-out
	is brings live ''
	is defines left-out 'refused [init-changed]'
	is uses left-out 'does not compile with it'
	jq -r '.units[].source' r.json | sort >units
	grep -qx fs/fat/namei_vfat.c units
	[ "$(grep -c '^fs/proc/' units)" -eq 0 ]
}

@test "a commit that does not apply is left out, and so are those without effect" {
	commit 'first' $version 's/seq_printf(m, linux_proc_banner/seq_puts(m, "one"); &/'
	commit 'missing' $version 's/seq_puts(m, "one")/seq_puts(m, "two")/'
	commit 'last' $version 's/seq_puts(m, "two")/seq_puts(m, "three")/'
	rm x/0001.patch
	commit 'documented' Documentation/filesystems/proc.rst '1i text'
	build 1
	[[ $output == *"commit $(sha1sum <<<missing | cut -c 1-12) (\"missing\"): x/0002.patch:"*"does not apply"* ]]
	commit 'good' fs/proc/cmdline.c "s/seq_putc(m, .\\\\n.)/seq_puts(m, \"!\\\\n\")/"
	commit 'comment' fs/proc/loadavg.c '1a /* a comment */'
	build 0 --leave-out
	is missing left-out 'does not apply'
	is last left-out 'does not apply without the commits that are left out'
	is documented left-out 'changes nothing that this kernel compiles'
	is comment left-out 'changes no code: its files compile to the same'
	is good live ''
	[[ $output == *"commits: 1 live, 2 left out, 2 without effect on this kernel"* ]]
}

@test "a file that this kernel does not compile is noted, and its commit is live" {
	commit 'both' $version 's/utsname()->sysname,/"Patched",/' \
		fs/ext4/inode-test.c '$a int unused_here;'
	build 0
	is both live
	[[ $output == *'fs/ext4/inode-test.c: left out: nothing in this kernel is compiled from it'* ]]
}

@test "a series of which nothing is left" {
	commit 'documented' Documentation/filesystems/proc.rst '1i text'
	build 3 --leave-out
	is documented left-out 'changes nothing that this kernel compiles'
	commit 'init' $version 's/proc_create_single("version", 0/proc_create_single("version", 0400/'
	build 2 --leave-out
	is init left-out 'refused [init-changed]'
	[[ $output == *'of 2 commits, none that changes code can be live'* ]]
	[ ! -e s.ko ]
}

@test "wrong use of --series" {
	run "$program" -k "$release" --series
	[ "$status" -eq 1 ]
	run "$program" -k "$release" --series "$top/examples" "$top/examples/proc-version.patch"
	[ "$status" -eq 1 ]
	[[ $output == *"no PATCH goes with it"* ]]
	run "$program" -k "$release" --series "$top/examples" --instrument
	[ "$status" -eq 1 ]
	[[ $output == *"do not go together"* ]]
	run "$program" -k "$release" --series nowhere
	[ "$status" -eq 1 ]
	[[ $output == *"--series nowhere: No such file"* ]]
	run "$program" -k "$release" --leave-out "$top/examples/proc-version.patch"
	[ "$status" -eq 1 ]
	[[ $output == *"--leave-out needs --series"* ]]
}

# <trace/define_trace.h> includes it as "./trace.h", and so its lines are of fs/smb/client/./trace.h.
@test "a change to a trace header of a folder is found behind what it does to the kernel's tables" {
	commit 'enumerator' fs/smb/client/trace.h 's/^\t*EM(netfs_trace_tcon_ref_dec_dfs_refer,.*/&\n\tEM(netfs_trace_tcon_ref_test, "TEST      ")\t\t\\/'
	commit 'other' $uptime 's/idle_nsec = 0;/idle_nsec = 7;/'
	build 0 --leave-out
	is other live ''
	is enumerator left-out '[init-changed]'
}
