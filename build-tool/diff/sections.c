// SPDX-License-Identifier: GPL-2.0-or-later
#include "sections.h"

#include <string.h>

#include "arch.h"

#define EXACT(section, what, ...) {.name = section, .policy = what, ##__VA_ARGS__}
#define PREFIX(section, what, ...) {.name = section, .prefix = true, .policy = what, ##__VA_ARGS__}
#define TABLE(section, ...) {.name = section, .policy = SECTION_TABLE, .layouts = {__VA_ARGS__}}
#define OBJTOOL "objtool has already been over this object; compare compiler output"

/* Sections of every architecture; Linux 6.1's include/asm-generic/vmlinux.lds.h and users. */
static const struct section_rule rules[] = {
	/* Code. */
	EXACT(".text", SECTION_CODE),
	PREFIX(".text.", SECTION_CODE),
	EXACT(".ref.text", SECTION_CODE),
	EXACT(".sched.text", SECTION_CODE),
	EXACT(".softirqentry.text", SECTION_CODE),
	EXACT(".irqentry.text", SECTION_CODE),
	EXACT(".spinlock.text", SECTION_CODE),
	/* The module loader keeps probes away from these. */
	EXACT(".noinstr.text", SECTION_CODE, .keep_name = true),
	EXACT(".cpuidle.text", SECTION_CODE, .keep_name = true),
	EXACT(".kprobes.text", SECTION_CODE, .keep_name = true),
	EXACT(".static_call.text", SECTION_PARENT,
	      .advice = "a new static call needs a trampoline in the kernel; call through a "
			"function pointer instead"),
	EXACT(".entry.text", SECTION_INIT),
	PREFIX(".head.text", SECTION_INIT),

	/* Data. */
	EXACT(".data", SECTION_DATA),
	PREFIX(".data.", SECTION_DATA),
	EXACT(".data..percpu", SECTION_DATA, .keep_name = true),
	PREFIX(".data..percpu..", SECTION_DATA, .keep_name = true),
	EXACT(".ref.data", SECTION_DATA),
	EXACT(".bss", SECTION_DATA),
	PREFIX(".bss.", SECTION_DATA),
	/* struct _ddebug: four pointers, then lineno:18 */
	EXACT("__dyndbg", SECTION_DATA, .keep_name = true, .layouts = {{.ignored = {32, 2}}}),
	EXACT("__dyndbg_classes", SECTION_DATA, .keep_name = true),
	EXACT("__trace_printk_fmt", SECTION_DATA, .keep_name = true),
	EXACT("__tracepoint_str", SECTION_DATA, .keep_name = true),

	/* Constants. */
	EXACT(".rodata", SECTION_RODATA),
	PREFIX(".rodata.", SECTION_RODATA),
	EXACT(".ref.rodata", SECTION_RODATA),
	EXACT(".rodata..c_jump_table", SECTION_PARENT,
	      .advice = "a function with a computed-goto table cannot be carried yet"),

	/* Entries that go with code. Layouts: include/asm-generic/bug.h, asm/extable.h ... */
	TABLE("__mcount_loc", {.size = 8}),
	TABLE(".discard.reachable", {.size = 4}),
	TABLE(".discard.unreachable", {.size = 4}),
	TABLE(".discard.instr_begin", {.size = 4}),
	TABLE(".discard.instr_end", {.size = 4}),
	/* The shorter first: every second of its entries would also fit the longer. */
	TABLE(".discard.noendbr", {.size = 4}, {.size = 8}),
	TABLE(".discard.retpoline_safe", {.size = 4}, {.size = 8}),
	TABLE(".discard.func_stack_frame_non_standard", {.size = 8}),
	TABLE(".discard.ignore_alts", {.size = 8}),
	TABLE(".discard.intra_function_calls", {.size = 8}),
	TABLE(".discard.unret", {.size = 8}),

	/* Belongs to the parent. */
	EXACT(".printk_index", SECTION_DROP), /* an index for translators, not used to print */
	EXACT(".discard.addressable", SECTION_DROP), /* keeps symbols alive for the linker */
	EXACT(".BTF_ids", SECTION_PARENT, .advice = "BTF ids are filled in by the kernel's link"),
	EXACT("__tracepoints", SECTION_PARENT, .advice = "a new tracepoint cannot be carried"),
	EXACT("__tracepoints_ptrs", SECTION_PARENT),
	EXACT("__tracepoints_strings", SECTION_PARENT),
	EXACT("_ftrace_events", SECTION_PARENT),
	EXACT("_ftrace_eval_map", SECTION_PARENT),
	EXACT("__bpf_raw_tp_map", SECTION_PARENT),
	EXACT("__syscalls_metadata", SECTION_PARENT),
	/* DEFINE_SCHED_CLASS(): the linker puts them in order of priority */
	EXACT("__stop_sched_class", SECTION_PARENT),
	EXACT("__dl_sched_class", SECTION_PARENT),
	EXACT("__rt_sched_class", SECTION_PARENT),
	EXACT("__fair_sched_class", SECTION_PARENT),
	EXACT("__idle_sched_class", SECTION_PARENT),
	EXACT("_kprobe_blacklist", SECTION_PARENT),
	EXACT("_error_injection_whitelist", SECTION_PARENT),
	EXACT(".static_call_tramp_key", SECTION_PARENT),
	EXACT("__param", SECTION_PARENT, .advice = "module parameters are set up when the parent "
						   "is loaded; use a new static variable"),
	EXACT("__modver", SECTION_PARENT),
	EXACT("___srcu_struct_ptrs", SECTION_PARENT),
	PREFIX(".pci_fixup_", SECTION_PARENT,
	       .advice = "a new PCI quirk is not in the kernel's table; change one that is there"),
	EXACT(".modinfo", SECTION_PARENT),
	PREFIX("__mod_", SECTION_PARENT), /* device tables: udev would load the patch as a driver */

	EXACT("__ksymtab_strings", SECTION_EXPORT),
	PREFIX("___ksymtab", SECTION_EXPORT),
	PREFIX("___kcrctab", SECTION_EXPORT),

	PREFIX(".init.", SECTION_INIT),
	PREFIX(".initcall", SECTION_INIT),
	PREFIX(".con_initcall", SECTION_INIT),
	PREFIX(".exit.", SECTION_INIT),
	PREFIX(".exitcall.", SECTION_INIT),
	PREFIX(".meminit.", SECTION_INIT),
	EXACT(".lsm_info.init", SECTION_INIT),
	EXACT(".early_lsm_info.init", SECTION_INIT),
	EXACT("__earlycon_table", SECTION_INIT),
	EXACT("__governor_thermal_table", SECTION_INIT),

	EXACT(".comment", SECTION_DROP),
	EXACT(".symtab", SECTION_DROP),
	EXACT(".symtab_shndx", SECTION_DROP),
	EXACT(".strtab", SECTION_DROP),
	EXACT(".shstrtab", SECTION_DROP),
	PREFIX(".rela", SECTION_DROP),
	PREFIX(".debug", SECTION_DROP),
	PREFIX(".note.", SECTION_DROP),

	PREFIX(".orc_unwind", SECTION_REFUSE, .advice = OBJTOOL),
	EXACT(".static_call_sites", SECTION_REFUSE, .advice = OBJTOOL),
	EXACT(".retpoline_sites", SECTION_REFUSE, .advice = OBJTOOL),
	EXACT(".return_sites", SECTION_REFUSE, .advice = OBJTOOL),
	EXACT(".call_sites", SECTION_REFUSE, .advice = OBJTOOL),
	EXACT(".cfi_sites", SECTION_REFUSE, .advice = OBJTOOL),
	EXACT(".ibt_endbr_seal", SECTION_REFUSE, .advice = OBJTOOL),
	{0},
};

static const struct section_rule *find_in(const struct section_rule *list, const char *name,
					  const struct section_rule *best)
{
	for (const struct section_rule *rule = list; rule && rule->name; rule++) {
		size_t length = strlen(rule->name);

		if (!rule->prefix && !strcmp(rule->name, name))
			return rule;
		if (rule->prefix && !strncmp(rule->name, name, length) &&
		    (!best || (best->prefix && length > strlen(best->name))))
			best = rule;
	}
	return best;
}

const struct section_rule *section_rule_find(const struct arch *arch, const char *name)
{
	const struct section_rule *rule = find_in(arch->sections, name, NULL);

	if (rule && !rule->prefix)
		return rule;
	return find_in(rules, name, rule);
}
