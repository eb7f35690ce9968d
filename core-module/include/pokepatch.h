/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The core's interface to patch modules.  Its types are opaque on purpose: the
 * symbol versions (CRCs) of the two functions then depend on nothing that a
 * new core or a new kernel may change, and format checks are made at run time.
 */
#ifndef POKEPATCH_H
#define POKEPATCH_H

/*
 * pokepatch_register - make a patch known to the core; called from the patch
 * module's init.
 * @image: the module's struct pokepatch_image (see pokepatch_format.h), which
 *	must stay in place until pokepatch_unregister().
 *
 * The patch appears in sysfs, disabled.  May sleep.
 * Return: 0; -EINVAL for an image that is malformed or of another format,
 * -ENOEXEC for another kernel, -EEXIST for a name that is taken, -ENOENT for a
 * symbol that cannot be found; the reason is in the kernel log.
 */
int pokepatch_register(const void *image);

/*
 * pokepatch_unregister - forget a patch; called from the patch module's exit,
 * which cannot run while the patch is enabled (the core holds the module).
 * May sleep.
 */
void pokepatch_unregister(const void *image);

#endif /* POKEPATCH_H */
