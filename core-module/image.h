/* SPDX-License-Identifier: GPL-2.0-only */
/* Checking a patch module's tables, and building its struct pp_patch: image.c. */
#ifndef POKEPATCH_IMAGE_H
#define POKEPATCH_IMAGE_H

struct module;
struct pokepatch_image;
struct pp_patch;

/*
 * Check every field of the image at @image in @mod, and build the patch.  May sleep.
 * Return: the patch, or an ERR_PTR: -EINVAL (logged) or -ENOMEM.
 */
struct pp_patch *pp_patch_create(struct module *mod, const struct pokepatch_image *image);
void pp_patch_free(struct pp_patch *patch);

#endif /* POKEPATCH_IMAGE_H */
