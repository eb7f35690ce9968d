# SPDX-License-Identifier: GPL-2.0-or-later
# Tracers, probes, BPF programs and other patches that attach to a function, before it is patched and
# while it is, in each mode.  Both work, or one of the two is refused with a message.  pokepatch(8) has
# the table.

load helpers

# statfs_patch NAME ERROR - path of a patch with which statfs() of everything fails with ERROR.
statfs_patch() {
	local hook='sb_statfs, dentry'
	[[ $(kernel_release) != 6.1.0-* ]] || hook='sb_statfs, 0, dentry'
	cat >"$BATS_TEST_TMPDIR/$1.patch" <<-END
		--- a/security/security.c
		+++ b/security/security.c
		@@ -993,4 +993,4 @@
		 int security_sb_statfs(struct dentry *dentry)
		 {
		-	return call_int_hook($hook);
		+	return -$2;
		 }
	END
	echo "$BATS_TEST_TMPDIR/$1.patch"
}

words='
function=security_sb_statfs
address=$(awk '"'"'$3 == "security_sb_statfs" { print "0x" $1 }'"'"' /proc/kallsyms)
instance=$tracing/instances/other
# effect - whose function a call reaches: the old one, the patch, kernel live patch or second patch.
effect() {
	case $(stat -f / 2>&1) in
	*"cross-device"*) echo patch ;;
	*"Invalid exchange"*) echo livepatch ;;
	*"Exchange full"*) echo second ;;
	*) echo old ;;
	esac
}
probe() { # p|r OFFSET
	echo "$1:pp/it $(printf "0x%x" $((address + $2)))" >>$tracing/kprobe_events &&
		echo 1 >$tracing/events/pp/it/enable
}
unprobe() {
	[ ! -e $tracing/events/pp/it ] || echo 0 >$tracing/events/pp/it/enable
	echo >$tracing/kprobe_events
}
# The first place behind the entry that can be probed.
body=$((address))
for offset in 4 5 6 7 8 9 10 11 12 13 14; do
	! probe p $offset 2>/dev/null || { body=$offset; break; }
done
unprobe
klp_gone() { [ ! -e /sys/kernel/livepatch/pp_klp ]; }
bpf_is_there() { [ -e /tmp/count ] || ! kill -0 $_bpf 2>/dev/null; }
# attach KIND - status 0 if it is attached.
attach() {
	case $1 in
	function | function_graph)
		echo $function >$tracing/set_ftrace_filter && echo $1 >$tracing/current_tracer ;;
	instance)
		mkdir $instance && echo $function >$instance/set_ftrace_filter &&
			echo function >$instance/current_tracer ;;
	kprobe) probe p 0 ;;
	kretprobe) probe r 0 ;;
	body) probe p $body ;;
	ops) modprobe pp_redirect at=$address ;;
	ops-list) modprobe pp_redirect list=1 at=$address ;;
	trace-cmd) /usr/bin/trace-cmd start -p function -l $function >/dev/null ;;
	livepatch) modprobe pp_klp statfs=1 && until_true 60 grep -q 0 /sys/kernel/livepatch/pp_klp/transition ;;
	second) pokepatch load "$(patch_file second)" ;;
	*)
		rm -f /tmp/count
		bpf-attach ${1#bpf-} $function /tmp/count &
		_bpf=$!
		until_true 20 bpf_is_there
		[ -e /tmp/count ] ;;
	esac
}
detach() {
	case $1 in
	function | function_graph)
		echo nop >$tracing/current_tracer
		echo >$tracing/set_ftrace_filter ;;
	instance) rmdir $instance ;;
	trace-cmd) /usr/bin/trace-cmd reset >/dev/null ;;
	kprobe | kretprobe | body) unprobe ;;
	ops | ops-list) [ ! -e /sys/module/pp_redirect ] || rmmod pp_redirect ;;
	livepatch)
		if [ -e /sys/kernel/livepatch/pp_klp ]; then
			echo 0 >/sys/kernel/livepatch/pp_klp/enabled
			until_true 60 klp_gone
		fi
		[ ! -e /sys/module/pp_klp ] || rmmod pp_klp ;;
	second) [ ! -e $pokepatch/second ] || pokepatch unload second ;;
	*)
		kill $_bpf 2>/dev/null
		wait $_bpf || : ;;
	esac
}
# seen KIND - did it see the call that begins now?  (Or did its function get it.)
seen() {
	case $1 in
	function | function_graph | instance | trace-cmd)
		_trace=$tracing/trace
		[ $1 != instance ] || _trace=$instance/trace
		echo >$_trace
		echo 1 >${_trace%/trace}/tracing_on
		effect >/dev/null
		grep -q "$function" $_trace ;;
	kprobe | kretprobe | body)
		_hits=$(hits it)
		effect >/dev/null
		[ "$(hits it)" -gt "$_hits" ] ;;
	ops | ops-list)
		_hits=$(cat /sys/module/pp_redirect/parameters/hits)
		effect >/dev/null
		[ "$(cat /sys/module/pp_redirect/parameters/hits)" -gt "$_hits" ] ;;
	livepatch | second) [ "$(effect)" = $1 ] ;;
	*)
		_hits=$(cat /tmp/count)
		effect >/dev/null
		usleep 400000
		[ "$(cat /tmp/count)" -gt "$_hits" ] ;;
	esac
}
told() { dmesg | tail -n +$((_lines + 1)) | grep -q -E "pokepatch: .*$1"; }
file_mode() { file patch vmlinux/$function,1/mode; }
# together KIND - what holds now that both are there.
together() {
	_seen=no
	! seen $1 || _seen=yes
	case $1,$(effect),$_seen in
	# Whichever came last has the calls.
	second,second,* | second,patch,*) echo newest ;;
	*,patch,yes) echo both ;;
	*,patch,no)
		if until_true 5 told "has no effect" && has mode "$(file_mode)" shadows; then
			echo told
		else
			echo LIE
		fi ;;
	*) echo "LIE:$(effect),$_seen" ;;
	esac
}
# first KIND - it was there before the patch.
first() {
	attach $1 || die "$1 is refused without a patch"
	seen $1 || die "$1 sees nothing without a patch"
	if pokepatch enable patch 2>/tmp/error; then
		together $1
		pokepatch disable patch
	else
		[ -s /tmp/error ] && seen $1 || die "$1 sees nothing after the patch was refused"
		echo patch-refused
	fi
	detach $1
}
# later KIND - it comes to the patched function.
later() {
	_lines=$(dmesg | wc -l)
	pokepatch enable patch || die "the patch is refused"
	if attach $1 2>/tmp/error; then
		together $1
	else
		[ "$(effect)" = patch ] || die "the patch has no effect after $1 was refused"
		echo refused
	fi
	detach $1
	pokepatch disable patch
}
# row KIND MODE... - one line of the table: what comes of it, in each mode and both orders.
row() {
	_kind=$1
	_row=$1
	shift
	for _mode; do
		echo $_mode >$(sysfs patch vmlinux/$function,1/mode)
		_row="$_row $_mode:$(first $_kind),$(later $_kind)"
		same "effect without both" "$(effect)" old
	done
	echo "row: $_row"
}
'

kinds=(function function_graph instance trace-cmd kprobe kretprobe body ops ops-list bpf-fentry bpf-fexit bpf-fmod_ret
	bpf-kprobe bpf-perf bpf-perf-function livepatch second)

# For a tracer of all functions the kernel writes each entry, which takes a guest many seconds.
all_functions_in='entry direct ftrace'
[ "${POKEPATCH_CHECK:-}" != short ] || all_functions_in=entry

# matrix MODE... - run all kinds in these modes; set $rows to their lines.
matrix() {
	with_patches "$(statfs_patch patch EXDEV)" "$(statfs_patch second EXFULL)"
	# With four processors it takes twice as long to write all entries.
	guest "${patched[@]}" --smp 2 --module "$(test_module pp_klp)" --module "$(test_module pp_redirect)" \
		--program "$(test_program bpf-attach)" --program "$(command -v trace-cmd)" --timeout 580 \
		--expect 'cannot be switched' --expect '^livepatch: failed to' \
		-- "$*" "${kinds[*]}" "$all_functions_in" <<<"$words"'
		modes=$1 kinds=$2 all_functions_in=$3
		pokepatch load "$(patch_file patch)"
		pokepatch disable patch
		for kind in $kinds; do
			case $kind in
			bpf-perf-function) row $kind $all_functions_in ;;
			*) row $kind $modes ;;
			esac
		done
		pokepatch unload patch
	'
	rows=$(sed -n 's/^row: //p' "$guest_output")
	echo "$rows"
}

# What comes of each on Debian's 6.1: attached before the patch is enabled, and later.
table='function entry:patch-refused,both direct:both,both ftrace:both,both
function_graph entry:patch-refused,both direct:both,both ftrace:both,both
instance entry:patch-refused,both direct:both,both ftrace:both,both
trace-cmd entry:patch-refused,both direct:both,both ftrace:both,both
kprobe entry:patch-refused,refused direct:both,both ftrace:both,both
kretprobe entry:patch-refused,refused direct:both,both ftrace:both,both
body entry:told,refused direct:told,refused ftrace:told,refused
ops entry:patch-refused,refused direct:both,both ftrace:both,both
ops-list entry:patch-refused,refused direct:both,both ftrace:both,both
bpf-fentry entry:patch-refused,refused direct:both,both ftrace:patch-refused,both
bpf-fexit entry:patch-refused,refused direct:both,both ftrace:patch-refused,both
bpf-fmod_ret entry:patch-refused,refused direct:both,both ftrace:patch-refused,both
bpf-kprobe entry:patch-refused,refused direct:both,both ftrace:both,both
bpf-perf entry:patch-refused,refused direct:both,both ftrace:both,both
bpf-perf-function entry:patch-refused,both direct:both,both ftrace:both,both
livepatch entry:patch-refused,refused direct:patch-refused,refused ftrace:patch-refused,refused
second entry:newest,newest direct:patch-refused,newest ftrace:patch-refused,newest'

@test "each, before the patch and while it is there, in every mode" {
	needs bpf livepatch direct
	matrix entry direct ftrace
	run -1 grep -e LIE -e FAILED <<<"$rows"
	[ "$all_functions_in" != entry ] ||
		table=$(awk '$1 == "bpf-perf-function" { print $1, $2; next } { print }' <<<"$table")
	# Other kernels may refuse less, or more.
	[[ $(kernel_release) != 6.1.0-* ]] || diff <(echo "$table") <(echo "$rows")
	[ "$(wc -l <<<"$rows")" -eq ${#kinds[@]} ]
}

@test "the policy coexist: auto leaves the entry to ftrace, and what attaches works" {
	needs bpf direct
	with_patches "$(statfs_patch patch EXDEV)"
	guest "${patched[@]}" --module "$(test_module pp_redirect)" --program "$(test_program bpf-attach)" \
		--program "$(command -v setpriv)" --expect 'invalid for parameter .policy' --timeout 240 <<<"$words"'
		policy=$pokepatch/policy
		refused modprobe pokepatch policy=nonsense
		modprobe pokepatch policy=coexist
		same policy "$(cat $policy)" coexist
		pokepatch load "$(patch_file patch)"
		for kind in function kprobe ops bpf-fentry bpf-kprobe; do
			same "mode" "$(file_mode)" direct
			attach $kind || die "$kind is refused"
			same $kind "$(together $kind)" both
			detach $kind
		done
		echo "== another mode can be asked for"
		pokepatch unload patch
		pokepatch load --mode entry "$(patch_file patch)"
		same mode "$(file_mode)" entry
		refused attach kprobe
		unprobe
		pokepatch unload patch
		echo "== it holds for what is enabled from then on"
		refused sh -c "echo nonsense >$policy"
		refused /usr/bin/setpriv --bounding-set=-sys_module --inh-caps=-sys_module sh -c "echo entry >$policy"
		same policy "$(cat $policy)" coexist
		pokepatch load "$(patch_file patch)"
		echo entry >$policy
		same mode "$(file_mode)" direct
		pokepatch disable patch
		pokepatch enable patch
		same mode "$(file_mode)" entry
		pokepatch unload patch
	'
}
