// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_trouble - when it is loaded, it makes the trouble that the VM harness must notice:
 * trouble=warn|warn_text|bug|oops|lockup|panic, or none.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

static char *trouble = "none";
module_param(trouble, charp, 0444);
MODULE_PARM_DESC(trouble, "what to do: warn, warn_text, bug, oops, lockup, panic or none");

static void make_warn(void)
{
	WARN_ON(1);
	/* On some machines WARN_ON() is a call, and must not become a tail call. */
	barrier();
}

static void make_warn_text(void)
{
	WARN(1, "pp_trouble warns\n");
	barrier();
}

static void make_bug(void)
{
	BUG();
}

static void make_oops(void)
{
	/* An address that no kernel maps: below the first page's end, not NULL. */
	int *nowhere = (int *)16;

	OPTIMIZER_HIDE_VAR(nowhere);
	WRITE_ONCE(*nowhere, 1);
}

/* With interrupts off on this CPU nothing but an NMI gets through. */
static void make_lockup(void)
{
	local_irq_disable();
	for (;;)
		cpu_relax();
}

static void make_panic(void)
{
	panic("pp_trouble panics");
}

static const struct {
	const char *name;
	void (*make)(void);
} troubles[] = {
	{ "warn", make_warn },	 { "warn_text", make_warn_text }, { "bug", make_bug },
	{ "oops", make_oops },	 { "lockup", make_lockup },	  { "panic", make_panic },
};

static int __init pp_trouble_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(troubles); i++) {
		if (!strcmp(trouble, troubles[i].name))
			troubles[i].make();
	}
	return 0;
}

static void __exit pp_trouble_exit(void)
{
}

module_init(pp_trouble_init);
module_exit(pp_trouble_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Trouble for the self-test of pokepatch's VM harness");
