# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Diffs that were written for kpatch: what pokepatch-build makes of their macros.  What they do is
# in vm/callbacks.bats and vm/shadows.bats.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# build - make x.ko of x.patch, without progress.
build() {
	run "$program" -q -k "$release" --report report.json -o x.ko x.patch
}

# ends STATUS TEXT... - the last build ended with STATUS, and said each TEXT.
ends() {
	local text
	echo "$output"
	[ "$status" -eq "$1" ]
	for text in "${@:2}"; do
		grep -qF -- "$text" <<<"$output"
	done
}

# functions - the changed and new functions that the report names.
functions() {
	jq -r '.functions[] | .change + " " + .name' report.json | sort
}

version_edit='s/utsname()->sysname,/"Patched",/'

@test "functions and sections that are ignored" {
	edited fs/proc/version.c -e "$version_edit" \
		-e 's/^#include "internal.h"/&\n#include "kpatch-macros.h"/' \
		-e '$aMODULE_DESCRIPTION("version");\nKPATCH_IGNORE_SECTION(".modinfo");\nKPATCH_IGNORE_SECTION("nothing")'
	edited fs/proc/uptime.c -e 's/^#include "internal.h"/&\n#include <kpatch-macros.h>/' \
		-e 's/^\tidle_nsec = 0;/\tidle_nsec = 1;/' -e '$aKPATCH_IGNORE_FUNCTION(uptime_proc_show)'
	build
	ends 0 "'ignore-section nothing' in the source has nothing to ignore"
	[ "$(functions)" = "changed version_proc_show" ]
	[ "$(grep -c ignore- <<<"$output")" -eq 1 ]

	# Without the macros these are changes, and one of them cannot be made.
	sed -i 's/^+KPATCH_IGNORE.*/+/' x.patch
	build
	ends 2 "refused [section-changed]"
	sed -i 's/^+MODULE_DESCRIPTION.*/+/' x.patch
	build
	ends 0
	[ "$(functions)" = "changed uptime_proc_show
changed version_proc_show" ]
}

@test "a function that kpatch would force: a warning that has the macro's place" {
	edited fs/proc/version.c -e "$version_edit" \
		-e 's/^#include "internal.h"/&\n#include "kpatch-macros.h"/' \
		-e '$aKPATCH_FORCE_UNSAFE(version_proc_show);'
	build
	ends 0 "fs/proc/version.c:" \
		": warning [force-ignored]: KPATCH_FORCE_UNSAFE(version_proc_show) is not followed: pokepatch does not switch a function while tasks are in it;"
	grep -q '^fs/proc/version.c:[1-9][0-9]*: warning \[force-ignored\]' <<<"$output"
	[ "${#lines[@]}" -eq 1 ]
	[ "$(functions)" = "changed version_proc_show" ]
}

@test "hooks of old diffs are refused, and the line names the callbacks" {
	edited fs/proc/version.c -e "$version_edit" \
		-e 's/^#include "internal.h"/&\n#include "kpatch-macros.h"/' \
		-e '$astatic void begin(void) { }\nstatic void end(void) { }\nKPATCH_LOAD_HOOK(begin);\nKPATCH_UNLOAD_HOOK(end);'
	build
	ends 2 "refused for 2 reasons" \
		"refused [note-unknown]: KPATCH_LOAD_HOOK(begin) would run while all CPUs are stopped, when pokepatch calls nothing; use KPATCH_PRE_PATCH_CALLBACK or" \
		"refused [note-unknown]: KPATCH_UNLOAD_HOOK(end) would run"
	[ "$(grep -c '^fs/proc/version.c:[1-9][0-9]*: refused' <<<"$output")" -eq 2 ]
}

@test "callbacks: their names in the report, one of a kind, and of the right type" {
	local callback='static int prepare(patch_object *obj) { return obj->mod ? -EINVAL : 0; }\nKPATCH_PRE_PATCH_CALLBACK(prepare)'
	edited fs/proc/version.c -e "$version_edit" \
		-e 's/^#include "internal.h"/&\n#include "kpatch-macros.h"/' -e "\$a$callback"
	build
	ends 0
	[ "$(jq -r '.callbacks[] | "\(.parent) \(.kind) \(.function)"' report.json)" = \
		"vmlinux pre-patch prepare_as_pre_patch" ]
	edited fs/proc/cmdline.c -e 's/^#include "internal.h"/&\n#include "kpatch-macros.h"/' \
		-e "\$a#include \"kpatch-macros.h\"\n$callback"
	build
	ends 2 "refused [callback-twice]"
	rm x.patch
	edited fs/proc/version.c -e "$version_edit" \
		-e 's/^#include "internal.h"/&\n#include "kpatch-macros.h"/' \
		-e '$astatic int prepare(char *obj) { return 0; }\nKPATCH_PRE_PATCH_CALLBACK(prepare);'
	build
	ends 1 "fs/proc/version.c:" "incompatible pointer type"
}

# kpatch has no other way to call through a key that lives in a module, here in kvm.
@test "static calls of a module, through their keys" {
	edited arch/x86/kvm/x86.c -e '/^bool kvm_require_cpl(/i #include "kpatch-macros.h"\n' \
		-e '/^bool kvm_require_cpl(/,/^}/s/static_call(kvm_x86_get_cpl)(vcpu) <=/1 + KPATCH_STATIC_CALL(kvm_x86_get_cpl)(vcpu) <=/'
	build
	ends 0
	[ "$(functions)" = "changed kvm_require_cpl" ]
}

# Debian's kernel for arm64 has no livepatch, so klp_shadow_*() are pokepatch's.
@test "system calls and shadow variables, for arm64" {
	local release source kernel
	use_kernel arm64 6.1
	shadow() { # CONSTRUCTOR
		rm -f x.patch
		edited kernel/sys.c \
			-e "/^SYSCALL_DEFINE1(newuname/i #include \"kpatch-syscall.h\"\nstatic __maybe_unused int make(void *obj, void *data, void *arg) { return 0; }\nstatic void end(void *obj, void *data) { }" \
			-e "/^SYSCALL_DEFINE1(newuname/,/^}/s/^\tdown_read/\tklp_shadow_alloc(current, 1, 8, GFP_KERNEL, $1, NULL);\n\tif (klp_shadow_get_or_alloc(current, 1, 8, GFP_KERNEL, NULL, NULL))\n\t\tklp_shadow_free(current, 1, end);\n\tklp_shadow_free_all(1, NULL);\n&/" \
			-e 's/^SYSCALL_DEFINE1(newuname/KPATCH_&/'
	}
	shadow NULL
	build
	ends 0
	[ "$(functions)" = "changed __arm64_sys_newuname
changed __do_sys_newuname" ]
	run -1 grep klp_ <(aarch64-linux-gnu-nm x.ko)
	aarch64-linux-gnu-nm x.ko | grep -q 'U pokepatch_shadow_unlink$'
	shadow make
	build
	ends 1 "this kernel has no livepatch: for a shadow variable with a constructor call pokepatch_shadow_get_or_attach()"
}
