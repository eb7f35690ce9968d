/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The image: pokepatch's own tables in the module (image.c). */
#ifndef POKEPATCH_PROOF_IMAGE_H
#define POKEPATCH_PROOF_IMAGE_H

struct check;
struct error;

/* image_check - read and check the tables, fill in rows and symbols, and place the functions. */
struct error *image_check(struct check *check);
/* image_check_used - error: a relocation or a symbol of the tables that nothing used. */
struct error *image_check_used(struct check *check);

#endif /* POKEPATCH_PROOF_IMAGE_H */
