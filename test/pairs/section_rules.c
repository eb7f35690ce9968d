// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which row of the differ's tables a section has: for each line "MACHINE NAME" of
 * standard input, prints "MACHINE NAME POLICY", and fails if one has none.
 */
#include <stdio.h>
#include <string.h>

#include "object/arch.h"
#include "object/sections.h"

static const char *const policies[] = {
	[SECTION_CODE] = "code",	 [SECTION_DATA] = "data",
	[SECTION_RODATA] = "constants",	 [SECTION_STRINGS] = "strings",
	[SECTION_CONST] = "constants",	 [SECTION_TABLE] = "table",
	[SECTION_PARTNER] = "partner",	 [SECTION_PARENT] = "parent's",
	[SECTION_INIT] = "init",	 [SECTION_EXPORT] = "export",
	[SECTION_DROP] = "drop",	 [SECTION_REFUSE] = "refuse",
};

/* Machines by the pairs' names, which are Debian's but for these. */
static bool is_machine(const struct arch *arch, const char *machine)
{
	if (!strcmp(machine, "ppc64le"))
		machine = "ppc64el";
	return !strcmp(machine, "x86_64") ? !strcmp(arch->name, machine)
					  : !strcmp(arch->tools.debian, machine);
}

static const struct section_rule *find_rule(const char *machine, const char *name)
{
	const struct section_rule *rule = NULL;

	for (size_t i = 0; arch_all[i]; i++) {
		struct section_rules rules;

		if (!is_machine(arch_all[i], machine))
			continue;
		section_rules_init(&rules, arch_all[i]);
		rule = section_rule_find(&rules, name);
		section_rules_deinit(&rules);
	}
	return rule;
}

int main(void)
{
	char machine[64], name[512];
	size_t count = 0, missing = 0;

	while (scanf("%63s %511s", machine, name) == 2) {
		const struct section_rule *rule = find_rule(machine, name);

		count++;
		if (!rule)
			missing++;
		printf("%s %s %s\n", machine, name, rule ? policies[rule->policy] : "HAS NO ROW");
	}
	return !count || missing;
}
