# SPDX-License-Identifier: GPL-2.0-or-later
# The entry mode: the site itself becomes the jump.  It is ftrace's, and who else uses it,
# before, meanwhile and afterwards.

load helpers

example=$top/examples/proc-version.patch
words='
function=version_proc_show
mode() { file proc-version vmlinux/version_proc_show,1/mode; }
mode_is() { [ "$(mode)" = "$1" ]; }
# The one loaded function is the new or the old one.
is_new() { has /proc/version "$(cat /proc/version)" Live-patched; }
is_old() { lacks /proc/version "$(cat /proc/version)" Live-patched; }
# traced - how often the function tracer sees the old function in ten calls; the new one
# would have the name of its module behind its own.
traced() {
	echo >$tracing/trace
	for _call in 1 2 3 4 5 6 7 8 9 10; do cat /proc/version >/dev/null; done
	grep -c " version_proc_show <-" $tracing/trace
}
trace_on() { echo function >$tracing/current_tracer; }
trace_off() { echo nop >$tracing/current_tracer; }
'

@test "a tracer that comes while a site is claimed, and stays" {
	needs ftrace
	with_patches "$example"
	guest "${patched[@]}" <<<"$words"'
		echo "== before any patch"
		# A claimed site cannot be added to a filter; it may be in one already.
		echo version_proc_show >$tracing/set_ftrace_filter
		trace_on
		same "traced calls" "$(traced)" 10
		trace_off
		pokepatch load "$(patch_file proc-version)"
		same mode "$(mode)" entry
		is_new

		echo "== it comes to a claimed site"
		trace_on
		until_true 5 mode_is entry,shadows:tracer
		is_new
		same "traced calls of the old function" "$(traced)" 0

		echo "== it leaves again"
		trace_off
		until_true 5 mode_is entry
		is_new

		echo "== it is there when the site is given back, and ftrace writes it"
		trace_on
		until_true 5 mode_is entry,shadows:tracer
		pokepatch disable proc-version
		is_old
		same "traced calls" "$(traced)" 10
		same mode "$(mode)" auto
		trace_off
		is_old

		echo "== ftrace still works"
		trace_on
		same "traced calls" "$(traced)" 10

		trace_off

		echo "== it selects the claimed site by its number; by its name it cannot"
		number=$(grep -n "^version_proc_show\$" $tracing/available_filter_functions | cut -d: -f1)
		pokepatch enable proc-version
		same mode "$(mode)" entry
		echo version_proc_show >$tracing/set_ftrace_filter
		same filter "$(cat $tracing/set_ftrace_filter)" "version_proc_show [pokepatch_proc_version]"
		echo $number >$tracing/set_ftrace_filter
		same filter "$(cat $tracing/set_ftrace_filter)" version_proc_show
		dmesg -c >/dev/null
		trace_on
		until_true 5 mode_is entry,shadows:tracer
		has "the log" "$(dmesg)" "proc_version: a tracer has no effect on 1 function"
		is_new
		same "traced calls of the old function" "$(traced)" 0
		pokepatch disable proc-version
		same "traced calls" "$(traced)" 10

		echo "== and a site that is in use is not claimed"
		pokepatch enable proc-version
		is_new
		same mode "$(mode)" $shared_mode
		trace_off
		pokepatch disable proc-version
		is_old
		pokepatch enable proc-version
		same mode "$(mode)" entry
		is_new
		pokepatch unload proc-version
		is_old
	'
}

@test "the function and graph tracers of everything, across a claim" {
	needs ftrace
	with_patches "$example" "$top/test/vm/patches/dummy-setup.patch"
	guest "${patched[@]}" --module dummy --smp 1 --timeout 240 <<<"$words"'
		mtu() { cat /sys/class/net/dummy0/mtu; }
		pokepatch load "$(patch_file dummy-setup)"
		for tracer in function function_graph; do
			echo "== $tracer: comes first, leaves while patched"
			echo $tracer >$tracing/current_tracer
			pokepatch load "$(patch_file proc-version)"
			same mode "$(mode)" $shared_mode
			is_new
			echo "== $tracer: has the sites of a module that comes, before the patch sees it"
			modprobe dummy
			same "mode, mtu" "$(file dummy-setup dummy/dummy_setup,1/mode) $(mtu)" \
				"$shared_mode 1234"
			echo nop >$tracing/current_tracer
			is_new
			same mtu "$(mtu)" 1234
			rmmod dummy
			pokepatch unload proc-version
			is_old
			echo "== $tracer: comes while patched, leaves afterwards"
			pokepatch load "$(patch_file proc-version)"
			same mode "$(mode)" entry
			echo $tracer >$tracing/current_tracer
			is_new
			pokepatch unload proc-version
			is_old
			echo nop >$tracing/current_tracer
			is_old
		done
		modprobe dummy
		same "mode, mtu" "$(file dummy-setup dummy/dummy_setup,1/mode) $(mtu)" "entry 1234"
	'
}

@test "probes, at the entry and in the body" {
	with_patches "$example"
	! can entry-probes || patched+=(--expect 'cannot be switched in entry mode')
	guest "${patched[@]}" -- "${arch_instructions[0]}" <<<"$words"'
		# By address: once the patch is loaded there are two functions of that name.
		address=$(awk '"'"'$3 == "version_proc_show" { print "0x" $1 }'"'"' /proc/kallsyms)
		probe() { # NAME OFFSET
			echo "p:pp/$1 $(printf "0x%x" $((address + $2)))" >>$tracing/kprobe_events &&
				echo 1 >$tracing/events/pp/$1/enable
		}
		unprobe() {
			echo 0 >$tracing/events/pp/$1/enable
			echo "-:pp/$1" >>$tracing/kprobe_events
		}
		body=$1
		for place in "entry 0" "body $body"; do
			set -- $place
			# It is in front of what is switched, and works.
			[ $1 = body ] || can entry-probes || continue
			echo "== a probe at the $1 comes while the function is patched"
			pokepatch load "$(patch_file proc-version)"
			if can guard; then
				refused probe $1 $2
				is_new
				pokepatch disable proc-version
				probe $1 $2
				is_old
				same "hits of the probe" "$(hits $1)" 1
				unprobe $1
				pokepatch unload proc-version
				continue
			fi
			probe $1 $2
			until_true 5 mode_is entry,shadows:kprobe
			is_new
			same "hits of the probe" "$(hits $1)" 0
			pokepatch disable proc-version
			is_old
			same "hits of the probe" "$(hits $1)" 1
			unprobe $1
			pokepatch unload proc-version
		done

		echo "== a probe in the body was there before: the core reports it"
		probe body $body
		pokepatch load "$(patch_file proc-version)"
		until_true 5 mode_is entry,shadows:kprobe
		is_new
		same "hits of the probe" "$(hits body)" 0
		pokepatch unload proc-version
		is_old
		same "hits of the probe" "$(hits body)" 1
		unprobe body

		if can guard; then
			echo "== a probe at the entry that is off: no claim"
			echo "p:pp/entry $address" >>$tracing/kprobe_events
			pokepatch load "$(patch_file proc-version)"
			same mode "$(mode)" $shared_mode
			echo 1 >$tracing/events/pp/entry/enable
			is_new
			same "hits of the probe" "$(hits entry)" 1
			unprobe entry
			pokepatch unload proc-version
		fi

		echo "== a probe at the entry was there before"
		if ! can entry-probes; then
			pokepatch load "$(patch_file proc-version)"
			same mode "$(mode)" entry
			for _n in 1 2; do
				probe entry 0
				is_new
				same mode "$(mode)" entry
				same "hits of the probe" "$(hits entry)" 1
				pokepatch disable proc-version
				is_old
				same "hits of the probe" "$(hits entry)" 2
				pokepatch enable proc-version
				unprobe entry
				is_new
			done
			pokepatch unload proc-version
			exit 0
		fi
		probe entry 0
		is_old
		same "hits of the probe" "$(hits entry)" 1
		refused pokepatch load --mode entry "$(patch_file proc-version)"
		is_old
		pokepatch load "$(patch_file proc-version)"
		same mode "$(mode)" $shared_mode
		is_new
		same "hits of the probe" "$(hits entry)" 3
		pokepatch unload proc-version
		unprobe entry
		is_old
	'
}

@test "instructions that a switched call costs more" {
	with_patches "$top/test/bench/int-pow.patch"
	# Without randomisation modules are in reach of arm64's branches.
	guest "${patched[@]}" --icount --append nokaslr --module "$(test_module pp_icount)" \
		-- "$arch_entry_costs" "${all_modes#entry}" "${arch_ftrace_costs-}" <<-'END'
		cost() { # RESULT - of a call at depth 1, in hundredths
			set -- "$1" $(head -n 1 /sys/module/pp_icount/parameters/measure)
			same "what int_pow() returns" "$4" "$1"
			cost=$3
		}
		modprobe pp_icount
		cost 1
		plain=$cost
		pokepatch load --mode entry "$(patch_file int-pow)"
		cost 2
		echo "a call and a loop: $plain, switched: $cost"
		# What the clock's steps leave unsaid is a hundredth of an instruction or two.
		[ $((cost - plain)) -le $((100 * $1 + 2)) ] || die "it costs $((cost - plain)) more"
		[ $((cost - plain)) -ge $((100 * $1 - 2)) ] || die "$((cost - plain)): it is measured wrongly"
		pokepatch unload int-pow
		cost 1
		[ $((cost - plain)) -le 2 ] || die "it still costs $((cost - plain)) more"
		# 3 is what was measured on x86-64.
		for mode in $2; do
			pokepatch load --mode $mode "$(patch_file int-pow)"
			cost 2
			echo "mode $mode: $((cost - plain)) hundredths more"
			case $mode in
			direct) most=302 ;;
			ftrace) most=$((100 * $3)) ;;
			*) continue ;;
			esac
			[ $((cost - plain)) -le $most ] || die "mode $mode costs $((cost - plain)) more"
			[ $((cost - plain)) -gt 100 ] || die "mode $mode: $((cost - plain)): it is measured wrongly"
			pokepatch unload int-pow
		done
	END
	cat "$guest_output"
}

@test "the kernel's livepatch on a claimed site, and the other way round" {
	needs livepatch
	with_patches "$top/test/vm/patches/int-pow-three.patch"
	guest "${patched[@]}" --smp 1 --module "$(test_module pp_icount)" --module "$(test_module pp_klp)" \
		--expect 'int_pow cannot be switched' --expect '^livepatch: failed to' \
		--expect 'the core is being removed by force' \
		--expect '^Disabling lock debugging due to kernel taint' <<-'END'
		# What int_pow(1, 0) returns: 1, patched by us 3, by the kernel's livepatch 2.
		result() { awk 'NR == 1 { print $3 }' /sys/module/pp_icount/parameters/measure; }
		mode() { file int-pow-three vmlinux/int_pow,1/mode; }
		mode_is() { [ "$(mode)" = "$1" ]; }
		klp=/sys/kernel/livepatch/pp_klp
		klp_on() {
			modprobe pp_klp || return
			until_true 60 grep -q 0 $klp/transition
		}
		klp_off() {
			echo 0 >$klp/enabled
			until_true 60 test ! -e $klp
			rmmod pp_klp
		}
		core_goes() { rmmod pokepatch 2>/dev/null; }
		modprobe pp_icount
		same result "$(result)" 1

		echo "== ours first: the other is refused"
		pokepatch load "$(patch_file int-pow-three)"
		same "mode and result" "$(mode) $(result)" "entry 3"
		refused klp_on
		same result "$(result)" 3

		echo "== or told of, if it comes while there is no guard"
		unguarded klp_on
		until_true 5 mode_is entry,shadows:livepatch
		same result "$(result)" 3

		echo "== the site is given back when the other has gone, not before"
		pokepatch unload int-pow-three
		same result "$(result)" 1
		core_goes && die "the core went with a claimed site"
		# Not even by force.
		rmmod -f pokepatch &
		remover=$!
		sleep 1
		grep -q "^pokepatch " /proc/modules || die "the core went with a claimed site"
		# A tracer that waits for the site, so that ftrace has to write it in the end.
		echo int_pow >$tracing/set_ftrace_filter 2>/dev/null || :
		echo function >$tracing/current_tracer
		klp_off
		same result "$(result)" 1
		wait $remover
		[ ! -e $pokepatch ] || die "the core is there"
		echo nop >$tracing/current_tracer
		echo >$tracing/set_ftrace_filter

		echo "== the other first: then ours is refused"
		klp_on
		same result "$(result)" 2
		refused pokepatch load "$(patch_file int-pow-three)"
		refused pokepatch load --mode entry "$(patch_file int-pow-three)"
		same result "$(result)" 2
		refused pokepatch load --mode direct "$(patch_file int-pow-three)"
		klp_off
		same result "$(result)" 1

		echo "== in direct and in ftrace mode, the other is refused"
		for mode in direct ftrace; do
			pokepatch load --mode $mode "$(patch_file int-pow-three)"
			same "mode and result" "$(mode) $(result)" "$mode 3"
			refused modprobe pp_klp
			same result "$(result)" 3
			pokepatch unload int-pow-three
			same result "$(result)" 1
		done
		pokepatch load "$(patch_file int-pow-three)"
		same "mode and result" "$(mode) $(result)" "entry 3"
		pokepatch unload int-pow-three
		same result "$(result)" 1
	END
}

@test "every processor serialises after each step of a switch that writes text, and only then" {
	with_patches "$example"
	guest "${patched[@]}" -- "$arch_steps" <<<"$words"'
		modprobe pokepatch dyndbg=+p
		said() { dmesg | sed -n "s/.*proc_version: stopped .*, \([0-9]* words\)/\1/p" | tail -n 1; }
		# One store of a word needs no steps, and one serialisation when it is made.
		times=$((($1 ? $1 : 1) * $(nproc)))
		for line in "ftrace 0 0 0" "entry 1 $1 $times" "direct 1 $1 $times"; do
			set -- $line
			[ $1 = entry ] || can $1 || continue
			pokepatch load --mode $1 "$(patch_file proc-version)"
			is_new
			same "$1 mode" "$(said)" "$2 words, $3 steps, serialised $4 times"
			pokepatch unload proc-version
		done
	'
}

@test "a mode that is asked for" {
	local mode module
	with_patches "$example"
	for mode in $all_modes; do
		module=$(patch_module "$example" "built-$mode" --mode "$mode")
		patched+=(--module "$module")
	done
	guest "${patched[@]}" <<<"$words"'
		echo "== when it is built, and another one when it is loaded"
		for mode in $all_modes; do
			used_mode() { file built-$mode vmlinux/version_proc_show,1/mode; }
			modprobe pokepatch-built-$mode
			same "mode that is asked for" "$(used_mode)" $mode
			rmmod pokepatch_built_$mode
			pokepatch load "$(patch_file built-$mode)"
			is_new
			same mode "$(used_mode)" $mode
			pokepatch unload built-$mode
			for other in $(! can ftrace || echo ftrace) entry; do
				pokepatch load --mode $other "$(patch_file built-$mode)"
				same mode "$(used_mode)" $other
				pokepatch unload built-$mode
			done
		done
		echo "== when it is loaded"
		for mode in $(! can ftrace || echo ftrace) entry; do
			pokepatch load --mode $mode "$(patch_file proc-version)"
			is_new
			same mode "$(mode)" $mode
			pokepatch disable proc-version
			is_old
			same "mode that is asked for" "$(mode)" $mode
			pokepatch enable proc-version
			is_new
			same mode "$(mode)" $mode
			refused pokepatch load --mode nonsense "$(patch_file proc-version)"
			is_new
			pokepatch unload proc-version
		done
		refused pokepatch load --mode nonsense "$(patch_file proc-version)"
		[ ! -e "$(sysfs proc-version enabled)" ] || die "it is loaded"
	'
}

@test "BPF programs at the entry and the exit" {
	needs bpf
	with_patches "$example"
	guest "${patched[@]}" --timeout 240 --program "$(test_program bpf-attach)" \
		--expect 'version_proc_show cannot be switched' <<<"$words"'
		attach() { # KIND
			rm -f /tmp/count
			bpf-attach $1 version_proc_show /tmp/count &
			_bpf=$!
			until_true 20 test -e /tmp/count
		}
		count_is() { [ "$(cat /tmp/count)" = "$1" ]; }
		core_goes() { rmmod pokepatch 2>/dev/null; }
		leave() {
			kill $_bpf
			wait $_bpf || :
		}
		for kind in fentry fexit; do
			echo "== $kind, unpatched"
			attach $kind
			is_old
			until_true 5 count_is 1

			echo "== $kind was there before: refused, or both work"
			for mode in ftrace entry; do
				refused pokepatch load --mode $mode "$(patch_file proc-version)"
				is_old
			done
			if can direct; then
				pokepatch load "$(patch_file proc-version)"
				same mode "$(mode)" direct
				is_new
				until_true 5 count_is 4
				pokepatch unload proc-version
			else
				refused pokepatch load "$(patch_file proc-version)"
				is_old
				until_true 5 count_is 4
			fi
			is_old
			until_true 5 count_is 5
			leave

			echo "== $kind comes to a patched function: it is refused"
			pokepatch load "$(patch_file proc-version)"
			same mode "$(mode)" entry
			if can guard; then
				refused bpf-attach $kind version_proc_show /tmp/count
				is_new
			fi

			echo "== or told of, if it comes while there is no guard"
			unguarded attach $kind
			until_true 5 mode_is entry,shadows:bpf
			is_new
			sleep 0.3
			count_is 0 || die "the program was called"

			echo "== and takes effect when it is disabled and attached again"
			pokepatch unload proc-version
			is_old
			core_goes && die "the core went with a claimed site"
			leave
			until_true 5 core_goes
			attach $kind
			is_old
			until_true 5 count_is 1
			leave

			for mode in direct ftrace; do
				can $mode || continue
				echo "== in $mode mode both work"
				pokepatch load --mode $mode "$(patch_file proc-version)"
				attach $kind
				is_new
				until_true 5 count_is 1
				pokepatch unload proc-version
				is_old
				until_true 5 count_is 2
				leave
			done
		done
	'
}

@test "entries that lie across words are taken by auto, and switched to and fro" {
	needs split-entries
	with_patches "$top/test/vm/patches/netdev-printk.patch"
	guest "${patched[@]}" --module dummy -- "$(entry_offset)" <<-'END'
		entry_offset=$1
		modes() { cat $(sysfs netdev-printk vmlinux)/*/mode | sort -u | tr '\n' ' '; }
		patched_calls() { dmesg | grep -c "live-patched netdev_info"; }
		modprobe dummy
		ip link set dummy0 name before
		same "calls of the new function" "$(patched_calls)" 0
		pokepatch load "$(patch_file netdev-printk)"
		crossing=0
		for folder in $(sysfs netdev-printk vmlinux)/*,1; do
			[ $((($(cat $folder/old_addr) + entry_offset) & 7)) -le 3 ] || crossing=$((crossing + 1))
		done
		[ $crossing -gt 0 ] || die "no entry is in two words"
		pokepatch unload netdev-printk
		calls=0
		for mode in auto entry direct ftrace; do
			wanted=$([ $mode = auto ] && echo entry || echo $mode)
			can $wanted || continue
			pokepatch load $([ $mode = auto ] || echo --mode $mode) "$(patch_file netdev-printk)"
			same modes "$(modes)" "$wanted "
			ip link set before name $mode
			calls=$((calls + 1))
			same "calls of the new function" "$(patched_calls)" $calls
			pokepatch disable netdev-printk
			ip link set $mode name before
			same "calls of the new function" "$(patched_calls)" $calls
			pokepatch enable netdev-printk
			ip link set before name $mode
			calls=$((calls + 1))
			same "calls of the new function" "$(patched_calls)" $calls
			pokepatch unload netdev-printk
			ip link set $mode name before
			same "calls of the new function" "$(patched_calls)" $calls
		done
	END
}
