// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the rules of sections: each section of kernel objects has the right rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/machines.h"
#include "object/sections.h"
#include "common/util.h"

static const struct {
	const char *name;
	enum section_policy policy;
} known[] = {
	{".text", SECTION_CODE},
	{".text.tcp_sendmsg", SECTION_CODE},
	{".text.unlikely.tcp_sendmsg", SECTION_CODE},
	{".text.startup.main", SECTION_CODE},
	{".ref.text", SECTION_CODE},
	{".sched.text", SECTION_CODE},
	{".noinstr.text", SECTION_CODE},
	{".cpuidle.text", SECTION_CODE},
	{".softirqentry.text", SECTION_CODE},
	{".irqentry.text", SECTION_CODE},
	{".kprobes.text", SECTION_CODE},
	{".static_call.text", SECTION_CODE},
	{".data", SECTION_DATA},
	{".data.once", SECTION_DATA},
	{".data.variable", SECTION_DATA},
	{".data..read_mostly", SECTION_DATA},
	{".data..cacheline_aligned", SECTION_DATA},
	{".data..ro_after_init", SECTION_DATA},
	{".data..percpu", SECTION_DATA},
	{".data..percpu..shared_aligned", SECTION_DATA},
	{".data..percpu..page_aligned", SECTION_DATA},
	{".ref.data", SECTION_DATA},
	{".bss", SECTION_DATA},
	{".bss..page_aligned", SECTION_DATA},
	{"__dyndbg", SECTION_DATA},
	{"__tracepoint_str", SECTION_DATA},
	{"__trace_printk_fmt", SECTION_DATA},
	{".pokepatch.markers.reclaim.12", SECTION_DATA},
	{".rodata", SECTION_RODATA},
	/* Strings and constants are known by their flags. */
	{".rodata.str1.1", SECTION_RODATA},
	{".rodata.strings", SECTION_RODATA},
	{".rodata.cst16", SECTION_RODATA},
	{".rodata..c_jump_table", SECTION_PARENT},
	{"__bug_table", SECTION_TABLE},
	{"__ex_table", SECTION_TABLE},
	{"__jump_table", SECTION_TABLE},
	{"__mcount_loc", SECTION_TABLE},
	{".altinstructions", SECTION_TABLE},
	{".altinstr_replacement", SECTION_PARTNER},
	{".altinstr_aux", SECTION_PARTNER},
	{".smp_locks", SECTION_TABLE},
	{".parainstructions", SECTION_TABLE},
	{".discard.reachable", SECTION_TABLE},
	{".discard.unreachable", SECTION_TABLE},
	{".discard.retpoline_safe", SECTION_TABLE},
	{".discard.noendbr", SECTION_TABLE},
	{".discard.unwind_hints", SECTION_TABLE},
	{".discard.addressable", SECTION_DROP},
	{".printk_index", SECTION_DROP},
	{".BTF_ids", SECTION_PARENT},
	{"__tracepoints", SECTION_PARENT},
	{"__tracepoints_ptrs", SECTION_PARENT},
	{"__tracepoints_strings", SECTION_PARENT},
	{"_ftrace_events", SECTION_PARENT},
	{"_ftrace_eval_map", SECTION_PARENT},
	{"__bpf_raw_tp_map", SECTION_PARENT},
	{"__syscalls_metadata", SECTION_PARENT},
	{"_kprobe_blacklist", SECTION_PARENT},
	{"_error_injection_whitelist", SECTION_PARENT},
	{".static_call_tramp_key", SECTION_PARENT},
	{"__param", SECTION_PARENT},
	{"__modver", SECTION_PARENT},
	{".modinfo", SECTION_PARENT},
	{".vvar__vdso_data", SECTION_PARENT},
	{"__mod_pci__ids_device_table", SECTION_PARENT},
	{"___ksymtab+tcp_sendmsg", SECTION_EXPORT},
	{"___ksymtab_gpl+tcp_done", SECTION_EXPORT},
	{"___kcrctab+tcp_sendmsg", SECTION_EXPORT},
	{"__ksymtab_strings", SECTION_EXPORT},
	{".init.text", SECTION_INIT},
	{".init.data", SECTION_INIT},
	{".init.rodata", SECTION_INIT},
	{".init.setup", SECTION_INIT},
	{".initcall6.init", SECTION_INIT},
	{".initcallearly.init", SECTION_INIT},
	{".exit.text", SECTION_INIT},
	{".exit.data", SECTION_INIT},
	{".exitcall.exit", SECTION_INIT},
	{".meminit.text", SECTION_INIT},
	{".entry.text", SECTION_INIT},
	{".symtab", SECTION_DROP},
	{".rela.text.tcp_sendmsg", SECTION_DROP},
	{".debug_info", SECTION_DROP},
	{".comment", SECTION_DROP},
	{".note.GNU-stack", SECTION_DROP},
	{".orc_unwind", SECTION_REFUSE},
	{".orc_unwind_ip", SECTION_REFUSE},
	{".static_call_sites", SECTION_REFUSE},
	{".retpoline_sites", SECTION_REFUSE},
	{".return_sites", SECTION_REFUSE},
	{".call_sites", SECTION_REFUSE},
	{".cfi_sites", SECTION_REFUSE},
	{".ibt_endbr_seal", SECTION_REFUSE},
	{"runtime_ptr_dentry_hashtable", SECTION_REFUSE},
	{"runtime_shift_d_hash_shift", SECTION_REFUSE},
	{".export_symbol", SECTION_EXPORT},
};

static struct section_rules rules;

static void test_known_sections(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const struct section_rule *rule = section_rule_find(&rules, known[i].name);

		if (!rule || rule->policy != known[i].policy)
			fail_msg("%s: policy %d, not %d", known[i].name,
				 rule ? (int)rule->policy : -1, known[i].policy);
	}
}

static void test_unknown_sections(void **state)
{
	static const char *const unknown[] = {
		"",	      "text",		 ".texts",	 ".eh_frames", ".groups",
		".init_array", "__bug_table2",	 ".discard.new", ".databases", "__ksymtab",
		".got",	      ".smp_locks.more", "__jump_table.", "__dyndbg_x",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		if (section_rule_find(&rules, unknown[i]))
			fail_msg("%s has a rule", unknown[i]);
}

/* Sections whose names mean something to the loader or the kernel. */
static void test_names_that_are_kept(void **state)
{
	static const struct {
		const char *name;
		bool kept;
	} names[] = {
		{".noinstr.text", true}, {".kprobes.text", true},  {".data..percpu", true},
		{"__dyndbg", true},	 {".sched.text", false},   {".data.once", false},
		{".text.f", false},	 {".data..read_mostly", false},
		{".pokepatch.markers.m.1", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(section_rule_find(&rules, names[i].name)->keep_name,
				 names[i].kept);
}

/* A longer entry must not be tried before a shorter that fits into it evenly. */
static void test_layouts_are_told_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const struct section_rule *rule = section_rule_find(&rules, known[i].name);

		if (rule->policy != SECTION_TABLE)
			continue;
		assert_int_not_equal(rule->layouts[0].size, 0);
		for (size_t j = 1; j < ENTRY_LAYOUTS; j++)
			if (rule->layouts[j].size && !(rule->layouts[0].size % rule->layouts[j].size))
				fail_msg("%s: %u before %u", known[i].name, rule->layouts[0].size,
					 rule->layouts[j].size);
	}
}

static bool is_rewritten(const char *name)
{
	for (const struct site_table *table = arch_x86_64.loader.site_tables; table->section; table++)
		if (!strcmp(table->section, name))
			return true;
	for (const struct late_table *table = arch_x86_64.loader.late_tables; table->section; table++)
		if (!strcmp(table->section, name))
			return true;
	return !strcmp(name, arch_x86_64.loader.seal_table);
}

/*
 * A new table of places in code must say whether the kernel rewrites them, because the core does
 * not compare such places in live code.
 */
static void test_tables_that_are_rewritten(void **state)
{
	static const struct {
		const char *name;
		bool prefix;
	} never[] = {
		{"__bug_table", false}, /* UD2 stays */
		{"__ex_table", false},
		{"__patchable_function_entries", false}, /* for ftrace, __mcount_loc counts */
		{".call_sites", false}, /* can be undone: x86_call_was() of the core */
		{".cfi_sites", false}, /* in front of functions */
		{".discard.", true},
		{".orc_unwind", true},
		{".tdata", true}, /* are refused */
		{".tbss", true},
		{"runtime_", true}, /* see late_prefixes */
	};

	(void)state;
	for (size_t i = 0; i < rules.count; i++) {
		const struct section_rule *rule = rules.rows[i].rule;
		bool known_never = false;

		if (rule->policy != SECTION_TABLE && rule->policy != SECTION_REFUSE)
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(never); j++)
			known_never |= never[j].prefix ? has_prefix(rule->name, never[j].name)
						       : !strcmp(rule->name, never[j].name);
		if (known_never == is_rewritten(rule->name))
			fail_msg("does the kernel rewrite what %s lists? See late_tables",
				 rule->name);
	}
}

/* The longest row wins, also when a shorter one stands between it and the name. */
static void test_own_rows(void **state)
{
	static const struct section_rule own[] = {
		{.name = ".data..percpu", .prefix = true, .policy = SECTION_DROP},
		{.name = ".data..p", .prefix = true, .policy = SECTION_INIT},
		{.name = ".bss", .policy = SECTION_CODE},
		{0},
	};
	static const struct {
		const char *name;
		enum section_policy policy;
	} wanted[] = {
		{".data..percpu..shared_aligned", SECTION_DATA}, /* the general, longer one */
		{".data..percpu", SECTION_DATA},		 /* exact */
		{".data..percpux", SECTION_DROP},
		{".data..pe", SECTION_INIT},
		{".data..q", SECTION_DATA},
		{".bss", SECTION_CODE}, /* the architecture's own */
		{".bss.x", SECTION_DATA},
	};
	const struct arch arch = {.sections = own};
	struct section_rules with_own;

	(void)state;
	section_rules_init(&with_own, &arch);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_int_equal(section_rule_find(&with_own, wanted[i].name)->policy,
				 wanted[i].policy);
	section_rules_deinit(&with_own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_sections),
		cmocka_unit_test(test_unknown_sections),
		cmocka_unit_test(test_names_that_are_kept),
		cmocka_unit_test(test_layouts_are_told_apart),
		cmocka_unit_test(test_tables_that_are_rewritten),
		cmocka_unit_test(test_own_rows),
	};

	section_rules_init(&rules, &arch_x86_64);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	section_rules_deinit(&rules);
	return failed;
}
