// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_probe - a kprobe at the function entry at=ADDRESS.
 *
 * With behind=1 the kprobe also has a post handler.  ftrace must then let it change where the
 * function goes on, which it allows only one user at a time.  With call=1 its handler calls
 * int_pow(1, 0) and puts the result into "nested".  With off=1 it is registered and not armed.
 */
#include <linux/kprobes.h>
#include <linux/math.h>
#include <linux/module.h>

static unsigned long at;
module_param(at, ulong, 0444);
static bool behind;
module_param(behind, bool, 0444);
static bool call;
module_param(call, bool, 0444);
static bool off;
module_param(off, bool, 0444);
static unsigned int hits;
module_param(hits, uint, 0444);
static unsigned long nested;
module_param(nested, ulong, 0444);

static int handle_before(struct kprobe *probe, struct pt_regs *regs)
{
	hits++;
	if (call)
		nested = int_pow(1, 0);
	return 0;
}

static void handle_behind(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = { .pre_handler = handle_before };

static int __init pp_probe_init(void)
{
	probe.addr = (kprobe_opcode_t *)at;
	if (behind)
		probe.post_handler = handle_behind;
	if (off)
		probe.flags = KPROBE_FLAG_DISABLED;
	return register_kprobe(&probe);
}

static void __exit pp_probe_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(pp_probe_init);
module_exit(pp_probe_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A kprobe of pokepatch's tests");
