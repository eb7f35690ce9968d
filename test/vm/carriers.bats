# SPDX-License-Identifier: GPL-2.0-or-later
# A function without an entry, carried by its callers: it counts when stacks are looked at,
# though calls are never rerouted there.

load helpers

@test "a task in a carried function is in the way, in the old one and in the new one" {
	with_patches "$top/test/vm/patches/flock-body.patch"
	# The same once more, to lie on top of it.
	guest "${patched[@]}" --module "$(patch_module "$top/test/vm/patches/flock-body.patch" flock-top)" \
		--program "$(test_program flocker)" -- "${arch_syscall}sys_flock" <<-'END'
		caller=$1
		write() { echo "$2" >"$(sysfs "$1" enabled)"; }
		blocked() { # NAME VALUE
			refused write "$@"
			same "who is in the way" "$(file "$1" blocked_by)" \
				"$second flocker __do_sys_flock"
		}
		insmod "/lib/modules/$(uname -r)/extra/pokepatch.ko"
		insmod "$(patch_file flock-body)"
		echo 300 >"$(sysfs flock-body timeout_ms)"
		flock_first

		flock_second
		blocked flock-body 1
		same "the error while disabled" "$(flock_error)" 22
		kill $second
		wait $second || :
		enabled flock-body 1
		same "the error while enabled" "$(flock_error)" 33
		[ -d "$pokepatch/flock_body/vmlinux/$caller,1" ] || die "no folder"
		[ ! -e "$pokepatch/flock_body/vmlinux/__do_sys_flock,1" ] || die "a folder too many"
		has info "$(pokepatch info flock-body)" $caller

		flock_second
		insmod "$(patch_file flock-top)"
		echo 300 >"$(sysfs flock-top timeout_ms)"
		blocked flock-top 1
		rmmod pokepatch-flock-top
		blocked flock-body 0
		same "the error while still enabled" "$(flock_error)" 33
		kill $second
		wait $second || :
		enabled flock-body 0
		same "the error at the end" "$(flock_error)" 22
		pokepatch unload flock-body
		kill $first
	END
}
