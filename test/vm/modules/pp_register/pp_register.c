// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_register - misuses the functions that the core exports for the glue of patch modules.
 * Commands for the parameter "do":
 *	register ADDRESS, unregister ADDRESS	call it once with this address
 *	first NAME	register each module of this name at COMING, before its init does
 * Load it after the core: the kernel calls notifiers of one priority in the order of registration.
 */
#include <linux/elf.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>

int pokepatch_register(const void *image);
void pokepatch_unregister(const void *image);

static typeof(pokepatch_register) *do_register;
static typeof(pokepatch_unregister) *do_unregister;
static char first[MODULE_NAME_LEN];

/* Find the image in the way that the core does. */
static const void *image_of(struct module *mod)
{
	const struct mod_kallsyms *kallsyms = rcu_dereference_raw(mod->kallsyms);
	unsigned int i;

	for (i = 1; i < kallsyms->num_symtab; i++)
		if (!strcmp(kallsyms->strtab + kallsyms->symtab[i].st_name, "pokepatch_image"))
			return (const void *)kallsyms->symtab[i].st_value;
	return NULL;
}

static int coming(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;

	if (state == MODULE_STATE_COMING && !strcmp(mod->name, first))
		pr_info("pp_register: register first: %d\n", do_register(image_of(mod)));
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = coming };

static int do_set(const char *value, const struct kernel_param *param)
{
	unsigned long address;

	first[0] = 0;
	if (sscanf(value, "first %55s", first) == 1)
		return 0;
	if (sscanf(value, "register %lx", &address) == 1)
		pr_info("pp_register: register: %d\n", do_register((void *)address));
	else if (sscanf(value, "unregister %lx", &address) == 1)
		do_unregister((void *)address);
	else
		return -EINVAL;
	return 0;
}

static const struct kernel_param_ops do_ops = { .set = do_set };
module_param_cb(do, &do_ops, NULL, 0200);

static int __init pp_register_init(void)
{
	do_register = symbol_get(pokepatch_register);
	do_unregister = symbol_get(pokepatch_unregister);
	if (do_register && do_unregister)
		return register_module_notifier(&notifier);
	if (do_register)
		symbol_put(pokepatch_register);
	return -ENOENT;
}

static void __exit pp_register_exit(void)
{
	unregister_module_notifier(&notifier);
	symbol_put(pokepatch_register);
	symbol_put(pokepatch_unregister);
}

module_init(pp_register_init);
module_exit(pp_register_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Misuse of the core, for pokepatch's tests");
