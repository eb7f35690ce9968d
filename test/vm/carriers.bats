# SPDX-License-Identifier: GPL-2.0-or-later
# Functions without an entry.  One is carried by its callers: it counts when stacks are looked at,
# though calls are never rerouted there.  Of another, whose callers cannot be replaced, the jump
# overwrites the first instructions.

load helpers

@test "a task in a carried function is in the way, in the old one and in the new one" {
	with_patches "$top/test/vm/patches/flock-body.patch"
	# The same once more, to lie on top of it.
	guest "${patched[@]}" --module "$(patch_module "$top/test/vm/patches/flock-body.patch" flock-top)" \
		--program "$(test_program flocker)" -- "${arch_syscall}sys_flock" <<-'END'
		caller=$1
		write() { echo "$2" >"$(sysfs "$1" enabled)"; }
		# A busy machine may need longer for a switch that nothing is in the way of.
		blocked() { # NAME VALUE
			timeout=$(file "$1" timeout_ms)
			echo 300 >"$(sysfs "$1" timeout_ms)"
			refused write "$@"
			same "who is in the way" "$(file "$1" blocked_by)" \
				"$second flocker __do_sys_flock"
			echo "$timeout" >"$(sysfs "$1" timeout_ms)"
		}
		insmod "/lib/modules/$(uname -r)/extra/pokepatch.ko"
		insmod "$(patch_file flock-body)"
		flock_first

		flock_second
		blocked flock-body 1
		same "the error while disabled" "$(flock_error)" 22
		kill $second
		wait $second || :
		enabled flock-body 1
		same "the error while enabled" "$(flock_error)" 33
		[ -d "$pokepatch/flock_body/vmlinux/$caller,1" ] || die "no folder"
		[ ! -e "$pokepatch/flock_body/vmlinux/__do_sys_flock,1" ] || die "a folder too many"
		has info "$(pokepatch info flock-body)" $caller

		flock_second
		insmod "$(patch_file flock-top)"
		blocked flock-top 1
		rmmod pokepatch-flock-top
		blocked flock-body 0
		same "the error while still enabled" "$(flock_error)" 33
		kill $second
		wait $second || :
		enabled flock-body 0
		same "the error at the end" "$(flock_error)" 22
		pokepatch unload flock-body
		kill $first
	END
}

# A function of kernel/trace, to which a table of operations leads, in two patches.
with_readme() {
	needs split-entries
	with_patches "$top/test/vm/patches/readme-length.patch"
	patched+=(--module "$(patch_module "$top/test/vm/patches/readme-length.patch" readme-top)")
}

# landing_pad - the bytes of ENDBR64, if functions of this kernel begin with it.
landing_pad() {
	local release
	release=$(kernel_release)
	if grep -q '^CONFIG_X86_KERNEL_IBT=y' \
		"${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$release/headers/usr/src/linux-headers-$release/.config"; then
		echo 4
	else
		echo 0
	fi
}

# What the guests know; pad is what lies in front of a function's first instructions.
readme='
	symbol=0x$(sed -n "s/ t tracing_readme_read$//p" /proc/kallsyms)
	# The bytes that one read of 100 gives: 7 if it is patched.
	length() { head -c 100 /sys/kernel/tracing/README | wc -c; }
	# tracefs allows no probes on kernel/trace.
	probe() { # OFFSET [PARAMETER]
		modprobe pp_probe at=$(printf 0x%x $((symbol + pad + $1))) ${2:-}
	}
	# The offset of the first instruction there or behind.
	insn_from() { # OFFSET
		offset=$1
		until probe $offset off=1 2>/dev/null; do
			offset=$((offset + 1))
		done
		rmmod pp_probe
		echo $offset
	}
	insmod "/lib/modules/$(uname -r)/extra/pokepatch.ko"
	folder=$pokepatch/readme_length/vmlinux/tracing_readme_read,1
'

@test "a jump over the first instructions of a function, and back" {
	with_readme
	guest "${patched[@]}" --expect 'cannot be switched in direct mode' <<<"$readme"'
		echo coexist >$pokepatch/policy
		insmod "$(patch_file readme-length)"
		for round in 1 2 3; do
			enabled readme-length 1
			same "the mode" "$(cat $folder/mode)" entry
			same "the length" "$(length)" 7
			# Its code is compared with the one that was there before the jump.
			insmod "$(patch_file readme-top)"
			enabled readme-top 1
			same "the length with both" "$(length)" 7
			enabled readme-length 0
			same "the length with the second" "$(length)" 7
			enabled readme-top 0
			same "the length without them" "$(length)" 100
			rmmod pokepatch-readme-top
		done
		pokepatch check "$(patch_file readme-top)"
		echo direct >$folder/mode
		refused sh -c "echo 1 >$(sysfs readme-length enabled)"
		has "what the log says" "$(dmesg)" "tracing_readme_read cannot be switched in direct mode: it has no entry"
		pokepatch unload readme-length
		same "the length at the end" "$(length)" 100
		rmmod pokepatch
	'
}

@test "probes on a function whose first instructions a jump overwrites" {
	with_readme
	guest "${patched[@]}" --module "$(test_module pp_probe)" --expect 'cannot be switched in entry mode' \
		<<<"pad=$(landing_pad)$readme"'
		insmod "$(patch_file readme-length)"
		enable() { echo $1 >"$(sysfs readme-length enabled)"; }
		second=$(insn_from 1) behind=$(insn_from 16)
		# On the second instruction of those that are overwritten, armed or not.
		for parameter in off=1 off=0; do
			probe $second $parameter
			refused enable 1
			has "what the log says" "$(dmesg)" "a probe is on its first instructions"
			same "the length" "$(length)" 100
			rmmod pp_probe
		done
		# Behind them a probe is in the way of nothing, and has no effect while no call comes there.
		probe $behind
		enable 1
		same "the length" "$(length)" 7
		until_true 5 grep -q "entry,shadows:kprobe" $folder/mode
		same "hits while patched" "$(cat /sys/module/pp_probe/parameters/hits)" 0
		rmmod pp_probe
		# Now each new one is refused.
		for offset in 0 $second $behind; do
			refused probe $offset
		done
		has "what the log says" "$(dmesg)" "a probe at tracing_readme_read"
		enable 0
		probe 0
		same "the length" "$(length)" 100
		[ "$(cat /sys/module/pp_probe/parameters/hits)" -gt 0 ] || die "the probe was not hit"
		refused enable 1
		rmmod pp_probe
		enable 1
		same "the length" "$(length)" 7
		pokepatch unload readme-length
		same "the length at the end" "$(length)" 100
		# Nor may there be one where the next patch will have its copy of such instructions.
		detours=$(grep " x86_detours.*\[pokepatch\]" /proc/kallsyms | cut -c 1-16)
		refused modprobe pp_probe off=1 at=0x$detours
		rmmod pokepatch
	'
}
