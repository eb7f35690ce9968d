# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# pokepatch-build as a user runs it: good and bad input of its first phases, with the
# kernel's real packages from the cache, and no guest.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir tmp
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
}

# Whatever happened, nothing is left in the folder for temporary files.
teardown() {
	[ -z "$(ls "$BATS_TEST_TMPDIR/tmp")" ] || {
		find "$BATS_TEST_TMPDIR/tmp"
		return 1
	}
}

# edit FILE SED... - a diff of the kernel's FILE with that edit, to standard output.
edit() {
	local file=$1
	shift
	mkdir -p "a/${file%/*}" "b/${file%/*}"
	cp "$source/$file" "a/$file"
	sed "$@" "a/$file" >"b/$file"
	diff -u "a/$file" "b/$file" || true
}

# build ARGS... - run it; $status and $output are bats'.
build() {
	run "$program" -k "$release" "$@"
}

# ends STATUS [TEXT] - the last build ended with STATUS, and its output has TEXT.
ends() {
	if [ "$status" -ne "$1" ] || { [ $# -gt 1 ] && [[ $output != *"$2"* ]]; }; then
		echo "status $status, not $1; or no '${2-}' in:"
		echo "$output"
		return 1
	fi
}

version_edit='s/utsname()->sysname,/"Patched",/'

# ---- the tree -----------------------------------------------------------------

# Debian's cloud kernel has neither DRM nor media support, and yet compiles from both folders.
@test "what is compiled from a folder of something that is not configured is there" {
	edit drivers/gpu/drm/drm_panel_orientation_quirks.c '/data->width != width/s/!=/>/' >quirks.patch
	build --dry-run quirks.patch
	ends 0 "changed functions: drm_get_panel_orientation_quirk"
	[ -e "$source/drivers/media/cec/core/cec-core.c" ]
}

# ---- usage -----------------------------------------------------------------

@test "--help and --version" {
	build --help
	ends 0 "--kernel RELEASE"
	build --version
	ends 0 "pokepatch-build "
}

@test "wrong usage ends with status 1 and one line" {
	local arguments
	for arguments in "" "--nonsense x" "-j 0 x" "-j many x" "--mode entry x" "--mode direct x" \
		"--transition slow x" "-k" "-n a/b x" "-n -x x" "-o out.txt x" "-o no/such/x.ko x" \
		"no-such.patch" "/" "--keep /proc/x x"; do
		# shellcheck disable=SC2086 # several words
		build $arguments
		ends 1
		[ "${#lines[@]}" -eq 1 ] || ends 1 "one line, not this: $arguments"
	done
}

@test "a name that the core keeps for itself" {
	edit fs/proc/version.c "$version_edit" >version.patch
	for option in --name=version --name=trace-entry -V; do
		build "$option" version.patch
		ends 1 "choose another name with -n"
		[ "${#lines[@]}" -eq 1 ]
	done
	build --dry-run -n version1 version.patch
	ends 0
}

@test "a report that cannot be written: one line, and no module" {
	edit fs/proc/version.c "$version_edit" >x.patch
	build -q --report no/such/folder.json x.patch
	ends 1 "the report was not written: "
	[ "${#lines[@]}" -eq 1 ]
	[ ! -e pokepatch-x.ko ]
	# Nor a report, when it is the module that cannot be written.
	mkdir out.ko
	build -q --report r.json -o out.ko x.patch
	ends 1 out.ko
	[ ! -e r.json ]
	build -q --report r.json x.patch
	ends 0
	grep -q '"mode" *: *"auto"' r.json
	grep -q "\"sha256\" *: *\"$(sha256sum pokepatch-x.ko | cut -d' ' -f1)\"" r.json
}

@test "a kernel that is not in the cache is named with the command that gets it" {
	edit fs/proc/version.c "$version_edit" >x.patch
	run "$program" -k 6.1.0-999-nonsense x.patch
	ends 1 "run 'pokepatch fetch 6.1.0-999-nonsense' or add --fetch"
	run "$program" -k ../../etc x.patch
	ends 1 "not a kernel release"
}

# The program's own folder has a pokepatch that this test writes, and the cache is empty.
@test "--fetch runs pokepatch fetch for what is missing, and for nothing else" {
	local cache=$BATS_TEST_TMPDIR/cache/pokepatch/kernels/9.9.9-tiny
	edit fs/proc/version.c "$version_edit" >x.patch
	mkdir bin
	cp "$program" bin/
	cat >bin/pokepatch <<-EOF
		#!/bin/sh
		echo "\$@" >>$BATS_TEST_TMPDIR/calls
		[ ! -e $BATS_TEST_TMPDIR/offline ] || { echo pokepatch: no network >&2; exit 1; }
		mkdir -p $cache/source/usr/src
		touch $cache/source/usr/src/linux-source-9.tar.xz
		echo 9.9.9-tiny
	EOF
	chmod +x bin/pokepatch
	touch offline
	XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache run bin/pokepatch-build -k 9.9.9-tiny x.patch
	ends 1 "no source of kernel 9.9.9-tiny"
	[ ! -e calls ]
	XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache run bin/pokepatch-build --fetch -k 9.9.9-tiny x.patch
	ends 1 "no network"
	[[ $output == *"'pokepatch fetch 9.9.9-tiny' failed"* ]]
	XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache run bin/pokepatch-build --fetch -q -k 9.9.9-tiny x.patch
	ends 1 "pokepatch-build: pokepatch: no network"
	[ "${#lines[@]}" -eq 1 ]
	rm offline
	XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache run bin/pokepatch-build --fetch -k 9.9.9-tiny x.patch
	ends 1 "no headers of kernel 9.9.9-tiny"
	[ "$(sort -u calls)" = "fetch -q 9.9.9-tiny" ]
	[ "$(wc -l <calls)" -eq 3 ]
	# All parts of this kernel are in the cache.
	run bin/pokepatch-build --fetch -k "$release" --dry-run x.patch
	[ "$(wc -l <calls)" -eq 3 ]
}

# ---- diffs -----------------------------------------------------------------

@test "not a diff" {
	echo "int main;" >x.patch
	build x.patch
	ends 1 "not a diff"
	head -c 1000 /bin/sh >x.patch
	build x.patch
	ends 1 "not a diff"
	mkdir x.d
	build x.d
	ends 1 "a folder, not a diff"
}

@test "a diff that changes nothing, or only comments" {
	: >x.patch
	build x.patch
	ends 3 "nothing to do"
	{
		echo "--- a/fs/proc/version.c"
		echo "+++ b/fs/proc/version.c"
		echo "@@ -1,2 +1,2 @@"
		sed -n '1,2s/^/ /p' "$source/fs/proc/version.c"
	} >x.patch
	build x.patch
	ends 3 "nothing to do"
	edit fs/proc/version.c 's,^// SPDX.*,&\n/* a comment */,' >x.patch
	build x.patch
	ends 3
	printf 'diff --git a/Documentation/x.rst b/Documentation/x.rst\nnew file mode 100644\n' >x.patch
	build x.patch
	ends 3 "Documentation/x.rst: left out"
	[ ! -e pokepatch-x.ko ]
}

# msleep(17) of line 17 becomes msleep(18) in line 18, as ASSERT_RTNL()'s line number would.
@test "a constant that the author changed, and that equals its line before and after" {
	local tree=$source file=fs/proc/version.c
	touch stamp
	cp -rs "$source" linux
	rm linux/$file
	sed -e '/^#include "internal.h"/i #include <linux/delay.h>' \
		-e '/^static int version_proc_show/,/^}/s/^\treturn 0;/\tmsleep(17);\n&/' "$tree/$file" >linux/$file
	[ "$(grep -n msleep linux/$file)" = "$(printf '17:\tmsleep(17);')" ]
	source=linux
	edit $file 's,^\tmsleep(17);,\t/* longer */\n\tmsleep(18);,' >x.patch
	build -s linux x.patch
	# It was compared: the kernel has no msleep() there.
	ends 2 "refused [verify-mismatch]: 'version_proc_show' as compiled here"
	# The links of that folder lead to files of the user's, which nothing has written to.
	[ -z "$(find "$tree"/{.config,Makefile,scripts,include} -type f -newer stamp | tee /dev/stderr)" ]
}

@test "a diff that does not apply: file, hunk and line" {
	edit fs/proc/version.c "$version_edit" >x.patch
	sed -i 's/^ \(.*\)linux_proc_banner/ \1no_such_banner/' x.patch
	sed -i 's/^-/-no such line/;1s/.*/--- a\/fs\/proc\/version.c/' x.patch
	build x.patch
	ends 1 "x.patch:3: hunk 1 does not apply to fs/proc/version.c at line 10"
	edit fs/proc/version.c "$version_edit" >x.patch
	build x.patch x.patch
	ends 1 "already"
	head -n 7 x.patch >y.patch
	build y.patch
	ends 1 "y.patch:7: the diff ends within the hunk"
}

@test "hunks that moved are applied, and told" {
	edit fs/proc/version.c "$version_edit" | sed 's/^@@ -10,7 +10,7/@@ -15,7 +15,7/' >x.patch
	grep -q '^@@ -15,7' x.patch
	build --dry-run x.patch
	ends 0 "hunk 1 of fs/proc/version.c applied at line 10 (offset -5 lines)"
	sed -i 's/^ {$/ { moved/;s/-15,7 +15,7/-10,7 +10,7/' x.patch
	build --dry-run x.patch
	ends 1 "x.patch:3: hunk 1 does not apply to fs/proc/version.c at line 10: the lines around its change are others"
	[[ $output == *"add --fuzz 2" ]]
	build --dry-run --fuzz 1 x.patch
	ends 1 "add --fuzz 2"
	build --dry-run --fuzz 2 x.patch
	ends 0 "fuzz 2)"
	build --dry-run --fuzz 3 x.patch
	ends 1 "--fuzz wants a number from 0 to 2, not 3"
}

@test "several diffs, one on top of the other" {
	edit fs/proc/version.c "$version_edit" >x.patch
	cp b/fs/proc/version.c c
	sed 's/"Patched"/"Twice"/' c >b/fs/proc/version.c
	cp c a/fs/proc/version.c
	diff -u a/fs/proc/version.c b/fs/proc/version.c >y.patch || true
	build --keep kept --dry-run x.patch y.patch
	ends 0 "version_proc_show"
	grep -q '"Twice"' kept/shadow/fs/proc/version.c
	build --dry-run y.patch x.patch
	ends 1 "y.patch:3: hunk 1 does not apply"
}

@test "git's forms: a mail, CRLF, quoted names, mode changes" {
	{
		echo "From 0123 Mon Sep 17 00:00:00 2001"
		echo "Subject: [PATCH] x"
		echo "---"
		echo " fs/proc/version.c | 2 +-"
		echo
		echo "diff --git a/fs/proc/version.c b/fs/proc/version.c"
		echo "old mode 100644"
		echo "new mode 100755"
		edit fs/proc/version.c "$version_edit" | sed '1s/.*/--- "a\/fs\/proc\/\\166ersion.c"/'
		echo "-- "
		echo "2.39.5"
	} >x.patch
	build --dry-run x.patch
	ends 0 "file mode has no effect"
	sed -i 's/$/\r/' x.patch
	build --dry-run x.patch
	ends 0 "version_proc_show"
}

# ---- what cannot be live-patched -------------------------------------------

@test "every refusal of a diff in one run, by file and code" {
	local file code
	while read -r file code; do
		printf '%s\n' "--- a/$file" "+++ b/$file" "@@ -1 +1 @@" "-x" "+y" >>x.patch
		echo "$file: refused [$code]: " >>wanted
	done <<-EOF
		arch/x86/boot/header.S boot-changed
		arch/x86/entry/entry_64.S assembly-changed
		arch/x86/entry/vdso/vdso32/note.S vdso-changed
		arch/x86/kernel/vmlinux.lds.S makefile-changed
		arch/x86/lib/x86-opcode-map.txt file-unknown
		certs/x.pem file-unknown
		drivers/net/no_such_file.c not-in-kernel
	EOF
	edit fs/Makefile '$aobj-y += none.o' >>x.patch
	echo "fs/Makefile: refused [makefile-changed]: " >>wanted
	edit fs/Kconfig 's/^config DCACHE_WORD_ACCESS/config NO_WORD_ACCESS/' >>x.patch
	echo "fs/Kconfig: refused [kconfig-changed]: " >>wanted
	printf '%s\n' "diff --git a/fs/new.c b/fs/new.c" "new file mode 100644" >>x.patch
	echo "fs/new.c: refused [new-file]: " >>wanted
	printf '%s\n' "diff --git a/fs/open.c b/fs/open.c" "deleted file mode 100644" >>x.patch
	echo "fs/open.c: refused [file-deleted]: " >>wanted
	printf '%s\n' "diff --git a/fs/pipe.c b/fs/tube.c" "similarity index 100%" \
		"rename from fs/pipe.c" "rename to fs/tube.c" >>x.patch
	echo "fs/pipe.c: refused [file-renamed]: " >>wanted
	printf '%s\n' "diff --git a/fs/stat.c b/fs/stat.c" "GIT binary patch" >>x.patch
	echo "fs/stat.c: refused [binary-diff]: " >>wanted
	build x.patch
	ends 2 "refused for 13 reasons"
	grep ': refused \[' <<<"$output" | sed 's/\(]: \).*/\1/' | LC_ALL=C sort >got
	LC_ALL=C sort -o wanted wanted
	diff wanted got
}

@test "refusals that the author allows, by option and in the source" {
	edit fs/proc/version.c -e "$version_edit" \
		-e 's/^#include "internal.h"/&\n#include <pokepatch_patch.h>\nPOKEPATCH_ALLOW("init-changed:proc_version_init");/' \
		-e 's/proc_create_single("version", 0,/proc_create_single("version", 0444,/' >x.patch
	edit fs/proc/Makefile '$aCFLAGS_version.o += -O1' >>x.patch
	build --dry-run --report r.json --allow makefile-changed:fs/proc/Makefile x.patch
	ends 0 "fs/proc/Makefile: warning [makefile-changed]: allowed: "
	[[ $output == *"warning [init-changed]: allowed: "* ]]
	[ "$(jq -c '[.refusals[] | select(.allowed) | .code]' r.json)" = '["makefile-changed","init-changed"]' ]
	build --dry-run x.patch
	ends 2 "fs/proc/Makefile: refused [makefile-changed]: "
	build --allow no-entry x.patch
	ends 1 "--allow no-entry: 'no-entry' cannot be allowed"
}

# Without the option, struct file is another one to this unit.
@test "callbacks: in the report and in the module; one of a kind for each object" {
	local patch=$top/test/vm/patches/callbacks.patch
	build -o x.ko --report x.json "$patch"
	ends 0 "pre-unpatch callback of dummy: tell_pre_unpatch"
	jq -r '.callbacks[] | "\(.parent) \(.kind) \(.function)"' x.json >reported
	for parent in dummy tun vmlinux; do
		for kind in post-patch post-unpatch pre-patch pre-unpatch; do
			echo "$parent $kind tell_${kind/-/_}"
		done
	done | diff - reported
	"$top/build/bin/pokepatch" info --json x.ko | jq -r '.callbacks[] | "\(.parent) \(.kind)"' |
		LC_ALL=C sort | diff <(cut -d ' ' -f 1,2 reported) -

	# Another unit of the same object.
	sed 's/#include <linux\/seq_file.h>/&\n#include <pokepatch_patch.h>\nstatic int other(const struct pokepatch_parent *p) { return 0; }\nPOKEPATCH_PRE_PATCH(other);/' \
		"$source/fs/proc/cmdline.c" >second.c
	diff -u --label a/fs/proc/cmdline.c --label b/fs/proc/cmdline.c "$source/fs/proc/cmdline.c" \
		second.c >second.patch || true
	build -o y.ko "$patch" second.patch
	ends 2 "refused [callback-twice]: "
	[[ $output == *" would be a second pre-patch callback of vmlinux, beside '"*"'; an object has one: call both from it"* ]]
	[ ! -e y.ko ]

	build -o y.ko second.patch
	ends 3 "callbacks alone make no patch"
}

# In a build of the kernel the linker would take this one; here the callers of the weak one are in other units.
@test "a function that is new here and weak elsewhere in the kernel" {
	edit fs/proc/version.c -e "$version_edit" \
		-e 's/^#include "internal.h"/&\nvoid panic_smp_self_stop(void);\nvoid panic_smp_self_stop(void)\n{\n\tfor (;;)\n\t\tbarrier();\n}/' >x.patch
	build -o x.ko x.patch
	ends 2 "has a weak one of that name in another unit, which everything else would go on using"
	[[ $output == *"refused [symbol-twice]: "* && ! -e x.ko ]]
	sed -i 's/panic_smp_self_stop/pp_self_stop/' x.patch
	build --dry-run x.patch
	ends 0 "version_proc_show"
}

@test "a type that symbols are exported with" {
	edit fs/eventfd.c -e '1s/^/#undef CONFIG_EPOLL\n/' \
		-e 's/^\t*__set_current_state(TASK_RUNNING);/&\n\tctx->count++;/' >x.patch
	build --dry-run --report r.json x.patch
	ends 2 "fs/eventfd.c: refused [export-changed]: a type of exported symbol 'eventfd_fget' changes: struct "
	# The others do not reach it.
	[ "$(jq -c '[.refusals[] | select(.code == "export-changed").subject]' r.json)" = \
		'["eventfd_ctx_fileget","eventfd_fget"]' ]
	[[ $output == *"include/linux/fs.h:"*": refused [type-changed]: struct file: member 'f_mapping' moves from offset "*" ('f_ep' is gone); "* ]]
	local crc
	crc=$(awk '$2 == "eventfd_fget" { print $1 }' "$kernel"/headers/usr/src/*/Module.symvers)
	[[ $output == *"exported symbol 'eventfd_fget' changes: struct user_struct, struct file (CRC $crc, now "* ]]
	# The same once more, with the CRCs that were kept: only the types are asked for.
	grep 'refused \[export-changed\]' <<<"$output" >refused
	build -V --dry-run x.patch
	ends 2
	grep 'refused \[export-changed\]' <<<"$output" | cmp - refused
	[ "$(grep -c 'genksyms/genksyms -r /dev/null' <<<"$output")" -eq 0 ]
	[ "$(grep -c 'genksyms/genksyms -r .*original.types' <<<"$output")" -eq 1 ]
	build --dry-run --allow export-changed --allow type-changed x.patch
	ends 0 "fs/eventfd.c: warning [export-changed]: allowed: "
}

# zs_compact() takes a struct that only mm/zsmalloc.c knows.
@test "exports of a unit whose types are its own are as they were, and known to be the next time" {
	edit mm/zsmalloc.c "s/^\tlocal_lock(&zs_map_area.lock);/&\n\tpr_info_once(\"mapped $BASHPID $SECONDS\\\\n\");/" >x.patch
	build -V --dry-run x.patch
	ends 0 "changed functions: zs_map_object"
	[ "$(grep -c 'genksyms/genksyms -r ' <<<"$output")" -eq 1 ]
	build -V --dry-run x.patch
	ends 0 "changed functions: zs_map_object"
	[ "$(grep -c 'genksyms/genksyms' <<<"$output")" -eq 0 ]
}

@test "progress: a terminal shows how many compilers have ended, a log of a short build does not" {
	# A text that no build has had, or there would be nothing to compile.
	edit fs/proc/version.c "s/utsname()->sysname,/\"$SRANDOM\",/" >x.patch
	run -0 script -qec "'$program' -k $release --dry-run x.patch" /dev/null
	[[ $output == *$'\r\e[K'"compile "*" "[12]" of "[12]$'\r\e[K'"compile "*" s"* ]]
	build --dry-run x.patch
	ends 0 "changed functions: version_proc_show"
	[[ $output != *"compile "*" of "* ]]
}

@test "files that nothing in this kernel is compiled from" {
	local file
	for file in arch/arm64/kernel/{traps.c,entry.S} arch/arm/boot/dts/a.dts \
		sound/core/init.{c,h}; do
		printf '%s\n' "--- a/$file" "+++ b/$file" "@@ -1 +1 @@" "-x" "+y" >x.patch
		build x.patch
		ends 3 "$file: left out: this kernel does not use its folder"
	done
	for file in arch/x86/configs/x86_64_defconfig kernel/configs/xen.config; do
		edit "$file" '1s/^/# x\n/' >x.patch
		build x.patch
		ends 3 "$file: left out"
	done
	edit fs/ext4/inode-test.c '1s/^/int x;\n/' >x.patch
	build x.patch
	ends 2 "fs/ext4/inode-test.c: refused [not-in-kernel]"
	edit lib/vdso/gettimeofday.c '1s/^/int x;\n/' >x.patch
	build x.patch
	ends 2 "lib/vdso/gettimeofday.c: refused [vdso-changed]"
	edit arch/x86/boot/main.c '1s/^/int x;\n/' >x.patch
	build x.patch
	ends 2 "arch/x86/boot/main.c: refused [boot-changed]"
}

# ---- units -----------------------------------------------------------------

# units - the units of the build in kept/.
units() {
	(cd kept/patched && echo *)
}

@test "a file that is compiled within another one" {
	edit kernel/sched/rt.c 's/^static int do_sched_rt_period_timer.*overrun)$/int pp_x;\n&/' >x.patch
	build --keep kept x.patch
	[ "$(units)" = kernel:sched:build_policy ]
	[ -e kept/patched/kernel:sched:build_policy/unit.o ]
}

@test "a file that is compiled by itself and within another one" {
	edit fs/binfmt_elf.c 's/^static int load_elf_library(.*{/int pp_x;\n&/;s/^static unsigned long elf_map/int pp_y;\n&/' >x.patch
	build --keep kept x.patch
	[ "$(units)" = "fs:binfmt_elf fs:compat_binfmt_elf" ]
}

@test "units of modules, one of them in a folder below its Makefile's" {
	edit fs/xfs/libxfs/xfs_bit.c '0,/^xfs_bitmap_empty(/s//xfs_bitmap_empty(/;s/return 1;/return 2;/' >x.patch
	build --dry-run --report r.json x.patch
	ends 0
	grep -q '"parent" *: *"xfs"' r.json
	edit net/netfilter/nf_tables_trace.c 's/^\(#define NFT_TRACETYPE_LL_HSIZE[[:space:]]*\)20/\124/' >x.patch
	build --dry-run --report r.json x.patch
	ends 0
	grep -q '"parent" *: *"nf_tables"' r.json
}

@test "a unit that kbuild reaches by two ways is compiled once at a time, with its own flags" {
	local target=$source/arch/x86/power/cpu.o
	edit arch/x86/power/cpu.c 's/CPU0 is offline/CPU 0 is offline/' >x.patch
	# No other test, which may run meanwhile, compiles these two.
	edit fs/proc/devices.c 's/Character devices/Devices/' >>x.patch
	rm -f "$target" "${target%/*}/.cpu.o.cmd" "$source/fs/proc/devices.o"
	build -V --dry-run -j 4 x.patch
	ends 0
	grep -q -- ' -j1 .* \./arch/x86/power/cpu\.o$' <<<"$output"
	grep -q -- ' -j4 .* \./fs/proc/devices\.o$' <<<"$output"
	sed -n 1p "${target%/*}/.cpu.o.cmd" | grep -q -- '-fno-stack-protector'
}

@test "generated headers are there: SELinux, ASN.1" {
	edit security/selinux/avc.c 's/^int avc_has_perm(/int pp_x;\n&/' >x.patch
	build --keep kept x.patch
	[ -e kept/patched/security:selinux:avc/unit.o ]
	rm -rf kept
	edit crypto/asymmetric_keys/x509_cert_parser.c 's/^void x509_free/int pp_x;\n&/' >x.patch
	build --keep kept x.patch
	[ -e kept/patched/crypto:asymmetric_keys:x509_cert_parser/unit.o ]
}

@test "a compile error: the compiler's message, status 1" {
	edit fs/proc/version.c 's/utsname()->sysname,/no_such_thing,/' >x.patch
	build x.patch
	ends 1 "fs/proc/version.c does not compile with the change"
	ends 1 "fs/proc/version.c:13:17: error: 'no_such_thing' undeclared"
	[ ! -e pokepatch-x.ko ]
}

@test "what compiles is kept when something else does not" {
	edit fs/proc/version.c "s/utsname()->sysname,/\"Patched $BASHPID $SECONDS\",/" >x.patch
	edit fs/proc/uptime.c 's/^#include <linux\/fs.h>/&\nint broken(/' >>x.patch
	build -V --dry-run x.patch
	ends 1 "fs/proc/uptime.c does not compile with the change"
	grep -q -- ' -c -o .* fs/proc/version\.c ' <<<"$output"
	build -V --dry-run x.patch
	ends 1 "fs/proc/uptime.c does not compile with the change"
	[ "$(grep -c -- ' -c -o .* fs/proc/version\.c ' <<<"$output")" -eq 0 ]
	grep -q -- ' -c -o .* fs/proc/uptime\.c ' <<<"$output"
}

@test "what neither the kernel nor the patch defines is told by name" {
	edit fs/proc/version.c \
		-e 's/^static int version_proc_show/void pp_no_such(void);\nextern int pp_nor_this;\n&/' \
		-e 's/utsname()->sysname,/(pp_no_such(), pp_nor_this) ? "x" : "y",/' >x.patch
	build -q --report r.json x.patch
	ends 2 "pp_no_such: refused [symbol-missing]: "
	ends 2 "pp_nor_this: refused [symbol-missing]: "
	[ "${#lines[@]}" -eq 3 ]
	grep -q '"code" *: *"symbol-missing"' r.json
	[ ! -e pokepatch-x.ko ]
}

@test "late relocations in per-CPU data and in code that the loader rewrites" {
	# pid_max and linux_banner of vmlinux are not exported.
	edit fs/proc/version.c \
		-e 's/^static int version_proc_show/static DEFINE_PER_CPU(int *, pp_x) = \&pid_max;\n&/' \
		-e 's/utsname()->sysname,/*this_cpu_read(pp_x) ? "x" : "y",/' \
		-e 's/^#include <linux.utsname.h>/&\n#include <linux\/percpu.h>\nextern int pid_max;/' >x.patch
	build -q x.patch
	ends 2 "pid_max: refused [relocation-in-percpu]: "
	# A shorter site within the one that the alternative is, before the reference.
	local site='.pushsection .parainstructions,\\"a\\"\\n.balign 8\\n.quad 771b\\n.byte 0, 772b-771b\\n.balign 8\\n.popsection'
	local code='nop\\n771: nop\\n772: movl pid_max(%%rip),%0\\n'
	local asm="asm volatile(ALTERNATIVE(\"$code\", \"xorl %0,%0\", X86_FEATURE_XMM2)"
	edit fs/proc/version.c \
		-e "/^static int version_proc_show/,/^{/s/^{/{\\n\\tint pp_x;\\n\\t$asm \"$site\" : \"=r\"(pp_x));/" \
		-e 's/utsname()->sysname,/pp_x ? "x" : "y",/' \
		-e 's/^#include <linux.utsname.h>/&\n#include <asm\/alternative.h>\n#include <asm\/cpufeatures.h>/' >x.patch
	build -q x.patch
	ends 2 "pid_max: refused [relocation-in-alternative]: "
	[ ! -e pokepatch-x.ko ]
}

@test "lines that move change no other function" {
	# Before everything, within a function, and where WARN_ON and BUG_ON follow.
	edit fs/namei.c \
		-e '0,/^#include/s//\n\n\n&/' \
		-e '/^void nd_jump_link\|^int nd_jump_link/,/^}/s/^{/{\n\n\n/' \
		-e 's/^int path_pts(struct path \*path)/\n\n&/' >x.patch
	[ "$(grep -c '^@@' x.patch)" -ge 2 ]
	build x.patch
	ends 3
}

@test "the work files are kept with --keep only, and not mixed with others" {
	edit fs/proc/version.c "$version_edit" >x.patch
	build --dry-run --keep kept x.patch
	ends 0
	[ -e kept/original/fs:proc:version/unit.o ]
	build --dry-run --keep kept x.patch
	ends 1 "not empty"
}

# ---- one kernel, or several ------------------------------------------------

# kernel_program RELEASE - an ELF file with DWARF, a build id, and that release's banner.
kernel_program() {
	printf 'const char banner[] = "Linux version %s (x)\\n"; int main(void) { return banner[0]; }\n' "$1" >v.c
	gcc -g -Wl,--build-id=sha1 -o vmlinux v.c
}

@test "vmlinux: none, one of another release, one of another build" {
	edit fs/proc/version.c "$version_edit" >x.patch
	build -v no-such x.patch
	ends 1 "no-such: No such file"
	build -v x.patch x.patch
	ends 1 "not an ELF file"
	kernel_program 6.1.0-1-other
	build -v vmlinux x.patch
	ends 2 "[vmlinux-differs]: this is of kernel 6.1.0-1-other, not of $release"
	kernel_program "$release"
	build -v vmlinux x.patch
	ends 2 "another build of the same release"
	[ ! -e pokepatch-x.ko ]
}

@test "a kernel for a machine that the differ alone knows" {
	edit fs/proc/version.c "$version_edit" >x.patch
	echo 'void _stext(void) {}' >v.c
	mips64el-linux-gnuabi64-gcc-12 -g -mabi=32 -mno-abicalls -fno-pic -c -o v.o v.c
	mips64el-linux-gnuabi64-ld -m elf32ltsmip -Ttext=0x80100000 -e _stext --build-id -o vmlinux v.o
	build -v vmlinux x.patch
	ends 1 "vmlinux: it is for mipsel, and pokepatch-build makes no modules for that machine"
	[ ! -e pokepatch-x.ko ]
}

@test "a module of another build, which differs in a function or in its cold part alone" {
	local ko=kernel/fs/binfmt_misc.ko symbol section value offset
	edit fs/binfmt_misc.c '/^static ssize_t bm_register_write(/,/^}/s/-EEXIST/-ERANGE/' >x.patch
	build --report r.json x.patch
	ends 0
	grep -q '"result" *: *"equal"' r.json
	run ! grep -q '"result" *: *"differs"' r.json
	cp -rs "$kernel/dbg/usr/lib/debug/lib/modules/$release" modules
	for symbol in bm_register_write bm_register_write.cold; do
		rm -f "modules/$ko" pokepatch-x.ko
		cp "$kernel/dbg/usr/lib/debug/lib/modules/$release/$ko" "modules/$ko"
		read -r value section < <(readelf -sW "modules/$ko" | awk -v name="$symbol" '$8 == name { print $2, $7 }')
		offset=$(readelf -SW "modules/$ko" | sed 's/^ *\[ *//;s/]//' |
			awk -v number="$section" '$1 == number { print $5 }')
		offset=$((0x$offset + 0x$value))
		# A cold part begins with an instruction, the rest with the call to __fentry__.
		[[ $symbol == *.cold ]] || offset=$((offset + 5))
		printf '\377' | dd of="modules/$ko" bs=1 seek=$offset conv=notrunc status=none
		build -q -m modules x.patch
		ends 2 "[verify-mismatch]: '$symbol' as compiled here"
		[ "${#lines[@]}" -eq 2 ]
		[ ! -e pokepatch-x.ko ]
	done
}

@test "a configuration of another kernel" {
	edit fs/proc/version.c "$version_edit" >x.patch
	sed 's/^CONFIG_SMP=y/# CONFIG_SMP is not set/;s/^CONFIG_HZ=.*/CONFIG_HZ=1234/' \
		"$kernel/image/boot/config-$release" >config
	build -c config x.patch
	ends 2 "[config-differs]"
	ends 2 CONFIG_HZ
	ends 2 CONFIG_SMP
	echo nonsense >config
	build -c config x.patch
	ends 1 "not a kernel configuration"
}

# Nothing but the two configurations is read before it is refused.
@test "a kernel that the compiler optimised as a whole" {
	local option=LTO_CLANG kbuild=$kernel/headers/usr/src/linux-headers-$release
	edit fs/proc/version.c "$version_edit" >x.patch
	cp -rs "$kbuild" kbuild
	rm kbuild/.config
	{
		grep -v "CONFIG_$option\b" "$kbuild/.config"
		echo "CONFIG_$option=y"
	} >kbuild/.config
	build -q --dry-run -c kbuild/.config --kbuild kbuild x.patch
	ends 2 "kbuild/.config: refused [objtool-late]: "
	ends 2 "(CONFIG_$option=y)"
	[ "${#lines[@]}" -eq 2 ]
}

# ---- the cache -------------------------------------------------------------

# stub PROGRAM - one that says in ./started that it was started, and then takes its time.
stub() {
	mkdir -p stubs
	printf '#!/bin/sh\n: >"%s"\nexec sleep 60\n' "$PWD/started" >"stubs/$1"
	chmod +x "stubs/$1"
}

# interrupt_at PROGRAM [ARGS...] - start a build with these arguments, and interrupt it once
# it runs that program.
interrupt_at() {
	local pid
	rm -rf started stubs pokepatch-x.ko
	stub "$1"
	shift
	# A shell's background job ignores SIGINT, and its children would.
	PATH=$PWD/stubs:$PATH env --default-signal=INT \
		"$program" -k "$release" "$@" x.patch >log 2>&1 3>&- &
	pid=$!
	timeout 120 sh -c 'until [ -e started ]; do sleep 0.05; done'
	[ -n "$(ls tmp)" ]
	kill -INT $pid
	status=0
	wait $pid || status=$?
	output=$(cat log)
}

# interrupted - the last build, killed at some time, says so.  On a busy machine the time may come
# before the program has begun.
interrupted() {
	if [ "$status" -eq 130 ] && [ -z "$output" ]; then return; fi
	ends 1 interrupted
}

@test "a tree of the user's own, interrupts while it is prepared, damage" {
	local tree age source=$source
	own_cache
	edit fs/proc/version.c "$version_edit" >x.patch
	own_source
	touch stamp

	# Interrupted while files are copied, and in the kernel's Makefiles: nothing half-made
	# is taken for whole.
	run timeout --preserve-status -s INT 0.1 "$program" -k "$release" -s "$source" x.patch
	interrupted
	[ -z "$(find "$own" -path '*/.pokepatch/ready')" ]
	interrupt_at make -s "$source"
	ends 1 interrupted
	[ ! -e pokepatch-x.ko ]
	[ -z "$(find "$own" -path '*/.pokepatch/ready')" ]
	# Of five other cores those that were used last stay, and of two trees that whose source is there.
	mkdir -p "$own"/core-{1..5} "$own"/tree-{gone,kept}/.pokepatch
	for age in 1 2 3 4 5; do touch -d "$age hours ago" "$own/core-$age/ready"; done
	touch "$own"/core-{1..5}.lock
	echo "source $PWD/gone 0" >"$own/tree-gone/.pokepatch/ready"
	echo "source $PWD 0" >"$own/tree-kept/.pokepatch/ready"
	build -s "$source" -o one.ko x.patch
	ends 0 "preparing the source"
	[ "$(cd "$own" && echo core-? core-?.lock tree-????)" = "$(echo core-{1..3} core-{1..3}.lock tree-kept)" ]
	rm -r "$own/tree-kept"
	# The user's folder is as it was.
	[ -z "$(find "$source" -type f -newer stamp -not -path '*/.pokepatch*' | tee /dev/stderr)" ]

	# A damaged tree is found, and made anew.
	tree=$(ls -d "$own"/tree-*/)
	: >"$tree/fs/proc/internal.h.new"
	: >"$tree/include/linux/utsname.h"
	build -s "$source" -o two.ko x.patch
	ends 0 "damaged"
	cmp one.ko two.ko

	# Two builds at the same time: one waits or both read, with the same result.
	"$program" -q -k "$release" -s "$source" -o three.ko x.patch &
	"$program" -q -k "$release" -s "$source" -o four.ko x.patch
	wait $!
	cmp one.ko three.ko
	cmp one.ko four.ko
	# A changed header: what was kept for the folder as it was is not used, though here it would do.
	# Replace the file: >> would write through the hard link into the tree of the cache.
	sed -i '$ a /* changed */' "$source/include/linux/utsname.h"
	build -V -s "$source" -o six.ko x.patch
	ends 0 "preparing the source"
	[ "$(grep -c -- ' -c -o .* fs/proc/version.c' <<<"$output")" -eq 2 ]
	[[ $output == *scripts/Makefile.build*./fs/proc/version.o* ]]
	cmp one.ko six.ko
	# A core that a build has used is one of the last used.
	[ "$(find "$own"/core-*/ready -newer two.ko | wc -l)" -eq 1 ]
	# From the packages' own source the result is the same.
	unset XDG_CACHE_HOME
	build -q -o five.ko x.patch
	ends 0
	cmp one.ko five.ko
}

@test "Ctrl-C in each later phase leaves nothing behind" {
	local delay count=0 name
	edit fs/proc/version.c "$version_edit" >x.patch
	# The compiler runs in one phase, the linker in another.
	for name in gcc-12 ld; do
		interrupt_at "$name"
		ends 1 interrupted
		[ ! -e pokepatch-x.ko ]
		[ -z "$(ls tmp)" ]
	done
	# And at any other time.
	for delay in 0.02 0.05 0.1 0.2 0.3 0.4 0.6; do
		rm -f pokepatch-x.ko
		run timeout --preserve-status -s INT "$delay" "$program" -k "$release" x.patch
		if [ "$status" -ne 0 ]; then
			interrupted
			count=$((count + 1))
			[ ! -e pokepatch-x.ko ]
		fi
		[ -z "$(ls tmp)" ]
	done
	[ "$count" -gt 0 ]
	build x.patch
	ends 0
}

# on_small_disk SIZE FOLDER COMMAND... - with FOLDER on a file system of that size.
on_small_disk() {
	local size=$1 folder=$2 as=() privileged=()
	shift 2
	if [ "$(id -u)" -ne 0 ]; then
		privileged=(sudo)
		as=(setpriv --reuid "$(id -u)" --regid "$(id -g)" --clear-groups)
	fi
	"${privileged[@]}" env PATH="$PATH" HOME="$HOME" TMPDIR="$TMPDIR" \
		unshare -m sh -c 'mount -t tmpfs -o "mode=1777,size=$1" none "$2" && shift 2 && exec "$@"' \
		sh "$size" "$folder" "${as[@]}" "$@"
}

@test "a full disk: one line, and nothing half-written" {
	edit fs/proc/version.c "$version_edit" >x.patch
	mkdir out cache
	run on_small_disk 64k tmp "$program" -q -k "$release" x.patch
	ends 1 "o space left on"
	[ "${#lines[@]}" -eq 1 ]
	run on_small_disk 4k out sh -c '"$@"; s=$?; ls out; exit $s' sh \
		"$program" -q -k "$release" -o out/x.ko x.patch
	ends 1 "o space left on"
	[ "${#lines[@]}" -eq 1 ]
	run on_small_disk 20m cache sh -c '
		own=cache/pokepatch/kernels/$1 && mkdir -p $own &&
		ln -s "$2"/image "$2"/dbg "$2"/headers "$2"/source $own/ && shift 2 &&
		XDG_CACHE_HOME=$PWD/cache "$@"; s=$?; find cache -name "tree-*" -type d; exit $s' sh \
		"$release" "$kernel" "$program" -q -k "$release" x.patch
	ends 1 "no space left on the device"
	[ "${#lines[@]}" -eq 1 ]
	[ ! -e pokepatch-x.ko ]
}
