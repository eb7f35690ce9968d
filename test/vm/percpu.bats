# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Changed code that uses a per-CPU variable of its own module: only the module loader knows its place.

load helpers

@test "a module's own per-CPU variable is found, whichever is loaded first" {
	with_patches "$top/test/vm/patches/zsmalloc-percpu.patch"
	guest "${patched[@]}" --module zram --module lzo-rle --module drop_monitor <<-'END'
		# What is kept in zram goes through the variable, compressed and back.
		keep() {
			echo 16M >/sys/block/zram0/disksize
			cat /bin/busybox /proc/kallsyms | dd of=/tmp/data bs=4k conv=sync iflag=fullblock 2>/dev/null
			dd if=/tmp/data of=/dev/zram0 bs=4k 2>/dev/null
			echo 3 >/proc/sys/vm/drop_caches
			# Not by cmp, which reads byte by byte: most of a minute on a busy machine.
			pages=$(($(stat -c %s /tmp/data) / 4096))
			same "what comes back" "$(dd if=/dev/zram0 bs=4k count=$pages 2>/dev/null | sha256sum)" \
				"$(sha256sum </tmp/data)"
			echo 1 >/sys/block/zram0/reset
		}
		told() { dmesg | sed -n 's/.*zs_map_area is at //p' | tail -n 1; }
		place() {
			if can data-symbols; then
				awk '$3 == "zs_map_area" { print $1 }' /proc/kallsyms
			else
				dmesg | sed -n 's/.*per-CPU data is at //p' | tail -n 1
			fi
		}

		modprobe lzo-rle
		echo "== the patch first"
		pokepatch load "$(patch_file zsmalloc-percpu)"
		modprobe zram
		keep
		same place "$(told)" "$(place)"
		rmmod zram zsmalloc
		pokepatch unload zsmalloc-percpu

		echo "== the module first, and somewhere else"
		before=$(told)
		modprobe drop_monitor
		modprobe zram
		pokepatch load "$(patch_file zsmalloc-percpu)"
		keep
		same place "$(told)" "$(place)"
		[ "$(told)" != "$before" ] || die "it is where it was"
		pokepatch unload zsmalloc-percpu
		keep
		rmmod zram zsmalloc
	END
}
