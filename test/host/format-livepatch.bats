# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Modules for the kernel's own livepatch core (pokepatch-build --format livepatch): their ELF files, as
# Documentation/livepatch/module-elf-format.rst of the kernel wants them, and what is refused.

load helpers
# shellcheck source=../variant.sh
. "$top/test/variant.sh"

arch=${POKEPATCH_ARCH:-x86_64}

# For arm64, a kernel with livepatch has to be named: Debian's have none.
setup_file() {
	if [ "$arch" = x86_64 ]; then
		take_release "$(cat "$top/build/kernel-release")"
	else
		take_release "${POKEPATCH_KERNEL:?which kernel of $arch?}"
	fi
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# livepatch PATCH [OPTION...] - make x.ko, and beside it own.ko of pokepatch's own format.
livepatch() {
	local file
	file=$(variant "$release" "$1")
	"$program" -q -k "$release" --format livepatch "${@:2}" -o x.ko "$file"
	"$program" -q -k "$release" "${@:2}" -o own.ko "$file"
}

# info EXPRESSION - what the kernel's own tools say of x.ko's modinfo.
info() {
	modinfo -F "$1" ./x.ko
}

# klp_symbols - names of the symbols of section index SHN_LIVEPATCH, sorted.
klp_symbols() {
	readelf -sW x.ko | awk '/\[0xff20\]/ { print $NF }' | LC_ALL=C sort
}

# klp_relocs SECTION - the symbols of its relocations, sorted.
klp_relocs() {
	readelf -rW x.ko | awk -v "start='$1'" '/^Relocation section/ { in_it = $3 == start }
		in_it && $3 ~ /^R_(X86|AARCH64)/ { print $5 }' | LC_ALL=C sort
}

@test "a module for livepatch: symbols and relocations of vmlinux" {
	local flags module
	livepatch "$top/examples/proc-oom-adj.patch"
	[ "$(info livepatch)" = Y ]
	[ "$(info depends)" = "" ]
	[ "$(info pokepatch_kernel)" = "$release" ]
	# Nothing is left for pokepatch's core, which would look for this symbol.
	run -0 readelf -SsrW x.ko
	[[ $output != *pokepatch_image* ]]
	[[ $output != *pokepatch.texts* ]]
	[[ $output != *pokepatch_register* ]]
	# SHF_ALLOC, SHF_INFO_LINK and SHF_RELA_LIVEPATCH, which readelf calls o.
	flags=$(readelf -SW x.ko | sed 's/\[ */[/' | awk '$2 ~ /^\.klp/ { print $8 }' | sort -u)
	[ "$flags" = AIo ]
	readelf -SW x.ko | sed 's/\[ */[/' | awk '$2 ~ /^\.klp/ { print $2 }' >sections
	grep -qx .klp.rela.vmlinux..text sections
	grep -qx .klp.rela.vmlinux.__jump_table sections
	# Other machines have no inline static calls.
	[ "$arch" != x86_64 ] || grep -qx .klp.rela.vmlinux..static_call_sites sections
	run -1 grep -v '^\.klp\.rela\.vmlinux\.' sections
	klp_symbols >symbols
	grep -qx '.klp.sym.vmlinux.delayacct_key,0' symbols
	run -1 grep -vE '^\.klp\.sym\.vmlinux\.[^,]+,0$' symbols
	# None of them is exported, and each of the core's relocations has become one.
	sed 's/.*vmlinux\.//; s/,0//' symbols >names
	run -1 grep -wFf names <(awk '{ print $2 }' "$kernel/headers/usr/src/linux-headers-$release/Module.symvers")
	run -0 "$top/build/bin/pokepatch" info own.ko
	[[ $output =~ "relocations:    "([0-9]+) ]]
	[ "$(readelf -rW x.ko | awk '/^Relocation section/ { in_it = $3 ~ /klp/ } in_it && / R_(X86|AARCH64)/' | wc -l)" -eq "${BASH_REMATCH[1]}" ]
	for module in x.ko own.ko; do
		run -0 readelf -SsW "$module"
		[[ $output != *" FILE "* ]]
		[[ $output != *.comment* ]]
		[[ $output != *.init.data* ]]
		[[ $output != *__UNIQUE_ID_license* ]]
		# One name is the end of another.
		run -0 readelf -p .shstrtab "$module"
		[[ $output == *.rela.text* ]]
		[[ $output != *" .text"* ]]
	done
}

# size_of STRUCT - bytes, of the kernel's.
size_of() {
	pahole -C "$1" "$kernel/dbg/usr/lib/debug/boot/vmlinux-$release" |
		sed -n 's/.*size: \([0-9]*\),.*/\1/p'
}

@test "the glue has as much memory as livepatch's structures take" {
	local bytes funcs patch objects parts
	# The glue's own bytes for each object, 32, or 88 if there are callbacks.
	while read -r patch objects parts; do
		livepatch "$top/$patch.patch"
		bytes=$(nm -S x.ko | awk '$4 == "pokepatch_room" { print $2 }')
		funcs=$(readelf -SW x.ko | sed 's/.*\] //' | awk '$1 == ".pokepatch.funcs" { print $5 }')
		funcs=$((16#$funcs / 48))
		# Each list ends with one more, and each object has a list.
		[ $((16#$bytes)) -eq $(($(size_of klp_patch) + (objects + 1) * $(size_of klp_object) + \
			(funcs + objects) * $(size_of klp_func) + objects * parts)) ]
	done <<-'END'
		examples/proc-version 1 32
		test/vm/patches/callbacks 3 88
	END
}

@test "a module for livepatch: a module's symbols wait for that module" {
	edited drivers/net/dummy.c 's/if (new_carrier)/if (new_carrier \&\& READ_ONCE(numdummies) >= 0)/'
	livepatch x.patch
	[ "$(klp_symbols)" = .klp.sym.dummy.numdummies,0 ]
	[ "$(klp_relocs .klp.rela.dummy..text | uniq)" = .klp.sym.dummy.numdummies,0 ]
	[ "$(info depends)" = "" ]
}

@test "a module for livepatch: unaligned data that refers to a module's symbol" {
	edited drivers/net/dummy.c -e 's/if (new_carrier)/if (new_carrier \&\& *late.where >= 0)/' \
		-e '/^static int dummy_change_carrier/istatic volatile struct { char c; int *where; } __packed late = { 1, \&numdummies };'
	if [ "$arch" = arm64 ]; then
		run -2 "$program" -q -k "$release" --format livepatch -o x.ko x.patch
		[[ $output == *"numdummies: refused [needs-core]: 'numdummies' is a module's, and unaligned data of the patch refers to it, "* ]]
		[ ! -e x.ko ]
	else
		livepatch x.patch
		[ "$(klp_symbols)" = .klp.sym.dummy.numdummies,0 ]
	fi
}

# address_of SYMBOL [NUMBER] - in vmlinux, of the NUMBERth one, in the order of addresses.
address_of() {
	awk -v "name=$1" -v "number=${2:-1}" '$3 == name && ++count == number { print "0x" $1 }' vmlinux.symbols
}

# position_is_right NEIGHBOUR - set $position to the position of c_start() in x.ko, and check it.
#
# Several files of /proc have a function c_start() of their own.  The unit's c_start() is the one that lies
# beside NEIGHBOUR, another function of the unit.
position_is_right() {
	local start neighbour
	livepatch x.patch
	position=$(klp_symbols | sed -n 's/^\.klp\.sym\.vmlinux\.c_start,//p')
	start=$(address_of c_start "$position") neighbour=$(address_of "$1")
	[ $((start > neighbour ? start - neighbour : neighbour - start)) -lt 4096 ]
}

@test "a module for livepatch: a name that several symbols have" {
	[ "$arch" = x86_64 ] || skip "an edit of arch/x86"
	local first position
	nm -n "$kernel/dbg/usr/lib/debug/boot/vmlinux-$release" >vmlinux.symbols
	[ "$(awk '$3 == "c_start"' vmlinux.symbols | wc -l)" -gt 1 ]
	edited arch/x86/kernel/cpu/proc.c '/^static void \*c_next/,/^}/s/(\*pos)++;/*pos += 2;/'
	position_is_right show_cpuinfo
	first=$position
	rm x.patch
	# By its address, so that the compiler does not inline it.
	edited fs/proc/consoles.c '/^static void \*c_next/,/^}/s/return con->next;/{ void *(*volatile f)(struct seq_file *, loff_t *) = c_start; return con->next ?: f(m, pos); }/'
	position_is_right show_console_dev
	[ "$first" -ne "$position" ]
}

@test "what is changed in a finished module for livepatch is noticed" {
	local name section sections=(.klp.rela.vmlinux.{.text,__jump_table} .klp.rela.dummy..text)
	[ "$arch" != x86_64 ] || sections+=(.klp.rela.vmlinux..static_call_sites)
	for name in {examples/{proc-oom-adj,binfmt-misc-status,eventfd-writes},test/vm/patches/{callbacks,sleepers}}; do
		"$program" -q -k "$release" --format livepatch --keep "kept-${name##*/}" -o x.ko \
			"$(variant "$release" "$top/$name.patch")"
	done
	run -0 "$top/build/test/mutate/mutate" kept-*
	echo "$output"
	[[ $output =~ "In all "([0-9]+)" of "([0-9]+)" changes" ]]
	[ "${BASH_REMATCH[2]}" -ge 1500 ]
	[ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
	for section in "${sections[@]}"; do
		[[ $output == *$'\n'"  $section "* ]]
	done
}

@test "what only pokepatch's core can do is refused" {
	# A function without an entry, together with another one; where a callback may rely on its end; and
	# where a patch is replaced.
	local more
	for more in "$top/examples/proc-version.patch" "$(variant "$release" "$top/test/vm/patches/callbacks.patch")" \
		--level=3; do
		run -2 "$program" -q -k "$release" --format livepatch -o x.ko "$more" "$top/examples/sys-uname.patch"
		[[ $output == *"kernel/sys.c: refused [needs-core]: __do_sys_newuname() has no entry for ftrace, "*"; build without --format livepatch"* ]]
	done
	edited fs/proc/version.c -e '/internal.h/a #include <pokepatch_patch.h>' -e '/^static int version/,/^}/s/return 0;/pokepatch_withdrawn(m); return 0;/'
	run -2 "$program" -q -k "$release" --format livepatch -o x.ko x.patch
	[[ $output == *"fs/proc/version.c: refused [needs-core]: 'pokepatch_withdrawn' is a function of pokepatch's core; "* ]]
	[ ! -e x.ko ]
}

@test "a kernel without livepatch, and names that its livepatch core does not take" {
	local arm64
	arm64=$("$top/test/fetch-kernel" arm64 6.1 | tail -n 1)
	run -2 "$program" -q -k "$arm64" --format livepatch -o x.ko --return version_proc_show=0
	[[ $output == *"refused [needs-core]: kernel $arm64 has no livepatch core (CONFIG_LIVEPATCH); build without --format livepatch"* ]]
	# The same sources, but for a kernel of shorter names.
	mkdir -p data cache/pokepatch/kernels/"$release"
	cp -r "$top"/core-module "$top"/patches data
	sed -i 's/^\tKSYM_NAME_LEN,/\t8,/' data/patches/module/livepatch.c
	ln -s "$kernel"/{dbg,fetched,headers,image,packages} cache/pokepatch/kernels/"$release"
	export POKEPATCH_DATADIR=$PWD/data XDG_CACHE_HOME=$PWD/cache
	run -2 "$program" -q -k "$release" --format livepatch -o x.ko --return version_proc_show=0
	[[ $output == *": refused [needs-core]: 'version_proc_show' is a longer name than this kernel's livepatch core takes; build without --format livepatch"* ]]
	[ ! -e x.ko ]
}

# places FILE - the functions of its .text in the order of their addresses, without the padding in front.
places() {
	readelf -sW "$1" | awk '$4 == "FUNC" && $7 == text && $8 !~ /^__pfx_/ { print $2, $8 }
		' text="$(readelf -SW "$1" | sed -n 's/^ *\[ *\([0-9]*\)\] \.text .*/\1/p')" | sort | cut -d ' ' -f 2
}

@test "changed functions stand in front of all code in which livepatch is to look for tasks" {
	"$program" -q -k "$release" --format livepatch -o x.ko "$top/test/vm/patches/sleepers.patch"
	places x.ko >order
	[ "$(head -n 2 order | sort | paste -sd ' ')" = "proc_flush_pid version_proc_show" ]
	# gcc splits functions on x86-64 alone, as the kernel has it compile them.
	[ "$arch" != x86_64 ] || grep -qx version_proc_show.cold order
	grep -q '^sleep_elsewhere' order
	# The linker meets the new function of this unit before the changed one of the next.
	edited fs/proc/cmdline.c -e '/^static int cmdline_proc_show/i static noinline int elsewhere(struct seq_file *m) { seq_puts(m, "x"); return 0; }' \
		-e '/^static int cmdline/,/^}/s/return 0;/return elsewhere(m);/'
	edited fs/proc/version.c '/^static int version/,/^}/s/return 0;/return seq_puts(m, "x"), 0;/'
	"$program" -q -k "$release" --format livepatch -o x.ko x.patch
	places x.ko >order
	[ "$(head -n 2 order | sort | paste -sd ' ')" = "cmdline_proc_show version_proc_show" ]
	[ "$(sed -n 3p order)" = elsewhere ]
	rm x.patch
	# A function without an entry is not switched, and so stands behind those that call it.
	"$program" -q -k "$release" --format livepatch -o x.ko "$top/examples/sys-uname.patch"
	places x.ko >order
	grep -nx __do_sys_newuname order
	[ "$(grep -nx __do_sys_newuname order)" = "$(grep -c sys_newuname order):__do_sys_newuname" ]
	# One in a section of its own could not be found there.
	edited fs/proc/version.c -e '/^static int version_proc_show/i static noinline __attribute__((__section__(".kprobes.text"))) int elsewhere(struct seq_file *m) { seq_puts(m, "x"); return 0; }' \
		-e '/^static int version/,/^}/s/return 0;/return elsewhere(m);/'
	run -2 "$program" -q -k "$release" --format livepatch -o y.ko x.patch
	echo "$output"
	[[ $output == *"fs/proc/version.c: refused [needs-core]: 'elsewhere' is in section .kprobes.text, apart from the other new code, "* ]]
	[ ! -e y.ko ]
	# On arm64, gcc makes a variant of it, without an entry, and it is refused for that.
	[ "$arch" = x86_64 ] || return 0
	rm x.patch
	edited kernel/sched/idle.c '/cpu_idle_poll(void)/,/^}/s/cpu_relax();/cpu_relax(), cpu_relax();/'
	run -2 "$program" -q -k "$release" --format livepatch -o y.ko x.patch
	[[ $output == *": refused [needs-core]: 'cpu_idle_poll"*"' is in section .cpuidle.text, "* ]]
	[ ! -e y.ko ]
}

@test "options that the livepatch core has nothing for" {
	local option
	for option in "--mode entry" "--transition stop" "--level 3 --revoke-below 2"; do
		# shellcheck disable=SC2086 # two words
		run -1 "$program" -q -k "$release" --format livepatch $option -o x.ko "$top/examples/proc-version.patch"
		[[ $output == *"--format livepatch has no equivalent of --"* ]]
	done
	# A cumulative patch replaces the others, which the glue tells the livepatch core.
	"$program" -q -k "$release" --format livepatch --level 3 -o x.ko "$top/examples/proc-version.patch"
	[ "$(info pokepatch_level)" = 3 ]
	# It calls none of the callbacks of those that it replaces.
	run -2 "$program" -q -k "$release" --format livepatch --level 3 -o y.ko \
		"$(variant "$release" "$top/test/vm/patches/callbacks.patch")"
	[[ $output == *"refused [needs-core]: the livepatch core calls no callbacks of a patch that another level replaces, so what "*"() sees to would be left"* ]]
	run -1 "$program" -q -k "$release" --format kpatch -o x.ko "$top/examples/proc-version.patch"
	[[ $output == *"--format is pokepatch or livepatch, not kpatch; "* ]]
}

@test "pokepatch shows what livepatch has, and switches nothing on again" {
	local cli=$top/build/bin/pokepatch
	export POKEPATCH_SYSFS=$PWD/sys
	mkdir -p sys/kernel/livepatch/{pokepatch_fix/vmlinux/"foo,2",other/nfs/"bar,1"} sys/module/pokepatch_off
	touch sys/module/pokepatch_off/initstate
	echo 1 | tee sys/kernel/livepatch/{pokepatch_fix,other}/enabled sys/kernel/livepatch/other/transition >/dev/null
	echo 0 >sys/kernel/livepatch/pokepatch_fix/transition
	run -0 "$cli" list
	[[ ${lines[1]} =~ ^other" "+enabling" "+1" "+livepatch$ ]]
	[[ ${lines[2]} =~ ^fix" "+enabled" "+1" "+livepatch$ ]]
	run -0 "$cli" info fix
	[[ $output == *"core:     livepatch"* ]]
	[[ $output =~ foo" "+vmlinux" "+livepatch ]]
	run -0 "$cli" info --json other
	[[ $output == *'"pos":1'* ]] || [[ $output == *'"pos": 1'* ]]
	run -3 "$cli" enable fix
	run -2 "$cli" enable off
	[[ $output == *"patch 'off': refused [not-accepted]: livepatch switches no patch on again; unload it and load it"* ]]
	run -3 "$cli" disable off
	run -2 "$cli" disable --timeout 100 fix
	[[ $output == *"patch 'fix': refused [blocked]: not switched off within 100 ms, "* ]]
	run -1 "$cli" disable --evict fix
	[[ $output == *"--evict is for patches of pokepatch's core"* ]]
	# It takes back what it could not complete.
	[ "$(cat sys/kernel/livepatch/pokepatch_fix/enabled)" = 1 ]

	# A switch that takes the patch off is turned round, which the kernel then completes.
	echo 0 >sys/kernel/livepatch/pokepatch_fix/enabled
	echo 1 >sys/kernel/livepatch/pokepatch_fix/transition
	(
		until [ "$(cat sys/kernel/livepatch/pokepatch_fix/enabled)" = 1 ]; do sleep 0.02; done
		echo 0 >sys/kernel/livepatch/pokepatch_fix/transition
	) 3>&- &
	run -0 "$cli" enable fix
	wait $!
}
