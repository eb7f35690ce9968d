# SPDX-License-Identifier: GPL-2.0-or-later
# Calls of functions that are not exported, from places that the kernel rewrites: they go
# by way of a jump in the patch module (build-tool/diff/veneers.c).

load helpers

allocations='
	slab=/sys/kernel/slab/kmalloc-96/align
	count() { cut -d " " -f 2 -s $slab; }
	same "numbers before" "$(count)" ""
	pokepatch load "$(patch_file slub-count)"
	first=$(count)
	ls -lR /proc/self /sys/module >/dev/null
	second=$(count)
	[ "$second" -gt $((first + 1000)) ] || die "allocations: $first, then $second"
	pokepatch unload slub-count
	same "numbers afterwards" "$(count)" ""
'

@test "the slab allocator, with cmpxchg16b in the place of the call" {
	with_patches "$top/test/vm/patches/slub-count.patch"
	guest "${patched[@]}" <<<"has cpuinfo \"\$(cat /proc/cpuinfo)\" cx16$allocations"
}

@test "the slab allocator, on a processor for which the call stays" {
	with_patches "$top/test/vm/patches/slub-count.patch"
	guest "${patched[@]}" --append clearcpuid=cx16 \
		<<<"lacks cpuinfo \"\$(cat /proc/cpuinfo)\" cx16$allocations"
}
