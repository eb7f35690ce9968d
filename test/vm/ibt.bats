# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # release is exported by setup_file
# Indirect branch tracking: what the core and the patches of all examples call indirectly begins with
# ENDBR.  QEMU has no IBT under TCG, so a program in the guest reads the kernel's memory
# (vm/programs/targets).  And call depth tracking.  This is about a kernel that has both, whatever
# kernel the other tests run on.

load helpers

setup_file() {
	[ "$arch" = x86_64 ] || return 0
	export release core
	release=$("$top/test/fetch-kernel" x86_64 6.12 | tail -n 1)
	export POKEPATCH_KERNEL=$release
	# pokepatch-build has compiled the core when it makes a patch.  All of its words are read first: a
	# pipe that closes early would end it before that.
	local words=$BATS_FILE_TMPDIR/words
	"$top/build/bin/pokepatch-build" -V -k "$release" --dry-run \
		"$top/examples/proc-version.patch" >"$words" 2>&1 || { cat "$words"; return 1; }
	core=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$release/$(
		grep -om 1 'core-[0-9a-f]*/core-module' "$words"
	)/pokepatch.ko
	[ -r "$core" ]
}

setup() {
	[ "$arch" = x86_64 ] || skip "only x86_64 has IBT"
}

# example NAME - path of its patch module.
example() {
	local patch=$top/examples/$1.patch
	[ ! -e "$top/examples/6.12/$1.patch" ] || patch=$top/examples/6.12/$1.patch
	case $1 in
	mark-*) patch_module "$patch" "$1" --instrument ;;
	*) patch_module "$patch" "$1" ;;
	esac
}

# A script for the guest: load the core and the patches of these names, and look.  The first
# argument is the status that the program must end with.
look='
	wanted=$1
	shift
	modprobe pokepatch
	for name; do
		pokepatch load "$(patch_file "$name")"
	done
	status=0
	targets /lib/modules/*/extra/*.ko >/tmp/found || status=$?
	grep -v "^good" /tmp/found
	# Each file, once.
	for name in pokepatch $(for name; do echo "pokepatch_$name" | tr - _; done); do
		echo "$name: $(grep -c "^good: $name:" /tmp/found) good"
	done
	grep "a gate to" /tmp/found
	same "status" "$status" "$wanted"
'

# number WORDS - in the sums that the program has printed, what is behind them.
number() {
	sed -n "s/.*\<$1 \([0-9]*\).*/\1/p" "$guest_output" | tail -n 1
}

@test "all that the core and the examples call indirectly begins with ENDBR" {
	local names=() modules=(--module "$core") patch name
	for patch in "$top"/examples/*.patch; do
		name=$(basename "$patch" .patch)
		names+=("$name")
		modules+=(--module "$(example "$name")")
	done
	guest "${modules[@]}" --program "$(own_program bin/pokepatch)" --memory 1024 \
		--program "$(test_program targets)" -- 0 "${names[@]}" <<<"$look"
	cat "$guest_output"
	[ "$(number bad)" -eq 0 ]
	[ "$(number undecoded)" -eq 0 ]
	[ "$(number modules)" -eq $((${#names[@]} + 1)) ]
	# The looks are not empty: places, indirect branches, slots with gates, seals that the kernel made.
	[ "$(number 'places with targets')" -gt 150 ]
	[ "$(number 'indirect branches')" -gt 100 ]
	[ "$(number 'sealed functions')" -gt 100 ]
	[ "$(number gates)" -ge 20 ]
	run -0 grep -E '^(good: .*, a gate to find_module|pokepatch_[a-z_]*: [1-9][0-9]* good)$' "$guest_output"
	say "$(grep '^modules' "$guest_output"), $(grep '^indirect' "$guest_output")"
}

# overwrite FILE SYMBOL BYTES - at a symbol of a module.
overwrite() {
	local section value
	read -r value section < <(readelf -sW "$1" | awk -v name="$2" '$8 == name { print $2, $7; exit }')
	printf '%b' "$3" | dd of="$1" bs=1 conv=notrunc status=none \
		seek=$((16#$value + 16#$(readelf -SW "$1" |
			sed -n "s/^ *\[ *$section\] [^ ]* *[A-Z]* *[0-9a-f]* \([0-9a-f]*\) .*/\1/p")))
}

@test "a gate without ENDBR, a sealed callback and a sealed exit are found" {
	local dir=$BATS_TEST_TMPDIR patch sealed='\x66\x0f\x1f\x00'
	patch=$dir/pokepatch-eventfd-writes.ko
	cp "$core" "$dir/pokepatch.ko"
	cp "$(example eventfd-writes)" "$patch"
	overwrite "$dir/pokepatch.ko" x86_gates '\x90\x90\x90\x90'
	overwrite "$patch" cleanup_module "$sealed"
	overwrite "$patch" eventfd_writes_forget "$sealed"
	guest --module "$dir/pokepatch.ko" --module "$patch" --program "$(own_program bin/pokepatch)" \
		--program "$(test_program targets)" -- 1 eventfd-writes <<<"$look"
	cat "$guest_output"
	grep '^bad: pokepatch: .* pp_kernel+0x0: x86_gates.*has no ENDBR' "$guest_output"
	grep '^bad: pokepatch_eventfd_writes: .*cleanup_module.*is sealed' "$guest_output"
	grep "^bad: pokepatch_eventfd_writes: .*eventfd_writes_forget.*is sealed" "$guest_output"
}

# The loader and the kernel have changed all calls that .call_sites lists, in the old and in the new code.
@test "with call depth tracking, patches are loaded, and switched" {
	local name modules=(--module "$core")
	for name in proc-version proc-uptime sys-uname; do
		modules+=(--module "$(example $name)")
	done
	guest "${modules[@]}" --program "$(own_program bin/pokepatch)" --cpu Skylake-Client-v1 \
		--append retbleed=stuff --append spectre_v2=retpoline \
		--expect 'callthunks: Invalid padding area for xen_' <<-'END'
		has "the kernel log" "$(dmesg)" "Setting up call depth tracking"
		for name in proc-version proc-uptime sys-uname; do
			pokepatch load "$(patch_file $name)"
		done
		for _round in 1 2 3; do
			has /proc/version "$(cat /proc/version)" Live-patched
			set -- $(cat /proc/uptime)
			same "numbers in /proc/uptime" $# 3
			has "uname -v" "$(uname -v)" Live-patched
			for name in proc-version proc-uptime sys-uname; do
				pokepatch disable $name
			done
			lacks /proc/version "$(cat /proc/version)" Live-patched
			lacks "uname -v" "$(uname -v)" Live-patched
			for name in proc-version proc-uptime sys-uname; do
				pokepatch enable $name
			done
		done
	END
}
