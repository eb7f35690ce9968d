# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The proof of a finished module (build-tool/proof).

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

# `make mutate` does so with all.
@test "what is changed in some of the modules that tests make is noticed" {
	local patches
	mapfile -t patches < <(printf '%s\n' "$top"/{test/mutate/patches,test/vm/patches,examples}/*.patch | "$top/test/eighth")
	[ ${#patches[@]} -ge 4 ]
	run "$top/test/mutate/run" -n 5 "${patches[@]}"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output =~ "In all "([0-9]+)" of "([0-9]+)" changes" ]]
	[ "${BASH_REMATCH[2]}" -ge 100 ]
	[ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
}

# The module agrees with these parts, and so no change of the module alone can show them to be wrong.
@test "a wrong line that the glue or modpost brings into modinfo is noticed" {
	"$program" -q -k "$release" --keep kept -o x.ko "$top/examples/sys-uname.patch"
	for change in license=GPL/license=BSD depends=pokepatch/depends=pokepitch vermagic=6/vermagic=9; do
		cp -r kept whole
		sed -i "s/$change/" kept/glue.o kept/*.mod.o kept/*.ko
		run -1 "$top/build/test/mutate/mutate" kept
		[[ $output == *"the finished module is wrong: modinfo lacks '${change%/*}"* ]]
		rm -r kept
		mv whole kept
	done
}

# adds STATEMENT - make x.patch, by which version_proc_show() ends with the statement.
adds() {
	rm -f x.patch
	edited fs/proc/version.c "0,/^\treturn 0;/s/^\treturn 0;/\t$1\n&/"
}

@test "code that objtool rejects is refused, in objtool's words" {
	local row statement warning
	for row in \
		'asm volatile("push %%rax" ::: "memory");=return with modified stack frame' \
		'asm volatile("std" ::: "memory");=return with DF set' \
		'asm volatile("stac" ::: "memory"); seq_putc(m, 10); asm volatile("clac" ::: "memory");=call to seq_putc() with UACCESS enabled'; do
		statement=${row%=*} warning=${row##*=}
		adds "$statement"
		run "$program" -q -k "$release" -o x.ko x.patch
		echo "$output"
		[ "$status" -eq 2 ]
		[[ ${lines[0]} == "objtool: refused [objtool]: objtool does not accept the code of the patch: "*": version_proc_show+0x"*": $warning" ]]
		[ ! -e x.ko ]
	done
	adds 'asm volatile("nop" ::: "memory");'
	"$program" -q -k "$release" -o x.ko x.patch
	[ -s x.ko ]
}

# objtool knows from skb_over_panic()'s code that it does not return.  That stays in the kernel, and
# code of another unit, or padding, follows skb_zerocopy.cold, which ends with a call of it.
@test "a function that ends with a call that does not return" {
	edited net/core/skbuff.c '/^skb_zerocopy(/,/^}/s/skb_len_add(to, len + plen);/&\n\tWRITE_ONCE(to->mark, to->mark);/'
	"$program" -q -k "$release" -o x.ko x.patch
	edited net/ipv4/ip_forward.c 's/if (unlikely(skb->sk))/if (unlikely(skb->sk \&\& skb->len))/'
	"$program" -q -k "$release" -o x.ko x.patch
	objdump -d --no-show-raw-insn x.ko | sed -n '/<skb_zerocopy.cold>:$/,/^$/p' >cold
	cat cold
	grep -A1 'call .*skb_zerocopy.cold' cold | tail -n 1 | grep ud2
}

# In the unit it shares its section with one that was there before.
@test "new data that is read-only after init stays so, beside other such data" {
	edited fs/proc/self.c -e '/^static const char \*proc_self_get_link/i static unsigned int more __ro_after_init = 7;' \
		-e 's/sprintf(name, "%u", tgid);/sprintf(name, "%u", tgid + READ_ONCE(more));/'
	"$program" -q -k "$release" -o x.ko x.patch
	readelf -SW x.ko >sections
	[ "$(grep -c ' \.data' sections)" -eq 1 ]
	grep -q ' \.data\.\.ro_after_init  *PROGBITS .* 000004 ' sections
}

# tracing_gen_ctx_irq_test() calls nothing, and tracing_mark_write() keeps addresses in r8 and r9 meanwhile.
@test "code refers to the third of a list of BTF ids" {
	edited net/bpf/test_run.c '/^int bpf_prog_test_run_tracing(/,/^}/ {
		s/^{/&\n\textern u32 bpf_prog_test_dtor_kfunc_ids[];/
		s/^\tswitch /\tif (READ_ONCE(bpf_prog_test_dtor_kfunc_ids[2]) == 1)\n\t\treturn -EINVAL;\n&/
	}'
	"$program" -q -k "$release" -o x.ko x.patch
	"$top/build/bin/pokepatch" info x.ko | grep bpf_prog_test_run_tracing
}

@test "first instructions of a function are overwritten if it changes the registers that its callers know" {
	edited kernel/trace/trace.c 's/min_t(unsigned int, pc & 0xff, 0xf)/min_t(unsigned int, pc \& 0xff, 0xe)/'
	"$program" -q -k "$release" --report r.json -o x.ko x.patch
	[ "$(jq -c '.functions[] | [.name, .overwrites >= 5]' r.json)" = '["tracing_gen_ctx_irq_test",true]' ]
	rm x.ko x.patch
	edited kernel/trace/trace.c 's/^\treturn (trace_flags << 16) |/\tasm volatile("xor %%r11d, %%r11d" ::: "r11");\n&/'
	grep -q '^+.*r11' x.patch
	run -2 "$program" -q -k "$release" -o x.ko x.patch
	[[ $output == *"refused [no-entry]: 'tracing_gen_ctx_irq_test' changed but has no patchable entry"* ]]
}

@test "first instructions are overwritten in a stop, in entry mode" {
	local patch=$top/test/vm/patches/readme-length.patch
	"$program" -k "$release" --report r.json -o x.ko "$patch" >out
	grep -q '^tracing_readme_read has no patchable entry; the jump overwrites its first [0-9]* bytes$' out
	[ "$(jq -c '.functions[] | [.mode, .overwrites >= 5]' r.json)" = '["entry",true]' ]
	"$top/build/bin/pokepatch" info x.ko | grep -q tracing_readme_read
	rm x.ko
	run -2 "$program" -q -k "$release" --format livepatch -o x.ko "$patch"
	[[ $output == *"kernel/trace/trace.c:"*": refused [no-entry]: "*"; a patch for pokepatch's own core could overwrite its first instructions"* ]]
	run -2 "$program" -q -k "$release" --transition live -o x.ko "$patch"
	[[ $output == *"[no-entry]: "*"; a patch that is switched in a stop could overwrite its first instructions"* ]]
	run -2 "$program" -q -k "$release" --mode direct -o x.ko "$patch"
	[[ $output == *"[no-entry]: "*"; in entry mode, its first instructions could be overwritten"* ]]
	[ ! -e x.ko ]
}
