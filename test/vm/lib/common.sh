# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # variables of vm and of its other parts
# What the parts of the VM harness share.

# Exit status of a run that is not the script's own.
STATUS_USAGE=121 STATUS_DIED=122 STATUS_FINDING=123 STATUS_TIMEOUT=124

fail() {
	echo "vm: $*" >&2
	exit $STATUS_USAGE
}

# make_work - set $work, a folder that goes away with us, and our QEMU with it.
make_work() {
	work=$(mktemp -d "${TMPDIR:-/tmp}/pokepatch-vm-XXXXXX")
	qemu_pid=''
	trap 'clean_up' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

clean_up() {
	if [ -n "$qemu_pid" ]; then
		kill -KILL "$qemu_pid" 2>/dev/null || :
	fi
	rm -rf "$work"
}

# get_kernel - how the kernel comes into the cache.
get_kernel() {
	if [ -n "$kernel" ] && [ -z "${arch_kernel-}" ]; then
		echo "build/bin/pokepatch fetch $kernel"
	else
		echo "make kernel${arch_suffix:+ ARCH=$arch}"
	fi
}

# find_kernel - read the architecture's file, take the release that was named (--kernel,
# $POKEPATCH_KERNEL), or else the one that `make kernel` has noted, whatever else is in the cache; set:
#   $image the kernel, $module_root a folder with lib/modules/$kernel, $store where
#   the parts that every run of this kernel shares are kept.
find_kernel() {
	local cache=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels dir config
	[ -r "$here/arch/$arch.sh" ] || fail "--arch $arch: there is no test/vm/arch/$arch.sh"
	# shellcheck source=../arch/x86_64.sh
	. "$here/arch/$arch.sh"
	if is_foreign && [ -z "${arch_cross-}" ]; then
		fail "--arch $arch: its guests run on $arch machines alone, and this one is $(uname -m)"
	fi
	if [ -z "$kernel" ] && [ -s "$top/build/kernel-release${arch_suffix-}" ]; then
		kernel=$(cat "$top/build/kernel-release${arch_suffix-}")
	fi
	[ -n "$kernel" ] || fail "which kernel? Give --kernel RELEASE, or first: $(get_kernel)"
	dir=$cache/$kernel/image
	image=$dir/boot/$arch_image-$kernel
	stock_modules=$dir/lib/modules/$kernel
	config=$dir/boot/config-$kernel
	# Since Debian 13 modules are in /usr.
	[ ! -d "$dir/usr/lib/modules/$kernel" ] || stock_modules=$dir/usr/lib/modules/$kernel
	# Debian's 7.x packages have nothing in /boot: its tools copy the kernel there.
	if [ -r "$stock_modules/$arch_image" ]; then
		image=$stock_modules/$arch_image
		config=$stock_modules/config
	fi
	[ -r "$image" ] || fail "$image is missing; get it with: $(get_kernel)"
	command -v "$arch_qemu" >/dev/null || fail "$arch_qemu is missing; run test/setup"
	[ "$smp" -le "${arch_most_cpus:-$smp}" ] || smp=$arch_most_cpus
	store=$top/build/vm/$kernel
	module_root=$store/root
	with_options "$config"
}
