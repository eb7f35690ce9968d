# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Changes to Kconfig files in a patch: noted if nothing follows from them for this kernel, and refused if not.

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
	run -0 "$program" -k "$release" --dry-run x.patch
	grep -E ': left out: |refused|warning' <<<"$output" >said
	printf '%s\n' "$@" | diff - said
}

# refuses FILE CODE REASON - the change of this file is refused for that.
refuses() {
	run -2 "$program" -k "$release" --dry-run x.patch
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
