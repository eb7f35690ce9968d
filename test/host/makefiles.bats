# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Changes to Kconfig files and makefiles in a patch: noted if nothing follows from them for this kernel, and refused if not.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	cp "$top/examples/proc-version.patch" x.patch
}

# added FILE LINE... - a new file, in x.patch.
added() {
	local file=$1
	shift
	printf '%s\n' "diff --git a/$file b/$file" "new file mode 100644" "--- /dev/null" "+++ b/$file" \
		"@@ -0,0 +1,$# @@" "${@/#/+}" >>x.patch
}

# notes LINE... - the change is made, and what the tool says of Kconfig files and makefiles is this.
notes() {
	run "$program" -k "$release" --dry-run x.patch
	echo "$output"
	[ "$status" -eq 0 ]
	grep -E ': left out: |refused|warning' <<<"$output" >said
	printf '%s\n' "$@" | diff - said
}

# refuses FILE CODE REASON - the change of this file is refused for that.
refuses() {
	run -2 "$program" -k "$release" --dry-run x.patch
	echo "$output"
	echo "$output"
	[[ $output == *"$1: refused [$2]: $3; "* ]]
	[[ $output == *"refused for 1 reason"* ]]
}

no_config="left out: it changes nothing in this kernel's configuration"

# ---- Kconfig --------------------------------------------------------------------

@test "Kconfig: texts for users, symbols that are off, another machine's file" {
	edited fs/proc/Kconfig -e 's/It.s totally cool/It is useful/' -e 's/"\/proc file system support"/"procfs"/' \
		-e '$aconfig PROC_NEW\n\tbool "New"\n\tdepends on PROC_FS\n\tselect CRASH_CORE\n'
	printf '%s\n' "--- a/arch/alpha/Kconfig" "+++ b/arch/alpha/Kconfig" "@@ -1 +1 @@" "-x" "+y" >>x.patch
	notes "note: arch/alpha/Kconfig: left out: this kernel does not use its folder" "note: fs/proc/Kconfig: $no_config"
}

@test "Kconfig: a new file, which is read" {
	edited fs/proc/Kconfig '$asource "fs/proc/new/Kconfig"'
	added fs/proc/new/Kconfig 'config PROC_NEW' '	bool "New"' '	depends on PROC_FS'
	notes "note: fs/proc/Kconfig: $no_config" "note: fs/proc/new/Kconfig: $no_config"
	sed -i 's/^+.*depends on PROC_FS/+\tdefault y/' x.patch
	refuses fs/proc/new/Kconfig kconfig-changed "CONFIG_PROC_NEW is not set, and would be by its default"
}

@test "Kconfig: a symbol that is set would change" {
	edited fs/proc/Kconfig '/^config PROC_FS/,/default y/s/default y/default n/'
	refuses fs/proc/Kconfig kconfig-changed "CONFIG_PROC_FS=y: its default changes"
}

@test "Kconfig: a symbol that is off would be selected" {
	edited fs/proc/Kconfig '/^config PROC_FS/a\	select PROC_NEW'
	refuses fs/proc/Kconfig kconfig-changed "CONFIG_PROC_NEW: CONFIG_PROC_FS would select it"
}

@test "Kconfig: alone there is nothing to do; two diffs that cancel each other are no change" {
	: >x.patch
	edited fs/proc/Kconfig 's/It.s totally cool/It is useful/'
	run -3 "$program" -k "$release" --dry-run x.patch
	: >x.patch
	edited fs/proc/Kconfig '/^config PROC_FS/,/default y/s/default y/default n/'
	mv x.patch there.patch
	diff -u b/fs/proc/Kconfig a/fs/proc/Kconfig >back.patch || [ $? -eq 1 ]
	run -0 "$program" -k "$release" --dry-run there.patch back.patch "$top/examples/proc-version.patch"
	[[ $output != *Kconfig* ]]
}

@test "Kconfig: what cannot be judged, and what the author allows" {
	printf '%s\n' "diff --git a/fs/proc/Kconfig b/fs/proc/Kconfig.new" "similarity index 100%" \
		"rename from fs/proc/Kconfig" "rename to fs/proc/Kconfig.new" >>x.patch
	refuses fs/proc/Kconfig kconfig-changed "the configuration of a running kernel cannot change"
	run -0 "$program" -k "$release" --dry-run --allow kconfig-changed:fs/proc/Kconfig x.patch
	[[ $output == *"fs/proc/Kconfig: warning [kconfig-changed]: allowed: "* ]]
	cp "$top/examples/proc-version.patch" x.patch
	printf '%s\n' "--- a/fs/none/Kconfig" "+++ b/fs/none/Kconfig" "@@ -1 +1 @@" "-x" "+y" >>x.patch
	refuses fs/none/Kconfig not-in-kernel \
		"there is no such file in this kernel's source, or its configuration leaves it out"
}

# ---- makefiles ------------------------------------------------------------------

# top_edited SED... - like edited, for the top Makefile.
top_edited() {
	mkdir -p a b
	cp "$source/Makefile" a/
	sed "$@" a/Makefile >b/Makefile
	diff -u a/Makefile b/Makefile >>x.patch || [ $? -eq 1 ]
}

nothing="left out: it changes nothing that this kernel compiles"

@test "makefiles: objects that are not built, versions, comments, folders that are not used" {
	edited fs/proc/Makefile '$aobj-$(CONFIG_PROC_NEW) += new.o new/\nnew-y := a.o b.o\nCFLAGS_new.o += -O1'
	added fs/proc/new/Makefile 'obj-$(CONFIG_PROC_NEW) += more.o' 'ccflags-y += -O1'
	top_edited -e 's/^SUBLEVEL = .*/SUBLEVEL = 999/' -e 's/^NAME = .*/NAME = x/' -e 's/^EXTRAVERSION =.*/EXTRAVERSION = -y/'
	edited kernel/Makefile '1a# A comment.\n'
	printf '%s\n' "--- a/arch/alpha/kernel/Makefile" "+++ b/arch/alpha/kernel/Makefile" "@@ -1 +1 @@" "-x" "+y" >>x.patch
	notes "note: arch/alpha/kernel/Makefile: left out: this kernel does not use its folder" \
		"note: fs/proc/Makefile: $nothing" \
		"note: fs/proc/new/Makefile: left out: this kernel does not use its folder" \
		"note: Makefile: left out: only the version of the kernel changes, and the running kernel's stays" \
		"note: kernel/Makefile: left out: only comments change"
}

@test "makefiles: a command would change; of two files only one makes the difference" {
	edited fs/proc/Makefile '$aCFLAGS_version.o += -O1'
	edited fs/ramfs/Makefile '$aobj-$(CONFIG_RAMFS_NEW) += new.o'
	refuses fs/proc/Makefile makefile-changed "fs/proc/version.o would be compiled with -O1"
	[[ $output == *"fs/ramfs/Makefile: $nothing"* ]]
	# What the author allows is left out.
	run -0 "$program" -k "$release" --dry-run --allow makefile-changed:fs/proc/Makefile x.patch
}

@test "makefiles: an object that is compiled already would go, or be in a file that others include" {
	# kbuild has compiled it for the patch of another test.
	edited fs/proc/Makefile '/+= version.o/d'
	refuses fs/proc/Makefile makefile-changed "fs/proc/version.o would no longer be compiled"
	cp "$top/examples/proc-version.patch" x.patch
	added fs/proc/Makefile.new 'CFLAGS_version.o += -O1'
	refuses fs/proc/Makefile.new makefile-changed "it is not known which makefile includes it"
	edited fs/proc/Makefile '$ainclude $(src)/Makefile.new'
	run -2 "$program" -k "$release" --dry-run x.patch
	echo "$output"
	[[ $output == *"fs/proc/Makefile: refused [makefile-changed]: fs/proc/version.o would be compiled with -O1; "* ]]
}

@test "makefiles: an object would be added, and files that decide about everything" {
	local boot
	boot=$(cd "$source" && echo arch/*/boot/Makefile)
	edited fs/ramfs/Makefile '$aobj-y += new.o'
	edited scripts/Makefile.lib '$accflags-y += -O1'
	top_edited -e 's/^SUBLEVEL = .*/SUBLEVEL = 999/' -e '$aKBUILD_CFLAGS += -O1'
	edited "$boot" '$aKBUILD_CFLAGS += -O1'
	run -2 "$program" -k "$release" --dry-run x.patch
	echo "$output"
	echo "$output"
	[[ $output == *"fs/ramfs/Makefile: refused [makefile-changed]: fs/ramfs/new.o would be made, and there is nothing to make it of; "* ]]
	[[ $output == *"Makefile: refused [makefile-changed]: it decides how every file is compiled; "* ]]
	[[ $output == *"scripts/Makefile.lib: refused [makefile-changed]: it decides how every file is compiled; "* ]]
	[[ $output == *"$boot: refused [makefile-changed]: it compiles boot code or the vDSO; "* ]]
	[[ $output == *"refused for 4 reasons"* ]]
}

# ---- new source files -----------------------------------------------------------

# A function of the kernel's own that another file calls, with state and a helper of its own.
fresh=('#include <linux/kernel.h>' '#include <linux/printk.h>' 'int fresh_count(void);' 'static int count;'
	'static noinline int next(void) { return ++count; }'
	'int fresh_count(void) { pr_info("fresh %d\n", next()); return count; }')

# functions [NAME...] - x.patch makes a module, in which functions are new and changed as stdin says.
functions() {
	run -0 "$program" -k "$release" -o x.ko --report x.json x.patch
	echo "$output"
	python3 -c 'import json
for function in json.load(open("x.json"))["functions"]:
	print(function["change"], function["object"], function["name"])' | sort | diff - /dev/stdin
}

@test "new files: a makefile has one compiled for vmlinux, another for a module" {
	: >x.patch
	edited fs/proc/Makefile 's/^proc-y.*version.o$/&\nproc-y += fresh.o/'
	edited fs/proc/version.c 's/^static int version_proc_show/int fresh_count(void);\n&/; /^static int version_proc_show/,/^}/s/^\treturn 0;/\tfresh_count();\n&/'
	added fs/proc/fresh.c "${fresh[@]}"
	edited fs/fat/Makefile 's/nfs.o$/nfs.o stale.o/'
	edited fs/fat/misc.c 's/^void __fat_fs_error/int stale_count(void);\n&/; s/^\tva_start(args, fmt);/\tstale_count();\n&/'
	added fs/fat/stale.c "${fresh[@]//fresh/stale}"
	functions <<-END
		changed fat __fat_fs_error
		changed fat _fat_msg
		changed vmlinux version_proc_show
		new fat next
		new fat stale_count
		new vmlinux fresh_count
		new vmlinux next
	END
	[[ $output == *"note: fs/proc/Makefile: left out: it has only new files compiled, which the patch brings"* ]]
}

@test "new files: what cannot be part of the kernel" {
	: >x.patch
	edited fs/proc/version.c 's/^static int version_proc_show/int fresh_count(void);\n&/; /^static int version_proc_show/,/^}/s/^\treturn 0;/\tfresh_count();\n&/'
	added fs/proc/fresh.c "${fresh[@]}"
	cp x.patch without.patch
	refuses fs/proc/fresh.c new-file "a new source file that no makefile of the diffs has compiled is part of no object"

	# A function that the kernel has already: its callers would go on calling that.
	edited fs/proc/Makefile 's/^proc-y.*version.o$/&\nproc-y += fresh.o/'
	sed -i 's/fresh_count/crash_kexec/' x.patch
	run -2 "$program" -k "$release" --dry-run x.patch
	echo "$output"
	[[ $output == *"fs/proc/fresh.c:"*": refused [symbol-twice]: "*"'crash_kexec'"* ]]

	# A module of its own needs no live patch.
	cp without.patch x.patch
	edited fs/proc/Makefile '$aobj-m += fresh.o'
	run -2 "$program" -k "$release" --dry-run x.patch
	echo "$output"
	[[ $output == *"fs/proc/fresh.c: refused [parent-unknown]: it is compiled for module fresh, which is not among the modules in "*"; a module that is new is built and loaded without pokepatch"* ]]
	[[ $output == *"refused for 1 reason"* ]]

	# What else the makefile changes is no less refused.
	cp without.patch x.patch
	edited fs/proc/Makefile 's/^proc-y.*version.o$/&\nproc-y += fresh.o\nccflags-y += -O1/'
	refuses fs/proc/Makefile makefile-changed "fs/proc/task_mmu.o would be compiled with -O1"
}
