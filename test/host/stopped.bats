# SPDX-License-Identifier: GPL-2.0-or-later
# What runs while the machine is stopped, from the call graph of the core module.

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	core=$top/build/core/$(cat "$top/build/kernel-release")/pokepatch.ko
	[ -r "$core" ]
}

# parts - what callgraph.awk reads, of the core module.
parts() {
	echo "== symbols"
	objdump -t "$core" | grep '^[0-9a-f]\{16\}'
	echo "== strings"
	readelf -p .rodata.pp_needed "$core" |
		sed -n 's/^ *\[ *\([0-9a-f]*\)\]  \([^ ]*\).*/.rodata.pp_needed \1 \2/p'
	echo "== data"
	objdump -r -j .rodata -j .rodata.pp_needed "$core"
	echo "== code"
	objdump -dr --no-show-raw-insn -j .text -j .text.unlikely "$core"
}

# leads_to FUNCTION - what it can use of the kernel, one name a line.
leads_to() {
	parts | awk -v root="$1" -f "$top/test/host/callgraph.awk" | sort
}

@test "the stopped section uses nothing of the kernel but what is listed, with its reason" {
	leads_to stop_section >"$BATS_TEST_TMPDIR/found"
	sed -n 's/^\([^#\t]\+\)\t\+[^\t].*/\1/p' "$top/test/host/stopped-section" |
		sort >"$BATS_TEST_TMPDIR/listed"
	# Which registers a compiler chooses for its calls is no matter.
	grep -v '^__x86_indirect_thunk_' "$BATS_TEST_TMPDIR/found" |
		diff "$BATS_TEST_TMPDIR/listed" -
}

@test "control: the rest of a transition does allocate, sleep, print and look up symbols" {
	leads_to pp_transition >"$BATS_TEST_TMPDIR/found"
	local name
	for name in kvmalloc_node mutex_unlock _printk synchronize_rcu_tasks stop_machine_cpuslocked \
		__module_text_address; do
		grep -qx $name "$BATS_TEST_TMPDIR/found" || { echo "not found: $name"; false; }
	done
}
