// SPDX-License-Identifier: GPL-2.0-only
/*
 * The glue: the part that all patch modules have in common.  It is compiled once for each
 * kernel.  The build tool links it with the new functions and with the tables that
 * pokepatch_image points to.
 */
#include <linux/init.h>
#include <linux/module.h>

#include <pokepatch.h>
#include <pokepatch_format.h>

extern const struct pokepatch_image pokepatch_image;

static int __init pokepatch_glue_init(void)
{
	return pokepatch_register(&pokepatch_image);
}

/*
 * The call must be compiled to a jump, which -foptimize-sibling-calls sees to.  When the module
 * is removed by force, pokepatch_unregister() waits until no task is in this module's code; a
 * return address in this function would make the removing task wait for itself.
 */
static void __exit pokepatch_glue_exit(void)
{
	pokepatch_unregister(&pokepatch_image);
}

module_init(pokepatch_glue_init);
module_exit(pokepatch_glue_exit);

MODULE_LICENSE("GPL");
