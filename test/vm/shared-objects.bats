# SPDX-License-Identifier: GPL-2.0-or-later
# A patch of an object that is linked into several modules, each of which has its own copy.

load helpers

# with_shared NAME... - as with_patches, with the modules and these patches of shared/.
with_shared() {
	local dir name module
	with_patches
	dir=$(shared_modules)
	for module in pp_shared_a pp_shared_b pp_shared_c; do
		patched+=(--module "$dir/modules/kernel/net/pp_shared/$module.ko")
	done
	for name; do
		module=$(shared_patch "$name")
		patched+=(--module "$module")
	done
}

@test "all modules that have a copy of the code are switched together, and those that come later" {
	with_shared shared
	guest "${patched[@]}" <<-'END'
		# says MODULE PARAMETER TEXT
		says() { same "$1's $2" "$(cat "/sys/module/$1/parameters/$2")" "$1: $3"; }

		echo "== stock: each module has its own code, and counts its own calls"
		modprobe pp_shared_a
		modprobe pp_shared_b
		says pp_shared_a shared "3 in call 1"
		says pp_shared_a own "30 in call 2"
		says pp_shared_b own "30 in call 1"

		echo "== two of three are there"
		pokepatch load "$(patch_file shared)"
		says pp_shared_a own "now 50 in call 3"
		says pp_shared_a shared "now 5 in call 4"
		says pp_shared_b own "now 50 in call 2"
		for module in pp_shared_a pp_shared_b pp_shared_c; do
			same "functions of $module" \
				"$(ls "$(sysfs shared $module)" | grep -c '^pp_shared_\(scale\|value\),1$')" 2
		done

		echo "== the third comes"
		modprobe pp_shared_c
		says pp_shared_c shared "now 5 in call 1"

		echo "== one goes and comes, again and again; the others stay as they are"
		for _round in $(seq 10); do
			rmmod pp_shared_b
			says pp_shared_a shared "now 5 in call $((4 + _round))"
			modprobe pp_shared_b
			says pp_shared_b shared "now 5 in call 1"
		done

		echo "== off and on, for all"
		enabled shared 0
		says pp_shared_c shared "3 in call 2"
		says pp_shared_a shared "3 in call 15"
		says pp_shared_b own "30 in call 2"
		enabled shared 1
		says pp_shared_c shared "now 5 in call 3"
		says pp_shared_a own "now 50 in call 16"
		says pp_shared_b own "now 50 in call 3"

		echo "== one comes while the patch is off"
		rmmod pp_shared_a
		enabled shared 0
		modprobe pp_shared_a
		says pp_shared_a own "30 in call 1"
		enabled shared 1
		says pp_shared_a own "now 50 in call 2"

		echo "== the patch goes"
		pokepatch unload shared
		says pp_shared_c shared "3 in call 4"
		says pp_shared_a own "30 in call 3"
		says pp_shared_b own "30 in call 4"
		rmmod pp_shared_a pp_shared_b pp_shared_c

		echo "== the patch first, then its modules, one after the other"
		pokepatch load "$(patch_file shared)"
		for _round in $(seq 10); do
			for module in pp_shared_c pp_shared_b pp_shared_a; do
				modprobe $module
				says $module shared "now 5 in call 1"
			done
			rmmod pp_shared_a pp_shared_b pp_shared_c
		done
		pokepatch unload shared
	END
}

@test "new functions and variables are each module's own" {
	with_shared shared-extra
	guest "${patched[@]}" <<-'END'
		# says MODULE TEXT
		says() { same "$1" "$(cat "/sys/module/$1/parameters/own")" "$1: $2"; }

		modprobe pp_shared_a
		pokepatch load "$(patch_file shared-extra)"
		says pp_shared_a "extra 30 in call 100, 1 extra"
		says pp_shared_a "extra 30 in call 200, 2 extra"
		modprobe pp_shared_b
		says pp_shared_b "extra 30 in call 100, 1 extra"
		says pp_shared_a "extra 30 in call 300, 3 extra"
		pokepatch unload shared-extra
		says pp_shared_a "30 in call 301"
		says pp_shared_b "30 in call 101"
	END
}
