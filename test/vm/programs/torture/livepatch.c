// SPDX-License-Identifier: GPL-2.0-or-later
/* Part of torture: loads and unloads the kernel livepatch of one function (pp_torture_klp). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

#define KLP "/sys/kernel/livepatch/pp_torture_klp/"

struct livepatch klp;
/*
 * When the last BPF program or livepatch left each function.  For a while after that the function's
 * site may still be denied to the next one.
 */
static time_t free_since[FUNCTIONS];

/* Note that a BPF program or the livepatch comes to function @f (@now), or has left it. */
void redirected(int f, bool now)
{
	free_since[f] = time(NULL);
	if (now)
		free_since[f] += 1000000;
}

/*
 * Is the livepatch in transition?  The kernel then looks at the stacks of tasks that are ready to
 * run as well.  It warns if a return probe replaced a return address on one of them, because
 * rethook_find_ret_addr() of 6.1 takes such a task for a running one.  So torture has no return
 * probe meanwhile.
 */
bool livepatch_moves(void)
{
	return klp.state == KLP_COMES || klp.state == KLP_GOES;
}

/* Look whether the livepatch has completed its transition, or can be unloaded. */
void look_at_livepatch(void)
{
	char text[16];

	if (klp.state == KLP_COMES) {
		get(KLP "transition", text, sizeof(text));
		if (strcmp(text, "0"))
			return;
		klp.state = KLP_THERE;
		tell_current();
	}
	if (klp.state != KLP_GOES || !access(KLP "enabled", F_OK))
		return;
	const unsigned long counted = peek("pp_torture_klp", "calls");
	if (syscall(SYS_delete_module, "pp_torture_klp", O_NONBLOCK)) {
		/* The task that removed its folder has to drop its reference too. */
		if (errno != EAGAIN && errno != EBUSY)
			fail("unloading the livepatch");
		return;
	}
	calls[LIVEPATCH][klp.function] += counted;
	klp.state = KLP_AWAY;
	redirected(klp.function, false);
	tell_current();
}

/* Wait until the livepatch's transition is complete. */
static void wait_for_livepatch(void)
{
	for (int tries = 0; livepatch_moves(); tries++) {
		if (tries == 6000)
			fail("the livepatch of %s stays in state %d", functions[klp.function],
			     klp.state);
		usleep(20000);
		look_at_livepatch();
	}
}

static void livepatch_goes(void)
{
	no_return_probes();
	note("livepatch of %s goes", functions[klp.function]);
	klp.state = KLP_GOES;
	tell_current();
	if ((errno = put(KLP "enabled", "0")))
		fail("disabling the livepatch");
}

/*
 * Find out whether the livepatch has an effect.  It has none if it came before the core gave the
 * site back to ftrace.  The core retries that once a second, as long as a user that redirects
 * calls is there, so torture cannot know.  The answer holds until the livepatch leaves.
 */
static void ask_livepatch(void)
{
	char text[16];

	wait_for_livepatch();
	get(PARAMETERS "vector", text, sizeof(text));
	const unsigned int got = atoi(text) >> 4 * klp.function & 0xf;
	if (got && got != LIVEPATCH)
		fail("%s returns %u", functions[klp.function], got);
	klp.works = got == LIVEPATCH;
	tell_current();
}

/*
 * Load the livepatch of function @f.  The kernel must refuse it where a patch redirects calls by
 * ftrace, and the core where it has claimed the site.
 */
static void livepatch_comes(int f)
{
	char option[64];
	const int k = patch_of(f);
	const bool entry = k && is_in_entry_mode(k, f);
	const bool unsure = time(NULL) < free_since[f] + 30;

	no_return_probes();
	note("livepatch of %s comes", functions[f]);
	klp.function = f;
	klp.works = !k;
	klp.state = KLP_COMES;
	tell_current();
	snprintf(option, sizeof(option), "function=%s", functions[f]);
	const int number = load_module("pp_torture_klp", option);
	/*
	 * While a BPF program comes or goes, the kernel cannot ask it to share (-EAGAIN).  The core
	 * may still have the site of a patch that has gone, for such a program (-EBUSY).
	 */
	if (number != (k ? EBUSY : 0) && !(unsure && (number == EAGAIN || number == EBUSY))) {
		errno = number;
		fail("loading the livepatch of %s, which patch %d has in %s mode",
		     functions[f], k, !k ? "no" : entry ? "entry" : "another");
	}
	if (number) {
		klp.state = KLP_AWAY;
		tell_current();
		counts[KLP_REFUSED]++;
		return;
	}
	counts[KLP_LOADS]++;
	if (!k && unsure)
		ask_livepatch();
	counts[klp.works ? KLP_EFFECTS : KLP_SHADOWED]++;
}

/* Load the livepatch, or disable it, at times before its transition is complete. */
void act_on_livepatch(void)
{
	if (klp.state == KLP_AWAY)
		livepatch_comes(chance(FUNCTIONS));
	else if (klp.state == KLP_THERE || (klp.state == KLP_COMES && !chance(4)))
		livepatch_goes();
}

void livepatch_leaves(void)
{
	wait_for_livepatch();
	if (klp.state == KLP_THERE)
		livepatch_goes();
	wait_for_livepatch();
}

/* Load the livepatch with effect, and where it is refused. */
void livepatch_once(void)
{
	free_since[0] = 0;
	livepatch_comes(0);
	wait_for_livepatch();
	switch_patch(1, true, "auto", 0);
	livepatch_leaves();
	surely_switch(1, true, "entry");
	livepatch_comes(0);
	surely_switch(1, false, "");
	surely_switch(1, true, "entry");
	livepatch_leaves();
	surely_switch(1, false, "");
	surely_switch(1, true, "direct");
	livepatch_comes(0);
	surely_switch(1, false, "");
}

