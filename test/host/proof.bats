# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The final check of a finished module (build-tool/proof).

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "what is changed in a finished module is noticed" {
	run "$top/test/mutate/run"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output =~ "In all "([0-9]+)" of "([0-9]+)" changes" ]]
	[ "${BASH_REMATCH[2]}" -ge 1500 ]
	[ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
	# Every kind of section and of relocation was among them.
	for what in .text .noinstr.text .altinstr_aux .altinstr_replacement .altinstructions \
		.parainstructions .smp_locks .retpoline_sites .return_sites .static_call_sites \
		.orc_unwind .orc_unwind_ip __bug_table __ex_table __jump_table __mcount_loc __dyndbg \
		.data .data..percpu .data..ro_after_init .bss .rodata .modinfo __versions \
		.pokepatch.funcs .pokepatch.callbacks .pokepatch.image .pokepatch.strings .pokepatch.texts .pokepatch.tables \
		"type 1" "type 2" "type 4" "type 11" "type 24"; do
		[[ $output == *$'\n'"  $what "* ]]
	done
}
