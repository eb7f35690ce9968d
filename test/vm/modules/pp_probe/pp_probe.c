// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_probe - a kprobe at the function entry at=ADDRESS.
 *
 * With behind=1 the kprobe also has a post handler.  ftrace must then let it change where the
 * function goes on, which it allows only one user at a time.  With call=1 its handler calls
 * int_pow(1, 0) and puts the result into "nested".  With off=1 it is registered and not armed.
 * Another address that is written to "at" moves the kprobe there, and 0 removes it: no module is
 * loaded while the core switches a patch.
 */
#include <linux/kprobes.h>
#include <linux/math.h>
#include <linux/module.h>

static bool ready;
static unsigned long at;
static int set_at(const char *value, const struct kernel_param *kp);
static const struct kernel_param_ops at_ops = { .set = set_at, .get = param_get_ulong };
module_param_cb(at, &at_ops, &at, 0644);
static bool behind;
module_param(behind, bool, 0444);
static bool call;
module_param(call, bool, 0444);
static bool off;
module_param(off, bool, 0644);
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

static bool registered;

static int put_probe(void)
{
	int ret;

	if (registered)
		unregister_kprobe(&probe);
	registered = false;
	if (!at)
		return 0;
	probe.addr = (kprobe_opcode_t *)at;
	probe.post_handler = behind ? handle_behind : NULL;
	probe.flags = off ? KPROBE_FLAG_DISABLED : 0;
	ret = register_kprobe(&probe);
	registered = !ret;
	return ret;
}

/* The kernel's lock for parameters is held. */
static int set_at(const char *value, const struct kernel_param *kp)
{
	int ret = param_set_ulong(value, kp);

	return ret || !ready ? ret : put_probe();
}

static int __init pp_probe_init(void)
{
	ready = true;
	return put_probe();
}

static void __exit pp_probe_exit(void)
{
	if (registered)
		unregister_kprobe(&probe);
}

module_init(pp_probe_init);
module_exit(pp_probe_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A kprobe of pokepatch's tests");
