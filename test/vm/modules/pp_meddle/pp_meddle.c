// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_meddle - while it is loaded, the byte at offset= bytes from the start of the function
 * symbol= is changed.  The test makes sure that no CPU runs that code meanwhile.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>

static char *symbol = "";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "function, as kallsyms has it: dummy_setup, dummy:dummy_setup");

static unsigned int offset;
module_param(offset, uint, 0444);
MODULE_PARM_DESC(offset, "bytes from its start");

/*
 * The kernel's writers of code: x86 has poke(), arm64 write_word().  Where there is neither (MIPS),
 * code can be written like data.
 */
static void *(*poke)(void *addr, const void *opcode, size_t len);
static struct mutex *lock;
static int (*write_word)(void *addr, u32 insn);
static u8 *place;

static void flip(void)
{
	u8 byte = *place ^ 1;
	unsigned long within = (unsigned long)place & 3;

	if (poke) {
		mutex_lock(lock);
		poke(place, &byte, 1);
		mutex_unlock(lock);
	} else if (write_word) {
		write_word(place - within, le32_to_cpup((__le32 *)(place - within)) ^ 1U << 8 * within);
	} else {
		*place = byte;
	}
}

/* The probe's address may be behind the landing pad, where no type of the function is in front. */
static int __nocfi __init pp_meddle_init(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	unsigned long (*lookup)(const char *name);
	int ret = register_kprobe(&probe);

	if (ret)
		return ret;
	lookup = (void *)probe.addr;
	unregister_kprobe(&probe);
	poke = (void *)lookup("text_poke");
	lock = (void *)lookup("text_mutex");
	write_word = (void *)lookup("aarch64_insn_write");
	place = (void *)lookup(symbol);
	if ((poke && !lock) || !place)
		return -ENOENT;
	place += offset;
	flip();
	return 0;
}

static void __exit pp_meddle_exit(void)
{
	flip();
}

module_init(pp_meddle_init);
module_exit(pp_meddle_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Changes one byte of the kernel's code");
