// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * torture SECONDS SEED LACKS - load, enable, disable, replace and unload the patches
 * pokepatch-torture-1 to -8 at random, in all modes.  Meanwhile tracers, probes, BPF programs and a
 * kernel livepatch (pp_torture_klp) come and go on the same functions, CPUs go off and on, and a
 * module that is patched too and a reader of the text history come and go.  The program writes the
 * current state to the module pp_torture before and after each switch, and the module compares.
 * The test asks for a livepatch that came at random, and for one that was refused.  If chance has not
 * brought both when SECONDS are over, torture goes on with these, for up to SECONDS more.
 * LACKS names the capabilities that the guest does not have (arch_lacks).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

const char *const functions[FUNCTIONS] = {"int_pow", "int_sqrt", "gcd", "lcm"};
unsigned long long addresses[FUNCTIONS];
char extra[256];
unsigned long counts[COUNTS];
static const char *const count_names[COUNTS] = {
	"loads", "unloads", "enables", "disables", "replaces", "busy",
	"enables-in-entry", "enables-in-direct", "enables-in-ftrace",
	"tracers", "probes", "bpf-programs", "hotplugs", "modules",
	"livepatches", "livepatches-with-effect", "livepatches-without", "livepatches-refused",
	"refused-for-livepatches", "readers",
};
unsigned long calls[LIVEPATCH + 1][FUNCTIONS];

static const char *lacks; /* names of missing capabilities, with spaces between them */

bool can(const char *what)
{
	const size_t size = strlen(what);

	for (const char *at = lacks; (at = strstr(at, what)); at += size)
		if ((at == lacks || at[-1] == ' ') && (!at[size] || at[size] == ' '))
			return false;
	return true;
}

/*
 * Do everything once.  Some actions allocate memory the first time, and keep it.  Also ask for a
 * mode that a patch cannot have, so that the log has its refusal at least once.
 */
static void each_once(void)
{
	for (int f = 0; f < FUNCTIONS && can("nested-probes"); f++) {
		for (int at_return = 0; at_return < 2; at_return++) {
			probe(f, at_return);
			probe(f, at_return);
		}
	}
	for (unsigned int which = 3; which-- && can("ftrace");)
		trace(which);
	act_on_module();
	act_on_module();
	if (can("bpf"))
		bpf_once();
	act_on_reader(false);
	load(1);
	load(5);
	for (size_t i = 0; i < nr_modes; i++) {
		surely_switch(1, true, modes[i]);
		switch_patch(5, true, strcmp(modes[i], "ftrace") ? "ftrace" : "entry", 0);
		if (is_enabled(5))
			fail("patch 5 is in another mode than patch 1");
		surely_switch(1, false, "");
	}
	/* In direct mode, the stub of the first is handed over to the second. */
	surely_switch(1, true, modes[nr_modes - 1]);
	surely_switch(5, true, "auto");
	surely_switch(1, false, "");
	surely_switch(5, false, "");
	for (int tries = 0; !counts[REPLACES]; tries++) {
		if (tries == 1000)
			fail("patch 5 replaces nothing");
		surely_switch(1, true, "auto");
		replace(5, "auto");
		surely_switch(5, false, "");
		surely_switch(1, false, "");
	}
	if (can("livepatch"))
		livepatch_once();
	unload(1);
	unload(5);
	act_on_reader(false);
	act_on_processor();
}

/* Did a livepatch come since there were @loads, and was one refused since there were @refused? */
static bool livepatches_since(unsigned long loads, unsigned long refused)
{
	return !can("livepatch") || (counts[KLP_LOADS] > loads && counts[KLP_REFUSED] > refused);
}

static void find_functions(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char line[512], name[256];
	unsigned long long address;

	while (file && fgets(line, sizeof(line), file)) {
		if (strchr(line, '[') || sscanf(line, "%llx %*c %255s", &address, name) != 2)
			continue;
		for (int f = 0; f < FUNCTIONS; f++)
			if (!strcmp(name, functions[f]))
				addresses[f] = address;
	}
	if (!file || !addresses[0] || !addresses[1] || !addresses[2] || !addresses[3])
		fail("finding the functions");
	fclose(file);
}

int main(int argc, char **argv)
{
	struct utsname names;

	if (argc != 4 || uname(&names))
		return 2;
	lacks = argv[3];
	nr_modes -= !can("direct") + !can("ftrace");
	setlinebuf(stdout);
	srandom(atoi(argv[2]));
	snprintf(extra, sizeof(extra), "/lib/modules/%s/extra", names.release);
	find_functions();
	/* pp_torture leaves no processor idle. */
	if (setpriority(PRIO_PROCESS, 0, -10))
		fail("setpriority");
	/* The tracers trace only these functions: a guest in TCG is too slow to trace all. */
	for (int f = 0; f < FUNCTIONS && can("ftrace"); f++) {
		int fd = open(TRACING "set_ftrace_filter", O_WRONLY | (f ? O_APPEND : O_TRUNC));

		if (fd < 0 || write(fd, functions[f], strlen(functions[f])) < 0 || close(fd))
			fail("set_ftrace_filter");
	}
	tell_current();
	each_once();
	const unsigned long loads = counts[KLP_LOADS], refused = counts[KLP_REFUSED];
	const time_t seconds = atoi(argv[1]), end = time(NULL) + seconds;
	for (time_t now; (now = time(NULL)) < end ||
			 (now < end + seconds && !livepatches_since(loads, refused));) {
		look_at_livepatch();
		/* Only livepatches (7) and patches (11) when these are all that is missing. */
		switch (now < end ? chance(40) : 7 + 4 * chance(2)) {
		case 0:
		case 1:
			if (can("ftrace"))
				trace(chance(3));
			break;
		case 2:
		case 3:
			if (can("nested-probes"))
				probe(chance(FUNCTIONS), chance(2));
			break;
		case 4:
			act_on_processor();
			break;
		case 5:
			act_on_module();
			break;
		case 6:
			if (can("bpf"))
				act_on_bpf();
			break;
		case 7:
		case 8:
			if (can("livepatch"))
				act_on_livepatch();
			break;
		case 9:
			act_on_reader(chance(2));
			break;
		default:
			act_on_patch();
		}
	}
	all_neighbours_leave();
	livepatch_leaves();
	all_patches_leave();
	for (int i = 0; i < COUNTS; i++)
		printf("%s %lu\n", count_names[i], counts[i]);
	/* The test compares these with the results that pp_torture counted. */
	for (int k = 1; k <= LIVEPATCH; k++)
		for (int f = 0; f < FUNCTIONS; f++)
			if (calls[k][f])
				printf("called-%d-%s %lu\n", k, functions[f], calls[k][f]);
	return 0;
}
