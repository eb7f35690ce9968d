# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# --kbuild with the folder in which a kernel of our own was built, and nothing else: see run.

bats_require_minimum_version 1.5.0

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)
	kernel=${XDG_CACHE_HOME:-$HOME/.cache}/pokepatch/kernels/$POKEPATCH_KERNEL
	folder=$(readlink -f "$kernel/headers/usr/src/linux-headers-$POKEPATCH_KERNEL")
	cd "$BATS_TEST_TMPDIR" || return
}

@test "its build folder alone says all that -k does: compiler, flags, source, configuration" {
	local patch=$top/examples/proc-version.patch
	"$top/build/bin/pokepatch-build" -q --kbuild "$folder" -o folder.ko "$patch"
	"$top/build/bin/pokepatch-build" -q -k "$POKEPATCH_KERNEL" -o release.ko "$patch"
	cmp folder.ko release.ko
}

@test "another compiler, a configuration that was changed, and another source are refused" {
	cp -rs "$folder" own
	rm own/.config own/include/config/auto.conf.cmd
	sed 's/^CONFIG_HZ=.*/CONFIG_HZ=1234/' "$folder/.config" >own/.config
	cp "$folder/include/config/auto.conf.cmd" own/include/config/
	run -2 "$top/build/bin/pokepatch-build" -q --kbuild own -o x.ko "$top/examples/proc-version.patch"
	[[ $output == *"refused [config-differs]"*CONFIG_HZ* ]]
	cp "$folder/.config" own/.config
	sed -i 's/"$(CC)" "clang-19"/"$(CC)" "clang-16"/' own/include/config/auto.conf.cmd
	run ! cmp -s own/include/config/auto.conf.cmd "$folder/include/config/auto.conf.cmd"
	run -2 "$top/build/bin/pokepatch-build" -q --kbuild own -o x.ko "$top/examples/proc-version.patch"
	[[ $output == *"refused [compiler-differs]"* ]]
	cp --remove-destination "$folder/include/config/auto.conf.cmd" own/include/config/
	rm own/fs/proc/version.c
	sed '/include "internal.h"/a #define version domainname' "$folder/fs/proc/version.c" \
		>own/fs/proc/version.c
	grep -q domainname own/fs/proc/version.c
	run -2 "$top/build/bin/pokepatch-build" -q --kbuild own -o x.ko "$top/examples/proc-version.patch"
	[[ $output == *"fs/proc/version.c: refused [source-differs]"* ]]
	[ ! -e x.ko ]
}
