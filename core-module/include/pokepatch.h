/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two functions by which a patch module's glue (patches/module/glue.c) talks to the core.
 *
 * Both take an opaque pointer on purpose.  A symbol version (CRC) covers every type that a
 * prototype names, so these two never change with a new core or a new kernel; the core checks
 * the format of the image at run time instead.
 */
#ifndef POKEPATCH_H
#define POKEPATCH_H

/*
 * pokepatch_register - show a patch in sysfs.  The glue calls it from the patch module's init.
 * @image: the module's struct pokepatch_image (see pokepatch_format.h), which must stay in
 *	place until pokepatch_unregister().
 *
 * The core has checked the image, resolved its symbols and written its relocations before init
 * runs, in its module notifier, and has refused the module if anything was wrong.  This call
 * adds the patch's folder to /sys/kernel/pokepatch; the patch is disabled.  It can be enabled
 * as soon as the module is live.  Takes the core's mutex; may sleep.
 *
 * Return: 0; -EINVAL if @image is not the image of a module that is being loaded, or if it is
 * registered already; or the error of the kobject that could not be added.  The kernel log has
 * the reason.
 */
int pokepatch_register(const void *image);

/*
 * pokepatch_unregister - take a patch out of sysfs.  The glue calls it from the patch module's
 * exit, which the loader does not run while the patch is enabled, because an enabled patch
 * holds a reference to its module.
 *
 * `rmmod -f` ignores that reference.  The core then disables the patch here, and returns only
 * when no task is left in the module's code.  May sleep, and may take arbitrarily long then.
 */
void pokepatch_unregister(const void *image);

#endif /* POKEPATCH_H */
