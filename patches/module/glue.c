// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of a patch module that is the same in all of them.  It is compiled
 * once per kernel; the build tool adds the new functions and the tables that
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
 * The call is the last thing here, and the compiler makes it a jump (it is told to, with
 * -foptimize-sibling-calls): when the module is removed by force, the core waits in there until no
 * task is in this module's code.
 */
static void __exit pokepatch_glue_exit(void)
{
	pokepatch_unregister(&pokepatch_image);
}

module_init(pokepatch_glue_init);
module_exit(pokepatch_glue_exit);

MODULE_LICENSE("GPL");
