// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_kill - make ftrace shut itself down, as it does when it meets code that it does not expect.
 * From then until the next boot it changes no code, and lets none of its users unregister.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

/* The probe's address may be behind the landing pad, where no type of the function is in front. */
static int __nocfi __init pp_kill_init(void)
{
	struct kprobe probe = { .symbol_name = "ftrace_kill" };
	void (*kill)(void);
	int ret = register_kprobe(&probe);

	if (ret)
		return ret;
	kill = (void *)probe.addr;
	unregister_kprobe(&probe);
	kill();
	return 0;
}

static void __exit pp_kill_exit(void)
{
}

module_init(pp_kill_init);
module_exit(pp_kill_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Makes ftrace die");
