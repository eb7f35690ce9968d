/* SPDX-License-Identifier: GPL-2.0-only */
/* Live code is what the patch was made for: verify.c. */
#ifndef POKEPATCH_VERIFY_H
#define POKEPATCH_VERIFY_H

struct pp_patch;

/*
 * The live code of the functions of object @obj that @patch replaces, their .cold parts
 * too, is what the patch was made for.  The object's symbols are resolved.  Under
 * pp_mutex; may sleep.  Return: 0, -EIO (logged: where).
 */
int pp_verify_code(const struct pp_patch *patch, unsigned int obj);
/* The same of all objects that are there; others may have changed code since.  Takes pp_mutex. */
int pp_verify_again(const struct pp_patch *patch);

#endif /* POKEPATCH_VERIFY_H */
