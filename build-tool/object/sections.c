// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules for sections that every architecture has, and looking up a section's rule. */
#include "object/sections.h"

#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "object/arch.h"
#include "pokepatch_format.h"
#include "pokepatch_mark.h"
#include "common/util.h"

#define EXACT(section, what, ...)                                                                  \
	{                                                                                          \
		.name = section, .policy = what, ##__VA_ARGS__                                     \
	}
#define PREFIX(section, what, ...)                                                                 \
	{                                                                                          \
		.name = section, .prefix = true, .policy = what, ##__VA_ARGS__                     \
	}
#define TABLE(section, ...)                                                                        \
	{                                                                                          \
		.name = section, .policy = SECTION_TABLE, .layouts = { __VA_ARGS__ }               \
	}
#define NO_THREADS "the kernel has no data of each thread; use per-CPU data, or a field of the task"
#define RUNTIME_CONST                                                                              \
	"the kernel fills such constants in while it boots; compile with "                         \
	"-include asm-generic/runtime-const.h, as pokepatch-build does"
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
	/* Trampolines of static calls; objtool finds their keys by their names. */
	EXACT(".static_call.text", SECTION_CODE, .keep_name = true),
	EXACT(".entry.text", SECTION_INIT),
	PREFIX(".head.text", SECTION_INIT),

	/* Data. */
	EXACT(".data", SECTION_DATA),
	PREFIX(".data.", SECTION_DATA),
	EXACT(".data..ro_after_init", SECTION_DATA, .sealed = true),
	EXACT(".data..percpu", SECTION_DATA, .keep_name = true),
	PREFIX(".data..percpu..", SECTION_DATA, .keep_name = true),
	/*
	 * -fsanitize=bounds and shift of gcc, and of clang: what lib/ubsan.c reports, without
	 * symbols.  It is writable, because each is reported once.
	 */
	PREFIX(".data..Lubsan_", SECTION_RODATA, .keep_name = true),
	PREFIX(".data..L__unnamed_", SECTION_RODATA, .keep_name = true),
	EXACT(".ref.data", SECTION_DATA),
	EXACT(".bss", SECTION_DATA),
	PREFIX(".bss.", SECTION_DATA),
	/* struct _ddebug: four pointers, then lineno:18 */
	EXACT("__dyndbg", SECTION_DATA, .keep_name = true, .layouts = {{.ignored = {32, 2, 2}}}),
	EXACT("__dyndbg_classes", SECTION_DATA, .keep_name = true),
	EXACT("__trace_printk_fmt", SECTION_DATA, .keep_name = true),
	EXACT("__tracepoint_str", SECTION_DATA, .keep_name = true),
	/* POKEPATCH_MARK(): the core registers them when the module loads, and forgets them */
	PREFIX(POKEPATCH_SECTION_MARKERS ".", SECTION_DATA, .keep_name = true),

	/* Constants. */
	EXACT(".rodata", SECTION_RODATA),
	PREFIX(".rodata.", SECTION_RODATA),
	EXACT(".ref.rodata", SECTION_RODATA),
	EXACT(".rodata..c_jump_table", SECTION_PARENT,
	      .advice = "a function with a computed-goto table cannot be carried yet"),

	/* Entries that belong to code. */
	TABLE("__mcount_loc", {.size = 8}),
	/* -fpatchable-function-entry: u8 *; one section for each function */
	TABLE("__patchable_function_entries", {.size = 8}),
	TABLE(".discard.reachable", {.size = 4}),
	TABLE(".discard.unreachable", {.size = 4}),
	TABLE(".discard.instr_begin", {.size = 4}),
	TABLE(".discard.instr_end", {.size = 4}),
	/* The shorter layout first: every second of its entries also fits the longer one. */
	TABLE(".discard.noendbr", {.size = 4}, {.size = 8}),
	TABLE(".discard.retpoline_safe", {.size = 4}, {.size = 8}),
	TABLE(".discard.func_stack_frame_non_standard", {.size = 8}),
	TABLE(".discard.ignore_alts", {.size = 8}),
	TABLE(".discard.intra_function_calls", {.size = 8}),
	TABLE(".discard.unret", {.size = 8}),
	/* since 6.14, in place of most of these: .long place - ., type (linux/annotate.h) */
	TABLE(".discard.annotate_insn", {.size = 8}),

	/* The parent's own tables. */
	EXACT(".printk_index", SECTION_DROP), /* an index for translators, not used to print */
	EXACT(".discard.addressable", SECTION_DROP), /* keeps symbols alive for the linker */
	EXACT(".discard.ksym", SECTION_DROP), /* marks exports that kbuild may trim */
	/* marks entries of tables for "objtool klp diff", which nothing here runs */
	EXACT(".discard.annotate_data", SECTION_DROP),
	/* include/linux/btf_ids.h: code refers to the labels of lists and sets, which span ids */
	EXACT(".BTF_ids", SECTION_PARENT, .labels = true,
	      .advice = "BTF ids are filled in by the kernel's link"),
	EXACT("__tracepoints", SECTION_PARENT, .advice = "a new tracepoint cannot be carried"),
	EXACT("__tracepoints_ptrs", SECTION_PARENT),
	EXACT("__tracepoints_strings", SECTION_PARENT),
	/* where code has a tracepoint, for the link's list of unused ones */
	EXACT("__tracepoint_check", SECTION_DROP),
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
	EXACT("__ext_sched_class", SECTION_PARENT),
	EXACT("_kprobe_blacklist", SECTION_PARENT),
	EXACT("_error_injection_whitelist", SECTION_PARENT),
	EXACT(".static_call_tramp_key", SECTION_PARENT),
	EXACT("__param", SECTION_PARENT,
	      .advice = "module parameters are set up when the parent "
			"is loaded; use a new static variable"),
	EXACT("__modver", SECTION_PARENT),
	EXACT("___srcu_struct_ptrs", SECTION_PARENT),
	PREFIX(".pci_fixup_", SECTION_PARENT,
	       .advice = "a new PCI quirk is not in the kernel's table; change one that is there"),
	EXACT(".modinfo", SECTION_PARENT),
	PREFIX("__mod_", SECTION_PARENT), /* device tables: udev would load the patch as a driver */

	EXACT("__ksymtab_strings", SECTION_EXPORT, .labels = true),
	/* since 6.5: modpost makes the others from it */
	EXACT(".export_symbol", SECTION_EXPORT, .labels = true),
	PREFIX("___ksymtab", SECTION_EXPORT, .labels = true),
	PREFIX("___kcrctab", SECTION_EXPORT, .labels = true),

	PREFIX(".init.", SECTION_INIT),
	PREFIX(".initcall", SECTION_INIT),
	PREFIX(".con_initcall", SECTION_INIT),
	PREFIX(".exit.", SECTION_INIT),
	PREFIX(".exitcall.", SECTION_INIT),
	PREFIX(".meminit.", SECTION_INIT),
	/* -fsanitize=thread (KCSAN): the constructor _sub_I_00099_0 of each unit */
	PREFIX(".init_array.", SECTION_INIT),
	EXACT(".lsm_info.init", SECTION_INIT),
	EXACT(".early_lsm_info.init", SECTION_INIT),
	EXACT("__earlycon_table", SECTION_INIT),
	EXACT("__governor_thermal_table", SECTION_INIT),

	EXACT(".comment", SECTION_DROP),
	EXACT(".pokepatch.notes", SECTION_DROP), /* diff/author.c */
	EXACT(POKEPATCH_SECTION_CALLBACK_NOTES, SECTION_DROP), /* diff/author_callbacks.c */
	EXACT(".group", SECTION_DROP),           /* which sections make up a COMDAT group */
	EXACT(".eh_frame", SECTION_DROP),        /* neither vmlinux nor a module keeps it */
	EXACT(".llvm_addrsig", SECTION_DROP),    /* clang: for a linker that folds equal code */
	EXACT(".symtab", SECTION_DROP),
	EXACT(".symtab_shndx", SECTION_DROP),
	EXACT(".strtab", SECTION_DROP),
	EXACT(".shstrtab", SECTION_DROP),
	PREFIX(".rela", SECTION_DROP),
	PREFIX(".debug", SECTION_DROP),
	PREFIX(".note.", SECTION_DROP),

	PREFIX(".tdata", SECTION_REFUSE, .advice = NO_THREADS),
	PREFIX(".tbss", SECTION_REFUSE, .advice = NO_THREADS),
	PREFIX("runtime_ptr_", SECTION_REFUSE, .advice = RUNTIME_CONST),
	PREFIX("runtime_shift_", SECTION_REFUSE, .advice = RUNTIME_CONST),
	PREFIX(".orc_unwind", SECTION_REFUSE, .advice = OBJTOOL),
	EXACT(".static_call_sites", SECTION_REFUSE, .advice = OBJTOOL),
	EXACT(".retpoline_sites", SECTION_REFUSE, .advice = OBJTOOL),
	EXACT(".return_sites", SECTION_REFUSE, .advice = OBJTOOL),
	EXACT(".call_sites", SECTION_REFUSE, .advice = OBJTOOL),
	EXACT(".cfi_sites", SECTION_REFUSE, .advice = OBJTOOL),
	EXACT(".ibt_endbr_seal", SECTION_REFUSE, .advice = OBJTOOL),
	{0},
};

/* By name, and a prefix before an exact row of that name: lookups begin at the last row. */
static int rule_order(const struct section_rule *a, const struct section_rule *b)
{
	return strcmp(a->name, b->name) ?: (int)b->prefix - (int)a->prefix;
}

static int row_order(const void *left, const void *right)
{
	const struct section_row *a = left, *b = right;

	return rule_order(a->rule, b->rule) ?: a->shorter < b->shorter ? -1 : 1;
}

static bool is_prefix(const struct section_rule *rule, const char *name)
{
	return rule->prefix && has_prefix(name, rule->name);
}

/*
 * The last row up to this one that is a prefix of a name.  In sorted order a prefix comes before
 * the names that begin with it, and no other names come between.
 */
static size_t shorter_row(const struct section_rules *rules, size_t row, const char *name)
{
	while (row && !is_prefix(rules->rows[row - 1].rule, name))
		row = rules->rows[row - 1].shorter;
	return row;
}

static void add_rows(struct section_rules *rules, const struct section_rule *list)
{
	size_t count = 0;

	while (list && list[count].name)
		count++;
	rules->rows = xreallocarray(rules->rows, rules->count + count, sizeof(*rules->rows));
	for (size_t i = 0; i < count; i++, rules->count++)
		rules->rows[rules->count] =
			(struct section_row){.rule = &list[i], .shorter = rules->count};
}

void section_rules_init(struct section_rules *ret, const struct arch *arch)
{
	size_t kept = 0;

	*ret = (struct section_rules){0};
	add_rows(ret, arch->sections);
	add_rows(ret, rules);
	/* Up to here "shorter" is a row's place: of equal rows the architecture's comes first. */
	qsort(ret->rows, ret->count, sizeof(*ret->rows), row_order);
	for (size_t i = 0; i < ret->count; i++) {
		const struct section_rule *rule = ret->rows[i].rule;

		if (kept && !rule_order(ret->rows[kept - 1].rule, rule))
			continue;
		ret->rows[kept] = (struct section_row){
			.rule = rule, .shorter = shorter_row(ret, kept, rule->name)};
		kept++;
	}
	ret->count = kept;
}

void section_rules_deinit(struct section_rules *rules)
{
	free(rules->rows);
	*rules = (struct section_rules){0};
}

const struct section_rule *section_rule_find(const struct section_rules *rules, const char *name)
{
	size_t up_to = first_index(i, rules->count, strcmp(rules->rows[i].rule->name, name) > 0);

	if (up_to && !strcmp(rules->rows[up_to - 1].rule->name, name))
		return rules->rows[up_to - 1].rule;
	up_to = shorter_row(rules, up_to, name);
	return up_to ? rules->rows[up_to - 1].rule : NULL;
}
