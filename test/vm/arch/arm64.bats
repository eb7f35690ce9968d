# SPDX-License-Identifier: GPL-2.0-or-later
# What only arm64 has.  Not among the tests of x86-64: POKEPATCH_ARCH=arm64 bats test/vm/arch/arm64.bats

load ../helpers

setup() {
	[ "$arch" = arm64 ] || skip "not for $arch"
}

# disassembly FUNCTION - of vmlinux.
disassembly() {
	aarch64-linux-gnu-objdump -d --no-show-raw-insn -j .text --disassemble="$1" "$vmlinux"
}

@test "the core refuses patches of all that has an entry and writes the kernel's text" {
	local release vmlinux code function callee next=0 todo=(aarch64_insn_patch_text_nosync) entries=()
	# The lock is free, so nothing waits for it.  With interrupts off nothing is scheduled.  A report
	# of UBSAN would be a bug of the kernel's.
	local -A seen=([queued_spin_lock_slowpath]=1 [preempt_schedule]=1)
	release=$(kernel_release)
	vmlinux=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$release/dbg/usr/lib/debug/boot/vmlinux-$release
	while [ $next -lt ${#todo[@]} ]; do
		function=${todo[next++]}
		code=$(disassembly "$function")
		# An entry is two NOPs; code in assembly that begins with NOPs has a BTI in front of them.
		[ "$(awk '/>:$/ { n = 2; next } n-- > 0 { printf "%s ", $2 }' <<<"$code")" != "nop nop " ] ||
			entries+=("$function")
		# An indirect call could lead anywhere.
		run -1 grep -P '\tblr?\t(?!.*<)' <<<"$code"
		while read -r callee; do
			[ -n "${seen[$callee]-}" ] || todo+=("$callee")
			seen[$callee]=1
		done < <(sed -n '/<__ubsan_/d; s/.*\tbl\?\t.*<\([^>+]*\)>$/\1/p' <<<"$code")
	done
	echo "entries: ${entries[*]}"
	[ ${#todo[@]} -ge 6 ]
	[ ${#entries[@]} -ge 2 ]
	for function in "${entries[@]}"; do
		grep -q "^$function " "$top/build/core/$release/needed.txt"
	done
}

@test "instructions that a switched call costs more: a branch, a veneer, ftrace" {
	core=core-debug with_patches "$top/test/bench/int-pow.patch"
	# Without randomisation modules are in reach of the kernel's branches.
	guest "${patched[@]}" --icount --append nokaslr --module "$(test_module pp_icount)" -- "${arch_ftrace_costs:?}" <<-'END'
		debug=/sys/module/pokepatch/parameters
		cost() { # NAME RESULT - of a call at depth 1, in hundredths
			set -- "$1" "$2" $(head -n 1 /sys/module/pp_icount/parameters/measure)
			same "what int_pow() returns" "$5" "$2"
			echo "$1: $4"
			cost=$4
		}
		switched() { # NAME MODE MOST
			pokepatch load --mode $2 "$(patch_file int-pow)"
			same "the mode" "$(cat $pokepatch/int_pow/vmlinux/*/mode)" $2
			cost $1 2
			[ $((cost - plain)) -le $3 ] || die "$1 costs $((cost - plain)) more"
			pokepatch unload int-pow
		}
		modprobe pp_icount
		modprobe pokepatch
		cost plain 1
		plain=$cost
		# What the counter's steps leave unsaid is a hundredth of an instruction or two.
		switched branch entry 202
		echo 1 >$debug/debug_far_entries
		switched veneer entry 502
		# Into a veneer and out of it are two more.
		[ $((cost - plain)) -ge 398 ] || die "this was no veneer"
		echo 0 >$debug/debug_far_entries
		switched ftrace ftrace ${1}00
	END
	cat "$guest_output"
}

@test "tasks that began to exit before the core came are waited for, without RCU-tasks" {
	core=core-debug with_patches "$top/examples/proc-version.patch"
	guest "${patched[@]}" --module "$(test_module pp_flush)" --program "$(test_program exiter)" <<-'END'
		core_is() { grep -q "^pokepatch .* $1 " /proc/modules; }
		# A thread ends, and sleeps where the task list has lost it.
		unlisted() {
			grep -qsx pp-joined /proc/$exiter/comm && ! grep -qsx pp-exiting /proc/$exiter/task/*/comm
		}
		hold() {
			echo 1 >/sys/module/pp_flush/parameters/hold
			exiter &
			exiter=$!
			until_true 10 unlisted
		}
		let_go() {
			echo 0 >/sys/module/pp_flush/parameters/hold
			kill $exiter
			wait $exiter || :
		}
		modprobe pp_flush
		hold
		modprobe pokepatch &
		sleep 3
		core_is Loading || die "the core did not wait"
		let_go
		wait $!
		core_is Live
		lacks "the log" "$(dmesg)" "cannot tell yet"
		rmmod pokepatch

		echo "== one that stays longer than that, so that nothing is switched until it has gone"
		hold
		modprobe pokepatch debug_count_ms=200
		core_is Live
		has "the log" "$(dmesg)" "cannot tell yet whether it misses one that is just exiting"
		refused pokepatch load --timeout 400 "$(patch_file proc-version)"
		let_go
		pokepatch load "$(patch_file proc-version)"
		pokepatch unload proc-version
		rmmod pokepatch

		echo "== and without that"
		hold
		modprobe pokepatch debug_skip_earlier=1
		core_is Live
		let_go
		rmmod pokepatch
	END
}

@test "veneers: few pages for many functions, none when the parent has gone; what is refused; idle tasks" {
	local module
	core=core-debug with_patches "$top/examples/proc-version.patch"
	module=$(patch_module "$top/test/vm/arch/arm64-set-fixmap.patch" set-fixmap)
	# The module region is anywhere within 2 GB (full randomisation), and here no entry reaches.
	guest "${patched[@]}" --module "$module" --module "$(test_module pp_crowd)" \
		--module "$(crowd_patch 10)" --module "$(crowd_patch 1000)" \
		--expect 'is refused: the kernel uses __set_fixmap to write code' <<-'END'
		debug=/sys/module/pokepatch/parameters
		crowd() { same "patched functions" "$(cat /sys/module/pp_crowd/parameters/patched)" $1; }
		pages() { grep -c 'veneer.*\[pokepatch\]' /proc/vmallocinfo || :; }
		modprobe pokepatch dyndbg=+p
		echo 1 >$debug/debug_far_entries
		modprobe pp_crowd
		modprobe pokepatch-crowd-1000
		same "pages of veneers" "$(pages)" 0
		for _round in 1 2 3; do
			enabled crowd_1000 1
			crowd 1000
			echo "$(pages) pages"
			[ $(pages) -ge 4 ] && [ $(pages) -le 5 ] || die "$(pages) pages for 1000 functions"
			grep -q entry $(sysfs crowd_1000 pp_crowd/crowd_999,1/mode)
			enabled crowd_1000 0
			crowd 0
		done

		echo "== a parent that goes, and comes"
		for _round in 1 2 3; do
			enabled crowd_1000 1
			crowd 1000
			rmmod pp_crowd
			same "pages of veneers" "$(pages)" 0
			modprobe pp_crowd
			crowd 1000
			enabled crowd_1000 0
		done

		echo "== the kernel's functions and a module's, in turn"
		modprobe pokepatch-crowd-10
		enabled crowd_10 1
		pokepatch load "$(patch_file proc-version)"
		has /proc/version "$(cat /proc/version)" Live-patched
		[ $(pages) -le 6 ] || die "$(pages) pages"
		crowd 10

		echo "== what writes code stays as it is, in every mode"
		for mode in auto entry ftrace; do
			refused pokepatch load --mode $mode "$(patch_file set-fixmap)"
		done

		echo "== all stacks, those of idle tasks too, by their frames"
		echo 1 >$debug/debug_walk_all
		enabled crowd_10 0
		said=$(dmesg | sed -n 's/.*crowd_10: stopped .* walked \([0-9]*\) stacks.* \([0-9]*\) frames.*/\1 \2/p' | tail -n 1)
		set -- $said
		echo "$1 stacks, $2 addresses"
		[ $2 -lt $(($1 * 15)) ] || die "some were not told by their frames"
		pokepatch unload crowd_10
		pokepatch unload crowd_1000
		pokepatch unload proc-version
		same "pages of veneers" "$(pages)" 0
	END
}

@test "pointer authentication and BTI: 30 rounds by veneers under load, return probes on the way" {
	core=core-debug with_patches "$top/examples/proc-version.patch"
	guest "${patched[@]}" --cpu max,pauth-impdef=on --timeout 240 <<-'END'
		grep -q " paca .* bti\| bti .* paca" /proc/cpuinfo || die "$(grep Features /proc/cpuinfo)"
		modprobe pokepatch
		echo 1 >/sys/module/pokepatch/parameters/debug_far_entries
		echo "r:pp/show version_proc_show" >$tracing/kprobe_events
		echo "r:pp/read vfs_read" >>$tracing/kprobe_events
		echo 1 >$tracing/events/pp/enable
		modprobe pokepatch-proc-version
		start_load cat /proc/version
		for _round in $(seq 30); do
			enabled proc-version 1
			has /proc/version "$(cat /proc/version)" Live-patched
			enabled proc-version 0
			lacks /proc/version "$(cat /proc/version)" Live-patched
		done
		stop_load
		[ $(hits show) -gt 30 ] || die "the probe was not hit"
		stop_hits
		pokepatch unload proc-version
	END
}

@test "sparse: every way out of a function of the core lets go of its locks" {
	sparse_core
}
