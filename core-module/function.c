// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding the function that a user names, by its symbol or its address.  The core uses it where
 * the kernel has no ftrace (trace_entry.c).
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "core_print.h"
#include "function.h"
#include "kernel_symbols.h"
#include "module_memory.h"

/* The name that the user gave, and how many symbols have it. */
struct namesakes {
	const char *name;
	unsigned int nr;
};

static void function_count_core(void *ctx, const char *name, unsigned long addr)
{
	struct namesakes *namesakes = ctx;

	namesakes->nr += addr >= pp_kernel.stext && addr < pp_kernel.etext &&
			 !strcmp(name, namesakes->name);
}

/* How many symbols of @mod have that name.  The caller has preemption off. */
static unsigned int function_count_module(const struct module *mod, const char *name)
{
	const struct mod_kallsyms *kallsyms = rcu_dereference_sched(mod->kallsyms);
	unsigned int i, nr = 0;

	for (i = 1; i < kallsyms->num_symtab; i++)
		nr += kallsyms->symtab[i].st_shndx != SHN_UNDEF &&
		      !strcmp(kallsyms->strtab + kallsyms->symtab[i].st_name, name);
	return nr;
}

/* @mod is live, and has @addr in the text that stays.  The caller has preemption off. */
static bool function_within_text(const struct module *mod, unsigned long addr)
{
	return mod && READ_ONCE(mod->state) == MODULE_STATE_LIVE &&
	       pp_region_holds(pp_module_text(mod), addr, 1);
}

/*
 * Fill in @function from its addr, for which the user @asked.  Under pp_mutex.
 * Return: true if a function begins there.
 */
static __nocfi bool function_describe(struct pp_function *function, const char *asked)
{
	const char *plain = strchr(asked, ':') ? strchr(asked, ':') + 1 : asked;
	char *text = function->name, *plus, *module, symbol[KSYM_NAME_LEN];
	struct module *mod;
	bool found;

	sprint_symbol(text, function->addr);
	plus = strstr(text, "+0x0/");
	if (!plus)
		return false;
	*plus = 0;
	module = strchr(plus + 1, '[');
	if (!module) {
		struct namesakes namesakes = { .name = plain };

		pp_kernel_each_symbol(function_count_core, &namesakes);
		function->namesakes = namesakes.nr;
		function->core = true;
		return function->addr >= pp_kernel.stext && function->addr < pp_kernel.etext;
	}
	*strpbrk(module, " ]") = 0;
	/* A LIVE module cannot be freed while we hold pp_mutex: its GOING notifier waits for it. */
	preempt_disable();
	mod = pp_kernel.find_module(module + 1);
	found = function_within_text(mod, function->addr);
	if (found)
		function->namesakes = function_count_module(mod, plain);
	preempt_enable();
	function->ours = mod == THIS_MODULE;
	strscpy(symbol, text, sizeof(symbol));
	memmove(text, module + 1, strlen(module + 1) + 1);
	strlcat(text, ":", sizeof(function->name));
	strlcat(text, symbol, sizeof(function->name));
	return found;
}

static bool function_is_address(const char *text)
{
	return !strncmp(text, "0x", 2);
}

__nocfi unsigned long pp_function_address(const char *text)
{
	unsigned long addr;

	if (!function_is_address(text))
		return pp_kernel.kallsyms_lookup_name(text);
	return kstrtoul(text, 16, &addr) ? 0 : addr;
}

int pp_function_look_up(const char *text, struct pp_function *function)
{
	const bool address = function_is_address(text);

	*function = (struct pp_function){ .addr = pp_function_address(text) };
	if (!function->addr || !function_describe(function, text)) {
		pr_err("trace_entry: there is no function %s\n", text);
		return -ENOENT;
	}
	if (!address && !function->core && !strchr(text, ':')) {
		pr_err("trace_entry: %s is in a module: write %s\n", text, function->name);
		return -EINVAL;
	}
	if (!address && function->namesakes != 1) {
		pr_err("trace_entry: there are %u functions %s: write the address of one, 0x...\n",
		       function->namesakes, text);
		return -EINVAL;
	}
	return 0;
}
