# SPDX-License-Identifier: GPL-2.0-or-later
# What only arm64 has.  Not among the tests of x86-64: POKEPATCH_ARCH=arm64 bats test/vm/arch/arm64.bats

load ../helpers

setup() {
	[ "$arch" = arm64 ] || skip "not for $arch"
}

@test "instructions that a switched call costs more: a branch, a veneer, ftrace" {
	core=core-debug with_patches "$top/test/bench/int-pow.patch"
	# Without randomisation modules are in reach of the kernel's branches.
	guest "${patched[@]}" --icount --append nokaslr --module "$(test_module pp_icount)" <<-'END'
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
		switched ftrace ftrace 100000
	END
	cat "$guest_output"
}
