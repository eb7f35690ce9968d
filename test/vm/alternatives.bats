# SPDX-License-Identifier: GPL-2.0-or-later
# Code that the kernel rewrites for the processor, in a function that is patched: the slab
# allocator's.  Calls of functions that are not exported, from such places, go by way of a jump in
# the patch module (build-tool/diff/veneers.c).

load helpers

allocations='
	slab=/sys/kernel/slab/kmalloc-128/align
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

@test "the slab allocator, with the processor's instruction in the place of a call or a branch, if there is one" {
	with_patches "$top/test/vm/patches/slub-count.patch"
	guest "${patched[@]}" ${arch_with_alternative[@]+"${arch_with_alternative[@]}"} -- "${arch_alternative-}" \
		<<<"has cpuinfo \"\$(cat /proc/cpuinfo)\" \" \$1\"$allocations"
}

@test "the slab allocator, on a processor for which it stays" {
	needs alternatives
	with_patches "$top/test/vm/patches/slub-count.patch"
	guest "${patched[@]}" "${arch_without_alternative[@]}" -- "${arch_alternative-}" \
		<<<"lacks cpuinfo \"\$(cat /proc/cpuinfo)\" \" \$1\"$allocations"
}
