# SPDX-License-Identifier: GPL-2.0-or-later
# The code in memory must be what a patch was made for: the core notices what
# another writer has changed, when the patch is loaded and when it is enabled, and ignores what the
# kernel itself changes.

load helpers

# Words for the guest.  Every load that is refused says so in one line, with status 2.
words='
meddle() { # SYMBOL OFFSET
	insmod pp_meddle.ko symbol=$1 offset=$2
}
refused_for() { # FUNCTION+OFFSET COMMAND... - the log tells where
	where=$1
	shift
	dmesg -c >/dev/null
	status=0
	"$@" >/tmp/said 2>&1 || status=$?
	cat /tmp/said
	same "exit status of $*" $status 2
	same "lines" "$(wc -l </tmp/said)" 1
	has "what it said" "$(cat /tmp/said)" "[code-differs]"
	dmesg >/tmp/log
	has "the log" "$(cat /tmp/log)" "is refused: the code of ${where%+*} at +${where#*+} is "
}
'

# meddled_dummy FILE - dummy.ko, with the same build id, unsigned, and with one byte of
# dummy_setup() changed.
meddled_dummy() {
	local dummy=$BATS_TEST_TMPDIR/dummy.ko number place section
	stock_module drivers/net/dummy "$dummy"
	read -r place number < <(readelf -sW "$dummy" | awk '$8 == "dummy_setup" { print $2, $7 }')
	section=$(readelf -SW "$dummy" | sed 's/[][]//g' | awk -v n="$number" '$1 == n { print $5 }')
	cp "$dummy" "$1"
	# "~Module signature appended~" ends it.
	if tail -c 28 "$dummy" | grep -aq signature; then truncate -s -28 "$1"; fi
	flip_bit "$1" $((0x$section + 0x$place + 28))
}

@test "a changed byte: refused with its place, and loaded when it is as before" {
	with_patches "$top/examples/proc-version.patch" \
		"$top"/test/vm/patches/{dummy-setup,urandom-read}.patch
	meddled_dummy "$BATS_TEST_TMPDIR/meddled.ko"
	guest "${patched[@]}" --file "$(test_module pp_meddle)" --module dummy \
		--file "$BATS_TEST_TMPDIR/meddled.ko" \
		--expect '^pokepatch: module dummy is refused: ' \
		--expect '^pokepatch: .*is refused: the code of ' -- "${arch_instructions[2]}" "$arch_call" <<<"$words"'
		same "bytes to begin with" "$(grep -c Live-patched /proc/version || :)" 0

		echo "== vmlinux, at load"
		meddle version_proc_show $1
		refused_for version_proc_show+$(printf 0x%x $1) pokepatch load "$(patch_file proc-version)"
		lacks "the loaded modules" "$(cat /proc/modules)" pokepatch_proc_version
		rmmod pp_meddle
		pokepatch load "$(patch_file proc-version)"
		has /proc/version "$(cat /proc/version)" Live-patched

		echo "== at enable; disabling does not ask"
		meddle version_proc_show $1
		enabled proc-version 0
		refused_for version_proc_show+$(printf 0x%x $1) pokepatch enable proc-version
		(echo 1 >"$(sysfs proc-version enabled)") 2>/tmp/error && die "it was enabled"
		has "the error" "$(cat /tmp/error)" "Input/output error"
		same state "$(file proc-version state)" disabled
		rmmod pp_meddle
		lacks /proc/version "$(cat /proc/version)" Live-patched
		enabled proc-version 1
		has /proc/version "$(cat /proc/version)" Live-patched
		pokepatch unload proc-version

		if can relative-calls; then
			echo "== where a call leads"
			meddle version_proc_show $2
			refused_for version_proc_show+$(printf 0x%x $2) pokepatch load "$(patch_file proc-version)"
			rmmod pp_meddle
		fi

		# The 6.12 of Debian 12 has no such parts.
		if can cold-parts && grep -q "\.cold$" /proc/kallsyms; then
			echo "== the .cold part of a function, which is elsewhere"
			cold=$(awk '"'"'$3 == "urandom_read_iter.cold" { print $1 }'"'"' /proc/kallsyms)
			[ -n "$cold" ] || die "it has none in this kernel"
			meddle urandom_read_iter.cold 3
			refused_for urandom_read_iter.cold+0x3 pokepatch load "$(patch_file urandom-read)"
			rmmod pp_meddle
			pokepatch load "$(patch_file urandom-read)"
			enabled urandom-read 0
			meddle urandom_read_iter.cold 3
			refused_for urandom_read_iter.cold+0x3 pokepatch enable urandom-read
			rmmod pp_meddle
			pokepatch unload urandom-read
		fi

		echo "== a module that is there"
		modprobe dummy
		meddle dummy_setup 28
		refused_for dummy_setup+0x1c pokepatch load "$(patch_file dummy-setup)"
		rmmod pp_meddle
		pokepatch load "$(patch_file dummy-setup)"
		ip link add late type dummy
		same mtu "$(cat /sys/class/net/late/mtu)" 1234
		pokepatch unload dummy-setup
		rmmod dummy

		echo "== a module that comes later, to an enabled patch, and to a disabled one"
		pokepatch load "$(patch_file dummy-setup)"
		for now in 1 0; do
			enabled dummy-setup $now
			dmesg -c >/dev/null
			refused insmod meddled.ko
			has "the log" "$(dmesg)" "is refused: the code of dummy_setup at +0x1c is "
			has "the log" "$(dmesg)" "module dummy is refused: patch dummy_setup "
			lacks "the loaded modules" "$(cat /proc/modules)" "dummy "
			modprobe dummy
			same mtu "$(cat /sys/class/net/dummy0/mtu)" "$([ $now = 1 ] && echo 1234 || echo 1500)"
			rmmod dummy
		done
		pokepatch unload dummy-setup
		insmod meddled.ko numdummies=0 # its code must not run
		refused_for dummy_setup+0x1c pokepatch load "$(patch_file dummy-setup)"
	'
}

@test "probes and tracers in the function do not make its code another one" {
	with_patches "$top/examples/proc-version.patch"
	guest "${patched[@]}" --file "$(test_module pp_meddle)" \
		--expect '^pokepatch: .*is refused: the code of ' -- "${arch_instructions[@]}" <<<"$words"'
		first=$1 second=$2 third=$3
		mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null || :
		list=/sys/kernel/debug/kprobes/list
		probe() { echo "p:pp/$1 version_proc_show+$2" >>$tracing/kprobe_events; }
		arm() { echo 1 >$tracing/events/pp/enable; }
		disarm() { echo 0 >$tracing/events/pp/enable; echo >$tracing/kprobe_events; }
		good() {
			pokepatch load "$(patch_file proc-version)"
			has /proc/version "$(cat /proc/version)" Live-patched
			enabled proc-version 0
			enabled proc-version 1
			pokepatch unload proc-version
		}
		bad() { refused_for version_proc_show+$(printf 0x%x $third) pokepatch load "$(patch_file proc-version)"; }

		echo "== breakpoints"
		! can optimised-probes || echo 0 >/proc/sys/debug/kprobes-optimization
		probe one $first
		probe two $second
		arm
		cat $list
		same "probes, none optimised" "$(grep -c version_proc_show $list) $(grep -c OPTIM $list || :)" "2 0"
		good
		meddle version_proc_show $third
		bad
		rmmod pp_meddle
		disarm

		if can optimised-probes; then
			echo "== jumps"
			echo 1 >/proc/sys/debug/kprobes-optimization
			probe one $first
			arm
			until_true 20 grep -q "version_proc_show.*OPTIMIZED" $list
			cat $list
			good
			meddle version_proc_show $third
			bad
			rmmod pp_meddle
			disarm
		fi

		echo "== a byte that was another one before a probe took its copy"
		meddle version_proc_show $third
		for optimise in 0 $(! can optimised-probes || echo 1); do
			! can optimised-probes || echo $optimise >/proc/sys/debug/kprobes-optimization
			probe one $third
			arm
			[ $optimise = 0 ] || until_true 20 grep -q "version_proc_show.*OPTIMIZED" $list
			bad
			disarm
		done
		rmmod pp_meddle

		echo "== at the entry: a probe, a return probe, the tracers"
		probe entry 0
		echo "r:pp/back version_proc_show" >>$tracing/kprobe_events
		arm
		if ! can ftrace; then
			# The code is the same; that entry is not taken (arch/mips.bats).
			modprobe pokepatch-proc-version
			rmmod pokepatch_proc_version
			disarm
			good
			exit 0
		fi
		echo version_proc_show >$tracing/set_ftrace_filter
		for tracer in function function_graph; do
			echo $tracer >$tracing/current_tracer
			good
		done
		echo nop >$tracing/current_tracer
		disarm
		good
	'
}

# What the kernel makes of its own code, on other processors and with other options than
# those of all other tests.
patches=()
for name in slub-count mutex-lock kfree-skb callbacks int-pow-three netdev-printk dummy-setup; do
	patches+=("$top/test/vm/patches/$name.patch")
done
all_load='
for module in /lib/modules/$(uname -r)/extra/pokepatch-*.ko; do
	echo "== $module"
	pokepatch load $module
	name=${module##*/pokepatch-}
	pokepatch unload ${name%.ko}
done
'

@test "one processor, no mitigations, everything traced" {
	with_patches "${patches[@]}"
	guest "${patched[@]}" --module dummy --smp 1 --append mitigations=off <<<"
		echo 1 >\$tracing/events/skb/enable
		modprobe dummy
		$all_load"
}

@test "other instructions where the kernel chooses them, and thunks for indirect branches" {
	needs alternatives
	with_patches "${patches[@]}"
	guest "${patched[@]}" --module dummy "${arch_other_code[@]}" -- "${arch_other_code_shows[@]}" <<<"
		has \"\$1\" \"\$(cat \"\$1\")\" \"\$2\"
		modprobe dummy
		$all_load"
}
